# SPDX-License-Identifier: BSD-3-Clause
"""The pictures: the curve, the phases by model, and what ran in which model when."""
import io
import math

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402 (the backend comes first)
from matplotlib.patheffects import withStroke  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator  # noqa: E402

from PIL import Image  # noqa: E402 (a dependency of matplotlib)

from .curve import seconds_text  # noqa: E402

# Okabe and Ito: readable for the colour-blind.
COLOURS = {"analytic": "#009E73", "smpi": "#56B4E9", "portals": "#0072B2", "packet": "#CC79A7"}
MIX, BEST = "#E69F00", "#D55E00"
INK, GREY, PALE = "#333333", "#777777", "#bbbbbb"
TICKS = [0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000, 100000]
MOST_PHASES = 12  # that have bars
FLOOR = 0.1  # per cent: below it the axis is linear, so that an error of zero has a place


def style():
    plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 9, "axes.labelcolor": INK, "text.color": INK,
                         "xtick.color": INK, "ytick.color": INK, "svg.hashsalt": "pfcurve", "svg.fonttype": "path",
                         "figure.facecolor": "white", "savefig.facecolor": "white"})


def tidy(axes, axis="both"):
    axes.grid(axis=axis, color="#ececec", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(PALE)
    axes.tick_params(color=PALE, which="both")


def number_label(value, _=None):
    if value >= 1e6:
        return f"{value / 1e6:g} M"
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def colour_of(row):
    return MIX if row.point.schedule else COLOURS.get(row.point.start, MIX)


def draw_points(axes, curve, quantity, best):
    rows = curve.good()
    frontier = curve.frontier()
    axes.plot([getattr(row, quantity).median for row in frontier], [100 * row.size for row in frontier], color=PALE,
              linewidth=1.2, zorder=1)
    for row in sorted(rows, key=lambda row: not row.point.schedule):
        spread, error = getattr(row, quantity), row.error
        x, y = spread.median, 100 * row.size
        sizes = [100 * abs(e) for e in (error.least, error.most)]
        low = 0 if error.least < 0 < error.most else min(sizes)
        axes.errorbar(x, y, xerr=[[x - spread.least], [spread.most - x]], yerr=[[max(0, y - low)], [max(0, max(sizes) - y)]],
                      fmt="none", ecolor=colour_of(row), elinewidth=1, alpha=0.5, zorder=2)
        single = not row.point.schedule
        axes.plot(x, y, "s" if single else "o", markersize=8 if single else 5.5, color=colour_of(row), markeredgecolor="white",
                  markeredgewidth=0.8, alpha=1 if single or row.frontier else 0.55, zorder=4 if single else 3, clip_on=False)
        if row is best:
            axes.plot(x, y, "o", markersize=14, markerfacecolor="none", markeredgecolor=BEST, markeredgewidth=1.6, zorder=5,
                      clip_on=False)


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
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))


def free_place(label, place, taken, renderer, frame):
    """True when the label does not cover anything at this place, nor leaves the axes."""
    (dx, dy), horizontal, vertical = place
    label.set_position((dx, dy))
    label.set_ha(horizontal)
    label.set_va(vertical)
    box = label.get_window_extent(renderer).padded(1)
    inside = frame.x0 - 2 <= box.x0 and box.x1 <= frame.x1 + 2 and frame.y0 <= box.y0 and box.y1 <= frame.y1 + 10
    return box if inside and not any(box.overlaps(other) for other in taken) else None


# Above and below come first, because bars of spread go sideways.
# A label stays beside its point. Above and below come first, because bars of spread go sideways.
PLACES = [((0, 9), "center", "bottom"), ((0, -9), "center", "top"), ((9, 0), "left", "center"), ((-9, 0), "right", "center"),
          ((7, 7), "left", "bottom"), ((-7, 7), "right", "bottom"), ((7, -7), "left", "top"), ((-7, -7), "right", "top")]
FEW = 10  # points, all of which get their names


def draw_labels(axes, curve, quantity, best):
    """The schedules that matter by name: the best, single models, the frontier; the others too where there are few."""
    figure = axes.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    frame = axes.get_window_extent(renderer)
    rows = sorted(curve.good(), key=lambda row: (row is not best, bool(row.point.schedule), not row.frontier))
    strong = [row for row in rows if row is best or not row.point.schedule]
    boxes = {}
    for row in rows:
        x, y = axes.transData.transform((getattr(row, quantity).median, 100 * row.size))
        boxes[row.point] = matplotlib.transforms.Bbox([[x - 6, y - 6], [x + 6, y + 6]])
    labels = []
    for row in rows:
        if len(rows) > FEW and row not in strong and not row.frontier:
            continue
        label = axes.annotate(row.point.name, (getattr(row, quantity).median, 100 * row.size), xytext=(0, 0),
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


def draw_curve(curve, best, stem, subtitle):
    style()
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), sharey=True)
    panels = [("slowdown", "Simulation alone (without the application's own computation)"),
              ("slowdown_all", "With the application's own computation")]
    for axis, (quantity, title) in zip(axes, panels):
        scales(axis, curve, quantity)
        tidy(axis)
        axis.axhspan(-FLOOR, 100 * curve.options.within, color="#009E73", alpha=0.07, zorder=0, linewidth=0)
        draw_points(axis, curve, quantity, best)
        axis.set_title(title, fontsize=9.5, loc="left", color=INK)
        clock = "processor" if curve.options.clock == "cpu" else "wall-clock"
        axis.set_xlabel(f"Slowdown: {clock} seconds per simulated second")
    axes[0].set_ylabel(f"Error of the predicted time against {curve.reference_name}")
    axes[1].annotate(f"within {100 * curve.options.within:g} %", (1, 100 * curve.options.within),
                     xycoords=("axes fraction", "data"), xytext=(0, 3), textcoords="offset points", ha="right", va="bottom",
                     fontsize=8, color="#007a57")
    figure.suptitle(f"Accuracy against slowdown: {curve.options.title}", x=0.065, y=0.975, ha="left", fontsize=12.5,
                    fontweight="bold")
    figure.text(0.065, 0.905, subtitle, fontsize=8.5, color=GREY)
    figure.subplots_adjust(left=0.065, right=0.985, top=0.83, bottom=0.11, wspace=0.06)
    for axis, (quantity, _) in zip(axes, panels):
        draw_labels(axis, curve, quantity, best)
    save(figure, stem)


