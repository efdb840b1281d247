#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The translations have every text of the program, and the command line speaks them. Prints TAP.

    test_translation.py PATH/lithoscope-cli BUILD_FOLDER
"""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from cli_tap import cli, run, test
import sys

TOP = Path(os.environ.get("LITHO_SOURCE_ROOT", Path(__file__).resolve().parent.parent))
BUILD = Path(sys.argv[2]).resolve()
PO = TOP / "data" / "po"
GERMAN = {**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": "de", "LITHO_LOCALE_DIR": str(BUILD / "data" / "po")}


def tool(*command):
    r = subprocess.run(command, capture_output=True, text=True, cwd=TOP, env={**os.environ, "LC_ALL": "C"})
    assert r.returncode == 0, r.stderr
    return r.stdout + r.stderr


def marks():
    """What xgettext looks for, from the build's own description."""
    text = (PO / "meson.build").read_text()
    return re.findall(r"'(--(?:keyword|flag)=[^']+)'", text)


def template(name):
    """The texts of the source as it is now."""
    # The keywords that the build's preset for GLib adds.
    plain = ["--from-code=UTF-8", "--keyword=_", "--keyword=N_"]
    formats = [f"--flag={f}:c-format" for f in ("g_strdup_printf:1", "g_set_error:4", "g_snprintf:3",
                                                "g_string_append_printf:2", "g_string_printf:2")]
    tool("xgettext", *plain, *formats, *marks(), "-f", "data/po/POTFILES", "-o", os.path.abspath(name))
    return os.path.abspath(name)


# A file that is not in POTFILES has texts that no translator sees.
@test
def every_file_with_texts_is_listed():
    listed = set((PO / "POTFILES").read_text().split())
    words = [re.escape(k.split("=")[1].split(":")[0]) for k in marks() if k.startswith("--keyword")]
    marked = re.compile(r"\b(?:N_|_|" + "|".join(words) + r")\(\s*(?:[^;\"]*,\s*)?\"")
    found = set()
    for part in ("app", "core", "kernels", "render", "ui"):
        for file in (TOP / part).rglob("*.c"):
            if marked.search(file.read_text()):
                found.add(str(file.relative_to(TOP)))
    found.discard("core/text.c")
    assert found <= listed, f"not in data/po/POTFILES: {sorted(found - listed)}"
    gone = [f for f in listed if not (TOP / f).is_file()]
    assert not gone, f"in data/po/POTFILES and not there: {gone}"


# Property: each translation has every text, none of them fuzzy, with the conversions of the English
# sentence. A text that changes in the source fails here until its translation follows.
@test
def translations_are_complete():
    pot = template("now.pot")
    for language in (PO / "LINGUAS").read_text().split():
        po = PO / f"{language}.po"
        r = subprocess.run(["msgcmp", po, pot], capture_output=True, text=True)
        said = [line for line in r.stderr.splitlines() if "not used" not in line]
        assert r.returncode == 0, f"{po.name}:\n" + "\n".join(said[:20])
        told = tool("msgfmt", "-c", "--statistics", "-o", os.devnull, str(po))
        assert "fuzzy" not in told and "untranslated" not in told, told
        shutil.copy(po, "one.po")


# A script's JSON holds no mark that xgettext finds; its texts stand once more where it looks.
@test
def texts_of_demonstrations_are_listed():
    listed = re.sub(r'"\s+"', "", (TOP / "core" / "show" / "script_texts.c").read_text())
    scripts = [*(TOP / "data" / "demos").glob("*.json"), *(TOP / "data" / "surveys").glob("*/demo.json")]
    assert len(scripts) > 10, scripts
    for path in scripts:
        script = json.loads(path.read_text())
        for text in [script["title"], script.get("summary", ""), *(step.get("caption", "") for step in script["steps"])]:
            assert not text or f'"{text}"' in listed, f"{path.name}: not in core/show/script_texts.c: {text}"


