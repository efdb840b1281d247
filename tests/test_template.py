#!/usr/bin/env python3
# The promise of kernels/meson.build: a copy of the example, renamed, and one word in the list make a
# new operator. Done in a scratch copy of the source, by the words of docs/tour.md and nothing else;
# only the example's copy stays in the list, so that little has to be compiled (and so that nothing
# outside kernels/ may need an operator by name). Skips without a compiler at hand.
import os, re, shutil, subprocess, sys, tempfile

KEY, NAME = "runmean", "Runmean"
FLAGS = ["-Dwindow=disabled", "-Dcuda=disabled", "-Dmpi=disabled", "-Dtests=false", "-Dnative=false",
         "--buildtype=plain"]


def copy_template(root):
    folder = os.path.join(root, "kernels", KEY)
    shutil.copytree(os.path.join(root, "kernels", "template"), folder)
    for at, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(at, name)
            with open(path) as f:
                text = f.read()
            os.remove(path)
            text = text.replace("template", KEY).replace("Template", NAME).replace("TEMPLATE", KEY.upper())
            with open(os.path.join(at, name.replace("template", KEY)), "w") as f:
                f.write(text)


def put_into_list(root):
    path = os.path.join(root, "kernels", "meson.build")
    with open(path) as f:
        text = f.read()
    text, n = re.subn(r"^operators = \[.*\]$", f"operators = ['{KEY}']", text, flags=re.M)
    assert n == 1, "kernels/meson.build has no one line 'operators = [...]'"
    with open(path, "w") as f:
        f.write(text)


def run(*command, **how):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-6000:]}"
    return done.stdout


def main():
    source = os.path.abspath(sys.argv[1])
    if not shutil.which("meson") or not shutil.which("ninja"):
        print("meson and ninja are needed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        root = os.path.join(scratch, "source")
        shutil.copytree(source, root, ignore=shutil.ignore_patterns(".git", "build*", "*.png"))
        copy_template(root)
        put_into_list(root)
        build = os.path.join(scratch, "build")
        run("meson", "setup", build, root, *FLAGS)
        run("ninja", "-C", build, "app/lithoscope-cli")
        cli = os.path.join(build, "app", "lithoscope-cli")

        listed = run(cli, "list")
        assert re.search(rf"^{KEY}\s", listed, re.M), listed
        assert "halfwidth" in run(cli, "list", KEY)
        data, out = os.path.join(scratch, "in.npy"), os.path.join(scratch, "out.npy")
        run(cli, "synth", "planes", "-o", data)
        run(cli, "run", KEY, "halfwidth=0", "gain=2", "-i", data, "-o", out)
        with open(data, "rb") as f:
            a = f.read()
        with open(out, "rb") as f:
            b = f.read()
        head = 10 + int.from_bytes(a[8:10], "little")
        x, y = memoryview(a[head:]).cast("f"), memoryview(b[-len(a) + head:]).cast("f")
        assert len(x) == len(y) > 1000 and any(x)
        assert all(2 * p == q for p, q in zip(x, y)), "gain=2 does not double the samples"
    print("copied, renamed, listed, run")


main()
