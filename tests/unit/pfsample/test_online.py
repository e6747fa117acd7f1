#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Regions that are placed before it is known how long the program is."""
import dataclasses
import statistics
import unittest

import populations
from pfsample import estimate, online, regions, runs, thresholds, units

GOAL = 0.02


def of(base, size=2):
    """Regions after a begin of 60 iterations, behind a set-up of one unit."""
    return online.Online(base[:60], "auto", 3, size, 1, thresholds.ONLINE_SHARE, min(thresholds.ZONE_GROWTH * GOAL, thresholds.MOST_ZONE_GROWTH), ((0, 22), (31, 50)))


def plan(placed, parts, seed, end):
    """Of regions up to a unit."""
    return placed.plan(parts, [drawn for drawn in placed.elsewhere(parts, seed) if drawn[0] < parts.parts[end - 1][1]], lambda number: number < end)


def zones(placed, seed, count):
    result = []
    for end, drawn in placed.zones(seed):
        result.append((end, drawn))
        if end >= count:
            return result
    raise AssertionError("too few zones")


class Places(unittest.TestCase):
    def test_zones(self):
        """Zones follow one another, each with one unit in it, by the seed; they grow, so that few look at a long run."""
        base, _ = populations.halo(100, 1)
        placed = of(base)
        begin = placed.first
        for end, drawn in zones(placed, 1, 5000):
            self.assertTrue(begin <= drawn < end)
            begin = end
        self.assertGreaterEqual(begin, 5000)
        self.assertEqual(zones(placed, 1, 5000), zones(placed, 1, 5000))
        self.assertNotEqual(zones(placed, 1, 5000), zones(placed, 2, 5000))
        self.assertEqual(zones(placed, 1, 500), [zone for zone in zones(placed, 1, 5000) if zone[0] <= zones(placed, 1, 500)[-1][0]])
        self.assertLess(len(zones(placed, 1, 1_000_000)), 60)

    def test_regions_hold_units(self):
        """The region of a unit that is not known yet is that of the unit when all are known."""
        base, _ = populations.halo(1000, 1)
        placed, parts = of(base), units.grouped(base, 2)
        drawn = [number for _, number in zones(placed, 7, len(parts)) if number < len(parts) - 3]
        self.assertGreater(len(drawn), 6)
        for number in drawn:
            self.assertEqual(placed.unit(number, online.plan.way_in(number), thresholds.ITERATIONS_AFTER), parts.span(number, online.plan.way_in(number), thresholds.ITERATIONS_AFTER))

    def test_regular(self):
        halo, amr, suite = (populations.ALL[name](140, 1)[0] for name in ("halo", "amr", "suite"))
        of_volumes, of_meshes = (populations.ALL[name](290, 1)[0] for name in ("volumes", "meshes"))
        found = [online.regular(base) for base in (halo, amr, of_volumes, of_meshes)]
        self.assertEqual([(each.distance, each.step, each.level, each.usual) for each in found], [(1, 1, 0, ""), (10, 1, 0, ""), (1, 1, 1, ""), (1, 1, 1, "")])
        self.assertTrue(found[2].wide > 0.02 > found[3].wide, "bytes explain the times of meshes, not those of volumes")
        self.assertIsNone(online.regular(suite))

    def test_clean(self):
        """In a region and behind it, times are those of the begin, or of the nearest units of the same kind."""
        base, _ = populations.make([(1.0 if i < 500 else 3.0, 1.1, "step", 4) for i in range(1000)])
        wrong = [dataclasses.replace(unit, x=9.0) if unit.number < 22 or 300 <= unit.number < 307 or 700 <= unit.number < 710 else unit for unit in base]
        cleaned = of(base).clean(wrong, [(0, 22), (300, 305), (700, 707)])
        self.assertEqual([unit.x for unit in cleaned], [unit.x for unit in base])

    def test_clean_by_bytes(self):
        """Where no iteration has as many bytes, x is what the bytes suggest; where one has, it is the nearest one's."""
        rows = [(1.0 + 0.01 * (i % 97), 1.1, "step", 4) for i in range(1000)]
        base, _ = populations.make(rows, [40 + i % 97 for i in range(1000)])
        odd = [dataclasses.replace(unit, x=9.0, work=200.5) if unit.number == 303 else unit for unit in base]
        for before, expected in ((base, base[303].x), (odd, 1.0 + 0.01 * (200.5 - 40))):
            self.assertAlmostEqual(of(base).clean(before, [(300, 305)])[303].x, expected, places=9)


