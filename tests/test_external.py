#!/usr/bin/python3
"""Operators that are programs of the user's own: panels and what is wrong with them, the protocol and what a program can
do wrong, and the examples that come with the program. Prints TAP.

    test_external.py PATH/lithoscope-cli FOLDER PATH/agc

FOLDER holds the examples' panels, agc is the compiled one.
"""
import copy
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from cli_tap import CLI, cli, read, run, test

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP no NumPy")
    sys.exit(0)

EXAMPLES, AGC = os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
# 'python3' of the examples is the one that runs this test; panels of the person who runs it stay out.
os.environ["PATH"] = os.path.dirname(sys.executable) + ":" + os.environ["PATH"]

PANEL = {
    "lithoscope_operator": 1, "key": "own", "title": "Own", "summary": "A program of the test.",
    "command": [sys.executable, "own.py"], "halo": [0, 0, 0],
    "parameters": [
        {"key": "gain", "label": "Gain", "type": "float", "unit": "%", "default": 2, "min": 0.5, "max": 10, "help": "Factor."},
        {"key": "mode", "label": "Mode", "type": "choice", "choices": ["add", "times"], "default": "times", "help": "How."},
        {"key": "on", "label": "On", "type": "bool", "default": True, "help": "Whether."},
        {"key": "word", "label": "Word", "type": "text", "default": "a b", "help": "Free."},
        {"key": "table", "label": "Table", "type": "file", "help": "A file."},
        {"key": "n", "label": "Number", "type": "int", "default": 3, "min": 1, "max": 9, "help": "Count."},
    ],
}
# The protocol by hand: no NumPy, no helper.
BY_HAND = """
import json, struct, sys
i, o = sys.stdin.buffer, sys.stdout.buffer
while True:
    line = i.readline()
    if not line:
        break
    n = [int(w) for w in line.split()[2:]]
    about = json.loads(i.readline())
    p = about["parameters"]
    data = bytearray(i.read(4 * n[0] * n[1] * n[2]))
    ACT
    o.write(line)
    o.write(data)
    o.flush()
    MORE
"""


def own(folder, act="pass", more="pass", **members):
    """A folder with one panel and its program."""
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/own.json", "w", encoding="utf-8") as f:
        json.dump({**PANEL, **members}, f)
    with open(f"{folder}/own.py", "w", encoding="utf-8") as f:
        f.write(BY_HAND.replace("ACT", act).replace("MORE", more))
    return folder


def examples():
    if not os.path.isdir("examples"):
        shutil.copytree(EXAMPLES, "examples")
        shutil.copy(AGC, "examples/agc")
    return "examples"


def cube():
    if not os.path.exists("in.npy"):
        cli("synth", "planes", "inlines=40", "xlines=22", "samples=96", "snr=3", "-o", "in.npy")
    return np.load("in.npy")


def fails(folder, *words, status=1):
    """The sentence of a run that fails; nothing is left of it."""
    cube()
    r = cli("--operators", folder, "run", "own", *words, "-i", "in.npy", "-o", "failed.npy", "--dt", "0.004",
            "--dx", "25", "--dy", "25", "--progress", "none", status=status)
    assert not glob.glob("failed*"), glob.glob("failed*")
    lines = [line for line in r.stderr.splitlines() if not line.startswith("Try ")]
    assert len(lines) == 1, r.stderr
    return lines[0]


def median_of(data, radius, half_length):
    """The example's filter, a sample at a time."""
    out = np.empty_like(data)
    for i, j, t in np.ndindex(data.shape):
        box = data[max(i - radius, 0):i + radius + 1, max(j - radius, 0):j + radius + 1,
                   max(t - half_length, 0):t + half_length + 1]
        out[i, j, t] = np.median(box)
    return out


@test
def no_output_replaces_what_a_panel_is_made_of():
    folder = own("kept")
    cube()
    open("table.txt", "w").write("1 2\n")
    for name in ("kept/own.json", "kept/own.py", "table.txt"):
        before = read(name)
        r = cli("--operators", folder, "run", "own", "table=table.txt", "-i", "in.npy", "-o", "new.npy", "--timings", name, "--force", status=1)
        assert "is an input" in r.stderr and read(name) == before and not os.path.exists("new.npy"), (name, r.stderr)


