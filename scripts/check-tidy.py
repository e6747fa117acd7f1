#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs clang-tidy with .clang-tidy on the C and C++ files of some folders, as the build directory compiles them.

Usage: check-tidy.py --build DIRECTORY [--jobs N] [--shallow] [FOLDER...]
(default folders: base loader lowlevel adapters middleware)
What passed once is not checked again as long as its preprocessed text, its flags and the configuration stay the same.
With --shallow the analyzer does not follow calls, which takes a twentieth of the time.
Ends with status 1 after any warning, 77 (skipped) without clang-tidy.
"""
import argparse
import concurrent.futures
import hashlib
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ["base", "loader", "lowlevel", "adapters", "middleware"]


def units(build, folders):
    """What the build compiles from these folders, each file once."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    found = {}
    for command in commands:
        path = os.path.realpath(os.path.join(command["directory"], command["file"]))
        if any(path.startswith(os.path.join(ROOT, folder) + os.sep) for folder in folders):
            found.setdefault(path, command)
    return sorted(found.items())


def flags(command):
    """The compiler and what it is told, without what it writes."""
    words, given = [], shlex.split(command["command"])
    while given:
        word = given.pop(0)
        if word in ("-o", "-MF", "-MQ", "-MT"):
            given.pop(0)
        elif word not in ("-c", "-MD"):
            words.append(word)
    return words


def fingerprint(command, configuration):
    """Of everything that the verdict depends on, or None when it does not even preprocess."""
    words = flags(command)
    done = subprocess.run(words + ["-E"], cwd=command["directory"], capture_output=True)
    if done.returncode:
        return None
    return hashlib.sha256(configuration + repr(words).encode() + done.stdout).hexdigest()


SHALLOW = [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", "mode=shallow")]


def check(tidy, path, command, configuration, passed, extra):
    """The complaints about one file; '' when there is none."""
    mark = fingerprint(command, configuration)
    stamp = os.path.join(passed, mark) if mark else None
    if stamp and os.path.exists(stamp):
        return ""
    # By -p it would be checked as often as it is compiled, for tests as well.
    done = subprocess.run([tidy, "-quiet", "--config-file", os.path.join(ROOT, ".clang-tidy"), *extra, path, "--",
                           *itertools.dropwhile(lambda word: not word.startswith("-"), flags(command))],
                          cwd=command["directory"], capture_output=True, text=True)
    if done.returncode == 0 and "warning: " not in done.stdout:
        if stamp:
            with open(stamp, "w", encoding="utf-8"):
                pass
        return ""
    readable = lambda match: os.path.relpath(os.path.realpath(os.path.join(command["directory"], match[1])), ROOT)
    return re.sub(r"^(\S+?)(?=:\d+:\d+: )", readable, done.stdout, flags=re.M) or done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    parser.add_argument("--build", required=True, help="a configured build directory")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--shallow", action="store_true")
    options = parser.parse_args()
    tidy = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if not tidy:
        print("clang-tidy is missing")
        return 77
    build = os.path.abspath(options.build)
    passed = os.path.join(build, "meson-private", "clang-tidy-passed")
    os.makedirs(passed, exist_ok=True)
    with open(os.path.join(ROOT, ".clang-tidy"), "rb") as f:
        configuration = f.read() + (b"shallow" if options.shallow else b"")
    work = units(build, [os.path.normpath(folder) for folder in options.folders])
    if not work:
        parser.error(f"{build} compiles nothing from {', '.join(options.folders)}")
    extra = SHALLOW if options.shallow else []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        answers = list(pool.map(lambda unit: check(tidy, *unit, configuration, passed, extra), work))
    for answer in filter(None, answers):
        print(answer)
    print(f"clang-tidy: {len(work)} files, {len(list(filter(None, answers)))} with warnings")
    return 1 if any(answers) else 0


if __name__ == "__main__":
    sys.exit(main())
