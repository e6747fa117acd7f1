#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every row of base/config.def is set by a test, in one of the ways in which a user or a test can set it."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Rows that a flag of pfrun sets as well
FLAGS = {"model": "-model", "schedule": "-schedule", "load": "-load", "agree": "-agree", "report": "-report", "trace": "-trace",
         "platform": "-platform", "analytic_explain": "-explain", "what_if": "-what-if", "background": "-background", "net_fail": "-fail", "calibrated": "-calibrated"}
EXCEPTIONS = {}  # row: why no test can set it


def texts():
    for folder, _, files in os.walk(os.path.join(ROOT, "tests")):
        for name in files:
            if name.endswith((".c", ".py", ".bats", ".sh", ".build", ".txt", ".h", ".bash")) and name != os.path.basename(__file__):
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                    yield file.read()


def pattern(row):
    ways = [rf"PARFOCAL_{row.upper()}\b\W{{1,5}}\S", rf"parfocal/{row}:", rf'pf_config_set\("{row}"', rf"pf_config\.{row} = "]
    if row in FLAGS:
        ways.append(rf"(?<![\w-]){FLAGS[row]}\b")
    return re.compile("|".join(ways))


def main():
    with open(os.path.join(ROOT, "base", "config.def"), encoding="utf-8") as file:
        rows = re.findall(r"^PF_CFG\(\w+, (\w+),", file.read(), re.MULTILINE)
    if len(rows) < 50:
        sys.exit("check_rows: cannot read the configuration table any more")
    tests = list(texts())
    never = [row for row in rows if row not in EXCEPTIONS and not any(map(pattern(row).search, tests))]
    for row in never:
        print(f"base/config.def: no test sets {row}")
    stale = [row for row in EXCEPTIONS if row not in rows]
    for row in stale:
        print(f"check_rows: {row} is an exception and no row")
    return bool(never or stale)


if __name__ == "__main__":
    sys.exit(main())
