#!/usr/bin/python3
"""Reads every #include and fails when one draws an arrow that the architecture forbids.

    app -> everything; ui -> render, core, GTK; render -> core, epoxy, cairo; kernels -> core, FFTW, BLAS,
    OpenMP (CUDA only in kernels/OPERATOR/cuda and kernels/cuda); core -> GLib, GIO, json-glib.

With --self-test it also checks that a forbidden include is found, so that a pass means something.
"""
import os
import re
import sys

OWN = {
    "core": {"core"},
    "kernels": {"kernels", "core"},
    "render": {"render", "core"},
    "ui": {"ui", "render", "core"},
    "app": {"app", "ui", "render", "kernels", "core"},
    "tests": {"tests", "app", "ui", "render", "kernels", "core"},
}
# Inside core/: the ground floor (files of core/ itself) stands alone, io/ stands on it, engine/ on both,
# synth/ beside engine/; show/ (scripts of
# demonstrations) names generators and flows, and runs nothing.
CORE = {"": {""}, "io": {"", "io"}, "engine": {"", "io", "engine"}, "synth": {"", "io", "synth"},
        "show": {"", "io", "synth", "show"}}
# header prefix -> folders that may include it
FOREIGN = [
    (r"gtk/|gdk/|gsk/|graphene", {"ui", "app", "tests"}),
    (r"epoxy/|GL/|EGL/|KHR/", {"render", "ui", "app", "tests", "cuda"}),
    (r"cairo|pango", {"render", "ui", "app", "tests"}),
    (r"cuda|cufft|cufinufft|cublas|cusolver|nccl|cooperative_groups|mma\.h|cub/", {"cuda"}),
    (r"fftw3", {"kernels", "app", "tests"}),
    (r"lapacke|cblas|openblas", {"kernels", "cuda", "app", "tests"}),
    (r"segyio", {"tests"}),
    (r"zfp", {"core", "kernels", "app", "tests"}),
    (r"zstd", {"core", "kernels", "app", "tests"}),
    (r"mpi\.h", {"app"}),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def role(path):
    """The folder's name, or "cuda" for the parts of kernels/ that live in the module."""
    top = path.split("/")[0]
    if top == "kernels" and "cuda" in path.split("/")[1:-1]:
        return "cuda"
    return top


def room(path):
    """The second folder of a path, "" for files that lie in the first."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def inside(path, name):
    """What an include within core/ or within kernels/ breaks, or None."""
    top, here, there = path.split("/")[0], room(path), room(name)
    if top != name.split("/")[0]:
        return None
    if top == "core" and there not in CORE.get(here, {here}):
        return f"core/{here} may not use core/{there}" if here else f"core's ground floor may not use core/{there}"
    if top == "kernels" and here not in ("", there) and there not in ("", "common", "cuda"):
        return f"the operator {here} may not use the operator {there}"
    return None


def violations(path, text):
    who = role(path)
    own = OWN.get("kernels" if who == "cuda" else who)
    if own is None:
        return
    for quote, name in INCLUDE.findall(text):
        top = name.split("/")[0]
        if quote == '"' and "/" in name and top in OWN and top not in own:
            yield f"{path}: includes {name}; {who}/ may use {', '.join(sorted(own))}"
        if quote == '"' and who != "tests" and top in OWN and path.split("/")[0] != "kernels" and top == "kernels" and who != "app":
            yield f"{path}: includes {name}; only app/ and tests/ may use kernels/"
        if quote == '"' and inside(path, name):
            yield f"{path}: includes {name}; {inside(path, name)}"
        for pattern, allowed in FOREIGN:
            if quote == "<" and re.match(pattern, name) and who not in allowed:
                yield f"{path}: includes <{name}>, which only {', '.join(sorted(allowed))} may use"
        if who == "cuda" and path.endswith((".cu", ".cuh")) and re.match(r"glib|gio/|json-glib|core/", name):
            yield f"{path}: includes {name}; .cu files take plain types only"


def sources(root):
    for top in OWN:
        for folder, _, files in os.walk(os.path.join(root, top)):
            for f in files:
                if f.endswith((".c", ".h", ".cu", ".cuh")):
                    full = os.path.join(folder, f)
                    yield os.path.relpath(full, root), open(full, encoding="utf-8").read()


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    planted = [
        ("core/x.c", "#include <gtk/gtk.h>"), ("core/x.c", "#include <fftw3.h>"),
        ("ui/x.c", '#include "kernels/fx/fx.h"'), ("render/x.c", '#include "ui/window.h"'),
        ("kernels/fx/x.c", "#include <cuda_runtime.h>"), ("kernels/fx/cuda/fx.cu", "#include <glib.h>"),
        ("kernels/fx/cpu/x.c", "#include <cuda_runtime.h>"),
        ("core/x.c", '#include "core/io/survey.h"'), ("core/x.h", '#include "core/engine/engine.h"'),
        ("core/io/x.c", '#include "core/engine/worker.h"'), ("core/show/x.c", '#include "core/engine/worker.h"'), ("core/engine/x.c", '#include "core/synth/synth.h"'),
        ("kernels/fx/cpu/x.c", '#include "kernels/migrate/job.h"'),
        ("kernels/common/x.c", '#include "kernels/fx/fx.h"'),
        ("kernels/fx/x.c", '#include "render/texture.h"'), ("render/x.c", "#include <cuda.h>"),
    ]
    missed = [p for p, text in planted if not list(violations(p, text))]
    fine = [("core/engine/x.c", '#include "core/io/survey.h"'), ("core/io/x.c", '#include "core/cube.h"'),
            ("kernels/fx/x.c", '#include "kernels/common/noise.h"'),
            ("kernels/fx/cuda/fx.c", '#include "kernels/cuda/cuda.h"'),
            ("kernels/fx/cuda/fx.c", "#include <cuda_runtime.h>"), ("ui/x.c", '#include "render/a.h"')]
    wrong = [p for p, text in fine if list(violations(p, text))]
    found = [v for path, text in sources(root) for v in violations(path, text)]
    for v in found:
        print(v)
    for p in missed + wrong:
        print(f"self-test failed for {p}")
    sys.exit(1 if found or missed or wrong else 0)


main()
