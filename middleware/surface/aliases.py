# SPDX-License-Identifier: BSD-3-Clause
"""aliases.ld: pf_MPI_Send is another name of pf_PMPI_Send, for the linker.

A profiling library that is linked before ours may define pf_MPI_Send (MPI_Send in its source) and call pf_PMPI_Send.
"""


def generate(functions):
    return "".join(f"pf_{f.name} = pf_P{f.name};\n" for f in functions)
