# SPDX-License-Identifier: BSD-3-Clause
"""Wrong programs by class of mistake and MPI function, and right ones, for run_check.py.

cases() gives (class, name, ranks, body of a C function); source() makes one program of all of them, whose argument is
the number of the case. A class that begins with "right" must not be found, all others must.
"""

ALL = "MPI_COMM_WORLD"
MADE = "MPI_Comm c; MPI_Comm_dup(MPI_COMM_WORLD, &c);"

# Words: B and D buffers, N count, T datatype, O operation, R root, C communicator.
COLLECTIVES = {
    "Barrier": "C",
    "Bcast": "B, N, T, R, C",
    "Gather": "B, N, T, D, N, T, R, C",
    "Gatherv": "B, N, T, D, counts, displs, T, R, C",
    "Scatter": "B, N, T, D, N, T, R, C",
    "Scatterv": "B, counts, displs, T, D, N, T, R, C",
    "Allgather": "B, N, T, D, N, T, C",
    "Allgatherv": "B, N, T, D, counts, displs, T, C",
    "Alltoall": "B, N, T, D, N, T, C",
    "Alltoallv": "B, counts, displs, T, D, counts, displs, T, C",
    "Alltoallw": "B, counts, displs, types, D, counts, displs, types, C",
    "Reduce": "B, D, N, T, O, R, C",
    "Allreduce": "B, D, N, T, O, C",
    "Reduce_scatter": "B, D, counts, T, O, C",
    "Reduce_scatter_block": "B, D, N, T, O, C",
    "Scan": "B, D, N, T, O, C",
    "Exscan": "B, D, N, T, O, C",
}
RIGHT = {"B": "out", "D": "in", "N": "1", "T": "MPI_INT", "O": "MPI_SUM", "R": "0", "C": ALL}
USUAL = "counts[0] = counts[1] = 1; displs[1] = 1; types[0] = types[1] = MPI_INT;"


def call(name, nonblocking=False, **words):
    """MPI_NAME(...) with the words in place of the usual arguments."""
    given = dict(RIGHT, **words)
    arguments = COLLECTIVES[name].split(", ")
    if "T" in words:
        arguments = [a if a != "types" else "one_type(types, T)" for a in arguments]
    if "N" in words:
        arguments = [a if a != "counts" else "one_count(counts, N)" for a in arguments]
    if name == "Alltoallw":
        arguments = [a if a != "displs" else "bytes" for a in arguments]
    text = ", ".join(given.get(a, a.replace("T)", given["T"] + ")").replace("N)", given["N"] + ")")) for a in arguments)
    if nonblocking:
        return f"MPI_I{name.lower()}({text}, &request); MPI_Wait(&request, MPI_STATUS_IGNORE);"
    return f"MPI_{name}({text});"


def if_rank(which, first, other=""):
    return f"if (rank == {which}) {{ {first} }} else {{ {other} }}"


