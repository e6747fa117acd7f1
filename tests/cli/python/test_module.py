#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The module parfocal as a script uses it, and the notebook of the examples: test_module.py BUILD."""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

BUILD = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
CG = os.path.join(BUILD, "examples", "cg")
FIXED = {"np": 4, "cfg": {"smpi/simulate-computation": "no"}}
sys.dont_write_bytecode = True
sys.path.insert(0, subprocess.run([os.path.join(BUILD, "bin", "pfinfo"), "--python"], capture_output=True, text=True,
                                  check=True).stdout.strip())
import parfocal  # noqa: E402 (the path comes first)


class Module(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def fails(self, text, work):
        with self.assertRaises(parfocal.Error) as caught:
            work()
        self.assertIn(text, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))
        self.assertFalse(str(caught.exception).startswith("parfocal: "))
        return caught.exception

    def test_run(self):
        runs = {model: parfocal.run(CG, "-n", "8", model=model, explain=True, what_if={"link_bw": 2, "latency": 2}, **FIXED)
                for model in ("analytic", "smpi")}
        for model, run in runs.items():
            self.assertIn("cg: verified", run.stdout)
            self.assertEqual((run.ranks, run.partial, [phase.phase for phase in run.phases]),
                             (4, False, ["start", "setup", "solve", "report"]))
            self.assertEqual(run.phases[-1].model, model)
            self.assertLessEqual(run.efficiency.parallel, 1)
            self.assertEqual(len(run.rank_times), 4)
            self.assertAlmostEqual(sum(vars(run.critical_path.spent_s).values()), run.simulated_s, delta=1e-12)
            path = run.critical_path
            self.assertAlmostEqual(sum(sum(vars(one.spent_s).values()) for one in path.messages), path.end_s, delta=1e-12)
            spent = vars(path.spent_s)
            self.assertAlmostEqual(sum(one.latency_s + one.transfer_s for one in [*path.links, *path.unseen]),
                                   spent.get("latency", 0) + spent.get("transfer", 0), delta=1e-12)
            self.assertEqual(sum(phase.messages for phase in run.phases), 888)
        self.assertNotEqual(runs["analytic"].simulated_s, runs["smpi"].simulated_s)
        self.assertEqual(os.listdir("."), [])

    def test_settings_and_options(self):
        run = parfocal.run(CG, "-n", "8", schedule={"setup": "smpi", "solve": "analytic"}, report="kept", PARFOCAL_COUNT_CALLS=True,
                           trace=["csv:run.csv"], PARFOCAL_TRACE_RANKS="0-1", **FIXED)
        self.assertEqual({phase.phase: phase.model for phase in run.phases}["solve"], "analytic")
        self.assertEqual(run.functions.MPI_Allreduce.analytic.errors, 0)
        self.assertEqual(sorted(os.listdir(".")), ["kept", "run.csv"])
        read = parfocal.read("kept")
        self.assertEqual((read.phases, read.stdout), (run.phases, ""))
        self.assertEqual(parfocal.read("kept/summary.json").simulated_s, run.simulated_s)
        with self.assertRaisesRegex(AttributeError, r"no 'critical_path' \(run it with explain=True\)"):
            run.critical_path
        self.assertFalse(hasattr(run, "nothing"))

    def test_errors(self):
        error = self.fails("the application './nothing' does not exist", lambda: parfocal.run("./nothing", np=2))
        self.assertEqual((error.status, error.run), (1, None))
        self.fails("smip", lambda: parfocal.run(CG, np=2, model="smip"))
        self.fails("unknown option '-modle'", lambda: parfocal.run(CG, np=2, modle="smpi"))
        self.fails("./pfrun: No such file or directory", lambda: parfocal.run(CG, np=2, pfrun="./pfrun"))
        self.fails("none.json: no summary of a run", lambda: parfocal.read("none.json"))
        self.fails("unknown model 'smip'", lambda: parfocal.curve(CG, np=2, phases=True, models="smip"))
        error = self.fails("pfrun ended with exit status 3", lambda: parfocal.run("/usr/bin/python3", "-c", "exit(3)", np=1))
        self.assertEqual(error.status, 3)

    def test_what_an_earlier_run_has_left_is_not_taken_for_this_one(self):
        parfocal.run(CG, "-n", "8", report="kept", **FIXED)
        self.assertIsNone(self.fails("does not exist", lambda: parfocal.run("./nothing", np=2, report="kept")).run)

    def test_a_run_that_is_cut_short(self):
        with open("abort.py", "w", encoding="utf-8") as file:
            file.write("import parfocal\nfrom mpi4py import MPI\nparfocal.phase('work')\nMPI.COMM_WORLD.Barrier()\n"
                       "MPI.COMM_WORLD.Abort(7)\n")
        error = self.fails("MPI_Abort", lambda: parfocal.run("/usr/bin/python3", "abort.py", np=2))
        self.assertTrue(error.run.partial)
        self.assertIn("MPI_Abort", error.run.partial_reason)
        self.assertEqual([phase.phase for phase in error.run.phases], ["start", "work"])
        with open("long.py", "w", encoding="utf-8") as file:
            file.write("from mpi4py import MPI\nwhile True:\n    MPI.COMM_WORLD.Barrier()\n")
        self.fails("SIGTERM", lambda: parfocal.run("/usr/bin/python3", "long.py", np=2, timeout=3))

    def test_inside_and_outside_of_a_run(self):
        with open("both.py", "w", encoding="utf-8") as file:
            file.write("import sys\nimport parfocal\nif parfocal.simulated:\n    from mpi4py import MPI\n"
                       "parfocal.phase('one')\nparfocal.model_switch('analytic')\nprint(parfocal.simulated, parfocal.model_current())\n"
                       "assert not {'parfocal.study', 'subprocess'} & set(sys.modules)\n"
                       "try:\n    parfocal.run('./x', np=2)\nexcept parfocal.Error as error:\n    print(error)\n")
        self.assertEqual(parfocal.run("/usr/bin/python3", "both.py", np=1).stdout,
                         "True analytic\nthis program runs in a simulation: start runs from outside of it\n")
        outside = subprocess.run([sys.executable, "both.py"], capture_output=True, text=True, check=True,
                                 env=os.environ | {"PYTHONPATH": sys.path[0]})
        self.assertEqual(outside.stdout.splitlines()[0], "False none")
        self.assertIn("the application './x' does not exist", outside.stdout)

    def test_curve(self):
        curve = parfocal.curve(CG, "-n", "8", phases=True, models=["analytic", "smpi"], fine="smpi", repeat=1, within="60%", **FIXED)
        self.assertEqual(len(curve.points), len(curve.runs))
        self.assertEqual({point.schedule: point.error for point in curve.points}["smpi"], 0)
        self.assertIn(f"The cheapest schedule within 60 % of all smpi: {curve.best.schedule}.", curve.stdout)
        self.assertEqual(os.listdir("."), [])

    def test_pandas(self):
        made = []
        pandas = types.SimpleNamespace(json_normalize=lambda rows: made.extend(rows) or rows)
        run = parfocal.run(CG, "-n", "8", explain=True, **FIXED)
        with mock.patch.dict(sys.modules, {"pandas": pandas}):
            self.assertEqual(len(run.phases.to_pandas()), 4)
        self.assertEqual(made[2]["efficiency"], vars(run.phases[2].efficiency))
        with mock.patch.dict(sys.modules, {"pandas": None}), self.assertRaises(ImportError):
            run.phases.to_pandas()

    def test_notebook(self):
        """Its cells one after the other in one namespace, as Jupyter runs them (whose packages are 35)."""
        with open(os.path.join(ROOT, "examples/python/study.ipynb"), encoding="utf-8") as file:
            notebook = json.load(file)
        self.assertEqual((notebook["nbformat"], notebook["nbformat_minor"]), (4, 5))
        os.makedirs("examples/python")
        os.symlink(BUILD, "build")
        os.chdir("examples/python")
        names, said = {"__name__": "__main__"}, io.StringIO()
        for cell in notebook["cells"]:
            self.assertLessEqual({"id", "cell_type", "metadata", "source"}, set(cell))
            if cell["cell_type"] == "code":
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
                with contextlib.redirect_stdout(said):
                    exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
        for text in ("solve", "portals", "computation", "cg: verified", "twice the bandwidth"):
            self.assertIn(text, said.getvalue())


if __name__ == "__main__":
    unittest.main()
