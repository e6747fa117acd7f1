# SPDX-License-Identifier: BSD-3-Clause
"""checked.c: pf_check_*, which look at a call's arguments, pass it on to pf_plain_*, and note what it has made.

A function that is defined by hand in middleware/check/ (a line that starts with `int pf_check_`) is left out.
"""

import pathlib
import re

import cfile
import table
import wrappers

# Nothing to be seen there: no handle that lives, or the function must work at any time.
UNCHECKED_GROUPS = ("env", "time", "memory", "status", "f2c", "dynamic", "mpit")
DEFINITION = re.compile(r"^int pf_check_([A-Z]\w+)\(", re.MULTILINE)

# Collective besides the groups coll, icoll and neighbor: on a communicator; on the window or file.
COLLECTIVE = ("Comm_dup", "Comm_dup_with_info", "Comm_idup", "Comm_create", "Comm_split", "Comm_split_type", "Comm_free",
              "Comm_disconnect", "Intercomm_create", "Intercomm_merge", "Cart_create", "Cart_sub", "Graph_create",
              "Dist_graph_create", "Dist_graph_create_adjacent", "Win_create", "Win_allocate", "Win_allocate_shared",
              "Win_create_dynamic", "File_open")
COLLECTIVE_ON = ("Win_fence", "Win_free", "File_close", "File_set_view", "File_set_size", "File_preallocate",
                 "File_set_atomicity", "File_sync", "File_seek_shared")

# Handles that the application must not free, or that count at one member only.
NOT_MADE = ("Type_create_f90_integer", "Type_create_f90_real", "Type_create_f90_complex")
NOT_READ = {("Intercomm_create", "peer_comm")}

# What a collective reads and writes: (buffer, count, datatype, blocks, writes, condition).
SEND = ("sendbuf", "sendcount", "sendtype", "1", "false", "")
RECV = ("recvbuf", "recvcount", "recvtype", "1", "true", "")
SEND_ALL = ("sendbuf", "sendcount", "sendtype", "pf_comm_peers(c)", "false", "")
RECV_ALL = ("recvbuf", "recvcount", "recvtype", "pf_comm_peers(c)", "true", "")
READ = ("sendbuf", "count", "datatype", "1", "false", "")
WRITE = ("recvbuf", "count", "datatype", "1", "true", "")


def at_root(piece):
    return piece[:5] + ("pf_comm_has_root(c, root)",)


PIECES = {
    "Bcast": [("buffer", "count", "datatype", "1", "!pf_comm_has_root(c, root)", "")],
    "Gather": [SEND, at_root(RECV_ALL)], "Gatherv": [SEND], "Scatter": [at_root(SEND_ALL), RECV], "Scatterv": [RECV],
    "Allgather": [SEND, RECV_ALL], "Allgatherv": [SEND], "Alltoall": [SEND_ALL, RECV_ALL],
    "Reduce": [READ, at_root(WRITE)], "Allreduce": [READ, WRITE], "Scan": [READ, WRITE],
    "Exscan": [READ, WRITE[:5] + ("c->me > 0",)],
    "Reduce_scatter_block": [("sendbuf", "recvcount", "datatype", "pf_comm_peers(c)", "false", ""),
                             ("recvbuf", "recvcount", "datatype", "1", "true", "")],
}

# What all members must agree on.
PAIR = "pf_check_pair(&call, sendbuf, sendcount, sendtype, recvcount, recvtype, recvbuf);"
ALL = "pf_check_all(&call, count, datatype);"
AMOUNTS = {
    "Bcast": ALL, "Reduce": ALL, "Allreduce": ALL, "Scan": ALL, "Exscan": ALL, "Allgather": PAIR, "Alltoall": PAIR,
    "Reduce_scatter_block": "pf_check_all(&call, recvcount, datatype);",
    "Alltoallv": "pf_check_exchange(&call, c, sendbuf, sendcounts, sendtype, NULL, recvcounts, recvtype, NULL);",
    "Alltoallw": "pf_check_exchange(&call, c, sendbuf, sendcounts, NULL, sendtypes, recvcounts, NULL, recvtypes);",
    "Reduce_scatter": "pf_check_list(&call, comm, recvcounts, datatype, 0, NULL);",
    "Allgatherv": "pf_check_list(&call, comm, recvcounts, recvtype, sendcount, sendbuf == MPI_IN_PLACE ? NULL : sendtype);",
    "Gather": "pf_check_rooted(&call, c->me == root, sendcount, sendtype, NULL, recvcount, recvtype, sendbuf != MPI_IN_PLACE);",
    "Gatherv": "pf_check_rooted(&call, c->me == root, sendcount, sendtype, recvcounts, 0, recvtype, sendbuf != MPI_IN_PLACE);",
    "Scatter": "pf_check_rooted(&call, c->me == root, recvcount, recvtype, NULL, sendcount, sendtype, recvbuf != MPI_IN_PLACE);",
    "Scatterv": "pf_check_rooted(&call, c->me == root, recvcount, recvtype, sendcounts, 0, sendtype, recvbuf != MPI_IN_PLACE);",
}


