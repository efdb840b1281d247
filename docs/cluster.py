#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times operators on several cards and under several processes and writes the tables of docs/cluster.md.

    docs/cluster.py [--cli PATH] [--cards 2] [--ranks 4] [--page FILE] [--quick]

Cards: `lithoscope-cli bench` with one card and with all of them, data on the device; `run` from file to file for fx. Ranks: `mpirun -n 1..N` on the
processor, file to file, with an equal share of the cores each. A machine without cards, or without Open MPI, keeps the
table that is there. Tip waves under processes have a table of their own. `--quick` takes small cubes, to try the script.
"""
import argparse
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
# Name, words behind `bench`, size, size with --quick.
CARDS = [
    ("packets, one piece", ["wavepacket", "sigma=1"], "512x512x512", "24x24x32"),
    ("packets, segments", ["wavepacket", "sigma=1", "block=192"], "512x512x512", "48x24x32"),
    ("migration, stack", ["migrate", "nz=205"], "256x256x512", "24x24x64"),
    ("migration, shot", ["migrate", "mode=shot", "nz=100"], "400x400x512", "24x24x64"),
    ("tip waves, fused", ["twsm", "model=twolayer", "algorithm=fused"], None, None),
    ("tip waves, fast", ["twsm", "model=twolayer"], None, None),
]
# The same, from file to file; the words stand behind `run`.
FILES = [
    ("fx, file to file", ["fx", "half_width=4", "window=30"], (640, 500, 1500), (40, 24, 64)),
    ("fx, long windows, file to file", ["fx", "half_width=5", "window=40"], (320, 250, 1500), (40, 24, 64)),
]
# Name, words behind `run`, size of the survey, size with --quick; None = the flow makes its own data.
RANKS = [
    ("fx", ["fx"], (300, 200, 400), (40, 24, 64)),
    ("patch", ["patch"], (300, 200, 400), (40, 24, 64)),
    ("packets, segments", ["wavepacket", "block=64"], (128, 48, 192), (40, 24, 64)),
    ("migration, stack", ["migrate", "nz=50", "fmax=40"], (128, 128, 256), (24, 24, 64)),
]
# A table of its own, of whichever machine it was measured on.
TIPS = [
    ("tip waves, fast", ["twsm", "model=twolayer"], None, None),
]


def median(run):
    return run["compute"]["median_ms"]


def longest(stages):
    """The two stages that take longest, of all, in per cent."""
    total = sum(s["ms"] for s in stages) or 1
    top = sorted(stages, key=lambda s: -s["ms"])[:2]
    return ", ".join(f"{s['name']} {100 * s['ms'] / total:.0f} %" for s in top)


def megabytes(n):
    return f"{n / 1e6:.3g} MB" if n else "0"


def card_row(cli, name, words, size, cards, repeat):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.json"
        command = [cli, "bench", *words, *(["--size", size] if size else []), "--backends", f"cuda:0,cuda:0-{cards - 1}",
                   "--repeat", str(repeat), "--seconds", "5"]
        done = subprocess.run([*command, "--json", str(path)], capture_output=True, text=True)
        if done.returncode:
            print(f"{name}: {done.stderr.strip()}", file=sys.stderr)
            return None
        one, all_cards = json.loads(path.read_text())["runs"]
    a, b = median(one), median(all_cards)
    stages = [{"name": s["name"], "ms": s["median_ms"], "bytes": s["bytes"], "kind": s["kind"]}
              for s in all_cards["stages"]]
    # Packets have a stage "gather" that computes.
    moved = sum(s["bytes"] for s in stages if s["name"] in ("exchange", "gather") and s["kind"] == "transfer")
    wide = f" {size.replace('x', ' x ')}" if size else ""
    return line(name + wide, words, a, b, cards, megabytes(moved), [s for s in stages if s["name"] != "beams"])


def line(name, words, one, several, cards, moved, stages):
    return (f"| {name} | `{' '.join(words)}` | {one:.4g} | {several:.4g} | {one / several:.2f} | {100 * one / several / cards:.0f} % | "
            f"{moved} | {longest(stages)} |")


def filed(cli, folder, words, size, cards):
    """The figures of a run from file to file on so many cards: the shortest of two."""
    told = Path(folder) / "told.json"
    command = [cli, "run", *words, *survey(cli, folder, size, "sgy"), "-o", str(Path(folder) / "out.sgy"), "--force", "--backend", "cuda",
               "--gpus", str(cards), "--timings", str(told), "--progress", "none"]
    times = []
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"{' '.join(words)}: {done.stderr.strip()}", file=sys.stderr)
            return None
        times.append(json.loads(told.read_text()))
    return min(times, key=lambda t: t["seconds"])


def file_row(cli, name, words, size, cards):
    with tempfile.TemporaryDirectory() as folder:
        one, several = filed(cli, folder, words, size, 1), filed(cli, folder, words, size, cards)
    if not one or not several:
        return None
    stages = [{"name": s["name"], "ms": s["last_ms"] * s["count"]} for s in several["stages"]]
    used = f" ({several['devices_used']} used)" if several.get("devices_used", cards) != cards else ""
    return line(f"{name}, {' x '.join(map(str, size))}{used}", words, 1e3 * one["seconds"], 1e3 * several["seconds"], cards, "0", stages)


def cards_table(arguments):
    repeat, rows = 1 if arguments.quick else 3, []
    for name, words, size, small in CARDS + FILES:
        if arguments.quick and small is None:
            continue
        row = file_row if (name, words, size, small) in FILES else card_row
        more = () if row is file_row else (repeat,)
        rows.append(row(arguments.cli, name, words, small if arguments.quick else size, arguments.cards, *more))
        if rows[-1]:  # what is measured stays in sight whatever comes
            print(rows[-1], flush=True)
    if None in rows:
        return None
    return "\n".join([f"| case | words behind `bench` or `run` | 1 card, ms | {arguments.cards} cards, ms | speed-up | efficiency | "
                      "into the first card | longest stages |", "|---|---|---|---|---|---|---|---|", *rows])


def survey(cli, folder, size, kind="npy"):
    path = Path(folder) / f"{'x'.join(map(str, size))}.{kind}"
    if not path.exists():
        subprocess.run([cli, "synth", "planes", f"inlines={size[0]}", f"xlines={size[1]}", f"samples={size[2]}", "--no-truth",
                        "-o", str(path)], check=True, capture_output=True)
    return ["-i", str(path)]


def ranked(cli, folder, words, size, n, threads):
    """The figures of a run under n processes: the shortest of two."""
    out, told = Path(folder) / "out.npy", Path(folder) / "told.json"
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(n), cli, "run", *words,
               *(survey(cli, folder, size) if size else []), "-o", str(out), "--force", "--backend", "cpu", "--threads", str(threads),
               "--timings", str(told), "--progress", "none"]
    if os.geteuid() == 0:
        command.insert(1, "--allow-run-as-root")
    best = None
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"{' '.join(words)}: {done.stderr.strip()}", file=sys.stderr)
            return None
        now = json.loads(told.read_text())
        best = now if best is None or now["seconds"] < best["seconds"] else best
    return best


def ranks_table(arguments, cases):
    threads = max((os.cpu_count() or 1) // arguments.ranks, 1)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, words, size, small in cases:
            if arguments.quick and small is None:
                words = [w for w in words if "twolayer" not in w] + ["frequencies=4"]
            size, first = small if arguments.quick else size, None
            for n in range(1, arguments.ranks + 1):
                told = ranked(arguments.cli, folder, words, size, n, threads)
                if told is None:
                    return None
                first = first or told["seconds"]
                each = told.get("ranks", [])
                sent = sum(r["bytes_sent"] for r in each)
                waited = max((r["waited_seconds"] for r in each), default=0)
                stages = [{"name": s["name"], "ms": s["last_ms"] * s["count"]} for s in told["stages"]]
                rows.append(f"| {name if n == 1 else ''} | {n} | {told['seconds']:.3g} | {first / told['seconds']:.2f} | "
                            f"{100 * first / told['seconds'] / n:.0f} % | {megabytes(sent)} | {waited:.2g} | {longest(stages)} |")
                print(rows[-1], flush=True)
    return "\n".join([f"{threads} thread{'s' if threads > 1 else ''} a process.", "",
                      "| case | processes | s | speed-up | efficiency | sent | waited, s | longest stages |", "|---|---|---|---|---|---|---|---|",
                      *rows])


def put(page, name, text):
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        sys.exit(f"the page needs the lines {begin} and {end} once each")
    return re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: f"{begin}\n{text}\n{end}", page, flags=re.S)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=shutil.which("lithoscope-cli") or str(TOP / "build/app/lithoscope-cli"))
    parser.add_argument("--cards", type=int, default=2, help="cards to compare with one (default 2; 0 = leave that table)")
    parser.add_argument("--ranks", type=int, default=4, help="processes, at most (default 4; 0 = leave that table)")
    parser.add_argument("--page", type=Path, default=TOP / "docs/cluster.md", help="page with the markers")
    parser.add_argument("--table", choices=("cards", "ranks", "tips"), help="one table alone; the others stay")
    parser.add_argument("--quick", action="store_true", help="small cubes, one run each: tries the script")
    arguments = parser.parse_args()
    today = datetime.date.today().isoformat()
    page = arguments.page.read_text()
    cards = cards_table(arguments) if arguments.cards > 1 and arguments.table in (None, "cards") else None
    if cards:
        print(cards, flush=True)
        page = put(page, "cards", f"Measured {today}; medians, data on the device; file to file the shorter of two.\n\n{cards}")
    measured = bool(cards)
    for table, cases in (("ranks", RANKS), ("tips", TIPS)):
        wanted = arguments.ranks > 1 and shutil.which("mpirun") and arguments.table in (None, table)
        ranks = ranks_table(arguments, cases) if wanted else None
        if ranks:
            page = put(page, table, f"Measured {today} on {os.cpu_count()} cores; the shorter of two runs. {ranks}")
            measured = True
    if not measured:
        print("neither cards nor mpirun: nothing was measured", file=sys.stderr)
    arguments.page.write_text(page)


main()
