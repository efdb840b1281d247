#!/usr/bin/python3
"""The command line as a script would use it: JSON on stdout and nothing else, files renamed into place, streaming
under a memory limit. Mistakes have a file of their own, test_cli_mistakes.py. Prints TAP.

    test_cli.py PATH/lithoscope-cli
"""
import json
import os
import re
import shlex
import signal
import struct
import subprocess
import time
from pathlib import Path

import numpy as np

from cli_tap import CLI, cli, read, run, small_cube, test


@test
def json_is_one_object_and_nothing_else():
    listed = json.loads(cli("list", "--json").stdout)
    fx = next(o for o in listed["operators"] if o["key"] == "fx")
    rows = {p["key"]: p for p in fx["params"]}
    assert rows["half_width"]["default"] == 3 and rows["window"]["default"] == 20 and rows["prewhitening"]["unit"] == "%"
    assert all(p["doc"] for p in rows.values())
    cli("synth", "mix", "-o", "mix.npy")
    info = json.loads(cli("info", "mix.npy", "--json").stdout)
    assert json.dumps(info)
    d = json.loads(cli("compare", "mix-truth.npy", "mix.npy", "--json").stdout)
    assert abs(d["snr_db"]) < 0.1 and d["samples"] == 37 * 37 * 250


@test
def npy_has_the_shape_and_the_missing_traces():
    cli("synth", "planes", "inlines=12", "xlines=9", "samples=64", "missing=20", "-o", "p.npy")
    a = np.load("p.npy")
    assert a.shape == (12, 9, 64) and a.dtype == np.float32
    dead = np.isnan(a).all(axis=2)
    assert 8 < dead.sum() < 40 and np.isfinite(a[~dead]).all()


@test
def fx_denoises_and_a_recipe_repeats_it():
    """4 dB is far below the measured 12; the recipe must give the same bytes."""
    if not os.path.exists("mix.npy"):
        cli("synth", "mix", "-o", "mix.npy")
    cli("run", "fx", "half_width=2", "outband=mute", "-i", "mix.npy", "-o", "f.npy", "--backend", "cpu", "--timings", "t.json")
    d = json.loads(cli("compare", "mix-truth.npy", "f.npy", "--json").stdout)
    assert d["snr_db"] > 9, d
    stages = {s["name"] for s in json.load(open("t.json"))["stages"]}
    assert "read" in stages and "write" in stages and len(stages) >= 4, stages
    json.dump({"lithoscope": 1, "flow": [{"operator": "fx", "params": {"half_width": 2, "outband": "mute"}}]}, open("r.json", "w"))
    cli("run", "r.json", "-i", "mix.npy", "-o", "g.npy", "--backend", "cpu")
    assert open("f.npy", "rb").read() == open("g.npy", "rb").read()


@test
def files_as_options_and_as_words_are_the_same():
    """-i IN -o OUT, IN OUT and mixtures of them give the same bytes in every command that takes files."""
    cli("synth", "planes", "inlines=10", "xlines=9", "samples=64", "-o", "io.sgy", "--no-truth")
    cli("synth", "planes", "inlines=10", "xlines=9", "io-word.sgy", "samples=64", "--no-truth")
    ways = [["-i", "io.sgy", "-o"], ["io.sgy"], ["io.sgy", "-o"], ["-i", "io.sgy"]]
    for command, name in [(["convert"], "c.npy"), (["run", "fx", "half_width=2", "--backend", "cpu"], "r.npy"), (["render", "--cpu"], "p.png")]:
        made = []
        for k, way in enumerate(ways):
            cli(*command, *way, f"{k}-{name}")
            made.append(open(f"{k}-{name}", "rb").read())
        assert all(m == made[0] for m in made), command
    assert open("io.sgy", "rb").read() == open("io-word.sgy", "rb").read()
    assert cli("info", "-i", "io.sgy").stdout == cli("info", "io.sgy").stdout
    for args, word in [(["convert", "io.sgy"], "-o"), (["render", "a", "b", "c"], "'b'"), (["run", "twsm", "in.sgy", "x.sgy"], "'in.sgy'"),
                       (["run", "fx", "window", "io.sgy", "x.sgy"], "window"), (["synth", "planes"], "-o")]:
        r = cli(*args, status=2)
        assert word in r.stderr, (args, r.stderr)
    assert not os.path.exists("x.sgy")


@test
def help_is_there_for_every_command():
    for line in cli("--help").stdout.splitlines():
        if re.match(r"  \w", line):
            name = line.split()[0]
            text = cli(name, "--help").stdout
            assert f"lithoscope-cli {name} [OPTION" in text and "?]" not in text, text
            assert cli("help", name).stdout == text
    assert re.match(r"lithoscope-cli \d", cli("--version").stdout)


@test
def a_preset_counts_before_the_other_settings():
    cli("synth", "planes", "inlines=8", "xlines=8", "samples=64", "-o", "preset.npy")
    recipes = []
    for k, words in enumerate((["threshold=2.5", "preset=plane"], ["preset=plane", "threshold=2.5"])):
        cli("run", "patch", *words, "-i", "preset.npy", "-o", f"preset{k}.npy", "--save-recipe", f"preset{k}.json")
        recipes.append(json.load(open(f"preset{k}.json"))["flow"][0]["params"])
    assert recipes[0] == recipes[1] and recipes[0]["threshold"] == 2.5 and recipes[0]["window"] == 24, recipes


