# SPDX-License-Identifier: BSD-3-Clause
"""A small program as dumpi2ascii prints it, by the grammar of its source, and as our lines.

Each row is a function, its arguments as they are printed, and its line ("" where it takes no time). A row that begins with ?N is rank N's alone;
{r}, {next}, {before}, {half} stand for numbers.
"""
WORLD, STATUS = "MPI_Comm comm=2 (MPI_COMM_WORLD)", "{{bytes={}, cancelled=0, source={}, tag={}, error=0}}"


def status(size, source, tag):
    return STATUS.format(size, source, tag).replace("{", "{{").replace("}", "}}").replace("{{before}}", "{before}").replace("{{next}}", "{next}")


def kind(number, name, what="datatype"):
    return f"MPI_Datatype {what}={number} ({name})"


CALLS = [
    ("MPI_Init", ["int argc=2", 'string argv[2]=["./app", "a=b c"]'], "init"),
    ("MPI_Comm_rank", [WORLD, "int rank={r}"], ""),
    ("work", 1500000, "compute 1500000"),
    ("?0 MPI_Send", ["int count=1250", kind(9, "MPI_INT"), "int dest=1", "int tag=7", WORLD], "send 1 7 1250 1"),
    ("?1 MPI_Recv", ["int count=1250", kind(9, "MPI_INT"), "int source=-1 (MPI_ANY_SOURCE)", "int tag=-1 (MPI_ANY_TAG)", WORLD,
                     f"MPI_Status status=[{status(5000, 0, 7)}]"], "recv 0 7 1250 1"),
    # Wildcards whose message is known when they are complete; numbers of requests that grow.
    ("MPI_Irecv", ["int count=70000", kind(2, "MPI_CHAR"), "int source=-1 (MPI_ANY_SOURCE)", "int tag=-1 (MPI_ANY_TAG)", WORLD,
                   "MPI_Request request=[4]"], "irecv {before} 8 70000 2 req=0"),
    ("MPI_Isend", ["int count=70000", kind(2, "MPI_CHAR"), "int dest={next}", "int tag=8", WORLD, "MPI_Request request=[5]"],
     "isend {next} 8 70000 2 req=1"),
    ("work", 250000, "compute 250000"),
    ("MPI_Waitall", ["int count=2", "MPI_Request requests[2]=[4, 5]",
                     f"MPI_Status statuses[2]=[{status(70000, '{before}', 8)}, {status(0, '{next}', 8)}]"], "waitall 2 0 1"),
    ("MPI_Irecv", ["int count=10", kind(14, "MPI_DOUBLE"), "int source={before}", "int tag=9", WORLD, "MPI_Request request=[6]"],
     "irecv {before} 9 10 0 req=0"),
    ("MPI_Test", ["MPI_Request request=[6]", "int flag=0", "MPI_Status status=<IGNORED>"], "test req=0"),
    ("MPI_Issend", ["int count=10", kind(14, "MPI_DOUBLE"), "int dest={next}", "int tag=9", WORLD, "MPI_Request request=[7]"],
     "issend {next} 9 10 0 req=1"),
    ("MPI_Waitany", ["int count=3", "MPI_Request requests[3]=[1, 6, 7]", "int index=1", "MPI_Status status=<IGNORED>"],
     "waitany 3 -1 0 1 done=1"),
    ("MPI_Waitsome", ["int count=2", "MPI_Request requests[2]=[1, 7]", "int outcount=1", "int indices[1]=[1]", "MPI_Status statuses[1]=<IGNORED>"],
     "waitsome 2 -1 1 done=1"),
    # Sizes from what made a type, or from the table behind the calls.
    ("MPI_Type_contiguous", ["int count=3", kind(14, "MPI_DOUBLE", "oldtype"), kind(28, "user-defined-datatype", "newtype")], ""),
    ("MPI_Type_vector", ["int count=5", "int blocklength=2", "int stride=9", kind(28, "user-defined-datatype", "oldtype"),
                         kind(29, "user-defined-datatype", "newtype")], ""),
    ("MPI_Type_struct", ["int count=2", "int lengths[2]=[2, 1]", "int indices[2]=[0, 16]", "MPI_Datatype oldtypes[2]=[9, 28]",
                         kind(30, "user-defined-datatype", "newtype")], ""),
    ("MPI_Type_commit", [kind(30, "user-defined-datatype")], ""),
    ("MPI_Sendrecv", ["int sendcount=10", kind(28, "user-defined-datatype", "sendtype"), "int dest={next}", "int sendtag=3", "int recvcount=1",
                      kind(29, "user-defined-datatype", "recvtype"), "int source={before}", "int recvtag=-1 (MPI_ANY_TAG)", WORLD,
                      f"MPI_Status status=[{status(240, '{before}', 3)}]"], "sendRecv 10 {next} 1 {before} *24 *240 stag=3 rtag=3"),
    ("MPI_Bcast", ["int count=7", kind(30, "user-defined-datatype"), "int root=1", WORLD], "MPI_Bcast - 7 *32 1 0"),
    ("MPI_Bcast", ["int count=7", kind(31, "user-defined-datatype"), "int root=1", WORLD], "MPI_Bcast - 7 *40 1 0"),
    # Communicators: split, and of a group whose ranges take several lines.
    ("MPI_Comm_split", ["MPI_Comm oldcomm=2 (MPI_COMM_WORLD)", "int color={half}", "int key={r}", "MPI_Comm newcomm=4 (user-defined-comm)"],
     "MPI_Comm_split 0 {half} {r} 2"),
    ("MPI_Allreduce", ["int count=600", kind(14, "MPI_DOUBLE"), "MPI_Op op=3 (MPI_SUM)", "MPI_Comm comm=4 (user-defined-comm)"],
     "MPI_Allreduce - - 600 0 SUM 2"),
    ("MPI_Comm_group", [WORLD, "MPI_Group group=3 (user-defined-group)"], ""),
    ("MPI_Group_range_incl", ["MPI_Group group=3 (user-defined-group)", "int count=2",
                              "int ranges[2][3]=[[0, 0, 1]\n, [3, 3, 1]\n]MPI_Group newgroup=4 (user-defined-group)"], ""),
    ("MPI_Group_excl", ["MPI_Group group=3 (user-defined-group)", "int count=1", "int ranks[1]=[2]", "MPI_Group newgroup=5 (user-defined-group)"], ""),
    ("MPI_Group_intersection", ["MPI_Group group1=4 (user-defined-group)", "MPI_Group group2=5 (user-defined-group)",
                                "MPI_Group newgroup=6 (user-defined-group)"], ""),
    ("MPI_Comm_create", ["MPI_Comm oldcomm=2 (MPI_COMM_WORLD)", "MPI_Group group=6 (user-defined-group)", "MPI_Comm newcomm={outer}"],
     "MPI_Comm_create 0 2 0 3 {outer2}"),
    ("?0 MPI_Send", ["int count=900", kind(5, "MPI_BYTE"), "int dest=1", "int tag=1", "MPI_Comm comm=5 (user-defined-comm)"], "send 1 1 900 6 comm=3"),
    ("?3 MPI_Recv", ["int count=900", kind(5, "MPI_BYTE"), "int source=0", "int tag=1", "MPI_Comm comm=5 (user-defined-comm)",
                     "MPI_Status status=<IGNORED>"], "recv 0 1 900 6 comm=3"),
    ("MPI_Cart_create", ["MPI_Comm oldcomm=2 (MPI_COMM_WORLD)", "int ndim=2", "int dims[2]=[2, 2]", "int periods[2]=[1, 0]", "int reorder=0",
                         "MPI_Comm newcomm=6 (user-defined-comm)"], "MPI_Cart_create 0 2 2 2 2 2 1 0 0 4"),
    ("MPI_Barrier", ["MPI_Comm comm=6 (user-defined-comm)"], "MPI_Barrier 4"),
    ("MPI_Comm_free", ["MPI_Comm comm=6 (user-defined-comm)"], "MPI_Comm_free 4"),
    # Collectives; what counts at the root only is nonsense elsewhere.
    ("MPI_Gather", ["int commrank={r}", "int sendcount=100", kind(9, "MPI_INT", "sendtype"), "int recvcount={rootcount}",
                    kind("{roottype}", "MPI_INT", "recvtype"), "int root=2", WORLD], "gather 100 100 2 1 1"),
    ("MPI_Gatherv", ["int commrank={r}", "int commsize={rootsize}", "int sendcount=10", kind(9, "MPI_INT", "sendtype"),
                     "int recvcounts[{rootsize}]={rootlist}", "int displs[{rootsize}]={rootlist}", kind("{roottype}", "MPI_INT", "recvtype"),
                     "int root=2", WORLD], "gatherv 10 10 10 10 10 2 1 1"),
    ("MPI_Scatterv", ["int commrank={r}", "int commsize={rootsize}", "int sendcounts[{rootsize}]={rootlist}", "int displs[{rootsize}]={rootlist}",
                      kind("{roottype}", "MPI_INT", "sendtype"), "int recvcount=10", kind(9, "MPI_INT", "recvtype"), "int root=2", WORLD],
     "scatterv 10 10 10 10 10 2 1 1"),
    ("MPI_Alltoallv", ["int commsize=4", "int sendcounts[4]=[9, 9, 9, 9]", "int senddispls[4]=[0, 9, 18, 27]", kind(14, "MPI_DOUBLE", "sendtype"),
                       "int recvcounts[4]=[9, 9, 9, 9]", "int recvdispls[4]=[0, 9, 18, 27]", kind(14, "MPI_DOUBLE", "recvtype"), WORLD],
     "alltoallv 288 9 9 9 9 288 9 9 9 9 0 0"),
    ("MPI_Reduce_scatter", ["int commsize=4", "int recvcounts[4]=[5, 6, 7, 8]", kind(9, "MPI_INT"), "MPI_Op op=1 (MPI_MAX)", WORLD],
     "reducescatter 5 6 7 8 0 1 op=MAX"),
    ("MPI_Op_create", ["int commute=0", "MPI_Op op=15 (user-defined-op)"], ""),
    ("MPI_Scan", ["int count=50", kind(9, "MPI_INT"), "MPI_Op op=15 (user-defined-op)", WORLD], "scan 50 0 1 op=ordered"),
    # Persistent requests and a window.
    ("MPI_Send_init", ["int count=64", kind(5, "MPI_BYTE"), "int dest={next}", "int tag=2", WORLD, "MPI_Request request=[8]"],
     "MPI_Send_init 64 6 {next} 2 0 0"),
    ("MPI_Recv_init", ["int count=64", kind(5, "MPI_BYTE"), "int source={before}", "int tag=2", WORLD, "MPI_Request request=[9]"],
     "MPI_Recv_init 64 6 {before} 2 0 1"),
    ("MPI_Startall", ["int count=2", "MPI_Request requests[2]=[8, 9]"], "startall 2 0 1"),
    ("MPI_Waitall", ["int count=2", "MPI_Request requests[2]=[8, 9]", "MPI_Status statuses[2]=<IGNORED>"], "waitall 2 0 1"),
    ("MPI_Start", ["MPI_Request request=[9]"], "MPI_Start 1"),
    ("MPI_Start", ["MPI_Request request=[8]"], "MPI_Start 0"),
    ("MPI_Wait", ["MPI_Request request=[8]", "MPI_Status status=<IGNORED>"], "wait req=0"),
    ("MPI_Wait", ["MPI_Request request=[9]", "MPI_Status status=<IGNORED>"], "wait req=1"),
    ("MPI_Request_free", ["MPI_Request request=[8]"], "MPI_Request_free 0"),
    ("MPI_Win_create", ["int size=4096", "int dispunit=1", "MPI_Info info=0 (MPI_INFO_NULL)", WORLD, "MPI_Win win=1 (user-defined-win)"],
     "MPI_Win_create 4096 1 0 1"),
    ("MPI_Win_fence", ["int assertion=0 (MPI_MODE_NONE)", "MPI_Win win=1 (user-defined-win)"], "MPI_Win_fence 0 1"),
    ("MPI_Put", ["int origincount=100", kind(5, "MPI_BYTE", "origintype"), "int targetrank={next}", "int targetdisp=8", "int targetcount=100",
                 kind(5, "MPI_BYTE", "targettype"), "MPI_Win win=1 (user-defined-win)"], "MPI_Put 100 6 {next} 8 100 6 1"),
    ("MPI_Win_fence", ["int assertion=0 (MPI_MODE_NONE)", "MPI_Win win=1 (user-defined-win)"], "MPI_Win_fence 0 1"),
    ("MPI_Win_free", ["MPI_Win win=1 (user-defined-win)"], "MPI_Win_free 1"),
    ("MPI_Wtime", [], ""),
    ("work", 100000, "compute 100000"),
    ("MPI_Finalize", [], "finalize"),
]
HEADER = ("version=1.1.0\nstarttime=Thu Sep 26 10:55:53 2013\nhostname=node\nusername=user\nmeshdim=0\nmeshsize=[]\nmeshcrd=[]\n")
FOOTER = ("MPI_Send called 1 times and ignored 0 times\nDatatype 14 (MPI_DOUBLE) has size 8\nDatatype 31 (user-defined-datatype) has size 40\n")

