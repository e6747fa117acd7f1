# SPDX-License-Identifier: BSD-3-Clause
"""Fine times of units by windows around them, and how wrong windows are at their borders."""
from . import sequence
from . import units as structure

LEAST_BORDERS = 2  # windows that are simulated once more with a longer way in and out
FARTHER = 4  # iterations that the longer way in has more
LONELY = 0.05  # of the time, above which units that no iteration of their kind follows have a mixed run of their own for their borders


class Windows:
    """Fine times of units. A tenth of the windows is simulated once more with a longer way in and out. Mixed runs cannot do both at once: there,
    an iteration is compared with the next one of its window, which is farther from the border, where both are of one kind."""

    def __init__(self, runs, parts):
        self.runs, self.parts, self.known, self.errors = runs, parts, {}, {}
        self.kinds = structure.kinds(parts.base)

    def alike(self, number):
        """The unit's first iteration and the one after the unit, if they are of one kind."""
        begin, end = self.parts.parts[number]
        kind = self.kinds.get(begin)
        return (begin, end) if kind is not None and end < len(self.parts.base) and self.kinds.get(end) == kind else None

    def lonely(self):
        """Whether much of the time is in units that no iteration of their kind follows."""
        body = [unit for unit in self.parts if unit.repeats]
        return sum(unit.x for unit in body if not self.alike(unit.number)) > LONELY * sum(unit.x for unit in body)

    def twice(self, numbers):
        """Units of `numbers`, or of before, whose windows are to be simulated twice: evenly among them."""
        inner = sorted(k for k in {*self.known, *numbers} if 2 <= k < len(self.parts) - 2)
        if self.runs.by == "run":
            inner = [k for k in inner if not self.alike(k)] if self.lonely() else []
        number = min(len(inner), max(LEAST_BORDERS, len(inner) // 10))
        rest = [k for k in inner if k not in self.errors]
        more = max(0, number - sum(k in self.errors for k in inner))
        return [rest[(2 * i + 1) * len(rest) // (2 * more)] for i in range(more)]

    def measure(self, numbers):
        if not numbers:
            return {}
        near = {k: (k, sequence.way_in(k), sequence.AFTER) for k in numbers}
        far = {k: (k, sequence.way_in(k) + FARTHER, sequence.AFTER + 1) for k in self.twice(numbers)}
        dates = self.runs.windows(self.parts, [*near.values()], [*far.values()])
        self.known.update({k: self.seconds(self.parts[k], dates[one]) for k, one in near.items()})
        for k, one in far.items():
            seconds = self.seconds(self.parts[k], dates[one])
            if seconds > 0:
                self.errors[k] = self.known[k] / seconds - 1
        if self.runs.by == "run":
            self.within({k: dates[one] for k, one in near.items() if k not in self.errors})
        return {k: self.known[k] for k in numbers}

    @staticmethod
    def seconds(unit, dates):
        return dates[unit.last] - dates[unit.first]

    def within(self, dates):
        """Errors of the first iterations of units, against the ones after the units; the others of a unit are taken to have none."""
        for k, of in dates.items():
            both = self.alike(k)
            if not both or self.known[k] <= 0:
                continue
            first, after = (self.parts.base[i] for i in both)
            if first.x > 0 and after.x > 0 and after.last in of and self.seconds(after, of) > 0:
                wrong = self.seconds(first, of) - self.seconds(after, of) * first.x / after.x
                self.errors[k] = wrong / self.known[k]

    def border(self):
        """The mean error, weighted by time."""
        whole = sum(self.known[k] for k in self.errors)
        return sum(self.known[k] * error for k, error in self.errors.items()) / whole if whole > 0 else 0.0
