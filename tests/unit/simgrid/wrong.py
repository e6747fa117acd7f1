#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a header with one fault in it: in the structure or namespace that begins with a line, a text that stands there once is
replaced by another. Usage: wrong.py HEADER RESULT BEGIN OLD NEW"""
import sys

header, result, begin, old, new = sys.argv[1:]
with open(header, encoding="utf-8") as f:
    text = f.read()
if text.count(begin) != 1:
    sys.exit(f"wrong.py: {header} has '{begin}' {text.count(begin)} times")
start = text.index(begin)
end = text.index("\n};", start)
inside = text[start:end]
if inside.count(old) != 1:
    sys.exit(f"wrong.py: {header} has '{old}' {inside.count(old)} times behind '{begin}'")
with open(result, "w", encoding="utf-8") as f:
    f.write(text[:start] + inside.replace(old, new) + text[end:])