def collectives():
    yes = {word: {name for name, arguments in COLLECTIVES.items() if word in arguments.split(", ")} for word in "BORNT"}
    yes["T"] |= {"Alltoallw"}
    counted = yes["N"] | {"Alltoallv", "Alltoallw", "Reduce_scatter"}
    names = list(COLLECTIVES)
    for i, name in enumerate(names):
        for nb in (False, True):
            def one(**words):
                return call(name, nb, **words)
            label = ("I" + name.lower()) if nb else name
            other = call(names[(i + 1) % len(names)], not nb)
            yield "right", label, one() + one()
            yield "right/comm", label, MADE + one(C="c") + "MPI_Comm_free(&c);"
            yield "comm/null", label, one(C="MPI_COMM_NULL")
            yield "comm/freed", label, MADE + "MPI_Comm d = c; MPI_Comm_free(&c);" + one(C="d")
            yield "comm/differs", label, MADE + one(C="(rank ? c : MPI_COMM_WORLD)") + "MPI_Comm_free(&c);"
            yield "order", label, if_rank(0, one() + other, other + one())
            yield "only", label, if_rank(1, one())
            yield "only/comm", label, MADE + if_rank(1, one(C="c")) + "MPI_Comm_free(&c);"
            yield "only/leaked", label, MADE + if_rank(1, one(C="c"))
            yield "blocking", label, if_rank(0, one(), call(name, not nb))
            yield "p2p", label, if_rank(0, one() + "MPI_Send(out, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);",
                                        "MPI_Recv(in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);" + one())
            yield "hazard", label, if_rank(1, "MPI_Send(out, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);" + one(),
                                           one() + "MPI_Recv(in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);")
            yield "finalized", label, "MPI_Finalize();" + one()
            if nb:
                yield "unwaited", label, one().split(" MPI_Wait")[0]
                if name != "Barrier":
                    yield "twice", label, one().replace("MPI_Wait(&request", "MPI_Request r = request; MPI_Wait(&r") + "MPI_Wait(&request, MPI_STATUS_IGNORE);"
            if name in yes["T"]:
                yield "type/null", label, one(T="MPI_DATATYPE_NULL")
                yield "type/differs", label, one(T="(rank ? MPI_FLOAT : MPI_INT)")
                yield "type/uncommitted", label, "MPI_Type_contiguous(1, MPI_INT, &type);" + one(T="type") + "MPI_Type_free(&type);"
                yield "right/type", label, "MPI_Type_contiguous(1, MPI_INT, &type); MPI_Type_commit(&type);" + (
                    one(T="type") if name not in yes["O"] else one()) + "MPI_Type_free(&type);"
            if name in counted and name not in ("Scatterv", "Gatherv", "Allgatherv"):
                yield "count/negative", label, one(N="-1")
                yield "count/differs", label, one(N="(rank ? 2 : 1)")
            if name in yes["B"]:
                yield "buffer/null", label, one(B="NULL")
                yield "right/in", label, one(N="0") if name in counted else one()
            if name in yes["R"]:
                yield "root/negative", label, one(R="-9")
                yield "root/beyond", label, one(R="2")
                yield "root/differs", label, one(R="rank")
            if name in yes["O"]:
                yield "op/null", label, one(O="MPI_OP_NULL")
                yield "op/differs", label, one(O="(rank ? MPI_MAX : MPI_SUM)")
                yield "op/type", label, one(O="MPI_BAND", T="MPI_FLOAT")
                yield "op/freed", label, "MPI_Op_create(add, 1, &op); MPI_Op was = op; MPI_Op_free(&op);" + one(O="was")


SENDS = ["Send", "Ssend", "Isend", "Issend", "Send_init", "Sendrecv", "Bsend", "Ibsend"]
RECEIVES = ["Recv", "Irecv", "Recv_init", "Mprobe"]


def p2p(name, start=True, wait=True, **words):
    w = dict({"B": "out" if "end" in name else "in", "N": "1", "T": "MPI_INT", "P": "!rank", "G": "7", "C": ALL}, **words)
    arguments = "{B}, {N}, {T}, {P}, {G}, {C}".format(**w)
    if name == "Sendrecv":
        return f"MPI_Sendrecv({arguments.rsplit(', ', 1)[0]}, in, 0, MPI_INT, MPI_PROC_NULL, 0, {w['C']}, MPI_STATUS_IGNORE);"
    if name == "Mprobe":
        return (f"MPI_Message m; MPI_Mprobe({w['P']}, {w['G']}, {w['C']}, &m, MPI_STATUS_IGNORE);"
                f"MPI_Mrecv({w['B']}, {w['N']}, {w['T']}, &m, MPI_STATUS_IGNORE);")
    attach = "MPI_Buffer_attach(room, sizeof room);" if "bsend" in name.lower() else ""
    detach = "{ void *p; int n; MPI_Buffer_detach(&p, &n); }" if attach else ""
    if name.endswith("_init"):
        return (f"MPI_{name}({arguments}, &request);" + ("MPI_Start(&request);" if start else "")
                + ("MPI_Wait(&request, MPI_STATUS_IGNORE);" if wait else "") + "MPI_Request_free(&request);")
    if name.startswith("I"):
        return attach + f"MPI_{name}({arguments}, &request);" + ("MPI_Wait(&request, MPI_STATUS_IGNORE);" if wait else "") + detach
    return attach + f"MPI_{name}({arguments}" + (", MPI_STATUS_IGNORE);" if name == "Recv" else ");") + detach


def both(send, receive):
    return if_rank(0, send, receive)


