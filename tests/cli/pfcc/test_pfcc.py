# SPDX-License-Identifier: BSD-3-Clause
"""pfcc and pfcxx as compilers: modes, options, build systems, and programs that are executed directly.

Usage: test_pfcc.py BUILD_DIRECTORY [unittest options]. The launcher is replaced by a script that shows its arguments, so
nothing is simulated here.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else pathlib.Path("build").resolve()
FINDMPI_SPACES = "FindMPI divides the linker's options at spaces, quoted or not; CC=pfcc has no such limit"
PKGCONF_SPACES = "pkgconf 1.8 does not quote spaces behind -Wl; CC=mpicc has no such limit"
PFCC, PFCXX = BUILD / "bin" / "pfcc", BUILD / "bin" / "pfcxx"
PROJECTS = pathlib.Path(__file__).with_name("projects")
PLAIN = "constructed\nthrown now\ndestroyed\n"


class PfccTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.dir = pathlib.Path(temporary.name).resolve()
        launcher = self.dir / "launcher"
        launcher.write_text('#!/bin/sh\necho launched "$@"\nexit 5\n')
        launcher.chmod(0o755)
        self.env = {k: v for k, v in os.environ.items() if k not in ("CC", "CXX", "PARFOCAL_CC", "PARFOCAL_CXX")}
        self.env.update(PARFOCAL_PFRUN=str(launcher), LC_ALL="C", PATH=f"{BUILD / 'bin'}:{os.environ['PATH']}")
        for file in ("hello.c", "plain.cc"):
            shutil.copy(PROJECTS / file, self.dir)

    def run_here(self, *command, status=0, env=None, input=None):
        result = subprocess.run([str(c) for c in command], cwd=self.dir, env={**self.env, **(env or {})}, text=True,
                                capture_output=True, input=input, timeout=400)
        self.assertEqual(result.returncode, status, f"{command}\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}")
        return result

    def write(self, name, text):
        (self.dir / name).write_text(text)
        return name

    def copy(self, name):
        for file in (PROJECTS / name).iterdir():
            shutil.copy(file, self.dir)

    def check_programs(self, app="app", plain="plain"):
        """An MPI program goes to the launcher with its arguments, another one runs by itself."""
        launched = self.run_here(f"./{app}", "a", "b c", status=5).stdout
        self.assertEqual(launched, f"launched -np 1 {self.dir / app} a b c\n")
        self.assertEqual(self.run_here(f"./{plain}", "now", status=3).stdout, PLAIN)


class Modes(PfccTest):
    def test_direct_execution(self):
        self.run_here(PFCC, "-O2", "hello.c", "-o", "app")
        self.run_here(PFCXX, "-O2", "plain.cc", "-oplain")
        self.check_programs()
        self.run_here(PFCC, "hello.c")
        self.assertTrue((self.dir / "a.out").exists())
        missing = self.run_here("./app", status=127, env={"PARFOCAL_PFRUN": "/nowhere/pfrun"}).stderr
        self.assertIn("cannot start the launcher /nowhere/pfrun", missing)

    def test_mpi_in_a_library_of_the_program(self):
        self.write("part.c", "#include <mpi.h>\nint part(void) { return PMPI_Init(0, 0); }\n")
        self.write("main.c", "int part(void);\nint main(void) { return part(); }\n")
        self.run_here(PFCC, "-shared", "-o", "libpart.so", "part.c")
        self.run_here(PFCC, "main.c", "-o", "app", "-L.", "-lpart", f"-Wl,-rpath,{self.dir}")
        self.assertIn("launched", self.run_here("./app", status=5).stdout)

    def test_separate_steps(self):
        self.run_here(PFCC, "-c", "hello.c", "-fPIE", "-MD")
        self.assertIn("mpi_proto.h", (self.dir / "hello.d").read_text())
        self.run_here(PFCC, "-pie", "hello.o", "-o", "app")
        self.run_here(PFCC, "-S", "hello.c", "-o", "hello.s")
        self.assertIn("pf_MPI_Comm_size", (self.dir / "hello.s").read_text())
        self.assertIn("pf_MPI_Init", self.run_here(PFCC, "-E", "hello.c").stdout)
        self.assertIn("mpi.h", self.run_here(PFCC, "-M", "hello.c").stdout)
        self.run_here(PFCC, "-x", "c", "-", "-o", "stdin", input="int main(void) { return 4; }\n")
        self.run_here("./stdin", status=4)
        self.write("args", "hello.o -o app2")
        self.run_here(PFCC, "@args")
        self.assertIn("launched", self.run_here("./app2", status=5).stdout)
        self.write("args", "-c hello.c -o again.o")
        self.run_here(PFCC, "@args")
        self.assertTrue((self.dir / "again.o").exists())

    def test_main_in_an_archive(self):
        self.run_here(PFCC, "-c", "hello.c")
        self.run_here("ar", "rcs", "libmain.a", "hello.o")
        self.run_here(PFCC, "libmain.a", "-o", "app")
        self.assertIn("launched", self.run_here("./app", status=5).stdout)

    def test_code_compiled_for_executables(self):
        """An archive that another compiler made, as the distribution's are, with -fPIE."""
        self.write("part.c", "static int n; int m = 2; int part(void) { return ++n + m; }\n")
        self.run_here("gcc", "-O2", "-fPIE", "-c", "part.c")
        self.write("main.c", "int part(void);\nint main(void) { return part(); }\n")
        self.run_here(PFCC, "main.c", "part.o", "-o", "app")
        self.run_here("./app", status=3)

    def test_exit_statuses(self):
        self.write("bad.c", "int main(void) { return missing; }\n")
        self.assertIn("missing", self.run_here(PFCC, "-c", "bad.c", status=1).stderr)
        self.write("open.c", "int missing(void); int main(void) { return missing(); }\n")
        self.assertIn("missing", self.run_here(PFCC, "open.c", status=1).stderr)
        self.write("none.c", "int nothing;\n")
        self.assertIn("main", self.run_here(PFCC, "none.c", status=1).stderr)
        self.assertIn("nowhere.c", self.run_here(PFCC, "nowhere.c", status=1).stderr)
        self.assertIn("input", self.run_here(PFCC, status=1).stderr)
        self.assertIn("-static", self.run_here(PFCC, "-static", "hello.c", status=1).stderr)

    def test_questions(self):
        version = self.run_here(PFCC, "--version").stdout.splitlines()
        self.assertIn("Free Software Foundation", version[1])
        self.assertRegex(version[-1], r"^pfcc: Parfocal \d")
        self.assertRegex(self.run_here(PFCXX, "--version").stdout.splitlines()[-1], "^pfcxx: Parfocal")
        self.assertRegex(self.run_here(PFCC, "-dumpmachine").stdout, "linux")
        shown = self.run_here(PFCC, "-show", "-O2", "hello.c", "-o", "shown").stdout
        self.assertFalse((self.dir / "shown").exists())
        self.assertIn("-O2 hello.c -o shown", shown)
        self.run_here("sh", "-c", shown)
        self.assertIn("launched", self.run_here("./shown", status=5).stdout)
        self.assertNotIn("parfocal_start", self.run_here(PFCC, "-show", "-c", "hello.c").stdout)
        words = ["-Itwo words/x", "-I/two words", "-DX=a b"]
        self.assertEqual([w for w in shlex.split(self.run_here(PFCC, "-show", "-c", *words, "hello.c").stdout) if w in words], words)

    def test_parts_of_the_command(self):
        """As Open MPI's and MPICH's wrappers are asked: a plain compiler can do with the answers what pfcc does."""
        part = lambda *option: self.run_here(PFCC, *option, env={"CC": "gcc"}).stdout.strip()
        self.run_here("sh", "-c", f"gcc {part('-showme:compile')} -c hello.c && gcc hello.o {part('-showme:link')} -o app")
        self.assertIn("launched", self.run_here("./app", status=5).stdout)
        for flag in ("compile", "link"):
            text = part(f"-showme:{flag}")
            for option in (f"-{flag}_info", f"-{flag}-info"):
                self.assertEqual(part(option), f"gcc {text}")
            self.assertEqual(part(f"--showme:{flag}", "-O2", "hello.c", "-o", "app"), text)
        for include in shlex.split(part("-showme:incdirs")):
            self.assertIn(f"-I{include}", shlex.split(part("-showme:compile")))
        self.assertTrue(any((pathlib.Path(i) / "mpi.h").exists() for i in shlex.split(part("-showme:incdirs"))))
        self.assertIn("parfocal", shlex.split(part("-showme:libs")))
        self.assertTrue(any((pathlib.Path(i) / "libparfocal.so").exists() for i in shlex.split(part("-showme:libdirs"))))
        self.assertEqual(part("-showme:command"), "gcc")
        self.assertRegex(part("-showme:version"), r"^pfcc: Parfocal \d+\.\d+\.\d+ \(Language: C\)$")
        self.assertIn("-showme:link", part("-showme:help"))
        self.assertNotIn("-L", part("-showme:compile"))
        self.assertNotIn("-I", part("-showme:link"))
        self.assertIn("'colour'", self.run_here(PFCC, "-showme:colour", status=1).stderr)

    def test_wrapped_compiler(self):
        first = lambda env: self.run_here(PFCC, "-show", env=env).stdout.split()[:2]
        self.assertEqual(first({"CC": "gcc -m64"}), ["gcc", "-m64"])
        self.assertEqual(first({"CC": "clang", "PARFOCAL_CC": "gcc -g"}), ["gcc", "-g"])
        own = first({})
        for wrapper in ("pfcc", str(PFCC), "ccache pfcc", "mpicc", "smpicc"):
            self.assertEqual(first({"CC": wrapper}), own)

    @unittest.skipUnless(shutil.which("clang"), "clang is not installed")
    def test_clang(self):
        clang = {"CC": "clang", "CXX": "clang++"}
        self.assertEqual(self.run_here(PFCC, "-Wall", "-Wextra", "-O2", "hello.c", "-o", "app", env=clang).stderr, "")
        self.assertEqual(self.run_here(PFCXX, "-O2", "plain.cc", "-o", "plain", env=clang).stderr, "")
        self.check_programs()

    def test_optimised_links(self):
        self.run_here(PFCC, "-O2", "-flto", "hello.c", "-o", "app")
        self.run_here(PFCXX, "-O2", "-flto", "-g", "plain.cc", "-o", "plain")
        self.check_programs()


