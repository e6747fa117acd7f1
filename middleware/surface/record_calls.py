# SPDX-License-Identifier: BSD-3-Clause
"""record_calls.c: MPI_* around PMPI_*, for the program of pfinfo --record-program, which another MPI compiles.

Each call ends a stretch of computation where the middleware would end one (PF_ENTER): so a function that does not enter the middleware
is left out, and so are names that headers of MPI 3 no longer declare.
"""

import cfile

NOT_ENTERED = ("Init", "Init_thread", "Initialized", "Finalized", "Finalize", "Abort", "Get_version", "Get_library_version",
               "Aint_add", "Aint_diff")


def generate(functions):
    counted = [f for f in functions if f.era != "removed" and f.group not in ("mpit", "f2c") and f.stem not in NOT_ENTERED]
    return "".join(body(f) for f in counted)


def body(f):
    if f.stem == "Pcontrol":
        call = f"int answer = PMPI_{f.stem}(level)"
    else:
        call = f"{f.ret} answer = PMPI_{f.stem}({f.arguments})"
    return (cfile.wrap(f.prototype(f.name)) + f"\n{{\n    call_begins();\n{cfile.wrap('    ' + call + ';', '        ')}\n"
            "    call_ends();\n    return answer;\n}\n\n")