@test
def an_example_is_an_operator_like_the_others():
    folder, data = examples(), cube()
    listed = cli("--operators", folder, "list").stdout
    for key in ("median", "deconvolution", "agc", "fx"):
        assert f"\n{key} " in "\n" + listed, listed
    op = json.loads(cli(f"--operators={folder}", "list", "median", "--json").stdout)["operators"][0]
    assert [p["key"] for p in op["params"]] == ["radius", "half_length"], op
    assert op["params"][0]["max"] == 5 and op["params"][0]["slider_max"] == 3 and op["params"][0]["unit"] == "traces", op
    cli("--operators", folder, "run", "median", "preset=wide", "radius=1", "-i", "in.npy", "-o", "median.npy")
    found, wanted = np.load("median.npy"), median_of(data, 1, 1)
    assert np.abs(found - wanted).max() < 1e-6 * np.abs(data).max()


@test
def the_option_may_stand_anywhere_and_needs_a_folder():
    assert "\nmedian " in cli("list", "--operators", examples()).stdout
    assert "no operator 'median'" in cli("list", "median", status=2).stderr
    assert "needs a folder" in cli("list", "--operators", status=2).stderr
    r = cli("--operators", "nowhere", "list", status=2)
    assert "nowhere" in r.stderr and not r.stdout, r.stderr
    # compare has an option of this name that takes no folder
    assert "table" in cli("compare", "--help").stdout


@test
def folders_of_the_user_and_of_the_installation_are_found():
    home = os.path.abspath("home")
    os.makedirs(f"{home}/lithoscope", exist_ok=True)
    own(f"{home}/lithoscope/operators", title="Of the user")
    data = os.path.abspath("site")
    own(f"{data}/operators", title="Of the site")
    other = own("given", title="Given")
    env = dict(os.environ, XDG_DATA_HOME=home, LITHO_DATA_DIR=data)
    assert "Given" in cli("--operators", other, "list", env=env).stdout
    assert "Of the user" in cli("list", env=env).stdout
    assert "Of the site" in cli("list", env=dict(env, XDG_DATA_HOME="/nowhere")).stdout
    # The texts that the program prints of itself are about the program as it comes.
    assert "Of the user" not in cli("help", "--man-operators", env=env).stdout


@test
def slabs_and_threads_give_the_bytes_of_the_whole():
    folder = examples()
    os.environ["LITHO_MEMORY"] = "8"
    cli("synth", "planes", "inlines=160", "xlines=80", "samples=200", "snr=3", "missing=10", "-o", "long.npy")
    for key, words in (("median", ["radius=2", "half_length=1"]), ("agc", ["window=90"]), ("deconvolution", [])):
        base = ["--operators", folder, "run", key, *words, "-i", "long.npy", "--force", "--backend", "cpu", "-o"]
        cli(*base, "whole.npy")
        cli(*base, "slabs.npy", "--memory", "0.01", "--threads", "2", "--timings", "t.json")
        slabs = json.loads(read("t.json"))["slabs"]
        assert slabs >= 3, (key, slabs)
        assert read("whole.npy") == read("slabs.npy"), key
    del os.environ["LITHO_MEMORY"]


@test
def agc_and_deconvolution_compute_as_they_say():
    folder, data = examples(), cube()
    cli("--operators", folder, "run", "agc", "window=40ms", "-i", "in.npy", "-o", "agc.npy", "--dt", "0.004")
    found, half = np.load("agc.npy"), 5
    squares = data.astype(float) ** 2
    for t in (0, 3, 50, 95):
        rms = np.sqrt(squares[:, :, max(t - half, 0):t + half + 1].mean(axis=2))
        assert np.abs(found[:, :, t] - data[:, :, t] / rms).max() < 1e-5
    # A trace of spikes with their multiples: a filter that sees one period takes the multiples away.
    spikes = np.zeros((2, 3, 200), "f4")
    for k in range(9):
        spikes[:, :, 10 + 20 * k] = (-0.6) ** k
    np.save("multiples.npy", spikes)
    cli("--operators", folder, "run", "deconvolution", "gap=60", "length=60", "prewhitening=0.01", "-i", "multiples.npy",
        "-o", "primaries.npy", "--dt", "0.004")
    primaries = np.load("primaries.npy")
    assert np.abs(primaries[0, 0, 10] - 1) < 0.01 and np.abs(primaries[0, 0, 30:]).max() < 0.02, primaries[0, 0]