class Names(PfccTest):
    def test_references_without_header(self):
        """A configure check declares the function itself, and must not find one that is not there."""
        self.write("raw.c", "char MPI_Init();\nint main(void) { return MPI_Init(); }\n")
        self.run_here(PFCC, "-w", "raw.c", "-o", "raw")
        self.assertIn("launched", self.run_here("./raw", status=5).stdout)
        self.write("raw.c", "char MPI_Nothing();\nint main(void) { return MPI_Nothing(); }\n")
        self.assertIn("MPI_Nothing", self.run_here(PFCC, "-w", "raw.c", status=1).stderr)

    def test_library_of_another_mpi_is_refused(self):
        self.write("other.c", "int MPI_Send();\nint other(void) { return MPI_Send(); }\n")
        self.run_here("gcc", "-w", "-shared", "-fPIC", "other.c", "-o", "libother.so")
        self.write("main.c", "int other(void);\nint main(void) { return other(); }\n")
        refused = self.run_here(PFCC, "main.c", "-L.", "-lother", "-o", "app", status=1).stderr
        self.assertRegex(refused, "libother.so was built against another MPI .*MPI_Send")
        self.assertFalse((self.dir / "app").exists())
        self.run_here(PFCC, "-w", "-shared", "other.c", "-o", "libother.so")
        self.assertEqual(self.run_here(PFCC, "main.c", "-L.", "-lother", "-o", "app").stderr, "")

    def test_library_in_a_folder_with_a_space(self):
        folder = self.dir / "two words"
        folder.mkdir()
        self.write("other.c", "int MPI_Send();\nint other(void) { return MPI_Send(); }\n")
        self.run_here("gcc", "-w", "-shared", "-fPIC", "other.c", "-o", "two words/libother.so")
        self.write("main.c", "int other(void);\nint main(void) { return other(); }\n")
        refused = self.run_here(PFCC, "main.c", "-Ltwo words", "-lother", "-o", "app", status=1).stderr
        self.assertIn("two words/libother.so was built against another MPI", refused)
        self.run_here(PFCC, "-w", "-shared", "other.c", "-o", "two words/libother.so")
        self.assertEqual(self.run_here(PFCC, "main.c", "-Ltwo words", "-lother", "-o", "app").stderr, "")

    def test_compiler_without_the_cache_of_the_build(self):
        self.assertNotIn("ccache", self.run_here(PFCC, "-show").stdout + self.run_here(PFCXX, "-show").stdout)

    def test_names_as_text_and_values(self):
        self.write("names.c", """#include <mpi.h>
            #include <stdio.h>
            #define ONE(x) #x
            #define TWO(x) ONE(x)
            static int (*by_name)(MPI_Comm) = MPI_Barrier;
            static int (*of_romio)(MPIO_Request *, MPI_Status *) = MPIO_Wait;
            int main(void) {
                printf("%s %s %d %d %d\\n", ONE(MPI_Send), TWO(MPI_Send), of_romio == MPI_Wait,
                       by_name == &MPI_Barrier, by_name == PMPI_Barrier);
                return 0;
            }\n""")
        self.run_here(PFCC, "names.c", "-o", "names")
        self.assertRegex(self.run_here("./names").stdout, r"^MPI_Send MPI_Send 1 1 [01]\n$")

    def test_no_message_of_the_compiler_comes_from_the_headers(self):
        self.write("own.c", """#include <stdio.h>
            #ifndef __cplusplus
            int MPI_Init(int *, char ***);
            #endif
            #include <mpi.h>
            #include <parfocal.h>
            #define MPI_Win_free(win) (count++, PMPI_Win_free(win))
            static int count;
            int main(int argc, char **argv) {
                MPI_Win win;
                MPI_Init(&argc, &argv);
                MPI_Win_create(MPI_BOTTOM, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
                MPI_Win_free(&win);
                MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
                return MPI_Finalize();
            }\n""")
        self.write("wrong.c", "#include <mpi.h>\nvoid f(void) { MPI_Win_free(1, 2); }\n")
        strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Wshadow", "-c", "-o", "own.o"]
        for wrapper, variable, compilers, standards in ((PFCC, "CC", ("gcc", "clang"), ("c89", "c99", "gnu17")),
                                                        (PFCXX, "CXX", ("g++", "clang++"), ("c++98", "c++11", "c++20"))):
            for compiler in filter(shutil.which, compilers):
                language = ["-x", "c++"] if wrapper == PFCXX else []
                for standard in standards:
                    done = self.run_here(wrapper, *language, f"-std={standard}", *strict, "own.c", env={variable: compiler})
                    self.assertEqual(done.stdout + done.stderr, "", (compiler, standard))
                done = self.run_here(wrapper, *language, "-c", "wrong.c", status=1, env={variable: compiler})
                self.assertIn("MPI_Win_free", done.stderr)
                self.assertNotRegex(done.stderr, "macro|[^\"]pf_MPI")

    def test_program_with_its_own_mpi_function(self):
        """A profiling layer in the program defines MPI_Barrier and calls PMPI_Barrier."""
        self.write("tool.c", """#include <mpi.h>
            int MPI_Barrier(MPI_Comm comm) { return comm == MPI_COMM_NULL ? 42 : PMPI_Barrier(comm); }
            int main(void) { return MPI_Barrier(MPI_COMM_NULL); }\n""")
        self.run_here(PFCC, "tool.c", "-o", "tool")
        self.run_here("./tool", status=42)

    def test_c_library_outside_a_simulation(self):
        self.write("libc.cc", """#include <chrono>
            #include <cstdio>
            #include <ctime>
            #include <getopt.h>
            #include <sys/time.h>
            #include <thread>
            #include <unistd.h>
            int main(int argc, char **argv) {
                timeval tv; gettimeofday(&tv, nullptr);
                timespec ts; clock_gettime(CLOCK_REALTIME, &ts);
                char host[256]; int bad = gethostname(host, sizeof host) != 0 || getopt(argc, argv, "x") != 'x';
                auto begin = std::chrono::steady_clock::now();
                std::this_thread::sleep_for(std::chrono::milliseconds(2)); usleep(1);
                bad += std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(2);
                bad += std::time(nullptr) < 1000000000 || tv.tv_sec < 1000000000 || ts.tv_sec < 1000000000;
                std::printf("%d\\n", (int)getpid());
                return bad;
            }\n""")
        self.run_here(PFCXX, "libc.cc", "-o", "libc")
        process = subprocess.Popen([self.dir / "libc", "-x"], stdout=subprocess.PIPE, text=True, env=self.env)
        output, _ = process.communicate(timeout=30)
        self.assertEqual((process.returncode, output), (0, f"{process.pid}\n"))


