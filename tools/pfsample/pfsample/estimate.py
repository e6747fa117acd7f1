# SPDX-License-Identifier: BSD-3-Clause
"""The estimate of the whole run and its interval, from the fine times of the units of a plan."""
import math
import statistics
from dataclasses import dataclass, field

from . import thresholds

# Iterations that are equal in the cheap model go round in cycles in a fine one, some longer by 1 to 3 %, and six that were drawn may show none of
# them. So the variance is that of the sample and of one more degree of freedom, with a standard deviation of so much of a unit.


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
    half: float  # of the interval's width
    variance: float
    border: float  # signed, s
    parts: list = field(default_factory=list)


def quantile(confidence, freedom):
    """Student's t for any degrees of freedom from 1 on, also broken ones, as Satterthwaite's are. With t = sqrt(freedom) tan(angle) the distribution is an
    integral of cos(angle)^(freedom - 1), here by Simpson's rule, right within 3e-6 at 95 %; it is concave in t, so Newton's method comes from below."""
    scale, t, steps = 2 / math.sqrt(math.pi) * math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)), 1.0, 100
    for _ in range(100):
        angle = math.atan(t / math.sqrt(freedom))
        area = sum((1 if i in (0, steps) else 2 + 2 * (i % 2)) * math.cos(i * angle / steps)**(freedom - 1) for i in range(steps + 1)) * angle / steps / 3
        more = (confidence - scale * area) * math.sqrt(freedom) / (scale * math.cos(angle)**(freedom + 1))
        t += more
        if more < 1e-12 * t:
            break
    return t


def line(works, values):
    """(a, b) of values = a + b work by least squares: more bytes take longer."""
    work, value = statistics.fmean(works), statistics.fmean(values)
    below = sum((w - work)**2 for w in works)
    slope = sum((w - work) * (v - value) for w, v in zip(works, values)) / below if below > 0 else 0.0
    return value - slope * work, slope


def of_stratum(stratum, drawn, y):
    """By the local ratio, or by a regression where that leaves clearly less, and there are enough units."""
    ratio, other = by_ratio(stratum, drawn, y), by_regression(stratum, drawn, y)
    return other if other and other.variance < thresholds.CLEARLY_LESS * ratio.variance else ratio


def with_prior(square, freedom, usual):
    return (freedom * square + thresholds.PRIOR_FREEDOM * usual**2) / (freedom + thresholds.PRIOR_FREEDOM)


def successive(rest, used):
    """(variance, degrees of freedom) of residuals by successive differences, when `used` coefficients were fitted to them."""
    count = len(rest)
    if count < 2:
        return 0.0, 0.0
    steps = sum((b - a)**2 for a, b in zip(rest, rest[1:]))
    # Differences that share a residual are not independent: this many would be as good.
    freedom = 2 * (count - 1)**2 / (3 * count - 4) * (count - used) / (count - 1)
    return steps / (2 * (count - used)), freedom


def by_ratio(stratum, drawn, y):
    """The local ratio, and the variance by successive differences of the residuals in the order of time: neighbours share what
    changes slowly, and where they do not the differences show it. Each zone stands for its units, all but the one that is known."""
    sizes = [end - begin for begin, end in stratum.zones]
    below = sum(size * unit.x for size, unit in zip(sizes, drawn))
    above = sum(size * y[unit.number] for size, unit in zip(sizes, drawn))
    ratio = above / below if below > 0 else 1.0
    count = len(drawn)
    square, freedom = successive([y[unit.number] - ratio * unit.x for unit in drawn], 1)
    square = with_prior(square, freedom, thresholds.PRIOR * sum(y[unit.number] for unit in drawn) / count)
    freedom += thresholds.PRIOR_FREEDOM
    variance = max(square * sum(size * (size - 1) for size in sizes), by_size(stratum, sizes, drawn, y, ratio, freedom))
    return Part(stratum.name, len(stratum.units), count, stratum.x, ratio, ratio * stratum.x, variance, freedom, math.sqrt(square))


