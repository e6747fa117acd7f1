#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""pfrun -replay: traces of stock SMPI against stock smpirun -replay, our recordings against the program, broken traces.

Usage: run_replay.py [--bin DIRECTORY] [PART...]   (all parts without; they are the functions named part_...)
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
import dumpi_trace  # noqa: E402

LAB = ["--cfg=smpi/simulate-computation:no"]
LIMIT = 300


class Test:
    """The commands, a folder for what they make, and what has failed."""

    def __init__(self, bindir, work):
        self.bin, self.work, self.failed = os.path.abspath(bindir), work, []
        self.tools = harness.Tools(bindir, work)

    def fail(self, what, detail=""):
        self.failed.append(what)
        print(f"FAIL {what}\n{detail}", flush=True)

    def run(self, command, limit=LIMIT):
        return subprocess.run(command, capture_output=True, text=True, cwd=self.work, timeout=limit, errors="replace")

    def write(self, name, text):
        path = os.path.join(self.work, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def pfrun(self, arguments):
        """Status, output, and the simulated time with 12 digits, or None."""
        summary = os.path.join(self.work, "summary.json")
        if os.path.exists(summary):
            os.unlink(summary)
        done = self.run([os.path.join(self.bin, "pfrun"), "-platform", harness.PLATFORM, "-report", self.work, "-quiet", *arguments])
        time = None
        if os.path.exists(summary) and done.returncode == 0:
            with open(summary, encoding="utf-8") as f:
                time = f"{json.load(f)['simulated_s']:.12f}"
        return done.returncode, done.stdout + done.stderr, time

    def ours(self, trace, options=()):
        return self.pfrun(["-hostfile", harness.HOSTFILE, *options, "-replay", trace])

    def stock(self, trace, np, options=()):
        """The date of the end of stock smpirun's replay."""
        done = self.run(["smpirun", "-np", str(np), "-platform", harness.PLATFORM, "-hostfile", harness.HOSTFILE,
                         "-replay", trace, *options, "--log=smpi_replay.fmt:%.12r%e%m%n"])
        times = re.findall(r"^([0-9.]+) Simulation time", done.stdout + done.stderr, re.MULTILINE)
        if done.returncode or not times:
            raise RuntimeError(f"stock smpirun cannot play {trace}:\n{done.stdout}{done.stderr}")
        return times[-1]


def ranks(np, lines):
    """A trace in one file: every line for every rank; {r}, {next}, {before} and {n} stand for numbers."""
    text = ""
    for r in range(np):
        for line in ["init", *lines, "finalize"]:
            text += f"{r} " + line.format(r=r, next=(r + 1) % np, before=(r - 1) % np, n=np) + "\n"
    return text


# One action each, or a few, of SMPI's format.
ACTIONS = {
    "barrier": ["barrier"],
    "ring": ["isend {next} 7 1000 0", "irecv {before} 7 1000 0", "wait {before} {r} 7", "wait {r} {next} 7"],
    "waitall": ["irecv {before} 1 70000 6", "isend {next} 1 70000 6", "irecv {before} 2 9", "isend {next} 2 9", "waitall 4"],
    "test": ["irecv {before} 1 500000 6", "test {before} {r} 1", "isend {next} 1 500000 6", "wait {before} {r} 1", "test {r} {next} 1",
             "wait {r} {next} 1"],
    "sendRecv": ["sendRecv 100 {next} 100 {before} 2 2"],
    "unfinished": ["irecv {before} 1 5000 6", "isend {next} 1 5000 6"],
    "compute": ["compute 2500000", "barrier", "sleep 0.001", "compute 1e6", "barrier"],
    "bcast": ["bcast 5000 1 0", "bcast 10"],
    "reduce": ["reduce 1000 5e6 1 0", "reduce 10 0", "allreduce 1000 5000000 0", "allreduce 3 1"],
    "alltoall": ["alltoall 300 300 4 4", "alltoall 10 10"],
    "gather": ["gather 100 100 1 1 1", "gather 10 10", "allgather 100 100 1 1", "allgather 7 7"],
    "scatter": ["scatter 100 100 1 1 1", "scatter 10 10"],
    "gatherv": ["gatherv 10 10 10 10 10 2 1 1", "allgatherv 300 300 300 300 300 0 0"],
    "scatterv": ["scatterv 10 10 10 10 10 2 1 1"],
    "alltoallv": ["alltoallv 40 10 10 10 10 40 10 10 10 10 1 1"],
    "reducescatter": ["reducescatter 1000 1000 1000 1000 3e6 0"],
    "scan": ["scan 50 1e5 1", "exscan 60 0 0"],
    "other": ["comm_size 4", "comm_split", "comm_dup", "location file.c 3", "bcast 7 0 -1"],
}


def part_stock(test):
    """The same simulated time as stock smpirun, to the twelfth digit: action by action, and of a recorded program."""
    for name, lines in ACTIONS.items():
        path = test.write(name + ".txt", ranks(4, lines))
        listed = test.write(name + ".list", path + "\n")
        for options in (LAB, ["--cfg=smpi/simulate-computation:yes", "--cfg=smpi/host-speed:1Gf"]):
            expected = test.stock(listed, 4, options)
            for trace in (listed, path):
                status, output, time = test.ours(trace, options)
                if time != expected:
                    test.fail(f"{name} {options}", f"stock {expected}, here {time}, status {status}\n{output}")
    program = test.tools.build(os.path.join(HERE, "calls.c"), "smpicc")
    done = test.run(["smpirun", "-np", "4", "-platform", harness.PLATFORM, "-hostfile", harness.HOSTFILE, *LAB, "-trace-ti", "-trace-file",
                     "calls.ti", program, "stock"])
    if done.returncode:
        test.fail("stock smpirun records", done.stderr)
    expected = test.stock("calls.ti", 4, LAB)
    for models in (["-model", "smpi"], ["-model", "smpi", "-load", "analytic,portals"]):
        status, output, time = test.ours("calls.ti", LAB + models)
        if time != expected:
            test.fail(f"calls.ti {models}", f"stock {expected}, here {time}, status {status}\n{output}")
    times = {}
    for options in (["-model", "analytic"], ["-model", "portals"], ["-model", "packet"], ["-schedule", "@coll:5=portals,@coll:9=analytic"]):
        status, output, times[" ".join(options)] = test.ours("calls.ti", LAB + options)
        if status:
            test.fail(f"calls.ti {options}", output)
    print("stock", expected, times)


# Kinds of calls (calls.c) that ask nothing of the clock: the same in each model.
TIMELESS = ["collectives", "wildcards", "persistent", "derived", "place", "comms", "nonblocking", "windows"]
FINE = ["smpi", "analytic", "portals", "packet"]


def words(path):
    """The lines of a recording without the width of their columns."""
    with open(path, encoding="utf-8") as f:
        return [line.split() for line in f]


def part_recorded(test):
    """A run that is recorded has the time of one that is not, and so has its replay; recorded again, it is the same."""
    program = test.tools.build(os.path.join(HERE, "calls.c"), "pfcc")
    first, second = os.path.join(test.work, "first"), os.path.join(test.work, "second")
    for np, model in ((4, "smpi"), (5, "smpi"), (4, "analytic"), (5, "analytic"), (5, "portals"), (4, "packet"), (5, "every:7=smpi|portals")):
        in_model = ["-schedule" if ":" in model else "-model", model, *LAB]
        run = ["-hostfile", harness.HOSTFILE, *in_model]
        _, output, plain = test.pfrun([*run, "-np", str(np), program, "all"])
        status, more, recorded = test.pfrun([*run, "-np", str(np), "-trace", "replay:" + first, program, "all"])
        if status or plain is None or plain != recorded:
            test.fail(f"{model} {np}: recording changes the time", f"{plain} {recorded}\n{output}{more}")
            continue
        status, output, time = test.ours(first, in_model + ["-trace", "replay:" + second])
        if status or time != plain:
            test.fail(f"{model} {np}: replay", f"program {plain}, replay {time}\n{output}")
        elif words(first) != words(second):
            test.fail(f"{model} {np}: recorded again")


def part_across(test):
    """Recorded in one model, replayed in another: the time of the program there, also phase by phase."""
    recording = os.path.join(test.work, "recording")
    program = test.tools.build(os.path.join(HERE, "calls.c"), "pfcc")
    cg = os.path.join(os.path.dirname(test.bin), "examples", "cg")
    runs = [([program, *TIMELESS], 4, [["-model", m] for m in FINE]),
            ([cg, "-n", "16", "-i", "20"], 8, [["-model", m] for m in FINE] + [["-schedule", "solve=portals,report=smpi"]])]
    for command, np, ways in runs:
        run = ["-hostfile", harness.HOSTFILE, *LAB, "-np", str(np)]
        status, output, _ = test.pfrun([*run, "-trace", "replay:" + recording, *command])
        if status:
            test.fail(f"{command} is recorded", output)
        for way in ways:
            _, output, expected = test.pfrun([*run, *way, *command])
            status, more, time = test.ours(recording, LAB + way)
            if status or expected is None or time != expected:
                test.fail(f"{command[0]} {way}", f"program {expected}, replay {time}\n{output}{more}")
    # What SMPI's format has words for, stock smpirun plays too.
    status, output, _ = test.pfrun(["-hostfile", harness.HOSTFILE, *LAB, "-np", "4", "-model", "portals", "-trace", "replay:" + recording,
                                    program, "stock"])
    listed = test.write("listed", recording + "\n")
    expected, (status, output, time) = test.stock(listed, 4, LAB), test.ours(listed, LAB)
    if time != expected:
        test.fail("our recording under stock smpirun", f"stock {expected}, here {time}, status {status}\n{output}")


def part_machine(test):
    """Recorded with the distribution's mpirun; replayed here, without its computation, in the time of the program."""
    with open(os.path.join(test.work, "record.c"), "w", encoding="utf-8") as f:
        f.write(test.run([os.path.join(test.bin, "pfinfo"), "--record-program=calls"]).stdout)
    done = test.run(["mpicc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "record.c", "-o", "record.so"])
    if done.returncode:
        test.fail("mpicc compiles the recorder", done.stdout + done.stderr)
        return
    source = os.path.join(HERE, "calls.c")
    machine, program = test.tools.build(source, "mpicc"), test.tools.build(source, "pfcc")
    recording = os.path.join(test.work, "machine.replay")
    for kinds in (TIMELESS, ["all"]):
        done = test.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "4", "-x", f"PARFOCAL_REPLAY_RECORD={recording}",
                         "env", f"LD_PRELOAD={test.work}/record.so", f"TMPDIR={test.work}", machine, *kinds, "noclock"])
        if done.returncode or not os.path.exists(recording):
            test.fail(f"{kinds} under mpirun", done.stdout + done.stderr)
            continue
        for model in FINE:
            _, output, expected = test.pfrun(["-hostfile", harness.HOSTFILE, *LAB, "-np", "4", "-model", model, program, *kinds, "noclock"])
            status, more, time = test.ours(recording, LAB + ["-model", model])
            if status or expected is None or (kinds == TIMELESS and time != expected):
                test.fail(f"{kinds} in {model}", f"program {expected}, replay {time}\n{output}{more}")
        with open(recording, encoding="utf-8") as f:
            computed = sum(float(line.split()[2]) for line in f if " compute " in line and line.startswith("0 "))
        status, output, whole = test.ours(recording, ["-model", "analytic", "-replay-scale", "1000"])
        if status or not computed > 0 or float(whole) < computed * 1e-9 * 1000 * 0.1:
            test.fail(f"computation of {kinds}", f"{computed} ns recorded at rank 0, {whole} s replayed\n{output}")


BROKEN = [  # name, text of the trace, what must be said
    ("empty", "", "empty"),
    ("nothing", "# nothing\n", "no action"),
    ("no rank", "0 init\n0 finalize\n2 init\n2 finalize\n", "rank 1 of 3 is missing"),
    ("cut", "0 init\n1 init\n0 barrier\n1 barrier\n0 finalize\n", "line 4: rank 1: the trace ends before"),
    ("cut in a line", "0 init\n0 send 0\n", "line 2: rank 0: send: the tag is missing"),
    ("unknown", "0 init\n0 sned 1 2 3\n0 finalize\n", "line 2: rank 0: there is no action 'sned'"),
    ("after the end", "0 init\n0 finalize\n0 barrier\n", "line 3: rank 0: barrier after finalize"),
    ("no number", "0 init\n0 compute many\n0 finalize\n", "line 2: rank 0: compute: the number of flops is 'many'"),
    ("negative", "0 init\n0 bcast -3\n0 finalize\n", "line 2: rank 0: bcast: the count is -3"),
    ("no such rank", "0 init\n0 send 5 1 10\n0 finalize\n", "line 2: rank 0: send: MPI_ERR_RANK"),
    ("root", "0 init\n0 bcast 3 7\n0 finalize\n", "line 2: rank 0: bcast: the root is 7"),
    ("type", "0 init\n0 bcast 3 0 999\n0 finalize\n", "line 2: rank 0: bcast: 999 is no datatype"),
    ("few counts", "0 init\n1 init\n0 allgatherv 1 1\n1 allgatherv 1 1\n", "allgatherv: a count received is missing"),
    ("not pending", "0 init\n0 wait 0 0 3\n0 finalize\n", "line 2: rank 0: wait: no message from 0 to 0 with tag 3 is pending"),
    ("unmatched", "0 init\n1 init\n0 recv 1 5 10\n1 send 0 6 10\n0 finalize\n1 finalize\n", "rank 0 is at"),
    ("too long", "0 init\n1 init\n0 recv 1 5 10\n1 send 0 5 11\n0 finalize\n1 finalize\n", "line 3: rank 0: recv: MPI_ERR_TRUNCATE"),
    ("garbage", "0 init\n\x01\x02\n", "in no format"),
    ("not a rank", "0 init\nx barrier\n", "line 2: a line begins with the number of a rank, not with 'x"),
    ("no file", "nosuchfile\n", "line 1: cannot read"),
    ("title", "# parfocal-replay 1 ranks x\n0 init\n", "no title"),
    ("version", "# parfocal-replay 9 ranks 1\n0 init\n0 finalize\n", "version 9"),
    ("more ranks", "# parfocal-replay 1 ranks 1\n0 init\n1 init\n0 finalize\n", "line 3: there is no rank 1"),
    ("communicator", "# parfocal-replay 1 ranks 1\n0 init\n0 MPI_Barrier 4\n0 finalize\n", "line 3: rank 0: MPI_Barrier: communicator 4 has not been made"),
    ("elements", "# parfocal-replay 1 ranks 1\n0 init\n0 send 0 1 10 6 of=3\n0 finalize\n", "10 bytes are no whole number of elements of 3"),
    ("refused", "# parfocal-replay 1 ranks 1\n0 init\n0 refused MPI_File_open\n0 finalize\n", "line 3: rank 0: the program has called MPI_File_open"),
]


def part_broken(test):
    """One line that says where, a status that is not 0, and no hang."""
    for name, text, said in BROKEN:
        trace = test.write("broken", text)
        for model in ("smpi", "analytic"):
            try:
                status, output, _ = test.ours(trace, LAB + ["-model", model])
            except subprocess.TimeoutExpired:
                test.fail(f"{name}, {model}", "it hangs")
                continue
            lines = [line for line in output.splitlines() if line.startswith("parfocal:")]
            errors = [line for line in lines if line.startswith("parfocal: error:")]
            if status == 0 or len(errors) != 1 or said not in output or ("line " in said and lines[-1] != errors[0]):
                test.fail(f"{name}, {model}", f"status {status}, expected '{said}':\n{output}")
    trace = test.write("unreceived", "0 init\n1 init\n0 send 1 5 100 6\n0 finalize\n1 finalize\n")
    done = test.tools.run([os.path.join(test.bin, "pfrun"), "-replay", trace], LIMIT, {"PARFOCAL_CHECK": "yes"})
    if done.status != 86 or "is not received" not in done.err:
        test.fail("a message without a receive", done.err)
    for arguments, said in ((["-replay", "nosuch"], "cannot read 'nosuch'"), (["-replay", "."], "is a directory"),
                            (["-np", "3", "-replay", test.write("good", ranks(2, ["barrier"]))], "has 2 ranks"),
                            (["-replay-scale", "x", "-replay", "good"], "needs a number"),
                            (["-replay-scale", "2", "./app"], "for -replay only"),
                            (["-replay", "good", "./app"], "instead of a program")):
        status, output, _ = test.pfrun(arguments)
        if status == 0 or said not in output:
            test.fail(f"{arguments}", f"status {status}, expected '{said}':\n{output}")


# What archive.c writes, as lines; of its communicators, 3 is that of the even ranks, 4 that of the odd ones.
ARCHIVE = ["init", "MPI_Comm_create_group 0 2 {half0} {half1} {half} {comm}", "compute 1500000", "?0 send 1 7 5000 6", "?1 recv 0 7 5000 6",
           "irecv {before} 8 70000 6 req=0", "isend {next} 8 70000 6 req=1", "compute 250000", "waitall 2 0 1",
           "sendRecv 300 {next} 300 {before} 6 6 stag=9 rtag=9", "?0 send 1 1 900 6 comm=3", "?1 send 1 1 900 6 comm=4",
           "?2 recv 0 1 900 6 comm=3", "?3 recv 0 1 900 6 comm=4", "barrier", "bcast 8000 1 6", "gather 400 400 2 6 6", "reduce 640 0 0 6 op=user",
           "allreduce 80 0 6 op=user", "alltoall 1200 1200 6 6", "MPI_Allreduce - - 48 6 user {comm}", "MPI_Ibarrier 0 0",
           "MPI_Iallreduce - - 640 6 user 0 1", "MPI_Ialltoallv - 4 500000 500000 500000 500000 6 - 4 500000 500000 500000 500000 6 0 2",
           "waitall 3 0 1 2",
           *(f"?{r} " + line for r in (0, 2) for line in (
               "MPI_Win_create 2147483648 1 3 0", "MPI_Win_fence 0 0", "MPI_Put 5000 6 {other} 0 5000 6 0", "MPI_Get 100000 6 {other} 0 100000 6 0",
               "MPI_Win_fence 0 0", "MPI_Win_post 1 {even} 0 0", "MPI_Win_start 1 {even} 0 0", "MPI_Accumulate 100 4 {other} 0 100 4 SUM 0",
               "MPI_Win_complete 0", "MPI_Win_wait 0", "MPI_Win_lock 1 {other} 0 0", "MPI_Fetch_and_op 4 {other} 0 SUM 0", "MPI_Win_flush_all 0",
               "MPI_Win_unlock {other} 0", "MPI_Win_free 0")), "compute 100000", "finalize"]

OF_GROUPS = ("MPI_Win_post 1 {even} 0 0", "MPI_Win_start 1 {even} 0 0", "MPI_Accumulate 100 4 {other} 0 100 4 SUM 0", "MPI_Win_complete 0",
             "MPI_Win_wait 0")


def part_otf2(test):
    """An archive with Score-P's records: the time of the same calls as lines. Archives that cannot be replayed say so."""
    def lines(groups):
        text = "# parfocal-replay 1 ranks 4\n"
        for r in range(4):
            for line in ARCHIVE:
                if line.startswith("?") and int(line[1]) != r or line[3:] in OF_GROUPS and not groups:
                    continue
                text += f"{r} " + line[3 if line[0] == "?" else 0:].format(
                    next=(r + 1) % 4, before=(r - 1) % 4, half=1 + r % 2, half0=r % 2, half1=2 + r % 2, comm=3 + r % 2, other=1 - r // 2, even=2 - r) + "\n"
        return test.write("lines", text)
    # SMPI takes no accumulation between MPI_Win_start and MPI_Win_complete.
    for archive, models in (("archive", FINE), ("groups", FINE[1:3])):
        test.run([test.archive, archive, "run", archive])
        own = lines(archive == "groups")
        for model in (["-model", m] for m in models):
            for more in (LAB, []):
                _, output, expected = test.ours(own, more + model)
                status, said, time = test.ours(archive + "/run.otf2", more + model)
                if expected is None or time != expected:
                    test.fail(f"otf2 {archive} {model} {more}", f"lines {expected}, archive {time}, status {status}\n{output}{said}")
    for fault, says in (("window", "rank 0, in no MPI function: its window has no definition"), ("open", "rank 0: 1 messages are never completed"),
                        ("regions", "no records of messages")):
        test.run([test.archive, fault, "run", fault])
        status, output, _ = test.ours(fault + "/run.otf2")
        if status == 0 or says not in output:
            test.fail(f"otf2 {fault}", f"status {status}, expected '{says}'\n{output}")
    # Our own archives hold the recording: any call, and the time of the program where it does not depend on timing.
    program = test.tools.build(os.path.join(HERE, "calls.c"), "pfcc")
    for kinds in (TIMELESS, ["all"]):
        plain = os.path.join(test.work, "plain.replay")
        run = ["-hostfile", harness.HOSTFILE, *LAB, "-np", "4", "-model", "analytic"]
        status, output, recorded = test.pfrun([*run, "-trace", "replay:" + plain, program, *kinds])
        status, output, traced = test.pfrun([*run, "-trace", "otf2:own.otf2", program, *kinds])
        test.pfrun(["-hostfile", harness.HOSTFILE, *LAB, "-model", "analytic", "-replay", "own.otf2", "-trace", "replay:again.replay"])
        if words(plain) != words(os.path.join(test.work, "again.replay")) or recorded != traced:
            test.fail(f"own archive of {kinds}: the recording, {recorded} {traced}", output)
        for model in FINE:
            _, output, expected = test.pfrun([*run[:-1], model, program, *kinds])
            status, said, time = test.ours("own.otf2", LAB + ["-model", model])
            if status or (time != expected and (kinds == TIMELESS or model == "analytic")):
                test.fail(f"own archive of {kinds} in {model}", f"program {expected}, archive {time}, status {status}\n{output}{said}")
    test.write("not.otf2", "x")
    status, output, _ = test.ours("not.otf2")
    if status == 0 or "no archive of OTF2" not in output:
        test.fail("not an archive", output)


GOAL = """/* a schedule,
   with comments */ num_ranks 2
// one
rank 1 {
r1: recv 1000b from 0 tag 5
r2: send 10b to 0 tag 6 cpu 1 nic 0
r2 requires r1
}
rank 0 {
  l4: calc 70000
  l1: calc 100000 cpu 0
  l2: send 1000b to 1 tag 5 cpu 0 nic 0
  l3: recv 10b from 1 tag 6
  l2 requires l1
  l3 irequires l2
  l4 requires l3
  calc 30000
}
"""
GOAL_LINES = """# parfocal-replay 1 ranks 2
0 init
0 compute 100000
0 isend 1 5 1000 6 req=2
0 irecv 1 6 10 6 req=3
0 compute 30000
0 waitall 1 3
0 compute 70000
0 waitall 1 2
0 finalize
1 init
1 irecv 0 5 1000 6 req=0
1 waitall 1 0
1 isend 0 6 10 6 req=1
1 waitall 1 1
1 finalize
"""
GOAL_BROKEN = [  # what is replaced, by what, what must be said
    ("rank 0 {", "rank 1 {", "a rank comes twice"), ("rank 0 {", "rank 7 {", "not so many ranks"), ("r2 requires r1", "r2 requires r9", "line 7: rank 1: a label is required"),
    ("r1: recv", "r1: get", "line 5: rank 1: there are send, recv and calc"), ("1000b from", "1000 from", "ends in b"), ("r2 requires r1", "r2 requires r1\nr1 requires r2", "in a circle"),
    ("from 0 tag 5", "from 3 tag 5", "the other rank is not there"), ("  calc 30000\n}\n", "", "the file ends before the rank does"), ("num_ranks 2", "num_ranks 3", "rank 2 of 3 is missing"),
    ("l4: calc 70000", "l1: calc 70000", "two operations have one label"), ("tag 6 cpu 1", "tag x cpu 1", "the tag must be a number")]


def part_goal(test):
    """A schedule has the time of the calls that stand for it; what is wrong with one is said."""
    schedule, lines = test.write("schedule.goal", GOAL), test.write("lines", GOAL_LINES)
    for model in FINE:
        _, output, expected = test.ours(lines, ["-model", model])
        status, said, time = test.ours(schedule, ["-model", model])
        if expected is None or time != expected:
            test.fail(f"goal {model}", f"lines {expected}, schedule {time}, status {status}\n{output}{said}")
    for old, new, says in GOAL_BROKEN:
        assert old in GOAL
        status, output, _ = test.ours(test.write("broken.goal", GOAL.replace(old, new)), ["-model", "analytic"])
        if status == 0 or says not in output:
            test.fail(f"goal: {new}", f"status {status}, expected '{says}'\n{output}")


def part_dumpi(test):
    """Files of dumpi2ascii have the time of the calls that stand for them; what is wrong with one is said."""
    made = [dumpi_trace.trace(rank) for rank in range(4)]
    names = [test.write(f"dumpi-{rank:04}.txt", text) for rank, (text, _) in enumerate(made)]
    listed = test.write("dumpi.list", "# of dumpi2ascii -a\n" + "".join(os.path.basename(name) + "\n" for name in names))
    lines = test.write("lines", "# parfocal-replay 1 ranks 4\n" + "".join(line for _, own in made for line in own))
    for model in FINE:
        for more in (LAB, []):
            _, output, expected = test.ours(lines, [*more, "-model", model])
            status, said, time = test.ours(listed, [*more, "-model", model])
            if expected is None or time != expected:
                test.fail(f"dumpi {model} {more}", f"lines {expected}, dumpi {time}, status {status}\n{output}{said}")
    for old, new, says in dumpi_trace.BROKEN:
        assert old in made[0][0], old
        test.write("dumpi-0000.txt", made[0][0].replace(old, new))
        status, output, _ = test.ours(listed, ["-model", "analytic"])
        errors = [line for line in output.splitlines() if line.startswith("parfocal: error:")]
        if status == 0 or len(errors) != 1 or says not in errors[0] or "dumpi-0000.txt: line " not in errors[0]:
            test.fail(f"dumpi: {new}", f"status {status}, expected '{says}'\n{output}")
    # Cut off anywhere; no rank alone, as dumpi2ascii's manual prints it.
    for size in range(0, len(made[0][0]), 997):
        test.write("dumpi-0000.txt", made[0][0][:size])
        status, output, _ = test.ours(listed, ["-model", "analytic"])
        whole = size > made[0][0].index("MPI_Finalize returning") + 100
        if (status == 0) != whole or (status and output.count("parfocal: error:") != 1):
            test.fail(f"dumpi: {size} bytes of it", output)
    os.unlink(os.path.join(test.work, "dumpi-0000.txt"))
    status, output, _ = test.ours(listed)
    if status == 0 or "cannot read" not in output:
        test.fail("dumpi: a file is missing", output)
    status, output, time = test.ours(test.write("alone", dumpi_trace.ALONE))
    if status or time is None:
        test.fail("dumpi: a file of one rank", output)


def random_trace(chance, np, numbered):
    """What random pairs of ranks send each other, all in one order, so that nothing waits for ever; with requests by number or by their ends."""
    lines = [["init"] for _ in range(np)]
    pending = [[] for _ in range(np)]
    size = {0: 8, 1: 4, 2: 1, 6: 1}
    for tag in range(chance.randrange(40, 120)):
        kind = chance.randrange(10)
        r, count, datatype = chance.randrange(np), chance.choice((1, 8, 1000, 9000, 70000, 500000)), chance.choice(list(size))
        if kind < 6 and np > 1:
            to = chance.choice([i for i in range(np) if i != r])
            for rank, word, partner in ((r, chance.choice(("send", "isend")), to), (to, chance.choice(("recv", "irecv")), r)):
                if kind == 5 and word[0] == "i":
                    lines[rank].append(f"compute {chance.randrange(1, 100000)}")
                number = len(lines[rank])
                lines[rank].append(f"{word} {partner} {tag} {count} {datatype}" + (f" req={number}" if numbered and word[0] == "i" else ""))
                if word[0] == "i":
                    pending[rank].append((f"{partner} {rank} {tag}" if word == "irecv" else f"{rank} {partner} {tag}", number))
        elif kind == 6:
            lines[r].append(f"compute {chance.choice((1, 5, 100, 12345.5, 1e5, 3e6))}")
        elif kind == 7 and pending[r]:
            ends, number = pending[r].pop(chance.randrange(len(pending[r])))
            lines[r].append(f"wait {ends}" + (f" req={number}" if numbered else ""))
        elif kind == 8 and pending[r]:
            lines[r].append("waitall " + " ".join(str(n) for n in (len(pending[r]), *(number for _, number in pending[r]))))
            pending[r].clear()
        else:
            root = chance.randrange(np)
            line = chance.choice((
                "barrier", f"bcast {count} {root} {datatype}", f"allreduce {count} {chance.choice((0, 2e5))} 0", f"reduce {count} 1000 {root} 1",
                f"alltoall {count // 8} {count // 8} 6 6", f"allgather {count // 8} {count // 8} 1 1", f"gather {count // 8} {count // 8} {root} 2 2",
                f"scatter {count // 8} {count // 8} {root} 0 0", f"scan {count} 0 0"))
            if not any(pending):
                for each in lines:
                    each.append(line)
            else:
                for rank, each in enumerate(lines):
                    each.append(f"sendRecv {count} {(rank + 1) % np} {count} {(rank - 1) % np} {datatype} {datatype}")
    text = f"# parfocal-replay 1 ranks {np}\n" if numbered else ""
    for rank, each in enumerate(lines):
        if numbered and pending[rank]:
            each.append("waitall " + " ".join(str(n) for n in (len(pending[rank]), *(number for _, number in pending[rank]))))
        text += "".join(f"{rank} {line}\n" for line in [*each, "finalize"])
    return text


def random_goal(chance, np):
    """A schedule of messages between random ranks, in which what comes later requires some of what came before."""
    blocks = [[] for _ in range(np)]

    def add(rank, operation):
        label = f"l{len(blocks[rank])}"
        need = [f"{label} {chance.choice(('requires', 'requires', 'irequires'))} {chance.choice(blocks[rank])[0]}"
                for _ in range(chance.randrange(3)) if blocks[rank]]
        blocks[rank].append((label, operation, sorted(set(need))))
    for tag in range(chance.randrange(40, 200)):
        r, to, size = chance.randrange(np), chance.randrange(np), chance.choice((0, 8, 1000, 65000, 400000))
        if chance.randrange(4) == 0 or r == to:
            add(r, f"calc {chance.randrange(0, 50000)}")
        else:
            add(r, f"send {size}b to {to} tag {tag}")
            add(to, f"recv {size}b from {chance.choice((r, r, r, -1))} tag {tag}")
    text = f"num_ranks {np}\n"
    for rank, block in enumerate(blocks):
        text += f"rank {rank} {{\n" + "".join(f"{label}: {operation}\n" for label, operation, _ in block)
        text += "".join(line + "\n" for _, _, need in block for line in need) + "}\n"
    return text


def part_alone(test, seed=None, cases=40):
    """The replay without ranks has the times and the messages of the one with ranks, to the last digit, and says when it needs them."""
    seed = int(os.environ.get("REPLAY_SEED", "0")) or seed or random.randrange(1, 1 << 30)
    print(f"seed {seed} (REPLAY_SEED)", flush=True)
    chance = random.Random(seed)
    summary = os.path.join(test.work, "summary.json")

    def both(name, trace, options, alone):
        """`alone`: whether it can be played without ranks."""
        results, saw = [], ""
        for way in ("yes", "no"):
            environment = dict(os.environ, PARFOCAL_REPLAY_RANKS=way)
            if os.path.exists(summary):
                os.unlink(summary)
            done = subprocess.run([os.path.join(test.bin, "pfrun"), "-platform", harness.PLATFORM, "-hostfile", harness.HOSTFILE, "-report", test.work,
                                   *options, "-replay", trace], capture_output=True, text=True, cwd=test.work, timeout=LIMIT, env=environment, errors="replace")
            saw = done.stderr
            result = [done.returncode]
            if done.returncode == 0:
                with open(summary, encoding="utf-8") as f:
                    text = json.load(f)
                result += [repr(text["simulated_s"])] + [[row[k] for k in ("simulated_s", "messages", "bytes")] for row in text["phases"]]
            else:
                result += sorted(set(re.findall("parfocal: error: .*", done.stderr)))
            results.append(result)
        if results[0] != results[1]:
            test.fail(f"{name} {options}", f"with ranks {results[0]}\nwithout    {results[1]}\n{saw}")
        with_ranks = "ranks play the trace" in saw
        if with_ranks == alone:
            test.fail(f"{name} {options}: {'' if with_ranks else 'not '}with ranks", saw)
        return saw

    machine = ["-model", "analytic"]
    computing = [*machine, "--cfg=smpi/simulate-computation:yes"]
    for name, lines in ACTIONS.items():
        path = test.write(name + ".txt", ranks(4, lines))
        for options in (machine + LAB, computing):
            both(name, path, options, name not in ("test", "other", "compute"))
    both("goal", test.write("schedule.goal", GOAL), computing, True)
    both("deadlock", test.write("stuck", ranks(2, ["recv {next} 1 10 6"])), machine, False)
    both("truncated", test.write("short", "0 init\n0 send 1 1 100 6\n0 finalize\n1 init\n1 recv 0 1 10 6\n1 finalize\n"), machine, False)
    for name, calls in (("dumpi", dumpi_trace.CALLS), ("plain", dumpi_trace.PLAIN)):
        files = [test.write(f"{name}-{rank:04}.txt", dumpi_trace.trace(rank, calls=calls)[0]) for rank in range(4)]
        both(name, test.write(name + ".list", "".join(os.path.basename(file) + "\n" for file in files)), computing, name == "plain")
    ways = ["", "contention = none", "contention = nic", "protocol = rendezvous"]
    for case in range(cases):
        np = chance.choice((1, 2, 3, 5, 8, 16))
        more = [f"--cfg=smpi/host-speed:{chance.choice((1, 3))}Gf"] + (LAB if chance.randrange(4) == 0 else [])
        way = chance.choice(ways)
        text = random_goal(chance, np) if case % 3 == 0 else random_trace(chance, np, case % 3 == 1)
        os.environ["PARFOCAL_ANALYTIC_SET"] = way
        both(f"case {case} of seed {seed}, {way}", test.write(f"random-{case}", text), computing + more, True)
    del os.environ["PARFOCAL_ANALYTIC_SET"]

def damage(lines, chance):
    """One to three faults in a trace."""
    lines = list(lines)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(lines))
        found = lines[at].split(" ")
        word = chance.randrange(len(found))
        kind = chance.choice(("drop", "twice", "cut", "number", "word", "letter", "swap", "end"))
        if kind == "drop":
            del lines[at]
        elif kind == "twice":
            lines.insert(at, lines[at])
        elif kind == "cut":
            lines[at] = lines[at][:chance.randrange(len(lines[at]) + 1)]
        elif kind == "number":
            found[word] = chance.choice(("-1", "0", "7", "99999999999", "2147483647", "-555", "1e9", "x", "*3", "*-1", "1.5"))
            lines[at] = " ".join(found)
        elif kind == "word":
            del found[word]
            lines[at] = " ".join(found)
        elif kind == "letter":
            lines[at] = lines[at][:word] + chr(chance.randrange(1, 256)) + lines[at][word + 1:]
        elif kind == "swap":
            other = chance.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        else:
            del lines[at + 1:]
        if not lines:
            return [""]
    return lines


def part_fuzz(test, seed=None, cases=60):
    """Damaged traces end: well, or with a line that says what is wrong. Never by a signal, never not at all."""
    seed = int(os.environ.get("REPLAY_SEED", "0")) or seed or 1
    print(f"seed {seed} (REPLAY_SEED)", flush=True)
    chance = random.Random(seed)
    program = test.tools.build(os.path.join(HERE, "calls.c"), "pfcc")
    recording = os.path.join(test.work, "whole")
    status, output, _ = test.pfrun(["-hostfile", harness.HOSTFILE, *LAB, "-np", "4", "-trace", "replay:" + recording, program, "all"])
    with open(recording, encoding="utf-8") as f:
        whole = f.read().splitlines()
    traces = [whole, [line for name in sorted(ACTIONS) for line in ranks(4, ACTIONS[name]).splitlines()
                      if " init" not in line and " finalize" not in line]]
    ends = {}
    for case in range(cases):
        path = os.path.join(test.work, "damaged")
        with open(path, "w", encoding="latin-1") as f:
            f.write("\n".join(damage(traces[case % 2], chance)) + "\n")
        try:
            status, output, _ = test.ours(path, LAB + ["-model", "analytic"])
        except subprocess.TimeoutExpired:
            test.fail(f"case {case} of seed {seed} hangs")
            continue
        ends[status] = ends.get(status, 0) + 1
        if status not in (0, 1) or (status == 1 and "parfocal: error: " not in output):
            with open(path, encoding="latin-1") as f:
                test.fail(f"case {case} of seed {seed}: status {status}", output[-600:])
    print("status: cases", ends)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=os.path.join(harness.ROOT, "build", "bin"))
    parser.add_argument("--archive", help="the program that writes an archive of OTF2 (archive.c)")
    parser.add_argument("parts", nargs="*")
    arguments = parser.parse_args()
    parts = {name[len("part_"):]: f for name, f in globals().items() if name.startswith("part_")}
    with tempfile.TemporaryDirectory() as work:
        test = Test(arguments.bin, work)
        test.archive = arguments.archive and os.path.abspath(arguments.archive)
        for part in arguments.parts or [p for p in parts if p != "otf2" or test.archive]:
            parts[part](test)
    return 1 if test.failed else 0


if __name__ == "__main__":
    sys.exit(main())
