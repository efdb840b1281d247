#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of README.md, docs/ and data/surveys/ work as they are written. Prints TAP.

    test_docs.py PATH/lithoscope-cli [FILE.md ...]

Every fenced block marked `sh` runs from top to bottom in a scratch folder of its document: `lithoscope-cli` is on the
path and at build/app/, the document finds a small noisy `survey.sgy` and its `truth.sgy`, and a later block finds the
files of an earlier one. A block that cannot run here says so in the line above its fence:

    <!-- not run: needs a GPU -->

Fails when a command fails, when a command stands in an indented block (where nothing would run it), when a link leads
nowhere, when the window lacks a key in bold, and when a line of prose is longer than 100 columns. The pages that scripts
make are checked as well: docs/parameters.md must be what the declarations say, docs/benchmarks.py must fill a table, and
docs/guide/pictures.sh must make the guide's pictures.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CLI = Path(sys.argv[1]).resolve()
TOP = Path(os.environ.get("LITHO_SOURCE_ROOT", Path(__file__).resolve().parent.parent))
COMMANDS = r"(?:\$ )?(?:\S+/)?(?:lithoscope|lithoscope-cli|run\.sh|test\.sh|meson|ninja|mpirun)\s"
# Languages of fences that hold no commands.
OTHERS = {"json", "text", "c", "python"}


MPIRUN = shutil.which("mpirun")
STARTERS = ("mpirun", "srun", "sbatch")


class Block:
    def __init__(self, line, language, why_not):
        self.line, self.language, self.why_not, self.text = line, language, why_not, []


def blocks(document):
    """All fenced blocks, and what is wrong with the document's form."""
    found, wrong, block, above = [], [], None, ""
    for n, line in enumerate(document.read_text().splitlines(), 1):
        fence = re.match(r" *```(\w*)$", line)
        if fence and block is None:
            marker = re.fullmatch(r" *<!-- not run: (.+) -->", above)
            block = Block(n, fence[1], marker[1] if marker else None)
            if block.language != "sh" and block.language not in OTHERS:
                wrong.append(f"line {n}: a fence says what it holds: sh, {', '.join(sorted(OTHERS))}")
        elif fence:
            found.append(block)
            block = None
        elif block is not None:
            block.text.append(line)
        elif re.match(r"    +" + COMMANDS, line):
            wrong.append(f"line {n}: a command in an indented block, where nothing runs it; fence it as sh")
        elif len(line) > 100 and not line.startswith(("|", "[", "![")):
            wrong.append(f"line {n}: {len(line)} columns, more than 100")
        above = line
    if block is not None:
        wrong.append(f"line {block.line}: this fence never ends")
    return found, wrong


def anchors(document):
    """Names that a link may give behind #, as they are made of headings."""
    text = document.read_text()
    headings = [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.+)$", text, flags=re.M)]
    return {*headings, *re.findall(r'<a id="([^"]+)"', text)}


def dead_links(document):
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.S)
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", text):
        page = document.parent / target if target else document
        if re.match(r"\w+:", target):
            continue
        if not page.exists():
            yield f"the link to {target} leads nowhere"
        elif anchor and anchor not in anchors(page):
            yield f"{target} has no heading #{anchor}"


def unknown_keys(document):
    """Keys in bold, such as **Ctrl+F**, that the window does not have."""
    known = set(re.findall(r'"([^"\n ]+)"', (TOP / "ui/window/commands.c").read_text()))
    names = {"?": "question", "Escape": "Escape", "Space": "space"}
    for key in re.findall(r"\*\*((?:(?:Ctrl|Alt|Shift)\+)*(?:[A-Z0-9?]|F\d+|Escape|Space))\*\*", document.read_text()):
        *held, last = key.split("+")
        last = names.get(last, last if len(last) > 1 else last.lower())
        accel = "".join(f"<{'Control' if h == 'Ctrl' else h}>" for h in held) + last
        if accel not in known:
            yield f"there is no key {key} in ui/window/commands.c"


