#!/usr/bin/python3
"""'verify' recomputes samples of an output from the provenance beside it, in every output format, and says in one sentence
whether they agree. Prints TAP.

    test_verify.py PATH/lithoscope-cli
"""
import json
import os
import shutil
import struct

import numpy

from cli_tap import cli, processor_s, read, run, test

CPU = ["--backend", "cpu"]


def make_input(name="in.sgy", *more):
    if not os.path.exists(name):
        cli("synth", "planes", "inlines=20", "xlines=12", "samples=64", "missing=8", "-o", name, "--no-truth", *more)


def make(out, *flow, source="in.sgy"):
    make_input()
    cli("run", *flow, "-i", source, "-o", out, *CPU, "--force", "--progress", "none")


def provenance(out, **changes):
    """The provenance of an output, written back with changes."""
    with open(f"{out}.provenance") as f:
        root = json.load(f)
    if changes:
        root.update(changes)
        with open(f"{out}.provenance", "w") as f:
            json.dump(root, f)
    return root


def sentence(r):
    """The one line on standard error, but for notes and for the progress that a slow machine's run tells every ten seconds."""
    lines = [line for line in r.stderr.splitlines() if not line.startswith(("note:", "verifying:"))]
    assert len(lines) == 1 and lines[0].startswith("lithoscope-cli: "), r.stderr
    return lines[0]


@test
def every_format_agrees_bit_for_bit():
    for suffix in ("sgy", "su", "npy", "rsf", "bin"):
        make(f"f.{suffix}", "fx", "window=6", "half_width=1")
        r = cli("verify", f"f.{suffix}", *CPU)
        assert "agrees bit for bit with fx: 4 of 20 slabs (4 of 20 inlines)" in r.stdout, r.stdout
        assert all(line.startswith("verifying:") for line in r.stderr.splitlines()), r.stderr
        told = json.loads(cli("verify", f"f.{suffix}", *CPU, "--share", "100", "--json").stdout)
        assert told["agrees"] and told["agreement"] == "bits" and told["inlines"] == 20, told
        assert told["samples"] == 20 * 12 * 64 and told["largest_difference"] == 0, told


@test
def formats_that_round_agree():
    make_input()
    for name in ("ibm", "int16"):
        cli("convert", "in.sgy", f"{name}.sgy", "--format", name)
        make(f"r-{name}.sgy", "fx", "window=10", source=f"{name}.sgy")
        assert "bit for bit" in cli("verify", f"r-{name}.sgy", *CPU).stdout


@test
def flows_that_measure_or_need_the_whole_agree():
    make("p.npy", "patch")  # the level of the noise is of the whole survey
    assert "bit for bit with patch" in cli("verify", "p.npy", *CPU).stdout
    make("w.npy", "fx", "window=10", "+", "migrate", "velocity=2000", "nz=20")
    r = cli("verify", "w.npy", *CPU)
    assert "bit for bit with fx + migrate: 1 of 1 slabs (20 of 20 inlines)" in r.stdout, r.stdout
    cli("run", "twsm", "model=flat", "cells_per_wavelength=1", "force=on", "-o", "t.npy", *CPU, "--progress", "none")
    assert "bit for bit with twsm" in cli("verify", "t.npy", *CPU).stdout


@test
def every_block_of_a_filling_is_computed_once():
    """A hundredth of the inlines is a thirty-second of a row of blocks; each filled all of the row again."""
    cli("synth", "planes", "inlines=160", "xlines=24", "samples=64", "missing=30", "-o", "gaps.npy", "--no-truth")
    flow = ["patch", "mode=fill", "iterations=8"]
    for name, more in (("filled", []), ("filtered", ["+", "fx", "window=10", "half_width=1"])):
        start = processor_s()
        make(f"{name}.npy", *flow, *more, source="gaps.npy")
        ran = processor_s() - start
        assert "100 of 100" not in cli("verify", f"{name}.npy", *CPU, "--slabs", "1").stdout
        start = processor_s()
        told = json.loads(cli("verify", f"{name}.npy", *CPU, "--share", "100", "--json").stdout)
        verified = processor_s() - start
        assert told["agreement"] == "bits" and told["slabs"] == told["all_slabs"] == 80, told
        assert verified < 5 * ran, (name, verified, ran)


