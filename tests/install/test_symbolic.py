#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""symbolic.py makes of a library what the linker makes with -Bsymbolic-functions: no other library comes between its functions."""

import pathlib
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


def named(library):
    """How many relocations have the name of the function, apart from those of the table of imports."""
    rows = subprocess.run(["readelf", "-rW", library], check=True, capture_output=True, text=True).stdout.splitlines()
    return sum(" inner " in row and "JUMP_SLO" not in row for row in rows)


def main():
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
    print("2 passed, 0 failed")


if __name__ == "__main__":
    sys.exit(main())
