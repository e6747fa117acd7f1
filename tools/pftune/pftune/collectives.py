# SPDX-License-Identifier: BSD-3-Clause
"""What coll/tuned of Open MPI 4.1 and 5.0 has, and which of it a simulation can choose."""
import difflib
from collections import namedtuple

from pfcurve.errors import Problem

# number: in files of rules. algorithms: how many coll/tuned has; the model's names begin with these, in their order.
Collective = namedtuple("Collective", "number algorithms segmented")
COLLECTIVES = {
    "allgather": Collective(0, 6, ()),
    "allreduce": Collective(2, 6, ("segmented_ring",)),
    "alltoall": Collective(3, 5, ()),
    "barrier": Collective(6, 6, ()),
    "bcast": Collective(7, 9, ("pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial")),
    "gather": Collective(9, 3, ()),
    "reduce": Collective(11, 7, ("pipeline", "binary", "binomial", "in-order_binary")),
    "reduce_scatter": Collective(12, 4, ()),
    "scatter": Collective(15, 3, ()),
}
# Model analytic has one chain, which is algorithm pipeline; Open MPI's chain has several.
NOT_CHOSEN = {"chain"}
DEFAULT = "default"

Choice = namedtuple("Choice", "algorithm number segment")
OPEN_MPI = Choice(DEFAULT, 0, 0)  # algorithm 0 of a rule: Open MPI decides


def known(name, names, what):
    """Refuses a name that is none of these, with the nearest one."""
    if name not in names:
        near = difflib.get_close_matches(name, names, 1, 0.4)
        raise Problem(f"unknown {what} '{name}'" + (f": did you mean {near[0]}?" if near else f": there are {', '.join(names)}"))
    return name


def candidates(collective, names, ranks, segments, wanted):
    """All choices for a collective. `names`: the model's, in the order of Open MPI's numbers; `wanted`: only these, if any."""
    about = COLLECTIVES[collective]
    found = []
    for number, name in enumerate(names[:about.algorithms], 1):
        if name in NOT_CHOSEN or (wanted and name not in wanted) or (name == "two_proc" and ranks != 2):
            continue
        found += [Choice(name, number, segment) for segment in (segments if name in about.segmented else [0])]
    return found
