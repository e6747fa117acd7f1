# SPDX-License-Identifier: BSD-3-Clause
"""entries.c: pf_MPI_*, chosen when the dynamic linker meets them: pf_PMPI_* themselves, or a layer around them.

The linker asks once per name and loaded object. So a run in which nothing is counted, traced or checked has no
layer at all. A profiling
library that is linked before ours may define pf_MPI_Send (MPI_Send in its source) and call pf_PMPI_Send. Fortran's calls
pass by such a library of C, as under mpirun, to pf_entry_Send, which no other library takes.
"""

import cfile
import checked
import replay


def generate(functions):
    return (cfile.header("the entries of the MPI functions")
            + '#include "middleware/check/check.h"\n#include "check_names.h"\n#include "middleware/observing/counting.h"\n#include "middleware/observing/recording.h"\n#include "middleware/observing/tracing.h"\n#include "pf_fn.h"\n\n'
            + "".join(f"__typeof__(pf_{f.name}) record_{f.stem};\n" for f in functions if replay.is_recorded(f))
            + "int record_Pcontrol(int level);\n\n" + "\n".join(entry(f) for f in functions))


def entry(f):
    beneath = f"pf_plain_{f.stem}"
    if checked.is_checked(f):
        beneath = f"pf_check_on ? pf_check_{f.stem} : {beneath}"
    return (observed(f) + "\n"
            + f"static __typeof__(pf_{f.name}) *choose_{f.stem}(void)\n{{\n"
            + f"    return pf_counting_on || pf_tracing_on ? observed_{f.stem} : {beneath};\n}}\n\n"
            + f'__typeof__(pf_{f.name}) pf_{f.name} __attribute__((ifunc("choose_{f.stem}")));\n'
            + f'__typeof__(pf_{f.name}) pf_entry_{f.stem} __attribute__((visibility("default"), ifunc("choose_{f.stem}")));\n')


def observed(f):
    """Only an int is an error code; whatever else comes back means success. MPI_Abort does not come back."""
    call = f"pf_P{f.name}({f.arguments})"
    if checked.is_checked(f):
        call = f"pf_check_on ? pf_check_{f.stem}({f.arguments}) : {call}"
    if replay.is_recorded(f) or f.stem == "Pcontrol":
        call = f"pf_recording_on ? record_{f.stem}({f.arguments}) : {call}"
    lines = ["struct pf_observed pf_call;", f"pf_observe_begin(&pf_call, PF_FN_{f.stem}, __builtin_return_address(0));"]
    if f.name == "MPI_Abort":
        lines += [f"return {call};"]
    else:
        code = "pf_result" if f.ret == "int" else "MPI_SUCCESS"
        lines.append(f"{f.ret} pf_result = {call};")
        if f.stem in ("Init", "Init_thread"):
            lines.append("if (pf_recording_on && pf_result == MPI_SUCCESS) pf_recording_init();")
        lines += [ f"pf_observe_end(&pf_call, {code});", "return pf_result;"]
    return (cfile.wrap("static " + f.prototype(f"observed_{f.stem}")) + "\n{\n"
            + "".join(cfile.wrap("    " + line, "        ") + "\n" for line in lines) + "}\n")
