#!/usr/bin/python3
"""Every numeric option of every command: a wrong number ends with one sentence that names the option, with the usage and
status 2, before anything is read or computed. Prints TAP.

    test_cli_numbers.py PATH/lithoscope-cli
"""
import re

from cli_tap import cli, run, test

WRONG = ["nan", "inf", "-inf", "1e999", "", "3x"]
LARGE = ["1e30", "99999999999"]
BYTE = [*LARGE, "-1", "0", "238", "4.5"]
SPACING = [*LARGE, "-1", "0"]
READING = {"dt": [*LARGE, "-1", "0"], "dx": SPACING, "dy": SPACING, "shape": ["0,4", "-1,4", "3"],
           "inline-byte": BYTE, "xline-byte": BYTE, "x-byte": BYTE, "y-byte": BYTE, "xy-scalar": [*LARGE, "0", "40000"]}
JUDGE = {"hide": ["-1", "100", "1e30"], "seed": [*LARGE, "-1"], "sigma": ["-1"], "area": ["4", "1:2,3", "1:2,1:2,1:2,1:2", "1:nan"]}
WIDTHS = {"similarity": ["3,3", "-1,3,20", "51,3,20", "3,3,2000"]}
SLICES = {"inline": [], "xline": [], "time": [], "depth": []}
THREADS = {"threads": ["-1", *LARGE]}
SLICE = ["--inline", "3"]
# Words that are fine by themselves, and what is wrong for each option.
COMMANDS = {
    "info": (["in.sgy"], READING),
    "convert": (["in.sgy", "out.sgy"], {**READING, "scale": ["0"]}),
    "run": (["fx", "-i", "in.sgy", "-o", "out.sgy"],
            {**READING, **JUDGE, **WIDTHS, **THREADS, "gpus": ["0", "-1", *LARGE], "memory": ["-1", "1e30"], "gpu-memory": ["-1", "1e30"]}),
    "find": (["fx", "-i", "in.sgy"],
             {**READING, **JUDGE, **THREADS, "step": ["0", "-1", *LARGE], "seconds": ["-1"]}),
    "sweep": (["fx", "window=8,10", "-i", "in.sgy", "-o", "out.png"], {**READING, **JUDGE, **WIDTHS, **THREADS}),
    "report": (["fx", "-i", "in.sgy", "-o", "out.png"], {**READING, **JUDGE, **WIDTHS, **THREADS, **SLICES}),
    "render": (["in.sgy", "-o", "out.png"],
               {**READING, **SLICES, "difference-gain": ["0", "-1", "1e30"],
                "agc": ["-1", *LARGE], "time-gain": ["-1", "5"], "clip": ["0", "-1", "101"], "scale": ["0", "-1", "9"],
                "size": ["nanxnan", "infx100", "10x10", "-100x100", "1e9x1e9", "100"]}),
    "demo": (["fx", "-o", "frames"], {**THREADS, "fps": ["-1", "121"], "size": ["nanxnan", "infx100", "1x1", "-64x64", "64"]}),
    "bench": (["fx"], {"size": ["0x1x1", "-1x8x8", "8x8", "8x8x8x8"], "repeat": ["0", "-1", *LARGE], "seconds": ["-1"], "every": ["0", "-1", *LARGE],
                       "dt": ["-1", "0", "1e30"], "missing": ["-1", "100"], "seed": [*LARGE, "-1"]}),
    "verify": (["out.sgy"], {**THREADS, "slabs": ["0", "-1", *LARGE], "share": ["0", "-1", "101"], "seed": [*LARGE, "-1"],
                             "tolerance": ["-1", "1"]}),
    "compare": (["--operators", "-o", "table.md"],
                {**THREADS, "size": ["1x1x1", "-1x64x256", "64"], "seconds": ["-1"], "seed": [*LARGE, "-1"]}),
}
# Options whose value is no number; "infinite" seconds are no end.
WORDS = {"dtype", "endian", "format", "in-endian", "in-format", "duplicates", "input", "output", "backend", "report", "reference",
         "volume", "save-recipe", "timings", "progress", "json", "show", "missing=omit", "note", "against", "colormap", "title",
         "mask", "save", "pictures", "rows", "methods", "backends", "also"}
NO_END = {("bench", "seconds"), ("compare", "seconds"), ("find", "seconds")}


def numeric(command):
    """Options that take a value and are not known to take words."""
    lines = cli(command, "--help-all").stdout.splitlines()
    found = {re.sub("=omit.*", "=omit", m[1] + m[2]) for m in map(re.compile(r" .*?--([a-z-]+)(=\S+)").match, lines) if m}
    return {word if word == "missing=omit" else word.split("=")[0] for word in found} - WORDS


@test
def every_numeric_option_is_tried():
    for command, (_, options) in COMMANDS.items():
        assert "threads" in numeric("run") and "missing" in numeric("bench")
        missing = numeric(command) - set(options) - (set(READING) if command == "compare" else set())
        assert not missing, (command, missing)


@test
def wrong_numbers_are_refused_before_anything_is_read():
    """No file of these names is there: one that is looked at would end with another sentence."""
    tried = set()
    for command, (words, options) in COMMANDS.items():
        for option, more in options.items():
            shared = option in {**READING, **JUDGE, **WIDTHS, **THREADS, **SLICES}  # by commands, which read it by one function
            for value in ["nan"] if shared and option in tried else [*WRONG, *more]:
                tried.add(option)
                if (value == "inf" and (command, option) in NO_END) or (value == "" and option == "area"):
                    continue
                r = cli(command, *words, f"--{option}={value}", status=None)
                assert r.returncode == 2, (command, option, value, r.returncode, r.stderr)
                lines = r.stderr.strip().splitlines()
                assert len(lines) == 2 and lines[0].startswith(f"lithoscope-cli {command}: "), (command, option, value, lines)
                assert option in lines[0] or f"'{value}'" in lines[0], (command, option, value, lines)


@test
def rows_and_methods_that_are_not_there():
    for option, value in (("rows", "nosuch"), ("rows", "white 0,nosuch"), ("methods", "fx,nosuch")):
        r = cli("compare", "--operators", "-o", "table.md", f"--{option}", value, status=2)
        assert f"--{option}: there is no 'nosuch' in the table" in r.stderr, r.stderr


@test
def an_area_beside_the_survey():
    cli("synth", "planes", "inlines=12", "xlines=12", "samples=64", "-o", "there.npy", "--no-truth")
    r = cli("run", "fx", "half_width=1", "there.npy", "out.npy", "--hide", "5", "--area", "100:200", status=1)
    assert "--area 100:200: the survey has nothing of '100:200'" in r.stderr, r.stderr


run()
