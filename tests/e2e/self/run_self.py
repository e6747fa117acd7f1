#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs on one rank in a library where the implementation `self` stands for model analytic, alone and in turn with others.

Usage: run_self.py --bin DIRECTORY --library FILE --plugins DIRECTORY
"""
import argparse
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402

SCHEDULES = ["every:1=analytic|smpi", "every:1=analytic|portals", "every:2=smpi|analytic|portals", "every:3=analytic|smpi|portals-ideal"]
LIMIT = 120


class Runs:
    def __init__(self, tools, library, plugins):
        self.tools, self.count, self.failures = tools, 0, 0
        folder = os.path.dirname(os.path.abspath(library))
        self.environment = {"LD_LIBRARY_PATH": folder, "PARFOCAL_OPENMPI_PLUGIN_DIR": plugins}

    def run(self, source, options, wanted, args=(), status=0, np=1):
        """`wanted`: regular expression for all that was printed."""
        program = self.tools.build(os.path.join(HERE, source), "pfcc")
        result = self.tools.pfrun(program, np, list(args), LIMIT, options, self.environment)
        self.count += 1
        text = "\n".join(result.data) + "\n" + result.err
        if (result.status == 0) != (status == 0) or not re.search(wanted, text):
            self.failures += 1
            print(f"FAIL {result.command}\nstatus {result.status}, wanted {status} and /{wanted}/\n{text[-2000:]}")
        return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--plugins", required=True, help="those of Open MPI, which the real library finds by its own place")
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="self-")
    try:
        runs = Runs(harness.Tools(options.bin, work), options.library, os.path.abspath(options.plugins))
        own = ["-model", "analytic"]
        for program in ("alone", "typemore", "attrs", "info", "keyvals", "packexternal"):
            runs.run(f"../programs/{program}.c", own, f"^{program}: PASS\n")
        for schedule in SCHEDULES:
            result = runs.run("../programs/alone.c", ["-schedule", schedule], "^alone: PASS\n")
            if not result.calls.get("analytic"):
                runs.failures += 1
                print(f"FAIL {result.command}: no call in the model")
        runs.run("lacks.c", own, "^long truncated 1\npart 1 0 2 0 0\nwindow unsupported\n")
        runs.run("lacks.c", own, r"deadlock at simulated time(.|\n)*MPI_Recv.*lacks\.c:", args=["wait"], status=1)
        runs.run("lacks.c", own, "model analytic cannot be loaded: it is for one rank, not for 2", status=1, np=2)
    finally:
        shutil.rmtree(work)
    print(f"run_self: {runs.count} runs, {runs.failures} failures")
    return runs.failures != 0


if __name__ == "__main__":
    sys.exit(main())
