#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/parameters/OPERATOR-KEY.png: results side by side, KEY too low, usual and too high, as docs/parameters.json
says under "pictures": the values low, usual (may be left out) and high, the survey `on`, and optional `show` and `with`.

    docs/parameter_pictures.py [--cli PATH] [--out FOLDER] [OPERATOR-KEY ...]    all of them when none is named
"""
import argparse
import json
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

DOCS = Path(__file__).resolve().parent
LARGEST = 60000  # bytes of a file
SIZE = "300x240"
# Made with `lithoscope-cli synth`; "nothing" is for operators that need no survey.
SURVEYS = {
    "curved": "curved inlines=40 xlines=48 samples=128 snr=3 seed=3",
    "quiet": "curved inlines=40 xlines=48 samples=128 snr=25 seed=3",
    "conflict": "conflict inlines=32 xlines=40 samples=128 snr=15",
    "fault": "fault inlines=32 xlines=48 samples=128 snr=3",
    "holes": "curved inlines=32 xlines=40 samples=128 snr=20 missing=40 seed=3",
    "trough": "models model=syncline inlines=1 xlines=100 samples=200 depths=70 depth=500 --velocity --no-truth",
    "salt": "models model=salt inlines=1 xlines=120 samples=250 depths=90 depth=500 --velocity --no-truth",
}


# --- pictures -----------------------------------------------------------------------------------

def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def unfilter(kind, line, above, step):
    """One line of a PNG, from what stands in the file (PNG specification, 9.2)."""
    for x in range(len(line)):
        left, up = line[x - step] if x >= step else 0, above[x]
        corner = above[x - step] if x >= step else 0
        guess = (0, left, up, (left + up) // 2, paeth(left, up, corner))[kind]
        line[x] = (line[x] + guess) & 255
    return line


def read_png(path):
    """Lines of RGB bytes, as the program writes them."""
    data, at, packed = Path(path).read_bytes(), 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, bits, colour = struct.unpack(">IIBB", body[:10])
        packed += body if kind == b"IDAT" else b""
        at += size + 12
    assert bits == 8 and colour in (2, 6), path
    step = 3 if colour == 2 else 4
    raw, lines, above = zlib.decompress(packed), [], bytes(width * step)
    for y in range(height):
        start = y * (width * step + 1)
        above = unfilter(raw[start], bytearray(raw[start + 1:start + 1 + width * step]), above, step)
        lines.append(bytes(b for k, b in enumerate(above) if k % step < 3))
    return lines


def beside(a, b):
    """Two pictures in one; both have one height."""
    return [p + q for p, q in zip(a, b)]


def write_png(path, lines):
    """As few colours as the eye needs: 16 levels of red, green and blue, at most 256 colours in all."""
    for levels in (15, 11, 7, 5):
        table = bytes(round(round(v * levels / 255) * 255 / levels) for v in range(256))
        coarse = [line.translate(table) for line in lines]
        colours = sorted({line[k:k + 3] for line in coarse for k in range(0, len(line), 3)})
        if len(colours) <= 256:
            break
    index = {colour: n for n, colour in enumerate(colours)}
    raw = b"".join(b"\0" + bytes(index[line[k:k + 3]] for k in range(0, len(line), 3)) for line in coarse)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = struct.pack(">IIBBBBB", len(lines[0]) // 3, len(lines), 8, 3, 0, 0, 0)
    Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"PLTE", b"".join(colours)) +
                           chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


# --- results ------------------------------------------------------------------------------------

def make_survey(cli, name):
    path = f"{name}.sgy"
    if name != "nothing" and not Path(path).exists():
        cli("synth", *SURVEYS[name].split(), "-o", path)
    return path


def swept(cli, operator, key, told):
    """Filters: the sheet of a sweep, whose pictures share one clip and have the figures below them."""
    survey = make_survey(cli, told["on"])
    values = ",".join(told[side] for side in ("low", "usual", "high") if side in told)
    cli("sweep", operator, f"{key}={values}", *told.get("with", "").split(), "--show", told.get("show", "output"),
        "-i", survey, "--reference", survey.replace(".sgy", "-truth.sgy"), "-o", "sheet.png", "--force")
    return read_png("sheet.png")


def drawn(cli, operator, key, told):
    """Migration and modelling, whose results lie on grids of their own."""
    survey = make_survey(cli, told["on"])
    inputs = [] if told["on"] == "nothing" else ["-i", survey]
    sides = []
    for side in ("low", "high"):
        cli("run", operator, f"{key}={told[side]}", *told.get("with", "").split(), *inputs, "-o", "result.sgy", "--force", "--no-provenance")
        cli("render", "result.sgy", "--inline", "1", "--size", SIZE, "--title", f"{key} {told[side]}", "-o", "side.png", "--force")
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
            import os
            os.chdir(scratch)
            for name in arguments.names or wanted:
                operator, key, told = wanted[name]
                write_png(out / f"{name}.png", (drawn if operator in ("migrate", "twsm") else swept)(cli, operator, key, told))
                size = (out / f"{name}.png").stat().st_size
                print(f"{name} {size}", flush=True)
                if size > LARGEST:
                    sys.exit(f"{name}.png has {size} bytes, more than {LARGEST}")
        finally:
            os.chdir(here)


main()
