# SPDX-License-Identifier: BSD-3-Clause
"""raw_names.ld: a response file for the linker with one --wrap option per MPI name (raw_names.py says why)."""


def generate(functions):
    return "".join(f"--wrap={p}{f.name}\n" for f in functions for p in ("", "P"))
