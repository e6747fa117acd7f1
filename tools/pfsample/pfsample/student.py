# SPDX-License-Identifier: BSD-3-Clause
"""Quantiles of Student's t for any degrees of freedom, also broken ones, as Satterthwaite's are."""
import math


def fraction(a, b, x):
    """The continued fraction of the incomplete beta function, by Lentz's method (Abramowitz and Stegun 26.5.8)."""
    tiny = 1e-300
    c, d = 1.0, 1 / max(1 - (a + b) * x / (a + 1), tiny)
    result = d
    for m in range(1, 500):
        for term in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / (1 + term * d or tiny)
            c = 1 + term / c or tiny
            result *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return result


def beta(a, b, x):
    """The regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    return front * fraction(a, b, x) / a if x < (a + 1) / (a + b + 2) else 1 - front * fraction(b, a, 1 - x) / b


def tail(t, freedom):
    """How often |T| exceeds t >= 0."""
    return beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def quantile(confidence, freedom):
    """The t that |T| exceeds with probability 1 - confidence."""
    high = 1.0
    while tail(high, freedom) > 1 - confidence:
        high *= 2
    low = 0.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle, freedom) > 1 - confidence else (low, middle)
    return high