def messages():
    bad = {"comm/null": {"C": "MPI_COMM_NULL"}, "type/null": {"T": "MPI_DATATYPE_NULL"}, "count/negative": {"N": "-1"},
           "buffer/null": {"B": "NULL"}, "tag/negative": {"G": "-5"}, "rank/beyond": {"P": "2"}, "rank/negative": {"P": "-7"},
           "tag/differs": {"G": "8"}, "comm/differs": {"C": "c"}, "type/differs": {"T": "MPI_FLOAT"}, "type/size": {"T": "MPI_SHORT"},
           "type/uncommitted": {"T": "type"}, "rank/self": {"P": "rank"}}
    for send in SENDS:
        for receive in RECEIVES:
            yield "right", f"{send} {receive}", both(p2p(send), p2p(receive))
            yield "type/differs", f"{send} {receive}", both(p2p(send, T="MPI_DOUBLE"), p2p(receive, N="2", T="MPI_INT"))
            if not send.endswith("bsend") and send != "Bsend":
                if receive != "Mprobe":
                    yield "head", f"{send} {receive}", p2p(send) + p2p(receive)
            yield "head/receive", f"{send} {receive}", p2p(receive) + p2p(send)
            if send not in ("Ssend", "Issend", "Bsend", "Ibsend"):
                yield "right/ring", f"{send} {receive}", both(p2p(send) + p2p(receive), p2p(receive) + p2p(send))
    for name in SENDS + RECEIVES:
        sends = "end" in name
        if not sends and name == "Mprobe":
            continue

        def pair(**words):
            return both(p2p(name, **words), p2p("Recv")) if sends else both(p2p("Send"), p2p(name, **words))
        for label, words in bad.items():
            if (label in ("rank/self", "type/size")) and not sends:
                continue
            first = MADE if label == "comm/differs" else "MPI_Type_contiguous(1, MPI_INT, &type);" if "uncommitted" in label else ""
            last = "MPI_Comm_free(&c);" if label == "comm/differs" else "MPI_Type_free(&type);" if "uncommitted" in label else ""
            yield label, name, first + pair(**words) + last
        yield "comm/freed", name, MADE + "MPI_Comm d = c; MPI_Comm_free(&c);" + pair(C="d")
        yield "unmatched", name, if_rank(0, p2p(name))
        yield "finalized", name, "MPI_Finalize();" + p2p(name)
        yield "right/proc-null", name, p2p(name, P="MPI_PROC_NULL")
        yield "right/none", name, both(p2p(name, N="0", B="NULL"), p2p("Recv")) if sends else both(p2p("Send", N="0"), p2p(name, N="0", B="NULL"))
        if sends:
            yield "truncated", name, both(p2p(name, N="2"), p2p("Recv"))
        if name.endswith("_init") or name.startswith("I"):
            yield "unwaited", name, pair(wait=False)
        if name.endswith("_init"):
            yield "unstarted", name, pair(start=False)
            once = p2p(name)
            yield "started-twice", name, both(once.replace("MPI_Start(", "MPI_Start(&request); MPI_Start("), p2p("Recv")) \
                if sends else both(p2p("Send"), once.replace("MPI_Start(", "MPI_Start(&request); MPI_Start("))
            yield "unfreed", name, pair().replace("MPI_Request_free(&request);", "")
    yield "head/probe", "Probe", "MPI_Probe(!rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);" + p2p("Send") + p2p("Recv")
    yield "head/any", "Recv", p2p("Recv", P="MPI_ANY_SOURCE") + p2p("Send")
    yield "head/any", "Send", p2p("Send") + p2p("Recv", P="MPI_ANY_SOURCE")
    yield "head", "Send Waitall", ("MPI_Send(out, 1, MPI_INT, !rank, 7, MPI_COMM_WORLD); MPI_Irecv(in, 1, MPI_INT, !rank, 7, MPI_COMM_WORLD, &request);"
                                   "MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);")
    yield "head", "Isend", ("MPI_Isend(out, 1, MPI_INT, !rank, 7, MPI_COMM_WORLD, &request); MPI_Wait(&request, MPI_STATUS_IGNORE);"
                            + p2p("Recv"))
    yield "head", "Send Barrier", if_rank(0, p2p("Send") + "MPI_Barrier(MPI_COMM_WORLD);", "MPI_Barrier(MPI_COMM_WORLD);" + p2p("Recv"))
    yield "head", "self", p2p("Send", P="rank") + p2p("Recv", P="rank")
    yield "right", "self", "MPI_Irecv(in, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &request);" + p2p("Send", P="rank") + "MPI_Wait(&request, MPI_STATUS_IGNORE);"
    yield "right", "Irecv first", ("MPI_Irecv(in, 1, MPI_INT, !rank, 7, MPI_COMM_WORLD, &request);" + p2p("Send")
                                   + "MPI_Wait(&request, MPI_STATUS_IGNORE);")
    yield "right", "Isend first", ("MPI_Isend(out, 1, MPI_INT, !rank, 7, MPI_COMM_WORLD, &request);" + p2p("Recv")
                                   + "MPI_Wait(&request, MPI_STATUS_IGNORE);")
    yield "right", "both", "MPI_Sendrecv(out, 1, MPI_INT, !rank, 7, in, 1, MPI_INT, !rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    yield "right", "bytes", both(p2p("Send", T="MPI_BYTE", N="4"), p2p("Recv"))
    yield "right", "longer", both(p2p("Send"), p2p("Recv", N="5"))
    yield "right", "Test", ("int done = 0; MPI_Irecv(in, 1, MPI_INT, !rank, 7, MPI_COMM_WORLD, &request);" + p2p("Send")
                            + "while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);")
    yield "right", "struct", ("struct { double d; int i; } v = {0}; MPI_Aint at[2] = {0, 8}; MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_INT};"
                              "int one[2] = {1, 1}; MPI_Type_create_struct(2, one, at, parts, &type); MPI_Type_commit(&type);"
                              + both(p2p("Send", B="&v", T="type"), p2p("Recv", B="&v", T="MPI_DOUBLE_INT")) + "MPI_Type_free(&type);")
    yield "type/differs", "struct", ("struct { double d; int i; } v = {0}; MPI_Aint at[2] = {0, 8}; MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_FLOAT};"
                                     "int one[2] = {1, 1}; MPI_Type_create_struct(2, one, at, parts, &type); MPI_Type_commit(&type);"
                                     + both(p2p("Send", B="&v", T="type"), p2p("Recv", B="&v", T="MPI_DOUBLE_INT")) + "MPI_Type_free(&type);")


