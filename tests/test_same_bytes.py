#!/usr/bin/env python3
# One command gives the same bytes every time: every operator of the program, with its defaults, run
# twice by processes of their own and with 1, 2 and all threads. A planner that measures, a sum
# whose order follows the threads, or a buffer read before it is written fails here.
import hashlib, os, re, subprocess, sys, tempfile

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


def main():
    listed = run("list").stdout
    keys = re.findall(r"^(\w+)\s{2,}\S", listed, re.M)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "in.npy")
        made = run("synth", "planes", "inlines=40", "xlines=36", "samples=128", "snr=1", "-o", data)
        assert made.returncode == 0, made.stderr
        print(f"1..{len(keys)}")
        assert len(keys) >= 4, listed
        for n, key in enumerate(keys, 1):
            found = outputs(key, data, folder)
            other = [name for name, value in found.items() if value != found["once"]]
            print(f"{'not ok' if other else 'ok'} {n} {key}" + (f" # differs: {', '.join(other)}" if other else ""))
            bad += bool(other)
    sys.exit(1 if bad else 0)


main()
