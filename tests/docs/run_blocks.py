#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the shell blocks of a page that are marked `runnable`, in order, and compares what they print with the page.

    ```sh runnable              is run by sh -eu and must succeed, and each item of its schedules must happen
    ```text output              must show lines that the block above it has printed, numbers and their units aside

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

# 12, 1.5e-3, 4.41 ms, 128 KiB: what differs between machines, and from run to run
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?: (?:s|ms|us|B|KiB|MiB|GiB)\b)?")
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


def missing_lines(shown, printed):
    """Lines of the page that were not printed. `...` stands for what the page leaves out."""
    shapes = {shape(line) for line in printed.splitlines()}
    return [line for line in shown.lines if line.strip() not in ("", "...") and shape(line) not in shapes]


def check(page, folder):
    printed, wrong, runs = None, 0, 0
    for block in page.blocks:
        if "runnable" in block.words:
            status, printed = run(block, folder)
            runs += 1
            print(f"{block}: status {status}")
            if status != 0 or UNHEARD in printed:
                print(printed)
                wrong += 1
        elif "output" in block.words and printed is None:
            print(f"{block}: no runnable block comes before this output")
            wrong += 1
        elif "output" in block.words:
            missing = missing_lines(block, printed)
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