@test
def missing_traces_stay_missing_or_are_filled():
    data = cube().copy()
    data[5, 7] = np.nan
    np.save("gap.npy", data)
    folder = own("missing", 'assert bytes(data[4*96*(5*22+7):][:4*96]) == bytes(4*96), "zeros"')
    cli("--operators", folder, "run", "own", "-i", "gap.npy", "-o", "kept.npy", "--force")
    kept = np.load("kept.npy")
    assert np.isnan(kept[5, 7]).all() and np.array_equal(np.delete(kept.reshape(-1, 96), 5 * 22 + 7, 0),
                                                       np.delete(data.reshape(-1, 96), 5 * 22 + 7, 0))
    folder = own("missing", 'assert struct.unpack("<f", data[4*96*(5*22+7):][:4])[0] != 0', missing="nan")
    cli("--operators", folder, "run", "own", "-i", "gap.npy", "-o", "kept.npy", "--force")
    assert np.isnan(np.load("kept.npy")[5, 7]).all()
    cli("--operators", examples(), "run", "median", "-i", "gap.npy", "-o", "filled.npy")
    filled = np.load("filled.npy")
    assert np.isfinite(filled).all() and np.abs(filled[5, 7] - np.nanmedian(data[4:7, 6:9], axis=(0, 1))).max() < 1e-6


@test
def the_request_tells_parameters_and_place():
    data, folder = cube(), own("request", 'json.dump(about, open("about.json", "w"))', halo=[2, "n", "all"])
    open("velocity.txt", "w").write("1")
    cli("--operators", folder, "run", "own", "gain=3.5%", "mode=add", "on=off", "word=x  y", "table=velocity.txt", "n=4",
        "-i", "in.npy", "-o", "same.npy", "--threads", "2", "--dt", "0.002", "--dx", "20", "--dy", "30")
    about = json.loads(read("request/about.json"))
    assert about["parameters"] == {"gain": 3.5, "mode": "add", "on": False, "word": "x  y",
                                   "table": os.path.abspath("velocity.txt"), "n": 4}, about
    assert about["cube"] == {"first": [0, 0, 0], "shape": [40, 22, 96]} == about["survey"] == about["wanted"], about
    assert (about["sample_interval"], about["sample_unit"], about["threads"]) == (0.002, "s", 2), about
    assert (about["inline_spacing"], about["xline_spacing"], about["first_sample"]) == (20, 30, 0), about
    assert np.array_equal(np.load("same.npy"), data)


@test
def find_sweep_report_and_flows_take_it():
    folder = ["--operators", examples()]
    cube()
    cli("synth", "planes", "inlines=16", "xlines=16", "samples=64", "snr=0", "-o", "noisy.npy")
    found = json.loads(cli(*folder, "find", "median", "-i", "noisy.npy", "--json").stdout)
    assert found["found"]["radius"] >= 1 and found["gain_db"] >= 0, found
    cli(*folder, "sweep", "median", "radius=0,1,2", "-i", "noisy.npy", "-o", "sweep.png")
    cli(*folder, "run", "median", "+", "agc", "window=100", "+", "fx", "window=8", "-i", "noisy.npy", "-o", "flow.npy",
        "--save-recipe", "flow.json")
    assert [s["operator"] for s in json.loads(read("flow.json"))["flow"]] == ["median", "agc", "fx"]
    cli(*folder, "run", "flow.json", "-i", "noisy.npy", "-o", "again.npy")
    assert read("flow.npy") == read("again.npy")
    assert "names an operator 'median'" in cli("run", "flow.json", "-i", "noisy.npy", "-o", "x.npy", status=2).stderr