def prepare(folder, samples, document):
    makes_its_own = "-o survey.sgy" in document.read_text()
    for name in ("truth.sgy",) if makes_its_own else ("survey.sgy", "survey-truth.sgy", "truth.sgy"):
        shutil.copy(samples / name, folder / name)
    app = folder / "build/app"
    app.mkdir(parents=True)
    (app / "lithoscope-cli").symlink_to(CLI)
    for name in ("docs", "data"):
        (folder / name).symlink_to(TOP / name)
    if Path("/usr/bin/python3").exists():  # the one that Debian's NumPy belongs to
        (app / "python3").symlink_to("/usr/bin/python3")
    for name in STARTERS if MPIRUN else ():  # no cluster is here: its commands start processes of this machine
        (app / name).symlink_to(Path(__file__).resolve().parent / "cluster_stub.py")
    return {**os.environ, "LITHO_MPIRUN": MPIRUN or "", "PATH": f"{app}:{os.environ['PATH']}", "HOME": str(folder), "PYTHONPATH": str(TOP / "data/python"),
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run_document(document, samples):
    """(blocks that ran, [(line, why it did not run)], [what is wrong])"""
    found, wrong = blocks(document)
    wrong += [*dead_links(document), *unknown_keys(document)]
    ran, left = 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = prepare(folder, samples, document)
        for block in found:
            if block.language != "sh":
                continue
            if not MPIRUN and re.search(rf"^({'|'.join(STARTERS)}) ", "\n".join(block.text), flags=re.M):
                block.why_not = "there is no mpirun"
            if block.why_not:
                left.append((block.line, block.why_not))
                continue
            began = time.monotonic()
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", "\n".join(block.text)], cwd=folder, env=env,
                                  capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL)
            ran += 1
            print(f"# {document.relative_to(TOP)}:{block.line} {time.monotonic() - began:.1f} s", flush=True)
            if done.returncode:
                wrong.append(f"line {block.line}: status {done.returncode}\n{done.stdout[-600:]}{done.stderr[-1200:]}")
    return ran, left, wrong


def sections_differ(picture):
    """Do the first two sections of a picture differ in 1 of 200 of their points? Sections lie at equal distances: 274
    points in the sheet of a sweep, a third or half of the width elsewhere; titles and axes are left out."""
    width, high = len(picture[0]) // 3, len(picture)
    pitch = 274 if high == 358 else width // (3 if width > 700 else 2)
    top, bottom, left, right = (50, 240, 20, 260) if high == 358 else (90, 210, 70, 190)
    differ = sum(line[3 * x:3 * x + 3] != line[3 * (x + pitch):3 * (x + pitch) + 3]
                 for line in picture[top:bottom] for x in range(left, right))
    return differ * 200 > (bottom - top) * (right - left)


def parameter_pictures(folder):
    """Pictures of parameters: each declared parameter has two that differ or a sentence that says why there are none;
    the window has them, and the script draws them."""
    sys.path.insert(0, str(TOP / "docs"))
    sys.dont_write_bytecode = True
    from parameter_pictures import read_png
    notes = json.loads((TOP / "docs/parameters.json").read_text())
    listed = json.loads(subprocess.run([CLI, "list", "--json"], check=True, capture_output=True, text=True).stdout)
    counts = [0, 0]
    for key, name in [(o["key"], p["key"]) for o in listed["operators"] if o["key"] in notes for p in o["params"]]:
        note, path = notes[key].get(name, {}), TOP / f"docs/parameters/{key}-{name}.png"
        if ("pictures" in note) == ("none" in note):
            yield f"docs/parameters.json: {key} {name} needs pictures, or under none why it has no pictures"
        elif "none" in note:
            counts[1] += 1
        elif not path.exists():
            yield f"docs/parameter_pictures.py has not drawn {path.name}"
        else:
            picture = read_png(path)
            alike = not sections_differ(picture) and "gain" not in note["pictures"]
            if alike:
                yield f"{path.name} shows two sections that hardly differ"
            if "gain" in note["pictures"] and not any(len(set(line[1740:2100])) > 3 for line in picture[90:210]):
                yield f"{path.name} shows a difference of nothing"
            counts[0] += 1
    print(f"# parameters: {counts[0]} with pictures, {counts[1]} with a sentence instead")
    told = {f"{key}-{name}.png" for key, mine in notes.items() if isinstance(mine, dict) for name in mine if "pictures" in mine[name]}
    kept = {p.name for p in (TOP / "docs/parameters").iterdir()}
    shown = set(re.findall(r"<file>parameters/(.+)</file>", (TOP / "data/lithoscope.gresource.xml").read_text()))
    if not told == kept == shown:
        yield f"docs/parameters.json declares pictures {sorted(told)}, there are {sorted(kept)}, the window has {sorted(shown)}"
    for name in ("fx-prewhitening", "twsm-taper"):
        done = subprocess.run([sys.executable, TOP / "docs/parameter_pictures.py", "--cli", CLI, "--out", folder, name], capture_output=True, text=True)
        made = folder / f"{name}.png"
        if done.returncode or made.read_bytes()[16:24] != (TOP / f"docs/parameters/{name}.png").read_bytes()[16:24]:
            yield f"docs/parameter_pictures.py drew another {name}\n{done.stderr}"


