#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times every operator with `lithoscope-cli bench` and writes the table of docs/benchmarks.md between its markers.

    docs/benchmarks.py [--cli PATH] [--backends cpu1,cpu,cuda] [--cases fx,patch] [--page FILE]

A backend that this machine lacks is left out with a word. The table tells machine, date, commit and the command of each
row; `--quick` times small cubes, to try the script.
"""
import argparse
import datetime
import json
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- begin measured -->", "<!-- end measured -->"
# Words behind `bench`; the first size is measured, the second one with --quick. Long ones leave out a single CPU thread.
CASES = [
    (["fx"], "64x64x256", "24x24x64", "short"),
    (["fx"], "256x256x256", None, "short"),
    (["fx"], "298x298x1001", None, "short"),
    (["fx", "prewhitening=10", "time_window=150", "time_overlap=50"], "298x298x1001", None, "short"),
    (["patch"], "128x128x256", "24x24x64", "short"),
    (["patch"], "256x256x256", None, "short"),
    (["patch", "faults=off"], "256x256x256", None, "short"),
    (["patch", "sigma=1", "faults=off"], "256x256x256", None, "short"),
    (["wavepacket"], "128x128x128", "24x24x32", "short"),
    (["wavepacket"], "256x256x256", None, "long"),
    (["migrate", "nz=100"], "128x128x512", "24x24x64", "long"),
    (["migrate"], "256x256x512", None, "long"),
    (["twsm", "model=flat"], None, "-", "long"),
]


def git(*words):
    """Empty without git, and in a tree that it does not know."""
    if not shutil.which("git"):
        return ""
    done = subprocess.run(["git", "-C", str(TOP), *words], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def bench(cli, words, size, backends, repeat, seconds):
    """The JSON of one run, or None with the reason on standard error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.json"
        command = [cli, "bench", *words, *(["--size", size] if size else []), "--backends", ",".join(backends), "--repeat", str(repeat),
                   "--seconds", str(seconds)]
        done = subprocess.run([*command, "--json", str(path)], capture_output=True, text=True)
        if done.returncode:
            print(f"{' '.join(command[1:])}: {done.stderr.strip()}", file=sys.stderr)
            return None
        return json.loads(path.read_text())


def time_text(ms):
    if ms is None:
        return ""
    return f"{ms / 1000:.3g} s" if ms >= 1000 else f"{ms:.3g} ms"


def row(words, size, backends, report):
    def of(name):
        return next((r for r in report["runs"] if r["backend"] == name), {})

    def median(run, kind):
        return run.get(kind, {}).get("median_ms")

    one, all_threads, card = of("cpu1"), of("cpu"), of("cuda") or of("cuda:0")
    error = card.get("relative_error", all_threads.get("relative_error"))
    command = " ".join(["bench", *words, *(["--size", size] if size else []), "--backends", ",".join(backends)])
    return "| " + " | ".join([
        f"`{command}`", time_text(median(one, "compute")), time_text(median(all_threads, "compute")),
        time_text(median(card, "compute")), time_text(median(card, "with_transfers")),
        f"{error:.1e}" if error is not None else ""]) + " |"


def machine(reports):
    runs = [run for report in reports for run in report["runs"]]
    named = {}
    for run in runs:
        named.setdefault(run["backend"], run)
    cpu = named.get("cpu") or named.get("cpu1")
    card = named.get("cuda") or named.get("cuda:0")
    text = f"{cpu['hardware']['name']}, {cpu['threads']} threads" if cpu else ""
    if card:
        text += f"; {card['hardware']['name']}, {card['hardware']['driver']}"
    return f"{text}; {reports[0]['compiler']}, code for {reports[0]['cpu_code_for']}"


def table(rows, reports, note):
    commit = git("rev-parse", "--short", "HEAD")
    lines = [*textwrap.wrap(f"{machine(reports)}.", 100), f"Measured {datetime.date.today().isoformat()}" + (f" at commit {commit}" if commit else "")
             + (f"; {note}" if note else "") + ".", "Times are medians; `with copies` is host memory to host memory.", "",
             "| command behind `lithoscope-cli` | 1 CPU thread | all threads | GPU | GPU with copies | difference, relative L2 |",
             "|---|---|---|---|---|---|", *rows]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=shutil.which("lithoscope-cli") or str(TOP / "build/app/lithoscope-cli"))
    parser.add_argument("--backends", default="cpu1,cpu,cuda", help="as bench takes them (default cpu1,cpu,cuda)")
    parser.add_argument("--cases", default="", help="operators to time, separated by commas (default all)")
    parser.add_argument("--page", type=Path, default=TOP / "docs/benchmarks.md", help="page with the markers")
    parser.add_argument("--seconds", type=float, default=6, help="no further run of a kind after this long (6)")
    parser.add_argument("--note", default="", help="what else the reader must know, such as other work on the machine")
    parser.add_argument("--quick", action="store_true", help="small cubes, one run each: tries the script")
    arguments = parser.parse_args()

    page = arguments.page.read_text()
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        sys.exit(f"{arguments.page} needs the lines {BEGIN} and {END} once each")
    wanted = [name for name in arguments.cases.split(",") if name]
    rows, reports, backends = [], [], arguments.backends.split(",")
    for words, size, small, length in CASES:
        if wanted and words[0] not in wanted or arguments.quick and small is None:
            continue
        if arguments.quick:
            words, size = ([*words[:1], "frequencies=4", "cells_per_wavelength=1.3"], None) if small == "-" else (words, small)
        report = None
        while report is None:
            those = [b for b in backends if length == "short" or b != "cpu1"]
            report = bench(arguments.cli, words, size, those, *((1, 1) if arguments.quick else (5, arguments.seconds)))
            if report is None and not any(b.startswith("cuda") for b in backends):
                sys.exit(1)
            if report is None:
                backends = [b for b in backends if not b.startswith("cuda")]
                print(f"going on with {','.join(backends)}", file=sys.stderr)
        rows.append(row(words, size, those, report))
        reports.append(report)
        print(rows[-1], flush=True)
    if not rows:
        sys.exit(f"there is no case of {arguments.cases}")
    text = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: f"{BEGIN}\n{table(rows, reports, arguments.note)}\n{END}",
                  page, flags=re.S)
    arguments.page.write_text(text)


main()
