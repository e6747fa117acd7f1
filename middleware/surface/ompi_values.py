# SPDX-License-Identifier: BSD-3-Clause
"""ompi_values.h: the named values of Open MPI's mpi.h as the middleware's and back, one pair of functions for each kind of parameter."""

import re

import cfile
import fortran_constants

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
SAME = ("MPI_UNDEFINED", "MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE", "MPI_SUCCESS")


def own():
    return fortran_constants.read(fortran_constants.HEADER.read_text())


def generate(_functions):
    values = own()
    parts = [cfile.header("named values of Open MPI"), "#pragma once\n\n#include <mpi.h> /* Open MPI's */\n\n"]
    parts += [f'_Static_assert({name} == {values[name]}, "the same in both");\n' for name in SAME if name in values]
    for kind, names in {**NAMES, **BITS}.items():
        pairs = [(name, value) for name, value in values.items() if re.fullmatch(names, name)]
        parts += [function(kind, "in", pairs), function(kind, "out", [(value, name) for name, value in pairs])]
    return "".join(parts)


def function(kind, way, pairs):
    begin = f"\nstatic inline int pf_{kind.lower()}_{way}(int value)\n{{\n"
    if kind in BITS:
        return begin + "    int result = 0;\n" + "".join(f"    result |= value & {a} ? {b} : 0;\n" for a, b in pairs) + "    return result;\n}\n"
    return begin + "    switch (value) {\n" + "".join(f"    case {a}:\n        return {b};\n" for a, b in pairs) + "    default:\n        return value;\n    }\n}\n"
