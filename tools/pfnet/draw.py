#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the points that pfnet has written: latency and accepted load over offered load.

Usage: draw.py POINTS.csv... PICTURE     one curve for each file
"""
import csv
import sys

try:
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "pfnet"  # the same points give the same file
    matplotlib.rcParams["text.parse_math"] = False  # names are text
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit("pfnet: --picture needs python3-matplotlib")

MARKERS = "os^Dv*PX"


def read(name):
    """The line that says what was measured, and the rows by load."""
    with open(name, encoding="utf-8") as f:
        lines = f.read().splitlines()
    head = next((line[2:] for line in lines if line.startswith("# topology")), name)
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    rows.sort(key=lambda row: float(row["load"]))
    return head.split(", seed")[0], rows


def draw(axes, name, number):
    head, rows = read(name)
    latency, accepted = axes
    good = [row for row in rows if row["saturated"] == "no"]
    style = {"marker": MARKERS[number % len(MARKERS)], "markersize": 4, "linewidth": 1.2}
    line, = latency.plot([float(r["load"]) for r in good], [1e6 * float(r["latency"]) for r in good], label=head, **style)
    low = [1e6 * (float(r["latency"]) - float(r["latency_half"])) for r in good]
    high = [1e6 * (float(r["latency"]) + float(r["latency_half"])) for r in good]
    latency.fill_between([float(r["load"]) for r in good], low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    latency.plot([float(r["load"]) for r in good], [1e6 * float(r["latency_99"]) for r in good], color=line.get_color(),
                 linestyle=":", linewidth=1)
    accepted.plot([float(r["load"]) for r in rows], [float(r["accepted"]) for r in rows], color=line.get_color(), **style)


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    *names, picture = arguments
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    for number, name in enumerate(names):
        draw(axes, name, number)
    axes[0].set(xlabel="offered load", ylabel="latency (µs)", xlim=(0, 1))
    axes[0].set_ylim(bottom=0)
    axes[0].set_title("mean, its interval; dotted: 99 %", fontsize="small")
    axes[1].plot([0, 1], [0, 1], color="0.8", linewidth=1, zorder=0)
    axes[1].set(xlabel="offered load", ylabel="accepted load", xlim=(0, 1), ylim=(0, 1))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="upper center", bbox_to_anchor=(0.5, 0), fontsize="x-small",
                  frameon=False)
    try:
        figure.savefig(picture, bbox_inches="tight", metadata={"Date": None} if picture.endswith(".svg") else None)
    except (OSError, ValueError) as error:
        sys.exit(f"pfnet: --picture: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
