#!/usr/bin/python3
"""The command line as a script would use it: exit statuses, JSON on stdout and nothing else, files renamed into
place, streaming under a memory limit, cancel. Prints TAP.

    test_cli.py PATH/lithoscope-cli
"""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

CLI = sys.argv[1]
TESTS = []


def test(f):
    TESTS.append(f)
    return f


def cli(*args, status=0, limit=None, **more):
    def set_limit():
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    r = subprocess.run([CLI, *map(str, args)], capture_output=True, text=True, timeout=300, preexec_fn=set_limit, **more)
    assert r.returncode == status, f"{args}: status {r.returncode}, wanted {status}\n{r.stdout}\n{r.stderr}"
    return r


@test
def usage_errors_exit_2_and_name_the_trouble():
    """2 = usage; the sentence names the word that is wrong."""
    for args, word in [
        ([], "usage"), (["nonsense"], "nonsense"), (["run", "fx"], "-o"), (["run", "nofilter", "-o", "x.npy"], "nofilter"),
        (["run", "fx", "windw=3", "-i", "a.npy", "-o", "b.npy"], "windw"),
        (["run", "fx", "window=-3", "-i", "a.npy", "-o", "b.npy"], "window"),
        (["synth", "nothing", "-o", "x.npy"], "synth --list"), (["synth", "mix", "inlines=0", "-o", "x.npy"], "inlines"),
        (["compare", "one.npy"], "two"), (["list", "nooperator"], "nooperator"),
    ]:
        r = cli(*args, status=2)
        assert word in r.stderr, (args, r.stderr)
        assert r.stdout == "", r.stdout


@test
def failures_exit_1_with_one_sentence():
    for args in [["info", "missing.sgy"], ["run", "fx", "-i", "missing.sgy", "-o", "out.sgy"], ["compare", "no.npy", "no.npy"]]:
        r = cli(*args, status=1)
        assert len(r.stderr.strip().splitlines()) == 1, r.stderr
        assert not os.path.exists("out.sgy")
    open("text.sgy", "w").write("<html>this is not seismic</html>")
    cli("info", "text.sgy", status=1)


@test
def json_is_one_object_and_nothing_else():
    listed = json.loads(cli("list", "--json").stdout)
    fx = next(o for o in listed["operators"] if o["key"] == "fx")
    rows = {p["key"]: p for p in fx["params"]}
    assert rows["half_width"]["default"] == 3 and rows["window"]["default"] == 20 and rows["prewhitening"]["unit"] == "%"
    assert all(p["doc"] for p in rows.values())
    cli("synth", "mix", "-o", "mix.npy")
    info = json.loads(cli("info", "mix.npy", "--json").stdout)
    assert json.dumps(info)
    d = json.loads(cli("compare", "mix-truth.npy", "mix.npy", "--json").stdout)
    assert abs(d["snr_db"]) < 0.1 and d["samples"] == 37 * 37 * 250


@test
def npy_has_the_shape_and_the_missing_traces():
    cli("synth", "planes", "inlines=12", "xlines=9", "samples=64", "missing=20", "-o", "p.npy")
    a = np.load("p.npy")
    assert a.shape == (12, 9, 64) and a.dtype == np.float32
    dead = np.isnan(a).all(axis=2)
    assert 8 < dead.sum() < 40 and np.isfinite(a[~dead]).all()


@test
def fx_denoises_and_a_recipe_repeats_it():
    """4 dB is far below the measured 12; the recipe must give the same bytes."""
    if not os.path.exists("mix.npy"):
        cli("synth", "mix", "-o", "mix.npy")
    cli("run", "fx", "half_width=2", "outband=mute", "-i", "mix.npy", "-o", "f.npy", "--backend", "cpu", "--timings", "t.json")
    d = json.loads(cli("compare", "mix-truth.npy", "f.npy", "--json").stdout)
    assert d["snr_db"] > 9, d
    stages = {s["name"] for s in json.load(open("t.json"))["stages"]}
    assert "read" in stages and "write" in stages and len(stages) >= 4, stages
    json.dump({"lithoscope": 1, "flow": [{"operator": "fx", "params": {"half_width": 2, "outband": "mute"}}]}, open("r.json", "w"))
    cli("run", "r.json", "-i", "mix.npy", "-o", "g.npy", "--backend", "cpu")
    assert open("f.npy", "rb").read() == open("g.npy", "rb").read()


