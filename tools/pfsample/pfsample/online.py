# SPDX-License-Identifier: BSD-3-Clause
"""Online sampling: one run for markers and regions. Where the begin of a program, simulated in the cheap model alone, shows that its iterations are regular,
regions are placed although the number of iterations is unknown: one at random in each of many zones, which grow with what lies before them."""
import math
import os
import statistics
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, replace

from . import estimate, plan, thresholds, units
from .regions import Regions

# What iterations of one kind have in common: the same calls with the same sizes, with others, or their name alone.
KINDS = (lambda unit: unit.kind, lambda unit: unit.coarse, lambda unit: unit.name)


@dataclass
class Online:
    """Where regions are. `base`: units of the begin; `at`: which markers have numbers."""
    base: list
    at: str
    first: int  # number of the first unit in which iterations are grouped, which is that of its first iteration as well
    size: int  # iterations of a unit
    step: int  # markers of an iteration
    share: float  # of the first zones that regions take
    growth: float  # of the later ones
    compared: tuple = ()  # the two regions that show whether regions settle
    level: int = 0  # of KINDS
    usual: str = ""  # the kind of nearly all iterations, where others come between, now and then
    alone: float = 1.0  # times of the cheap model before any region, over those of the begin
    laid_out: tuple = (None, None)  # units, and their layout, of which many plans are made

    def zones(self, seed):
        """(end, the unit that is drawn) by numbers. A zone's number is hashed with the seed, as units are for a sample."""
        begin, number = self.first, 0
        while begin < thresholds.LAST_ITERATION // self.size:
            length = max(math.ceil((self.size + max(thresholds.ITERATIONS_BEFORE) + thresholds.ITERATIONS_AFTER) / (self.share * self.size)), math.floor(self.growth * (begin - self.first)))
            yield begin + length, begin + int(length * plan.random_number(f"ahead {seed}", number))
            begin, number = begin + length, number + 1

    def marker(self, iteration):
        """The number of an iteration's first marker."""
        known = min(iteration, self.first)
        return self.base[known].first + (iteration - known) * self.step

    def begin_of(self, number):
        """The number of a unit's first iteration."""
        return self.first + (number - self.first) * self.size

    def unit(self, number, before=0, after=0):
        """First and last marker of a unit, or of its region."""
        begin = self.begin_of(number)
        return self.marker(max(0, begin - before)), self.marker(begin + self.size + after)

    def spans(self, seed):
        return units.merged([*self.compared, *(self.unit(number, plan.way_in(number), thresholds.ITERATIONS_AFTER) for _, number in self.zones(seed))])

    def found(self, base, seed, holds):
        """[(first iteration of a unit that was drawn, the one after its last, marker at the end of its zone)]. Iterations behind one that comes between have
        other numbers than was assumed; what comes between is no part of a unit. `holds(region)`: the one that holds it."""
        firsts, result = [unit.first for unit in base], []
        for end, number in self.zones(seed):
            assumed = self.unit(number)
            if assumed[0] >= base[-1].last:
                break
            region = holds(assumed)
            if not region:
                continue
            first = max(bisect_left(firsts, region[0]) + thresholds.ITERATIONS_BEFORE[0], bisect_left(firsts, assumed[0]))
            last = min(bisect_right(firsts, region[1]) - 1 - thresholds.ITERATIONS_AFTER, bisect_right(firsts, assumed[1]) - 1)
            breaks = [first - 1, *(k for k in range(first, last) if self.breaks(base[k])), last]
            first, last = max(((a + 1, b) for a, b in zip(breaks, breaks[1:])), key=lambda part: part[1] - part[0])
            if first < last:
                result.append((first, last, self.marker(self.begin_of(end))))
        return result

    def elsewhere(self, parts, seed):
        """As found(), of another seed, as if its regions had been simulated: which of the units it would have drawn."""
        firsts, result = [unit.first for unit in parts], []
        for end, number in self.zones(seed):
            marker = self.unit(number)[0]
            if marker >= parts[-1].last:
                break
            result.append((*parts.parts[bisect_right(firsts, marker) - 1], self.marker(self.begin_of(end))))
        return result

    def breaks(self, unit):
        """Whether it comes between iterations, now and then."""
        return bool(self.usual) and (unit.kind != self.usual or unit.last - unit.first != self.step)

    def parts(self, base, found):
        """Units, of which those that were drawn are some."""
        bounds = {k for first, last, _ in found for k in (first, last)}
        bounds.update(k for unit in base if self.breaks(unit) for k in (unit.number, unit.number + 1))
        return units.grouped(base, self.size, bounds)

    def plan(self, parts, found, held):
        """The sample that regions at these places are; what they do not show is unseen. `held(unit's number)`: whether its region was simulated."""
        if self.laid_out[0] is not parts:
            self.laid_out = parts, plan.layout_of(parts, sizes=False, after=not self.usual)
        certain, strata = self.laid_out[1]
        begins = [begin for begin, _ in parts.parts]
        zones = [(bisect_left(parts, end, key=lambda unit: unit.first), bisect_left(begins, first)) for first, _, end in found]
        result = plan.Plan(parts, {number: why for number, why in certain.items() if held(number)}, [])
        result.unseen = [parts[number] for number in sorted(certain) if not held(number)]
        for name, group in strata:
            numbers = [unit.number for unit in group]
            members = set(numbers)
            drawn = [(end, number) for end, number in zones if number in members]
            if len(drawn) < thresholds.LEAST_ONLINE:
                result.unseen += group
                continue
            ends = [bisect_left(numbers, end) for end, _ in drawn[:-1]] + [len(group)]
            stratum = plan.Stratum(name, group, zones=list(zip([0, *ends], ends)))
            stratum.found = {zone: parts[number] for zone, (_, number) in zip(stratum.zones, drawn)}
            result.strata.append(stratum)
        return result if result.strata else None

    def clean(self, base, held):
        """Units with times of the cheap model alone. Where a region is, or was just before, those of the begin are known; others take as long as the
        nearest ones of their kind with as many bytes, or as their bytes suggest."""
        kind, touched, firsts = units.kinds(base), set(), [unit.first for unit in base]
        for begin, end in held:
            touched.update(range(bisect_right(firsts, begin) - 1, min(len(base), bisect_left(firsts, end) + thresholds.CHEAP_SETTLES)))
        groups = {}
        for unit in base:
            if unit.number not in touched:
                groups.setdefault(kind.get(unit.number), []).append(unit)
        lines, near = {name: line_of(group) for name, group in groups.items()}, {}
        for order in (base, base[::-1]):
            last = {}
            for unit in order:
                if unit.number not in touched:
                    last[kind.get(unit.number)] = unit
                elif kind.get(unit.number) in last:
                    near.setdefault(unit.number, []).append(last[kind.get(unit.number)])
        x = {number: expected(base[number], others, lines[kind.get(number)]) for number, others in near.items()}
        # After a region the cheap model may go on in another of the states that it can be in.
        both = [(unit.x, base[unit.number].x) for unit in self.base if unit.repeats and unit.number not in touched]
        if both and sum(there for _, there in both) > 0:
            self.alone = sum(here for here, _ in both) / sum(there for _, there in both)
        x |= {unit.number: unit.x / self.alone for unit in self.base if unit.number in touched}
        return [replace(unit, x=x[unit.number]) if unit.number in touched and unit.number in x else unit for unit in base]


