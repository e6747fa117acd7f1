# SPDX-License-Identifier: BSD-3-Clause
"""mpich_calls.c: calls of an implementation whose handles are integers, for a middleware that knows handles as pointers.

A handle that is passed by value goes as it is: both are in a register or a slot of 8 bytes, of which the callee reads the lower half.
So only functions that have handles in memory, or a status that may be missing, need a call of their own.
"""

import cfile
import native_table

# Functions that the middleware calls natively with arrays as long as the communicator is large.
BLOCKS = ("Alltoallw", "Ialltoallw")


def generate(functions):
    called = [f for f in functions if needs_call(f)]
    return (cfile.header("calls of an implementation with integers for handles")
            + '#include "adapters/mpich/calls.h"\n\n' + "\n".join(call(f) for f in called)
            + "\nvoid *const pf_mpich_calls[PF_FN_COUNT] = {\n"
            + "".join(f"    [PF_FN_{f.stem}] = (void *)call_{f.stem},\n" for f in called) + "};\n")


def in_memory(f):
    return [p for p in f.params if p.is_handle and p.pointer_ctype.endswith("*")]


def statuses(f):
    return [p for p in f.of_kind("STATUS") if p.dir == "out"]


def needs_call(f):
    known = all(p.length != "*" or f.stem in BLOCKS for p in in_memory(f))
    return known and f.route != "REFUSED" and f.group != "file" and (in_memory(f) or statuses(f))


def length(p):
    """In place, nothing is sent, and the types are not looked at."""
    blocks = "mpich_blocks(comm)" if p.name == "recvtypes" else "sendbuf == MPI_IN_PLACE ? 0 : mpich_blocks(comm)"
    return blocks if p.length == "*" else p.length or "1"


def call(f):
    types = ", ".join(native_table.opaque(p.pointer_ctype) for p in f.params)
    declared = ", ".join(native_table.opaque(p.declaration) for p in f.params)
    arguments = ", ".join(f"mpich_status({p.name})" if p in statuses(f) else p.name for p in f.params)
    lines = [f"int (*native)({types});", f"*(void **)&native = mpich_native(PF_FN_{f.stem});"]
    lines += [f"mpich_narrow({p.name}, {length(p)});" for p in in_memory(f) if p.dir != "out"]
    lines += [f"int code = native({arguments});"]
    lines += [f"mpich_widen({p.name}, {length(p)});" for p in in_memory(f)]
    lines += [f"mpich_repair_receive({p.name});" for p in f.of_kind("REQUEST") if f.stem == "Irecv"]
    return (cfile.wrap(f"static int call_{f.stem}({declared})") + "\n{\n"
            + "".join(cfile.wrap("    " + line, "        ") + "\n" for line in [*lines, "return code;"]) + "}\n")