@test
def volumes_agree():
    make_input()
    cli("run", "patch", "-i", "in.sgy", *CPU, "--volume", "coherence=c.npy", "--progress", "none")
    assert "bit for bit with patch" in cli("verify", "c.npy", *CPU, "--slabs", "2").stdout


@test
def one_changed_sample_is_found():
    make("one.npy", "fx", "window=6", "half_width=1")
    with open("one.npy", "r+b") as f:  # sample 32 of crossline 5 of inline index 17
        f.seek(os.path.getsize("one.npy") - 4 * ((20 - 17) * 12 * 64 - 5 * 64 - 32))
        value = struct.unpack("<f", f.read(4))[0]
        f.seek(-4, os.SEEK_CUR)
        f.write(struct.pack("<f", value * 1.000001 + 1e-6))
    r = cli("verify", "one.npy", *CPU, "--share", "100", status=1)
    assert "one.npy differs from fx: inline 18, " in sentence(r), r.stderr
    told = json.loads(cli("verify", "one.npy", *CPU, "--share", "100", "--json", status=1).stdout)
    assert told["agreement"] == "differs" and told["differing_inlines"] == 1 and told["first_differing_inline"] == 18, told
    assert told["relative_difference"] < 1e-4  # an equal device owes equal bits, whatever the tolerance
    found = [json.loads(cli("verify", "one.npy", *CPU, "--slabs", "10", "--seed", seed, "--json", status=None).stdout)["agrees"]
             for seed in range(6)]
    assert any(found) and not all(found), found  # another seed, other slabs


@test
def another_device_or_version_may_differ_in_rounding():
    make("v.npy", "fx", "window=10")
    with open("v.npy", "r+b") as f:
        data = bytearray(f.read())
        for at in range(len(data) - 4 * 12 * 64 * 20, len(data), 4):
            struct.pack_into("<f", data, at, struct.unpack_from("<f", data, at)[0] * (1 + 2e-6))
        f.seek(0)
        f.write(data)
    cli("verify", "v.npy", *CPU, status=1)
    provenance("v.npy", device="NVIDIA H200", backend="cuda")
    r = cli("verify", "v.npy", *CPU)
    assert "agrees with fx within the tolerance: relative difference 2" in r.stdout and "written on NVIDIA H200" in r.stdout, r.stdout
    assert "differs" in sentence(cli("verify", "v.npy", *CPU, "--tolerance", "1e-7", status=1))
    provenance("v.npy", device="AMD", version="0.0.9")
    r = cli("verify", "v.npy", *CPU)
    assert "note: v.npy was written by version 0.0.9; this is " in r.stderr and "within the tolerance" in r.stdout, r.stderr


@test
def names_that_are_no_utf8_are_found_again():
    """JSON is UTF-8: the provenance holds such a name as a URI, and any other as it is."""
    make_input()
    source, out = os.fsdecode(b"in\xe9%41.sgy"), os.fsdecode(b"out\xff.sgy")
    shutil.copy("in.sgy", source)
    cli("run", "fx", "half_width=1", "-i", source, "-o", out, *CPU, errors="replace")
    root = provenance(out)
    assert root["inputs"][0].startswith("file:///") and root["input_files"][0]["path"].endswith("in%E9%2541.sgy"), root
    assert "agrees bit for bit" in cli("verify", out, errors="replace").stdout
    make("plain%41.npy", "fx", "half_width=1")
    assert provenance("plain%41.npy")["inputs"] == [os.path.abspath("in.sgy")]


@test
def the_input_is_looked_at():
    make_input("own.sgy", "seed=7")
    make("i.npy", "fx", "window=10", source="own.sgy")
    shutil.copy("own.sgy", "moved.sgy")
    os.utime("own.sgy", (1, 1))  # its contents are what they were
    assert "bit for bit" in cli("verify", "i.npy", *CPU).stdout
    os.remove("own.sgy")
    assert "own.sgy is not there; -i IN tells where it lies now" in sentence(cli("verify", "i.npy", *CPU, status=1))
    assert "bit for bit" in cli("verify", "i.npy", "-i", "moved.sgy", *CPU).stdout
    make_input()
    assert "in.sgy is not the file" in sentence(cli("verify", "i.npy", "-i", "in.sgy", *CPU, status=1))
    with open("moved.sgy", "r+b") as f:
        f.seek(5000)
        byte = f.read(1)
        f.seek(5000)
        f.write(bytes([byte[0] ^ 1]))
    assert "has changed since" in sentence(cli("verify", "i.npy", "-i", "moved.sgy", *CPU, status=1))


