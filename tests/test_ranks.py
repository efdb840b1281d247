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


def under_ranks(name, words):
    if not os.path.exists("in.sgy"):
        cli("synth", "planes", "inlines=160", "xlines=40", "samples=128", "missing=10", "-o", "in.sgy", "--no-truth")
    args = ["run", *words, "-i", "in.sgy", "--backend", "cpu", "--threads", "1", "--memory", MEMORY[name]]
    assert slabs(*args) >= 4, slabs(*args)
    cli(*args, "-o", f"{name}.sgy")
    for n in range(1, 5):
        ranked = f"{name}-{n}.sgy"
        r = subprocess.run([MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(n), CLI, *args, "-o", ranked, "--progress", "none",
                            "--timings", f"{name}-{n}.json"],
                           capture_output=True, text=True, timeout=300)
        assert r.returncode == 0, (n, r.stderr)
        assert json.load(open(f"{name}-{n}.json"))["ranks_used"] == n
        assert read(ranked) == read(f"{name}.sgy"), f"{n} ranks give other bytes"


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
