# SPDX-License-Identifier: GPL-3.0-or-later
"""`python3 -m lithoscope WORDS` is `lithoscope-cli WORDS`."""
import os
import sys

from lithoscope import program

if __name__ == "__main__":
    os.execv(program(), ["lithoscope-cli", *sys.argv[1:]])
