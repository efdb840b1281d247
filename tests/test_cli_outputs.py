#!/usr/bin/python3
"""No output of a command replaces an input, a file that nobody said may go, or another output; what is replaced keeps
its mode and its links; what fails leaves the old file. Prints TAP.

    test_cli_outputs.py PATH/lithoscope-cli
"""
import os
import shutil
import subprocess

import numpy as np

from cli_tap import CLI, cli, read, run, test

SIZE = ["inlines=12", "xlines=12", "samples=64"]


def survey(name, *more):
    if not os.path.exists(name):
        cli("synth", "planes", *SIZE, "-o", name, "--no-truth", *more)
    return read(name)


def velocity():
    np.save("v.npy", np.full((12, 12, 64), 2000, "f4"))
    return read("v.npy")


PACKETS = ["wavepacket", "mode=compress", "block=0", "scales=2"]


def every_output(out, other):
    """(command, which of its words is the second output) for all commands with an output beside -o."""
    return [
        ["run", "fx", "-i", "in.sgy", "-o", out, "--timings", other],
        ["run", *PACKETS, f"coefficients={other}", "-i", "in.sgy", "-o", out],
    ]


@test
def no_output_replaces_an_input_with_or_without_force():
    before, speeds = survey("in.sgy"), velocity()
    os.symlink("in.sgy", "link.sgy")
    os.link("in.sgy", "hard.sgy")
    os.mkdir("sub")
    for force in [[], ["--force"]]:
        for name in ["in.sgy", "./in.sgy", "sub/../in.sgy", "link.sgy", "hard.sgy", os.path.abspath("in.sgy")]:
            for args in every_output("out.sgy", name) + [["convert", "in.sgy", name], ["run", "fx", "in.sgy", name]]:
                r = cli(*args, *force, status=1)
                assert "input" in r.stderr or not force, (args, r.stderr)
                assert read("in.sgy") == before and not os.path.exists("out.sgy"), args
            cli("find", "fx", "-i", "in.sgy", "--seconds", "0.1", "--save", name, *force, status=1)
            assert read("in.sgy") == before
        r = cli("run", "migrate", "velocity=v.npy", "-i", "in.sgy", "-o", "v.npy", *force, status=1)
        assert read("v.npy") == speeds, r.stderr
        open("recipe.json", "w").write('{"lithoscope":1,"flow":[{"operator":"fx"}]}')
        cli("run", "recipe.json", "-i", "in.sgy", "-o", "out.sgy", "--timings", "recipe.json", *force, status=1)
        assert '"flow"' in open("recipe.json").read()
        cli("bench", "migrate", "velocity=v.npy", "--size", "8x8x32", "--backends", "cpu", "--json", "v.npy", *force, status=1)
        assert read("v.npy") == speeds
    shutil.copy("in.sgy", "in.png")
    cli("render", "in.png", "-o", "in.png", "--force", status=1)
    open("colours.png", "w").write("0,0,0\n255,255,255\n")
    cli("render", "in.sgy", "--colormap", "colours.png", "-o", "colours.png", "--force", "--cpu", status=1)
    shutil.copy("in.sgy", "against.png")
    cli("render", "in.sgy", "--against", "against.png", "-o", "against.png", "--force", "--cpu", status=1)
    assert read("in.png") == before and read("against.png") == before and open("colours.png").read()[0] == "0"


@test
def a_file_behind_standard_input_is_an_input():
    before = survey("in.sgy")
    os.link("in.sgy", "second.sgy")
    for args in [["convert", "-i", "-", "-o", "in.sgy"], ["convert", "-i", "-.sgy", "-o", "second.sgy"],
                 ["run", "fx", "half_width=1", "-i", "-", "-o", "out.sgy", "--timings", "in.sgy"]]:
        with open("in.sgy", "rb") as source:
            r = cli(*args, "--force", stdin=source, status=1)
        assert "is an input" in r.stderr and read("in.sgy") == before and os.path.samefile("in.sgy", "second.sgy"), (args, r.stderr)


