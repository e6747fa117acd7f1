# SPDX-License-Identifier: BSD-3-Clause
"""What a run of a test means, and the tables."""
import csv
import os
import re

REFUSED = re.compile(r"is not supported by any model|is not supported in model")
# (what passes there, must pass here)
PAIRS = [("smpirun", "smpi"), ("mpirun", "portals")]


def verdict(kind, status, output):
    """pass, fail, timeout, refused, stranded or crash. `kind` is the testlist's resultTest."""
    if status == "timeout":
        return "timeout"
    if kind in ("TestStatus", "TestErrFatal"):  # these must end with a status of their own
        return "pass" if 0 < status < 128 else "fail"
    if status == 0 and re.search(r"(?m)^\s*No [Ee]rrors\s*$", output):
        return "pass"
    if REFUSED.search(output):
        return "refused"
    if "stranded message" in output:
        return "stranded"
    return "crash" if status < 0 or status >= 128 else "fail"


def broken(tests, rows):
    """[(test, stock column, our column, our verdict)] of all promises that do not hold."""
    found = []
    for test in tests:
        row = rows.get(test.key, {})
        for stock, ours in PAIRS:
            if stock in row and ours in row and row[stock]["verdict"] == "pass" and row[ours]["verdict"] != "pass":
                found.append((test, stock, ours, row[ours]["verdict"]))
    return found


def all_passed(tests, columns, results):
    """Prints the output of what has not passed; returns the exit status."""
    status = 0
    for test in tests:
        for column in columns:
            got = results.rows.get(test.key, {}).get(column, {"verdict": "no result"})["verdict"]
            if got != "pass":
                status = 1
                print(f"{test.key} in {column}: {got}")
                if os.path.exists(results.log(test, column)):
                    with open(results.log(test, column), encoding="utf-8") as f:
                        print("".join(f.readlines()[:12]))
    return status


def counts(tests, columns, rows):
    """Lines of a Markdown table: per folder and column, how many pass and what the others did."""
    folders = sorted({t.folder for t in tests}, key=[t.folder for t in tests].index)
    lines = ["| folder | tests | " + " | ".join(columns) + " |", "|---" * (len(columns) + 2) + "|"]
    for folder in folders + ["all"]:
        chosen = [t for t in tests if folder in ("all", t.folder)]
        cells = []
        for column in columns:
            got = [rows.get(t.key, {}).get(column, {}).get("verdict", "-") for t in chosen]
            cells.append(str(got.count("pass")))
        lines.append(f"| {folder} | {len(chosen)} | " + " | ".join(cells) + " |")
    return lines


def write(tests, columns, rows, folder):
    """table.csv and table.md in `folder`, the comparison on the screen; returns the exit status."""
    with open(os.path.join(folder, "table.csv"), "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f)
        out.writerow(["test", "origin"] + [f"{c} {what}" for c in columns for what in ("verdict", "seconds")])
        for test in tests:
            cells = [rows.get(test.key, {}).get(c, {"verdict": "", "seconds": ""}) for c in columns]
            out.writerow([test.key, test.origin] + [cell[what] for cell in cells for what in ("verdict", "seconds")])
    lines = counts(tests, columns, rows) + [""]
    promises = []
    for stock, ours in PAIRS:
        wrong = [f"{t.key} ({v})" for t, s, o, v in broken(tests, rows) if o == ours]
        known = sum(1 for t in tests if stock in rows.get(t.key, {}) and ours in rows[t.key])
        if known:
            promises.append(f"Passes on stock {stock} but not in {ours}: {len(wrong)} of {known}"
                            + "".join(f"\n    {w}" for w in wrong))
    with open(os.path.join(folder, "table.md"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines + promises + [""]) + "\n| test | origin | " + " | ".join(columns) + " |\n"
                + "|---" * (len(columns) + 2) + "|\n")
        for test in tests:
            row = rows.get(test.key, {})
            cells = [f"{row[c]['verdict']} {row[c]['seconds']:.1f}" if c in row else "" for c in columns]
            f.write(f"| {test.key} | {test.origin} | " + " | ".join(cells) + " |\n")
    print("\n".join(lines + promises))
    print(f"The table: {os.path.join(folder, 'table.md')} and table.csv; the outputs: {os.path.join(folder, 'logs')}")
    return 1 if broken(tests, rows) else 0