def save(figure, stem):
    figure.savefig(stem + ".svg", metadata={"Date": None})
    figure.savefig(stem + ".png", dpi=120)
    Image.open(stem + ".png").convert("RGB").quantize(128).save(stem + ".png", optimize=True)  # a third of the size
    plt.close(figure)


def svg_of(figure):
    """The picture as text to put into a page."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    return text.getvalue().partition("<svg")[1] + text.getvalue().partition("<svg")[2]


def total_by_phase(row, quantity):
    """{phase: seconds}, in the order of the first occurrence."""
    result = {}
    for phase in row.phases:
        result[phase["phase"]] = result.get(phase["phase"], 0) + phase[quantity]
    return result


def draw_phases(curve):
    """What each phase takes in each model: simulated time and overhead, side by side."""
    style()
    singles = [row for row in curve.good() if not row.point.schedule]
    names = [name for name, seconds in total_by_phase(curve.finest, "simulated_s").items() if seconds > 0]
    names = sorted(names, key=lambda name: -total_by_phase(curve.finest, "simulated_s")[name])[:MOST_PHASES]
    names = [name for name in total_by_phase(curve.finest, "simulated_s") if name in names]
    height = 0.8 / len(singles)
    figure, axes = plt.subplots(1, 2, figsize=(11, 1.3 + 0.26 * len(names) * (len(singles) + 1)), sharey=True)
    for axis, quantity, title in ((axes[0], "simulated_s", "Simulated time"), (axes[1], "overhead_s", "Simulation overhead")):
        for i, row in enumerate(singles):
            seconds = total_by_phase(row, quantity)
            places = [k + (i - (len(singles) - 1) / 2) * height for k in range(len(names))]
            values = [seconds.get(name, 0) for name in names]
            axis.barh(places, values, height * 0.9, color=COLOURS[row.point.start], label=row.point.start)
            for place, value in zip(places, values):
                axis.annotate(seconds_text(value) if value else "0", (value, place), xytext=(3, 0), textcoords="offset points",
                              va="center", fontsize=7.5, color=GREY)
        tidy(axis, "x")
        axis.set_title(title, loc="left", fontsize=9.5)
        axis.set_xlabel("seconds")
        axis.margins(x=0.14)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper right", ncol=len(singles), frameon=False, fontsize=8.5)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.25 / figure.get_figheight()))
    return svg_of(figure)


def draw_timeline(curve, best):
    """Which model each phase ran in, along the simulated time, one bar for each schedule."""
    style()
    rows = sorted(curve.good(), key=lambda row: -row.cost.median)
    figure, axis = plt.subplots(figsize=(11, 1.1 + 0.28 * len(rows)))
    longest = max(row.simulated.median for row in rows)
    for i, row in enumerate(rows):
        begin = 0
        for phase in row.phases:
            seconds = phase["simulated_s"]
            if seconds <= 0:
                continue
            axis.barh(i, seconds, 0.72, left=begin, color=COLOURS.get(phase["model"], MIX), edgecolor="white", linewidth=0.8)
            if seconds > 0.011 * longest * len(phase["phase"]) + 0.01 * longest:
                axis.text(begin + seconds / 2, i, phase["phase"], ha="center", va="center", fontsize=7.5, color="white")
            begin += seconds
    axis.set_yticks(range(len(rows)), [row.point.name for row in rows])
    for label, row in zip(axis.get_yticklabels(), rows):
        label.set_fontsize(8)
        label.set_fontweight("bold" if row is best else "normal")
    axis.axvline(curve.reference.median, color=INK, linewidth=0.9, linestyle=(0, (1, 1.5)))
    axis.annotate("reference", (curve.reference.median, len(rows) - 0.5), xytext=(3, 0), textcoords="offset points", fontsize=8)
    axis.set_ylim(-0.6, len(rows) + 0.2)
    axis.margins(x=0.08)
    axis.set_xlabel("Simulated time (s), phases one after the other")
    tidy(axis, "x")
    used = [model for model in COLOURS if any(phase["model"] == model for row in rows for phase in row.phases)]
    axis.legend([plt.Rectangle((0, 0), 1, 1, color=COLOURS[model]) for model in used], used, loc="lower right",
                bbox_to_anchor=(1, 1), ncol=len(used), frameon=False, fontsize=8.5)
    figure.tight_layout()
    return svg_of(figure)
