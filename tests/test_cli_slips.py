#!/usr/bin/python3
"""Natural mistakes at the command line: each is told in one sentence that says how it is put right. Velocities in other units are
taken for what they are where the file says so, and named where it does not. Prints TAP.

    test_cli_slips.py PATH/lithoscope-cli
"""
import os
import struct

import numpy as np
from cli_tap import cli, read, run, test

SIZE = ["inlines=8", "xlines=8", "samples=64"]
FX = ["fx", "half_width=1"]
MIGRATE = ["run", "migrate", "nz=20", "fmax=20", "degree=5", "--force"]
FOOT = 0.3048


def survey(name="in.sgy"):
    if not os.path.exists(name):
        cli("synth", "planes", *SIZE, "-o", name, "--no-truth")
    return name


def refused(*args, status=2):
    return cli(*args, status=status).stderr.splitlines()[0]


@test
def a_forgotten_operator():
    """The survey stands where the operator is needed: it is no recipe that is not text."""
    survey()
    for command in ("run", "find", "report"):
        told = refused(command, "in.sgy", "out.png" if command == "report" else "out.sgy")
        assert "'in.sgy' stands where an operator" in told and "UTF-8" not in told, told
    assert not os.path.exists("out.sgy")


@test
def dashes_and_empty_values():
    survey()
    for word in ("--window=10", "--window", "--preset=strong"):
        told = refused("run", "fx", word, "in.sgy", "out.sgy")
        assert "parameters have no dashes: " + word[2:] in told, told
    assert "dashes" not in refused("run", "fx", "--bakcend=cpu", "in.sgy", "out.sgy")
    told = refused("run", "fx", "window=", "in.sgy", "out.sgy")
    assert "window has no value; it must be a whole number from 3 to 100 traces" in told, told
    told = refused("sweep", "fx", "windw=10,20", "-i", "in.sgy", "-o", "sheet.png")
    assert "did you mean 'window'" in told, told
    told = refused("sweep", "patch", "rule=automatic,enrgy", "-i", "in.sgy", "-o", "sheet.png")
    assert "rule is enrgy; it must be one of automatic, single, energy" in told and not os.path.exists("sheet.png"), told
    told = cli("sweep", "patch", "threshold=0,3", "-i", "in.sgy", "-o", "sheet.png").stdout
    assert "threshold 0 (automatic) " in told and "threshold 3 " in told, told
    os.remove("sheet.png")


@test
def folders_and_files_that_are_not_there():
    survey()
    for args in (["run", *FX, "in.sgy", "no/where/out.sgy"], ["convert", "in.sgy", "no/where/out.npy"],
                 ["report", *FX, "in.sgy", "no/where/out.pdf"], ["render", "in.sgy", "no/where/out.png"]):
        told = refused(*args, status=1)
        assert "cannot write no/where/out" in told and "there is no folder no/where" in told, told
    cli("synth", "planes", "inlines=9", "xlines=8", "samples=64", "-o", "nine.npy", "--no-truth")
    told = refused("run", *FX, "in.sgy", "f.npy", "--reference", "nine.npy", status=1)
    assert "nine.npy has another shape than the input: 9 x 8 x 64 samples, and not 8 x 8 x 64" in told, told
    told = refused("verify", "gone.sgy", status=1)
    assert "there is no file gone.sgy" in told, told


@test
def a_shape_that_is_not_used():
    """Line numbers arrange the traces; the option is not dropped without a word."""
    survey()
    told = cli("info", "in.sgy", "--shape", "4,16").stdout
    assert "size         8 x 8 x 64" in told and "--shape is not used" in told, told
    told = cli("info", "in.sgy", "--shape", "4,16", "--file-order").stdout
    assert "size         4 x 16 x 64" in told and "not used" not in told, told


