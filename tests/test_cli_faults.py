#!/usr/bin/python3
"""The n-th call of a kind fails: each write, sync, close, rename, open and allocation of 540 kB or more, and the first
and then every thirty-first read. A command then ends with status 1 and one sentence, the file that its output would have replaced is as
it was, and nothing else is left; or it did not need the call and gives the right bytes. Prints TAP.

    test_cli_faults.py PATH/lithoscope-cli PATH/liblitho-fault.so
"""
import functools
import os
import shutil
import signal
import subprocess
import sys

from cli_tap import CLI, cli, read, run, test

SHIM = os.path.abspath(sys.argv[2])
KEPT = ("in.sgy", "v.txt")
# Tables of fixed size are smaller than LARGE, a survey is larger.
LARGE = "540000"
ENV = {"LITHO_FAULT_BYTES": LARGE, "LD_PRELOAD": SHIM, "OPENBLAS_NUM_THREADS": "1", "LITHO_MODULE_DIR": "/nonexistent", "G_DEBUG": ""}


def commands(big):
    size = ["inlines=37", "xlines=37", "samples=104"] if big else ["inlines=12", "xlines=12", "samples=64"]
    cli("synth", "planes", *size, "-o", "in.sgy", "--no-truth", "--force")
    with open("v.txt", "w") as table:
        table.write("0 2000\n400 2500\n")
    return [
        (["convert", "in.sgy"], "out.sgy"), (["render", "--cpu", "--size", "640x400", "in.sgy"], "out.png"), # a million bytes of pixels
        (["run", "fx", "half_width=1", "in.sgy"], "out.sgy"),
        (["run", "patch", "in.sgy"], "out.npy"),
        (["run", "patch", "mode=both", "iterations=2", "in.sgy"], "out.npy"),
        (["run", "wavepacket", "scales=3", "directions=4", "block=0", "in.sgy"], "out.npy"),
        (["run", "wavepacket", "mode=compress", "scales=3", "directions=4", "coefficients=kept.lwp", "in.sgy"], "out.npy"),
        (["run", "wavepacket", "mode=interpolate", "iterations=2", "scales=3", "directions=4", "in.sgy"], "out.npy"),
        (["run", "migrate", "velocity=2000", "nz=20", "in.sgy"], "out.npy"),
        (["run", "migrate", "velocity=v.txt", "nz=20", "dz=20", "in.sgy"], "out.npy"),
        (["run", "twsm", "frequencies=8"], "out.npy"),
        (["run", "twsm", "frequencies=4", "model=syncline"], "out.npy"),
    ] if big else [
        (["convert", "in.sgy"], "out.sgy"), (["convert", "in.sgy"], "out.rsf"),
        (["run", "fx", "half_width=1", "in.sgy"], "out.sgy"),
        (["run", "migrate", "velocity=2000", "nz=20", "in.sgy"], "out.npy"),
        (["run", "wavepacket", "mode=compress", "block=0", "scales=2", "coefficients=kept.lwp", "in.sgy"], "out.npy"),
        (["render", "--cpu", "--size", "320x200", "in.sgy"], "out.png"),
    ]


@functools.cache
def result(args, out, big):
    """The result of a command when nothing fails; one in spite of a fault must be the same. `big`: the survey that it reads."""
    for f in os.listdir("."):
        if f not in KEPT:
            os.remove(f)
    cli(*args, out, "--force", env=dict(os.environ, **{**ENV, "LD_PRELOAD": ""}))
    return read(out + "@" if out.endswith("rsf") else out)


def try_all(kind, big, numbers):
    """Runs every command with one of the calls `numbers` of the kind failing, until there is no such call."""
    tried = failed = 0
    trouble = []
    for args, out in commands(big):
        right = result(tuple(args), out, big)
        for n in numbers:
            for f in os.listdir("."):
                if f not in KEPT:
                    os.remove(f)
            for f in [out, "kept.lwp"]:
                with open(f, "w") as old:
                    old.write("old")
            words = args + [out, "--force", "--progress", "none"]
            r = subprocess.run([CLI, *words], capture_output=True, text=True, timeout=120,
                               env=dict(os.environ, **ENV, LITHO_FAULT=f"{kind}:{n}", LITHO_FAULT_HIT="hit"))
            hit = os.path.exists("hit")
            lines = [l for l in r.stderr.strip().splitlines() if not l.startswith("note:")]
            left = [f for f in os.listdir(".") if ".part" in f]
            where = f"{kind} {n}: {' '.join(words)}: status {r.returncode}"
            if kind == "alloc" and " bytes more" in r.stderr:
                trouble.append(f"{where}: only GLib knew: {r.stderr}")  # the last resort, for what is small
            elif r.returncode not in (0, 1):
                trouble.append(f"{where}: {' / '.join(lines)[-300:]}")
            elif left:
                trouble.append(f"{where}: left {left}")
            elif r.returncode == 0 and right is not None and read(out + "@" if out.endswith("rsf") else out) != right:
                trouble.append(f"{where}: wrong bytes; {r.stderr}")
            elif r.returncode == 1 and len(lines) != 1:
                trouble.append(f"{where}: {lines}")
            elif r.returncode == 1 and read(out) != b"old":
                trouble.append(f"{where}: {out} was replaced")
            if not hit:
                assert r.returncode == 0, (where, r.stderr)
                break
            tried += 1
            failed += r.returncode != 0
    print(f"# {kind}: {tried} faults met, {failed} refused with a sentence, {len(trouble)} wrong", flush=True)
    for line in trouble[:20]:
        print(f"# {line}", flush=True)
    assert not trouble, f"{len(trouble)} of {tried}"
    assert tried > 0


