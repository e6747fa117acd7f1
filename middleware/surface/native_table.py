# SPDX-License-Identifier: BSD-3-Clause
"""pf_native.h: the entry points of an MPI implementation as a struct of function pointers, as the middleware calls them.

Handles are opaque types, one for each kind: neither a handle of the middleware nor a native one of another kind passes.
"""

import re

import cfile
import table

# What the middleware sees instead of a type of mpi.h, in which each implementation has its own.
TYPES = {ctype: f"pf_native_{kind.lower()}_t" for kind, ctype in table.HANDLES.items()}
TYPES |= {"MPI_Status": "union pf_native_status", "MPI_Aint": "ptrdiff_t", "MPI_Offset": "long long", "MPI_Count": "long long",
          "MPI_Fint": "int", "MPI_User_function": "pf_native_user_function",
          "MPI_Grequest_query_function": "pf_native_query_function", "MPI_Grequest_free_function": "pf_native_free_function",
          "MPI_Grequest_cancel_function": "pf_native_cancel_function"}


def generate(functions):
    handles = "".join(f"typedef struct pf_native_{kind.lower()} *pf_native_{kind.lower()}_t;\n" for kind in table.HANDLES)
    return (cfile.header("the entry points of an MPI implementation")
            + "#ifndef PF_NATIVE_H\n#define PF_NATIVE_H\n\n#include <stddef.h>\n\nunion pf_native_status;\n\n" + handles + "\n"
            + "typedef void pf_native_user_function(void *in, void *inout, int *count, pf_native_datatype_t *datatype);\n"
            + "typedef int pf_native_query_function(void *extra_state, union pf_native_status *status);\n"
            + "typedef int pf_native_free_function(void *extra_state);\n"
            + "typedef int pf_native_cancel_function(void *extra_state, int complete);\n\n"
            + "/* In the order of enum pf_fn; NULL where the implementation has none. */\n"
            + struct(functions, "pf_native_fn", opaque) + "\n#endif\n")


def struct(functions, name, translate):
    return f"struct {name} {{\n" + "".join(member(f, translate) for f in functions) + "};\n"


def member(f, translate):
    types = ", ".join(translate(p.pointer_ctype) for p in f.params) or "void"
    return cfile.wrap(f"    {translate(f.ret)} (*{f.stem})({types});", "        ") + "\n"


def opaque(ctype):
    return known(re.sub(r"\bMPI_\w+", lambda match: TYPES.get(match[0], match[0]), ctype))


def known(ctype):
    """Callbacks, tool handles and statuses of mpi_f08 that no implementation is given: some have no type for them."""
    return re.sub(r"\bMPI_F08_status\b", "void", re.sub(r"\bMPI_\w+_function \*|\bMPI_T_\w+", "void *", ctype))
