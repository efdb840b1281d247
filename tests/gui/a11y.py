#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a screen reader finds in the window, asked over AT-SPI.

Properties: every control has a name a person would say (not its class); sliders and number fields carry
the sentence that explains them; the four views describe the slice they show, and the description follows
when the slice is stepped by keyboard. A control added without a name, or a view whose text stays behind,
fails. Skips (77) without pyatspi."""
import os
import subprocess
import sys
import tempfile
import time

try:
    import pyatspi
except ImportError:
    print('skip: pyatspi is not installed')
    sys.exit(77)

NAMES = ('lithoscope', 'Lithoscope', 'org.lithoscope.Lithoscope')
CONTROLS = {'push button', 'toggle button', 'check box', 'slider', 'spin button', 'combo box', 'text', 'image',
            'list', 'switch', 'entry'}
# Parts that GTK makes inside its own widgets and hides behind their owner's name.
INNER = {'GtkImage', 'GtkBuiltinIcon'}


def walk(node):
    yield node
    for child in node:
        if child is not None:
            yield from walk(child)


def wait_for(what, seconds=40, process=None):
    end = time.time() + seconds
    while time.time() < end:
        if process is not None and process.poll() is not None:
            raise SystemExit(f'the program ended with {process.returncode}')
        try:
            found = what()
        except Exception:  # the tree changes while it is read
            found = None
        if found:
            return found
        time.sleep(0.25)
    raise SystemExit(f'timed out waiting for {what.__name__}')


def application():
    for app in pyatspi.Registry.getDesktop(0):
        if app is not None and app.name in NAMES:
            return app
    return None


def view(name):
    for node in walk(application()):
        if node.getRoleName() == 'image' and node.name == name:
            return node
    return None


def main():
    program, home = sys.argv[1], tempfile.mkdtemp()
    process = subprocess.Popen([program, '--demo', '--operator', 'fx'],
                               env=dict(os.environ, GDK_BACKEND='x11', GTK_A11Y='atspi',
                                        XDG_CONFIG_HOME='/nonexistent', XDG_STATE_HOME=home))
    try:
        wait_for(application, process=process)

        def section_described():
            return (view('Inline section') or None) and 'inline' in view('Inline section').description
        wait_for(section_described)
        failures = check_names()
        failures += check_views()
    finally:
        process.terminate()
        process.wait(20)
    for failure in failures:
        print('not ok:', failure)
    print('ok' if not failures else f'{len(failures)} failures')
    return 1 if failures else 0


def check_names():
    failures, seen = [], 0
    for node in walk(application()):
        role = node.getRoleName()
        if role not in CONTROLS or node.name in INNER:
            continue
        seen += 1
        if not node.name or node.name.startswith(('Gtk', 'Litho')):
            failures.append(f'{role} without a name: {node.name!r} in {node.parent.name!r}')
        if role in ('slider', 'spin button') and not node.description:
            failures.append(f'{role} {node.name!r} explains nothing')
    print(seen, 'controls')
    if seen < 40:
        failures.append(f'only {seen} controls found: the tree is not the window\'s')
    return failures


def check_views():
    failures = []
    for name, word in (('Inline section', 'inline'), ('Crossline section', 'crossline'),
                       ('Time slice', 'time'), ('3-D scene', 'put')):
        node = view(name)
        if node is None or word not in node.description:
            failures.append(f'{name}: {node.description if node else "missing"!r}')
    before = view('Inline section').description
    try:
        ids = subprocess.run(['xdotool', 'search', '--onlyvisible', '--name', 'Lithoscope'],
                             capture_output=True, text=True, check=True).stdout.split()
        # A click on the section gives it the keyboard, a key steps it.
        subprocess.run(['xdotool', 'windowfocus', ids[-1], 'mousemove', '--window', ids[-1], '480', '300',
                        'click', '1', 'sleep', '0.5', 'key', 'Down', 'key', 'Down'], check=True)
    except (OSError, subprocess.CalledProcessError, IndexError):
        print('note: no xdotool, keys not tried')
        return failures

    def description_followed():
        return view('Inline section').description != before
    wait_for(description_followed, 10)
    print(before, '->', view('Inline section').description)
    return failures


if __name__ == '__main__':
    sys.exit(main())
