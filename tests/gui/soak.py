#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The close button of the real window, under Xvfb; prints TAP.

    soak.py LITHOSCOPE LITHOSCOPE-CLI [SECONDS [SEED]]

It ends the program with status 0 within two seconds of processor time (half a minute on a busy machine): while a
modal dialog is open, and after SECONDS (20) of random keys, clicks and wheel turns from a fixed seed."""
import ctypes
import os
import random
import subprocess
import sys
import tempfile
import time

PROGRAM, CLI = map(os.path.abspath, sys.argv[1:3])
SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 20
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 20261122
CLOSE_SECONDS = 2  # of processor time

# Keys that a person may hit; what ends the program or leaves the display is not among them.
PLAIN = [*"abcdefghijklmnopqrstuvwxyz0123456789", "space", "Tab", "Return", "Left", "Right", "Up", "Down", "Page_Up", "Page_Down",
         "Home", "End", "plus", "minus", "comma", "period", "bracketleft", "bracketright", "Delete", "F1", "F5", "F9", "F11", "question"]
WITH_CONTROL = [*"abcdefghijklmnoprstuvxyz0123456789", "Return", "Left", "Right", "Page_Up", "Page_Down", "plus", "minus", "comma"]


class Display:
    """The few calls of Xlib that press a window's close button as a window manager does."""

    def __init__(self):
        self.x = ctypes.CDLL("libX11.so.6")
        self.x.XOpenDisplay.restype = ctypes.c_void_p
        self.x.XInternAtom.restype = ctypes.c_ulong
        self.x.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
        self.x.XSendEvent.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_int, ctypes.c_long, ctypes.c_void_p]
        self.x.XFlush.argtypes = [ctypes.c_void_p]
        self.display = self.x.XOpenDisplay(None)
        assert self.display, "no display"

    def close(self, window):
        class Message(ctypes.Structure):
            _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int), ("display", ctypes.c_void_p),
                        ("window", ctypes.c_ulong), ("message_type", ctypes.c_ulong), ("format", ctypes.c_int), ("data", ctypes.c_long * 5),
                        ("room", ctypes.c_long * 24)]
        atom = lambda name: self.x.XInternAtom(self.display, name, 0)
        event = Message(type=33, window=window, message_type=atom(b"WM_PROTOCOLS"), format=32)
        event.data[0] = atom(b"WM_DELETE_WINDOW")
        self.x.XSendEvent(self.display, window, 0, 0, ctypes.byref(event))
        self.x.XFlush(self.display)


def xdotool(*words):
    return subprocess.run(["xdotool", *map(str, words)], capture_output=True, text=True, timeout=60)


def windows(pid):
    """Visible windows of the process, the largest first."""
    found = xdotool("search", "--onlyvisible", "--pid", pid).stdout.split()
    def area(window):
        size = dict(l.split("=") for l in xdotool("getwindowgeometry", "--shell", window).stdout.split() if "=" in l)
        return int(size.get("WIDTH", 0)) * int(size.get("HEIGHT", 0))
    return sorted(found, key=area, reverse=True)


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def text(file):
    file.seek(0)
    return file.read()


def act(rng):
    kind = rng.random()
    x, y = rng.randrange(10, 1270), rng.randrange(60, 790)  # below the window's own buttons
    if kind < 0.45:
        return ["key", rng.choice(PLAIN)]
    if kind < 0.6:
        return ["key", rng.choice(["ctrl+", "ctrl+", "shift+", "ctrl+shift+", "alt+"]) + rng.choice(WITH_CONTROL)]
    if kind < 0.7:
        return ["key", "Escape"]
    if kind < 0.85:
        return ["mousemove", x, y, "click", rng.choice([1, 1, 1, 3])]
    if kind < 0.92:
        return ["mousemove", x, y, "click", "--repeat", rng.randrange(1, 6), rng.choice([4, 5])]
    return ["mousemove", x, y, "mousedown", 1, "mousemove", rng.randrange(10, 1270), rng.randrange(60, 790), "mouseup", 1]


