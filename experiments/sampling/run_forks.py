#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Forked windows, one at a time on one core against two on two: how much sooner a sample ends, and whether its estimate is the same to the last digit.

Both in turn, so often as is said; the ratio is that of the shortest times. The machine must have two cores that nobody else uses. Exits with 1 where
the estimates differ.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

from run_sampling import BODIES, ROOT, build

SAMPLE = ["-sample", "0.5%", "-budget", "40", "-by", "fork", "-fine", "packet", "-cheap", "analytic"]
WAYS = {1: 1, 2: 2}  # windows at a time: cores


def run(options, program, jobs, folder):
    """(seconds, the sample in the summary)."""
    cores = sorted(os.sched_getaffinity(0))[:WAYS[jobs]]
    command = [os.path.join(options.bin, "pfrun"), "-np", str(options.ranks), *SAMPLE, "-jobs", str(jobs), "-report", folder,
               "--cfg=smpi/simulate-computation:no", program, *options.words]
    begin = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, preexec_fn=lambda: os.sched_setaffinity(0, cores))
    seconds = time.monotonic() - begin
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        return seconds, json.load(file)["sample"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="folder of pfrun (default: build/bin)")
    parser.add_argument("-n", "--times", type=int, default=3, help="of each (default: 3)")
    parser.add_argument("--ranks", type=int, default=64, help="default: 64")
    parser.add_argument("words", nargs="*", default=["alltoallv", "300", "8192"], help="body, iterations, bytes (default: alltoallv 300 8192)")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    if len(os.sched_getaffinity(0)) < 2:
        parser.error("there are no two cores")
    with tempfile.TemporaryDirectory() as folder:
        options.out = folder
        program, shortest, told = build(options, [])[BODIES], {}, {}
        for _ in range(options.times):
            for jobs in WAYS:
                seconds, sample = run(options, program, jobs, folder)
                shortest[jobs] = min(seconds, shortest.get(jobs, seconds))
                told.setdefault((sample["estimate_s"], sample["low_s"], sample["high_s"]), sample["simulated"])
    print(f"one core {shortest[1]:.2f} s, two cores {shortest[2]:.2f} s: {shortest[1] / shortest[2]:.2f} times; "
          f"{next(iter(told.values()))} windows' units; estimates {'equal' if len(told) == 1 else 'DIFFER: ' + str(list(told))}")
    return len(told) != 1


if __name__ == "__main__":
    sys.exit(main())
