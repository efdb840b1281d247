# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a Python function an operator of Lithoscope: sliders, previews, Find, whole surveys.

    from lithoscope.external import serve

    def double(cube, gain):         # cube[inline, crossline, sample], float32; the panel's parameters
        return gain * cube          # an array of the same shape

    serve(double)

A panel, a small JSON file, names the program and its parameters; docs/external.md describes it. What the function prints
goes to standard error: standard output carries cubes.
"""
import inspect
import json
import os
import sys
import traceback

import numpy

__all__ = ["serve", "progress"]

_MAGIC = b"LITHO-CUBE 1"


def progress(part):
    """Tells how much of the present cube is done, 0 to 1, before its first samples are written."""
    print(f"LITHO-PROGRESS {part:.4f}", file=sys.stderr, flush=True)


def _read_request(stream):
    """(cube, about) of the next request, or None at the end."""
    line = stream.readline()
    if not line:
        return None
    words = line.split()
    if not line.startswith(_MAGIC) or len(words) != 5:
        raise SystemExit(f"a request begins with {line[:60]!r}; {_MAGIC.decode()} and three sizes are needed")
    cube = numpy.empty([int(word) for word in words[2:]], dtype="<f4")
    about = json.loads(stream.readline())
    view = memoryview(cube).cast("B")
    at = 0
    while at < len(view):
        got = stream.readinto(view[at:])
        if not got:
            raise SystemExit(f"the request ends after {at} of {len(view)} bytes")
        at += got
    return cube, about


def _answer(function, cube, about):
    shape = cube.shape
    keywords = dict(about["parameters"])
    if "about" in inspect.signature(function).parameters:
        keywords["about"] = about
    result = numpy.ascontiguousarray(function(cube, **keywords), dtype="<f4")
    if result.shape != shape:
        raise ValueError(f"the result has the shape {result.shape}; {shape} is needed")
    return result


def serve(function):
    """Answers requests until there are no more: function(cube, **parameters) gives a cube of the shape of its input.

    A function with a parameter `about` gets the whole second line of the request, a dictionary: sample_interval,
    first_sample, inline_spacing, xline_spacing, threads, cube, wanted, survey. Whatever the function raises becomes the
    sentence that the user reads.
    """
    with os.fdopen(os.dup(0), "rb") as requests, os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # prints of the function and of its libraries
        while True:
            request = _read_request(requests)
            if request is None:
                return
            try:
                result = _answer(function, *request)
            except Exception as problem:  # the function's own, of any kind
                traceback.print_exc()
                sentence = " ".join(f"{type(problem).__name__}: {problem}".split())
                answers.write(f"LITHO-ERROR {sentence[:1000]}\n".encode())
            else:
                answers.write(_MAGIC + b" %d %d %d\n" % result.shape)
                answers.write(result.data)
            answers.flush()
