# SPDX-License-Identifier: BSD-3-Clause
"""wrappers.c: the bodies of the MPI functions that run in the model in force, and refusals for those that are not implemented.

A function that is defined by hand in one of the middleware's C files (a line that starts with `int pf_PMPI_`) is left out.
"""

import pathlib
import re

import cfile

DEFINITION = re.compile(r"^(?:int|double|MPI_\w+) \*?pf_PMPI_(\w+)\(", re.MULTILINE)

# Arguments that MPI ignores for some callers must not be looked at: the application may pass anything there. Function:
# (parameter, condition under which it counts).
SIGNIFICANT = {
    "Gather": {"sendtype": "sendbuf != MPI_IN_PLACE", "recvtype": "pf_comm_has_root(c, root)"},
    "Gatherv": {"sendtype": "sendbuf != MPI_IN_PLACE", "recvtype": "pf_comm_has_root(c, root)"},
    "Scatter": {"recvtype": "recvbuf != MPI_IN_PLACE", "sendtype": "pf_comm_has_root(c, root)"},
    "Scatterv": {"recvtype": "recvbuf != MPI_IN_PLACE", "sendtype": "pf_comm_has_root(c, root)"},
    "Allgather": {"sendtype": "sendbuf != MPI_IN_PLACE"},
    "Allgatherv": {"sendtype": "sendbuf != MPI_IN_PLACE"},
    "Alltoall": {"sendtype": "sendbuf != MPI_IN_PLACE"},
    "Alltoallv": {"sendtype": "sendbuf != MPI_IN_PLACE"},
}

# Collectives that move data have a datatype for each buffer; operations need the application's own datatype and addresses.
BUFFER_TYPES = {"buffer": "datatype", "sendbuf": "sendtype", "recvbuf": "recvtype"}

# Counts of collectives that are those of one block of many.
BLOCKS_OF_ALL = {"Gather": ("sendcount", "recvcount"), "Scatter": ("sendcount", "recvcount"), "Allgather": ("sendcount", "recvcount"),
                 "Alltoall": ("sendcount", "recvcount"), "Reduce_scatter_block": ("recvcount",)}

# What the agreement of both sides may change.
ROUTED = {"RANK": "pf_native_rank(in, route.peer)", "TAG": "pf_native_tag(in, route.tag)", "COMM": "pf_native(in, route.comm)"}

# Handles that are translated.
NATIVE_KINDS = ("WIN", "FILE", "COMM", "DATATYPE", "OP", "GROUP", "INFO")


def generate(functions):
    by_hand = handwritten()
    parts = [cfile.header("wrappers of the MPI functions"),
             '#include <stdlib.h>\n\n#include "middleware/datatype/bottom.h"\n#include "middleware/p2p/bsend.h"\n#include "middleware/comm/routing.h"\n'
             '#include "middleware/datatype/datatype.h"\n#include "middleware/datatype/in_place.h"\n#include "middleware/datatype/op.h"\n#include "middleware/io/file.h"\n#include "middleware/object/f2c.h"\n#include "middleware/p2p/ledger.h"\n#include "middleware/p2p/request.h"\n#include "middleware/p2p/stranded.h"\n'
             '#include "middleware/rma/win_epoch.h"\n', '#include "middleware/rma/win_order.h"\n#include "middleware/topology/neighbor.h"\n\n']
    parts += [body(f) + "\n" for f in functions if f.stem not in by_hand]
    return "".join(parts)


def handwritten():
    folder = pathlib.Path(__file__).resolve().parent.parent
    names = set()
    for source in sorted(folder.glob("*/*.c")):
        names.update(DEFINITION.findall(source.read_text()))
    return names


def is_refused(f):
    """SMPI's stubs would end the process; those calls have no other implementation yet."""
    if f.group in ("f2c", "neighbor"):
        return False
    if f.group == "rma":
        return f.smpi == "stub"
    if f.group == "file":
        return f.route != "OWNER"
    return f.route not in ("ACTIVE", "FALLBACK") or f.group not in BODIES


