#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The interval holds the truth as often as promised: 200 samples of each of the runs of populations.py, by their seeds."""
import statistics
import unittest

import populations
from pfsample import plan


class Coverage(unittest.TestCase):
    def check(self, name, count, share):
        units, y = populations.ALL[name](count, 1)
        hits, errors, shares = plan.coverage(units, y, 0.02, 0.15, range(200))
        self.assertGreaterEqual(hits, 0.93, name)
        self.assertLess(max(map(abs, errors)), 0.05, name)
        self.assertLess(abs(statistics.fmean(errors)), 0.002, f"{name}: the estimates lean to one side")
        self.assertLess(statistics.fmean(shares), share, name)

    def test_halo(self):
        self.check("halo", 300, 0.15)

    def test_cycle(self):
        self.check("cycle", 500, 0.15)

    def test_amr(self):
        self.check("amr", 1000, 0.15)

    def test_alltoallv(self):
        self.check("alltoallv", 1000, 0.15)

    def test_suite(self):
        """A kind of few units that have nothing in common, the largest of them a large part of the whole."""
        units, y = populations.suite(450, 1)
        hits, errors, _ = plan.coverage(units, y, 0.02, 0.25, range(200))
        self.assertGreaterEqual(hits, 0.93)
        self.assertLess(max(map(abs, errors)), 0.05)


if __name__ == "__main__":
    unittest.main()