# Calls that move data: their datatypes are committed.
MOVING = ("p2p", "persistent", "coll", "icoll", "neighbor", "rma", "pack")

# Buffers of lists of blocks: (buffer, counts, datatype, datatypes, condition).
LISTS = {
    "Scatterv": [("sendbuf", "sendcounts", "sendtype", "NULL", "pf_comm_has_root(c, root)")],
    "Gatherv": [("recvbuf", "recvcounts", "recvtype", "NULL", "pf_comm_has_root(c, root)")],
    "Allgatherv": [("recvbuf", "recvcounts", "recvtype", "NULL", "")],
    "Alltoallv": [("sendbuf", "sendcounts", "sendtype", "NULL", "sendbuf != MPI_IN_PLACE"), ("recvbuf", "recvcounts", "recvtype", "NULL", "")],
    "Alltoallw": [("sendbuf", "sendcounts", "NULL", "sendtypes", "sendbuf != MPI_IN_PLACE"), ("recvbuf", "recvcounts", "NULL", "recvtypes", "")],
    "Reduce_scatter": [("sendbuf", "recvcounts", "datatype", "NULL", "")],
}

# Looks after which the call may be refused.
REFUSING = ("pf_check_buffer", "pf_check_blocks", "pf_check_memory", "pf_check_epoch", "pf_check_access", "pf_check_reach")


def handwritten():
    folder = pathlib.Path(__file__).resolve().parent.parent / "check"
    return {name for source in sorted(folder.glob("*.c")) for name in DEFINITION.findall(source.read_text())}


BY_HAND = handwritten()


def is_checked(f):
    return f.stem in BY_HAND or f.stem == "Comm_disconnect" or f.group not in UNCHECKED_GROUPS


def generate(functions):
    return (cfile.header("MPI functions that check their arguments")
            + '#include "middleware/check/internal.h"\n#include "check_names.h"\n'
            + '#include "middleware/datatype/datatype.h"\n#include "middleware/comm/intercomm.h"\n\n'
            + "\n".join(function(f) for f in functions if is_checked(f) and f.stem not in BY_HAND))


def function(f):
    call = f"pf_plain_{f.stem}({f.arguments})"
    made = after(f)
    lines = ["struct pf_check_call call;",
             f"if (!pf_check_enter(&call, PF_FN_{f.stem}, __builtin_return_address(0)))", f"    return {call};"]
    refuse = ["if (call.refused)", "    return pf_check_refuse(&call);"]
    looks = arguments(f) + collective(f)
    lines += handles(f) + refuse + looks + (refuse if any(look in line for look in REFUSING for line in looks) else [])
    lines += [f"{base(p)} was_{p.name} = {p.name} ? *{p.name} : {empty(p)};" for p in f.params if is_ended(f, p)]
    lines.append(f"int code = {call};")
    if made:
        lines += ["if (code == MPI_SUCCESS) {"] + ["    " + line for line in made] + ["}"]
    lines.append("return pf_check_leave(&call, code);")
    return (cfile.wrap(f.prototype(f"pf_check_{f.stem}")) + "\n{\n"
            + "".join(cfile.wrap("    " + line, "        ") + "\n" for line in indent(lines)) + "}\n")


def indent(lines):
    """cfile.wrap takes leading blanks away but those of the line itself."""
    return lines


def base(p):
    return "int" if p.kind == "KEYVAL" else table.HANDLES[p.kind]


def empty(p):
    return "0" if p.kind == "KEYVAL" else f"({base(p)})0"


def kind(p):
    return "PF_KIND_" + p.kind


def is_pointer(p):
    return p.ctype.endswith("*")


def is_ended(f, p):
    """Does the call free what the pointer leads to?"""
    if p.dir != "inout" or not is_pointer(p):
        return False
    if p.kind == "KEYVAL":
        return True
    return p.is_handle and ("_free" in f.stem or f.stem in ("Comm_disconnect", "File_close") or p.kind == "MESSAGE")


def is_rooted(f):
    return bool(f.of_kind("ROOT"))


def is_collective(f):
    return f.group in ("coll", "icoll", "neighbor")


def stem(f):
    """Bcast of Ibcast."""
    return f.stem if f.stem in PIECES or f.stem in AMOUNTS else f.stem[1:].capitalize() if f.group == "icoll" else f.stem


