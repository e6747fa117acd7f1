# SPDX-License-Identifier: BSD-3-Clause
"""The MPI surface as objects: reads mpi.tsv, checks its form, and gives the generators Functions and Params."""

import dataclasses
import pathlib
import re
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

# What a parameter is by its C type, or, where the type leaves it open, by its name. A row says what differs from that.
BY_TYPE = {**{ctype: kind for kind, ctype in HANDLES.items()}, "MPI_Aint": "AINT", "MPI_Count": "LONGCOUNT", "MPI_Offset": "OFFSET",
           "MPI_Fint": "FINT", "MPI_Status": "STATUS", "MPI_F08_status": "F08_STATUS", "MPI_T_enum": "T_ENUM",
           "MPI_T_cvar_handle": "T_CVAR", "MPI_T_pvar_handle": "T_PVAR", "MPI_T_pvar_session": "T_SESSION", "char": "STRING"}
BY_NAME = {
    "RANK": r"dest|source|rank|ranks\d?|\w+_leader|target_rank|rank_source|rank_dest|newrank|edges|neighbors|sources|destinations",
    "COUNT": r"\w*counts?|blocklength|array_of_(blocklengths|sizes|subsizes|starts|gsizes)",
    "DISPL": r"[sr]?displs|array_of_displacements",
    "LENGTH": r"max(dims|index|edges|neighbors|indegree|outdegree)|len|nedges|nneighbors",
    "LOGICAL": r"flag|commute|high|reorder|weighted|readonly|continuous|atomic|periods|remain_dims",
    "TAG": r"(send|recv)?tag", "ROOT": r"root", "KEYVAL": r"(\w+_)?keyval", "ERRCODE": r"errorcode|errorclass|array_of_errcodes",
    "WEIGHTS": r"(source|dest)?weights", "INDEX": r"array_of_indices", "DISTRIBUTION": r"array_of_distribs",
    "DISTRIBUTION_ARG": r"array_of_dargs", "ASSERT": r"assertion", "THREAD": r"required|provided", "ORDER": r"order",
    "WHENCE": r"whence", "COLOR": r"color", "SPLIT_TYPE": r"split_type", "TYPECLASS": r"typeclass", "LOCK": r"lock_type",
    "AMODE": r"amode", "ARGC": r"argc", "COMPARISON": r"result", "TOPOLOGY": r"status", "COMBINER": r"combiner",
    "EXTRA_STATE": r"extra_state", "ATTRIBUTE": r"attribute_val", "BASEPTR": r"baseptr|buffer_addr", "T_OBJECT": r"obj_handle",
}


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


def _member(where, value, allowed):
    if value not in allowed:
        raise TableError(f"{where}: unknown word '{value}'; one of {', '.join(allowed)}")
    return value


def _usual(ctype, name):
    """Direction and kind of a parameter by its type and name."""
    base = re.sub(r"const |[*\[\]3 ]", "", ctype)
    written = "out" if ctype[-1] in "*]" and "const" not in ctype else "in"
    special = {"...": ("in", "VARARGS"), "char ***": ("inout", "ARGV"), "char *[]": ("in", "STRINGS"), "char **[]": ("in", "STRINGS"),
               "int[][3]": ("in", "RANGES")}
    if ctype in special or base.endswith("_function"):
        return special.get(ctype, ("in", "FUNCTION"))
    named = next((kind for kind, names in BY_NAME.items() if re.fullmatch(names, name)), "BUFFER" if base == "void" else "INT")
    return "in" if named in ("EXTRA_STATE", "T_OBJECT") else written, BY_TYPE.get(base, named)


def _param(where, text):
    """From "inout KIND length: const int name[length]", of which what stands before the colon may be missing."""
    words, colon, declared = text.rpartition(":")
    match = re.fullmatch(r"(.*?[ *])?(\w+|\.\.\.)(?:\[([\w*]+)\](\[3\])?)?", declared.strip())
    if not match or not (match[1] or match[2] == "..."):
        raise TableError(f"{where}: no parameter of C: '{declared}'")
    name = "varargs" if match[2] == "..." else match[2]
    ctype = (match[1] or "...").rstrip() + ("[]" + (match[4] or "") if match[3] else "")
    direction, kind = _usual(ctype, name)
    length = match[3] or ""
    for word in words.split():
        if word in DIRECTIONS:
            direction = word
        elif word in KINDS:
            kind = word
        else:
            length = word
    return Param(direction, kind, ctype, name, length)


def _function(where, fields):
    if len(fields) != 8:
        raise TableError(f"{where}: a function has 8 fields, this line has {len(fields)}")
    name, ret, route, group, smpi, era, same, params = fields
    return Function(name, ret, _member(where, route, ROUTES), group, _member(where, smpi, SMPI), _member(where, era, ERAS),
                    "" if same == "-" else same, tuple(_param(where, p) for p in params.split(",") if p != "void"))


def read(path=None):
    """All functions in the order of the table."""
    path = pathlib.Path(path or pathlib.Path(__file__).with_name("mpi.tsv"))
    functions = [_function(f"{path.name}:{number}", line.split("\t")) for number, line in enumerate(path.read_text().splitlines(), 1)
                 if line.strip() and not line.startswith("#")]
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
        for p in f.params:
            if p.length not in ("", "*", *names) and not p.length.startswith("MPI_"):
                raise TableError(f"{f.name}: '{p.length}' before or behind {p.name} is no direction, kind, parameter or constant of MPI")


def _same_but_typedef(function):
    """MPI-1's callback types have other names for the same prototypes."""
    return any(p.kind == "FUNCTION" for p in function.params)


if __name__ == "__main__":
    table = read(sys.argv[1] if len(sys.argv) > 1 else None)
    print(f"{len(table)} functions, {sum(len(f.params) for f in table)} parameters")
