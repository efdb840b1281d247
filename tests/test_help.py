#!/usr/bin/python3
"""The texts that the program makes of itself: manual pages without a warning of groff, completion that knows every
command, operator and parameter and answers in bash, zsh and fish (each where it is installed), a schema that takes
every recipe the program writes and refuses what it refuses. Prints TAP.

    test_help.py PATH/lithoscope-cli
"""
import json
import os
import re
import shutil
import subprocess

from cli_tap import CLI, cli, run, test

COMMANDS = re.findall(r"^  (\w+) ", cli("--help").stdout, re.M)
OPERATORS = json.loads(cli("list", "--json").stdout)["operators"]
KEYS = {op["key"]: [p["key"] for p in op["params"]] for op in OPERATORS}
SYNTHS = re.findall(r"^(\S+): ", cli("synth", "--list").stdout, re.M)


def options(command):
    text = cli(command, "--help-all").stdout.split("Help Options")[1]
    return [o for o in re.findall(r"^\s+(?:-\w, )?--([\w-]+)", text, re.M) if not o.startswith("help")]


def plain(page):
    """The page as a terminal shows it, without bold; groff says nothing on standard error."""
    r = subprocess.run(["groff", "-k", "-t", "-man", "-Tutf8", "-P-c", "-P-b", "-P-u", "-ww", "-rLL=100n"], input=page,
                       capture_output=True, text=True)
    assert r.returncode == 0 and r.stderr == "", r.stderr
    return r.stdout


@test
def manual_page_of_the_commands_tells_every_command_and_option():
    page = cli("help", "--man").stdout
    assert page.count(".SS ") == len(COMMANDS)
    for command in COMMANDS:
        for name in options(command):
            assert "\\-\\-" + name.replace("-", "\\-") in page, (command, name)
    if shutil.which("groff"):
        text = plain(page)
        assert "lithoscope-cli run OPERATOR" in text and "EXIT STATUS" in text, text[:2000]
        assert "  lithoscope-cli run fx post=on -i survey.sgy -o filtered.sgy" in text  # examples keep their lines


@test
def manual_page_of_the_window_tells_every_option():
    root = os.environ.get("LITHO_SOURCE_ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    page = open(os.path.join(root, "data/lithoscope.1")).read()
    known = re.findall(r'\{"([a-z-]+)", (?:\'\w\'|0), (\w+), G_OPTION_ARG', open(os.path.join(root, "ui/window/application.c")).read())
    assert len(known) > 5, known
    for name, flags in known:
        assert "HIDDEN" in flags or "\\-\\-" + name.replace("-", "\\-") + "\\fP" in page, name
    if shutil.which("groff"):
        plain(page)


@test
def manual_page_of_the_operators_tells_every_parameter():
    page = cli("help", "--man-operators").stdout
    for op in OPERATORS:
        part = page.split(f'.SH "{op["key"]}"')[1].split(".SH ")[0]
        for p in op["params"]:
            assert f"\\fB{p['key']}\\fP" in part, (op["key"], p["key"])
            for choice in p.get("choices", []):
                assert choice.replace("-", "\\-") in part, choice
        for name in op["presets"]:
            assert f"\\fBpreset=\\fP\\fB{name}\\fP" in part, name
    if shutil.which("groff"):
        plain(page)


def bash(*words):
    """What bash would offer for the last word; readline breaks words at '='."""
    broken = [piece for word in words for piece in re.split("(=)", word) if piece or word == ""]
    script = "source ./c.bash; COMP_WORDS=(%s); COMP_CWORD=%d; _lithoscope_cli; printf '%%s\\n' \"${COMPREPLY[@]}\"" % (
        " ".join(f"'{w}'" for w in ["lithoscope-cli", *broken]), len(broken))
    r = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=60)
    assert r.returncode == 0 and r.stderr == "", r.stderr
    return r.stdout.split("\n")[:-1]


