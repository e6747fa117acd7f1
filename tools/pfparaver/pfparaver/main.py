# SPDX-License-Identifier: BSD-3-Clause
"""pfparaver write FILE.prv [RANKS] < recording, pfparaver read FILE.prv > lines; pfrun starts both."""
import sys

from pfcurve.errors import run_tool

from . import reader, writer


def ranks(text):
    """0-3,8"""
    found = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def work(way, path, wanted=""):
    if way == "write":
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
        writer.write(path, ranks(wanted), sys.stdin)
    else:
        reader.read(path, sys.stdout)
    return 0


def main():
    return run_tool("parfocal", lambda: work(*sys.argv[1:]), stopped=lambda stop: f"a trace for Paraver is not complete: {stop}")
