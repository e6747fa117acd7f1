# SPDX-License-Identifier: BSD-3-Clause
"""A file as a text in C: as_text.py FILE HEADER NAME."""
import json
import sys

with open(sys.argv[1], encoding="ascii") as file:
    lines = "\n".join("    " + json.dumps(line) for line in file)
with open(sys.argv[2], "w", encoding="ascii") as header:
    header.write(f"static const char {sys.argv[3]}[] =\n{lines};\n")
