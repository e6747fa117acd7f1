#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Traces for Paraver: every record checked, calls against the csv trace, messages against the summary; and played: ours, and such as
other tools write. run_paraver.py --bin BUILD/bin"""
import collections
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.abspath(sys.argv.pop(sys.argv.index("--bin") + 1))
sys.argv.remove("--bin")
EXAMPLES = os.path.join(os.path.dirname(BIN), "examples")
FIXED = "--cfg=smpi/simulate-computation:no"
MPI = range(50000001, 50000006)
SEND_SIZE, RECV_SIZE, ROOT, COMM = range(50100001, 50100005)


class Trace:
    """A reader of its own, which believes nothing."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            header, *lines = file.read().splitlines()
        match = re.fullmatch(r"#Paraver \(\d\d/\d\d/\d{4} at \d\d:\d\d\):(\d+)_ns:(\d+)\((\d+(?:,\d+)*)\):1:(\d+)\((1:\d+(?:,1:\d+)*)\),(\d+)",
                             header)
        assert match, header
        self.end, self.tasks, cpus = int(match[1]), int(match[4]), [int(n) for n in match[3].split(",")]
        nodes = [int(task.split(":")[1]) for task in match[5].split(",")]
        assert int(match[2]) == len(cpus) == max(nodes) and len(nodes) == self.tasks == sum(cpus)
        self.comms = {int(w[2]): [int(m) for m in w[4:]] for w in (line.split(":") for line in lines if line[0] == "c") if w[1] == "1"
                      and int(w[3]) == len(w) - 4}
        assert len(self.comms) == int(match[6]) and not any(line[0] == "c" for line in lines[len(self.comms):])
        self.states, self.events, self.messages = (collections.defaultdict(list) for _ in range(3))
        self.labels, self.of_task, last = self.read_labels(path[:-3] + "pcf"), {}, 0
        for line in lines[len(self.comms):]:
            assert re.fullmatch(r"(1(:\d+){7}|2(:\d+){5}(:\d+:\d+)+|3(:\d+){14})", line), line
            kind, *n = map(int, line.split(":"))
            assert last <= n[4] <= self.end, line
            last = n[4]
            for cpu, app, task, thread in [n[:4]] + ([n[6:10]] if kind == 3 else []):
                assert (app, thread) == (1, 1) and 1 <= task <= self.tasks and self.of_task.setdefault(task, cpu) == cpu <= self.tasks, line
            if kind == 1:
                assert n[4] < n[5] <= self.end and n[6] in self.labels["states"], line
                self.states[n[2]].append(n[4:])
            elif kind == 2:
                self.events[n[2]] += [(n[4], list(zip(n[5::2], n[6::2])))]
            else:
                sent, sent_end, posted, received, size, tag = *n[4:6], *n[10:14]
                assert sent <= sent_end and posted <= received <= self.end and sent <= received, line
                self.messages[n[2], n[8]].append((sent, size, tag))
        assert len(set(self.of_task.values())) == len(self.of_task)
        self.check_rows(path[:-3] + "row", cpus)

    def read_labels(self, path):
        labels = {"states": {}}
        with open(path, encoding="utf-8") as file:
            blocks = file.read().split("\n\n")
        for block in blocks:
            head, *rows = block.strip().splitlines()
            if head == "STATES":
                labels["states"] = {int(row.split()[0]): row for row in rows}
            elif head == "EVENT_TYPE":
                types = [int(row.split()[1]) for row in rows if not re.match(r"VALUES|\d+ {6}", row)]
                values = {int(row.split()[0]): row.split(None, 1)[1] for row in rows if re.match(r"\d+ {6}", row)}
                labels |= {type_: values for type_ in types}
        return labels

    def check_rows(self, path, cpus):
        with open(path, encoding="utf-8") as file:
            levels = {re.match(r"LEVEL (\w+) SIZE (\d+)\n", block)[1]: (int(block.split()[3]), block.strip().splitlines()[1:])
                      for block in file.read().split("\n\n") if block.strip()}
        assert {level: size for level, (size, _) in levels.items()} == {"CPU": self.tasks, "NODE": len(cpus), "THREAD": self.tasks}
        assert all(size == len(names) for size, names in levels.values())

    def calls(self, task):
        """(name, begin, end, sizes); they follow each other, and states are those of calls, or of what is between them."""
        found, opened = [], None
        for date, events in self.events[task]:
            for type_, value in events:
                assert type_ in self.labels and (not self.labels[type_] or value in self.labels[type_]), (type_, value)
                if type_ in MPI and value:
                    assert opened is None
                    opened = (self.labels[type_][value], date, dict(events), type_)
                elif type_ in MPI:
                    assert opened and opened[3] == type_
                    found.append((opened[0], opened[1], date, opened[2]))
                    opened = None
        assert opened is None
        before = 0
        for begin, end, _ in self.states[task]:
            assert begin == before
            before = end
        assert before == self.end and not any(state == 1 for begin, end, state in self.states[task] for _, b, e, _ in found
                                              if max(begin, b) < min(end, e))
        return found

    def times(self):
        """Of collectives, by function, of all tasks."""
        total = collections.Counter()
        for task in range(1, self.tasks + 1):
            for name, begin, end, sizes in self.calls(task):
                if COMM in sizes:
                    total[name] += end - begin
        return total


