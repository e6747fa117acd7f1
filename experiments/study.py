# SPDX-License-Identifier: BSD-3-Clause
"""What all studies have in common: their options, their programs and runs, their tables and pictures."""
import argparse
import csv
import os
import resource
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def parser(usage, folder, picture=True):
    """With the options that every study has: --bin, --out and, where it has a picture, --no-plot."""
    result = argparse.ArgumentParser(description=usage, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--bin", default=f"{ROOT}/build/bin", help="folder of pfcc, pfrun and the others (default: build/bin)")
    result.add_argument("--out", default=folder, help=f"folder of the results (default: {folder})")
    if picture:
        result.add_argument("--no-plot", action="store_true", help="no picture, which needs python3-matplotlib")
    return result


def several(kind=str):
    """The type of an option A,B,..."""
    return lambda text: [kind(part) for part in text.split(",")] if text else []


def output(command, folder=None, limit=3600, **environment):
    """What a program prints, with more in its environment. One that fails ends the study."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit, check=False, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(compiler, target, *sources):
    """Compiles; returns the program's absolute path. What begins with a minus is an option."""
    target = os.path.abspath(target)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    output([compiler, "-O2", *sources, "-o", target, "-lm"])
    return target


def processor_s():
    """Processor time of all runs so far, start-up included: other load on the machine hardly changes it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def write_table(path, rows, columns=None, digits=6):
    """Of dictionaries; what is no column is left out. Numbers that are no text yet have so many digits."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns or list(rows[0]), extrasaction="ignore", lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows({key: f"{value:.{digits}g}" if isinstance(value, float) else value for key, value in row.items()} for row in rows)


def read_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def draw(name, table, picture):
    """By Debian's interpreter, to which python3-matplotlib belongs."""
    print(output(["/usr/bin/python3", f"{ROOT}/experiments/picture.py", name, table, picture]), end="")
