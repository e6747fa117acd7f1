#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds everything a second time with AddressSanitizer and UndefinedBehaviorSanitizer and runs tests there.

Usage: run.py --build DIRECTORY prepare|finds|unit|portals|PROGRAM...
    DIRECTORY    the ordinary build; the second one is DIRECTORY/sanitized
    prepare      configures and builds; the other steps need it
    finds        shows that a fault in a simulated job is found
    unit         the unit tests;  portals: the tests of the Portals interface
    PROGRAM      an end-to-end program: a file below tests/e2e
Each finding of a sanitizer ends its run with an error. The application itself is compiled without them: MPI programs under test
are not ours in real life, and each rank's private copy is loaded in a way that hides it from the sanitizer anyway.
"""
import argparse
import fcntl
import glob
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Without optimisation, which takes twice as long to build and saves the tests less.
SETUP = ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Doptimization=0", "-Dc_args=-g1", "-Dcpp_args=-g1"]
# Programs run in all ways but under the stock launchers, which have nothing to show here.
MODES = "smpi,loaded,portals,own,schedule"
# tools/pfrun/sanitize.c has pfrun's own defaults; these hold for it and for the unit tests.
ENVIRONMENT = {"UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:print_summary=1"}


def run(command, quiet=False):
    """Runs the command; shows the output of a quiet one only when it fails."""
    done = subprocess.run(command, env=dict(os.environ, **ENVIRONMENT), text=True, cwd=ROOT,
                          stdout=subprocess.PIPE if quiet else None, stderr=subprocess.STDOUT if quiet else None)
    if quiet and done.returncode:
        print("\n".join(done.stdout.splitlines()[-40:]))
    return done.returncode


def prepare(build, sanitized):
    for fetched in glob.glob("adapters/openmpi/openmpi-*", root_dir=build):
        if not os.path.isdir(os.path.join(sanitized, fetched)):
            shutil.copytree(os.path.join(build, fetched), os.path.join(sanitized, fetched))
    if not os.path.exists(os.path.join(sanitized, "build.ninja")):
        status = run(["meson", "setup", sanitized, ROOT, *SETUP], quiet=True)
        if status:
            return status
    return run(["ninja", "-C", sanitized], quiet=True)


# Whole programs are left out: one that is started by itself, without pfrun, has no AddressSanitizer in front.
def suite(sanitized, names):
    arguments = [word for name in names for word in ("--suite", name)]
    # Comparisons simulate for minutes what other unit tests have in seconds.
    return run(["meson", "test", "-C", sanitized, "--no-rebuild", "--print-errorlogs", "--num-processes", "1", "-t", "3",
                "--no-suite", "e2e", "--no-suite", "comparison", *arguments])


def finds(sanitized):
    """A good run passes, and a read behind an array in the middleware does not."""
    pfcc, pfrun = (os.path.join(sanitized, "bin", tool) for tool in ("pfcc", "pfrun"))
    with tempfile.TemporaryDirectory(prefix="pf-sanitizer-") as work:
        program = os.path.join(work, "overflow")
        subprocess.run([pfcc, "-g", os.path.join(ROOT, "tests/sanitizer/overflow.c"), "-o", program], check=True)
        for model in ("smpi", "portals"):
            for count, bad in (("1", False), ("20", True)):
                done = subprocess.run([pfrun, "-np", "2", "-model", model, program, count], capture_output=True, text=True,
                                      timeout=120, cwd=work)
                found = "AddressSanitizer: heap-buffer-overflow" in done.stderr and "pf_wait_set_open" in done.stderr
                if found != bad or (done.returncode != 0) != bad:
                    print(f"model {model}, {count} requests: status {done.returncode}\n{done.stderr}")
                    return 1
    return 0


def program(sanitized, name):
    source = os.path.join(ROOT, "tests", "e2e", name + ".c")
    if not os.path.exists(source):
        sys.exit(f"sanitizer: there is no {source}")
    return run([sys.executable, os.path.join(ROOT, "tests", "e2e", "run_e2e.py"), "--bin",
                os.path.join(sanitized, "bin"), "--modes", MODES, "--schedules", "1", "--limit", "120",
                "--programs-in", os.path.dirname(source), os.path.basename(name)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("steps", nargs="+")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    sanitized = os.path.join(build, "sanitized")
    os.makedirs(sanitized, exist_ok=True)
    # Tests of one build directory may run at the same time; the second build is made once.
    with open(os.path.join(build, "sanitized.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if prepare(build, sanitized):
            print("sanitizer: the build has failed")
            return 1
    for step in options.steps:
        if step == "unit":
            status = suite(sanitized, ["unit", "lowlevel"])
        elif step == "portals":
            status = suite(sanitized, ["portals"])
        elif step == "finds":
            status = finds(sanitized)
        elif step == "prepare":
            status = 0
        else:
            status = program(sanitized, step)
        if status:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
