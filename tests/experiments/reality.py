#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""experiments/reality in its smallest size: every case is measured, recorded and predicted. How well says nothing here: the
machine may be busy. reality.py ROOT BIN DIR"""
import csv
import math
import subprocess
import sys

root, programs, folder = sys.argv[1:]
done = subprocess.run([f"{root}/experiments/reality/run_reality.py", "--bin", programs, "--out", folder, "--quick", "--repeat", "1"],
                      capture_output=True, text=True, timeout=280, check=False)
if done.returncode:
    sys.exit(f"ended with {done.returncode}\n{done.stdout}{done.stderr}")
with open(f"{folder}/results.csv", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
with open(f"{folder}/runs.csv", encoding="utf-8") as file:
    runs = list(csv.DictReader(file))
cases = {(row["transport"], row["code"]) for row in rows}
expected = {(transport, code) for transport in ("shared memory", "TCP") for code in ("halo", "transpose", "cg", "sweep", "sort")}
if cases != expected or len(rows) != len(expected) or len(runs) != len(rows):
    sys.exit(f"cases: {sorted(cases)}, {len(rows)} rows, {len(runs)} runs")
for row in rows + runs:
    for key, text in row.items():
        if key.endswith("_s") and not 0 < float(text) < 1000 or key == "error" and not math.isfinite(float(text)):
            sys.exit(f"{key} of {row}")
for name in ("shared-memory", "TCP"):
    with open(f"{folder}/{name}.txt", encoding="utf-8") as file:
        text = file.read()
    for key in ("leave = first", "eager_max", "memory.time", "memory.overhead_send", "memory.overhead_receive", "memory.nic_time"):
        if f"\n{key}" not in text:
            sys.exit(f"{name}.txt has no '{key}'")
