#!/usr/bin/python3
"""Runs that end before their time: what is done stays, the same command goes on, and the file is the same to the last byte as
that of a run that was left alone. Prints TAP.

    test_restart.py PATH/lithoscope-cli
"""
import json
import os
import re
import shutil
import signal
import subprocess
import time

import numpy

from cli_ranks import MPIRUN, make_input, mpirun, ranked
from cli_tap import CLI, cli, read, run, test

FX = ["fx", "window=10", "half_width=2", "erratic=0", "fill_passes=0", "balance=off", "--backend", "cpu", "--threads", "1", "--memory", "0.006"]
PATCH = ["patch", "--backend", "cpu", "--threads", "1", "--memory", "0.025"]


def leftovers(out):
    return sorted(f for f in os.listdir(".") if f.startswith(out) and f not in (out, f"{out}.provenance"))


def marks(out):
    """Inlines that each line of a journal tells of."""
    if not os.path.exists(f"{out}.journal"):
        return []
    lines = open(f"{out}.journal").read().splitlines(keepends=True)[1:]
    return [json.loads(line)["inlines"] for line in lines if line.endswith("\n")]


def pieces(out):
    """Where the samples of the slabs begin that wait in a journal for others of their inlines, and the inlines that are in the file."""
    data = read(f"{out}.journal") if os.path.exists(f"{out}.journal") else b""
    at, found, inlines = 0, [], 0
    while (end := data.find(b"\n", at)) >= 0:
        line, at = json.loads(data[at:end]), end + 1
        if "piece" in line:
            n = [b - a for a, b in zip(line["piece"][:3], line["piece"][3:])]
            found, at = found + [at], at + n[0] * n[1] * (4 * n[2] + 1)
        elif "inlines" in line:
            found, inlines = [], line["inlines"]
    return found if at <= len(data) else found[:-1], inlines