def body(f):
    return refusal(f) if is_refused(f) else BODIES[f.group](f)


def define(f, lines):
    return (cfile.wrap(f.prototype(f"pf_P{f.name}")) + "\n{\n"
            + "".join("    " + line + "\n" if line else "\n" for line in lines) + "}\n")


def refusal(f):
    return define(f, [f"return pf_call_unsupported(PF_FN_{f.stem}, __builtin_return_address(0));"])


def native_argument(f, p):
    """The expression that is passed to the native function."""
    if p.kind == "BUFFER":
        place = "pf_native_p2p_buffer" if f.group in ("p2p", "rma", "pack") else "pf_native_buffer"
        return f"{place}(in, {p.name})"
    if p.kind in ("RANK", "ROOT"):
        return f"pf_native_rank(in, {p.name})"
    if p.kind == "ASSERT":
        return f"pf_native_assert(in, {p.name})"
    if p.kind == "WHENCE":
        return f"pf_native_whence(in, {p.name})"
    if p.kind == "LOCK":
        return f"pf_native_lock(in, {p.name})"
    if p.kind == "TAG":
        return f"pf_native_tag(in, {p.name})"
    if p.kind == "REQUEST":
        return "&made->native"
    if p.kind == "STATUS":
        return "native_status"
    if p.kind == "DATATYPE" and p.is_array:
        return f"native_{p.name}"
    if p.kind == "OP":
        return f"pf_op_native(in, {p.name}, {f.of_kind('DATATYPE')[0].name})"
    if p.kind in NATIVE_KINDS:
        condition = significant(f, p)
        if condition:
            return f"pf_native(in, {condition} ? {p.name} : MPI_BYTE)"
        return f"pf_native(in, {p.name})"
    return p.name


def significant(f, p):
    stem = f.stem if f.stem in SIGNIFICANT else f.stem[1:].capitalize()
    return SIGNIFICANT.get(stem, {}).get(p.name)


def native_call(f, instead=None):
    """`instead`: expressions for some arguments by their kind or name."""
    instead = instead or {}
    arguments = ", ".join(instead.get(p.kind) or instead.get(p.name) or native_argument(f, p) for p in f.params)
    return cfile.wrap(f"int code = in->fn->{f.stem}({arguments});", "        ")


def enter(f):
    return f"struct pf_rank *r = PF_ENTER({f.stem});"


def suited(f, failed):
    """An operation that one of its datatypes has not."""
    if not f.of_kind("OP"):
        return []
    datatypes = [p.name for p in f.of_kind("DATATYPE") if p.name != "result_datatype"]
    check = f"pf_op_suits{'_both' if len(datatypes) > 1 else ''}(op, &{', &'.join(datatypes)})"
    return [f"if (PF_UNLIKELY(!{check}))", f"    return {failed};"]


def local(f):
    """No communication: the model in force computes it."""
    comm = f.of_kind("COMM")
    where = comm[0].name if comm else "MPI_COMM_WORLD"
    instance = "pf_switch_promote(r)" if f.route == "FALLBACK" else "r->active"
    lines = [enter(f), *suited(f, "pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_OP)"),
             f"struct pf_instance *in = pf_call_native_begin(r, {instance});", native_call(f)]
    if f.name in ("MPI_Pack", "MPI_Unpack"):  # stock SMPI does not stop its clock there
        lines = [*lines[:2], "pf_compute_native_counts(r, in);", lines[2], "pf_compute_native_counted(r, in);"]
    return define(f, [*lines, f"return pf_call_leave(r, in, {where}, code);"])


def no_request(f):
    if not f.of_kind("REQUEST"):
        return []
    return ["if (PF_UNLIKELY(!request))", "    return pf_call_error(r, comm, MPI_ERR_REQUEST);"]


