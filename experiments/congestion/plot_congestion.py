#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the table of run_congestion.py: times by program, placement, neighbour and routing, as STEM.svg and STEM.png.

    plot_congestion.py congestion.csv STEM

Debian's interpreter, because python3-matplotlib belongs to it.
"""
import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402 (the backend comes first)
from PIL import Image  # noqa: E402 (a dependency of matplotlib)

INK, PALE = "#333333", "#bbbbbb"
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
    axes.grid(color="#ececec", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(PALE)
    axes.tick_params(color=PALE, which="both", length=0)


def draw(rows, stem):
    plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 8.5, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK,
                         "ytick.color": INK, "svg.hashsalt": "congestion", "svg.fonttype": "path"})
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
    figure.savefig(stem + ".svg", metadata={"Date": None})
    figure.savefig(stem + ".png", dpi=100)
    Image.open(stem + ".png").convert("RGB").quantize(64).save(stem + ".png", optimize=True)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        draw(list(csv.DictReader(file)), sys.argv[2])
    print(f"{sys.argv[2]}.svg, {sys.argv[2]}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