@test
def files_as_options_and_as_words_are_the_same():
    """-i IN -o OUT, IN OUT and mixtures of them give the same bytes in every command that takes files."""
    cli("synth", "planes", "inlines=10", "xlines=9", "samples=64", "-o", "io.sgy", "--no-truth")
    cli("synth", "planes", "inlines=10", "xlines=9", "io-word.sgy", "samples=64", "--no-truth")
    ways = [["-i", "io.sgy", "-o"], ["io.sgy"], ["io.sgy", "-o"], ["-i", "io.sgy"]]
    for command, name in [(["convert"], "c.npy"), (["run", "fx", "half_width=2", "--backend", "cpu"], "r.npy"), (["render", "--cpu"], "p.png")]:
        made = []
        for k, way in enumerate(ways):
            cli(*command, *way, f"{k}-{name}")
            made.append(open(f"{k}-{name}", "rb").read())
        assert all(m == made[0] for m in made), command
    assert open("io.sgy", "rb").read() == open("io-word.sgy", "rb").read()
    assert cli("info", "-i", "io.sgy").stdout == cli("info", "io.sgy").stdout
    for args, word in [(["convert", "io.sgy"], "-o"), (["render", "a", "b", "c"], "'b'"), (["run", "twsm", "in.sgy", "x.sgy"], "'in.sgy'"),
                       (["run", "fx", "window", "io.sgy", "x.sgy"], "window"), (["synth", "planes"], "-o")]:
        r = cli(*args, status=2)
        assert word in r.stderr, (args, r.stderr)
    assert not os.path.exists("x.sgy")


@test
def help_is_there_for_every_command():
    for line in cli("--help").stdout.splitlines():
        if re.match(r"  \w", line):
            name = line.split()[0]
            text = cli(name, "--help").stdout
            assert f"lithoscope-cli {name} [OPTION" in text and "?]" not in text, text
            assert cli("help", name).stdout == text
    assert re.match(r"lithoscope-cli \d", cli("--version").stdout)


@test
def nothing_is_overwritten_unasked():
    cli("synth", "planes", "inlines=8", "xlines=8", "samples=64", "-o", "a.npy")
    before = open("a.npy", "rb").read()
    r = cli("run", "fx", "-i", "a.npy", "-o", "a.npy", "--force", status=1)
    assert open("a.npy", "rb").read() == before, r.stderr
    open("there.npy", "w").write("precious")
    cli("run", "fx", "-i", "a.npy", "-o", "there.npy", status=1)
    assert open("there.npy").read() == "precious"


@test
def dry_run_tells_the_plan_and_writes_nothing():
    cli("synth", "planes", "inlines=40", "xlines=30", "samples=100", "-o", "d.sgy")
    r = cli("run", "fx", "-i", "d.sgy", "-o", "none.sgy", "--dry-run")
    assert "40 x 30 x 100" in r.stdout
    needs, of = re.search(r"needs ([\d.]+) of ([\d.]+) GiB on the host", r.stdout).groups()
    assert 0 < float(needs) < float(of)
    assert not os.path.exists("none.sgy")


