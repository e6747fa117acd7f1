# SPDX-License-Identifier: BSD-3-Clause
"""The curve: error of the predicted time over the slowdown of the simulation."""
import math
import textwrap

import matplotlib.transforms
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator
from PIL import Image  # a dependency of matplotlib

from .style import BEST, COLOURS, GREY, INK, MIX, PALE, plt, short, style, tidy

TICKS = [0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000, 100000]
LEFT = 0.065  # edge of the axes, as a part of the picture's width
MOST_REMARKS = 4  # below the picture
FLOOR = 0.1  # per cent: below it the axis is linear, so that an error of zero has a place


def number_label(value, _=None):
    if value >= 1e6:
        return f"{value / 1e6:g} M"
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def colour_of(row):
    if row.point.sampled:
        return COLOURS[row.point.fine]
    return COLOURS.get(row.point.start, MIX) if row.point.single else MIX


def matters(row):
    return row.point.single or row.point.sampled


def draw_points(axes, curve, quantity, best):
    rows = curve.good()
    frontier = curve.frontier()
    axes.plot([getattr(row, quantity).median for row in frontier], [100 * row.size for row in frontier], color=PALE,
              linewidth=1.2, zorder=1)
    for row in sorted(rows, key=lambda row: row.point.single):
        spread, error = getattr(row, quantity), row.error
        x, y = spread.median, 100 * row.size
        sizes = [100 * abs(e) for e in (error.least, error.most)]
        low = 0 if error.least < 0 < error.most else min(sizes)
        axes.errorbar(x, y, xerr=[[x - spread.least], [spread.most - x]], yerr=[[max(0, y - low)], [max(0, max(sizes) - y)]],
                      fmt="none", ecolor=colour_of(row), alpha=0.5, zorder=2, **({"elinewidth": 2, "capsize": 4} if row.point.sampled else {"elinewidth": 1}))
        single = matters(row)
        axes.plot(x, y, "D" if row.point.sampled else "s" if single else "o", markersize=8 if single else 5.5, color=colour_of(row), markeredgecolor="white",
                  markeredgewidth=0.8, alpha=1 if single or row.frontier else 0.55, zorder=4 if single else 3, clip_on=False)
        if row is best or row in curve.ties:
            axes.plot(x, y, "o", markersize=14, markerfacecolor="none", markeredgecolor=BEST,
                      markeredgewidth=1.6 if row is best else 0.6, zorder=5, clip_on=False)


def scales(axes, curve, quantity):
    axes.set_xscale("log")
    values = [v for row in curve.good() for v in (getattr(row, quantity).least, getattr(row, quantity).most)
              if math.isfinite(v) and v > 0]
    low, high = min(values), max(values)
    middle, half = math.sqrt(low * high), max(math.log10(high / low) / 2 + 0.12, 0.35)
    axes.set_xlim(middle / 10 ** half, middle * 10 ** half)
    subs = (1, 2, 5) if half < 1.1 else (1,)
    axes.xaxis.set_major_locator(LogLocator(base=10, subs=subs))
    axes.xaxis.set_major_formatter(FuncFormatter(number_label))
    axes.xaxis.set_minor_formatter(NullFormatter())
    top = max(100 * max(abs(row.error.least), abs(row.error.most)) for row in curve.good())
    top = max(top, 200 * curve.options.within)
    axes.set_yscale("symlog", linthresh=FLOOR, linscale=0.35)
    ceiling = next((tick for tick in TICKS if tick >= top * 1.3), top * 2)
    axes.set_ylim(-FLOOR * 0.45, ceiling)
    axes.yaxis.set_major_locator(FixedLocator([tick for tick in TICKS if tick <= ceiling]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number_label(value) + " %"))


def free_place(label, place, taken, renderer, frame):
    """True when the label does not cover anything at this place, nor leaves the axes."""
    (dx, dy), horizontal, vertical = place
    label.set_position((dx, dy))
    label.set_ha(horizontal)
    label.set_va(vertical)
    box = label.get_window_extent(renderer).padded(1)
    inside = frame.x0 - 2 <= box.x0 and box.x1 <= frame.x1 + 2 and frame.y0 <= box.y0 and box.y1 <= frame.y1 + 10
    return box if inside and not any(box.overlaps(other) for other in taken) else None


# A label stays next to its point. Above and below come first, because bars of spread go sideways.
PLACES = [((0, 9), "center", "bottom"), ((0, -9), "center", "top"), ((9, 0), "left", "center"), ((-9, 0), "right", "center"),
          ((7, 7), "left", "bottom"), ((-7, 7), "right", "bottom"), ((7, -7), "left", "top"), ((-7, -7), "right", "top")]
