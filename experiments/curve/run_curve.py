#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Curves of real programs: the main example and HPL, each on 16 and on 64 ranks, and a field code on crowded dragonflies.

Measured computation takes no simulated time, so that simulated times are the same in each run; spectral-64-measured replays in each
run what one has measured. In hpl-64 the update's
products take what they take on nodes of 20 Gflop/s, and are not executed. No model is fitted to another.
Writes the files of pfcurve to DIR/CASE; finished runs are kept there.
"""
import argparse
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "experiments", "hpl"))
import build  # noqa: E402 (the path comes first)

NETWORK_ALONE = "--cfg=smpi/simulate-computation:no"
# 64 nodes that begin in the middle of a group, with 80 sweeps of the stencil for each transform.
CROWDED = ["-np", "64", "-platform", "dragonfly:256", "-hostfile", "hosts"]
# 512 ranks on half of a dragonfly's 1024 nodes, drawn at random; slabs, and a transform after each sweep.
SCATTERED = ["-np", "512", "-platform", "dragonfly:1024", "-hostfile", "scattered"]
ON_HALF = "examples/spectral in slabs on 512 of 1024 nodes of a dragonfly"
ON_TWO_GROUPS = "examples/spectral on 64 nodes in two groups of a dragonfly"
CASES = {
    "cg-16": ["-np", "16", "--phases", "--repeat", "3", "--title", "examples/cg on 16 ranks", NETWORK_ALONE],
    "cg-64": ["-np", "64", "--models", "analytic,smpi,portals,packet", "--switch-after", "--steps", "5", "--repeat", "2", "--title", "examples/cg on 64 ranks",
              NETWORK_ALONE],
    "hpl-16": ["-np", "16", "--switch-after", "--steps", "4", "--models", "analytic,portals", "--repeat", "2",
               "--title", "HPL, N = 1000, on 4 x 4 ranks", NETWORK_ALONE],
    "hpl-64": ["-np", "64", "--switch-after", "--steps", "4", "--models", "analytic,portals", "--repeat", "2",
               "--cfg=parfocal/platform_host_speed:20e9", "--title", "HPL, N = 2000, on 8 x 8 ranks", NETWORK_ALONE],
    "spectral-64": [*CROWDED, "--phases", "--models", "analytic,smpi,portals,packet", "--repeat", "2", "--title", ON_TWO_GROUPS, NETWORK_ALONE],
    "spectral-64-nic": [*CROWDED, "--phases", "--models", "analytic,packet", "--repeat", "2", "--title", "spectral on two groups of a dragonfly, contention = nic", NETWORK_ALONE],
    "spectral-64-measured": [*CROWDED, "--schedules", "schedules", "--models", "analytic,packet", "--repeat", "2",
                             "--title", "spectral on two groups of a dragonfly, computation measured", "--cfg=parfocal/computation_replay:computation"],
    "spectral-512": [*SCATTERED, "--schedules", "frontier", "--models", "analytic,smpi,portals,packet", "--repeat", "3", "--title", ON_HALF, NETWORK_ALONE],
    "spectral-512-nic": [*SCATTERED, "--schedules", "frontier", "--models", "analytic,packet", "--repeat", "3", "--title", f"{ON_HALF}, contention = nic", NETWORK_ALONE],
}
# The problem (order, block, grid, whether HPL checks its result) and the arguments of experiments/hpl/hpl.c.
HPL = {
    "hpl-16": ([1000, 32, 4, 4, True], []),
    "hpl-64": ([2000, 32, 8, 8, False], ["wait=block", "update=flops"]),
}
# What spectral-64 has found out.
FRONTIER = """setup   setup=packet,stencil=analytic,fft=analytic,report=analytic
others  setup=packet,stencil=analytic,fft=packet,report=packet
"""
FRONTIER_512 = """setup   setup=packet,stencil=analytic,fft=analytic,report=analytic
fft     setup=analytic,stencil=analytic,fft=packet,report=analytic
"""
# Where model analytic shall see the links.
LINKS = {case: "contention = link" for case in ("spectral-64", "spectral-64-measured", "spectral-512")}


def prepare_spectral(options, case):
    """The folder in which the curve is made, with its hosts and schedules, and the program."""
    folder = os.path.join(os.path.abspath(options.out), "spectral")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "hosts"), "w", encoding="utf-8") as file:
        file.writelines(f"node-{node}\n" for node in range(1032, 1096))
    with open(os.path.join(folder, "scattered"), "w", encoding="utf-8") as file:
        file.writelines(f"node-{1000 + node}\n" for node in random.Random(1).sample(range(1024), 512))
    for name, schedules in (("schedules", FRONTIER), ("frontier", FRONTIER_512)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(schedules)
    program = [os.path.join(os.path.dirname(os.path.abspath(options.bin)), "examples", "spectral"),
               *(["-n", "128", "-x", "128", "-m", "1", "-s", "8"] if case.startswith("spectral-512") else ["-m", "80"])]
    if case == "spectral-64-measured" and not os.path.exists(os.path.join(folder, "computation")):
        subprocess.run([os.path.join(os.path.abspath(options.bin), "pfrun"), "-quiet", *CROWDED, "-model", "analytic", "--cfg=smpi/host-speed:1Gf",
                        "--cfg=parfocal/computation_record:computation", *program], cwd=folder, check=True)
    if case in LINKS:
        os.environ["PARFOCAL_ANALYTIC_SET"] = LINKS[case]
    return folder, program


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
        folder, program = None, [os.path.join(os.path.dirname(os.path.abspath(options.bin)), "examples", "cg")]
        curve, out = os.path.abspath(os.path.join(options.bin, "pfcurve")), os.path.abspath(os.path.join(options.out, case))
        if case in HPL:
            (n, nb, p, q, check), arguments = HPL[case]
            program = [build.build_hpl(options.bin, os.path.join(os.path.abspath(options.out), "hpl")), *arguments]
            folder = os.path.join(os.path.dirname(program[0]), case)
            build.write_input(program[0], folder, n, p, q, nb, check=check)
        os.environ.pop("PARFOCAL_ANALYTIC_SET", None)
        if case.startswith("spectral"):
            folder, program = prepare_spectral(options, case)
        done = subprocess.run([curve, *CASES[case], "--clock", options.clock, "--output", out, *program], cwd=folder,
                              check=False)
        if done.returncode:
            sys.exit(done.returncode)


if __name__ == "__main__":
    main()
