#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Slices of time: how marks of them are made, how long units are, and how often intervals hold the truth of runs without structure."""
import os
import random
import tempfile
import unittest
from types import SimpleNamespace

from pfcurve.errors import Problem
from pfsample import files, sequence, slices, units
from pfsample.options import Options


def marks(number, ranks=4, each=100):
    """As a run leaves them: so many slices of a millisecond, `each` calls in one."""
    return files.Marks([units.Mark("start", "", 0.0, "", number * each, 0), units.Mark("end", "", number * 1e-3, "", 0, 0)], ranks=ranks,
                       slices=[((i + 1) * each, (i + 1) * 1000, (i + 0.9) * 1e-3) for i in range(number)])


class Slices(unittest.TestCase):
    def test_units_are_the_whole_run(self):
        with tempfile.TemporaryDirectory() as folder:
            known = marks(400)
            runs = SimpleNamespace(marks=known, held={}, path=lambda name: os.path.join(folder, name))
            parts, found = slices.cut(runs)
            with open(os.path.join(folder, "slices"), encoding="utf-8") as file:
                calls = [int(line) for line in file]
        self.assertEqual(found, "slices of 1 ms")
        self.assertEqual([len(parts), parts[0].first, parts[-1].last], [400, 0, 400])
        self.assertTrue(all(a.last == b.first and a.x > 0 for a, b in zip(parts, parts[1:])))
        self.assertAlmostEqual(sum(unit.x for unit in parts), 0.4)
        self.assertEqual(calls, [100 * i for i in range(1, 400)], "the last slice ends with the run")
        self.assertEqual(sum(mark.calls for mark in runs.marks.marks), 40000)
        self.assertEqual(sum(mark.bytes for mark in runs.marks.marks), 400000)
        self.assertEqual(runs.marks.at, "slices:" + os.path.join(folder, "slices"))
        self.assertTrue(slices.are(parts) and slices.are(units.grouped(parts, 7)))
        self.assertFalse(slices.are(units.from_marks([units.Mark("start", "", 0, "", 1, 1), *[units.Mark("phase", "x", i, "a", 1, 1) for i in range(1, 40)],
                                                      units.Mark("end", "", 40, "", 0, 0)])[0]))
        self.assertEqual(len(known.marks), 2, "what the program had stays")

    def test_each_has_calls_enough(self):
        """Of each rank some, so that a window settles in a few slices."""
        for ranks, each in ((4, 100), (64, 100), (64, 10)):
            number = len(slices.of(marks(4000, ranks, each))[0])
            self.assertLessEqual(number, 4000 * each / (slices.CALLS * ranks))
            self.assertGreater(number, min(4000, 4000 * each / (slices.CALLS * ranks)) * 0.9)

    def test_too_few(self):
        for known in (marks(400, ranks=4000), marks(50), files.Marks(marks(1).marks, ranks=4)):
            with self.assertRaisesRegex(Problem, "no structure to sample.*too few to cut it into slices"):
                slices.of(known)

    def test_units_fit_into_the_budget(self):
        for number in (200, 500, 1000, 4000):
            parts = slices.of(marks(number))[0]
            for budget, strict in ((0.1, False), (0.1, True), (0.5, True)):
                options = Options(budget=budget, strict=strict)
                share = sequence.least(sequence.grouped(parts, options)[0])
                if number >= 1000 or strict and number >= 500:
                    self.assertLess(share, budget)
        self.assertGreater(sequence.grouped(parts, Options())[1], 2 * sequence.grouped(slices.of(marks(1000))[0], Options())[1])

    def test_what_a_run_does_beside_its_windows(self):
        known = slices.of(marks(400))[2]
        dates = [mark.date for mark in known]
        later = [date + (0.003 if i > 100 else 0) for i, date in enumerate(dates)]  # inside the first window
        windows = [{i: later[i] for i in range(90, 110)}, {i: later[i] for i in range(390, 401)}]
        same = slices.aside(known, windows, 40000)
        self.assertEqual((same.calls, same.usual, same.depends), (40000, 40000, False))
        self.assertAlmostEqual(same.longer, 0)
        other = slices.aside(known, [{i: date + 0.04 for i, date in window.items()} for window in windows], 39990)
        self.assertTrue(other.depends)
        self.assertFalse(slices.aside(known, windows, 39999).depends)
        self.assertAlmostEqual(other.longer, 0.1)

    def test_busy_slices_are_a_kind_of_their_own(self):
        """Where a tenth of the time has half of the work, and the ratio is another one there."""
        known = marks(4000)
        calls = [0, *(slice_[0] + 9 * max(0, slice_[0] - 360000) for slice_ in known.slices)]
        known.slices = [(after, sent, date) for after, (_, sent, date) in zip(calls[1:], known.slices)]
        parts = slices.of(known)[0]
        grouped, _ = sequence.grouped(parts, Options())
        kinds = units.kinds(grouped)
        self.assertEqual({kinds[unit.number] for unit in grouped if unit.first > 3650}, {"busy slice"})
        self.assertEqual({kinds[unit.number] for unit in grouped if unit.last < 3600}, {"slice"})
        fine = {unit.number: sum(parts[k].x * (2 + 0.1 * (k % 7 - 3) if k > 3600 else 1) for k in range(*part)) for unit, part in zip(grouped, grouped.parts)}
        hits, errors, _ = sequence.coverage(grouped, fine, 0.02, 0.1, range(100))
        self.assertGreaterEqual(hits, 0.93)
        self.assertLess(max(map(abs, errors)), 0.02)
        self.assertEqual(len(set(units.kinds(sequence.grouped(slices.of(marks(4000))[0], Options())[0]).values())), 1)

    def test_coverage(self):
        """Fine times that drift, and wander within what is a step of the program; what is late in one slice is early in the next."""
        parts = slices.of(marks(1000))[0]
        wandering, late, y = random.Random(7), [0.0], {}
        for unit in parts:
            late.append(wandering.gauss(0, 0.03))
            step = 0.03 * ((unit.number // 13) % 3 - 1)
            y[unit.number] = unit.x * (1.1 + 0.2 * unit.number / len(parts) + step + late[-1] - late[-2])
        grouped, _ = sequence.grouped(parts, Options())
        fine = {unit.number: sum(y[k] for k in range(*part)) for unit, part in zip(grouped, grouped.parts)}
        hits, errors, shares = sequence.coverage(grouped, fine, 0.02, 0.1, range(200))
        self.assertGreaterEqual(hits, 0.93)
        self.assertLess(max(map(abs, errors)), 0.03)
        self.assertLess(max(shares), 0.12)


if __name__ == "__main__":
    unittest.main()
