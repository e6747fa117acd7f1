# SPDX-License-Identifier: BSD-3-Clause
"""What was measured: one collective, by one algorithm, of one size, on so many nodes with so many ranks each."""
from collections import namedtuple

Cell = namedtuple("Cell", "nodes collective algorithm bytes us ranks_per_node", defaults=(1,))
COLLECTIVES = {"allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "bcast", "exscan", "gather", "gatherv", "pingpong", "reduce",
               "reduce_scatter", "reduce_scatter_block", "scan", "scatter", "scatterv"}
# Those that combine ints, and those that give each rank its part of the vector.
INTS = {"allreduce", "exscan", "reduce", "reduce_scatter", "reduce_scatter_block", "scan"}
PARTS = {"allgather", "allgatherv", "alltoall", "alltoallv", "gather", "gatherv", "reduce_scatter", "reduce_scatter_block", "scatter", "scatterv"}


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