def kill_at(n_marks, args, out, number=signal.SIGKILL, under=(), marks=marks):
    """Starts a run and sends it a signal when its journal tells of so many slabs."""
    process = subprocess.Popen([*under, CLI, "run", *args, "-o", out, "--progress", "none"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    while process.poll() is None and len(marks(out)) < n_marks:
        time.sleep(0.002)
    assert process.poll() is None, "the run ended before it could be killed: " + process.stderr.read()
    process.send_signal(number)
    process.wait(timeout=60)
    return process.stderr.read()


def goes_on(args, whole, out):
    kept = marks(out)[-1]
    assert 0 < kept < 160, kept
    r = cli("run", *args, "-o", out)
    assert "inlines were kept by an interrupted run" in r.stderr, r.stderr
    assert read(out) == read(whole)
    assert leftovers(out) == []


@test
def killed_in_the_middle():
    make_input()
    for name, words, kind in (("fx", FX, "sgy"), ("patch", PATCH, "sgy"), ("npy", FX, "npy"), ("rsf", FX, "rsf"), ("su", FX, "su")):
        whole, out = f"whole-{name}.{kind}", f"killed-{name}.{kind}"
        args = [*words, "-i", "in.sgy"]
        cli("run", *args, "-o", whole)
        assert leftovers(whole) in ([], [f"{whole}@"]), leftovers(whole)
        for n in (1, 3):
            kill_at(n, args, out)
            assert not os.path.exists(out)
            assert f"{out}.journal" in leftovers(out) and any(f.endswith(".part") for f in leftovers(out)), leftovers(out)
        r = cli("run", *args, "-o", out)
        assert "inlines were kept by an interrupted run" in r.stderr, r.stderr
        if kind == "rsf":
            assert read(out + "@") == read(whole + "@")
            assert leftovers(out) == [out + "@"], leftovers(out)
        else:
            assert read(out) == read(whole), name
            assert leftovers(out) == [], leftovers(out)


FILL = ["patch", "mode=fill", "iterations=4", "overlap=2", "--backend", "cpu", "--threads", "1"]


def make_blocks(name, inlines, xlines, samples):
    cli("synth", "planes", f"inlines={inlines}", f"xlines={xlines}", f"samples={samples}", "missing=20", "-o", name, "--no-truth")


def kept_slabs(r):
    return int(re.search(r"note: ([0-9]+) of [0-9]+ slabs were kept", r.stderr).group(1))


@test
def blocks_of_one_row_are_kept():
    """A filling of 6 inlines is five blocks along the crosslines. Each of them is kept, and what a SEG-Y file holds of cells without
    a trace in the input is known at the end of a row only."""
    make_blocks("row.sgy", 6, 1280, 48)
    args = [*FILL, "-i", "row.sgy"]
    cli("run", *args, "-o", "whole.sgy")
    found = lambda out: pieces(out)[0]
    for k in (1, 3):
        kill_at(k, args, "row-out.sgy", marks=found)
        assert len(found("row-out.sgy")) >= k and pieces("row-out.sgy")[1] == 0
    last = len(found("row-out.sgy"))
    r = cli("run", *args, "-o", "row-out.sgy")
    assert kept_slabs(r) == last and "of 5 slabs" in r.stderr, (last, r.stderr)
    assert read("row-out.sgy") == read("whole.sgy") and leftovers("row-out.sgy") == []
    # A byte of the second block has changed, the last one is torn, or there is a cancel.
    kill_at(3, args, "bad.sgy", marks=found)
    with open("bad.sgy.journal", "r+b") as f:
        f.seek(found("bad.sgy")[1] + 1000)
        f.write(b"\x55\xaa\x55\xaa")
    r = cli("run", *args, "-o", "bad.sgy")
    assert kept_slabs(r) == 1 and read("bad.sgy") == read("whole.sgy"), r.stderr
    kill_at(2, args, "torn.sgy", marks=found)
    os.truncate("torn.sgy.journal", found("torn.sgy")[-1] + 100)
    last = len(found("torn.sgy"))
    r = cli("run", *args, "-o", "torn.sgy")
    assert kept_slabs(r) == last and read("torn.sgy") == read("whole.sgy"), r.stderr
    told = kill_at(2, [*args, "--journal"], "stop.sgy", marks=found, number=signal.SIGTERM)
    assert re.search("cancelled; [234] of 5 slabs are kept: the same", told), told
    if MPIRUN:
        r = ranked(2, "run", *args, "-o", "stop.sgy", "--timings", "stop.json")
        assert r.returncode == 0 and 2 <= kept_slabs(r) <= 4, r.stderr
        assert json.load(open("stop.json"))["ranks_used"] == min(2, 5 - kept_slabs(r))
        assert read("stop.sgy") == read("whole.sgy") and leftovers("stop.sgy") == []


@test
def blocks_of_several_rows_are_kept():
    """Two rows of two blocks: one row and one block of the next are kept. A louder part of the input may be in what was kept."""
    make_blocks("rows.npy", 400, 400, 8)
    cube = numpy.load("rows.npy")
    cube[200:, 200:] *= numpy.float32(2.0**-80)
    numpy.save("rows.npy", cube)
    args = [*FILL, "-i", "rows.npy"]
    cli("run", *args, "-o", "rows-whole.npy")
    kill_at(3, args, "rows-out.npy", marks=lambda out: range(pieces(out)[1] // 100 + len(pieces(out)[0])))
    assert pieces("rows-out.npy")[1] == 200 and len(pieces("rows-out.npy")[0]) == 1
    r = cli("run", *args, "-o", "rows-out.npy")
    assert kept_slabs(r) == 3 and "3 of 4 slabs" in r.stderr, r.stderr
    assert read("rows-out.npy") == read("rows-whole.npy") and leftovers("rows-out.npy") == []


@test
def files_of_others_are_no_leftovers():
    """A file that is called like a journal, or like what an interrupted run leaves, stays: also where it is the input or the recipe."""
    make_input()
    cli("convert", "in.sgy", "s.npy.part.npy")
    os.rename("s.npy.part.npy", "s.npy.part")
    survey = read("s.npy.part")
    said = cli("run", *FX, "-i", "s.npy.part", "-o", "s.npy", "--force", status=1).stderr
    assert "s.npy.part is an input" in said and read("s.npy.part") == survey, said
    open("r.npy.journal", "w").write('{"lithoscope":1,"flow":[{"operator":"fx","params":{"half_width":2,"window":10,"erratic":0,"fill_passes":0}}]}')
    recipe = read("r.npy.journal")
    said = cli("run", "r.npy.journal", *FX[5:], "-i", "in.sgy", "-o", "r.npy", "--force", status=1).stderr
    assert "r.npy.journal is an input" in said and read("r.npy.journal") == recipe, said
    for name, sentence in (("t.npy.journal", "is no journal"), ("t.npy.part", "--force")):
        open(name, "w").write("precious")
        said = cli("run", *FX, "-i", "in.sgy", "-o", "t.npy", status=1).stderr
        assert sentence in said and read(name) == b"precious" and leftovers("t.npy") == [name], said
        os.remove(name)


@test
def faint_surveys_are_judged_as_a_whole():
    """A run that goes on has not read the inlines that were kept: they decide whether the rest is too faint."""
    make_input()
    cli("convert", "in.sgy", "in.npy", "--force")
    cube = numpy.load("in.npy")
    numpy.save("faint.npy", cube * numpy.float32(2.0**-80))
    cube[20:] *= numpy.float32(2.0**-80)
    numpy.save("tail.npy", cube)
    for name, status in (("tail", 0), ("faint", 1)):
        args, out = [*FX, "-i", f"{name}.npy"], f"{name}-out.npy"
        kill_at(3, args, out)
        assert 20 < marks(out)[-1] < 160
        r = cli("run", *args, "-o", out, status=status)
        assert ("convert --scale" in r.stderr) == (status == 1), r.stderr
        assert os.path.exists(out) == (status == 0)


@test
def another_slab_size_and_other_ranks_go_on():
    """Samples depend on no slab: the rest may be computed with other memory, or by several processes."""
    make_input()
    args = [*FX, "-i", "in.sgy"]
    cli("run", *args, "-o", "w.sgy")
    kill_at(2, args, "o.sgy")
    cli("run", *FX[:-1], "0.02", "-i", "in.sgy", "-o", "o.sgy")
    assert read("o.sgy") == read("w.sgy")
    if MPIRUN:
        kill_at(2, args, "p.sgy")
        r = ranked(3, "run", *args, "-o", "p.sgy")
        assert r.returncode == 0 and "kept by an interrupted run" in r.stderr, r.stderr
        assert read("p.sgy") == read("w.sgy")


@test
def another_recipe_or_input_is_refused():
    make_input()
    args = [*FX, "-i", "in.sgy"]
    kill_at(2, args, "r.sgy")
    kept = read("r.sgy.journal")
    r = cli("run", *[w.replace("half_width=2", "half_width=1") for w in args], "-o", "r.sgy", status=1)
    assert "other parameters" in r.stderr and "--restart" in r.stderr, r.stderr
    shutil.copy2("in.sgy", "same.sgy")
    os.utime("in.sgy", (1, 1))
    r = cli("run", *args, "-o", "r.sgy", status=1)
    assert "an input that has changed" in r.stderr, r.stderr
    assert read("r.sgy.journal") == kept
    shutil.copystat("same.sgy", "in.sgy")
    r = cli("run", *args, "-o", "r.sgy", "--dx", "25", status=1)
    assert "read with other options" in r.stderr and read("r.sgy.journal") == kept, r.stderr
    cli("run", *args, "-o", "w2.sgy")
    cli("run", *args, "-o", "r.sgy")
    assert read("r.sgy") == read("w2.sgy") and leftovers("r.sgy") == []


@test
def an_input_that_changes_meanwhile_keeps_nothing():
    """The kept slabs would be refused by the same command, so none are kept and the sentence promises none."""
    make_input("meanwhile.sgy")
    args = [*FX, "-i", "meanwhile.sgy", "--journal"]
    process = subprocess.Popen([CLI, "run", *args, "-o", "m.sgy", "--progress", "none"], stderr=subprocess.PIPE, text=True)
    while process.poll() is None and len(marks("m.sgy")) < 2:
        time.sleep(0.002)
    os.utime("meanwhile.sgy")
    error = process.communicate(timeout=60)[1]
    assert process.returncode == 1 and "was changed after it was opened" in error and "kept" not in error, error
    assert leftovers("m.sgy") == [] and not os.path.exists("m.sgy")


@test
def restart_begins_anew():
    make_input()
    args = [*FX, "-i", "in.sgy"]
    kill_at(2, args, "n.sgy")
    r = cli("run", *args, "-o", "n.sgy", "--restart")
    assert "kept" not in r.stderr, r.stderr
    cli("run", *args, "-o", "w3.sgy")
    assert read("n.sgy") == read("w3.sgy") and leftovers("n.sgy") == []


@test
def damaged_bytes_are_computed_again():
    """Slabs behind the first one that differs from its hash, and torn lines of the journal, do not count."""
    make_input()
    args = [*FX, "-i", "in.sgy"]
    cli("run", *args, "-o", "w4.sgy")
    kill_at(4, args, "d.sgy")
    kept = marks("d.sgy")
    first = json.loads(open("d.sgy.journal").read().splitlines()[2])["runs"][0]
    with open("d.sgy.part", "r+b") as f:
        f.seek(first + 1000)
        byte = f.read(1)
        f.seek(first + 1000)
        f.write(bytes([byte[0] ^ 1]))
    with open("d.sgy.journal", "ab") as f:
        f.write(b'{"inlines": 160, "tra')
    r = cli("run", *args, "-o", "d.sgy")
    assert f"{kept[0]} of 160 inlines were kept" in r.stderr, (kept, r.stderr)
    assert read("d.sgy") == read("w4.sgy")
    kill_at(2, args, "e.sgy")
    os.remove("e.sgy.part")
    r = cli("run", *args, "-o", "e.sgy")
    assert "kept" not in r.stderr and read("e.sgy") == read("w4.sgy"), r.stderr


@test
def full_disk_and_cancel():
    """With --journal all that was done stays; without, of a run as short as this, nothing does."""
    make_input()
    args = [*FX, "-i", "in.sgy"]
    cli("run", *args, "-o", "w5.sgy")
    half = os.path.getsize("w5.sgy") // 2
    r = cli("run", *args, "-o", "f.sgy", status=1, file_limit=half)
    assert leftovers("f.sgy") == [] and not os.path.exists("f.sgy"), leftovers("f.sgy")
    r = cli("run", *args, "-o", "f.sgy", "--journal", status=1, file_limit=half)
    assert "too large" in r.stderr and "are kept: the same command goes on" in r.stderr, r.stderr
    # What an earlier run has kept outlives a run that fails or is cancelled at once.
    kept = marks("f.sgy")
    r = cli("run", *args, "-o", "f.sgy", status=1, file_limit=half)
    assert "are kept" in r.stderr and marks("f.sgy")[: len(kept)] == kept, r.stderr
    kill_at(len(kept) + 1, args, "f.sgy", number=signal.SIGTERM)
    assert marks("f.sgy")[: len(kept)] == kept
    goes_on(args, "w5.sgy", "f.sgy")
    told = kill_at(3, [*args, "--journal"], "c.sgy", number=signal.SIGTERM)
    assert "cancelled" in told and "are kept" in told, told
    goes_on(args, "w5.sgy", "c.sgy")
    kill_at(1, args, "g.sgy", number=signal.SIGINT)
    assert leftovers("g.sgy") == [], leftovers("g.sgy")
    kill_at(1, [*args], "h.sgy")
    r = cli("run", *args, "-o", "h.sgy", "--no-journal")
    assert "kept" not in r.stderr and read("h.sgy") == read("w5.sgy")


@test
def one_run_at_a_time():
    make_input()
    args = [*FX, "-i", "in.sgy"]
    process = subprocess.Popen([CLI, "run", *args, "-o", "t.sgy", "--progress", "none"], stderr=subprocess.DEVNULL)
    while process.poll() is None and len(marks("t.sgy")) < 1:
        time.sleep(0.002)
    process.send_signal(signal.SIGSTOP)
    try:
        r = cli("run", *args, "-o", "t.sgy", status=1)
        assert "another process is writing t.sgy" in r.stderr, r.stderr
        assert "t.sgy.journal" in leftovers("t.sgy")
    finally:
        process.send_signal(signal.SIGCONT)
    assert process.wait(timeout=60) == 0 and leftovers("t.sgy") == []


@test
def steps_behind_blocks_go_on():
    """The first of three processes is killed between two rows of blocks. The file ends where fx has had the next row; that row is
    filled again, by as many processes as there are then."""
    if not MPIRUN:
        return
    make_blocks("rows.sgy", 1300, 12, 48)
    args = [*FILL[:4], "sigma=0.1", "erratic=0", "+", "fx", "window=10", "half_width=1", *FILL[4:], "-i", "rows.sgy"]
    cli("run", *args, "-o", "rows-w.sgy")
    for n, more in ((1, ()), (2, ()), (3, ("--journal",))):
        out = f"rows-{n}.sgy"
        script = 'if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then echo $$ > rank0.pid; fi; exec "$0" "$@"'
        process = subprocess.Popen(mpirun(3, "sh", "-c", script, CLI, "run", *args, "-o", out, *more, "--progress", "none"),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and len(marks(out)) < 2:
            time.sleep(0.002)
        os.kill(int(open("rank0.pid").read()), signal.SIGTERM if more else signal.SIGKILL)
        said = process.communicate(timeout=60)[1]
        assert process.returncode != 0 and 0 < marks(out)[-1] < 1300, (n, marks(out))
        assert not more or re.search(r"cancelled; [0-9]+ of 1300 inlines are kept", said), said
        kept = marks(out)[-1]
        r = ranked(n, "run", *args, "-o", out) if n > 1 else cli("run", *args, "-o", out)
        assert r.returncode == 0 and f"{kept} of 1300 inlines were kept" in r.stderr, (kept, r.stderr)
        assert read(out) == read("rows-w.sgy") and leftovers(out) == [], n


@test
def a_lost_process():
    """One of three processes is killed: mpirun ends the others, and the next run goes on."""
    if not MPIRUN:
        return
    make_input()
    args = [*FX, "-i", "in.sgy"]
    cli("run", *args, "-o", "w6.sgy")
    script = 'if [ "$OMPI_COMM_WORLD_RANK" = 2 ]; then "$0" "$@" & p=$!; echo $p > rank2.pid; wait $p; else exec "$0" "$@"; fi'
    process = subprocess.Popen(mpirun(3, "sh", "-c", script, CLI, "run", *args, "-o", "l.sgy", "--journal", "--progress", "none"),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and len(marks("l.sgy")) < 3:
        time.sleep(0.002)
    os.kill(int(open("rank2.pid").read()), signal.SIGKILL)
    assert process.wait(timeout=60) != 0
    assert not os.path.exists("l.sgy")
    goes_on(args, "w6.sgy", "l.sgy")


run()