@test
def an_existing_file_goes_with_force_only():
    survey("in.sgy")
    commands = every_output("out.sgy", "there") + [
        ["render", "in.sgy", "--cpu", "-o", "there.png"], ["render", "in.sgy", "--cpu", "-o", "there.pdf"],
        ["render", "in.sgy", "--cpu", "-o", "there.svg"], ["convert", "in.sgy", "there.rsf"],
        ["bench", "fx", "--size", "8x8x64", "--backends", "cpu", "--repeat", "1", "--json", "there"],
        ["synth", "planes", *SIZE, "-o", "there.npy"], ["find", "fx", "-i", "in.sgy", "--seconds", "0.1", "--save", "there.json"],
    ]
    for args in commands:
        name = next(w.split("=")[-1] for w in args if "there" in w)
        open(name, "w").write("precious")
        r = cli(*args, status=1)
        assert "exists" in r.stderr and "--force" in r.stderr, (args, r.stderr)
        assert open(name).read() == "precious" and not os.path.exists("out.sgy")
        cli(*args, "--force")
        assert read(name) != b"precious", args
        for f in ["out.sgy", name]:
            if os.path.exists(f):
                os.remove(f)
    open("one.rsf@", "w").write("precious")  # the samples' own file
    cli("convert", "in.sgy", "one.rsf", status=1)
    assert open("one.rsf@").read() == "precious" and not os.path.exists("one.rsf")
    open("two-truth.npy", "w").write("precious")
    cli("synth", "planes", *SIZE, "-o", "two.npy", status=1)
    assert not os.path.exists("two.npy")


@test
def two_outputs_of_one_command_are_two_files():
    survey("in.sgy")
    os.symlink("same.sgy", "dangling")
    for args in every_output("same.sgy", "./same.sgy") + every_output("same.sgy", "dangling"):
        for force in [[], ["--force"]]:
            r = cli(*args, *force, status=1)
            assert "one file" in r.stderr, r.stderr
            assert not os.path.exists("same.sgy")


@test
def mode_and_links_of_a_replaced_file_stay():
    survey("in.sgy")
    for name, args in [("m.sgy", ["convert", "in.sgy"]), ("m.png", ["render", "--cpu", "in.sgy"]), ("m.npy", ["run", "fx", "in.sgy"])]:
        open(name, "w").write("old")
        os.chmod(name, 0o600)
        cli(*args, name, "--force")
        assert os.stat(name).st_mode & 0o7777 == 0o600 and read(name) != b"old", name
        os.makedirs("far", exist_ok=True)
        open("far/" + name, "w").write("old")
        os.remove(name)
        os.symlink("far/" + name, name)
        cli(*args, name, "--force")
        assert os.readlink(name) == "far/" + name and read("far/" + name) != b"old", name
        assert os.listdir("far") == [name]
        os.remove("far/" + name)  # now the link leads nowhere: its target is made
        cli(*args, name)
        assert os.path.islink(name) and os.path.exists("far/" + name), name
        os.remove("far/" + name)
    long = "n" * 251 + ".npy"  # as long as a name may be
    cli("convert", "in.sgy", long)
    assert os.path.exists(long)


@test
def temporary_files_of_dead_processes_are_removed():
    survey("in.sgy")
    dead = subprocess.Popen(["true"])
    dead.wait()
    names = [f"s.sgy.part-{dead.pid}-AbCd12", f"s.sgy.part-{os.getpid()}-AbCd12", f"other.sgy.part-{dead.pid}-AbCd12",
             f"s.sgy.part-{dead.pid}-mine.txt", "s.sgy.part-notes"]
    for n in names:
        open(n, "w").write("half")
    cli("convert", "in.sgy", "s.sgy")
    left = [n for n in names if os.path.exists(n)]
    assert left == names[1:], left


