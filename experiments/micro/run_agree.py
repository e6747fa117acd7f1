#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The agreement table: how far each model is from portals, operation by operation, without a fit or a setting.

The 66 operations of micro.c and the codes of ../analytic/codes.c (halo, ring, transposition, incast, fan-out, overlap) run once in each model; computation and
MPI_Wtime take no simulated time. Only simulated times are compared, so that the table is the same on any machine. Writes DIR/agree.csv (each
operation, size and number of ranks) and DIR/agree.png; prints medians and largest errors.

With many ranks each operation is a run of its own, so that they run at the same time, and has fewer iterations: 64 ranks that all send 32 KiB to all
are a minute of portals for each three of them. Simulated times do not change from run to run: --keep takes those of an earlier table, and only the models
that are named are run.

Models analytic:ucx and analytic:mpich are analytic with PARFOCAL_ANALYTIC_STACK, compared with ucx and mpich. Model calibrated is smpi with the settings of `pfinfo --fit=portals --for=smpi` for the same ranks and platform, which are made first.
"""
import concurrent.futures
import csv
import itertools
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.dirname(HERE))
import study  # noqa: E402 (experiments/study.py)
from study import ROOT  # noqa: E402

REFERENCE, MODELS = "portals", ("analytic", "smpi")
STACKED = "analytic:"  # no models of their own: analytic with the protocols and collectives of a stack, whose own model is their reference
CALIBRATED = "calibrated"  # no model of its own: smpi with settings
FREE = ["--cfg=smpi/simulate-computation:no", "--cfg=smpi/wtime:0", "--log=root.thres:critical"]
CODES = ("stencil", "ring", "transpose", "incast", "fanout", "overlap")
NAMES = ("ranks", "kind", "operation", "bytes")
MANY = 32  # ranks, from which on operations run apart, and fewer times


def stack_of(model):
    return model[len(STACKED):] if model.startswith(STACKED) else ""


def reference_of(model):
    return stack_of(model) or REFERENCE


class Study:
    def __init__(self, options):
        self.options, self.bin = options, os.path.abspath(options.bin)
        os.makedirs(options.out, exist_ok=True)
        sources = [os.path.join(HERE, name) for name in sorted(os.listdir(HERE)) if name.endswith(".c")]
        self.micro = study.build(f"{self.bin}/pfcc", f"{options.out}/micro", *sources)
        self.codes = study.build(f"{self.bin}/pfcc", f"{options.out}/codes", f"{ROOT}/experiments/analytic/codes.c")

    def platform(self):
        return ["-platform", self.options.platform] if self.options.platform else []

    def settings(self, ranks):
        """The file with the settings of model calibrated."""
        return self.options.calibrated or f"{self.options.out}/calibrated-{ranks}.smpi"

    def calibrate(self):
        for ranks in self.options.np:
            if CALIBRATED in self.options.models and not self.options.calibrated:
                subprocess.run([f"{self.bin}/pfinfo", f"--fit={REFERENCE}", "--for=smpi", "--output", self.settings(ranks),
                                "--", "-np", str(ranks), *self.platform()], check=True, stdout=subprocess.DEVNULL)

    def output(self, model, ranks, program):
        platform = self.platform()
        if model == CALIBRATED:
            platform, model = [*platform, "-calibrated", self.settings(ranks)], "smpi"
        if stack_of(model):
            platform, model = [*platform, f"--cfg=parfocal/analytic_stack:{stack_of(model)}"], "analytic"
        command = [f"{self.bin}/pfrun", "-quiet", "-np", str(ranks), *platform, *FREE, "-model", model, *program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def micro_times(self, model, ranks, operations):
        iterations = self.options.iterations or (3 if ranks >= MANY else 30)
        text = self.output(model, ranks, [self.micro, "-n", str(iterations), "-w", str(iterations // 3), "-s", self.options.sizes, *operations])
        return {(kind, name, int(size)): float(seconds)
                for name, kind, size, seconds, *_ in (line.split(",") for line in text.split() if line.count(",") == 5)}

    def code_time(self, model, ranks, name, size):
        return {("code", name, int(size)): float(self.output(model, ranks, [self.codes, name, size]).split()[-1])}

    def operations(self):
        """The names in the order of micro.c; longest runs are not known, and no order is best for all models."""
        found = [line.split(",")[0] for line in self.output("analytic", 2, [self.micro, "list"]).split()]
        unknown = set(self.options.only) - {"all", *found}
        if unknown:
            raise RuntimeError(f"micro.c has no operation {', '.join(sorted(unknown))}")
        return [name for name in found if "all" in self.options.only or name in self.options.only]

    def kept(self):
        """The table that --keep names: {(ranks, kind, operation, bytes): {model: time as text}}."""
        if not self.options.keep:
            return {}
        with open(self.options.keep, encoding="utf-8") as file:
            return {(int(row.pop("ranks")), row.pop("kind"), row.pop("operation"), int(row.pop("bytes"))): row for row in csv.DictReader(file)}

    def models(self, ranks, kept):
        """What is run on so many ranks: the references as well, unless they are there."""
        there = {model for key, row in kept.items() if key[0] == ranks for model in row if row[model]}
        references = dict.fromkeys(map(reference_of, self.options.models))
        return (*(model for model in references if model not in there), *self.options.models)

    def runs(self, kept):
        """What is to be run: (model, ranks), and a function that returns {(kind, operation, bytes): seconds}."""
        names, sizes = self.operations(), self.options.sizes.split(",")
        for ranks in self.options.np:
            models = self.models(ranks, kept)
            for part in [[name] for name in names] if ranks >= MANY else [names]:
                for model in models:
                    yield (model, ranks), lambda *run, part=part: self.micro_times(*run, part)
            for name, size in itertools.product(() if self.options.no_codes else CODES, sizes):
                for model in models:
                    yield (model, ranks), lambda *run, code=(name, size): self.code_time(*run, *code)

    def rows(self):
        """The table's columns and rows; a time that was not run is empty."""
        found = self.kept()
        self.calibrate()
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for (model, ranks), done in [(run, pool.submit(times, *run)) for run, times in self.runs(found)]:
                for key, seconds in done.result().items():
                    found.setdefault((ranks, *key), {})[model] = f"{seconds:.9g}"
        columns = list(dict.fromkeys((REFERENCE, *(model for row in found.values() for model in row))))
        return columns, [{**dict(zip(NAMES, key)), **{model: row.get(model, "") for model in columns}} for key, row in found.items()]