# A program that only begins and ends.
ALONE = """MPI_Init entering at walltime 8153.0493, cputime 0.0044 seconds in thread 0.
MPI_Init returning at walltime 8153.0493, cputime 0.0044 seconds in thread 0.
MPI_Finalize entering at walltime 8153.0493, cputime 0.0045 seconds in thread 0.
MPI_Finalize returning at walltime 8153.0498, cputime 0.0049 seconds in thread 0.
"""

# A change of rank 0's file, and what must be said.
BROKEN = [
    ("int dest=1\n", "", "line 21: rank 0: MPI_Send has no dest"),
    ("int dest=1\n", "int dest=x\n", "line 22: rank 0: dest of MPI_Send is 'x'"),
    ("MPI_Send entering", "MPI_Sent entering", "rank 0: '"),
    ("MPI_Wtime", "MPI_File_open", "rank 0: MPI_File_open is no function that can be replayed"),
    ("MPI_Wtime", "MPI_Sent", "rank 0: MPI_Sent is no function that can be replayed"),
    ("requests[2]=[4, 5]", "requests[2]=[4, 77]", "rank 0: MPI_Waitall: request 77 has not been started"),
    ("MPI_Request request=[5]", "MPI_Request request=[4]", "rank 0: MPI_Isend: request 4 is open already"),
    ("Datatype 31 (", "Datatype 32 (", "rank 0: MPI_Bcast: the size of datatype 31 is not known"),
    ("MPI_Finalize", "MPI_Wtick", "where a call of MPI should begin"),
    ("int rank=0\n", "rank\n", "'rank' in the middle of MPI_Comm_rank"),
    ("entering at walltime 8153.000000000", "entering at walltime never", "its time is no number of seconds"),
    ("MPI_Group group=6 ", "MPI_Group group=9 ", "rank 0: MPI_Comm_create: the members of its group are not known"),
    ("[[0, 0, 1]", "[[0, 9, 1]", "rank 0: MPI_Group_range_incl: there is no rank 4 in its group"),
    ("\nMPI_Comm_rank entering", "\nhello\nMPI_Comm_rank entering", "line 12: rank 0: 'hello', where a call of MPI should begin"),
    ("indices[1]=[1]", "indices[1]=[2]", "rank 0: MPI_Waitsome: request 2 of 2 is done"),
]


