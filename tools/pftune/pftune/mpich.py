# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's choices, and its file of rules: the tree that is built into its library, with branches where another algorithm gains.

MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE replaces that tree, so the file must have all of it."""
import ctypes
import json
from collections import namedtuple

from pfcurve.errors import Problem

from .collectives import OPEN_MPI, Choice
from .rules import by_size

LIBRARY = "libmpich.so.12"
# name: in MPICH. model: in model analytic. needs: what must hold for a call, else the tree decides as before.
Algorithm = namedtuple("Algorithm", "name model needs", defaults=("",))
POWER, HALVES = "a power of two of ranks", "a predefined operation and an element for each rank"
COLLECTIVES = {
    "allgather": [Algorithm("recursive_doubling", "recursive_doubling", POWER), Algorithm("brucks", "bruck"), Algorithm("ring", "ring")],
    "allreduce": [Algorithm("recursive_doubling", "recursive_doubling"), Algorithm("reduce_scatter_allgather", "rabenseifner", HALVES)],
    "alltoall": [Algorithm("brucks", "modified_bruck"), Algorithm("scattered", "linear"), Algorithm("pairwise", "pairwise")],
    "bcast": [Algorithm("binomial", "binomial_in_turn"), Algorithm("scatter_recursive_doubling_allgather", "scatter_allgather", POWER),
              Algorithm("scatter_ring_allgather", "scatter_allgather_ring")],
    "reduce": [Algorithm("binomial", "binomial"), Algorithm("reduce_scatter_gather", "rabenseifner", HALVES)],
    "reduce_scatter": [Algorithm("recursive_halving", "recursive_halving"), Algorithm("pairwise", "pairwise")],
}
TOTAL = {"allgather", "reduce_scatter"}  # whose branches go by the bytes of the whole vector
KEPT = ("is_commutative=no", "is_sendbuf_inplace=yes", "avg_msg_size<=0", "comm_type=inter")  # branches that have their own algorithms


def candidates(collective, ranks, wanted):
    return [Choice(a.name, number, 0) for number, a in enumerate(COLLECTIVES[collective], 1)
            if (not wanted or a.name in wanted) and (a.needs != POWER or ranks & (ranks - 1) == 0)]


def settings(collective, choice):
    """The environment in which MPICH, and model analytic, use an algorithm."""
    found = {"PARFOCAL_ANALYTIC_STACK": "mpich"}
    if choice != OPEN_MPI:
        found[f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM"] = choice.algorithm
        found["PARFOCAL_ANALYTIC_COLL"] = f"{collective}:{COLLECTIVES[collective][choice.number - 1].model}"
    return found


def built_in(path=""):
    """The tree of the library at `path`, or that programs load."""
    if not path:
        try:
            ctypes.CDLL(LIBRARY)
        except OSError as error:
            raise Problem(f"rules for MPICH are branches of its own tree, which is in {LIBRARY}: {error}") from None
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            path = next(line.split(maxsplit=5)[5].strip() for line in maps if LIBRARY in line)
    with open(path, "rb") as file:
        texts = file.read().split(b"\0")
    for text in texts:
        if text.startswith(b'{"collective=') and b'{"algorithm=MPIR_Allreduce_intra_' in text:
            return json.loads(text)
    raise Problem(f"{path} has no tree of algorithms as MPICH 4 has")


def leaf(collective, name):
    return {f"algorithm=MPIR_{collective.capitalize()}_intra_{name}": {}}


def where(collective, choice, before):
    """The choice where it may be used, else what was there before."""
    if choice == OPEN_MPI:
        return before
    chosen, needs = leaf(collective, choice.algorithm), COLLECTIVES[collective][choice.number - 1].needs
    if needs == POWER:
        return {"comm_size=pow2": chosen, "comm_size=any": before}
    if needs == HALVES:
        return {"is_op_built_in=yes": {"count<pow2": before, "count=any": chosen}, "is_op_built_in=no": before}
    return chosen


def sizes(collective, rows, before):
    """The branches of one number of ranks."""
    key, part = ("total_msg_size", 1) if collective in TOTAL else ("avg_msg_size", rows[0].ranks if collective == "alltoall" else 1)
    found, rules = {}, by_size(rows)
    for (_, choice), following in zip(rules, [start // part for start, _ in rules[1:]] + [None]):
        found.setdefault(f"{key}<{following}" if following is not None else f"{key}=any", where(collective, choice, before))
    return found


def ranks(collective, rows, before):
    """The branches of a leaf: a number of ranks counts up to the next one."""
    counts = sorted({row.ranks for row in rows})
    found = {f"comm_size<={counts[0] - 1}": before}
    for ranks, last in zip(counts, [count - 1 for count in counts[1:]] + [counts[-1]]):
        found[f"comm_size<={last}"] = sizes(collective, [row for row in rows if row.ranks == ranks], before)
    found["comm_size=any"] = before
    return found


def branched(tree, collective, rows):
    if any(key.startswith("algorithm=") for key in tree):
        return ranks(collective, rows, tree)
    return {key: below if key in KEPT else branched(below, collective, rows) for key, below in tree.items()}


def text(rows, tree):
    tree = dict(tree)
    for collective in COLLECTIVES:
        here = [row for row in rows if row.collective == collective]
        if any(row.choice != OPEN_MPI for row in here):
            tree[f"collective={collective}"] = branched(tree[f"collective={collective}"], collective, here)
    said = json.dumps(tree, indent=1) + "\n"
    return said + "\n" * (len(said) % 4096 == 0)  # MPICH maps the file, and reads on until a zero: the rest of the last page
