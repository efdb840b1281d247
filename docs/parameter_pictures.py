#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/parameters/OPERATOR-KEY.png: results with values of KEY side by side, as docs/parameters.json says under
"pictures". `low`, `usual` (may be left out) and `high` are values that are too low, usual and too high; `values` are two
or more settings of which none is wrong. `on` names the survey; `show`, `with`, `view`, `lead`, `draw`, `gain` and `clips`
may say more: see swept() and drawn().

    docs/parameter_pictures.py [--cli PATH] [--out FOLDER] [OPERATOR-KEY ...]    all of them when none is named
"""
import argparse
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

DOCS = Path(__file__).resolve().parent
LARGEST = 40000  # bytes of a file
COLOURS = 96     # in a file, at most
SIZE = "300x240"   # of one section
WIDE = "840x250"   # of two sections and their difference
# Made with `lithoscope-cli synth`; "nothing" is for operators that need no survey.
SURVEYS = {
    "curved": "curved inlines=40 xlines=48 samples=128 snr=3 seed=3",
    "quiet": "curved inlines=40 xlines=48 samples=128 snr=25 seed=3",
    "weak": "curved inlines=40 xlines=48 samples=128 snr=-4 seed=3",
    "dips": "conflict inlines=32 xlines=40 samples=128 snr=0",
    "long": "curved inlines=24 xlines=32 samples=400 snr=25 seed=3",
    "events": "mix inlines=24 samples=256 snr=0",
    "layers": "fault inlines=24 xlines=32 samples=256 snr=0",
    "fault": "fault inlines=32 xlines=48 samples=128 snr=3",
    "broken": "fault inlines=32 xlines=48 samples=128 snr=30",
    "thrown": "fault inlines=48 xlines=64 samples=192 snr=20",
    "holes": "curved inlines=32 xlines=40 samples=128 snr=20 missing=40 seed=3",
    "noisy-holes": "curved inlines=32 xlines=40 samples=128 snr=5 missing=40 seed=3",
    "bursts": "curved inlines=32 xlines=40 samples=128 snr=15 seed=3",
    "uneven": "curved inlines=48 xlines=48 samples=128 snr=15 scatter=40 seed=3",
    "loud": "curved inlines=16 xlines=128 samples=128 snr=12 seed=3",
    "trough": "models model=syncline inlines=1 xlines=100 samples=200 depths=70 depth=500 --velocity --no-truth",
    "salt": "models model=salt inlines=1 xlines=120 samples=250 depths=90 depth=500 --velocity --no-truth",
    "points": "models model=diffractors inlines=32 xlines=32 samples=150 depths=40 depth=400 --velocity --no-truth",
    "shot": "models model=dipping record=shot inlines=1 xlines=61 samples=160 depths=60 depth=500 source_x=600 source_y=0"
            " --velocity --no-truth",
    "sharp": "models model=dipping record=shot inlines=1 xlines=61 samples=160 depths=60 depth=500 source_x=600 source_y=0"
             " wavelet=25 --velocity --no-truth",
    "shots": "models model=dipping record=shot inlines=1 xlines=61 samples=160 depths=60 depth=500 source_x=300 source_y=0"
             " shots=3 shot_step=300 --velocity --no-truth",
    "block": "models model=flat record=shot inlines=32 xlines=32 samples=150 depths=40 depth=400 source_x=320 source_y=320"
             " --velocity --no-truth",
}

# A steep hill between a source and receivers, which the built-in tip-wave models lack.
HILL = """{ "layers": [ { "velocity": 2000, "density": 2200 }, { "velocity": 3000, "density": 2400 } ],
  "boundaries": [ { "type": "gaussian", "depth": 800, "amplitude": -600, "sigma_x": 200 } ],
  "extent": { "x": [-1200, 1200], "y": [-800, 800] }, "wave_code": "0R", "source": [-700, 0, 500],
  "receivers": { "x": [450, 20, 38], "y": [0, 50, 1], "z": 500 },
  "wavelet": { "ricker": 8, "delay": 0 }, "fmax": 18, "record": 1.6, "dt": 0.004 }
