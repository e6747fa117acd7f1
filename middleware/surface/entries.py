# SPDX-License-Identifier: BSD-3-Clause
"""entries.c: pf_MPI_Send and pf_PMPI_Send, the names that applications refer to.

The dynamic linker asks, once per name and loaded object, where they lead: to the middleware (pf_hub_Send), or to the
checking layer (pf_check_Send) when PARFOCAL_CHECK is set. So a run without the layer does not pay for it. A profiling
library that is linked before ours may define pf_MPI_Send (MPI_Send in its source) and call pf_PMPI_Send.
"""

import cfile
import checked


def generate(functions):
    return (cfile.header("the names of the MPI functions, and where they lead")
            + '#include "middleware/check/wanted.h"\n#include "mpi.h"\n\n' + "\n".join(entry(f) for f in functions))


def entry(f):
    target, declared = f"pf_hub_{f.stem}", [f"__typeof__(pf_{f.name}) pf_hub_{f.stem};"]
    if checked.is_checked(f):
        declared.append(f"__typeof__(pf_{f.name}) pf_check_{f.stem};")
        target = f"pf_check_wanted() ? pf_check_{f.stem} : {target}"
    return ("\n".join(declared)
            + f"\nstatic __typeof__(pf_{f.name}) *choose_{f.stem}(void)\n{{\n    return {target};\n}}\n"
            + "".join(f'__typeof__(pf_{f.name}) pf_{p}{f.name} __attribute__((ifunc("choose_{f.stem}")));\n' for p in ("", "P")))
