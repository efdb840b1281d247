#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks and times a build on the card of this machine, builds nothing, and prints tables.

    tests/card.py BUILD [--parts tests,bench,window,papers,peers] [--only WORD] [--window-prefix COMMAND] [--limit SECONDS] [--out FOLDER]

tests: every test of the CUDA module, the longest first; they say what failed. bench: stage times of the cases that the documents
state, with copies. window: sliders dragged in the real window (needs a display; COMMAND goes before the program), with the texels
that differ from the result and the longest block of the main thread. papers: values of `lithoscope-cli reproduce`. peers: stages
beside other libraries, as `bench --peers` times them (LD_LIBRARY_PATH names the folder of libcufinufft.so). No part begins after
LIMIT. The figures also go to FOLDER as JSON. The exit status is 1 when a test failed, a texel differs or a command fails.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

TESTS = ["fx-cuda", "fx-cuda-memory", "patch-cuda", "patch-level-cuda", "erratic-cuda", "similarity-cuda", "wavepacket-cuda", "wavepacket-planes-cuda", "steady-cuda", "twsm-cuda", "migrate-cuda", "migrate-cuda-runs", "peers-cuda", "cuda"]
BENCHES = [
    "fx --size 256x256x256", "fx prewhitening=10 fmax=60 --size 298x298x1001", "fx --size 298x298x1001",
    "fx --size 256x256x256 --missing 4", "fx --size 298x298x1001 --missing 4", "fx half_width=1 --size 256x512x512",
    "fx --size 512x512x512", "fx --size 512x512x512 --missing 4", "patch --size 256x256x256", "patch --size 298x298x1001", "patch preset=fill --size 256x256x256 --missing 50",
    "wavepacket --size 256x256x256", "wavepacket --size 512x512x512", "migrate nz=100 --size 256x256x512",
    "migrate nz=100 coarse=on --size 256x256x512", "twsm model=flat", "twsm model=syncline",
]
# Name, cube, operator or recipe, parameter.
DRAGS = [
    ("threshold", "256x256x256", "wavepacket", "threshold"), ("directions", "256x256x256", "wavepacket", "directions"),
    ("F-X window", "256x256x256", "fx", "window"), ("degree", "256x256x512", "migrate", "degree"),
    ("largest dip", "256x256x512", "migrate", "max_dip"), ("fmax", "256x256x512", "migrate", "fmax"),
    ("strip width", "", {"model": "syncline", "algorithm": "mod2"}, "strip_width"), ("patch", "256x256x256", "patch", "threshold"),
    ("threshold 512", "512x512x512", "wavepacket", "threshold"), ("fx 512", "512x512x512", "fx", "window"),
    ("fx 1000", "1000x1000x1000", "fx", "window"), ("prewhitening, similarity", "256x256x256", "fx", "prewhitening"),
    ("threshold 512, similarity", "512x512x512", "wavepacket", "threshold"),
]
PEERS = ["fx --size 256x256x256", "wavepacket --size 256x256x256", "migrate --size 256x256x512", "twsm model=twolayer",
         "twsm model=published"]
PAPERS = ["packets-2013-fig-9", "twsm-2016-modified-2", "srmip-2007-shot", "fx-2021-overall"]

began = time.monotonic()
failed = []


def run(name, command, options, env=None, seconds=300):
    """Standard output of a command, or None when it fails or no time is left."""
    left = options.limit - (time.monotonic() - began)
    if options.only and options.only not in name:
        return None
    if left < 5:
        print(f"{name}: no time left", flush=True)
        return None
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=min(seconds, left))
    except subprocess.TimeoutExpired:
        failed.append(name)
        print(f"{name}: longer than {min(seconds, left):.0f} s", flush=True)
        return None
    Path(options.out, name.replace(" ", "-").replace("=", "-") + ".txt").write_text(done.stdout + done.stderr)
    run.seconds = time.monotonic() - start
    if done.returncode not in (0, 77):
        failed.append(name)
        print(f"{name}: status {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}", flush=True)
        return None
    return done.stdout


def tests(build, env, options):
    env = dict(env, G_TEST_SRCDIR=str(Path(__file__).parent), G_TEST_BUILDDIR=str(build / "tests"))
    commands = {name: [str(build / "tests" / f"test-{name}")] for name in TESTS}
    commands["gpu-taken"] = [sys.executable, str(Path(__file__).with_name("test_gpu_taken.py")), str(build / "app/lithoscope-cli")]
    for name, command in commands.items():
        out = run(f"test {name}", command, options, env)
        if out is None:
            continue
        lines = out.splitlines()
        bad = sum(line.startswith("not ok") for line in lines)
        skipped = sum(line.startswith("ok") and "# SKIP" in line for line in lines)
        print(f"test {name}: {sum(line.startswith('ok') for line in lines) - skipped} passed, {bad} failed, {skipped} skipped, "
              f"{run.seconds:.0f} s", flush=True)
        if bad:
            failed.append(name)


def bench(build, env, options):
    print("| bench | plan | again | compute | with copies | stages |\n|---|---|---|---|---|---|")
    for words in BENCHES:
        path = Path(options.out, "bench.json")
        command = [str(build / "app/lithoscope-cli"), "bench", *words.split(), "--backends", options.backend, "--repeat", "7",
                   "--seconds", "6", "--force", "--json", str(path)]
        if run(f"bench {words}", command, options, env) is None:
            continue
        one = json.loads(path.read_text())["runs"][0]
        stages = "; ".join(f"{s['name']} {s['median_ms']:.2f}" for s in one.get("stages", []))
        print(f"| `{words}` | {one['plan_ms']:.1f} | {one['plan_again_ms']:.1f} | {one['compute']['median_ms']:.2f} | "
              f"{one.get('with_transfers', {}).get('median_ms', 0):.2f} | {stages} |", flush=True)
        moves = "; ".join(f"{stage} {ms:.2f}, slices {one['slices_ms'].get(stage, 0):.2f}" for stage, ms in one["from_stage_ms"].items())
        slices = "; ".join(f"{s['name']} {s['median_ms']:.2f}" for s in one["slice_stages"])
        print(f"| ... from | | | {moves} | | {slices} |", flush=True)