def point_to_point(f):
    """A send or a receive; probes and what does both are written by hand."""
    sends = any(p.name == "dest" for p in f.params)
    peer = "dest" if sends else "source"
    request = f.of_kind("REQUEST")
    lines = [enter(f), "if (PF_UNLIKELY(pf_datatype_lacks_buffer(buf, count, datatype)))", "    return pf_call_error(r, comm, MPI_ERR_BUFFER);",
             *no_request(f), f"pf_call_schedule_message(r, {peer}, count, datatype, comm);", "struct pf_instance *in = pf_comm_route(r, comm);",
             f"struct pf_ledger_route route = {{{peer}, tag, comm}};", "struct pf_ledger_side side;",
             f"pf_call_peer(r, {peer}, tag, comm);"]
    if "bsend" in f.stem.lower():
        lines += ["if (PF_UNLIKELY(pf_bsend_must_copy(r, comm, dest, tag)))",
                  f"    return pf_bsend_copied(r, buf, count, datatype, dest, tag, comm, {'request' if request else 'NULL'});"]
    lines += ["if (PF_UNLIKELY(pf_ledger_on))", f"    in = pf_ledger_{'send' if sends else 'receive'}(r, &side, &route);"]
    if "bsend" in f.stem.lower():
        lines.append("pf_bsend_prepare(r, in);")
    if sends:
        lines += ["pf_call_sent(r, count, datatype);", "pf_call_traffic(r, in, dest, count, datatype, comm);", "pf_stranded_sent(r, in, comm, dest, tag);"]
    if f.of_kind("STATUS"):
        lines += ["union pf_native_status native_room = {0}; /* probes leave out members */",
                  "union pf_native_status *native_status = status || pf_job_state.may_switch ? &native_room : NULL;"]
    lines += ["pf_call_native_begin(r, in);", "pf_call_message(in, 1);"]
    if request:
        kind = "PF_REQUEST_SEND" if sends else "PF_REQUEST_RECV"
        lines += [f"struct pf_request *made = pf_request_new(r, in, {kind}, comm);",
                  "if (PF_UNLIKELY(pf_ledger_on))", "    pf_ledger_keep(&side, &made->side);"]
    tag = {"TAG": "pf_native_send_tag(route.tag)"} if sends else {}
    lines.append(native_call(f, {**ROUTED, **tag, "count": f"pf_native_count(in, count, datatype, {int(sends)})"}))
    if request:
        return define(f, lines + ["return pf_request_started(r, in, made, comm, code, request);"])
    if sends:
        lines += ["if (PF_UNLIKELY(pf_ledger_on))", "    pf_ledger_sent(&side, code == MPI_SUCCESS);"]
    else:
        lines += ["if (native_status && code == MPI_SUCCESS)",
                  "    pf_call_received(r, in, comm, source, native_status, status);",
                  "if (PF_UNLIKELY(pf_ledger_on))",
                  "    pf_ledger_received(in, &side, code, native_status, status);"]
    return define(f, lines + ["return pf_call_leave(r, in, comm, code);"])


def collective(f):
    request = f.of_kind("REQUEST")
    arrays = [p for p in f.of_kind("DATATYPE") if p.is_array]
    lines = [enter(f), "struct pf_comm *c = pf_comm_of(r, comm);",
             "if (PF_UNLIKELY(!c))", "    return pf_call_error(r, comm, MPI_ERR_COMM);", *no_request(f),
             *suited(f, "pf_call_error(r, comm, MPI_ERR_OP)"),
             "if (PF_UNLIKELY(r->cursor.watching))",
             f"    pf_comm_schedule_collective(r, c, {'root' if f.of_kind('ROOT') else -1}, {collective_bytes(f)});",
             "struct pf_instance *in = pf_call_native_begin(r, pf_comm_collective(r, c));"]
    if request:
        lines += ["struct pf_request *made = pf_request_new(r, in, PF_REQUEST_COLLECTIVE, comm);"]
        lines += [f"pf_request_keep_op(made, {p.name});" for p in f.of_kind("OP")]
        lines += [f"pf_request_keep_datatype(made, {condition(f, p)});" for p in f.of_kind("DATATYPE") if not p.is_array]
    in_place = IN_PLACE.get(f.stem.lstrip("I").lower())
    if in_place:
        lines += in_place_begin(f, *in_place)
    for p in arrays:
        count = ("sendbuf == MPI_IN_PLACE ? 0 : " if p.name == "sendtypes" else "") + "pf_comm_peers(c)"
        lines.append(f"pf_native_datatype_t *native_{p.name} = pf_native_array(in, {p.name}, {count});")
        if request:
            lines.append(f"pf_request_keep_datatypes(made, {p.name}, {count});")
    movable = buffers_with_types(f)
    for b, t in movable:
        lines += bottom_begin(f, b, t)
    moved = {name: f"native_{name}" for pair in movable for name in (pair[0].name, pair[1].name)}
    lines.append(native_call(f, {**moved, **limited_counts(f)}))
    lines += [bottom_end(b, t) for b, t in movable]
    if request:
        lines += [f"pf_request_keep_memory(made, native_{p.name});" for p in arrays]
        lines += ["pf_request_keep_memory(made, own.room);"] if in_place else []
        return define(f, lines + ["return pf_request_started(r, in, made, comm, code, request);"])
    lines += [f"free(native_{p.name});" for p in arrays] + (["free(own.room);"] if in_place else [])
    return define(f, lines + ["return pf_call_leave(r, in, comm, code);"])


