# SPDX-License-Identifier: BSD-3-Clause
"""ompi_entries.c: the functions of MPI under their own names, as programs and libraries call them that were compiled against Open MPI.

The middleware's functions do the work. Handles need no translation (middleware/ompi_abi/ompi_abi.c); statuses, named values and error codes do.
"""

import re

import abi_entries
import cfile
import large
import ompi_values
import table

# By hand in middleware/ompi_abi/ompi_abi.c.
BY_HAND = ("MPI_Grequest_start", "MPI_Status_c2f", "MPI_Status_f2c", "MPI_Info_get_string", "MPI_Comm_create_errhandler", "MPI_Win_create_errhandler",
           "MPI_File_create_errhandler", "MPI_Errhandler_create")
# Of Open MPI 5, beside those of the standard.
FURTHER = ("MPI_Session_c2f", "MPI_Session_f2c", *(f"MPIX_Comm_{stem}" for stem in
           ("ack_failed", "agree", "get_failed", "iagree", "is_revoked", "revoke", "shrink")))
HANDLES = re.compile(r"\b(?:" + "|".join(table.HANDLES.values()) + r")\b")
FUNCTIONS = re.compile(r"\bMPI_\w+_function \*")


def generate(functions):
    entries = [absent(f.name) if is_absent(f) else entry(f) for f in functions if f.name not in BY_HAND]
    later = [(f"MPI_{stem}", f) for stem, f in abi_entries.later(functions)]
    entries += [neutral(large.HELPERS, ""), *(by_int(f) for _, f in later if f)]
    entries += [absent(name) for name in (*(name for name, f in later if not f), *FURTHER) if name not in BY_HAND]
    return (cfile.header("the functions of Open MPI") + '#include <limits.h>\n#include <stdlib.h>\n\n#include "base/log.h"\n#include "base/memory.h"\n'
            + '#include "middleware/ompi_abi/ompi_abi.h"\n\n' + "\n".join(entries))


def is_absent(f):
    return f.group == "mpit" or any(p.kind == "F08_STATUS" for p in f.params)


def neutral(text, status, handle="void *"):
    """C without the types of any mpi.h but statuses: Open MPI's or ours."""
    text = FUNCTIONS.sub("void *", HANDLES.sub(handle, text))
    return re.sub(r"\bMPI_Status\b", status, text)


def declare(f, name, status):
    return neutral(f.prototype(name), status)


def define(f, lines):
    name = f"abi_{f.name}"
    inner = "".join(f"    {line}\n" for line in lines)
    return (f'{cfile.wrap(declare(f, "pf_" + f.name, "struct pf_abi_status"))};\n'
            + f'{cfile.wrap("PF_EXPORT " + declare(f, name, "MPI_Status"))} __asm__("{f.name}");\n'
            + f'{cfile.wrap("PF_EXPORT " + declare(f, "P" + name, "MPI_Status"))} __asm__("P{f.name}") __attribute__((alias("{f.name}")));\n'
            + f"{cfile.wrap(declare(f, name, 'MPI_Status'))}\n{{\n{inner}}}\n")


def absent(name):
    return (f'PF_EXPORT void abi_{name}(void) __asm__("{name}");\nPF_EXPORT void Pabi_{name}(void) __asm__("P{name}") __attribute__((alias("{name}")));\n'
            f'void abi_{name}(void)\n{{\n    pf_abi_absent("{name}");\n}}\n')


def by_int(f):
    before, call, after = large.body(f, f.name + "_c", f"abi_{f.name}")
    return define(large.function(f), [*before, cfile.wrap(call, "        "), *after])


def entry(f):
    if f.group == "f2c" and f.stem.endswith("_c2f"):
        return define(f, [f"return {number(f)}_out(pf_{f.name}({f.arguments}));"])
    if f.group == "f2c" and f.ret != "int":
        return define(f, [f"return pf_{f.name}({number(f)}_in({f.arguments}));"])
    if f.ret != "int":
        return define(f, [f"return pf_{f.name}({f.arguments});"])
    before, arguments, after = ["pf_fortran_called_from(__builtin_return_address(0));"], [], []
    for p in f.params:
        if not p.is_varargs:
            arguments.append(argument(f, p, before, after))
    call = cfile.wrap(f"int code = pf_{f.name}({', '.join(arguments)});", "        ")
    return define(f, [*before, call, *after, "return pf_errcode_out(code);"])


def number(f):
    return f"pf_{f.stem.rsplit('_', 1)[0].lower()}_number"


def argument(f, p, before, after):
    """What is passed for a parameter; adds the lines before and after the call."""
    translate = p.kind.lower()
    known = p.kind in ompi_values.NAMES or p.kind in ompi_values.BITS
    own = f"own_{p.name}"
    if p.kind == "STATUS":
        return status(f, p, before, after)
    if p.kind == "STRING" and p.dir == "out" and p.length in ompi_values.own():
        length = "resultlen" if any(q.name == "resultlen" for q in f.params) else "NULL"
        before.append(f"char *{own} = pf_text_begin();")
        after.append(f"pf_text_end(code == 0 ? {p.name} : NULL, {own}, {length}, {p.length});")
        return own
    if p.kind == "ATTRIBUTE" and p.dir == "out":
        after += ["if (code == 0 && *flag)", f"    pf_attribute_out({f.of_kind('KEYVAL')[0].name}, {p.name});"]
        return p.name
    if p.kind == "WEIGHTS":
        return f"pf_weights_in({p.name})"
    if p.kind == "OFFSET" and f.stem == "File_set_view":
        return f"{p.name} == MPI_DISPLACEMENT_CURRENT ? -1 : {p.name}"
    if not known or f.stem in ("Abort", "Comm_spawn", "Comm_spawn_multiple"):
        return p.name
    if p.is_array:
        return array(f, p, before, after)
    if p.dir == "in":
        return f"pf_{translate}_in({p.name})"
    if p.dir == "inout":
        before.append(f"int {own} = pf_{translate}_in(*{p.name});")
        after.append(f"*{p.name} = pf_{translate}_out({own});")
        return f"&{own}"
    after += ["if (code == 0)", f"    *{p.name} = pf_{translate}_out(*{p.name});"]
    return p.name


def array(f, p, before, after):
    """Ranks that may be MPI_PROC_NULL, and what says how an array is distributed."""
    if p.kind == "RANK" and f.stem != "Group_translate_ranks":
        return p.name
    translate, own = p.kind.lower(), f"own_{p.name}"
    if p.dir == "in":
        before.append(f"int *{own} = pf_ints_in({p.name}, {p.length}, pf_{translate}_in);")
        after.append(f"free({own});")
        return own
    after += ["if (code == 0)", f"    pf_ints_out({p.name}, {p.length}, pf_{translate}_out);"]
    return p.name


def status(f, p, before, after):
    own = f"own_{p.name}"
    flag = next((q.name for q in f.params if q.name == "flag" and q.dir == "out"), None) if p.dir == "out" else None
    if p.is_array:
        some = "*outcount" if any(q.name == "outcount" for q in f.params) else f"code == 0 && !*{flag} ? 0 : {p.length}" if flag else p.length
        before.append(f"struct pf_abi_status *{own} = pf_statuses_begin({p.name}, {p.length});")
        after.append(f"pf_statuses_end({p.name}, {own}, {some}, code);")
        return own
    before.append(f"struct pf_abi_status {own};")
    if p.dir != "in":
        after += ([f"if (code == 0 && *{flag})"] if flag else []) + [("    " if flag else "") + f"pf_status_end({p.name}, &{own});"]
    return f"pf_status_begin({p.name}, &{own})"
