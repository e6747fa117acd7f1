# SPDX-License-Identifier: BSD-3-Clause
"""A trace for Paraver as lines that pfrun -replay plays (docs/replay.md)."""
import bisect
import collections
import os
import re
import sys
from dataclasses import dataclass, field

from pfcurve.errors import Problem

from . import values as v

UNITS = {None: 1e-6, "_ns": 1e-9, "_us": 1e-6, "_ms": 1e-3, "_sec": 1.0}  # of dates, in seconds
HEADER = re.compile(r"#Paraver \([^)]*\):\d+(_[a-z]+)?:\d+(?:\([\d,]+\))?:(\d+):(\d+)\(")
ROOM = 2 ** 28  # for a block whose sender alone knows its size


@dataclass
class Call:
    begin: int
    name: str
    end: int = None
    sizes: dict = field(default_factory=dict)
    root: int = 0
    sends: list = field(default_factory=list)  # messages that are sent,
    posts: list = field(default_factory=list)  # whose receive begins,
    completes: list = field(default_factory=list)  # or ends


@dataclass(eq=False)
class Message:
    sender: int
    sent: int
    receiver: int
    posted: int
    received: int
    size: int
    tag: int
    request: int = None


class Trace:
    def __init__(self, path):
        self.path, self.names, self.others, self.comms, self.messages = path, {}, 0, {}, []
        self.read_labels(os.path.splitext(path)[0] + ".pcf")
        with open(path, encoding="utf-8", errors="replace") as file:
            self.read_header(file.readline())
            for number, line in enumerate(file, 2):
                try:
                    if line[0] not in "#i\n":
                        self.read_record([line[0], *map(int, line[2:].split(":"))])
                except (ValueError, IndexError):
                    self.refuse(f"line {number}", f"this is no record of Paraver, or its task does not exist: '{line.strip()[:60]}'")
        for calls in self.calls:
            end = calls[-1].end if calls and calls[-1].end is not None else calls[-1].begin if calls else 0
            if calls:
                calls[-1].end = end
                calls.append(Call(end, "", end))

    def refuse(self, where, what):
        raise Problem(f"{self.path}: {where}: {what}")

    def read_labels(self, path):
        """Names of the MPI functions that this trace has numbers of its own for."""
        type_ = None
        for words in map(str.split, open(path, encoding="utf-8", errors="replace") if os.path.exists(path) else []):
            if len(words) > 2 and words[1].isdigit():
                type_ = int(words[1])
            elif type_ in v.LABELS and len(words) == 2 and words[0].isdigit() and words[1].startswith("MPI_"):
                self.names[int(words[0])] = words[1][4:].capitalize()

    def read_header(self, line):
        match = HEADER.match(line)
        if not match or match[1] not in UNITS or match[3] == "0":
            self.refuse("line 1", "this is no header of Paraver")
        if match[2] != "1":
            self.refuse("line 1", f"there are {match[2]} applications, and one is played")
        self.seconds, self.ranks = UNITS[match[1]], int(match[3])
        self.calls, self.running = ([[] for _ in range(self.ranks)] for _ in range(2))
        self.open = [[] for _ in range(self.ranks)]  # values of calls, outermost first

    def read_record(self, words):
        if words[0] == "c":
            self.comms[words[2]] = [member - 1 for member in words[4:] if member > 0]
        elif words[0] in ("1", "2", "3", "4") and (words[4] != 1 or words[0] == "3" and words[10] != 1):
            self.others += 1
        elif words[0] == "3":
            self.messages.append(Message(self.rank(words[3]), words[5], self.rank(words[9]), *words[11:15]))
        elif words[0] == "1":
            if words[7] == v.RUNNING:
                self.running[self.rank(words[3])].append((words[5], words[6]))
        elif words[0] == "2":
            self.read_events(self.rank(words[3]), words[5], list(zip(words[6::2], words[7::2], strict=True)))
        elif words[0] == "4":  # what events have in newer traces
            self.read_events(self.rank(words[3]), words[5], list(zip((v.COMM, v.SEND_SIZE, v.RECV_SIZE), words[6:9])))
        else:
            raise ValueError

    def rank(self, task):
        if not 1 <= task <= self.ranks:
            raise IndexError
        return task - 1

    def read_events(self, rank, date, events):
        """A call in a call, such as the messages of a collective, is part of it. Old traces may end it by its value instead of 0."""
        calls, stack = self.calls[rank], self.open[rank]
        for type_, value in events:
            if type_ not in v.LABELS:
                continue
            if value and value not in stack[-1:]:
                if not stack:
                    calls.append(Call(date, self.name(rank, type_, value)))
                stack.append(value)
            elif stack:
                stack.pop()
                calls[-1].end = date
        if calls and date == calls[-1].begin:
            for type_, value in events:
                calls[-1].sizes.setdefault(type_, value)

    def name(self, rank, type_, value):
        name = self.names.get(value) or v.NAMES_BY_VALUE.get(value)
        if name is None:
            self.refuse(f"rank {rank}", f"no .pcf names value {value} of type {type_}")
        if v.kind(name)[0] in (v.ONE_SIDED, v.IO) or "lltoallw" in name or "eighbor" in name:
            self.refuse(f"rank {rank}, MPI_{name}", "Paraver's records do not describe what it does")
        return name