@test
def dry_run_tells_the_plan_and_writes_nothing():
    cli("synth", "planes", "inlines=40", "xlines=30", "samples=100", "-o", "d.sgy")
    r = cli("run", "fx", "-i", "d.sgy", "-o", "none.sgy", "--dry-run")
    assert "40 x 30 x 100" in r.stdout
    needs, of = re.search(r"needs ([\d.]+) of ([\d.]+) free GiB on the host", r.stdout).groups()
    assert 0 < float(needs) < float(of)
    assert not os.path.exists("none.sgy")


@test
def dry_run_tells_the_time_after_a_first_run():
    env = dict(os.environ, XDG_CACHE_HOME=os.path.abspath("rates"))
    words = ["run", "fx", "window=10", "half_width=1", "-i", "rates.npy", "-o", "rated.npy", "--backend", "cpu"]
    cli("synth", "planes", "inlines=64", "xlines=64", "samples=256", "-o", "rates.npy", "--no-truth")
    assert "time      not known" in cli(*words, "--dry-run", env=env).stdout
    cli(*words, env=env)
    told = cli(*words, "--dry-run", env=env).stdout
    assert re.search(r"^time      about [\d.]+ s: [\d.e-]+ s of computing, ", told, re.M), told
    assert "roughly (a run with other parameters)" in cli(*words, "stride=3", "--dry-run", env=env).stdout
    rates = json.load(open("rates/lithoscope/rates.json"))["computing"]
    (name, entry), = rates.items()
    (samples, seconds), = entry["points"]
    assert name.startswith("cpu ") and " fx / " in name and samples == 2 * 64 * 64 * 256 and seconds > 0, rates  # in and out


