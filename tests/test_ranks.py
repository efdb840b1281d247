#!/usr/bin/python3
"""One survey under mpirun with 1 to 4 ranks: the file is the same to the last byte as without mpirun. Prints TAP.

    test_ranks.py PATH/lithoscope-cli
"""
import json
import os
import shutil
import subprocess

from cli_tap import CLI, cli, read, run, test

MPIRUN = shutil.which("mpirun")
# Operators that compute a part of their output from a part of their input: ranks share the slabs.
STREAMED = {"fx": ["fx", "window=10", "half_width=2"],
            "fx-twice": ["fx", "window=10", "half_width=2", "+", "fx", "window=6", "half_width=1"]}


def slabs(*args):
    """Number of slabs by --dry-run: more than one, or the ranks have nothing to share."""
    line = next(x for x in cli(*args, "--dry-run").stdout.splitlines() if x.startswith("slabs"))
    return int(line.split()[1])


def ranked(n, *args):
    return subprocess.run([MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(n), CLI, *args, "--progress", "none"],
                          capture_output=True, text=True, timeout=300)


def make_input():
    if not os.path.exists("in.sgy"):
        cli("synth", "planes", "inlines=160", "xlines=40", "samples=128", "missing=10", "-o", "in.sgy", "--no-truth")


def under_ranks(name, words):
    make_input()
    args = ["run", *words, "-i", "in.sgy", "--backend", "cpu", "--threads", "1", "--memory", MEMORY[name]]
    assert slabs(*args) >= 4, slabs(*args)
    cli(*args, "-o", f"{name}.sgy")
    for n in range(1, 5):
        out = f"{name}-{n}.sgy"
        r = ranked(n, *args, "-o", out, "--timings", f"{name}-{n}.json")
        assert r.returncode == 0, (n, r.stderr)
        assert json.load(open(f"{name}-{n}.json"))["ranks_used"] == n
        assert read(out) == read(f"{name}.sgy"), f"{n} ranks give other bytes"


@test
def patch_under_1_to_4_ranks():
    """Its noise level is measured on all of the survey, by the first rank; one piece gives the same samples."""
    make_input()
    args = ["run", "patch", "-i", "in.sgy", "--backend", "cpu", "--threads", "1"]
    cli(*args, "-o", "patch.npy", "--force")
    for n in range(2, 5):
        r = ranked(n, *args, "-o", f"patch-{n}.npy", "--force", "--timings", f"patch-{n}.json")
        assert r.returncode == 0, (n, r.stderr)
        told = json.load(open(f"patch-{n}.json"))
        assert told["ranks_used"] == n and told["slabs"] >= n, told
        assert read(f"patch-{n}.npy") == read("patch.npy"), f"{n} ranks give other samples"


# GiB of host memory for which each flow takes several slabs.
MEMORY = {"fx": "0.006", "fx-twice": "0.01"}


@test
def fx_under_1_to_4_ranks():
    under_ranks("fx", STREAMED["fx"])


@test
def two_steps_under_1_to_4_ranks():
    under_ranks("fx-twice", STREAMED["fx-twice"])


# Operators that need the whole survey at once, or none: one rank computes, the others must neither write nor wait for ever.
WHOLE = {"wavepacket": ["wavepacket", "scales=3", "directions=4"],
         "compress": ["wavepacket", "mode=compress", "scales=3", "directions=4"],
         "segments": ["wavepacket", "block=32", "scales=3", "directions=4"],
         "interpolate": ["wavepacket", "mode=interpolate", "iterations=2", "scales=3", "directions=4"],
         "patch": ["patch"], "patch-fixed": ["patch", "sigma=0.1", "erratic=0"], "fill": ["patch", "mode=fill", "iterations=3"],
         "migrate": ["migrate", "velocity=2500", "nz=12", "dz=20"],
         "chain": ["fx", "window=10", "half_width=1", "+", "migrate", "velocity=2500", "nz=8", "dz=20"],
         "twsm": ["twsm", "frequencies=6"], "twsm-fast": ["twsm", "frequencies=6", "algorithm=fft"]}


@test
def every_operator_under_1_to_4_ranks():
    if not os.path.exists("small.sgy"):
        cli("synth", "planes", "inlines=40", "xlines=36", "samples=96", "missing=10", "-o", "small.sgy", "--no-truth")
    listed = {line.split()[0] for line in cli("list").stdout.splitlines() if line and line[0].isalpha()}
    tried = {words[0] for words in [*STREAMED.values(), *WHOLE.values()]}
    assert listed <= tried, listed - tried  # a new operator brings its line
    for name, words in WHOLE.items():
        source = [] if words[0] == "twsm" else ["-i", "small.sgy"]
        args = ["run", *words, *source, "--backend", "cpu", "--threads", "1"]
        cli(*args, "-o", f"whole-{name}.npy")
        for n in range(1, 5):
            out = f"whole-{name}-{n}.npy"
            r = subprocess.run([MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(n), CLI, *args, "-o", out, "--progress", "none"],
                               capture_output=True, text=True, timeout=300)
            assert r.returncode == 0, (name, n, r.stderr)
            assert read(out) == read(f"whole-{name}.npy"), f"{name}: {n} ranks give other bytes"


if not MPIRUN:
    print("1..0 # SKIP there is no mpirun")
else:
    run()
