# SPDX-License-Identifier: BSD-3-Clause
"""mpi_proto.h: prototypes, the second half of mpi.h."""

import cfile


def generate(functions):
    parts = [cfile.header("declarations and names of the MPI functions"),
             "/* Included by mpi.h only. */\n#pragma GCC visibility push(default)\n"]
    for group, members in cfile.by_group(functions):
        parts.append(f"\n/* {group} */\n")
        parts += [declare(f) for f in members]
    parts.append("\n#pragma GCC visibility pop\n")
    return "".join(parts)


def declare(function):
    """Under our own names, and under those of the standard as other names of the same functions: macros would show in the compiler's messages,
    and be in the way of those that a program defines."""
    lines = []
    for name in (function.name, "P" + function.name):
        lines += [function.prototype("pf_" + name) + ";", function.prototype(name) + f" __asm__(\"pf_{name}\");"]
    return "".join(cfile.wrap(line) + "\n" for line in lines)
