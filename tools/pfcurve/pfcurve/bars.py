# SPDX-License-Identifier: BSD-3-Clause
"""Pictures with bars: what each phase takes in each model, and which model ran when, by schedule and by rank."""
from itertools import groupby

from matplotlib.ticker import FuncFormatter, MaxNLocator

from .curve import percent_text, seconds_text
from .style import COLOURS, GREY, INK, MIX, ON_COLOUR, legend, plt, short, style, svg_of, tidy

MOST_PHASES = 12  # that have bars
MOST_SCHEDULES = 40  # in the timeline
MOST_RANKS = 32  # that have a line of their own
MOST_BY_RANK = 4  # schedules of which the ranks are shown
OVERHEAD = {"wall": "Simulation overhead", "cpu": "Simulation overhead (processor time)"}
GRAINS = 500  # of simulated time, in the picture of the ranks


def time_axis(axis):
    axis.xaxis.set_major_locator(MaxNLocator(5))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: seconds_text(value) if value else "0"))


def total_by_phase(row, quantity):
    """{phase: seconds}, in the order of the first occurrence."""
    result = {}
    for phase in row.phases:
        result[phase["phase"]] = result.get(phase["phase"], 0) + phase[quantity]
    return result


def label_of_bar(row, finest, name, quantity):
    """Seconds; with simulated time, the error of this phase against the finest model."""
    value, right = (total_by_phase(which, quantity).get(name, 0) for which in (row, finest))
    text = seconds_text(value) if value else "0"
    if quantity == "simulated_s" and row is not finest and right > 0:
        text += f"  ({percent_text(value / right - 1)})"
    return text


def draw_phases(curve):
    """What each phase takes in each model: simulated time and overhead, side by side."""
    style()
    singles = [row for row in curve.good() if row.point.single]
    took = total_by_phase(curve.finest, "simulated_s")
    longest = sorted((name for name, seconds in took.items() if seconds > 0), key=lambda name: -took[name])[:MOST_PHASES]
    names = [name for name in took if name in longest]
    height = 0.8 / len(singles)
    figure, axes = plt.subplots(1, 2, figsize=(11, 1.3 + 0.26 * len(names) * (len(singles) + 1)), sharey=True)
    room = []
    for axis, quantity, title in ((axes[0], "simulated_s", f"Simulated time (error against all {curve.options.reference})"),
                                  (axes[1], "overhead_s", OVERHEAD[curve.options.clock])):
        labels = []
        for i, row in enumerate(singles):
            places = [k + (i - (len(singles) - 1) / 2) * height for k in range(len(names))]
            values = [total_by_phase(row, quantity).get(name, 0) for name in names]
            axis.barh(places, values, height * 0.9, color=COLOURS[row.point.start])
            for name, place, value in zip(names, places, values):
                labels.append(axis.annotate(label_of_bar(row, curve.finest, name, quantity), (value, place), xytext=(3, 0),
                                            textcoords="offset points", va="center", fontsize=7.5, color=GREY))
        tidy(axis, "x")
        time_axis(axis)
        axis.set_title(title, loc="left", fontsize=9.5)
        room.append((axis, labels))
    axes[0].set_yticks(range(len(names)), [short(name, 24) for name in names])
    axes[0].invert_yaxis()
    legend(figure, [row.point.start for row in singles], loc="upper right")
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.25 / figure.get_figheight()))
    for axis, labels in room:
        make_room(axis, labels)
    return svg_of(figure)


def make_room(axis, labels):
    """Widens the axis until the labels at the ends of its bars, which begin at zero, lie inside it."""
    renderer = axis.figure.canvas.get_renderer()
    width = axis.get_window_extent(renderer).width
    sizes = [(label.xy[0], label.get_window_extent(renderer).width + 8) for label in labels]
    axis.set_xlim(0, max([value * width / (width - size) for value, size in sizes if size < width], default=1) or 1)


def name_in_bar(axis, begin, seconds, y, phase, model, whole):
    """Names the phase where its bar has room for it."""
    if seconds > 0.011 * whole * len(phase) + 0.01 * whole:
        axis.text(begin + seconds / 2, y, phase, ha="center", va="center", fontsize=7.5, color=ON_COLOUR.get(model, "white"))


def timeline_rows(curve, best):
    """Cheapest last, because the axis goes upwards. Of many schedules, those that matter: single models, frontier, cheap ones."""
    rows = sorted(curve.scheduled(), key=lambda row: row.overhead.median)
    first = sorted(rows, key=lambda row: (row is not best, not row.point.single, not row.frontier))[:MOST_SCHEDULES]
    return [row for row in reversed(rows) if row in first]


