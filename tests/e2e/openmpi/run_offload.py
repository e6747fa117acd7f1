#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs with Open MPI's offloading components, coll/portals4 and osc/portals4, at several numbers of ranks.

Usage: run_offload.py --bin DIRECTORY GROUP, where GROUP names a row of GROUPS below. The programs check their own data;
each run in the fine model is made twice, and its simulated times must not differ; then the models are switched.
"""
import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402

PROGRAMS = os.path.join(harness.HERE, "programs")
# The number of polls in vain after which a rank sleeps must not decide whether it comes to an end.
ONE_PASS = {"PARFOCAL_IDLE_PASSES": "1"}
COLL, OSC = {"PARFOCAL_OPENMPI_COLL": "portals4"}, {"PARFOCAL_OPENMPI_OSC": "portals4"}
ANY = ["every:1=smpi|portals", "@coll:3=portals,@coll:11=smpi,@coll:14=portals"]
# program, arguments, settings, numbers of ranks, schedules, does it switch by itself
GROUPS = {
    "coll": [("coll", [], COLL, [2, 3, 4, 7, 8, 16], ANY, False)],
    "icoll": [("icoll", [], COLL, [2, 3, 4, 7, 8], ANY, False)],
    "reduce": [("reduce_types", [], COLL, [2, 3, 4, 5], ANY, False), ("reduce_types", ["large"], COLL, [5], [], False),
               ("userop", [], COLL, [4, 5], [], False), ("split", [], COLL, [4, 7], ANY, False)],
    "rma": [("rma", [], OSC, [2, 3, 4, 7, 8], [], True), ("rma", [], dict(COLL, **OSC), [4, 5], [], True),
            ("winshapes", [], OSC, [4], [], True), ("getends", [], OSC, [4], [], False)],
    "both": [("offload", [], dict(COLL, **OSC), [2, 3, 4, 7, 8], [], False), ("offload", [], COLL, [5], [], False),
             ("nbcblock", [], COLL, [4], [], True), ("progress", [], COLL, [4], [], True)],
    "idle": [(name, [], dict(ONE_PASS, **more), [4], [], False) for name in ("group", "split", "idupinter")
             for more in ({}, COLL, OSC)],
}


class Runner:
    def __init__(self, tools):
        self.tools, self.runs, self.failures = tools, 0, 0

    def run(self, name, np, args, options, settings, like=None):
        source = os.path.join(PROGRAMS, name + ".c")
        if not os.path.exists(source):
            source = os.path.join(HERE, name + ".c")
        result = self.tools.pfrun(self.tools.build(source, "pfcc"), np, args, 60, options, settings)
        self.runs += 1
        why = "" if result.status == 0 else f"exit status {result.status}"
        if not why and f"{name}: PASS" not in result.data:
            why = "it does not say PASS"
        if not why and like and like.times != result.times:
            why = "other simulated times\n" + harness.difference(like.times, result.times)
        if why:
            self.failures += 1
            print(f"FAIL {name} on {np} ranks: {why}\n    {result.command}")
            for line in (result.data + result.err.splitlines())[-8:]:
                print("    | " + line[:200])
        return result

    def program(self, name, args, settings, sizes, schedules, switches):
        pure = dict(settings, E2E_A="portals", E2E_B="portals")
        for np in sizes:
            first = self.run(name, np, args, ["-model", "portals"], pure)
            self.run(name, np, args, ["-model", "portals"], pure, like=first)
            for schedule in schedules:
                self.run(name, np, args, ["-schedule", schedule], settings)
            if switches:
                for a, b in (("smpi", "portals"), ("portals", "smpi")):
                    self.run(name, np, args, ["-model", a], dict(settings, E2E_A=a, E2E_B=b))


def refusals(tools):
    """Settings that cannot be are refused by name, before the program runs."""
    program = tools.build(os.path.join(PROGRAMS, "coll.c"), "pfcc")
    failures = 0
    for settings, message in (({"PARFOCAL_OPENMPI_COLL": "portals4", "PARFOCAL_OPENMPI_PML": "ob1"}, "PARFOCAL_OPENMPI_PML="),
                              ({"PARFOCAL_OPENMPI_OSC": "portals4", "PARFOCAL_OPENMPI_PML": "ob1"}, "PARFOCAL_OPENMPI_PML="),
                              ({"PARFOCAL_OPENMPI_OSC": "rdma"}, "is not one of: (nothing), pt2pt, portals4"),
                              ({"OMPI_MCA_mtl_portals4_long_protocol": "rndv"}, "a send ends before its data have been fetched"),
                              ({"PARFOCAL_OPENMPI_COLL": "tuned"}, "is not one of: (nothing), portals4")):
        result = tools.run([tools.command("pfrun"), "-np", "2", "-model", "portals", program], 60, settings)
        if result.status in (0, "timeout") or message not in result.err:
            failures += 1
            print(f"FAIL {settings}: status {result.status}, no message '{message}':\n{result.err[-600:]}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("group", choices=GROUPS)
    parser.add_argument("--bin", required=True, help="folder of pfcc and pfrun")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="offload-") as work:
        runner = Runner(harness.Tools(os.path.abspath(options.bin), work))
        for row in GROUPS[options.group]:
            runner.program(*row)
        if options.group == "both":
            runner.failures += refusals(runner.tools)
    print(f"run_offload: {runner.runs} runs, {runner.failures} failures")
    return runner.failures != 0


if __name__ == "__main__":
    sys.exit(main())
