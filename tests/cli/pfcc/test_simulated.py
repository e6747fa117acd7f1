# SPDX-License-Identifier: BSD-3-Clause
"""Programs linked by pfcc inside the simulator: what is private to a rank, the simulated C library, the end of a rank.

Usage: test_simulated.py BUILD_DIRECTORY [unittest options]. All programs but one do not call MPI, so they depend on the loader
and the wrappers only.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else pathlib.Path("build").resolve()
RANKS = 4


class Simulated(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.dir = pathlib.Path(temporary.name).resolve()
        self.env = {k: v for k, v in os.environ.items() if k not in ("CC", "CXX")}

    def command(self, *command, status=0):
        result = subprocess.run([str(c) for c in command], cwd=self.dir, env=self.env, text=True, capture_output=True,
                                timeout=100)
        self.assertEqual(result.returncode, status, f"{command}\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}")
        return result.stdout

    def compile(self, name, source, *options):
        suffix, compiler = (".cc", "pfcxx") if name.endswith("xx") else (".c", "pfcc")
        (self.dir / (name + suffix)).write_text(source)
        self.command(BUILD / "bin" / compiler, "-O1", name + suffix, "-o", name, *options)

    def pfrun(self, *application, status=0):
        """The lines of all ranks, sorted."""
        output = self.command(BUILD / "bin" / "pfrun", "-np", RANKS, "--cfg=smpi/simulate-computation:no",
                              "--log=root.thres:error", *application, status=status)
        return sorted(output.splitlines())

    def test_globals_are_private(self):
        self.compile("globals_xx", """#include <cstdio>
            #include <unistd.h>
            static int made;
            struct Counter { int n; Counter() : n(10 + made++) {} } counter;
            thread_local int in_thread = 3;
            int common;
            int count() { static int calls; return ++calls; }
            int main(int argc, char **argv) {
                for (int i = 0; i < 3; i++) { counter.n++; in_thread++; common++; count(); sleep(1); }
                std::printf("%d %d %d %d %d %s\\n", counter.n, in_thread, common, count(), argc, argv[1]);
                return 0;
            }""")
        self.assertEqual(self.pfrun("./globals_xx", "word"), ["13 6 3 4 2 word"] * RANKS)

    def test_globals_of_libraries_are_private(self):
        """Two libraries, one needs the other, whose names end alike; a run path and a library path."""
        options = ["-L.", f"-Wl,-rpath,{self.dir}"]
        self.compile("libtwo.so", "int two_calls; int two(void) { return ++two_calls; }", "-shared", "-fPIC")
        self.compile("libone.so", "static int calls; int two(void); int one(void) { return 10 * ++calls + two(); }",
                     "-shared", "-fPIC", "-ltwo", *options)
        self.compile("app", """#include <stdio.h>
            #include <unistd.h>
            int one(void);
            extern int two_calls;
            int main(void) { one(); sleep(1); int n = one(); printf("%d %d\\n", n, two_calls); return 0; }""",
                     "-lone", "-ltwo", *options)
        self.assertEqual(self.pfrun("./app"), ["22 2"] * RANKS)
        self.compile("app2", """#include <stdio.h>
            #include <unistd.h>
            int one(void);
            int main(void) { one(); sleep(1); printf("%d\\n", one()); return 0; }""", "-lone", *options)
        self.assertEqual(self.pfrun("./app2"), ["22"] * RANKS)

    def test_levels_of_thread_support_are_indices(self):
        """As programs print them; those of the standard ABI, in question and answer, where they are asked for."""
        source = """#include <mpi.h>
            #include <stdio.h>
            #include <stdlib.h>
            #define RUN(level) ((level) / (level > 1000 ? 1024 : 1))
            int main(int argc, char **argv) {
                static const char *const names[4] = {"single", "funneled", "serialized", "multiple"};
                static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                             MPI_THREAD_MULTIPLE};
                int provided = -1, again = -1, tool = -1;
                MPI_Init_thread(&argc, &argv, levels[atoi(argv[1])], &provided);
                MPI_Query_thread(&again);
                MPI_T_init_thread(levels[atoi(argv[1])], &tool);
                MPI_T_finalize();
                printf("%s %d %d %d\\n", names[RUN(provided)], provided, again, tool);
                return MPI_Finalize();
            }"""
        self.compile("levels", source)
        self.compile("levels_abi", source, "-DPARFOCAL_MPI5_ABI")
        for asked, name in enumerate(("single", "funneled", "funneled", "funneled")):
            for program, value in (("./levels", min(asked, 1)), ("./levels_abi", 1024 * min(asked, 1))):
                with self.subTest(program=program, asked=asked):
                    self.assertEqual(self.pfrun(program, asked), [f"{name} {value} {value} {value}"] * RANKS)

    def test_globals_of_opened_libraries_are_private(self):
        """By dlopen: twice, by several names, again after dlclose; one that needs a library of the program."""
        options = ["-L.", f"-Wl,-rpath,{self.dir}"]
        self.compile("libtwo.so", "int two_calls; int two(void) { return ++two_calls; }", "-shared", "-fPIC")
        self.compile("plugin.so", "static int calls; int two(void); int count(void) { return 10 * ++calls + two(); }",
                     "-shared", "-fPIC", "-ltwo", *options)
        self.compile("app3", """#include <dlfcn.h>
            #include <stdio.h>
            #include <unistd.h>
            int two(void);
            extern int two_calls;
            int main(int argc, char **argv) {
                void *none = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
                void *a = dlopen("./plugin.so", RTLD_NOW), *b = dlopen(argv[1], RTLD_LAZY | RTLD_GLOBAL);
                void *c = dlopen("plugin.so", RTLD_NOW), *d = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
                int (*count)(void) = (int (*)(void))dlsym(a, "count");
                void *system = dlopen("libm.so.6", RTLD_NOW), *linked = dlopen("libtwo.so", RTLD_NOW);
                if (!a || !count) { printf("%s\\n", dlerror()); return 1; }
                count();
                sleep(1);
                int n = count();
                int calls = two_calls, one = none == NULL && a == b && b == c && c == d;
                int others = system && dlsym(system, "cos") && linked && dlsym(linked, "two_calls") == (void *)&two_calls;
                dlclose(a), dlclose(b), dlclose(c), dlclose(d);
                sleep(1);
                a = dlopen("./plugin.so", RTLD_NOW);
                int error = dlopen("./nosuch.so", RTLD_NOW) == NULL && dlerror() != NULL;
                printf("%d %d %d %d %d %d\\n", one, n, calls, others, error, ((int (*)(void))dlsym(a, "count"))());
                return two() != 4;
            }""", "-ltwo", "-ldl", *options)
        self.assertEqual(self.pfrun("./app3", os.path.join(self.dir, "plugin.so")), ["1 22 2 1 1 13"] * RANKS)

    def test_names_that_are_looked_up(self):
        """By dlopen(NULL), RTLD_DEFAULT and RTLD_NEXT: the rank's own, that of a library opened for all, simulated MPI and time."""
        self.compile("shared.so", "int shared_calls; int shared(void) { return ++shared_calls; }", "-shared", "-fPIC")
        self.compile("app4", """#define _GNU_SOURCE
            #include <dlfcn.h>
            #include <mpi.h>
            #include <stdio.h>
            #include <time.h>
            int mine;
            int of_program(int x) { return x + mine; }
            int main(int argc, char **argv) {
                int rank, size;
                MPI_Init(&argc, &argv);
                MPI_Comm_rank(MPI_COMM_WORLD, &rank);
                mine = 10 * rank;
                void *self = dlopen(NULL, RTLD_NOW);
                int before = dlsym(self, "shared") == NULL;
                void *library = dlopen("./shared.so", RTLD_NOW | RTLD_GLOBAL);
                int (*first)(int) = dlsym(self, "of_program"), (*second)(int) = dlsym(RTLD_DEFAULT, "of_program");
                int (*shared)(void) = dlsym(self, "shared"), (*count)(MPI_Comm, int *) = dlsym(RTLD_DEFAULT, "MPI_Comm_size");
                time_t (*now)(time_t *) = dlsym(RTLD_NEXT, "time");
                unsigned (*wait)(unsigned) = dlsym(dlopen("libc.so.6", RTLD_NOW), "sleep");
                time_t start = now(NULL);
                wait(7 * 3600);
                count(MPI_COMM_WORLD, &size);
                shared();
                printf("%d %d %d %d %d %ld\\n", before, first(1) - mine, second(2) - mine, shared(), size, (long)(now(NULL) - start) / 3600);
                MPI_Finalize();
                return !library;
            }""", "-ldl")
        self.assertEqual(self.pfrun("./app4"), [f"1 1 2 2 {RANKS} 7"] * RANKS)

    def test_exit_ends_one_rank(self):
        """Also from below a noexcept function, with objects on the stack, where an exception could not pass."""
        self.compile("leave_xx", """#include <cstdio>
            #include <cstdlib>
            #include <string>
            #include <unistd.h>
            struct Guard { ~Guard() { std::puts("unwound"); } };
            static void leave(bool now) noexcept { Guard guard; if (now) std::exit(7); }
            int main() {
                bool first = getpid() == 1;
                std::string text = "a text that lives in the heap, not in the object";
                leave(first);
                sleep(1);
                std::printf("went on\\n");
                return text.empty();
            }""")
        lines = self.pfrun("./leave_xx", status=7)
        self.assertEqual(lines, ["unwound"] * (RANKS - 1) + ["went on"] * (RANKS - 1))

    def test_clocks(self):
        self.compile("clocks_xx", """#include <chrono>
            #include <cstdio>
            #include <ctime>
            #include <sys/time.h>
            #include <thread>
            #include <unistd.h>
            static double day() { timeval tv; gettimeofday(&tv, nullptr); return tv.tv_sec + tv.tv_usec * 1e-6; }
            static double mono() { timespec ts; clock_gettime(CLOCK_MONOTONIC, &ts); return ts.tv_sec + ts.tv_nsec * 1e-9; }
            static double chrono() {
                return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
            }
            static double system_clock() {
                return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
            }
            static double processor() { return double(clock()) / CLOCKS_PER_SEC; }
            static double seconds() { return double(time(nullptr)); }
            template <class F> static bool near(F clock, double want, double margin) {
                static_cast<void>(margin);
                double now = clock();
                return now > want - margin && now < want + margin;
            }
            static bool all(double want) {
                return near(day, want, 2e-6) && near(mono, want, 1e-6) && near(chrono, want, 1e-6) && near(processor, want, 2e-6)
                    && near(system_clock, want, 1e-6) && near(seconds, double(long(want)), 1e-6);
            }
            int main() {
                bool good = all(0);
                sleep(100); good &= all(100);
                usleep(500000); good &= all(100.5);
                timespec wait = {2, 250000000}, until = {200, 0};
                nanosleep(&wait, nullptr); good &= all(102.75);
                clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr); good &= all(200);
                std::this_thread::sleep_for(std::chrono::hours(1)); good &= all(3800);
                wait = {0, -1}; good &= nanosleep(&wait, nullptr) != 0;
                std::puts(good ? "good" : "bad");
                return 0;
            }""")
        self.assertEqual(self.pfrun("./clocks_xx"), ["good"] * RANKS)

    def test_waiting_for_the_clock_ends(self):
        self.compile("poll", """#include <stdio.h>
            #include <time.h>
            int main(void) {
                clock_t begin = clock();
                while (clock() - begin < CLOCKS_PER_SEC / 1000) {}
                puts("over");
                return 0;
            }""")
        self.assertEqual(self.pfrun("./poll"), ["over"] * RANKS)

    def test_identity_and_options(self):
        self.compile("who", """#include <getopt.h>
            #include <stdio.h>
            #include <unistd.h>
            int main(int argc, char **argv) {
                char host[100], real[100] = "";
                int letters = 0, letter;
                FILE *name = fopen("/proc/sys/kernel/hostname", "r");
                if (name && fscanf(name, "%99s", real) != 1) real[0] = 0;
                gethostname(host, sizeof host);
                while ((letter = getopt(argc, argv, "abc:")) != -1) letters += letter;
                sleep(1);
                printf("%d %d %d %s\\n", (int)getpid(), letters, real[0] != 0, argv[optind]);
                for (int i = 0; host[i]; i++) if (host[i] != real[i]) return 0;
                return 9; /* the real host's name */
            }""")
        lines = self.pfrun("./who", "-a", "-c", "value", "-b", "rest")
        self.assertEqual([line.split(maxsplit=1)[1] for line in lines], [f"{ord('a') + ord('b') + ord('c')} 1 rest"] * RANKS)
        self.assertEqual(len({line.split()[0] for line in lines}), RANKS)

    def test_long_options(self):
        """All ranks are in the middle of their options at the same time."""
        source = """#include <errno.h>
            #include <getopt.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <time.h>
            #include <unistd.h>
            int main(int argc, char **argv) {
                static const struct option longs[] = {{"alpha", 0, 0, 'A'}, {"count", 1, 0, 'C'}, {0, 0, 0, 0}};
                int letter, place = -1, count = 0;
                char tiny[2], word[8] = "", *end = word;
                while ((letter = PARSE(argc, argv, "ac:", longs, &place)) != -1) {
                    *end++ = letter;
                    if (letter == 'C' || letter == 'c') count += atoi(optarg);
                    sleep(1);
                }
                time_t now, same = time(&now);
                printf("%s %d %s %d %d %d\\n", word, count, argv[optind], (int)now, now == same,
                       gethostname(tiny, sizeof tiny) == -1 && errno == ENAMETOOLONG);
                return 0;
            }"""
        for parse, dash in ("getopt_long", "--"), ("getopt_long_only", "-"):
            self.compile(parse, source, "-DPARSE=" + parse)
            lines = self.pfrun("./" + parse, "-a", dash + "count", "5", dash + "alpha", "-c", "7", "rest")
            self.assertEqual(lines, ["aCAc 12 rest 4 1 1"] * RANKS)


if __name__ == "__main__":
    unittest.main()
