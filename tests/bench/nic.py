#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what the simulated NIC costs per message, and SMPI's own ping-pong on the same machine.

Every repetition runs every workload once, in turn; the table shows the best of them, because whatever else the machine does
only adds. A simulation is one thread: the figure is messages per second of its processor time, which on an idle machine
is the wall-clock time (printed too). The goals decide nothing: no test depends on them.
"""
import argparse
import os
import subprocess
import sys
import tempfile

from run import BASELINE, ROOT, Bench

# Workloads of tests/e2e/portals/bench.c, with what one wants at least, in messages per second.
GOALS = {
    "put ping-pong, 8 B": 600e3,
    "put ping-pong, 1 MiB": None,
    "Put-WaitAck, 8 B": 400e3,
    "Put-NoWait, 8 B, 1,000 in flight": 800e3,
    "Put-NoWait, 8 B, 10,000 in flight": 800e3,
    "Put-NoWait, 8 B, 30,000 in flight": 800e3,
    "Put-NoWait, 8 B, 100,000 in flight": 800e3,
    "Put-NoWait, 1 MiB": 100e3,
    "Put-NoWait, 1 MiB, no payload copies": 100e3,
    "ring of 256, put + ack, 8 B": 200e3,
    "ring of 256, put + ack, 1 MiB": None,
    "ring of 256, put + ack, 1 MiB, no payload copies": None,
}
MEMORY_GOAL = 64 * 1024  # kB, of the rings
SMPI = "MPI ping-pong, 8 B, SMPI (stock smpirun)"
OPENMPI = "MPI ping-pong, 8 B, Open MPI on the NIC (portals)"
FASTER_THAN_SMPI = 5


def run_portals(program, name, count):
    """One workload: messages, wall-clock and processor seconds, simulated seconds per round, peak kB."""
    command = [program, name] + ([str(count)] if count else [])
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if not done.stdout.startswith("BENCH "):
        sys.exit(f"nic: {' '.join(command)}: {done.stdout}{done.stderr}")
    messages, wall, processor, simulated, peak = done.stdout.rpartition(": ")[2].split()
    return {"rate": float(messages) / float(processor), "wall": float(messages) / float(wall),
            "simulated": float(simulated), "peak": int(peak)}


def run_mpi(bench, competitor, rounds):
    figures = bench.once(competitor, "tests/bench/pingpong.c", 2, [str(rounds), "8"])
    return {"rate": 1 / figures["message, blocking"], "wall": 4 * rounds / figures["wall s"]}


def best(runs):
    return max(runs, key=lambda run: run["rate"])


def row(name, figures, goal):
    ratio = f"{figures['rate'] / goal:6.2f}" if goal else f"{'-':>6}"
    wanted = f"{goal / 1e3:8.0f}" if goal else f"{'-':>8}"
    simulated = f"{figures['simulated'] * 1e6:12.4f}" if "simulated" in figures else f"{'-':>12}"
    peak = f"{figures['peak'] / 1024:6.1f}" if "peak" in figures else f"{'-':>6}"
    print(f"{name:50}{figures['rate'] / 1e3:9.0f}{wanted}{ratio}{figures['wall'] / 1e3:9.0f}{simulated}{peak}")


def show(results):
    print(f"{'':50}{'messages per second, in thousands':>32}{'simulated':>12}{'peak':>6}")
    print(f"{'workload':50}{'figure':>9}{'goal':>8}{'ratio':>6}{'wall':>9}{'us':>12}{'MB':>6}")
    for name, figures in results.items():
        row(name, figures, GOALS.get(name))
    if SMPI in results:
        ratio = results["put ping-pong, 8 B"]["rate"] / results[SMPI]["rate"]
        print(f"\nput ping-pong to SMPI's: {ratio:.2f} times as many messages (goal: {FASTER_THAN_SMPI})")
        print(f"Open MPI's ping-pong to SMPI's: {results[OPENMPI]['rate'] / results[SMPI]['rate']:.2f}")
    worst = max(figures.get("peak", 0) for figures in results.values())
    print(f"largest memory: {worst / 1024:.1f} MB (goal for 256 nodes: {MEMORY_GOAL / 1024:.0f} MB)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="build directory")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="few messages, to see whether everything runs")
    parser.add_argument("--no-mpi", action="store_true", help="without the two ping-pongs of MPI programs")
    options = parser.parse_args()
    program = os.path.join(options.build, "tests", "e2e", "portals", "portals-bench")
    runs = {}
    with tempfile.TemporaryDirectory(prefix="pf-bench-") as work:
        bench = None if options.no_mpi else Bench(os.path.abspath(os.path.join(options.build, "bin")), work)
        for _ in range(options.repetitions):
            for name in GOALS:
                runs.setdefault(name, []).append(run_portals(program, name, 5 if options.quick else 0))
            for name, competitor in ((SMPI, BASELINE), (OPENMPI, "portals")) if bench else ():
                runs.setdefault(name, []).append(run_mpi(bench, competitor, 500 if options.quick else 20000))
    print(f"best of {options.repetitions} interleaved runs")
    results = {name: best(all_runs) for name, all_runs in runs.items()}
    show(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
