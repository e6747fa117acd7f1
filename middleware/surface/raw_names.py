# SPDX-License-Identifier: BSD-3-Clause
"""raw_names.c: where references to MPI_Send itself arrive.

An object compiled without our mpi.h (a configure check that declares `char MPI_Init();`) refers to MPI_Init. pfcc links
with --wrap=MPI_Init (raw_names.ld), which makes it refer to __wrap_MPI_Init. We do not export MPI_Init: in the
simulator's process that name belongs to SimGrid, whose own calls would end up here.
"""

import cfile


def generate(functions):
    names = "".join(entry(f, p) for f in functions for p in ("", "P"))
    return (cfile.header("entry points for references without mpi.h")
            + '#include "mpi.h"\n#include "base/export.h"\n\n'
            + "#pragma GCC visibility push(default)\n\n" + names + "#pragma GCC visibility pop\n")


def entry(function, p):
    """One function that passes its arguments on; the rest of MPI_Pcontrol's is the middleware's to ignore."""
    prototype = function.prototype(f"__wrap_{p}{function.name}")
    return (cfile.wrap(prototype + ";") + "\n" + cfile.wrap(prototype) + "\n{\n"
            + f"    return pf_{p}{function.name}({function.arguments});\n}}\n\n")
