#!/usr/bin/python3
"""Every demonstration that comes with the program plays without a window, and figures of the papers are
reproduced by the commands that are declared for them. Prints TAP.

    test_demos.py PATH/lithoscope-cli
"""
import json
import os
import subprocess
import time

from cli_tap import CLI, cli, read, run, test

DATA = os.path.join(os.environ["LITHO_SOURCE_ROOT"], "data")
DEMOS = os.path.join(DATA, "demos")
RAMP_FRAMES = 8
DWELL = 5  # seconds of a step that says none and has none before it


def moving(step):
    return any(isinstance(v, list) for v in [step.get("split"), *step.get("slices", {}).values()]) or "ramps" in step


def seconds(script):
    dwell = DWELL
    for step in script["steps"]:
        dwell = step.get("dwell", dwell)
        yield dwell


def few_frames(script):
    """The lowest rate that shows two frames of every step in which something moves: each costs a computation."""
    return 2 / min(t for s, t in zip(script["steps"], seconds(script)) if moving(s))


def wanted_frames(script, fps):
    if fps:
        return [max(int(t * fps + 0.5), 1) for t in seconds(script)]
    return [RAMP_FRAMES if moving(s) else 1 for s in script["steps"]]


def plays(name, path=None):
    def play():
        script = json.load(open(path or os.path.join(DEMOS, f"{name}.json")))
        fps = few_frames(script) if name != "noise" and any(map(moving, script["steps"])) else 0
        cli("demo", path or name, "--size", "320x180", "--backend", "cpu", "--no-races", "-o", name, *(["--fps", fps] if fps else []), timeout=800)
        frames = [read(os.path.join(name, f)) for f in sorted(os.listdir(name))]
        wanted = wanted_frames(script, fps)
        assert len(frames) == sum(wanted), (len(frames), wanted)
        assert all(f.startswith(b"\x89PNG") and b"IEND" in f[-12:] for f in frames)
        first = [sum(wanted[:k]) for k in range(len(wanted))]
        for a, b in zip(first, first[1:]):
            assert frames[a] != frames[b], f"steps {a} and {b} look alike"
        for k, n, step in zip(first, wanted, script["steps"]):
            assert not moving(step) or (n > 1 and frames[k] != frames[k + n - 1]), f"nothing moves from frame {k} on"
    play.__name__ = f"{name} plays"
    test(play)


for file in sorted(os.listdir(DEMOS)):
    if file.endswith(".json"):
        plays(file[:-5])
# Scripts that lie beside their survey, velocity or model.
for folder in sorted(os.listdir(os.path.join(DATA, "surveys"))):
    script_file = os.path.join(DATA, "surveys", folder, "demo.json")
    if os.path.exists(script_file):
        plays(folder, script_file)


@test
def wrong_usage_says_what_is_needed():
    assert "tour" in cli("demo", "--list").stdout
    assert "tour" in cli("demo", "turo", "-o", "x", status=2).stderr
    assert "-o FOLDER" in cli("demo", "tour", status=2).stderr
    assert "WIDTHxHEIGHT" in cli("demo", "tour", "-o", "x", "--size", "12", status=2).stderr
    open("bad.json", "w").write('{"lithoscope-demo": 1, "title": "t", "steps": [{"shwo": "input"}]}')
    assert "cube" in cli("demo", "bad.json", "-o", "x", status=2).stderr
    os.makedirs("f")
    open("f/frame-00000.png", "w").write("mine")
    open("one.json", "w").write(json.dumps({"lithoscope-demo": 1, "title": "t", "steps": [
        {"cube": {"generate": "mix", "params": {"inlines": 8, "xlines": 8, "samples": 32}}}]}))
    cli("demo", "one.json", "-o", "f", status=1)
    assert read("f/frame-00000.png") == b"mine"
    cli("demo", "one.json", "-o", "f", "--force")
    assert read("f/frame-00000.png").startswith(b"\x89PNG")


@test
def a_race_is_held_and_told():
    """The frame of a race is not that of the result: it says who ran, and how much faster."""
    open("race.json", "w").write(json.dumps({"lithoscope-demo": 1, "title": "t", "steps": [
        {"cube": {"generate": "mix", "params": {"inlines": 12, "xlines": 12, "samples": 64}}, "flow": [{"operator": "fx"}],
         "view": "inline", "show": "output", "act": "race", "lanes": [{"device": "cpu", "threads": 1}, {"device": "cpu", "threads": 2}]}]}))
    for words in ([], ["--no-races"]):
        cli("demo", "race.json", "-o", "race" + "".join(words), "--backend", "cpu", "--size", "1280x400", *words)
    held, plain = read("race/frame-00000.png"), read("race--no-races/frame-00000.png")
    assert held != plain
    for word in ("Left: CPU, ", "Right: CPU, ", "median of three runs"):
        assert word.encode() in held and word.encode() not in plain, word
    assert b"copies to and from the device" not in held  # processors hold no race of copies