"""


# --- surveys ------------------------------------------------------------------------------------

def change_traces(path, change):
    """Runs change(number, samples) over the traces of a SEG-Y file of IEEE floats, as the program writes it."""
    data = bytearray(Path(path).read_bytes())
    n = struct.unpack(">H", data[3220:3222])[0]
    for number, at in enumerate(range(3600 + 240, len(data), 240 + 4 * n)):
        samples = list(struct.unpack(f">{n}f", data[at:at + 4 * n]))
        change(number, samples)
        data[at:at + 4 * n] = struct.pack(f">{n}f", *samples)
    Path(path).write_bytes(data)


def add_bursts(number, samples):
    """A strong burst of 20 samples on every seventh trace, elsewhere from trace to trace."""
    if number % 7 == 3:
        for k in range(20):
            samples[(number * 29) % (len(samples) - 20) + k] += 8 * math.sin(1.3 * k) * math.sin(math.pi * k / 20)


LOUD = random.Random(1)


def add_noise_to_half(number, samples):
    """The second half of each inline of 128 traces is noisy."""
    if number % 128 >= 64:
        samples[:] = [s + LOUD.gauss(0, 0.6) for s in samples]


CHANGES = {"bursts": add_bursts, "loud": add_noise_to_half}


# --- pictures -----------------------------------------------------------------------------------

def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def unfilter(kind, line, above, step):
    """One line of a PNG, from what stands in the file (PNG specification, 9.2)."""
    if kind == 0:
        return line
    for x in range(len(line)):
        left, up = line[x - step] if x >= step else 0, above[x]
        corner = above[x - step] if x >= step else 0
        guess = (0, left, up, (left + up) // 2, paeth(left, up, corner))[kind]
        line[x] = (line[x] + guess) & 255
    return line


def read_png(path):
    """Lines of RGB bytes, as the program and write_png() write them."""
    data, at, packed, colours = Path(path).read_bytes(), 8, b"", b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, bits, colour = struct.unpack(">IIBB", body[:10])
        packed += body if kind == b"IDAT" else b""
        colours = body if kind == b"PLTE" else colours
        at += size + 12
    assert bits == 8 and colour in (2, 3, 6), path
    step = {2: 3, 3: 1, 6: 4}[colour]
    raw, lines, above = zlib.decompress(packed), [], bytes(width * step)
    for y in range(height):
        start = y * (width * step + 1)
        above = unfilter(raw[start], bytearray(raw[start + 1:start + 1 + width * step]), above, step)
        if colour == 3:
            lines.append(b"".join(colours[3 * k:3 * k + 3] for k in above))
        else:
            lines.append(bytes(b for k, b in enumerate(above) if k % step < 3))
    return lines


def beside(a, b):
    """Two pictures in one; both have one height."""
    return [p + q for p, q in zip(a, b)]


def packed_png(lines, levels):
    """A file of `levels` + 1 levels of red, green and blue; None where they make too many colours."""
    table = bytes(round(round(v * levels / 255) * 255 / levels) for v in range(256))
    coarse = [line.translate(table) for line in lines]
    colours = sorted({line[k:k + 3] for line in coarse for k in range(0, len(line), 3)})
    if len(colours) > COLOURS:
        return None
    index = {colour: n for n, colour in enumerate(colours)}
    raw = b"".join(b"\0" + bytes(index[line[k:k + 3]] for k in range(0, len(line), 3)) for line in coarse)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = struct.pack(">IIBBBBB", len(lines[0]) // 3, len(lines), 8, 3, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"PLTE", b"".join(colours)) +
            chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def write_png(path, lines):
    """Writes as many levels of colour as COLOURS and LARGEST allow."""
    files = (packed_png(lines, levels) for levels in (15, 11, 7, 5, 3))
    Path(path).write_bytes(next(f for f in files if f and len(f) <= LARGEST))


# --- results ------------------------------------------------------------------------------------

def make_survey(cli, name):
    path = f"{name}.sgy"
    if name == "hill":
        Path("hill.json").write_text(HILL)
    elif name != "nothing" and not Path(path).exists():
        cli("synth", *SURVEYS[name].split(), "-o", path)
        if name in CHANGES:
            change_traces(path, CHANGES[name])
    return path


def values_of(told):
    if "values" in told:
        return told["values"].split(",")
    return [told[side] for side in ("low", "usual", "high") if side in told]


def said(told, what, value):
    """Words under `what`: the same for all values, or a text for each."""
    words = told.get(what, "")
    return (words.get(value, "") if isinstance(words, dict) else words).split()


def swept(cli, operator, key, told):
    """Filters: the sheet of a sweep, whose pictures share one clip and have the figures below them. `show` is output,
    removed or similarity, `with` holds the other parameters."""
    survey = make_survey(cli, told["on"])
    cli("sweep", operator, f"{key}={','.join(values_of(told))}", *told.get("with", "").split(), "--show", told.get("show", "output"),
        "-i", survey, "--reference", survey.replace(".sgy", "-truth.sgy"), "-o", "sheet.png", "--force")
    return read_png("sheet.png")


def drawn(cli, operator, key, told):
    """Migration, modelling and filters of little effect (`draw`), as two sections. Grids that are equal share a clip and
    have the difference beside them (`gain` times), unless `clips` is "own". `view` is the slice and `lead` says, value by
    value, which steps come first."""
    survey, view = make_survey(cli, told["on"]), told.get("view", "--inline 1").split()
    values = values_of(told)
    results = [f"./{value}.sgy" for value in (values[0], values[-1])]
    for value, result in zip((values[0], values[-1]), results):
        inputs = [] if told["on"] in ("nothing", "hill") else ["-i", survey, *said(told, "read", value)]
        cli("run", *said(told, "lead", value), operator, f"{key}={value}", *told.get("with", "").split(), *inputs, "-o", result,
            "--force", "--no-provenance")
    if told.get("clips") != "own":
        cli("render", results[0], "--against", results[1], *view, "--size", WIDE, "--difference-gain", told.get("gain", "1"),
            "--title", f"{operator}: {key} {values[0]} and {values[-1]}", "-o", "sheet.png", "--force")
        return read_png("sheet.png")
    sides = []
    for value, result in zip((values[0], values[-1]), results):
        cli("render", result, *view, "--size", SIZE, "--title", f"{key} {value}", "-o", "side.png", "--force")
        sides.append(read_png("side.png"))
    return beside(*sides)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=shutil.which("lithoscope-cli") or str(DOCS.parent / "build/app/lithoscope-cli"))
    parser.add_argument("--out", default=str(DOCS / "parameters"))
    parser.add_argument("names", nargs="*", metavar="OPERATOR-KEY")
    arguments = parser.parse_args()
    program, out = Path(arguments.cli).resolve(), Path(arguments.out).resolve()
    notes = json.loads((DOCS / "parameters.json").read_text())
    wanted = {f"{operator}-{key}": (operator, key, note["pictures"]) for operator, mine in notes.items() if isinstance(mine, dict)
              for key, note in mine.items() if "pictures" in note}
    unknown = [name for name in arguments.names if name not in wanted]
    if unknown:
        sys.exit(f"docs/parameters.json has no pictures of {', '.join(unknown)}")
    with tempfile.TemporaryDirectory() as scratch:
        def cli(*words):
            done = subprocess.run([program, *words], cwd=scratch, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"lithoscope-cli {' '.join(words)}: {done.stderr}")
        here = Path.cwd()
        try:
            os.chdir(scratch)
            for name in arguments.names or wanted:
                operator, key, told = wanted[name]
                write_png(out / f"{name}.png", (drawn if "draw" in told or operator in ("migrate", "twsm") else swept)(cli, operator, key, told))
                print(name, (out / f"{name}.png").stat().st_size, flush=True)
        finally:
            os.chdir(here)


if __name__ == "__main__":
    main()
