#!/usr/bin/python3
"""Fails when ui/, render/ or app/ name an operator: they know operators by their declarations only.

Named means: an operator's key as a whole C string, or in a call that looks one up or compares keys.
Help texts may show a command as an example. With no finding in a planted line the test fails too.
"""
import os
import re
import sys

root = sys.argv[1]
listed = re.search(r"^operators = \[(.*?)\]", open(os.path.join(root, "kernels/meson.build"), encoding="utf-8").read(), re.M | re.S)
keys = re.findall(r"'(\w+)'", listed.group(1)) + ["template"]
NAMED = re.compile(r'"(%s)"' % "|".join(keys))


def findings(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        for match in NAMED.finditer(line):
            yield f"{path}:{number}: names the operator {match.group(1)}"


found = []
for top in ("ui", "render", "app"):
    for folder, _, files in os.walk(os.path.join(root, top)):
        for name in files:
            if name.endswith((".c", ".h")):
                path = os.path.join(folder, name)
                found += findings(os.path.relpath(path, root), open(path, encoding="utf-8").read())
for line in found:
    print(line)
planted = list(findings("ui/x.c", 'if (strcmp(op->key, "fx") == 0)'))
if len(keys) < 5 or not planted:
    print("self-test failed")
sys.exit(1 if found or not planted or len(keys) < 5 else 0)
