#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One program, one machine, three MPI libraries: Open MPI over Portals, Open MPI over UCX, MPICH over UCX. Which is faster, and why?

Ping-pong, allreduce, all-to-all and a halo exchange of several sizes (stacks.c), and examples/cg. Writes DIR/stacks.csv and prints a table: the time of
a step, its messages by UCX's protocols, and how much of it the critical path spends in software (copies, registrations). A library that sends other
messages has another algorithm; with the same messages the difference is protocol. Computation takes no simulated time, so that figures do not vary.
"""
import datetime
import json
import os
import re
import shlex
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import study  # noqa: E402 (experiments/study.py)

STACKS = ["portals", "ucx", "mpich"]
SIZES = {"pingpong": [8, 4096, 65536, 1048576], "allreduce": [8, 4096, 65536, 1048576], "alltoall": [8, 4096, 65536], "halo": [4096, 65536, 1048576]}
SECONDS = re.compile(r"^seconds (\S+)|took (\S+) s in solve", re.M)
FIRST, STEPS = 2, 10  # in an odd number of steps ranks may end out of step by the skew with which they began
PROTOCOLS = ["short", "bcopy", "zcopy", "rndv"]
COLUMNS = ["operation", "bytes", "model", "us", "software_us", "messages", *PROTOCOLS]


def simulate(options, programs, folder, operation, size, model, steps):
    """What the program prints, and the summary of the run."""
    arguments = ["-n", "32"] if operation == "cg" else [operation, str(size), str(steps)]
    text = study.output([f"{options.bin}/pfrun", "-np", str(options.np), "-machine", options.machine, "-model", model, "-quiet", "-explain", "-report",
                         folder, "--cfg=smpi/simulate-computation:no", "--log=root.thres:critical", programs[operation == "cg"], *arguments])
    with open(f"{folder}/summary.json", encoding="utf-8") as file:
        return text, json.load(file)


def sends(summary):
    """Messages by protocol; over Portals there is one."""
    return {key: summary["ucx"][key] for key in PROTOCOLS} if "ucx" in summary else {"messages": summary["portals"]["messages"]}


def run(options, programs, folder, operation, size, model):
    text, summary = simulate(options, programs, folder, operation, size, model, FIRST + STEPS)
    steps, before = 1, {}
    if operation != "cg":  # what lies before and behind the steps is the same in a run with two
        steps, before = STEPS, sends(simulate(options, programs, folder, operation, size, model, FIRST)[1])
    found = {key: (count - before.get(key, 0)) / steps for key, count in sends(summary).items()}
    software = sum(phase["spent_s"].get("software", 0) for phase in summary["critical_path"]["phases"] if phase["phase"] in ("timed", "solve"))
    seconds = float(next(filter(None, SECONDS.search(text).groups())))
    return {"operation": operation, "bytes": size, "model": model, "us": 1e6 * seconds, "messages": sum(found.values()), **found,
            "software_us": 1e6 * software / (1 if operation == "cg" else FIRST + STEPS) / (2 if operation == "pingpong" else 1)}


def by_protocol(row):
    named = [f"{row[key]:.0f} {key}" for key in PROTOCOLS if row.get(key, 0) >= 0.5]
    return " ".join(named) or f"{row['messages']:.0f}"


def markdown(options, rows):
    """A line for each operation and size; what is within 2 % of the fastest is bold."""
    yield f"{datetime.date.today():%-d %B %Y}, `{shlex.join([os.path.relpath(sys.argv[0], study.ROOT), *sys.argv[1:]])}`"
    yield ""
    yield f"| operation | bytes | {' | '.join(f'`{model}`, us' for model in options.models)} | of which software | messages |"
    yield "|---" * (4 + len(options.models)) + "|"
    for operation, size in dict.fromkeys((row["operation"], row["bytes"]) for row in rows):
        found = [row for row in rows if (row["operation"], row["bytes"]) == (operation, size)]
        best = min(row["us"] for row in found)
        times = [f"**{row['us']:.2f}**" if row["us"] < 1.02 * best else f"{row['us']:.2f}" for row in found]
        yield (f"| {operation} | {size} | {' | '.join(times)} | {', '.join(format(row['software_us'], '.2f') for row in found)} | "
               f"{', '.join(map(by_protocol, found))} |")


def main():
    parser = study.parser(__doc__, "stacks-results", picture=False)
    parser.add_argument("--np", type=int, default=16, help="ranks, each on a node of its own (default: 16)")
    parser.add_argument("--machine", default="infiniband-like", help="machine: NAME or FILE (default: infiniband-like)")
    parser.add_argument("--models", type=study.several(), default=STACKS, help="models STACK or STACK:NETWORK (default: portals,ucx,mpich)")
    parser.add_argument("--operations", type=study.several(), default=[*SIZES, "cg"], help="which (default: all)")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    cases = [(operation, size) for operation in options.operations for size in SIZES.get(operation, [""])]
    with tempfile.TemporaryDirectory(prefix="pf-stacks-") as folder:
        programs = [study.build(f"{options.bin}/pfcc", f"{folder}/stacks", f"{HERE}/stacks.c"), f"{os.path.dirname(options.bin)}/examples/cg"]
        rows = [run(options, programs, folder, *case, model) for case in cases for model in options.models]
    os.makedirs(options.out, exist_ok=True)
    study.write_table(os.path.join(options.out, "stacks.csv"), rows, COLUMNS)
    print("\n".join(markdown(options, rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
