# SPDX-License-Identifier: BSD-3-Clause
"""The estimate of the whole run and its interval, from the fine times of the units of a plan."""
import math
import statistics
from dataclasses import dataclass, field

from . import student

LEAST_WIDTH = 2e-4  # of the estimate, where all units of all strata are known
# Iterations that are equal in the cheap model go round in cycles in a fine one, some longer by 1 to 3 %, and six that were drawn may show none of
# them. So the variance is that of the sample and of one more degree of freedom, with a standard deviation of so much of a unit.
PRIOR, PRIOR_FREEDOM = 0.02, 1
COLUMNS = ((lambda unit: unit.work,), (lambda unit: unit.x, lambda unit: unit.work))  # what y may be told by, besides its ratio to x
ENOUGH = 7  # more units than coefficients
CLEARLY = 0.7  # of the variance: the choice itself is made by chance, too


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
    def half(self):
        return (self.high - self.low) / 2


def line(works, values):
    """(a, b) of values = a + b work by least squares: more bytes take longer."""
    work, value = statistics.fmean(works), statistics.fmean(values)
    below = sum((w - work)**2 for w in works)
    slope = sum((w - work) * (v - value) for w, v in zip(works, values)) / below if below > 0 else 0.0
    return value - slope * work, slope


def of_stratum(stratum, drawn, y):
    """By the local ratio, or by what x and bytes say together where that leaves clearly less, and enough units tell it."""
    ratio = by_ratio(stratum, drawn, y)
    found = [part for part in (by_regression(stratum, drawn, y, columns) for columns in COLUMNS) if part]
    best = min(found, key=lambda part: part.variance, default=ratio)
    return best if best.variance < CLEARLY * ratio.variance else ratio


def with_prior(square, freedom, usual):
    return (freedom * square + PRIOR_FREEDOM * usual**2) / (freedom + PRIOR_FREEDOM)


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
    changes slowly, and where they do not the differences say so. Each zone stands for its units, all but the one that is known."""
    sizes = [end - begin for begin, end in stratum.zones]
    below = sum(size * unit.x for size, unit in zip(sizes, drawn))
    above = sum(size * y[unit.number] for size, unit in zip(sizes, drawn))
    ratio = above / below if below > 0 else 1.0
    count = len(drawn)
    square, freedom = successive([y[unit.number] - ratio * unit.x for unit in drawn], 1)
    square = with_prior(square, freedom, PRIOR * sum(y[unit.number] for unit in drawn) / count)
    freedom += PRIOR_FREEDOM
    variance = max(square * sum(size * (size - 1) for size in sizes), by_size(stratum, sizes, drawn, y, ratio, freedom))
    return Part(stratum.name, len(stratum.units), count, stratum.x, ratio, ratio * stratum.x, variance, freedom, math.sqrt(square))


def solve(matrix, right):
    """Of symmetric equations; None where they hardly differ."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for i in range(size):
        if rows[i][i] <= 1e-9 * matrix[i][i]:
            return None
        for k in range(i + 1, size):
            factor = rows[k][i] / rows[i][i]
            rows[k] = [b - factor * a for a, b in zip(rows[i], rows[k])]
    result = [0.0] * size
    for i in reversed(range(size)):
        result[i] = (rows[i][size] - sum(rows[i][k] * result[k] for k in range(i + 1, size))) / rows[i][i]
    return result


def by_regression(stratum, drawn, y, columns):
    """The generalised regression estimator [1, 6.4]: y by a constant and what is known of all units. None where too few units tell it, or they are
    all alike. It is a sum of fine times with weights, whose variance counts what the coefficients are wrong by as well."""
    count, sizes = len(drawn), [end - begin for begin, end in stratum.zones]
    if count < len(columns) + 1 + ENOUGH or stratum.x <= 0:
        return None
    scales = [statistics.fmean(column(unit) for unit in stratum.units) or 1.0 for column in columns]

    def values(unit):
        return [1.0, *(column(unit) / scale - 1 for column, scale in zip(columns, scales))]

    rows, times = [values(unit) for unit in drawn], [y[unit.number] for unit in drawn]
    matrix = [[sum(size * row[i] * row[k] for size, row in zip(sizes, rows)) for k in range(len(rows[0]))] for i in range(len(rows[0]))]
    totals = [float(len(stratum.units))] + [0.0] * len(columns)  # of values() over all units
    spread = solve(matrix, totals)
    if not spread:
        return None
    weights = [size * sum(a * b for a, b in zip(row, spread)) for size, row in zip(sizes, rows)]
    fitted = solve(matrix, [sum(size * row[i] * time for size, row, time in zip(sizes, rows, times)) for i in range(len(totals))])
    total = math.fsum(weight * time for weight, time in zip(weights, times))
    if total <= 0:
        return None
    rest = [time - sum(a * b for a, b in zip(row, fitted)) for row, time in zip(rows, times)]
    square, freedom = successive(rest, len(rows[0]))
    square = with_prior(square, freedom, PRIOR * math.fsum(times) / count)
    variance = square * (sum((weight - 1)**2 for weight in weights) + len(stratum.units) - count)
    return Part(stratum.name, len(stratum.units), count, stratum.x, total / stratum.x, total, variance, freedom + PRIOR_FREEDOM, math.sqrt(square))


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
