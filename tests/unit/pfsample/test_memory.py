#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Iterations known by heart: the fine times of a machine that goes from state to state."""
import random
import unittest

import populations
from pfsample import ahead, memory, told
from pfsample.units import Mark

CYCLE = {"a": (1.1, "b"), "b": (1.2, "c"), "c": (1.1, "d"), "d": (1.3, "b")}  # comes from a to a cycle of three


class Machine:
    """Fine times, and windows on them: (0, 160), and others that begin in another state. `noise`: what states do not tell."""

    def __init__(self, count, seed, noise=0.0, table=None, kind=None):
        draw = random.Random(seed)
        kind = kind or (lambda i: "step")
        self.base, _ = populations.make([(1.0, 0.0, kind(i), 4) for i in range(count)])
        self.table = table or CYCLE
        self.noise = lambda: 1 + noise * draw.gauss(0, 1)
        self.truth = self.walk(0, len(self.base), "a")
        self.held, self.states = {}, {}
        self.window(0, 160, *self.truth)
        for begin in range(200, count - 20, 97):
            self.window(begin, begin + 7, *self.walk(begin, begin + 7, draw.choice("abcd")))

    def walk(self, begin, end, state):
        dates, states = {begin: 0.0}, {begin: state}
        for number in range(begin, end):
            seconds, after = self.table[state] if self.base[number].repeats else (0.8 if number else 3.9, state)
            if self.base[number].kind == "other":
                seconds *= 2
            dates[number + 1], states[number + 1] = dates[number] + seconds * self.noise(), after
            state = after
        return dates, states

    def window(self, begin, end, dates, states):
        self.held[begin, end] = {k: dates[k] for k in range(begin, end + 1)}
        self.states[begin, end] = {k: states[k] for k in range(begin, end + 1)}

    def run(self):
        return memory.run(self.base, self.held, self.states)

    def whole(self):
        return self.truth[0][len(self.base)]


class Told(unittest.TestCase):
    def test_continued(self):
        """What follows is what came a period before, with its marks."""
        base, _ = populations.amr(140, 1)
        base = base[:100]
        marks = [Mark("start" if k == 0 else "pcontrol", str(k % 10), 2.0 * k, str(k % 10), k % 10, 7 * (k % 10)) for k in range(120)]
        longer, after = told.continued(base, ahead.regular(base), marks, 1000)
        self.assertEqual([unit.number for unit in longer], list(range(1001)))
        self.assertEqual(after[-1].at, "end")
        self.assertEqual(len(after) - 1, longer[-1].last)
        for unit, before in zip(longer[100:], longer[90:]):
            self.assertEqual((unit.kind, unit.x, unit.work, unit.last - unit.first), (before.kind, before.x, before.work, before.last - before.first))
            self.assertEqual(after[unit.first].name, after[before.first].name)
            self.assertAlmostEqual(after[unit.first].date, 2.0 * unit.first, places=9)
        shorter, after = told.continued(base, ahead.regular(base), marks, 50)
        self.assertEqual((len(shorter), len(after), after[-1].date), (51, 52, 102.0))


class Memories(unittest.TestCase):
    def test_cycle(self):
        """All that follows the window at the begin, but for the output behind it, which is added to the interval."""
        machine = Machine(3000, 1)
        plan, known, found = machine.run()
        self.assertEqual([unit.number for unit in plan.unseen], [len(machine.base) - 1])
        self.assertEqual(len(known), 160)
        self.assertLess(abs(found.total / machine.whole() - 1), 0.001)
        self.assertTrue(found.low <= machine.whole() <= found.high)
        self.assertLess(found.half / found.total, 0.02)
        self.assertTrue(found.by_heart)

    def test_noise(self):
        """What states do not tell, what comes again tells: the interval holds the truth as often as it says."""
        hits = 0
        for seed in range(200):
            machine = Machine(1000, seed, 0.02)
            found = machine.run()[2]
            hits += found.low <= machine.whole() <= found.high
            self.assertGreater(found.half / found.total, 0.01)
        self.assertGreaterEqual(hits, 186)

    def test_leads_elsewhere(self):
        """A state that leads now here, now there makes the interval as wide as states are apart."""
        sure, unsure = Machine(1000, 1), Machine(1000, 1)
        states = unsure.states[0, 160]
        unsure.states[0, 160] = {k: "e" if state == "b" and k % 2 else state for k, state in states.items()}
        self.assertGreater(unsure.run()[2].half, 2 * sure.run()[2].half)

    def test_another_kind(self):
        """What was never seen is not known: the rest of the run is in the interval."""
        machine = Machine(1000, 1, kind=lambda i: "other" if i == 500 else "step")
        plan, _, found = machine.run()
        self.assertGreater(len(plan.unseen), 490)
        self.assertGreater(found.half / found.total, 0.3)

    def test_nothing_comes_again(self):
        machine = Machine(1000, 1, table={f"{i:04}": (1.1, f"{i + 1:04}") for i in range(2000)} | {"a": (1.1, "0000"), **{s: (1.1, "0500") for s in "bcd"}})
        self.assertIsNone(machine.run())

    def test_no_states(self):
        """Windows of copies, and those of very many ranks, do not tell states; and a run may have no window at its begin."""
        machine = Machine(1000, 1)
        del machine.held[0, 160]
        self.assertIsNone(machine.run())
        machine = Machine(1000, 1)
        machine.states = {window: dict.fromkeys(of, "") for window, of in machine.states.items()}
        self.assertIsNone(machine.run())


if __name__ == "__main__":
    unittest.main()
