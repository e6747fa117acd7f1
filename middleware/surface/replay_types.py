# SPDX-License-Identifier: BSD-3-Clause
"""replay_types.h: rows X(number, type) of the predefined datatypes of a trace, the first ones by number."""

import cfile
import replay


def generate(_):
    rows = sorted((number, name) for name, number in replay.TYPES.items())
    return cfile.header("datatypes of a trace") + "".join(f"X({number}, MPI_{name})\n" for number, name in rows)
