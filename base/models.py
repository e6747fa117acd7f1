# SPDX-License-Identifier: BSD-3-Clause
"""The table of models, models.def in this folder, for programs in Python."""
import collections
import os
import re

Model = collections.namedtuple("Model", "name pair implementation network colour")
ALONE = re.compile(r'^PF_MODEL\((\w+), "([^"]*)", "([^"]*)", (\w+), "", 0x(\w{6}), "[^"]*"\)$', re.MULTILINE)
STACK = re.compile(r'^    ON\(\w+, "(\w+)", (\w+), "[^"]*", \\\n(.*)\)', re.MULTILINE)
NETWORK = re.compile(r"^PF_STACKS\(PF_ON_(\w+)\)$", re.MULTILINE)


def read(path=os.path.join(os.path.dirname(os.path.abspath(__file__)), "models.def")):
    """All models, from coarse to fine."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    alone = [Model(name, pair, impl, "", "#" + colour) for _, name, pair, impl, colour in ALONE.findall(text)]
    stacks = [(stack, impl, re.findall(r'"([^"]*)", 0x(\w{6})', pairs)) for stack, impl, pairs in STACK.findall(text)]
    return alone + [Model(pairs[i][0], f"{stack}:{network}", impl, network, "#" + pairs[i][1])
                    for i, network in enumerate(map(str.lower, NETWORK.findall(text))) for stack, impl, pairs in stacks]


MODELS = read()
NAMES = [model.name for model in MODELS]
BY_NAME = {name: model.name for model in MODELS for name in (model.name, model.pair)}
COLOURS = {model.name: model.colour for model in MODELS}


def is_light(colour):
    """Whether text on this colour is better dark (relative luminance as in WCAG 2)."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.29
