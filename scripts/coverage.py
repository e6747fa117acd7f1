#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which lines of the middleware the tests run: builds with -Db_coverage=true, runs the tests, prints the figure by file and folder.

No part of the ordinary tests; `ninja -C BUILD coverage` only prints again what was counted. Needs gcovr
(scripts/packages.txt). Generated sources are not counted. Ends with status 1 when less than --goal percent of the lines were
run, or a test failed. It forgets what earlier runs have counted; --add does not. What a process has counted that leaves by _exit
is there too (base/coverage.c); what one has counted that a signal kills is not.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
E2E = "tests/e2e"
# Stock MPIs and other settings of SMPI show what is right, but run no other line of ours.
MODES = ["--modes", "smpi,portals,analytic,own,schedule,three", "--schedules", "2", "--limit", "120"]


def programs(folder, bindir):
    for name in sorted(os.listdir(os.path.join(ROOT, folder))):
        stem, extension = os.path.splitext(name)
        if extension in (".c", ".f", ".f90"):
            yield stem, ["python3", "tests/e2e/run_e2e.py", "--bin", bindir, "--programs-in", folder, *MODES, stem]


def jobs(build):
    """What runs: part, name and command."""
    bindir = os.path.join(build, "bin")
    script = lambda path, *arguments: ["python3", path, "--bin", bindir, *arguments]
    yield "unit", "unit", ["meson", "test", "-C", build, "--no-rebuild", "--num-processes", "1", "--suite", "unit"]
    yield "check", "faults", script("tests/e2e/check/run_check.py", "--jobs", "1", "faults")
    yield "check", "silent", script("tests/e2e/check/run_check.py", "--jobs", "1", "silent")
    for name in sorted(os.listdir(os.path.join(ROOT, "tests/cli/pfrun"))):
        if name.endswith(".bats") and name not in ("stock.bats", "setup.bats"):  # stock smpirun, and no run at all
            yield "cli", name, ["bats", "tests/cli/pfrun/" + name]
    for name in ("pfcc", "simulated"):
        yield "cli", name, ["python3", f"tests/cli/pfcc/test_{name}.py", build]
    yield "interface", "coverage", script("tests/coverage/run_coverage.py", "--jobs", "1")
    yield "examples", "examples", script("tests/e2e/examples/run_examples.py")
    yield "portals", "programs", script("tests/e2e/portals/run_programs.py")
    yield "random", "programs", script("tests/random/run_random.py", "--cases", "60", "--limit", "120")
    yield "random", "windows", script("tests/random/run_windows.py", "--cases", "15", "--steps", "40")
    for folder in ("programs", "topology", "objects") + (("fortran",) if shutil.which("gfortran") else ()):
        for name, command in programs(os.path.join(E2E, folder), bindir):
            yield folder, name, command


def run(job, environment):
    """Runs one job; returns its name when it failed."""
    part, name, command = job
    start = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace")
    print(f"{'ok  ' if done.returncode == 0 else 'FAIL'} {time.monotonic() - start:6.1f} s  {part} {name}", flush=True)
    if done.returncode == 0:
        return None
    print(f"{' '.join(command)}\n{done.stdout[-4000:]}", flush=True)
    return f"{part} {name}"


def report(build):
    """{file: (lines, run)} of what is in the source tree, without what is built."""
    command = ["gcovr", "--root", ROOT, "--object-directory", build, "--config", os.path.join(ROOT, "gcovr.cfg"),
               "--json-summary", "-", build]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"coverage: gcovr failed\n{done.stderr[-2000:]}")
    files = json.loads(done.stdout)["files"]
    return {f["filename"]: (f["line_total"], f["line_covered"]) for f in files if f["line_total"]}


def table(files):
    """One line for each file, the worst first, then one for each folder; returns the percentage of all."""
    folders = {}
    for name, (lines, covered) in sorted(files.items(), key=lambda item: item[1][1] / item[1][0]):
        print(f"{100 * covered / lines:6.1f} %  {lines - covered:5d} of {lines:5d} lines never run  {name}")
        for folder in (os.path.dirname(name), "all"):
            old = folders.get(folder, (0, 0, 0))
            folders[folder] = (old[0] + 1, old[1] + lines, old[2] + covered)
    print("\nfolder                  files  lines    run")
    for folder, (count, lines, covered) in sorted(folders.items(), key=lambda item: (item[0] == "all", item[0])):
        print(f"{folder:23} {count:5} {lines:6} {100 * covered / lines:5.1f}%")
    return 100 * folders["all"][2] / folders["all"][1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build-coverage"), help="build directory (default: %(default)s)")
    parser.add_argument("--goal", type=float, default=85, help="percent of lines (default: %(default)s)")
    parser.add_argument("--only", default="", help="parts to run, separated by commas: unit,check,cli,interface,examples,"
                        "portals,random,programs,topology,objects,fortran; or `none`, which prints what is there")
    parser.add_argument("--add", action="store_true", help="add to what earlier runs have counted")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tests at the same time (default: %(default)s)")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    if not os.path.exists(os.path.join(build, "build.ninja")):
        subprocess.run(["meson", "setup", build, ROOT, "-Db_coverage=true"], check=True)
    subprocess.run(["ninja", "-C", build], check=True)
    if not options.add and options.only != "none":
        subprocess.run(["find", build, "-name", "*.gcda", "-delete"], check=True)
    wanted = set(filter(None, options.only.split(",")))
    environment = dict(os.environ, PF_BIN=os.path.join(build, "bin"))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        chosen = [job for job in jobs(build) if not wanted or job[0] in wanted]
        failed = [name for name in pool.map(lambda job: run(job, environment), chosen) if name]
    percent = table(report(build))
    if failed:
        print(f"failed: {', '.join(failed)}")
    return bool(failed) or percent < options.goal


if __name__ == "__main__":
    sys.exit(main())
