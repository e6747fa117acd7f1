#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""generate.py shmem_proto.h|calls.c OUTPUT: what is made from table.py."""

import pathlib
import sys
import textwrap

import table

HEAD = "/* SPDX-License-Identifier: BSD-3-Clause */\n/* Generated from openshmem/surface/table.py. Do not edit. */\n"


def wrap(text, indent="    "):
    return "\n".join(textwrap.wrap(text, 110, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))


def prototype(f, prefix=""):
    star = "" if f.returns.endswith("*") else " "
    return f"{f.returns}{star}{prefix}{f.name}({f.arguments})"


def selection(family):
    """A macro that chooses by the type of its first argument, or of the second one behind a context."""
    def branches(name):
        return ", ".join((f"{table.TYPES[t]}: {name}{family.name.format(N=t)}, {table.TYPES[t]} *: {name}{family.name.format(N=t)}, "
                          f"const {table.TYPES[t]} *: {name}{family.name.format(N=t)}, "
                          f"volatile {table.TYPES[t]} *: {name}{family.name.format(N=t)}")
                         for t in family.types if t not in table.ALIASES)
    name = f"shmem_{family.generic}"
    if not family.context:
        return f"#define {name}(...) _Generic(PF_SHMEM_FIRST(__VA_ARGS__, 0), {branches('shmem_')})(__VA_ARGS__)"
    inner = f"_Generic(PF_SHMEM_SECOND(__VA_ARGS__, 0, 0), {branches('shmem_ctx_')}, default: pf_shmem_no_such_type)"
    return (f"#define {name}(...) _Generic(PF_SHMEM_FIRST(__VA_ARGS__, 0), {branches('shmem_')}, "
            f"shmem_ctx_t: {inner})(__VA_ARGS__)")


def overloads():
    """The selections by type for C++: functions with the name of the selection, also behind a context."""
    plain = {f.name for f in table.functions() if not f.type and not f.context}
    for f in table.functions():
        name = f"shmem_{f.family.generic}"
        if not f.family.generic or not f.type or f.type in table.ALIASES or (name in plain and f.type == "long"):
            continue
        given = ", ".join(argument.split()[-1].lstrip("*") for argument in f.arguments.split(", "))
        yield wrap(f"PF_SHMEM_INLINE {f.returns} {name}({f.arguments}) {{ return {f.name}({given}); }}")


def proto_h():
    out = [HEAD]
    for f in table.functions():
        out.append(wrap(prototype(f) + ";"))
        out.append(wrap(prototype(f, "p") + ";"))
    out.append("\n#if !defined PF_SHMEM_NO_SELECTION && !defined __cplusplus && defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L")
    for family in table.FAMILIES:
        if family.generic and family.types:
            out.append(selection(family).replace(", ", ", \\\n    "))
    out += ["#endif", "", "#ifdef __cplusplus", 'extern "C++" {', *overloads(), "}", "#endif", ""]
    return "\n".join(out)


def comparisons():
    for t in table.SYNC:
        yield f"PF_SHMEM_COMPARE({t}, {table.TYPES[t]})"


def reductions():
    for family in table.FAMILIES:
        if family.name.endswith("_to_all"):
            operation = family.name[len("{N}_"):-len("_to_all")]
            for t in family.types:
                yield f"PF_SHMEM_REDUCE({t}, {table.TYPES[t]}, {operation})"


def body(f):
    lines = [f'    struct pf_shmem *me = PF_SHMEM_ENTER("{f.name}", {f.family.kind});']
    if f.returns != "void":
        star = "" if f.returns.endswith("*") else " "
        lines.insert(0, f"    {f.returns}{star}result;")
    lines.append(wrap(f"    {f.body};", "        "))
    lines.append("    pf_shmem_leave(me);")
    if f.returns != "void":
        lines.append("    return result;")
    return "\n".join(lines)


def calls_c():
    out = [HEAD + '#include "openshmem/calls.h"\n', *comparisons(), *reductions()]
    for f in table.functions():
        out.append(wrap(f'PF_EXPORT {prototype(f, "p")}') + "\n{\n" + body(f) + "\n}")
        out.append(wrap(f'PF_EXPORT {prototype(f)} __attribute__((weak, alias("p{f.name}")));'))
    return "\n".join(out) + "\n"


pathlib.Path(sys.argv[2]).write_text({"shmem_proto.h": proto_h, "calls.c": calls_c}[sys.argv[1]](), encoding="utf-8")
