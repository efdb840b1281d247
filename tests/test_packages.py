#!/usr/bin/python3
"""Debian packages of this build, installed into an empty root, run there and purged again. Prints TAP.

    test_packages.py BUILD MAKE-DEB
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

BUILD, MAKE_DEB = sys.argv[1:]
# Nothing that would help the programs to find their parts, or the build's parts instead.
ENV = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "LITHO_MODULE_DIR", "LITHO_DATA_DIR")}
top = tempfile.mkdtemp(prefix="litho-packages-")
root = os.path.join(top, "root")


def run(*args):
    r = subprocess.run(args, env=ENV, capture_output=True, text=True, timeout=300, cwd=top)
    assert r.returncode == 0, f"{args}: status {r.returncode}\n{r.stdout}\n{r.stderr}"
    return r.stdout


def dpkg(*args):
    # The root holds none of the libraries that the packages depend on.
    return run("dpkg", f"--root={root}", "--force-depends", "--log=/dev/null", *args)


def files():
    return sorted(os.path.relpath(os.path.join(folder, f), root) for folder, _, names in os.walk(os.path.join(root, "usr")) for f in names)


def the_packages_are_made():
    run("bash", MAKE_DEB, os.path.join(top, "out"), BUILD)
    made = glob.glob(os.path.join(top, "out", "*.deb"))
    names = {os.path.basename(f).split("_")[0] for f in made}
    assert "lithoscope-cli" in names, names
    assert ("lithoscope" in names) == os.path.exists(os.path.join(BUILD, "app", "lithoscope")), names
    assert ("lithoscope-cuda" in names) == bool(glob.glob(os.path.join(BUILD, "kernels", "cuda", "lithoscope-cuda.so"))), names
    for f in made:
        depends = run("dpkg-deb", "-f", f, "Depends")
        assert "libc6" in depends, depends


def they_install_and_run():
    for folder in ("updates", "info", "triggers"):
        os.makedirs(os.path.join(root, "var", "lib", "dpkg", folder))
    open(os.path.join(root, "var", "lib", "dpkg", "status"), "w").close()
    dpkg("-i", *glob.glob(os.path.join(top, "out", "*.deb")))
    assert not [f for f in files() if f.startswith("usr/local/")], files()
    cli = os.path.join(root, "usr", "bin", "lithoscope-cli")
    run(cli, "synth", "planes", "inlines=12", "xlines=12", "samples=100", "-o", "in.npy")
    run(cli, "run", "patch", "--backend", "cpu", "-i", "in.npy", "-o", "out.npy")
    assert os.path.getsize(os.path.join(top, "out.npy")) == os.path.getsize(os.path.join(top, "in.npy"))
    window = os.path.join(root, "usr", "bin", "lithoscope")
    if os.path.exists(window):
        assert run(window, "--version").startswith("lithoscope ")


def they_leave_nothing():
    dpkg("--purge", *{line.split()[1] for line in dpkg("-l").splitlines() if line.startswith("ii")})
    assert files() == [], files()


lacking = [tool for tool in ("dpkg-shlibdeps", "strip", "xz") if not shutil.which(tool)]
if lacking or os.geteuid() != 0:
    print("1..0 # SKIP " + (f"there is no {lacking[0]}" if lacking else "dpkg installs for root only"))
    shutil.rmtree(top)
    sys.exit(0)
steps = [the_packages_are_made, they_install_and_run, they_leave_nothing]
print(f"1..{len(steps)}")
bad = 0
for k, step in enumerate(steps, 1):
    name = step.__name__.replace("_", " ")
    try:
        step()
        print(f"ok {k} {name}")
    except AssertionError as e:
        bad += 1
        print(f"not ok {k} {name}\n# " + str(e).replace("\n", "\n# "))
shutil.rmtree(top)
sys.exit(1 if bad else 0)
