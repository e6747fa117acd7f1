# SPDX-License-Identifier: BSD-3-Clause
"""What all pictures have in common: colours, fonts, axes."""
import io

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402 (the backend comes first)
import models  # noqa: E402 (base/models.py)

COLOURS = models.COLOURS
ON_COLOUR = {name: "#111111" for name, colour in COLOURS.items() if models.is_light(colour)}  # of text on these; white on the others
MIX, BEST = "#E69F00", "#D55E00"
INK, GREY, PALE = "#333333", "#666666", "#bbbbbb"


def style():
    plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 9, "axes.labelcolor": INK, "text.color": INK,
                         "xtick.color": INK, "ytick.color": INK, "svg.hashsalt": "pfcurve", "svg.fonttype": "path",
                         "text.parse_math": False,  # a phase has any name
                         "figure.facecolor": "white", "savefig.facecolor": "white"})


def tidy(axes, axis="both"):
    axes.grid(axis=axis, color="#ececec", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(PALE)
    axes.tick_params(color=PALE, which="both")


def short(name, most=36):
    """A name that leaves room for the picture: the middle of a long one is left out."""
    return name if len(name) <= most else f"{name[:most // 2]}\u2026{name[-(most // 2 - 1):]}"


def legend(place, names, **where):
    place.legend([plt.Rectangle((0, 0), 1, 1, color=COLOURS[name]) for name in names], names, ncol=len(names),
                 frameon=False, fontsize=8.5, **where)


def svg_of(figure):
    """The picture as text to put into a page."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    return text.getvalue().partition("<svg")[1] + text.getvalue().partition("<svg")[2]
