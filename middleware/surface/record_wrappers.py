# SPDX-License-Identifier: BSD-3-Clause
"""record_wrappers.c: MPI_* around record_*, for the library of pfinfo --record-program=calls, which another MPI compiles."""

import cfile
import replay


def generate(functions):
    return "".join(wrapper(f) for f in functions if replay.is_recorded(f))


def wrapper(f):
    names = ", ".join(p.name for p in f.params)
    return cfile.wrap(f.prototype(f.name)) + f"\n{{\n{cfile.wrap(f'    return record_{f.stem}({names});', '        ')}\n}}\n\n"
