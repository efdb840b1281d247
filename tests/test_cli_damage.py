#!/usr/bin/python3
"""Damaged surveys through the command line: a few bad headers, numbers or samples are outvoted, counted and told, and
--strict refuses them; what cannot be read is refused in one sentence. Prints TAP.

    test_cli_damage.py PATH/lithoscope-cli
"""
import json
import os
import re
import random
import struct
import subprocess

import numpy as np

from cli_tap import CLI, cli, read, run, test


def grid(name):
    return [a["n"] for a in json.loads(cli("info", name, "--json").stdout)["axes"]]


def samples(name, *more):
    out = name + ".npy"
    r = cli("convert", name, out, "--force", *more)
    return np.load(out), r.stderr


def survey(name, n1, n2, ns, damage=None, binary=None, header=None, trace_ns=None, code=5, dt=4000):
    """A SEG-Y survey; `damage(bytes)` may change the whole file, header(h, i, j) a trace header."""
    rng = np.random.default_rng(7)
    wave = np.cumsum(rng.standard_normal((n1, n2, ns)), 2).astype(np.float32)
    out = bytearray(b"C 1 CLIENT".ljust(3200))
    head = bytearray(400)
    struct.pack_into(">h", head, 16, dt)
    struct.pack_into(">H", head, 20, ns)
    struct.pack_into(">h", head, 24, code)
    struct.pack_into(">h", head, 54, 1)
    if binary:
        binary(head)
    out += head
    for i in range(n1):
        for j in range(n2):
            h = bytearray(240)
            struct.pack_into(">i", h, 0, i * n2 + j + 1)
            struct.pack_into(">h", h, 28, 1)
            struct.pack_into(">hh", h, 68, 1, -100)
            struct.pack_into(">HH", h, 114, trace_ns(i, j) if trace_ns else ns, dt)
            struct.pack_into(">iiii", h, 180, 43000000 + 2500 * j, 620000000 + 2500 * i, 100 + i, 300 + j)
            if header:
                header(h, i, j)
            n = trace_ns(i, j) if trace_ns else ns
            out += h + {5: lambda x: x.astype(">f4"), 3: lambda x: (x * 300).astype(">i2"), 6: lambda x: x.astype(">f8")}[code](
                wave[i, j, :n]).tobytes()
    if damage:
        damage(out)
    with open(name, "wb") as f:
        f.write(out)
    return wave


def noise(n, seed=3):
    return bytes(random.Random(seed).randrange(256) for _ in range(n))


@test
def random_bytes_at_the_end_lose_nothing():
    for n1, n2, ns, extra in [(5, 6, 20, 1000), (5, 6, 50, 1000), (40, 30, 20, 5000), (40, 30, 20, 320 * 9), (1, 30, 20, 1000)]:
        wave = survey("end.sgy", n1, n2, ns, lambda b: b.extend(noise(extra)))
        a, told = samples("end.sgy")
        assert a.shape == (n1, n2, ns), (a.shape, told)
        assert np.array_equal(a, wave) and "note:" in told, told
        cli("convert", "end.sgy", "strict.npy", "--strict", status=1)


