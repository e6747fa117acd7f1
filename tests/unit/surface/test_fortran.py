# SPDX-License-Identifier: BSD-3-Clause
"""mpif.h and the Fortran entry points: the constants are those of mpi.h, no function and no constant is missing."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

MIDDLEWARE = pathlib.Path(__file__).parents[3] / "middleware"
GENERATE = MIDDLEWARE / "surface" / "generate.py"
sys.path.insert(0, str(MIDDLEWARE / "surface"))
import table  # noqa: E402

# What Fortran has in another form, or not at all.
OTHER = re.compile(r"MPI_(T_\w+|F_\w+|STATUS_SIZE|DISPLACEMENT_CURRENT|\w+_FN|CONVERSION_FN_NULL|BOTTOM|IN_PLACE|ARGVS?_NULL|"
                   r"ERRCODES_IGNORE|UNWEIGHTED|WEIGHTS_EMPTY|(F08_)?STATUS(ES)?_IGNORE)")
ONLY_FORTRAN = {"MPI_SOURCE": 1, "MPI_TAG": 2, "MPI_ERROR": 3, "MPI_INTEGER_KIND": 4, "MPI_ADDRESS_KIND": 8,
                "MPI_OFFSET_KIND": 8, "MPI_COUNT_KIND": 8, "MPI_DISPLACEMENT_CURRENT": -1}
WITHOUT = re.compile(r"MPI_(T_\w+|\w+_c2f(08)?|\w+_f2c|Status_f(082c|2f08|082f))")


def generated(name):
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place) / name
        subprocess.run([sys.executable, GENERATE, name, path], check=True)
        return path.read_text()


class Fortran(unittest.TestCase):
    def test_constants_are_those_of_c(self):
        here = {name: int(value) for name, value in re.findall(r"parameter \((\w+)=(-?\d+)\)", generated("mpif.h"))}
        self.assertGreater(len(here), 250)
        for name, value in ONLY_FORTRAN.items():
            self.assertEqual(here.pop(name), value, name)
        with tempfile.TemporaryDirectory() as place:
            place = pathlib.Path(place)
            subprocess.run([sys.executable, GENERATE, "mpi_proto.h", place / "mpi_proto.h"], check=True)
            defined = subprocess.run(["gcc", "-E", "-dM", f"-I{place}", MIDDLEWARE / "include" / "mpi.h"], check=True,
                                     capture_output=True, text=True).stdout
            names = {name for name, value in re.findall(r"#define (MPI_[A-Z0-9_]+) (.*)", defined) if "pf_" not in value}
            self.assertEqual({n for n in names if not OTHER.fullmatch(n)} ^ set(here), {"MPI_STATUS_SIZE"} & set(here))
            lines = [f'printf("{name} %ld\\n", (long)({name}));' for name in here]
            (place / "all.c").write_text('#include <stdio.h>\n#include "mpi.h"\nint main(void) { %s return 0; }' % "\n".join(lines))
            subprocess.run(["gcc", "-w", f"-I{place}", f"-I{MIDDLEWARE / 'include'}", place / "all.c", "-o", place / "all"], check=True)
            out = subprocess.run([place / "all"], check=True, capture_output=True, text=True).stdout
        for name, value in (line.split() for line in out.splitlines()):
            # A string of Fortran does not end with a zero.
            self.assertEqual(here[name], int(value) - name.startswith("MPI_MAX_"), name)

    def test_no_function_is_missing(self):
        text = generated("fortran.c") + (MIDDLEWARE / "fortran" / "by_hand.c").read_text()
        entries = set(re.findall(r"^(?:void|double|MPI_Aint) pmpi_(\w+)_\(", text, re.MULTILINE))
        wanted = {f.stem.lower() for f in table.read() if not WITHOUT.fullmatch(f.name)}
        self.assertEqual(wanted - entries, set())

    def test_every_group_is_built(self):
        built = (MIDDLEWARE / "fortran" / "meson.build").read_text()
        for group in {f.group for f in table.read()} - {"mpit", "f2c"}:
            self.assertIn(f"'{group}'", built)

    def test_mpif_fits_both_forms(self):
        for line in generated("mpif.h").splitlines():
            self.assertLessEqual(len(line), 72)
            self.assertTrue(line.startswith(("!", "      ")), line)


if __name__ == "__main__":
    unittest.main()