# All-to-all exchanges: how the blocks lie, and the parameters that say so, as in middleware/datatype/in_place.h.
IN_PLACE = {"alltoall": ("EQUAL", "&recvcount, NULL, &recvtype", "sendcount = own.counts[0], sendtype = MPI_BYTE"),
            "alltoallv": ("ITEMS", "recvcounts, rdispls, &recvtype", "sendcounts = own.counts, sdispls = own.displs, sendtype = MPI_BYTE"),
            "alltoallw": ("BYTES", "recvcounts, rdispls, recvtypes", "sendcounts = own.counts, sdispls = own.displs, sendtypes = own.types")}


def in_place_begin(f, blocks, what, replaced):
    nonblocking = "true" if f.of_kind("REQUEST") else "false"
    return ["struct pf_in_place own = {NULL, NULL, NULL, NULL, NULL};", "if (PF_UNLIKELY(sendbuf == MPI_IN_PLACE))",
            f"    pf_in_place_pack(&own, in, PF_IN_PLACE_{blocks}, {nonblocking}, recvbuf, {what}, pf_comm_peers(c));",
            "if (PF_UNLIKELY(own.room))", f"    sendbuf = own.buffer, {replaced};"]


def collective_bytes(f):
    """What the caller of a collective gives to send, as an expression; 0 where it is not needed."""
    names = {p.name: p for p in f.params}
    for count, kind in (("count", "datatype"), ("sendcount", "sendtype"), ("sendcounts", "sendtype"), ("recvcount", "datatype"),
                        ("recvcounts", "datatype")):
        if count not in names or kind not in names or names[kind].is_array:
            continue
        only = significant(f, names[kind])
        n = "pf_comm_peers(c)" if names[count].is_array else "1"
        given = f"pf_comm_bytes({'' if names[count].is_array else '&'}{count}, {n}, {kind})"
        return f"({only}) ? {given} : 0" if only else given
    return "0"


def limited_counts(f):
    """What some models cannot carry: the counts of a collective, see pf_native_count()."""
    names = {p.name: p for p in f.params}
    stem = f.stem if f.stem in BLOCKS_OF_ALL else f.stem[1:].capitalize()
    limited = {}
    for count, kind in (("count", "datatype"), ("sendcount", "sendtype"), ("recvcount", "recvtype"), ("recvcount", "datatype")):
        if count in names and kind in names:
            times = "pf_comm_peers(c)" if count in BLOCKS_OF_ALL.get(stem, ()) else "1"
            only = significant(f, names[kind])
            checked = f"pf_native_count(in, {count}, {kind}, {times})"
            limited[count] = f"({only} ? {checked} : {count})" if only else checked
    for counts, kind in (("sendcounts", "sendtype"), ("recvcounts", "recvtype"), ("recvcounts", "datatype"),
                         ("sendcounts", "sendtypes"), ("recvcounts", "recvtypes")):
        if counts in names and kind in names:
            one = not names[kind].is_array
            only = significant(f, names[kind]) or ("sendbuf != MPI_IN_PLACE" if counts == "sendcounts" else "")
            checked = f"pf_native_counts(in, {counts}, pf_comm_peers(c), {'&' if one else ''}{kind}, {str(one).lower()})"
            limited[counts] = f"({only} ? {checked} : {counts})" if only else checked
    return limited