@test
def one_damaged_trace_header_loses_one_trace():
    for t in [0, 1, 599, 777, 1199]:
        def damage(b):
            at = 3600 + t * (240 + 80)
            b[at:at + 240] = noise(240, t)
        wave = survey("head.sgy", 40, 30, 20, damage)
        a, told = samples("head.sgy")
        assert a.shape == wave.shape, (t, a.shape, told)
        good = np.ones((40, 30), bool)
        good[t // 30, t % 30] = False
        assert np.array_equal(a[good], wave[good]) and np.isnan(a[~good]).all(), t
        assert f"number {t + 1})" in told and "left out" in told, told
        cli("convert", "head.sgy", "strict.npy", "--strict", status=1)


@test
def a_stray_line_number_is_outvoted():
    for at, value in [(188, 77777), (188, -5), (188, 2000000000), (192, 100001), (192, -2147483648)]:
        def header(h, i, j):
            if (i, j) == (17, 11):
                struct.pack_into(">i", h, at, value)
        wave = survey("stray.sgy", 40, 30, 20, header=header)
        a, told = samples("stray.sgy")
        if value == -5:  # near enough to be believed: an outline with a gap
            assert a.shape[1:] == (30, 20) and a.shape[0] <= 150, a.shape
            continue
        assert a.shape == wave.shape, (value, a.shape, told)
        assert np.isnan(a[17, 11]).all() and np.isnan(a).all(axis=2).sum() == 1
        assert "number 522)" in told and "left out" in told and str(value) in told, told
        assert "coordinates" not in told, told  # it does not turn the fit of all others' coordinates
        cli("convert", "stray.sgy", "strict.npy", "--strict", status=1)

    def odd(h, i, j):  # lines 100, 102, ... and one 117
        struct.pack_into(">i", h, 188, 117 if (i, j) == (3, 4) else 100 + 2 * i)
    wave = survey("odd.sgy", 20, 30, 20, header=odd)
    assert grid("odd.sgy")[:2] == [20, 30]

    def coordinate(h, i, j):
        struct.pack_into(">ii", h, 188, 0, 0)
        if (i, j) == (9, 9):
            struct.pack_into(">i", h, 180, 2000000000)
    wave = survey("xy.sgy", 20, 30, 20, header=coordinate)
    a, told = samples("xy.sgy")
    assert a.shape == wave.shape and "number 280)" in told, (a.shape, told)


@test
def a_count_of_traces_is_no_line_number():
    """The standard's count at byte 5 and crosslines made a lattice of a line a trace where inlines say nothing."""
    for inline in (lambda i: 0, lambda i: -2 ** 31 + i, lambda i: -2 ** 31 if i == 0 else 1000 + i):
        def header(h, i, j):
            struct.pack_into(">i", h, 4, i * 8 + j + 1)
            struct.pack_into(">ii", h, 188, inline(i), 2001 + j)
            struct.pack_into(">i", h, 20, 2001 + j)
        wave = survey("count.sgy", 10, 8, 20, header=header)
        a, told = samples("count.sgy")
        assert np.array_equal(a, wave), (a.shape, told)


@test
def many_strays_are_left_out_when_asked():
    def header(h, i, j):
        if (i * 30 + j) % 12 == 5:
            struct.pack_into(">i", h, 188, 100000 + 7919 * (i * 30 + j) % 900000)
    survey("many.sgy", 40, 30, 20, header=header)
    r = cli("info", "many.sgy", status=1)
    assert "--ignore-outliers" in r.stderr, r.stderr
    a, told = samples("many.sgy", "--ignore-outliers")
    assert a.shape == (40, 30, 20) and "100 traces" in told, (a.shape, told)


@test
def text_headers_that_are_not_there_skip_no_trace():
    for ns in [20, 340, 740]:
        for texts in [1, 2]:
            wave = survey("text.sgy", 20, 30, ns, binary=lambda b: struct.pack_into(">h", b, 304, texts))
            a, told = samples("text.sgy")
            assert np.array_equal(a, wave), (ns, texts, a.shape, told)
            assert "extended text headers" in told, told


@test
def a_wrong_sample_count_is_found_from_the_file():
    def header(h, i, j):
        struct.pack_into(">H", h, 114, 19)
    wave = survey("ns.sgy", 20, 30, 20, binary=lambda b: struct.pack_into(">H", b, 20, 21), header=header)
    a, told = samples("ns.sgy")
    assert np.array_equal(a, wave), (a.shape, told)


@test
def a_file_of_varying_lengths_may_be_cut_short():
    def lengths(i, j):
        return 40 + (i * 7 + j * 3) % 20
    wave = survey("vary.sgy", 10, 12, 60, trace_ns=lengths)
    whole = read("vary.sgy")
    for cut in [10, 100, 300]:
        open("cut.sgy", "wb").write(whole[:-cut])
        a, told = samples("cut.sgy")
        assert a.shape[:2] == (10, 12), (cut, a.shape, told)
        for i in range(9):
            for j in range(12):
                n = lengths(i, j)
                assert np.array_equal(a[i, j, :n], wave[i, j, :n]), (cut, i, j)
        assert "inside a trace" in told, told


@test
def integers_in_the_other_byte_order_are_turned():
    for scale in [1, 20, 300]:  # below 128, some thousands, full range
        wave = survey("int.sgy", 20, 30, 100, code=3)
        raw = bytearray(read("int.sgy"))
        traces = np.frombuffer(bytes(raw[3600:]), np.uint8).reshape(600, 440).copy()
        values = np.clip(wave.reshape(600, 100) * scale, -32768, 32767).astype("<i2")
        traces[:, 240:] = values.view(np.uint8).reshape(600, 200)
        open("int.sgy", "wb").write(bytes(raw[:3600]) + traces.tobytes())
        a, told = samples("int.sgy")
        assert np.array_equal(a.reshape(600, 100), values.astype("f4")) and "samples are little endian" in told, (scale, told)
        traces[:, 240:] = values.astype(">i2").view(np.uint8).reshape(600, 200)
        open("int.sgy", "wb").write(bytes(raw[:3600]) + traces.tobytes())
        a, told = samples("int.sgy")
        assert np.array_equal(a.reshape(600, 100), values.astype("f4")) and "samples are" not in told, (scale, told)
    # Eight-bit samples moved up by eight bits are as they should be.
    traces[:, 240:] = (np.clip(wave.reshape(600, 100) * 5, -128, 127).astype("i2") * 256).astype(">i2").view(np.uint8).reshape(600, 200)
    open("int.sgy", "wb").write(bytes(raw[:3600]) + traces.tobytes())
    assert "samples are" not in samples("int.sgy")[1]


@test
def header_words_may_be_floats():
    def floats(h, i, j):
        x = 430000 + 25 * j * np.cos(0.3) - 25 * i * np.sin(0.3)
        y = 6200000 + 25 * j * np.sin(0.3) + 25 * i * np.cos(0.3)
        struct.pack_into(">h", h, 70, 1)
        struct.pack_into(">ffff", h, 180, x, y, 100 + i, 300 + j)
    wave = survey("float.sgy", 25, 28, 20, header=floats)
    a, told = samples("float.sgy")
    assert np.array_equal(a, wave) and "floats" in told, (a.shape, told)
    text = cli("info", "float.sgy").stdout
    assert "25 m by 25 m" in text.replace("24.999", "25").replace("25.000", "25") or "residual 0.0" in text, text

    def only_xy(h, i, j):
        floats(h, i, j)
        struct.pack_into(">ii", h, 188, 0, 0)
    wave = survey("float.sgy", 25, 28, 20, header=only_xy)
    a, told = samples("float.sgy")
    assert a.shape[:2] in [(25, 28), (28, 25)] and not np.isnan(a).any(), (a.shape, told)


@test
def traces_that_are_counted_through_lie_where_coordinates_say():
    """CDP numbers run through the survey, there and back, without line numbers: it was one line of all traces. 2-D lines stay lines;
    a trace without a place at the end of a line makes no second line."""
    def counted(apart, serpentine):
        def header(h, i, j):
            j = 27 - j if serpentine and i % 2 else j
            struct.pack_into(">iiii", h, 180, 43000000 + 2000 * j - apart * i, 620000000 + 1500 * j + apart * i, 0, 0)
            struct.pack_into(">i", h, 20, i * 28 + j + 1)
        return header
    for serpentine in (False, True):
        survey("counted.sgy", 25, 28, 20, header=counted(1800, serpentine))
        a, told = samples("counted.sgy")
        assert a.shape == (25, 28, 20) and "the lattice was fitted to the coordinates" in told, (a.shape, told)
    survey("apart.sgy", 25, 28, 20, header=counted(90000, False))
    a, told = samples("apart.sgy")
    assert a.shape == (1, 700, 20) and "seem to be 25 lines" in told, (a.shape, told)

    def nowhere(h, i, j):
        if j >= 25:
            struct.pack_into(">ii", h, 180, -2**31, -2**31)
    survey("nowhere.sgy", 1, 28, 20, header=nowhere)
    a, told = samples("nowhere.sgy")
    assert a.shape == (1, 28, 20) and "lines" not in told, (a.shape, told)


@test
def headers_of_filled_traces_are_their_own():
    """They were copies of the first trace's: all of CDP 1, at its source. What grows evenly goes on so, what does not is 0."""
    def header(h, i, j):
        struct.pack_into(">ii", h, 20, 12 * i + j + 1, 7)  # CDP
        struct.pack_into(">ii", h, 72, 43000000 + 2500 * j, 620000000 + 2500 * i)
        struct.pack_into(">i", h, 12, (12 * i + j) ** 2)  # channel

    def holes(b):
        traces = np.frombuffer(bytes(b[3600:]), np.uint8).reshape(-1, 320)
        b[3600:] = traces[np.arange(len(traces)) % 7 != 3].tobytes()
    survey("whole.sgy", 20, 12, 20, header=header)
    survey("holes.sgy", 20, 12, 20, holes, header=header)
    cli("run", "patch", "mode=fill", "iterations=2", "holes.sgy", "filled.sgy", "--backend", "cpu")
    heads = [np.frombuffer(read(f)[3600:], np.uint8).reshape(-1, 320)[:, :240].copy().view(">i4") for f in ("whole.sgy", "filled.sgy")]
    new = np.arange(240) % 7 == 3
    assert np.array_equal(heads[0][~new], heads[1][~new])
    for byte in (21, 25, 73, 77, 181, 185, 189, 193):
        assert np.array_equal(heads[0][:, byte // 4], heads[1][:, byte // 4]), byte
    assert not heads[1][new, 13 // 4].any()


@test
def bad_samples_are_counted_and_refused_when_strict():
    def damage(value, code):
        def change(b):
            stride = 240 + 20 * (8 if code == 6 else 4)
            at = 3600 + 77 * stride + 240 + 5 * (8 if code == 6 else 4)
            struct.pack_into(">d" if code == 6 else ">f", b, at, value)
        return change
    for value, code in [(float("nan"), 5), (float("inf"), 5), (1e30, 5), (1e200, 6), (float("nan"), 6)]:
        survey("bad.sgy", 20, 30, 20, damage(value, code), code=code)
        for args in [["convert", "bad.sgy", "bad.npy", "--force"], ["run", "fx", "half_width=1", "bad.sgy", "bad.npy", "--force", "--memory", "0.05"]]:
            told = cli(*args).stderr
            assert "1 trace holds 1 NaN, infinite or null samples" in told, (args, told)
            os.remove("bad.npy")
            r = cli(*args, "--strict", status=1)
            assert "NaN" in r.stderr and not os.path.exists("bad.npy"), r.stderr
        told = cli("info", "bad.sgy").stdout
        assert "note         1 trace holds 1 NaN" in told and "NaN" not in cli("info", "bad.sgy", "--headers").stdout, told
    survey("good.sgy", 20, 30, 20)
    assert "NaN" not in cli("convert", "good.sgy", "good.npy", "--strict").stderr
    assert "NaN" not in cli("info", "good.sgy").stdout


@test
def a_file_of_nothing_but_bad_samples_is_refused():
    """All traces masked would be a result of zeros, status 0; one bad sample of a short trace is mended."""
    def loud(b):
        traces = np.frombuffer(b, np.uint8)[3600:].reshape(-1, 320)
        traces[:, 240:] = np.full((240, 20), 1e34, ">f4").view(np.uint8)
    wave = survey("bad.sgy", 20, 12, 20, loud)
    np.save("bad.npy", np.full_like(wave, np.nan))
    for name in ("bad.sgy", "bad.npy"):
        for args in (["run", "fx", "half_width=1", name, "no.npy"], ["run", "patch", "sigma=1", name, "no.npy"], ["convert", name, "no.npy"]):
            told = cli(*args, status=1).stderr
            assert "no trace has samples to work with" in told and not os.path.exists("no.npy"), (args, told)
    wave[3, 4, 7] = np.nan
    np.save("one.npy", wave)
    cli("convert", "one.npy", "mended.npy")
    assert np.load("mended.npy")[3, 4, 7] == (wave[3, 4, 6] + wave[3, 4, 8]) / 2


@test
def samples_whose_squares_leave_a_float_are_refused():
    """Whole surveys far too loud or too faint are refused, in slabs too; scaled ones give the bytes of the plain one; a loud trace
    alone and a survey that is faint in part are run."""
    cli("synth", "curved", "inlines=160", "xlines=20", "samples=64", "-o", "plain.npy", "--no-truth", "--force")
    plain = np.load("plain.npy")
    part = plain.copy()
    part[:80] *= np.float32(2.0**-80)
    burst = plain.copy()
    burst[20, 10] *= np.float32(2.0**60)
    for name, cube in ("loud", plain * np.float32(2.0**60)), ("faint", plain * np.float32(2.0**-80)), ("burst", burst), ("half", part):
        np.save(f"{name}.npy", cube)
    slabs = ["--memory", "0.006", "--threads", "2"]
    assert re.search(r"slabs +([2-9]|[0-9]{2})", cli("run", "fx", "plain.npy", "never.npy", *slabs, "--dry-run").stdout)
    for op in ("fx", "patch", "wavepacket"):
        for name in ("loud.npy", "faint.npy"):
            for more in ([], slabs, [*slabs, "--journal"], [*slabs, "--journal"]) if op == "fx" else ([],):
                r = cli("run", op, name, "never.npy", *more, "--force", status=1)
                assert "convert --scale" in r.stderr and not os.path.exists("never.npy"), r.stderr
        for name in ("burst.npy", "half.npy"):
            cli("run", op, name, "ran.npy", "--force")
    cli("run", "migrate", "nz=10", "faint.npy", "ran.npy", "--force")
    # A reconstruction takes no squares: what others are refused is right, to the last bit.
    exact = ["run", "wavepacket", "mode=reconstruct", "--backend", "cpu", "--force"]
    cli(*exact, "plain.npy", "exact.npy")
    for name, scale in ("loud.npy", 2.0**60), ("faint.npy", 2.0**-80):
        cli(*exact, name, "scaled.npy")
        assert np.array_equal(np.load("scaled.npy"), np.load("exact.npy") * np.float32(scale)), name
    np.save("deafening.npy", plain * np.float32(2.0**90))
    assert "convert --scale" in cli(*exact, "deafening.npy", "never.npy", status=1).stderr
    cli("convert", "--scale", str(2.0**80), "faint.npy", "back.npy", "--force")
    assert np.array_equal(np.load("back.npy"), plain)
    cli("convert", "--scale", "0", "faint.npy", "never.npy", status=2)


@test
def traces_of_zeros_without_headers_are_filled():
    """A NumPy cube marks missing traces by zeros at least as often as by NaN: both are filled, none is taken for silence."""
    i, j, k = np.mgrid[:24, :20, :96]
    cube = np.sin(0.5 * (k - 0.6 * i + 0.4 * j)).astype("f4")
    lost = np.random.default_rng(5).random((24, 20)) < 0.3
    for name, mark in ("zero", 0), ("nan", np.nan):
        holed = cube.copy()
        holed[lost] = mark
        np.save(f"{name}.npy", holed)
        cli("run", "patch", "preset=fill", f"{name}.npy", f"{name}-filled.npy", "--dt", "0.004")
    zero, nan = np.load("zero-filled.npy"), np.load("nan-filled.npy")
    assert np.array_equal(zero, nan)
    assert np.sum((zero - cube)[lost] ** 2) < 0.05 * np.sum(cube[lost] ** 2)
    said = cli("run", "patch", "zero.npy", "kept.npy", "--dt", "0.004", "--keep-zero-traces").stderr
    assert "of zeros" not in said and np.any(np.load("kept.npy")[lost] != 0)
    told = cli("run", "patch", "zero.npy", "left.npy", "--dt", "0.004").stderr
    assert f"{lost.sum()} traces of zeros count as missing" in told, told
    assert not np.load("left.npy")[lost].any()  # zeros again, not NaN


@test
def a_survey_of_which_nine_tenths_are_missing_is_filled():
    """Few traces are no spike in a quiet cube: 8 of 100 were told as live zeros, and nothing was filled."""
    i, j, k = np.mgrid[:40, :40, :96]
    cube = np.sin(0.3 * (k - 0.2 * i + 0.1 * j)).astype("f4")
    lost = np.random.default_rng(5).random((40, 40)) < 0.92
    holed = cube.copy()
    holed[lost] = 0
    np.save("sparse.npy", holed)
    told = cli("run", "patch", "preset=fill", "sparse.npy", "sparse-filled.npy", "--dt", "0.004").stderr
    assert f"{lost.sum()} traces of zeros count as missing" in told, told
    filled = np.load("sparse-filled.npy")
    assert np.sum((filled - cube)[lost] ** 2) < 0.3 * np.sum(cube[lost] ** 2)
    spike = np.zeros((40, 40, 96), "f4")
    spike[20, 20, 48] = 1
    np.save("spike.npy", spike)
    assert "count as live" in cli("run", "fx", "spike.npy", "spiked.npy", "--dt", "0.004").stderr


@test
def a_header_without_its_data_is_refused():
    survey("good.sgy", 20, 30, 20)
    cli("convert", "good.sgy", "x.rsf", "--force")
    text = open("x.rsf").read()
    open("x.rsf", "w").write(text.replace('in="x.rsf@"', 'in="gone.rsf@"'))
    r = cli("info", "x.rsf", status=1)
    assert "gone.rsf@" in r.stderr, r.stderr
    open("x.rsf", "w").write(text.replace('in="x.rsf@"', 'in="/nowhere/x.rsf@"'))
    assert "/nowhere/x.rsf@" in samples("x.rsf")[1]
    cli("info", "x.rsf", "--strict", status=1)
    for word in ["nan", "0", "1e99", "-3", "2.5", "inf", "many"]:
        open("x.rsf", "w").write(text.replace("n1=20", "n1=" + word))
        r = cli("info", "x.rsf", status=1)
        assert "n1=" + word in r.stderr, r.stderr


@test
def a_sample_interval_that_cannot_be_true_is_not_taken():
    """Numbers of frequencies made of it overflowed: migration counted for ever, deaf to Ctrl+C."""
    np.ones((4, 5, 64), "f4").tofile("d.rsf@")
    for step in ["1e-300", "1e300", "-0.004"]:
        with open("d.rsf", "w") as f:
            f.write(f"n1=64 n2=5 n3=4 d1={step} in=d.rsf@ data_format=native_float\n")
        told = json.loads(cli("info", "d.rsf", "--json").stdout)
        assert abs(told["axes"][2]["step"] - 0.004) < 1e-9 and any("cannot be true" in note for note in told["notes"]), told
        cli("run", "migrate", "velocity=2000", "nz=5", "d.rsf", "d.npy", "--force", timeout=60)
        for word in ["", "1e-300", "-2ms", "1e300"]:
            said = cli("info", "d.rsf", f"--dt={word}", status=2).stderr
            assert "0 to 0" not in said and ("--dt is" if word else "--dt has no value") in said, said


@test
def an_origin_that_swallows_the_step_is_not_taken():
    """All numbers of such an axis are equal: its small marks in a picture never came to an end."""
    np.random.default_rng(1).standard_normal((5, 6, 64)).astype("f4").tofile("o.rsf@")
    for axis in [1, 2, 3]:
        for origin in ["1e30", "-1e30", "1e17", "nan", "inf"]:
            with open("o.rsf", "w") as f:
                f.write(f"n1=64 n2=6 n3=5 d1=0.004 d2=1 d3=1 o{axis}={origin} in=o.rsf@ data_format=native_float\n")
            told = json.loads(cli("info", "o.rsf", "--json").stdout)
            assert all(abs(a["first"]) <= 1 for a in told["axes"]), told
            assert any("cannot be true" in note for note in told["notes"]) == ("e" in origin), told
            cli("render", "o.rsf", "o.png", "--force", timeout=60)


@test
def a_file_written_to_while_it_is_read_is_refused():
    survey("slow.sgy", 60, 50, 400)
    p = subprocess.Popen([CLI, "run", "fx", "half_width=1", "slow.sgy", "slow.npy", "--memory", "0.06", "--threads", "1", "--progress", "jsonl"],
                         stderr=subprocess.PIPE, text=True)
    for line in p.stderr:
        if line.startswith("{"):
            break
    with open("slow.sgy", "r+b") as f:
        f.seek(-4, 2)
        f.write(b"abcd")
    rest = p.stderr.read()
    assert p.wait() == 1 and "was changed after it was opened" in rest, rest
    assert not os.path.exists("slow.npy")


@test
def files_of_other_formats_are_named_with_a_way_out():
    segd = bytes([0, 7, 0x80, 0x58, 0, 0, 0, 0, 0, 0, 0x24, 0x11, 0x32, 0x12, 0x59, 0x30, 0x13, 0, 0, 0, 0, 0, 0x20])
    heads = {
        "a.zgy": (b"VBS\0" + struct.pack("<I", 3), "a ZGY file"), "b.zgy": (b"VCS\0", "a compressed ZGY file"),
        "a.vds": (b"HueDataStore\0\0\0\0", "a VDS file"), "a.nc": (b"CDF\x02\0\0\0\0", "netCDF"),
        "b.nc": (b"\x89HDF\r\n\x1a\n\0\0", "HDF5"), "a.h5": (b"\x89HDF\r\n\x1a\n\2\10", "HDF5"),
        "a.mat": (b"MATLAB 5.0 MAT-file, Platform: GLNXA64", "a MATLAB file"), "b.mat": (b"MATLAB 7.3 MAT-file", "MATLAB 7.3"),
        "a.segd": (segd, "a SEG-D field tape"), "b.segd": (b"\0" * 4 + b"SD1.0" + b"0" * 119 + segd, "a SEG-D field tape"),
        "a.dat": (b"\x55\x3a\1\0", "a SEG-2 file"), "b.dat": (b"\x3a\x55\0\1", "a SEG-2 file"),
        "a.jpg": (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG picture"), "a.tif": (b"II*\0", "a TIFF picture"),
        "a.zip": (b"PK\3\4", "a zip file"), "a.gz": (b"\x1f\x8b\x08", "a gzip file"), "a.rar": (b"Rar!\x1a\7", "a RAR file"),
        "page.sgy": (b"  <!DOCTYPE html><html>", "a web page"), "a.sgy": (b"VBS\0", "a ZGY file"),
    }
    for name, (head, wanted) in heads.items():
        with open(name, "wb") as f:
            f.write(head + bytes(6000))
        for command in [["info", name], ["convert", name, "out.npy"], ["run", "fx", name, "out.npy"]]:
            lines = cli(*command, status=1).stderr.splitlines()
            assert len(lines) == 1 and wanted in lines[0] and "; " in lines[0], (name, lines)
    for name, inside, wanted in [("a.mdio", ".zmetadata", "a Zarr or MDIO folder without"), ("b.mdio", "zarr.json", "a Zarr or MDIO folder without"),
                                 ("a.zarr", ".zgroup", "a Zarr or MDIO folder without"), ("vds", "VolumeDataLayout", "a VDS folder"), ("nothing", "x", "is a folder, a regular file")]:
        os.makedirs(name)
        open(os.path.join(name, inside), "w").close()
        for path in [name, name + "/"]:
            lines = cli("info", path, status=1).stderr.splitlines()
            assert len(lines) == 1 and wanted in lines[0], (name, lines)


@test
def a_seismic_file_is_not_taken_for_another():
    for first in [0x8058, 0x8015, 0x8022, 0x8048]:  # an SU file whose first trace number looks like a SEG-D code
        with open("numbers.su", "wb") as f:
            for i in range(4):
                for j in range(5):
                    h = bytearray(240)
                    struct.pack_into(">iiii", h, 0, first + i * 5 + j, first + i * 5 + j, 1001 + i, 2001 + j)
                    struct.pack_into(">hh", h, 114, 20, 4000)
                    struct.pack_into(">ii", h, 188, 1001 + i, 2001 + j)
                    f.write(h + np.full(20, 1.5, ">f4").tobytes())
        assert "4 x 5 x 20" in cli("info", "numbers.su").stdout


run()
