#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""66 micro-benchmarks that begin in a cheap model and go on in portals after k of their 110 iterations.

Computation and MPI_Wtime take no simulated time; model analytic is fitted to portals first. Costs are processor times, so that runs may go beside
each other. Writes DIR/micro-runs.csv (each run), DIR/micro.csv (averages over the operations), DIR/micro-operations.csv, and pictures of the latter two. With --check no time is looked at: all operations run under schedules that mix the
models in many ways, and every message must be right.
"""
import concurrent.futures
import csv
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.dirname(HERE))
import averages  # noqa: E402
import study  # noqa: E402 (experiments/study.py)

FINE, CHEAP = "portals", ("analytic", "smpi")
COLUMNS = ["operation", "kind", "cheap", "iterations", "times_us", "simulated_s", "overhead_s", "application_s", "rest_s",
           "startup_s"]
MARK = 10  # iterations between two marks of micro.c
FREE = ["--cfg=smpi/simulate-computation:no", "--cfg=smpi/wtime:0", "--cfg=smpi/host-speed:1Gf", "--log=root.thres:critical"]
MIXED = [f"@start={a},pcontrol:0={a},pcontrol:10={b}" for a in (FINE, *CHEAP) for b in (FINE, *CHEAP) if a != b] + \
    ["@start=analytic,every:7=analytic|smpi|portals", "@start=portals,every:13=portals|analytic"]


class Study:
    def __init__(self, options):
        self.options, self.bin, self.out = options, os.path.abspath(options.bin), os.path.abspath(options.out)
        os.makedirs(self.out, exist_ok=True)
        self.flags = ["-np", str(options.np), *FREE]
        sources = [os.path.join(HERE, name) for name in sorted(os.listdir(HERE)) if name.endswith(".c")]
        self.program = study.build(f"{self.bin}/pfcc", f"{self.out}/micro", *sources)
        listed = study.output([f"{self.bin}/pfrun", "-quiet", "-np", "2", *FREE, self.program, "list"]).split()
        self.kinds = dict(line.split(",") for line in listed)
        unknown = [name for name in options.only if name not in self.kinds]
        if unknown:
            sys.exit(f"run_micro.py: unknown operation {unknown[0]}; there are {' '.join(self.kinds)}")
        self.operations = options.only or list(self.kinds)
        self.arguments = ["-n", str(options.iterations), "-w", str(options.warmup), "-s", options.sizes]

    def fit(self):
        """Model analytic, fitted to the fine model on the same platform."""
        study.output([f"{self.bin}/pfinfo", f"--fit={FINE}", "--output", f"{self.out}/fit.txt", "--", "-np", str(self.options.np), FREE[0]])
        self.flags.append(f"--cfg=parfocal/analytic_parameters:{self.out}/fit.txt")

    def points(self):
        """(operation, cheap model, iterations in it): all of the fine model once, all of each cheap one, and between."""
        n, step = self.options.iterations, self.options.step
        middle = {"analytic": range(step, n, step), "smpi": [n // 2 // MARK * MARK]}
        for operation in self.operations:
            yield operation, "", 0
            for cheap in CHEAP:
                for k in (*middle[cheap], n):
                    yield operation, cheap, k

    def run(self, point):
        """One run: costs, and the time of an iteration at each size. Ends the study when a message was wrong."""
        operation, cheap, k = point
        pure = {0: FINE, self.options.iterations: cheap}.get(k)
        how = ["-model", pure] if pure else ["-schedule", f"@start={cheap},pcontrol:0={cheap},pcontrol:{k}={FINE}"]
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "PARFOCAL_SUMMARY": f"{folder}/summary.json"}
            command = [f"{self.bin}/pfrun", "-quiet", *self.flags, *how, self.program, *self.arguments, operation]
            begin = time.monotonic()
            with open(f"{folder}/output", "w+", encoding="utf-8") as output:
                process = subprocess.Popen(["timeout", "600", *command], stdout=output, stderr=output, env=environment)
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                share = min(1, (used.ru_utime + used.ru_stime) / (time.monotonic() - begin))
                output.seek(0)
                text = output.read()
            if process.returncode:
                raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}\n{text}")
            with open(f"{folder}/summary.json", encoding="utf-8") as file:
                summary = json.load(file)
        return self.row(point, text, summary, share)

    def row(self, point, text, summary, share):
        operation, cheap, k = point
        marked = [phase for phase in summary["phases"] if phase["phase"].startswith("pcontrol:")
                  and int(phase["phase"].split(":")[1]) < self.options.iterations]
        total, iterations = ({key: sum(phase[key] for phase in phases) for key in ("simulated_s", "overhead_s", "application_cpu_s")}
                             for phases in (summary["phases"], marked))
        models = {phase["model"] for phase in marked if phase["calls"]}
        if not models >= ({cheap, FINE} if 0 < k < self.options.iterations else {cheap or FINE}):
            raise RuntimeError(f"{operation}, {k} iterations in {cheap}: called only {models}")
        lines = [line.split(",") for line in text.split() if line.startswith(operation + ",")]
        return {"operation": operation, "kind": self.kinds[operation], "cheap": cheap, "iterations": k,
                "times_us": ";".join(f"{int(size)}:{float(seconds) * 1e6:.9g}" for _, _, size, seconds, *_ in lines),
                "simulated_s": f"{iterations['simulated_s']:.9g}", "overhead_s": f"{share * iterations['overhead_s']:.6f}",
                "application_s": f"{share * iterations['application_cpu_s']:.6f}",
                "rest_s": f"{share * (total['overhead_s'] - iterations['overhead_s']):.6f}",
                "startup_s": f"{share * summary['startup_s']:.6f}"}

    def sweep(self):
        points, begin = list(self.points()), time.monotonic()
        with open(f"{self.out}/micro-runs.csv", "w", newline="", encoding="utf-8", buffering=1) as file, \
                concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            try:
                for done, row in enumerate(pool.map(self.run, points), 1):
                    writer.writerow(row)
                    if sys.stderr.isatty():
                        left = (time.monotonic() - begin) * (len(points) / done - 1)
                        print(f"\r{done} of {len(points)} runs, {left / 60:.0f} min left ", end="", file=sys.stderr, flush=True)
            except RuntimeError as error:
                pool.shutdown(cancel_futures=True)
                sys.exit(f"\nrun_micro.py: {error}")
        if sys.stderr.isatty():
            print(file=sys.stderr)

    def check(self):
        """All operations under mixed schedules: 1 when a message was wrong."""
        bad = 0
        for schedule in MIXED:
            done = subprocess.run([f"{self.bin}/pfrun", "-quiet", *self.flags, "-schedule", schedule, self.program, *self.arguments,
                                   *self.operations], capture_output=True, text=True, timeout=600, check=False)
            lines = [line.split(",") for line in done.stdout.split() if line.count(",") == 5]
            names = {line[0] for line in lines}
            good = done.returncode == 0 and names == set(self.operations) and all(int(line[5]) == 0 for line in lines)
            print(f"{schedule}: {len(names)} operations, {sum(int(line[4]) for line in lines)} messages checked"
                  f"{'' if good else ', FAILED'}")
            if not good:
                print("\n".join(",".join(line) for line in lines if int(line[5])), done.stderr, f"exit status {done.returncode}", sep="\n")
            bad |= not good
        return bad


def main():
    parser = study.parser(__doc__, "micro-results")
    parser.add_argument("-np", type=int, default=16, help="ranks, an even number (default: 16)")
    parser.add_argument("--iterations", type=int, default=110, help="of each operation and size (default: 110)")
    parser.add_argument("--warmup", type=int, default=10, help="the first of them, which are not timed (default: 10)")
    parser.add_argument("--sizes", default="8,1024,32768", help="bytes of a message (default: 8,1024,32768)")
    parser.add_argument("--step", type=int, default=MARK, help="from one k to the next, a multiple of 10 (default: 10)")
    parser.add_argument("--only", type=study.several(), default=[], metavar="NAME,...", help="these operations alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at the same time (default: one for each core)")
    parser.add_argument("--draw", action="store_true", help="no runs: averages and pictures of the runs in DIR once more")
    parser.add_argument("--check", action="store_true", help="only check the messages, under mixed schedules")
    options = parser.parse_args()
    if options.step < MARK or options.step % MARK:
        parser.error("--step must be a multiple of 10")
    if not options.draw:
        runs = Study(options)
        if options.check:
            return runs.check()
        runs.fit()
        runs.sweep()
    averages.write(options.out)
    for name in () if options.no_plot else ("micro", "micro-operations"):
        study.draw(name, f"{options.out}/{name}.csv", f"{options.out}/{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
