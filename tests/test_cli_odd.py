#!/usr/bin/python3
"""Names and machines that are odd: names of bytes that are no text, of control characters, empty ones; folders that are not there;
recipes that filter nothing; a home, a folder for temporary files or a standard input that is missing. Prints TAP.

    test_cli_odd.py PATH/lithoscope-cli
"""
import json
import os
import signal
import subprocess
import time

from cli_tap import CLI, cli, read, run, test

SIZE = ["inlines=12", "xlines=12", "samples=64"]
FX = ["fx", "half_width=1"]
EMPTY, OFF = '{"lithoscope":1,"flow":[]}', '{"lithoscope":1,"flow":[{"operator":"fx","enabled":false}]}'


def survey(name="in.sgy"):
    if not os.path.exists(name):
        cli("synth", "planes", *SIZE, "-o", name, "--no-truth")
    return name


def raw(*args, status=0, **more):
    """Bytes in, bytes out: what is printed need not be text."""
    r = subprocess.run([os.fsencode(CLI), *map(os.fsencode, args)], capture_output=True, timeout=300, **more)
    assert r.returncode == status, (args, r)
    return r


@test
def recipes_without_a_step_that_works():
    """An empty one is refused by every command; steps that are switched off are told, as the copy is what was asked for."""
    survey()
    for command in ("run", "find", "report"):
        out = [] if command == "find" else ["empty.png" if command == "report" else "empty.sgy"]
        for word in (EMPTY, "empty.json"):
            open("empty.json", "w").write(EMPTY)
            told = cli(command, word, "in.sgy", *out, status=2).stderr
            assert "has no steps; one at least is needed" in told, told
    assert not os.path.exists("empty.sgy") and not os.path.exists("empty.png")
    told = cli("run", OFF, "in.sgy", "off.npy").stderr
    assert "all steps of the recipe are switched off: nothing is filtered" in told, told
    cli("convert", "in.sgy", "copy.npy")
    assert read("off.npy") == read("copy.npy")
    for words in ([EMPTY, "+", *FX], [OFF, "+", *FX]):
        cli("run", *words, "in.sgy", "more.npy", "--force")
        cli("run", *FX, "in.sgy", "plain.npy", "--force")
        assert read("more.npy") == read("plain.npy"), words
    told = cli("run", *FX, "+", "twsm", "in.sgy", "never.npy", status=2).stderr
    assert "twsm makes its own data and can be the first step only; it stands behind fx" in told, told


@test
def names_that_are_no_text():
    """Such a name breaks no JSON, page or picture, and the samples are those of any other name."""
    before, bad = read(survey()), b"bad\xff\xfename.sgy"
    open(bad, "wb").write(before)
    assert json.loads(raw("info", "--json", bad).stdout.decode())["file"] == "bad\ufffd\ufffdname.sgy"
    assert b"bad\xff" in raw("info", bad).stdout
    raw("run", *FX, bad, b"out\xff.npy", "--timings", b"t\xff.json", "--save-recipe", b"r\xff.json", "--report", b"q\xff.json")
    cli("run", *FX, "in.sgy", "want.npy")
    assert read(b"out\xff.npy") == read("want.npy")
    for name in (b"t\xff.json", b"r\xff.json", b"q\xff.json", b"out\xff.npy.provenance"):
        json.loads(read(name).decode())
    raw("verify", b"out\xff.npy", "-i", bad)
    raw("run", b"r\xff.json", bad, "again.npy")
    raw("render", bad, b"p\xff.png", "--cpu")
    raw("report", *FX, bad, b"p\xff.pdf", "--json", b"f\xff.json")
    json.loads(read(b"f\xff.json").decode())
    raw("sweep", "fx", "half_width=1,2", bad, b"s\xff.png")


@test
def names_of_control_characters():
    """A name cannot move the cursor, colour the terminal or make two lines of one sentence."""
    survey()
    odd = "a\nb\x1b[31mc\x07.sgy"
    os.link("in.sgy", odd)
    for args, status in ((["info", odd], 0), (["info", odd + "x"], 1), (["convert", "in.sgy", odd], 1), (["run", odd + "x"], 2)):
        r = cli(*args, status=status)
        told = r.stdout + r.stderr
        assert "a\\nb\\033[31mc\\007.sgy" in told and "\x1b" not in told and "\x07" not in told, told
    cli("convert", odd, odd + ".npy")
    cli("convert", "in.sgy", "line.npy")
    assert read(odd + ".npy") == read("line.npy")