class Paraver(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        os.chdir(cls.folder.name)
        cls.addClassCleanup(os.chdir, HERE)
        subprocess.run([os.path.join(BIN, "pfcc"), "-O1", os.path.join(HERE, "collectives.c"), "-o", "collectives"], check=True)

    def pfrun(self, *words, status=0, environment=None, fixed=FIXED):
        done = subprocess.run([os.path.join(BIN, "pfrun"), "-quiet", "-report", "report", fixed, *words], capture_output=True, text=True,
                              timeout=300, env=os.environ | (environment or {}), check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        with open("report/summary.json", encoding="utf-8") as file:
            self.summary = json.load(file)
        return done.stderr

    def files(self, stem):
        found = []
        for ending in ("prv", "pcf", "row"):
            with open(f"{stem}.{ending}", encoding="utf-8") as file:
                found.append(file.read())
        return found

    def write(self, name, text):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def test_records(self):
        cg = [os.path.join(EXAMPLES, "cg"), "-n", "8"]
        for number, words in enumerate((["-model", "portals", *cg], ["-schedule", "setup=smpi,solve=analytic,report=portals", *cg],
                                        ["-model", "analytic", "./collectives"])):
            said = self.pfrun("-np", "4", "-trace", "prv:a.prv", "-trace", "csv:a.csv", "-trace", "replay:a.replay", *words,
                              environment={"PARFOCAL_TRACE_LAYERS": "mpi"})
            self.assertEqual(said, "")
            trace = Trace("a.prv")
            with open("a.replay", encoding="utf-8") as file:
                nowhere = [int(line.split()[4]) for line in file if " isend -666 " in line]
            self.assertEqual(sum(map(len, trace.messages.values())) + len(nowhere), sum(phase["messages"] for phase in self.summary["phases"]))
            self.assertEqual(sum(size for found in trace.messages.values() for _, size, _ in found) + sum(nowhere),
                             sum(phase["bytes"] for phase in self.summary["phases"]))
            self.assertAlmostEqual(trace.end * 1e-9, self.summary["simulated_s"], delta=1.5e-9)
            with open("a.csv", encoding="utf-8") as file:
                rows = [row for row in csv.DictReader(file) if row["type"] == "MPI call"]
            for task in range(1, 5):
                calls = trace.calls(task)
                names = {name for name, *_ in calls}
                self.assertEqual([(name, begin, end) for name, begin, end, _ in calls],
                                 [(row["call"], round(float(row["start"]) * 1e9), round(float(row["end"]) * 1e9)) for row in rows
                                  if int(row["initiator_rank"]) == task - 1 and row["call"] in names])
            if number < 2:
                self.assertEqual(list(trace.labels[9200001].values()), ["start", "setup", "solve", "report"])
            else:
                self.assertEqual(sorted(trace.comms.values()), [[1, 2, 3, 4], [3, 1], [4, 2]])
                sizes = {name: [sizes.get(type_) for type_ in (SEND_SIZE, RECV_SIZE, ROOT, COMM)]
                         for name, _, _, sizes in trace.calls(2)[:16] if COMM in sizes}
                self.assertEqual(sizes["MPI_Gather"], [2400, 9600, 1, 1])
                self.assertEqual(sizes["MPI_Allreduce"], [2400, 2400, 0, 1])
                self.assertEqual(sizes["MPI_Reduce_scatter"], [9600, 2400, 0, 1])
            files = self.files("a")
            self.pfrun("-np", "4", "-trace", "prv:a.prv", *words)
            self.assertEqual(files, self.files("a"))

    def test_other_traces_and_times_are_as_without_it(self):
        self.pfrun("-np", "4", "-trace", "replay:plain.replay", "./collectives")
        plain = self.summary["simulated_s"]
        self.pfrun("-np", "4", "-trace", "replay:both.replay", "-trace", "prv:b.prv", "./collectives")
        self.assertEqual(self.summary["simulated_s"], plain)
        with open("plain.replay", encoding="utf-8") as one, open("both.replay", encoding="utf-8") as two:
            self.assertEqual(one.read(), "".join(line for line in two if not line.startswith("# ") or "parfocal-replay" in line))
        self.pfrun("-replay", "both.replay")
        self.assertEqual(self.summary["simulated_s"], plain)

    def test_some_ranks(self):
        self.pfrun("-np", "4", "-trace", "prv:s.prv", "./collectives", environment={"PARFOCAL_TRACE_RANKS": "0,2-3"})
        trace = Trace("s.prv")
        self.assertEqual((set(trace.events), (2, 4) in trace.messages, (2, 3) in trace.messages), ({1, 3, 4}, True, True))

    def test_a_run_that_ends_early(self):
        self.write("abort.py", "import parfocal\nfrom mpi4py import MPI\nw = MPI.COMM_WORLD\nparfocal.phase('a=b=c \u00e4')\nw.sendrecv(w.rank, 1 - w.rank, source=1 - w.rank)\nw.Barrier()\n"
                               "if w.rank: w.Abort(3)\nw.Barrier()\n")
        self.pfrun("-np", "2", "-trace", "prv:e.prv", "/usr/bin/python3", "abort.py", status=3)
        trace = Trace("e.prv")
        self.assertIn("MPI_Barrier", [name for name, *_ in trace.calls(1)])
        self.assertEqual(list(trace.labels[9200001].values()), ["start", "a=b=c \u00e4"])

    def test_refused(self):
        for words, text in ((["-trace", "prv:a.txt"], "the name of a file in the format prv ends in .prv"),
                            (["-trace", "prv:a.prv", "-trace", "prv:b.prv"], "a run writes one trace for Paraver"),
                            (["-trace", "prv:none/a.prv"], "cannot write the file 'none/a.prv'"),
                            (["--cfg=parfocal/check:yes", "-trace", "prv:n.prv"], "a run that is checked")):
            done = subprocess.run([os.path.join(BIN, "pfrun"), "-np", "2", *words, "./collectives"], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
            self.assertIn(text, done.stderr)
        self.assertFalse(os.path.exists("n.prv"))

    def test_round_trip(self):
        """Times are those of the run but for communicators, which a replay makes at its begin."""
        for name, within in (("cg", 0.025), ("spectral", 0.035)):
            for model in ("smpi", "analytic", "portals"):
                self.pfrun("-np", "4", "-model", model, "-trace", "prv:r.prv", os.path.join(EXAMPLES, name))
                run = self.summary["simulated_s"]
                self.pfrun("-model", model, "-replay", "r.prv")
                self.assertAlmostEqual(self.summary["simulated_s"] / run, 1, delta=within, msg=f"{name} {model}")

    def test_each_collective_takes_the_same_time(self):
        self.pfrun("-np", "6", "-model", "analytic", "-trace", "prv:c.prv", "./collectives")
        self.pfrun("-model", "analytic", "-replay", "c.prv", "-trace", "prv:again.prv")
        run, played = Trace("c.prv").times(), Trace("again.prv").times()
        self.assertEqual(set(run), set(played))
        self.assertEqual(len(run), 15)
        run.pop("MPI_Barrier")  # the first call, before which communicators are made
        for name, time in run.items():
            self.assertAlmostEqual(played[name] / time, 1, delta=0.05, msg=name)

    def plays(self, text, *lines):
        """Lines of ours that a trace is rewritten as."""
        self.write("f.prv", text)
        self.pfrun("-replay", "f.prv", "-trace", "replay:f.replay", fixed="--cfg=smpi/host-speed:1Gf")
        with open("f.replay", encoding="utf-8") as file:
            played = file.read().splitlines()
        for line in lines:
            self.assertIn(line, played)

    def test_traces_of_others(self):
        # As Extrae writes them: counters and callers among events, several records of a date, comments, threads, ends of MPI_Irecv.
        self.plays("#Paraver (20/03/2020 at 08:42):9000000_ns:1(4):1:2(2:1,1:1),2\nc:1:1:2:1:2\nc:1:2:1:1\n#20200320105057:CUTTER:ORIGINAL\n"
                   "1:1:1:1:1:0:1000000:1\n2:1:1:1:1:1000000:42000050:0:42000059:0\n2:1:1:1:1:1000000:50000001:4:42000050:5:70000002:1\n"
                   "2:1:1:1:1:1000500:50000001:0:42000050:97884\n1:2:1:1:2:0:500:1\n2:2:1:2:1:2000000:50000001:3:42000050:3245\n"
                   "2:2:1:2:1:2000100:50000001:0\n3:2:1:2:1:2000000:2000100:1:1:1:1:1000500:3000000:5032:1\n2:2:1:2:1:2000100:42000050:8\n"
                   "2:1:1:1:1:2500000:50000001:6\n2:1:1:1:1:3000000:50000001:0\n"
                   "2:1:1:1:1:4000000:50000002:9:50100001:0:50100002:80:50100003:1:50100004:1\n2:1:1:1:1:4001000:50000002:0\n"
                   "2:2:1:2:1:4000000:50000002:9\n2:2:1:2:1:4000000:50100001:80:50100002:0:50100003:0:50100004:1\n2:2:1:2:1:4001000:50000002:0\n",
                   "0 irecv 1 1 5032 6 req=0", "1 isend 0 1 5032 6 req=0", "1 reduce 10 0 0 0 op=SUM")
        self.assertAlmostEqual(self.summary["simulated_s"], 0.004, delta=2e-5)
        # Of 2004: microseconds, global operations as records of their own, calls inside of calls, whose ends have their value.
        self.plays("#Paraver (26/01/04 at 16:35):260:2:1:2(1:1,1:2),2\nc:1:91:2:1:2\nc:1:92:1:-1\n2:1:1:1:1:0:50000002:10\n4:1:1:1:1:0:91:4:4:11:0\n"
                   "2:1:1:1:1:1:50000002:9\n4:1:1:1:1:1:91:0:4:10:0\n2:1:1:1:1:2:50000001:2\n2:2:1:2:1:0:50000002:10\n4:2:1:2:1:0:91:4:4:11:0\n"
                   "2:2:1:2:1:5:50000001:1\n3:2:1:2:1:5:7:1:1:1:1:2:8:4:11\n2:2:1:2:1:7:50000001:0\n2:1:1:1:1:8:50000001:0\n"
                   "2:1:1:1:1:9:50000002:9\n2:1:1:1:1:10:50000002:0\n2:2:1:2:1:10:50000002:0\n2:1:1:1:1:12:50000002:7\n4:1:1:1:1:12:91:0:8:1:0\n"
                   "2:1:1:1:1:15:50000002:0\n2:2:1:2:1:12:50000002:7\n4:2:1:2:1:12:91:8:0:1:0\n2:2:1:2:1:15:50000002:0\n",
                   "0 allreduce 1 0 1 op=SUM", "0 compute 2000", "0 bcast 8 1 6")
        # States and messages only.
        self.plays("#Paraver (01/01/2000 at 00:00):5000_us:1(2):1:2(1:1,1:1)\n1:1:1:1:1:0:1000:1\n1:2:1:2:1:0:500:1\n1:2:1:2:1:500:2000:3\n"
                   "1:2:1:2:1:2000:4000:1\n3:1:1:1:1:1000:1000:2:1:2:1:500:2000:8:7\n", "0 compute 1000000", "1 compute 500000",
                   "1 compute 2000000", "1 irecv 0 7 8 6 req=0")

    def test_what_cannot_be_played(self):
        head = "#Paraver (01/01/2000 at 00:00):9_ns:1(2):1:2(1:1,1:1)\n"
        for text, says in (("#Paraver (x):9_ns\n", "line 1: this is no header of Paraver"),
                           ("#Paraver (01/01/2000 at 00:00):9_ns:1(1):2:1(1:1):1(1:1)\n", "line 1: there are 2 applications, and one is played"),
                           (head + "2:1:1:1:1:0:50000001\n", "line 2: this is no record of Paraver, or its task does not exist: '2:1:1:1:1:0"),
                           (head + "5:1\n", "line 2: this is no record"), (head + "1:1:1:3:1:0:9:1\n", "or its task does not exist"),
                           (head + "2:1:1:1:1:0:50000004:65\n", "rank 0, MPI_Put: Paraver's records do not describe what it does"),
                           (head + "2:1:1:1:1:0:50000003:999\n", "rank 0: no .pcf names value 999 of type 50000003"),
                           (head + "2:1:1:1:1:0:50000002:8:50100004:7\n", "rank 0, MPI_Barrier: the trace defines no communicator 7 of this rank"),
                           (head + "2:1:1:1:1:0:50000001:1\n2:1:1:1:1:2:50000001:0\n3:1:1:1:1:5:5:2:1:2:1:6:7:8:1\n",
                            "rank 0: a message begins or ends at 5, where no call of MPI is")):
            self.write("bad.prv", text)
            done = subprocess.run([os.path.join(BIN, "pfrun"), "-replay", "bad.prv"], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
            self.assertIn(f"parfocal: error: bad.prv: {says}" if says.startswith(("line", "rank")) else says, done.stderr)


if __name__ == "__main__":
    unittest.main()
