# SPDX-License-Identifier: BSD-3-Clause
"""What the pictures of all studies have in common: fonts, axes, files."""
import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402 (the backend comes first)
from PIL import Image  # noqa: E402 (a dependency of matplotlib)

INK, GREY, PALE = "#333333", "#777777", "#bbbbbb"


def style(salt, size=9):
    plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": size, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK,
                         "ytick.color": INK, "svg.hashsalt": salt, "svg.fonttype": "path"})


def tidy(axes, grid="y", without=("top", "right")):
    axes.grid(axis=grid, color="#ececec", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(side not in without)
        axes.spines[side].set_color(PALE)
    axes.tick_params(color=PALE, which="both")


def save(figure, stem, dpi, colours=64):
    """As STEM.svg and STEM.png."""
    figure.savefig(stem + ".svg", metadata={"Date": None})
    figure.savefig(stem + ".png", dpi=dpi)
    Image.open(stem + ".png").convert("RGB").quantize(colours).save(stem + ".png", optimize=True)  # a third of the size
    plt.close(figure)


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def main(usage, draw):
    """Of a script with the arguments TABLE.csv STEM."""
    if len(sys.argv) != 3:
        sys.exit(usage)
    draw(read(sys.argv[1]), sys.argv[2])
    print(f"{sys.argv[2]}.svg, {sys.argv[2]}.png")
