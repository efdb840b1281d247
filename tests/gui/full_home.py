#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real window, under Xvfb, where the disk of the home folder has no byte left; prints TAP.

    full_home.py LITHOSCOPE LITHOSCOPE-CLI

Started twice: the first start leaves Mesa's cache of shaders half made, the second one finds it so. Both drag a
parameter for a second and end with status 0. A home folder that may not be written to does as well."""
import os
import subprocess
import sys
import tempfile

PROGRAM, CLI = map(os.path.abspath, sys.argv[1:3])
# A file system of 64 KiB in a name space of its own, where the machine allows one.
INSIDE = """
set -e
mkdir home && mount -t tmpfs -o size=64k tmpfs home
if [ "$1" = full ]; then head -c 1M /dev/zero > home/filler 2>/dev/null || true
else mount -o remount,ro home; fi
export HOME=$PWD/home XDG_CACHE_HOME=$PWD/home/cache # Mesa looks for the home folder elsewhere
for k in first second; do "$2" small.npy -o fx --measure 1; done
"""


def start(kind):
    with tempfile.TemporaryDirectory() as folder:
        # GTK calls a folder that it cannot make critical; that must not end the program here.
        leave_out = ("XDG_", "MESA_", "LITHO_SCREENSHOTS", "G_DEBUG")
        keep = {k: v for k, v in os.environ.items() if not k.startswith(leave_out)}
        keep["XDG_RUNTIME_DIR"] = folder
        subprocess.run([CLI, "synth", "survey", "inlines=12", "xlines=10", "samples=40", "-o", "small.npy", "--no-truth"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        return subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", INSIDE, "sh", kind, PROGRAM], cwd=folder,
                              env=keep, capture_output=True, text=True, errors="replace", timeout=170)


def allowed():
    return subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt"],
                          capture_output=True).returncode == 0


print("1..2")
failed = 0
for number, kind in enumerate(("full", "read-only"), 1):
    if not allowed():
        print(f"ok {number} {kind} # SKIP this machine gives no name space of mounts")
        continue
    r = start(kind)
    good = r.returncode == 0 and r.stdout.count("frames") >= 2
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} {kind}")
    if not good:
        print(f"# status {r.returncode}\n# " + "\n# ".join((r.stdout + r.stderr).splitlines()[-30:]))
sys.exit(failed > 0)
