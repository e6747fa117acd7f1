#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of cells: patterns of communication (cells.c) x sizes x platforms, in each model, without computation.

Each cell is a run of its own. Prints how far each model is from the reference, and whether model analytic said that it is an estimate: it is right when it
warns where it is more than 10 % off, and silent elsewhere. Writes DIR/cells.csv. Simulated times are the same in each run: --keep takes those
of an earlier table, and only the models that are named are run.

Models analytic:ucx and analytic:mpich are analytic with PARFOCAL_ANALYTIC_STACK, compared with ucx and mpich.

A platform is one of pfrun's built-in ones, one of the XML files in this folder, or FILE, or FILE@HOSTFILE. In an XML file of several cabinets the ranks
lie in all of them.
"""
import concurrent.futures
import csv
import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import study  # noqa: E402 (experiments/study.py)

REFERENCE = "portals"
STACKED = "analytic:"  # analytic with the protocols and collectives of a stack, whose own model is its reference
SETTINGS = {"link": ("analytic", "contention = link")}  # what is no model of its own
MODELS = ("analytic", "link", "smpi", "packet")
PLATFORMS = ("fattree", "star", "torus", "dragonfly", "cabinets.xml", "backbone.xml")
NAMES = ("platform", "ranks", "pattern", "bytes")
FREE = ["--cfg=smpi/simulate-computation:no", "--cfg=smpi/wtime:0", "--log=root.thres:critical"]
OFF = 0.1  # what a warning is for
WARNING = re.compile("model analytic: .*this is an estimate for")


def reference_of(model):
    return model[len(STACKED):] if model.startswith(STACKED) else REFERENCE


class Study:
    def __init__(self, options):
        self.options, self.bin = options, os.path.abspath(options.bin)
        os.makedirs(options.out, exist_ok=True)
        self.failed = []
        self.places = {(platform, ranks): self.place(platform, ranks) for platform in options.platforms for ranks in options.np}
        self.program = study.build(f"{self.bin}/pfcc", f"{options.out}/cells", f"{HERE}/cells.c")

    def patterns(self):
        if self.options.patterns:
            return self.options.patterns
        return study.output([f"{self.bin}/pfrun", "-np", "2", "-quiet", "-model", "analytic", self.program, "list"]).split()

    def place(self, platform, ranks):
        """The options of pfrun."""
        if ".xml" not in platform:
            return ["-platform", f"{platform}:{ranks}"]
        file, _, hosts = platform.partition("@")
        file = file if os.path.exists(file) else os.path.join(HERE, file)
        if not hosts:
            hosts = self.spread(file, ranks)
        return ["-platform", file, "-hostfile", hosts]

    def spread(self, file, ranks):
        """Writes a list of hosts: each n-th of those of the clusters in the file."""
        names = []
        with open(file, encoding="utf-8") as text:
            for tag in re.findall(r"<cluster[^>]*>", text.read()):
                prefix, radical, suffix = (re.search(rf'{key}="([^"]*)"', tag)[1] for key in ("prefix", "radical", "suffix"))
                for part in radical.split(","):
                    first, _, last = part.partition("-")
                    names += [f"{prefix}{i}{suffix}" for i in range(int(first), int(last or first) + 1)]
        target = os.path.join(self.options.out, f"{os.path.basename(file)}-{ranks}.hosts")
        with open(target, "w", encoding="utf-8") as out:
            out.writelines(f"{names[i * len(names) // ranks]}\n" for i in range(ranks))
        return target

    def run(self, cell, model):
        """{column: text} of one cell in one model."""
        platform, ranks, pattern, size = cell
        stack = ["--cfg=parfocal/analytic_stack:" + reference_of(model)] if model.startswith(STACKED) else []
        real, setting = SETTINGS.get(model, ("analytic" if stack else model, ""))
        command = [f"{self.bin}/pfrun", "-np", str(ranks), *self.places[platform, ranks], "-model", real, "-quiet", *FREE, *stack, self.program, pattern, str(size)]
        if self.options.together:
            command += ["2", "together"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=self.options.limit, check=False,
                                  env={**os.environ, "PARFOCAL_ANALYTIC_SET": setting})
        except subprocess.TimeoutExpired:
            return {model: ""}
        found = re.search(r"^seconds (\S+)", done.stdout, re.M)
        if done.returncode or not found:
            self.failed.append(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
            return {model: ""}
        result = {model: f"{float(found[1]):.9g}"}
        if model == "analytic":
            result["warned"] = "yes" if WARNING.search(done.stderr) else "no"
            if "model analytic: " in done.stderr and result["warned"] == "no":
                self.failed.append(f"{' '.join(command)} says something unknown\n{done.stderr}")
        return result


def key_of(row):
    return row["platform"], int(row["ranks"]), row["pattern"], int(row["bytes"])


def rows_of(options):
    study, rows = Study(options), {}
    if options.keep:
        with open(options.keep, encoding="utf-8") as file:
            rows = {key_of(row): row for row in csv.DictReader(file)}
    cells = [(platform, ranks, pattern, size) for platform in options.platforms for ranks in options.np
             for pattern in study.patterns() for size in options.sizes]
    for cell in cells:
        rows.setdefault(cell, dict(zip(NAMES, cell)))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        wanted = [(cell, model) for cell in cells for model in dict.fromkeys((*map(reference_of, options.models), *options.models)) if model in options.models or not rows[cell].get(model)]
        for cell, done in [(cell, pool.submit(study.run, cell, model)) for cell, model in wanted]:
            rows[cell].update(done.result())
    return [rows[cell] for cell in cells], study.failed


def deviation(row, model):
    """None where there is no time."""
    reference = row.get(reference_of(model))
    return float(row[model]) / float(reference) - 1 if row.get(model) and reference else None


def print_cells(rows, models):
    print(f"{'platform':24}{'ranks':>5} {'pattern':12}{'bytes':>8}{REFERENCE + ', us':>14}" + "".join(f"{model:>15}" for model in models) + "  analytic says")
    for row in rows:
        line = f"{os.path.basename(row['platform']):24}{row['ranks']:>5} {row['pattern']:12}{row['bytes']:>8}"
        line += f"{1e6 * float(row[REFERENCE]):14.2f}" if row.get(REFERENCE) else f"{'-':>14}"
        for model in models:
            off = deviation(row, model)
            line += f"{'-':>15}" if off is None else f"{100 * off:+13.1f} %"
        print(line + ("  an estimate" if row.get("warned") == "yes" else ""))


def print_models(rows, models):
    print(f"\n{'platform':24}{'ranks':>5}{'cells':>7}" + "".join(f"{model + ': within 10 %':>24}{'median':>9}" for model in models))
    for platform, ranks in dict.fromkeys((row["platform"], row["ranks"]) for row in rows):
        group = [row for row in rows if (row["platform"], row["ranks"]) == (platform, ranks)]
        line = f"{os.path.basename(platform):24}{ranks:>5}{len(group):>7}"
        for model in models:
            off = [abs(value) for value in (deviation(row, model) for row in group) if value is not None]
            line += f"{f'{100 * sum(value <= OFF for value in off) / len(off):.0f} %':>24}{100 * statistics.median(off):7.1f} %" if off else f"{'-':>24}{'':9}"
        print(line)


def print_warnings(rows):
    """Returns the shares that are right, of the cells in which analytic is off, and of the others."""
    known = [(deviation(row, "analytic"), row["warned"] == "yes") for row in rows if deviation(row, "analytic") is not None]
    off = [warned for value, warned in known if abs(value) > OFF]
    near = [not warned for value, warned in known if abs(value) <= OFF]
    short = [warned for value, warned in known if value < -OFF]
    for name, right in (("analytic is more than 10 % off: it says so", off), ("of these, too short", short), ("analytic is within 10 %: it is silent", near)):
        print(f"{name} in {sum(right)} of {len(right)} cells" + (f", {100 * sum(right) / len(right):.0f} %" if right else ""))


def main():
    parser = study.parser(__doc__, "cell-results", picture=False)
    parser.add_argument("-np", type=study.several(int), default=[16, 64], help="ranks (default: 16,64)")
    parser.add_argument("--sizes", type=study.several(int), default=[1024, 65536], help="bytes (default: 1024,65536)")
    parser.add_argument("--platforms", type=study.several(), default=PLATFORMS, help=f"default: {','.join(PLATFORMS)}")
    parser.add_argument("--patterns", type=study.several(), help="default: all of cells.c")
    parser.add_argument("--models", type=study.several(), default=MODELS, help=f"besides {REFERENCE} (default: {','.join(MODELS)})")
    parser.add_argument("--keep", metavar="FILE", help="an earlier cells.csv: its times of models that are not named are not run again")
    parser.add_argument("--together", action="store_true", help="all ranks begin at one date, each of the two times")
    parser.add_argument("--limit", type=float, default=300, help="seconds of a run; what takes longer has no time (default: 300)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at the same time (default: one for each core)")
    options = parser.parse_args()
    rows, failed = rows_of(options)
    columns = list(dict.fromkeys([*NAMES, REFERENCE, *MODELS, "warned", *(column for row in rows for column in row)]))
    study.write_table(f"{options.out}/cells.csv", rows, columns)
    models = [model for model in columns if model not in (*NAMES, *map(reference_of, columns), "warned") and any(row.get(model) for row in rows)]
    print_cells(rows, models)
    print_models(rows, models)
    print_warnings(rows)
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
