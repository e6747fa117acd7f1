#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the shell blocks of a page that are marked `runnable`, in order, and compares what they print with the page.

    ```sh runnable              is run by sh -eu and must succeed, and each item of its schedules must happen
    ```text output              must show lines that the block above it has printed, in this order, in the same columns, with the
                                same counts; times and ratios within the factors below, simulated ones within SIMULATED_WITHIN
                                where computation takes no time
    ```text output counts vary  the same, but for the counts

The page's commands see a folder that looks like the repository with a build directory `build`; what they create stays
there. Usage: run_blocks.py BUILD_DIRECTORY PAGE
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import pages

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT = 240  # seconds for one block

# 12, 1.5e-3, 4.41 ms, 128 KiB
NUMBER = re.compile(r"(?<![\w.])([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)( (?:s|ms|us|B|KiB|MiB|GiB)\b)?")
SECONDS = {" s": 1, " ms": 1e-3, " us": 1e-6}
# What a machine's speed and load decide: wall-clock times, times of measured computation, and what is divided by them.
TIMES_WITHIN, RATIOS_WITHIN = 50, 10000
AWAY = 30  # seconds that other processes may take the processor away for
SIMULATED_WITHIN = 1.25 if os.environ.get("PF_OPENMPI", "4").startswith("4") else TIMES_WITHIN  # the pages are of Open MPI 4.1
# A row of the table of phases, which ends in two ratios.
TABLE_ROW = re.compile(r"\S.* [0-9.]+ [KMGT]?i?B +(\S+) +(\S+)$")
SIMULATED_COLUMN = 35  # where its simulated time ends
# A schedule of a page that switches nothing shows nothing.
UNHEARD = "never happened"


def make_folder(build):
    """The repository's entries as links, the build directory as `build`. What is under test is built already, so setting up
    is left out here (tests/cli/pfrun/setup.bats tests it)."""
    folder = tempfile.mkdtemp(prefix="docs-")
    for name in os.listdir(ROOT):
        if not name.startswith((".git", "build")) and name != "scripts":
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    os.symlink(build, os.path.join(folder, "build"))
    os.mkdir(os.path.join(folder, "scripts"))
    with open(os.path.join(folder, "scripts", "setup.sh"), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n")
        os.chmod(file.fileno(), 0o755)
    return folder


def run(block, folder):
    """Returns (status, output)."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PARFOCAL_") and k != "BUILD_DIR"}
    try:
        done = subprocess.run(["sh", "-eu"], input=block.text, cwd=folder, text=True, stdout=subprocess.PIPE, timeout=LIMIT,
                              stderr=subprocess.STDOUT, errors="replace", env=environment)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return "timeout", ""


def shape(line):
    return " ".join(NUMBER.sub("#", line).split())


def numbers(line, simulated):
    """(value, most factor, end of its column) of each number in a line. Whether times that are no wall-clock times are `simulated` alone."""
    row = TABLE_ROW.match(line)
    for match in NUMBER.finditer(line):
        number, unit = float(match[1]), match[2]
        factor = TIMES_WITHIN if unit in SECONDS else RATIOS_WITHIN if re.search(r"[.e]", match[1]) and not unit else 1
        if row and match.start() >= row.start(1):
            factor = RATIOS_WITHIN
        elif simulated and unit in SECONDS and (match.end() <= SIMULATED_COLUMN if row else "wall-clock" not in line):
            factor = SIMULATED_WITHIN
        yield number * SECONDS.get(unit, 1), factor, match.end()


def alike(shown, printed, counts, simulated):
    """Has this line been printed? Whole numbers and bytes are the same, and so are the columns of a table."""
    if shape(shown) != shape(printed):
        return False
    pairs = list(zip(numbers(shown, simulated), numbers(printed, simulated)))
    if TABLE_ROW.match(shown) and any(a[2] != b[2] for a, b in pairs):
        return False
    for (a, factor, _), (b, _, _) in pairs:
        if factor == 1 and counts and a != b:
            return False
        if factor == TIMES_WITHIN and abs(a - b) < AWAY:
            continue
        if factor > 1 and a * b > 0 and not 1 / factor <= a / b <= factor:
            return False
    return True


def missing_lines(shown, printed, counts, simulated):
    """Lines of the page that were not printed there. `...` stands for what the page leaves out."""
    lines, missing = printed.splitlines(), []
    for line in shown:
        if line.strip() in ("", "..."):
            continue
        at = next((i for i, other in enumerate(lines) if alike(line, other, counts, simulated)), None)
        if at is None:
            missing.append(line)
        else:
            lines = lines[at + 1:]
    return missing


def check(page, folder):
    printed, simulated, wrong, runs = None, False, 0, 0
    for block in page.blocks:
        if "runnable" in block.words:
            status, printed = run(block, folder)
            simulated = "simulate-computation:no" in block.text
            runs += 1
            print(f"{block}: status {status}")
            if status != 0 or UNHEARD in printed:
                print(printed)
                wrong += 1
        elif "output" in block.words and printed is None:
            print(f"{block}: no runnable block comes before this output")
            wrong += 1
        elif "output" in block.words:
            missing = missing_lines(block.lines, printed, "vary" not in block.words, simulated)
            for line in missing:
                print(f"{block}: not printed: {line}")
            if missing:
                print("what was printed:\n" + printed)
            wrong += bool(missing)
    if runs == 0:
        print(f"{page.name}: nothing in it is marked runnable")
        wrong += 1
    return wrong


def main():
    build, name = os.path.abspath(sys.argv[1]), sys.argv[2]
    folder = make_folder(build)
    try:
        return check(pages.Page(ROOT, name), folder) != 0
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
