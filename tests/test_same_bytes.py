#!/usr/bin/env python3
# One command gives the same bytes every time: every operator of the program, with its defaults, run
# twice by processes of their own and with 1, 2 and all threads. A planner that measures, a sum
# whose order follows the threads, or a buffer read before it is written fails here.
#
# A survey in slabs gives the bytes of the whole run, too, where the operator guesses bursts and missing
# traces from their surroundings: a halo too narrow, or a guess that follows the cut, fails here.
import array, hashlib, os, re, subprocess, sys, tempfile

cli = sys.argv[1]
# A setting that makes an operator's defaults small enough for a test; nothing else depends on keys.
SMALLER = {"migrate": ["nz=60"], "twsm": ["fmax=12"]}


def run(*words):
    return subprocess.run([cli, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def outputs(key, data, folder):
    found = {}
    for name, threads in (("once", "1"), ("again", "1"), ("two threads", "2"), ("all threads", None)):
        out = os.path.join(folder, "out.npy")
        words = ["run", key, *SMALLER.get(key, []), "-o", out, "--backend", "cpu", "--force"]
        words += ["--threads", threads] if threads else []
        done = run(*words, "-i", data)
        if "no input is taken" in done.stderr:
            done = run(*words)
        assert done.returncode == 0, f"{key}: {done.stderr}"
        found[name] = digest(out)
    return found


# The memory in GiB that cuts the survey into slabs.
SLABS = [(["patch"], "0.0145"), (["fx"], "0.0165"), (["wavepacket", "block=48", "overlap=16", "scales=2"], "0.03")]


def make_burst(path):
    """Gaps that the generator leaves, and bursts of 8 samples on every 29th trace that there is."""
    made = run("synth", "survey", "inlines=96", "xlines=32", "samples=128", "snr=6", "missing=15", "-o", path, "--no-truth")
    assert made.returncode == 0, made.stderr
    with open(path, "rb") as f:
        raw = f.read()
    head, samples = raw[:-96 * 32 * 128 * 4], array.array("f", raw[-96 * 32 * 128 * 4:])
    live = [k for k in range(96 * 32) if samples[128 * k + 64] == samples[128 * k + 64]]
    assert len(live) < 0.95 * 96 * 32
    for k in live[::29]:
        for t in range(40 + k % 32, 48 + k % 32):
            samples[128 * k + t] = 30 * (-1) ** t
    with open(path, "wb") as f:
        f.write(head + samples.tobytes())


def differs_in_slabs(words, memory, data, folder):
    """Every byte of a SEG-Y file counts, also those of its text header."""
    out = os.path.join(folder, "cut.sgy")
    command = ["run", *words, "-i", data, "-o", out, "--backend", "cpu", "--force", "--threads", "2"]
    plans, found = [], []
    for more in ([], ["--memory", memory]):
        plans.append(int(re.search(r"slabs +(\d+)", run(*command, *more, "--dry-run").stdout).group(1)))
        done = run(*command, *more)
        assert done.returncode == 0, done.stderr
        found.append(digest(out))
    assert plans[0] == 1 and plans[1] > 1, f"{words}: {plans} slabs"
    with open(out, "rb") as a, open(data, "rb") as b:
        return found[0] != found[1] or a.read()[3600:] == b.read()[3600:]


def main():
    listed = run("list").stdout
    keys = re.findall(r"^(\w+)\s{2,}\S", listed, re.M)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "in.npy")
        made = run("synth", "planes", "inlines=40", "xlines=36", "samples=128", "snr=1", "-o", data)
        assert made.returncode == 0, made.stderr
        print(f"1..{len(keys) + len(SLABS)}")
        assert len(keys) >= 4, listed
        for n, key in enumerate(keys, 1):
            found = outputs(key, data, folder)
            other = [name for name, value in found.items() if value != found["once"]]
            print(f"{'not ok' if other else 'ok'} {n} {key}" + (f" # differs: {', '.join(other)}" if other else ""))
            bad += bool(other)
        burst = os.path.join(folder, "burst.npy")
        make_burst(burst)
        assert run("convert", burst, burst := os.path.join(folder, "burst.sgy")).returncode == 0
        for n, (words, memory) in enumerate(SLABS, len(keys) + 1):
            other = differs_in_slabs(words, memory, burst, folder)
            print(f"{'not ok' if other else 'ok'} {n} {words[0]} in slabs, with bursts and gaps")
            bad += other
    sys.exit(1 if bad else 0)


main()