@test
def hidden_traces_judge_what_fills_them():
    cli("--operators", examples(), "report", "median", "-i", "noisy.npy", "-o", "median-page.png")
    r = cli("--operators", examples(), "run", "median", "-i", "noisy.npy", "-o", "median2.npy", "--hide", "10", "--report", "hidden.json")
    report = json.loads(read("hidden.json"))
    assert report["hidden_traces"] >= 20 and report["hidden_snr_db"] > 3 and 0 < report["hidden_off_db"] < 3, (report, r.stderr)


@test
def amplitudes_of_its_own_are_not_judged():
    r = cli("--operators", examples(), "report", "agc", "-i", "noisy.npy", "-o", "agc.png", status=1)
    assert "agc gives amplitudes of its own" in r.stderr, r.stderr


@test
def a_recipe_brings_no_command():
    cube()
    recipe = {"lithoscope": 1, "flow": [{"operator": "own", "command": ["touch", "touched"], "params": {}}]}
    json.dump(recipe, open("bad.json", "w"))
    r = cli("--operators", own("plain"), "run", "bad.json", "-i", "in.npy", "-o", "x.npy", status=2)
    assert "command" in r.stderr and not os.path.exists("touched"), r.stderr


# --- panels ---------------------------------------------------------------------------------------

def changed(path, value):
    """The panel with a member of it changed (or, for ..., taken out)."""
    panel = copy.deepcopy(PANEL)
    at = panel
    for key in path[:-1]:
        at = at[key]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return panel


WRONG = [
    (["lithoscope_operator"], 2, "lithoscope_operator"), (["lithoscope_operator"], ..., "lithoscope_operator is missing"),
    (["key"], "Own", "key is 'Own'"), (["key"], "preset", "key"), (["key"], "", "key"), (["key"], "a" * 33, "key"), (["key"], "fx", "built-in"),
    (["key"], 3, "key must be a text"), (["title"], ..., "title is missing"), (["title"], "two\nlines", "title must be one line"),
    (["title"], "x" * 61, "title"), (["summary"], ..., "summary is missing"), (["summary"], "x" * 801, "summary"),
    (["command"], ..., "command is missing"), (["command"], [], "command"), (["command"], "rm -rf x", "command"),
    (["command"], [""], "command"), (["command"], ["x", 3], "command"), (["command"], ["x"] * 65, "command"),
    (["command"], ["x" * 4097], "command"), (["halo"], ..., "halo is missing"), (["halo"], [1, 2], "halo"), (["halo"], [0, 0, -1], "halo"),
    (["halo"], [0, 0, 0.5], "halo"), (["halo"], [0, 0, "nix"], "halo"), (["halo"], [0, 0, "-1*n"], "halo"), (["halo"], [0, 0, "x*n"], "halo"),
    (["halo"], [0, 0, "mode"], "halo"), (["halo"], [0, 0, 1e9], "halo"), (["missing"], "some", "missing must be zero or nan"),
    (["amplitudes"], "big", "amplitudes must be input or own"), (["fills"], 1, "fills must be true or false"), (["one_cube"], "yes", "one_cube"), (["memory"], -1, "memory"), (["memory"], "much", "memory"),
    (["extra"], 1, "extra is not known"), (["parameters"], ..., "parameters is missing"), (["parameters"], {}, "parameters"),
    (["parameters"], [PANEL["parameters"][0]] * 2, "parameters[1].key is 'gain', as that of another"),
    (["parameters"], [{**PANEL["parameters"][0], "key": f"k{n}"} for n in range(33)], "parameters must be a list of 0 to 32"),
    (["parameters", 0], 1, "parameters[0] must be an object"), (["parameters", 0, "key"], "a b", "parameters[0].key"),
    (["parameters", 0, "label"], ..., "parameters[0].label is missing"), (["parameters", 0, "type"], "double", "parameters[0].type"),
    (["parameters", 0, "type"], ..., "parameters[0].type is missing"), (["parameters", 0, "unit"], "x" * 17, "parameters[0].unit"),
    (["parameters", 3, "unit"], "m", "parameters[3].unit belongs to float and int"),
    (["parameters", 0, "min"], ..., "parameters[0].min is missing"), (["parameters", 0, "min"], 11, "parameters[0].min must be less"),
    (["parameters", 0, "max"], "10", "parameters[0].max must be a number"), (["parameters", 0, "default"], 11, "parameters[0].default"),
    (["parameters", 0, "slider"], [0, 5], "parameters[0].slider"), (["parameters", 0, "slider"], [1], "parameters[0].slider"),
    (["parameters", 0, "step"], -1, "parameters[0].step"), (["parameters", 5, "log"], 3, "parameters[5].log"),
    (["parameters", 0, "help"], ..., "parameters[0].help is missing"), (["parameters", 0, "find"], [0, 5], "parameters[0].find"),
    (["parameters", 3, "find"], True, "parameters[3].find"), (["parameters", 0, "advanced"], 0, "parameters[0].advanced"),
    (["parameters", 0, "choices"], ["a", "b"], "parameters[0].choices is not known"),
    (["parameters", 1, "choices"], ["a"], "parameters[1].choices"), (["parameters", 1, "choices"], ["a", "a b"], "parameters[1].choices"),
    (["parameters", 1, "choices"], ["add", "add"], "parameters[1].choices has 'add' twice"),
    (["parameters", 1, "default"], "minus", "parameters[1].default must be one of"), (["parameters", 2, "default"], 1, "parameters[2].default"),
    (["parameters", 2, "default"], ..., "parameters[2].default is missing"), (["parameters", 3, "default"], "x" * 512, "parameters[3].default"),
    (["parameters", 5, "default"], 2.5, "parameters[5].default must be a whole"), (["parameters", 5, "max"], 1e10, "parameters[5].max"),
    (["presets"], [{"name": "a b", "settings": "n=1", "help": "x"}], "presets[0].name"),
    (["presets"], [{"name": "a", "settings": "n=99", "help": "x"}], "presets[0].settings cannot be taken: n is 99"),
    (["presets"], [{"name": "a", "settings": "n=1"}], "presets[0].help is missing"), (["presets"], 3, "presets"),
]


