# SPDX-License-Identifier: BSD-3-Clause
"""What an mpi4py that was built for Open MPI sees: values that its MPI numbers otherwise than ours, statuses, callbacks. Right under mpirun, too."""

import array
import os
import sys
import tempfile

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
right, left = (rank + 1) % size, (rank - 1) % size


def ints(*values):
    return array.array("i", values)


def error_of(call, *arguments, **named):
    try:
        call(*arguments, **named)
    except MPI.Exception as error:
        return error.Get_error_class()
    return MPI.SUCCESS


def messages():
    status = MPI.Status()
    world.Send([ints(*range(rank)), MPI.INT], right, tag=5 + rank)
    got = ints(*[9] * size)
    world.Recv([got, MPI.INT], MPI.ANY_SOURCE, MPI.ANY_TAG, status)
    assert (status.source, status.tag, status.Get_count(MPI.INT), status.error) == (left, 5 + left, left, 0)
    assert status.Get_elements(MPI.INT) == left and not status.Is_cancelled()
    assert list(got[:left]) == list(range(left))
    world.Recv([got, MPI.INT], MPI.PROC_NULL, MPI.ANY_TAG, status)
    assert (status.source, status.tag, status.Get_count(MPI.INT)) == (MPI.PROC_NULL, MPI.ANY_TAG, 0)
    assert world.sendrecv(rank, dest=right, source=left) == left
    assert world.sendrecv(rank, dest=MPI.PROC_NULL, source=MPI.PROC_NULL) is None
    world.send(b"12345", right, 3)
    message = world.mprobe(left, 3, status)
    assert status.tag == 3 and message.recv() == b"12345"
    assert not world.Iprobe(left, 77)
    status.Set_elements(MPI.INT, 3)
    status.Set_cancelled(True)
    assert status.Get_count(MPI.INT) == 3 and status.Get_count(MPI.LONG_DOUBLE) == MPI.UNDEFINED and status.Is_cancelled()
    assert error_of(world.Send, [ints(1), MPI.INT], size, 1) == MPI.ERR_RANK
    assert error_of(world.Send, [ints(1), MPI.INT], 0, -7) == MPI.ERR_TAG
    world.Barrier()


def requests():
    statuses = [MPI.Status() for _ in range(3)]
    buffers = [ints(0) for _ in range(3)]
    waiting = [world.Irecv([b, MPI.INT], left, t) for t, b in enumerate(buffers)]
    sends = [world.Isend([ints(10 * rank + t), MPI.INT], right, t) for t in range(3)]
    MPI.Request.Waitall(waiting, statuses)
    MPI.Request.Waitall(sends)
    assert [(s.source, s.tag) for s in statuses] == [(left, t) for t in range(3)]
    assert [b[0] for b in buffers] == [10 * left + t for t in range(3)] and waiting == [MPI.REQUEST_NULL] * 3
    assert MPI.Request.Waitany(waiting) == MPI.UNDEFINED and MPI.Request.Testall(waiting)
    assert MPI.Request.Waitsome(waiting) is None and MPI.Request.Testany(waiting) == (MPI.UNDEFINED, True)
    request = world.Irecv([buffers[0], MPI.INT], left, 99)
    assert not request.Test()
    request.Cancel()
    request.Wait(statuses[0])
    assert statuses[0].Is_cancelled()
    persistent = world.Recv_init([buffers[1], MPI.INT], left, 8), world.Send_init([ints(rank), MPI.INT], right, 8)
    for _ in range(2):
        MPI.Prequest.Startall(persistent)
        MPI.Request.Waitall(persistent)
        assert buffers[1][0] == left
    calls = []
    general = MPI.Grequest.Start(lambda status: (status.Set_source(7), status.Set_tag(8), status.Set_cancelled(False)),
                                 lambda: calls.append("free"), lambda done: calls.append(done))
    general.Cancel()
    general.Complete()
    general.Wait(statuses[0])
    assert (statuses[0].source, statuses[0].tag, calls) == (7, 8, [False, "free"])
    short = world.Irecv([ints(0), MPI.INT], left, 4)
    world.Send([ints(1, 2, 3), MPI.INT], right, 4)
    assert error_of(short.Wait) == MPI.ERR_TRUNCATE
    world.Barrier()


