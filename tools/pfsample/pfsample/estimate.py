# SPDX-License-Identifier: BSD-3-Clause
"""The estimate of the whole run and its interval, from the fine times of the units of a plan."""
import math
import statistics
from dataclasses import dataclass, field

from . import student

LEAST_WIDTH = 2e-4  # of the estimate, where all units of all strata are known
# Iterations that are equal in the cheap model go round in cycles in a fine one, some longer by 1 to 3 %, and six that were drawn may show none of
# them. So the variance is that of the sample and of one more degree of freedom, with a standard deviation of so much of a unit.
BY_HEART = "by heart"  # the part that is remembered
PRIOR, PRIOR_FREEDOM = 0.02, 1


@dataclass
class Part:
    """What is known of one stratum."""
    name: str
    units: int
    drawn: int
    x: float
    ratio: float  # fine over cheap
    total: float
    variance: float
    freedom: float
    spread: float  # standard deviation of a unit about the ratio


@dataclass
class Estimate:
    total: float
    low: float
    high: float
    variance: float
    freedom: float
    border: float  # signed, s
    parts: list = field(default_factory=list)

    @property
    def by_heart(self):
        return any(part.name == BY_HEART for part in self.parts)

    @property
    def half(self):
        return (self.high - self.low) / 2


def of_stratum(stratum, drawn, y):
    """The local ratio, and the variance by successive differences of the residuals in the order of time: neighbours share what
    changes slowly, and where they do not the differences say so. Each zone stands for its units, all but the one that is known."""
    sizes = [end - begin for begin, end in stratum.zones]
    below = sum(size * unit.x for size, unit in zip(sizes, drawn))
    above = sum(size * y[unit.number] for size, unit in zip(sizes, drawn))
    ratio = above / below if below > 0 else 1.0
    rest = [y[unit.number] - ratio * unit.x for unit in drawn]
    count = len(rest)
    steps = sum((b - a)**2 for a, b in zip(rest, rest[1:]))
    square = steps / (2 * (count - 1)) if count > 1 else 0.0
    # Differences that share a residual are not independent: this many would be as good.
    freedom = 2 * (count - 1)**2 / (3 * count - 4) if count > 1 else 0.0
    usual = PRIOR * sum(y[unit.number] for unit in drawn) / count
    square = (freedom * square + PRIOR_FREEDOM * usual**2) / (freedom + PRIOR_FREEDOM)
    freedom += PRIOR_FREEDOM
    variance = max(square * sum(size * (size - 1) for size in sizes), by_size(stratum, sizes, drawn, y, ratio, freedom))
    return Part(stratum.name, len(stratum.units), count, stratum.x, ratio, ratio * stratum.x, variance, freedom, math.sqrt(square))


def by_size(stratum, sizes, drawn, y, ratio, freedom):
    """The variance if units err in proportion to x, as where their sizes differ widely: the few that were drawn may all be small."""
    wrong = [y[unit.number] / unit.x - ratio for unit in drawn if unit.x > 0]
    if len(wrong) < 2 or ratio <= 0:
        return 0.0
    steps = sum((b - a)**2 for a, b in zip(wrong, wrong[1:])) / (2 * (len(wrong) - 1))
    xs = [unit.x for unit in stratum.units]
    unlike = statistics.pvariance(xs) / statistics.fmean(xs)**2  # how much a unit says of others
    square = ((freedom - PRIOR_FREEDOM) * steps + PRIOR_FREEDOM * (PRIOR * ratio)**2 * (1 + unlike)) / freedom
    grown = stratum.x / sum(size * unit.x for size, unit in zip(sizes, drawn))
    seen = sum(((size - 1) * unit.x * grown)**2 for size, unit in zip(sizes, drawn))
    return square * (seen + sum(unit.x**2 for unit in stratum.units) - sum(unit.x**2 for unit in drawn))


def ratio_of(parts):
    x = sum(part.x for part in parts)
    return sum(part.total for part in parts) / x if x > 0 else 1.0


def of_plan(plan, y, border=0.0, confidence=0.95):
    """`y`: {unit's number: seconds in the fine model}; `border`: mean relative error of a window's unit. What is unseen may be as wrong as it
    is long."""
    known = sum(y[number] for number in plan.certain)
    parts = [of_stratum(stratum, stratum.drawn(), y) for stratum in plan.strata]
    unseen = ratio_of(parts) * sum(unit.x for unit in plan.unseen)
    total = known + sum(part.total for part in parts) + unseen
    variance = sum(part.variance for part in parts)
    weights = sum(part.variance**2 / part.freedom for part in parts)
    # Satterthwaite's, the degrees of freedom of a sum of variances.
    freedom = variance**2 / weights if weights > 0 else float(sum(part.drawn for part in parts) or 1)
    half = student.quantile(confidence, max(freedom, 1.0)) * math.sqrt(variance) + abs(border) * total + unseen
    half = max(half, LEAST_WIDTH * total)
    return Estimate(total, max(total - half, 0), total + half, variance, freedom, border * total, parts)


def of_units(plan, y, estimate):
    """{unit's number: seconds}, known or by the ratio of its stratum; they add up to the estimate."""
    result = {number: y[number] for number in plan.certain}
    result.update({unit.number: ratio_of(estimate.parts) * unit.x for unit in plan.unseen})
    for stratum, part in zip(plan.strata, estimate.parts):
        result.update({unit.number: part.ratio * unit.x for unit in stratum.units})
    return result
