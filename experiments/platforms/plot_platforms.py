#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the table of run_platforms.py: times by platform, placement and model, as STEM.svg and STEM.png.

    plot_platforms.py platforms.csv STEM

Debian's interpreter, because python3-matplotlib belongs to it.
"""
import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402 (the backend comes first)
from matplotlib.lines import Line2D  # noqa: E402
from PIL import Image  # noqa: E402 (a dependency of matplotlib)

INK, PALE, GREY = "#333333", "#bbbbbb", "#777777"
# Model: marker, size, face, edge, label (Okabe and Ito, readable for the colour-blind)
STYLES = {"packet": ("s", 62, "#E69F00", "white", "packet, on routers"),
          "packet routes": ("s", 26, "none", "#8c5a00", "packet, on SimGrid's routes"),
          "portals": ("o", 50, "#0072B2", "white", "portals"),
          "analytic link": ("D", 30, "none", "#D55E00", "analytic, contention = link"),
          "analytic": ("x", 26, "#888888", "#888888", "analytic, contention = nic")}
TITLES = {"cg": "Conjugate gradients, 32³", "alltoall": "MPI_Alltoall, 16 KiB", "halo": "Halo exchange, 64 KiB, 5 steps"}


def labels_of(rows):
    result = []
    for row in rows:
        label = (row["platform"], row["placement"])
        if label not in result:
            result.append(label)
    return result


def draw_panel(axes, rows, labels):
    for row in rows:
        marker, size, face, edge, _ = STYLES[row["model"]]
        y, x = labels.index((row["platform"], row["placement"])), float(row["simulated_us"])
        kind = {"color": face} if marker == "x" else {"facecolor": face, "edgecolor": edge}
        axes.scatter(x, y, marker=marker, s=size, linewidth=1.2, zorder=3 + list(STYLES).index(row["model"]) / 10, **kind)
        if row["busiest_share"]:
            axes.annotate(f"{100 * float(row['busiest_share']):.0f} %", (1.01, y), xycoords=("axes fraction", "data"), fontsize=7.5,
                          color=GREY, va="center")
    axes.set_xlim(0, 1.06 * max(float(row["simulated_us"]) for row in rows))
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_yticks(range(len(labels)), [f"{platform}, {placement}" if placement == "in order" else placement for platform, placement in labels])
    axes.grid(axis="x", color="#ececec", linewidth=0.8)
    axes.set_axisbelow(True)
    for y in range(0, len(labels), 4):
        axes.axhspan(y - 0.5, y + 1.5, color="#f6f6f6", zorder=-1)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(PALE)
    axes.tick_params(color=PALE, which="both")
    axes.tick_params(axis="y", length=0)


def draw(rows, stem):
    plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 8.5, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK,
                         "ytick.color": INK, "svg.hashsalt": "platforms", "svg.fonttype": "path"})
    programs = [name for name in TITLES if any(row["program"] == name for row in rows)]
    sizes, labels = sorted({int(row["ranks"]) for row in rows}), labels_of(rows)
    figure, panels = plt.subplots(len(sizes), len(programs), figsize=(3.5 * len(programs) + 1.2, 3.3 * len(sizes) + 1.1), sharey=True, squeeze=False)
    for line, ranks in zip(panels, sizes):
        for axes, program in zip(line, programs):
            draw_panel(axes, [row for row in rows if row["program"] == program and int(row["ranks"]) == ranks], labels)
            axes.set_title(f"{TITLES[program]}, {ranks} nodes", fontsize=9.2, loc="left", color=INK)
    for axes in panels[-1]:
        axes.set_xlabel("Simulated time (µs)")
    height = figure.get_figheight()
    figure.suptitle("The same program on networks with the same links", x=0.02, y=1 - 0.12 / height, ha="left", fontsize=12.5, fontweight="bold")
    figure.text(0.02, 1 - 0.52 / height, "one rank per node, ranks on the nodes in their order or scattered; at the right: how much of the time "
                "the busiest link has work", fontsize=8.5, color=GREY)
    handles = [Line2D([], [], marker=marker, linestyle="", markersize=size ** 0.5, markerfacecolor=face, label=label,
                      markeredgecolor=edge, markeredgewidth=1.2) for marker, size, face, edge, label in STYLES.values()]
    figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.012, 1 - 0.55 / height), ncol=5, frameon=False, fontsize=8.5, handletextpad=0.2)
    figure.subplots_adjust(left=1.45 / figure.get_figwidth(), right=1 - 0.45 / figure.get_figwidth(), top=1 - 1.2 / height, bottom=0.5 / height, hspace=0.25, wspace=0.2)
    figure.savefig(stem + ".svg", metadata={"Date": None})
    figure.savefig(stem + ".png", dpi=100)
    Image.open(stem + ".png").convert("RGB").quantize(64).save(stem + ".png", optimize=True)  # a third of the size


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        draw(list(csv.DictReader(file)), sys.argv[2])
    print(f"{sys.argv[2]}.svg, {sys.argv[2]}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
