#!/usr/bin/python3
"""Mistakes on the command line: usage errors, mistyped words, numbers that cannot be, special and hostile files.
Each is one sentence, and no file is harmed. Prints TAP.

    test_cli_mistakes.py PATH/lithoscope-cli
"""
import json
import os
import re
import subprocess

import numpy as np

from cli_tap import CLI, cli, read, run, small_cube, test


@test
def usage_errors_exit_2_and_name_the_trouble():
    """2 = usage; the sentence names the word that is wrong."""
    for args, word in [
        ([], "usage"), (["nonsense"], "nonsense"), (["run", "fx"], "-o"), (["run", "nofilter", "-o", "x.npy"], "nofilter"),
        (["run", "fx", "windw=3", "-i", "a.npy", "-o", "b.npy"], "windw"),
        (["run", "fx", "window=-3", "-i", "a.npy", "-o", "b.npy"], "window"),
        (["synth", "nothing", "-o", "x.npy"], "there is no cube"), (["synth", "mix", "inlines=0", "-o", "x.npy"], "inlines"),
        (["compare", "one-area.npy"], "two"), (["compare", "--operators"], "-o TABLE.md"), (["list", "nooperator"], "nooperator"),
        (["list", "fx", "patch"], "'patch'"),
    ]:
        r = cli(*args, status=2)
        assert word in r.stderr, (args, r.stderr)
        assert r.stdout == "", r.stdout


@test
def failures_exit_1_with_one_sentence():
    for args in [["info", "missing.sgy"], ["run", "fx", "-i", "missing.sgy", "-o", "out.sgy"], ["compare", "no.npy", "no.npy"]]:
        r = cli(*args, status=1)
        assert len(r.stderr.strip().splitlines()) == 1, r.stderr
        assert not os.path.exists("out.sgy")
    open("text.sgy", "w").write("<html>this is not seismic</html>")
    cli("info", "text.sgy", status=1)


@test
def nothing_is_overwritten_unasked():
    cli("synth", "planes", "inlines=8", "xlines=8", "samples=64", "-o", "a.npy")
    before = open("a.npy", "rb").read()
    r = cli("run", "fx", "-i", "a.npy", "-o", "a.npy", "--force", status=1)
    assert open("a.npy", "rb").read() == before, r.stderr
    open("there.npy", "w").write("precious")
    cli("run", "fx", "-i", "a.npy", "-o", "there.npy", status=1)
    assert open("there.npy").read() == "precious"


@test
def wrong_numbers_are_usage_errors():
    run = ["run", "fx", "-i", "n.npy", "-o", "n2.npy"]
    for more, word in [(["--threads", "2147483647"], "0 (all) to 1024"), (["--threads", "100000"], "1024"), (["--threads", "-1"], "1024"),
                       (["--dt", "inf"], "--dt is inf"), (["--dt", "nan"], "--dt is nan"), (["--dt", "0ms"], "--dt is 0ms"), (["--dx", "-1"], "--dx is -1"), (["--dy", "5m"], "--dy"),
                       (["--gpus", "abc"], "--gpus is abc"), (["--gpus", "0"], "--gpus is 0"), (["--gpus", "2", "--backend", "cpu"], "--backend is cpu"),
                       (["--backend", "cpu:1"], "'cpu:1' is no device"), (["--backend", "gpu"], "'gpu' is no device"),
                       (["--memory", "nan"], "--memory"), (["--memory", "-3"], "--memory")]:
        r = cli(*run, *more, status=2)
        assert word in r.stderr, (more, r.stderr)
        assert not os.path.exists("n2.npy")
    for words in (["find", "fx"], ["sweep", "fx", "window=10,20", "-o", "n2.png"], ["report", "fx", "-o", "n2.pdf"]):
        r = cli(*words, "-i", "n.npy", "--threads", "-1", status=2)
        assert "0 (all) to 1024" in r.stderr, (words, r.stderr)
    for value in ("abc", "-1", "0", "8GB", "nan"):
        r = cli(*run, status=2, env=dict(os.environ, LITHO_MEMORY=value))
        assert "LITHO_MEMORY is '" + value in r.stderr, r.stderr


