# SPDX-License-Identifier: BSD-3-Clause
"""From the runs of micro-runs.csv to errors and costs: averages over the operations, and the operations one by one."""
import math
import os
import statistics

import study

AVERAGES = ("cheap", "iterations", "error_mean", "error_median", "error_max", "overhead_ratio", "overhead_ratio_geometric", "slowdown_mean")
OPERATIONS = ("operation", "kind", "cheap", "error", "overhead_ratio", "portals_overhead_s", "errors_by_size")


def read(folder):
    """{operation: {(cheap, iterations): row}}, times as {size: us}, costs as numbers; all portals is ("", 0)."""
    runs = {}
    for row in study.read_table(os.path.join(folder, "micro-runs.csv")):
        row["times"] = {int(size): float(us) for size, us in (pair.split(":") for pair in row["times_us"].split(";"))}
        for key in ("simulated_s", "overhead_s", "application_s", "rest_s", "startup_s"):
            row[key] = float(row[key])
        row["overhead_s"] += row.pop("rest_s")  # opening and closing included, as everywhere else
        runs.setdefault(row["operation"], {})[row["cheap"], int(row["iterations"])] = row
    return runs


def errors(row, reference):
    """Relative error of the time of an iteration at each size, with its sign."""
    return {size: us / reference["times"][size] - 1 for size, us in row["times"].items()}


def error(row, reference):
    """The mean over the sizes, without sign."""
    return statistics.mean(abs(value) for value in errors(row, reference).values())


def curve(runs, cheap):
    """[(iterations, errors of the operations, cost over all portals of all together, and of each)]."""
    operations = list(runs.values())
    result = []
    for k in sorted({k for points in operations for model, k in points if model == cheap} | {0}):
        pairs = [(points[cheap if k else "", k], points["", 0]) for points in operations]
        together = sum(row["overhead_s"] for row, _ in pairs) / sum(fine["overhead_s"] for _, fine in pairs)
        result.append((k, [error(*pair) for pair in pairs], together, [row["overhead_s"] / fine["overhead_s"] for row, fine in pairs]))
    return result


def slowdown(runs, cheap, k):
    """Simulation overhead per simulated second: the mean over the operations, as the thesis has it."""
    rows = [points[cheap if k else "", k] for points in runs.values()]
    return statistics.mean(row["overhead_s"] / row["simulated_s"] for row in rows)


def write(folder):
    """micro.csv and micro-operations.csv; prints what they say."""
    runs = read(folder)
    cheap_models = [cheap for cheap in ("analytic", "smpi") if any(model == cheap for points in runs.values() for model, _ in points)]
    table = []
    for cheap in cheap_models:
        for k, wrong, together, each in curve(runs, cheap):
            table.append([cheap, k, statistics.mean(wrong), statistics.median(wrong), max(wrong), together,
                          math.exp(statistics.mean(map(math.log, each))), slowdown(runs, cheap, k)])
    study.write_table(os.path.join(folder, "micro.csv"), [dict(zip(AVERAGES, row)) for row in table])
    lines = []
    for name, points in runs.items():
        fine = points["", 0]
        for cheap in cheap_models:
            whole = points[cheap, max(k for model, k in points if model == cheap)]
            lines.append([name, fine["kind"], cheap, error(whole, fine), whole["overhead_s"] / fine["overhead_s"], fine["overhead_s"],
                          ";".join(f"{size}:{value:+.4f}" for size, value in errors(whole, fine).items())])
    study.write_table(os.path.join(folder, "micro-operations.csv"), [dict(zip(OPERATIONS, line)) for line in lines])
    report(table, lines)


def report(table, lines):
    print(f"{'cheap':<9} {'k':>4} {'error: mean':>12} {'median':>8} {'largest':>9} {'overhead':>9} {'geometric':>9} {'slowdown':>9}")
    for cheap, k, mean, median, most, together, geometric, slow in table:
        print(f"{cheap:<9} {k:>4} {100 * mean:10.2f} % {100 * median:6.2f} % {100 * most:7.1f} % {100 * together:7.1f} % "
              f"{100 * geometric:7.1f} % {slow:9.1f}")
    for cheap in dict.fromkeys(line[2] for line in lines):
        mine = sorted((line for line in lines if line[2] == cheap), key=lambda line: -line[3])
        print(f"all {cheap}, worst: " + ", ".join(f"{line[0]} {100 * line[3]:.1f} %" for line in mine[:8]))
