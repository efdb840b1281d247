#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes docs/parameters.md from the operators' declarations (`lithoscope-cli list --json`) and docs/parameters.json.

    docs/parameters.py [--cli PATH]           writes the page
    docs/parameters.py [--cli PATH] --check   exit status 1 when the page is not up to date
"""
import argparse
import json
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

DOCS = Path(__file__).resolve().parent
HEAD = """# Parameters

Made by `docs/parameters.py` from the operators' declarations and `docs/parameters.json`: do not
edit this page. `lithoscope-cli list OPERATOR` prints the first four columns. A number may carry
its unit, as in `prewhitening=30%`.

Rows in *italics* are folded away under *Advanced* in the panel. The window shows the same texts
and pictures: the ⓘ beside the operator's name, *All parameters, with pictures…*. Where no picture
shows an effect, the last column says so.

A picture of three sections shows two results and their difference. All have one clip, unless the
colour bar of the difference says otherwise. Filters are shown with the figures of a sweep.
"""


def number(value):
    return format(Decimal(repr(value)), "f").removesuffix(".0")


def default_text(param):
    if param["type"] in ("float", "int"):
        text = number(param["default"]) + (f" {param['unit']}" if param["unit"] else "")
        special = param.get("special_text")
        return f"{text} = {special}" if special and param["special"] == param["default"] else text
    if param["type"] == "bool":
        return "on" if param["default"] else "off"
    return param["default"] or "empty"


def range_text(param):
    if param["type"] == "choice":
        return ", ".join(param["choices"])
    if param["type"] == "bool":
        return "on, off"
    if param["type"] not in ("float", "int"):
        return param["type"]
    low, high, slider = param["min"], param["max"], (param["slider_min"], param["slider_max"])
    text = f"{number(low)} to {number(high)}" if high < 1e15 else f"{number(low)} and more"
    return text if slider == (low, high) else f"{text}; slider {number(slider[0])} to {number(slider[1])}"


def row(operator, param, note):
    name = f"`{param['key']}`"
    meaning = param["doc"]
    if param["when"]:
        meaning += f" Only with `{param['when']}`."
    sides = "; ".join(f"{word}: {note[key]}" for key, word in (("low", "too low"), ("high", "too high"), ("none", "no picture"))
                      if key in note)
    formula = f"`{note['formula']}`" if "formula" in note else ""
    shown = f" ([pictures](parameters/{operator}-{param['key']}.png))" if "pictures" in note else ""
    cells = [f'<a id="{operator}-{param["key"]}"></a>' + (f"*{name}*" if param["advanced"] else name) + shown, default_text(param),
             range_text(param), meaning, formula, sides]
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def pictures(key, mine):
    """Results with values that are too low and too high, or with settings, drawn by docs/parameter_pictures.py."""
    for name, note in mine.items():
        told = note.get("pictures")
        if told and "values" in told:
            settings = told["values"].split(",")
            yield f"![{key}, {name}: {', '.join(settings[:-1])} and {settings[-1]}](parameters/{key}-{name}.png)"
            yield ""
        elif told:
            sides = [f"{told[side]} is {word}" for side, word in (("low", "too low"), ("high", "too high"))]
            yield f"![{key}, {name}: {', '.join(sides)}](parameters/{key}-{name}.png)"
            yield ""


def page(cli):
    listed = json.loads(subprocess.run([cli, "list", "--json"], check=True, capture_output=True, text=True).stdout)
    notes = json.loads((DOCS / "parameters.json").read_text())
    lines, wrong = [HEAD], []
    for operator in listed["operators"]:
        key = operator["key"]
        mine = notes.get(key, {})
        known = {param["key"] for param in operator["params"]}
        wrong += [f"docs/parameters.json tells of {key} {name}, which is no parameter" for name in mine if name not in known]
        lines += [f"## {operator['title']} (`{key}`)", "", f"{operator['summary']}", "",
                  "| parameter | default | legal values | meaning | formula | too low, too high |", "|---|---|---|---|---|---|"]
        lines += [row(key, param, mine.get(param["key"], {})) for param in operator["params"]]
        lines += ["", "| preset | settings |", "|---|---|"]
        lines += [f"| `{name}` | {f'`{settings}`' if settings else 'all defaults'} |"
                  for name, settings in operator["presets"].items()]
        lines += ["", *pictures(key, mine)]
    return "\n".join(lines), wrong


def wrapped(text):
    """Prose in lines of 98 columns; tables and headings as they are."""
    import textwrap
    out = []
    for line in text.split("\n"):
        keep = not line or line[0] in "|#!"
        out += [line] if keep else textwrap.wrap(line, 98, break_long_words=False, break_on_hyphens=False)
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=shutil.which("lithoscope-cli") or str(DOCS.parent / "build/app/lithoscope-cli"))
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text, wrong = page(arguments.cli)
    text = wrapped(text).rstrip() + "\n"
    for line in wrong:
        print(line, file=sys.stderr)
    target = DOCS / "parameters.md"
    if not arguments.check:
        target.write_text(text)
    elif not target.exists() or target.read_text() != text:
        print("docs/parameters.md is not what the declarations say: run docs/parameters.py --cli build/app/lithoscope-cli",
              file=sys.stderr)
        wrong.append("")
    sys.exit(1 if wrong else 0)


main()