@test
def reading():
    try_all("read", False, [*range(1, 8), *range(8, 400, 31)])


@test
def writing():
    try_all("write", False, range(1, 20))


@test
def syncing_closing_and_renaming():
    for kind in ["sync", "close", "rename"]:
        try_all(kind, False, range(1, 20))


@test
def opening():
    try_all("open", False, range(1, 20))


@test
def allocating():
    """LARGE blocks: whatever grows with the data is refused with a sentence of its own."""
    try_all("alloc", True, [*range(1, 16), *range(16, 80, 3)])


@test
def small_blocks():
    """GLib ends the program where one of its own blocks is refused: a sentence then, too, and no temporary file."""
    for f in os.listdir("."):
        if f not in KEPT:
            os.remove(f)
    told = 0
    for words in [["info", "in.sgy"], ["convert", "in.sgy", "out.sgy"], ["run", "fx", "half_width=1", "in.sgy", "out.sgy"],
                  ["run", "twsm", "frequencies=4", "out.npy"]]:
        for n in [*range(1, 40, 5), *range(40, 2000, 163)]:
            r = subprocess.run([CLI, *words], capture_output=True, text=True, timeout=120,
                               env=dict(os.environ, **{**ENV, "LITHO_FAULT_BYTES": "1024"}, LITHO_FAULT=f"alloc:{n}"))
            if (r.returncode < 0 or r.returncode == 127) and "lithoscope-cli" not in r.stderr and "out" not in " ".join(os.listdir(".")):
                continue  # the C library or the loader, before main()
            assert r.returncode in (0, 1), (words, n, r.returncode, r.stderr)
            assert not [f for f in os.listdir(".") if ".part" in f], (words, n)
            # FFTW and GLib's allocator speak for themselves first.
            said = [l for l in r.stderr.splitlines() if l and not l.startswith(("fftw: ", "***MEMORY-ERROR***"))]
            assert r.returncode == 0 or said[0].startswith(("lithoscope-cli", "note:")), (words, n, r.stderr)
            told += " bytes more" in r.stderr
            for f in os.listdir("."):
                if f not in KEPT:
                    os.remove(f)
    assert told > 0


@test
def fftw_blocks():
    """FFTW ends the program where one of its blocks is refused; a sentence then, status 1, and no temporary file."""
    told = 0
    for words in [["run", "fx", "half_width=1", "in.sgy", "out.sgy"], ["run", "patch", "in.sgy", "out.npy"],
                  ["run", "wavepacket", "scales=2", "block=0", "in.sgy", "out.npy"],
                  ["run", "migrate", "velocity=2000", "nz=10", "in.sgy", "out.npy"]]:
        for n in [*range(1, 30, 4), *range(30, 3000, 197)]:
            for f in os.listdir("."):
                if f not in KEPT:
                    os.remove(f)
            r = subprocess.run([CLI, *words], capture_output=True, text=True, timeout=120,
                               env=dict(os.environ, **ENV, LITHO_FAULT=f"fftw:{n}", LITHO_FAULT_HIT="hit"))
            assert r.returncode in (0, 1), (words, n, r.returncode, r.stderr)
            assert not [f for f in os.listdir(".") if ".part" in f], (words, n)
            assert r.returncode == 0 or "lithoscope-cli: " in r.stderr, (words, n, r.stderr)
            told += "tables of a Fourier transform" in r.stderr
            if not os.path.exists("hit"):
                break
    assert told > 10, told


@test
def ctrl_c_does_not_wait_for_a_driver():
    """Loading OpenGL knows no cancel. A driver that never ends loading stands for one that takes a moment."""
    os.mkdir("gl")
    shutil.copy(SHIM, "gl/libEGL.so.1")
    cli("synth", "planes", "inlines=12", "xlines=12", "samples=64", "-o", "gl.npy", "--no-truth")
    for args in (["demo", "tour", "-o", "frames"], ["render", "gl.npy", "-o", "gl.png"]):
        p = subprocess.Popen([CLI, *args, "--progress", "none"] if args[0] == "demo" else [CLI, *args], text=True,
                             env=dict(os.environ, LD_LIBRARY_PATH=os.path.abspath("gl")), stderr=subprocess.PIPE)
        told = p.stderr.readline()
        while told and "loading OpenGL" not in told:
            told = p.stderr.readline()
        assert told, (args, p.wait())
        p.send_signal(signal.SIGINT)
        assert p.wait(60) == 3 and p.stderr.read().strip() == "lithoscope-cli: cancelled", args
        assert not os.path.exists("gl.png") and not [f for f in os.listdir(".") if ".part" in f]
        assert not os.path.exists("frames") or os.listdir("frames") == []
    for folder in ("gl", "frames"):
        shutil.rmtree(folder, ignore_errors=True)


run()
