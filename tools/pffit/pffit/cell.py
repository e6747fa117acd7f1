# SPDX-License-Identifier: BSD-3-Clause
"""What was measured: one collective, by one algorithm, of one size, on so many nodes."""
from collections import namedtuple

Cell = namedtuple("Cell", "nodes collective algorithm bytes us")
COLLECTIVES = {"allreduce", "reduce", "bcast", "alltoall", "allgather", "gather", "scatter", "reduce_scatter", "barrier", "pingpong"}


class Refused(Exception):
    """One line for the user."""


def number(text, what, where, whole=False):
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        raise Refused(f"{where}: {what} '{text}' is no {'whole ' if whole else ''}number") from None
    if not 0 <= value < 1e15 or (not whole and value == 0):
        raise Refused(f"{where}: {what} {text} is out of range")
    return value
