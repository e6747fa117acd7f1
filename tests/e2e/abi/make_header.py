#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpi.h of the standard ABI of MPI 5.0, as an MPI that is not ours would bring it: make_header.py OUTPUT.

Constants are those of tests/data/mpi-5-abi-constants.tsv, types are written here after the standard, and the functions are
those of middleware/surface/mpi.tsv under their own names, and a few that only newer versions of MPI have. Nothing is taken
from Parfocal's mpi.h.
"""

import csv
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "middleware" / "surface"))
import table  # noqa: E402

HANDLES = "Comm Datatype Errhandler File Group Info Message Op Request Session Win T_enum T_cvar_handle T_pvar_handle T_pvar_session"
TYPES = """
#include <stdint.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef int MPI_Fint;
typedef struct { int MPI_SOURCE; int MPI_TAG; int MPI_ERROR; int MPI_internal[5]; } MPI_Status;
typedef struct { MPI_Fint MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5]; } MPI_F08_status;
typedef void MPI_User_function(void *, void *, int *, MPI_Datatype *);
typedef void MPI_User_function_c(void *, void *, MPI_Count *, MPI_Datatype *);
typedef int MPI_Grequest_query_function(void *, MPI_Status *);
typedef int MPI_Grequest_free_function(void *);
typedef int MPI_Grequest_cancel_function(void *, int);
typedef int MPI_Datarep_extent_function(MPI_Datatype, MPI_Aint *, void *);
typedef int MPI_Datarep_conversion_function(void *, MPI_Datatype, int, void *, MPI_Offset, void *);
typedef int MPI_Datarep_conversion_function_c(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *);
"""
OF_OBJECTS = """
typedef int MPI_{word}_copy_attr_function(MPI_{type}, int, void *, void *, void *, int *);
typedef int MPI_{word}_delete_attr_function(MPI_{type}, int, void *, void *);
"""
HANDLERS = "typedef void MPI_{0}_errhandler_function(MPI_{0} *, int *, ...);\ntypedef MPI_{0}_errhandler_function MPI_{0}_errhandler_fn;\n"
OLD = """
typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;
typedef MPI_Comm_errhandler_function MPI_Handler_function;
"""
NEWER = """
int MPI_Send_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
int MPI_Recv_c(void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
int MPI_Allreduce_c(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Allgatherv_c(const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count[], const MPI_Aint[], MPI_Datatype, MPI_Comm);
int MPI_Abi_get_version(int *, int *);
int MPI_Session_init(MPI_Info, MPI_Errhandler, MPI_Session *);
#ifdef __cplusplus
}
#endif
"""


def constant(name, type_, value):
    if type_ == "alias":
        return f"#define {name} {value}\n"
    if type_ == "int":
        return f"#define {name} ({value})\n"
    if type_ == "MPI_Offset":
        return f"#define {name} (({type_})({value}))\n"
    star = " *" if type_.endswith("_function") or type_.endswith("_function_c") or type_ == "MPI_Status" else ""
    return f"#define {name} (({type_}{star})({value}))\n"


def header():
    yield "/* Made by make_header.py. */\n#ifndef MPI_H_ABI\n#define MPI_H_ABI\n"
    for name in HANDLES.split():
        yield f"typedef struct MPI_ABI_{name} *MPI_{name};\n"
    yield TYPES
    for word, type_ in (("Comm", "Comm"), ("Type", "Datatype"), ("Win", "Win")):
        yield OF_OBJECTS.format(word=word, type=type_)
    for type_ in ("Comm", "Win", "File", "Session"):
        yield HANDLERS.format(type_)
    yield OLD
    with open(ROOT / "tests/data/mpi-5-abi-constants.tsv", newline="") as lines:
        for row in csv.reader((line for line in lines if not line.startswith("#")), delimiter="\t"):
            if row[0] != "name":
                yield constant(*row)
    for function in table.read():
        yield f"{function.prototype(function.name)};\n{function.prototype('P' + function.name)};\n"
    yield NEWER + "#endif\n"


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text("".join(header()))
