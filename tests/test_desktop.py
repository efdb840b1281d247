#!/usr/bin/python3
"""Files for the desktop and for packagers agree with each other and with the version of the build: desktop file,
AppStream data, file types, icon, change log, citation, Flatpak manifest. Tools that check them are used where they are.
Prints TAP.

    test_desktop.py SOURCE VERSION
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

SOURCE, VERSION = sys.argv[1:]
ID = "org.lithoscope.Lithoscope"
DATA = os.path.join(SOURCE, "data")


def text(*path):
    return open(os.path.join(SOURCE, *path), encoding="utf-8").read()


def tool(*words):
    if shutil.which(words[0]):
        r = subprocess.run(words, capture_output=True, text=True)
        assert r.returncode == 0 and "W: " not in r.stdout and "E: " not in r.stdout, r.stdout + r.stderr


def entry():
    return dict(line.split("=", 1) for line in text("data", ID + ".desktop").splitlines() if "=" in line)


def metainfo_is_valid():
    path = os.path.join(DATA, ID + ".metainfo.xml")
    tool("appstreamcli", "validate", "--no-net", path)
    root = ET.parse(path).getroot()
    assert root.find("id").text == ID and root.find("launchable").text == ID + ".desktop"
    assert root.find("releases/release").get("version") == VERSION
    shots = [e.text for e in root.findall("screenshots/screenshot/image")]
    assert shots and all(s.startswith("https://") for s in shots), shots
    for name in (s.rsplit("/", 1)[1] for s in shots):
        assert any(os.path.exists(os.path.join(SOURCE, d, name)) for d in ("docs", "docs/guide")), f"no docs/{name}"


def release_is_told_alike():
    release = ET.parse(os.path.join(DATA, ID + ".metainfo.xml")).getroot().find("releases/release")
    wanted = [VERSION, release.get("date")]
    changes = re.search(r"^## (\S+) \((\S+)\)$", text("docs", "CHANGELOG.md"), flags=re.M).groups()
    cited = re.findall(r"^(?:version|date-released): (\S+)$", text("docs", "CITATION.cff"), flags=re.M)
    assert list(changes) == wanted and cited == wanted, (wanted, changes, cited)


def desktop_file_is_valid():
    tool("desktop-file-validate", os.path.join(DATA, ID + ".desktop"))
    assert entry()["Icon"] == ID and entry()["Exec"].split()[0] == "lithoscope"
    ET.parse(os.path.join(DATA, f"icons/hicolor/scalable/apps/{ID}.svg"))


def file_types_are_declared_and_told_from_each_other():
    declared = set(re.findall(r'<mime-type type="([^"]+)"', text("data", ID + ".mime.xml")))
    told = {e.text for e in ET.parse(os.path.join(DATA, ID + ".metainfo.xml")).findall("provides/mediatype")}
    assert declared == told == set(entry()["MimeType"].strip(";").split(";")), (declared, told)
    if not shutil.which("update-mime-database"):
        return
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "packages"))
        shutil.copy(os.path.join(DATA, ID + ".mime.xml"), os.path.join(folder, "packages"))
        tool("update-mime-database", folder)
        globs = open(os.path.join(folder, "globs2")).read()
        for suffix in ("sgy", "segy", "su", "rsf"):
            assert f":*.{suffix}\n" in globs, globs
        assert b"\xc3\x40\xf1\x40" in open(os.path.join(folder, "magic"), "rb").read()


def flatpak_manifest_is_sound():
    manifest = json.loads(text("data/packaging", ID + ".json"))
    assert manifest["app-id"] == ID and manifest["runtime"] == "org.gnome.Platform" and manifest["command"] == "lithoscope"
    known = re.findall(r"^option\('(\w+)'", text("meson_options.txt"), re.M)
    for module in manifest["modules"]:
        assert module["buildsystem"] in ("autotools", "meson", "simple"), module["name"]
        for source in module["sources"]:
            assert source["type"] == "dir" or re.fullmatch("[0-9a-f]{64}", source["sha256"]) and source["url"].startswith("https://")
        # A flag of one processor stops the configuration on another one.
        for option in module.get("config-opts", []):
            assert not re.search("sse|avx|neon", option), (module["name"], option)
    # A build for any processor, with a compiler for C alone.
    blas = next(m for m in manifest["modules"] if m["name"] == "openblas")
    assert all("TARGET=GENERIC" in c and "NOFORTRAN=1" in c for c in blas["build-commands"])
    own = manifest["modules"][-1]
    folder = os.path.normpath(os.path.join(SOURCE, "data", "packaging", own["sources"][0]["path"]))
    assert os.path.samefile(folder, SOURCE) and "build" in own["sources"][0]["skip"]
    assert own["name"] == "lithoscope" and "-Dnative=false" in own["config-opts"] and all(re.match(r"-D(\w+)=", o).group(1) in known for o in own["config-opts"])


TESTS = [metainfo_is_valid, release_is_told_alike, desktop_file_is_valid, file_types_are_declared_and_told_from_each_other,
         flatpak_manifest_is_sound]
print(f"1..{len(TESTS)}")
failed = 0
for n, test in enumerate(TESTS, 1):
    try:
        test()
        print(f"ok {n} {test.__name__.replace('_', ' ')}")
    except Exception as e:
        failed = 1
        print(f"not ok {n} {test.__name__.replace('_', ' ')}\n# {type(e).__name__}: {e}".replace("\n", "\n# ").replace("\n# # ", "\n# "))
sys.exit(failed)
