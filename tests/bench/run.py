#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what a simulation costs in wall-clock time, processor time and memory, and the same of stock smpirun.

Every repetition runs each competitor once, in turn, so that whatever else the machine does hits all alike; the table shows
medians, or the least of all with --best. Instructions (of user code, by `perf stat`, where it works) are the figure to trust on a busy machine.
The results decide nothing: no test depends on them.
"""
import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PLATFORM = os.path.join(HERE, "cluster.xml")
MODES = {"default": ["--log=root.thres:critical"],  # computation is measured
         "lab": ["--cfg=smpi/simulate-computation:no", "--log=root.thres:critical"]}
FOUR = "barrier,bcast,allreduce,alltoall"  # all kinds would take SMPI a quarter of an hour
OBSERVED = ["", "+csv", "+paje", "+chrome", "+otf2", "+check"]
JOBS_IN = ["analytic", "smpi", "portals", "packet", "ucx", "mpich"]
# name: (source, ranks, arguments, arguments of a quick run, competitors)
BENCHMARKS = {
    "calls": ("tests/bench/calls.c", 2, ["300000"], ["10000"], ["smpirun", "smpi", "portals"]),
    "pingpong": ("tests/bench/pingpong.c", 2, ["20000", "8"], ["1000", "8"], ["smpirun", "smpi", "loaded", "switched", "portals", "analytic"]),
    # what watching costs, with all that is written
    "observed-analytic": ("tests/bench/pingpong.c", 2, ["20000", "8"], ["1000", "8"], ["analytic" + o for o in OBSERVED]),
    "observed-portals": ("tests/bench/pingpong.c", 2, ["10000", "8"], ["1000", "8"], ["portals" + o for o in OBSERVED]),
    "observed-halo": ("tests/bench/halo.c", 27, ["150"], ["5"], [m + o for m in ("analytic", "portals") for o in OBSERVED]),
    # what critical paths cost, with the report
    "explained-halo": ("tests/bench/halo.c", 27, ["150"], ["5"], [m + o for m in ("analytic", "smpi", "portals", "packet") for o in ("", "+explain")]),
    "explained-cg": ("examples/cg/cg.c", 64, ["-n", "32"], ["-n", "8"], [m + o for m in ("analytic", "smpi", "portals", "packet") for o in ("", "+explain")]),
    "explained-pingpong": ("tests/bench/pingpong.c", 2, ["20000", "8"], ["1000", "8"], ["analytic", "analytic+explain"]),
    "large": ("tests/bench/pingpong.c", 2, ["2000", "262144"], ["100", "262144"], ["smpirun", "smpi", "portals"]),
    "halo27": ("tests/bench/halo.c", 27, ["150"], ["5"], ["smpirun", "smpi", "loaded", "portals", "analytic"]),
    "halo64": ("tests/bench/halo.c", 64, ["50"], ["2"], ["smpirun", "smpi", "portals"]),
    "collectives16": ("tests/bench/collectives.c", 16, ["200"], ["5", "1024"], ["smpirun", "smpi", "portals", "analytic"]),
    "stream16": ("tests/bench/collectives.c", 16, ["200", "1048576", "stream"], ["5", "1024", "stream"],
                 ["smpirun", "smpi", "portals"]),
    "multigrid8": ("tests/bench/multigrid.c", 8, ["100"], ["5"], ["smpirun", "smpi"]),
    "cg64": ("examples/cg/cg.c", 64, ["-n", "32"], ["-n", "16"], ["smpirun", "smpi", "portals"]),
    "collectives64": ("tests/bench/collectives.c", 64, ["20", "8192"], ["2", "64"], ["smpirun", "smpi", "analytic"]),
    "collectives256": ("tests/bench/collectives.c", 256, ["8", "8", "osu", FOUR], ["1", "8", "osu", FOUR], ["smpirun", "analytic"]),
    "exchange256": ("tests/bench/exchange.c", 256, ["1"], ["1"], ["smpirun", "analytic"]),
    "exchange1024": ("tests/bench/exchange.c", 1024, ["1"], ["1"], ["analytic"]),
    "halo4096": ("tests/bench/halo.c", 4096, ["100"], ["1"], ["smpirun", "analytic"]),
    # jobs beside each other, each on hosts of its own; figures are of one of them
    "jobs": ("examples/cg/cg.c", 32, ["-n", "16", "-i", "40"], ["-n", "8", "-i", "2"], [f"{m}*{n}" for m in JOBS_IN for n in (1, 32)]),
    "jobs-halo": ("tests/bench/halo.c", 27, ["20"], ["1"], [f"{m}*{n}" for m in JOBS_IN for n in (1, 32)]),
    "start16": ("tests/bench/start.c", 16, [], [], ["smpirun", "smpi", "portals"]),
    "start64": ("tests/bench/start.c", 64, [], [], ["smpirun", "smpi", "portals"]),
    "start256": ("tests/bench/start.c", 256, [], [], ["smpirun", "smpi", "portals"]),
}
# As the OSU benchmarks are: a program for each collective, 100 iterations; what counts is the whole run.
OSU = [f"osu16-{name}" for name in ("barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall", "reduce_scatter", "scan")]
BENCHMARKS |= {name: ("tests/bench/collectives.c", 16, ["100", "1048576", "osu", name[6:]], ["2", "64", "osu", name[6:]], ["smpirun", "smpi", "portals"])
               for name in OSU}
BASELINE = "smpirun"
TOTALS = ["wall s", "cpu s", "instructions"]  # of the whole process
GEOMETRIC = ["collectives16", "stream16", "collectives64", "collectives256"]  # benchmarks whose figures are of one kind


class Bench:
    def __init__(self, bindir, work):
        self.bindir, self.work, self.mode = bindir, work, "lab"
        self.perf = shutil.which("perf") and self.counts_instructions()
        shutil.copy(os.path.join(ROOT, "middleware/include/parfocal.h"), work)

    def counts_instructions(self):
        done = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], capture_output=True, text=True)
        return done.returncode == 0 and "not " not in done.stderr

    def build(self, source, competitor):
        compiler = "smpicc" if competitor == BASELINE else os.path.join(self.bindir, "pfcc")
        stem = os.path.splitext(os.path.basename(source))[0]
        target = os.path.join(self.work, f"{stem}.{os.path.basename(compiler)}")
        if not os.path.exists(target):
            subprocess.run([compiler, "-O2", "-w", "-I" + (self.work if competitor == BASELINE else HERE),
                            os.path.join(ROOT, source), "-o", target, "-lm"], check=True)
        return target

    def command(self, competitor, ranks, program, arguments):
        hostfile = os.path.join(self.work, f"hosts{ranks}")
        with open(hostfile, "w", encoding="utf-8") as f:
            f.writelines(f"node-{rank % 64}\n" for rank in range(ranks))
        common = ["-np", str(ranks), "-platform", PLATFORM, "-hostfile", hostfile, *MODES[self.mode]]
        if competitor == BASELINE:
            return ["smpirun", *common, program, *arguments]
        model = {"smpi": ["-model", "smpi"], "portals": ["-model", "portals"],
                 "analytic": ["-model", "analytic"], "packet": ["-model", "packet"],
                 "loaded": ["-model", "smpi", "-load", "portals"],
                 # in smpi from the first barrier on, with the ledger's tags (middleware/p2p/ledger.c)
                 "switched": ["-schedule", "@start=portals,@coll:1=smpi"]}[competitor.partition("+")[0]]
        seen = competitor.partition("+")[2]
        watch = ["--cfg=parfocal/check:yes"] if seen == "check" else ["-explain", "-quiet", "-report", self.work + "/report"] if seen == "explain" else ["-trace", f"{seen}:{self.work}/trace.{seen}"] if seen else []
        return [os.path.join(self.bindir, "pfrun"), *common, *model, *watch, program, *arguments]

    def workload(self, competitor, ranks, program, arguments):
        model, _, jobs = competitor.partition("*")
        path = os.path.join(self.work, "jobs")
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(f"-name job{i} -np {ranks} {program} {' '.join(arguments)}\n" for i in range(int(jobs)))
        return [os.path.join(self.bindir, "pfrun"), "-workload", path, "-platform", f"star:{32 * ranks}", "-model", model, *MODES[self.mode]]

    def once(self, competitor, source, ranks, arguments):
        """One run: its figures by name."""
        jobs = int(competitor.partition("*")[2] or 1)
        command = (self.workload if "*" in competitor else self.command)(competitor, ranks, self.build(source, competitor), arguments)
        counted = os.path.join(self.work, "perf.txt")
        if self.perf:
            command = ["perf", "stat", "-x,", "-e", "instructions:u", "-o", counted, "--", *command]
        begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.work, timeout=600)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(f"bench: {' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        figures = {"wall s": time.monotonic() - begin,
                   "cpu s": after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime}
        if self.perf:
            with open(counted, encoding="utf-8") as f:
                figures["instructions"] = float(re.search(r"^(\d+)", f.read(), re.M)[1])
        figures = {name: value / jobs for name, value in figures.items()}
        for name, value in re.findall(r"^BENCH (.*) (\S+)$", done.stdout, re.M):
            figures[name] = float(value)
        return figures

    def measure(self, name, repetitions, quick, typical):
        source, ranks, arguments, short, competitors = BENCHMARKS[name]
        runs = {competitor: [] for competitor in competitors}
        for _ in range(repetitions):
            for competitor in competitors:
                runs[competitor].append(self.once(competitor, source, ranks, short if quick else arguments))
        return {c: {figure: typical(run[figure] for run in r) for figure in r[0]} for c, r in runs.items()}


def show(name, medians):
    print(f"\n{name}")
    if BASELINE in medians:
        reference = dict.fromkeys(medians, BASELINE)
    else:  # what is observed is compared with what is not, a job among others with one alone
        reference = {c: c.partition("*")[0] + "*1" if "*" in c else c.partition("+")[0] if "+" in c else next(iter(medians)) for c in medians}
    base = medians.get(BASELINE) or next(iter(medians.values()))
    print(f"  {'':24}" + "".join(f"{c:>22}" for c in medians))
    for figure in base:
        cells = []
        for competitor, values in medians.items():
            value = values.get(figure)
            other = medians[reference[competitor]][figure]
            ratio = "" if competitor == reference[competitor] or not other or value is None else f" ({value / other:.3f})"
            cells.append(f"{readable(figure, value) + ratio:>22}")
        print(f"  {figure:24}" + "".join(cells))
    if name.split(",")[0] in GEOMETRIC:
        calls = [figure for figure in base if figure not in TOTALS]
        four = [figure for figure in calls if figure.split()[0] in FOUR.split(",")]
        for what, some in (("geometric mean", calls), ("of four", four)):
            means = [statistics.geometric_mean(values[f] / base[f] for f in some) for values in medians.values()]
            print(f"  {what:24}" + "".join(f"{f'({mean:.3f})':>22}" for mean in means))
    sys.stdout.flush()


def show_whole_runs(runs):
    """Processor time of several benchmarks as one figure."""
    print(f"\nwhole runs of {len(runs)} programs, geometric mean")
    for competitor in runs[0]:
        ratios = [run[competitor]["cpu s"] / run[BASELINE]["cpu s"] for run in runs]
        print(f"  {competitor:24}{statistics.geometric_mean(ratios):.3f}")


def readable(figure, value):
    if value is None:
        return "-"
    if figure == "instructions":
        return f"{value / 1e6:.1f} M"
    if figure.endswith(" s"):
        return f"{value:.3f} s"
    if figure.startswith("memory"):
        return f"{value / 1048576:.2f} MB"
    return f"{value * 1e9:.0f} ns" if value < 1e-5 else f"{value * 1e6:.1f} us" if value < 0.1 else f"{value:.3f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmarks", nargs="*", metavar="BENCHMARK", help=", ".join([*BENCHMARKS, "osu16"]))
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="folder of pfcc and pfrun")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--best", action="store_true", help="the least of all runs instead of the median: for a busy machine")
    parser.add_argument("--mode", choices=[*MODES, "both"], default="both",
                        help="default: computation is measured, as users run it; lab: it is not (simulate-computation:no)")
    parser.add_argument("--quick", action="store_true", help="small problems, to see whether everything runs")
    parser.add_argument("--json", help="also write the figures to this file")
    options = parser.parse_args()
    unknown = set(options.benchmarks) - set(BENCHMARKS) - {"osu16"}
    if unknown:
        parser.error("no benchmark " + ", ".join(sorted(unknown)))
    with tempfile.TemporaryDirectory(prefix="pf-bench-") as work:
        bench = Bench(os.path.abspath(options.bin), work)
        results = {}
        what, typical = ("least", min) if options.best else ("medians", statistics.median)
        print(f"{what} of {options.repetitions} interleaved runs; in brackets: relative to {BASELINE}")
        modes = list(MODES) if options.mode == "both" else [options.mode]
        names = [one for name in options.benchmarks or BENCHMARKS for one in (OSU if name == "osu16" else [name])]
        for name in names:
            for bench.mode in modes:
                title = name if bench.mode == "lab" else f"{name}, {bench.mode} mode"
                results[title] = bench.measure(name, options.repetitions, options.quick, typical)
                show(title, results[title])
        if set(OSU) <= set(names):
            for mode in modes:
                show_whole_runs([results[name if mode == "lab" else f"{name}, {mode} mode"] for name in OSU])
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump(results, f, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