# Messages alone, which are played without ranks: collectives are lines MPI_..., and are not.
PLAIN = CALLS[:9] + CALLS[-2:]


def trace(rank, ranks=4, calls=None):
    """What dumpi2ascii -a prints of a rank, and our lines."""
    root = rank == 2
    numbers = {"r": rank, "next": (rank + 1) % ranks, "before": (rank - 1) % ranks, "half": rank % 2, "rootcount": 100 if root else 12345,
               "roottype": 9 if root else 0, "rootsize": 4 if root else 0, "rootlist": "[10, 10, 10, 10]" if root else "<IGNORED>",
               "outer": "5 (user-defined-comm)" if rank in (0, 3) else "1 (MPI_COMM_NULL)", "outer2": 3 if rank in (0, 3) else -1}
    now, text, lines = 8153 * 10**9, HEADER, []
    for name, fields, line in calls or CALLS:
        if name.startswith("?"):
            if int(name[1]) != rank:
                continue
            name = name[3:]
        if line:
            lines.append(f"{rank} {line.format(**numbers)}\n")
        if name == "work":
            now += fields
            continue
        text += f"{name} entering at walltime {now // 10**9}.{now % 10**9:09}, cputime 0.004400000 seconds in thread 0.\n"
        text += "".join(field.format(**numbers) + "\n" for field in fields)
        now += 1000
        text += f"{name} returning at walltime {now // 10**9}.{now % 10**9:09}, cputime 0.004400000 seconds in thread 0.\n"
    return text + FOOTER, lines
