# SPDX-License-Identifier: BSD-3-Clause
"""One run for marks and windows. Where the begin of a program, simulated in the cheap model alone, shows that its iterations are regular, windows are
placed before anybody knows how many iterations there will be: one at random in each of many zones, which grow with what lies before them."""
import math
import os
import statistics
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, replace

from pfcurve.errors import Problem

from . import estimate, files, plan, sequence, units
from .windows import Windows

WORTH, WORTH_TWO = 3, 5  # times that the fine model must be dearer than the cheap one: where one run may do, and where some are needed
MARKS = 620  # that the begin has: a program with three hundred iterations of two marks is all of it
SAID = 80  # iterations that it has where the program says what they are
ROUND = 20  # of them, beside the two stretches that are compared
PERIODS = 16  # iterations after which kinds come again, at most: then so many are one unit
SIZE = 2  # iterations of a unit at least
FIRST = 0.08  # of the first zones that windows take, the budget at most
GROWTH = 10  # times the goal: the length of a zone by what lies before it,
LONGEST = 0.2  # at most
DRAWN = 4  # units that stand for a stratum, at least
FARTHEST = 5_000_000  # iterations behind which nobody looks any more
SCATTERED = 0.3  # of x in a kind, apart from what bytes explain, above which windows are drawn when all units are known; and above plan.SPREAD
MANY, OFTEN = 10, 0.04  # a unit has so many iterations at least, and windows take so much of the run: as the fine times may scatter as well
COMPARED = (16, 48)  # iterations at the begin with others, the latter where times scatter
SETTLES = 16  # iterations behind a window, whose times in the cheap model are not taken
# What iterations of one kind have in common: the same calls with the same sizes, with others, or their name alone.
KINDS = (lambda unit: unit.kind, lambda unit: unit.coarse, lambda unit: unit.name)
OFTEN_ENOUGH = 0.95  # of iterations must be of one kind, where others come between