RMA = {"Put": "B, N, T, P, A, N, T, W", "Get": "D, N, T, P, A, N, T, W", "Accumulate": "B, N, T, P, A, N, T, MPI_SUM, W",
       "Get_accumulate": "B, N, T, D, N, T, P, A, N, T, MPI_SUM, W", "Fetch_and_op": "B, D, T, P, A, MPI_SUM, W",
       "Compare_and_swap": "B, extra, D, T, P, A, W"}
EPOCHS = {
    "fence": ("MPI_Win_fence(0, win);", "MPI_Win_fence(0, win);"),
    "lock": ("MPI_Win_lock(MPI_LOCK_SHARED, !rank, 0, win);", "MPI_Win_unlock(!rank, win);"),
    "lock_all": ("MPI_Win_lock_all(0, win);", "MPI_Win_unlock_all(win);"),
    "start": ("MPI_Win_post(peers, 0, win); MPI_Win_start(peers, 0, win);", "MPI_Win_complete(win); MPI_Win_wait(win);"),
}
WINDOW = ("int memory[4] = {0}; MPI_Win win; MPI_Group all, peers; int other = !rank;"
          "MPI_Comm_group(MPI_COMM_WORLD, &all); MPI_Group_incl(all, 1, &other, &peers);"
          "MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);")
CLOSE = "MPI_Win_free(&win); MPI_Group_free(&all); MPI_Group_free(&peers);"


def rma(name, request="", **words):
    w = dict({"B": "out", "D": "in", "N": "1", "T": "MPI_INT", "P": "!rank", "A": "0", "W": "win"}, **words)
    return f"MPI_{name}({', '.join(w.get(a, a) for a in RMA[name.lstrip('R').capitalize() if request else name].split(', '))}{request});"


