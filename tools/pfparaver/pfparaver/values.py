# SPDX-License-Identifier: BSD-3-Clause
"""Paraver's numbers, as Extrae gives them (MPI_EventEncoding.h, paraver_state.h of its sources)."""

P2P, COLLECTIVE, OTHER, ONE_SIDED, IO = range(50000001, 50000006)
LABELS = {P2P: "MPI Point-to-point", COLLECTIVE: "MPI Collective Comm", OTHER: "MPI Other", ONE_SIDED: "MPI One-sided", IO: "MPI I/O"}
SEND_SIZE, RECV_SIZE, ROOT, COMM = range(50100001, 50100005)
SIZES = {SEND_SIZE: "Send Size in MPI Global OP", RECV_SIZE: "Recv Size in MPI Global OP", ROOT: "Root in MPI Global OP",
         COMM: "Communicator in MPI Global OP"}
PHASE, MODEL = 9200001, 9200002  # ours

# Values of the five types; 0 is the end of a call.
NAMES = ("- Send Recv Isend Irecv Wait Waitall Bcast Barrier Reduce Allreduce Alltoall Alltoallv Gather Gatherv Scatter Scatterv Allgather "
         "Allgatherv Comm_rank Comm_size Comm_create Comm_dup Comm_split Comm_group Comm_free Comm_remote_group Comm_remote_size "
         "Comm_test_inter Comm_compare Scan Init Finalize Bsend Ssend Rsend Ibsend Issend Irsend Test Cancel Sendrecv Sendrecv_replace "
         "Cart_create Cart_shift Cart_coords Cart_get Cart_map Cart_rank Cart_sub Cartdim_get Dims_create Graph_get Graph_map Graph_create "
         "Graph_neighbors Graphdims_get Graph_neighbors_count Topo_test Waitany Waitsome Probe Iprobe Win_create Win_free Put Get Accumulate "
         "Win_fence Win_start Win_complete Win_post Win_wait Win_test Win_lock Win_unlock Pack Unpack Op_create Op_free "
         "Reduce_scatter").split(" ")
VALUES = {name: value for value, name in enumerate(NAMES) if value}
VALUES |= {"Abort": 100, "Bsend_init": 112, "Buffer_attach": 113, "Buffer_detach": 114, "Request_free": 115, "Recv_init": 116,
           "Send_init": 117, "Rsend_init": 121, "Ssend_init": 122, "Start": 123, "Startall": 124, "Testall": 125, "Testany": 126,
           "Testsome": 128, "Reduce_scatter_block": 168, "Ireduce_scatter_block": 169, "Alltoallw": 170, "Ialltoallw": 171, "Get_accumulate": 172}
VALUES |= {name: 154 + i for i, name in enumerate(
    "Ireduce Iallreduce Ibarrier Ibcast Ialltoall Ialltoallv Iallgather Iallgatherv Igather Igatherv Iscatter Iscatterv Ireduce_scatter "
    "Iscan".split())}
NAMES_BY_VALUE = {value: name for name, value in VALUES.items()}
FIRST_OWN = 1000  # of functions that Extrae has no number for

IDLE, RUNNING, RECEIVE, SEND, SYNCHRONIZATION, TEST, WAIT, ISEND, IRECV, FILES, GROUP, OTHERS, SENDRECV, TRANSFER = (
    0, 1, 3, 4, 5, 6, 8, 10, 11, 12, 13, 15, 16, 17)
STATES = {IDLE: ("Idle", "117,195,255"), RUNNING: ("Running", "0,0,255"), RECEIVE: ("Waiting a message", "255,0,0"),
          SEND: ("Blocking Send", "255,0,174"), SYNCHRONIZATION: ("Synchronization", "179,0,0"), TEST: ("Test/Probe", "0,255,0"),
          WAIT: ("Wait/WaitAll", "235,0,0"), ISEND: ("Immediate Send", "162,0,211"), IRECV: ("Immediate Receive", "255,0,96"),
          FILES: ("I/O", "169,169,255"), GROUP: ("Group Communication", "255,144,26"), OTHERS: ("Others", "2,177,145"),
          SENDRECV: ("Send Receive", "192,224,0"), TRANSFER: ("Memory transfer", "66,66,66")}

SENDS = ("Send", "Bsend", "Ssend", "Rsend")
ISENDS = ("Isend", "Ibsend", "Issend", "Irsend")
WAITS = ("Wait", "Waitall", "Waitany", "Waitsome")
TESTS = ("Test", "Testall", "Testany", "Testsome", "Probe", "Iprobe", "Mprobe", "Improbe")
# Parameters of collectives in a recording: b buffer, c count, t type, C counts, D displacements, o operation, r root, m communicator.
COLLECTIVES = {"Barrier": "m", "Bcast": "bctrm", "Reduce": "bbctorm", "Allreduce": "bbctom", "Scan": "bbctom", "Exscan": "bbctom",
               "Gather": "bctbctrm", "Scatter": "bctbctrm", "Allgather": "bctbctm", "Alltoall": "bctbctm", "Gatherv": "bctbCtrm",
               "Scatterv": "bCtbctrm", "Allgatherv": "bctbCtm", "Alltoallv": "bCtbCtm", "Reduce_scatter": "bbCtom",
               "Reduce_scatter_block": "bbctom"}


def blocking(name):
    """Iallreduce: Allreduce."""
    return name[1:].capitalize() if name[:1] == "I" and name[1:].capitalize() in COLLECTIVES else name


def sends(name):
    return name in SENDS + ISENDS or name.startswith(("Sendrecv", "Start"))


def receives(name):
    return name in ("Recv", "Irecv", "Mrecv", "Imrecv") or name.startswith(("Sendrecv", "Start"))


def completes(name):
    return name in WAITS + TESTS + ("Recv", "Mrecv") or name.startswith("Sendrecv")


def kind(name):
    """(type, state) of a call of MPI_NAME."""
    if name in ("Sendrecv", "Sendrecv_replace"):
        return P2P, SENDRECV
    for names, state in ((SENDS, SEND), (("Recv", "Mrecv"), RECEIVE), (ISENDS + ("Start", "Startall"), ISEND), (("Irecv", "Imrecv"), IRECV),
                         (WAITS, WAIT), (TESTS, TEST)):
        if name in names:
            return P2P, state
    if blocking(name) in COLLECTIVES or "lltoallw" in name or "eighbor" in name:
        return COLLECTIVE, SYNCHRONIZATION if name == "Barrier" else GROUP
    if name.startswith("File_"):
        return IO, FILES
    if name.startswith("Win_") or name in ("Put", "Get", "Accumulate", "Rput", "Rget", "Raccumulate", "Get_accumulate", "Rget_accumulate",
                                           "Fetch_and_op", "Compare_and_swap"):
        return ONE_SIDED, TRANSFER
    return OTHER, OTHERS
