#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the runs of run_micro.py as micro.svg, micro.png and micro-operations.svg, micro-operations.png.

    plot_micro.py DIR

Debian's interpreter, because python3-matplotlib belongs to it.
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import pictures  # noqa: E402 (experiments/pictures.py)
from pictures import GREY, PALE, plt  # noqa: E402
from matplotlib.patheffects import withStroke  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator  # noqa: E402

import averages  # noqa: E402

# Okabe and Ito, readable for the colour-blind.
COLOURS = {"analytic": "#009E73", "smpi": "#56B4E9", "portals": "#0072B2"}
SHADES = {"point-to-point": ("#555555", (0, (1, 1.2))), "collective": ("#E69F00", (0, (4, 1.5))),
          "nonblocking": ("#D55E00", (0, (4, 1.5, 1, 1.5))), "one-sided": ("#CC79A7", (0, (7, 2)))}
MARKERS = {"analytic": "o", "smpi": "s"}
LINEAR = 0.1  # per cent: below it the axis of errors is linear, so that zero has a place
TICKS = [0, LINEAR, 1, 10, 100, 1000, 10000]


def percent(value, _=None):
    return f"{value:,g} %"


def error_scale(axis, name, top):
    ticks = [tick for tick in TICKS if tick <= top and (name == "y" or tick != LINEAR)]
    getattr(axis, f"set_{name}scale")("symlog", linthresh=LINEAR, linscale=0.4)
    getattr(axis, f"set_{name}lim")(-LINEAR * 0.3, top)
    side = axis.xaxis if name == "x" else axis.yaxis
    side.set_major_locator(FixedLocator(ticks))
    side.set_minor_locator(NullLocator())
    side.set_major_formatter(FuncFormatter(percent))


def lines_of(curves, cheap, kind):
    """k, mean error and cost over all portals in per cent."""
    points = curves[cheap, kind]
    return [k for k, *_ in points], [100 * statistics.mean(wrong) for _, wrong, *_ in points], [100 * ratio for *_, ratio, _ in points]


def draw_lines(axis, curves, cheap_models, x, y):
    """One line for each kind of operation, thin, and a thick one for all, by the parts of lines_of that x and y name."""
    for kind, (colour, dashes) in SHADES.items():
        if ("analytic", kind) in curves:
            parts = lines_of(curves, "analytic", kind)
            axis.plot(parts[x], parts[y], color=colour, linestyle=dashes, linewidth=1.3, label=f"analytic, {kind}")
    for cheap in cheap_models:
        parts = lines_of(curves, cheap, None)
        axis.plot(parts[x], parts[y], color=COLOURS[cheap], marker=MARKERS[cheap], markersize=6, markeredgecolor="white",
                  markeredgewidth=0.8, linewidth=2.4, label=f"{cheap}, all operations", clip_on=False, zorder=4)