def one_sided():
    def within(body, epoch="lock_all"):
        return WINDOW + EPOCHS[epoch][0] + body + EPOCHS[epoch][1] + CLOSE
    for name in RMA:
        counted = name not in ("Fetch_and_op", "Compare_and_swap")
        for epoch, (opens, closes) in EPOCHS.items():
            yield "right/rma", f"{name} {epoch}", within(rma(name), epoch)
            yield "epoch/none", f"{name} {epoch}", WINDOW + rma(name) + closes + CLOSE
            yield "epoch/open", f"{name} {epoch}", WINDOW + opens + rma(name) + CLOSE
            if epoch != "fence":
                yield "epoch/twice", f"{name} {epoch}", WINDOW + opens + opens + rma(name) + closes + CLOSE
        yield "epoch/none", name, WINDOW + rma(name) + CLOSE
        yield "epoch/after", name, WINDOW + "".join(EPOCHS["lock"]) + rma(name) + CLOSE
        yield "epoch/fence-end", name, WINDOW + "MPI_Win_fence(0, win);" + rma(name) + "MPI_Win_fence(MPI_MODE_NOSUCCEED, win);" + rma(name) + CLOSE
        yield "epoch/other-target", name, WINDOW + "MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);" + rma(name) + "MPI_Win_unlock(rank, win);" + CLOSE
        yield "epoch/only-lock", name, WINDOW + "".join(EPOCHS["lock"]) + rma(name) + "MPI_Win_flush_all(win);" + CLOSE
        yield "beyond", name, within(rma(name, A="4"))
        yield "beyond/negative", name, within(rma(name, A="-1"))
        yield "win/null", name, within(rma(name, W="MPI_WIN_NULL"))
        yield "win/freed", name, WINDOW + "MPI_Win gone = win;" + CLOSE + rma(name, W="gone")
        yield "rank/beyond", name, within(rma(name, P="2"))
        yield "rank/negative", name, within(rma(name, P="-9"))
        yield "type/null", name, within(rma(name, T="MPI_DATATYPE_NULL"))
        yield "buffer/null", name, within(rma(name, **({"D": "NULL"} if name == "Get" else {"B": "NULL"})))
        yield "right/rma-null", name, within(rma(name, P="MPI_PROC_NULL"))
        if counted:
            yield "beyond/count", name, within(rma(name, N="5"))
            yield "count/negative", name, within(rma(name, N="-1"))
            yield "type/differs", name, within(rma(name).replace("0, 1, MPI_INT", "0, 1, MPI_FLOAT"))
            yield "count/differs", name, within(rma(name).replace("0, 1, MPI_INT", "0, 2, MPI_INT"))
            yield "type/uncommitted", name, "MPI_Type_contiguous(1, MPI_INT, &type);" + within(rma(name, T="type")) + "MPI_Type_free(&type);"
            request = "R" + name.lower()
            text = rma(request, ", &request")
            yield "right/rma", request, within(text + "MPI_Wait(&request, MPI_STATUS_IGNORE);")
            yield "unwaited", request, within(text)
            yield "epoch/none", request, WINDOW + text + "MPI_Wait(&request, MPI_STATUS_IGNORE);" + CLOSE
            yield "epoch/fence", request, within(text + "MPI_Wait(&request, MPI_STATUS_IGNORE);", "fence")
    for epoch, (opens, closes) in EPOCHS.items():
        if epoch != "fence":
            yield "epoch/twice", epoch, WINDOW + opens + opens + closes + CLOSE
            yield "epoch/unopened", epoch, WINDOW + closes + CLOSE
            yield "epoch/unclosed", epoch, WINDOW + opens + CLOSE
            yield "epoch/closed-twice", epoch, WINDOW + opens + closes + closes + CLOSE
            yield "epoch/fence-inside", epoch, WINDOW + opens + "MPI_Win_fence(0, win);" + closes + CLOSE
        yield "right/epoch", epoch, WINDOW + 2 * (opens + closes) + CLOSE
        yield "finalized", "window " + epoch, WINDOW + CLOSE + "MPI_Finalize();" + opens
    yield "epoch/mixed", "lock lock_all", WINDOW + "MPI_Win_lock_all(0, win); MPI_Win_lock(MPI_LOCK_SHARED, !rank, 0, win); MPI_Win_unlock(!rank, win); MPI_Win_unlock_all(win);" + CLOSE
    yield "epoch/mixed", "lock start", WINDOW + EPOCHS["start"][0] + "".join(EPOCHS["lock"]) + EPOCHS["start"][1] + CLOSE
    yield "right/epoch", "fence lock", WINDOW + "MPI_Win_fence(0, win);" + EPOCHS["lock"][0] + rma("Put") + EPOCHS["lock"][1] + "MPI_Win_fence(0, win);" + CLOSE
    yield "epoch/flush", "flush", WINDOW + "MPI_Win_flush(!rank, win);" + CLOSE
    yield "epoch/flush", "flush_all", WINDOW + "MPI_Win_flush_all(win);" + CLOSE
    yield "epoch/flush", "flush_local", WINDOW + "MPI_Win_flush_local(!rank, win);" + CLOSE
    yield "right/epoch", "flush", WINDOW + EPOCHS["lock"][0] + "MPI_Win_flush(!rank, win);" + EPOCHS["lock"][1] + CLOSE
    yield "epoch/only", "fence", WINDOW + if_rank(0, "MPI_Win_fence(0, win);") + CLOSE
    yield "epoch/only", "free", WINDOW + if_rank(0, "MPI_Win_free(&win);") + "MPI_Group_free(&all); MPI_Group_free(&peers);"
    yield "epoch/only", "start", WINDOW + if_rank(0, "MPI_Win_start(peers, 0, win);" + rma("Put") + "MPI_Win_complete(win);") + CLOSE
    yield "win/lock-type", "lock", WINDOW + "MPI_Win_lock(99, !rank, 0, win); MPI_Win_unlock(!rank, win);" + CLOSE
    yield "win/size", "create", "MPI_Win w; MPI_Win_create(out, -4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_free(&w);"
    yield "win/comm", "create", "MPI_Win w; MPI_Win_create(out, 4, 4, MPI_INFO_NULL, MPI_COMM_NULL, &w); MPI_Win_free(&w);"
    yield "win/unit", "create", "MPI_Win w; MPI_Win_create(out, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_free(&w);"
    yield "win/info", "create", "MPI_Win w; MPI_Win_create(out, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win x = w; MPI_Win_free(&w); MPI_Win_free(&x);"
    yield "right/rma", "dynamic", ("MPI_Win w; MPI_Aint at, there; MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_attach(w, in, sizeof in);"
                                   "MPI_Get_address(in, &at); MPI_Sendrecv(&at, 1, MPI_AINT, !rank, 0, &there, 1, MPI_AINT, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
                                   "MPI_Win_fence(0, w); MPI_Put(out, 1, MPI_INT, !rank, there, 1, MPI_INT, w); MPI_Win_fence(0, w); MPI_Win_free(&w);")
    yield "leak", "window", WINDOW + "MPI_Group_free(&all); MPI_Group_free(&peers);"