@test
def gpus_that_are_not_there_are_an_error_like_backend_cuda():
    env = dict(os.environ, LITHO_MODULE_DIR="/nonexistent", CUDA_VISIBLE_DEVICES="")
    one = cli("run", "fx", "--gpus", "2", "-i", "n.npy", "-o", "n2.npy", status=1, env=env)
    other = cli("run", "fx", "--backend", "cuda", "-i", "n.npy", "-o", "n2.npy", status=1, env=env)
    assert one.stderr == other.stderr and "CUDA cannot be used" in one.stderr


@test
def the_number_of_gpus_is_no_parameter_any_more():
    r = cli("run", "wavepacket", "gpus=2", "-i", "n.npy", "-o", "n2.npy", status=2)
    assert "gpus is no parameter any more: the number of devices is chosen with --gpus or in the device menu" in r.stderr, r.stderr
    recipe = {"lithoscope": 1, "flow": [{"operator": "fx", "params": {"gpus": 2, "window": 8, "half_width": 1}},
                                        {"operator": "wavepacket", "params": {"gpus": 0}}]}
    with open("old.json", "w") as f:
        json.dump(recipe, f)
    r = cli("run", "old.json", "-i", "n.npy", "-o", "n2.npy", "--backend", "cpu", "--timings", "n2.json")
    assert r.stderr.count("gpus is no parameter any more") == 1, r.stderr
    t = json.load(open("n2.json"))
    cli("run", "patch", "-i", "n.npy", "-o", "n3.npy", "--backend", "cpu", "--save-recipe", "n3.json")
    assert json.load(open("n3.json"))["flow"][0]["operator"] == "patch"
    assert t["devices_used"] == 1 and t["ranks_used"] == 1, t
    for name in ("n2.npy", "n2.json", "n3.npy", "n3.json", "old.json"):
        os.remove(name)


@test
def mistyped_words_are_named_with_the_right_ones():
    for args, word in [(["run", "fx", "windw=20", "-i", "n.npy", "-o", "x.npy"], "did you mean 'window'?"),
                       (["run", "fx", "preset=strng", "-i", "n.npy", "-o", "x.npy"], "did you mean 'strong'?"),
                       (["run", "fx", "preset=nothing_like_it", "-i", "n.npy", "-o", "x.npy"], "strong"),
                       (["run", "migrat", "-i", "n.npy", "-o", "x.npy"], "did you mean 'migrate'?"),
                       (["run", "fx", "--progres", "none", "n.npy", "x.npy"], "did you mean '--progress'?"),
                       (["synth", "plnaes", "-o", "x.npy"], "did you mean 'planes'?"),
                       (["render", "n.npy", "-o", "x.png", "--colormap", "lagon"], "did you mean 'lagoon'?"),
                       (["list", "wavepackt"], "did you mean 'wavepacket'?"), (["rnu"], "did you mean 'run'?")]:
        r = cli(*args, status=2)
        assert word in r.stderr, (args, r.stderr)
    out = cli("list", "fx").stdout
    assert "1048576 samples)" in out and "e+0" not in out, out
    for words in (["list", "twsm"], ["list", "migrate"], ["help", "--man-operators"]):
        assert not re.search(r"[0-9]e[+-]0", cli(*words).stdout), words
    assert "source_x               -1000000 m = from the model  (-1000000 to 1000000 m)\n" in cli("list", "twsm").stdout


