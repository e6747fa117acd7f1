#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How many actions per second of processor time pfrun -replay plays: a ring that sends both ways, with reductions.

Usage: replay.py [--bin DIRECTORY] [--ranks N,...] [--actions MILLIONS] [--model MODEL] [--repetitions N] [--compute]
       replay.py --goal RING|ALL[,RANKS[,ROUNDS]] [--repetitions N]
The start of the job is measured with a trace of one round, and taken away. Prints the best run of each.
With --goal: a GOAL schedule of a ring or of all with all in model analytic, without ranks, with them, and the same messages in stock
smpirun -replay if that is there; whole runs, what it takes to read the schedule, and the ratios.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def write(path, ranks, rounds):
    """Returns the number of actions."""
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"# parfocal-replay 1 ranks {ranks}\n")
        for r in range(ranks):
            after, before = (r + 1) % ranks, (r - 1) % ranks
            one = (f"{r} irecv {before} 1 1000 6 req=0\n{r} irecv {after} 2 1000 6 req=1\n{r} isend {after} 1 1000 6 req=2\n"
                   f"{r} isend {before} 2 1000 6 req=3\n{r} compute 10000\n{r} waitall 4 0 1 2 3\n")
            twenty = one * 20 + f"{r} allreduce 1 0 0 op=SUM\n"
            f.write(f"{r} init\n" + twenty * (rounds // 20) + one * (rounds % 20) + f"{r} finalize\n")
    return ranks * (rounds * 6 + rounds // 20 + 2)


def processor_time(command, check=True):
    """Seconds of the command and of all that it has started, and MiB of the largest of these processes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=None if check else subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if check and process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def write_schedule(goal_file, actions_file, kind, ranks, rounds):
    """GOAL, and the same as SMPI's actions: each round requires the message of the one before. Returns the number of messages."""
    messages = 0
    goal_file.write(f"num_ranks {ranks}\n")
    for r in range(ranks):
        goal, actions = [], []
        after, before = (r + 1) % ranks, (r - 1) % ranks
        peers = [(after, before)] * rounds if kind == "ring" else [((r + i) % ranks, (r - i) % ranks) for i in range(1, ranks)] * rounds
        goal.append(f"rank {r} {{")
        actions.append(f"{r} init")
        for i, (to, source) in enumerate(peers):
            goal += [f"s{i}: send 8b to {to} tag 1", f"r{i}: recv 8b from {source} tag 1"]
            actions += [f"{r} irecv {source} 1 8 6", f"{r} isend {to} 1 8 6"]
            if kind == "ring" and i:
                goal.append(f"s{i} requires r{i - 1}")
            if kind == "ring":
                actions.append(f"{r} wait {source} {r} 1")
        goal.append("}")
        actions += [f"{r} waitall", f"{r} finalize"]
        messages += len(peers)
        goal_file.write("\n".join(goal) + "\n")
        actions_file.write("\n".join(actions) + "\n")
    return messages


def compare(arguments):
    kind, ranks, rounds = (arguments.goal.lower().split(",") + ["1024", "200" if arguments.goal.lower().startswith("ring") else "1"])[:3]
    with tempfile.TemporaryDirectory() as work:
        paths = [os.path.join(work, name) for name in ("goal", "actions", "list")]
        with open(paths[0], "w", encoding="utf-8") as goal, open(paths[1], "w", encoding="utf-8") as actions, \
                open(paths[2], "w", encoding="utf-8") as listed:
            messages = write_schedule(goal, actions, kind, int(ranks), int(rounds))
            listed.write(paths[1] + "\n")
        pfrun = [os.path.join(arguments.bin, "pfrun"), "-quiet", "-model", "analytic", "-replay", paths[0]]
        platform = os.path.join(work, "platform.xml")
        with open(platform, "w", encoding="utf-8") as f:
            f.write('<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1"><cluster id="c" prefix="n" '
                    f'suffix="" radical="0-{int(ranks) - 1}" speed="1Gf" bw="12.5GBps" lat="500ns"/></platform>')
        # A setting that SimGrid does not know ends the run when the trace has been read.
        ways = {"without ranks": pfrun, "reading": [*pfrun, "--cfg=nosuch:1"], "with ranks": ["env", "PARFOCAL_REPLAY_RANKS=yes", *pfrun],
                "by LogGOPSim's rules": ["env", "PARFOCAL_REPLAY_LOGGOPS=L=2500,o=1500,g=1000,G=6,O=0,S=65535", *pfrun]}
        if shutil.which("smpirun"):
            ways["stock SMPI"] = ["smpirun", "-np", ranks, "-platform", platform, "-replay", paths[2], "--log=root.thres:critical"]
        best = {}
        for name, command in ways.items():
            runs = [processor_time(command, name != "reading") for _ in range(arguments.repetitions)]
            best[name] = min(runs)
            print(f"{kind}, {ranks} ranks, {messages} messages, {name}: {best[name][0]:.2f} s, {best[name][0] / messages * 1e6:.2f} us and "
                  f"{best[name][1] * 1048576 / messages:.0f} B a message, {best[name][1]:.0f} MiB; x {best[name][0] / best['without ranks'][0]:.2f}", flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=os.path.join(HERE, "..", "..", "build", "bin"))
    parser.add_argument("--ranks", default="16,1024")
    parser.add_argument("--actions", type=float, default=4)
    parser.add_argument("--model", default="analytic")
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--compute", action="store_true")
    parser.add_argument("--goal")
    arguments = parser.parse_args()
    if arguments.goal:
        return compare(arguments)
    with tempfile.TemporaryDirectory() as work:
        for ranks in map(int, arguments.ranks.split(",")):
            trace = os.path.join(work, "trace")
            command = [os.path.join(arguments.bin, "pfrun"), "-quiet", "-model", arguments.model, "-replay", trace,
                       f"--cfg=smpi/simulate-computation:{'yes' if arguments.compute else 'no'}"]
            few = write(trace, ranks, 1)
            start = min(processor_time(command)[0] for _ in range(arguments.repetitions))
            actions = write(trace, ranks, max(2, int(arguments.actions * 1e6 / 6 / ranks))) - few
            runs = [processor_time(command) for _ in range(arguments.repetitions)]
            best = min(time for time, _ in runs) - start
            print(f"{ranks} ranks, {arguments.model}: {actions} actions in {best:.2f} s: {actions / max(best, 1e-3) / 1e6:.2f} million per second; "
                  f"start {start:.2f} s; {runs[0][1]:.0f} MiB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