def handles(f):
    lines = []
    params = [p for p in f.params if p.is_handle and p.dir != "out" and (f.stem, p.name) not in NOT_READ]
    for p in [p for p in params if p.kind == "COMM"] + [p for p in params if p.kind != "COMM"]:
        if p.is_array:
            if p.length != "*":
                lines.append(f"pf_check_handles(&call, {kind(p)}, {p.name}, {p.length});")
        elif is_pointer(p):
            lines += [f"if ({p.name})", f"    pf_check_handle(&call, {kind(p)}, *{p.name});"]
        else:
            condition = wrappers.significant(f, p) if is_collective(f) else None
            if condition and "(c, " in condition:
                condition = f"c && {condition}"
            if is_rooted(f) and p.kind in ("DATATYPE", "OP"):
                condition = "root != MPI_PROC_NULL" + (f" && {condition}" if condition else "")
            lines += [f"if ({condition})"] if condition else []
            text = f"pf_check_handle(&call, {kind(p)}, {p.name});"
            if p.kind == "DATATYPE" and f.group in MOVING:
                text = f"pf_check_datatype(&call, {p.name});"
            lines.append(("    " if condition else "") + text)
        if is_collective(f) and p.kind == "COMM":
            lines.append("const struct pf_comm *c = call.refused ? NULL : pf_comm_of(call.rank, comm);")
            if stem(f) not in PIECES and stem(f) not in AMOUNTS:
                lines.append("(void)c;")
    return lines


def arguments(f):
    if f.group in ("p2p", "persistent"):
        return peers(f) + pieces_in_order(f)
    if f.group == "rma":
        return one_sided(f)
    if f.group == "file" or f.stem == "Reduce_local":
        return pieces_in_order(f)
    if f.group == "pack":
        return [f"pf_check_count(&call, {p.name});" for p in f.of_kind("COUNT") if p.dir == "in"]
    return []


def peers(f):
    lines = []
    for p in f.of_kind("RANK"):
        lines.append(f"pf_check_peer(&call, comm, {p.name}, {'true' if p.name == 'source' else 'false'});")
    for p in f.of_kind("TAG"):
        receives = p.name == "recvtag" or (p.name == "tag" and any(q.name == "source" for q in f.params))
        lines.append(f"pf_check_tag(&call, {p.name}, {'true' if receives else 'false'});")
    return lines


def triples(f):
    """Buffers that a count and a datatype follow."""
    found = []
    for i, p in enumerate(f.params):
        if p.kind == "BUFFER" and [q.kind for q in f.params[i + 1:i + 3]] == ["COUNT", "DATATYPE"]:
            found.append((p, f.params[i + 1].name, f.params[i + 2].name))
    return found


def pieces_in_order(f):
    lines = []
    if f.stem == "Reduce_local":
        return ["pf_check_buffer(&call, inbuf, count, datatype, 1, false);",
                "pf_check_buffer(&call, inoutbuf, count, datatype, 1, true);"]
    names = [p.name for p in f.of_kind("RANK")]
    for buffer, count, datatype in triples(f):
        peer = names[0] if len(names) == 1 else {"sendbuf": "dest", "recvbuf": "source"}.get(buffer.name)
        if peer:
            lines.append(f"if ({peer} != MPI_PROC_NULL)")
        lines.append(("    " if peer else "")
                     + f"pf_check_buffer(&call, {buffer.name}, {count}, {datatype}, 1, {'false' if buffer.dir == 'in' else 'true'});")
        if peer:
            lines += ["else", f"    pf_check_count(&call, {count});"]
        if f.group in ("p2p", "persistent"):
            lines.append(f"pf_check_message(&call, {'false' if buffer.dir == 'in' else 'true'}, {count}, {datatype});")
            if f.stem in ("Mrecv", "Imrecv"):
                lines += ["if (message)", "    pf_check_matched(&call, *message);"]
            if f.stem == "Sendrecv_replace":
                lines.append(f"pf_check_message(&call, false, {count}, {datatype});")
    return lines


# Calls about epochs: the target, the assertion.
EPOCHS = dict.fromkeys("Win_lock Win_unlock Win_flush Win_flush_local".split(), "rank, 0")
EPOCHS.update(dict.fromkeys("Win_lock_all Win_unlock_all Win_flush_all Win_flush_local_all Win_start Win_post Win_complete Win_wait Win_test "
                            "Win_free".split(), "-1, 0"), Win_fence="-1, assertion")