def made_pages(folder):
    """What is wrong with the pages that scripts make."""
    page = folder / "benchmarks.md"
    shutil.copy(TOP / "docs/benchmarks.md", page)
    for words in (["parameters.py", "--check"], ["benchmarks.py", "--quick", "--cases", "fx", "--backends", "cpu1,cpu", "--page", page]):
        done = subprocess.run([sys.executable, TOP / "docs" / words[0], "--cli", CLI, *words[1:]], capture_output=True, text=True)
        if done.returncode:
            yield done.stderr
    if "| `bench fx --size 24x24x64 --backends cpu1,cpu` |" not in page.read_text():
        yield "docs/benchmarks.py wrote no table"
    yield from parameter_pictures(folder)
    pictures = folder / "pictures"
    pictures.mkdir()
    done = subprocess.run(["bash", TOP / "docs/guide/pictures.sh", pictures], capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{CLI.parent}:{os.environ['PATH']}"})
    if done.returncode:
        yield done.stderr
    made, kept = ({p.name for p in place.glob("*.png")} for place in (pictures, TOP / "docs/guide"))
    if made != kept:
        yield f"docs/guide/pictures.sh makes {sorted(made)}, and docs/guide holds {sorted(kept)}"


def main():
    documents = [Path(f).resolve() for f in sys.argv[2:]] or [
        TOP / "README.md", *sorted((TOP / "docs").rglob("*.md")), *sorted((TOP / "data/surveys").rglob("*.md"))]
    print(f"1..{len(documents) + 2}", flush=True)
    failed = total = 0
    with tempfile.TemporaryDirectory() as name:
        samples = Path(name)
        subprocess.run([CLI, "synth", "survey", "inlines=30", "xlines=32", "samples=150", "-o", samples / "survey.sgy"],
                       check=True, capture_output=True)
        shutil.copy(samples / "survey-truth.sgy", samples / "truth.sgy")
        made = list(made_pages(samples))
        for n, document in enumerate(documents, 1):
            ran, left, wrong = run_document(document, samples)
            total += ran
            failed += bool(wrong)
            print(f"{'not ' * bool(wrong)}ok {n} {document.relative_to(TOP)}: {ran} blocks ran, {len(left)} did not")
            for line, why in left:
                print(f"# line {line} not run: {why}")
            for text in wrong:
                for line in text.splitlines():
                    print(f"# {line}")
            sys.stdout.flush()
    few = len(sys.argv) == 2 and total < 25  # a reader that finds no blocks would pass all documents
    failed += few
    print(f"{'not ' * few}ok {len(documents) + 1} {total} blocks ran in all")
    failed += bool(made)
    print(f"{'not ' * bool(made)}ok {len(documents) + 2} pages made by scripts")
    for line in "\n".join(made).splitlines():
        print(f"# {line}")
    sys.exit(1 if failed else 0)


main()
