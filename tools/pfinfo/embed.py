#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes text files, one after the other, as a C array: embed.py OUTPUT NAME FILE..."""
import sys

output, name, *sources = sys.argv[1:]
data = b""
for source in sources:
    with open(source, "rb") as file:
        data += file.read()
data += b"\0"
with open(output, "w", encoding="utf-8") as file:
    file.write(f"static const char {name}[] = {{\n")
    for i in range(0, len(data), 20):
        file.write("    " + " ".join(f"{byte}," for byte in data[i:i + 20]) + "\n")
    file.write("};\n")