@test
def a_figure_of_a_paper_is_reproduced():
    assert "fx-2021-jacobi" in cli("reproduce", "--list").stdout
    assert "there is no figure" in cli("reproduce", "fx-2021-jacobo", status=2).stderr
    cli("reproduce", "srmip-2007-degree", "packets-2013-fig-7", "--backend", "cpu", "--json", "r.json", "--csv", "r.csv", "--markdown", "r.md")
    figures = {f["id"]: f for f in json.load(open("r.json"))["figures"]}
    degrees = [v["got"] for v in figures["srmip-2007-degree"]["values"]]
    assert len(degrees) == 3 and degrees == sorted(degrees, reverse=True) and degrees[2] > 0, degrees
    assert "block sizes itself" in figures["packets-2013-fig-7"]["why"]
    assert len(open("r.csv").read().splitlines()) == 1 + len(degrees)
    assert f"{degrees[0]:.4g}" in open("r.md").read()
    cli("reproduce", "srmip-2007-degree", "--backend", "cpu", "--json", "r.json", status=1)


@test
def figures_have_pictures_and_read_what_each_command_printed():
    """Values by the names of stages, of several files, divided by each other; pictures where they are asked for."""
    table = json.load(open(os.path.join(os.path.dirname(__file__), "../data/reproduce.json")))
    table["figures"] = [{"id": "small", "paper": "p", "item": "i", "what": "w", "commands": [
        ["bench", "fx", "--size", "12x12x64", "--repeat", "1", "--backends", "cpu1", "--json", "b.json"],
        ["synth", "mix", "inlines=12", "xlines=12", "samples=64", "-o", "in.npy"],
        ["compare", "in.npy", "in-truth.npy", "--json"], ["compare", "in.npy", "in.npy", "--json"],
        ["render", "in.npy", "--inline", "3", "--title", "Two words", "-o", "two.png"]],
        "read": "b.json", "values": [
            {"what": "whole", "unit": "", "says": "", "path": "runs/0/stages/time FFT/median_ms", "over": "runs/0/stages/time FFT/median_ms"},
            {"what": "nothing", "unit": "", "says": "", "path": "runs/0/stages/no such stage/median_ms"},
            {"what": "noisy", "unit": "", "says": "", "path": "relative_l2", "read": "stdout-3.json"},
            {"what": "same", "unit": "", "says": "", "path": "relative_l2", "read": "stdout-4.json"}], "pictures": ["two.png"]}]
    os.makedirs("own/lithoscope")
    json.dump(table, open("own/lithoscope/reproduce.json", "w"))
    env = {**os.environ, "LITHO_DATA_DIR": os.path.abspath("own/lithoscope")}
    r = cli("reproduce", "--backend", "cpu", "--pictures", "pictures", env=env, status=2)
    assert "--pictures pictures is no folder" in r.stderr and not r.stdout, (r.stdout, r.stderr)
    os.makedirs("pictures")
    r = cli("reproduce", "--backend", "cpu", "--json", "s.json", "--markdown", "s.md", "--pictures", "pictures", env=env)
    got = {v["what"]: v.get("got") for v in json.load(open("s.json"))["figures"][0]["values"]}
    assert got["whole"] == 1 and got["nothing"] is None and got["noisy"] > 0.1 and got["same"] == 0, got
    assert "--title 'Two words'" in r.stdout, r.stdout
    assert read("pictures/small-two.png").startswith(b"\x89PNG")
    assert "![i: two](reproduce/small-two.png)" in open("s.md").read()


@test
def a_figure_that_fails_is_told_and_the_others_are_run():
    table = json.load(open(os.path.join(os.path.dirname(__file__), "../data/reproduce.json")))
    value = {"what": "samples", "unit": "", "says": "", "path": "relative_l2"}
    made = ["synth", "mix", "inlines=12", "xlines=12", "samples=64", "-o", "in.npy"]
    table["figures"] = [
        {"id": name, "paper": "p", "item": "i", "what": "w", "read": "stdout-2.json",
         "commands": [made, ["compare", "in.npy", other, "--json"]], "values": [value]}
        for name, other in (("lost", "gone.npy"), ("good", "in.npy"))]
    os.makedirs("fails/lithoscope")
    json.dump(table, open("fails/lithoscope/reproduce.json", "w"))
    r = cli("reproduce", "--backend", "cpu", "--json", "f.json", status=1, env={**os.environ, "LITHO_DATA_DIR": os.path.abspath("fails/lithoscope")})
    assert "not reproduced: lost" in r.stderr and "good" not in r.stderr and "gone.npy" in r.stdout, (r.stdout, r.stderr)
    figures = {f["id"]: f["values"][0] for f in json.load(open("f.json"))["figures"]}
    assert figures["good"]["got"] == 0 and "got" not in figures["lost"], figures


@test
def a_cancelled_reproduction_keeps_the_figures_that_are_done():
    p = subprocess.Popen([CLI, "reproduce", "fx-2021-jacobi", "srmip-2007-degree", "--backend", "cpu", "--json", "kept.json"],
                         stdout=subprocess.PIPE, text=True)
    while not os.path.exists("kept.json") and p.poll() is None:
        time.sleep(0.02)
    p.terminate()
    p.communicate(timeout=100)
    figures = {f["id"]: f for f in json.load(open("kept.json"))["figures"]}
    assert p.returncode == 3, p.returncode
    assert all("got" in v for v in figures["fx-2021-jacobi"]["values"]), figures
    assert "srmip-2007-degree" not in figures


run()