class Finder:
    """Calls of a rank by their dates."""

    def __init__(self, trace, rank):
        self.trace, self.rank, self.calls = trace, rank, trace.calls[rank]
        self.begins = [call.begin for call in self.calls]

    def at(self, date, does, part):
        """The list of such a call at this date, of several without length the first that has none yet; a list that is dropped if the
        message is part of another call."""
        i, found, inside = bisect.bisect_right(self.begins, date), [], False
        while i and self.calls[i - 1].end >= date:
            i -= 1
            inside |= bool(self.calls[i].name)
            if does(self.calls[i].name):
                found.insert(0, self.calls[i])
        if not found and not inside:
            self.trace.refuse(f"rank {self.rank}", f"a message begins or ends at {date}, where no call of MPI is")
        many = ("Startall", "Waitall", "Waitsome", "Testall", "Testsome")
        ends = [call for call in found if call.end == date] if part == "completes" else found
        lists = [getattr(call, part) for call in ends or found if not getattr(call, part) or call.name in many]
        return (lists or [getattr(call, part) for call in found[-1:]] or [[]])[0]


def distribute(trace):
    """Gives each message to the calls that send it, receive it, and wait for it. Ranks without events get calls."""
    for rank, calls in enumerate(trace.calls):
        sent = sorted((m for m in trace.messages if m.sender == rank), key=lambda m: m.sent)
        received = [m for m in trace.messages if m.receiver == rank]
        if calls:
            finder = Finder(trace, rank)
            for message in sent:
                finder.at(message.sent, v.sends, "sends").append(message)
            for message in sorted(received, key=lambda m: m.posted):
                finder.at(message.posted, v.receives, "posts").append(message)
            for message in sorted(received, key=lambda m: m.received):
                finder.at(message.received, v.completes, "completes").append(message)
            continue
        calls += [Call(m.sent, "Isend", m.sent, sends=[m]) for m in sent] + [Call(m.posted, "Irecv", m.posted, posts=[m]) for m in received]
        calls += [Call(m.received, "Wait", m.received, completes=[m]) for m in received]
        calls.sort(key=lambda call: (call.begin, v.VALUES[call.name]))
        end = max([*(call.end for call in calls), *(end for _, end in trace.running[rank])], default=0)
        calls.append(Call(end, "", end))


def find_roots(trace):
    """The n-th collective of each member is one; its root is the member that says so, or that has what only a root has."""
    met = collections.defaultdict(list)
    for rank, calls in enumerate(trace.calls):
        counts = collections.Counter()
        for call in calls:
            if v.blocking(call.name) in v.COLLECTIVES:
                comm = call.sizes.setdefault(v.COMM, 0)
                if rank not in trace.comms.setdefault(comm, list(range(trace.ranks)) if comm == 0 else []):
                    trace.refuse(f"rank {rank}, MPI_{call.name}", f"the trace defines no communicator {comm} of this rank")
                met[comm, counts[comm]].append((rank, call))
                counts[comm] += 1
    for (comm, _), members in met.items():
        of_root = v.SEND_SIZE if v.blocking(members[0][1].name) in ("Bcast", "Scatter", "Scatterv") else v.RECV_SIZE
        roots = [rank for type_ in (v.ROOT, of_root) for rank, call in members if call.sizes.get(type_)]
        for _, call in members:
            call.root = trace.comms[comm].index(roots[0]) if roots else 0


