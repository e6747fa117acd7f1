# SPDX-License-Identifier: BSD-3-Clause
"""What Fortran sees of the table: names and types of the parameters, for the modules that write the interface.

Fortran passes addresses, handles are INTEGERs, and each subroutine ends with IERROR; the lengths of CHARACTER arguments
follow behind, unseen.
"""

import table

# Handles as the conversion functions call them: MPI_Type_c2f.
STEMS = {"COMM": "Comm", "DATATYPE": "Type", "ERRHANDLER": "Errhandler", "FILE": "File", "GROUP": "Group", "INFO": "Info",
         "MESSAGE": "Message", "OP": "Op", "REQUEST": "Request", "WIN": "Win"}
# Groups without a Fortran binding (MPI 3.1 sections 14.3 and 17.2).
WITHOUT = ("f2c", "mpit")
# Written by hand in middleware/fortran/: lists of strings, and one that counts its arguments differently.
BY_HAND = ("Comm_spawn", "Comm_spawn_multiple", "Buffer_detach")
# Fortran has these as functions.
FUNCTIONS = {"Wtime": "double precision", "Wtick": "double precision", "Aint_add": "integer(kind=MPI_ADDRESS_KIND)",
             "Aint_diff": "integer(kind=MPI_ADDRESS_KIND)"}
# MPI-1 had no integers of the size of an address (MPI 3.1 sections 15.1 and 16.1).
MPI1 = ("Type_hvector", "Type_hindexed", "Type_struct", "Type_extent", "Type_lb", "Type_ub", "Address", "Keyval_create",
        "Attr_put", "Attr_get")
# Two names of each: with the module `mpi`, BASEPTR may also be a TYPE(C_PTR).
CPTR = ("Alloc_mem", "Win_allocate", "Win_allocate_shared", "Win_shared_query")


def functions(all_functions):
    """Those that Fortran can call, in the order of the table."""
    return [f for f in all_functions if f.group not in WITHOUT]





def is_subroutine(function):
    return function.stem not in FUNCTIONS


def params(function):
    """The parameters that Fortran has too."""
    return [p for p in function.params if p.kind not in ("ARGC", "ARGV", "VARARGS")]


def has_ierror(function):
    return is_subroutine(function) and function.stem != "Pcontrol"


def is_short(function, param):
    """An address or attribute in a default INTEGER."""
    return function.stem in MPI1 and param.kind in ("AINT", "ATTRIBUTE", "EXTRA_STATE")


def is_pointer(param):
    """In C: what the caller's variable receives, or an array."""
    return param.is_array or param.ctype.endswith("*")


def is_wide(function, param):
    return param.kind in ("AINT", "OFFSET", "LONGCOUNT", "ATTRIBUTE", "EXTRA_STATE", "BASEPTR") and not is_short(function, param)


assert set(STEMS) == set(table.HANDLES)
