# SPDX-License-Identifier: BSD-3-Clause
"""aliases.ld: pf_plain_Send is another name of pf_PMPI_Send, for the linker.

entries.py chooses what pf_MPI_Send is while the dynamic linker works; it needs names that are known without it.
"""


def generate(functions):
    return "".join(f"HIDDEN(pf_plain_{f.stem} = pf_P{f.name});\n" for f in functions)
