#!/usr/bin/python3
"""Called as srun, sbatch or mpirun, these start the processes of the pages' examples on this machine by the real mpirun
($LITHO_MPIRUN), two of them at most. Options that they do not know end with status 2, as the real ones do.
"""
import os
import shlex
import subprocess
import sys
from pathlib import Path

MOST = 2
# Options with a value.
KNOWN = {"srun": {"--mpi"}, "sbatch": {"--nodes", "--ntasks-per-node", "--gpus-per-node", "--wrap"}, "mpirun": {"-n", "--hostfile"}}


def options(name, words):
    """The options in front of the command, and the command."""
    found = {}
    while words and words[0].startswith("-"):
        option, equals, value = words.pop(0).partition("=")
        if option not in KNOWN[name] or (not equals and not words):
            sys.exit(f"{name}: unrecognized option '{option}'")
        found[option] = value if equals else words.pop(0)
    return found, words


def start(n, command):
    real = os.environ["LITHO_MPIRUN"]
    os.execv(real, [real, "--oversubscribe", "--bind-to", "none", "-n", str(min(int(n), MOST)), *command])


def main():
    name = Path(sys.argv[0]).name
    found, command = options(name, sys.argv[1:])
    if name == "mpirun":
        start(found["-n"], command)
    if name == "srun":
        if found.get("--mpi") != "pmix":
            sys.exit("srun: Open MPI needs --mpi=pmix")
        start(os.environ.get("SLURM_NTASKS", MOST), command)
    if command:  # a script: its own lines name options, too
        lines = Path(command[0]).read_text().splitlines()
        found.update(options(name, [w for line in lines if line.startswith("#SBATCH ") for w in shlex.split(line[8:])])[0])
    tasks = int(found.get("--nodes", 1)) * int(found.get("--ntasks-per-node", 1))
    env = {**os.environ, "SLURM_NTASKS": str(tasks)}
    sys.exit(subprocess.run(["sh", *(command or ["-c", found["--wrap"]])], env=env).returncode)


main()
