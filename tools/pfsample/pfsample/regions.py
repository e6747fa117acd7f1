# SPDX-License-Identifier: BSD-3-Clause
"""Fine times of units by sampled regions around them, and how wrong regions are at their borders."""
import math
import statistics
from bisect import bisect_left

from . import estimate, plan, thresholds
from . import units as structure



class Regions:
    """Fine times of units, and the error at the border. Within a region, the first iteration of a unit is compared with the one behind the unit, if all are
    of one kind. A region at the begin of the run has no border: a stretch of it is compared with an equal one in a region farther on."""

    def __init__(self, runs, parts):
        self.runs, self.parts, self.known, self.errors = runs, parts, {}, {}
        self.way = plan.way_in  # iterations that the region of a unit has before it
        self.fine = {}  # fine seconds of all iterations that were in regions
        self.pairs = []  # [(fine seconds in a region, in a run that begins in the fine model)] of iterations
        self.kinds = structure.kinds(parts.base)
        self.firsts = [unit.first for unit in parts.base]

    def alike(self, number):
        """The unit's first iteration and the one after the unit, if both are, and come after one, of the same kind."""
        begin, end = self.parts.parts[number]
        same = {self.kinds.get(k) for k in (begin - 1, begin, end - 1, end)}
        return (self.parts.base[begin], self.parts.base[end]) if len(same) == 1 and None not in same else None

    def stretches(self):
        """Iterations near the begin of the run, and others farther on that do the same; None where there are none."""
        body = [unit for unit in self.parts.base if unit.repeats]
        number = self.runs.compared or min(max(len(body) // 50, thresholds.COMPARED[0]), thresholds.COMPARED[1])
        begin, end = thresholds.SETTLED - thresholds.ITERATIONS_BEFORE[0], thresholds.SETTLED + number
        kinds = [self.kinds.get(unit.number) for unit in body]
        for apart in range(number + thresholds.COMPARED_APART, min(thresholds.COMPARED_WITHIN, len(body) - end)):
            if kinds[begin:end] == kinds[begin + apart:end + apart]:
                return body[thresholds.SETTLED:end], body[thresholds.SETTLED + apart:end + apart]
        return None

    def around(self, both):
        """The regions, as (first, last marker), of such stretches: one from the begin of the run on, one with the usual way in."""
        base, (here, there) = self.parts.base, both
        ends = [base[min(stretch[-1].number + thresholds.ITERATIONS_AFTER, len(base) - 1)].last for stretch in both]
        return (base[0].first, ends[0]), (base[max(0, there[0].number - thresholds.ITERATIONS_BEFORE[0])].first, ends[1])

    def measure(self, numbers):
        """{number: fine seconds} of units, by mixed runs for those that no region shows yet."""
        if not numbers:
            return {}
        near = {k: self.parts.span(k, self.way(k), thresholds.ITERATIONS_AFTER) for k in numbers}
        both = self.stretches() if not self.known and len(numbers) < len(self.parts) else None
        looks = self.around(both) if both else ()
        # A model may have several states that it stays in: regions find that of a run all in the fine model if each mixed run begins there.
        self.runs.lead = [*looks[:1]] or self.runs.lead
        dates = self.runs.regions([*near.values(), *looks])
        self.known |= {k: self.seconds(self.parts[k], dates[span]) for k, span in near.items()}
        for region in [*near.values(), *looks]:
            self.fine |= self.iterations(region, dates[region])
        self.errors |= self.within({k: dates[span] for k, span in near.items()})
        if both and 0 not in dates[looks[1]]:
            self.pairs = [(self.seconds(there, dates[looks[1]]) * self.longer(here, there), self.seconds(here, dates[looks[0]])) for here, there in zip(*both)]
        return {k: self.known[k] for k in numbers}

    @staticmethod
    def seconds(unit, dates):
        return dates[unit.last] - dates[unit.first]

    def iterations(self, region, dates):
        """{number: fine seconds} of those in a region."""
        begin, end = (bisect_left(self.firsts, marker) for marker in region)
        return {unit.number: self.seconds(unit, dates) for unit in self.parts.base[begin:end] if unit.repeats and unit.last in dates and unit.first in dates}

    def longer(self, here, there):
        """The ratio of two iterations of one kind: by their times in the cheap model, or, where their bytes differ, by bytes in all regions."""
        if here.work == there.work:
            return here.x / there.x if here.x > 0 and there.x > 0 else 1.0
        same = [self.parts.base[k] for k in self.fine if self.kinds.get(k) == self.kinds.get(here.number)]
        a, b = estimate.line([unit.work for unit in same], [self.fine[unit.number] for unit in same])
        return (a + b * here.work) / (a + b * there.work) if a + b * here.work > 0 and a + b * there.work > 0 else 1.0

    def within(self, dates):
        """{number: error} of units by their first iterations; the others of a unit are taken to have none."""
        result = {}
        for k, of in dates.items():
            first, after = self.alike(k) or (None, None)
            if first and self.known[k] > 0 and after.last in of and self.seconds(after, of) > 0:
                result[k] = (self.seconds(first, of) - self.seconds(after, of) * self.longer(first, after)) / self.known[k]
        return result

    def settled(self):
        """The error against a run that begins in the fine model, if that is more than chance makes it."""
        whole, rest = sum(there for _, there in self.pairs), [here - there for here, there in self.pairs]
        if len(rest) < 2 or whole <= 0:
            return 0.0
        usual = thresholds.PRIOR * whole / len(rest)
        chance = math.sqrt(len(rest) * (thresholds.CHANCE * statistics.variance(rest) + usual**2))
        return sum(rest) / whole if abs(sum(rest)) > chance else 0.0

    def border(self):
        """The mean error, weighted by time, or the error against the begin of the run, whichever is more; where neither is known, a usual one."""
        if not self.errors and not self.pairs:
            return thresholds.PRIOR
        whole = sum(self.known[k] for k in self.errors)
        mean = sum(self.known[k] * error for k, error in self.errors.items()) / whole if whole > 0 else 0.0
        return max(mean, self.settled(), key=abs)
