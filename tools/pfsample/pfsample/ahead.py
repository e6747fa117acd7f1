# SPDX-License-Identifier: BSD-3-Clause
"""One run for marks and windows. Where the begin of a program, simulated in the cheap model alone, shows that its iterations are regular, windows are
placed before anybody knows how many iterations there will be: one at random in each of many zones, which grow with what lies before them."""
import math
import os
import statistics
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace

from pfcurve.errors import Problem

from . import estimate, files, memory, plan, sequence, units
from .windows import Windows

MARKS = 620  # that the begin has: a program with three hundred iterations of two marks is all of it
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
    coarse: bool = False  # iterations of one kind make the same calls, with other sizes
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

    def window(self, number):
        """First and last mark of a unit's window."""
        begin = self.first + (number - self.first) * self.size
        return self.mark(max(0, begin - sequence.way_in(number))), self.mark(begin + self.size + sequence.AFTER)

    def spans(self, seed):
        drawn = [self.window(number) for _, number in self.zones(seed, FARTHEST // self.size)]
        return files.merged([*self.here, *drawn])

    def plan(self, parts, seed, held):
        """The sample that windows at these places are; what they do not show is said to be unseen. `held(unit's number)`: whether its window was."""
        certain, strata = plan.layout(parts, sizes=False)
        zones = [(end, number) for end, number in self.zones(seed, len(parts)) if number < len(parts) and held(number)]
        result = plan.Plan(parts, {number: why for number, why in certain.items() if held(number)}, [])
        result.unseen = [parts[number] for number in sorted(certain) if not held(number)]
        for name, group in strata:
            numbers = [unit.number for unit in group]
            members = set(numbers)
            drawn = [(end, number) for end, number in zones if number in members]
            if len(drawn) < DRAWN:
                result.unseen += group
                continue
            stratum = plan.Stratum(name, group, seed)
            ends = [bisect_left(numbers, end) for end, _ in drawn[:-1]] + [len(group)]
            stratum.zones = list(zip([0, *ends], ends))
            stratum.found = {zone: parts[number] for zone, (_, number) in zip(stratum.zones, drawn)}
            result.strata.append(stratum)
        return result if result.strata else None

    def kinds_of(self, base):
        return [replace(unit, kind=unit.coarse) for unit in base] if self.coarse else base

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


def regular(base):
    """(iterations after which all comes again, marks of one, scatter of x, whether kinds are coarse), None where nothing does. Kinds are coarse where
    finer ones do not come again, or sizes change inside of them: they may change more later."""
    body = [unit for unit in base if unit.repeats][2:]
    steps = {unit.last - unit.first for unit in body}
    if len(body) <= 2 * PERIODS or len(steps) != 1:
        return None
    fine, coarse = (came_again(body, kind) for kind in (units.kinds(base), {unit.number: unit.coarse for unit in body}))
    if fine and coarse and fine[2] and coarse[1] <= max(fine[1], plan.SPREAD):
        fine = None
    found = fine or coarse
    return (found[0], steps.pop(), found[1], found is coarse) if found and found[1] <= SCATTERED else None


def came_again(body, kind):
    """(iterations after which kinds come again, scatter of x in the widest, whether bytes differ in one), None where they do not."""
    distance, groups = period([kind[unit.number] for unit in body]), {}
    for unit in body:
        groups.setdefault(kind[unit.number], []).append(unit)
    if not distance:
        return None
    return distance, max(scatter(group) for group in groups.values()), any(len({unit.work for unit in group}) > 1 for group in groups.values())


def from_begin(options, runs):
    """What the begin of the program says, as Ahead; None where windows cannot be placed by it."""
    marks = runs.marks
    try:
        kinds = units.spans(marks.marks)[0]
        if kinds in (("phase",), ("pcontrol",)):
            marks.marks, marks.at = units.only(marks.marks, kinds), kinds[0]
        base = units.from_marks(marks.marks)[0][:-1]  # the last one is cut
    except Problem:
        return None
    found = regular(base)
    if not found:
        return None
    distance, step, wide, coarse = found
    share, growth, size, compared = min(FIRST, options.budget), min(GROWTH * options.goal, LONGEST), SIZE, COMPARED[0]
    if wide > plan.SPREAD:
        share, growth, size, compared = min(OFTEN, options.budget / 2), 0.0, MANY, COMPARED[1]
    runs.compared = compared
    first = next(unit.number for unit in base if unit.repeats) + 2
    looks = Windows(runs, units.Units([replace(unit, kind=unit.coarse) for unit in base] if coarse else base))
    both = looks.stretches(compared)
    if not both:
        return None
    here = (looks.around(both[0], both[0][0].number), both[2][0])
    placed = Ahead(base, marks.at, first, distance * math.ceil(size / distance), step, share, growth, here, coarse)
    if options.goal < memory.GOAL and not coarse and growth:  # too many windows: let what comes again be known by heart, and these try it
        placed.growth, placed.here = LONGEST, (*here, (0, placed.mark(first + memory.BEGIN)))
    return placed


def begin(options, runs):
    """(exit status, summary of the run that shows the application, Ahead or None)."""
    if runs.by != "run" or os.environ.get("PARFOCAL_MARKS_AT"):
        return *runs.cheap(), None
    ended = runs.begin(MARKS)
    if ended and not runs.input.pipe:  # it has read what there was to be read
        return *runs.heard(), None
    ahead = from_begin(options, runs) if runs.marks and not ended else None
    if not ahead:
        return *runs.cheap(), None
    status, summary = runs.cheap(at=ahead.at, spans=ahead.spans(options.seed))
    return status, summary, ahead


def run(parts, windows, ahead, options):
    """The sample that the run has drawn, as sequence.run() gives it; None where its interval is too wide."""
    held = windows.runs.holds
    current = ahead.plan(parts, options.seed, lambda number: held(parts.span(number, sequence.way_in(number), sequence.AFTER)))
    if not current:
        return None
    y = windows.measure(current.wanted())
    found = estimate.of_plan(current, y, windows.border())
    # A second run makes no border narrower.
    return (current, y, found) if found.half <= options.goal * found.total or abs(found.border) > options.goal * found.total else None
