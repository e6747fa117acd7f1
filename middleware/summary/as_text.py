# SPDX-License-Identifier: BSD-3-Clause
"""A page with the files that it names, as such and as a text in C: as_text.py WHOLE HEADER NAME PAGE FILE...; a line @FILE@ stands for a file."""
import json
import os
import sys

whole, header, name, *files = sys.argv[1:]
texts = {}
for path in files:
    with open(path, encoding="ascii") as file:
        texts[f"@{os.path.basename(path)}@"] = file.read().splitlines()
page = next(iter(texts.values()))
lines = [line + "\n" for place in page for line in texts.get(place, [place])]
with open(whole, "w", encoding="ascii") as file:
    file.writelines(lines)
text = "\n".join("    " + json.dumps(line) for line in lines)
with open(header, "w", encoding="ascii") as file:
    file.write(f"static const char {name}[] =\n{text};\n")