@test
def bash_completes_every_command_operator_key_and_value():
    open("c.bash", "w").write(cli("help", "--completion", "bash").stdout)
    open("survey.sgy", "w").close()
    assert set(bash("")) == {*COMMANDS, "help"}
    assert bash("ru") == ["run"]
    assert set(bash("list", "")) >= set(KEYS) and set(bash("run", "")) >= set(KEYS)
    assert set(bash("synth", "")) >= set(SYNTHS)
    assert set(bash("demo", "")) >= set(re.findall(r"^(\S+) ", cli("demo", "--list").stdout, re.M))
    assert "survey.sgy" in bash("demo", "tour", "") and not [w for w in bash("demo", "tour", "") if "=" in w]
    for op in OPERATORS:
        offered = bash("run", op["key"], "")
        assert set(offered) >= {k + "=" for k in KEYS[op["key"]]} and "survey.sgy" in offered, op["key"]
        for p in op["params"]:
            if p["type"] in ("choice", "bool"):
                assert bash("run", op["key"], p["key"] + "=") == p.get("choices", ["on", "off"]), p["key"]
            if p["type"] == "file":
                assert "survey.sgy" in bash("run", op["key"], p["key"] + "="), p["key"]
    for command in COMMANDS:
        assert {o[2:] for o in bash(command, "--")} >= set(options(command)), command
    first, last = OPERATORS[0]["key"], OPERATORS[-1]["key"]
    assert set(bash("run", first, "+", "")) >= set(KEYS)
    assert KEYS[last][0] + "=" in bash("run", first, "+", last, "")  # the last operator counts
    assert bash("run", first, "--backend", "cu") == ["cuda"]
    assert bash("run", first, "--input", "surv") == ["survey.sgy"]
    assert bash("run", first, "-i", "surv") == ["survey.sgy"]
    # Lists with commas: the last name is completed, those before it stay.
    assert set(bash("compare", "--operators", "--methods", "")) == {*KEYS, "fxdecon", "fft3d", "drr3d"}
    assert bash("compare", "--operators", "--methods", f"{first},{last[:-1]}") == [f"{first},{last}"]
    assert "--methods" in bash("compare", "--operators", "") and "survey.sgy" not in bash("compare", "--operators", "")


@test
def zsh_script_is_sound_and_knows_every_word():
    text = cli("help", "--completion", "zsh").stdout
    assert text.startswith("#compdef lithoscope-cli\n")
    for op, keys in KEYS.items():
        row = re.search(rf"^    keys:{op}\) reply=\((.*)\) ;;$", text, re.M).group(1)
        assert all(f"'{k}:" in row for k in keys), op
    open("_lithoscope-cli", "w").write(text)
    if not shutil.which("zsh"):
        return
    script = """source ./_lithoscope-cli
_describe() { print -l -- $argv[1] ${(P)argv[2]} }; _files() { print files }; compset() { PREFIX=${PREFIX#*=} }
try() { words=(lithoscope-cli "$@"); CURRENT=$#words; PREFIX=$words[-1]; _lithoscope_cli; print '==' }
try ""; try run fx ""; try run fx solver=; try run fx --backend ""; try run fx -i ""; try run fx + "" """
    r = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, timeout=60)
    assert r.returncode == 0 and r.stderr == "", r.stderr
    first, keys, values, backend, files, after = [part.split("\n") for part in r.stdout.split("==\n")[:6]]
    assert {w.split(":")[0] for w in first} >= {*COMMANDS, "help"}, first
    assert {w.split(":")[0] for w in keys} >= set(KEYS["fx"]) and "files" in keys, keys
    assert {"cholesky", "jacobi"} <= set(values), values
    assert "cuda" in backend and "files" in files and {w.split(":")[0] for w in after} >= set(KEYS)


@test
def fish_script_is_sound_and_knows_every_word():
    text = cli("help", "--completion", "fish").stdout
    for op, keys in KEYS.items():
        row = re.search(rf"case 'keys:{op}'\n *printf '%s\\t%s\\n'(.*)$", text, re.M).group(1)
        assert all(f" '{k}' " in row for k in keys), op
    open("c.fish", "w").write(text)
    open("survey.sgy", "w").close()
    if not shutil.which("fish"):
        return

    def fish(line):
        r = subprocess.run(["fish", "--no-config", "-c", f"source c.fish; complete -C '{line}'"], capture_output=True, text=True, timeout=60)
        assert r.returncode == 0 and r.stderr == "", r.stderr
        return {w.split("\t")[0] for w in r.stdout.split("\n")}
    assert fish("lithoscope-cli ") >= {*COMMANDS, "help"} and "survey.sgy" not in fish("lithoscope-cli ")
    assert fish("lithoscope-cli run fx ") >= {k + "=" for k in KEYS["fx"]}
    assert fish("lithoscope-cli run fx solver=") >= {"solver=cholesky", "solver=jacobi"}
    assert "--backend" in fish("lithoscope-cli run fx --b")
    assert fish("lithoscope-cli compare --operators --methods fx,wa") - {""} == {"fx,wavepacket"}
    assert "survey.sgy" in fish("lithoscope-cli info s")


