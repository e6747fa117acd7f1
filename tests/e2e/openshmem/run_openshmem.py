#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""OpenSHMEM programs: built with pfoshcc, run with pfrun; their results, and what is said of mistakes.

Usage: run_openshmem.py --bin DIRECTORY
"""
import argparse
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402

EXAMPLES = os.path.join(harness.ROOT, "examples", "openshmem")
# program, numbers of PEs, models
RUNS = [
    ("transfers.c", (1, 2, 5), ("portals", "packet")),
    ("atomics.c", (1, 2, 7), ("portals", "packet")),
    ("collectives.c", (1, 2, 3, 8), ("portals", "packet")),
]


class Checker:
    def __init__(self, tools):
        self.tools, self.failures, self.runs = tools, 0, 0

    def expect(self, title, result, status, pattern):
        self.runs += 1
        text = "\n".join(result.lines) + "\n" + result.err
        if result.status != status or not re.search(pattern, text):
            self.failures += 1
            print(f"FAIL {title}: status {result.status} instead of {status}, or nothing like /{pattern}/\n"
                  f"    {result.command}\n{text[-1500:]}")
        return result

    def pfrun(self, program, np, args=(), options=()):
        command = [self.tools.command("pfrun"), "-np", str(np), "--log=root.thres:error", "--cfg=smpi/simulate-computation:no",
                   *options, program, *args]
        return self.tools.run(command, 60)

    def build(self, source, wrapper="pfoshcc", *flags):
        target = os.path.join(self.tools.work, os.path.splitext(os.path.basename(source))[0])
        command = [self.tools.command(wrapper), "-O1", "-g", "-Wall", "-Wextra", "-Werror", *flags, source, "-o", target, "-lm"]
        self.expect(f"building {source}", self.tools.run(command, 120), 0, "")
        return target


def programs(checker):
    for source, sizes, models in RUNS:
        program = checker.build(os.path.join(HERE, "programs", source))
        for model in models:
            for np in sizes:
                checker.expect(f"{source} {np} PEs {model}", checker.pfrun(program, np, options=["-model", model]), 0, r"^PASS\n")


def hello(checker):
    program = checker.build(os.path.join(EXAMPLES, "hello.c"))
    checker.expect("hello", checker.pfrun(program, 4), 0, r"hello from PE 0 of 4, left of it is PE 3")
    checker.expect("hello in a model without a NIC", checker.pfrun(program, 4, options=["-model", "smpi"]), 1,
                   r"OpenSHMEM needs a model with a network interface, and smpi has none")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        checker = Checker(harness.Tools(arguments.bin, work))
        for part in (hello, programs):
            part(checker)
        print(f"{checker.runs} checks, {checker.failures} failures")
        return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
