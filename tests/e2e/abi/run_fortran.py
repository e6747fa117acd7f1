#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs in Fortran as Open MPI's mpif90 builds them, under pfrun.

Usage: run_fortran.py BUILD_DIRECTORY [unittest options]
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else pathlib.Path("build").resolve()
HERE = pathlib.Path(__file__).resolve().parent
FORTRAN = HERE.parent / "fortran"
MODELS = ("analytic", "smpi", "portals", "packet")
# Programs that check themselves, in fixed form with mpif.h, and with the module mpi; one runs code on its stack.
PROGRAMS = ("collectives.f90", "messages.f", "objects.f90", "ring.f", "runtime.f90", "windows.f90")
DIED = "a program that was built for Open MPI calls it"


class FortranTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.temporary.name)
        for source in (*(FORTRAN / program for program in PROGRAMS), FORTRAN / "stuck.f90", HERE / "f08.f90"):
            cls.build(source.stem, source)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def build(cls, name, source, *options, compiler="mpif90"):
        subprocess.run([compiler, "-O1", "-g", "-w", "-fallow-argument-mismatch", "-I", FORTRAN, "-J", cls.dir, source, "-o", cls.dir / name, *options],
                       check=True, timeout=300, cwd=cls.dir)

    def write(self, name, text, *options, **how):
        (self.dir / f"{name}.f90").write_text(text)
        self.build(name, self.dir / f"{name}.f90", *options, **how)

    def pfrun(self, *arguments, status=0, threads=1):
        result = subprocess.run([BUILD / "bin/pfrun", "-np", "4", "-quiet", "--log=root.thres:critical", "--cfg=smpi/simulate-computation:no",
                                 *arguments], text=True, capture_output=True, timeout=300, cwd=self.dir,
                                env={**os.environ, "OMP_NUM_THREADS": str(threads)})
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def test_programs(self):
        for program in (*PROGRAMS, "f08.f90"):
            name = pathlib.Path(program).stem
            for model in (*(("-model", model) for model in MODELS), ("-schedule", "every:1=smpi|portals"), ("-schedule", "every:3=analytic|smpi")):
                with self.subTest(program=name, model=model):
                    self.assertIn(f"{name}: PASS", self.pfrun(*model, f"./{name}", *(["right"] if name == "runtime" else [])))

    def test_times_are_those_of_pff90(self):
        self.build("ours", FORTRAN / "collectives.f90", compiler=BUILD / "bin/pff90")
        for models in (("-model", "smpi"), ("-schedule", "@start=smpi,@coll:3=portals")):
            times = [self.pfrun(*models, "--cfg=parfocal/rank_times:yes", program) for program in ("./collectives", "./ours")]
            self.assertEqual(times[0].replace("./collectives", "./ours"), times[1])

    def test_lines_of_the_program(self):
        """Through the library of mpif.h, and through Open MPI's own of mpi_f08."""
        self.assertIn("at stuck.f90:10", self.pfrun("-model", "smpi", "./stuck", status=1))
        line = 1 + next(i for i, text in enumerate((HERE / "f08.f90").read_text().splitlines()) if "the line of the deadlock" in text)
        self.assertIn(f"at f08.f90:{line}", self.pfrun("-model", "portals", "./f08", "stuck", status=1))

    def test_ends_with_a_status(self):
        self.assertIn("STOP 3", self.pfrun("-model", "smpi", "./runtime", "stop", status=3))

    def test_calls_are_checked_and_traced(self):
        self.write("leaks", "program leaks\n  use mpi\n  call MPI_Init(i)\n  call MPI_Comm_dup(MPI_COMM_WORLD, k, i)\n  call MPI_Finalize(i)\nend\n")
        self.assertRegex(self.pfrun("-model", "smpi", "--cfg=parfocal/check:yes", "./leaks", status=86), r"MPI_Comm_dup.* leaks.f90:4")
        self.pfrun("-model", "smpi", "-trace", "csv:calls.csv", "./leaks")
        self.assertIn("MPI_Comm_dup", (self.dir / "calls.csv").read_text())

    def test_needed_by_a_library_alone(self):
        """As a program of ScaLAPACK calls MPI: not by itself."""
        (self.dir / "inner.f90").write_text("subroutine inner(sum)\n  include 'mpif.h'\n  integer sum, rank, e\n  call MPI_Init(e)\n"
                                            "  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)\n"
                                            "  call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)\n  call MPI_Finalize(e)\nend\n")
        self.build("libinner.so", self.dir / "inner.f90", "-shared", "-fPIC", "-Wl,-soname,libinner.so")
        (self.dir / "outer.f90").write_text("program outer\n  integer sum\n  call inner(sum)\n  print *, 'sum', sum\nend\n")
        self.build("outer", self.dir / "outer.f90", self.dir / "libinner.so", f"-Wl,-rpath,{self.dir}", compiler="gfortran")
        for model in MODELS:
            self.assertEqual(self.pfrun("-model", model, "./outer").split(), ["sum", "6"] * 4)

    def test_openmp(self):
        """With variables that each thread has, as long as there is one thread."""
        self.write("threads", "program threads\n  use mpi\n  integer, save :: k = 3\n  !$omp threadprivate(k)\n  call MPI_Init(i)\n"
                   "  call MPI_Comm_rank(MPI_COMM_WORLD, j, i)\n  !$omp parallel\n  k = k + j\n  !$omp end parallel\n"
                   "  call MPI_Barrier(MPI_COMM_WORLD, i)\n  if (k /= 3 + j) stop 1\n  call MPI_Finalize(i)\nend\n", "-fopenmp")
        self.pfrun("./threads")
        self.assertIn("starts a thread", self.pfrun("./threads", status=1, threads=2))

    def test_what_is_not_there(self):
        """Not SimGrid's function of that name, which has other handles, but the end of the run."""
        (self.dir / "newer.f90").write_text("subroutine MPI_Init()\nend\nsubroutine MPI_Session_init()\nend\n")
        self.build("libnewer.so", self.dir / "newer.f90", "-shared", "-fPIC", "-Wl,-soname,libmpi_mpifh.so.40", compiler="gfortran")
        self.write("later", "program later\n  call MPI_Init(i)\n  call MPI_Session_init(1, 2, 3, 4)\nend\n", self.dir / "libnewer.so", compiler="gfortran")
        self.assertIn("mpi_session_init_: " + DIED, self.pfrun("./later", status=1))


if __name__ == "__main__":
    unittest.main()