def kinds_of(base, level):
    return [replace(unit, kind=KINDS[level](unit)) for unit in base] if level else base


def line_of(group):
    return estimate.line([unit.work for unit in group], [unit.x for unit in group])


def expected(unit, near, of_kind):
    """x of a unit from those that are near it, or of its kind."""
    same = [other.x for other in near if other.work == unit.work]
    return statistics.fmean(same or [max(of_kind[0] + of_kind[1] * unit.work, 0.0)])


def scatter(group):
    """How far x is off, relatively, from what the bytes suggest."""
    a, b = line_of(group)
    mean = statistics.fmean(unit.x for unit in group)
    return math.sqrt(statistics.fmean((unit.x - a - b * unit.work)**2 for unit in group)) / mean if mean > 0 else 0.0


@dataclass
class Regular:
    """What recurs in the begin of a program."""
    distance: int  # iterations after which all does
    wide: float  # how far x scatters in the widest kind
    sized: bool  # whether bytes differ in one
    usual: str  # the kind of nearly all, where others come between
    level: int = 0
    step: int = 0  # markers of an iteration


def regular(base):
    """What recurs, None where nothing does. Kinds are coarser where finer ones do not recur, or sizes change inside of them: they may change more later."""
    body = [unit for unit in base if unit.repeats][2:]
    if len(body) <= 2 * thresholds.KIND_PERIOD:
        return None
    step, often = Counter(unit.last - unit.first for unit in body).most_common(1)[0]
    if often < thresholds.USUAL_SHARE * len(body):
        return None
    levels = [recurs(body, units.kinds(base)), *(recurs(body, {unit.number: kind(unit) for unit in body}) for kind in KINDS[1:])]
    level = next((level for level, found in enumerate(levels) if found), None)
    if level is None:
        return None
    coarser = levels[level + 1] if level + 1 < len(levels) else None
    if levels[level].sized and coarser and coarser.wide <= max(levels[level].wide, thresholds.STRATIFIED_SPREAD):
        level += 1
    found = levels[level]
    if found.wide > thresholds.MOST_SCATTER or (often < len(body) and not found.usual):
        return None
    return replace(found, level=level, step=step)


