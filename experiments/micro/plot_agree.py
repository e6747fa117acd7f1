#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws DIR/agree.csv of run_agree.py as DIR/agree.png: for each model and number of ranks, how many times are within which error.

    plot_agree.py DIR

Debian's interpreter, because python3-matplotlib belongs to it.
"""
import csv
import itertools
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402 (the backend comes first)

SHADES = {"point-to-point": "#555555", "collective": "#E69F00", "nonblocking": "#D55E00", "one-sided": "#CC79A7", "code": "#0072B2"}
LEAST = 0.01  # per cent: what is closer is drawn here


def main():
    folder = sys.argv[1]
    with open(f"{folder}/agree.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    models = list(rows[0])[5:]
    ranks = list(dict.fromkeys(row["ranks"] for row in rows))
    figure, axes = plt.subplots(len(ranks), len(models), figsize=(1 + 3.4 * len(models), 0.4 + 3.2 * len(ranks)), sharex=True, sharey=True, squeeze=False)
    for axis, (number, model) in zip(axes.flat, itertools.product(ranks, models)):
        for kind, colour in SHADES.items():
            errors = sorted(max(LEAST, 100 * abs(float(row[model]) / float(row["portals"]) - 1)) for row in rows
                            if (row["kind"], row["ranks"]) == (kind, number) and row[model] and row["portals"])
            part = [100 * (i + 1) / len(errors) for i in range(len(errors))]
            axis.step(errors, part, where="post", color=colour, label=kind)
        axis.set(xscale="log", xlim=(LEAST, 2000), title=f"{model}, {number} ranks")
        axis.grid(color="#ececec")
    for axis in axes[-1]:
        axis.set_xlabel("error against portals (%)")
    for axis in axes[:, 0]:
        axis.set_ylabel("times within it (%)")
    axes[0][0].legend(fontsize=8, loc="lower right")
    figure.tight_layout()
    figure.savefig(f"{folder}/agree.png", dpi=120, metadata={"Software": None})


if __name__ == "__main__":
    main()
