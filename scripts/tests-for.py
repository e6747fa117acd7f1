#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which tests to run for a change: those that tests/by-folder.tsv names for the folders of the changed files.

Usage: tests-for.py [--build DIRECTORY] [--run | --check] [FILE OR FOLDER...]    (default: what differs from the last commit)
Prints the tests' names, one a line; --run runs them; --check says whether the table names each folder, and tests that there are.
"""
import argparse
import fnmatch
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOMS = ["base", "loader", "lowlevel", "adapters", "middleware", "tools"]


def table():
    with open(os.path.join(ROOT, "tests", "by-folder.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return {folder: tests.split(", ") for folder, tests in rows}


def changed():
    lines = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [line[3:].split(" -> ")[-1].strip('"') for line in lines]


def known(build):
    if not os.path.exists(os.path.join(build, "meson-private", "build.dat")):
        sys.exit(f"tests-for: there is no build in {build} to list the tests: run 'meson setup build && ninja -C build', or pass --build DIRECTORY")
    listed = subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--list"], capture_output=True, text=True, check=True).stdout
    return [line.split(" / ", 1)[1] for line in listed.splitlines() if " / " in line]


def row_of(path, folders):
    """The nearest folder above that has a row; tests stand for themselves."""
    while path and path not in folders:
        path = os.path.dirname(path)
    return path


def check(folders, names):
    wrong = [f"{folder}: there is no test {pattern}" for folder, patterns in folders.items() for pattern in patterns
             if not fnmatch.filter(names, pattern)]
    wrong += [f"{folder}: there is no such folder" for folder in folders if not os.path.isdir(os.path.join(ROOT, folder))]
    for room in ROOMS:
        for sub in sorted(os.listdir(os.path.join(ROOT, room))):
            if os.path.isdir(os.path.join(ROOT, room, sub)) and not row_of(f"{room}/{sub}", folders):
                wrong.append(f"{room}/{sub}: no row names its tests")
    print("\n".join(f"tests/by-folder.tsv: {line}" for line in wrong) or f"{len(folders)} folders, {len(names)} tests")
    return bool(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    folders, names = table(), known(options.build)
    if options.check:
        return check(folders, names)
    paths = [os.path.relpath(os.path.abspath(path), ROOT) for path in options.paths] or changed()
    wanted = {name for path in paths for pattern in folders.get(row_of(path, folders), []) for name in fnmatch.filter(names, pattern)}
    wanted |= {name for path in paths if path.startswith("tests/") for name in names
               if os.path.splitext(os.path.basename(path))[0] in (name, name.split("-")[-1], name.split(" ")[-1])}
    tests = [name for name in names if name in wanted]
    if not tests:
        print("tests-for: no test is named for " + (", ".join(paths) or "no change"), file=sys.stderr)
        return 1
    if options.run:
        return subprocess.run(["meson", "test", "-C", options.build, *tests], env={"MALLOC_PERTURB_": "0", **os.environ}, check=False).returncode
    print("\n".join(tests))
    return 0


if __name__ == "__main__":
    sys.exit(main())
