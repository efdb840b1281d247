#!/usr/bin/python3
"""Another process takes a GPU's memory beside a run: what is done stays, the rest goes on or is resumed, and the file is the
same to the last byte as that of a run that was left alone. Prints TAP; skips without a GPU.

    test_gpu_taken.py PATH/lithoscope-cli
"""
import ctypes
import os
import signal
import subprocess
import sys
import time

LEFT = 64 << 20  # bytes of the card that the other process leaves: less than any slab of these runs needs
FX = ["fx", "half_width=5", "window=30", "--backend", "cuda", "--gpus", "1", "--journal", "--memory", "0.25", "-i", "in.sgy"]
INLINES = 900


def hold():
    """The other process: takes all but LEFT, says so, and holds it until its input ends."""
    cuda = ctypes.CDLL("libcuda.so.1")
    context, free, total, at = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_uint64()
    for status in (cuda.cuInit(0), cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), cuda.cuCtxSetCurrent(context)):
        if status:
            sys.exit(f"the CUDA driver answers {status}")
    step = 1 << 36
    while step >= 1 << 21:
        cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
        if free.value < LEFT + step or cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(step)):
            step //= 2
    cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
    print(f"held, {free.value >> 20} MiB are free", flush=True)
    sys.stdin.read()


class Taken:
    """with Taken(): the card's memory belongs to another process."""

    def __enter__(self):
        self.holder = subprocess.Popen([sys.executable, __file__, "--hold"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.holder.stdout.readline()
        assert line.startswith("held"), line
        print(f"# {line.strip()}", flush=True)

    def __exit__(self, *unused):
        self.holder.communicate("", timeout=60)


if sys.argv[1:] == ["--hold"]:
    hold()
    sys.exit(0)
if subprocess.run([sys.executable, "-c", "import ctypes; exit(ctypes.CDLL('libcuda.so.1').cuInit(0) != 0)"], stderr=subprocess.DEVNULL).returncode:
    print("1..0 # SKIP no CUDA device")
    sys.exit(0)

from cli_tap import CLI, cli, read, run, test  # noqa: E402  (takes the first argument for the program)


def marks(out):
    path = f"{out}.journal"
    return [line for line in open(path).read().splitlines(keepends=True)[1:] if line.endswith("\n")] if os.path.exists(path) else []


def start(out):
    return subprocess.Popen([CLI, "run", *FX, "-o", out, "--progress", "none"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def stop_at(n, out):
    """A run that stands still with so many slabs written."""
    process = start(out)
    while process.poll() is None and len(marks(out)) < n:
        time.sleep(0.001)
    assert process.poll() is None, "the run ended too early: " + process.stderr.read()
    process.send_signal(signal.SIGSTOP)
    return process


def whole():
    if not os.path.exists("in.sgy"):
        cli("synth", "planes", f"inlines={INLINES}", "xlines=240", "samples=500", "-o", "in.sgy", "--no-truth")
        cli("run", *FX, "-o", "whole.sgy")
    return read("whole.sgy")


def same(out):
    assert read(out) == whole()
    assert sorted(f for f in os.listdir(".") if f.startswith(out)) in ([out], [out, f"{out}.provenance"])


def goes_on_while_taken(process):
    """Standard error of a stopped process that goes on while the GPU's memory is taken."""
    with Taken():
        process.send_signal(signal.SIGCONT)
        error = process.communicate(timeout=120)[1]
    print(f"# status {process.returncode}: {error.strip()}")
    assert process.returncode in (0, 1), error
    return error


@test
def memory_taken_between_two_slabs():
    whole()
    process = stop_at(2, "o.sgy")
    error = goes_on_while_taken(process)
    if process.returncode:
        assert "are free" in error and "are kept" in error, error
        cli("run", *FX, "-o", "o.sgy")
    same("o.sgy")


@test
def a_run_that_goes_on_beside_a_full_card_loses_nothing():
    whole()
    process = stop_at(3, "p.sgy")
    process.kill()
    process.wait()
    process.stderr.close()
    kept = marks("p.sgy")
    with Taken():
        r = cli("run", *FX, "-o", "p.sgy", status=1)
    print(f"# {r.stderr.strip()}")
    assert "the GPU has no memory left" in r.stderr or "GiB" in r.stderr, r.stderr
    assert "are kept" in r.stderr, r.stderr
    assert marks("p.sgy") == kept
    r = cli("run", *FX, "-o", "p.sgy")
    assert "inlines were kept by an interrupted run" in r.stderr, r.stderr
    same("p.sgy")


@test
def memory_taken_between_the_plan_and_the_first_slab():
    """The plan counted on memory that is gone."""
    whole()
    process = start("q.sgy")
    while process.poll() is None and not any(f.startswith("q.sgy") for f in os.listdir(".")):
        time.sleep(0.0005)
    process.send_signal(signal.SIGSTOP)
    error = goes_on_while_taken(process)
    if process.returncode:
        assert "are free" in error or "the GPU has no memory left" in error, error
        cli("run", *FX, "-o", "q.sgy")
    same("q.sgy")


run()
