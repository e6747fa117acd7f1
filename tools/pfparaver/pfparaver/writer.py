# SPDX-License-Identifier: BSD-3-Clause
"""A recording with dates (middleware/observing/recording.c) as a trace for Paraver: FILE.prv, .pcf and .row."""
import collections
import heapq
import sys
from dataclasses import dataclass, field

from . import values as v

# Bytes of an element, by the type's number in a recording (middleware/surface/replay.py).
BYTES = dict(enumerate([8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8, 8, 12, 12, 6, 8, 8, 16]))
BYTES |= {38: 4, 39: 4, 40: 8, 41: 16, 42: 8, 43: 16, 44: 32, 45: 1, 46: 2, 47: 4, 48: 8, 50: 20, 57: 1, 59: 8}
# Collectives in SMPI's form: on the world; the words of a line by the letters of values.COLLECTIVES, f: flops.
SHORT = {"barrier": ("Barrier", ""), "bcast": ("Bcast", "crt"), "reduce": ("Reduce", "cfrt"), "allreduce": ("Allreduce", "cft"),
         "scan": ("Scan", "cft"), "exscan": ("Exscan", "cft"), "reducescatter": ("Reduce_scatter", "Nft"), "gather": ("Gather", "ccrtt"),
         "scatter": ("Scatter", "ccrtt"), "allgather": ("Allgather", "cctt"), "alltoall": ("Alltoall", "cctt"),
         "gatherv": ("Gatherv", "cNrtt"), "scatterv": ("Scatterv", "Ncrtt"), "allgatherv": ("Allgatherv", "cNtt"),
         "alltoallv": ("Alltoallv", "xNxNtt")}


@dataclass
class Call:
    begin: int
    end: int
    name: str
    model: str
    sizes: str = ""  # what a collective adds to its begin


@dataclass
class Rank:
    number: int
    host: str = ""
    calls: list = field(default_factory=list)
    phases: list = field(default_factory=list)  # (date, name)
    comms: dict = field(default_factory=dict)  # number: (id, own rank, size, first rank of the world)
    requests: dict = field(default_factory=dict)  # number: the receive that it completes
    made: dict = field(default_factory=dict)  # persistent requests
    probed: dict = field(default_factory=dict)  # messages: (communicator, source, tag)


@dataclass
class Receive:
    rank: int
    posted: int
    done: int = None


