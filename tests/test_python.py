#!/usr/bin/python3
"""The Python package: every operator as a function with its parameters as keywords, arrays in and out with the samples
of the command line, errors as exceptions. Prints TAP.

    test_python.py PATH/lithoscope-cli
"""
import contextlib
import io
import inspect
import json
import os
import re
import subprocess
import sys
import warnings

from cli_tap import CLI, cli, run, test

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP no NumPy")
    sys.exit(0)

PACKAGE = os.path.join(os.environ.get("LITHO_SOURCE_ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "data/python")
sys.dont_write_bytecode = True
sys.path.insert(0, PACKAGE)
os.environ["LITHOSCOPE_CLI"] = CLI
import lithoscope  # noqa: E402

SMALL = {"fx": {"window": 8}, "patch": {}, "wavepacket": {"scales": 2}, "migrate": {"nz": 8, "dz": 10},
         "twsm": {"model": "flat", "frequencies": 4, "record": 0.256, "fmax": 15}}


def planes():
    noisy, clean = lithoscope.synth("planes", inlines=16, xlines=18, samples=64, snr=3)
    assert noisy.shape == clean.shape == (16, 18, 64) and noisy.dtype == np.float32
    return noisy, clean


@test
def every_operator_is_a_function_with_its_keywords():
    for key, op in lithoscope.operators().items():
        function = getattr(lithoscope, key)
        known = inspect.signature(function).parameters
        assert {p["key"] for p in op["params"]} <= set(known) and "backend" in known, key
        assert all(p["doc"] in function.__doc__ for p in op["params"]), key
        assert key in dir(lithoscope)


@test
def every_operator_gives_the_samples_of_the_command_line():
    noisy, _ = planes()
    np.save("in.npy", noisy)
    for key, op in lithoscope.operators().items():
        settings = SMALL.get(key, {})
        words = [f"{k}={v}" for k, v in settings.items()]
        source = [] if not op["needs_input"] else ["-i", "in.npy", "--dt", "0.004", "--dx", "25", "--dy", "25"]
        cli("run", key, *words, *source, "-o", f"{key}.npy", "--backend", "cpu")
        grid = {"dt": 0.004, "dx": 25, "dy": 25} if op["needs_input"] else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out = getattr(lithoscope, key)(noisy if op["needs_input"] else None, backend="cpu", **grid, **settings)
        wanted = np.load(f"{key}.npy")
        assert out.shape == wanted.shape and np.array_equal(out, wanted, equal_nan=True), key


@test
def several_steps_recipes_and_lines():
    noisy, clean = planes()
    grid = {"dt": 0.004, "dx": 25, "dy": 25, "backend": "cpu"}
    once = lithoscope.fx(noisy, window=8, half_width=2, **grid)
    twice = lithoscope.fx(once, window=8, **grid)
    assert np.array_equal(lithoscope.run([("fx", {"window": 8, "half_width": 2}), "fx"], noisy, window=8, **grid), twice)
    recipe = {"lithoscope": 1, "flow": [{"operator": "fx", "params": {"window": 8, "half_width": 2, "post": False}},
                                        {"operator": "fx", "enabled": False}]}
    assert np.array_equal(lithoscope.run(recipe, noisy, **grid), once)
    assert lithoscope.compare(once, clean)["snr_db"] > lithoscope.compare(noisy, clean)["snr_db"] + 2
    line = lithoscope.fx(noisy[3], window=8, **grid)
    assert line.shape == noisy[3].shape and np.isfinite(line).all()
    fields = lithoscope.fx(noisy.astype("f8")[::1, ::-1], window=8, **grid)  # other types and strides
    assert np.array_equal(fields, lithoscope.fx(np.ascontiguousarray(noisy[:, ::-1]), window=8, **grid))


@test
def arrays_serve_as_files_and_masks_as_missing_traces():
    noisy, _ = planes()
    speed = np.full(noisy.shape, 2000, "f4")
    np.save("in.npy", noisy)
    np.save("v.npy", speed)
    cli("run", "migrate", "velocity=v.npy", "nz=8", "dz=10", "-i", "in.npy", "-o", "image.npy", "--backend", "cpu",
        "--dt", "0.004", "--dx", "25", "--dy", "25", "--force")
    image = lithoscope.migrate(noisy, velocity=speed, nz=8, dz=10, dt=0.004, dx=25, dy=25, backend="cpu")
    assert np.array_equal(image, np.load("image.npy")) and np.abs(image).max() > 0
    holed = np.ma.masked_array(noisy, np.zeros(noisy.shape, bool))
    holed[2, 5] = np.ma.masked
    out = lithoscope.fx(holed, window=8, dt=0.004, dx=25, dy=25, backend="cpu")
    assert np.isnan(out[2, 5]).all() and np.isnan(out).all(axis=2).sum() == 1


@test
def files_are_read_and_written():
    noisy, _ = planes()
    lithoscope.write(noisy, "cube.sgy", dt=0.002, dx=10, dy=10)
    assert np.array_equal(lithoscope.read("cube.sgy"), noisy)
    assert abs(lithoscope.info("cube.sgy")["axes"][2]["step"] - 0.002) < 1e-9
    try:
        lithoscope.write(noisy, "cube.sgy", dt=0.002, dx=10, dy=10)
        raise AssertionError("a file was replaced without force")
    except lithoscope.Error as e:
        assert "cube.sgy" in str(e), e
    lithoscope.write(noisy, "cube.sgy", dt=0.004, dx=10, dy=10, force=True)


def problem(kind, call):
    try:
        call()
    except kind as e:
        return str(e)
    raise AssertionError(f"no {kind.__name__}")


@test
def mistakes_are_exceptions_and_notes_are_warnings():
    noisy, _ = planes()
    assert "half_width is 99" in problem(ValueError, lambda: lithoscope.fx(noisy, half_width=99))
    assert "halfwidth" in problem(ValueError, lambda: lithoscope.fx(noisy, halfwidth=3))
    assert "nothing" in problem(ValueError, lambda: lithoscope.run("nothing", noisy))
    assert "4 axes" in problem(ValueError, lambda: lithoscope.fx(noisy[None]))
    problem(AttributeError, lambda: lithoscope.nothing)
    assert "missing.sgy" in problem((lithoscope.Error, OSError), lambda: lithoscope.read("missing.sgy"))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        lithoscope.fx(noisy, window=8, backend="cpu")
    assert any("0.004" in str(w.message) or "25 m" in str(w.message) for w in told), [str(w.message) for w in told]
    assert not [f for f in os.listdir("/dev/shm") if f.startswith(f"lithoscope-{os.getpid()}-")] if os.path.isdir("/dev/shm") else True


@test
def the_examples_of_the_manual_run():
    page = open(os.path.join(PACKAGE, "../../docs/python.md"), encoding="utf-8").read()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    assert len(blocks) >= 3
    with contextlib.redirect_stdout(io.StringIO()):  # the examples print, and this prints TAP
        exec("\n".join(blocks), {})


@test
def the_module_is_the_command_line():
    env = {**os.environ, "PYTHONPATH": PACKAGE}
    r = subprocess.run([sys.executable, "-m", "lithoscope", "list", "--json"], env=env, capture_output=True, text=True)
    assert r.returncode == 0 and json.loads(r.stdout) == json.loads(cli("list", "--json").stdout)
    r = subprocess.run([sys.executable, "-m", "lithoscope", "nothing"], env=env, capture_output=True, text=True)
    assert r.returncode == 2, r


run()