class Lines:
    """Of one rank."""

    def __init__(self, trace, rank, numbers, out):
        self.trace, self.rank, self.numbers, self.out = trace, rank, numbers, out
        self.free, self.next, self.pending = [], 0, []  # requests; those of messages that are sent

    def put(self, *words):
        self.out.write(f"{self.rank} {' '.join(map(str, words))}\n")

    def start(self, action, partner, message):
        self.next += 0 if self.free else 1
        message.request = self.free.pop() if self.free else self.next - 1
        self.put(action, partner, message.tag, message.size, 6, f"req={message.request}")

    def write(self, by_events):
        self.put("init")
        for i, (members, number) in enumerate(self.numbers.items()):
            if number > 1 and self.rank in members:
                self.put("MPI_Comm_create_group 0", len(members), *members, i, number)
        date, running = 0, collections.deque(self.trace.running[self.rank])
        for call in self.trace.calls[self.rank]:
            passed = call.begin - date if by_events else busy(running, call.begin)
            if passed > 0:
                self.put("compute", f"{passed * self.trace.seconds * 1e9:.17g}")
            self.call(call)
            date = max(date, call.end)
        self.put("finalize")

    def call(self, call):
        if call.name.startswith("Sendrecv") and call.sends and call.posts:
            sent, received = call.sends[0], call.posts[0]
            self.put("sendRecv", sent.size, sent.receiver, received.size, received.sender, 6, 6, f"stag={sent.tag}", f"rtag={received.tag}")
            return
        for message in call.sends:
            if call.name in v.SENDS or call.name.startswith("Sendrecv"):
                self.put(call.name.lower() if call.name in v.SENDS else "send", message.receiver, message.tag, message.size, 6)
            else:
                self.start(call.name.lower() if call.name in v.ISENDS else "isend", message.receiver, message)
                self.pending.append(message.request)
        for message in call.posts:
            if call.name in ("Recv", "Mrecv") or call.name.startswith("Sendrecv"):
                self.put("recv", message.sender, message.tag, message.size, 6)
            else:
                self.start("irecv", message.sender, message)
        self.wait(call)
        if v.blocking(call.name) in v.COLLECTIVES:
            self.collective(call)

    def wait(self, call):
        """Records say which receives end in a call. Sends end in the next MPI_Waitall, or in an MPI_Wait that ends no receive."""
        done = [message.request for message in call.completes if message.request is not None]
        ended = len(self.pending) if call.name in ("Waitall", "") else int(call.name == "Wait" and not done)
        done, self.pending = done + self.pending[:ended], self.pending[ended:]
        if done:
            self.put("waitall", len(done), *done)
            self.free += done

    def collective(self, call):
        name, members = v.blocking(call.name), tuple(self.trace.comms[call.sizes[v.COMM]])
        n, me = len(members), members.index(self.rank)
        sent, received = call.sizes.get(v.SEND_SIZE, 0), call.sizes.get(v.RECV_SIZE, 0)
        at_root, each = call.root == me, max(sent, received)
        if name in ("Gather", "Allgather", "Allgatherv"):
            each = received // n or sent
        elif name == "Scatter":
            each = sent // n or received
        elif name.startswith("Reduce_scatter"):
            each = sent // n
        count, kind = elements(each).split(" ", 1)
        block, known = f"- {each} 6", [sent if name == "Gatherv" else sent // n] * n
        rooms = " ".join(str(known[0] if i == me else min(ROOM, (2 ** 31 - 1) // n)) for i in range(n))
        numbers = f"- - {elements(each)}"
        words = {"Barrier": "", "Bcast": f"{block} {call.root}", "Reduce": f"{numbers} {call.root}", "Allreduce": numbers, "Scan": numbers,
                 "Exscan": numbers, "Reduce_scatter": f"- - {n}{n * f' {count}'} {kind}", "Reduce_scatter_block": numbers, "Gather": f"{block} {block} {call.root}",
                 "Scatter": f"{block} {block} {call.root}", "Allgather": f"{block} {block}", "Allgatherv": f"{block} - {n}{n * f' {each}'} 6",
                 "Alltoall": f"{block} {block}", "Gatherv": f"- {sent} 6 - " + (f"{n} {rooms} 6" if at_root else "0 6") + f" {call.root}",
                 "Scatterv": "- " + (f"{n} {' '.join(map(str, known))} 6" if at_root else "0 6") + f" - {received or ROOM} 6 {call.root}",
                 "Alltoallv": f"- {n} {' '.join(map(str, known))} 6 - {n} {rooms} 6"}[name]
        self.put("MPI_" + name, *words.split(), self.numbers[members])


def elements(size):
    """What is reduced: numbers of 8 bytes, or 4, as far as the size allows."""
    return f"{size // 8} 0 SUM" if size % 8 == 0 else f"{size // 4} 1 SUM" if size % 4 == 0 else f"{size} 6 user"


def busy(running, until):
    """Of the time before this date, what was spent in state Running; it is not counted again."""
    passed = 0
    while running and running[0][0] < until:
        begin, end = running.popleft()
        passed += min(end, until) - begin
        if end > until:
            running.appendleft((until, end))
    return passed


def read(path, out):
    trace = Trace(path)
    by_events = [bool(calls) for calls in trace.calls]
    distribute(trace)
    find_roots(trace)
    world = tuple(range(trace.ranks))
    used = sorted({call.sizes[v.COMM] for calls in trace.calls for call in calls if v.blocking(call.name) in v.COLLECTIVES})
    lists = dict.fromkeys(tuple(trace.comms[comm]) for comm in used if len(trace.comms[comm]) > 1)
    numbers = {world: 0} | {members: number for number, members in enumerate(lists, 2) if members != world}
    out.write(f"# parfocal-replay 1 ranks {trace.ranks}\n")
    for rank in world:
        Lines(trace, rank, numbers | ({(rank,): 1} if trace.ranks > 1 else {}), out).write(by_events[rank])
    if trace.others:
        print(f"parfocal: note: {path}: of each task the first thread is played ({trace.others} records are of others)", file=sys.stderr)
