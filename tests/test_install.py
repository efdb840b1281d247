#!/usr/bin/python3
"""`meson install` into a folder that is then moved: the programs run from there, with their library and modules.

    test_install.py BUILD PREFIX BINDIR
"""
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

BUILD, PREFIX, BINDIR = sys.argv[1:]
# Nothing that would help the programs to find their parts, or the build's parts instead.
ENV = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "LITHO_MODULE_DIR")}


def run(*args, status=0):
    r = subprocess.run(args, env=ENV, capture_output=True, text=True, timeout=300)
    assert r.returncode == status, f"{args}: status {r.returncode}\n{r.stdout}\n{r.stderr}"
    return r


def has_module(root, name):
    return any(name in files for _, _, files in os.walk(root))


def check(root):
    cli = os.path.join(root, BINDIR, "lithoscope-cli")
    assert run(cli, "--version").stdout.startswith("lithoscope-cli ")
    maps = run("ldd", cli).stdout
    assert "liblithoscope-core.so => " + os.path.realpath(root) in maps.replace(root, os.path.realpath(root)), maps
    assert BUILD not in maps, maps
    run(cli, "synth", "planes", "inlines=12", "xlines=12", "samples=100", "-o", "in.npy")
    run(cli, "run", "fx", "--backend", "cpu", "-i", "in.npy", "-o", "out.npy")
    assert os.path.getsize("out.npy") == os.path.getsize("in.npy")
    window = os.path.join(root, BINDIR, "lithoscope")
    if os.path.exists(window):
        assert run(window, "--version").stdout.startswith("lithoscope ")


def check_texts(root):
    """Manual pages, completion, the recipe's schema, and the Python package, which finds the program beside it."""
    found = {name: os.path.join(folder, name) for folder, _, files in os.walk(root) for name in files}
    for name in ("lithoscope-cli.1", "lithoscope-operators.7", "lithoscope-cli.bash", "_lithoscope-cli", "lithoscope-cli.fish", "recipe.schema.json"):
        assert os.path.getsize(found[name]) > 1000, name
    folders = [folder for folder, _, files in os.walk(root) if folder.endswith("/lithoscope") and "__main__.py" in files]
    if folders and importlib.util.find_spec("numpy"):
        env = {**ENV, "PYTHONPATH": os.path.dirname(folders[0]), "PYTHONDONTWRITEBYTECODE": "1"}
        env.pop("LITHOSCOPE_CLI", None)
        r = subprocess.run([sys.executable, "-c", "import lithoscope; print(lithoscope.program()); lithoscope.operators()"],
                           env=env, capture_output=True, text=True)
        assert r.stdout.strip() == os.path.join(root, BINDIR, "lithoscope-cli"), r.stdout + r.stderr
    # A program that is an operator finds the package by itself.
    if importlib.util.find_spec("numpy"):
        examples = os.path.dirname(found["median.json"])
        env = {**ENV, "PATH": os.path.dirname(sys.executable) + ":" + os.environ["PATH"]}
        env.pop("LITHO_DATA_DIR", None)
        env.pop("PYTHONPATH", None)
        r = subprocess.run([os.path.join(root, BINDIR, "lithoscope-cli"), "--operators", examples, "run", "median", "-i", "in.npy",
                            "-o", "median.npy"], env=env, capture_output=True, text=True)
        assert r.returncode == 0, r.stderr


def check_cuda(root):
    r = subprocess.run([os.path.join(root, BINDIR, "lithoscope-cli"), "run", "fx", "--backend", "cuda", "-i", "in.npy", "-o", "gpu.npy"],
                       env=ENV, capture_output=True, text=True)
    assert r.returncode == 0 or "was not built or not found" not in r.stderr, r.stderr


def check_mpi(root):
    mpirun = shutil.which("mpirun")
    if not mpirun:
        return "there is no mpirun"
    run(mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2", os.path.join(root, BINDIR, "lithoscope-cli"), "run", "fx", "--backend", "cpu",
        "-i", "in.npy", "-o", "ranks.npy")
    assert open("ranks.npy", "rb").read() == open("out.npy", "rb").read()
    return None


def main():
    top = tempfile.mkdtemp(prefix="litho-install-")
    os.chdir(top)
    r = subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", os.path.join(top, "dest")],
                       capture_output=True, text=True)
    assert r.returncode == 0, r.stdout + r.stderr
    root = os.path.join(top, "moved")
    os.rename(os.path.join(top, "dest", PREFIX.lstrip("/")), root)
    steps = [("programs", check, True), ("texts-and-python", check_texts, True), ("cuda-module", check_cuda, has_module(root, "lithoscope-cuda.so")),
             ("mpi-module", check_mpi, has_module(root, "lithoscope-mpi.so"))]
    print(f"1..{len(steps)}")
    bad = 0
    for k, (name, step, there) in enumerate(steps, 1):
        try:
            why = step(root) if there else "not built"
            print(f"ok {k} {name}" + (f" # SKIP {why}" if why else ""))
        except AssertionError as e:
            bad += 1
            print(f"not ok {k} {name}\n# " + str(e).replace("\n", "\n# "))
    shutil.rmtree(top)
    return 1 if bad else 0


sys.exit(main())
