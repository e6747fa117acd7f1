# SPDX-License-Identifier: BSD-3-Clause
"""Fine times of units by windows around them, and how wrong windows are at their borders."""
import math
import statistics
from bisect import bisect_left

from . import estimate, sequence, slices
from . import units as structure

LEAST_BORDERS = 2  # windows that are simulated once more with a longer way in and out
FARTHER = 4  # iterations that the longer way in has more
FARTHER_SLICES = 12  # and slices
EARLY = 50  # th of the run, in which windows from its begin are compared with others
SETTLED = 4  # iterations after which a run that begins in the fine model is compared with windows,
COMPARED = (4, 16)  # over so many, a fiftieth of all
TWICE = 4  # times the variance that pairs show: two standard deviations may be chance
APART = 12  # in a mixed run, iterations in the cheap model between the two stretches that are compared
FARTHEST = 300  # one from the other


class Windows:
    """Fine times of units. A tenth of the windows is simulated once more with a longer way in and out. Mixed runs cannot do both at once: there,
    an iteration is compared with the next one of its window, which is farther from the border, where both are of one kind. The window at the
    begin of the run has no border: it is as long as to tell whether the others settle where a run all in the fine model does."""

    def __init__(self, runs, parts):
        self.runs, self.parts, self.known, self.errors = runs, parts, {}, {}
        self.way = sequence.way_in  # how many iterations the window of a unit has before it
        self.fine = {}  # fine seconds of all iterations that were in windows
        self.pairs = []  # [(fine seconds by a window, by a run that begins in the fine model)] of iterations
        self.kinds = {} if slices.are(parts.base) else structure.kinds(parts.base)  # no slice is like another one
        self.firsts = [unit.first for unit in parts.base]

    def alike(self, number):
        """The unit's first iteration and the one after the unit, if both are, and come after one, of the same kind."""
        begin, end = self.parts.parts[number]
        same = {self.kinds.get(k) for k in (begin - 1, begin, end - 1, end)}
        return (begin, end) if len(same) == 1 and None not in same else None

    def twice(self, numbers):
        """Units of `numbers`, or of before, whose windows are to be simulated twice: evenly among them."""
        inner = sorted(k for k in {*self.known, *numbers} if 2 <= k < len(self.parts) - 2)
        inner = [] if self.stretches() else [k for k in inner if not self.alike(k)]
        number = min(len(inner), max(LEAST_BORDERS, len(inner) // 10)) - (not self.kinds)
        rest = [k for k in inner if k not in self.errors]
        more = max(0, number - sum(k in self.errors for k in inner))
        return [rest[(2 * i + 1) * len(rest) // (2 * more)] for i in range(more)]

    def stretches(self, number=0):
        """Iterations at the begin of the run, others that do the same and are farther on, and for each of these the window that they all are in. None where
        there are none. `number`: so many."""
        if not self.kinds:
            return None
        body = [unit for unit in self.parts.base if unit.repeats]
        number = number or self.runs.compared or min(max(len(body) // 50, COMPARED[0]), COMPARED[1])
        begin = body[SETTLED:SETTLED + number]
        way = SETTLED - sequence.BEFORE[0]
        kinds = [self.kinds.get(unit.number) for unit in body]
        for apart in range(number + APART, min(FARTHEST, len(body) - SETTLED - number)):
            if kinds[way:SETTLED + number] == kinds[way + apart:SETTLED + number + apart]:
                there = body[SETTLED + apart:SETTLED + apart + number]
                return begin, there, [self.around(there, sequence.BEFORE[0])] * number
        return None

    def around(self, stretch, before):
        """The first and the last mark of a window."""
        base = self.parts.base
        return base[max(0, stretch[0].number - before)].first, base[min(stretch[-1].number + sequence.AFTER, len(base) - 1)].last

    def measure(self, numbers):
        if not numbers:
            return {}
        way = self.way
        near = {k: self.parts.span(k, way(k), sequence.AFTER) for k in numbers}
        far = {k: self.parts.span(k, way(k) + FARTHER, sequence.AFTER + 1) for k in self.twice(numbers)}
        if not self.kinds and len(numbers) < len(self.parts):
            return self.measure_slices(numbers, near, far)
        both = self.stretches() if not self.known and len(numbers) < len(self.parts) else None
        looks = [self.around(both[0], both[0][0].number), *dict.fromkeys(both[2])] if both else []
        if looks:
            # Models may have several states that they stay in: the others find that of a run all in the fine model if the run begins there.
            self.runs.lead = looks[:1]
        dates = self.runs.windows([*near.values(), *looks], [*far.values()])
        self.compare(near, far, dates)
        for window in [*near.values(), *looks[:2]]:
            self.fine.update(self.iterations(window, dates[window]))
        self.within({k: dates[span] for k, span in near.items() if k not in self.errors})
        if both and 0 not in dates[looks[1]]:
            self.pairs = [(self.seconds(there, dates[window]) * self.longer(here, there), self.seconds(here, dates[looks[0]]))
                          for here, there, window in zip(*both)]
        return {k: self.known[k] for k in numbers}

    def compare(self, near, far, dates):
        """What windows show, and those that were simulated twice."""
        self.known.update({k: self.seconds(self.parts[k], dates[span]) for k, span in near.items()})
        for k, span in far.items():
            seconds = self.seconds(self.parts[k], dates[span])
            if seconds > 0:
                self.errors[k] = self.known[k] / seconds - 1

    def measure_slices(self, numbers, near, far):
        """Slices: the windows that are simulated a second time have a run of their own, which knows of its windows. One unit is looked at from the begin of the run on."""
        span = self.parts.span
        far = {k: span(k, sequence.way_in(k) + FARTHER_SLICES, sequence.AFTER) for k in far}
        if not self.errors:
            early = next(k for k, (begin, _) in enumerate(self.parts.parts) if begin >= len(self.parts.base) // EARLY)
            near[early], far[early] = span(early, sequence.way_in(early), sequence.AFTER), span(early, len(self.parts.base), sequence.AFTER)
        dates = self.runs.windows([*near.values()], [])
        self.compare(near, far, dates | {k: v for k, v in self.runs.mixed([*far.values()]).items()})
        return {k: self.known[k] for k in numbers}

    @staticmethod
    def seconds(unit, dates):
        return dates[unit.last] - dates[unit.first]

    def iterations(self, window, dates):
        """{number: fine seconds} of those in a window."""
        begin, end = (bisect_left(self.firsts, mark) for mark in window)
        return {unit.number: self.seconds(unit, dates) for unit in self.parts.base[begin:end] if unit.repeats and unit.last in dates and unit.first in dates}

    def longer(self, here, there):
        """How much longer one iteration takes than another one of its kind, by their times in the cheap model, or, where their bytes differ, by what all
        that were in windows say of bytes."""
        if here.work == there.work:
            return here.x / there.x if here.x > 0 and there.x > 0 else 1.0
        kind = self.kinds.get(here.number)
        same = [self.parts.base[k] for k in self.fine if self.kinds.get(k) == kind]
        a, b = estimate.line([unit.work for unit in same], [self.fine[unit.number] for unit in same])
        return (a + b * here.work) / (a + b * there.work) if a + b * here.work > 0 and a + b * there.work > 0 else 1.0

    def within(self, dates):
        """Errors of the first iterations of units, against the ones after the units; the others of a unit are taken to have none."""
        for k, of in dates.items():
            both = self.alike(k)
            if not both or self.known[k] <= 0:
                continue
            first, after = (self.parts.base[i] for i in both)
            if after.last in of and self.seconds(after, of) > 0:
                wrong = self.seconds(first, of) - self.seconds(after, of) * self.longer(first, after)
                self.errors[k] = wrong / self.known[k]

    def settled(self):
        """How far a window is from the begin of the run, where windows have no border, if that is more than chance makes it."""
        whole, rest = sum(there for _, there in self.pairs), [here - there for here, there in self.pairs]
        if len(rest) < 2 or whole <= 0:
            return 0.0
        usual = estimate.PRIOR * whole / len(rest)
        chance = math.sqrt(len(rest) * (TWICE * statistics.variance(rest) + usual**2))
        return sum(rest) / whole if abs(sum(rest)) > chance else 0.0

    def border(self):
        """The mean error, weighted by time, or the error against the begin of the run, whichever is more."""
        whole = sum(self.known[k] for k in self.errors)
        mean = sum(self.known[k] * error for k, error in self.errors.items()) / whole if whole > 0 else 0.0
        return max(mean, self.settled(), self.runs.aside.longer if self.runs.aside else 0.0, key=abs)
