# SPDX-License-Identifier: BSD-3-Clause
"""The constants of mpi.h for Fortran, and from them mpif.h."""

import pathlib
import re

import fortran

HEADER = pathlib.Path(__file__).resolve().parent.parent / "include" / "mpi.h"
DEFINE = re.compile(r"^#define (MPI_\w+)\s+(.+?)(?:\s*/\*.*)?$", re.MULTILINE)
HANDLE = re.compile(r"PF_HANDLE\((\w[\w ]*\**), (0x[0-9a-f]+|\d+)\)")
# Without a meaning in Fortran, or with another form there.
OTHER = re.compile(r"MPI_T_|MPI_F_|MPI_STATUS_SIZE$|MPI_DISPLACEMENT_CURRENT$")
# A string of Fortran does not end with a zero (MPI 3.1 section 17.2.9).
STRINGS = re.compile(r"MPI_MAX_")
# Addresses that mean something: one common block for each, with the size of what it stands for.
PLACES = {
    "MPI_BOTTOM": ("integer", ""), "MPI_IN_PLACE": ("integer", ""), "MPI_STATUS_IGNORE": ("integer", "(8)"),
    "MPI_STATUSES_IGNORE": ("integer", "(8,1)"), "MPI_ERRCODES_IGNORE": ("integer", "(1)"),
    "MPI_UNWEIGHTED": ("integer", "(1)"), "MPI_WEIGHTS_EMPTY": ("integer", "(1)"),
    "MPI_ARGV_NULL": ("character(len=1)", "(1)"), "MPI_ARGVS_NULL": ("character(len=1)", "(1,1)"),
}
# Procedures that mean something.
PROCEDURES = ["MPI_NULL_COPY_FN", "MPI_NULL_DELETE_FN", "MPI_DUP_FN"] + [
    f"MPI_{kind}_{what}_FN" for kind in ("COMM", "TYPE", "WIN") for what in ("NULL_COPY", "NULL_DELETE", "DUP")
] + ["MPI_CONVERSION_FN_NULL"]


def read(text):
    """Names and values, in the order of mpi.h."""
    values = {}
    for name, value in DEFINE.findall(text):
        value = value.strip()
        handle = HANDLE.fullmatch(value)
        if OTHER.match(name) or (handle and not handle.group(1).startswith("MPI_")) or (handle and "*" in handle.group(1)):
            continue
        if handle:
            values[name] = int(handle.group(2), 0)
        elif value in values:
            values[name] = values[value]
        elif re.fullmatch(r"\(?-?\d+\)?", value):
            values[name] = int(value.strip("()")) - bool(STRINGS.match(name))
    values.update(MPI_STATUS_SIZE=8, MPI_SOURCE=1, MPI_TAG=2, MPI_ERROR=3, MPI_INTEGER_KIND=4, MPI_ADDRESS_KIND=8,
                  MPI_OFFSET_KIND=8, MPI_COUNT_KIND=8)
    return values


def declarations(module):
    """For mpif.h in a form that is both fixed and free; for the module without what it declares itself."""
    lines = []
    for name, value in read(HEADER.read_text()).items():
        lines += [f"integer {name}", f"parameter ({name}={value})"]
    lines += ["integer(kind=8) MPI_DISPLACEMENT_CURRENT", "parameter (MPI_DISPLACEMENT_CURRENT=-1)"]
    for name in ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"):
        lines += [f"logical {name}", f"parameter ({name}=.false.)"]
    for name, (kind, shape) in PLACES.items():
        lines += [f"{kind} {name}{shape}", f"common /pf_{name.lower()}/ {name}", f"save /pf_{name.lower()}/"]
    lines += [f"external {name}" for name in PROCEDURES]
    if not module:
        for stem, kind in fortran.FUNCTIONS.items():
            kind = "integer(kind=8)" if "integer" in kind else kind
            for p in ("", "P"):
                lines += [f"{kind} {p}MPI_{stem.upper()}", f"external {p}MPI_{stem.upper()}"]
    return lines


def generate(functions):
    return ("! SPDX-License-Identifier: BSD-3-Clause\n! Generated from mpi.h and surface/mpi.tsv: MPI for Fortran, in "
            "fixed\n! and in free form. Do not edit.\n" + "".join(f"      {line}\n" for line in declarations(False)))
