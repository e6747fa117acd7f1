# SPDX-License-Identifier: BSD-3-Clause
"""What the runs say: error, slowdown and overhead of each schedule, with their spread."""
import csv
import statistics
from dataclasses import dataclass, field

from .errors import Problem


@dataclass(frozen=True)
class Spread:
    """A quantity that was measured several times."""
    median: float
    least: float
    most: float

    @staticmethod
    def of(values):
        values = list(values)
        return Spread(statistics.median(values), min(values), max(values))

    def over(self, divisor):
        return Spread(self.median / divisor, self.least / divisor, self.most / divisor)


@dataclass(eq=False)
class Row:
    """A schedule and what its runs said. The quantities are Spread; None when every run failed."""
    point: object
    command: list
    good: list
    failed: list
    simulated: Spread = None
    overhead: Spread = None
    application: Spread = None
    startup: Spread = None
    wall: Spread = None
    with_startup: Spread = None  # overhead and start-up
    with_application: Spread = None  # overhead and the application's processor time
    slowdown: Spread = None  # overhead, and the same with the application, over the reference's simulated time: one divisor
    slowdown_all: Spread = None  # for all, so that the order of the slowdowns is that of the overheads
    error: Spread = None  # signed
    ratio: float = None  # overhead of the reference / this one's
    ratio_startup: float = None  # the same of with_startup
    frontier: bool = False
    phases: list = field(default_factory=list)  # of the run in the middle by overhead, on the same clock
    warnings: list = field(default_factory=list)

    @property
    def size(self):
        return abs(self.error.median)

    def within(self, error):
        """Whether the error is small enough; of an estimate, that of any time in its interval."""
        return (max(abs(self.error.least), abs(self.error.most)) if self.point.sampled else self.size) <= error


def total(summary, key):
    return sum(phase[key] for phase in summary["phases"])


def cost(run, clock):
    """What the run took, in seconds; with clock cpu, wall-clock times are those of a processor for the run alone."""
    summary, factor = run.summary, share(run) if clock == "cpu" else 1
    if "sample" in summary:  # several runs
        sample = summary["sample"]
        return {"simulated_s": sample["estimate_s"], "overhead_s": sample["overhead_cpu_s" if clock == "cpu" else "overhead_s"],
                "application_cpu_s": factor * sample["application_cpu_s"], "startup_s": factor * sample["startup_s"],
                "wall_clock_s": factor * run.result["seconds"]}
    return {"simulated_s": summary["simulated_s"], "overhead_s": factor * total(summary, "overhead_s"),
            "application_cpu_s": factor * total(summary, "application_cpu_s"), "startup_s": factor * summary["startup_s"],
            "wall_clock_s": factor * summary["wall_clock_s"]}


def share(run):
    """Part of a processor that the run had: a simulation is one thread, so that on an idle machine it is all."""
    return min(1, run.result["processor_s"] / run.result["seconds"])


