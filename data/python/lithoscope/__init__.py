# SPDX-License-Identifier: GPL-3.0-or-later
"""Lithoscope's operators on NumPy arrays.

    import numpy, lithoscope
    clean = lithoscope.fx(cube, prewhitening=30, dt=0.004)      # cube[inline, crossline, time]
    image = lithoscope.run(["fx", ("migrate", {"velocity": v})], cube, dt=0.004, dx=25, dy=25)
    help(lithoscope.fx)                                         # parameters, ranges, defaults

Every operator of `lithoscope-cli list` is a function of this module; its parameters are keywords with the names they
have in recipes. Arrays are float32 or are made so; a trace of NaNs, or a masked one, is a missing trace. The work is
done by the program lithoscope-cli, which gets arrays as .npy files in memory (/dev/shm) or in the folder for temporary
files: samples are those of the command line. The program is found as $LITHOSCOPE_CLI, beside this package's prefix, or
on the PATH.
"""
import inspect
import json
import os
import shutil
import subprocess
import tempfile
import warnings

import numpy

__all__ = ["Error", "run", "read", "write", "synth", "info", "compare", "operators", "program"]

_known = None  # operators by key, as the program declares them


class Error(RuntimeError):
    """What the program said when it failed. Wrong parameters are a ValueError instead."""


def program():
    """Path of lithoscope-cli."""
    given = os.environ.get("LITHOSCOPE_CLI")
    if given:
        return given
    folder = os.path.dirname(os.path.abspath(__file__))
    for _ in range(6):  # PREFIX/lib/python3/dist-packages/lithoscope and the like
        folder = os.path.dirname(folder)
        beside = os.path.join(folder, "bin", "lithoscope-cli")
        if os.access(beside, os.X_OK):
            return beside
    found = shutil.which("lithoscope-cli")
    if not found:
        raise FileNotFoundError("lithoscope-cli is not on the PATH; LITHOSCOPE_CLI may say where it is")
    return found