def others():
    made = {
        "Comm_dup": MADE, "Comm_split": "MPI_Comm c; MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &c);",
        "Comm_create": "MPI_Group g; MPI_Comm c; MPI_Comm_group(MPI_COMM_WORLD, &g); MPI_Comm_create(MPI_COMM_WORLD, g, &c); MPI_Group_free(&g);",
        "Comm_group": "MPI_Group g; MPI_Comm_group(MPI_COMM_WORLD, &g);",
        "Cart_create": "MPI_Comm c; int n = 2, p = 0; MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &p, 0, &c);",
        "Graph_create": "MPI_Comm c; int index[2] = {1, 2}, edges[2] = {1, 0}; MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &c);",
        "Type_contiguous": "MPI_Type_contiguous(2, MPI_INT, &type); MPI_Type_commit(&type);",
        "Type_vector": "MPI_Type_vector(2, 1, 2, MPI_INT, &type); MPI_Type_commit(&type);",
        "Type_dup": "MPI_Type_dup(MPI_INT, &type);",
        "Op_create": "MPI_Op_create(add, 1, &op);", "Info_create": "MPI_Info i; MPI_Info_create(&i);",
        "Errhandler_create": "MPI_Errhandler e; MPI_Comm_get_errhandler(MPI_COMM_WORLD, &e); MPI_Errhandler f; MPI_Comm_create_errhandler(handler, &f); MPI_Errhandler_free(&e);",
        "Group_incl": "MPI_Group g, h; int zero = 0; MPI_Comm_group(MPI_COMM_WORLD, &g); MPI_Group_incl(g, 1, &zero, &h); MPI_Group_free(&g);",
        "Keyval": "int k; MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &k, NULL);",
    }
    for name, body in made.items():
        yield "leak", name, body
    bad = {
        "Cart_create": "MPI_Comm c; int n = 3, p = 0; MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &p, 0, &c);",
        "Cart_create negative": "MPI_Comm c; int n = -1, p = 0; MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &p, 0, &c);",
        "Cart_create null": "MPI_Comm c; int n = 2, p = 0; MPI_Cart_create(MPI_COMM_NULL, 1, &n, &p, 0, &c);",
        "Cart_get": "int n[2], p[2], x[2]; MPI_Cart_get(MPI_COMM_WORLD, 2, n, p, x);",
        "Cart_coords": "int x[2]; MPI_Cart_coords(MPI_COMM_WORLD, rank, 2, x);",
        "Cart_shift": "int a, b; MPI_Cart_shift(MPI_COMM_NULL, 0, 1, &a, &b);",
        "Cart_sub": "MPI_Comm c; int k = 1; MPI_Cart_sub(MPI_COMM_WORLD, &k, &c);",
        "Cart_rank": "MPI_Comm c; int n = 2, p = 0, x = 7, y; MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &p, 0, &c); MPI_Cart_rank(c, &x, &y); MPI_Comm_free(&c);",
        "Dims_create": "int n[2] = {-1, 0}; MPI_Dims_create(2, 2, n);",
        "Dims_create divide": "int n[2] = {3, 0}; MPI_Dims_create(2, 2, n);",
        "Graph_create": "MPI_Comm c; int index[2] = {1, 2}, edges[2] = {1, 9}; MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &c);",
        "Graph_get": "int a[2], b[2]; MPI_Graph_get(MPI_COMM_WORLD, 2, 2, a, b);",
        "Comm_split color": "MPI_Comm c; MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &c);",
        "Comm_split null": "MPI_Comm c; MPI_Comm_split(MPI_COMM_NULL, 0, 0, &c);",
        "Comm_split only": if_rank(0, "MPI_Comm c; MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &c); MPI_Comm_free(&c);"),
        "Comm_dup null": "MPI_Comm c; MPI_Comm_dup(MPI_COMM_NULL, &c);",
        "Comm_dup only": if_rank(0, MADE + "MPI_Comm_free(&c);"),
        "Comm_free world": "MPI_Comm c = MPI_COMM_WORLD; MPI_Comm_free(&c);",
        "Comm_free null": "MPI_Comm c = MPI_COMM_NULL; MPI_Comm_free(&c);",
        "Comm_free twice": MADE + "MPI_Comm d = c; MPI_Comm_free(&c); MPI_Comm_free(&d);",
        "Comm_create null": "MPI_Comm c; MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &c);",
        "Comm_group null": "MPI_Group g; MPI_Comm_group(MPI_COMM_NULL, &g);",
        "Comm_rank null": "int r; MPI_Comm_rank(MPI_COMM_NULL, &r);",
        "Comm_size null": "int r; MPI_Comm_size(MPI_COMM_NULL, &r);",
        "Group_incl": "MPI_Group g, h; int nine = 9; MPI_Comm_group(MPI_COMM_WORLD, &g); MPI_Group_incl(g, 1, &nine, &h); MPI_Group_free(&g);",
        "Group_free twice": "MPI_Group g, h; MPI_Comm_group(MPI_COMM_WORLD, &g); h = g; MPI_Group_free(&g); MPI_Group_free(&h);",
        "Group_size null": "int n; MPI_Group_size(MPI_GROUP_NULL, &n);",
        "Type_contiguous": "MPI_Type_contiguous(-1, MPI_INT, &type);",
        "Type_contiguous null": "MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type);",
        "Type_vector": "MPI_Type_vector(-1, 1, 1, MPI_INT, &type);",
        "Type_commit null": "type = MPI_DATATYPE_NULL; MPI_Type_commit(&type);",
        "Type_free null": "type = MPI_DATATYPE_NULL; MPI_Type_free(&type);",
        "Type_free predefined": "type = MPI_INT; MPI_Type_free(&type);",
        "Type_free twice": made["Type_contiguous"] + "MPI_Datatype u = type; MPI_Type_free(&type); MPI_Type_free(&u);",
        "Op_create": "MPI_Op_create(NULL, 1, &op);",
        "Op_free null": "op = MPI_OP_NULL; MPI_Op_free(&op);",
        "Op_free predefined": "op = MPI_SUM; MPI_Op_free(&op);",
        "Init twice": "MPI_Init(NULL, NULL);",
        "Init after": "MPI_Finalize(); MPI_Init(NULL, NULL);",
        "Finalize twice": "MPI_Finalize();",
        "no Finalize": "exit(0);",
        "no Finalize at one": "if (rank == 1) exit(0);",
        "return without Finalize": "no_finalize = 1;",
        "Wait null pointer": "MPI_Request_free(&request);",
        "Wait foreign": "int x[8] = {0}; request = (MPI_Request)(void *)x; MPI_Wait(&request, MPI_STATUS_IGNORE);",
        "Wait uninitialised": "request = (MPI_Request)(void *)8; MPI_Wait(&request, MPI_STATUS_IGNORE);",
        "Request_free active": "MPI_Ibarrier(MPI_COMM_WORLD, &request); MPI_Request_free(&request);",
        "Start of Irecv": both(p2p("Send"), "MPI_Irecv(in, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request); MPI_Start(&request); MPI_Wait(&request, MPI_STATUS_IGNORE);"),
        "Intercomm_create": "MPI_Comm c; MPI_Intercomm_create(MPI_COMM_SELF, 3, MPI_COMM_WORLD, !rank, 1, &c); MPI_Comm_free(&c);",
        "overlap": p2p("Irecv", wait=False) + "MPI_Request s; MPI_Irecv(in, 1, MPI_INT, !rank, 7, MPI_COMM_WORLD, &s);" + 2 * p2p("Send")
                   + "MPI_Wait(&request, MPI_STATUS_IGNORE); MPI_Wait(&s, MPI_STATUS_IGNORE);",
    }
    for name, body in bad.items():
        yield "misuse", name, body
    yield "right", "nothing", ""
    yield "right", "split", "MPI_Comm c; MPI_Comm_split(MPI_COMM_WORLD, rank ? MPI_UNDEFINED : 0, 0, &c); if (c != MPI_COMM_NULL) MPI_Comm_free(&c);"
    yield "right", "request freed", "MPI_Isend(out, 1, MPI_INT, !rank, 7, MPI_COMM_WORLD, &request); MPI_Request_free(&request);" + p2p("Recv")


HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int rank, no_finalize;
static void add(void *a, void *b, int *n, MPI_Datatype *t) { (void)a, (void)b, (void)n, (void)t; }
static void handler(MPI_Comm *c, int *e, ...) { (void)c, (void)e; }
static MPI_Datatype *one_type(MPI_Datatype *types, MPI_Datatype t) { types[0] = types[1] = t; return types; }
static int *one_count(int *counts, int n) { counts[0] = counts[1] = n; return counts; }
"""
CASE = """static void case_%d(void) {
int out[64] = {0}, in[64] = {0}, extra[4] = {0}, counts[2], displs[2] = {0, 1}, bytes[2] = {0, 4}; MPI_Request request = MPI_REQUEST_NULL;
MPI_Datatype type, types[2]; MPI_Op op; static char room[4096]; (void)room, (void)extra, (void)request, (void)type, (void)op, (void)add, (void)handler, (void)one_type, (void)one_count, (void)displs, (void)bytes, (void)out, (void)in;
%s
#line 1 "case_%d"
%s
}
"""


def cases():
    done = [(kind, name, body) for make in (collectives, messages, one_sided, others) for kind, name, body in make()]
    return done


def source(chosen):
    text = HEAD + "".join(CASE % (i, USUAL, i, body) for i, (_, _, body) in enumerate(chosen))
    return (text + "int main(int argc, char **argv) {\nMPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\nswitch (atoi(argv[1])) {\n"
            + "".join(f"case {i}: case_{i}(); break;\n" for i in range(len(chosen)))
            + "}\nint over; MPI_Finalized(&over);\nif (!no_finalize && (!over || !strcmp(argv[2], \"misuse/Finalize twice\"))) MPI_Finalize();\nreturn 0;\n}\n")