def make_row(point, command, runs, clock="wall"):
    good = [run for run in runs if run.ok]
    row = Row(point, command, good, [run for run in runs if not run.ok])
    summaries = [cost(run, clock) for run in good]
    if not summaries:
        return row
    row.simulated = interval(good) if point.sampled else Spread.of(s["simulated_s"] for s in summaries)
    row.overhead = Spread.of(s["overhead_s"] for s in summaries)
    row.application = Spread.of(s["application_cpu_s"] for s in summaries)
    row.startup = Spread.of(s["startup_s"] for s in summaries)
    row.wall = Spread.of(s["wall_clock_s"] for s in summaries)
    row.with_startup = Spread.of(s["wall_clock_s"] - s["application_cpu_s"] for s in summaries)
    row.with_application = Spread.of(s["overhead_s"] + s["application_cpu_s"] for s in summaries)
    row.warnings = list(dict.fromkeys(text for run in good for text in run.summary.get("warnings", [])))
    if not point.sampled:
        middle = sorted(good, key=lambda run: cost(run, clock)["overhead_s"])[(len(good) - 1) // 2]
        factor = share(middle) if clock == "cpu" else 1
        row.phases = [phase | {"overhead_s": factor * phase["overhead_s"]} for phase in middle.summary["phases"]]
    return row


def interval(runs):
    """The estimate and the ends of its interval."""
    return Spread(*(statistics.median(run.summary["sample"][key] for run in runs) for key in ("estimate_s", "low_s", "high_s")))


def measured_times(path):
    """Seconds of the whole program, from a column `seconds`: one row for each measurement."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            table = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Problem(f"--reference {path}: {error}") from None
    values = []
    for number, line in enumerate(table, 2):
        try:
            values.append(float(line["seconds"]))
        except KeyError:
            raise Problem(f"--reference {path}: no column 'seconds' in its first line") from None
        except (TypeError, ValueError):
            raise Problem(f"--reference {path}: line {number}: '{line['seconds']}' is no number of seconds") from None
        if not 0 < values[-1] < float("inf"):
            raise Problem(f"--reference {path}: line {number}: a time must be positive")
    if not values:
        raise Problem(f"--reference {path}: no measured time in it")
    return values


class Curve:
    """All rows, and the reference that their errors are errors against."""

    def __init__(self, rows, options):
        self.rows, self.options = rows, options
        finest = next(row for row in rows if row.point.name == options.reference)
        if not finest.good:
            raise Problem(f"the reference, all {options.reference}, failed: {finest.failed[0].result['why']}")
        self.finest = finest
        if options.reference_csv:
            self.reference = Spread.of(options.measured)
            self.reference_name = f"measured times ({options.reference_csv})"
        else:
            self.reference, self.reference_name = finest.simulated, f"all {options.reference}"
        if self.reference.median <= 0:
            raise Problem(f"the reference, all {options.reference}, took no simulated time: nothing to compare with")
        for row in self.good():
            row.error = Spread(*(seconds / self.reference.median - 1 for seconds in
                                 (row.simulated.median, row.simulated.least, row.simulated.most)))
            row.ratio = finest.overhead.median / row.overhead.median
            row.ratio_startup = finest.with_startup.median / row.with_startup.median
            row.slowdown = row.overhead.over(self.reference.median)
            row.slowdown_all = row.with_application.over(self.reference.median)
        self.mark_frontier()
        self.best = self.cheapest_within(options.within)
        self.ties = self.tied_with(self.best) if self.best else []

    def good(self):
        return [row for row in self.rows if row.good]

    def scheduled(self):
        """Those of which each run is one of the program."""
        return [row for row in self.good() if not row.point.sampled]

    def share(self):
        """Part of a processor that the runs had, in the middle of all."""
        return statistics.median(share(run) for row in self.good() for run in row.good)

    def remarks(self):
        """{warning: names of the schedules whose runs ended with it}, but for warnings that all of them had."""
        texts = dict.fromkeys(text for row in self.good() for text in row.warnings)
        named = {text: [row.point.name for row in self.good() if text in row.warnings] for text in texts}
        return {text: names for text, names in named.items() if len(names) < len(self.good())}

    def failures(self):
        return [run for row in self.rows for run in row.failed]

    def mark_frontier(self):
        """A schedule is on the frontier when none is as cheap and as accurate, and better in one of the two."""
        best = float("inf")
        for row in sorted(self.good(), key=lambda row: (row.overhead.median, row.size)):
            row.frontier = row.size < best
            best = min(best, row.size)

    def frontier(self):
        return sorted((row for row in self.good() if row.frontier), key=lambda row: row.overhead.median)

    def cheapest_within(self, error):
        """The schedule with the least overhead among those whose error is at most this; None if there is none."""
        return min((row for row in self.good() if row.within(error)), key=lambda row: row.overhead.median, default=None)

    def tied_with(self, best):
        """The others within the same error whose overhead is, in one run or another, no more than the best's: chance may have
        put them behind it."""
        return [row for row in self.good() if row is not best and row.within(self.options.within)
                and row.overhead.least <= best.overhead.most]

    def place(self, row):
        """What points.csv says of a row in column `cheapest`."""
        return "yes" if row is self.best else "tie" if row in self.ties else "no"


def seconds_text(seconds):
    for unit, step in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= step:
            return f"{seconds / step:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def percent_text(error):
    if round(abs(error), 6) == 0:
        return "0 %"
    return f"{100 * error:+,.1f} %" if abs(error) >= 0.001 else f"{100 * error:+.2g} %"


def ratio_text(ratio):
    """How the cost is to that of the reference: 1/5, or 1.3 times where it is more."""
    return "1" if ratio == 1 else f"1/{ratio:.3g}" if ratio > 1 else f"{1 / ratio:.3g} times"


POINT_COLUMNS = [
    ("schedule", lambda row: row.point.name), ("models", lambda row: " ".join(row.point.models())),
    ("model", lambda row: row.point.start), ("flag_schedule", lambda row: row.point.schedule),
    ("runs", lambda row: len(row.good)), ("failed", lambda row: len(row.failed)),
]
QUANTITIES = [("simulated_s", "simulated"), ("error", "error"), ("overhead_s", "overhead"), ("slowdown_no_app", "slowdown"),
              ("slowdown_all", "slowdown_all"), ("application_cpu_s", "application"), ("startup_s", "startup"),
              ("wall_clock_s", "wall")]


def number(value):
    return f"{value:.9g}"


def write_points(curve, path):
    header = [name for name, _ in POINT_COLUMNS]
    for name, _ in QUANTITIES:
        header += [name, name + "_min", name + "_max"]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header + ["overhead_ratio", "overhead_ratio_with_startup", "frontier", "within", "cheapest", "interval"])
        for row in curve.rows:
            line = [get(row) for _, get in POINT_COLUMNS]
            for _, attribute in QUANTITIES:
                spread = getattr(row, attribute)
                line += [number(spread.median), number(spread.least), number(spread.most)] if spread else ["", "", ""]
            if row.good:
                line += [number(row.ratio), number(row.ratio_startup), yes(row.frontier), yes(row.within(curve.options.within)),
                         curve.place(row), number(row.good[0].summary["sample"]["confidence"]) if row.point.sampled else ""]
            else:
                line += [""] * 6
            writer.writerow(line)


def yes(truth):
    return "yes" if truth else "no"


COSTS = ["simulated_s", "overhead_s", "application_cpu_s", "startup_s", "wall_clock_s"]


def write_runs(curve, path):
    """The raw results: one line for each run."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["schedule", "repeat", "status", *COSTS, "processor_share", "host", "load", "why"])
        for row in curve.rows:
            for run in sorted(row.good + row.failed, key=lambda run: run.repeat):
                costs = cost(run, "wall") if run.ok else {}
                values = [number(costs[name]) for name in COSTS] + [f"{share(run):.2f}"] if run.ok else [""] * 6
                writer.writerow([row.point.name, run.repeat + 1, run.result.get("status", ""), *values,
                                 run.result.get("host", ""), run.result.get("load", ""), run.result.get("why", "")])
