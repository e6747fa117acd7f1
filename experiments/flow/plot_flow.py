#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the table of run_flow.py: latency under a flood over the limit of messages in flight, as STEM.svg and STEM.png.

    plot_flow.py flow.csv STEM

Debian's interpreter, because python3-matplotlib belongs to it.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import pictures  # noqa: E402 (experiments/pictures.py)
from pictures import INK, PALE, plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator  # noqa: E402

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"  # Okabe and Ito
MIB = 1 << 20
# Streams, scope: colour, marker, label
LIMITS = [("0", "pair", ORANGE, "s", "each message streams (S4BXI), limit per process"),
          ("0", "node", ORANGE, "o", "the same, limit per node"),
          ("1", "pair", BLUE, "s", "one stream between two nodes (default), limit per process"),
          ("1", "node", BLUE, "o", "the same, limit per node")]
# Model, streams: colour, marker, width, label; wide ones below, so that all are seen where they lie on each other
PROGRAMS = [("analytic", "1", PINK, "", 8, "analytic, contention = link"), ("smpi", "1", GREEN, "", 4, "smpi"),
            ("portals", "0", ORANGE, "s", 1.2, "portals, each message streams"), ("portals", "1", BLUE, "s", 1.6, "portals, one stream (default)")]


def tidy(axes, title):
    axes.set_title(title, fontsize=9.5, loc="left", color=INK)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.xaxis.set_major_locator(LogLocator(2, numticks=12))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(NullLocator())
    pictures.tidy(axes)


def curve(axes, rows, colour, marker, label, width=1.6):
    rows = sorted(rows, key=lambda row: int(row["limit"]))
    axes.plot([int(row["limit"]) for row in rows], [float(row["times_quiet"]) for row in rows], color=colour, marker=marker, label=label,
              linewidth=width, markersize=4.6, markeredgecolor="white", markeredgewidth=0.5)


def draw_limits(axes, rows, title):
    for streams, scope, colour, marker, label in LIMITS:
        curve(axes, [row for row in rows if row["streams"] == streams and row["scope"] == scope], colour, marker, label)
    for streams, colour in (("0", ORANGE), ("1", BLUE)):
        for row in rows:
            if row["scope"] == "none" and row["streams"] == streams:
                axes.axhline(float(row["times_quiet"]), color=colour, linewidth=1, linestyle=(0, (1, 2)), zorder=0)
    tidy(axes, title)


def draw_programs(axes, rows, title):
    for model, streams, colour, marker, width, label in PROGRAMS:
        curve(axes, [row for row in rows if row["model"] == model and row["streams"] == streams], colour, marker, label, width)
    tidy(axes, title)
    axes.legend(loc="upper left", frameon=False, fontsize=7.8, handlelength=2)


def draw(rows, stem):
    pictures.style("flow")
    figure, panels = plt.subplots(2, 2, figsize=(9.2, 7.6), sharey=True)

    def of(program, pairs, scopes):
        return [row for row in rows if row["program"] == program and row["pairs"] == pairs and row["scope"] in scopes and
                int(row["bytes"]) >= MIB]

    limits = ("node", "pair", "none")
    draw_limits(panels[0][0], of("flood", "1", limits), "Portals, 1 pair floods, 1 MiB (thesis, fig. 7.2)")
    draw_limits(panels[0][1], of("flood_mpi", "1", limits), "MPI, 1 pair floods, 1 MiB (fig. 7.3)")
    draw_limits(panels[1][0], of("flood", "4", limits), "Portals, 4 pairs flood, 16 MiB (fig. 7.5, 7.6)")
    draw_programs(panels[1][1], of("flood_mpi", "1", ("program",)), "MPI, limit in the program, per process, by model")
    for row in panels:
        row[0].set_ylabel("Latency, times that on a quiet network")
        for axes in row:
            axes.axhline(1, color=PALE, linewidth=1)
    for axes in panels[1]:
        axes.set_xlabel("Limit of messages in flight")
    panels[0][0].set_ylim(0.8)
    figure.suptitle("What a limit of messages in flight does for others on a shared link", x=0.075, y=0.985, ha="left", fontsize=12.5,
                    fontweight="bold")
    figure.text(0.075, 0.944, f"{rows[0]['processes']} processes per node that floods; what is timed is one message of another pair of "
                "nodes; dotted: no limit in the NIC", fontsize=8.6, color="#666666")
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="upper left", bbox_to_anchor=(0.065, 0.937), ncol=2, frameon=False,
                  fontsize=8.4, handlelength=2.2, columnspacing=2)
    figure.subplots_adjust(left=0.075, right=0.985, top=0.845, bottom=0.07, hspace=0.27, wspace=0.06)
    pictures.save(figure, stem, 110)


if __name__ == "__main__":
    pictures.main(__doc__, draw)