@test
def names_that_no_output_can_have():
    """They, and folders that are not there, are told before anything is computed: no other output is made."""
    survey()
    for bad, words in (("", "is empty"), ("new/", "ends with '/'"), ("no-folder/x.json", "cannot write no-folder/x.json: there is no folder no-folder"),
                       ("in.sgy/x.json", "cannot write in.sgy/x.json: Not a directory")):
        for args in (["run", *FX, "in.sgy", "first.npy", "--timings", bad], ["run", *FX, "in.sgy", "first.npy", "--save-recipe", bad],
                     ["run", *FX, "in.sgy", "first.npy", "--report", bad], ["find", "fx", "in.sgy", "--save", bad],
                     ["report", *FX, "in.sgy", "first.png", "--json", bad], ["sweep", "fx", "half_width=1,2", "in.sgy", "--json", bad],
                     ["bench", "fx", "--size", "8x8x32", "--backends", "cpu", "--json", bad]):
            r = cli(*args, status=1)
            assert words in r.stderr and r.stderr.count("\n") <= 2 and "SNR" not in r.stdout, (args, r)
            assert not os.path.exists("first.npy") and not os.path.exists("first.png"), args
        for args in (["convert", "in.sgy", bad], ["run", *FX, "in.sgy", bad], ["render", "in.sgy", bad]):
            r = cli(*args, status=None)
            assert r.returncode in (1, 2) and r.stderr.count("\n") <= 2, r
    assert "is empty" in cli("convert", "", "first.npy", status=1).stderr
    for command in ("report", "sweep"):
        words = FX if command == "report" else ["fx", "half_width=1,2"]
        r = cli(command, *words, "in.sgy", "page.html", status=2)
        assert ".png, .pdf or .svg is needed" in r.stderr and r.stdout == "", r


@test
def a_machine_without_a_home():
    """Neither HOME nor the folders of the XDG are needed; where they cannot be used nothing is lost but the told time."""
    survey()
    cli("run", *FX, "in.sgy", "home.npy")
    plain = {k: v for k, v in os.environ.items() if k != "HOME" and not k.startswith("XDG_")}
    for n, own in enumerate(({}, {"HOME": ""}, {"HOME": "/nonexistent"}, {"HOME": "relative"},
                             {"XDG_CACHE_HOME": "/proc/x", "XDG_CONFIG_HOME": "/dev/null", "XDG_DATA_HOME": "/dev/full"})):
        r = cli("run", *FX, "in.sgy", f"home{n}.npy", env={**plain, **own})
        assert read(f"home{n}.npy") == read("home.npy") and r.stderr.count("\n") <= 1, r.stderr
    assert not os.path.exists("relative")


@test
def a_machine_without_a_folder_for_temporary_files():
    """Only standard input and output need one; the sentence names it."""
    survey()
    for folder in ("/nonexistent", "/proc"):
        env = dict(os.environ, TMPDIR=folder)
        cli("run", *FX, "in.sgy", "t.npy", "--force", env=env)
        with open("in.sgy", "rb") as source:
            r = cli("convert", "-", "t2.npy", status=1, stdin=source, env=env)
        assert f"temporary files in {folder} (TMPDIR may name another one)" in r.stderr and r.stderr.count("\n") == 1, r.stderr
        r = raw("convert", "in.sgy", "-", status=1, env=env)
        assert r.stdout == b"" and folder.encode() in r.stderr, r
    assert not os.path.exists("t2.npy")


@test
def a_standard_input_that_is_none():
    survey()
    for how, words in (("<&-", "Bad file descriptor"), ("< .", "Is a directory"), ("< /dev/null", "standard input is empty")):
        r = subprocess.run(["sh", "-c", f'"$0" convert - never.npy {how}', CLI], capture_output=True, text=True, timeout=300)
        assert r.returncode == 1 and words in r.stderr and r.stderr.count("\n") == 1, r
    r = subprocess.run(["sh", "-c", '"$0" convert in.sgy - >&-', CLI], capture_output=True, text=True, timeout=300)
    assert r.returncode == 1 and r.stderr.count("\n") == 1, r
    writer = subprocess.Popen(["sh", "-c", "head -c 5000 in.sgy; kill -9 $$"], stdout=subprocess.PIPE)
    r = subprocess.run([CLI, "convert", "-", "cut.npy"], stdin=writer.stdout, capture_output=True, text=True, timeout=300)
    writer.stdout.close()
    writer.wait()
    assert "the last trace is incomplete" in r.stderr, r
    assert not os.path.exists("never.npy")


@test
def a_run_that_is_stopped_goes_on():
    """SIGSTOP and SIGCONT, as Ctrl+Z and fg, change neither samples nor status."""
    survey()
    words = ["run", "wavepacket", "in.sgy"]
    cli(*words, "whole.npy")
    p = subprocess.Popen([CLI, *words, "stopped.npy"], stderr=subprocess.PIPE)
    for _ in range(5):
        time.sleep(0.02)
        p.send_signal(signal.SIGSTOP)
        time.sleep(0.02)
        p.send_signal(signal.SIGCONT)
    assert p.wait(300) == 0, p.stderr.read()
    p.stderr.close()
    assert read("stopped.npy") == read("whole.npy")


run()
