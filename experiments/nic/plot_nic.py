#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the table of run_nic.py: duration, bandwidth and rate over the size, as STEM.svg and STEM.png.

    plot_nic.py results.csv STEM

Debian's interpreter, because python3-matplotlib belongs to it.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import pictures  # noqa: E402 (experiments/pictures.py)
from pictures import INK, PALE, plt  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator  # noqa: E402

# name: colour (Okabe and Ito, readable for the colour-blind), marker, line, width: wide below, narrow above
STYLES = {
    "Put-WaitAck": ("#0072B2", "o", "-", 2.6),
    "Put-WaitSend": ("#56B4E9", "s", (0, (4, 2)), 1.3),
    "Put-NoWait": ("#009E73", "^", "-", 2.6),
    "Get-WaitReply": ("#D55E00", "D", "-", 1.1),
    "Get-NoWait": ("#E69F00", "v", "-", 1.1),
}
ALONE = ["Put-WaitAck", "Put-WaitSend", "Get-WaitReply"]
PANELS = [("us_per_request", "Time per request (µs)"), ("GB_per_s", "Bandwidth (GB/s)"), ("requests_per_s", "Requests per second")]
THRESHOLDS = [(8, "inline"), (64, "NIC keeps")]
WIRE = 11.1  # GB/s


def curves_of(rows):
    curves = {name: [row for row in rows if row["benchmark"] == name] for name in STYLES}
    return {name: sorted(mine, key=lambda row: int(row["bytes"])) for name, mine in curves.items() if mine}


def size_label(value, _=None):
    for unit, step in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= step:
            return f"{value / step:g} {unit}"
    return f"{value:g} B"


def number_label(value, _=None):
    for unit, step in ((" G", 1e9), (" M", 1e6), (" k", 1e3)):
        if value >= step:
            return f"{value / step:g}{unit}"
    return f"{value:g}"


def mark_thresholds(axes, first):
    for size, name in THRESHOLDS:
        axes.axvline(size * 2 ** 0.1, color=PALE, linewidth=0.8, linestyle=(0, (2, 2)), zorder=0)
        if first:
            axes.annotate(f"≤ {size} B\n{name}", (size * 2 ** 0.1, 1), xycoords=("data", "axes fraction"), xytext=(-3, 4),
                          textcoords="offset points", fontsize=7.5, color="#777777", ha="right", va="bottom", linespacing=1.05)
    if first:
        axes.annotate("DMA", (408 * 2 ** 0.1, 1), xycoords=("data", "axes fraction"), xytext=(4, 4), textcoords="offset points",
                      fontsize=7.5, color="#777777", ha="left", va="bottom")


def draw_curves(axes, curves, column):
    for name, rows in curves.items():
        colour, marker, line, width = STYLES[name]
        axes.plot([int(row["bytes"]) for row in rows], [float(row[column]) for row in rows], color=colour, linestyle=line,
                  linewidth=width, marker=marker, markersize=3.6, markeredgecolor="white", markeredgewidth=0.4, label=name)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator([1, 8, 64, 512, 4096, 32768, 262144, 1 << 21]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(size_label))


def draw_panel(axes, curves, column, title, first):
    draw_curves(axes, curves, column)
    axes.set_yscale("log")
    axes.set_ylabel(title)
    axes.yaxis.set_major_formatter(FuncFormatter(number_label))
    pictures.tidy(axes)
    mark_thresholds(axes, first)


def draw_inset(axes, curves):
    """The small steps of one request in flight, which a logarithmic scale hides."""
    inset = axes.inset_axes([0.06, 0.55, 0.44, 0.36])
    draw_curves(inset, {name: curves[name] for name in ALONE if name in curves}, "us_per_request")
    inset.set_xlim(0.8, 1500)
    inset.set_ylim(2.9, 3.5)
    inset.set_title("one request in flight, linear scale (µs)", fontsize=7.5, color="#666666", loc="left", pad=2)
    inset.tick_params(labelsize=7)
    pictures.tidy(inset)
    mark_thresholds(inset, False)


def draw(rows, stem):
    curves = curves_of(rows)
    pictures.style("nic")
    figure, panels = plt.subplots(len(PANELS), 1, figsize=(7.4, 9.6), sharex=True, height_ratios=[1.3, 1, 1])
    for axes, (column, title) in zip(panels, PANELS):
        draw_panel(axes, curves, column, title, axes is panels[0])
    panels[0].set_ylim(top=2e4)  # room for the inset
    draw_inset(panels[0], curves)
    panels[1].axhline(WIRE, color=INK, linewidth=0.9, linestyle=(0, (1, 1.5)), zorder=1)
    panels[1].annotate("wire, 11.1 GB/s", (1, WIRE), xytext=(0, 3), textcoords="offset points", fontsize=8)
    panels[-1].set_xlabel("Size of a request")
    count = int(rows[0]["count"])
    figure.suptitle("Puts and gets between two nodes of the simulated NIC", x=0.08, y=0.985, ha="left", fontsize=12.5,
                    fontweight="bold")
    figure.text(0.08, 0.952, f"{count:,} requests of each of {len(rows) // len(curves)} sizes; simulated time; "
                "platform “quito”: 11.1 GB/s, 500 ns", fontsize=9, color="#666666")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="upper left", bbox_to_anchor=(0.07, 0.945), ncol=len(curves),
                  frameon=False, fontsize=8.5, handlelength=2.2, columnspacing=1.3, handletextpad=0.5)
    figure.subplots_adjust(left=0.11, right=0.975, top=0.872, bottom=0.055, hspace=0.1)
    pictures.save(figure, stem, 120)


if __name__ == "__main__":
    pictures.main(__doc__, draw)