class Recording:
    def __init__(self, lines):
        self.ranks, self.sends, self.receives = [], collections.defaultdict(list), collections.defaultdict(list)
        self.members = collections.defaultdict(dict)  # of a communicator: {own rank: rank of the world}
        self.now = None  # the call whose lines come
        for line in lines:
            words = line.split()
            if line.startswith("# parfocal-replay"):
                self.ranks = [Rank(number) for number in range(int(words[4]))]
            elif words[0] == "#":
                getattr(self, "note_" + words[1])(self.ranks[int(words[2])], words[3:])
            else:
                self.line(self.ranks[int(words[0])], words[1], words[2:])

    def note_host(self, rank, words):
        rank.host = words[0]
        rank.comms = {0: (("world",), rank.number, len(self.ranks)), 1: (("self", rank.number), 0, 1)}

    def note_comm(self, rank, words):
        number, shared, me, size, first = map(int, words)
        rank.comms[number] = ((shared, first, size), me, size) if shared >= 0 else None

    def note_at(self, rank, words):
        begin, end = (round(float(word) * 1e9) for word in words[:2])
        self.now = Call(begin, end, words[2].removeprefix("MPI_"), words[3])
        if words[2] != "-":
            rank.calls.append(self.now)

    def line(self, rank, action, words):
        if action == "phase":
            rank.phases.append((self.now.begin, " ".join(words)))
            return
        keys = dict(word.split("=") for word in words if "=" in word)
        words = [word for word in words if "=" not in word]
        request = int(keys["req"]) if "req" in keys else None
        comm = int(keys.get("comm", 0))
        if action in ("send", "bsend", "ssend", "rsend", "isend", "ibsend", "issend", "irsend"):
            self.send(rank, comm, words[0], words[1], int(words[2]) * BYTES[int(words[3])])
            rank.requests.pop(request, None)
        elif action in ("recv", "irecv"):
            rank.requests[request] = self.receive(rank, comm, words[0], words[1], done=action == "recv")
        elif action == "sendRecv":
            self.both(rank, comm, words[1], keys["stag"], int(words[0]) * BYTES[int(words[4])], words[3], keys["rtag"])
        elif action in ("wait", "test") and keys.get("done", "1") == "1":
            self.complete(rank, [request])
        elif action in ("waitall", "testall") and keys.get("done", "1") == "1":
            self.complete(rank, map(int, words[1:]))
        elif action in ("waitany", "testany", "waitsome", "testsome") and "done" in keys:
            self.complete(rank, [int(words[1 + int(index)]) for index in keys["done"].split(",")])
        elif action == "startall":
            self.start(rank, map(int, words[1:]))
        elif action in SHORT:
            self.collective(rank, SHORT[action][0], SHORT[action][1], words)
        elif action.startswith("MPI_"):
            self.function(rank, action[4:], words)

    def function(self, rank, name, words):
        if v.blocking(name) in v.COLLECTIVES:
            self.collective(rank, v.blocking(name), v.COLLECTIVES[v.blocking(name)], words)
        elif name == "Sendrecv":
            self.both(rank, int(words[8]), words[2], words[3], int(words[0]) * size_of(words[1]), words[6], words[7])
        elif name == "Sendrecv_replace":
            self.both(rank, int(words[6]), words[2], words[3], int(words[0]) * size_of(words[1]), words[4], words[5])
        elif name in ("Send_init", "Bsend_init", "Ssend_init", "Rsend_init", "Recv_init"):
            rank.made[int(words[5])] = (name == "Recv_init", int(words[4]), words[2], words[3], int(words[0]) * size_of(words[1]))
        elif name == "Mprobe":
            rank.probed[int(words[3])] = (int(words[2]), *words[:2])
        elif name in ("Mrecv", "Imrecv"):
            rank.requests[int(words[-1])] = self.receive(rank, *rank.probed.pop(int(words[2])), name == "Mrecv")
        elif name == "Start":
            self.start(rank, [int(words[0])])

    def key(self, rank, comm, partner, tag, receives):
        """The same for both ends of a message; None where there is none, or the ends are ranks of two groups."""
        known = rank.comms.get(comm)
        if not known or int(partner) < 0 or int(tag) < 0:
            return None
        ends = (int(partner), known[1]) if receives else (known[1], int(partner))
        return (known[0], *ends, int(tag))

    def send(self, rank, comm, partner, tag, size):
        key = self.key(rank, comm, partner, tag, False)
        if key:
            self.sends[key].append((rank.number, self.now, size))

    def receive(self, rank, comm, partner, tag, done):
        key, receive = self.key(rank, comm, partner, tag, True), Receive(rank.number, self.now.begin, self.now.end if done else None)
        if key:
            self.receives[key].append(receive)
        return receive

    def both(self, rank, comm, to, tag, size, source, other):
        self.send(rank, comm, to, tag, size)
        self.receive(rank, comm, source, other, True)

    def start(self, rank, requests):
        for request in requests:
            if request in rank.made:
                receives, *what, size = rank.made[request]
                if receives:
                    rank.requests[request] = self.receive(rank, *what, False)
                else:
                    self.send(rank, *what, size)

    def complete(self, rank, requests):
        for request in requests:
            receive = rank.requests.pop(request, None)
            if receive:
                receive.done = self.now.end

    def collective(self, rank, name, letters, words):
        """Sizes as Extrae has them: all that a rank sends and receives, but one block of MPI_Alltoall."""
        words, n, root, comm, known, counts, types = list(words), len(self.ranks), 0, 0, [], [], []
        types_default = "6"
        for letter in letters:
            if letter == "N" and words:
                counts.append([int(words.pop(0)) for _ in range(n)])
            elif letter == "C":
                counts.append([int(words.pop(0)) for _ in range(int(words.pop(0)))])
            elif letter == "c":
                counts.append(int(words.pop(0)))
            elif letter == "t":
                types.append(words.pop(0) if words else types_default)
            elif letter == "r":
                root = int(words.pop(0)) if words else 0
            elif letter == "m":
                comm = int(words.pop(0))
            else:
                known.append(words.pop(0))
        found = rank.comms.get(comm)
        if not found:  # of two groups
            return
        identity, me, n = found
        self.members[identity][me] = rank.number
        first, *rest = [sum(count) if isinstance(count, list) else count for count in counts] or [0]
        sent = first * size_of(types[0]) if types else 0
        received = rest[0] * size_of(types[-1]) if rest else sent
        is_root = root == me
        if name == "Bcast":
            sent, received = (sent, 0) if is_root else (0, received)
        elif name == "Reduce":
            sent, received = (0, received) if is_root else (sent, 0)
        elif name in ("Gather", "Gatherv"):
            block = received if name == "Gather" else received // n
            sent, received = sent or block * is_root, (block * n if name == "Gather" else received) * is_root
        elif name in ("Scatter", "Scatterv"):
            sent, received = sent * (n if name == "Scatter" else 1) * is_root, received or is_root * sent // (1 if name == "Scatter" else n)
        elif name == "Allgather":
            sent, received = sent or received, received * n
        elif name == "Reduce_scatter":
            received = counts[0][me] * size_of(types[0])
        elif name == "Reduce_scatter_block":
            sent *= n
        elif name == "Alltoall":
            sent = sent or received
        rooted = is_root and name in ("Bcast", "Reduce", "Gather", "Gatherv", "Scatter", "Scatterv")
        self.now.sizes = (f":{v.SEND_SIZE}:{sent}:{v.RECV_SIZE}:{received}:{v.ROOT}:{int(rooted)}:{v.COMM}:", identity)


