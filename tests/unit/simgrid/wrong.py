#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a header with a fault in it: in the structure that begins with a line, texts that stand there once are replaced by others,
one after the other. Usage: wrong.py HEADER RESULT BEGIN OLD NEW [OLD NEW...]"""
import sys

header, result, begin, *changes = sys.argv[1:]
with open(header, encoding="utf-8") as f:
    text = f.read()
if text.count(begin) != 1:
    sys.exit(f"wrong.py: {header} has '{begin}' {text.count(begin)} times")
start = text.index(begin)
end = text.index("\n};", start)
inside = text[start:end]
for old, new in zip(changes[::2], changes[1::2]):
    if inside.count(old) != 1:
        sys.exit(f"wrong.py: {header} has '{old}' {inside.count(old)} times behind '{begin}'")
    inside = inside.replace(old, new)
with open(result, "w", encoding="utf-8") as f:
    f.write(text[:start] + inside + text[end:])
