#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what run_reality.py has written: plot_reality.py results.csv PICTURE"""
import csv
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402 (the backend comes first)


def plot(results, picture):
    """Predicted over measured, with the spread of both."""
    with open(results, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    markers = dict(zip(dict.fromkeys(row["code"] for row in rows), "osD^v"))
    colours = dict(zip(dict.fromkeys(row["transport"] for row in rows), ("#1f5f99", "#c8641e")))
    figure, (wide, near) = pyplot.subplots(1, 2, figsize=(11, 4.6), width_ratios=(1, 1.25))
    for row in rows:
        real, guess = float(row["measured_s"]), float(row["predicted_s"])
        style = {"marker": markers[row["code"]], "color": colours[row["transport"]], "ms": 6, "lw": 1, "ls": ""}
        spread = [[guess - float(row["predicted_min_s"])], [float(row["predicted_max_s"]) - guess]], \
                 [[real - float(row["measured_min_s"])], [float(row["measured_max_s"]) - real]]
        wide.errorbar(real * 1e3, guess * 1e3, *([[1e3 * v for v in side] for side in both] for both in spread), **style)
        near.errorbar(real * 1e3, 100 * (guess / real - 1), [[100 * v / real for v in side] for side in spread[0]], **style)
    low, high = (1e3 * f(float(row["measured_s"]) for row in rows) * k for f, k in ((min, 0.6), (max, 1.6)))
    wide.plot([low, high], [low, high], color="#999999", lw=1, zorder=0)
    wide.set(xscale="log", yscale="log", xlabel="measured, ms", ylabel="predicted, ms", title="Predicted against measured times")
    near.axhspan(-7.6, 7.6, color="#e6e6e6", zorder=0)
    near.axhline(0, color="#999999", lw=1, zorder=0)
    near.set(xscale="log", ylim=(-50, 50), xlabel="measured, ms", ylabel="error, %", title="Error, with the spread of the predictions")
    for names, key in ((markers, "marker"), (colours, "color")):
        for name, value in names.items():
            near.plot([], [], ls="", label=name, **{"marker": "o", "color": "#555555", key: value})
    near.plot([], [], color="#e6e6e6", lw=8, label="SMP-SIM: 7.6 %")
    near.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    for axes in (wide, near):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    plot(*sys.argv[1:])
