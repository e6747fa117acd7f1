# SPDX-License-Identifier: BSD-3-Clause
"""Which units are simulated in the fine model: certain ones, and at random places of strata the others."""
import hashlib
import math
import statistics
from collections import Counter
from dataclasses import dataclass, field

from . import units as structure

FLOOR = 6  # units of a stratum that are simulated at least
RARE = 5  # members below which all of a kind are simulated
SPREAD = 0.02  # of x in a kind, above which the kind has several strata
UNEVEN = 3  # times the mean of a kind: what is so much larger is certain, where it is a large part as well
STRATA = 4  # of one kind at most
ROOM = 60  # units for each unit that the floors take: with one to three before and one after, that is a twelfth
OTHER = "other kinds"  # for which there is no room


@dataclass
class Stratum:
    """Units of one kind with similar x, in the order of time, cut into zones: one unit is drawn in each."""
    name: str
    units: list
    seed: int = 0
    zones: list = field(default_factory=list)  # [begin, end) in units
    found: dict = field(default_factory=dict)  # {zone: the unit that was drawn in it}
    place: list = field(default_factory=list)  # random numbers of the units

    @property
    def x(self):
        return sum(unit.x for unit in self.units)

    def spread(self, least):
        """How far fine times of a unit may be apart before any is known: `least` of a unit, and as far as those in the cheap model are."""
        return least * self.x / len(self.units) + statistics.pstdev(unit.x for unit in self.units)

    def cut(self, number):
        """More zones, by halves of the longest ones: what was drawn stays drawn."""
        number = min(number, len(self.units))
        if not self.zones:
            few = min(FLOOR, number)
            ends = [i * len(self.units) // few for i in range(few + 1)]
            self.zones = list(zip(ends, ends[1:]))
        while len(self.zones) < number:
            i = max(range(len(self.zones)), key=lambda k: (self.zones[k][1] - self.zones[k][0], -k))
            begin, end = self.zones[i]
            middle = (begin + end) // 2
            self.zones[i:i + 1] = [(begin, middle), (middle, end)]

    def drawn(self):
        if not self.place:
            self.place = [random_number(self.seed, unit.number) for unit in self.units]
        for zone in self.zones:
            if zone not in self.found:
                self.found[zone] = self.units[min(range(*zone), key=self.place.__getitem__)]
        return [self.found[zone] for zone in self.zones]


@dataclass
class Plan:
    units: list
    certain: dict  # {unit's number: why}
    strata: list
    unseen: list = field(default_factory=list)  # units that no window shows, and no other unit stands for

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
    kind = structure.kinds(units, RARE)
    letters = {}
    for unit in body:
        letters.setdefault(kind[unit.number], f"kind {len(letters) + 1}")
    plain = {unit.number: letters[kind[unit.number]] for unit in body}
    named = dict(plain)
    for before, unit in zip(body, body[1:]):
        if plain[before.number] != plain[unit.number]:
            named[unit.number] += " after another"
    rest = [unit for unit in body if unit.number not in certain]
    scarce = structure.rare(Counter(plain[unit.number] for unit in rest), RARE)
    few = structure.rare(Counter(named[unit.number] for unit in rest), RARE)
    most = max(2, len(body) // (ROOM * FLOOR))
    changes = [unit for unit in rest if named[unit.number] in few]
    if not after or len(changes) > max(RARE, len(body) // 50) or len({named[u.number] for u in rest} - few) > most:
        named = plain
        few = structure.rare(Counter(named[unit.number] for unit in rest), RARE)
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
    number = min(STRATA, most, len(units) // (4 * FLOOR)) if spread > SPREAD else 1
    if number < 2:
        return [(name, units)]
    order, parts, done, whole = sorted(units, key=lambda unit: (unit.x, unit.number)), [], 0.0, sum(xs)
    for unit in order:
        if not parts or (done >= whole * len(parts) / number and len(parts[-1]) >= FLOOR):
            parts.append([])
        parts[-1].append(unit)
        done += unit.x
    if len(parts) > 1 and len(parts[-1]) < FLOOR:
        parts[-2:] = [parts[-2] + parts[-1]]
    return [(f"{name}, size {i + 1} of {len(parts)}", sorted(part, key=lambda unit: unit.number)) for i, part in enumerate(parts)]


def layout(units, sizes=True, after=True):
    """(certain units, strata as (name, units)): what the seed has no part in. `sizes`: kinds are cut by x, which must be known; `after`: what comes
    after another kind is a kind."""
    body = [unit for unit in units if unit.repeats]
    certain = {unit.number: "does not repeat" for unit in units if not unit.repeats}
    certain.update({unit.number: "at the begin" for unit in body[:2]} | {body[-1].number: "at the end"})
    groups = by_kind(units, certain, after)
    # As in sampling with probability proportional to size: what is more than twice the step of the sample.
    whole, least = sum(unit.x for unit in units), 2 * FLOOR * max(1, len(groups))
    for name, group in list(groups.items()):
        own = sum(unit.x for unit in group)
        uneven = max(own / (2 * FLOOR), UNEVEN * own / len(group)) if group else 0
        for unit in group:
            if unit.x > min(2 * whole / least, uneven):
                certain[unit.number] = "large"
        groups[name] = [unit for unit in group if unit.number not in certain]
    room = max(len(groups), len(body) // (ROOM * FLOOR))
    strata = []
    for name, group in groups.items():
        if group:
            share = sum(unit.x for unit in group) / max(whole, 1e-300)
            strata += strata_of(name, group, max(1, math.floor(share * room)) if sizes else 1)
    return certain, strata


def make(units, seed, known=None):
    """The smallest plan. `known`: the layout, for who makes many."""
    certain, parts = known or layout(units)
    strata = [Stratum(name, group, seed) for name, group in parts]
    for stratum in strata:
        stratum.cut(FLOOR)
    return Plan(units, certain, strata)


def grow(plan, more, spread):
    """`more` further units, where they take the most from the variance (Neyman): `spread` is the standard deviation of a unit
    in each stratum, by its number."""
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
