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
FIRST = 0.12  # of the first zones that windows take, the budget at most
GROWTH = 10  # times the goal: the length of a zone by what lies before it,
LONGEST = 0.2  # at most
DRAWN = 4  # units that stand for a stratum, at least
FARTHEST = 5_000_000  # iterations behind which nobody looks any more
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
        certain, strata = plan.layout(parts)
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

    def clean(self, base, held):
        """Units with times of the cheap model alone. Where a window is, or was just before, those of the begin are known; others take as long as the
        nearest ones of their kind."""
        kind, touched, firsts = units.kinds(base), set(), [unit.first for unit in base]
        for begin, end in held:
            touched.update(range(bisect_right(firsts, begin) - 1, min(len(base), bisect_left(firsts, end) + SETTLES)))
        near = {}
        for order in (base, base[::-1]):
            last = {}
            for unit in order:
                if unit.number not in touched:
                    last[kind.get(unit.number)] = unit.x
                elif kind.get(unit.number) in last:
                    near.setdefault(unit.number, []).append(last[kind.get(unit.number)])
        near.update({unit.number: [unit.x] for unit in self.base})
        return [replace(unit, x=statistics.fmean(near[unit.number])) if unit.number in touched and unit.number in near else unit for unit in base]


def period(kinds):
    """After how many iterations kinds come again; 0: never."""
    for distance in range(1, PERIODS + 1):
        if kinds[distance:] == kinds[:-distance]:
            return distance
    return 0


def regular(base):
    """(iterations after which all comes again, marks of one), None where it does not."""
    body = [unit for unit in base if unit.repeats][2:]
    kind = units.kinds(base)
    groups = {}
    for unit in body:
        groups.setdefault(kind[unit.number], []).append(unit.x)
    steps = {unit.last - unit.first for unit in body}
    distance = period([kind[unit.number] for unit in body]) if len(body) > 2 * PERIODS else 0
    even = all(statistics.pstdev(xs) <= plan.SPREAD * statistics.fmean(xs) for xs in groups.values())
    return (distance, steps.pop()) if distance and len(steps) == 1 and even else None


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
    first = next(unit.number for unit in base if unit.repeats) + 2
    size = found[0] * math.ceil(SIZE / found[0])
    looks = Windows(runs, units.Units(base))
    both = looks.stretches(whole=True)
    if not both:
        return None
    here = (looks.around(both[0], both[0][0].number), both[2][0])
    growth = min(GROWTH * options.goal, LONGEST)
    placed = Ahead(base, marks.at, first, size, found[1], min(FIRST, options.budget), growth, here)
    if options.goal < memory.GOAL:  # too many windows: let what comes again be known by heart, and these try it
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