class Mixed(unittest.TestCase):
    def test_each_begins_in_the_fine_model(self):
        """A step whose regions are in a run of their own finds the state of a run all in the fine model as well: that run begins there, too."""
        base, y = populations.halo(400, 1)
        dates = {0: 0.0}
        for unit in base:
            dates[unit.last] = dates[unit.first] + y[unit.number]
        simulated, run = [], runs.Runs.__new__(runs.Runs)
        run.held, run.lead, run.compared = {}, [], 0
        run.measured = lambda wanted, spans: simulated.append(spans) or {span: dates for span in wanted}
        looked = regions.Regions(run, units.Units(base))
        looked.measure([100, 200, 300])
        looked.measure([150, 250])
        self.assertEqual([spans[0] for spans in simulated], [simulated[0][0]] * 2)
        self.assertEqual(simulated[0][0][0], 0)

    def test_by_bytes(self):
        """Where bytes differ, an iteration is compared with another one by fine times over bytes."""
        base, y = populations.make([(1.0, 1 + 0.01 * (i % 7), "step", 4) for i in range(400)], [10 + i % 7 for i in range(400)])
        looked = regions.Regions(runs.Runs.__new__(runs.Runs), units.Units(base))
        looked.fine = {k: y[k] for k in range(50, 100)}
        for here, there in ((30, 31), (120, 126)):
            self.assertAlmostEqual(looked.longer(base[here], base[there]), y[here] / y[there], places=12)

    def test_unknown_border(self):
        """Where no iterations are alike, the border has a usual error."""
        base, _ = populations.make([(1.0, 1.1, f"step {i}", 4 + i) for i in range(40)])
        self.assertEqual(regions.Regions(runs.Runs.__new__(runs.Runs), units.Units(base)).border(), thresholds.PRIOR)


class Estimates(unittest.TestCase):
    def check(self, name, count, size, width=1.0):
        base, y = populations.ALL[name](count, 1)
        parts = units.grouped(base, size)
        fine = {unit.number: sum(y[k] for k in range(*parts.parts[unit.number])) for unit in parts}
        truth, hits, errors, halves, placed = sum(fine.values()), 0, [], [], of(base, size)
        for seed in range(200):
            sample = plan(placed, parts, seed, len(parts) - 2)
            self.assertLessEqual({len(parts) - 2, len(parts) - 1}, {unit.number for unit in sample.unseen})
            found = estimate.of_plan(sample, fine)
            hits += found.low <= truth <= found.high
            errors.append(found.total / truth - 1)
            halves.append(found.half / found.total)
            if seed == 0:
                self.assertAlmostEqual(sum(estimate.of_units(sample, fine, found).values()) / found.total, 1, places=12)
        self.assertGreaterEqual(hits, 186, name)
        self.assertLess(abs(statistics.fmean(errors)), 0.002, f"{name}: the estimates lean to one side")
        self.assertLess(max(map(abs, errors)), 0.06, name)
        self.assertLess(statistics.fmean(halves), width, name)

    def test_coverage(self):
        for name, count, size in (("cycle", 500, 2), ("cycle", 5000, 2), ("halo", 1000, 2), ("amr", 3000, 10), ("alltoallv", 1000, 2)):
            self.check(name, count, size)

    def test_bytes_narrow_it(self):
        """Where the ratio to the cheap model shows little, bytes show more: by the ratio alone, the interval is 14 % wide."""
        self.check("volumes", 5000, 10, 0.04)

    def test_meshes(self):
        self.check("meshes", 5000, 10, 0.03)

    def test_breaks(self):
        """Where something comes between iterations now and then, markers are not where they were thought: units are what regions hold of iterations."""
        base, y = populations.solves(4000, 1)
        found = online.regular(base[:300])
        self.assertEqual((found.distance, found.step, found.level, found.usual), (1, 2, 0, "iteration"))
        placed = online.Online(base[:300], "auto", 3, 2, found.step, thresholds.ONLINE_SHARE, thresholds.ZONE_GROWTH * GOAL, ((0, 45), (60, 100)), usual=found.usual)
        hits, errors = 0, []
        for seed in range(200):
            held = [span for span in placed.spans(seed) if span[1] <= base[-2].last]

            def holds(span, held=held):
                return next((region for region in held if region[0] <= span[0] and span[1] <= region[1]), None)

            drawn = placed.found(base, seed, holds)
            parts = placed.parts(base, drawn)
            self.assertEqual([unit.number for unit in base], [k for begin, end in parts.parts for k in range(begin, end)])
            sample = placed.plan(parts, drawn, lambda number, parts=parts, holds=holds: holds(parts.span(number, 2, 1)))
            for stratum in sample.strata:
                for unit in stratum.drawn():
                    begin, end = parts.parts[unit.number]
                    self.assertTrue(holds(parts.span(unit.number, 2, 1)) and {base[k].kind for k in range(begin, end)} == {"iteration"})
            result = estimate.of_plan(sample, {unit.number: sum(y[k] for k in range(*parts.parts[unit.number])) for unit in parts})
            truth = sum(y.values())
            hits += result.low <= truth <= result.high
            errors.append(result.total / truth - 1)
        self.assertGreaterEqual(hits, 186)
        self.assertLess(max(map(abs, errors)), 0.02)

    def test_unseen_widens(self):
        base, y = populations.halo(1000, 1)
        parts = units.grouped(base, 1)
        placed = of(base, 1)
        all_seen, cut = (plan(placed, parts, 1, last) for last in (len(parts), len(parts) - 2))
        wide, narrow = estimate.of_plan(cut, y), estimate.of_plan(all_seen, y)
        self.assertGreater(wide.half, narrow.half + 0.9 * sum(unit.x for unit in cut.unseen))

    def test_nothing_drawn(self):
        base, _ = populations.halo(1000, 1)
        self.assertIsNone(plan(of(base), units.grouped(base, 2), 1, 9))


if __name__ == "__main__":
    unittest.main()
