# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI functions a recording for a replay has, and how their arguments stand in it (docs/replay.md).

`record_trace.py` writes the lines, `play_calls.py` reads them: both go through the parameters in the order of the table and
ask `code(function, parameter)` here what one is. A function whose line has a form of its own is in BY_HAND: it is written in
`middleware/observing/record_functions.h` and read in `tools/pfreplay/play_actions.c`.
"""

# Numbers of predefined datatypes: those of SMPI, by which its traces name them.
TYPES = {name: number for number, name in enumerate(
    "DOUBLE INT CHAR SHORT LONG FLOAT BYTE LONG_LONG SIGNED_CHAR UNSIGNED_CHAR UNSIGNED_SHORT UNSIGNED UNSIGNED_LONG "
    "UNSIGNED_LONG_LONG LONG_DOUBLE WCHAR C_BOOL INT8_T INT16_T INT32_T INT64_T UINT8_T UINT16_T UINT32_T UINT64_T "
    "C_FLOAT_COMPLEX C_DOUBLE_COMPLEX C_LONG_DOUBLE_COMPLEX AINT OFFSET FLOAT_INT LONG_INT DOUBLE_INT SHORT_INT 2INT "
    "2REAL 2DOUBLE_PRECISION".split())}
TYPES |= {"REAL": 38, "REAL4": 39, "REAL8": 40, "REAL16": 41, "COMPLEX8": 42, "COMPLEX16": 43, "COMPLEX32": 44,
          "INTEGER1": 45, "INTEGER2": 46, "INTEGER4": 47, "INTEGER8": 48, "LONG_DOUBLE_INT": 50, "PACKED": 57, "COUNT": 59}
# Fortran's, under the number of the same type of C.
SAME_TYPES = {"INTEGER": 1, "DOUBLE_PRECISION": 0, "LOGICAL": 1, "CHARACTER": 2, "COMPLEX": 25, "DOUBLE_COMPLEX": 26,
              "2INTEGER": 34}
OPS = "SUM MAX MIN PROD LAND BAND LOR BOR LXOR BXOR MAXLOC MINLOC REPLACE NO_OP".split()

GROUPS = ("p2p", "persistent", "coll", "icoll", "neighbor", "topology", "comm", "request", "rma", "dynamic", "file")
BY_HAND = ("Send", "Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend", "Irsend", "Recv", "Irecv", "Probe", "Iprobe",
           "Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome", "Startall",
           "Buffer_attach", "Buffer_detach", "Improbe")
# They only ask something.
SILENT = ("Comm_size", "Comm_rank", "Comm_compare", "Comm_test_inter", "Comm_remote_size", "Comm_group", "Comm_remote_group",
          "Topo_test", "Cartdim_get", "Cart_get", "Cart_rank", "Cart_coords", "Cart_shift", "Cart_map", "Graphdims_get",
          "Graph_get", "Graph_neighbors_count", "Graph_neighbors", "Graph_map", "Dist_graph_neighbors_count",
          "Dist_graph_neighbors", "Dims_create", "Request_get_status", "Win_get_group", "Win_shared_query",
          "Comm_get_parent", "File_get_amode", "File_get_group")
# A replay cannot do them: addresses of the recorded run, other programs, files, and what cannot be repeated.
REFUSED = ("Grequest_start", "Grequest_complete", "Win_create_dynamic", "Win_attach", "Win_detach", "Win_test")
REFUSED_GROUPS = ("dynamic", "file")
NOT_REFUSED = ("Comm_disconnect",)

# Arguments that count at the root only, or unless another is MPI_IN_PLACE.
AT_ROOT = {"Gather": "recv", "Gatherv": "recv", "Scatter": "send", "Scatterv": "send"}


def is_refused(f):
    return f.stem in REFUSED or (f.group in REFUSED_GROUPS and f.stem not in NOT_REFUSED)


def is_recorded(f):
    """Takes simulated time, or makes what a later call uses."""
    return f.group in GROUPS and f.stem not in SILENT and f.era != "removed"


def is_generated(f):
    return is_recorded(f) and f.stem not in BY_HAND and not is_refused(f)


def places(f):
    """Whether MPI_IN_PLACE may stand for a buffer."""
    return f.group in ("coll", "icoll")


def code(f, p):
    """What stands in a line for a parameter; "" for nothing."""
    array, out = p.is_array, p.dir == "out"
    if p.kind == "BUFFER":
        return "place" if places(f) else ""
    if p.kind in ("INFO", "STATUS", "STRING", "BASEPTR", "WEIGHTS", "DISPL"):
        return ""
    if p.kind == "AINT" and array:
        return ""
    if p.kind in ("COMM", "WIN", "REQUEST", "MESSAGE"):
        name = p.kind.lower()
        return f"new_{name}" if out else f"{name}_pointer" if p.ctype.endswith("*") else name
    if p.kind == "GROUP":
        return "group"
    if p.kind == "OP":
        return "op"
    if p.kind == "DATATYPE":
        return "types" if array else "type"
    if out:
        return ""
    if array:
        return "ints"
    return {"RANK": "rank", "ROOT": "rank", "TAG": "tag", "COLOR": "color", "SPLIT_TYPE": "split_type", "LOCK": "lock",
            "ASSERT": "assert", "AINT": "long"}.get(p.kind, "int")


def length(f, p):
    """How many values an array has, in C, when the table says that something else knows."""
    if p.length != "*":
        return p.length
    if f.stem == "Cart_sub":
        return "record_dimensions(comm)"
    if f.stem == "Graph_create":
        return "nnodes > 0 ? index[nnodes - 1] : 0"
    if f.stem == "Dist_graph_create":
        return "record_sum(n, degrees)"
    if f.group == "neighbor":
        return f"record_neighbors(comm, {'1' if p.name.startswith('recv') else '0'})"
    return "record_peers(comm)"


def side(p):
    return "send" if p.name.startswith("send") else "recv" if p.name.startswith("recv") else ""


def significant(f, p):
    """The condition, in C, under which an argument may be looked at; "" for always."""
    stem = f.stem[1:].capitalize() if f.group == "icoll" else f.stem
    which = side(p)
    conditions = []
    if AT_ROOT.get(stem) == which and which:
        conditions.append("record_is_root(comm, root)")
    if places(f) and which and any(q.kind == "BUFFER" and q.name == which + "buf" for q in f.params):
        conditions.append(f"{which}buf != MPI_IN_PLACE")
    return " && ".join(conditions)