FEW = 10  # points, all of which get their names


def draw_labels(axes, curve, quantity, best):
    """The schedules that matter by name: the best, single models, the frontier; the others too where there are few."""
    figure = axes.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    frame = axes.get_window_extent(renderer)
    rows = sorted(curve.good(), key=lambda row: (row is not best, not matters(row), not row.frontier))
    strong = [row for row in rows if row is best or matters(row)]
    boxes = {}
    for row in rows:
        x, y = axes.transData.transform((getattr(row, quantity).median, 100 * row.size))
        boxes[row.point] = matplotlib.transforms.Bbox([[x - 6, y - 6], [x + 6, y + 6]])
    labels = []
    remarked = {name for names in curve.remarks().values() for name in names}
    for row in rows:
        if len(rows) > FEW and row not in strong and not row.frontier:
            continue
        label = axes.annotate(short(row.point.name) + (" *" if row.point.name in remarked else ""), (getattr(row, quantity).median, 100 * row.size), xytext=(0, 0),
                              textcoords="offset points", fontsize=8.5 if row in strong else 7.5,
                              color=INK if row in strong else GREY, fontweight="bold" if row in strong else "normal", zorder=6)
        label.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
        all_points = labels + list(boxes.values())
        # In a crowd, a name that matters may cover points that do not.
        crowd = labels + [boxes[other.point] for other in strong] if row in strong else None
        box = settle(label, all_points, renderer, frame) or crowd and settle(label, crowd, renderer, frame)
        if box:
            labels.append(box)
        else:
            label.remove()


def settle(label, taken, renderer, frame):
    """Moves the label to the first place that is free; returns what it covers there, None when there is no such place."""
    return next((box for box in (free_place(label, place, taken, renderer, frame) for place in PLACES) if box), None)


def few(names):
    """The first two, and how many there are besides."""
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def draw_curve(curve, best, stem, subtitle):
    style()
    remarks = [f"* {few(names)}: {text}" for text, names in curve.remarks().items()][:MOST_REMARKS]
    height = 5 + 0.2 * len(remarks)
    figure, axes = plt.subplots(1, 2, figsize=(11, height), sharey=True)
    panels = [("slowdown", "Simulation alone (without the application's own computation)"),
              ("slowdown_all", "With the application's own computation")]
    for axis, (quantity, title) in zip(axes, panels):
        scales(axis, curve, quantity)
        tidy(axis)
        axis.axhspan(-FLOOR, 100 * curve.options.within, color="#009E73", alpha=0.07, zorder=0, linewidth=0)
        draw_points(axis, curve, quantity, best)
        axis.set_title(title, fontsize=9.5, loc="left", color=INK)
        clock = "processor" if curve.options.clock == "cpu" else "wall-clock"
        axis.set_xlabel(f"Slowdown: {clock} seconds per second of the reference")
    axes[0].set_ylabel(f"Error of the predicted time against {short(curve.reference_name)}")
    axes[1].annotate(f"within {100 * curve.options.within:g} %", (1, 100 * curve.options.within),
                     xycoords=("axes fraction", "data"), xytext=(0, 3), textcoords="offset points", ha="right", va="bottom",
                     fontsize=8, color="#007a57")
    figure.suptitle(f"Accuracy against slowdown: {short(curve.options.title, 80)}", x=LEFT, y=1 - 0.125 / height, ha="left", fontsize=12.5,
                    fontweight="bold")
    figure.text(LEFT, 1 - 0.475 / height, short(subtitle, 150), fontsize=8.5, color=GREY)
    for i, remark in enumerate(reversed(remarks)):
        figure.text(LEFT, (0.08 + 0.2 * i) / height, textwrap.shorten(remark, 190, placeholder=" \u2026"), fontsize=7.5, color=GREY)
    figure.subplots_adjust(left=LEFT, right=0.985, top=1 - 0.85 / height, bottom=(0.55 + 0.2 * len(remarks)) / height, wspace=0.06)
    figure.canvas.draw()
    outside = -axes[0].get_tightbbox(figure.canvas.get_renderer()).x0 / figure.bbox.width  # of the error's wide numbers
    figure.subplots_adjust(left=LEFT + max(0, outside + 0.004))
    for axis, (quantity, _) in zip(axes, panels):
        draw_labels(axis, curve, quantity, best)
    save(figure, stem)


def save(figure, stem):
    figure.savefig(stem + ".svg", metadata={"Date": None})
    figure.savefig(stem + ".png", dpi=120)
    Image.open(stem + ".png").convert("RGB").quantize(128).save(stem + ".png", optimize=True)  # a third of the size
    plt.close(figure)