def by_regression(stratum, drawn, y):
    """The generalised regression estimator [1, 6.4]: y by a constant and the bytes, which are known of all units. None where there are too few units, or they
    are all alike. It is a sum of fine times with weights, whose variance counts the error of the coefficients as well."""
    count, sizes = len(drawn), [end - begin for begin, end in stratum.zones]
    mean = statistics.fmean(unit.work for unit in stratum.units)
    if count < thresholds.LEAST_REGRESSION or stratum.x <= 0 or mean <= 0:
        return None
    works, times = [unit.work / mean - 1 for unit in drawn], [y[unit.number] for unit in drawn]  # those of all units add up to zero
    whole, first, second = (sum(size * work**k for size, work in zip(sizes, works)) for k in range(3))
    determinant = whole * second - first**2
    if determinant <= 1e-9 * whole * second:
        return None
    weights = [size * len(stratum.units) * (second - first * work) / determinant for size, work in zip(sizes, works)]
    slope = sum(size * (whole * work - first) * time for size, work, time in zip(sizes, works, times)) / determinant
    total = math.fsum(weight * time for weight, time in zip(weights, times))
    if total <= 0:
        return None
    square, freedom = successive([time - total / len(stratum.units) - slope * work for work, time in zip(works, times)], 2)
    square = with_prior(square, freedom, thresholds.PRIOR * math.fsum(times) / count)
    variance = square * (sum((weight - 1)**2 for weight in weights) + len(stratum.units) - count)
    return Part(stratum.name, len(stratum.units), count, stratum.x, total / stratum.x, total, variance, freedom + thresholds.PRIOR_FREEDOM, math.sqrt(square))


def by_size(stratum, sizes, drawn, y, ratio, freedom):
    """The variance if units err in proportion to x, as where their sizes differ widely: the few that were drawn may all be small."""
    wrong = [y[unit.number] / unit.x - ratio for unit in drawn if unit.x > 0]
    if len(wrong) < 2 or ratio <= 0:
        return 0.0
    steps = sum((b - a)**2 for a, b in zip(wrong, wrong[1:])) / (2 * (len(wrong) - 1))
    xs = [unit.x for unit in stratum.units]
    unlike = statistics.pvariance(xs) / statistics.fmean(xs)**2  # how little a unit shows of others
    square = ((freedom - thresholds.PRIOR_FREEDOM) * steps + thresholds.PRIOR_FREEDOM * (thresholds.PRIOR * ratio)**2 * (1 + unlike)) / freedom
    grown = stratum.x / sum(size * unit.x for size, unit in zip(sizes, drawn))
    seen = sum(((size - 1) * unit.x * grown)**2 for size, unit in zip(sizes, drawn))
    return square * (seen + sum(unit.x**2 for unit in stratum.units) - sum(unit.x**2 for unit in drawn))


def ratio_of(parts):
    x = sum(part.x for part in parts)
    return sum(part.total for part in parts) / x if x > 0 else 1.0


def of_plan(plan, y, border=0.0, confidence=0.95):
    """`y`: {unit's number: seconds in the fine model}; `border`: mean relative error of a region's unit. What is unseen may be as wrong as it is long."""
    known = sum(y[number] for number in plan.certain)
    parts = [of_stratum(stratum, stratum.drawn(), y) for stratum in plan.strata]
    unseen = ratio_of(parts) * sum(unit.x for unit in plan.unseen)
    total = known + sum(part.total for part in parts) + unseen
    variance = sum(part.variance for part in parts)
    weights = sum(part.variance**2 / part.freedom for part in parts)
    # Satterthwaite's, the degrees of freedom of a sum of variances.
    freedom = variance**2 / weights if weights > 0 else float(sum(part.drawn for part in parts) or 1)
    half = quantile(confidence, max(freedom, 1.0)) * math.sqrt(variance) + abs(border) * total + unseen
    half = max(half, thresholds.LEAST_WIDTH * total)
    return Estimate(total, max(total - half, 0), total + half, half, variance, border * total, parts)


def of_units(plan, y, estimate):
    """{unit's number: seconds}, known or by the ratio of its stratum; they add up to the estimate."""
    result = {number: y[number] for number in plan.certain}
    result.update({unit.number: ratio_of(estimate.parts) * unit.x for unit in plan.unseen})
    for stratum, part in zip(plan.strata, estimate.parts):
        result.update({unit.number: part.ratio * unit.x for unit in stratum.units})
    return result
