"""What the tests of several processes share: mpirun's words, a run of so many ranks, a survey of several slabs."""
import os
import shutil
import subprocess

from cli_tap import CLI, cli

MPIRUN = shutil.which("mpirun")


def mpirun(n, *command):
    """The words that start `command` n times."""
    return [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(n), *command]


def ranked(n, *args, under=(), timeout=300):
    """A command of n ranks and how it ended; `under`: words that start the program in each of them. mpirun itself
    (Open MPI 4.1) crashes now and then while ranks abort at one time: a negative status, which no rank's end gives.
    It is run again then."""
    for _ in range(3):
        r = subprocess.run(mpirun(n, *under, CLI, *args, "--progress", "none"), capture_output=True, text=True, timeout=timeout)
        if r.returncode >= 0:
            break
    return r


def make_input(name="in.sgy", seed=1, xlines=40, samples=128):
    if not os.path.exists(name):
        cli("synth", "planes", "inlines=160", f"xlines={xlines}", f"samples={samples}", "missing=10", f"seed={seed}", "-o", name, "--no-truth")