@test
def what_fails_leaves_the_old_file():
    """Every write beyond 8 kB fails: the old file stays, nothing else does, one sentence says why."""
    survey("in.sgy")
    for args, name in [(["convert", "in.sgy"], "k.sgy"), (["convert", "in.sgy"], "k.npy"), (["convert", "in.sgy"], "k.rsf"),
                       (["run", "fx", "in.sgy"], "k.su"), (["render", "--cpu", "in.sgy"], "k.png"), (["render", "--cpu", "in.sgy"], "k.svg"),
                       (["run", *PACKETS, "coefficients=k.wpc", "in.sgy", "o.npy"], "k.wpc")]:
        open(name, "w").write("old")
        words = args if name.endswith("wpc") else args + [name]
        r = cli(*words, "--force", status=1, file_limit=8192)
        assert open(name).read() == "old" and not os.path.exists("o.npy"), name
        assert len(r.stderr.strip().splitlines()) == 1 and "cannot write" in r.stderr, r.stderr
        left = [f for f in os.listdir(".") if ".part" in f and not f.startswith(("s.sgy", "other"))]
        assert not left, left


@test
def coefficients_are_of_the_result_and_nothing_else():
    """What is judged, verified or searched computes parts of a survey, or other ones: it writes no file of coefficients."""
    survey("in.sgy")
    words = [*PACKETS, "coefficients=c.lwp", "in.sgy"]
    cli("run", *words, "c.npy", "--force")
    whole = read("c.lwp")
    cli("run", *words, "c.npy", "--force", "--report", "c.json", "--area", "2:9,,", "--hide", "5")
    assert read("c.lwp") == whole
    cli("verify", "c.npy")
    assert read("c.lwp") == whole
    os.remove("c.lwp")
    cli("verify", "c.npy")
    cli("report", *words, "c.png")
    cli("find", *words, "--seconds", "0.1")
    assert not os.path.exists("c.lwp")


@test
def a_full_standard_output_is_a_failure():
    survey("in.sgy")
    for args in [["info", "in.sgy"], ["list"], ["list", "--json"], ["--help"], ["run", "--help"], ["--version"], ["synth", "--list"]]:
        with open("/dev/full", "w") as full:
            r = cli(*args, status=1, capture_output=False, stdout=full, stderr=subprocess.PIPE)
        assert "standard output" in r.stderr, (args, r.stderr)
    r = subprocess.run(f"'{CLI}' convert in.sgy closed.npy >&-", shell=True, capture_output=True, text=True)
    assert r.returncode == 0, r.stderr


@test
def closed_descriptors_are_given_to_no_file():
    """Where standard error is closed, no file must get its number: notes and progress would be written into it."""
    cli("synth", "survey", *SIZE, "-o", "holes.sgy", "--no-truth")
    assert "note: " in cli("run", "fx", "holes.sgy", "kept.npy").stderr
    right = read("kept.npy")
    for closed in ["<&-", ">&-", "2>&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"]:
        r = subprocess.run(f"'{CLI}' run fx holes.sgy kept.npy --force {closed}", shell=True, capture_output=True, timeout=60)
        assert r.returncode == 0 and read("kept.npy") == right, (closed, r)
    r = subprocess.run(f"'{CLI}' convert - kept.npy --force <&-", shell=True, capture_output=True, text=True, timeout=60)
    assert r.returncode == 1 and "standard input: Bad file descriptor" in r.stderr, r


@test
def names_that_no_file_can_have_are_told_before_anything_is_computed():
    """A survey in several slabs is not measured first, and no result is computed whose volume cannot be written."""
    if not os.path.exists("wide.sgy"):
        cli("synth", "planes", "inlines=60", "xlines=40", "samples=200", "-o", "wide.sgy", "--no-truth")
    for words in (["-o", "never.txt"], ["-o", "never.npy", "--volume", "coherence=never-c.txt"], ["-o", "never.txt", "--dry-run"]):
        r = cli("run", "patch", "-i", "wide.sgy", *words, "--memory", "0.1", "--progress", "plain", status=1)
        assert "the format follows the name" in r.stderr and "noise level" not in r.stderr, r.stderr
        assert not [f for f in os.listdir(".") if f.startswith("never")], words
    for name in ("can.sgy", "can.su", "can.npy", "can.rsf", "can.bin"):  # and those that one can have are not
        cli("run", "fx", "half_width=1", "window=10", "-i", "wide.sgy", "-o", name)

run()