@test
def each_mistake_in_a_panel_is_a_sentence_and_the_program_works():
    os.makedirs("wrong", exist_ok=True)
    for path, value, sentence in WRONG:
        json.dump(changed(path, value), open("wrong/own.json", "w"))
        r = cli("--operators", "wrong", "list")
        notes = [line for line in r.stderr.splitlines() if "wrong/own.json" in line]
        assert len(notes) == 1 and sentence in notes[0], (path, value, r.stderr)
        assert "\nown " not in r.stdout and "\npatch " in r.stdout, (path, value)
    for text in ("", "{", "[]", "nonsense", "{" * 100, '{"lithoscope_operator": 1} x', "\0", '{"a":' * 40 + "1" + "}" * 40):
        open("wrong/own.json", "w").write(text)
        r = cli("--operators", "wrong", "list")
        assert r.stderr.count("wrong/own.json") == 1 and len(r.stderr.splitlines()) == 1, (text, r.stderr)
    # Recipes and reports may lie in the folder, too.
    for text in ('{"lithoscope": 1, "flow": []}', '{"expected_snr_db": 3}', "{}"):
        open("wrong/own.json", "w").write(text)
        assert not cli("--operators", "wrong", "list").stderr, text
    os.remove("wrong/own.json")
    os.mkfifo("wrong/own.json")
    assert "wrong/own.json" in cli("--operators", "wrong", "list", timeout=20).stderr
    json.dump(PANEL, open("wrong/two.json", "w"))
    json.dump(PANEL, open("wrong/two-again.json", "w"))
    r = cli("--operators", "wrong", "list")
    assert "key is 'own', as that of" in r.stderr and "\nown " in r.stdout, r.stderr
    # A panel that is right but for a mistake of ours would make all of the above pass.
    assert not cli("--operators", own("right"), "list").stderr


# --- programs that go wrong -----------------------------------------------------------------------

