#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Samples of iterative codes, each verified by the whole run in the fine model: true error, coverage of 200 samples, cost.

Measured computation takes no simulated time. Writes sampling.csv to DIR, with one line for each case, and the reports to the same folder. Cases are
added to what is there; --again runs those that are.
"""
import csv
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import study  # noqa: E402 (experiments/study.py)
from study import ROOT  # noqa: E402

BODIES, PARTICLES = "bodies", "particles"
# ranks, fine model, program and arguments
CASES = {
    "halo-16": (16, "packet", [BODIES, "halo", "1000", "32768"]),
    "halo-10000": (16, "packet", [BODIES, "halo", "10000", "8192"]),
    "amr-16": (16, "packet", [BODIES, "amr", "12000", "16384"]),
    "alltoallv-16": (16, "packet", [BODIES, "alltoallv", "20000", "8192"]),
    "particles-16": (16, "packet", [PARTICLES, "-side", "8", "-cycles", "1500", "-done", "rounds"]),
    "cg-16": (16, "packet", ["cg", "-n", "48", "-t", "60"]),
    "halo-64": (64, "packet", [BODIES, "halo", "6000", "8192"]),
    "amr-64": (64, "packet", [BODIES, "amr", "8000", "16384"]),
    "alltoallv-64": (64, "packet", [BODIES, "alltoallv", "5000", "8192"]),
    "particles-64": (64, "packet", [PARTICLES, "-side", "8", "-cycles", "10000", "-done", "rounds"]),
    "cg-64": (64, "packet", ["cg", "-n", "48", "-t", "40"]),
    "halo-16-portals": (16, "portals", [BODIES, "halo", "1000", "32768"]),
    "amr-16-portals": (16, "portals", [BODIES, "amr", "1500", "16384"]),
    "alltoallv-16-portals": (16, "portals", [BODIES, "alltoallv", "1000", "8192"]),
    "halo-10000-large": (16, "packet", [BODIES, "halo", "10000", "32768"]),
}
COLUMNS = ["case", "ranks", "fine", "units", "drawn", "simulated", "share", "estimate_s", "half_width", "border", "true_s", "error", "inside", "coverage",
           "cheap_error", "cost_ratio", "reached"]


def build(options):
    programs = {"cg": os.path.join(os.path.dirname(options.bin), "examples", "cg")}
    compiler = os.path.join(options.bin, "pfcc")
    programs[BODIES] = study.build(compiler, os.path.join(options.out, BODIES), os.path.join(HERE, "bodies.c"))
    parts = [os.path.join(ROOT, "experiments", "particles", name) for name in ("exchange.c", "particles.c", "physics.c")]
    programs[PARTICLES] = study.build(compiler, os.path.join(options.out, PARTICLES), *parts)
    return programs


def run(options, name, programs):
    ranks, fine, words = CASES[name]
    report = os.path.join(options.out, name)
    command = [os.path.join(options.bin, "pfrun"), "-np", str(ranks), "-sample", options.goal, "-fine", fine, "-cheap", "analytic", "-verify",
               "-report", report, "--cfg=smpi/simulate-computation:no", programs[words[0]], *words[1:]]
    with open(os.path.join(options.out, name + ".txt"), "w", encoding="utf-8") as file:
        subprocess.run(command, stdout=file, check=True)
    with open(os.path.join(report, "summary.json"), encoding="utf-8") as file:
        s = json.load(file)["sample"]
    check = s["verify"]
    return [name, ranks, fine, s["units"], sum(stratum["drawn"] for stratum in s["strata"]), s["simulated"], s["share"], s["estimate_s"],
            (s["high_s"] - s["low_s"]) / 2 / s["estimate_s"], s["border_s"] / s["estimate_s"], check["true_s"], check["error"], check["inside"],
            check.get("coverage", ""), s["cheap_s"] / check["true_s"] - 1 if s["cheap_s"] else "", s["cost_ratio"], s["reached"]]


def main():
    parser = study.parser(__doc__, "sampling-results", picture=False)
    parser.add_argument("--goal", default="2%", help="of each sample (default: 2%%)")
    parser.add_argument("--again", action="store_true", help="also cases that have a line")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="of " + ", ".join(CASES) + " (default: all)")
    options = parser.parse_args()
    options.bin, options.out = os.path.abspath(options.bin), os.path.abspath(options.out)
    os.makedirs(options.out, exist_ok=True)
    for name in options.cases:
        if name not in CASES:
            parser.error(f"unknown case {name}")
    programs, table, rows = build(options), os.path.join(options.out, "sampling.csv"), {}
    if os.path.exists(table):
        rows = {row["case"]: list(row.values()) for row in study.read_table(table)}
    for name in options.cases or CASES:
        if name in rows and not options.again:
            continue
        rows[name] = run(options, name, programs)
        with open(table, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *(rows[case] for case in CASES if case in rows)])
        print(*rows[name], flush=True)


if __name__ == "__main__":
    main()