SCHEMA = json.loads(cli("help", "--recipe-schema").stdout)


def fits(value, schema):
    """The part of JSON Schema that the schema uses."""
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    kinds = {"object": isinstance(value, dict), "array": isinstance(value, list), "string": isinstance(value, str),
             "boolean": isinstance(value, bool), "number": is_number, "integer": is_number and value == int(value)}
    if types and not any(kinds[t] for t in types):
        return False
    if "const" in schema and (value != schema["const"] or isinstance(value, bool)):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if is_number and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        return False
    if "oneOf" in schema and sum(fits(value, s) for s in schema["oneOf"]) != 1:
        return False
    if isinstance(value, list):
        return all(fits(v, schema.get("items", {})) for v in value)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        is_open = schema.get("additionalProperties", True)
        return set(schema.get("required", [])) <= set(value) and (is_open or set(value) <= set(known)) and \
            all(fits(v, known.get(k, {})) for k, v in value.items())
    return True


def is_taken(recipe):
    """Whether the program reads it: any sentence but one about reading recipes means that it did."""
    open("r.json", "w").write(json.dumps(recipe))
    r = subprocess.run([CLI, "run", "r.json", "--dry-run", "-i", "in.npy"], capture_output=True, text=True)
    return r.returncode != 2


@test
def schema_and_program_agree_about_recipes():
    cli("synth", "planes", "inlines=8", "xlines=8", "samples=32", "--no-truth", "-o", "in.npy")
    for op in OPERATORS:  # all defaults, written out
        params = {p["key"]: p["default"] for p in op["params"]}
        assert fits({"lithoscope": 1, "flow": [{"operator": op["key"], "params": params}]}, SCHEMA), op["key"]
    step = {"operator": "fx", "enabled": True, "params": {"half_width": 2, "solver": "jacobi", "prewhitening": "30%", "post": "on"}}
    good = [{"lithoscope": 1, "flow": [step]}, {"lithoscope": 1, "flow": [{"operator": "fx"}]},
            {"lithoscope": 1, "flow": [step, {"operator": "fx", "enabled": False}]}]
    bad = [{"lithoscope": 2, "flow": [step]}, {"flow": [step]}, {"lithoscope": 1}, {"lithoscope": 1, "flow": step},
           {"lithoscope": 1, "flow": [{"operator": "nothing"}]}, {"lithoscope": 1, "flow": [step], "more": 1},
           {"lithoscope": 1, "flow": [{"operator": "fx", "enabled": "no"}]}]
    bad += [{"lithoscope": 1, "flow": [{"operator": "fx", "params": {k: v}}]}
            for k, v in [("half_width", 99), ("half_width", 2.5), ("solver", "none"), ("solver", "cg"), ("halfwidth", 3), ("post", 3), ("solver", 1), ("window", [20])]]
    for recipe in good:
        assert fits(recipe, SCHEMA) and is_taken(recipe), recipe
    for recipe in bad:
        assert not fits(recipe, SCHEMA) and not is_taken(recipe), (fits(recipe, SCHEMA), is_taken(recipe), recipe)


@test
def schema_takes_the_recipes_that_find_writes():
    cli("synth", "planes", "inlines=20", "xlines=20", "samples=64", "snr=3", "--no-truth", "-o", "noisy.npy")
    r = cli("find", "fx", "window=10", "-i", "noisy.npy", "--seconds", "1", "--save", "found.json")
    assert re.search(r"^prewhitening +automatic ", r.stdout, re.M), r.stdout  # the word that the row takes, not 0
    found = json.load(open("found.json"))
    assert fits(found, SCHEMA), found
    found["flow"][0]["params"]["window"] = 1e9
    assert not fits(found, SCHEMA)


@test
def wrong_questions_are_usage_errors():
    assert "bash, zsh or fish" in cli("help", "--completion", "tcsh", status=2).stderr
    cli("help", "--nothing", status=2)
    for command in COMMANDS:  # making pages leaves the commands' own help as it is
        assert "Usage:" in cli("help", command).stdout


run()