def one_sided(f):
    lines = []
    if f.stem in EPOCHS:
        win = "win ? *win : MPI_WIN_NULL" if f.stem == "Win_free" else "win"
        return [f"pf_check_epoch(&call, {win}, {EPOCHS[f.stem]});"]
    if any(p.name == "disp_unit" and p.dir == "in" for p in f.params):
        base = ["pf_check_window(&call, base, size);"] if f.stem == "Win_create" else []
        return ["pf_check_positive(&call, \"displacement unit\", disp_unit);"] + base
    accesses = any(p.name == "target_rank" for p in f.params)
    if accesses:
        lines.append("pf_check_target(&call, win, target_rank);")
    if any(p.name == "target_count" for p in f.params):
        lines.append("pf_check_count(&call, target_count);")
    moved = triples(f) or [(p, "1", "datatype") for p in f.of_kind("BUFFER") if accesses]
    for buffer, count, datatype in moved:
        condition = "if (op != MPI_NO_OP)" if f.of_kind("OP") and len(moved) > 1 and buffer.name == "origin_addr" else ""
        indented = "    " if condition else ""
        lines += [condition.replace(")", " && target_rank != MPI_PROC_NULL)") if condition else "if (target_rank != MPI_PROC_NULL)",
                  f"    pf_check_buffer(&call, {buffer.name}, {count}, {datatype}, 1, {'false' if buffer.dir == 'in' else 'true'});"]
        if count != "1":
            lines += [condition] if condition else []
            lines.append(f"{indented}pf_check_transfer(&call, {count}, {datatype}, target_count, target_datatype);")
    if accesses:
        count, datatype = ("target_count", "target_datatype") if triples(f) else ("1", "datatype")
        lines.append(f"pf_check_access(&call, win, target_rank, {'true' if f.of_kind('REQUEST') else 'false'});")
        lines.append(f"pf_check_reach(&call, win, target_rank, target_disp, {count}, {datatype});")
    return lines


def collective(f):
    name = stem(f)
    if f.stem in COLLECTIVE_ON or (f.group == "file" and ("_all" in f.stem or "_ordered" in f.stem)):
        handle = f.of_kind("WIN", "FILE")[0]
        return [f"pf_check_collective_on(&call, {'*' if is_pointer(handle) else ''}{handle.name});"]
    if not is_collective(f) and f.stem not in COLLECTIVE:
        return []
    lines = [f"call.collective.root = {p.name};" for p in f.of_kind("ROOT") if is_collective(f)]
    lines += [f"call.collective.op = {p.name};" for p in f.of_kind("OP")]
    body = []
    for buffer, count, datatype, blocks, writes, condition in PIECES.get(name, []) if is_collective(f) else []:
        check = f"pf_check_buffer(&call, {buffer}, {count}, {datatype}, {blocks}, {writes});"
        body += [f"if ({condition})", "    " + check] if condition else [check]
    for buffer, counts, datatype, datatypes, condition in LISTS.get(name, []) if is_collective(f) else []:
        check = f"pf_check_blocks(&call, {buffer}, {counts}, pf_comm_peers(c), {datatype}, {datatypes});"
        body += [f"if ({condition})", "    " + check] if condition else [check]
    if is_collective(f) and name in AMOUNTS:
        body.append(AMOUNTS[name])
    if body:
        lines += ["if (c && !pf_comm_is_inter(c)) {"] + ["    " + line for line in body] + ["}"]
    comm = f.of_kind("COMM")[0]
    if is_pointer(comm):
        return lines + [f"if ({comm.name})", f"    pf_check_collective(&call, *{comm.name});"]
    return lines + [f"pf_check_collective(&call, {comm.name});"]


def after(f):
    """What a call that has succeeded has made and freed."""
    lines = []
    if any(p.name == "target_rank" for p in f.params) and not f.of_kind("REQUEST"):
        lines.append("pf_check_use_origin(&call, win, target_rank);")
    for p in f.params:
        if p.kind == "KEYVAL" and p.dir == "out":
            lines.append(f"pf_check_made_keyval(&call, *{p.name});")
        elif is_ended(f, p):
            what = "freed_keyval" if p.kind == "KEYVAL" else "freed"
            lines.append(f"pf_check_{what}(&call, was_{p.name});")
        elif not p.is_handle or p.dir != "out" or p.is_array or f.stem in NOT_MADE:
            continue
        elif p.kind == "REQUEST":
            persistent = "true" if f.group == "persistent" else "false"
            lines.append(f"pf_check_made_request(&call, *{p.name}, {persistent});")
        else:
            lines += ["if (*flag)"] if f.stem == "Improbe" else []
            text = f"pf_check_made_message(&call, *{p.name});" if p.kind == "MESSAGE" else f"pf_check_made(&call, {kind(p)}, *{p.name});"
            lines.append(("    " if f.stem == "Improbe" else "") + text)
    return lines
