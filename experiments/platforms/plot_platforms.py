#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the table of run_platforms.py: times by platform, placement and model, as STEM.svg and STEM.png.

    plot_platforms.py platforms.csv STEM

Debian's interpreter, because python3-matplotlib belongs to it.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import pictures  # noqa: E402 (experiments/pictures.py)
from pictures import GREY, INK, plt  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402

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
    pictures.tidy(axes, "x", ("top", "right", "left"))
    for y in range(0, len(labels), 4):
        axes.axhspan(y - 0.5, y + 1.5, color="#f6f6f6", zorder=-1)
    axes.tick_params(axis="y", length=0)


def draw(rows, stem):
    pictures.style("platforms", 8.5)
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
    pictures.save(figure, stem, 100)


if __name__ == "__main__":
    pictures.main(__doc__, draw)
