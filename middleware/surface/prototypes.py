# SPDX-License-Identifier: BSD-3-Clause
"""mpi_proto.h: plain prototypes and object-like macros, the second half of mpi.h."""

import cfile


def generate(functions):
    parts = [cfile.header("declarations and names of the MPI functions"),
             "/* Included by mpi.h only. */\n#pragma GCC visibility push(default)\n"]
    for group, members in cfile.by_group(functions):
        parts.append(f"\n/* {group} */\n")
        parts += [declare(f) for f in members]
    parts.append("\n#pragma GCC visibility pop\n")
    parts.append("\n/* Object-like, so that &MPI_Send, function pointers and C++ work too. */\n")
    parts += [f"#define {p}{f.name} pf_{p}{f.name}\n" for f in functions for p in ("", "P")]
    return "".join(parts)


def declare(function):
    return "".join(cfile.wrap(function.prototype(f"pf_{p}{function.name}") + ";") + "\n" for p in ("", "P"))
