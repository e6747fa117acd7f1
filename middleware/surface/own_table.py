# SPDX-License-Identifier: BSD-3-Clause
"""pf_own.h: the same struct in the types of an implementation's own mpi.h, so that the compiler checks what an adapter fills in."""

import re

import cfile
import native_table

CHECKED = re.compile(r"\bMPI_(?:User|Grequest_\w+)_function \*")


def generate(functions):
    return (cfile.header("the entry points of an MPI implementation in its own types")
            + "#ifndef PF_OWN_H\n#define PF_OWN_H\n\n"
            + "/* For adapters only, after the implementation's mpi.h. */\n#include \"pf_fn.h\"\n#include \"pf_native.h\"\n\n"
            + native_table.struct(functions, "pf_own_fn", own) + "\n"
            + "/* One table: as the adapter writes it, as the middleware calls it, and by number. */\n"
            + "union pf_own_table {\n    struct pf_own_fn own;\n    struct pf_native_fn native;\n    void *by_number[PF_FN_COUNT];\n};\n\n"
            + '_Static_assert(sizeof(union pf_own_table) == sizeof(struct pf_own_fn) &&\n'
            + '                   sizeof(union pf_own_table) == sizeof(struct pf_native_fn),\n'
            + '               "one pointer for each function");\n\n#endif\n')


def own(ctype):
    return ctype if CHECKED.search(ctype) else native_table.known(ctype)
