# SPDX-License-Identifier: BSD-3-Clause
"""mpi.f90: the module `mpi` with an interface for each subroutine.

Buffers may be anything: TYPE(*) without a check of the argument. MPI_SIZEOF is made of one function per kind.
"""

import textwrap

import fortran
import fortran_constants
import fortran_f08

NO_CHECK = "!GCC$ ATTRIBUTES NO_ARG_CHECK :: "
SIZEOF = [(f"{kind}({size})", f"{kind[0]}{size}") for kind, sizes in
          (("integer", (1, 2, 4, 8, 16)), ("real", (4, 8, 10, 16)), ("complex", (4, 8, 10, 16)), ("logical", (1, 2, 4, 8)))
          for size in sizes] + [("character(*)", "character")]


def generate(functions):
    members = fortran.functions(functions)
    parts = ["! SPDX-License-Identifier: BSD-3-Clause\n! Generated from mpi.h and surface/mpi.tsv: the module mpi. Do not edit.\n"
             "module mpi\n  implicit none\n"]
    parts += [f"  {line}\n" for line in fortran_constants.declarations(True)] + [fortran_f08.STATUS]
    parts += [wrap(f"  private :: " + ", ".join("sizeof_" + stem for _, stem in SIZEOF))]
    parts += [interface(f, p) for f in members for p in ("", "P")]
    parts += [sync_reg(p) for p in ("", "P")]
    parts += ["  interface MPI_SIZEOF\n    module procedure " + ", &\n      ".join("sizeof_" + stem for _, stem in SIZEOF)
              + "\n  end interface\ncontains\n"]
    parts += [sizeof(*row) for row in SIZEOF]
    return "".join(parts) + fortran_f08.conversions() + "end module\n"


def sizeof(kind, stem):
    return (f"  subroutine sizeof_{stem}(x, size, ierror)\n    {kind}, dimension(..), intent(in) :: x\n"
            f"    integer, intent(out) :: size, ierror\n    size = storage_size(x) / 8\n    ierror = MPI_SUCCESS\n  end subroutine\n")


def sync_reg(p):
    """Only Fortran has it."""
    return (f"  interface\n    subroutine {p}MPI_F_sync_reg(buf)\n{NO_CHECK}buf\n      type(*), dimension(*) :: buf\n"
            "    end subroutine\n  end interface\n")


def interface(function, p):
    """One interface; two under one name when BASEPTR may be a C pointer."""
    name = p + function.name
    if not fortran.is_subroutine(function):
        return "  interface\n" + body(function, name, False) + "  end interface\n"
    if function.stem not in fortran.CPTR:
        return "  interface\n" + body(function, name, False) + "  end interface\n"
    return (f"  interface {name}\n" + body(function, name, False) + body(function, name + "_cptr", True) + "  end interface\n")


def body(function, name, cptr):
    params = fortran.params(function)
    names = [p.name for p in params] + (["ierror"] if fortran.has_ierror(function) else [])
    kind = "subroutine" if fortran.is_subroutine(function) else "function"
    lines = [wrap(f"    {kind} {name}({', '.join(names)})")]
    uses = ["MPI_STATUS_SIZE"] if any(p.kind == "STATUS" for p in params) else []
    uses += ["MPI_ADDRESS_KIND"] if any(needs(function, p, "ADDRESS") for p in params) or "Aint" in name else []
    uses += [f"MPI_{k}_KIND" for k in ("OFFSET", "COUNT") if any(needs(function, p, k) for p in params)]
    if uses:
        lines.append(f"      import :: {', '.join(uses)}\n")
    if cptr:
        lines.append("      use, intrinsic :: iso_c_binding, only: c_ptr\n")
        lines = [lines[0], lines[-1], *lines[1:-1]]
    lines.append("      implicit none\n")
    for p, n in zip(params, names):
        lines += declare(function, p, n, cptr)
    if fortran.has_ierror(function):
        lines.append("      integer, intent(out) :: ierror\n")
    if kind == "function":
        lines.append(f"      {fortran.FUNCTIONS[function.stem]} :: {name}\n")
    return "".join(lines) + f"    end {kind}\n"


def needs(function, p, kind):
    if not fortran.is_wide(function, p):
        return False
    return {"OFFSET": "OFFSET", "LONGCOUNT": "COUNT"}.get(p.kind, "ADDRESS") == kind


def declare(function, p, name, cptr):
    if p.kind == "BUFFER" or function.stem == "Buffer_detach" and p.kind == "BASEPTR":
        return [f"      {NO_CHECK}{name}\n".replace("      !GCC$", "!GCC$"), f"      type(*), dimension(*) :: {name}\n"]
    if p.kind == "FUNCTION":
        return [f"      external :: {name}\n"]
    if p.kind == "STRING":
        return [f"      character(len=*), intent({p.dir}) :: {name}\n"]
    if p.kind == "STRINGS":
        dims = "(*)" if "**" not in p.ctype else "(count, *)"
        return [f"      character(len=*), intent(in) :: {name}{dims}\n"]
    if p.kind == "BASEPTR" and cptr:
        return [f"      type(c_ptr), intent(out) :: {name}\n"]
    intent = f", intent({p.dir})"
    if p.kind in ("STATUS", "WEIGHTS") or p.name == "array_of_errcodes" or (p.is_array and p.dir == "out"):
        intent = ""  # a place that means "ignore" is not written, and some come as constants
    if p.kind == "STATUS":
        return [f"      integer{intent} :: {name}(MPI_STATUS_SIZE{', *' if p.is_array else ''})\n"]
    dims = "(3, *)" if p.kind == "RANGES" else "(*)" if p.is_array else ""
    return [f"      {typename(function, p)}{intent} :: {name}{dims}\n"]


def typename(function, p):
    if p.kind == "LOGICAL":
        return "logical"
    for kind in ("ADDRESS", "OFFSET", "COUNT"):
        if needs(function, p, kind):
            return f"integer(kind=MPI_{kind}_KIND)"
    return "integer"


def wrap(text):
    return " &\n      ".join(textwrap.wrap(text, 110, initial_indent="", break_long_words=False, drop_whitespace=True,
                                           replace_whitespace=False)) + "\n"
