#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a text file as a C array: embed.py FILE OUTPUT NAME."""
import sys

source, output, name = sys.argv[1:4]
with open(source, "rb") as file:
    data = file.read() + b"\0"
with open(output, "w", encoding="utf-8") as file:
    file.write(f"static const char {name}[] = {{\n")
    for i in range(0, len(data), 20):
        file.write("    " + " ".join(f"{byte}," for byte in data[i:i + 20]) + "\n")
    file.write("};\n")
