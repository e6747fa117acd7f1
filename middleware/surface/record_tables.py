# SPDX-License-Identifier: BSD-3-Clause
"""record_tables.h: the names of predefined datatypes and operations in a recording. An MPI may lack some that are macros."""

import cfile
import replay


def generate(_):
    names = [(number, name) for table in (replay.TYPES, replay.SAME_TYPES) for name, number in table.items()]
    types = "".join(row(f"MPI_{name}", f"{{MPI_{name}, {number}}}") for number, name in sorted(names))
    ops = "".join(row(f"MPI_{name}", f'{{MPI_{name}, "{name}"}}') for name in replay.OPS)
    return ("static struct {\n    MPI_Datatype type;\n    int number;\n} record_types[] = {\n" + types + "};\n\n"
            + "static struct {\n    MPI_Op op;\n    const char *name;\n} record_ops[] = {\n" + ops + "};\n\n")


def row(macro, value):
    return f"#ifdef {macro}\n    {value},\n#endif\n"
