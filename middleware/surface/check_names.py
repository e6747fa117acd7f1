# SPDX-License-Identifier: BSD-3-Clause
"""check_names.h: the functions of the checking layer, pf_check_*, and those beneath it, pf_plain_*."""

import cfile
import checked


def generate(functions):
    hidden = ' __attribute__((visibility("hidden")));\n'
    return (cfile.header("names of the checking layer") + '#include "mpi.h"\n\n'
            + "".join(f"extern __typeof__(pf_{f.name}) pf_plain_{f.stem}{hidden}" for f in functions)
            + "".join(f"extern __typeof__(pf_{f.name}) pf_check_{f.stem}{hidden}" for f in functions if checked.is_checked(f)))