def size_of(word):
    return int(word[1:]) if word[0] == "*" else BYTES[int(word)]


class Trace:
    def __init__(self, recording, wanted):
        self.ranks, self.recording = recording.ranks, recording
        self.wanted = wanted or range(len(self.ranks))
        self.hosts = list(dict.fromkeys(rank.host for rank in self.ranks))
        on_host = [[rank.number for rank in self.ranks if rank.host == host] for host in self.hosts]
        self.cpus = {number: cpu for cpu, number in enumerate((number for numbers in on_host for number in numbers), 1)}
        self.cores = [len(numbers) for numbers in on_host]
        self.end = max((call.end for rank in self.ranks for call in rank.calls), default=0)
        self.phases, self.models, self.own = {"start": 1}, {}, {}
        self.messages, self.lost = self.match()
        self.comms, self.comm_lists = self.number_comms()

    def match(self):
        """Messages of a pair of ranks, a tag and a communicator are received in their order. {sender: [(date, line)]}"""
        messages, lost = collections.defaultdict(list), 0
        for key, sends in self.recording.sends.items():
            receives = self.recording.receives.get(key, [])
            lost += abs(len(sends) - len(receives))
            for (sender, call, size), receive in zip(sends, receives):
                if receive.done is None:
                    lost += 1
                elif sender in self.wanted or receive.rank in self.wanted:
                    messages[sender].append((call.begin, f"3:{self.object(sender)}:{call.begin}:{call.end}:{self.object(receive.rank)}:{receive.posted}:"
                                                   f"{receive.done}:{size}:{key[3]}"))
        lost += sum(len(receives) for key, receives in self.recording.receives.items() if key not in self.recording.sends)
        for of_rank in messages.values():
            of_rank.sort(key=lambda message: message[0])
        return messages, lost

    def number_comms(self):
        """Communicators with the same members have one number; the world is 1."""
        lists, numbers = {tuple(range(len(self.ranks))): 1}, {}
        for identity, members in self.recording.members.items():
            ranks = tuple(members[me] for me in sorted(members))
            numbers[identity] = lists.setdefault(ranks, len(lists) + 1)
        return numbers | {("world",): 1}, lists

    def object(self, number):
        return f"{self.cpus[number]}:1:{number + 1}:1"

    def value(self, name):
        return v.VALUES.get(name) or self.own.setdefault(name, v.FIRST_OWN + len(self.own))

    def records(self, rank):
        """In the order of their dates: calls follow each other."""
        who, date, model = self.object(rank.number), 0, ""
        phases, messages = collections.deque(rank.phases), collections.deque(self.messages[rank.number])
        if rank.number not in self.wanted:
            yield from messages
            return
        yield 0, f"2:{who}:0:{v.PHASE}:1"
        for call in rank.calls:
            if date < call.begin:
                yield date, f"1:{who}:{date}:{call.begin}:{v.RUNNING}"
            while phases and phases[0][0] <= call.begin:
                date, name = phases.popleft()
                yield date, f"2:{who}:{date}:{v.PHASE}:{self.phases.setdefault(name, len(self.phases) + 1)}"
            type_, state = v.kind(call.name)
            if call.begin < call.end:
                yield call.begin, f"1:{who}:{call.begin}:{call.end}:{state}"
            more = f"{call.sizes[0]}{self.comms[call.sizes[1]]}" if call.sizes else ""
            if call.model != model:
                model = call.model
                more += f":{v.MODEL}:{self.models.setdefault(model, len(self.models) + 1)}"
            yield call.begin, f"2:{who}:{call.begin}:{type_}:{self.value(call.name)}{more}"
            while messages and messages[0][0] <= call.begin:
                yield messages.popleft()
            yield call.end, f"2:{who}:{call.end}:{type_}:0"
            date = call.end
        yield from messages
        if date < self.end:
            yield date, f"1:{who}:{date}:{self.end}:{v.IDLE}"

    def write(self, out):
        nodes = {host: node for node, host in enumerate(self.hosts, 1)}
        tasks = ",".join(f"1:{nodes[rank.host]}" for rank in self.ranks)
        out.write(f"#Paraver (01/01/2000 at 00:00):{self.end}_ns:{len(self.hosts)}({','.join(map(str, self.cores))}):1:{len(self.ranks)}"
                  f"({tasks}),{len(self.comm_lists)}\n")
        for members, number in self.comm_lists.items():
            out.write(f"c:1:{number}:{len(members)}:{':'.join(str(member + 1) for member in members)}\n")
        for _, line in heapq.merge(*map(self.records, self.ranks), key=lambda record: record[0]):
            out.write(line + "\n")

    def write_labels(self, out):
        used = {call.name for rank in self.ranks for call in rank.calls}
        out.write("DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\nDEFAULT_SEMANTIC\n\n"
                  "THREAD_FUNC         State As Is\n\nSTATES\n" + "".join(f"{state}    {name}\n" for state, (name, _) in v.STATES.items())
                  + "\nSTATES_COLOR\n" + "".join(f"{state}    {{{colour}}}\n" for state, (_, colour) in v.STATES.items()))
        for type_, label in v.LABELS.items():
            names = sorted((self.value(name), name) for name in used if v.kind(name)[0] == type_)
            table(out, [(type_, label)], [(value, "MPI_" + name) for value, name in names] + [(0, "End")])
        table(out, v.SIZES.items(), [])
        table(out, [(v.PHASE, "Phase")], [(value, name) for name, value in self.phases.items()])
        table(out, [(v.MODEL, "Model of the simulation")], [(value, name) for name, value in self.models.items()])

    def write_rows(self, out):
        by_cpu = sorted(self.cpus, key=self.cpus.get)
        for level, names in (("CPU", [f"{i + 1}.{self.ranks[number].host}" for i, number in enumerate(by_cpu)]), ("NODE", self.hosts),
                             ("THREAD", [f"THREAD 1.{rank.number + 1}.1" for rank in self.ranks])):
            out.write(f"LEVEL {level} SIZE {len(names)}\n" + "".join(name + "\n" for name in names) + "\n")


def table(out, types, labels):
    out.write("\nEVENT_TYPE\n" + "".join(f"0    {type_}    {label}\n" for type_, label in types))
    if labels:
        out.write("VALUES\n" + "".join(f"{value}      {label}\n" for value, label in labels))


def write(path, wanted, lines):
    trace = Trace(Recording(lines), wanted)
    with open(path, "w", encoding="utf-8") as out:
        trace.write(out)
    stem = path.removesuffix(".prv")
    with open(stem + ".pcf", "w", encoding="utf-8") as out:
        trace.write_labels(out)
    with open(stem + ".row", "w", encoding="utf-8") as out:
        trace.write_rows(out)
    if trace.lost:
        print(f"parfocal: note: {path}: {trace.lost} messages have one end only", file=sys.stderr)
