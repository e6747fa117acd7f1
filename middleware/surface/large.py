# SPDX-License-Identifier: BSD-3-Clause
"""Functions of MPI 4 with large counts (MPI_Send_c) by those of the table: counts and displacements as large as an int are passed on, a larger one
ends the run with the function's name. MPI_Aint and MPI_Count are the same to the processor, so that parameters of the first stay."""

import dataclasses
import re

# Others have further parameters, a function of another type, or arrays as long as a rank has neighbours.
OTHER = ("Type_get_contents", "Type_get_envelope", "Op_create", "Register_datarep")
FURTHER = ("outsize", "insize", "position", "size", "disp_unit")  # besides counts and displacements

HELPERS = """
static int as_int(MPI_Count count, const char *function)
{
    if (count > INT_MAX || count < INT_MIN)
        pf_die("%s: a count of %lld is more than an int, and no function here takes that", function, count);
    return (int)count;
}

/* NULL where the caller gives none, or none that counts. */
static int *as_ints(const void *counts, MPI_Count number, const char *function)
{
    const MPI_Count *from = counts;
    int *to = from && number > 0 ? pf_calloc((size_t)number, sizeof *to) : NULL;
    for (MPI_Count i = 0; to && i < number; i++)
        to[i] = as_int(from[i], function);
    return to;
}

/* How many ranks a collective sends to or receives from: those of the other group, if there is one. */
static int partners(MPI_Comm comm)
{
    int inter = 0, size = 0;
    if (pf_MPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS)
        inter ? pf_MPI_Comm_remote_size(comm, &size) : pf_MPI_Comm_size(comm, &size);
    return size;
}

static int partners_of_root(MPI_Comm comm, int root)
{
    int inter = 0, rank = -1;
    if (pf_MPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter)
        pf_MPI_Comm_rank(comm, &rank);
    return root == MPI_ROOT || rank == root ? partners(comm) : 0;
}

static int members(MPI_Comm comm)
{
    int size = 0;
    pf_MPI_Comm_size(comm, &size);
    return size;
}
"""


def is_served(f):
    by_neighbours = f.group == "neighbor" and any(p.is_array for p in f.params)
    return f.stem not in OTHER and not by_neighbours


def is_large(f, p):
    named = p.name in FURTHER and f.stem != "Type_create_darray"
    return re.search(r"\bint\b", p.ctype) and (p.kind in ("COUNT", "DISPL") or named)


def function(f):
    """The function with large counts as one of the table."""
    params = tuple(dataclasses.replace(p, ctype=re.sub(r"\bint\b", "MPI_Count", p.ctype)) if is_large(f, p) else p for p in f.params)
    return dataclasses.replace(f, name=f.name + "_c", params=params)


def _length(f, p):
    if p.length != "*":
        return p.length
    partners = "members(comm)" if "educe_scatter" in f.stem else "partners_of_root(comm, root)" if f.of_kind("ROOT") else "partners(comm)"
    return f"sendbuf == MPI_IN_PLACE ? 0 : {partners}" if p.name.startswith("s") and not f.of_kind("ROOT") else partners


def body(f, name, callee):
    """Lines that call `callee`, which takes what the table's function does."""
    before, arguments, after = [], [], []
    for p in f.params:
        own = f"own_{p.name}"
        if not is_large(f, p):
            arguments.append(p.name)
        elif p.is_array:
            before.append(f'int *{own} = as_ints({p.name}, {_length(f, p)}, "{name}");')
            after.append(f"free({own});")
            arguments.append(own)
        elif "*" in p.ctype:
            before.append(f"int {own} = " + (f'{p.name} ? as_int(*{p.name}, "{name}") : 0;' if p.dir == "inout" else "0;"))
            after += [f"if ({p.name})", f"    *{p.name} = {own};"]
            arguments.append(f"{p.name} ? &{own} : NULL")
        else:
            arguments.append(f'as_int({p.name}, "{name}")')
    return before, f"int code = {callee}({', '.join(arguments)});", [*after, "return code;"]
