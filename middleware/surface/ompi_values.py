# SPDX-License-Identifier: BSD-3-Clause
"""ompi_values.h: the named values of Open MPI's mpi.h as the middleware's and back, one pair of functions for each kind of parameter; and Fortran's
numbers of predefined handles, which Open MPI's headers for Fortran say.
"""

import pathlib
import re

import cfile
import fortran
import fortran_constants
import table

# Which constants a parameter of a kind can have; the others have the same value in both, or none.
NAMES = {
    "RANK": r"MPI_(PROC_NULL|ANY_SOURCE|ROOT)", "ROOT": r"MPI_(PROC_NULL|ROOT)", "TAG": r"MPI_ANY_TAG", "ERRCODE": r"MPI_ERR_(?!LASTCODE)\w+",
    "KEYVAL": r"MPI_(KEYVAL_INVALID|TAG_UB|IO|HOST|WTIME_IS_GLOBAL|APPNUM|LASTUSEDCODE|UNIVERSE_SIZE|WIN_(BASE|DISP_UNIT|SIZE|CREATE_FLAVOR|MODEL))",
    "FLAVOR": r"MPI_WIN_FLAVOR_\w+", "MODEL": r"MPI_WIN_(UNIFIED|SEPARATE)", "LOCK": r"MPI_LOCK_\w+", "WHENCE": r"MPI_SEEK_\w+", "ORDER": r"MPI_ORDER_\w+",
    "DISTRIBUTION": r"MPI_DISTRIBUTE_(?!DFLT)\w+", "DISTRIBUTION_ARG": r"MPI_DISTRIBUTE_DFLT_DARG", "SPLIT_TYPE": r"MPI_COMM_TYPE_SHARED",
    "COMPARISON": r"MPI_(IDENT|CONGRUENT|SIMILAR|UNEQUAL)", "TOPOLOGY": r"MPI_(CART|GRAPH|DIST_GRAPH)", "TYPECLASS": r"MPI_TYPECLASS_\w+",
    "COMBINER": r"MPI_COMBINER_(?!\w+(?<!F90)_INTEGER)\w+",
}
# Values that are sums of constants.
BITS = {"ASSERT": r"MPI_MODE_NO\w+", "AMODE": r"MPI_MODE_(?!NO)\w+"}
NUMBER = re.compile(r"parameter *\( *(MPI_\w+) *= *(-?\d+) *\)")
SAME = ("MPI_UNDEFINED", "MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE", "MPI_SUCCESS")


def own():
    return fortran_constants.read(fortran_constants.HEADER.read_text())


def generate(_functions, *headers):
    values = own()
    parts = [cfile.header("named values of Open MPI"), "#pragma once\n\n#include <mpi.h> /* Open MPI's */\n\n"]
    parts += [f'_Static_assert({name} == {values[name]}, "the same in both");\n' for name in SAME if name in values]
    for kind, names in {**NAMES, **BITS}.items():
        pairs = [(name, value) for name, value in values.items() if re.fullmatch(names, name)]
        parts += [function(kind, "in", pairs), function(kind, "out", [(value, name) for name, value in pairs])]
    numbers = {name: int(number) for path in headers for name, number in NUMBER.findall(pathlib.Path(path).read_text())}
    types = {}
    values["MPI_ERRORS_ABORT"] = values["MPI_ERRORS_ARE_FATAL"]  # of MPI 4, as in middleware/ompi_abi/ompi_abi.c
    for name, value in fortran_constants.DEFINE.findall(fortran_constants.HEADER.read_text()):
        handle = fortran_constants.HANDLE.match(value)
        types[name] = handle.group(1) if handle else types.get(value.strip())
    types["MPI_ERRORS_ABORT"] = "MPI_Errhandler"
    return "".join(parts) + "".join(fortran_numbers(stem.lower(), {numbers[name]: values[name] for name in sorted(numbers, key=numbers.get) if types.get(name) == table.HANDLES[kind]})
                                    for kind, stem in fortran.STEMS.items())


def fortran_numbers(stem, pairs):
    """Numbers of other objects (middleware/object/f2c.c) are the same."""
    text = ""
    for way, cases in (("in", pairs.items()), ("out", {value: number for number, value in reversed(pairs.items())}.items())):
        text += (f"\nstatic inline int pf_{stem}_number_{way}(int number)\n{{\n    switch (number) {{\n"
                 + "".join(f"    case {a}:\n        return {b};\n" for a, b in cases) + "    default:\n        return number < 0x1000 ? -1 : number;\n    }\n}\n")
    return text


def function(kind, way, pairs):
    begin = f"\nstatic inline int pf_{kind.lower()}_{way}(int value)\n{{\n"
    if kind in BITS:
        return begin + "    int result = 0;\n" + "".join(f"    result |= value & {a} ? {b} : 0;\n" for a, b in pairs) + "    return result;\n}\n"
    return begin + "    switch (value) {\n" + "".join(f"    case {a}:\n        return {b};\n" for a, b in pairs) + "    default:\n        return value;\n    }\n}\n"