@test
def shapes_that_are_no_cube_are_told():
    for shape, said in (((2, 3, 4, 5), "(2, 3, 4, 5)"), ((0, 10, 30), "(0, 10, 30)"), ((), "()")):
        np.save("shape.npy", np.zeros(shape, "f4"))
        r = cli("info", "shape.npy", status=1)
        assert f"shape.npy has the shape {said}; 1 to 3 dimensions with samples in them are needed" in r.stderr, r.stderr
    cli("synth", "planes", "inlines=8", "xlines=8", "samples=64", "-o", "small.npy", "--no-truth", "--force")
    out = cli("run", "fx", "half_width=1", "small.npy", "never.npy", "--dry-run").stdout
    assert "8 x 8 x 64 samples, 0.0156 MiB" in out, out
    os.remove("shape.npy")


@test
def special_files_are_refused_at_once():
    """A pipe, a device and a folder in every place that takes a small file."""
    os.mkfifo("pipe")
    for path in ("pipe", "/dev/zero", "."):
        for args in (["run", path, "-i", "n.npy", "-o", "x.npy"], ["run", "twsm", f"model={path}", "-o", "x.npy"],
                     ["run", "migrate", f"velocity={path}", "-i", "n.npy", "-o", "x.npy"],
                     ["run", "wavepacket", "mode=reconstruct", f"coefficients={path}", "-i", "n.npy", "-o", "x.npy"],
                     ["render", "n.npy", "-o", "x.png", "--colormap", path], ["info", path]):
            r = subprocess.run([CLI, *args], capture_output=True, text=True, timeout=100)
            assert r.returncode in (1, 2), (args, r.returncode, r.stderr)
            assert "is a folder" in r.stderr or "regular file" in r.stderr, (args, r.stderr)
            assert not os.path.exists("x.npy")
    os.remove("pipe")


@test
def hostile_json_is_one_sentence():
    deep = "[" * 100000 + "]" * 100000
    for name, text, word in [("a", '{"lithoscope":1,"flow":[{"operator":5}]}', "flow[0].operator must be a text"), ("b", deep, "nested too deep"),
                             ("c", '{"lithoscope":1,"flow":' + deep + "}", "nested too deep"),
                             ("e", '{"lithoscope":1,"flow":[{"operator":"fx","params":{"half_width":1,"half_width":2}}]}', "second member"),
                             ("f", '{"lithoscope":1,"flow":[{"operator":"migrate","params":{"velocity":[2000]}}]}', "must be a text"),
                             ("g", '{"lithoscope":1,"flow":[{"operator":"\\u001b[31m\\n"}]}', "operator '?[31m?'"),
                             ("d", '{"lithoscope":1,"flow":[{"operator":"fx","enabled":"false"}]}', "true or false")]:
        open(name + ".json", "w").write(text)
        assert word in cli("run", name + ".json", "-i", "n.npy", "-o", "x.npy", status=2).stderr
    # A number where a text may be one.
    for velocity in ("2000", '"2000"'):
        open("v.json", "w").write('{"lithoscope":1,"flow":[{"operator":"migrate","params":{"nz":5,"velocity":%s}}]}' % velocity)
        cli("run", "v.json", "-i", "n.npy", "-o", f"v{len(velocity)}.npy", "--force")
    assert open("v4.npy", "rb").read() == open("v6.npy", "rb").read()
    assert "nested too deep" in cli("run", "twsm", "model=b.json", "-o", "x.npy", status=1).stderr


@test
def numbers_and_shapes_that_cannot_be():
    """bench refuses what is no interval and no share; compare names the shape that differs, the mask's too."""
    for words, said in ((["--dt", "0"], "--dt is 0"), (["--dt", "nan"], "--dt is"), (["--missing", "nan"], "--missing is"),
                        (["--missing", "100"], "below 100"), (["--every", "0"], "--every is 0")):
        r = cli("bench", "fx", "--size", "8x8x32", "--repeat", "1", *words, status=2)
        assert said in r.stderr, r.stderr
    np.save("whole.npy", np.ones((4, 5, 6), "f4"))
    np.save("other.npy", np.ones((4, 5, 7), "f4"))
    r = cli("compare", "whole.npy", "whole.npy", "--mask", "other.npy", status=1)
    assert "4 x 5 x 6 and 4 x 5 x 7" in r.stderr, r.stderr


run(small_cube)
