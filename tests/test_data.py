#!/usr/bin/python3
"""data/surveys holds what its make.sh makes, its recipes do what their READMEs say, and all of it stays small.
Prints TAP.

    test_data.py PATH/lithoscope-cli
"""
import array
import json
import os
import shutil
import subprocess
import sys

from cli_tap import CLI, cli, read, run, test

SURVEYS = os.path.join(os.environ["LITHO_SOURCE_ROOT"], "data", "surveys")
TEXT, BINARY, HEAD = 3200, 400, 240
# Part of the largest sample. Equal machines make equal bytes; another libm may round differently.
FAIR = 1e-5
# A shot's record is the whole wave less the direct one, whose samples reach 100: one rounding of it is 8e-6, 6e-5 of the
# largest reflection. A few of them, where another vector unit adds in another order.
FAIR_SHOT = 3e-4


def files(folder):
    return sorted(os.path.relpath(os.path.join(place, name), folder) for place, _, names in os.walk(folder) for name in names)


def split(data):
    """(trace headers, samples) of a SEG-Y file of IEEE floats."""
    assert int.from_bytes(data[TEXT + 24:TEXT + 26], "big") == 5, "IEEE floats are expected"
    size = HEAD + 4 * int.from_bytes(data[TEXT + 20:TEXT + 22], "big")
    traces = [data[k:k + size] for k in range(TEXT + BINARY, len(data), size)]
    assert all(len(t) == size for t in traces)
    samples = array.array("f", b"".join(t[HEAD:] for t in traces))
    if sys.byteorder == "little":
        samples.byteswap()
    return [t[:HEAD] for t in traces], samples


@test
def the_script_makes_the_files_again():
    env = {**os.environ, "PATH": f"{os.path.dirname(CLI)}:{os.environ['PATH']}"}
    done = subprocess.run([os.path.join(SURVEYS, "make.sh"), "made"], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    made = files("made")
    kept = [f for f in files(SURVEYS) if f.endswith((".sgy", ".txt"))]
    assert made == kept, f"make.sh makes {made}, data/surveys holds {kept}"
    for name in made:
        a, b = read(os.path.join("made", name)), read(os.path.join(SURVEYS, name))
        if name.endswith(".txt"):
            assert a == b, name
            continue
        (heads, x), (kept_heads, y) = split(a), split(b)
        assert heads == kept_heads, f"{name}: trace headers differ"
        worst, most = max(abs(p - q) for p, q in zip(x, y)), max(map(abs, y))
        fair = FAIR_SHOT if name == "shots/shots.sgy" else FAIR
        assert len(x) == len(y) and worst <= fair * most, f"{name}: samples differ by {worst} of {most}"


@test
def all_of_it_is_small():
    total = sum(os.path.getsize(os.path.join(SURVEYS, f)) for f in files(SURVEYS))
    assert total < 4e6, total
    for folder in next(os.walk(SURVEYS))[1]:
        assert os.path.exists(os.path.join(SURVEYS, folder, "README.md")), folder


def distance(truth, cube):
    return json.loads(cli("compare", truth, cube, "--json").stdout)["snr_db"]


@test
def recipes_reach_the_figures_of_their_pages():
    for folder, recipe, cube, before, after in (("noise", "denoise.json", "noisy", 3.0, 14.5), ("holes", "fill.json", "holes", None, 19.5)):
        shutil.copytree(os.path.join(SURVEYS, folder), folder)
        cli("run", f"{folder}/{recipe}", f"{folder}/{cube}.sgy", f"{folder}/out.sgy")
        truth = f"{folder}/{cube}-truth.sgy"
        assert before is None or abs(distance(truth, f"{folder}/{cube}.sgy") - before) < 0.2
        assert distance(truth, f"{folder}/out.sgy") > after, folder
    shutil.copytree(os.path.join(SURVEYS, "trough"), "trough")
    os.chdir("trough")
    try:
        cli("run", "migrate.json", "stack.sgy", "image.sgy")
    finally:
        os.chdir("..")
    heads, x = split(read("trough/image.sgy"))
    n = len(x) // len(heads)
    deepest = [max(range(n), key=lambda k: x[j * n + k]) * 10 for j in (5, len(heads) // 2)]
    # The trough's reflector lies at 350 m beside it and at 580 m in its middle (steps of 10 m).
    assert abs(deepest[0] - 350) <= 20 and abs(deepest[1] - 590) <= 20, deepest


@test
def info_rounds_what_is_rounding():
    place = json.loads(cli("info", os.path.join(SURVEYS, "shots", "shots.sgy"), "--json").stdout)["coordinates"]
    assert place["origin"] == [0, 0], place
    text = cli("info", os.path.join(SURVEYS, "shots", "shots.sgy")).stdout
    assert "origin       x 0  y 0 m\n" in text, text


run()
