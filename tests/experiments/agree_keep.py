#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""run_agree.py --keep: what is there is not run again, and what is run is added; model calibrated has the settings of a file.

    agree_keep.py SOURCE-ROOT BIN FOLDER
"""
import csv
import os
import subprocess
import sys

ROOT, BIN, FOLDER = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
KEPT, SETTINGS, OUT = (os.path.join(FOLDER, name) for name in ("kept.csv", "slow.smpi", "out"))
with open(KEPT, "w", encoding="utf-8") as file:
    file.write("ranks,kind,operation,bytes,portals,packet\n"
               "2,point-to-point,latency,8,1.5,2.5\n"
               "4,point-to-point,latency,8,1.25,\n")
with open(SETTINGS, "w", encoding="utf-8") as file:
    file.write("smpi/os = 0:1e-3:0\n")
command = [sys.executable, f"{ROOT}/experiments/micro/run_agree.py", "--bin", BIN, "-np", "2", "--only", "latency", "--sizes", "8", "--iterations", "3",
           "--no-codes", "--no-plot", "--models", "smpi,calibrated", "--calibrated", SETTINGS, "--out", OUT]
subprocess.run([*command, "--keep", KEPT], check=True, timeout=100)
with open(f"{OUT}/agree.csv", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
print(rows)
assert [(row["ranks"], row["portals"], row["packet"]) for row in rows] == [("2", "1.5", "2.5"), ("4", "1.25", "")], rows
assert rows[1]["smpi"] == rows[1]["calibrated"] == "", rows
slower = float(rows[0]["calibrated"]) - float(rows[0]["smpi"])
assert 1.9e-3 < slower < 2.1e-3, slower  # two sends of a millisecond each in a round trip
missing = subprocess.run([*command, "--keep", f"{FOLDER}/nosuch"], capture_output=True, text=True, timeout=100, check=False)
assert missing.returncode == 1 and missing.stderr.count("\n") == 1 and "nosuch" in missing.stderr, missing
