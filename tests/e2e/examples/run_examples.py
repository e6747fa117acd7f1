#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the programs of examples/ with the stock wrappers and with pfcc/pfcxx, and runs them in every model and with
switches. What they print must be the same everywhere; in smpi the simulated times too, to the last digit."""
import argparse
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402

EXAMPLES = os.path.join(harness.ROOT, "examples")
# Lines with times of their own, and host names: they differ between a real and a simulated run.
TIMED = re.compile(r"the slowest rank took|bytes +[0-9.]+ us$|^hello from")


class Checker:
    def __init__(self, tools, limit):
        self.tools, self.limit = tools, limit
        self.failures = self.runs = 0

    def expect(self, title, result, status=0, like=None, exactly=False):
        """The exit status, and the lines of another run; `exactly`: times included."""
        self.runs += 1
        why = ""
        if result.status != status:
            why = f"exit status {result.status}, expected {status}"
        elif like:
            keep = (lambda line: True) if exactly else (lambda line: not TIMED.search(line))
            why = harness.difference([x for x in like.lines if keep(x)], [x for x in result.lines if keep(x)])
        if why:
            self.failures += 1
            print(f"FAIL {title}: {why}\n    {result.command}")
            for line in result.err.splitlines()[-5:]:
                print("    | " + line[:200])
        return result

    def everywhere(self, source, np, args, schedule=None):
        """One program: stock Open MPI, stock SMPI, our smpi with and without portals, portals, and a schedule."""
        name, tools = os.path.basename(source), self.tools
        real = None
        if shutil.which("mpirun"):
            real = self.expect(f"{name} mpirun", tools.mpirun(tools.build(source, "mpicc"), np, args, self.limit))
        stock = self.expect(f"{name} smpirun", tools.smpirun(tools.build(source, "smpicc"), np, args, self.limit),
                            like=real)
        ours = tools.build(source, "pfcc")
        for options in (["-model", "smpi"], ["-model", "smpi", "-load", "portals"]):
            self.expect(f"{name} {' '.join(options)}", tools.pfrun(ours, np, args, self.limit, options), like=stock,
                        exactly=True)
        fine = self.expect(f"{name} portals", tools.pfrun(ours, np, args, self.limit, ["-model", "portals"]), like=stock)
        self.expect(f"{name} portals again", tools.pfrun(ours, np, args, self.limit, ["-model", "portals"]), like=fine,
                    exactly=True)
        if schedule:
            self.expect(f"{name} {schedule}", tools.pfrun(ours, np, args, self.limit, ["-schedule", schedule]), like=stock)

    def phases_of_cg(self, np):
        """The summary must show each phase of the main job in the model that the schedule names."""
        program = self.tools.build(os.path.join(EXAMPLES, "cg", "cg.c"), "pfcc")
        path = os.path.join(self.tools.work, "cg-summary.json")
        os.environ["PARFOCAL_SUMMARY"] = path
        result = self.tools.run([self.tools.command("pfrun"), "-np", str(np), *harness.SIMULATION, "-schedule",
                                 "solve=portals,report=smpi", program, "-n", "12"], self.limit)
        del os.environ["PARFOCAL_SUMMARY"]
        self.expect("cg with phases", result)
        with open(path, encoding="utf-8") as f:
            seen = {(p["phase"], p["model"]) for p in json.load(f)["phases"] if p["calls"]}
        wanted = {("setup", "smpi"), ("solve", "portals"), ("report", "smpi")}
        if not wanted <= seen or ("solve", "smpi") in seen:
            self.failures += 1
            print(f"FAIL cg with phases: the summary has {sorted(seen)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(harness.ROOT, "build", "bin"), help="folder of pfcc and pfrun")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="examples-") as work:
        checker = Checker(harness.Tools(os.path.abspath(options.bin), work), options.limit)
        cg = os.path.join(EXAMPLES, "cg", "cg.c")
        checker.everywhere(os.path.join(EXAMPLES, "hello", "hello.c"), 4, [])
        checker.everywhere(os.path.join(EXAMPLES, "ring", "ring.cpp"), 4, ["5"], "@coll:1=portals")
        checker.everywhere(os.path.join(EXAMPLES, "pingpong", "pingpong.c"), 2, ["70000", "3"],
                           "size-256=portals,size-4096=smpi,size-65536=portals")
        checker.everywhere(cg, 8, ["-n", "12"], "solve=portals,report=smpi")
        checker.everywhere(cg, 6, ["-n", "13", "-i", "9"], "setup=portals,solve=smpi,report=portals")
        spectral = os.path.join(EXAMPLES, "spectral", "spectral.c")
        checker.everywhere(spectral, 8, ["-n", "16", "-s", "2", "-m", "3"], "stencil=analytic,fft=packet,report=smpi")
        checker.everywhere(spectral, 8, ["-n", "16", "-s", "2", "-m", "1", "-x", "8"], "stencil=analytic,fft=packet,report=smpi")
        checker.phases_of_cg(16)
        # Bad arguments: a usage line and status 2, also when the grid is too small for the ranks.
        program = checker.tools.build(cg, "pfcc")
        for args in (["-n"], ["-n", "0"], ["-x", "3"], ["-n", "12z"], ["-n", "1"]):
            checker.expect(f"cg {' '.join(args)}", checker.tools.pfrun(program, 8, args, options.limit), status=2)
        program = checker.tools.build(spectral, "pfcc")
        for args, ranks in ((["-n", "12"], 4), (["-m"], 4), (["-n", "16"], 6), (["-n", "16", "-x", "3"], 4)):
            checker.expect(f"spectral {' '.join(args)}", checker.tools.pfrun(program, ranks, args, options.limit), status=2)
    print(f"run_examples: {checker.runs} runs, {checker.failures} failures")
    return checker.failures != 0


if __name__ == "__main__":
    sys.exit(main())
