# SPDX-License-Identifier: BSD-3-Clause
"""mpi.h and parfocal.h: values of the standard ABI, use as constants, and both headers alone in C and C++."""

import csv
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).parents[2]
MIDDLEWARE = TESTS.parent / "middleware"
GENERATE = MIDDLEWARE / "surface" / "generate.py"

# Names that came with MPI 4 and 5, or that Open MPI 4.1 does not have either: an application that asks for them with
# #ifdef must not find them in an MPI 3.1.
NEWER = set("""MPI_ABI_VERSION MPI_ABI_SUBVERSION MPI_BUFFER_AUTOMATIC MPI_COMBINER_VALUE_INDEX MPI_COMM_TYPE_HW_GUIDED
MPI_COMM_TYPE_HW_UNGUIDED MPI_COMM_TYPE_RESOURCE_GUIDED MPI_COMPLEX4 MPI_CONVERSION_FN_NULL_C MPI_ERRORS_ABORT MPI_ERR_ABI
MPI_ERR_ERRHANDLER MPI_ERR_PROC_ABORTED MPI_ERR_SESSION MPI_ERR_VALUE_TOO_LARGE MPI_LOGICAL16
MPI_MAX_PSET_NAME_LEN MPI_MAX_STRINGTAG_LEN MPI_REAL2 MPI_SESSION_NULL MPI_T_BIND_MPI_SESSION
MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE MPI_T_CB_REQUIRE_MPI_RESTRICTED MPI_T_CB_REQUIRE_NONE MPI_T_CB_REQUIRE_THREAD_SAFE
MPI_T_ERR_NOT_ACCESSIBLE MPI_T_ERR_NOT_SUPPORTED MPI_T_SOURCE_ORDERED MPI_T_SOURCE_UNORDERED""".split())
OURS = {"MPI_VERSION": 3, "MPI_SUBVERSION": 1}
LEVELS = {"MPI_THREAD_FUNNELED": 1, "MPI_THREAD_SERIALIZED": 2, "MPI_THREAD_MULTIPLE": 3}  # programs index arrays with them
C_COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]
CXX_COMPILERS = [c for c in ("g++", "clang++") if shutil.which(c)]

USES = """
static MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_NULL};
static MPI_Datatype types[] = {MPI_INT, MPI_LB};
static int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm) = MPI_Send;
static int (*profiled)(const void *, int, MPI_Datatype, int, int, MPI_Comm) = &PMPI_Send;
static MPI_Comm_copy_attr_function *copy = MPI_COMM_DUP_FN;
static MPI_Status status;
#if MPI_ERR_LASTCODE < MPI_ERR_TRUNCATE || MPI_VERSION != 3 || !defined PARFOCAL
#error "constants for the preprocessor"
#endif
int use(int code);
int use(int code)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int requests = 0;
    switch (code) {
    case MPI_SUCCESS: return 8 * !name[0];
    case MPI_ANY_SOURCE: return 1;
    case MPI_ANY_TAG: return 2;
    case MPI_ERR_TRUNCATE: return MPI_Wtime() > 0;
    }
    requests += comms[0] == MPI_COMM_WORLD && types[0] == MPI_INT && send == profiled && copy != MPI_NULL_COPY_FN;
    return requests + status.MPI_SOURCE;
}
"""
PARFOCAL_USES = """
int use(void);
int use(void) { return pf_model_switch("portals") + pf_phase("solve") + pf_phase(0) + pf_model_current()[0]; }
"""


