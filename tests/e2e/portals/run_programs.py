#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Portals programs without MPI: built with pfcc, run with pfrun; how they end, and what a run that cannot end says.

What libportals exports, and what it does in a program that the simulator has not started.

Usage: run_programs.py --bin DIRECTORY --library libportals.so.4
"""
import argparse
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402

RING = os.path.join(harness.ROOT, "examples", "portals", "ring.c")
SUPPORT = os.path.join(harness.ROOT, "lowlevel", "job", "support")
# argument of ends.c on three ranks, exit status, what the output must match
ENDS = [
    ("", 0, r"rank 2 of 3 ends"),
    ("time", 0, r"slept 1000\nslept 1000\nslept 1000"),
    ("nobody", 0, r"to nobody: 0 arrived, 1 failed"),
    ("unclosed", 3, r"rank 1 has ended with status 3 and without PtlFini"),
    ("wait", 1, r"(?s)deadlock.*rank 0 \(nid \d, pid 1\) is blocked in PtlCTWait.*rank 2 .* is blocked in PtlCTWait"),
    ("poll", 1, r"(?s)deadlock.*rank 1 \(nid \d, pid 2\) is blocked in PtlCTGet"),
    ("barrier", 1, r"(?s)rank 0 .* is blocked in PtlCTWait.*rank 2 .* is blocked in pf_portals_barrier"),
    ("exit", 5, r"(?s)rank 0 .* is blocked in pf_portals_barrier.*rank 1 .* has ended"),
    ("thread", 1, r"a Portals call was made from a thread that is no rank"),
    ("child", 7, r"a Portals call was made in a child process of a rank, which is no rank"),
    ("threadinit", 1, r"a Portals call was made from a thread that is no rank"),
    ("abort", 134, r"rank 1: abort .* in main at ends\.c"),
]


class Checker(harness.Checker):
    def pfrun(self, program, np, args=(), options=()):
        command = [self.tools.command("pfrun"), "-np", str(np), "--log=root.thres:error", *options, program, *args]
        return self.tools.run(command, 60)

    def build(self, source, *flags):
        target = os.path.join(self.tools.work, os.path.basename(source)[:-2])
        command = [self.tools.command("pfcc"), "-O1", "-g", "-Wall", "-Wextra", "-Werror", *flags[:1], source, "-o", target,
                   *flags[1:]]
        self.expect(f"building {source}", self.tools.run(command, 120), 0, "")
        return target


def ring(checker):
    program = checker.build(RING)
    for np in (1, 2, 5, 8):
        first = checker.expect(f"ring {np}", checker.pfrun(program, np), 0, r"\(right\)")
        for options in (["-model", "portals"], ["-model", "smpi"]):
            again = checker.expect(f"ring {np} {options}", checker.pfrun(program, np, (), options), 0, r"\(right\)")
            if again.lines != first.lines:
                checker.failures += 1
                print(f"FAIL ring {np} {options}: {again.lines} instead of {first.lines}")
    checker.expect("ring by itself", checker.tools.run([program, "3"], 60), 0, r"1 ranks, 3 laps, token 0 \(right\)")
    checker.expect("ring without laps", checker.pfrun(program, 2, ["0"]), 2, "usage: ring")
    lossy = ["--cfg=parfocal/nic_e2e:no", "--cfg=parfocal/net_loss:1"]
    checker.expect("ring over a network that loses", checker.pfrun(program, 2, (), lossy), 1,
                   r"(?s)lost 1 messages for good: PARFOCAL_NIC_E2E=no.*rank 0 .* is blocked in")
    report = os.path.join(checker.tools.work, "report")
    result = checker.expect("ring report", checker.pfrun(program, 4, ["10"], ["-report", report]), 0,
                            r"start +portals .* 40 +320 B")
    if "MPI_Finalize" in result.err:
        checker.failures += 1
        print(f"FAIL ring report: a program without MPI is asked for MPI_Finalize\n{result.err}")
    with open(os.path.join(report, "summary.json"), encoding="utf-8") as f:
        counters = json.load(f)["portals"]
    if (counters["ranks"], counters["messages"], counters["bytes_put"]) != (4, 40, 320):
        checker.failures += 1
        print(f"FAIL ring report: {counters}")


def library(checker, path):
    """Programs see Ptl* and pf_portals_*; everything else is there for this build's own libraries only."""
    listing = checker.tools.run(["nm", "-D", "--defined-only", "--with-symbol-versions", path], 60).lines
    names = [line.split()[-1] for line in listing]
    public = {name.split("@")[0] for name in names if name.endswith("@@PORTALS_4")}
    others = [name for name in names if not name.endswith(("@@PORTALS_4", "@@PARFOCAL_PRIVATE", "PORTALS_4", "PARFOCAL_PRIVATE"))]
    wrong = others + [name for name in public if not name.startswith(("Ptl", "pf_portals_"))]
    checker.runs += 1
    if wrong or len([name for name in public if name.startswith("Ptl")]) != 55:
        checker.failures += 1
        print(f"FAIL exports of {path}: {len(public)} public names, and {wrong}")
    folder = os.path.dirname(path)
    includes = ["-I" + os.path.join(harness.ROOT, "lowlevel", name, "include") for name in ("portals", "job")]
    program = os.path.join(checker.tools.work, "ordinary")
    checker.expect("building without pfcc", checker.tools.run(
        ["cc", *includes, RING, "-o", program, "-L" + folder, "-lportals", "-Wl,-rpath," + folder], 120), 0, "")
    checker.expect("without the simulator", checker.tools.run([program], 60), 1, r"rank -1: PtlInit\(\) returned 5")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder of pfcc and pfrun")
    parser.add_argument("--library", required=True, help="path of libportals.so.4")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="portals-") as work:
        checker = Checker(harness.Tools(os.path.abspath(options.bin), work))
        ring(checker)
        library(checker, os.path.abspath(options.library))
        ends = checker.build(os.path.join(HERE, "programs", "ends.c"))
        for mode, status, pattern in ENDS:
            checker.expect(f"ends {mode}", checker.pfrun(ends, 3, [mode]), status, pattern)
        support = checker.build(os.path.join(HERE, "programs", "library.c"), "-I" + SUPPORT, "-lpfportals_test")
        for np in (1, 2, 3, 8):
            checker.expect(f"library {np}", checker.pfrun(support, np), 0, "library: PASS")
    print(f"run_programs: {checker.runs} runs, {checker.failures} failures")
    return checker.failures != 0


if __name__ == "__main__":
    sys.exit(main())
