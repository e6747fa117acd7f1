#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Quantiles against the published table; plans and estimates on runs whose answer is known."""
import unittest

import populations
from pfsample import estimate, plan, thresholds


class Student(unittest.TestCase):
    def test_table(self):
        """NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, two-sided."""
        for confidence, freedom, t in ((0.95, 1, 12.706), (0.95, 2, 4.303), (0.95, 5, 2.571), (0.95, 10, 2.228), (0.95, 30, 2.042),
                                       (0.95, 100, 1.984), (0.99, 3, 5.841), (0.99, 20, 2.845), (0.90, 7, 1.895)):
            self.assertAlmostEqual(estimate.quantile(confidence, freedom), t, delta=0.0006)

    def test_between(self):
        """Broken degrees of freedom lie between whole ones, and many are the normal distribution."""
        self.assertTrue(estimate.quantile(0.95, 4) < estimate.quantile(0.95, 3.57) < estimate.quantile(0.95, 3))
        self.assertAlmostEqual(estimate.quantile(0.95, 1e6), 1.95997, delta=1e-4)


class Plans(unittest.TestCase):
    def test_certain(self):
        units, _ = populations.amr(600, 1)
        made = plan.make(units, 7)
        for number in (0, 1, 2, 600, 601):  # set-up, the first two iterations, the last, the output
            self.assertIn(number, made.certain)
        kinds = [{unit.kind for unit in stratum.units} for stratum in made.strata]
        self.assertTrue(all(len(kind) == 1 for kind in kinds), kinds)
        self.assertTrue(all(len(stratum.zones) == thresholds.LEAST_DRAWN for stratum in made.strata))

    def test_rare_and_large(self):
        rows = [(1.0, 1.1, "step", 4)] * 400
        rows[100], rows[200] = (1.0, 1.3, "checkpoint", 9), (90.0, 99.0, "step", 4)
        units, _ = populations.make(rows)
        certain = plan.make(units, 1).certain
        self.assertIn("rare", certain[101])
        self.assertEqual(certain[201], "large")
        self.assertEqual(certain[102], "after a change of kind")

    def test_seed(self):
        units, _ = populations.alltoallv(500, 1)
        self.assertEqual(plan.make(units, 5).wanted(), plan.make(units, 5).wanted())
        self.assertNotEqual(plan.make(units, 5).wanted(), plan.make(units, 6).wanted())

    def test_growth_keeps(self):
        """What was simulated stays in the sample, and the stratum that varies gets most of what is new."""
        units, _ = populations.amr(3000, 1)
        made = plan.make(units, 5)
        before = set(made.wanted())
        spread = [0.0] * len(made.strata)
        spread[1] = 1.0
        plan.grow(made, 30, spread)
        self.assertLessEqual(before, set(made.wanted()))
        self.assertGreaterEqual(len(made.strata[1].zones), thresholds.LEAST_DRAWN + 30)
        for stratum in made.strata:
            self.assertEqual([k for begin, end in stratum.zones for k in range(begin, end)], list(range(len(stratum.units))))
            self.assertTrue(all(unit in stratum.units[begin:end] for (begin, end), unit in zip(stratum.zones, stratum.drawn())))


class Estimates(unittest.TestCase):
    def test_proportional(self):
        """Where fine is a multiple of cheap the estimate is exact, and its interval has a width all the same."""
        units, _ = populations.halo(300, 1)
        y = {unit.number: 1.25 * unit.x for unit in units}
        found = estimate.of_plan(plan.make(units, 1), y)
        self.assertAlmostEqual(found.total, sum(y.values()), places=9)
        self.assertGreater(found.half, 0)
        self.assertTrue(found.low < found.total < found.high)
        self.assertAlmostEqual(sum(estimate.of_units(plan.make(units, 1), y, found).values()), found.total, places=9)

    def test_border_widens(self):
        units, y = populations.halo(300, 1)
        narrow, wide = (estimate.of_plan(plan.make(units, 1), y, border) for border in (0.0, -0.01))
        self.assertAlmostEqual(wide.half - narrow.half, 0.01 * wide.total, places=9)
        self.assertLess(wide.border, 0)

    def test_all_known(self):
        """A stratum of which every unit was simulated adds nothing to the variance."""
        units, y = populations.alltoallv(60, 3)
        made = plan.make(units, 1)
        for stratum in made.strata:
            stratum.cut(len(stratum.units))
        found = estimate.of_plan(made, y)
        self.assertEqual(found.variance, 0)
        self.assertAlmostEqual(found.total, sum(y.values()), places=9)

    def test_budget_ends(self):
        units, y = populations.alltoallv(1000, 1)
        made, known, found = plan.run(units, lambda numbers: {k: y[k] for k in numbers}, 1e-4, 0.12, 1)
        self.assertLessEqual(plan.cost(units, made.wanted()), 0.12)
        self.assertGreater(found.half, 1e-4 * found.total)
        self.assertEqual(set(known), set(made.wanted()))


if __name__ == "__main__":
    unittest.main()
