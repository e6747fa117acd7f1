#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Generates what depends on the table of the MPI surface: generate.py OUTPUT FILE [HEADER...]. One module per output."""

import importlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import table  # noqa: E402

# Output, the module that writes it (its function generate(functions) returns the text), what it is.
OUTPUTS = {
    "mpi_proto.h": ("prototypes", "declares the MPI functions, which are pf_MPI_* and pf_PMPI_* for the linker"),
    "pf_fn.h": ("function_ids", "one number per function, and the facts of the table in C"),
    "pf_native.h": ("native_table", "the entry points of an implementation, as the middleware calls them"),
    "pf_own.h": ("own_table", "the same in the types of the implementation's own mpi.h, as its adapter fills them in"),
    "mpich_calls.c": ("integer_handles", "calls of an implementation whose handles are integers"),
    "raw_names.c": ("raw_names", "entry points for objects that refer to MPI functions without mpi.h"),
    "raw_names.ld": ("raw_names_ld", "linker options that lead such references to them"),
    "abi_entries.c": ("abi_entries", "MPI_* themselves: the library of the standard ABI"),
    "ompi_values.h": ("ompi_values", "the named values of Open MPI and ours"),
    "ompi_entries.c": ("ompi_entries", "MPI_* themselves as Open MPI has them"),
    "ompi_fortran.c": ("ompi_fortran", "mpi_* of Fortran as Open MPI has them"),
    "wrappers.c": ("wrappers", "the bodies of pf_PMPI_*"),
    "entries.c": ("entries", "pf_MPI_*: pf_PMPI_* themselves, or around them what counts the calls"),
    "checked.c": ("checked", "pf_check_*: the functions of the checking layer"),
    "check_names.h": ("check_names", "their names, and those of the functions beneath"),
    "pf_refused.h": ("refused", "the functions that this version does not implement"),
    "pf_evidence.h": ("evidence", "which test shows that a function works in a model"),
    "play_calls.c": ("play_calls", "actions of a replay, one for each MPI function"),
    "replay_types.h": ("replay_types", "numbers of datatypes in a trace"),
    "record_trace.h": ("record_trace", "calls as lines of a recording for a replay"),
    "record_tables.h": ("record_tables", "datatypes and operations of a recording"),
    "record_wrappers.c": ("record_wrappers", "MPI_* that record themselves, for another MPI"),
    "record_calls.c": ("record_calls", "MPI_* that record the computation between them, for another MPI"),
    "mpif.h": ("fortran_constants", "the constants for Fortran"),
    "mpi.f90": ("fortran_module", "the module mpi of Fortran"),
    "mpi_f08.f90": ("fortran_f08", "the module mpi_f08 of Fortran"),
    "fortran.c": ("fortran_calls", "the entry points for Fortran; fortran_GROUP.c: those of one group of the table"),
    "aliases.ld": ("aliases", "names of pf_PMPI_* that no other library can take"),
}


def main(arguments):
    name, _, group = arguments[0].removesuffix(".c").partition("_") if arguments else ("", "", "")
    if name == "fortran" and len(arguments) == 2:
        arguments = ["fortran.c", arguments[1]]
    if len(arguments) < 2 or arguments[0] not in OUTPUTS:
        print("usage: generate.py OUTPUT FILE [HEADER...]", *(f"  {o}: {t}" for o, (_, t) in OUTPUTS.items()), sep="\n",
              file=sys.stderr)
        return 2
    output, path, *headers = arguments
    module = importlib.import_module(OUTPUTS[output][0])
    functions = [f for f in table.read() if f.group == group or name != "fortran" or not group]
    pathlib.Path(path).write_text(module.generate(functions, *headers))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
