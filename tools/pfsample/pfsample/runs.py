# SPDX-License-Identifier: BSD-3-Clause
"""The runs of a sample: one in the cheap model, those with fine windows, and, to verify, one all in the fine model."""
import os
import re
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace

from pfcurve.curve import total
from pfcurve.errors import Problem
from pfcurve.one import last_line, read_json

from . import files
from .units import work

OFF = ("no", "off", "false", "0")
RECORD, REPLAY = "computation_record", "computation_replay"


@dataclass
class Cost:
    """What runs cost: the overhead of the simulation, in processor seconds, without start-up and the application's own time."""
    overhead: float = 0.0
    application: float = 0.0  # processor seconds of the program
    startup: float = 0.0  # by the wall-clock, as the next one
    wall: float = 0.0
    runs: int = 0
    windows: float = 0.0  # processor seconds of fine windows
    work: float = 0.0  # of the program in them


def setting(options, key):
    """The last value of a --cfg, None when there is none."""
    values = [text.partition(":")[2] for text in options.settings if text.partition(":")[0] == key]
    return values[-1] if values else None


class Runs:
    def __init__(self, options, pfrun, folder):
        self.options, self.pfrun, self.folder = options, pfrun, folder
        self.cost = Cost()
        self.by = options.by if options.by != "auto" else "fork" if options.jobs > 1 else "run"
        self.told = []  # what the user should know
        self.marks = None
        self.environment = {k: v for k, v in os.environ.items()
                            if k not in ("PARFOCAL_REPORT", "PARFOCAL_SUMMARY", "PARFOCAL_TABLE", "PARFOCAL_MODEL")}
        computes = (setting(options, "smpi/simulate-computation") or "yes").lower() not in OFF
        known = setting(options, "parfocal/" + REPLAY) or os.environ.get("PARFOCAL_" + REPLAY.upper())
        self.records = computes and not known

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, model, settings, shown=False, load=()):
        """One run; returns (exit status, summary, output). The application's output is shown once, in the cheap run."""
        summary = self.path("summary.json")
        if os.path.exists(summary):
            os.remove(summary)
        environment = self.environment | {"PARFOCAL_" + k.upper(): v for k, v in settings.items()} | {"PARFOCAL_SUMMARY": summary}
        command = [self.pfrun, "-quiet", *self.options.run_flags, "-model", model, *load, *self.options.app]
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        with open(self.path("output.txt"), "wb") as output:
            with subprocess.Popen(command, env=environment, stdin=None if shown else subprocess.DEVNULL,
                                  stdout=None if shown else output, stderr=None if shown else subprocess.STDOUT) as process:
                try:
                    status = process.wait()
                except BaseException:
                    process.send_signal(signal.SIGTERM)
                    raise
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        with open(self.path("output.txt"), encoding="utf-8", errors="replace") as output:
            text = output.read()
        result = read_json(summary) or {}
        if result:
            # A simulation is one thread: on a busy machine it had a share of the wall-clock. What children did is theirs.
            share = min(1.0, processor / max(time.monotonic() - begin, 1e-9))
            self.cost.overhead += total(result, "overhead_s") * share
            self.cost.application += total(result, "application_cpu_s")
            self.cost.startup += result["startup_s"]
            self.cost.wall += total(result, "overhead_s")
            self.cost.runs += 1
            result["overhead_share"] = total(result, "overhead_s") * share
        return status, result, text

    def cheap(self, shown=True):
        """(exit status, summary) of the run that shows the application, or is to succeed without a word; what it computes is measured here and
        replayed in all others."""
        settings = {"marks": self.path("marks.csv"), "marks_at": os.environ.get("PARFOCAL_MARKS_AT", "auto")}
        if self.records:
            settings[RECORD] = self.path("computation")
        sys.stdout.flush()
        status, summary, text = self.run(self.options.cheap, settings, shown=shown)
        if status and not shown:
            raise Problem(f"-sample: the run in {self.options.cheap} failed: {last_line(text)}")
        if status:
            return status, None
        self.marks = files.read_marks(self.path("marks.csv"))
        return 0, summary

    def mark_at(self, place):
        """The cheap run once more, with marks at a place of the program."""
        status, _, text = self.run(self.options.cheap, {"marks": self.path("marks.csv"), "marks_at": "site:" + place, **self.replayed()})
        if status:
            raise Problem(f"the run with marks at a place of the program failed: {last_line(text)}")
        self.marks = files.read_marks(self.path("marks.csv"))

    def replayed(self):
        return {REPLAY: self.path("computation")} if self.records else {}

    def full(self):
        """Fine dates of all marks, and what the run cost: -verify."""
        own = replace(self.cost)
        status, summary, text = self.run(self.options.fine, {"marks": self.path("fine.csv"), "marks_at": self.marks.at, **self.replayed()})
        if status:
            raise Problem(f"-verify: the full run in {self.options.fine} failed: {last_line(text)}")
        self.cost = own
        fine = files.read_marks(self.path("fine.csv"))
        if [mark.at for mark in fine.marks] != [mark.at for mark in self.marks.marks]:
            raise Problem(f"-verify: the program does not do the same in {self.options.fine} as in {self.options.cheap}")
        return [mark.date for mark in fine.marks], summary["overhead_share"]

    def windows(self, wanted, longer):
        """{(first mark, last mark): {mark: date}} of fine windows. Forked windows may overlap; in a mixed run those that meet are one, and the
        `longer` ones have a run of their own."""
        if self.by == "fork":
            try:
                return self.measured(wanted + longer, sorted({*wanted, *longer}))
            except Problem as problem:
                why = re.search(r"windows_by fork: (.*?)(;|$)", str(problem), re.IGNORECASE)
                if not why:
                    raise
                self.told.append(f"windows are in mixed runs, not in forked processes: {why[1]}")
                self.by = "run"
        result = {}
        for part in filter(None, (wanted, longer)):
            merged = []
            for first, last in sorted(part):
                if merged and first <= merged[-1][1]:
                    merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
                else:
                    merged.append((first, last))
            result.update(self.measured(part, merged))
        return result

    def measured(self, wanted, spans):
        files.write_windows(self.path("windows"), spans)
        settings = {"windows": self.path("windows"), "windows_model": self.options.fine, "windows_by": self.by,
                    "windows_jobs": str(self.options.jobs), "windows_result": self.path("dates.csv"), "marks_at": self.marks.at}
        status, _, text = self.run(self.options.cheap, settings | self.replayed(), load=("-load", self.options.fine))
        if status:
            raise Problem(f"a run with windows in {self.options.fine} failed: {last_line(text)}")
        return self.dates_of(wanted, spans, self.path("dates.csv"))

    def dates_of(self, wanted, spans, path):
        dates, costs, failed = files.read_dates(path)
        for window, why in failed.items():
            raise Problem(f"the window from mark {spans[window][0]} to mark {spans[window][1]} failed: {why}")
        self.count(spans, costs)
        result = {}
        for first, last in wanted:
            # Exactly its own, where windows overlap.
            window = spans.index((first, last)) if (first, last) in spans else next(
                (w for w, (begin, end) in enumerate(spans) if begin <= first and last <= end), None)
            result[first, last] = dates.get(window, {})
            if first not in result[first, last] or last not in result[first, last]:
                raise Problem(f"no window has the marks {first} and {last}: the program does not do the same in each run")
        return result

    def count(self, spans, costs):
        marks = self.marks.marks
        if self.by == "fork":
            self.cost.overhead += sum(costs.values())
            self.cost.wall += sum(costs.values())
        self.cost.windows += sum(costs.values())
        self.cost.work += sum(work(marks[first:last]) for first, last in spans)

    def fine_cost(self):
        """Processor seconds that the whole run would take in the fine model, by what its windows took for their work."""
        if not self.cost.work or not self.cost.windows:
            return None
        return self.cost.windows / self.cost.work * work(self.marks.marks)
