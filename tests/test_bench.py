#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""lithoscope-cli bench as a script uses it.

Property: the JSON file holds what the table shows, backends agree (1e-6: the same arithmetic on one
thread and on all of them must agree to the last bit for fx, whose sums have a fixed order), stages have
times, and wrong usage is refused with status 2. A bench that measured cached results (times of stages
missing) or compared a cube with itself before it was computed fails.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

cli = sys.argv[1]
failures = []


def check(ok, what):
    if not ok:
        failures.append(what)


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "bench.json"
    done = subprocess.run(
        [cli, "bench", "fx", "half_width=2", "--size", "64x60x300", "--backends", "cpu1,cpu",
         "--repeat", "5", "--json", str(path), "--also", "edge=zero,form=acf"], capture_output=True, text=True)
    check(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
    check("cpu1" in done.stdout and "of copy" in done.stdout, "no table")
    report = json.loads(path.read_text())
    check(report["operator"] == "fx" and report["size"] == [64, 60, 300], "wrong head")
    check(report["params"]["half_width"] == 2, "setting lost")
    check([r["backend"] for r in report["runs"]] == ["cpu1", "cpu", "cpu1", "cpu"], "wrong backends")
    check([r["settings"] for r in report["runs"]] == ["", "", "edge=zero,form=acf", "edge=zero,form=acf"],
          "wrong settings")
    difference = report["runs"][2].get("difference_to_first_settings", 0)
    check(1e-3 < difference < 1, f"other settings gave {difference} of difference")
    for run in report["runs"]:
        check(run["compute"]["runs"] == 5 and run["compute"]["median_ms"] > 0, "not timed")
        names = {s["name"]: s for s in run["stages"]}
        for stage in ("time FFT", "design + filter", "inverse"):
            check(names.get(stage, {}).get("median_ms", 0) > 0, f"stage {stage} has no time")
        check(run["hardware"]["copy_bytes_per_s"] > 1e8, "no copy roof")
        parts = [run["numbers"][k] for k in ("matrix", "solve", "apply")]
        check(min(parts) > 0 and abs(sum(parts) - 100) < 1e-6, f"design + filter is made of {parts} %")
        # Processor time is counted in ticks of up to 4 ms a thread: the size above makes five runs take 50 and more.
        check(0 < run["cores_busy"] <= run["threads"] + 0.3, f"{run['cores_busy']} cores busy")
        check(run["numbers"]["systems"] > 0, "the operator's numbers are lost")
        check(run["hardware"]["fma_flops_per_s"] > 1e8, "no FMA roof")
        if run["backend"] == "cpu":
            check(run["relative_error"] <= 1e-6, "threads disagree")
            check(len(run["worst_block_at"]) == 3, "no place of the worst block")
        check(run["speed_up"] > 0, "no speed-up")

    # Compressed: zfp stands beside it with as many bytes or a bit (a factor 2.2) more, where it was built in.
    done = subprocess.run(
        [cli, "bench", "wavepacket", "mode=compress", "keep=0.1", f"coefficients={Path(folder) / 'kept.lwp'}",
         "--size", "32x33x34", "--backends", "cpu", "--repeat", "1", "--json", str(path), "--force"],
        capture_output=True, text=True)
    check(done.returncode == 0, f"compress: {done.stderr}")
    numbers = json.loads(path.read_text())["runs"][0]["numbers"]
    check(numbers["file_bytes"] > 1000, "no coefficient file")
    if "zfp_bytes" in numbers:
        ratio = numbers["zfp_bytes"] / numbers["file_bytes"]
        check(1 <= ratio < 2.2, f"zfp at {ratio} of the size")
        check(0 < numbers["zfp_snr"] < 60, f"zfp SNR {numbers['zfp_snr']}")

for words in (["nonsense"], ["fx", "--size", "3x3"], ["fx", "window=zero"], ["fx", "--backends", "tpu"]):
    done = subprocess.run([cli, "bench", *words], capture_output=True, text=True)
    check(done.returncode == 2 and done.stderr.strip(), f"{words} gave {done.returncode}")

# "auto" on a machine without a GPU is the CPU, and is called so.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "auto.json"
    done = subprocess.run([cli, "bench", "fx", "--size", "12x12x64", "--backends", "auto", "--repeat", "1", "--json", str(path)],
                          capture_output=True, text=True, env=dict(os.environ, CUDA_VISIBLE_DEVICES=""))
    keys = [r["backend"] for r in json.loads(path.read_text())["runs"]]
    check(keys == ["cpu"], f"--backends auto is called {keys}")
    for words in (["--repeat", "0"], ["--seconds", "nan"], ["--seconds", "-1"]):
        done = subprocess.run([cli, "bench", "fx", "--size", "12x12x64", "--backends", "cpu", *words], capture_output=True, text=True)
        check(done.returncode == 2 and words[0] in done.stderr, f"{words} gave {done.returncode}: {done.stderr}")

# Without a GPU the comparison with other libraries says what it needs, and no file is made.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "peers.json"
    done = subprocess.run([cli, "bench", "fx", "--peers", "--json", str(path)], capture_output=True, text=True,
                          env=dict(os.environ, CUDA_VISIBLE_DEVICES=""))
    check(done.returncode == 1 and len(done.stderr.splitlines()) == 1, f"--peers gave {done.returncode}: {done.stderr}")
    check("CUDA module" in done.stderr and not path.exists(), f"--peers without a GPU: {done.stderr}")
    done = subprocess.run([cli, "bench", "fx", "--peers", "--size", "9"], capture_output=True, text=True)
    check(done.returncode == 2 and done.stderr.strip(), f"--peers with a wrong size gave {done.returncode}")

for failure in failures:
    print(failure, file=sys.stderr)
sys.exit(1 if failures else 0)
