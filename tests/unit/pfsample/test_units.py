#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Units from sequences of markers such as programs leave."""
import unittest

from pfcurve.errors import Problem
from pfsample import options, units
from pfsample.units import Marker


def markers(words):
    """AT:NAME:SIGNATURE for each marker, a second apart; the begin and the end come by themselves."""
    rows = ["start::first", *words, "end::0"]
    return [Marker(*word.split(":")[:2], float(i), word.split(":")[2], 3, 100) for i, word in enumerate(rows)]


def body(found):
    return [unit for unit in found if unit.repeats]


class Units(unittest.TestCase):
    def whole(self, found, of):
        """The units are the whole run, one after the other."""
        self.assertEqual([found[0].first, found[-1].last], [0, len(of) - 1])
        self.assertTrue(all(a.last == b.first for a, b in zip(found, found[1:])))

    def test_phases(self):
        of = markers(["phase:setup:a", *["phase:step:b"] * 40, "phase:report:c"])
        found, how = units.from_markers(of)
        self.whole(found, of)
        self.assertIn("phase", how)
        self.assertEqual([unit.name for unit in found if not unit.repeats][:1], [""])
        self.assertGreaterEqual(len(body(found)), 40)

    def test_numbered_names(self):
        found, how = units.from_markers(markers([f"phase:cycle-{i}:b" for i in range(40)]))
        self.assertEqual(len(body(found)), 40)
        self.assertIn("without numbers", how)

    def test_place(self):
        """A call site that all ranks pass equally often; of several, a collective."""
        sites = [("a1", "MPI_Irecv", 400, 400), ("b2", "MPI_Allreduce", 100, 100), ("c3", "MPI_Bcast", 90, 200), ("d4", "MPI_Bcast", 3, 3)]
        self.assertEqual(units.call_site(sites), "b2")
        self.assertEqual(units.call_site(sites[:1]), "a1")
        self.assertIsNone(units.call_site(sites[2:]))

    def test_three_collectives_are_one_iteration(self):
        of = markers(["collective:MPI_Bcast:s", *["collective:MPI_Allreduce:" + s for _ in range(50) for s in "abc"], "collective:MPI_Gather:e"])
        found, how = units.from_markers(of)
        self.whole(found, of)
        self.assertEqual(len(body(found)), 50)
        self.assertEqual({unit.last - unit.first for unit in body(found)}, {3})
        self.assertEqual(len({unit.kind for unit in body(found)}), 1)
        self.assertIn("each 3 collective", how)

    def test_pcontrol_comes_before_collectives(self):
        of = markers([w for _ in range(30) for w in ("pcontrol:1:a", "collective:MPI_Allreduce:b", "collective:MPI_Bcast:c")])
        found, _ = units.from_markers(of)
        self.assertEqual(len(body(found)), 30)
        self.assertTrue(all(of[unit.first].at == "pcontrol" for unit in body(found)))

    def test_rare_collective(self):
        """A step of another kind now and then is a unit like the others, of its own kind."""
        words = [f"pcontrol:1:{'R' if i % 10 == 9 else 'a'}" for i in range(100)]
        found, _ = units.from_markers(markers(words))
        self.assertEqual(len(body(found)), 100)
        self.assertEqual(len(set(units.kinds(found).values())), 2)

    def test_random_signatures(self):
        """No two iterations alike: one kind by their calls."""
        found, how = units.from_markers(markers([f"collective:MPI_Alltoallv:{i}" for i in range(100)]))
        self.assertEqual(len(body(found)), 100)
        self.assertIn("by calls", how)
        self.assertEqual(len(set(units.kinds(found).values())), 1)

    def test_broken_period(self):
        words = ["collective:MPI_Allreduce:" + s for i in range(60) for s in ("abX" if i == 30 else "abc")]
        words.insert(50, "collective:MPI_Bcast:Q")
        of = markers(words)
        found, _ = units.from_markers(of)
        self.whole(found, of)
        self.assertGreaterEqual(sum(unit.last - unit.first == 3 for unit in body(found)), 57)

    def test_groups(self):
        """Several iterations to a unit; regions begin and end by iterations. What comes first stays alone."""
        of = markers([f"pcontrol:1:{'R' if i % 10 == 9 else 'a'}" for i in range(100)])
        base, _ = units.from_markers(of)
        parts = units.grouped(base, 5)
        self.whole(parts, of)
        repeating = body(parts)
        self.assertEqual([repeating[i].last - repeating[i].first for i in (0, 1, 2, 3)], [1, 1, 5, 5])
        self.assertEqual(len({unit.kind for unit in repeating[2:-1]}), 2, "with and without a reduction")
        number = repeating[5].number
        self.assertEqual(parts.span(number, 2, 1), (repeating[5].first - 2, repeating[5].last + 1))
        self.assertEqual(parts.span(0, 3, 1), (0, base[1].last))
        self.assertAlmostEqual(sum(unit.x for unit in parts), of[-1].date)

    def test_other_markers(self):
        """Of a program that names its phases, collectives do not count: how many there are may depend on the model."""
        of = markers([w for i in range(20) for w in ["phase:step:a"] + ["collective:MPI_Allreduce:b"] * (1 + i % 3)])
        kept = units.only(of, ("phase",))
        self.assertEqual([marker.at for marker in kept], ["start"] + ["phase"] * 20 + ["end"])
        self.assertEqual(sum(marker.calls for marker in kept), sum(marker.calls for marker in of))
        self.assertEqual(kept[-1].date, of[-1].date)
        self.assertEqual(len(body(units.from_markers(kept)[0])), 20)

    def test_no_structure(self):
        for words in ([], ["collective:MPI_Bcast:a"] * 5, [f"phase:{chr(65 + i // 10)}{chr(65 + i % 10)}:{i}" for i in range(100)]):
            with self.assertRaisesRegex(Problem, "no structure"):
                units.from_markers(markers(words))


class Models(unittest.TestCase):
    """The cheap and the fine model of a sample."""

    def models(self, cheap, fine):
        return options.models_of(options.Given(cheap=cheap, fine=fine), options.NAMES)

    def test_default(self):
        """No model of another stack than that of portals, nor one that needs a simulator."""
        self.assertEqual(self.models(None, None), ("analytic", "packet"))

    def test_names(self):
        self.assertEqual(self.models("portals:flow", "ucx:packet"), ("portals", "ucx:packet"))
        with self.assertRaises(Problem):
            self.models("ucx:packet", "ucx:flow")


if __name__ == "__main__":
    unittest.main()