class BuildSystems(PfccTest):
    def test_make(self):
        self.copy("make")
        self.run_here("make", "CC=pfcc", "CXX=pfcxx")
        self.check_programs()

    @unittest.skipUnless(shutil.which("automake"), "automake is not installed")
    def test_autoconf(self):
        self.copy("autoconf")
        self.run_here("autoreconf", "-i")
        log = self.run_here("./configure", "CC=pfcc", "CXX=pfcxx").stdout
        for line in ("MPI_Init... yes", "MPI_Comm_spawn... yes", "MPI_Nothing... no", "gettimeofday... yes",
                     "no_such_function... no", "size of long... 8", "cross compiling... no"):
            self.assertIn(line, log)
        self.run_here("make")
        self.check_programs()

    @unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
    def test_cmake(self):
        self.copy("cmake")
        self.run_here("cmake", "-B", ".", "-S", ".", env={"CC": "pfcc", "CXX": "pfcxx"})
        self.run_here("cmake", "--build", ".")
        self.check_programs()

    @unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
    @unittest.skipIf(" " in str(BUILD), FINDMPI_SPACES)
    def test_cmake_with_the_wrapper_for_mpi_only(self):
        self.copy("cmake")
        self.run_here("cmake", "-B", ".", "-S", ".", f"-DMPI_C_COMPILER={PFCC}", f"-DMPI_CXX_COMPILER={PFCXX}",
                      "-DCMAKE_C_FLAGS=-fPIC")
        self.run_here("cmake", "--build", ".", "--target", "app")
        self.assertIn("launched", self.run_here("./app", status=5).stdout)

    @unittest.skipUnless(shutil.which("meson") and shutil.which("ninja"), "meson is not installed")
    def test_meson(self):
        self.copy("meson")
        self.run_here("meson", "setup", "out", ".", env={"CC": "pfcc", "CXX": "pfcxx"})
        self.run_here("ninja", "-C", "out")
        self.check_programs("out/app", "out/plain")