def buffers_with_types(f):
    """Pairs of a buffer and its datatype or datatypes."""
    names = {p.name: p for p in f.params}
    pairs = [(p, BUFFER_TYPES.get(p.name)) for p in f.of_kind("BUFFER")]
    return [(p, names.get(t) or names.get(f"{t}s")) for p, t in pairs if t in names or f"{t}s" in names]


def bottom_begin(f, b, t):
    """MPI_BOTTOM (middleware/datatype/bottom.h)."""
    buffer, native = f"native_{b.name}", f"native_{t.name}"
    lines = [f"void *{buffer} = pf_native_buffer(in, {b.name});"]
    if t.is_array:
        what = f"{t.name}, pf_comm_peers(c), &{buffer}, {native}"
    else:
        lines.append(f"pf_native_datatype_t {native} = {native_argument(f, t)};")
        what = f"&(MPI_Datatype){{{condition(f, t)}}}, 1, &{buffer}, &{native}"
    return lines + [f"bool {b.name}_moved = PF_UNLIKELY(!{buffer}) && pf_bottom_begin(in, {what});"]


def bottom_end(b, t):
    what = f"pf_comm_peers(c), native_{t.name}" if t.is_array else f"1, &native_{t.name}"
    return f"if (PF_UNLIKELY({b.name}_moved))\n        pf_bottom_end(in, {what});"


def one_sided(f):
    """The owner of the window runs it."""
    lines = [enter(f), "struct pf_win *w = pf_win_of(win);", "if (PF_UNLIKELY(!w))",
             "    return pf_win_failed(r, win, MPI_ERR_WIN);"]
    if f.name in ("MPI_Win_flush", "MPI_Win_flush_local"):
        # Open MPI refuses it (MPI 3.1 section 11.3 allows it as a target everywhere).
        lines += ["if (rank == MPI_PROC_NULL)", "    return pf_call_return(r, MPI_SUCCESS);"]
    accesses = [p for p in f.params if p.name == "target_disp"]
    many = any(p.name == "target_count" for p in f.params)
    what = "target_count, target_datatype" if many else "1, datatype"
    checked = f"access(w, target_rank, target_disp, {what})" if accesses else f"flush(w, {AWAIT_GETS[f.name]})"
    lines += [f"int error = pf_win_epoch_{checked};", "if (PF_UNLIKELY(error))", "    return pf_win_failed(r, win, error);",
              *suited(f, "pf_win_failed(r, win, MPI_ERR_OP)"), "struct pf_instance *in = pf_call_native_begin(r, w->in);"]
    if many and f.of_kind("OP"):
        sides = [("target", "origin"), ("origin", "target"), ("result", "target")]
        lines += [f"pf_win_epoch_items(&{one}_count, &{one}_datatype, {other}_datatype, op);" for one, other in sides
                  if any(p.name == f"{one}_count" for p in f.params)]
    request = f.of_kind("REQUEST")
    if request:
        lines += ["struct pf_request *made = pf_request_new(r, in, PF_REQUEST_RMA, pf_comm_handle(w->comm));"]
        lines += [f"pf_request_keep_op(made, {p.name});" for p in f.of_kind("OP")]
    if accesses:
        lines += ["struct pf_win_access access;",
                  f"pf_win_access_begin(&access, w, target_rank, target_disp, {what}, {ACCESS_KINDS[f.stem]});"]
    limited = {"origin_count": "pf_native_count(in, origin_count, origin_datatype, 1)"} if "origin_count" in [p.name for p in f.params] else {}
    lines.append(native_call(f, limited))
    if f.name == "MPI_Compare_and_swap":
        lines += ["if (code == MPI_SUCCESS)",
                  "    pf_win_access_swapped(&access, origin_addr, compare_addr, result_addr);", "else",
                  "    pf_win_access_end(&access);"]
    elif accesses:
        lines += ["pf_win_access_end(&access);"]
    if f.name == "MPI_Rget":
        lines += ["if (code == MPI_SUCCESS)", "    pf_win_order_get(w, made, target_rank);"]
    if f.name in AWAIT_GETS:
        lines.append(f"pf_win_order_await_gets(w, {AWAIT_GETS[f.name]});")
    if request:
        return define(f, lines + ["return pf_request_started(r, in, made, pf_comm_handle(w->comm), code, request);"])
    return define(f, lines + ["return pf_win_leave(r, in, win, code);"])


