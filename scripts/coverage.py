#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which lines of the middleware the tests run: builds with -Db_coverage=true, runs programs, prints the figure per file.

Takes a quarter of an hour on two cores, so it is no part of the ordinary tests. Needs gcovr (scripts/packages.txt). Generated
sources are not counted. Ends with status 1 when less than --goal percent of the lines were run, or a test failed.
A second run in the same build directory adds to the first; --fresh forgets it. `ninja -C BUILD coverage` prints again.
"""
import argparse
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def parts(build):
    """What runs: a name and a command. Programs in the ways that take different paths, and the errors."""
    bindir = os.path.join(build, "bin")
    e2e = [sys.executable, "tests/e2e/run_e2e.py", "--bin", bindir, "--modes", "smpi,portals,own,schedule", "--schedules", "2",
           "--limit", "120"]
    environment = dict(os.environ, PF_BIN=bindir)
    bats = [f"tests/cli/pfrun/{name}.bats" for name in ("input", "run", "faults", "pfinfo")]
    yield "unit", ["meson", "test", "-C", build, "--no-rebuild", "--suite", "unit"], None
    yield "e2e", e2e, None
    yield "topology", e2e + ["--programs-in", "tests/e2e/topology"], None
    yield "cli", ["bats"] + bats, environment
    yield "random", [sys.executable, "tests/random/run_random.py", "--bin", bindir, "--cases", "25", "--limit", "120"], None


def run(name, command, environment):
    print(f"== {name}: {' '.join(command)}", flush=True)
    return subprocess.run(command, cwd=ROOT, env=environment).returncode == 0


def report(build):
    """{file: (lines, run)} of what is in the source tree, without what is built."""
    command = ["gcovr", "--root", ROOT, "--object-directory", build, "--config", os.path.join(ROOT, "gcovr.cfg"),
               "--json-summary", "-", build]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"coverage: gcovr failed\n{done.stderr[-2000:]}")
    files = json.loads(done.stdout)["files"]
    return {f["filename"]: (f["line_total"], f["line_covered"]) for f in files if f["line_total"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build-coverage"), help="build directory (default: %(default)s)")
    parser.add_argument("--goal", type=float, default=85, help="percent of lines (default: %(default)s)")
    parser.add_argument("--only", default="", help="parts to run, separated by commas: unit,e2e,topology,cli,random")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs have counted")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    if not os.path.exists(os.path.join(build, "build.ninja")):
        subprocess.run(["meson", "setup", build, ROOT, "-Db_coverage=true"], check=True)
    subprocess.run(["ninja", "-C", build], check=True)
    if options.fresh:
        subprocess.run(["find", build, "-name", "*.gcda", "-delete"], check=True)
    wanted = set(filter(None, options.only.split(",")))
    failed = [name for name, command, environment in parts(build)
              if (not wanted or name in wanted) and not run(name, command, environment)]
    files = report(build)
    total = [sum(column) for column in zip(*files.values())]
    for name, (lines, covered) in sorted(files.items(), key=lambda item: item[1][1] / item[1][0]):
        print(f"{100 * covered / lines:6.1f} %  {lines - covered:5d} of {lines:5d} lines never run  {name}")
    percent = 100 * total[1] / total[0]
    print(f"{percent:6.1f} %  of {total[0]} lines in {len(files)} files" + (f"; failed: {', '.join(failed)}" if failed else ""))
    return bool(failed) or percent < options.goal


if __name__ == "__main__":
    sys.exit(main())