@dataclass
class Ahead:
    """Where windows are. `base`: units of the begin; `at`: which marks have numbers."""
    base: list
    at: str
    first: int  # number of the first unit in which iterations are grouped, which is that of its first iteration as well
    size: int  # iterations of a unit
    step: int  # marks of an iteration
    share: float  # of the first zones that windows take
    growth: float  # of the later ones
    here: tuple = ()  # the two stretches that tell how well windows settle
    level: int = 0  # of KINDS
    usual: str = ""  # the kind of nearly all iterations, where others come between, now and then
    alone: float = 1.0  # how much longer the cheap model takes where no window ever was

    def zones(self, seed, count):
        """[(end, the unit that is drawn)] by numbers, up to `count`. A zone's number is hashed with the seed, as units are for a sample."""
        begin, result = self.first, []
        while begin < count:
            passed = begin - self.first
            length = max(math.ceil((self.size + max(sequence.BEFORE) + sequence.AFTER) / (self.share * self.size)), math.floor(self.growth * passed))
            result.append((begin + length, begin + int(length * plan.random_number(f"ahead {seed}", len(result)))))
            begin += length
        return result

    def mark(self, iteration):
        """The number of an iteration's first mark."""
        known = min(iteration, self.first)
        return self.base[known].first + (iteration - known) * self.step

    def begin_of(self, number):
        """The number of a unit's first iteration."""
        return self.first + (number - self.first) * self.size

    def window(self, number):
        """First and last mark of a unit's window."""
        begin = self.begin_of(number)
        return self.mark(max(0, begin - sequence.way_in(number))), self.mark(begin + self.size + sequence.AFTER)

    def spans(self, seed):
        drawn = [self.window(number) for _, number in self.zones(seed, FARTHEST // self.size)]
        return files.merged([*self.here, *drawn])

    def found(self, base, seed, holds):
        """[(first iteration of a unit that was drawn, the one after its last, mark at the end of its zone)]. Where something came between iterations,
        those behind it have other numbers than was thought; what comes between is no part of a unit. `holds(window)`: the one that holds it."""
        firsts, result = [unit.first for unit in base], []
        for end, number in self.zones(seed, FARTHEST // self.size):
            thought = self.mark(self.begin_of(number)), self.mark(self.begin_of(number) + self.size)
            if thought[0] >= base[-1].last:
                break
            window = holds(thought)
            if not window:
                continue
            first = max(bisect_left(firsts, window[0]) + sequence.BEFORE[0], bisect_left(firsts, thought[0]))
            last = min(bisect_right(firsts, window[1]) - 1 - sequence.AFTER, bisect_right(firsts, thought[1]) - 1)
            first, last = max(self.without_breaks(base, first, last), key=lambda part: part[1] - part[0])
            if first < last:
                result.append((first, last, self.mark(self.begin_of(end))))
        return result

    def elsewhere(self, parts, seed):
        """As found(), of another seed, had its windows been held: which of the units it would have drawn."""
        firsts, result = [unit.first for unit in parts], []
        for end, number in self.zones(seed, FARTHEST // self.size):
            if self.mark(self.begin_of(number)) >= parts[-1].last:
                break
            part = bisect_right(firsts, self.mark(self.begin_of(number))) - 1
            result.append((*parts.parts[part], self.mark(self.begin_of(end))))
        return result

    def breaks(self, unit):
        """Whether it comes between iterations, now and then."""
        return bool(self.usual) and (unit.kind != self.usual or unit.last - unit.first != self.step)

    def without_breaks(self, base, first, last):
        """Parts of [first, last) without what comes between iterations."""
        ends = [first - 1, *(k for k in range(first, last) if self.breaks(base[k])), last]
        return [(a + 1, b) for a, b in zip(ends, ends[1:])]

    def parts(self, base, found):
        """Units, of which those that were drawn are some."""
        bounds = {k for first, last, _ in found for k in (first, last)}
        bounds.update(k for unit in base if self.breaks(unit) for k in (unit.number, unit.number + 1))
        return units.grouped(base, self.size, bounds)

    def plan(self, parts, found, held):
        """The sample that windows at these places are; what they do not show is said to be unseen. `held(unit's number)`: whether its window was."""
        certain, strata = plan.layout(parts, sizes=False, after=not self.usual)
        begins = [begin for begin, _ in parts.parts]
        zones = [(bisect_left(parts, end, key=lambda unit: unit.first), bisect_left(begins, first)) for first, _, end in found]
        result = plan.Plan(parts, {number: why for number, why in certain.items() if held(number)}, [])
        result.unseen = [parts[number] for number in sorted(certain) if not held(number)]
        for name, group in strata:
            numbers = [unit.number for unit in group]
            members = set(numbers)
            drawn = [(end, number) for end, number in zones if number in members]
            if len(drawn) < DRAWN:
                result.unseen += group
                continue
            stratum = plan.Stratum(name, group)
            ends = [bisect_left(numbers, end) for end, _ in drawn[:-1]] + [len(group)]
            stratum.zones = list(zip([0, *ends], ends))
            stratum.found = {zone: parts[number] for zone, (_, number) in zip(stratum.zones, drawn)}
            result.strata.append(stratum)
        return result if result.strata else None

    def kinds_of(self, base):
        return [replace(unit, kind=KINDS[self.level](unit)) for unit in base] if self.level else base

    def clean(self, base, held):
        """Units with times of the cheap model alone. Where a window is, or was just before, those of the begin are known; others take as long as the
        nearest ones of their kind with as many bytes, or as their bytes say."""
        kind, touched, firsts = units.kinds(base), set(), [unit.first for unit in base]
        for begin, end in held:
            touched.update(range(bisect_right(firsts, begin) - 1, min(len(base), bisect_left(firsts, end) + SETTLES)))
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
        # After a window the cheap model may go on in another of the states that it can be in.
        both = [(unit.x, base[unit.number].x) for unit in self.base if unit.repeats and unit.number not in touched]
        if both and sum(there for _, there in both) > 0:
            self.alone = sum(here for here, _ in both) / sum(there for _, there in both)
        x.update({unit.number: unit.x / self.alone for unit in self.base if unit.number in touched})
        return [replace(unit, x=x[unit.number]) if unit.number in touched and unit.number in x else unit for unit in base]


def line_of(group):
    return estimate.line([unit.work for unit in group], [unit.x for unit in group])


def expected(unit, near, of_kind):
    """x of a unit from those that are near it, or of its kind."""
    same = [other.x for other in near if other.work == unit.work]
    return statistics.fmean(same or [max(of_kind[0] + of_kind[1] * unit.work, 0.0)])


def scatter(group):
    """How far x is off, relatively, from what the bytes say."""
    a, b = line_of(group)
    mean = statistics.fmean(unit.x for unit in group)
    return math.sqrt(statistics.fmean((unit.x - a - b * unit.work)**2 for unit in group)) / mean if mean > 0 else 0.0


def period(kinds):
    """After how many iterations kinds come again; 0: never."""
    for distance in range(1, PERIODS + 1):
        if kinds[distance:] == kinds[:-distance]:
            return distance
    return 0


@dataclass
class Regular:
    """What comes again in the begin of a program."""
    distance: int  # iterations after which all does
    wide: float  # how far x scatters in the widest kind
    sized: bool  # whether bytes differ in one
    usual: str  # the kind of nearly all, where others come between
    level: int = 0
    step: int = 0  # marks of an iteration


def regular(base):
    """What comes again, None where nothing does. Kinds are coarser where finer ones do not come again, or sizes change inside of them: they may
    change more later."""
    body = [unit for unit in base if unit.repeats][2:]
    if len(body) <= 2 * PERIODS:
        return None
    step, often = Counter(unit.last - unit.first for unit in body).most_common(1)[0]
    if often < OFTEN_ENOUGH * len(body):
        return None
    fine = units.kinds(base)
    levels = [came_again(body, fine), *(came_again(body, {unit.number: kind(unit) for unit in body}) for kind in KINDS[1:])]
    level = next((level for level, found in enumerate(levels) if found), None)
    if level is None:
        return None
    coarser = levels[level + 1] if level + 1 < len(levels) else None
    if levels[level].sized and coarser and coarser.wide <= max(levels[level].wide, plan.SPREAD):
        level += 1
    found = levels[level]
    if found.wide > SCATTERED or (often < len(body) and not found.usual):
        return None
    found.level, found.step = level, step
    return found


def came_again(body, kind):
    """Regular of these kinds, None where they do not come again."""
    groups, kinds = {}, [kind[unit.number] for unit in body]
    for unit in body:
        groups.setdefault(kind[unit.number], []).append(unit)
    distance, usual = period(kinds), max(groups, key=lambda name: len(groups[name]))
    same = len({unit.last - unit.first for unit in body}) == 1
    if not distance or not same:
        if len(groups[usual]) < OFTEN_ENOUGH * len(body):
            return None
        distance, groups = 1, {usual: groups[usual]}
    else:
        usual = ""
    return Regular(distance, max(scatter(group) for group in groups.values()), any(len({unit.work for unit in group}) > 1 for group in groups.values()), usual)


def begun(runs):
    """The units of the begin, but for the last one, which is cut; None where nothing comes again."""
    marks = runs.marks
    try:
        kinds = units.spans(marks.marks)[0]
        if kinds in (("phase",), ("pcontrol",)):
            marks.marks, marks.at = units.only(marks.marks, kinds), kinds[0]
        return units.from_marks(marks.marks)[0][:-1]
    except Problem:
        return None


def look(runs, marks=MARKS):
    """(units of the begin or None, whether that is the whole program, of which nothing is to be heard again). Where the program says itself what its
    iterations are, and they are long, the begin is looked at once more, up to so many of them."""
    ended = runs.begin(marks)
    if ended and not runs.input.pipe:  # it has read what there was to be read
        return None, True
    base = begun(runs) if runs.marks and not ended else None
    if base and runs.marks.at != "auto" and len(base) < SAID:
        ended = runs.begin(SAID, runs.marks.at)
        base = begun(runs) if runs.marks and not ended else None
    return base, False


def from_begin(options, runs, base):
    """What the begin of the program says, as Ahead; None where windows cannot be placed by it."""
    found = regular(base)
    if not found:
        return None
    share, growth, size, compared = min(FIRST, options.budget), min(GROWTH * options.goal, LONGEST), SIZE, COMPARED[0]
    if found.wide > plan.SPREAD:
        share, growth, size, compared = min(OFTEN, options.budget / 2), 0.0, MANY, COMPARED[1]
    runs.compared = compared = min(compared, (len(base) - ROUND) // 2)
    first = next(unit.number for unit in base if unit.repeats) + 2
    looks = Windows(runs, units.Units([replace(unit, kind=KINDS[found.level](unit)) for unit in base] if found.level else base))
    both = looks.stretches(compared)
    if not both:
        return None
    here = (looks.around(both[0], both[0][0].number), both[2][0])
    size = found.distance * math.ceil(size / found.distance)
    return Ahead(base, runs.marks.at, first, size, found.step, share, growth, here, found.level, found.usual)


def begin(options, runs):
    """(exit status, summary of the run that shows the application, Ahead or None). Where nothing is saved, that run is all in the fine model."""
    if os.environ.get("PARFOCAL_MARKS_AT"):
        return *runs.cheap(), None
    if not options.strict and not runs.input.pipe:  # whoever names a budget wants a sample; what a pipe said is read once
        status, summary = runs.in_fine(MARKS)
        if status or runs.exact:
            return status, summary, None
    base, over = look(runs)
    ahead = from_begin(options, runs, base) if base else None
    if runs.marks and not runs.pays(runs.short, WORTH if ahead else WORTH_TWO):
        return *runs.in_fine(), None
    if over:
        runs.show()  # it was the begin, and came to the end of the program
        return 0, runs.short, None
    if not ahead:
        return *runs.cheap(), None
    status, summary = runs.cheap(at=ahead.at, spans=ahead.spans(options.seed))
    return status, summary, ahead


def run(parts, windows, ahead, found, options):
    """The sample that the run has drawn, as sequence.run() gives it; None where its interval is too wide."""
    held, windows.way = windows.runs.holds, lambda number: sequence.BEFORE[0]
    current = ahead.plan(parts, found, lambda number: held(parts.span(number, windows.way(number), sequence.AFTER)))
    if not current:
        return None
    y = windows.measure(current.wanted())
    result = estimate.of_plan(current, y, windows.border())
    # A second run makes no border narrower.
    enough = result.half <= options.goal * result.total or abs(result.border) > options.goal * result.total or not windows.runs.affords()
    return (current, y, result) if enough else None
