# SPDX-License-Identifier: BSD-3-Clause
"""Small helpers for C text."""

import textwrap

WIDTH = 110


def header(what):
    return f"/* SPDX-License-Identifier: BSD-3-Clause */\n/* Generated from surface/mpi.tsv: {what}. Do not edit. */\n"


def wrap(text, indent="    "):
    """Breaks a long declaration at spaces, inside the line width of the project."""
    return "\n".join(textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False,
                                   break_on_hyphens=False))


def by_group(functions):
    """Pairs (group, functions) in the order of the table."""
    groups = {}
    for f in functions:
        groups.setdefault(f.group, []).append(f)
    return groups.items()