class Headers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.temporary.name)
        subprocess.run([sys.executable, GENERATE, "mpi_proto.h", cls.dir / "mpi_proto.h"], check=True)
        cls.include = [f"-I{MIDDLEWARE / 'include'}", f"-I{cls.dir}"]

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def run_compiler(self, command, source, suffix):
        path = self.dir / ("source" + suffix)
        path.write_text(source)
        result = subprocess.run([*command, *self.include, path], capture_output=True, text=True, cwd=self.dir)
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stderr}")
        return result

    def compile_all(self, source):
        warnings = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-Wno-unused-variable", "-c", "-o", os.devnull]
        for compiler in C_COMPILERS:
            for std in ("c99", "c11", "gnu17"):
                self.run_compiler([compiler, f"-std={std}", *warnings], source, ".c")
        for compiler in CXX_COMPILERS:
            for std in ("c++11", "c++17", "gnu++20"):
                self.run_compiler([compiler, f"-std={std}", "-Wold-style-cast", *warnings], source, ".cc")

    def test_mpi_alone(self):
        self.compile_all('#include "mpi.h"\nint nothing;\n')
        self.compile_all('#include "mpi.h"\n#include "mpi.h"\n' + USES)

    def test_parfocal_alone(self):
        self.compile_all('#include "parfocal.h"\n' + PARFOCAL_USES)
        self.compile_all('#define PARFOCAL 1\n#include "parfocal.h"\n' + PARFOCAL_USES)
        self.compile_all('#include "mpi.h"\n#include "parfocal.h"\n' + PARFOCAL_USES)

    def test_empty_functions_with_another_compiler(self):
        source = '#include "parfocal.h"\n#include <string.h>\n' + PARFOCAL_USES
        source += 'int main(void) { return use() != "none"[0] || strcmp(pf_model_current(), "none"); }\n'
        self.run_compiler(["gcc", "-o", "empty"], source, ".c")
        self.assertEqual(subprocess.run([self.dir / "empty"]).returncode, 0)

    def test_values_of_the_standard(self):
        self.check_values({**OURS, **LEVELS})
        self.check_values(OURS, "-DPARFOCAL_MPI5_ABI")

    def check_values(self, ours, *options):
        with open(TESTS / "data" / "mpi-5-abi-constants.tsv", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        self.assertEqual(len(rows), 364)
        lines = []
        for row in rows:
            name, value = row["name"], row["value"]
            if name in NEWER:
                lines.append(f"#ifdef {name}\n#error \"{name} is newer than MPI 3.1\"\n#endif")
            elif row["type"] == "alias":
                lines.append(f"check(\"{name}\", {name} == {value});")
            else:
                value = ours.get(name, value)
                lines.append(f"check(\"{name}\", (long)(intptr_t)({name}) == {value});")
        source = """#include "mpi.h"
            #include <stdint.h>
            #include <stdio.h>
            static int wrong;
            static void check(const char *name, int right) { if (!right) { puts(name); wrong = 1; } }
            int main(void) { %s return wrong; }""" % "\n".join(lines)
        self.run_compiler(["gcc", "-Wall", "-Werror", *options, "-o", "values"], source, ".c")
        result = subprocess.run([self.dir / "values"], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_predefined_handles_are_small_and_distinct(self):
        names = subprocess.run(["gcc", "-E", "-dM", *self.include, MIDDLEWARE / "include" / "mpi.h"], check=True,
                               capture_output=True, text=True).stdout
        values = {}
        for line in names.splitlines():
            words = line.split(maxsplit=2)
            if len(words) == 3 and words[2].startswith("PF_HANDLE(MPI_") and "0x" in words[2]:
                values.setdefault(int(words[2].rstrip(")").split(",")[1], 16), []).append(words[1])
        self.assertGreater(len(values), 100)
        self.assertTrue(all(0 < v < 0x1000 for v in values))
        self.assertEqual({v: n for v, n in values.items() if len(n) > 1}, {})

    def test_layout(self):
        source = """#include "mpi.h"
            _Static_assert(sizeof(MPI_Status) == 32, "status");
            _Static_assert(offsetof(MPI_Status, MPI_TAG) == 4 && offsetof(MPI_Status, MPI_ERROR) == 8, "fields");
            _Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Offset) == 8 && sizeof(MPI_Count) == 8, "integers");
            _Static_assert(sizeof(MPI_Fint) == 4 && sizeof(MPI_Comm) == sizeof(void *), "handles");"""
        self.run_compiler(["gcc", "-c", "-o", os.devnull], source, ".c")

    def test_raw_names_cover_the_table(self):
        for output in ("raw_names.c", "raw_names.ld"):
            subprocess.run([sys.executable, GENERATE, output, self.dir / output], check=True)
        wraps = {line.split("=")[1] for line in (self.dir / "raw_names.ld").read_text().split()}
        (self.dir / "base").mkdir()
        shutil.copy(TESTS.parent / "base" / "export.h", self.dir / "base")
        subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-c", *self.include, "raw_names.c"], check=True, cwd=self.dir)
        symbols = subprocess.run(["nm", "--defined-only", "raw_names.o"], check=True, capture_output=True, text=True,
                                 cwd=self.dir).stdout.split()
        self.assertEqual({s[len("__wrap_"):] for s in symbols if s.startswith("__wrap_")}, wraps)
        self.assertEqual(len(wraps), 2 * 421)


if __name__ == "__main__":
    unittest.main()