@test
def a_program_that_is_not_there():
    line = fails(own("absent", command=["no-such-program-of-mine"]))
    assert "cannot be started" in line and "no-such-program-of-mine" in line, line
    line = fails(own("absent", command=["./not-made-yet"]))
    assert "cannot be started" in line, line
    os.chmod("absent/own.py", 0o644)
    assert "ermission denied" in fails(own("absent", command=["./own.py"]))


@test
def a_program_that_dies_tells_its_last_words():
    line = fails(own("dies", 'raise ValueError("the third lens is dirty")'))
    assert "own: the program" in line and "own.py' ended before its answer with status 1: ValueError: the third lens is dirty" in line, line
    line = fails(own("dies", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"))
    assert "by signal 11" in line, line
    line = fails(own("dies", 'sys.stderr.write("x" * 100000 + "\\x1b[31m\\n\\xff end"); sys.exit(7)'))
    assert "status 7" in line and len(line) < 600 and "\x1b" not in line, line
    # At the start, before it has read a byte of a request that no pipe holds.
    np.save("large.npy", np.zeros((64, 128, 256), "f4"))
    open("dies/own.py", "w").write("raise SystemExit('no licence')")
    r = cli("--operators", "dies", "run", "own", "-i", "large.npy", "-o", "failed.npy", status=1)
    assert "status 1: no licence" in r.stderr and not os.path.exists("failed.npy"), r.stderr


@test
def a_program_that_answers_wrong():
    line = fails(own("short", "data = data[:-8]", "break"))
    assert "ended after 858 of 880 traces with status 0" in line, line
    line = fails(own("much", "data += bytes(8)"))
    assert "wrote more than its answer's 337920 bytes" in line, line
    line = fails(own("line", 'line = b"LITHO-CUBE 1 1 2 3\\n"'))
    assert "'LITHO-CUBE 1 1 2 3'; the line 'LITHO-CUBE 1 40 22 96' is needed" in line, line
    line = fails(own("line", 'print("hello from a library", flush=True)'))
    assert "'hello from a library'" in line, line
    line = fails(own("line", 'o.write(bytes(10000)); o.flush()'))
    assert "began its answer with '....." in line, line
    line = fails(own("nan", 'data[4*(96*(22*3+5)+7):4*(96*(22*3+5)+8)] = struct.pack("<f", float("nan"))'))
    assert "gave NaN at inline 4, crossline 6, 0.028 s" in line, line
    line = fails(own("nan", 'data[:4] = struct.pack("<f", float("inf"))'))
    assert "gave an infinite number at inline 1, crossline 1, 0 s" in line, line
    line = fails(own("refuses", 'o.write(b"LITHO-ERROR the survey has no salt\\n"); o.flush()'))
    assert "refuses: the survey has no salt" in line, line
    line = fails(own("closes", "import os; os.close(1); import time; time.sleep(60)"))
    assert "closed its standard output before its answer" in line, line


@test
def serve_turns_exceptions_and_wrong_shapes_into_sentences():
    folder = own("served", parameters=[])
    program = "from lithoscope.external import serve\ndef f(cube): ACT\nserve(f)\n"
    open("served/own.py", "w").write(program.replace("ACT", "return cube[1:]"))
    assert "refuses: ValueError: the result has the shape (39, 22, 96); (40, 22, 96) is needed" in fails(folder)
    open("served/own.py", "w").write(program.replace("ACT", "raise KeyError('salt')"))
    assert "refuses: KeyError: 'salt'" in fails(folder)
    open("served/own.py", "w").write(program.replace("ACT", "print('a word'); return 2.0 * cube"))
    cli("--operators", folder, "run", "own", "-i", "in.npy", "-o", "twice.npy")
    assert np.array_equal(np.load("twice.npy"), 2 * cube())


@test
def a_program_of_one_cube_reads_to_the_end():
    data = cube()
    folder = own("one", one_cube=True)
    open("one/own.py", "w").write("import sys\nall = sys.stdin.buffer.read()\nsizes, about, samples = all.split(b'\\n', 2)\n"
                                  "sys.stdout.buffer.write(sizes + b'\\n' + samples)\n")
    cli("--operators", folder, "run", "own", "-i", "in.npy", "-o", "one.npy")
    assert np.array_equal(np.load("one.npy"), data)
    open("one/own.py", "a").write("sys.stdout.flush()\nraise SystemExit('too late')\n")
    assert "status 1: too late" in fails(folder)
    own("one", one_cube=True, command=["sh", "-c", "read line; echo \"$line\"; read about; cat"])
    cli("--operators", folder, "run", "own", "-i", "in.npy", "-o", "one.npy", "--force")
    assert np.array_equal(np.load("one.npy"), data)


def has_ended(pid):
    """A process that nobody waits for any more stays as a zombie where no init collects it."""
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


@test
def an_endless_program_is_ended_with_all_it_has_started():
    cube()
    for name, act in (("computes", "while True: pass"), ("sleeps", "import time; time.sleep(1000)")):
        folder = own(name, "import subprocess, os; c = subprocess.Popen(['sleep', '1000']); open('pids', 'w').write(f'{os.getpid()} {c.pid} '); " + act
                     if name == "sleeps" else "import os; open('pids', 'w').write(f'{os.getpid()} ')\n    " + act)
        if os.path.exists(f"{name}/pids"):
            os.remove(f"{name}/pids")
        p = subprocess.Popen([CLI, "--operators", folder, "run", "own", "-i", "in.npy", "-o", "never.npy", "--progress", "none"],
                             stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while not (os.path.exists(f"{name}/pids") and read(f"{name}/pids").endswith(b" ")):
            assert time.monotonic() < until and p.poll() is None, p.stderr.read()
            time.sleep(0.01)
        p.send_signal(signal.SIGINT)
        said = p.communicate(timeout=30)[1]
        assert p.returncode == 3 and "cancelled" in said, (p.returncode, said)
        assert not glob.glob("never*"), glob.glob("never*")
        for pid in read(f"{name}/pids").split():
            until = time.monotonic() + 10
            while not has_ended(int(pid)):
                assert time.monotonic() < until, f"{name}: process {pid} is still there"
                time.sleep(0.01)


@test
def a_program_that_never_reads_can_be_cancelled():
    np.save("large.npy", np.zeros((64, 128, 256), "f4"))
    folder = own("deaf")
    open("deaf/own.py", "w").write("import time\nopen('begun', 'w').write('x')\ntime.sleep(1000)\n")
    p = subprocess.Popen([CLI, "--operators", folder, "run", "own", "-i", "large.npy", "-o", "never.npy", "--progress", "none"],
                         stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not os.path.exists("deaf/begun"):
        assert time.monotonic() < until and p.poll() is None, p.stderr.read()
        time.sleep(0.01)
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=30)
    assert p.returncode == 3 and not glob.glob("never*")


@test
def a_program_that_tells_without_end_can_be_cancelled():
    cube()
    folder = own("noisy", command=["sh", "-c", "echo > begun; exec cat /dev/zero >&2"])
    p = subprocess.Popen([CLI, "--operators", folder, "run", "own", "-i", "in.npy", "-o", "never.npy", "--progress", "none"],
                         stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not os.path.exists("noisy/begun"):
        assert time.monotonic() < until and p.poll() is None, p.stderr.read()
        time.sleep(0.01)
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=30)
    assert p.returncode == 3 and not glob.glob("never*")


# A whole answer is one, however soon the program ends behind it.
@test
def a_program_may_end_behind_its_answer():
    data = cube()
    for more in ("break", "o.close(); import time; time.sleep(0.3); break"):
        cli("--operators", own("ends", more=more), "run", "own", "-i", "in.npy", "-o", "ends.npy", "--force")
        assert np.array_equal(np.load("ends.npy"), data)


@test
def the_example_of_the_page_works_as_it_is_written():
    source = os.environ.get("LITHO_SOURCE_ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    page = open(os.path.join(source, "docs/external.md"), encoding="utf-8").read()
    os.makedirs("page", exist_ok=True)
    for suffix, language in (("py", "python"), ("json", "json")):
        text = page.split(f"```{language}\n")[1].split("```")[0]
        open(f"page/smooth.{suffix}", "w", encoding="utf-8").write(text)
    data = cube()
    cli("--operators", "page", "run", "smooth", "weight=0.5", "-i", "in.npy", "-o", "smooth.npy")
    wanted = data[5] + 0.25 * (data[4] + data[6])
    assert np.abs(np.load("smooth.npy")[5] - wanted / 1.5).max() < 1e-5


# A network made by hand: three taps of 1/4, 1/2, 1/4 along every axis. Needs onnx and onnxruntime.
@test
def a_neural_network_is_an_operator():
    try:
        import onnx
        import onnxruntime  # noqa: F401
    except ImportError:
        print("# SKIP no onnx and onnxruntime")
        return
    from onnx import TensorProto, helper
    taps = np.array([0.25, 0.5, 0.25], np.float32)
    weights = (taps[:, None, None] * taps[:, None] * taps)[None, None]
    free = [1, 1, "i", "x", "t"]
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=[3, 3, 3], pads=[1] * 6)], "smooth",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, free)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, free)],
        [helper.make_tensor("w", TensorProto.FLOAT, weights.shape, weights.ravel())])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "smooth.onnx")
    data = cube()
    network = ["--operators", examples(), "run", "network", "model=smooth.onnx", "reach_lines=1", "reach_samples=1"]
    cli(*network, "-i", "in.npy", "-o", "network.npy")
    padded, want = np.pad(data.astype(float), 1), 0
    n = data.shape
    for i in range(3):
        for x in range(3):
            for t in range(3):
                want = want + float(taps[i] * taps[x] * taps[t]) * padded[i:i + n[0], x:x + n[1], t:t + n[2]]
    got = np.load("network.npy")
    assert np.abs(got - want).max() < 1e-5 * np.abs(want).max(), np.abs(got - want).max()
    cli(*network, "removes=on", "amplitude=10", "-i", "in.npy", "-o", "rest.npy")
    assert np.abs(np.load("rest.npy") - (data - want)).max() < 1e-5 * np.abs(data).max()
    r = cli("--operators", examples(), "run", "network", "-i", "in.npy", "-o", "none.npy", status=1)
    assert "model is empty" in r.stderr, r.stderr


