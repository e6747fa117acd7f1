#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""symbolic.py makes of a library what the linker makes with -Bsymbolic-functions: no other library comes between its functions. And
Parfocal works with a SimGrid and an Open MPI of that kind.

Usage: test_symbolic.py BUILD [FOLDER-OF-LIBMPI]"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LIBRARY = """
int inner(void) { return 1; }
int by_call(void) { return inner() + 10; }
int by_jump(void) { return inner(); }
int (*volatile table[])(void) = {inner};
int by_table(void) { return table[0](); }
int (*address(void))(void) { return inner; }
int by_address(void) { return address()(); }
"""
PROGRAM = """
#include <stdio.h>
int inner(void) { return 2; }
int by_call(void), by_jump(void), by_table(void), by_address(void);
int main(void) { printf("%d %d %d %d\\n", by_call(), by_jump(), by_table(), by_address()); }
"""
SYMBOLIC = pathlib.Path(__file__).with_name("symbolic.py")
E2E = SYMBOLIC.parent.parent / "e2e" / "run_e2e.py"
WINDOWS = SYMBOLIC.parent.parent / "cli" / "pfrun" / "mpich.c"
PROGRAMS = ("gacc", "topocoll", "truncate")  # what is replaced in the libraries
MODES = {True: "stock,smpi,portals,schedule", False: "stock,smpi,analytic"}  # with Open MPI, and without


def named(library):
    """How many relocations have the name of the function, apart from those of the table of imports."""
    rows = subprocess.run(["readelf", "-rW", library], check=True, capture_output=True, text=True).stdout.splitlines()
    return sum(" inner " in row and "JUMP_SLO" not in row for row in rows)


def compare():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "library.c").write_text(LIBRARY)
        (folder / "program.c").write_text(PROGRAM)
        said = {}
        for plt in ((), ("-fno-plt",)):  # the two ways of a call
            for way, flag in (("plain", ()), ("linked", ("-Wl,-Bsymbolic-functions",)), ("changed", ())):
                library = folder / f"lib{way}.so"
                subprocess.run(["gcc", "-O2", "-fPIC", "-shared", *plt, "library.c", "-o", library, *flag], check=True, cwd=folder)
                if way == "changed":
                    subprocess.run([SYMBOLIC, library], check=True)
                subprocess.run(["gcc", "-rdynamic", "program.c", "-o", "program", library], check=True, cwd=folder)
                said[way] = subprocess.run(["./program"], check=True, capture_output=True, text=True, cwd=folder).stdout, named(library)
            assert said["plain"][0] == "12 2 2 2\n", said
            assert said["linked"][0] == "11 1 1 1\n", said
            assert said["changed"] == said["linked"], said


def copy_changed(folder, build, libmpi):
    """Of libsimgrid, of Open MPI's libraries, and of its plugins those that are about messages."""
    loaded = subprocess.run(["ldd", build / "bin" / "pfrun"], check=True, capture_output=True, text=True).stdout
    found = [pathlib.Path(re.search(r"=> (/\S*/libsimgrid\.so\S*)", loaded)[1])]
    for place in (libmpi, libmpi / ".." / "..") if libmpi else ():
        found += [f for f in place.glob("lib*.so.*") if re.match(r"lib(mpi|open-pal|open-rte|mca_common_\w+)\.so\.\d+$", f.name)]
    for file in found:
        shutil.copy(file.resolve(), folder / file.name)
    changed = [folder / file.name for file in found]
    for plugins in {f.parent for f in libmpi.glob("openmpi*/mca_*.so")} if libmpi else (): # Open MPI 5's are in its libraries
        shutil.copytree(plugins, folder / plugins.name)
        changed += [f for f in (folder / plugins.name).glob("*.so") if f.name.startswith(("mca_coll_", "mca_osc_", "mca_pml_"))]
    subprocess.run([SYMBOLIC, *changed], check=True)


def run_changed(build, libmpi):
    with tempfile.TemporaryDirectory() as folder:
        copy_changed(pathlib.Path(folder), build, libmpi)
        environment = dict(os.environ, LD_LIBRARY_PATH=folder)
        if libmpi:
            environment["PARFOCAL_OPENMPI_LIBDIR"] = folder
        subprocess.run([build / "bin" / "pfinfo", "--check"], check=True, env=environment)
        for loading in ("image", "clones"):
            environment["PARFOCAL_OPENMPI_LOADING"] = loading
            subprocess.run([E2E, "--bin", build / "bin", "--modes", MODES[bool(libmpi)], *PROGRAMS], check=True, env=environment)
            if libmpi: # a window that moves to osc/ucx, which is a plugin or a part of libmpi
                subprocess.run([build / "bin" / "pfcc", WINDOWS, "-o", f"{folder}/windows"], check=True)
                subprocess.run([build / "bin" / "pfrun", "-np", "4", "-model", "smpi", f"{folder}/windows", "smpi", "ucx"], check=True, env=environment)


def main():
    compare()
    run_changed(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None)
    print("3 passed, 0 failed")


if __name__ == "__main__":
    sys.exit(main())
