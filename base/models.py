# SPDX-License-Identifier: BSD-3-Clause
"""The table of models, models.def in this folder, for programs in Python."""
import collections
import os
import re

Model = collections.namedtuple("Model", "name implementation network needs colour text")
ROW = re.compile(r'^PF_MODEL\((\w+), "([^"]*)", (\w+), "([^"]*)", "([^"]*)", 0x([0-9A-Fa-f]{6}), "([^"]*)"\)$', re.MULTILINE)


def read(path=os.path.join(os.path.dirname(os.path.abspath(__file__)), "models.def")):
    """All rows, from coarse to fine."""
    with open(path, encoding="utf-8") as f:
        rows = ROW.findall(f.read())
    return [Model(name, impl, network, needs, "#" + colour, text) for _, name, impl, network, needs, colour, text in rows]


MODELS = read()
NAMES = [model.name for model in MODELS]
COLOURS = {model.name: model.colour for model in MODELS}


def is_light(colour):
    """Whether text on this colour is better dark (relative luminance as in WCAG 2)."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.29