# Calls after which what MPI_Rget has asked for is there: from which target.
AWAIT_GETS = {"MPI_Win_flush": "rank", "MPI_Win_flush_local": "rank", "MPI_Win_flush_all": "-1",
              "MPI_Win_flush_local_all": "-1"}

# What a call does to its target's memory, see middleware/rma/win_order.h.
ACCESS_KINDS = {"Put": "PF_WIN_WRITES", "Rput": "PF_WIN_WRITES", "Accumulate": "PF_WIN_WRITES", "Raccumulate": "PF_WIN_WRITES",
                "Get": "PF_WIN_READS", "Rget": "PF_WIN_READS", "Get_accumulate": "PF_WIN_ATOMIC",
                "Rget_accumulate": "PF_WIN_ATOMIC", "Fetch_and_op": "PF_WIN_ATOMIC", "Compare_and_swap": "PF_WIN_ATOMIC"}


def file_access(f):
    """The owner of the file runs it."""
    handle = f.of_kind("FILE")[0].name
    lines = [enter(f), f"struct pf_file *file = pf_file_of({handle});", "if (PF_UNLIKELY(!file))",
             f"    return pf_file_failed(r, {handle}, MPI_ERR_FILE);", "struct pf_instance *in = pf_file_begin(r, file);"]
    if f.of_kind("REQUEST"):
        lines += ["MPI_Comm comm = pf_comm_handle(file->comm);", "struct pf_request *made = pf_request_new(r, in, PF_REQUEST_FILE, comm);",
                  "pf_request_keep_datatype(made, datatype);", native_call(f),
                  "return pf_request_started(r, in, made, comm, code, request);"]
        return define(f, lines)
    if f.of_kind("STATUS"):
        lines += ["union pf_native_status native_room = {0};", "union pf_native_status *native_status = &native_room;"]
    lines.append(native_call(f))
    if f.of_kind("STATUS"):
        lines += ["if (code == MPI_SUCCESS)", "    pf_status_from_native(in, native_status, status);"]
    return define(f, lines + [f"return pf_file_leave(r, in, {handle}, code);"])


def condition(f, p):
    only = significant(f, p)
    return f"{only} ? {p.name} : MPI_BYTE" if only else p.name


# The bodies of a group that runs in the model in force.
def conversion(f):
    """Of a handle to Fortran's number or back."""
    handle, given = f.stem.rsplit("_", 1)[0], f.params[0].name
    if f.stem.endswith("_c2f"):
        return define(f, [f"return pf_fortran_number({given});"])
    null = "MPI_" + {"Type": "DATATYPE"}.get(handle, handle.upper()) + "_NULL"
    return define(f, [f"return ({f.ret})pf_fortran_handle({given}, {null});"])


def neighbor(f):
    last = [] if f.stem.startswith("I") else ["NULL"]
    arguments = ", ".join([f"PF_ENTER({f.stem})", f.arguments, *last])
    return define(f, [f"return pf_neighbor_{f.stem.split('_')[1]}({arguments});"])


BODIES = {"f2c": conversion, "neighbor": neighbor, "p2p": point_to_point, "coll": collective, "icoll": collective, "pack": local, "op": local,
          "rma": one_sided, "file": file_access}
