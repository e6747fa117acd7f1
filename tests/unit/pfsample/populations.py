# SPDX-License-Identifier: BSD-3-Clause
"""Runs whose fine times are all known, made of arithmetic and a seed: what iterations of real programs look like."""
import math
import random

from pfsample.units import Unit, Units


def make(pairs, works=()):
    """Units and fine times of (x, y, kind, calls), with a set-up before and an output behind them. `works`: what they have to do, if not a call each."""
    rows = [(3.0, 3.9, "setup", 7), *pairs, (0.5, 0.8, "output", 3)]
    works = [7, *works, 3] if works else [row[3] for row in rows]
    units = [Unit(i, i, i + 1, x, kind, str(calls), 0 < i <= len(pairs), kind, work)
             for i, ((x, _, kind, calls), work) in enumerate(zip(rows, works))]
    return Units(units), {i: y for i, (_, y, _, _) in enumerate(rows)}


def halo(count, seed):
    """Exchanges with neighbours: all alike but for what the last digits do."""
    r = random.Random(seed)
    return make([(1 + 1e-6 * r.random(), 1.083 * (1 + 0.004 * r.gauss(0, 1)), "halo", 40) for _ in range(count)])


def amr(count, seed):
    """A mesh that is refined now and then, with a large reduction in every tenth step, right in one model and not in the other."""
    r, rows, size = random.Random(seed), [], 1.0
    for i in range(count):
        if i % 150 == 149:
            size *= r.uniform(0.8, 1.4)
        x = size * (1 + 0.02 * r.random())
        large = i % 10 == 9
        y = 1.08 * x * (1 + 0.01 * r.gauss(0, 1)) + (6.4 * (1 + 0.02 * r.gauss(0, 1)) if large else 0)
        rows.append((x + (5.0 if large else 0), y, "reduce" if large else "step", 50 if large else 40))
    return make(rows)


def alltoallv(count, seed):
    """Random volumes: hardly two units alike, and a ratio of the models that drifts, because the contention does."""
    r, rows, drift = random.Random(seed), [], 0.0
    for i in range(count):
        drift = 0.95 * drift + 0.012 * r.gauss(0, 1)
        x = math.exp(0.3 * r.gauss(0, 1))
        rows.append((x, x * (1.25 + drift) * (1 + 0.01 * r.gauss(0, 1)), f"random {i}", 16))
    return make(rows)


def solves(count, seed):
    """Iterations of a solver, of two markers each, and a step in time after some hundred of them, of three markers, that the models see differently."""
    r, units, y, marker, left = random.Random(seed), [Unit(0, 0, 1, 3.0, "setup", "7", False, "setup", 7)], {0: 3.9}, 1, 90
    for number in range(1, count):
        left -= 1
        step = left == 0
        kind, x, markers, ratio = ("step", 1.4, 3, 1.3) if step else ("iteration", 1.0, 2, 1.05)
        left = r.randint(80, 200) if step else left
        units.append(Unit(number, marker, marker + markers, x * (1 + 1e-4 * r.random()), kind, kind, True, "any", 40))
        y[number] = units[-1].x * ratio * (1 + 0.01 * r.gauss(0, 1))
        marker += markers
    return Units(units), y


def volumes(count, seed):
    """Random volumes, how many of which there are changes now and then. The cheap model does not know what they do to each other in the fine one."""
    r, rows, works, heat = random.Random(seed), [], [], 1.0
    for i in range(count):
        heat = r.choice((0.6, 1.0, 1.4)) if i % 25 == 0 else heat
        works.append(60 * heat * math.exp(0.1 * r.gauss(0, 1)))
        x = (0.7 + 0.3 * works[-1] / 60) * (1 + 0.08 * r.gauss(0, 1))
        rows.append((x, (0.1 + 0.9 * works[-1] / 60) * (1 + 0.12 * r.gauss(0, 1)), f"random {i}", 16))
    return make(rows, works)


def meshes(count, seed):
    """A mesh that is refined now and then, by whose size the fine model is later and later, and each size has an error of its own."""
    r, rows, works = random.Random(seed), [], []
    for i in range(count):
        if i % 150 == 0:
            size, own = r.uniform(0.5, 1.5), 1 + 0.01 * r.gauss(0, 1)
        x = (0.4 + 0.6 * size) * (1 + 0.005 * r.random())
        works.append(40 + 30 * size)
        rows.append((x, (0.3 + 0.8 * size) * own * (1 + 0.01 * r.gauss(0, 1)), f"mesh {int(size > 1)}", 40))
    return make(rows, works)


def cycle(count, seed):
    """Equal iterations that go round in a cycle of four in the fine model, as those of an exchange with neighbours do."""
    return make([(24.73, (25.82, 25.79, 26.30, 25.86)[(i + seed) % 4], "halo", 40) for i in range(count)])


def suite(count, seed):
    """A suite of measurements: many that are alike, and every tenth another one, a few of which take most of the time, and go wrong the more."""
    r, rows = random.Random(seed), []
    for i in range(count):
        x = math.exp(1.8 * r.gauss(0, 1)) if i % 10 == 9 else 0.1
        rows.append((x, x * (1 + 0.01 * r.gauss(0, 1) + 0.02 * math.log1p(x)), f"odd {i}" if i % 10 == 9 else "even", 30 + i if i % 10 == 9 else 16))
    return make(rows)


ALL = {"cycle": cycle, "halo": halo, "amr": amr, "alltoallv": alltoallv, "suite": suite, "volumes": volumes, "meshes": meshes}
