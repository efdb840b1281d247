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
    cli(*args, "-o", "patch.npy")
    for n in range(2, 5):
        r = ranked(n, *args, "-o", f"patch-{n}.npy", "--timings", f"patch-{n}.json")
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


if not MPIRUN:
    print("1..0 # SKIP there is no mpirun")
else:
    run()