def make_zarr(folder, seed):
    """A Zarr folder of 12 x 8 x 40 random samples, a chunk an inline."""
    random = numpy.random.default_rng(seed)
    os.makedirs(folder)
    with open(f"{folder}/.zarray", "w") as f:
        json.dump({"zarr_format": 2, "shape": [12, 8, 40], "chunks": [1, 8, 40], "dtype": "<f4", "fill_value": 0, "order": "C",
                   "filters": None, "compressor": None}, f)
    for k in range(12):
        random.standard_normal((8, 40)).astype("<f4").tofile(f"{folder}/{k}.0.0")


@test
def a_folder_is_looked_at_with_all_its_files():
    make_zarr("a.zarr", 1)
    make("z.npy", "fx", "window=8", "half_width=1", source="a.zarr")
    assert os.path.exists("z.npy.provenance")
    assert "bit for bit" in cli("verify", "z.npy", *CPU).stdout
    shutil.copytree("a.zarr", "moved.zarr", copy_function=shutil.copyfile)
    assert "bit for bit" in cli("verify", "z.npy", "-i", "moved.zarr", *CPU).stdout
    shutil.copyfile("moved.zarr/3.0.0", "moved.zarr/5.0.0")
    assert "has changed since" in sentence(cli("verify", "z.npy", "-i", "moved.zarr", *CPU, status=1))
    shutil.rmtree("a.zarr")
    assert "a.zarr is not there" in sentence(cli("verify", "z.npy", *CPU, status=1))


@test
def a_parameters_file_is_looked_at():
    with open("v.txt", "w") as f:
        f.write("0 2000\n500 2500\n")
    make("m.npy", "migrate", "velocity=v.txt", "nz=12")
    assert "bit for bit" in cli("verify", "m.npy", *CPU).stdout
    with open("v.txt", "w") as f:
        f.write("0 2000\n500 2600\n")
    assert "v.txt is not the file" in sentence(cli("verify", "m.npy", *CPU, status=1))


@test
def without_a_provenance_a_sentence_says_so():
    make_input()
    cli("run", "fx", "window=10", "-i", "in.sgy", "-o", "bare.npy", *CPU, "--no-provenance", "--progress", "none")
    assert not os.path.exists("bare.npy.provenance")
    assert "bare.npy has no provenance: bare.npy.provenance" in sentence(cli("verify", "bare.npy", status=1))
    make("bad.npy", "fx", "window=10")
    for text in ("{}", "[1]", "no json", '{"lithoscope-provenance": 2}', '{"lithoscope-provenance": 1, "version": 3}'):
        with open("bad.npy.provenance", "w") as f:
            f.write(text)
        assert "bad.npy.provenance" in sentence(cli("verify", "bad.npy", status=1))
    make("cut.npy", "fx", "window=10")
    cli("convert", "in.sgy", "whole.npy")
    provenance("cut.npy", output_size=[20, 12, 63])
    assert "the run wrote 20 x 12 x 63" in sentence(cli("verify", "cut.npy", *CPU, status=1))


@test
def a_provenance_replaces_nothing_of_the_users():
    make_input()
    with open("mine.npy.provenance", "w") as f:
        f.write("my notes\n")
    words = ["run", "fx", "window=10", "-i", "in.sgy", "-o", "mine.npy", *CPU, "--progress", "none"]
    assert "mine.npy.provenance exists" in sentence(cli(*words, status=1))
    assert read("mine.npy.provenance") == b"my notes\n" and not os.path.exists("mine.npy")
    cli(*words, "--force")
    os.remove("mine.npy")
    cli(*words)  # what an earlier run has left is no obstacle
    assert "bit for bit" in cli("verify", "mine.npy", *CPU).stdout


@test
def wrong_usage_is_told():
    for words in ([], ["a", "b"], ["a.npy", "--slabs", "0"], ["a.npy", "--share", "101"], ["a.npy", "--tolerance", "-1"]):
        cli("verify", *words, status=2)


run()
