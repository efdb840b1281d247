#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a screen reader finds in the windows, asked over AT-SPI.

    a11y.py LITHOSCOPE LITHOSCOPE-CLI

Properties: every control has a name a person would say (not its class); sliders and number fields carry
the sentence that explains them and a value; the four views describe the slice they show, and the
description follows when the slice is stepped by keyboard. The same holds for the start page, for the
parameters of every operator, with an area and a snapshot there, and in every other window, each opened
by its key and closed by Escape. A control added without a name, a view whose text stays behind, or a
window that Escape does not close, fails. Skips (77) without pyatspi."""
import functools
import os
import subprocess
import sys
import tempfile
import time

try:
    import pyatspi
    from gi.repository import GLib
except ImportError:
    print('skip: pyatspi is not installed')
    sys.exit(77)

NAMES = ('lithoscope', 'Lithoscope', 'org.lithoscope.Lithoscope')
CONTROLS = {'push button', 'toggle button', 'check box', 'slider', 'spin button', 'combo box', 'text', 'image',
            'list', 'list item', 'switch', 'entry', 'progress bar', 'level bar'}
# Parts that GTK makes inside its own widgets and hides behind their owner's name.
INNER = {'GtkImage', 'GtkBuiltinIcon'}


def walk(node):
    yield node
    for child in node:
        if child is not None:
            yield from walk(child)


def reading(check):
    """Begins a reading of the tree again when the window replaced a part of it meanwhile (a new result
    fills the panel at any moment). The twentieth error is an error."""
    @functools.wraps(check)
    def again(*arguments):
        for _ in range(19):
            try:
                return check(*arguments)
            except GLib.GError as gone:
                print('note: read again:', gone.message)
                time.sleep(0.5)
        return check(*arguments)
    return again


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


@reading
def view(name):
    for node in walk(application()):
        if node.getRoleName() == 'image' and node.name == name:
            return node
    return None


def frames():
    return [node for node in application() if node is not None and node.getState().contains(pyatspi.STATE_SHOWING)]


def main():
    program, home = sys.argv[1], tempfile.mkdtemp()
    cube = os.path.join(home, 'survey.sgy')
    subprocess.run([sys.argv[2], 'synth', 'survey', 'inlines=30', 'xlines=30', 'samples=100', '-o', cube], check=True)
    failures = check_start(program, home)
    process = subprocess.Popen([program, '--operator', 'fx', cube],
                               env=dict(os.environ, GDK_BACKEND='x11', GTK_A11Y='atspi',
                                        XDG_CONFIG_HOME='/nonexistent', XDG_STATE_HOME=home))
    try:
        wait_for(application, process=process)

        def section_described():
            return (view('Inline section') or None) and 'inline' in view('Inline section').description
        wait_for(section_described)
        failures += check_names(application(), 40)
        failures += check_views()
        failures += check_operators()
        failures += check_others(process)
    finally:
        process.terminate()
        process.wait(20)
    for failure in failures:
        print('not ok:', failure)
    print('ok' if not failures else f'{len(failures)} failures')
    return 1 if failures else 0


@reading
def read_names(root):
    """Failures, and how many controls there are."""
    failures, seen = [], 0
    for node in walk(root):
        role = node.getRoleName()
        if role not in CONTROLS or node.name in INNER:
            continue
        seen += 1
        where = f'{role} {node.name!r} in {root.name!r}'
        if not node.name or node.name.startswith(('Gtk', 'Litho')):
            failures.append(f'{where} has no name')
        if role in ('slider', 'spin button'):
            if not node.description:
                failures.append(f'{where} explains nothing')
            try:
                node.queryValue().currentValue
            except NotImplementedError:
                failures.append(f'{where} has no value')
    return failures, seen


def check_names(root, least):
    """A panel that is being filled again shows a part of its controls for a moment."""
    for _ in range(20):
        failures, seen = read_names(root)
        if seen >= least:
            break
        time.sleep(0.5)
    print(seen, 'controls in', root.name)
    if seen < least:
        failures.append(f'only {seen} controls found in {root.name!r}: the tree is not the window\'s')
    return failures


def check_start(program, home):
    process = subprocess.Popen([program], env=dict(os.environ, GDK_BACKEND='x11', GTK_A11Y='atspi',
                                                   XDG_CONFIG_HOME='/nonexistent', XDG_STATE_HOME=home))
    try:
        wait_for(application, process=process)

        def choices():
            names = [node.name for node in walk(application())]
            return 'Open a cube' in names and 'Try the demo' in names
        wait_for(choices, 20, process)
        return check_names(application(), 12)
    finally:
        process.terminate()
        process.wait(20)


# Words for the palette, a parameter that only this operator has.
OPERATORS = (('Add packets', 'Noise level'), ('Add migration', 'Velocity'), ('Add modelling', 'Model'))


def check_operators():
    failures = []
    for words, parameter in OPERATORS:
        try:
            press('ctrl+shift+p')
            subprocess.run(['xdotool', 'sleep', '0.8', 'type', '--delay', '30', words], check=True)
            subprocess.run(['xdotool', 'sleep', '0.5', 'key', 'Return'], check=True)
        except (OSError, subprocess.CalledProcessError, IndexError):
            print('note: no xdotool, other operators not tried')
            return failures

        def shown():
            return any(node.name.startswith(parameter) and node.getRoleName() != 'label'
                       for node in walk(application()))
        wait_for(shown, 15)
        failures += check_names(application(), 40)
        press('ctrl+z')
        time.sleep(0.5)
    return failures


def window_id():
    ids = subprocess.run(['xdotool', 'search', '--onlyvisible', '--name', '(survey.sgy|Tip-wave modelling.*) – Lithoscope'],
                         capture_output=True, text=True, check=True).stdout.split()
    return ids[-1]


def press(*keys):
    subprocess.run(['xdotool', 'windowfocus', window_id(), 'sleep', '0.3', 'key', *keys], check=True)


# Key, words of the title, least number of controls.
OTHERS = (('ctrl+i', 'Survey', 1), ('ctrl+shift+i', 'Import', 20), ('ctrl+p', 'sweep', 4),
          ('F1', 'help', 0), ('ctrl+shift+p', 'Commands', 1), ('ctrl+question', 'Keyboard shortcuts', None))


def check_others(process):
    failures = []
    try:
        press('k', 'f')  # a snapshot and an area, in the window itself
    except (OSError, subprocess.CalledProcessError, IndexError):
        print('note: no xdotool, other windows not tried')
        return failures
    time.sleep(1)
    failures += check_names(application(), 40)
    for key, title, least in OTHERS:
        press(key)

        def other_window():
            return next((f for f in frames() if title in f.name), None)
        frame = wait_for(other_window, 15, process)
        name = frame.name
        time.sleep(1)  # filled
        if least is not None:  # else GTK's own
            failures += check_names(frame, least)
        subprocess.run(['xdotool', 'key', 'Escape'], check=True)

        def closed():
            return len(frames()) == 1
        try:
            wait_for(closed, 5, process)
        except SystemExit as why:
            if process.poll() is not None:
                raise
            failures.append(f'{name}: Escape does not close it: {why}, {[f.name for f in frames()]}')
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
    for key, word in (('d', 'Removed'), ('d', 'Output')):  # and what is shown
        subprocess.run(['xdotool', 'key', key], check=True)

        def comparison_followed():
            return all(word in view(name).description for name in ('Inline section', 'Time slice', '3-D scene'))
        wait_for(comparison_followed, 10)
    return failures


if __name__ == '__main__':
    sys.exit(main())