def window(build, env, options):
    print("| drag | median ms | 95 % ms | similarity, median and 95 % ms | similarities/s | frames/s | longest block ms | computing ms "
          "| through the host | texels that differ |\n|---|---|---|---|---|---|---|---|---|---|")
    for name, size, flow, key in DRAGS:
        words = []
        if size:
            cube = Path(options.out, f"{size}.npy")
            n = size.split("x")
            if not cube.exists() and run(f"drag {name}: cube", [
                    str(build / "app/lithoscope-cli"), "synth", "survey", f"inlines={n[0]}", f"xlines={n[1]}", f"samples={n[2]}", "-o",
                    str(cube), "--no-truth"], options, env) is None:
                continue
            words.append(str(cube))
        if isinstance(flow, str):
            words += ["--operator", flow]
        else:
            recipe = Path(options.out, "recipe.json")
            recipe.write_text(json.dumps({"lithoscope": 1, "flow": [{"operator": "twsm", "params": flow}]}))
            words += ["--recipe", str(recipe)]
        if "similarity" in name:
            words.append("--measure-similarity")
        path = Path(options.out, name.replace(" ", "-"))
        out = run(f"drag {name}", [*shlex.split(options.window_prefix), str(build / "app/lithoscope"), *words, "--measure", "2.4",
                                   "--measure-param", key, "--measure-json", f"{path}.json", "--measure-picture", f"{path}.png"],
                  options, dict(env, XDG_STATE_HOME=options.out, XDG_CONFIG_HOME=options.out), 60)
        if out is None:
            continue
        m = json.loads(Path(f"{path}.json").read_text())
        follows = f"{m['similarity_median_ms']:.1f}, {m['similarity_p95_ms']:.1f}" if "similarity_median_ms" in m else ""
        print(f"| {name} | {m['latency_median_ms']:.1f} | {m['latency_p95_ms']:.1f} | {follows} | {m.get('similarities_per_s', 0):.0f} | "
              f"{m['frames_per_s']:.0f} | "
              f"{m['longest_block_ms']:.1f} in {m.get('longest_block_in', '')} | {m['longest_busy_ms']:.1f} | {m['host_bytes']:.0f} | "
              f"{m['wrong']:.0f} of {m['compared']:.0f} |", flush=True)
        ways = "; ".join(f"{way} {ms:.1f}" for way, ms in m.get("way_ms", {}).items())
        stages = "; ".join(f"{stage} {ms:.1f}" for stage, ms in m.get("stages_ms", {}).items())
        print(f"| ... the way | | | {ways} | | | {stages} | | | |", flush=True)
        if m["wrong"]:
            failed.append(f"drag {name}")


def papers(build, env, options):
    for name in PAPERS:
        out = run(f"reproduce {name}", [str(build / "app/lithoscope-cli"), "reproduce", name, "--backend", options.backend], options, env)
        print(out or "", flush=True)


def peers(build, env, options):
    print("| stage | problem | ours ms | library | its ms | times | our error | its error | its settings |\n|---|---|---|---|---|---|---|---|---|")
    for words in PEERS:
        path = Path(options.out, "peers-" + words.replace(" ", "-").replace("=", "-") + ".json")
        command = [str(build / "app/lithoscope-cli"), "bench", *words.split(), "--peers", "--force", "--json", str(path)]
        if run(f"peers {words}", command, options, env) is None:
            continue
        for r in json.loads(path.read_text())["peers"]:
            theirs = f"{r['theirs_ms']:.3f} | {r['times']:.2f}" if r["theirs_ms"] else f"{r['why_not']} | "
            print(f"| {words.split()[0]}, {r['stage']} | {r['problem']} | {r['ours_ms']:.3f} | {r['library']} | {theirs} | "
                  f"{r['ours_error']:.1e} | {r['theirs_error']:.1e} | {r['settings']} |", flush=True)
            print(f"    {r['note']}", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--parts", default="tests,bench,window,papers")
    parser.add_argument("--only", help="only commands whose name has this word")
    parser.add_argument("--window-prefix", default="", help="command that gives the window a display")
    parser.add_argument("--backend", default="cuda", help="another one, to try the script without a card")
    parser.add_argument("--limit", type=float, default=3600)
    parser.add_argument("--out", default="card")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    options.out = os.path.abspath(options.out)
    build = options.build.resolve()
    libraries = [str(build / "core"), str(build / "kernels"), os.environ.get("LD_LIBRARY_PATH", "")]
    env = dict(os.environ, LITHO_MODULE_DIR=str(build / "kernels/cuda"), LITHO_SOURCE_ROOT=str(Path(__file__).resolve().parent.parent),
               LITHO_DATA_DIR=str(Path(__file__).resolve().parent.parent / "data"), LD_LIBRARY_PATH=":".join(filter(None, libraries)))
    for part in options.parts.split(","):
        start = time.monotonic()
        {"tests": tests, "bench": bench, "window": window, "papers": papers, "peers": peers}[part](build, env, options)
        print(f"{part}: {time.monotonic() - start:.0f} s\n", flush=True)
    print("failed: " + ", ".join(failed) if failed else "nothing failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
