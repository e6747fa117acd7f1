# SPDX-License-Identifier: BSD-3-Clause
"""mpi_f08.f90: the module `mpi_f08`: handles and statuses as types, IERROR optional, callbacks with their interfaces.

A handle is a type of one INTEGER, a status one of eight, so they look in memory as those of the module `mpi`: the procedures
are the same ones, and this module declares them again. Buffers are TYPE(*), passed as addresses.
"""

import fortran
import fortran_constants
import fortran_module
from table import HANDLES

CALLBACKS = """
  abstract interface
    subroutine MPI_User_function(invec, inoutvec, len, datatype)
      import
      type(c_ptr), value :: invec, inoutvec
      integer :: len
      type(MPI_Datatype) :: datatype
    end subroutine
    subroutine MPI_Grequest_query_function(extra_state, status, ierror)
      import
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      type(MPI_Status) :: status
      integer :: ierror
    end subroutine
    subroutine MPI_Grequest_free_function(extra_state, ierror)
      import
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      integer :: ierror
    end subroutine
    subroutine MPI_Grequest_cancel_function(extra_state, complete, ierror)
      import
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      logical :: complete
      integer :: ierror
    end subroutine
    subroutine MPI_Datarep_extent_function(datatype, extent, extra_state, ierror)
      import
      type(MPI_Datatype) :: datatype
      integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
      integer :: ierror
    end subroutine
    subroutine MPI_Datarep_conversion_function(userbuf, datatype, count, filebuf, position, extra_state, ierror)
      import
      type(c_ptr), value :: userbuf, filebuf
      type(MPI_Datatype) :: datatype
      integer :: count, ierror
      integer(kind=MPI_OFFSET_KIND) :: position
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
    end subroutine
"""
COPY = """    subroutine {name}(old, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
      import
      type(MPI_{type}) :: old
      integer :: keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine
"""
DELETE = """    subroutine {name}(object, keyval, attribute_val, extra_state, ierror)
      import
      type(MPI_{type}) :: object
      integer :: keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine
"""
ERROR = """    subroutine MPI_{type}_errhandler_function(object, error_code)
      import
      type(MPI_{type}) :: object
      integer :: error_code
    end subroutine
"""
CONVERSION = """    subroutine MPI_CONVERSION_FN_NULL(userbuf, datatype, count, filebuf, position, extra_state, ierror)
      import
      type(c_ptr), value :: userbuf, filebuf
      type(MPI_Datatype) :: datatype
      integer :: count, ierror
      integer(kind=MPI_OFFSET_KIND) :: position
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
    end subroutine
"""
STATUS = """  type, bind(C) :: MPI_Status
    integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR
    integer :: internal(5)
  end type
"""
CONVERT = """  subroutine {p}MPI_Status_f2f08(f_status, f08_status, ierror)
    integer, intent(in) :: f_status(MPI_STATUS_SIZE)
    type(MPI_Status), intent(out) :: f08_status
    integer, optional, intent(out) :: ierror
    f08_status = transfer(f_status, f08_status)
    if (present(ierror)) ierror = MPI_SUCCESS
  end subroutine
  subroutine {p}MPI_Status_f082f(f08_status, f_status, ierror)
    type(MPI_Status), intent(in) :: f08_status
    integer, intent(out) :: f_status(MPI_STATUS_SIZE)
    integer, optional, intent(out) :: ierror
    f_status = transfer(f08_status, f_status)
    if (present(ierror)) ierror = MPI_SUCCESS
  end subroutine
"""
OBJECTS = (("COMM", "Comm", "Comm"), ("TYPE", "Type", "Datatype"), ("WIN", "Win", "Win"))
TYPES = [ctype for ctype in HANDLES.values()]


def generate(functions):
    members = [f for f in fortran.functions(functions) if f.era == "std"]
    parts = ["! SPDX-License-Identifier: BSD-3-Clause\n! Generated from mpi.h and surface/mpi.tsv: the module mpi_f08. Do not edit.\n"
             "module mpi_f08\n  use, intrinsic :: iso_c_binding, only: c_ptr\n  implicit none\n  private :: c_ptr\n"]
    parts += [f"  type, bind(C) :: {t}\n    integer :: MPI_VAL\n  end type\n" for t in TYPES] + [STATUS]
    parts += [f"  {line}\n" for line in constants()] + [callbacks()]
    parts += [f"  interface operator({sign})\n    module procedure " + ", &\n      ".join(f"{stem}_{t[4:].lower()}" for t in TYPES)
              + "\n  end interface\n" for sign, stem in (("==", "same"), ("/=", "other"))]
    parts += ["  private :: " + ", &\n    ".join(f"{stem}_{t[4:].lower()}" for t in TYPES for stem in ("same", "other")) + "\n"]
    parts += ["  interface\n" + body(f, p + f.name) + "  end interface\n" for f in members for p in ("", "P")]
    parts += [fortran_module.sync_reg(p) for p in ("", "P")] + ["contains\n"]
    parts += [compare(t, stem, sign) for t in TYPES for stem, sign in (("same", "=="), ("other", "/="))]
    return "".join(parts) + conversions() + "end module\n"