def draw_timeline(curve, best):
    """Which model each phase ran in, along the simulated time, one bar for each schedule."""
    style()
    rows = timeline_rows(curve, best)
    figure, axis = plt.subplots(figsize=(11, 1.1 + 0.28 * len(rows)))
    longest = max(row.simulated.median for row in rows)
    for i, row in enumerate(rows):
        begin = 0
        for phase in row.phases:
            seconds = phase["simulated_s"]
            if seconds <= 0:
                continue
            axis.barh(i, seconds, 0.72, left=begin, color=COLOURS.get(phase["model"], MIX), edgecolor="white", linewidth=0.8)
            name_in_bar(axis, begin, seconds, i, phase["phase"], phase["model"], longest)
            begin += seconds
    axis.set_yticks(range(len(rows)), [short(row.point.name) for row in rows])
    for label, row in zip(axis.get_yticklabels(), rows):
        label.set_fontsize(8)
        label.set_fontweight("bold" if row is best else "normal")
    axis.axvline(curve.reference.median, color=INK, linewidth=0.9, linestyle=(0, (1, 1.5)))
    axis.annotate("reference", (curve.reference.median, len(rows) - 0.5), xytext=(3, 0), textcoords="offset points", fontsize=8)
    axis.set_ylim(-0.6, len(rows) + 0.2)
    axis.margins(x=0.08)
    axis.set_xlabel("Simulated time, phases one after the other")
    time_axis(axis)
    tidy(axis, "x")
    used = [model for model in COLOURS if any(phase["model"] == model for row in rows for phase in row.phases)]
    legend(axis, used, loc="lower right", bbox_to_anchor=(1, 1))
    figure.tight_layout()
    return svg_of(figure)


def by_rank(curve, best):
    """Schedules of which the ranks are worth a look: the best and the frontier where they switch, else the cheapest that does."""
    rows = [row for row in sorted(curve.good(), key=lambda row: (row is not best, row.overhead.median))
            if row.point.schedule and row.good[0].summary.get("timeline")]
    return ([row for row in rows if row is best or row.frontier] or rows[:1])[:MOST_BY_RANK]


def some_ranks(timeline):
    """All, or as many as there is room for, from the first to the last."""
    count = len(timeline)
    if count <= MOST_RANKS:
        return timeline
    return [timeline[i * (count - 1) // (MOST_RANKS - 1)] for i in range(MOST_RANKS)]


def pieces(rank, phases, whole):
    """What a rank did as [begin, seconds, phase, model], no finer than the eye sees: each grain of time shows what fills its
    middle. The phase is None where nothing was kept."""
    visits = [(begin, phases[row]["phase"], phases[row]["model"]) for row, begin in rank["visits"]]
    if "cut_s" in rank:
        visits.append((rank["cut_s"], None, None))
    shown, grain, k = [], whole / GRAINS, 0
    for i in range(GRAINS):
        middle = (i + 0.5) * grain
        if middle > rank["end_s"] or not visits or middle < visits[0][0]:
            continue
        while k + 1 < len(visits) and visits[k + 1][0] <= middle:
            k += 1
        shown.append((i, visits[k][1], visits[k][2]))
    result = []
    for (phase, model), group in groupby(shown, key=lambda piece: piece[1:]):
        group = list(group)
        result.append((group[0][0] * grain, len(group) * grain, phase, model))
    return result


def draw_ranks(curve, best):
    """Which model each rank was in, along the simulated time: one panel for each of a few schedules. None when none switches."""
    rows = by_rank(curve, best)
    if not rows:
        return None
    style()
    shown = [some_ranks(row.good[0].summary["timeline"]) for row in rows]
    whole = max(rank["end_s"] for ranks in shown for rank in ranks)
    height = 0.55 + 0.13 * len(shown[0])
    figure, axes = plt.subplots(len(rows), 1, figsize=(11, 0.6 + (height + 0.2) * len(rows)), sharex=True, squeeze=False)
    for axis, row, ranks in zip(axes[:, 0], rows, shown):
        draw_panel(axis, row, ranks, whole)
    axes[-1, 0].set_xlabel("Simulated time")
    used = [model for model in COLOURS if any(phase["model"] == model for row in rows for phase in row.phases)]
    legend(axes[0, 0], used, loc="lower right", bbox_to_anchor=(1, 1))
    figure.tight_layout()
    return svg_of(figure)


def draw_panel(axis, row, ranks, whole):
    phases = row.good[0].summary["phases"]
    for y, rank in enumerate(ranks):
        for begin, seconds, phase, model in pieces(rank, phases, whole):
            axis.barh(y, seconds, 0.86, left=begin, color=COLOURS.get(model, "#dddddd"), edgecolor="white", linewidth=0.4)
            if y == len(ranks) // 2 and phase:
                name_in_bar(axis, begin, seconds, y, phase, model, whole)
    few = range(0, len(ranks), max(1, len(ranks) // 4))
    axis.set_yticks(few, [f"rank {ranks[y]['rank']}" for y in few])
    axis.set_ylim(len(ranks) - 0.4, -0.6)
    axis.set_xlim(0, whole * 1.01)
    axis.set_title(short(row.point.name, 80), loc="left", fontsize=9.5)
    tidy(axis, "x")
    time_axis(axis)
