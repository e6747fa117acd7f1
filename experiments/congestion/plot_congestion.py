#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the table of run_congestion.py: times by program, placement, neighbour and routing, as STEM.svg and STEM.png.

    plot_congestion.py congestion.csv STEM

Debian's interpreter, because python3-matplotlib belongs to it.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import pictures  # noqa: E402 (experiments/pictures.py)
from pictures import INK, plt  # noqa: E402

# Marker and colour of a neighbour (Okabe and Ito, readable for the colour-blind; the marker says it without colour).
STYLES = [("o", "#0072B2"), ("D", "#E69F00"), ("^", "#D55E00"), ("s", "#009E73")]
TITLES = {"alltoall": "MPI_Alltoall, 16 KiB", "halo": "Halo exchange, 64 KiB, 5 steps"}


def name_of(row):
    return f"packet, {row['routing']}" if row["routing"] else row["model"]


def unique(rows, key):
    return list(dict.fromkeys(key(row) for row in rows))


def draw_panel(axes, rows, labels, neighbours):
    for row in rows:
        marker, colour = STYLES[neighbours.index(row["neighbour"]) % len(STYLES)]
        axes.scatter(float(row["simulated_us"]), labels.index(name_of(row)), marker=marker, s=46, facecolor=colour, edgecolor="white", linewidth=0.8,
                     zorder=3)
    axes.set_xlim(0, 1.06 * max(float(row["simulated_us"]) for row in rows))
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_yticks(range(len(labels)), labels)
    pictures.tidy(axes, "both", ("top", "right", "left"))
    axes.tick_params(which="both", length=0)


def draw(rows, stem):
    pictures.style("congestion", 8.5)
    programs, placements, neighbours = (unique(rows, lambda row, key=key: row[key]) for key in ("program", "placement", "neighbour"))
    labels = unique(rows, name_of)
    figure, panels = plt.subplots(len(programs), len(placements), figsize=(4.1 * len(placements) + 1.3, 2.4 * len(programs) + 1.0), sharey=True, sharex="row",
                                  squeeze=False)
    for line, program in zip(panels, programs):
        for axes, placement in zip(line, placements):
            draw_panel(axes, [row for row in rows if (row["program"], row["placement"]) == (program, placement)], labels, neighbours)
            axes.set_title(f"{TITLES.get(program, program)}, {placement}", fontsize=9.2, loc="left", color=INK)
    for axes in panels[-1]:
        axes.set_xlabel("Simulated time (µs)")
    height = figure.get_figheight()
    figure.suptitle("A program on a quarter of a dragonfly, beside a neighbour", x=0.02, y=1 - 0.1 / height, ha="left", fontsize=12.5, fontweight="bold")
    handles = [plt.Line2D([], [], marker=STYLES[i % len(STYLES)][0], linestyle="", markersize=7, markerfacecolor=STYLES[i % len(STYLES)][1],
                          markeredgecolor="white", label="alone" if name == "none" else f"beside {name}") for i, name in enumerate(neighbours)]
    figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.012, 1 - 0.33 / height), ncol=4, frameon=False, fontsize=8.5, handletextpad=0.2)
    figure.subplots_adjust(left=1.75 / figure.get_figwidth(), right=1 - 0.2 / figure.get_figwidth(), top=1 - 0.95 / height, bottom=0.5 / height, hspace=0.35,
                           wspace=0.08)
    pictures.save(figure, stem, 100)


if __name__ == "__main__":
    pictures.main(__doc__, draw)
