#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Zarr and MDIO folders: written here with the standard library, read, refused when damaged. Prints TAP.

    test_zarr.py PATH/lithoscope-cli
"""
import array
import base64
import ctypes
import ctypes.util
import gzip
import json
import math
import os
import shutil
import struct
import zlib
from itertools import product
from pathlib import Path

from cli_tap import cli, run, test

N, CHUNK = (7, 9, 33), (4, 4, 16)
TYPES = {"<f4": "<f", ">f4": ">f", "<f8": "<d", ">i2": ">h", "|u1": "<B", "<i8": "<q", "<u8": "<Q"}
NAMES3 = {"<f4": "float32", "<f8": "float64", ">i2": "int16", "<u8": "uint64"}


def value(i, j, k):
    return (31 * i + 7 * j + k) % 251


def blosc(data):
    """As numcodecs packs: shuffled, LZ4. None where libblosc is not there."""
    name = ctypes.util.find_library("blosc")
    if not name:
        return None
    lib = ctypes.CDLL(name)
    out = ctypes.create_string_buffer(len(data) + 1000)
    size = ctypes.c_size_t
    n = lib.blosc_compress_ctx(5, 1, size(4), size(len(data)), data, out, size(len(data) + 1000), b"lz4", size(0), 1)
    return out.raw[:n]


PACK = {"plain": bytes, "zlib": zlib.compress, "gzip": gzip.compress, "blosc": blosc}


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else json.dumps(text).encode())


def chunks(form, pack, n=N, chunk=CHUNK, number=value):
    """Names' numbers and bytes of all chunks of a cube; beyond its end they hold rubbish, as may be."""
    for at in product(*[range(-(-a // b)) for a, b in zip(n, chunk)]):
        cells = product(*[range(c * b, (c + 1) * b) for c, b in zip(at, chunk)])
        yield at, pack(b"".join(struct.pack(form, number(*c)) for c in cells))


def meta2(kind="<f4", codec="plain", **more):
    return {"zarr_format": 2, "shape": N, "chunks": CHUNK, "dtype": kind, "fill_value": "NaN" if "f" in kind else 0, "order": "C",
            "filters": None, "compressor": None if codec == "plain" else {"id": codec}, **more}


def write2(folder, kind="<f4", codec="plain", separator=".", **more):
    """An array of version 2 in a folder of its own."""
    put(folder / ".zarray", meta2(kind, codec, dimension_separator=separator, **more))
    for at, text in chunks(TYPES[kind], PACK[codec]):
        put(folder / separator.join(map(str, at)), text)


def write3(folder, kind="<f4", codec="plain", shape=N, codecs=None):
    packing = [] if codec == "plain" else [{"name": codec, "configuration": {}}]
    endian = "big" if kind[0] == ">" else "little"
    put(folder / "zarr.json", {
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": NAMES3[kind],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": CHUNK}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 0,
        "codecs": codecs or [{"name": "bytes", "configuration": {"endian": endian}}] + packing, "attributes": {},
        "dimension_names": ["inline", "crossline", "twt"]})
    for at, text in chunks(TYPES[kind], PACK[codec]):
        put(folder / "c" / "/".join(map(str, at)), text)


def line(folder, numbers, **attributes):
    """Coordinates in one chunk, as int32."""
    put(folder / ".zarray", {"zarr_format": 2, "shape": [len(numbers)], "chunks": [len(numbers)], "dtype": "<i4", "fill_value": 0,
                             "order": "C", "filters": None, "compressor": {"id": "zlib", "level": 1}})
    put(folder / ".zattrs", {"_ARRAY_DIMENSIONS": [folder.name], **attributes})
    put(folder / "0", zlib.compress(struct.pack(f"<{len(numbers)}i", *numbers)))


def read(folder, status=0):
    """The samples as a list, through convert."""
    Path("cube.npy").unlink(missing_ok=True)
    r = cli("convert", "-i", folder, "-o", "cube.npy", status=status)
    if status:
        return r.stderr
    data = Path("cube.npy").read_bytes()
    return list(array.array("f", data[10 + struct.unpack("<H", data[8:10])[0]:]))


WANTED = [float(value(*c)) for c in product(*map(range, N))]


# Property: whatever the type, the codec and the names of chunks, the samples are those that were
# written.
@test
def version_2_is_read():
    cases = [(kind, codec, ".") for kind in TYPES for codec in ("plain", "zlib")] + [("<f4", "gzip", "/"), ("<f8", "plain", "/")]
    if blosc(b"x" * 64):
        cases += [("<f4", "blosc", "."), (">i2", "blosc", "/")]
    for kind, codec, separator in cases:
        shutil.rmtree("a.zarr", ignore_errors=True)
        write2(Path("a.zarr"), kind, codec, separator)
        assert read("a.zarr") == WANTED, f"{kind}, {codec}, {separator}"


@test
def version_3_is_read():
    cases = [("<f4", "plain"), (">i2", "gzip"), ("<f8", "plain")] + ([("<f4", "blosc")] if blosc(b"x" * 64) else [])
    for kind, codec in cases:
        shutil.rmtree("b.zarr", ignore_errors=True)
        write3(Path("b.zarr"), kind, codec)
        assert read("b.zarr") == WANTED, f"{kind}, {codec}"


# A cube of 3 x 4 x 8 samples 100 sin(i + 2 j + k / 3), as numcodecs 0.16 packs it with ZFP: the codec's settings, the type,
# the largest error that they allow, and the chunk in base 85 (zeros at its end left out).
ZFP = [
    ({"mode": 4, "tolerance": -1, "rate": -1, "precision": -1}, "<f4", 1e-5,
     b"dS-A1dH^s0AOHY}8S*fO0f2ctGhl!?fC8Xm02v}Ku>vT90faa&5PIo?fj~brc@6<F14(BDdh&-"
     b"O4!RlkW<?hdeVj#sJNd($9Qa!cK3$}q45AnCl{A6Jc@A<>sMAPkLS<!ipO1r-"
     b"wDm2M5Rpx!oXv6ljh;|C+U0!KrLzg=EtNs;aG?HZc}spQX=nLbQI}5zWaCA$7<xAG#mS<3MC)SYq{*pWvV=3CrG^&V1N}YL^YQDw(M(bD-Sk2i"
     b"65}~=7OhM@#vT+i=dFkhmU0&hLDY!3WHe84{P4k~oE%IDka`OL`AQH70tiZ2fIXQEc?Mv33^tenR8SNE1B1AOLEae&ECl1?XdikaI0z@|2xWV-"
     b"^dG?LHfnW13>r9N8~Fuzc%<}$$MB6Z-=gXacdm&9xa`=O(2yd<zJvek#{ocz?IKH?iaJQ|4WPGh$#|wNG~(-%jnv8_`qpiGHnPk-r6u-"
     b"a?cPg$L8#yo^76sJ?IWBaV@^E_M;W01f-"
     b"mXuu5uHx<c}@e%5ZyTv&rx9gCIxutJ@Dbtg%y7(DIEJX7Dl0q)q6OuW`xpm)^Fk;IQS<sW#znTl?^@3WW*>;Nk9NB>)V_2IVqQ2>=8H0t3lJF8"),
    ({"mode": 4, "tolerance": 0.5, "rate": -1, "precision": -1}, "<f4", 0.5,
     b"dS-A1dH^s0AOIlC4GAy+005wX00Izz0Vp7#5F`Kr5e*kW0wA)Z!9sZeK#VL0(uD&Q0h?q;%H#$%5u%sm@c9{lgMb+|Bvt}(2taY@DUm-"
     b"=kB=PaqOvlvdPr8*O*kTrH*n>f>6t>#IpRLP*w+LN)vF-^1~32sKmY-"
     b"R004+UC;%WJq9fr(kO0I05*jBK09XV_!a%SHj3z*w6q7?H0vM&(&=4TvKoErTqR27@U_*iy26a-"
     b"JWWv*#r?g^31dyiM$P)5ffQ+Ows<lzeLuxpQ?(wP!VX*"),
    ({"mode": 2, "tolerance": -1, "rate": 12, "precision": -1}, "<f8", 1,
     b"dS-A1djK#1AOP?$4M>0i000051Q37#3_t+^g&+Y4h-kO~5&)4M4Hn7+0Agf0kS-jc2-"
     b"qY$QYJUBi4eUchtJOd90bg$A+ZvOLja0HPl^12dVJ(S7nPNX)kCtfZo(01yn!p<OwSZ@4M>0i3;+NSKmZ{C03r|y00@ZaNVpLs05O1s#)$<076"
     b"Fnl5G(?t2@og6<dBH~MkzKl1c*2g1fjervP=Qkkf4P@os=e-@O0)Wtr!sjq^UNtg!~pDBk7E4ZPfCR"),
]


# Property: chunks that another program packed with ZFP hold what it packed, to the error that it allowed: without loss, to
# an accuracy and at a rate. A chunk that is cut off behind its header, or of another type, is refused.
@test
def zfp_is_read():
    if not ctypes.util.find_library("zfp"):
        print("# no libzfp: left out")
        return
    n = (3, 4, 8)
    wanted = [100 * math.sin(i + 2 * j + k / 3) for i, j, k in product(*map(range, n))]
    for settings, kind, error, packed in ZFP:
        folder = Path("zfp.zarr")
        shutil.rmtree(folder, ignore_errors=True)
        put(folder / ".zarray", {**meta2(kind), "shape": n, "chunks": n, "compressor": {"id": "zfpy", **settings}})
        whole = base64.b85decode(packed) + bytes(8)
        put(folder / "0.0.0", whole)
        got = read(folder)
        worst = max(abs(a - b) for a, b in zip(got, wanted))
        assert len(got) == len(wanted) and worst <= error, f"{settings}: {worst}"
        put(folder / "0.0.0", whole[:8])
        assert "cannot be unpacked" in read(folder, status=1)
        put(folder / ".zarray", {**meta2("<f8" if kind == "<f4" else "<f4"), "shape": n, "chunks": n, "compressor": {"id": "zfpy", **settings}})
        put(folder / "0.0.0", whole)
        assert "cannot be unpacked" in read(folder, status=1)


def crc32c(data):
    total = 0xffffffff
    for byte in data:
        total ^= byte
        for _ in range(8):
            total = total >> 1 ^ (0x82f63b78 if total & 1 else 0)
    return struct.pack("<I", total ^ 0xffffffff)


# Property: a checksum is checked: one flipped bit of a sample is no sample.
@test
def checksums_are_checked():
    top = Path("l.zarr")
    assert crc32c(b"123456789") == struct.pack("<I", 0xe3069283)
    write3(top, codecs=[{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}])
    for path in top.glob("c/*/*/*"):
        path.write_bytes(path.read_bytes() + crc32c(path.read_bytes()))
    assert read(top) == WANTED
    path = top / "c/1/0/1"
    data = path.read_bytes()
    path.write_bytes(data[:70] + bytes([data[70] ^ 4]) + data[71:])
    assert "cannot be unpacked" in read(top, status=1)


# Property: the units of coordinates are read as words, too.
@test
def units_may_be_words():
    for name, unit, step in (("time", "milliseconds", 2e-3), ("time", "Microseconds", 2e-6), ("time", "\u00b5s", 2e-6), ("time", "\u03bcs", 2e-6), ("time", "seconds", 2), ("depth", "feet", 0.6096),
                             ("depth", "foot", 0.6096), ("depth", "metres", 2), ("depth", "km", 2000)):
        top = Path("m.mdio")
        shutil.rmtree(top, ignore_errors=True)
        put(top / ".zgroup", {"zarr_format": 2})
        write2(top / "amplitude", codec="zlib")
        put(top / "amplitude/.zattrs", {"_ARRAY_DIMENSIONS": ["inline", "crossline", name]})
        line(top / name, range(0, 66, 2), units=unit)
        axis = json.loads(cli("info", top, "--json").stdout)["axes"][2]
        assert abs(axis["step"] / step - 1) < 1e-9 and axis["unit"] == ("m" if name == "depth" else "s"), (unit, axis)
    line(top / name, range(0, 66, 2), units="furlongs")
    told = json.loads(cli("info", top, "--json").stdout)["notes"]
    assert any("the unit 'furlongs' of the samples is not known" in note for note in told), told


# Property: a group's largest cube is read, with line numbers and sample interval of its dimensions'
# coordinates: as xarray and MDIO 1 write them, and MDIO 0 in the attributes of its root.
@test
def axes_are_read():
    top = Path("c.mdio")
    put(top / ".zgroup", {"zarr_format": 2})
    write2(top / "amplitude", codec="zlib")
    put(top / "amplitude/.zattrs", {"_ARRAY_DIMENSIONS": ["inline", "crossline", "time"]})
    line(top / "inline", range(100, 107))
    line(top / "crossline", range(200, 218, 2))
    line(top / "time", range(0, 66, 2), unitsV1={"time": "ms"})
    r = cli("info", "c.mdio", "--json")
    axes = json.loads(r.stdout)["axes"]
    assert [a["first"] for a in axes] == [100, 200, 0] and [a["step"] for a in axes][:2] == [1, 2], axes
    assert abs(axes[2]["step"] - 0.002) < 1e-9, axes
    old = Path("d.mdio")
    put(old / ".zgroup", {"zarr_format": 2})
    put(old / ".zattrs", {"dimension": [{"name": "inline", "coords": list(range(10, 17))}, {"name": "crossline", "coords": list(range(9))},
                                        {"name": "sample", "coords": list(range(0, 132, 4))}]})
    write2(old / "data/chunked_012", codec="zlib")
    put(old / "data/.zgroup", {"zarr_format": 2})
    axes = json.loads(cli("info", "d.mdio", "--json").stdout)["axes"]
    assert axes[0]["first"] == 10 and abs(axes[2]["step"] - 0.004) < 1e-9, axes


def plane(folder, kind, form, number, n=N[:2], chunk=(4, 4), **attributes):
    """An array of two dimensions, a number for each trace."""
    put(folder / ".zarray", {"zarr_format": 2, "shape": n, "chunks": chunk, "dtype": kind, "fill_value": False if kind == "|b1" else 0,
                             "order": "C", "filters": None, "compressor": {"id": "zlib", "level": 1}})
    put(folder / ".zattrs", {"_ARRAY_DIMENSIONS": ["inline", "crossline"], **attributes})
    for at, text in chunks(form, zlib.compress, n, chunk, number):
        put(folder / ".".join(map(str, at)), text)


def is_live(i, j):
    return (i + 2 * j) % 5 != 0 and (i, j) != (6, 8)


# Property: a trace that the mask of a store leaves out is missing, whatever its samples; coordinates of
# the others, in metres or feet, become those of the survey. The mask of MDIO 0 lies in a group of its own.
@test
def masks_and_places_of_traces_are_read():
    dead = sum(not is_live(i, j) for i in range(N[0]) for j in range(N[1]))
    for top, mask, foot in ((Path("i.mdio"), "trace_mask", 1), (Path("j.mdio"), "metadata/live_mask", 0.3048)):
        put(top / ".zgroup", {"zarr_format": 2})
        write2(top / "amplitude", codec="zlib")
        plane(top / mask, "|b1", "?", is_live)
        more = {} if foot == 1 else {"unitsV1": {"length": "ft"}}
        # Places of traces that there are not hold what was never written.
        plane(top / "cdp_x", "<f8", "<d", lambda i, j: (500000 + 30 * i + 40 * j) * is_live(i, j), **more)
        plane(top / "cdp_y", "<f8", "<d", lambda i, j: (6e6 + 40 * i - 30 * j) * is_live(i, j), **more)
        told = json.loads(cli("info", top, "--json").stdout)
        assert told["traces"]["missing"] == dead and told["traces"]["live"] == N[0] * N[1] - dead, told["traces"]
        grid = told["coordinates"]
        wanted = {"origin": (500000, 6e6), "inline_step": (30, 40), "xline_step": (40, -30)}
        assert all(abs(a - b * foot) < 1e-3 for k, v in wanted.items() for a, b in zip(grid[k], v)), grid
        samples = read(top)
        for i, j in product(range(N[0]), range(N[1])):
            at = (i * N[1] + j) * N[2]
            trace = samples[at:at + N[2]]
            assert trace == WANTED[at:at + N[2]] if is_live(i, j) else not any(x == x and x for x in trace), (i, j, trace)


# Property: a mask of another size, a damaged one and one without a live trace change nothing, and so do
# coordinates that follow no lines.
@test
def masks_that_make_no_sense_are_left():
    top = Path("k.mdio")
    put(top / ".zgroup", {"zarr_format": 2})
    write2(top / "amplitude", codec="zlib")
    plane(top / "trace_mask", "|b1", "?", is_live, n=(7, 8))
    plane(top / "live_mask", "|b1", "?", is_live)
    (top / "live_mask/0.1").write_bytes(b"rubbish")
    assert read(top) == WANTED
    notes = json.loads(cli("info", top, "--json").stdout)["notes"]
    assert all(any(f"the array {name} is damaged" in note for note in notes) for name in ("trace_mask", "live_mask")), notes
    shutil.rmtree(top / "live_mask")
    plane(top / "trace_mask", "|u1", "<B", lambda i, j: 0)
    plane(top / "cdp_x", "<f4", "<f", lambda i, j: (i * 37 + j * 91) % 11)
    plane(top / "cdp_y", "<f4", "<f", lambda i, j: (i * 53 + j * 17) % 13)
    told = json.loads(cli("info", top, "--json").stdout)
    assert any("trace_mask" in note for note in told["notes"]) and any("cdp_x" in note for note in told["notes"]), told["notes"]
    assert told["traces"]["missing"] == 0 and read(top) == WANTED


# Property: a chunk that was never written holds the fill value; a trace of nothing else is missing.
@test
def chunks_may_be_missing():
    write2(Path("e.zarr"))
    for k in range(3):
        Path(f"e.zarr/1.2.{k}").unlink()
    samples = read("e.zarr")
    last = samples[-N[2]:]
    assert samples[:N[2]] == WANTED[:N[2]] and all(x != x or x == 0 for x in last), last


# Property: samples are what the attributes make of the stored numbers (xarray packs so); attributes that make no sense are
# refused by name.
@test
def attributes_change_samples():
    for version in (2, 3):
        top = Path(f"packed{version}.zarr")
        (write2 if version == 2 else write3)(top, ">i2")
        meta = json.loads((top / ("zarr.json" if version == 3 else ".zarray")).read_text())

        def attributes(**own):
            put(top / "zarr.json", {**meta, "attributes": own}) if version == 3 else put(top / ".zattrs", own)
        attributes(scale_factor=0.25, add_offset=-3, _FillValue=-32768)
        want = [x * 0.25 - 3 for x in WANTED]
        got = read(top)
        # The number of chunks that are not there, 0 here, stands for no sample in a packed array.
        for t in range(0, len(want), N[2]):
            if 0 in WANTED[t:t + N[2]]:
                assert not any(got[k] == -3 for k in range(t, t + N[2]))
            else:
                assert got[t:t + N[2]] == want[t:t + N[2]], (version, t)
        # Bounds are stored numbers where they are whole, samples where they are not; one sample beyond masks its trace.
        low = sorted(WANTED)[len(WANTED) // 3]
        for own in ({"valid_range": [int(low), 32767]}, {"scale_factor": 0.25, "valid_min": low * 0.25 + 0.01 - 0.01 + 1e-9}):
            attributes(**own)
            got, scale = read(top), own.get("scale_factor", 1)
            for t in range(0, len(got), N[2]):
                trace = [x * scale for x in WANTED[t:t + N[2]]]
                is_valid = min(WANTED[t:t + N[2]]) >= low
                assert got[t:t + N[2]] == trace if is_valid else got[t:t + N[2]] != trace, (version, own, t)
        for bad in ({"scale_factor": 0}, {"scale_factor": "half"}, {"add_offset": [1, 2]}, {"missing_value": list(range(9))},
                    {"valid_range": [2, 1]}, {"valid_max": "many"}):
            attributes(**bad)
            said = read(top, status=1)
            assert f"an attribute {list(bad)[0]} that makes no sense" in said, said


# Property: what stands for no sample is known where xarray wrote it, as base64 of a double, in version 3.
@test
def fill_values_of_xarray():
    top, fill = Path("base64.zarr"), WANTED[5]
    write3(top)
    meta = json.loads((top / "zarr.json").read_text())
    put(top / "zarr.json", {**meta, "attributes": {"_FillValue": base64.b64encode(struct.pack("<d", fill)).decode()}})
    got = read(top)
    bad = 0
    for t in range(0, len(got), N[2]):
        want, own = WANTED[t:t + N[2]], got[t:t + N[2]]
        holes = [k for k, x in enumerate(want) if x == fill]
        bad += len(holes) > 0
        for k in holes[:1] if len(holes) == 1 else []: # one sample is mended from those beside it
            want[k] = (want[k - 1] + want[k + 1]) / 2
        assert own == (want if len(holes) < 2 else [0.0] * N[2]), t
    assert f", {bad} with bad samples" in cli("info", top).stdout and bad > 0, bad


# Property: the number that stands for samples never written may be any that the type has.
@test
def fill_values_of_every_type():
    for version, kind, fill, want in ((2, "<u8", 2 ** 64 - 1, 2.0 ** 64), (3, "<u8", 2 ** 63, 2.0 ** 63), (2, "<i8", -2 ** 63, -2.0 ** 63),
                                      (3, "<f4", "0x41200000", 10.0), (3, "<f8", "0x4024000000000000", 10.0), (3, "<f4", "0x7fc00000", None),
                                      (2, "<f4", "Infinity", None), (2, "<f4", "-Infinity", None)):
        top = Path("fill.zarr")
        shutil.rmtree(top, ignore_errors=True)
        (write2 if version == 2 else write3)(top, kind)
        meta = top / ("zarr.json" if version == 3 else ".zarray")
        put(meta, {**json.loads(meta.read_text()), "fill_value": fill})
        for k in range(3):
            (top / f"c/1/2/{k}" if version == 3 else top / f"1.2.{k}").unlink()
        samples = read(top)
        last = samples[-N[2]:]
        assert samples[:N[2]] == WANTED[:N[2]], (kind, fill)
        assert all(x == want for x in last) if want else all(x != x or x == 0 for x in last), (kind, fill, last)


# Property: a cube of one value takes hardly a byte on the disk, and is no damaged one.
@test
def constants_are_read():
    n, chunk = (32, 32, 64), (16, 16, 64)
    put(Path("n.zarr/.zarray"), {**meta2(), "shape": n, "chunks": chunk, "compressor": {"id": "zlib"}})
    text = zlib.compress(struct.pack("<f", 2000) * (16 * 16 * 64))
    for at in product(range(2), range(2), range(1)):
        put(Path("n.zarr") / ".".join(map(str, at)), zlib.compress(text))
    assert "cannot be unpacked" in read("n.zarr", status=1)
    put(Path("n.zarr/.zarray"), {**meta2(), "shape": n, "chunks": chunk, "compressor": {"id": "zstd"}})
    library = ctypes.util.find_library("zstd")
    if not library:
        return
    zstd, size = ctypes.CDLL(library), ctypes.c_size_t
    zstd.ZSTD_compress.restype = size
    data, out = struct.pack("<f", 2000) * (16 * 16 * 64), ctypes.create_string_buffer(1000)
    used = zstd.ZSTD_compress(out, size(1000), data, size(len(data)), 3)
    packed = out.raw[:used]
    assert len(packed) * 1100 < len(data), len(packed)
    for at in product(range(2), range(2), range(1)):
        put(Path("n.zarr") / ".".join(map(str, at)), packed)
    assert set(read("n.zarr")) == {2000.0}


# Property: what cannot be read is refused in one sentence that names it, and nothing is allocated by
# what the metadata claim.
@test
def damage_is_refused():
    def refused(name, wanted, **how):
        shutil.rmtree(name, ignore_errors=True)
        write2(Path(name), **how)
        return lambda change: (change(Path(name)), check(name, wanted))

    def check(name, wanted):
        said = read(name, status=1)
        assert wanted in said and said.strip().count("\n") == 0, f"{name}: {said}"

    def cut(top):
        for path in top.glob("0*"):
            path.write_bytes(path.read_bytes()[:-7])

    for codec in ("plain", "zlib", "gzip") + (("blosc",) if blosc(b"x" * 64) else ()):
        refused("f.zarr", "cannot be unpacked", codec=codec)(cut)
    refused("f.zarr", "cannot be unpacked")(lambda top: put(top / "0.0.0", b"\0" * 4 * 4 * 4 * 16 * 3))
    refused("f.zarr", "cannot be unpacked")(lambda top: put(top / ".zarray", meta2("<f8")))
    for chunk in ([4, 4, 8], [8, 4, 16]):
        refused("f.zarr", "cannot be unpacked")(lambda top: put(top / ".zarray", meta2(chunks=chunk)))
    huge = "says it holds"
    refused("f.zarr", huge)(lambda top: put(top / ".zarray", meta2(shape=[10 ** 5] * 3)))
    refused("f.zarr", "cannot be held")(lambda top: put(top / ".zarray", meta2(shape=[10 ** 9] * 3)))
    refused("f.zarr", "without an array")(lambda top: put(top / ".zarray", meta2(shape=[-1, 5, 5])))
    refused("f.zarr", "without an array")(lambda top: put(top / ".zarray", meta2(shape=[7.5, 9, 33])))
    refused("f.zarr", "without an array")(lambda top: put(top / ".zarray", meta2(chunks=[0, 4, 4])))
    refused("f.zarr", "chunks of")(lambda top: put(top / ".zarray", meta2(chunks=[10 ** 6] * 3)))
    refused("f.zarr", "without an array")(lambda top: put(top / ".zarray", b'{"zarr_format": 2,'))
    refused("f.zarr", "the filter 'delta'")(lambda top: put(top / ".zarray", meta2(filters=[{"id": "delta"}])))
    refused("f.zarr", "the codec 'lzma'")(lambda top: put(top / ".zarray", meta2(compressor={"id": "lzma"})))
    refused("f.zarr", "the order 'F'")(lambda top: put(top / ".zarray", meta2(order="F")))
    shutil.rmtree("f.zarr")
    write3(Path("f.zarr"), codecs=[{"name": "sharding_indexed", "configuration": {}}])
    check("f.zarr", "the codec 'sharding_indexed'")


# Property: nothing is written into the folder of a survey that the command reads, by whatever name.
@test
def outputs_stay_out_of_the_store():
    write2(Path("i.zarr"))
    Path("i-link").symlink_to("i.zarr")
    before = {f.name: f.read_bytes() for f in Path("i.zarr").iterdir()}
    for out in ("i.zarr/.zarray", "i.zarr/new.json", "i-link/new.json", str(Path("i.zarr/0.0.0").resolve())):
        told = cli("run", "fx", "half_width=1", "i.zarr", "i.npy", "--timings", out, "--force", status=1).stderr
        assert "lies in the folder of an input" in told, (out, told)
    cli("convert", "i-link", "i.zarr/i.npy", status=1)
    assert {f.name: f.read_bytes() for f in Path("i.zarr").iterdir()} == before and not os.path.exists("i.npy")
    cli("convert", "i.zarr", "i.npy")


# Property: no name that a store holds leads out of it.
@test
def names_lead_nowhere():
    line(Path("outside"), range(100, 107))
    for name in ("../outside", "/" + str(Path("outside").resolve()), "..", "."):
        shutil.rmtree("g.mdio", ignore_errors=True)
        put(Path("g.mdio/.zgroup"), {"zarr_format": 2})
        write2(Path("g.mdio/cube"))
        put(Path("g.mdio/cube/.zattrs"), {"_ARRAY_DIMENSIONS": [name, "crossline", "time"]})
        axes = json.loads(cli("info", "g.mdio", "--json").stdout)["axes"]
        assert axes[0]["first"] != 100, (name, axes)
    write2(Path("h.zarr"))
    Path("h.zarr/0.0.0").rename("chunk")
    Path("h.zarr/0.0.0").symlink_to(Path("chunk").resolve())
    assert "cannot be unpacked" in read("h.zarr", status=1)
    Path("h.zarr/0.0.0").unlink()
    os.mkfifo("h.zarr/0.0.0")
    assert "cannot be unpacked" in read("h.zarr", status=1)
    shutil.rmtree("h.zarr")
    write2(Path("h.zarr"), separator=".")
    put(Path("h.zarr/.zarray"), meta2(dimension_separator="../"))
    read("h.zarr")  # the first character counts: "0.0.0"


# Property: a velocity cube is one in whatever format the program reads, as an operator's word that was forgotten is told by
# any survey's name.
@test
def velocities_are_read():
    shutil.rmtree("v.zarr", ignore_errors=True)
    n = (4, 5, 30)
    put(Path("v.zarr") / ".zarray", {**meta2(), "shape": n, "chunks": n})
    put(Path("v.zarr") / "0.0.0", b"".join(struct.pack("<f", 2000 + 10 * k) for _, _, k in product(*map(range, n))))
    cli("convert", "-i", "v.zarr", "-o", "v.npy", "--force")
    cli("synth", "planes", "inlines=4", "xlines=5", "samples=40", "-o", "v.sgy", "--no-truth", "--force")
    words = ["run", "migrate", "nz=10", "velocity_dz=10", "-i", "v.sgy", "--backend", "cpu", "--progress", "none", "--force"]
    for name in ("v.npy", "v.zarr"):
        cli(*words, f"velocity={name}", "-o", f"m-{name}.npy")
    assert Path("m-v.npy.npy").read_bytes() == Path("m-v.zarr.npy").read_bytes()
    assert "stands where an operator" in cli("run", "v.zarr", "-o", "x.npy", status=2).stderr


# Property: a table of velocities in Latin-1 is read as text, and its words are told as whole letters.
@test
def tables_in_latin_1_are_told():
    Path("v.txt").write_bytes("Tiefe in Füßen (feet), größer als sonst üblich, müßig zu sagen\n".encode("latin-1"))
    r = cli("run", "migrate", "nz=10", "velocity=v.txt", "-i", "v.sgy", "-o", "x.npy", status=1)
    assert "the heading 'Tiefe in Füßen (feet)" in r.stderr and "names feet" in r.stderr, r.stderr
    for heading, refused in (("Vertical depth  Velocity", ""), ("depth and velocity, shifted", ""), ("TWT velocity", "names times"), ("Vint depth", "names the velocity first")):
        Path("v.txt").write_text(heading + "\n0 2000\n1000 2500\n")
        r = cli("run", "migrate", "nz=10", "velocity=v.txt", "-i", "v.sgy", "-o", "x.npy", "--force", "--dry-run", status=1 if refused else 0)
        assert refused in r.stderr and ("heading" in r.stderr) == bool(refused), r.stderr

run()
