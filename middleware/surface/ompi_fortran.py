# SPDX-License-Identifier: BSD-3-Clause
"""ompi_fortran.c: the Fortran entry points as Open MPI has them, for what its mpif90 has built.

Those of the middleware (fortran_calls.py) around Open MPI's functions of C (ompi_entries.py), and again by the names that its module mpi_f08 calls.
"""

import cfile
import fortran
import fortran_calls
import ompi_entries

# What MPI_SIZEOF of mpif.h calls, for scalars and arrays, and bytes.
SIZES = {"character": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "logical": 4, "real32": 4, "real64": 8, "real128": 16, "complex32": 8,
         "complex64": 16, "complex128": 32}
# Open MPI 5's mpi_f08 calls them: nothing to do, and statuses, which are the same words.
CONVERSIONS = """
void ompi_f_sync_reg_f(void *buffer);
void ompi_f_sync_reg_f(void *buffer)
{
    (void)buffer;
}
void ompi_status_f2f08_f(const MPI_Fint *from, MPI_Fint *to, MPI_Fint *ierror);
void ompi_status_f2f08_f(const MPI_Fint *from, MPI_Fint *to, MPI_Fint *ierror)
{
    memcpy(to, from, sizeof(MPI_Status));
    pf_f_ierror(ierror, MPI_SUCCESS);
}
"""


def generate(functions):
    members = fortran.functions(functions)
    generated = [f for f in members if f.stem not in fortran.BY_HAND]
    text = "".join(fortran_calls.entry(f) for f in generated)
    return (cfile.header("Fortran entry points of Open MPI") + '#include <string.h>\n\n#include "middleware/fortran/convert.h"\n\ntypedef void *handle;\n\n'
            + "".join(ompi_entries.neutral(f.prototype("pf_entry_" + f.stem), "MPI_Status", "handle") + f' __asm__("P{f.name}");\n' for f in generated)
            + "\n" + ompi_entries.neutral(text, "MPI_Status", "handle")
            + "".join(alias(f"ompi{f.name[3:].lower()}_f", f"p{f.name.lower()}_") for f in generated)
            + CONVERSIONS + "".join(alias(name, "ompi_status_f2f08_f") for name in
                                    ("ompi_status_f082f_f", "mpi_status_f2f08_", "mpi_status_f082f_", "pmpi_status_f2f08_", "pmpi_status_f082f_"))
            + "".join(size(*row) for row in SIZES.items()))


def alias(name, of):
    return f'__typeof__({of}) {name} __attribute__((alias("{of}")));\n'


def size(kind, size):
    name = f"pmpi_sizeof_{kind}_scalar_"
    others = [f"{p}mpi_sizeof_{kind}_{shape}_" for p in ("", "p") for shape in ("scalar", *(f"r{rank}" for rank in range(1, 16)))]
    return (f"void {name}(const void *x, MPI_Fint *size, MPI_Fint *ierror);\nvoid {name}(const void *x, MPI_Fint *size, MPI_Fint *ierror)\n"
            f"{{\n    (void)x;\n    *size = {size};\n    pf_f_ierror(ierror, MPI_SUCCESS);\n}}\n" + "".join(alias(other, name) for other in others if other != name))