def collectives():
    total = ints(rank)
    world.Allreduce(MPI.IN_PLACE, [total, MPI.INT], MPI.SUM)
    assert total[0] == size * (size - 1) // 2
    assert world.allreduce((rank, size - rank), MPI.MAXLOC) == (size - 1, 1)
    assert world.allgather(rank) == list(range(size)) and world.scan(1) == rank + 1 and world.bcast("x" if rank == 0 else None) == "x"
    last = MPI.Op.Create(lambda a, b, datatype: b.__setitem__(slice(None), max(bytes(a), bytes(b))), commute=True)
    big = bytearray([rank])
    world.Allreduce(MPI.IN_PLACE, [big, MPI.BYTE], last)
    assert big[0] == size - 1 and last.Is_commutative()
    last.Free()
    counts = list(range(size))
    all_of_them = ints(*[0] * sum(counts))
    world.Allgatherv([ints(*[rank] * rank), MPI.INT], [all_of_them, counts, None, MPI.INT])
    assert list(all_of_them) == [r for r in range(size) for _ in range(r)]
    got = ints(*[0] * size)
    world.Alltoallw([ints(*[rank] * size), [1] * size, [4 * i for i in range(size)], [MPI.INT] * size],
                    [got, [1] * size, [4 * i for i in range(size)], [MPI.INT] * size])
    assert list(got) == list(range(size))
    request = world.Ibarrier()
    request.Wait()
    assert error_of(world.Bcast, [got, MPI.INT], root=size) == MPI.ERR_ROOT


def communicators():
    half = world.Split(MPI.UNDEFINED if rank == 0 else 1)
    assert (half == MPI.COMM_NULL) == (rank == 0)
    twin = world.Dup()
    assert MPI.Comm.Compare(world, twin) == MPI.CONGRUENT and MPI.Comm.Compare(world, world) == MPI.IDENT
    assert MPI.Comm.Compare(world, MPI.COMM_SELF) == (MPI.UNEQUAL if size > 1 else MPI.CONGRUENT)
    name = "n" * (MPI.MAX_OBJECT_NAME - 1)
    twin.Set_name(name)
    assert twin.Get_name() == name
    backwards = world.group.Incl(list(range(size))[::-1])
    assert MPI.Group.Translate_ranks(world.group, [rank, MPI.PROC_NULL], backwards) == [size - 1 - rank, MPI.PROC_NULL]
    assert MPI.Group.Compare(world.group, backwards) == MPI.SIMILAR and world.group.Excl([rank]).rank == MPI.UNDEFINED
    node = world.Split_type(MPI.COMM_TYPE_SHARED)
    assert node.size >= 1
    line = world.Create_cart([size], [False])
    assert line.Get_topology() == MPI.CART and world.Get_topology() == MPI.UNDEFINED
    assert line.Shift(0, 1) == (rank - 1 if rank else MPI.PROC_NULL, rank + 1 if rank + 1 < size else MPI.PROC_NULL)
    ring = world.Create_dist_graph_adjacent([left], [right])
    assert ring.Get_topology() == MPI.DIST_GRAPH and ring.Get_dist_neighbors() == ([left], [right], None)
    weighted = world.Create_dist_graph_adjacent([left], [right], [3], [4])
    assert weighted.Get_dist_neighbors() == ([left], [right], ([3], [4])) and weighted.neighbor_allgather(rank) == [left]
    if half != MPI.COMM_NULL:
        half.Free()
    sides = world.Split(rank % 2)
    if size > 1:
        inter = sides.Create_intercomm(0, world, 1 - rank % 2, 1)
        root = (MPI.ROOT if rank == 0 else MPI.PROC_NULL) if rank % 2 == 0 else 0
        assert inter.Is_inter() and inter.bcast("over" if root == MPI.ROOT else None, root=root) == (None if rank % 2 == 0 else "over")
        inter.Free()
    for one in (twin, node, line, ring, weighted, sides):
        one.Free()
    assert MPI.Comm.f2py(world.py2f()) == world and MPI.Datatype.f2py(MPI.DOUBLE.py2f()) == MPI.DOUBLE


def attributes():
    assert world.Get_attr(MPI.TAG_UB) >= 32767 and world.Get_attr(MPI.WTIME_IS_GLOBAL) in (0, 1, False, True)
    deleted = []
    key = MPI.Comm.Create_keyval(lambda comm, key, value: value + ["copied"], lambda comm, key, value: deleted.append(value[0]))
    world.Set_attr(key, [rank])
    twin = world.Dup()
    assert twin.Get_attr(key) == [rank, "copied"]
    twin.Free()
    world.Delete_attr(key)
    assert deleted == [rank, rank] and world.Get_attr(key) is None and MPI.Comm.Free_keyval(key) == MPI.KEYVAL_INVALID
    assert world.Get_errhandler() == MPI.ERRORS_RETURN
    info = MPI.Info.Create()
    info.Set("key", "value")
    assert info.Get("key") == "value" and info.Get_nthkey(0) == "key"
    assert error_of(info.Delete, "none") == MPI.ERR_INFO_NOKEY
    added = MPI.Add_error_class()
    code = MPI.Add_error_code(added)
    MPI.Add_error_string(code, "a text of my own")
    assert MPI.Get_error_class(code) == added > MPI.ERR_LASTCODE and MPI.Get_error_string(code) == "a text of my own"
    assert MPI.Get_error_class(MPI.ERR_WIN) == MPI.ERR_WIN and "window" in MPI.Get_error_string(MPI.ERR_WIN).lower()
    assert MPI.THREAD_SINGLE <= MPI.Query_thread() <= MPI.THREAD_MULTIPLE and MPI.Is_thread_main()


