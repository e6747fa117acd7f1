# SPDX-License-Identifier: BSD-3-Clause
"""record_trace.h: record_NAME for the functions of a recording that have no line of their own form (observing/record_functions.h).

Each calls the function and then writes what `play_calls.c` reads: the name, and the arguments that `replay.code` knows. A
collective on MPI_COMM_WORLD with predefined types, and not in place, becomes an action of SMPI's format.
"""

import cfile
import replay

# Words of SMPI's actions: an argument, "0", "[array]" of all ranks' counts, "+array" their sum; behind, what is ours: "=op", "=tags".
STOCK = {
    "Sendrecv": "sendRecv sendcount dest recvcount source sendtype recvtype =tags", "Barrier": "barrier", "Bcast": "bcast count root datatype", "Reduce": "reduce count 0 root datatype =op",
    "Allreduce": "allreduce count 0 datatype =op", "Scan": "scan count 0 datatype =op", "Exscan": "exscan count 0 datatype =op",
    "Alltoall": "alltoall sendcount recvcount sendtype recvtype", "Gather": "gather sendcount recvcount root sendtype recvtype",
    "Scatter": "scatter sendcount recvcount root sendtype recvtype", "Allgather": "allgather sendcount recvcount sendtype recvtype",
    "Gatherv": "gatherv sendcount [recvcounts] root sendtype recvtype", "Scatterv": "scatterv [sendcounts] recvcount root sendtype recvtype",
    "Allgatherv": "allgatherv sendcount [recvcounts] sendtype recvtype",
    "Alltoallv": "alltoallv +sendcounts [sendcounts] +recvcounts [recvcounts] sendtype recvtype",
    "Reduce_scatter": "reducescatter [recvcounts] 0 datatype =op",
}


def generate(functions):
    return "".join(refused(f) if replay.is_refused(f) else recorded(f) + "\n" for f in functions
                   if replay.is_recorded(f) and f.stem not in replay.BY_HAND)


def text(head, lines):
    return cfile.wrap(head) + "\n{\n" + "".join(cfile.wrap(" " * 4 + " " * (4 * d) + line, " " * (8 + 4 * d)) + "\n"
                                               for d, line in lines) + "}\n"


def arguments(f):
    return ", ".join(p.name for p in f.params)


def refused(f):
    """The replay ends where the program has called it."""
    lines = [(0, f'record_remark("refused", "{f.name}");'), (0, f"return RECORD_CALL({f.stem})({arguments(f)});")]
    return text("RECORD_FUNCTION " + f.prototype(f"record_{f.stem}"), lines) + "\n"


def pointers(f):
    """Handles that the call may take away."""
    return [p for p in f.params if replay.code(f, p) in ("comm_pointer", "win_pointer", "request_pointer", "message_pointer")]


def word(f, p):
    """The statements that write one argument, in C, or nothing."""
    code = replay.code(f, p)
    condition = replay.significant(f, p) if code in ("type", "types", "ints", "int") else ""
    if code == "ints":
        length = replay.length(f, p)
        if condition:
            length = f"{condition} ? {length} : 0"
        return [f"record_ints(me, {length}, {p.name});"]
    if code == "types":
        length = replay.length(f, p)
        if condition:
            length = f"{condition} ? {length} : 0"
        return [f"record_datatypes(me, {length}, {p.name});"]
    if code == "type":
        return [f"record_type(me, {condition + ' ? ' if condition else ''}{p.name}{' : MPI_DATATYPE_NULL' if condition else ''});"]
    if code == "int" and condition:
        return [f"record_int(me, {condition} ? {p.name} : 0);"]
    if code in ("int", "long"):
        return [f"record_int(me, {p.name});"]
    if code == "new_request":
        return [f"record_new_request(me, *{p.name}, {int(f.group == 'persistent')});"]
    if code.startswith("new_"):
        return [f"record_{code}(me, *{p.name});"]
    if code.endswith("_pointer"):
        return [f"record_{code.removesuffix('_pointer')}(me, was_{p.name});"]
    return [f"record_{code}(me, {p.name});"]


def stock(f):
    """The line of SMPI's format, and the condition for it."""
    words = STOCK[f.stem].split()
    names = {p.name: p for p in f.params}
    lines = [f'record_line(me, "{words[0]}");']
    for w in words[1:]:
        name = w.strip("[]+=")
        if w == "0":
            lines.append("record_int(me, 0);")
            continue
        if w == "=op":
            lines += ['record_text(me, " op=");', "record_text(me, record_op_name(op));"]
            continue
        if w == "=tags":
            lines += ['record_key(me, "stag", sendtag);', 'record_key(me, "rtag", record_tag_value(recvtag));']
            continue
        condition = replay.significant(f, names[name])
        if names[name].kind == "RANK":
            lines.append(f"record_rank(me, {name});")
        elif w.startswith("["):
            value = f"{condition} ? {name}[i] : 0" if condition else f"{name}[i]"
            lines.append(f"for (int i = 0; i < peers; i++) record_int(me, {value});")
        elif w.startswith("+"):
            lines.append(f"record_int(me, record_sum(peers, {name}));")
        elif names[name].kind == "DATATYPE":
            lines.append(f"record_type(me, {condition} ? {name} : MPI_DATATYPE_NULL);" if condition else f"record_type(me, {name});")
        elif condition:
            lines.append(f"record_int(me, {condition} ? {name} : 0);")
        else:
            lines.append(f"record_int(me, {name});")
    tests = ["comm == MPI_COMM_WORLD"]
    for p in f.params:
        condition = replay.significant(f, p)
        if p.kind == "BUFFER" and f.stem != "Sendrecv":
            tests.append(f"{p.name} != MPI_IN_PLACE")
        if p.kind == "DATATYPE":
            tests.append(f"({'!(' + condition + ') || ' if condition else ''}record_named({p.name}) >= 0)")
    return " && ".join(tests), lines


def recorded(f):
    lines = [(0, "struct recorder *me = record_enter();")]
    for p in pointers(f):
        kind = replay.code(f, p).removesuffix("_pointer")
        lines.append((0, f"MPI_{kind.capitalize()} was_{p.name} = *{p.name};"))
    lines += [(0, f"int answer = RECORD_CALL({f.stem})({arguments(f)});"), (0, "if (!me)"), (1, "return answer;")]
    generic = [f'record_line(me, "{f.name}");']
    for p in f.params:
        if replay.code(f, p):
            generic += word(f, p)
    generic.append("record_end(me);")
    for p in pointers(f):
        kind = replay.code(f, p).removesuffix("_pointer")
        if kind == "request":
            if f.stem == "Request_free":
                generic.append(f"record_forget(&me->requests, RECORD_KEY(was_{p.name}));")
        elif not f.stem.startswith("Start"):
            generic.append(f"record_forget(&me->{kind}s, RECORD_KEY(was_{p.name}));")
    if f.stem in STOCK:
        condition, plain = stock(f)
        if any("peers" in line for line in plain):
            lines.append((0, "int peers = record_peers(comm);"))
        lines += [(0, f"if (record_good(me, answer) && {condition}) {{")]
        lines += [(1, line) for line in plain + ["record_end(me);"]]
        lines += [(0, "} else if (answer == MPI_SUCCESS) {")]
    else:
        lines += [(0, "if (record_good(me, answer)) {")]
    lines += [(1, line) for line in generic] + [(0, "}"), (0, "record_leave(me);"), (0, "return answer;")]
    return text("RECORD_FUNCTION " + f.prototype(f"record_{f.stem}"), lines)
