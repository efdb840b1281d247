#!/usr/bin/python3
"""Expected SNR against the true one: 20 settings on 6 cubes of known truth.

    tests/decide_table.py build/app/lithoscope-cli [FOLDER] > table.md

The cubes are generated into FOLDER (default: a temporary one). Prints the tables of docs/decide.md
and fails when a choice is more than 0.3 dB from the best setting, or when an expected SNR misses the
true one by more than 0.5 dB on white noise.
"""
import json
import math
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

CUBES = [("planes", 0, "white"), ("curved", 0, "white"), ("conflict", -6, "white"),
         ("fault", -6, "white"), ("planes", 0, "low"), ("fault", 0, "band")]
SETTINGS = [("fx", s) for s in (
    "", "prewhitening=1", "prewhitening=30", "prewhitening=100", "prewhitening=300",
    "half_width=2", "half_width=2 prewhitening=100", "half_width=1 prewhitening=30",
    "window=30", "window=30 prewhitening=100", "window=12 prewhitening=30",
    "fmax=60 outband=mute prewhitening=100", "fmin=3 fmax=100", "post=on prewhitening=100")]
SETTINGS += [("patch", s) for s in (
    "", "threshold=2.5", "threshold=3.5", "window=24 threshold=2.7", "window=24 rule=energy",
    "window=12")]


def call(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")


def cube_path(folder, cube):
    return os.path.join(folder, "{}{}{}.npy".format(*cube))


def measure(cli, folder, cube, settings):
    path, (op, words) = cube_path(folder, cube), settings
    with tempfile.TemporaryDirectory(dir=folder) as own:
        report = os.path.join(own, "report.json")
        call(cli, "run", op, *words.split(), "-i", path, "-o", os.path.join(own, "out.npy"),
             "--threads", "4", "--report", report, "--reference", path.replace(".npy", "-truth.npy"))
        with open(report, encoding="utf-8") as file:
            r = json.load(file)
    return r["expected_snr_db"], r["snr_db"], r["expected_snr_interval_db"]


def main():
    cli, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    names = [f"{k} {s} dB, {n}" for k, s, n in CUBES]
    print("| setting | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for cube in CUBES:
        if not os.path.exists(cube_path(folder, cube)):
            kind, snr, noise = cube
            call(cli, "synth", kind, f"snr={snr}", f"noise={noise}", "-o", cube_path(folder, cube))
    # Runs have serial parts: one of them for four processors.
    pool = ThreadPoolExecutor(max(os.cpu_count() // 4, 1))
    rows = [[pool.submit(measure, cli, folder, cube, settings) for cube in CUBES]
            for settings in SETTINGS]
    table = []
    for settings, futures in zip(SETTINGS, rows):
        row = [future.result() for future in futures]
        table.append(row)
        cells = " | ".join(f"{e:.2f} / {t:.2f}" for e, t, _ in row)
        print(f"| `{(settings[0] + ' ' + settings[1]).strip()}` | {cells} |", flush=True)
    print("\n| cube | chosen: true SNR | best: true SNR | lost | rms error | worst error | inside "
          "the interval |\n|---|---|---|---|---|---|---|")
    failed = False
    for c, name in enumerate(names):
        column = [row[c] for row in table]
        chosen, best = max(column)[1], max(t for _, t, _ in column)
        errors = [e - t for e, t, _ in column]
        worst = max(errors, key=abs)
        rms = math.sqrt(sum(e * e for e in errors) / len(errors))
        inside = sum(lo <= t <= hi for _, t, (lo, hi) in column)
        print(f"| {name} | {chosen:.2f} | {best:.2f} | {best - chosen:.2f} | {rms:.2f} | {worst:+.2f} "
              f"| {inside} of {len(column)} |")
        failed |= best - chosen > 0.3 or (CUBES[c][2] == "white" and abs(worst) > 0.5)
    return failed


sys.exit(main())