def _call(*words):
    """Runs a command; notes become warnings. Returns standard output."""
    done = subprocess.run([program(), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = done.stderr.strip().splitlines()
    for line in lines:
        if line.startswith("note: "):
            warnings.warn(line[len("note: "):], stacklevel=4)
    if done.returncode == 0:
        return done.stdout
    if done.returncode == 3:
        raise KeyboardInterrupt
    said = [line for line in lines if not line.startswith(("note: ", "Try '"))]
    said = said[0] if said else f"lithoscope-cli ended with status {done.returncode}"
    said = said[said.find(": ") + 2:] if said.startswith("lithoscope-cli") else said
    raise (ValueError if done.returncode == 2 else Error)(said)


class _Folder:
    """A folder for the arrays of one call, in memory where `size` bytes have room there twice."""

    def __init__(self, size):
        memory = "/dev/shm"
        has_room = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 3 * size
        self.folder = tempfile.TemporaryDirectory(prefix=f"lithoscope-{os.getpid()}-", dir=memory if has_room else None)

    def __enter__(self):
        self.folder.__enter__()
        return self

    def __exit__(self, *problem):
        return self.folder.__exit__(*problem)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def put(self, name, array):
        """The file of `array`; of a masked array a sample that is masked is NaN."""
        array = numpy.ma.filled(numpy.ma.asarray(array, dtype="float32"), numpy.nan) \
            if numpy.ma.isMaskedArray(array) else numpy.asarray(array, dtype="float32")
        numpy.save(self.path(name), numpy.ascontiguousarray(array))
        return self.path(name)


def operators():
    """The operators' declarations by key: title, summary, params (key, type, unit, default, min, max, doc), presets."""
    global _known
    if _known is None:
        _known = {op["key"]: op for op in json.loads(_call("list", "--json"))["operators"]}
    return _known


def _steps(flow):
    """(key, parameters) of each step of "fx", ("fx", {...}), a list of these, or a recipe's object."""
    if isinstance(flow, dict):
        steps = [(s["operator"], s.get("params", {})) for s in flow["flow"] if s.get("enabled", True)]
    elif isinstance(flow, (str, tuple)):
        steps = [flow]
    else:
        steps = list(flow)
    steps = [(s, {}) if isinstance(s, str) else s for s in steps]
    for key, _ in steps:
        if key not in operators():
            raise ValueError(f"there is no operator '{key}'; there are: {', '.join(operators())}")
    return steps


def _words(steps, folder):
    """The steps as words of the command line; arrays go to files."""
    words = []
    for number, (key, params) in enumerate(steps):
        words += ["+", key] if words else [key]
        for name, value in params.items():
            if isinstance(value, numpy.ndarray) and value.ndim > 0:
                value = folder.put(f"{number}-{name}.npy", value)
            elif isinstance(value, (bool, numpy.bool_)):
                value = "on" if value else "off"
            words.append(f"{name}={value}")
    return words


def run(flow, cube=None, *, dt=None, dx=None, dy=None, depth=False, backend="auto", threads=0, gpus=None, **params):
    """Applies an operator or several and returns the result, shape (inline, crossline, time) as the input.

    flow: "fx", or a list of keys and of pairs (key, parameters), or a recipe read from JSON.
    cube: the input; None for operators that make their own data. Two dimensions are a line of traces.
    dt: sample interval in s (m with depth=True); dx, dy: distances between inlines and crosslines in m. Without a cube
    they are parameters of the operator.
    backend: auto, cpu, cuda or cuda:N; threads: 0 = all; gpus: a number or "all".
    Further keywords are parameters of the last operator; preset="strong" is one. A velocity may be an array.
    """
    steps = _steps(flow)
    if cube is None:  # a source has its own sampling among its parameters
        params.update({name: value for name, value in (("dt", dt), ("dx", dx), ("dy", dy)) if value is not None})
        dt = dx = dy = None
    if params:
        steps[-1] = (steps[-1][0], {**steps[-1][1], **params})
    shape = None if cube is None else numpy.shape(cube)
    if shape is not None and len(shape) not in (2, 3):
        raise ValueError(f"the cube has {len(shape)} axes; (inline, crossline, time) or (trace, time) is needed")
    with _Folder(4 * int(numpy.prod(shape)) if shape else 0) as folder:
        words = ["run", *_words(steps, folder), "-o", folder.path("out.npy"), "--progress", "none", "--no-provenance", "--backend", backend]
        if cube is not None:
            words += ["-i", folder.put("in.npy", cube if len(shape) == 3 else cube[numpy.newaxis])]
        for name, value in (("dt", dt), ("dx", dx), ("dy", dy), ("gpus", gpus), ("threads", threads or None)):
            words += [] if value is None else [f"--{name}", value]
        _call(*words, *(["--depth"] if depth else []))
        out = numpy.load(folder.path("out.npy"))
    return out[0] if shape is not None and len(shape) == 2 and out.shape[0] == 1 else out


def read(path, *options):
    """The cube of a survey (SEG-Y, SU, RSF, ...) as an array; missing traces are NaN. `options` are those of
    'lithoscope-cli convert', such as "--inline-byte", 9."""
    with _Folder(os.path.getsize(path)) as folder:
        _call("convert", path, folder.path("cube.npy"), "--progress", "none", *options)
        return numpy.load(folder.path("cube.npy"))


def write(cube, path, *options, dt=None, dx=None, dy=None, force=False):
    """Writes an array in the format that the suffix of `path` names. `options` as for read()."""
    with _Folder(numpy.asarray(cube).nbytes) as folder:
        words = ["convert", folder.put("cube.npy", cube), path, "--progress", "none", *options]
        for name, value in (("dt", dt), ("dx", dx), ("dy", dy)):
            words += [] if value is None else [f"--{name}", value]
        _call(*words, *(["--force"] if force else []))


def synth(name, **params):
    """A generated cube with known truth, (noisy, clean); 'lithoscope-cli synth --list' tells names and parameters."""
    with _Folder(0) as folder:
        _call("synth", name, *(f"{key}={value}" for key, value in params.items()), "-o", folder.path("cube.npy"))
        truth = folder.path("cube-truth.npy")
        return numpy.load(folder.path("cube.npy")), numpy.load(truth) if os.path.exists(truth) else None


def info(path, *options):
    """What 'lithoscope-cli info --json' tells of a survey."""
    return json.loads(_call("info", path, "--json", *options))


def compare(cube, reference):
    """SNR in dB of `cube` against `reference`, relative L2, largest difference, correlation, scale."""
    with _Folder(2 * numpy.asarray(cube).nbytes) as folder:
        return json.loads(_call("compare", folder.put("a.npy", reference), folder.put("b.npy", cube), "--json"))


def _doc(op):
    lines = [op["title"] + ".", "", op["summary"], "", "Parameters:"]
    for p in op["params"]:
        unit = f" {p['unit']}" if p["unit"] else ""
        legal = ", ".join(p["choices"]) if "choices" in p else f"{p['min']:g} to {p['max']:g}" if "min" in p else p["type"]
        lines.append(f"  {p['key']} = {p['default']!r}{unit} ({legal}): {p['doc']}")
    lines += ["", "Presets: " + ", ".join(op["presets"])] if op["presets"] else []
    return "\n".join(lines + ["", "The other keywords are those of run()."])


def _function(op):
    def apply(cube=None, **keywords):
        return run(op["key"], cube, **keywords)
    of_run = [p for p in inspect.signature(run).parameters.values() if p.kind == p.KEYWORD_ONLY]
    taken = {p.name for p in of_run}
    own = [inspect.Parameter(p["key"], inspect.Parameter.KEYWORD_ONLY, default=p["default"])
           for p in op["params"] if p["key"] not in taken]
    cube = inspect.Parameter("cube", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
    apply.__signature__ = inspect.Signature([cube, *own, *of_run])
    apply.__name__ = apply.__qualname__ = op["key"]
    apply.__doc__ = _doc(op)
    return apply


def __getattr__(name):
    if name.startswith("_") or name not in operators():
        raise AttributeError(f"module 'lithoscope' has no attribute '{name}'")
    globals()[name] = _function(operators()[name])
    return globals()[name]


def __dir__():
    return sorted([*globals(), *operators()])
