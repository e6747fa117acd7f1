#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Curves of real programs: the main example on 16 and on 64 ranks, and HPL on 16.

Computation takes no simulated time, so that errors are those of the network models and simulated times are the same in each
run. Model analytic is fitted to portals first. Writes the files of pfcurve to DIR/CASE; finished runs are kept there.
"""
import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "experiments", "apps"))
import run_apps  # noqa: E402 (the path comes first)

COMMON = ["--cfg=smpi/simulate-computation:no", "--fit"]
CASES = {
    "cg-16": ["-np", "16", "--phases", "--repeat", "3", "--title", "examples/cg on 16 ranks"],
    "cg-64": ["-np", "64", "--switch-after", "--steps", "5", "--repeat", "2", "--title", "examples/cg on 64 ranks"],
    "hpl-16": ["-np", "16", "--switch-after", "--steps", "4", "--models", "analytic,portals", "--repeat", "2", "--title", "HPL, N = 1000, on 4 x 4 ranks"],
}


def build_hpl(options):
    """Builds HPC Challenge from Debian's source package, links its HPL alone, and writes its input: (program, folder)."""
    folder = os.path.join(os.path.abspath(options.out), "hpl")
    program = os.path.join(folder, "hpl")
    if not os.path.exists(program):
        os.makedirs(folder, exist_ok=True)
        compiler = os.path.join(os.path.abspath(options.bin), "pfcc")
        top = os.path.dirname(run_apps.build_hpcc(compiler, os.path.join(folder, "apt"), folder))
        with open(os.path.join(folder, "hpccinf.txt"), "w", encoding="utf-8") as file:
            file.write(run_apps.hpcc_input(os.path.join(top, "_hpccinf.txt"), 1000, 4, 4))
        subprocess.run([compiler, "-O2", "-w", "-I" + os.path.join(top, "include"), "-I" + os.path.join(top, "hpl", "include"),
                        os.path.join(HERE, "hpl.c"), "-o", program, os.path.join(top, "hpl", "lib", "parfocal", "libhpl.a"),
                        "-lblas", "-lm"], check=True)
    return program, folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join("build", "bin"), help="folder of pfcurve (default: build/bin)")
    parser.add_argument("--out", default="curve-results", help="folder of the results")
    parser.add_argument("--clock", default="wall", choices=["wall", "cpu"], help="as for pfcurve; cpu on a busy machine")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="of " + ", ".join(CASES) + " (default: all)")
    options = parser.parse_args()
    for case in options.cases or CASES:
        if case not in CASES:
            parser.error(f"unknown case {case}")
        program, folder = os.path.join(os.path.dirname(options.bin), "examples", "cg"), None
        if case == "hpl-16":
            program, folder = build_hpl(options)
        curve = os.path.join(options.bin, "pfcurve")
        out = os.path.join(options.out, case)
        if folder:
            curve, out = os.path.abspath(curve), os.path.abspath(out)
        done = subprocess.run([curve, *CASES[case], *COMMON, "--clock", options.clock, "--output", out, program], cwd=folder,
                              check=False)
        if done.returncode:
            sys.exit(done.returncode)


if __name__ == "__main__":
    main()
