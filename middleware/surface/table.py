# SPDX-License-Identifier: BSD-3-Clause
"""The MPI surface as objects: reads mpi.tsv, checks its form, and gives the generators Functions and Params."""

import dataclasses
import pathlib
import sys

ROUTES = ("LOCAL", "ACTIVE", "RECIPE", "MIDDLEWARE", "OWNER", "EMULATED", "FALLBACK", "REFUSED")
DIRECTIONS = ("in", "out", "inout")
SMPI = ("yes", "stub", "noop", "no")
ERAS = ("std", "deprecated", "removed")

# Kinds of parameters whose values are handles of the middleware, with the C type of one value.
HANDLES = {
    "COMM": "MPI_Comm", "DATATYPE": "MPI_Datatype", "ERRHANDLER": "MPI_Errhandler", "FILE": "MPI_File",
    "GROUP": "MPI_Group", "INFO": "MPI_Info", "MESSAGE": "MPI_Message", "OP": "MPI_Op",
    "REQUEST": "MPI_Request", "WIN": "MPI_Win",
}
# Integers with named values that implementations number differently: they need a translation.
NAMED_VALUES = ("RANK", "ROOT", "TAG", "COLOR", "INDEX", "COUNT", "LENGTH", "KEYVAL", "ERRCODE", "THREAD", "LOCK", "ASSERT",
                "AMODE", "WHENCE", "ORDER", "DISTRIBUTION", "DISTRIBUTION_ARG", "COMPARISON", "TOPOLOGY",
                "SPLIT_TYPE", "COMBINER", "TYPECLASS")
PLAIN = ("INT", "AINT", "OFFSET", "LONGCOUNT", "DISPL", "LOGICAL", "FINT")
OTHER = ("BUFFER", "BASEPTR", "STATUS", "F08_STATUS", "STRING", "STRINGS", "RANGES", "WEIGHTS", "ATTRIBUTE", "EXTRA_STATE",
         "FUNCTION", "ARGC", "ARGV", "VARARGS", "T_ENUM", "T_CVAR", "T_PVAR", "T_SESSION", "T_OBJECT")
KINDS = tuple(HANDLES) + NAMED_VALUES + PLAIN + OTHER


class TableError(Exception):
    """A line of the table that cannot be right."""


@dataclasses.dataclass(frozen=True)
class Param:
    dir: str     # in, out, inout: as seen by the caller
    kind: str    # what it means (KINDS)
    ctype: str   # C type; arrays end in [] or [][3], the variable part is "..."
    name: str
    length: str  # of an array: another parameter, a constant, "*" (as the communicator or the graph says), "" if none

    @property
    def is_array(self):
        return self.ctype.endswith("]")

    @property
    def is_varargs(self):
        return self.ctype == "..."

    @property
    def is_handle(self):
        return self.kind in HANDLES

    @property
    def declaration(self):
        """The parameter in a prototype, e.g. "const int recvcounts[]"."""
        if self.is_varargs:
            return "..."
        base, bracket, dims = self.ctype.partition("[")
        space = "" if base.endswith("*") else " "
        return base + space + self.name + bracket + dims

    @property
    def pointer_ctype(self):
        """The type without array notation, for a variable or a cast: "const int *", "int (*)[3]"."""
        if self.ctype.endswith("[][3]"):
            return self.ctype[:-len("[][3]")] + " (*)[3]"
        if self.ctype.endswith("[]"):
            base = self.ctype[:-2]
            return base + ("*" if base.endswith("*") else " *")
        return self.ctype


@dataclasses.dataclass(frozen=True)
class Function:
    name: str    # MPI_Send
    ret: str
    route: str   # ROUTES; README.md says what each means
    group: str
    smpi: str    # what SMPI 3.32 has: yes, stub (aborts the process), noop, no
    era: str     # std, deprecated (still in MPI 3.1), removed (MPI-1 names that codes still use)
    same: str    # a newer function with the same meaning and signature, or ""
    params: tuple

    @property
    def stem(self):
        """The name without its prefix: Send, T_cvar_read."""
        return self.name[len("MPI_"):]

    @property
    def declarations(self):
        return ", ".join(p.declaration for p in self.params) or "void"

    @property
    def arguments(self):
        return ", ".join(p.name for p in self.params if not p.is_varargs)

    def prototype(self, name):
        """The prototype under another name, without the semicolon."""
        space = "" if self.ret.endswith("*") else " "
        return f"{self.ret}{space}{name}({self.declarations})"

    def of_kind(self, *kinds):
        return [p for p in self.params if p.kind in kinds]

    def param(self, name):
        return next(p for p in self.params if p.name == name)


def _dash(text):
    return "" if text == "-" else text


def _member(where, value, allowed):
    if value not in allowed:
        raise TableError(f"{where}: unknown word '{value}'; one of {', '.join(allowed)}")
    return value


def _param(where, fields):
    if len(fields) != 5:
        raise TableError(f"{where}: a parameter has 5 fields, this line has {len(fields)}")
    direction, kind, ctype, name, length = fields
    param = Param(_member(where, direction, DIRECTIONS), _member(where, kind, KINDS), ctype, name, _dash(length))
    if param.is_array and not param.length:
        raise TableError(f"{where}: the array {name} needs a length")
    return param


def _function(where, fields):
    if len(fields) != 7:
        raise TableError(f"{where}: a function has 7 fields, this line has {len(fields)}")
    name, ret, route, group, smpi, era, same = fields
    return dict(name=name, ret=ret, route=_member(where, route, ROUTES), group=group,
                smpi=_member(where, smpi, SMPI), era=_member(where, era, ERAS), same=_dash(same))


def read(path=None):
    """All functions in the order of the table."""
    path = pathlib.Path(path or pathlib.Path(__file__).with_name("mpi.tsv"))
    heads = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.name}:{number}"
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith("\t"):
            heads.append((_function(where, line.split("\t")), []))
        elif heads:
            heads[-1][1].append(_param(where, line[1:].split("\t")))
        else:
            raise TableError(f"{where}: a parameter before the first function")
    functions = [Function(params=tuple(params), **head) for head, params in heads]
    _check(functions)
    return functions


def _check(functions):
    by_name = {f.name: f for f in functions}
    if len(by_name) != len(functions):
        raise TableError("a function stands in the table twice")
    for f in functions:
        if f.same and [p.ctype for p in by_name[f.same].params] != [p.ctype for p in f.params] and not _same_but_typedef(f):
            raise TableError(f"{f.name}: {f.same} has another signature")
        names = [p.name for p in f.params]
        if len(set(names)) != len(names):
            raise TableError(f"{f.name}: two parameters have one name")


def _same_but_typedef(function):
    """MPI-1's callback types have other names for the same prototypes."""
    return any(p.kind == "FUNCTION" for p in function.params)


if __name__ == "__main__":
    table = read(sys.argv[1] if len(sys.argv) > 1 else None)
    print(f"{len(table)} functions, {sum(len(f.params) for f in table)} parameters")