def error(row, model):
    return abs(float(row[model]) / float(row[reference_of(model)]) - 1)


def table(rows, models):
    print(f"{'ranks':>5} {'kind':16} {'times':>5}" + "".join(f" {model + ': median':>18} {'largest':>9}  {'':26}" for model in models))
    for ranks, kind in dict.fromkeys((row["ranks"], row["kind"]) for row in rows):
        group = [row for row in rows if (row["ranks"], row["kind"]) == (ranks, kind)]
        line = f"{ranks:5} {kind:16} {len(group):5}"
        for model in models:
            here = [row for row in group if row[model] and row[reference_of(model)]]
            if not here:
                line += f" {'-':>18} {'':9}  {'':26}"
                continue
            worst = max(here, key=lambda row, model=model: error(row, model))
            middle = statistics.median(error(row, model) for row in here)
            line += f" {100 * middle:16.2f} % {100 * error(worst, model):7.1f} %  {worst['operation'] + ' ' + str(worst['bytes']):26}"
        print(line.rstrip())


def read_bounds(file):
    """{name: (median, largest)} of kinds, and of operations at one size, in per cent; None where only the largest is bounded."""
    bounds = {}
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if words:
                bounds[" ".join(words[:-2])] = (None if words[-2] == "-" else float(words[-2]), float(words[-1]))
    return bounds


def too_far(rows, models, file):
    """Whether an analytic is farther from its reference than a line of the file allows: prints what is."""
    bounds, far = read_bounds(file), []
    for model in [model for model in models if model.split(":")[0] == "analytic"]:
        for kind in dict.fromkeys(row["kind"] for row in rows):
            middle, group = bounds[kind][0], [row for row in rows if row["kind"] == kind]
            median = statistics.median(100 * error(row, model) for row in group)
            if median > middle:
                far.append(f"{kind}: median {median:.2f} %, allowed {middle} %")
            for row in group:
                name = f"{row['operation']} {row['bytes']}"
                most, found = bounds.get(name, bounds[kind])[1], 100 * error(row, model)
                if found > most:
                    far.append(f"{name}: {found:.2f} %, allowed {most} %")
    known = {row["kind"] for row in rows} | {f"{row['operation']} {row['bytes']}" for row in rows}
    far += [f"{file}: nothing is measured as '{name}'" for name in bounds if name not in known]
    print("\n".join(f"analytic has drifted: {line}" for line in far) or f"analytic is within the bounds of {os.path.basename(file)}")
    return bool(far)


def main():
    parser = study.parser(__doc__, "agree-results")
    parser.add_argument("-np", type=study.several(int), default=[16, 64], help="ranks (default: 16,64)")
    parser.add_argument("--platform", help="as for pfrun")
    parser.add_argument("--calibrated", metavar="FILE", help=f"settings for model {CALIBRATED}, instead of making them")
    parser.add_argument("--keep", metavar="FILE", help="an earlier agree.csv: of it stays what is not run; its times of the reference are not run again")
    parser.add_argument("--iterations", type=int, help=f"of each operation and size, a third not timed (default: 30; from {MANY} ranks on 3)")
    parser.add_argument("--sizes", default="8,1024,32768", help="bytes of a message (default: 8,1024,32768)")
    parser.add_argument("--only", type=study.several(), default=["all"], metavar="NAME,...", help="these operations of micro.c")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at the same time (default: one for each core)")
    parser.add_argument("--models", type=study.several(), default=MODELS, help=f"besides {REFERENCE}, {CALIBRATED} among them (default: {','.join(MODELS)})")
    parser.add_argument("--no-codes", action="store_true", help="operations alone")
    parser.add_argument("--bounds", metavar="FILE", help="fail when analytic is farther off: lines with a kind, or an operation and its size, "
                        "a median (- for an operation) and the largest difference, in per cent")
    options = parser.parse_args()
    try:
        columns, rows = Study(options).rows()
    except (OSError, KeyError, RuntimeError, subprocess.CalledProcessError) as failed:
        sys.exit(f"run_agree.py: {failed}")
    study.write_table(f"{options.out}/agree.csv", rows, [*NAMES, *columns])
    table(rows, [model for model in columns if model not in map(reference_of, columns)])
    if not options.no_plot:
        study.draw("agree", f"{options.out}/agree.csv", f"{options.out}/agree.png")
    return too_far(rows, columns, options.bounds) if options.bounds else 0


if __name__ == "__main__":
    sys.exit(main())
