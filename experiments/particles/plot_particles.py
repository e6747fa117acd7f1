#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the tables of run_particles.py in DIR as DIR/particles.png.

Debian's interpreter, because python3-matplotlib belongs to it.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import pictures  # noqa: E402 (experiments/pictures.py)
from pictures import PALE, plt  # noqa: E402

# Okabe and Ito, readable for the colour-blind.
COLOURS = {"portals": ("#0072B2", "#5aa9d6"), "smpi": ("#E69F00", "#f3cd7e"), "analytic": ("#009E73", "#74c9b0")}
LINES = {"list kept: smpi": ("#D55E00", "-", "o"), "stock smpirun": ("#999999", "--", "s"),
         "list kept: smpi, then portals": ("#CC79A7", "-", "D"), "smpi": ("#E69F00", "-", "o"),
         "smpi, then portals": ("#0072B2", "-", "D"), "portals alone": ("#56B4E9", "--", "s")}
LEGEND = {"list kept: smpi": "smpi, as SimGrid does it", "list kept: smpi, then portals": "smpi, then portals, as SimGrid does it",
          "smpi": "smpi", "smpi, then portals": "smpi, then portals", "stock smpirun": "stock smpirun", "portals alone": "portals alone"}


def read(folder, name):
    return pictures.read(os.path.join(folder, name))


def tidy(axes, title, x, y):
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    pictures.tidy(axes)


def draw_sweep(axes, rows, ranks, first):
    """One bar for each run, the first cycle at its bottom, as in the thesis."""
    mine = [row for row in rows if int(row["ranks"]) == ranks and row["first"] == first and row["second"] == "portals"]
    heights, named = {}, set()
    for row in mine:
        at, cycle, seconds = int(row["after"]), int(row["cycle"]), float(row["processor_s"])
        label = row["model"] if row["model"] not in named else None
        named.add(row["model"])
        axes.bar(at, seconds, bottom=heights.get(at, 0), width=0.78, color=COLOURS[row["model"]][cycle % 2], label=label)
        heights[at] = heights.get(at, 0) + seconds
    axes.set_xticks(range(max(heights) + 1))
    tidy(axes, f"{first} for the first k of ten cycles, then portals ({ranks} ranks)", "k", "processor time (s), by cycle")
    axes.set_ylim(0, 1.25 * max(heights.values()))
    axes.legend(frameon=False, fontsize=8, ncols=2, loc="upper right")


def draw_growth(axes, rows):
    for name, (colour, line, marker) in LINES.items():
        mine = [row for row in rows if row["case"] == name]
        if mine:
            axes.plot([int(row["cycles"].split("-")[0]) + 5 for row in mine], [float(row["processor_s"]) for row in mine],
                      color=colour, linestyle=line, marker=marker, markersize=4, linewidth=1.8, label=LEGEND[name])
    axes.axvline(40, color=PALE, linewidth=0.8, linestyle=(0, (2, 2)))
    axes.set_ylim(bottom=0)
    tidy(axes, "80 cycles; the switch is at 40 (8 ranks)", "cycle", "processor time of ten cycles (s)")
    axes.legend(frameon=False, fontsize=8)


def draw_accuracy(axes, rows):
    marks = {"2": "o", "20": "s"}
    for per_cell, marker in marks.items():
        mine = [row for row in rows if row["per_cell"] == per_cell]
        particles = int(per_cell) * 1728 * 4
        ranks = [int(row["ranks"]) for row in mine]
        axes.plot(ranks, [100 * float(row["smpi_error"]) for row in mine], color="#E69F00", marker=marker, linewidth=1.8,
                  linestyle="-" if per_cell == "2" else "--", label=f"smpi, {particles:,} particles")
        axes.plot(ranks, [100 * float(row["short_tests_error"]) for row in mine], color="#0072B2", marker=marker, linewidth=1.4,
                  linestyle="-" if per_cell == "2" else "--", label=f"with tests of 0.1 µs, {particles:,}")
    axes.set_yscale("symlog", linthresh=10)
    axes.set_yticks([-10, 0, 10, 100, 1000], ["-10 %", "0", "10 %", "100 %", "1000 %"])
    axes.set_ylim(-12, 1200)
    axes.set_xscale("log", base=2)
    axes.set_xticks([2, 4, 8, 16], ["2", "4", "8", "16"])
    tidy(axes, "Simulated time of model smpi against portals", "ranks", "error")
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def main():
    folder = sys.argv[1]
    rows = read(folder, "particles.csv")
    ranks = max(int(row["ranks"]) for row in rows)
    rest = [name for name in ("particles-growth.csv", "particles-accuracy.csv") if os.path.exists(os.path.join(folder, name))]
    figure, axes = plt.subplots(1 + bool(rest), 2, figsize=(11, 4 * (1 + bool(rest))), dpi=90, squeeze=False)
    draw_sweep(axes[0][0], rows, ranks, "smpi")
    draw_sweep(axes[0][1], rows, ranks, "analytic")
    if rest:
        draw_growth(axes[1][0], read(folder, "particles-growth.csv"))
        draw_accuracy(axes[1][1], read(folder, "particles-accuracy.csv"))
    figure.tight_layout(w_pad=2.5, h_pad=2)
    figure.savefig(os.path.join(folder, "particles.png"))


if __name__ == "__main__":
    main()
