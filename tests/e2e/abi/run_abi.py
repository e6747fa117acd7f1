#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the standard ABI of MPI 5.0, built with the plain compiler and another MPI's header, and of Open MPI, by its mpicc, under pfrun.

Usage: run_abi.py BUILD_DIRECTORY [unittest options]
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else pathlib.Path("build").resolve()
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
MODELS = ("analytic", "smpi", "portals", "packet")
# Programs that check themselves, for callbacks, handles, statuses and constants of each kind.
PROGRAMS = ("attrs", "coll", "datatypes", "errors", "fileio", "group", "icoll", "info", "intercomm", "persistent", "rma", "userop",
            "winattr", "refused")


class AbiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.temporary.name) / "with space"
        (cls.dir / "include").mkdir(parents=True)
        subprocess.run([sys.executable, HERE / "make_header.py", cls.dir / "include/mpi.h"], check=True)
        (cls.dir / "own").mkdir()
        for folder in ("include", "own"):
            shutil.copy(ROOT / "middleware/include/parfocal.h", cls.dir / folder)
        cls.build("library.so", HERE / "library.c", "-shared", "-fPIC", "-Wl,-soname,library.so")
        cls.build("abi", HERE / "abi.c", cls.dir / "library.so", f"-Wl,-rpath,{cls.dir}")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def build(cls, name, source, *options, compiler="cc"):
        subprocess.run([compiler, "-O1", "-g", "-w", "-I", cls.dir / "include", source, "-o", cls.dir / name, *options,
                        "-L", BUILD / "middleware", "-lmpi_abi", "-lm"], check=True, timeout=300)

    @classmethod
    def by_mpicc(cls, name, source, *options, compiler="mpicc"):
        subprocess.run([compiler, "-O2", "-g", "-w", "-I", cls.dir / "own", source, "-o", cls.dir / name, "-lm", *options], check=True, timeout=300)

    def pfrun(self, *arguments, status=0, folder="."):
        result = subprocess.run([BUILD / "bin/pfrun", "-np", "4", "-quiet", "--log=root.thres:critical",
                                 "--cfg=smpi/simulate-computation:no", *arguments], text=True, capture_output=True, timeout=300,
                                cwd=self.dir / folder)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def test_what_a_program_sees(self):
        for model in MODELS:
            with self.subTest(model):
                self.assertIn("abi: PASS", self.pfrun("-model", model, "./abi", "-n", "12", "-w", "thirteen", "last"))

    def test_programs(self):
        for name in PROGRAMS:
            with self.subTest(name):
                self.build(name, ROOT / f"tests/e2e/programs/{name}.c")
                self.assertIn(f"{name}: PASS", self.pfrun("-model", "smpi", f"./{name}"))
                self.assertIn(f"{name}: PASS", self.pfrun("-model", "portals", f"./{name}"))

    def test_times_are_those_of_pfcc(self):
        """Also after a switch, and with C++, whose exceptions pass through the image."""
        for source, compiler, wrapper in (("examples/cg/cg.c", "cc", "pfcc"), ("examples/ring/ring.cpp", "c++", "pfcxx")):
            self.build("theirs", ROOT / source, compiler=compiler)
            self.by_mpicc("openmpi", ROOT / source, compiler="mpi" + compiler)
            subprocess.run([BUILD / "bin" / wrapper, "-O1", "-w", ROOT / source, "-o", self.dir / "ours", "-lm"], check=True)
            for models in (["-model", "smpi"], ["-schedule", "@start=smpi,@coll:3=portals"]):
                times = [self.pfrun(*models, "--cfg=parfocal/rank_times:yes", program) for program in ("./theirs", "./ours")]
                self.assertEqual(times[0].replace("theirs", "ours"), times[1])
                self.assertEqual(self.pfrun(*models, "--cfg=parfocal/rank_times:yes", "./openmpi").replace("openmpi", "ours"), times[1])

    def test_programs_of_open_mpi(self):
        """As its compiler makes them, and in models that keep handles of their own."""
        for name in PROGRAMS:
            self.by_mpicc(name, ROOT / f"tests/e2e/programs/{name}.c")
            for model in MODELS:
                with self.subTest(program=name, model=model):
                    self.assertIn(f"{name}: PASS", self.pfrun("-model", model, f"./{name}"))

    def test_constructors_of_libraries(self):
        """They run when all libraries are in place."""
        self.by_mpicc("libearly.so", HERE / "early.cpp", "-DLIBRARY", "-shared", "-fPIC", "-Wl,-soname,libearly.so", compiler="mpic++")
        self.by_mpicc("early", HERE / "early.cpp", self.dir / "libearly.so", f"-Wl,-rpath,{self.dir}", compiler="mpic++")
        for model in MODELS:
            with self.subTest(model):
                self.assertIn("early: PASS", self.pfrun("-model", model, "./early"))

    def test_the_dynamic_linker(self):
        (self.dir / "plug").mkdir()
        for name, needs in (("found.so", ()), ("over.so", ("-Wl,--no-as-needed", self.dir / "liblinked.so"))):
            if needs:
                self.by_mpicc("liblinked.so", HERE / "library.c", "-shared", "-fPIC", "-Wl,-soname,liblinked.so", "-Wl,--no-as-needed", "-lmpi")
            self.by_mpicc(f"plug/{name}", HERE / "library.c", "-shared", "-fPIC", *needs)
        self.by_mpicc("linker", HERE / "linker.c", "-rdynamic", "-ldl", "-Wl,-rpath,$ORIGIN/plug:$ORIGIN", "-Wl,--no-as-needed", self.dir / "liblinked.so")
        for model in MODELS:
            with self.subTest(model):
                self.assertIn("linker: PASS", self.pfrun("-model", model, "./linker"))
                self.assertIn("linker: PASS", self.pfrun("-model", model, "linker"))

    def test_a_program_whose_plug_in_calls_mpi(self):
        source, here = HERE / "host.c", ("-L", self.dir, "-Wl,-rpath,$ORIGIN")
        self.by_mpicc("libunder.so", source, "-DUNDER", "-shared", "-fPIC", "-Wl,-soname,libunder.so")
        self.by_mpicc("part.so", source, "-DPART", "-shared", "-fPIC", *here, "-lunder")
        subprocess.run(["cc", "-w", "-rdynamic", source, "-o", self.dir / "host"], check=True)
        for models in (*(("-model", model) for model in MODELS), ("-schedule", "every:1=smpi|portals")):
            with self.subTest(models):
                self.assertIn("host: PASS", self.pfrun(*models, "./host", "./part.so"))
        self.assertIn("no rank has called MPI_Init", self.pfrun("./host"))

    def test_plug_ins(self):
        """The program has copies of MPI's variables: its code need not be movable."""
        for build, plain in ((self.by_mpicc, ()), (self.by_mpicc, ("-DCALLS",)), (self.build, ("-DCALLS",))):
            with self.subTest(build=build, plain=plain):
                self.check_plug_ins(build, plain)

    def check_plug_ins(self, build, plain):
        source, folder = HERE / "plugs.c", self.dir / "plugs"
        (folder / "deeper").mkdir(parents=True, exist_ok=True)
        for name, options in (("libplain.so.1", ("-DPLAIN", "-Wl,-soname,libplain.so.1", *plain)), ("deeper/plain.so", ("-DPLAIN",)), ("lacks.so", ("-DLACKS",)), ("after.so", ("-DAFTER",)),
                              ("user.so", ("-DUSER", "-L", folder, "-l:libplain.so.1", "-Wl,-rpath,$ORIGIN"))):
            build(f"plugs/{name}", source, "-shared", "-fPIC", *options)
        build("plugs/plugs", source, "-rdynamic")
        for model in MODELS:
            with self.subTest(model):
                self.assertIn("plugs: PASS", self.pfrun("-model", model, "./plugs", folder="plugs"))

    def test_a_rank_becomes_another_program(self):
        self.by_mpicc("calls", ROOT / "tests/e2e/programs/coll.c")
        run = self.pfrun("env", "NUMBER=7", "sh", "-c", 'echo "$NUMBER $PMI_RANK"; exec printenv NUMBER')
        self.assertEqual(sorted(run.splitlines()[:8]), ["7"] * 4 + [f"7 {rank}" for rank in range(4)])
        self.pfrun("sh", "-c", 'exec sh -c "exit 3"', status=3)
        self.assertIn("MPI_Init in a process that a rank has started, and that is no rank", self.pfrun("sh", "-c", 'sh -c "./calls; true"'))
        for script in ("exec ./calls", "./calls; true"):
            self.assertRegex(self.pfrun("bash", "-c", script, status=1),
                             "rank [0-3] starts '.*/calls' in its place or its child's, which calls MPI: name that as pfrun's program")

    def test_libraries_that_do_not_name_what_they_use(self):
        source, here = HERE / "unnamed.c", ("-L", self.dir, "-Wl,-rpath,$ORIGIN")
        self.by_mpicc("libbase.so", source, "-DBASE", "-shared", "-fPIC", "-Wl,--no-as-needed", "-lmpi")
        subprocess.run(["cc", "-w", "-I", self.dir / "include", "-DLEAF", "-shared", "-fPIC", source, "-o", self.dir / "libleaf.so"], check=True)
        self.by_mpicc("libplug.so", source, "-DPLUG", "-shared", "-fPIC", *here, "-lbase")
        self.by_mpicc("unnamed", source, *here, "-ldl", "-Wl,--no-as-needed", "-lleaf", "-lbase")
        for model in MODELS:
            with self.subTest(model):
                self.assertIn("unnamed: PASS", self.pfrun("-model", model, "./unnamed"))
                self.assertIn("unnamed: PASS", self.pfrun("-model", model, "--cfg=parfocal/private:libplug", "./unnamed"))

    def test_a_library_of_the_programs_own(self):
        """Found by its RUNPATH; each rank has its variables, and ends by it."""
        (self.dir / "own.c").write_text("#include <stdlib.h>\nint count; void leave(int n) { exit(count += n); }\n")
        (self.dir / "leaves.c").write_text("#include <mpi.h>\nvoid leave(int);\nint main(void) { MPI_Init(0, 0); MPI_Finalize(); leave(7); }\n")
        subprocess.run(["cc", "-shared", "-fPIC", self.dir / "own.c", "-o", self.dir / "libown.so"], check=True)
        self.by_mpicc("leaves", self.dir / "leaves.c", "-L", self.dir, "-lown", "-Wl,-rpath,$ORIGIN")
        self.pfrun("./leaves", status=7)

    def test_thread_local_variables(self):
        self.by_mpicc("openmpi", HERE / "locals.c")
        self.build("local", HERE / "locals.c")
        for program in ("./openmpi", "./local"):
            for models in (*(("-model", model) for model in MODELS), ("-schedule", "every:1=smpi|portals")):
                with self.subTest(program=program, models=models):
                    self.assertIn("locals: PASS", self.pfrun(*models, program))

    def test_thread_local_variables_of_libraries(self):
        source, here = HERE / "threaded.c", ("-L", self.dir, "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed")
        self.by_mpicc("libfirst.so", source, "-DFIRST", "-shared", "-fPIC", "-Wl,--no-as-needed", "-lmpi")
        self.by_mpicc("libsecond.so", source, "-DSECOND", "-shared", "-fPIC", *here, "-lfirst", "-lmpi")
        for own in ((), ("-DOWN",)):
            self.by_mpicc("threaded", source, *here, *own, "-lsecond", "-lfirst")
            for model in MODELS:
                with self.subTest(model=model, own=own):
                    self.assertIn("threaded: PASS", self.pfrun("-model", model, "./threaded"))

    def test_classes_of_open_mpi(self):
        """Of MPI-2's bindings for C++ (Open MPI 4): the program has the library's objects in its own data."""
        source = HERE / "classes.cpp"
        self.by_mpicc("classes", source, compiler="mpic++")
        for model in MODELS:
            with self.subTest(model):
                self.assertIn("classes: PASS", self.pfrun("-model", model, "./classes"))
        if b"MPI::" in subprocess.run(["c++filt"], input=subprocess.run(["nm", "-D", self.dir / "classes"], capture_output=True, check=True).stdout,
                                      capture_output=True, check=True).stdout:
            self.assertIn("MPI::Op::Init of Open MPI's C++ bindings", self.pfrun("./classes", "operation", status=1))
            self.assertIn("MPI_Comm_set_errhandler", self.pfrun("./classes", "throw", "exceptions", status=13))

    def test_what_is_refused(self):
        for argument, text in (("newer", "MPI_Session_init"), ("large", "MPI_Send_c: a count of 4294967296")):
            self.assertIn(text, self.pfrun("./abi", argument, status=1))
        source = self.dir / "looks.c"
        source.write_text("#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return *(volatile char *)MPI_COMM_WORLD; }\n")
        self.by_mpicc("looks", source)
        self.assertIn("the address of a predefined handle in an unknown way", self.pfrun("./looks", status=1))
        self.build("fixed", HERE / "abi.c", self.dir / "library.so", f"-Wl,-rpath,{self.dir}", "-no-pie")
        self.assertIn("linked for one place in memory", self.pfrun("./fixed", status=1))
        self.build("large", HERE / "locals.c", "-DROOM=4096")
        self.assertIn("thread-local variables", self.pfrun("./large", status=1))
        self.build("local", HERE / "locals.c")
        self.assertIn("starts a thread", self.pfrun("./local", "thread", status=1))

    def test_started_by_itself(self):
        result = subprocess.run([self.dir / "abi"], text=True, capture_output=True, timeout=60,
                                env={"LD_LIBRARY_PATH": str(BUILD / "middleware")})
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("start the program with pfrun", result.stderr)


if __name__ == "__main__":
    unittest.main()
