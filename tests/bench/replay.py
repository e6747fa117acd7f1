#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How many actions per second of processor time pfrun -replay plays: a ring that sends both ways, with reductions.

Usage: replay.py [--bin DIRECTORY] [--ranks N,...] [--actions MILLIONS] [--model MODEL] [--repetitions N] [--compute]
The start of the job is measured with a trace of one round, and taken away. Prints the best run of each.
"""
import argparse
import os
import resource
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


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=3600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=os.path.join(HERE, "..", "..", "build", "bin"))
    parser.add_argument("--ranks", default="16,1024")
    parser.add_argument("--actions", type=float, default=4)
    parser.add_argument("--model", default="analytic")
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--compute", action="store_true")
    arguments = parser.parse_args()
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