def datatypes():
    combiners = [(MPI.INT.Dup(), "DUP"), (MPI.INT.Create_contiguous(2), "CONTIGUOUS"), (MPI.INT.Create_vector(2, 1, 3), "VECTOR"),
                 (MPI.INT.Create_resized(0, 16), "RESIZED"), (MPI.INT.Create_subarray([4, 4], [2, 2], [1, 1], MPI.ORDER_F), "SUBARRAY"),
                 (MPI.Datatype.Create_struct([1, 2], [0, 8], [MPI.INT, MPI.DOUBLE]), "STRUCT"), (MPI.INT.Create_indexed([1], [1]), "INDEXED"),
                 (MPI.INT.Create_darray(4, 1, [8, 8], [MPI.DISTRIBUTE_BLOCK, MPI.DISTRIBUTE_CYCLIC],
                                        [MPI.DISTRIBUTE_DFLT_DARG] * 2, [2, 2], MPI.ORDER_C), "DARRAY")]
    for datatype, name in combiners:
        assert datatype.combiner == getattr(MPI, "COMBINER_" + name), name
    assert MPI.INT.combiner == MPI.COMBINER_NAMED and combiners[-1][0].Get_size() == 16 * 4
    assert combiners[5][0].decode()[0] == combiners[5][0] or combiners[5][0].decode()[1] == "STRUCT"
    assert MPI.Datatype.Match_size(MPI.TYPECLASS_REAL, 8).Get_size() == 8 and MPI.INT.Get_name() == "MPI_INT"
    block = combiners[4][0].Commit()
    place = bytearray(16)
    block.Pack(ints(*range(16)), place, 0, world)
    assert list(array.array("i", bytes(place))) == [5, 6, 9, 10]
    for datatype, _ in combiners:
        datatype.Free()


def windows():
    window = MPI.Win.Allocate(4 * size, 4, comm=world)
    assert window.flavor == MPI.WIN_FLAVOR_ALLOCATE and window.model in (MPI.WIN_UNIFIED, MPI.WIN_SEPARATE)
    assert window.attrs[1:] == (4 * size, 4)
    mine = memoryview(window).cast("i")
    window.Fence(MPI.MODE_NOPRECEDE)
    window.Put([ints(rank), MPI.INT], right, [rank, 1, MPI.INT])
    window.Fence(MPI.MODE_NOSTORE | MPI.MODE_NOSUCCEED)
    assert mine[left] == left
    world.Barrier()
    mine[0] = 0
    world.Barrier()
    for kind in (MPI.LOCK_SHARED, MPI.LOCK_EXCLUSIVE):
        window.Lock(0, kind)
        window.Accumulate([ints(1), MPI.INT], 0, [0, 1, MPI.INT], MPI.SUM)
        window.Unlock(0)
    world.Barrier()
    got = ints(0)
    window.Lock(0, MPI.LOCK_SHARED)
    window.Get([got, MPI.INT], 0, [0, 1, MPI.INT])
    window.Unlock(0)
    assert got[0] == 2 * size
    world.Barrier()
    window.Free()
    dynamic = MPI.Win.Create_dynamic(comm=world)
    assert dynamic.flavor == MPI.WIN_FLAVOR_DYNAMIC
    dynamic.Free()


def files():
    path = world.bcast(os.path.join(tempfile.gettempdir(), f"mpi4py-calls-{os.getpid()}") if rank == 0 else None)
    file = MPI.File.Open(world, path, MPI.MODE_CREATE | MPI.MODE_RDWR | MPI.MODE_DELETE_ON_CLOSE)
    status = MPI.Status()
    file.Write_at_all(4 * rank, [ints(rank), MPI.INT], status)
    assert status.Get_count(MPI.INT) == 1 and file.amode == MPI.MODE_CREATE | MPI.MODE_RDWR | MPI.MODE_DELETE_ON_CLOSE
    file.Sync()
    world.Barrier()
    file.Seek(-4, MPI.SEEK_END)
    got = ints(-1)
    file.Read([got, MPI.INT])
    assert got[0] == size - 1 and file.Get_position() == 4 * size
    file.Seek(0, MPI.SEEK_SET)
    file.Seek(4 * rank, MPI.SEEK_CUR)
    file.Read([got, MPI.INT])
    assert got[0] == rank
    file.Close()
    assert error_of(MPI.File.Open, MPI.COMM_SELF, path + "/none", MPI.MODE_RDONLY) in (MPI.ERR_NO_SUCH_FILE, MPI.ERR_BAD_FILE, MPI.ERR_OTHER, MPI.ERR_FILE)


for part in (messages, requests, collectives, communicators, attributes, datatypes, windows, files):
    if len(sys.argv) == 1 or part.__name__ in sys.argv[1:]:
        part()
MPI.Pcontrol(1)
if world.allreduce(1) == size and rank == 0:
    print("PASS")