class NamesOfOtherWrappers(PfccTest):
    """The build systems find bin/mpi in PATH, and have no setting for pfcc."""

    def setUp(self):
        super().setUp()
        folder = BUILD / "bin" / "mpi"
        self.env["PATH"] = f"{folder}:{os.environ['PATH']}"
        for name in ("mpicc", "mpicxx", "mpic++", "mpiCC"):
            self.assertEqual(shutil.which(name, path=self.env["PATH"]), str(folder / name))

    def library_project(self):
        """A shared library that reads the environment, whose rank's own part each rank has set."""
        self.write("find.c", """#include <mpi.h>
#include <string.h>
extern char **environ;
int find(char *text)
{
    int sum, size;
    for (char **entry = environ; entry && *entry; entry++)
        if (strncmp(*entry, "RANK_IS=", 8) == 0)
            strcpy(text, *entry + 8);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&size, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}
""")
        self.write("main.c", """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int find(char *text);
int main(int argc, char **argv)
{
    char name[32], value[16] = "";
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 40; i++) {
        sprintf(name, "FILL_%d", i);
        setenv(name, "", 1);
    }
    sprintf(name, "%d", rank);
    setenv("RANK_IS", name, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    int sum = find(value);
    printf("rank %d %s sum %d %s\\n", rank, value, sum, argv[1]);
    MPI_Finalize();
    return 0;
}
""")

    def check_ranks(self, program, *options):
        found = self.run_here(BUILD / "bin/pfrun", "-quiet", "-np", "3", *options, program, "a b").stdout
        self.assertEqual(sorted(found.splitlines()), [f"rank {rank} {rank} sum 9 a b" for rank in range(3)])

    def test_make(self):
        self.copy("make")
        self.run_here("make", "CC=mpicc", "CXX=mpic++")
        self.check_programs()

    @unittest.skipUnless(shutil.which("automake"), "automake is not installed")
    def test_autoconf(self):
        self.copy("autoconf")
        self.run_here("autoreconf", "-i")
        self.assertIn("MPI_Nothing... no", self.run_here("./configure", "CC=mpicc", "CXX=mpicxx").stdout)
        self.run_here("make")
        self.check_programs()

    @unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
    @unittest.skipIf(" " in str(BUILD), FINDMPI_SPACES)
    def test_cmake(self):
        """FindMPI asks mpicc, and the program is built by another compiler with its answers."""
        self.copy("cmake")
        found = self.run_here("cmake", "-B", ".", "-S", ".").stdout
        self.assertRegex(found, r"Found MPI_C: .*parfocal")
        cache = (self.dir / "CMakeCache.txt").read_text()
        self.assertIn(f"MPIEXEC_EXECUTABLE:FILEPATH={BUILD / 'bin' / 'mpi' / 'mpiexec'}", cache)
        self.run_here("cmake", "--build", ".", "--target", "app")
        self.assertIn("launched", self.run_here("./app", status=5).stdout)

    @unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
    def test_cmake_with_the_wrapper_as_compiler(self):
        self.copy("cmake")
        self.run_here("cmake", "-B", ".", "-S", ".", env={"CC": "mpicc", "CXX": "mpicxx"})
        self.run_here("cmake", "--build", ".")
        self.check_programs()

    @unittest.skipUnless(shutil.which("meson") and shutil.which("ninja"), "meson is not installed")
    def test_meson(self):
        """dependency('mpi') asks pkg-config first, which may know another MPI, and then mpicc."""
        self.copy("meson")
        self.run_here("meson", "setup", "out", ".", env={"CC": "mpicc", "CXX": "mpicxx"})
        self.run_here("ninja", "-C", "out")
        self.check_programs("out/app", "out/plain")
        nothing = {"PKG_CONFIG_LIBDIR": "/nowhere", "PKG_CONFIG_PATH": ""}
        self.write("meson.build", "project('p', 'c')\nexecutable('app', 'hello.c', dependencies: dependency('mpi'))\n")
        self.run_here("meson", "setup", "plain", ".", env=nothing)
        self.run_here("ninja", "-C", "plain")
        self.assertIn("launched", self.run_here("plain/app", status=5).stdout)

    @unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
    @unittest.skipIf(" " in str(BUILD), FINDMPI_SPACES)
    def test_cmake_shared_library(self):
        """The linker's options are those of programs, also for the library, which has no main."""
        self.library_project()
        self.write("CMakeLists.txt", """cmake_minimum_required(VERSION 3.20)
project(p LANGUAGES C)
find_package(MPI REQUIRED COMPONENTS C)
add_library(find SHARED find.c)
target_link_libraries(find PUBLIC MPI::MPI_C)
add_executable(app main.c)
target_link_libraries(app PRIVATE find)
""")
        self.run_here("cmake", "-B", ".", "-S", ".")
        self.run_here("cmake", "--build", ".")
        self.check_ranks("./app")

    @unittest.skipUnless(shutil.which("meson") and shutil.which("ninja"), "meson is not installed")
    @unittest.skipIf(" " in str(BUILD), PKGCONF_SPACES)
    def test_meson_shared_library(self):
        """Other compilers, and the files of pkg-config; then the wrapper with those of another MPI."""
        self.library_project()
        self.write("meson.build", """project('p', 'c')
library = shared_library('find', 'find.c', dependencies: dependency('mpi'))
executable('app', 'main.c', link_with: library, dependencies: dependency('mpi'))
""")
        self.run_here("meson", "setup", "out", ".", env={"PKG_CONFIG_PATH": str(BUILD / "bin/mpi/pkgconfig")})
        self.run_here("ninja", "-C", "out")
        self.check_ranks("out/app")

    @unittest.skipUnless(shutil.which("meson") and shutil.which("ninja"), "meson is not installed")
    @unittest.skipUnless((BUILD / "bin/mpi/mpif90").exists(), "there is no Fortran compiler")
    @unittest.skipIf(" " in str(BUILD), PKGCONF_SPACES)
    def test_meson_fortran(self):
        self.write("app.f90", "program p\nuse mpi_f08\ncall MPI_Init()\ncall MPI_Finalize()\nend program\n")
        self.write("meson.build", "project('p', 'fortran')\n"
                   "executable('app', 'app.f90', dependencies: dependency('mpi', language: 'fortran'))\n")
        for out, env in ("wrapper", {"FC": "mpif90"}), ("plain", {"PKG_CONFIG_PATH": str(BUILD / "bin/mpi/pkgconfig")}):
            self.run_here("meson", "setup", out, ".", env=env)
            self.run_here("ninja", "-C", out)
            self.assertIn("launched", self.run_here(f"{out}/app", status=5).stdout)

    @unittest.skipUnless(shutil.which("libtoolize"), "libtool is not installed")
    def test_libtool(self):
        """Before it is installed, the program is a script, which finds the library."""
        self.library_project()
        self.write("configure.ac", "AC_INIT([p],[1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nLT_INIT\n"
                   "AC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n")
        self.write("Makefile.am", "lib_LTLIBRARIES = libfind.la\nlibfind_la_SOURCES = find.c\nbin_PROGRAMS = app\n"
                   "app_SOURCES = main.c\napp_LDADD = libfind.la\n")
        self.run_here("autoreconf", "-i")
        self.run_here("./configure", "CC=mpicc")
        self.run_here("make")
        self.assertTrue((self.dir / "app").read_bytes().startswith(b"#!"))
        self.check_ranks("./app")
        self.check_ranks("app", "-model", "analytic")
        (self.dir / ".libs" / "app").unlink()
        refused = self.run_here(BUILD / "bin/pfrun", "-np", "1", "./app", status=1).stderr
        self.assertIn("does not exist", refused)

    def test_launchers(self):
        for name in ("mpirun", "mpiexec"):
            version = self.run_here(BUILD / "bin" / "mpi" / name, "--version").stdout
            self.assertEqual(version, self.run_here(BUILD / "bin" / "pfrun", "--version").stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says what it skips