@test
def commands_name_what_the_axes_count():
    """Gathers have shots and channels; a line has no inlines 1 to 1."""
    raw = bytearray(read(survey()))
    ns = struct.unpack(">H", raw[3220:3222])[0]
    trace = 240 + 4 * ns
    for k in range(64):
        at = 3600 + trace * k
        raw[at + 180:at + 196] = bytes(16)  # no coordinates, no line numbers
        raw[at + 4:at + 28] = bytes(24)
        raw[at + 8:at + 16] = struct.pack(">ii", 3 + k // 8, 1 + k % 8)
    open("shots.sgy", "wb").write(raw)
    assert "  shot " in cli("info", "shots.sgy").stdout
    assert "slabs     1 of 8 shots, " in cli("run", *FX, "shots.sgy", "f.sgy", "--dry-run").stdout
    cli("run", *FX, "shots.sgy", "f.sgy")
    told = cli("verify", "f.sgy", "--share", "100").stdout
    assert "(8 of 8 shots)" in told, told
    for k in range(64):
        at = 3600 + trace * k
        raw[at + 8:at + 12] = struct.pack(">i", 11 + k // 8)
    open("more.sgy", "wb").write(raw)
    notes = [line for line in cli("info", "-i", "shots.sgy", "-i", "more.sgy").stdout.splitlines() if line.startswith("note")]
    assert len(notes) > 1 and not any("2 files read" in line for line in notes[:1]) and any("2 files read" in line for line in notes), notes
    out = bytearray(read("f.sgy"))
    out[3600 + trace * 16 + 300] ^= 0x40
    open("f.sgy", "wb").write(out)
    told = cli("verify", "f.sgy", "--share", "100", status=1).stderr
    assert "differs from fx: shot 5, " in told, told
    np.save("line.npy", np.random.default_rng(1).standard_normal((1, 20, 64)).astype("f4"))
    told = cli("find", *FX, "-i", "line.npy").stdout
    assert "on traces 1 to 20, time" in told and "inlines" not in told, told


def velocity(name, low, high, feet=False):
    """A velocity cube as SEG-Y over the survey, sampled in depth by velocity_dz."""
    v = np.tile(np.linspace(low, high, 64, dtype="f4"), (8, 8, 1))
    np.save("v.npy", v)
    cli("convert", "v.npy", name, "--force")
    raw = bytearray(read(name))
    raw[3254:3256] = struct.pack(">h", 2 if feet else 1)
    open(name, "wb").write(raw)
    return name


def migrated(velocity, *more):
    r = cli(*MIGRATE, f"velocity={velocity}", *more, "in.sgy", "image.npy")
    return r.stderr, np.load("image.npy")


@test
def velocities_in_feet_a_second():
    """A file that counts in feet has its velocities turned, and says so; another is told to look like feet. The image of the turned
    file is that of its twin in m/s: a thousandth of its largest sample apart at most, as both files are rounded to floats."""
    survey()
    told, image = migrated(velocity("ms.sgy", 1500, 3500), "velocity_dz=10")
    assert "ft/s" not in told and "km/s" not in told and "are they" not in told, told
    told, feet = migrated(velocity("ft.sgy", 1500 / FOOT, 3500 / FOOT, feet=True), "velocity_dz=10")
    assert "ft.sgy counts in feet" in told and "read as ft/s, 1500 to 3500 m/s" in told, told
    assert np.abs(feet - image).max() < 1e-3 * np.abs(image).max()
    told, _ = migrated(velocity("unsaid.sgy", 1500 / FOOT, 3500 / FOOT), "velocity_dz=10")
    assert "from 4921 to 11483 m/s look like ft/s (1500 to 3500 m/s); --scale 0.3048" in told, told
    cli("convert", "unsaid.sgy", "turned.sgy", "--scale", "0.3048")
    told, turned = migrated("turned.sgy", "velocity_dz=10")
    assert "ft/s" not in told and np.abs(turned - image).max() < 1e-3 * np.abs(image).max(), told


@test
def numbers_and_tables_in_other_units():
    survey()
    told, image = migrated("2500")
    assert "look" not in told, told
    told, feet = migrated(f"{2500 / FOOT:.3f}ft/s")
    assert "look" not in told and np.abs(feet - image).max() < 1e-3 * np.abs(image).max(), told
    told, _ = migrated("8202")
    assert "a velocity of 8202 m/s looks like ft/s: 8202ft/s are 2500 m/s" in told, told
    told = refused(*MIGRATE, "velocity=2.5", "in.sgy", "image.npy", status=1)
    assert "it looks like km/s, 2500 m/s" in told, told
    open("km.txt", "w").write("0 1.5\n500 2.5\n")
    told = refused(*MIGRATE, "velocity=km.txt", "in.sgy", "image.npy", status=1)
    assert "km.txt, line 1: velocity 1.5 m/s" in told and "it looks like km/s, 1500 m/s" in told, told
    open("ft.txt", "w").write("0 5000\n500 11000\n")
    told, _ = migrated("ft.txt")
    assert "velocities from 5000 to 11000 m/s look like ft/s (1524 to 3353 m/s)" in told, told
    told = refused(*MIGRATE, "velocity=" + velocity("km.sgy", 1.5, 3.5), "velocity_dz=10", "in.sgy", "image.npy", status=1)
    assert "holds 1.5 m/s at" in told and "it looks like km/s, 1500 m/s" in told, told
    told, _ = migrated("5500")  # fast rock is no mistake
    assert "look" not in told, told


run()