def recurs(body, kind):
    """Regular of these kinds, None where they do not recur."""
    groups, kinds, usual = {}, [kind[unit.number] for unit in body], ""
    for unit in body:
        groups.setdefault(kind[unit.number], []).append(unit)
    distance = next((distance for distance in range(1, thresholds.KIND_PERIOD + 1) if kinds[distance:] == kinds[:-distance]), 0)
    if not distance or len({unit.last - unit.first for unit in body}) > 1:
        usual = max(groups, key=lambda name: len(groups[name]))
        if len(groups[usual]) < thresholds.USUAL_SHARE * len(body):
            return None
        distance, groups = 1, {usual: groups[usual]}
    return Regular(distance, max(map(scatter, groups.values())), any(len({unit.work for unit in group}) > 1 for group in groups.values()), usual)


def begun(runs, markers, at="auto"):
    """(units of the begin of the program, but for the last one, which is cut, or None; whether that is the whole program)."""
    ended = runs.begin(markers, at)
    try:
        return units.of_program(runs.markers)[0][:-1] if runs.markers and not ended else None, ended
    except units.NoStructure:
        return None, ended


def from_begin(options, runs, base):
    """What the begin of the program shows, as Online; None where regions cannot be placed by it."""
    found = regular(base)
    if not found:
        return None
    share, growth, size, compared = min(thresholds.ONLINE_SHARE, options.budget), min(thresholds.ZONE_GROWTH * options.goal, thresholds.MOST_ZONE_GROWTH), thresholds.ONLINE_UNIT, thresholds.COMPARED[1]
    if found.wide > thresholds.STRATIFIED_SPREAD:
        share, growth, size, compared = min(thresholds.SCATTERED_SHARE, options.budget / 2), 0.0, thresholds.SCATTERED_UNIT, thresholds.SCATTERED_COMPARED
    runs.compared = min(compared, (len(base) - thresholds.BEGIN_SPARE) // 2)
    looks = Regions(runs, units.Units(kinds_of(base, found.level)))
    both = looks.stretches()
    if not both:
        return None
    first, size = next(unit.number for unit in base if unit.repeats) + 2, found.distance * math.ceil(size / found.distance)
    return Online(base, runs.markers.at, first, size, found.step, share, growth, looks.around(both), found.level, found.usual)


def begin(options, runs):
    """(exit status, summary of the run that shows the application, Online or None). Where nothing is saved, that run is all in the fine model."""
    if os.environ.get("PARFOCAL_MARKERS_AT"):
        return *runs.cheap(), None
    if not options.strict and not runs.input.pipe:  # a budget asks for a sample; a pipe is read once
        status, summary = runs.in_fine(thresholds.BEGIN_MARKERS)
        if status or runs.exact:
            return status, summary, None
    base, ended = begun(runs, thresholds.BEGIN_MARKERS)
    ended = ended and not runs.input.pipe  # else it has read what there was to be read
    if base and runs.markers.at != "auto" and len(base) < thresholds.BEGIN_ITERATIONS:  # long iterations, which the program names itself
        base, _ = begun(runs, thresholds.BEGIN_ITERATIONS, runs.markers.at)
    placed = from_begin(options, runs, base) if base else None
    if not runs.pays(thresholds.ONE_RUN if placed else thresholds.MORE_RUNS):
        return *runs.go_on(), None
    if placed and not ended:
        runs.leave()
        return *runs.cheap(at=placed.at, spans=placed.spans(options.seed)), placed
    if not ended and not runs.waiting:
        return *runs.cheap(), None
    status, summary = (0, runs.short) if ended else runs.cheap(shown=False, fails=True)
    if status:
        return *runs.go_on(), None
    runs.hidden = runs.folder
    if not runs.waiting:
        runs.leave()
    return status, summary, None


def run(parts, regions, placed, found, options):
    """The sample that the run has drawn, as plan.run() gives it; None where its interval is too wide."""
    held, regions.way = regions.runs.holds, lambda number: thresholds.ITERATIONS_BEFORE[0]
    current = placed.plan(parts, found, lambda number: held(parts.span(number, regions.way(number), thresholds.ITERATIONS_AFTER)))
    if not current:
        return None
    y = regions.measure(current.wanted())
    result = estimate.of_plan(current, y, regions.border())
    # A second run makes no border narrower.
    enough = result.half <= options.goal * result.total or abs(result.border) > options.goal * result.total or not regions.runs.affords()
    return (current, y, result) if enough else None
