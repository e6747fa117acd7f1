#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How the cost of a simulation grows with the number of each thing that a program may have many of: processor time for growing
numbers, the exponent between the last two, and memory for each thing on each rank, for each model. What exceeds the time given is
left out and says so; where time grows faster than n log n, the reason stands behind it."""
import argparse
import math
import os
import re
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ["in-flight", "pending", "unexpected", "unexpected-any", "communicators", "windows", "types", "blocks", "puts", "swaps", "phases", "items",
         "ranks", "splits", "pairs", "crowded"]
QUICK = [("pending", "analytic", [4000, 40000]), ("unexpected", "analytic", [4000, 40000]), ("swaps", "analytic", [2000, 20000]),
         ("unexpected", "portals", [4000, 40000]), ("pending", "portals", [1000, 10000]), ("communicators", "portals", [110, 1100]), ("windows", "portals", [110, 1100]),
         ("items", "analytic", [5000, 50000]), ("windows", "analytic", [100, 1000]),
         ("crowded", "portals", [16384, 65536]), ("crowded", "smpi", [4096, 16384])]
QUICK_BYTES = {("windows", "analytic"): 5000}
MOST_RANKS = {"portals": 1000, "packet": 1000}  # of others 10,000: each has an Open MPI of more than a megabyte
FLOOR = 0.01  # s: below that, the exponent says nothing
TRIES = 4  # of the quick cases
STEEP = 1.25  # n log n from 1,000 to 10,000 is 1.12, and other programs run meanwhile
LISTS = "SMPI looks for these in lists, under smpirun too"
CACHES = "leaves the caches: a message touches a stack, a mailbox and a NIC of both ranks"
REASONS = {("in-flight", "smpi"): LISTS, ("pending", "smpi"): LISTS, ("unexpected", "smpi"): LISTS, ("unexpected-any", "smpi"): LISTS,
           ("communicators", "smpi"): LISTS, ("windows", "smpi"): LISTS, ("splits", "smpi"): LISTS, ("puts", "smpi"): LISTS, ("crowded", "smpi"): CACHES, ("swaps", "smpi"): LISTS,
           ("ranks", "portals"): "the dynamic linker compares the name of each rank's library with all", ("ranks", "smpi"): CACHES,
           ("pairs", "smpi"): CACHES, ("pairs", "analytic"): CACHES, ("pairs", "portals"): CACHES,
           ("unexpected", "analytic"): CACHES, ("ranks", "analytic"): CACHES, ("splits", "analytic"): CACHES,
           ("splits", "portals"): "the Open MPI of each rank sorts the colors and keys of all"}


def command_of(options, program, kind, model, n):
    ranks = {"ranks": n, "splits": n, "pairs": math.isqrt(n), "crowded": math.isqrt(n)}.get(kind, 2)
    command = [os.path.join(options.bin, "pfrun"), "-np", str(ranks), "-quiet", "-model", model, "--cfg=smpi/simulate-computation:no"]
    if kind == "items":
        with open("schedule", "w", encoding="utf-8") as f:
            f.write(",".join(f"p{i}={model}" for i in range(n)))
        command += ["-schedule", "schedule"]
    return command + [program, "phases" if kind == "items" else kind, str(n)]


def measure(options, program, kind, model, n):
    """Seconds and bytes, or why there are none."""
    if kind in ("ranks", "splits") and n > MOST_RANKS.get(model, 10000):
        return "too many ranks for this machine"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command_of(options, program, kind, model, n), capture_output=True, text=True, timeout=options.limit, check=False)
    except subprocess.TimeoutExpired:
        return f"more than {options.limit:g} s"
    found = re.search(r"([\d.]+) s processor, (-?\d+) B each", done.stdout)
    if found and done.returncode == 0:
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        # A schedule is read before the program begins, and reported on behind its end.
        return whole if kind == "items" else float(found[1]), int(found[2])
    return (done.stderr.strip().splitlines() or ["fails"])[0][:90]


def wrong(options, program, kind, model, numbers):
    """Whether a row is wrong each time: what else the machine does makes one steep by chance, and never a steep one even."""
    return all(row(options, program, kind, model, numbers) for _ in range(TRIES))


def row(options, program, kind, model, numbers):
    """Prints it; whether something is wrong with it: it fails, or is steep or large."""
    got = []
    for n in numbers:
        got.append(measure(options, program, kind, model, n))
        if isinstance(got[-1], str):
            break
    times = [g[0] for g in got if not isinstance(g, str)]
    exponent = math.log(max(times[-1], FLOOR) / max(times[-2], FLOOR)) / math.log(numbers[len(times) - 1] / numbers[len(times) - 2]) if len(times) > 1 else None
    each = got[len(times) - 1][1] if times else None
    cells = "".join(f"{t:11.4f}s" for t in times) + " " * 12 * (len(numbers) - len(times))
    notes = [g for g in got if isinstance(g, str)]
    if (exponent or 0) > STEEP:
        notes.append(REASONS.get((kind, model), "STEEP"))
    print(f"{kind:16}{model:10}{cells}{'' if exponent is None else f'{exponent:.2f}':>10}{'' if each is None else f'{each} B':>10}  {'; '.join(notes)}".rstrip(), flush=True)
    return len(times) < len(numbers) or (exponent or 0) > 1.6 or each > QUICK_BYTES.get((kind, model), math.inf)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="where pfcc and pfrun are")
    parser.add_argument("--models", default="analytic,smpi,portals")
    parser.add_argument("--numbers", default="10,100,1000,10000,100000")
    parser.add_argument("--limit", type=float, default=60, help="seconds of a run")
    parser.add_argument("--quick", action="store_true", help="a few that were quadratic or large, or failed: an error where one is again")
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    numbers = [int(n) for n in options.numbers.split(",")]
    cases = QUICK if options.quick else [(k, m, numbers) for k in options.kinds or KINDS for m in options.models.split(",")]
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        program = os.path.join(work, "growth")
        subprocess.run([os.path.join(options.bin, "pfcc"), "-O2", "-w", "-I" + HERE, os.path.join(HERE, "growth.c"), "-o", program], check=True)
        print(f"{'':16}{'model':10}" + "".join(f"{n:>12}" for n in numbers * (not options.quick)) + "  exponent    memory")
        bad = [(wrong if options.quick else row)(options, program, *case) for case in cases]
    return 1 if options.quick and any(bad) else 0


if __name__ == "__main__":
    sys.exit(main())