# The table of the papers' figures is JSON, too. What has no two letters beside each other is a number or
# a unit.
@test
def texts_of_the_papers_are_listed():
    listed = re.sub(r'"\s+"', "", (TOP / "app" / "reproduce_texts.c").read_text())
    for figure in json.loads((TOP / "data" / "reproduce.json").read_text())["figures"]:
        shown = [figure.get(k, "") for k in ("paper", "item", "what", "refuse")]
        for text in shown + [v[k] for v in figure.get("values", []) for k in ("what", "says")]:
            assert not re.search("[a-z]{2}", text) or f'"{text}"' in listed, f"{figure['id']}: not in app/reproduce_texts.c: {text}"


# Property: a German session reads the table of the papers in German; what is written stays English.
@test
def reproduced_figures_speak_german():
    assert "Tabelle 1: 256 x 256 x 256, Hin- und R" in cli("reproduce", "--list", env=GERMAN).stdout
    r = cli("reproduce", "fx-2021-redundant-reads", "--json", "rep.json", env=GERMAN)
    assert "abgelehnt: d" in r.stdout and "Abtastwert einmal" in r.stdout, r.stdout
    assert "once by their structure" in Path("rep.json").read_text()


# Property: a program that German was asked of says German sentences; what is parsed stays as it is:
# names of parameters, recipes with points, JSON.
@test
def command_line_speaks_german():
    r = cli("info", "nothing.sgy", status=1, env=GERMAN)
    assert "nicht" in r.stderr or "kann" in r.stderr, r.stderr
    r = cli("list", "fx", env=GERMAN)
    assert "Dämpfung des Filters" in r.stdout and "prewhitening" in r.stdout, r.stdout[:500]
    assert "Benutzung" in cli("run", "--help", env=GERMAN).stdout or "IN und OUT" in cli("run", "--help", env=GERMAN).stdout
    cli("synth", "planes", "-o", "p.sgy", "inlines=24", "xlines=24", "samples=64", env=GERMAN)
    r = cli("run", "fx", "prewhitening=2.5", "-i", "p.sgy", "-o", "f.sgy", "--save-recipe", "r.json", "--report", "q.json", env=GERMAN)
    assert "Signalverlust" in r.stdout and json.load(open("q.json"))["similarity_reading"] in (
        "removed looks like noise", "some signal leaves", "events leave"), r.stdout
    recipe = json.loads(Path("r.json").read_text())
    assert recipe["flow"][0]["params"]["prewhitening"] == 2.5, recipe
    r = cli("run", "fx", "prewhitening=2,5", "-i", "p.sgy", "-o", "g.sgy", status=2, env=GERMAN)
    assert "prewhitening" in r.stderr, r.stderr
    r = cli("run", "migrate", "velocity=2.5", "-i", "p.sgy", "-o", "g.sgy", status=1, env=GERMAN)
    assert "es muss 10 bis 100000 m/s sein; es sieht nach km/s aus" in r.stderr, r.stderr
    r = cli("find", "fx", "-i", "p.sgy", "--seconds", "0.1", env=GERMAN)
    assert r.stdout.startswith("Parameter ") and "gefunden" in r.stdout.splitlines()[0], r.stdout


# Property: what a German session measured holds in an English one: recipes name it by the same key.
@test
def measured_numbers_hold_in_every_language():
    cli("synth", "planes", "-o", "m.sgy", "inlines=24", "xlines=24", "samples=64", "--force")
    for op in ("patch", "wavepacket"):
        keys = []
        for env in (None, GERMAN):
            cli("run", op, "-i", "m.sgy", "-o", "n.sgy", "--force", "--save-recipe", "s.json", **({"env": env} if env else {}))
            keys.append(json.loads(Path("s.json").read_text())["flow"][0]["measured"]["key"])
        assert keys[0] == keys[1], keys


