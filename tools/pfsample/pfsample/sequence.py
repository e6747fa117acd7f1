# SPDX-License-Identifier: BSD-3-Clause
"""Samples that grow until the interval is as narrow as the goal, or the budget is spent."""
import math

from . import estimate, plan, slices
from . import units as structure

MOST_STEPS = 4
FIRST = 0.05  # of the run, half of the budget at most, that the first windows take: a further step takes a whole run in the cheap model
MARGIN = 1.1  # of a variance that few units tell
LEAST = 0.1  # of the sample: less is not worth a run
AFTER = 1  # iterations that a window simulates after the one that counts
BEFORE = (2, 3, 4)  # and before it: after one alone, ranks are not yet apart as they are in a run all in the fine model


def way_in(number):
    """How many iterations the window of a unit begins before it. All windows leave the cheap model in the same state, and a fine model that goes
    round in a cycle would show the same point of it in each, if all were equally long."""
    return BEFORE[int(len(BEFORE) * plan.random_number("way in", number))]


def cost(units, numbers):
    """Share of the whole run that windows for these units simulate in the fine model; windows that meet are one."""
    inside = {k for number in numbers for k in range(*units.window(number, way_in(number), AFTER))}
    return sum(units.base[k].work for k in inside) / sum(unit.work for unit in units)


def group(base, budget):
    """How many iterations a unit has: what lets a sample of usual size take half of the budget."""
    body = [unit for unit in base if unit.repeats]
    return max(1, math.floor(budget / 2 * len(body) / (2 * plan.FLOOR)) - 1 - max(BEFORE))


def grouped(base, options):
    """(units, how many iterations or slices each has)."""
    if not slices.are(base):
        size = group(base, options.budget)
        return structure.grouped(base, size), size
    size = slices.group(base, options, max(BEFORE) + AFTER)
    parts = slices.told_apart(structure.grouped(base, size))
    while size > slices.LONG and least(parts) > 2 * options.budget:  # where some have much more to simulate than others
        size = max(slices.LONG, size // 2)
        parts = slices.told_apart(structure.grouped(base, size))
    return parts, size


def affordable(units, current, budget):
    """How many more windows there is room for."""
    each = (len(units.base) / len(units) + max(BEFORE) + AFTER) / len(units.base)
    return max(0, math.floor((budget - cost(units, current.wanted())) / each))


def left(current):
    return sum(len(stratum.units) - len(stratum.zones) for stratum in current.strata)


def start(units, seed, budget, layout=None):
    """The first sample: the smallest, and what else fits into a part of the budget, where times in the cheap model are large and differ."""
    current = plan.make(units, seed, layout)
    more = min(affordable(units, current, min(FIRST, budget / 2)), left(current))
    if more > 0:
        plan.grow(current, more, [stratum.spread(estimate.PRIOR) for stratum in current.strata])
    return current


def step(units, current, found, goal, budget):
    """How many units the next step adds: as many as the variance asks for, half as many again at least, less where the budget ends; 0 at
    the end, and where the border alone is wider than the goal: no further window would change that."""
    without_border = goal * found.total - abs(found.border)
    if found.half <= goal * found.total or without_border <= 0:
        return 0
    factor = max(1.5, MARGIN * ((found.half - abs(found.border)) / without_border)**2)
    more = min(math.ceil((factor - 1) * current.sampled), affordable(units, current, budget))
    more = min(more, left(current))
    return more if more >= (slices.STEP if slices.are(units.base) else LEAST) * current.sampled else 0


def run(units, measure, goal, budget, seed, border=None, layout=None, affords=lambda: True):
    """`measure(numbers)` gives {number: seconds} of what was not known; `border()` the error of windows after it; `affords()`: whether it may be asked once
    more. Returns (plan, all that is known, estimate)."""
    current, y = start(units, seed, budget, layout), {}
    for _ in range(MOST_STEPS):
        y.update(measure([number for number in current.wanted() if number not in y]))
        found = estimate.of_plan(current, y, border() if border else 0.0)
        more = step(units, current, found, goal, budget)
        if not more or not affords():
            break
        plan.grow(current, more, [part.spread for part in found.parts])
    else:
        y.update(measure([number for number in current.wanted() if number not in y]))
        found = estimate.of_plan(current, y, border() if border else 0.0)
    return current, y, found


def all_of(units, measure):
    """Every unit is simulated: nothing is left to chance."""
    current = plan.Plan(units, {unit.number: "the run is short" for unit in units}, [])
    y = measure(current.wanted())
    return current, y, estimate.of_plan(current, y)


def coverage(units, y, goal, budget, seeds, border=0.0, ahead=None):
    """How often the interval holds the truth, how far off the estimates are, and what share of the units was simulated. `ahead(seed)`: the plan
    that is tried first."""
    truth, hits, errors, shares, layout = math.fsum(y.values()), 0, [], [], plan.layout(units)
    for seed in seeds:
        current = ahead(seed) if ahead else None
        found = estimate.of_plan(current, y, border) if current else None
        if not found or found.half > goal * found.total:
            current, _, found = run(units, lambda numbers: {k: y[k] for k in numbers}, goal, budget, seed, lambda: border, layout)
        hits += found.low <= truth <= found.high
        errors.append(found.total / truth - 1)
        shares.append(cost(units, current.wanted()))
    return hits / len(errors), errors, shares


def least(units):
    """The share of the run that the smallest plan simulates in the fine model."""
    return cost(units, plan.make(units, 0).wanted()) if any(unit.repeats for unit in units) else 1.0