def draw_curves(runs, cheap_models, stem):
    kinds = [kind for kind in averages.KINDS if any(points["", 0]["kind"] == kind for points in runs.values())]
    curves = {(cheap, kind): averages.curve(runs, cheap, kind) for cheap in cheap_models for kind in (None, *kinds)}
    last = max(k for points in runs.values() for _, k in points)
    figure, axes = plt.subplots(1, 3, figsize=(12.6, 4.9))
    top = max(max(lines_of(curves, cheap, kind)[1]) for cheap, kind in curves if cheap == "analytic" or kind is None) * 1.6
    costs = max(max(lines_of(curves, cheap, kind)[2]) for cheap, kind in curves if cheap == "analytic" or kind is None)
    titles = ("Error of the time of an iteration, mean", "Simulation overhead over that of all portals", "Error over overhead")
    for axis, x, y, title in zip(axes, (0, 0, 2), (1, 2, 1), titles):
        draw_lines(axis, curves, cheap_models, x, y)
        pictures.tidy(axis, "both")
        axis.set_title(title, fontsize=9.5, loc="left")
        if x == 0:
            axis.set_xlim(0, last)
            axis.xaxis.set_major_locator(FixedLocator(range(0, last + 1, max(10, last // 11 // 10 * 10 * 2))))
            axis.set_xlabel("Iterations in the cheap model before the switch to portals")
    for axis in (axes[0], axes[2]):
        error_scale(axis, "y", top)
    axes[1].set_ylim(0, costs * 1.06)
    axes[1].yaxis.set_major_formatter(FuncFormatter(percent))
    axes[2].set_xlim(0, costs * 1.06)
    axes[2].xaxis.set_major_formatter(FuncFormatter(percent))
    axes[2].set_xlabel("Simulation overhead over that of all portals")
    axes[2].plot([100], [0], "D", color=COLOURS["portals"], markersize=8, markeredgecolor="white", clip_on=False, zorder=6)
    axes[2].annotate("all portals", (100, 0), xytext=(-9, 3), textcoords="offset points", ha="right", fontsize=8.5, fontweight="bold")
    for cheap in cheap_models:
        _, wrong, cost = lines_of(curves, cheap, None)
        label = axes[2].annotate(f"all {cheap}", (cost[-1], wrong[-1]), xytext=(0, 8), textcoords="offset points", fontsize=8.5,
                                 fontweight="bold", ha="left" if cost[-1] < costs / 2 else "right", zorder=7)
        label.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="lower center", ncol=len(handles), frameon=False, fontsize=8.5, handlelength=2.6, columnspacing=1.6)
    figure.suptitle("Switching from a cheap model to portals within micro-benchmarks", x=0.045, y=0.975, ha="left", fontsize=12.5,
                    fontweight="bold")
    figure.text(0.045, 0.898, f"{len(runs)} operations, {last} iterations of each at each size; error against all portals, costs over all operations together",
                fontsize=8.5, color=GREY)
    figure.subplots_adjust(left=0.05, right=0.985, top=0.82, bottom=0.19, wspace=0.22)
    pictures.save(figure, stem, 120, 128)


def draw_operations(runs, cheap_models, stem):
    """All of a cheap model against all portals, operation by operation: error and cost."""
    figure, axes = plt.subplots(2, 4, figsize=(13, 10.6), gridspec_kw={"width_ratios": [1.35, 1, 1.35, 1]})
    wholes = {name: {cheap: points[cheap, max(k for model, k in points if model == cheap)] for cheap in cheap_models}
              for name, points in runs.items()}
    wrong = {name: {cheap: 100 * averages.error(row, runs[name]["", 0]) for cheap, row in mine.items()} for name, mine in wholes.items()}
    cost = {name: {cheap: 100 * row["overhead_s"] / runs[name]["", 0]["overhead_s"] for cheap, row in mine.items()}
            for name, mine in wholes.items()}
    top = max(value for mine in wrong.values() for value in mine.values()) * 1.6
    ends = [value for mine in cost.values() for value in mine.values()]
    rows = max(sum(points["", 0]["kind"] == kind for points in runs.values()) for kind in averages.KINDS)
    for place, kind in enumerate(averages.KINDS):
        left, right = axes[place // 2][2 * (place % 2):][:2]
        names = sorted((name for name, points in runs.items() if points["", 0]["kind"] == kind), key=lambda name: wrong[name]["analytic"])
        for axis, values in ((left, wrong), (right, cost)):
            for y, name in enumerate(names):
                axis.plot([values[name][cheap] for cheap in cheap_models], [y] * len(cheap_models), color=PALE, linewidth=1.2, zorder=1)
            for cheap in cheap_models:
                axis.plot([values[name][cheap] for name in names], range(len(names)), MARKERS[cheap], color=COLOURS[cheap], markersize=6,
                          markeredgecolor="white", markeredgewidth=0.6, zorder=4 if cheap == "analytic" else 3, clip_on=False, label=f"all {cheap}")
            pictures.tidy(axis, "both")
            axis.set_ylim(len(names) - rows - 0.6, len(names) - 0.4)
            axis.yaxis.set_major_locator(FixedLocator(range(len(names))))
            axis.tick_params(axis="y", length=0)
        left.set_yticklabels(names, fontsize=8)
        right.set_yticklabels([])
        error_scale(left, "x", top)
        left.tick_params(axis="x", labelsize=8)
        right.tick_params(axis="x", labelsize=8)
        right.set_xscale("log")
        right.set_xlim(min(ends) / 1.4, max(ends) * 1.4)
        right.axvline(100, color=COLOURS["portals"], linewidth=1.2, zorder=0)
        right.xaxis.set_major_locator(FixedLocator([1, 10, 100, 1000]))
        right.xaxis.set_minor_locator(NullLocator())
        right.xaxis.set_major_formatter(FuncFormatter(percent))
        left.set_title(f"{kind}: error", fontsize=9.5, loc="left")
        right.set_title("overhead, portals = 100 %", fontsize=9.5, loc="left")
    figure.suptitle("Each operation in one model, against all portals", x=0.015, y=0.985, ha="left", fontsize=12.5, fontweight="bold")
    figure.text(0.015, 0.948, "Error of the time of an iteration, mean over the sizes. Simulation overhead without the program's own time and "
                "without start-up", fontsize=8.5, color=GREY)
    handles, names = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="upper right", ncol=2, frameon=False, bbox_to_anchor=(0.99, 0.99))
    figure.subplots_adjust(left=0.115, right=0.985, top=0.905, bottom=0.035, wspace=0.1, hspace=0.14)
    for row in axes:  # the names of the right half need room
        for axis in row[2:]:
            box = axis.get_position()
            axis.set_position([box.x0 + 0.055 if axis is row[2] else box.x0 + 0.02, box.y0, box.width - (0.035 if axis is row[2] else 0.02),
                               box.height])
    pictures.save(figure, stem, 120, 128)


def main():
    folder = sys.argv[1]
    runs = averages.read(folder)
    cheap_models = [cheap for cheap in MARKERS if all(any(model == cheap for model, _ in points) for points in runs.values())]
    pictures.style("micro")
    draw_curves(runs, cheap_models, os.path.join(folder, "micro"))
    draw_operations(runs, cheap_models, os.path.join(folder, "micro-operations"))


if __name__ == "__main__":
    main()
