# SPDX-License-Identifier: BSD-3-Clause
"""abi_entries.c: libmpi_abi.so.0, the functions of the standard ABI under their own names.

Those of the table are the middleware's. Of the newer ones (later.tsv, and three rules here), most with large counts are served (large.py); the
others end the run with their name.
"""

import pathlib

import cfile
import large
import table

LATER = pathlib.Path(__file__).with_name("later.tsv")


def later(functions):
    """Names of the functions that the table does not have, without MPI_, and the one of the table behind it or None."""
    by_stem = {f.stem: f for f in functions}
    listed = [line.split("\t") for line in LATER.read_text().splitlines() if line.strip() and not line.startswith("#")]
    for stem in [f.stem for f in functions if has_large(f)] + [stem for stem, since in listed if since == "large"]:
        yield stem + "_c", by_stem[stem] if large.is_served(by_stem[stem]) else None
    for f in functions:
        if f.group in ("coll", "neighbor") and not f.stem.startswith("Ineighbor"):
            yield f.stem + "_init", None
            if f.of_kind("COUNT"):
                yield f.stem + "_init_c", None
    for handle in ("Session", "Type", *(ctype[len("MPI_"):] for kind, ctype in table.HANDLES.items() if kind != "DATATYPE")):
        yield handle + "_fromint", None
        yield handle + "_toint", None
    yield from ((stem, None) for stem, since in listed if since != "large")


def has_large(function):
    """Whether MPI 4 has the function with MPI_Count where this one has counts or displacements; the few others are in later.tsv."""
    if function.era != "std" or function.group not in ("p2p", "persistent", "coll", "icoll", "neighbor", "rma", "file", "status", "op", "type", "pack"):
        return False
    return bool(function.of_kind("COUNT", "DISPL", *(("AINT",) if function.group in ("type", "pack") else ())))


def generate(functions):
    entries = [entry(f, p) for f in functions for p in ("", "P")]
    entries += [by_int(f, p) if f else absent(stem, p) for stem, f in later(functions) for p in ("", "P")]
    return (cfile.header("the standard ABI of MPI 5.0")
            + '#include <limits.h>\n#include <stdlib.h>\n\n#include "mpi.h"\n#include "base/export.h"\n#include "base/log.h"\n'
            + '#include "base/memory.h"\n' + large.HELPERS + "\n"
            + "#pragma GCC visibility push(default)\n\n" + "\n".join(entries) + "\n#pragma GCC visibility pop\n")


def define(name, prototype, body):
    """Under another name in C, since mpi.h makes macros of those of MPI."""
    label = f'{prototype(f"abi_{name}")} __asm__("{name}");'
    return f'{cfile.wrap(label)}\n{cfile.wrap(prototype(f"abi_{name}"))}\n{{\n    {body}\n}}\n'


def entry(f, p):
    return define(p + f.name, f.prototype, cfile.wrap(f"return pf_{p}{f.name}({f.arguments});", "        "))


def by_int(f, p):
    name = f"{p}{f.name}_c"
    before, call, after = large.body(f, name, f"pf_{p}{f.name}")
    return define(name, large.function(f).prototype, "\n    ".join((*before, cfile.wrap(call, "        "), *after)))


def absent(stem, p):
    if stem == "Abi_get_version":
        return define(f"{p}MPI_{stem}", lambda called: f"int {called}(int *abi_major, int *abi_minor)",
                      "*abi_major = 1;\n    *abi_minor = 0;\n    return MPI_SUCCESS;")
    return define(f"{p}MPI_{stem}", lambda called: f"int {called}(void)",
                  f'pf_die("the program calls {p}MPI_{stem}, which this version does not have (pfinfo --coverage)");')