@test
def streaming_gives_the_same_samples_in_bounded_memory():
    """A survey of 230 MB (input and output 460 MB) in 520 MB of address space, of which libraries and thread stacks
    take about 300, gives the same bytes as the run in one piece."""
    cli("synth", "planes", "inlines=300", "xlines=64", "samples=3000", "events=3", "-o", "big.sgy", "--no-truth")
    args = ["run", "fx", "erratic=0", "fill_passes=0", "-i", "big.sgy", "time_window=400", "fft_length=512", "fmax=40", "half_width=1", "--threads", "2", "--progress", "none"]
    env = dict(os.environ, MALLOC_ARENA_MAX="2", OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1", LITHO_MODULE_DIR="/nonexistent")
    plan = cli(*args, "--dry-run", "--memory", "0.2", env=env).stdout
    slabs = int(plan.split("slabs")[1].split()[0])
    assert slabs >= 3, plan
    cli(*args, "--backend", "cpu", "--memory", "0.2", "-o", "slabs.sgy", env=env, memory_limit=520 << 20)
    cli(*args, "--backend", "cpu", "--memory", "20", "-o", "whole.sgy", env=env)
    a, b = open("slabs.sgy", "rb").read(), open("whole.sgy", "rb").read()
    assert len(a) == len(b) > 200e6
    assert a == b
    for f in ("big.sgy", "slabs.sgy", "whole.sgy"):
        os.remove(f)


@test
def su_tells_depth_and_time():
    """Depths in a file of SU are depths when it is opened again; times made of them are times."""
    cli("synth", "planes", "inlines=14", "xlines=13", "samples=60", "-o", "su.sgy", "--no-truth", "--force")
    cli("run", "migrate", "velocity=2000", "nz=60", "su.sgy", "depth.su", "--force")
    assert "\n  depth " in cli("info", "depth.su").stdout
    cli("run", "migrate", "mode=demigrate", "velocity=2000", "dt=0.004", "nt=60", "depth.su", "time.su", "--force")
    assert "\n  time " in cli("info", "time.su").stdout


@test
def an_axis_that_the_user_has_stated_is_written():
    cli("synth", "planes", "inlines=4", "xlines=5", "samples=30", "-o", "axis.sgy", "--no-truth")
    def domain(path):
        return json.loads(cli("info", "--json", path).stdout)["domain"]
    cli("convert", "axis.sgy", "in-depth.sgy", "--depth")
    cli("convert", "in-depth.sgy", "in-time.sgy", "--time")
    cli("convert", "in-depth.sgy", "still-depth.sgy")
    assert [domain(f"{name}.sgy") for name in ("axis", "in-depth", "in-time", "still-depth")] == ["time", "depth", "time", "depth"]


@test
def pipes_carry_surveys():
    """SEG-Y, SU and NumPy through standard input and output give the bytes that files give, and leave no temporary file."""
    os.makedirs("tmp", exist_ok=True)
    env = dict(os.environ, TMPDIR=os.path.abspath("tmp"))
    cli("synth", "planes", "inlines=14", "xlines=13", "samples=60", "-o", "p.sgy", "--no-truth", "--force")
    for kind, word in [("sgy", "-"), ("npy", "-"), ("npy", "-.npy"), ("su", "-.su"), ("sgy", "-.sgy")]:
        cli("convert", "p.sgy", f"p-in.{kind}", "--force")
        cli("run", "fx", "half_width=1", f"p-in.{kind}", f"p-want.{kind}", "--force")
        with open(f"p-in.{kind}", "rb") as source:
            r = subprocess.run([CLI, "run", "fx", "half_width=1", "-i", word, "-o", f"-.{kind}"], stdin=source, capture_output=True,
                               env=env)
        assert r.returncode == 0, r.stderr
        want = read(f"p-want.{kind}")
        assert len(r.stdout) == len(want) and r.stdout[3200:] == want[3200:], (kind, word)  # the text header has the names
        with open(f"p-in.{kind}", "rb") as source:
            r = cli("convert", "-i", word, "-o", "p-out.npy", "--force", stdin=source, env=env)
        cli("convert", f"p-in.{kind}", "p-same.npy", "--force")
        assert read("p-out.npy") == read("p-same.npy"), kind
    assert os.listdir("tmp") == []
    r = subprocess.run([CLI, "convert", "-", "-"], stdin=subprocess.DEVNULL, capture_output=True, env=env)
    assert r.returncode == 1 and r.stdout == b"" and r.stderr == b"lithoscope-cli: standard input is empty\n", r
    with open("p.sgy", "rb") as source:
        told = cli("info", "-", stdin=source, env=env).stdout
    assert told.startswith("file         standard input\n"), told
    for words, begin in ([], "standard input: "), (["--json"], '{\n  "files" : [\n    {\n      "file" : "standard input"'):
        with open("p.sgy", "rb") as source:  # beside others, too
            told = cli("info", "-", "p-in.sgy", *words, stdin=source, env=env).stdout
        assert told.startswith(begin), told
    cli("convert", "-i", "-", "-i", "-", "-o", "p-out.npy", status=2, stdin=subprocess.DEVNULL, env=env)
    p = subprocess.Popen([CLI, "convert", "-", "p-never.npy"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    p.stdin.write(b"x" * 70000)
    p.stdin.flush()
    while not os.listdir("tmp"):
        time.sleep(0.01)
    p.send_signal(signal.SIGINT)
    assert p.wait(100) == 3 and os.listdir("tmp") == [] and not os.path.exists("p-never.npy")
    p.stdin.close()
    p.stderr.close()


@test
def a_shot_without_trace_headers_is_migrated():
    """NumPy's files have none: the words for the source are enough."""
    cli("synth", "planes", "inlines=8", "xlines=24", "samples=100", "-o", "one-area.npy", "--no-truth")
    for geometry in ("record", "line"):
        cli("run", "migrate", "mode=shot", f"geometry={geometry}", "source_x=300", "velocity=2500", "nz=20", "fmax=20", "degree=5", "one-area.npy",
            "one-image.npy", "--backend", "cpu", "--force")
        assert any(read("one-image.npy")[128:])
    assert "this input has none" in cli("run", "migrate", "mode=shot", "geometry=headers", "nx=9", "ny=9", "velocity=2500", "one-area.npy",
                                     "one-image.npy", "--backend", "cpu", "--force", status=1).stderr


@test
def an_image_of_shots_in_file_order_has_a_lattice_of_its_own():
    """Its cells may be as wide as the bins that are assumed for traces in file order, and as many as these traces."""
    cli("synth", "models", "model=dipping", "record=shot", "inlines=1", "xlines=21", "samples=100", "depths=30", "depth=250", "source_x=100",
        "source_y=0", "shots=3", "shot_step=100", "--velocity", "-o", "shots.sgy", "--no-truth")
    words = ("run", "migrate", "mode=shot", "geometry=headers", "ny=1", "dx=25", "dy=25", "velocity=shots-velocity.sgy", "nz=20", "fmax=20",
             "degree=5", "-i", "shots.sgy", "--file-order", "-o", "of-shots.sgy", "--backend", "cpu", "--force")
    for nx in (30, 63):
        assert "source_x" not in cli(*words, f"nx={nx}").stderr
        told = json.loads(cli("info", "--json", "of-shots.sgy").stdout)
        assert told["shape"] == [1, nx, 20] and told["coordinates"]["xline_spacing"] == 25 and told["traces"]["offsets"] == 1, told
    r = cli(*words, "nx=30", "origin_x=100000", status=1)
    assert "does not lie over the survey: by its coordinates" in r.stderr, r.stderr


@test
def a_source_that_the_words_place_competes_with_that_of_the_headers():
    """A note says which of them is used, where the headers name any."""
    words = ("run", "migrate", "mode=shot", "geometry=line", "source_x=50", "velocity=2000", "nz=20", "fmax=20", "degree=5", "--backend", "cpu")
    note = "the source is placed by source_x = 50 m, counted from the first trace; the sources of the trace headers, 100 and 0 m"
    assert note in cli(*words, "shots.sgy", "of-line.npy").stderr
    cli("convert", "shots.sgy", "bare.npy")
    assert "source_x" not in cli(*words, "bare.npy", "of-bare.npy").stderr
    for name in ("shots.sgy", "bare.npy", "of-line.npy", "of-bare.npy"):
        os.remove(name)


@test
def volumes_beside_the_result_are_asked_for_by_name():
    assert "noise level" in cli("list", "patch").stdout
    cli("run", "patch", "n.npy", "v.npy", "--volume", "noise level=level.npy", "--backend", "cpu")
    cli("run", "patch", "n.npy", "--volume", "noise level=alone.npy", "--backend", "cpu")
    level = np.load("level.npy")
    assert np.array_equal(level, np.load("alone.npy")) and level.min() > 0 and level.shape == np.load("v.npy").shape
    for words, sentence in (("dip=x.npy", "no volume 'dip'; there are: noise level"), ("noise level", "NAME=FILE is needed"),
                            ("noise level=", "NAME=FILE is needed")):
        assert sentence in cli("run", "patch", "n.npy", "--volume", words, status=2).stderr
    assert "it has none" in cli("run", "fx", "n.npy", "--volume", "dip=x.npy", status=2).stderr
    assert "exists" in cli("run", "patch", "n.npy", "--volume", "noise level=level.npy", status=1).stderr
    for name in ("v.npy", "level.npy", "alone.npy"):
        os.remove(name)


@test
def dry_run_tells_the_memory_that_may_be_taken():
    out = cli("run", "fx", "-i", "n.npy", "--dry-run", env=dict(os.environ, LITHO_MEMORY="0.5")).stdout
    assert "of 0.500 free GiB on the host" in out, out


@test
def numbers_take_their_units():
    def params(*words):
        # The command in the text header says what was run.
        cli("run", "fx", *words, "-i", "n.npy", "-o", "u.sgy", "--force", "--backend", "cpu")
        text = open("u.sgy", "rb").read(3200).decode("cp037")
        return {k: v for k, v in re.findall(r"'(\w+)=([^']*)'", re.sub(r"C ?\d+ ", "", text).replace("\n", ""))}
    assert params("prewhitening=30%")["prewhitening"] == "30"
    assert params("fmin=12Hz", "fmax=60 hz") == {"fmin": "12", "fmax": "60"}
    assert params("window=6traces", "half_width=1 trace") == {"window": "6", "half_width": "1"}
    for wrong in ("window=20m", "fmin=12 s", "prewhitening=30 traces", "window=6 traces of it"):
        cli("run", "fx", wrong, "-i", "n.npy", "-o", "u.sgy", "--force", status=2)


@test
def steps_are_parted_by_plus():
    json.dump({"lithoscope": 1, "flow": [{"operator": "fx", "params": {"half_width": 1, "window": 6}},
                                         {"operator": "fx", "params": {"half_width": 1, "window": 4, "prewhitening": 100}}]}, open("plus.json", "w"))
    cli("run", "plus.json", "-i", "n.npy", "-o", "plus1.npy", "--backend", "cpu")
    cli("run", "fx", "half_width=1", "window=6", "+", "fx", "half_width=1", "window=4", "prewhitening=100%", "n.npy", "plus2.npy", "--backend", "cpu")
    assert open("plus1.npy", "rb").read() == open("plus2.npy", "rb").read()
    assert "operator is needed" in cli("run", "fx", "-i", "n.npy", "-o", "x.npy", "+", status=2).stderr
    assert "did you mean 'migrate'" in cli("run", "fx", "+", "migrat", "-i", "n.npy", "-o", "x.npy", status=2).stderr


@test
def several_files_are_listed():
    """info *.sgy: a line each; -i twice is one survey of two files."""
    for k in range(2):
        cli("synth", "planes", "inlines=8", "xlines=8", "samples=64", f"seed={k + 1}", "-o", f"s{k}.sgy", "--no-truth")
    lines = cli("info", "s0.sgy", "s1.sgy").stdout.splitlines()
    assert len(lines) == 2 and lines[1].startswith("s1.sgy: 8 x 8 x 64, every 0.004 s"), lines
    open("broken.sgy", "w").write("no survey")
    r = cli("info", "s0.sgy", "broken.sgy", "s1.sgy", "--json", status=1)
    files = json.loads(r.stdout)["files"]
    assert [f["file"] for f in files] == ["s0.sgy", "broken.sgy", "s1.sgy"] and "error" in files[1] and files[2]["shape"] == [8, 8, 64]
    assert "traces" in cli("info", "-i", "s0.sgy", "-i", "s1.sgy").stdout


@test
def a_default_that_decides_the_result_is_told():
    r = cli("run", "migrate", "-i", "n.npy", "--dry-run")
    assert "note: migrate: velocity is 2000" in r.stderr and "default" in r.stderr, r.stderr
    for given in ("velocity=2500", "velocity=2000"):
        assert "default" not in cli("run", "migrate", given, "-i", "n.npy", "--dry-run").stderr
        assert "default" not in cli("run", "fx", "+", "migrate", given, "-i", "n.npy", "--dry-run").stderr
    two = cli("run", "migrate", "velocity=2000", "+", "migrate", "mode=demigrate", "-i", "n.npy", "--dry-run").stderr
    assert two.count("its default") == 1, two
    cli("convert", "n.npy", "beside.sgy")
    cli("convert", "n.npy", "beside-velocity.sgy")
    hint = "note: beside-velocity.sgy lies beside the input: velocity=beside-velocity.sgy takes it"
    assert hint in cli("run", "migrate", "-i", "beside.sgy", "--dry-run").stderr
    assert hint not in cli("run", "fx", "-i", "beside.sgy", "--dry-run").stderr
    assert hint not in cli("run", "migrate", "velocity=2500", "-i", "beside.sgy", "--dry-run").stderr


@test
def what_operators_say_of_a_result_is_told():
    """Each sentence once, also where the survey is read in slabs; a survey's own notes come from its reader alone."""
    r = cli("run", "twsm", "model=flat", "cells_per_wavelength=1.5", "-o", "coarse.npy", "--backend", "cpu")
    assert r.stderr.count("cells per shortest wavelength") == 1, r.stderr
    np.save("rock.npy", np.full((8, 24, 20), 2500, "f4"))
    cli("synth", "planes", "inlines=8", "xlines=24", "samples=100", "-o", "over-rock.npy", "--no-truth")
    r = cli("run", "migrate", "velocity=rock.npy", "nz=20", "fmax=20", "degree=5", "over-rock.npy", "in-rock.npy", "--backend", "cpu")
    assert r.stderr.count("velocity_dz tells it") == 1, r.stderr
    assert r.stderr.count("bins of 25 m are assumed") == 1, r.stderr


@test
def a_reference_that_is_the_input_tells_no_gain():
    out = cli("run", "fx", "-i", "n.npy", "-o", "same.npy", "--reference", "n.npy", "--report", "same.json").stdout
    assert "the input has no error against the reference" in out and "inf" not in out, out
    told = json.load(open("same.json"))
    assert "snr_db" in told and told.get("gain_db") is None, told


@test
def the_text_header_tells_the_program_and_its_input():
    """Version, command and input; no place for the result that is not the file's own."""
    cli("run", "fx", "half_width=2", "-i", "n.npy", "-o", "told.sgy", "--backend", "cpu")
    text = open("told.sgy", "rb").read(3200).decode("cp037")
    assert re.match(r"C 1 SEG-Y WRITTEN BY LITHOSCOPE \d+\.\d+", text), text[:160]
    assert text[80:160].rstrip() == "C 2 lithoscope-cli run fx 'half_width=2' -i 'n.npy'", text[:160]


@test
def what_is_copied_as_command_is_safe_in_a_shell():
    """The text header's command line, given to a shell, runs nothing that a value holds."""
    open("v.txt;touch PWNED", "w").write("0 2000\n")
    cli("run", "migrate", "velocity=v.txt;touch PWNED", "-i", "n.npy", "-o", "q.sgy", "--backend", "cpu")
    text = open("q.sgy", "rb").read(3200).decode("cp037")
    assert "'velocity=v.txt;touch" in text, text
    os.remove("v.txt;touch PWNED")


@test
def pictures_take_the_gains_of_the_window():
    def picture(*words):
        cli("render", "n.npy", "-o", "gain.png", "--cpu", "--size", "400x300", "--force", *words)
        return read("gain.png")
    assert len({picture(), picture("--agc", "50"), picture("--time-gain", "2")}) == 3
    for wrong in (("--agc", "-5"), ("--time-gain", "9"), ("--agc", "50", "--time-gain", "1")):
        assert "--agc" in cli("render", "n.npy", "-o", "gain.png", *wrong, status=2).stderr


@test
def names_of_formats_and_colour_maps():
    cli("convert", "n.npy", "f1.sgy", "--format", "ibm")
    cli("convert", "n.npy", "f2.sgy", "--format", "1")
    assert open("f1.sgy", "rb").read()[3600:] == open("f2.sgy", "rb").read()[3600:]
    assert "ibm" in cli("convert", "n.npy", "f3.sgy", "--format", "imb", status=2).stderr
    for name in ("gray", "viridis"):
        cli("render", "n.npy", "-o", f"{name}.png", "--colormap", name, "--size", "200x100")


@test
def operators_against_each_other():
    """Row by row: a table, its figures, what an interrupted run had, and no row twice."""
    ask = ["compare", "--operators", "-o", "table.md", "--size", "32x32x128", "--seconds", "0",
           "--methods", "fx,patch,fft3d,fxdecon", "--progress", "none"]
    cli(*ask, "--rows", "planes white 10,curved random 50")
    rows = json.load(open("table.json"))["rows"]
    assert [r["id"] for r in rows] == ["planes white 10", "curved random 50"], rows
    cells = [{c["method"]: c for c in r["cells"]} for r in rows]
    assert set(cells[0]) == {"fx", "patch", "fft3d", "fxdecon"} and set(cells[1]) == {"fx", "patch", "fft3d"}
    # All of them take noise, and fill; the 2-D method is the weakest.
    assert all(c["snr_db"] > 10.5 for c in cells[0].values()), cells[0]
    assert all(c["snr_db"] > 1 for c in cells[1].values()), cells[1]
    assert cells[0]["patch"]["snr_db"] > cells[0]["fxdecon"]["snr_db"]
    text = open("table.md").read()
    assert "| planes white 10 |" in text and f"**{max(c['snr_db'] for c in cells[0].values()):.1f}**" in text
    assert "table.md" in cli(*ask, "--rows", "planes white 10", status=1).stderr
    os.mkdir("pictures")
    cli(*ask, "--resume", "--rows", "planes white 10,planes band 10", "--pictures", "pictures")
    after = json.load(open("table.json"))["rows"]
    # Rows stand in one order, whatever was made first.
    assert [r["id"] for r in after] == ["planes white 10", "planes band 10", "curved random 50"], after
    assert [after[0], after[2]] == rows
    assert os.listdir("pictures") == ["planes-band-10.png"]


@test
def two_operators_in_a_row():
    json.dump({"lithoscope": 1, "flow": [{"operator": "fx", "params": {"half_width": 1}}, {"operator": "fx", "enabled": False},
                                         {"operator": "fx", "params": {"half_width": 1, "prewhitening": 100}}]}, open("two.json", "w"))
    cli("synth", "planes", "inlines=30", "xlines=30", "samples=200", "-o", "w.npy")
    cli("run", "two.json", "-i", "w.npy", "-o", "w2.npy", "--backend", "cpu")
    a, b = np.load("w.npy"), np.load("w2.npy")
    assert a.shape == b.shape and np.isfinite(b).all() and np.abs(a - b).max() > 0


@test
def figures_without_and_with_the_truth():
    """run --report, find, sweep and report speak of the same numbers under the same names."""
    cli("synth", "planes", "inlines=24", "xlines=24", "samples=96", "snr=0", "-o", "judged.npy")
    cli("run", "fx", "prewhitening=10", "-i", "judged.npy", "-o", "judged-fx.npy", "--report", "judged.json", "--reference", "judged-truth.npy",
        "--hide", "5", "--seed", "1")
    r = json.load(open("judged.json"))
    low, high = r["expected_snr_interval_db"]
    assert low <= r["expected_snr_db"] <= high and abs(r["expected_snr_db"] - r["snr_db"]) < 1.5, r
    assert r["gain_db"] > 3 and 0 <= r["similarity_share"] <= 1 and 10 < r["removed_percent"] < 90, r
    assert r["noise_sigma"] > 0 and "hidden_snr_db" in r, r
    cli("run", "fx", "prewhitening=10", "-i", "judged.npy", "-o", "judged-wide.npy", "--report", "wide.json", "--similarity", "1,1,8")
    wide = json.load(open("wide.json"))
    assert wide["similarity_half_widths"] == "1,1,8" and wide["similarity_share"] != r["similarity_share"], wide
    assert "similarity_half_widths" not in r, r
    told = json.loads(cli("find", "fx", "-i", "judged.npy", "--suggest", "--json").stdout)
    assert isinstance(told["suggested"], list) and "found" not in told, told
    found = json.loads(cli("find", "fx", "-i", "judged.npy", "--json").stdout)
    assert "suggested" in found, found
    assert set(found["now"]) == set(found["found"]) and found["gain_db"] >= 0 and found["seconds"] > 0, found
    cli("sweep", "fx", "prewhitening=1,100", "half_width=1,2", "-i", "judged.npy", "-o", "sheet.png", "--json", "sheet.json")
    assert len(json.load(open("sheet.json"))["runs"]) == 4
    assert open("sheet.png", "rb").read(4) == b"\x89PNG"
    cli("report", "fx", "-i", "judged.npy", "-o", "page.pdf", "--json", "page.json")
    assert open("page.pdf", "rb").read(4) == b"%PDF" and "expected_snr_db" in json.load(open("page.json"))
    cli("sweep", "fx", "-i", "judged.npy", "-o", "none.png", status=2)
    # Of data without noise no SNR is told, and no setting is the best.
    cli("synth", "planes", "inlines=24", "xlines=24", "samples=64", "snr=1000", "--no-truth", "-o", "silent.npy", "--force")
    r = cli("sweep", "fx", "prewhitening=1,100", "-i", "silent.npy", "-o", "silent.png", "--json", "silent.json", "--force")
    assert "not known" in r.stdout and "\n*" not in "\n" + r.stdout and "best" not in json.load(open("silent.json")), r.stdout
    cli("find", "migrate", "velocity=2000", "-i", "judged.npy", status=1)


@test
def one_setting_has_one_figure():
    """run, sweep, find and report tell one expected SNR of one setting on a survey larger than the part that is judged."""
    cli("synth", "survey", "inlines=124", "xlines=144", "samples=240", "snr=0", "-o", "one-area.npy", "--no-truth", "--force")
    cli("run", "fx", "half_width=2", "-i", "one-area.npy", "-o", "one-fx.npy", "--report", "one-report.json", "--force")
    cli("sweep", "fx", "half_width=2,3", "-i", "one-area.npy", "--json", "one-sweep.json", "--force")
    run, swept = json.load(open("one-report.json")), json.load(open("one-sweep.json"))
    found = json.loads(cli("find", "fx", "half_width=2", "-i", "one-area.npy", "--seconds", "60", "--json").stdout)
    assert not run["area_is_all"] and run["area"] == swept["area"], (run["area"], swept["area"])
    cli("report", "fx", "half_width=2", "-i", "one-area.npy", "-o", "one-page.png", "--json", "one-page.json", "--force")
    figures = [run, swept["runs"][0], found["quality_now"], json.load(open("one-page.json"))]
    for key in ("noise_sigma", "expected_snr_db"):
        assert len({f[key] for f in figures}) == 1, (key, [f[key] for f in figures])


@test
def figures_that_cannot_be_told():
    """A result that lies on another grid has no expected SNR: who watches gets the result, a report says why. An area off the survey is
    refused before anything is computed."""
    cli("synth", "planes", "inlines=12", "xlines=14", "samples=40", "-o", "told.sgy", "--no-truth", "--force")
    migrate = ["run", "migrate", "velocity=2000", "nz=8", "told.sgy", "depth.npy", "--force"]
    cli(*migrate, "--progress", "plain")
    r = cli(*migrate, "--report", "depth.json")
    told = json.load(open("depth.json"))
    assert "another grid" in r.stdout and "another grid" in told["note"] and told["area"] and "expected_snr_db" not in told, r.stdout
    os.remove("depth.npy")
    r = cli(*migrate, "--reference", "told.sgy", "--hide", "5", status=1)
    assert "another grid" in r.stderr and "leave --reference and --hide out" in r.stderr and not os.path.exists("depth.npy"), r.stderr
    assert "leave --report" in cli("run", "twsm", "-o", "shot.npy", "--report", "shot.json", status=2).stderr
    # A filter before it is found by what it gives; the image behind it is left out.
    open("image.json", "w").write('{"lithoscope":1,"flow":[{"operator":"fx"},{"operator":"migrate","params":{"velocity":"2000","nz":8}}]}')
    r = cli("find", "image.json", "--step", "1", "-i", "told.sgy", "--seconds", "3", "--save", "found.json", "--json")
    assert "the steps behind step 1 are left out" in r.stderr and json.loads(r.stdout)["trials"] > 0, r.stderr
    assert [s["operator"] for s in json.load(open("found.json"))["flow"]] == ["fx", "migrate"]
    assert json.load(open("found.json"))["flow"][1]["enabled"]
    r = cli("run", "fx", "told.sgy", "off.npy", "--area", "100:200,,", "--report", "off.json", status=1)
    assert "the survey has nothing of '100:200'" in r.stderr and not os.path.exists("off.npy"), r.stderr
    # Images are drawn and not judged; what only filters have is refused.
    r = cli("sweep", "migrate", "velocity=2000,2.5km/s,0", "nz=8", "told.sgy", "depth.png", "--json", "swept-depth.json")
    runs = json.load(open("swept-depth.json"))["runs"]
    assert os.path.exists("depth.png") and [sorted(k) for k in runs] == [["seconds", "values"]] * 2 + [["refused", "values"]], runs
    r = cli("sweep", "migrate", "nz=8,9", "--show", "removed", "told.sgy", "none.png", status=1)
    assert "another grid" in r.stderr and not os.path.exists("none.png"), r.stderr
    for words, said in ((["window=8,"], "a value is missing"), (["window=8,9", "window=7,8"], "swept twice")):
        r = cli("sweep", "fx", *words, "told.sgy", "none.png", status=2)
        assert said in r.stderr, r.stderr


# Property: an interval may carry its unit; one that no survey has is refused without a unit, with what is
# probably meant, and taken with one, with a note that says how milliseconds are written.


@test
def intervals_carry_their_units():
    np.save("line.npy", np.ones((2, 3, 16), "f4"))
    for words, step in ((["2ms"], 0.002), (["500us"], 0.0005), (["0.004"], 0.004), (["4 ms"], 0.004), (["2", "--depth"], 2)):
        r = cli("info", "line.npy", "--json", "--dt", *words)
        told = json.loads(r.stdout)
        assert abs(told["axes"][2]["step"] - step) < 1e-9 and not any("milliseconds" in n for n in told["notes"]), r.stdout
    assert "a sample interval of 2 s was given" in cli("info", "line.npy", "--dt", "2s").stdout
    r = cli("convert", "-i", "line.npy", "-o", "line.sgy", "--dt", "2s")
    assert r.stderr.count("--dt 2ms") == 1, r.stderr
    for command in (["info", "line.npy"], ["convert", "line.npy", "no.sgy"], ["run", "fx", "line.npy", "no.npy"]):
        assert "--depth makes it metres" in cli(*command, "--dt", "30m", status=1).stderr
        for number, meant in (("4", "--dt 4ms"), ("0.5", "--dt 0.5ms"), ("4000", "--dt 4000us")):
            r = cli(*command, "--dt", number, status=1)
            assert f"{meant} is probably meant" in r.stderr and f"--dt {number}s says seconds" in r.stderr, r.stderr
            assert "--depth makes it metres" in r.stderr and not os.path.exists("no.sgy") and not os.path.exists("no.npy")
    assert "not kg" in cli("info", "line.npy", "--dt", "2kg", status=2).stderr
    r = cli("bench", "fx", "--size", "8x8x32", "--repeat", "1", "--backends", "cpu1", "--dt", "2s")
    assert "--dt 2ms" in r.stderr, r.stderr
    assert "--dt 2ms" in cli("bench", "fx", "--dt", "2", status=2).stderr
    r = cli("synth", "planes", "inlines=4", "xlines=4", "samples=16", "dt=0.5", "-o", "slow.npy", "--no-truth")
    assert "dt=0.5ms" in r.stderr, r.stderr


@test
def a_report_repeats_how_its_file_was_read():
    """The command on the page and in --json runs as it stands: a raw file needs its shape and interval again."""
    rng = np.random.default_rng(1)
    rng.normal(size=(12, 14, 96)).astype("<f4").tofile("bare cube.bin")
    how = ["--shape", "12,14,96", "--dt", "0.002", "--dx", "12.5"]
    cli("report", "fx", "half_width=1", "-i", "bare cube.bin", *how, "-o", "bare.pdf", "--json", "bare.json")
    command = json.load(open("bare.json"))["command"]
    assert command.startswith("lithoscope-cli run fx") and "--shape 12,14,96" in command and "--dt 0.002" in command, command
    again = shlex.split(command.replace("'OUT'", "bare-out.npy").replace("-o OUT", "-o bare-out.npy"))
    cli(*again[1:])
    assert np.load("bare-out.npy").shape == (12, 14, 96)
    cli("run", "fx", "half_width=1", "-i", "bare cube.bin", *how, "-o", "bare-two.npy")
    assert np.array_equal(np.load("bare-out.npy"), np.load("bare-two.npy"))


@test
def a_recipe_holds_what_a_run_in_one_piece_measured():
    """What is measured before or on the way gives the same samples, and a recipe repeats them."""
    for flow in (["patch"], ["wavepacket", "block=64"]):
        cli("run", *flow, "-i", "n.npy", "-o", "one-a.npy", "--force")
        cli("run", *flow, "-i", "n.npy", "-o", "one-b.npy", "--save-recipe", "one.json", "--force")
        assert json.load(open("one.json"))["flow"][0]["measured"]["key"], flow
        cli("run", "one.json", "-i", "n.npy", "-o", "one-c.npy", "--force")
        assert read("one-a.npy") == read("one-b.npy") == read("one-c.npy"), flow


@test
def samples_rounded_to_whole_numbers_are_told():
    """Weak amplitudes in a format of integers, with the decibels that a reader of the file finds; strong ones pass
    untold, and so do floats."""
    noise = np.random.default_rng(2).normal(size=(6, 8, 100)).astype("f4")
    np.save("weak.npy", noise)
    np.save("strong.npy", 500 * noise)
    for name in ("weak.sgy", "weak-out.npy"):
        said = cli("convert", "weak.npy", name, "--format", "int16").stderr
        told = re.search(r"rounded to whole numbers: the file is ([0-9.]+) dB from", said)
        cli("convert", name, "back.npy", "--force")
        off = np.load("back.npy").reshape(noise.shape) - noise
        assert abs(float(told[1]) - 10 * np.log10((noise**2).sum() / (off**2).sum())) < 0.06, (said, name)
    assert "rounded" not in cli("convert", "strong.npy", "strong.sgy", "--format", "int16").stderr
    assert "rounded" not in cli("convert", "weak.npy", "weak5.sgy").stderr
    said = cli("run", "fx", "-i", "weak.sgy", "-o", "weak-fx.sgy", "--backend", "cpu").stderr
    assert "'convert --format float32' of the input keeps them" in said, said


@test
def cubes_with_other_axes_are_compared_with_a_word():
    cli("synth", "planes", "inlines=6", "xlines=8", "samples=50", "-o", "here.sgy", "--no-truth")
    cli("convert", "here.sgy", "here.npy")
    assert "axes differ" not in cli("compare", "here.sgy", "here.npy").stderr  # which states none
    data = bytearray(read("here.sgy"))
    for trace in range(48):
        at = 3600 + trace * (240 + 200)
        number = struct.unpack_from(">i", data, at + 188)[0]
        struct.pack_into(">i", data, at + 188, number + 5)
    Path("there.sgy").write_bytes(data)
    said = cli("compare", "here.sgy", "there.sgy").stderr
    assert re.search(r"their axes differ: inlines \d+ to \d+ and \d+ to \d+", said), said


@test
def a_bent_line_has_no_origin():
    """Its bins are mean distances of neighbours; a straight line has an origin."""
    cli("synth", "planes", "inlines=1", "xlines=40", "samples=50", "-o", "bent.npy", "--no-truth")
    cli("convert", "bent.npy", "bent.sgy")
    data = bytearray(read("bent.sgy"))
    for bend in (0, 1):
        for k in range(40):
            at = 3600 + k * (240 + 4 * 50)
            turn = 0.15 * k * bend
            x, y = (500 * np.sin(turn), 500 * np.cos(turn)) if bend else (10 * k, 5 * k)
            struct.pack_into(">h", data, at + 70, 1)
            struct.pack_into(">ii", data, at + 180, 1000 + round(x), 9000 + round(y))
        with open("bent.sgy", "wb") as f:
            f.write(data)
        told = cli("info", "bent.sgy").stdout
        assert ("origin " in told, "mean distance" in told) == (not bend, bool(bend)), told


@test
def values_in_units_of_the_survey():
    """600 ms are 150 samples at 4 ms, in every command that takes parameters; a unit that does not fit is named."""
    cli("synth", "planes", "inlines=10", "xlines=12", "samples=220", "-o", "units.npy", "--no-truth")
    cli("run", "fx", "time_window=150", "time_overlap=25", "-i", "units.npy", "-o", "units-a.npy")
    cli("run", "fx", "time_window=600ms", "time_overlap=0.1s", "-i", "units.npy", "-o", "units-b.npy", "--save-recipe", "units.json")
    assert np.array_equal(np.load("units-a.npy"), np.load("units-b.npy"))
    assert json.load(open("units.json"))["flow"][0]["params"]["time_window"] == 150
    cli("run", "fx", "+", "fx", "time_window=600 ms", "time_overlap=100ms", "-i", "units.npy", "-o", "units-c.npy", "--dry-run")
    cli("report", "fx", "time_window=600ms", "-i", "units.npy", "--json", "units-report.json")
    assert "time_window=150" in json.load(open("units-report.json"))["command"]
    sheet = cli("sweep", "fx", "time_window=400ms,600ms", "-i", "units.npy", "--json", "units-sweep.json")
    assert not [r for r in json.load(open("units-sweep.json"))["runs"] if "refused" in r], sheet
    for word, said in [("time_window=600Hz", "its unit is samples or ms, not Hz"), ("half_width=2ms", "its unit is traces, not ms")]:
        r = cli("run", "fx", word, "-i", "units.npy", "-o", "units-d.npy", status=2)
        assert said in r.stderr and len(r.stderr.strip().splitlines()) <= 2, r.stderr


run(small_cube)
