#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the table of a study: picture.py NAME TABLE.csv PICTURE.png

What a picture shows is a row of PICTURES. Debian's interpreter, because python3-matplotlib belongs to it.
"""
import collections
import csv
import dataclasses
import os
import sys
import typing

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402 (the backend comes first)
from PIL import Image  # noqa: E402 (a dependency of matplotlib)

# Okabe and Ito, readable for the colour-blind; the markers say it without colour.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555", "#000000")
MARKERS = "osD^vPX*"


@dataclasses.dataclass(frozen=True)
class Picture:
    title: str
    x: str               # a column with numbers
    y: object            # one more, for lines; or a tuple of columns whose words name the rows of dots
    lines: tuple         # columns: a line or kind of dot for each combination
    panels: tuple = ()   # columns: a panel for each combination
    xlabel: str = ""
    ylabel: str = ""
    scales: tuple = ("linear", "linear")
    rows: typing.Callable = lambda rows: rows  # what is drawn of the table


def shares(rows):
    """For each model how many of the times are within which error against portals; of analytic:STACK, against that stack."""
    errors, stacks = collections.defaultdict(list), {model: model.partition(":")[2] for model in list(rows[0])[4:]}
    for row in rows:
        for model in [model for model in stacks if model not in {"portals", *stacks.values()}]:
            reference = row[stacks[model] or "portals"]
            if row[model] and reference:
                errors[row["ranks"], row["kind"], model].append(max(0.01, 100 * abs(float(row[model]) / float(reference) - 1)))
    return [{"ranks": ranks, "kind": kind, "model": model, "error": error, "part": 100 * (i + 1) / len(found)}
            for (ranks, kind, model), found in errors.items() for i, error in enumerate(sorted(found))]


def sums(rows):
    """Processor time of all cycles of a run."""
    total = collections.Counter()
    for row in rows:
        if row["second"] == "portals":
            total[row["ranks"], row["first"], int(row["after"])] += float(row["processor_s"])
    return [{"ranks": ranks, "first": first, "after": after, "processor_s": seconds} for (ranks, first, after), seconds in sorted(total.items())]


def percent(*columns):
    return lambda rows: [{**row, **{column: 100 * float(row[column]) for column in columns}} for row in rows]


PICTURES = {
    "agree": Picture("Difference to portals", "error", "part", ("kind",), ("ranks", "model"), "error against portals (%)", "times within it (%)",
                     ("log", "linear"), shares),
    "collectives": Picture("Measured over simulated times", "bytes", "factor", ("algorithm",), ("nodes", "collective"), "size of the vector (bytes)",
                           "measured / simulated", ("log", "log"), lambda rows: [row for row in rows if int(row["bytes"])]),
    "five": Picture("Puts and gets between two nodes of the simulated NIC", "bytes", "us_per_request", ("benchmark",), (), "size of a request (bytes)",
                    "time per request (µs)", ("log", "log")),
    "flow": Picture("What a limit of messages in flight does for others on a shared link", "limit", "times_quiet", ("model", "scope", "streams"),
                    ("program", "pairs", "bytes"), "limit of messages in flight", "latency, times that on a quiet network", ("log", "log"),
                    lambda rows: [row for row in rows if row["scope"] in ("node", "pair", "program")]),
    "hpl": Picture("HPL, in full and with less computation", "gflops", ("way",), ("model",), ("case",), "Gflop/s, simulated"),
    "micro": Picture("Operations that begin in a cheap model", "iterations", "error_mean", ("cheap",), (), "iterations in the cheap model",
                     "mean error (%)", ("linear", "symlog"), percent("error_mean")),
    "micro-operations": Picture("All iterations in a cheap model", "error", ("operation",), ("cheap",), ("kind",), "error (%)", "", ("symlog", "linear"),
                                percent("error")),
    "particles": Picture("Ten cycles, the first of them in a cheap model", "after", "processor_s", ("first",), ("ranks",), "cycles before the switch",
                         "processor time (s)", rows=sums),
    "platforms": Picture("The same program on networks with the same links", "simulated_us", ("platform", "placement"), ("model",),
                         ("program", "ranks"), "simulated time (µs)"),
    "reality": Picture("Predicted against measured times", "measured_s", "error", ("transport", "code"), (), "measured (s)", "error (%)",
                       ("log", "linear"), percent("error")),
}


def words(row, columns):
    return ", ".join(f"{column} {row[column]}" if row[column].isdigit() else row[column] for column in columns if row[column])


def unique(rows, columns):
    return list(dict.fromkeys(words(row, columns) for row in rows))


def draw_panel(axes, picture, rows, lines):
    dots = isinstance(picture.y, tuple)
    labels = unique(rows, picture.y) if dots else []
    for i, line in enumerate(lines):
        mine = sorted((row for row in rows if words(row, picture.lines) == line), key=lambda row: float(row[picture.x]))
        y = [labels.index(words(row, picture.y)) for row in mine] if dots else [float(row[picture.y]) for row in mine]
        axes.plot([float(row[picture.x]) for row in mine], y, color=COLOURS[i % len(COLOURS)], marker=MARKERS[i % len(MARKERS)],
                  linestyle="" if dots else "-", markersize=4.5, linewidth=1.4, label=line or "alone")
    if dots:
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xscale(picture.scales[0])
    if not dots:
        axes.set_yscale(picture.scales[1])
    axes.grid(color="#ececec", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)


def draw(picture, rows, path):
    rows = picture.rows(rows)
    panels, lines = unique(rows, picture.panels), unique(rows, picture.lines)
    across = min(len(panels), 3)
    down = -(-len(panels) // across)
    dots = isinstance(picture.y, tuple)
    tallest = max(len(unique([row for row in rows if words(row, picture.panels) == panel], picture.y)) for panel in panels) if dots else 0
    figure, grid = plt.subplots(down, across, figsize=(1 + 4 * across, 1 + down * max(3, 0.2 * tallest)), squeeze=False)
    for axes in grid.flat[len(panels):]:
        axes.set_visible(False)
    for axes, panel in zip(grid.flat, panels):
        draw_panel(axes, picture, [row for row in rows if words(row, picture.panels) == panel], lines)
        axes.set(title=panel, xlabel=picture.xlabel, ylabel=picture.ylabel)
    handles = {label: handle for axes in grid.flat for handle, label in zip(*axes.get_legend_handles_labels())}
    figure.suptitle(picture.title, fontweight="bold")
    room = (0.15 + 0.2 * -(-len(handles) // 4)) / figure.get_figheight()
    figure.set_layout_engine("constrained", rect=(0, room, 1, 1 - room))
    figure.legend(handles.values(), handles, loc="lower center", ncol=4, frameon=False)
    figure.savefig(path, dpi=90, metadata={"Software": None})
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)  # a third of the size


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in PICTURES:
        sys.exit(f"{__doc__}\nNAME: {', '.join(PICTURES)}")
    plt.rcParams.update({"font.size": 8.5})
    with open(sys.argv[2], encoding="utf-8") as file:
        draw(PICTURES[sys.argv[1]], list(csv.DictReader(file)), sys.argv[3])
    print(os.path.relpath(sys.argv[3]))


if __name__ == "__main__":
    main()