def start(home):
    env = dict(os.environ, HOME=home, XDG_CONFIG_HOME=home, XDG_STATE_HOME=home, XDG_CACHE_HOME=home, GSETTINGS_BACKEND="memory",
               LITHO_MODULE_DIR="/nonexistent", GTK_A11Y="none", G_DEBUG="", LIBGL_ALWAYS_SOFTWARE="1", GDK_BACKEND="x11")
    subprocess.run([CLI, "synth", "survey", "inlines=24", "xlines=30", "samples=120", "-o", "soak.sgy", "--no-truth", "--force"],
                   check=True, capture_output=True, env=env)
    said = open("said.txt", "w+")
    program = subprocess.Popen([PROGRAM, "soak.sgy"], env=env, stdout=said, stderr=subprocess.STDOUT)
    end = time.monotonic() + 60
    while not windows(program.pid) and time.monotonic() < end and program.poll() is None:
        time.sleep(0.2)
    time.sleep(1)
    return program, said, int(windows(program.pid)[0])


def end_by_button(program, said, window, after):
    start, before = time.monotonic(), processor_seconds(program.pid)
    Display().close(window)
    ended = 0
    while not ended and time.monotonic() < start + 30:
        ended, status, used = os.wait4(program.pid, os.WNOHANG)
        time.sleep(0.02)
    if not ended:
        program.kill()
        raise AssertionError(f"the window was still there 30 s after its close button, after {after}")
    program.returncode = os.waitstatus_to_exitcode(status)
    took = used.ru_utime + used.ru_stime - before
    print(f"# {after}: closed in {time.monotonic() - start:.2f} s, {took:.2f} s of processor time", flush=True)
    said = text(said)
    # GTK measures a bar with a wrapped sentence twice and complains about its own answer.
    bad = [l for l in said.splitlines() if ("CRITICAL" in l or "Sanitizer" in l) and "reports a minimum" not in l]
    for line in bad[:10]:
        print(f"# {line}", flush=True)
    assert program.returncode == 0, f"status {program.returncode}\n{said[-2000:]}"
    assert took < CLOSE_SECONDS, f"{took:.2f} s of processor time"
    assert not bad, bad[:5]


def dialog(home):
    """A file dialog is open, and holds the window."""
    program, said, window = start(home)
    end = time.monotonic() + 60
    while len(windows(program.pid)) < 2 and time.monotonic() < end:
        xdotool("key", "ctrl+o")
        time.sleep(2)
    assert len(windows(program.pid)) >= 2, "no dialog opened"
    end_by_button(program, said, window, "a file dialog")


def soak(home):
    program, said, window = start(home)
    rng = random.Random(SEED)
    actions = 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and program.poll() is None:
        xdotool(*act(rng))
        actions += 1
        time.sleep(0.01)
    assert program.poll() is None, f"the program ended by itself after {actions} actions: {program.returncode}\n{text(said)[-2000:]}"
    for modifier in ["shift", "ctrl", "alt"]:
        xdotool("keyup", modifier)
    end_by_button(program, said, window, f"{actions} random actions")


def main():
    if subprocess.run(["sh", "-c", "command -v xdotool"], capture_output=True).returncode != 0:
        print("1..0 # SKIP there is no xdotool")
        return
    cases = [("the close button with a dialog open", dialog), ("the close button after random keys and clicks", soak)]
    print(f"1..{len(cases)}", flush=True)
    for k, (name, case) in enumerate(cases, 1):
        with tempfile.TemporaryDirectory() as home:
            os.chdir(home)
            try:
                case(home)
                print(f"ok {k} {name}", flush=True)
            except AssertionError as e:
                print(f"not ok {k} {name}")
                for line in str(e).splitlines():
                    print(f"# {line}", flush=True)
            os.chdir("/")


if __name__ == "__main__":
    main()
