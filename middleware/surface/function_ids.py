# SPDX-License-Identifier: BSD-3-Clause
"""pf_fn.h: an X-macro with one line per function, and the numbers PF_FN_<name> (PF_FN_Send)."""

import cfile


def generate(functions):
    rows = [f"    X({f.stem}, {f.route}, {f.group}, {f.smpi})" for f in functions]
    groups = [group for group, _ in cfile.by_group(functions)]
    return (cfile.header("numbers and facts of the MPI functions")
            + "#ifndef PF_FN_H\n#define PF_FN_H\n\n"
            + "/* X(stem of the name, route, group, what SMPI 3.32 has: yes, stub (aborts), noop, no) */\n"
            + "#define PF_FN_LIST(X) \\\n" + " \\\n".join(rows) + "\n\n"
            + "#define PF_FN_GROUP_LIST(X) \\\n" + " \\\n".join(f"    X({g})" for g in groups) + "\n\n"
            + "enum pf_fn {\n#define X(stem, route, group, smpi) PF_FN_##stem,\n    PF_FN_LIST(X)\n#undef X\n"
            + "    PF_FN_COUNT\n};\n\n"
            + "enum pf_fn_group {\n#define X(group) PF_FN_GROUP_##group,\n    PF_FN_GROUP_LIST(X)\n#undef X\n"
            + "    PF_FN_GROUP_COUNT\n};\n\n"
            + "#endif\n")
