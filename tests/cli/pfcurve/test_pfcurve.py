#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""pfcurve as a user types it: test_pfcurve.py BUILD. The programs are short; their simulated times are the same in each run."""
import csv
import fcntl
import glob
import html
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv.pop(1))
PFCURVE = os.path.join(BUILD, "bin", "pfcurve")
CG = os.path.join(BUILD, "examples", "cg")
SPECTRAL = os.path.join(BUILD, "examples", "spectral")
FIXED = ["-np", "4", "--cfg=smpi/simulate-computation:no"]
LIMIT = 1200  # a busy machine does not reach it
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("PARFOCAL_")}


class Folder(unittest.TestCase):
    """Each test has a folder of its own, and a program with two phases."""

    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.mkdtemp(prefix="pf-curve-")
        cls.addClassCleanup(shutil.rmtree, cls.shared)
        cls.steps = os.path.join(cls.shared, "steps")
        subprocess.run([os.path.join(BUILD, "bin", "pfcc"), os.path.join(HERE, "steps.c"), "-o", cls.steps], check=True)

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=self.shared)

    def curve(self, *arguments, status=0, environment=None):
        done = subprocess.run([PFCURVE, *arguments], capture_output=True, text=True, timeout=LIMIT, cwd=self.folder,
                              env={**ENVIRONMENT, **(environment or {})}, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        # Without a terminal there is no progress to see.
        self.assertTrue(status or not done.stderr, done.stderr)
        return done.stdout + done.stderr

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def rows(self, name="points.csv", output="curve"):
        with open(os.path.join(self.folder, output, name), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def points(self, output="curve"):
        return {row["schedule"]: row for row in self.rows(output=output)}

    def results(self, output="curve"):
        """{run: when it was written}"""
        return {path: os.stat(path).st_mtime_ns for path in glob.glob(os.path.join(self.folder, output, "runs/*/result.json"))}


class Sweeps(Folder):
    def test_schedules(self):
        self.write("schedules", "# two that switch\n\nsolve  setup=smpi, solve=portals, report=smpi\nlate @time:1e-4=smpi\n")
        said = self.curve(*FIXED, "--schedules", "schedules", "--repeat", "2", "--cheap", "analytic", "--within", "60%", CG, "-n",
                          "8")
        points = self.points()
        self.assertEqual(list(points), ["analytic", "smpi", "portals", "solve", "late"])
        self.assertEqual({row["runs"] for row in points.values()}, {"2"})
        self.assertEqual(float(points["portals"]["error"]), 0)
        self.assertEqual(float(points["portals"]["overhead_ratio"]), 1)
        # The error is the simulated time's, and measured from the reference.
        times = {name: float(row["simulated_s"]) for name, row in points.items()}
        for name, row in points.items():
            self.assertAlmostEqual(float(row["error"]), times[name] / times["portals"] - 1, places=6)
            self.assertEqual(row["simulated_s_min"], row["simulated_s_max"], "computation is off")
            self.assertAlmostEqual(float(row["slowdown_no_app_min"]) * times["portals"] / float(row["overhead_s_min"]), 1, places=4)
        # One measure of cost: the overhead orders slowdowns, the table, the frontier, and names the cheapest.
        by_cost = sorted(points, key=lambda name: float(points[name]["overhead_s"]))
        for column in ("slowdown_no_app", "overhead_ratio"):
            self.assertEqual(sorted(points, key=lambda name: float(points[name][column]), reverse=column == "overhead_ratio"), by_cost)
        with open(os.path.join(self.folder, "curve/report.html"), encoding="utf-8") as file:
            shown = re.findall(r"<tr[^>]*><td>(\w+)(?:<small>tie</small>)?</td><td>", file.read())
        self.assertEqual(shown[:5], by_cost)
        self.assertEqual(points[next(name for name in by_cost if points[name]["within"] == "yes")]["cheapest"], "yes")
        self.assertLess(float(points["solve"]["simulated_s"]), times["portals"])
        self.assertEqual(points["solve"]["models"], "analytic smpi portals")
        self.assertEqual(len(self.rows("runs.csv")), 10)
        # The command that it prints gives the same simulated time again.
        best = re.search(r"within 60 % of all portals: (.*)\.$", said, re.M)[1]
        command = next(line for line in said.splitlines() if re.search(r"pfrun'? -report", line))
        subprocess.run(shlex.split(command), cwd=self.folder, timeout=LIMIT, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        with open(os.path.join(self.folder, "report", "summary.json"), encoding="utf-8") as file:
            self.assertAlmostEqual(json.load(file)["simulated_s"] / times[best], 1, places=7)

    def test_arguments_of_the_application(self):
        """Also those that look like the beginning of a flag of pfcurve, or of several."""
        self.write("two", "fine smpi\ncheap analytic\n")
        text = self.curve(*FIXED, "--schedules", "two", "--models", "analytic,smpi", "--repeat", "1", SPECTRAL, "-n", "8", "-m", "1")
        self.assertIn(f"{shlex.quote(SPECTRAL)} -n 8 -m 1", text)

    def test_files(self):
        """The pictures are pictures, and the report needs nothing else."""
        self.curve(*FIXED, "--switch-after", "--unit", "phase", "--models", "analytic,smpi", "--repeat", "1", "--title",
                   "a <title>", "--output", "deep/er", self.steps)
        with open(os.path.join(self.folder, "deep/er/curve.png"), "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")
        with open(os.path.join(self.folder, "deep/er/curve.svg"), encoding="utf-8") as file:
            self.assertIn("<svg", file.read())
        with open(os.path.join(self.folder, "deep/er/report.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertEqual(page.count("<svg"), 4)  # curve, phases, models by schedule, models by rank
        self.assertIn("Which model each rank was in", page)
        self.assertIn("a &lt;title&gt;", page)
        for text in ("-schedule first=smpi,second=analytic", "smpi/simulate-computation:no", "Matplotlib"):
            self.assertIn(text, page)
        self.assertEqual(re.findall(r"<(?:script|link|img|iframe)|(?:src|xlink:href)=.(?!#)|url\((?!#)|@import", page), [])

    def test_the_reference_is_the_cheapest(self):
        """A ratio to itself says nothing; names too long for a picture are whole in the table."""
        name = "a-name-that-a-script-made-of-many-parameters-k=17-of-110"
        self.write("schedules", f"{name} first=analytic,second=smpi\n")
        said = self.curve(*FIXED, "--schedules", "schedules", "--models", "analytic,smpi", "--repeat", "1", "--within", "1e-9",
                          self.steps)
        self.assertIn("The cheapest schedule within 1e-07 % of all smpi: smpi.\nThat is the reference itself", said)
        self.assertNotRegex(said, r"\b1/\d", "a fraction of the cost; names of folders may well end in 1")
        with open(os.path.join(self.folder, "curve/report.html"), encoding="utf-8") as file:
            self.assertIn(f"<td>{name}</td>", file.read())

    def test_all_combinations_of_phases(self):
        said = self.curve(*FIXED, "--phases", "--models", "smpi,analytic", "--repeat", "1", self.steps)
        self.assertIn("2 phases (first, second) in 2 models: all 4 combinations", said)
        self.assertEqual({row["flag_schedule"] for row in self.rows()},
                         {"", "first=analytic,second=smpi", "first=smpi,second=analytic"})
        self.assertEqual(len(self.rows()), 4)

    def test_one_phase_at_a_time(self):
        said = self.curve(*FIXED, "--phases", "--max-points", "4", "--models", "smpi,analytic", "--repeat", "1", CG, "-n", "8")
        self.assertIn("one phase at a time from all analytic and all smpi, then a greedy frontier", said)
        schedules = {row["flag_schedule"] for row in self.rows()}
        for one in range(3):
            for base, other in (("smpi", "analytic"), ("analytic", "smpi")):
                models = [other if i == one else base for i in range(3)]
                self.assertIn("setup={},solve={},report={}".format(*models), schedules)
        self.assertEqual(len(schedules), 7)

    def test_switch_after_parts_of_the_time(self):
        self.curve(*FIXED, "--switch-after", "--steps", "4", "--models", "smpi,analytic", "--repeat", "1", self.steps, "40")
        points = self.points()
        names = [f"{model} {k}/4" for model in ("smpi", "analytic") for k in (1, 2, 3)]
        self.assertEqual(list(points), ["analytic", "smpi", *names])
        ends = sorted(float(points[model]["simulated_s"]) for model in ("smpi", "analytic"))
        for name in names:
            self.assertTrue(ends[0] < float(points[name]["simulated_s"]) < ends[1], name)

    def test_switch_after_parts_of_the_collectives(self):
        said = self.curve(*FIXED, "--switch-after", "--unit", "coll", "--steps", "3", "--models", "smpi,analytic", "--repeat", "1",
                          self.steps, "7")
        self.assertIn("the first k parts of 7 collectives in smpi", said)
        self.assertEqual([row["flag_schedule"] for row in self.rows()[2:]],
                         ["@coll:3=analytic", "@coll:5=analytic", "@coll:3=smpi", "@coll:5=smpi"])

    def test_reference(self):
        """Another model, and measured times: no run is repeated for them."""
        sweep = [*FIXED, "--switch-after", "--unit", "phase", "--models", "smpi,analytic", "--repeat", "1", self.steps]
        os.mkdir(os.path.join(self.folder, "analytic"))  # a folder called like a model is no reference
        self.curve("--reference", "analytic", *sweep)
        self.assertEqual(float(self.points()["analytic"]["error"]), 0)
        times = {name: float(row["simulated_s"]) for name, row in self.points().items()}
        self.assertAlmostEqual(float(self.points()["smpi"]["error"]), times["smpi"] / times["analytic"] - 1, places=6)
        before = self.results()
        self.write("measured.csv", "run,seconds\n1,{0}\n2,{1}\n3,{0}\n".format(times["smpi"] * 2, times["smpi"] * 9))
        said = self.curve("--reference", "measured.csv", *sweep)
        self.assertAlmostEqual(float(self.points()["smpi"]["error"]), -0.5, places=6)
        self.assertRegex(said, r"No schedule is within 5 % of measured times \(measured.csv\)\. The closest is \S+: -\d+\.\d %\.")
        self.assertEqual(self.results(), before)

    def test_packets_are_the_reference(self):
        """A model that comes when it is named."""
        sweep = [*FIXED, "--switch-after", "--unit", "phase", "--steps", "1", "--repeat", "1"]
        said = self.curve(*sweep, "--models", "analytic,portals", "--reference", "packet", "--within", "90%", self.steps)
        points = self.points()
        self.assertEqual(float(points["packet"]["error"]), 0)
        self.assertNotEqual(float(points["portals"]["simulated_s"]), 0)
        times = {name: float(row["simulated_s"]) for name, row in points.items()}
        self.assertAlmostEqual(float(points["portals"]["error"]), times["portals"] / times["packet"] - 1, places=6)
        self.assertIn("within 90 % of all packet:", said)

    def test_a_neighbour(self):
        """Background traffic loads the runs that have packets, and no other; a fit sees it as well."""
        sweep = ["-np", "2", "-platform", "star:4", *FIXED[2:], "--switch-after", "--unit", "phase", "--steps", "1", "--models", "analytic,packet", "--repeat", "1"]
        self.curve(*sweep, "--output", "alone", self.steps)
        self.curve(*sweep, "--output", "loaded", "-background", "hotspot:0,1:0.4:2-3", "--fit", self.steps)
        alone, loaded = self.points("alone"), self.points("loaded")
        self.assertGreater(float(loaded["packet"]["simulated_s"]), float(alone["packet"]["simulated_s"]))
        self.assertNotEqual(loaded["analytic"]["simulated_s"], alone["analytic"]["simulated_s"])
        self.assertLess(abs(float(loaded["analytic"]["error"])), 0.5)

    def test_external_network(self):
        """Over pfnetd, in each of its runs, the same as in one process; without an address the model is refused."""
        sweep = [*FIXED, "--switch-after", "--steps", "1", "--models", "external,packet", "--reference", "packet", "--repeat", "1", self.steps]
        address = "exec:" + shlex.quote(os.path.join(BUILD, "bin", "pfnetd")) + " --network packet"
        self.curve(*sweep, environment={"PARFOCAL_NET_EXTERNAL": address})
        points = self.points()
        self.assertEqual(points["external"]["simulated_s"], points["packet"]["simulated_s"])
        self.assertNotEqual(float(points["packet"]["simulated_s"]), 0)
        self.assertIn("model external is not available here", self.curve("--output", "none", *sweep, status=1))

    def test_sample(self):
        """One more point, which is an estimate with an interval; its command gives the same one again."""
        self.write("two", "fine portals\ncheap analytic\n")
        said = self.curve(*FIXED, "--schedules", "two", "--models", "analytic,portals", "--repeat", "2", "--sample", "4%", CG, "-n", "16")
        point = self.points()["sample 4%"]
        runs = [row for row in self.rows("runs.csv") if row["schedule"] == "sample 4%"]
        self.assertEqual((point["models"], point["interval"], len(runs)), ("analytic portals", "0.95", 2))
        low, estimate, high = (float(point["simulated_s" + end]) for end in ("_min", "", "_max"))
        truth = float(self.points()["portals"]["simulated_s"])
        self.assertTrue(low < estimate < high and low <= truth <= high, point)
        self.assertGreater(float(point["overhead_s"]), float(self.points()["analytic"]["overhead_s"]), "that of several runs")
        self.assertRegex(said, r"The sample 4%: all portals takes \S+ [mu]s \+- [0-9.]+ % at 95 %, from \d+ of \d+ units\. .* inside the interval\.")
        with open(os.path.join(self.folder, "curve/report.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("Diamond: the sample, with its interval.", page)
        command = next(html.unescape(line) for line in page.splitlines() if " -sample 4% -fine portals -cheap analytic " in line)
        subprocess.run(shlex.split(command), cwd=self.folder, timeout=LIMIT, check=True, capture_output=True, env=ENVIRONMENT)
        with open(os.path.join(self.folder, "report", "summary.json"), encoding="utf-8") as file:
            self.assertAlmostEqual(json.load(file)["sample"]["estimate_s"] / estimate, 1, places=8)

    def test_sample_of_what_has_no_iterations(self):
        """All of it is simulated in the fine model."""
        self.write("two", "fine smpi\ncheap analytic\n")
        said = self.curve(*FIXED, "--schedules", "two", "--models", "analytic,smpi", "--repeat", "1", "--sample", "4%", self.steps)
        self.assertRegex(said, r"from 1 of 1 units\. .* inside the interval\.")

    def test_a_sample_that_fails(self):
        """As a failed run like others: the curve is drawn without it."""
        program = os.path.join(self.folder, "fails")
        self.write("fails.c", "#include <mpi.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {\n"
                              "MPI_Init(&argc, &argv);\nMPI_Barrier(MPI_COMM_WORLD);\nMPI_Finalize();\n"
                              "return getenv(\"PARFOCAL_MARKERS\") ? 3 : 0;\n}\n")
        subprocess.run([os.path.join(BUILD, "bin", "pfcc"), "fails.c", "-o", program], cwd=self.folder, check=True)
        self.write("two", "fine smpi\ncheap analytic\n")
        said = self.curve(*FIXED, "--schedules", "two", "--models", "analytic,smpi", "--repeat", "1", "--sample", "4%", program, status=1)
        self.assertIn("failed: sample 4%, run 1: ", said)
        self.assertEqual(self.points()["sample 4%"]["failed"], "1")

    def test_machine(self):
        """Of Parfocal's own, and a file: all runs are on it; a file that is not there is refused at once."""
        sweep = [*FIXED, "--switch-after", "--steps", "1", "--models", "analytic,portals", "--repeat", "1"]
        self.curve(*sweep, "--output", "plain", self.steps)
        self.curve(*sweep, "--output", "named", "-machine", "bxi-quito", self.steps)
        self.write("far.machine", "platform_link_latency = 5e-6\n")
        self.curve(*sweep, "--output", "far", "-machine", "./far.machine", self.steps)
        for model in ("analytic", "portals"):
            plain, named, far = (float(self.points(output)[model]["simulated_s"]) for output in ("plain", "named", "far"))
            self.assertLess(plain, named)
            self.assertLess(named, far)
            alone = subprocess.run([os.path.join(BUILD, "bin", "pfrun"), "-report", "alone", *FIXED, "-machine", "bxi-quito", "-model", model,
                                    self.steps], cwd=self.folder, timeout=LIMIT, check=True, capture_output=True, env=ENVIRONMENT)
            self.assertEqual(alone.returncode, 0)
            with open(os.path.join(self.folder, "alone/summary.json"), encoding="utf-8") as file:
                self.assertAlmostEqual(json.load(file)["simulated_s"] / named, 1, places=7)
        with open(os.path.join(self.folder, "named/report.html"), encoding="utf-8") as file:
            self.assertIn("-machine bxi-quito", file.read())
        self.assertIn("there is no file ./gone.machine", self.curve(*sweep, "-machine", "./gone.machine", self.steps, status=1))
        self.assertIn("there is no machine 'gone'", self.curve(*sweep, "--output", "gone", "-machine", "gone", self.steps, status=1))

    def test_fit(self):
        self.curve("-np", "2", "-platform", "star:2", *FIXED[2:], "--fit", "--models", "analytic,portals", "--switch-after", "--unit",
                   "phase", "--repeat", "1", self.steps)
        point = self.points()["analytic"]
        self.assertLess(abs(float(point["error"])), 0.2)
        with open(os.path.join(self.folder, "curve/report.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("--cfg=parfocal/analytic_parameters:curve/analytic-portals.txt -model analytic", page)
        self.assertIn("--fit=portals --output curve/analytic-portals.txt -- -np 2 -platform star:2", page)


def import_pfcurve():
    top = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
    sys.path[:0] = [os.path.join(top, "base"), os.path.join(top, "tools", "pfcurve")]


class Rule(unittest.TestCase):
    """What is called the cheapest, from runs whose figures are given: (simulated, overhead, start-up) in seconds."""

    def curve(self, **schedules):
        import_pfcurve()
        from pfcurve import curve, main, options, points
        rows = []
        for name, runs in schedules.items():
            done = [types.SimpleNamespace(ok=True, repeat=i, result={"processor_s": 1, "seconds": 1}, summary={
                "simulated_s": simulated, "startup_s": startup, "wall_clock_s": overhead + startup + 1,
                "phases": [{"overhead_s": overhead, "application_cpu_s": 1}]}) for i, (simulated, overhead, startup) in enumerate(runs)]
            rows.append(curve.make_row(points.single(name), [], done))
        what = curve.Curve(rows, options.Options(reference="portals", within=0.05, repeat=len(done)))
        return what, " ".join(main.words(what, what.best))

    def test_start_up_does_not_decide(self):
        what, said = self.curve(portals=[(1, 9, 4)] * 3, analytic=[(1.01, 2, 3)] * 3, smpi=[(0.99, 4, 0.1)] * 3)
        self.assertEqual(what.best.point.name, "analytic")
        self.assertEqual([row.point.name for row in what.frontier()], ["analytic", "portals"])
        self.assertIn("Its simulation overhead is 2 s, that of all portals 9 s: 1/4.5. Start-up takes 3 s and 4 s besides.", said)
        self.assertNotIn("tie", said)

    def test_slowdowns_have_one_divisor(self):
        what, _ = self.curve(portals=[(1, 4, 0)] * 3, smpi=[(0.5, 3, 0)] * 3)
        self.assertEqual([row.slowdown.median for row in what.rows], [4, 3])

    def test_one_noisy_run_does_not_decide(self):
        what, said = self.curve(portals=[(1, 9, 0)] * 3, analytic=[(1.01, 2, 0), (1.01, 2.1, 0), (1.01, 30, 0)],
                                smpi=[(0.99, 2.5, 0), (0.99, 2.6, 0), (0.99, 2.4, 0)])
        self.assertEqual(what.best.point.name, "analytic")
        self.assertEqual([what.place(row) for row in what.rows], ["tie", "yes", "tie"])
        self.assertIn("A tie: the overhead of smpi, portals overlaps with it, from the least to the most of 3 runs.", said)

    def test_what_is_too_wrong_is_no_tie(self):
        what, said = self.curve(portals=[(1, 9, 0)] * 2, analytic=[(1.01, 2, 0), (1.01, 3, 0)], smpi=[(0.5, 2.5, 0)] * 2)
        self.assertEqual([what.place(row) for row in what.rows], ["no", "yes", "no"])
        self.assertNotIn("tie", said)

    def test_an_interval_counts_as_a_whole(self):
        """An estimate is within an error when every time of its interval is."""
        import_pfcurve()
        from pfcurve import curve, options, points
        for half, best in ((0.02, "sample 2%"), (0.06, "portals")):
            sample = {"estimate_s": 1, "low_s": 1 - half, "high_s": 1 + half, "overhead_s": 2, "overhead_cpu_s": 2, "application_cpu_s": 1,
                      "startup_s": 1, "confidence": 0.95}
            plain = {"simulated_s": 1, "startup_s": 0, "wall_clock_s": 9, "phases": [{"overhead_s": 8, "application_cpu_s": 1}]}
            rows = [curve.make_row(point, [], [types.SimpleNamespace(ok=True, repeat=0, result={"processor_s": 9, "seconds": 9}, summary=summary)])
                    for point, summary in ((points.single("portals"), plain), (points.sample("2%", "analytic", "portals"), {"sample": sample}))]
            what = curve.Curve(rows, options.Options(reference="portals", within=0.05, repeat=1))
            self.assertEqual((what.best.point.name, what.scheduled()), (best, rows[:1]))

    def draw(self, seconds, clock="wall", warnings=(), name="analytic"):
        """A curve of two models, whose runs had half a processor."""
        import_pfcurve()
        from pfcurve import curve, options, points
        rows = []
        for model, factor in (("portals", 1), (name, 1234567)):
            runs = [types.SimpleNamespace(ok=True, repeat=i, result={"processor_s": 1, "seconds": 2}, summary={
                "simulated_s": seconds * factor, "startup_s": 0, "wall_clock_s": 9, "warnings": [] if model == "portals" else list(warnings),
                "phases": [{"phase": "$\\bad{$", "model": model, "simulated_s": seconds * factor, "overhead_s": 8 + noise, "application_cpu_s": 1}]})
                    for i, noise in enumerate((5, 0, 1))]
            rows.append(curve.make_row(points.single(model), [], runs, clock))
        return curve.Curve(rows, options.Options(reference="portals", within=0.05, repeat=3, clock=clock, title="t"))

    def test_processor_time_of_phases(self):
        """Bars and headline are of one clock."""
        for clock, factor in (("wall", 1), ("cpu", 0.5)):
            what = self.draw(1, clock)
            self.assertEqual([phase["overhead_s"] for phase in what.finest.phases], [9 * factor])
            self.assertEqual(what.finest.overhead.median, 9 * factor)

    def test_labels_lie_inside(self):
        """Wide numbers, in both pictures."""
        from pfcurve import bars, plot
        figures = []
        with mock.patch.object(bars, "svg_of", figures.append), mock.patch.object(plot, "save", lambda figure, _: figures.append(figure)):
            bars.draw_phases(self.draw(1e-5))
            plot.draw_curve(self.draw(1e-5), None, "", "")
        for figure in figures:
            figure.canvas.draw()
            renderer = figure.canvas.get_renderer()
            for axis in figure.axes:
                for text in axis.texts:
                    frame, box = axis.get_window_extent(renderer), text.get_window_extent(renderer)
                    self.assertLessEqual(box.x1, frame.x1 + 2, text.get_text())
                self.assertGreaterEqual(axis.get_tightbbox(renderer).x0, 0)
            self.assertTrue(any(axis.texts for axis in figure.axes))

    def test_warnings_are_in_the_picture(self):
        """Those of some runs, not what all had."""
        from pfcurve import plot
        figures = []
        with mock.patch.object(plot, "save", lambda figure, _: figures.append(figure)):
            what = self.draw(1, warnings=["99 % of the time passed in tests"])
            self.assertEqual(what.remarks(), {"99 % of the time passed in tests": ["analytic"]})
            plot.draw_curve(what, None, "", "")
        self.assertIn("* analytic: 99 % of the time passed in tests", [text.get_text() for text in figures[0].texts])
        self.assertIn("analytic *", [text.get_text() for text in figures[0].axes[0].texts])

    def test_one_run_each(self):
        _, said = self.curve(portals=[(1, 9, 0)], analytic=[(1.01, 2, 0)])
        self.assertIn("One run each: how much the overhead varies from run to run is not known (--repeat).", said)


class Resuming(Folder):
    SWEEP = [*FIXED, "--schedules", "schedules", "--models", "analytic,smpi", "--repeat"]

    def setUp(self):
        super().setUp()
        self.write("schedules", "mixed first=smpi,second=analytic\n")

    def test_finished_runs_are_kept(self):
        shutil.copy(self.steps, os.path.join(self.folder, "app"))
        self.curve(*self.SWEEP, "1", "./app")
        before = self.results()
        self.assertEqual(len(before), 3)
        self.curve(*self.SWEEP, "2", "./app")
        after = self.results()
        self.assertEqual(len(after), 6)
        self.assertEqual({path: after[path] for path in before}, before)
        shutil.copy(CG, os.path.join(self.folder, "app"))  # the same command line, and another program
        self.curve(*self.SWEEP, "1", "./app")
        self.assertEqual(len(self.results()), 9)

    def test_interrupted(self):
        process = subprocess.Popen([PFCURVE, *self.SWEEP, "30", self.steps], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        end = time.monotonic() + LIMIT
        while len(self.results()) < 2 and process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=LIMIT)
        self.assertEqual((process.returncode, said[1]), (130, "pfcurve: stopped; the runs that are finished are kept\n"))
        before = self.results()
        self.assertTrue(2 <= len(before) < 90, len(before))
        self.curve(*self.SWEEP, "2", self.steps)
        self.assertEqual({path: when for path, when in self.results().items() if path in before}, before)
        self.assertEqual({row["runs"] for row in self.rows()}, {"2"})

    def test_failed_runs(self):
        """They do not stop the others, show in the exit status, and are tried again."""
        self.write("schedules", "mixed first=smpi,second=analytic\nbroken first=nothing\n")
        said = self.curve(*self.SWEEP, "1", self.steps, status=1)
        self.assertRegex(said, r"failed: broken, run 1: parfocal: error: -schedule: .*unknown model 'nothing'")
        points = self.points()
        self.assertEqual((points["broken"]["runs"], points["broken"]["failed"], points["mixed"]["runs"]), ("0", "1", "1"))
        self.assertTrue(os.path.exists(os.path.join(self.folder, "curve/report.html")))
        before = self.results()
        self.curve(*self.SWEEP, "1", self.steps, status=1)
        again = {path for path, when in self.results().items() if before[path] != when}
        self.assertEqual([os.path.basename(os.path.dirname(path))[:6] for path in again], ["broken"])

    def test_reference_that_fails(self):
        said = self.curve(*self.SWEEP, "1", self.steps, "6", "fail", status=1)
        self.assertEqual(said, "pfcurve: error: the reference, all smpi, failed: steps: nothing will come of this\n")

    def test_too_long_a_run(self):
        said = self.curve(*self.SWEEP, "1", "--timeout", "1", self.steps, "2000000000", status=1)
        self.assertEqual(said, "pfcurve: error: the reference, all smpi, failed: stopped after 1 s (--timeout)\n")

    def test_results_that_cannot_be_written(self):
        """A full disk is one line as well; here, a folder is in the way."""
        os.makedirs(os.path.join(self.folder, "curve", "curve.svg"))
        said = self.curve(*self.SWEEP, "1", self.steps, status=1)
        self.assertEqual(said, "pfcurve: error: curve/curve.svg: Is a directory\n")
        self.assertEqual(len(self.results()), 3)

    def test_nobody_listens(self):
        """A pipe that is closed at the other end."""
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([PFCURVE, *self.SWEEP, "1", self.steps], stdout=writer, stderr=subprocess.PIPE, text=True,
                              timeout=LIMIT, cwd=self.folder, env=ENVIRONMENT, check=False)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertTrue(os.path.exists(os.path.join(self.folder, "curve/report.html")))

    def test_one_at_a_time_in_a_folder(self):
        os.mkdir(os.path.join(self.folder, "curve"))
        with open(os.path.join(self.folder, "curve", ".lock"), "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            said = self.curve(*self.SWEEP, "1", self.steps, status=1)
        self.assertEqual(said, "pfcurve: error: another pfcurve works in curve\n")


class Talk(Folder):
    def test_progress_on_a_terminal_only(self):
        command = [PFCURVE, *FIXED, "--switch-after", "--unit", "phase", "--models", "analytic,smpi", "--repeat", "1", self.steps]
        main, terminal = pty.openpty()
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=terminal, env=ENVIRONMENT)
        os.close(terminal)
        shown = b""
        while True:
            try:
                piece = os.read(main, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        os.close(main)
        self.assertEqual(process.wait(timeout=LIMIT), 0)
        self.assertRegex(shown.decode(), r"pfcurve: \d+ of 3 runs")

    def test_help_and_version(self):
        self.assertIn("--switch-after", self.curve("--help"))
        self.assertRegex(self.curve("-version"), r"^pfcurve \(Parfocal\) \d")

    def test_a_model_that_is_not_there(self):
        """All are, in this build: what pfinfo would say otherwise."""
        import_pfcurve()
        from pfcurve import errors, options
        with self.assertRaisesRegex(errors.Problem, r"model packet is not available here \(pfinfo prints why\)"):
            options.models_of("packet,smpi", ["analytic", "smpi", "portals"])
        self.assertEqual(options.models_of(None, options.NAMES), ["analytic", "smpi", "portals"])

    def test_names_of_models(self):
        import_pfcurve()
        from pfcurve import options, points
        self.assertEqual(options.models_of("portals:packet,ucx:flow,smpi,mpich:ideal", options.NAMES), ["smpi", "mpich:ideal", "ucx", "packet"])
        self.write("names", "a portals:packet\nb setup=ucx:packet,solve=portals:packet\n")
        a, b = points.from_file(os.path.join(self.folder, "names"), "analytic", options.NAMES)
        self.assertEqual((a.start, b.models()), ("packet", ["analytic", "ucx:packet", "portals:packet"]))
        self.assertTrue(options.PACKETS >= {"portals:packet", "ucx:packet"})

    def test_bad_input(self):
        self.write("empty", "# nothing\n")
        self.write("word", "lonely\n")
        self.write("twice", "a x=smpi\na y=smpi\n")
        self.write("what", "a nothing\n")
        self.write("bad.csv", "seconds\nsoon\n")
        self.write("none.csv", "seconds\n")
        self.write("column.csv", "time\n1\n")
        sweep = ["-np", "2", "--switch-after", "--unit", "phase", "--models", "analytic,smpi", "--repeat", "1"]
        for words, text in (
                ([], "how many ranks?"),
                (["-np", "2", self.steps], "which schedules?"),
                (["-np", "2", "--phases", "--switch-after", self.steps], "which schedules?"),
                (["-np", "x", "--phases", self.steps], "-np needs a whole number of ranks from 1 to 10000000, not 'x'"),
                (["-np", "2", "--phases"], "no application"),
                (["-np", "2", "--phases", "./nowhere"], "the application './nowhere' does not exist"),
                (["-np", "2", "--phases", "empty.sh"], "does not exist: a program of this folder is ./empty.sh"),
                (["-np", "2", "--phases", self.folder], "' is no file"),
                (["-np", "2", "--phases", "--timeout", "nan", self.steps], "--timeout must be at least 1, not nan"),
                (["-np", "2", "--phases", "--steps", "x", self.steps], "error: --steps: invalid int value: 'x'"),
                (["-np", "2", "--phases", "--output", "", self.steps], "--output needs the name of a folder"),
                (["-np", "2", "--phases", "--models", "", self.steps], "unknown model ''"),
                (["-np", "99999999", "--phases", self.steps], "whole number of ranks from 1 to 10000000"),
                (["-np", "2", "--phases", "./empty"], "the application './empty' is not executable"),
                (["-np", "2", "--phase", self.steps], "--phase"),
                (["-np", "2", "-platform", "no.xml", "--phases", self.steps], "there is no file no.xml"),
                (["-np", "2", "--models", "smpi,portal", "--phases", self.steps], "unknown model 'portal'"),
                (["-np", "2", "--cheap", "smpi", "--fine", "smpi", "--phases", self.steps], "a curve needs two models"),
                (["-np", "2", "--models", "smpi", "--phases", self.steps], "a curve needs two models"),
                (["-np", "2", "--within", "5 percent", "--phases", self.steps], "--within needs an error"),
                (["-np", "2", "--within", "200%", "--phases", self.steps], "--within must lie between"),
                (["-np", "2", "--sample", "2 percent", "--phases", self.steps], "--sample needs an error"),
                (["-np", "2", "--repeat", "0", "--phases", self.steps], "--repeat must be at least 1"),
                (["-np", "2", "--cfg=x", "--phases", self.steps], "a setting is --cfg=KEY:VALUE"),
                (["-np", "2", "--schedules", "nowhere", self.steps], "there is no file nowhere"),
                (["-np", "2", "--schedules", "empty", self.steps], "empty: no schedule in it"),
                (["-np", "2", "--schedules", "word", self.steps], "word: line 1: a name and a schedule are due"),
                (["-np", "2", "--schedules", "twice", self.steps], "twice: line 2: a second schedule 'a'"),
                (["-np", "2", "--schedules", "what", self.steps], "what: line 1: 'nothing' is neither a schedule"),
                ([*sweep, "-background", "uniform:0.1", self.steps], "--background is for a network of packets: no such model is in the sweep"),
                (["-np", "2", "--partition", "x", "--phases", self.steps], "are for --slurm"),
                (["-np", "2", "--fit", "--models", "smpi,portals", "--phases", self.steps], "--fit fits model analytic"),
                ([*sweep, "--output", "empty", self.steps], "--output empty: "),
                ([*sweep, "--reference", "bad.csv", self.steps], "line 2: 'soon' is no number of seconds"),
                ([*sweep, "--reference", "none.csv", self.steps], "no measured time in it"),
                ([*sweep, "--reference", "column.csv", self.steps], "no column 'seconds'"),
                ([*sweep, "--reference", "nowhere.csv", self.steps], "No such file"),
                ([*sweep, self.steps, "1"], "the program has one phase"),
                (["-np", "2", "--switch-after", "--unit", "coll", "--models", "analytic,smpi", self.steps, "1"],
                 "too few collectives on MPI_COMM_WORLD (1, two are the least)")):
            with self.subTest(text):
                said = self.curve(*words, status=1)
                self.assertTrue(said.startswith("pfcurve: error: ") and said.count("\n") == 1, said)
                self.assertIn(text, said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