@test
def an_interrupted_run_goes_on_with_the_same_program_only():
    """Slabs of the program as it was are not put beside those of the program as it is now."""
    act = "import os; m = globals().get('m', 0) + 1; m > 2 and os.path.exists('stop') and os._exit(1)"
    folder = own("going-on", act)
    cube()
    words = ["--operators", folder, "run", "own", "-i", "in.npy", "-o", "going.npy", "--memory", "0.001", "--journal", "--dt", "0.004"]
    for changed in (False, True):
        open(f"{folder}/stop", "w").close()
        r = cli(*words, "--force", status=1)
        assert "inlines are kept" in r.stderr, r.stderr
        os.remove(f"{folder}/stop")
        if changed:
            kept = read("going.npy.journal")
            with open(f"{folder}/own.py", "a", encoding="utf-8") as f:
                f.write("# mended\n")
            r = cli(*words, "--force", status=1)
            assert "another panel or program" in r.stderr and "--restart" in r.stderr, r.stderr
            assert read("going.npy.journal") == kept
        r = cli(*words, "--force", *(["--restart"] if changed else []))
        assert ("were kept" in r.stderr) != changed, r.stderr
        assert not os.path.exists("going.npy.journal") and not os.path.exists("going.npy.part")


@test
def the_package_has_it_as_a_function():
    source = os.environ.get("LITHO_SOURCE_ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    home = os.path.abspath("python-home")
    shutil.copytree(examples(), f"{home}/lithoscope/operators", dirs_exist_ok=True)
    env = dict(os.environ, PYTHONPATH=os.path.join(source, "data/python"), LITHOSCOPE_CLI=CLI, XDG_DATA_HOME=home)
    program = ("import lithoscope, numpy as np; a = np.load('in.npy'); "
               "print(np.abs(lithoscope.median(a, radius=0, dt=0.004, dx=25, dy=25) - a).max())")
    done = subprocess.run([sys.executable, "-B", "-c", program], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and float(done.stdout) == 0, done.stderr


sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
os.environ["XDG_DATA_HOME"] = "/nowhere"
run()
