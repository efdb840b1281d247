#!/usr/bin/python3
"""Fails when ui/, render/ or app/ name an operator: they know operators by their declarations only; or when they write
a file past the one writer of core/io/output, which alone protects what is there.

Named means: an operator's key as a whole C string, or in a call that looks one up or compares keys.
Help texts may show a command as an example. With no finding in a planted line the test fails too.
"""
import os
import re
import sys

root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
listed = re.search(r"^operators = \[(.*?)\]", open(os.path.join(root, "kernels/meson.build"), encoding="utf-8").read(), re.M | re.S)
keys = re.findall(r"'(\w+)'", listed.group(1)) + ["template"]
NAMED = re.compile(r'"(%s)"' % "|".join(keys))


def findings(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        for match in NAMED.finditer(line):
            yield f"{path}:{number}: names the operator {match.group(1)}"


# GLib's ways to write a whole file, and C's.
WRITES = re.compile(r"\b(g_file_set_contents\w*|g_key_file_save_to_file|g_file_replace\w*|g_file_create\w*|fopen)\s*\(")


def past_the_writer(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        for match in WRITES.finditer(line):
            if match.group(1) != "fopen" or not re.search(r'"r[be]*"', line):
                yield f"{path}:{number}: {match.group(1)} writes past core/io/output"


found = []
for top in ("ui", "render", "app"):
    for folder, _, files in os.walk(os.path.join(root, top)):
        for name in files:
            if name.endswith((".c", ".h")):
                path = os.path.join(folder, name)
                text = open(path, encoding="utf-8").read()
                found += findings(os.path.relpath(path, root), text)
                found += past_the_writer(os.path.relpath(path, root), text)
for line in found:
    print(line)
planted = list(findings("ui/x.c", 'if (strcmp(op->key, "fx") == 0)')) and \
    list(past_the_writer("ui/x.c", "g_file_set_contents(path, text, -1, error);"))
if len(keys) < 5 or not planted:
    print("self-test failed")
sys.exit(1 if found or not planted or len(keys) < 5 else 0)