def conversions():
    """Of statuses, in the module `mpi` as well, which has the type for them (MPI 3.1 section 17.2.5)."""
    return "".join(CONVERT.format(p=p) for p in ("", "P"))


def constants():
    """Handles and places have their types; whatever else is an integer is as in the module `mpi`."""
    types = {name: handle.group(1) for name, value in fortran_constants.DEFINE.findall(fortran_constants.HEADER.read_text())
             if (handle := fortran_constants.HANDLE.fullmatch(value.strip())) and handle.group(1) in TYPES}
    for name, value in fortran_constants.DEFINE.findall(fortran_constants.HEADER.read_text()):
        if value.strip() in types:
            types[name] = types[value.strip()]
    for name, value in fortran_constants.read(fortran_constants.HEADER.read_text()).items():
        kind, text = (f"type({types[name]})", f"{types[name]}({value})") if name in types else ("integer", value)
        yield f"{kind}, parameter :: {name} = {text}"
    yield "integer(kind=8), parameter :: MPI_DISPLACEMENT_CURRENT = -1"
    for name in ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"):
        yield f"logical, parameter :: {name} = .false."
    for name, (kind, shape) in fortran_constants.PLACES.items():
        if "STATUS" in name:
            kind, shape = "type(MPI_Status)", "(1)" if "STATUSES" in name else ""
        yield f"{kind} :: {name}{shape}"
        yield f"common /pf_{name.lower()}/ {name}"
        yield f"save /pf_{name.lower()}/"


def callbacks():
    text = CALLBACKS
    for _, word, type_ in OBJECTS:
        text += COPY.format(name=f"MPI_{word}_copy_attr_function", type=type_)
        text += DELETE.format(name=f"MPI_{word}_delete_attr_function", type=type_)
    text += "".join(ERROR.format(type=t) for t in ("Comm", "Win", "File")) + "  end interface\n  interface\n"
    for capital, _, type_ in OBJECTS:
        text += "".join(COPY.format(name=f"MPI_{capital}_{what}_FN", type=type_) for what in ("NULL_COPY", "DUP"))
        text += DELETE.format(name=f"MPI_{capital}_NULL_DELETE_FN", type=type_)
    return text + CONVERSION + "  end interface\n"


def compare(ctype, stem, sign):
    name = f"{stem}_{ctype[4:].lower()}"
    return (f"  elemental logical function {name}(a, b)\n    type({ctype}), intent(in) :: a, b\n"
            f"    {name} = a%MPI_VAL {sign} b%MPI_VAL\n  end function\n")


def body(function, name):
    params = fortran.params(function)
    subroutine = fortran.is_subroutine(function)
    names = [p.name for p in params] + (["ierror"] if fortran.has_ierror(function) else [])
    kind = "subroutine" if subroutine else "function"
    symbol = f' bind(C, name="{name.lower()}_f08_")' if function.stem == "Buffer_detach" else ""
    lines = [fortran_module.wrap(f"    {kind} {name}({', '.join(names)}){symbol}"), "      import\n      implicit none\n"]
    lines += [declare(function, p) for p in params]
    if fortran.has_ierror(function):
        lines.append("      integer, optional, intent(out) :: ierror\n")
    if not subroutine:
        lines.append(f"      {fortran.FUNCTIONS[function.stem]} :: {name}\n")
    return "".join(lines) + f"    end {kind}\n"


def declare(function, p):
    if p.kind == "FUNCTION":
        return f"      procedure({p.ctype.rstrip('* ')}) :: {p.name}\n"
    if p.kind == "BASEPTR":
        return f"      type(c_ptr), intent({'out' if p.dir != 'in' else 'in'}) :: {p.name}\n" if function.stem != "Free_mem" \
            else f"{fortran_module.NO_CHECK}{p.name}\n      type(*), dimension(*) :: {p.name}\n"
    if p.kind in HANDLES or p.kind == "STATUS":
        intent = "" if p.kind == "STATUS" or p.is_array and p.dir == "out" else f", intent({p.dir})"
        return f"      type({HANDLES.get(p.kind, 'MPI_Status')}){intent} :: {p.name}{'(*)' if p.is_array else ''}\n"
    text = "".join(fortran_module.declare(function, p, p.name, True))
    # TARGET: gfortran takes for granted that no address of another argument is kept beyond the call.
    return text.replace("type(*), dimension(*) ::", "type(*), dimension(*), target, asynchronous ::")
