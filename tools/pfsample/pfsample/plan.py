# SPDX-License-Identifier: BSD-3-Clause
"""Which units are simulated in the fine model: certain ones, and units of strata at random, more until the interval is as narrow as the goal."""
import hashlib
import math
import statistics
from collections import Counter
from dataclasses import dataclass, field

from . import estimate, thresholds
from . import units as structure

OTHER = "other kinds"  # for which there is no room


@dataclass
class Stratum:
    """Units of one kind with similar x, in the order of time, cut into zones: one unit is drawn in each."""
    name: str
    units: list
    seed: int = 0
    zones: list = field(default_factory=list)  # [begin, end) in units
    found: dict = field(default_factory=dict)  # {zone: the unit that was drawn in it}
    numbers: list = field(default_factory=list)  # random ones of the units

    @property
    def x(self):
        return sum(unit.x for unit in self.units)

    def cut(self, number):
        """More zones, by halves of the longest ones: what was drawn stays drawn."""
        number = min(number, len(self.units))
        if not self.zones:
            few = min(thresholds.LEAST_DRAWN, number)
            ends = [i * len(self.units) // few for i in range(few + 1)]
            self.zones = list(zip(ends, ends[1:]))
        while len(self.zones) < number:
            i = max(range(len(self.zones)), key=lambda k: (self.zones[k][1] - self.zones[k][0], -k))
            begin, end = self.zones[i]
            middle = (begin + end) // 2
            self.zones[i:i + 1] = [(begin, middle), (middle, end)]

    def drawn(self):
        if not self.numbers:
            self.numbers = [random_number(self.seed, unit.number) for unit in self.units]
        for zone in self.zones:
            if zone not in self.found:
                self.found[zone] = self.units[min(range(*zone), key=self.numbers.__getitem__)]
        return [self.found[zone] for zone in self.zones]


@dataclass
class Plan:
    units: list
    certain: dict  # {unit's number: why}
    strata: list
    unseen: list = field(default_factory=list)  # units that no region shows, and no other unit stands for

    def wanted(self):
        """Numbers of all units that are to be simulated in the fine model."""
        numbers = set(self.certain)
        for stratum in self.strata:
            numbers |= {unit.number for unit in stratum.drawn()}
        return sorted(numbers)

    @property
    def sampled(self):
        return sum(len(stratum.zones) for stratum in self.strata)


def random_number(seed, number):
    """From 0 to 1, of the seed and the unit alone: no order of calls, no version of a library changes it."""
    return int.from_bytes(hashlib.sha256(f"{seed} {number}".encode()).digest()[:8], "big") / 2**64


def by_kind(units, certain, after=True):
    """{name: units} of the kinds that are sampled; what is rare becomes certain. A unit that comes `after` one of another kind begins
    in another state, and those of one kind are a kind of their own, as long as that leaves few enough."""
    body = [unit for unit in units if unit.repeats]
    kind = structure.kinds(units)
    letters = {}
    for unit in body:
        letters.setdefault(kind[unit.number], f"kind {len(letters) + 1}")
    plain = {unit.number: letters[kind[unit.number]] for unit in body}
    named = dict(plain)
    for before, unit in zip(body, body[1:]):
        if plain[before.number] != plain[unit.number]:
            named[unit.number] += " after another"
    rest = [unit for unit in body if unit.number not in certain]
    scarce = structure.rare(Counter(plain[unit.number] for unit in rest))
    few = structure.rare(Counter(named[unit.number] for unit in rest))
    most = max(2, len(body) // (thresholds.UNITS_PER_DRAWN * thresholds.LEAST_DRAWN))
    changes = [unit for unit in rest if named[unit.number] in few]
    if not after or len(changes) > max(thresholds.LEAST_KIND, len(body) // 50) or len({named[u.number] for u in rest} - few) > most:
        named = plain
        few = structure.rare(Counter(named[unit.number] for unit in rest))
    groups = {}
    for unit in rest:
        if named[unit.number] in few:
            certain[unit.number] = "of a rare kind" if plain[unit.number] in scarce else "after a change of kind"
        else:
            groups.setdefault(named[unit.number], []).append(unit)
    return joined(groups, most)


def joined(groups, most):
    """No more kinds than the sample has room for: those with the least share are taken together."""
    while len(groups) > most:
        smallest, second = sorted(groups, key=lambda name: sum(unit.x for unit in groups[name]))[:2]
        together = sorted(groups.pop(smallest) + groups.pop(second), key=lambda unit: unit.number)
        groups[OTHER] = together + groups.get(OTHER, []) if OTHER not in (smallest, second) else together
    return groups


def strata_of(name, units, most):
    """[(name, units)] of equal cumulated x; one where x is nearly the same for all."""
    xs = [unit.x for unit in units]
    mean = statistics.fmean(xs)
    spread = statistics.pstdev(xs) / mean if mean > 0 else 0
    number = min(thresholds.MOST_STRATA, most, len(units) // (4 * thresholds.LEAST_DRAWN)) if spread > thresholds.STRATIFIED_SPREAD else 1
    if number < 2:
        return [(name, units)]
    order, parts, done, whole = sorted(units, key=lambda unit: (unit.x, unit.number)), [], 0.0, sum(xs)
    for unit in order:
        if not parts or (done >= whole * len(parts) / number and len(parts[-1]) >= thresholds.LEAST_DRAWN):
            parts.append([])
        parts[-1].append(unit)
        done += unit.x
    if len(parts) > 1 and len(parts[-1]) < thresholds.LEAST_DRAWN:
        parts[-2:] = [parts[-2] + parts[-1]]
    return [(f"{name}, size {i + 1} of {len(parts)}", sorted(part, key=lambda unit: unit.number)) for i, part in enumerate(parts)]


def layout_of(units, sizes=True, after=True):
    """(certain units, strata as (name, units)): what the seed has no part in. `sizes`: kinds are cut by x, which must be known; `after`: what comes
    after another kind is a kind."""
    body = [unit for unit in units if unit.repeats]
    certain = {unit.number: "does not repeat" for unit in units if not unit.repeats}
    certain.update({unit.number: "at the begin" for unit in body[:2]} | {body[-1].number: "at the end"})
    groups = by_kind(units, certain, after)
    # As in sampling with probability proportional to size: what is more than twice the step of the sample.
    whole, least = sum(unit.x for unit in units), 2 * thresholds.LEAST_DRAWN * max(1, len(groups))
    for name, group in list(groups.items()):
        own = sum(unit.x for unit in group)
        uneven = max(own / (2 * thresholds.LEAST_DRAWN), thresholds.UNEVEN * own / len(group)) if group else 0
        for unit in group:
            if unit.x > min(thresholds.LARGE * whole / least, uneven):
                certain[unit.number] = "large"
        groups[name] = [unit for unit in group if unit.number not in certain]
    room = max(len(groups), len(body) // (thresholds.UNITS_PER_DRAWN * thresholds.LEAST_DRAWN))
    strata = []
    for name, group in groups.items():
        if group:
            share = sum(unit.x for unit in group) / max(whole, 1e-300)
            strata += strata_of(name, group, max(1, math.floor(share * room)) if sizes else 1)
    return certain, strata


def make(units, seed, known=None):
    """The smallest plan. `known`: the layout, where many plans are made of it."""
    certain, parts = known or layout_of(units)
    strata = [Stratum(name, group, seed) for name, group in parts]
    for stratum in strata:
        stratum.cut(thresholds.LEAST_DRAWN)
    return Plan(units, certain, strata)


def grow(plan, more, spread):
    """`more` further units, by Neyman's allocation: `spread` is the standard deviation of a unit in each stratum."""
    weights = [len(stratum.units) * spread[h] for h, stratum in enumerate(plan.strata)]
    if not any(weights):
        weights = [stratum.x for stratum in plan.strata]
    total = plan.sampled + more
    # Strata that have their share already give none back, so that the others share what is left.
    left, share = total, {}
    for h in sorted(range(len(weights)), key=lambda k: weights[k] / len(plan.strata[k].zones)):
        rest = sum(weights[k] for k in range(len(weights)) if k not in share)
        wish = left * weights[h] / rest if rest > 0 else 0
        share[h] = min(len(plan.strata[h].units), max(len(plan.strata[h].zones), math.ceil(wish)))
        left -= share[h]
    for h, stratum in enumerate(plan.strata):
        stratum.cut(share[h])


def way_in(number):
    """How many iterations the region of a unit begins before it, at random: a fine model that goes round in a cycle is seen at several points of it."""
    return thresholds.ITERATIONS_BEFORE[int(len(thresholds.ITERATIONS_BEFORE) * random_number("way in", number))]


def cost(units, numbers):
    """Share of the whole run that regions for these units simulate in the fine model; regions that meet are one."""
    inside = {k for number in numbers for k in range(*units.region(number, way_in(number), thresholds.ITERATIONS_AFTER))}
    return sum(units.base[k].work for k in inside) / sum(unit.work for unit in units)


def group(base, budget):
    """How many iterations a unit has: what lets a sample of usual size take half of the budget."""
    body = [unit for unit in base if unit.repeats]
    return max(1, math.floor(budget / 2 * len(body) / (2 * thresholds.LEAST_DRAWN)) - 1 - max(thresholds.ITERATIONS_BEFORE))


def affordable(units, current, budget):
    """How many more units can be drawn."""
    each = (len(units.base) / len(units) + max(thresholds.ITERATIONS_BEFORE) + thresholds.ITERATIONS_AFTER) / len(units.base)
    left = sum(len(stratum.units) - len(stratum.zones) for stratum in current.strata)
    return min(left, max(0, math.floor((budget - cost(units, current.wanted())) / each)))


def start(units, seed, budget, layout=None):
    """The first sample: the smallest, and what else fits into a part of the budget, where times in the cheap model are large and differ."""
    current = make(units, seed, layout)
    more = affordable(units, current, min(thresholds.FIRST_SHARE, budget / 2))
    if more > 0:
        grow(current, more, [thresholds.PRIOR * stratum.x / len(stratum.units) + statistics.pstdev(unit.x for unit in stratum.units) for stratum in current.strata])
    return current


def step(units, current, found, goal, budget):
    """How many units the next step adds, as the variance asks for and the budget allows; 0 at the end, and where the border alone is wider than the goal."""
    without_border = goal * found.total - abs(found.border)
    if found.half <= goal * found.total or without_border <= 0:
        return 0
    factor = max(thresholds.USUAL_GROWTH, thresholds.VARIANCE_MARGIN * ((found.half - abs(found.border)) / without_border)**2)
    more = min(math.ceil((factor - 1) * current.sampled), affordable(units, current, budget))
    return more if more >= thresholds.LEAST_GROWTH * current.sampled else 0


def run(units, measure, goal, budget, seed, border=None, layout=None, affords=lambda: True):
    """`measure(numbers)` gives {number: seconds} of what was not known; `border()` the error of regions after it; `affords()`: whether it may be asked once
    more. Returns (plan, all that is known, estimate)."""
    current, y = start(units, seed, budget, layout), {}
    for steps in range(thresholds.MOST_STEPS + 1):
        y |= measure([number for number in current.wanted() if number not in y])
        found = estimate.of_plan(current, y, border() if border else 0.0)
        more = step(units, current, found, goal, budget) if steps < thresholds.MOST_STEPS else 0
        if not more or not affords():
            break
        grow(current, more, [part.spread for part in found.parts])
    return current, y, found


def all_of(units, y):
    """Every unit is simulated: nothing is left to chance."""
    current = Plan(units, {unit.number: "the run is short" for unit in units}, [])
    return current, y, estimate.of_plan(current, y)


def coverage(units, y, goal, budget, seeds, border=0.0, online=None):
    """How often the interval holds the truth, how far off the estimates are, and what share of the units was simulated. `online(seed)`: the plan
    that is tried first."""
    truth, hits, errors, shares, layout = math.fsum(y.values()), 0, [], [], layout_of(units)
    for seed in seeds:
        current = online(seed) if online else None
        found = estimate.of_plan(current, y, border) if current else None
        if not found or found.half > goal * found.total:
            current, _, found = run(units, lambda numbers: {k: y[k] for k in numbers}, goal, budget, seed, lambda: border, layout)
        hits += found.low <= truth <= found.high
        errors.append(found.total / truth - 1)
        shares.append(cost(units, current.wanted()))
    return hits / len(errors), errors, shares


def least(units):
    """The share of the run that the smallest plan simulates in the fine model."""
    return cost(units, make(units, 0).wanted()) if any(unit.repeats for unit in units) else 1.0
