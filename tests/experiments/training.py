#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Schedules of experiments/training/goal.py take what they take by hand. Usage: training.py BIN GOAL"""
import json
import os
import subprocess
import sys
import tempfile

BIN, GOAL = sys.argv[1:]
RULES = "--cfg=parfocal/replay_loggops:L=1000,o=100,g=0,G=0,O=0,S=1e12"
MESSAGE = 1200  # ns, L + 2 o
CASES = [  # options, ns
    ("ring -n 8 --size 800", 2 * 7 * MESSAGE),
    ("ring -n 5 --size 1000 --sum 1", 2 * 4 * MESSAGE + 4 * 200),
    ("tree -n 8 --size 800", 2 * 3 * MESSAGE),
    ("tree -n 8 --size 800 --sum 2", 2 * 3 * MESSAGE + 3 * 2 * 800),
    ("experts -n 8 --size 800", 6 * 100 + MESSAGE),  # the last of seven
    ("pipeline -n 1 --parts 3 --work 1000", 3 * 3 * 1000),
    ("pipeline -n 4 --parts 1 --work 1000", 4 * 3 * 1000 + 2 * 3 * MESSAGE),
    ("data -n 1 --layers 3 --work 5000", 3 * 3 * 5000),
]


def simulated(options, *flags):
    with tempfile.TemporaryDirectory() as folder:
        schedule = os.path.join(folder, "schedule.goal")
        with open(schedule, "w", encoding="ascii") as file:
            subprocess.run([GOAL, *options.split()], stdout=file, check=True)
        subprocess.run([os.path.join(BIN, "pfrun"), "-replay", schedule, "-model", "analytic", "-quiet", "-report", folder, *flags],
                       check=True, timeout=300)
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            return json.load(file)["simulated_s"] * 1e9


for case, expected in CASES:
    found = simulated(case, RULES)
    assert abs(found - expected) < 1e-3, f"{case}: {found} ns instead of {expected}"
# Sums of all layers but the last overlap with computation, if that takes longer; the last one does not.
last = simulated("ring -n 4 --size 100000")
hidden = simulated("data -n 4 --layers 6 --size 100000 --work 1000000") - 18e6
assert abs(hidden / last - 1) < 0.02, (hidden, last)
bare = simulated("data -n 4 --layers 6 --size 100000 --work 0")
assert bare > 5 * last, (bare, last)
print(len(CASES) + 2, "schedules as by hand")