@test
def streaming_gives_the_same_samples_in_bounded_memory():
    """A survey of 230 MB (input and output 460 MB) in 520 MB of address space, of which libraries and thread stacks
    take about 300, gives the same bytes as the run in one piece."""
    cli("synth", "planes", "inlines=300", "xlines=64", "samples=3000", "events=3", "-o", "big.sgy", "--no-truth")
    args = ["run", "fx", "-i", "big.sgy", "time_window=400", "fft_length=512", "fmax=40", "half_width=1", "--threads", "2", "--progress", "none"]
    env = dict(os.environ, MALLOC_ARENA_MAX="2", OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1", LITHO_MODULE_DIR="/nonexistent")
    plan = cli(*args, "--dry-run", "--memory", "0.2", env=env).stdout
    slabs = int(plan.split("slabs")[1].split()[0])
    assert slabs >= 3, plan
    cli(*args, "--backend", "cpu", "--memory", "0.2", "-o", "slabs.sgy", env=env, limit=520 << 20)
    cli(*args, "--backend", "cpu", "--memory", "20", "-o", "whole.sgy", env=env)
    a, b = open("slabs.sgy", "rb").read(), open("whole.sgy", "rb").read()
    assert len(a) == len(b) > 200e6
    assert a[3600:] == b[3600:]
    for f in ("big.sgy", "slabs.sgy", "whole.sgy"):
        os.remove(f)


def begun(*args, env=None, **more):
    """A command that is in the middle of its work."""
    p = subprocess.Popen([CLI, *args, "--progress", "jsonl"], stderr=subprocess.PIPE, text=True, env=env, **more)
    for line in p.stderr:
        if line.startswith("{"):
            json.loads(line)
            break
    time.sleep(0.3)
    return p


@test
def signals_leave_nothing_and_exit_3():
    """Whichever thread takes the signal: OpenBLAS makes threads before main() that know nothing of it."""
    cli("synth", "planes", "inlines=200", "xlines=200", "samples=500", "events=2", "-o", "c.npy", "--no-truth")
    commands = [["run", "fx", "-i", "c.npy"], ["run", "migrate", "velocity=2500", "-i", "c.npy"],
                ["run", "twsm", "model=syncline", "algorithm=alg1"]]
    env = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    env["OPENBLAS_NUM_THREADS"] = "16"  # many threads that could take it
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for args in commands:
            p = begun(*args, "-o", "cancelled.npy", "--backend", "cpu", env=env)
            p.send_signal(number)
            rest = p.stderr.read()
            assert p.wait(100) == 3, (args, number, rest)
            assert rest.strip().splitlines()[-1] == "lithoscope-cli: cancelled", rest
            left = [f for f in os.listdir(".") if "cancelled" in f]
            assert not left, left


@test
def a_signal_to_every_thread_is_seen():
    """tgkill to the threads one after the other: none of them dies of it."""
    import ctypes
    libc, tgkill = ctypes.CDLL(None, use_errno=True), {"x86_64": 234, "aarch64": 131}[os.uname().machine]
    n = 0
    while True:
        p = begun("run", "fx", "-i", "c.npy", "-o", "cancelled.npy", "--backend", "cpu")
        threads = sorted(map(int, os.listdir(f"/proc/{p.pid}/task")))
        if n >= min(len(threads), 6):
            p.kill()
            p.wait()
            break
        assert libc.syscall(tgkill, p.pid, threads[n], signal.SIGTERM) == 0
        rest = p.stderr.read()
        assert p.wait(100) == 3, (n, rest)
        n += 1
    assert n > 1
    for f in os.listdir("."):
        if "cancelled" in f:
            os.remove(f)


@test
def an_ignored_hangup_stays_ignored():
    p = begun("run", "fx", "-i", "c.npy", "-o", "kept.npy", "--backend", "cpu",
              preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    p.send_signal(signal.SIGHUP)
    p.stderr.read()
    assert p.wait(300) == 0 and os.path.exists("kept.npy")
    os.remove("kept.npy")


@test
def a_closed_pipe_ends_quietly_with_3():
    """... | head -1, for results on standard output and for progress on standard error."""
    p = begun("run", "fx", "-i", "c.npy", "-o", "cancelled.npy", "--backend", "cpu")
    p.stderr.close()
    assert p.wait(100) == 3
    assert not [f for f in os.listdir(".") if "cancelled" in f]
    p = subprocess.Popen([CLI, "list", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    p.stdout.close()
    assert p.stderr.read() == b"" and p.wait(100) == 3
    os.remove("c.npy")


@test
def two_operators_in_a_row():
    json.dump({"lithoscope": 1, "flow": [{"operator": "fx", "params": {"half_width": 1}}, {"operator": "fx", "enabled": False},
                                         {"operator": "fx", "params": {"half_width": 1, "prewhitening": 100}}]}, open("two.json", "w"))
    cli("synth", "planes", "inlines=30", "xlines=30", "samples=200", "-o", "w.npy")
    cli("run", "two.json", "-i", "w.npy", "-o", "w2.npy", "--backend", "cpu")
    a, b = np.load("w.npy"), np.load("w2.npy")
    assert a.shape == b.shape and np.isfinite(b).all() and np.abs(a - b).max() > 0


def main():
    failed = 0
    CLI_ABS = os.path.abspath(CLI)
    globals()["CLI"] = CLI_ABS
    print(f"1..{len(TESTS)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for n, f in enumerate(TESTS, 1):
            name = f.__name__.replace("_", " ")
            try:
                f()
                print(f"ok {n} {name}", flush=True)
            except Exception as e:  # any surprise is a failure of this test, the next ones still run
                failed += 1
                print(f"not ok {n} {name}", flush=True)
                for line in f"{type(e).__name__}: {e}".splitlines():
                    print(f"# {line}", flush=True)
        os.chdir("/")
    return 1 if failed else 0


sys.exit(main())
