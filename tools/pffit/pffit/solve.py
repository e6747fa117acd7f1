# SPDX-License-Identifier: BSD-3-Clause
"""Least squares on logarithms, robust: cells that are far off count less (Huber), and a weak pull to the values at the start keeps what the
cells do not determine."""
import math

FAR = 0.25  # residuals (natural logarithm) beyond this count linearly
PULL = 2.0  # standard deviation (natural logarithm) of the values at the start
STEP = 0.15  # of a difference quotient
LARGEST = 1.0  # change of a logarithm in one round


def inverse(matrix):
    n = len(matrix)
    rows = [list(row) + [float(i == j) for j in range(n)] for i, row in enumerate(matrix)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(n):
            if r != i:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i])]
    return [row[n:] for row in rows]


def loss(residuals):
    return sum(r * r if abs(r) <= FAR else FAR * (2 * abs(r) - FAR) for r in residuals)


def step(residuals, jacobian, moved, use):
    """The change of the parameters (logarithms) by the cells in `use`, and its standard errors. `moved`: how far they are from the start."""
    n = len(moved)
    weights = [min(1, FAR / abs(r)) if r else 1 for r in residuals]
    normal = [[sum(weights[c] * jacobian[a][c] * jacobian[b][c] for c in use) for b in range(n)] for a in range(n)]
    right = [sum(weights[c] * jacobian[a][c] * residuals[c] for c in use) for a in range(n)]
    variance = loss([residuals[c] for c in use]) / max(1, len(use) - n)
    for a in range(n):
        normal[a][a] += variance / PULL**2 + 1e-12
        right[a] -= variance / PULL**2 * moved[a]
    solved = inverse(normal)
    change = [max(-LARGEST, min(LARGEST, sum(solved[a][b] * right[b] for b in range(n)))) for a in range(n)]
    return change, [math.sqrt(variance * solved[a][a]) for a in range(n)]


class Fit:
    """`simulate`: from values of parameters to times. Values and times are positive."""

    def __init__(self, measured, start, simulate, progress=lambda text: None):
        self.measured, self.start, self.simulate, self.progress = measured, list(start), simulate, progress
        self.values, self.errors, self.jacobian, self.residuals = list(start), [math.inf] * len(start), [], []

    def off(self, times):
        return [math.log(m / t) for m, t in zip(self.measured, times)]

    def differences(self):
        self.jacobian = []
        for k, value in enumerate(self.values):
            other = self.values[:k] + [value * math.exp(STEP)] + self.values[k + 1:]
            self.jacobian.append([(a - b) / STEP for a, b in zip(self.residuals, self.off(self.simulate(other)))])

    def moved(self):
        return [math.log(v / s) for v, s in zip(self.values, self.start)]

    def changed(self, use):
        change, errors = step(self.residuals, self.jacobian, self.moved(), use)
        return [v * math.exp(c) for v, c in zip(self.values, change)], errors

    def solve(self, rounds=6):
        everything = range(len(self.measured))
        self.residuals = self.off(self.simulate(self.values))
        for number in range(rounds):
            self.differences()
            values, self.errors = self.changed(everything)
            residuals = self.off(self.simulate(values))
            before, after = loss(self.residuals), loss(residuals)
            self.progress(f"round {number + 1}: {math.exp(math.sqrt(min(before, after) / len(everything))):.3f}")
            if after >= before:
                return
            self.values, self.residuals = values, residuals
            if after > 0.99 * before:
                break
        self.differences()
        self.errors = self.changed(everything)[1]

    def without(self, left_out):
        """Residuals of cells in a fit that has not seen them: one more step from the fit without them, and a run."""
        gone = set(left_out)
        values, _ = self.changed([c for c in range(len(self.measured)) if c not in gone])
        residuals = self.off(self.simulate(values))
        return [residuals[c] for c in left_out]