# Names of choices that are no words: authors, letters of the papers, numbers.
NO_WORDS = {"cov", "acf", "cholesky", "jacobi", "kaiser", "gaussian", "chebyshev", "fft", "alg1", "alg2", "mod2",
            "1e-3", "1e-4", "2e-5"}


# Property: names of choices and presets, which windows show translated, are words of the catalogue.
@test
def names_of_choices_have_translations():
    known = set(re.findall(r'^msgid "(.*)"$', (PO / "de.po").read_text(), re.M))
    operators = json.loads(cli("list", "--json").stdout)["operators"]
    for op in operators:
        names = list(op["presets"]) + [c for row in op["params"] for c in row.get("choices", [])]
        missing = [n for n in names if n not in known | NO_WORDS]
        assert not missing, f"{op['key']}: not marked for translation: {missing}"


# Property: the pages that the window shows have their German parts: each paragraph of the help, each
# sentence of the notes on parameters.
@test
def german_pages_are_whole():
    english, german = [(TOP / "data" / f"help{x}.txt").read_text() for x in ("", ".de")]
    for mark in ("\n\n", "<b>", "</b>", "<i>", "<tt>", "<big>"):
        assert english.count(mark) == german.count(mark), f"help.de.txt: {mark!r} {german.count(mark)} times"
    notes, words = [json.loads((TOP / "docs" / f"parameters{x}.json").read_text()) for x in ("", ".de")]
    told = {row[k] for op, rows in notes.items() if op != "about" for row in rows.values() for k in row if k in ("low", "high", "none", "formula")}
    missing = {row[k] for op, rows in notes.items() if op != "about" for row in rows.values() for k in ("low", "high", "none") if k in row} - set(words)
    assert not missing, f"not in docs/parameters.de.json: {sorted(missing)}"
    assert not set(words) - told - {"about"}, f"no sentence of docs/parameters.json: {sorted(set(words) - told)}"


# Property: the table of a benchmark speaks German with points in its numbers; its JSON is English.
@test
def bench_speaks_german():
    r = cli("bench", "fx", "--size", "24x24x64", "--backends", "cpu", "--repeat", "1", "--json", "b.json", env=GERMAN)
    assert "Mediane." in r.stdout and "Kerne" in r.stdout and "Medians." not in r.stdout, r.stdout
    assert "Vektor" not in Path("b.json").read_text() and "x86-64" not in r.stderr, r.stderr


# Property: JSON says the same in every language: where its numbers come from, and why none can be told.
@test
def json_is_english():
    cli("synth", "planes", "-o", "j.sgy", "inlines=24", "xlines=24", "samples=64", "--force")
    assert cli("info", "j.sgy", "--json", env=GERMAN).stdout == cli("info", "j.sgy", "--json").stdout
    found = [json.loads(cli("find", "fx", "-i", "j.sgy", "--seconds", "0.1", "--json", **more).stdout) for more in ({"env": GERMAN}, {})]
    assert found[0]["quality_now"]["note"] == found[1]["quality_now"]["note"] != "", found


# Property: without a language, and in one that there is no translation for, the program speaks English.
@test
def other_languages_get_english():
    for more in ({"LC_ALL": "C", "LANGUAGE": "de"}, {"LC_ALL": "C.UTF-8", "LANGUAGE": "tlh"}):
        r = cli("list", "fx", env={**GERMAN, **more})
        assert "Damping of the filter" in r.stdout, r.stdout[:300]


# Property: texts that other programs read, such as completions and manual pages, are English.
@test
def made_pages_are_english():
    assert "Damping of the filter" in cli("help", "--man-operators", env=GERMAN).stdout
    parameters = json.loads(cli("list", "fx", "--json", env=GERMAN).stdout)
    assert "Damping" in json.dumps(parameters), "list --json"


if not all(shutil.which(t) for t in ("xgettext", "msgcmp", "msgfmt")):
    print("1..0 # SKIP gettext is not installed")
else:
    run()
