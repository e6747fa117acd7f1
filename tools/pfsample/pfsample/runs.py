# SPDX-License-Identifier: BSD-3-Clause
"""The runs of a sample: one in the cheap model, those with fine windows, and, to verify, one all in the fine model."""
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
from dataclasses import dataclass, replace

from pfcurve.curve import total
from pfcurve.errors import Problem
from pfcurve.one import last_line, read_json

from . import files, jobs, slices
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


class CopyFailed(Problem):
    """A forked window did not come to its end."""


class Input:
    """The stdin of the first run, for all others: what is a file is read again, from the same place on."""

    def __init__(self):
        self.path, self.offset, self.pipe = os.devnull, 0, False
        try:
            kind = os.fstat(0).st_mode
            self.pipe = not stat.S_ISREG(kind) and not stat.S_ISCHR(kind)
            if stat.S_ISREG(kind):
                self.path, self.offset = os.path.realpath("/proc/self/fd/0"), os.lseek(0, 0, os.SEEK_CUR)
        except OSError:  # there is none
            pass

    def open(self):
        try:
            file = open(self.path, "rb", buffering=0)
        except OSError:  # it has been removed meanwhile
            return open(os.devnull, "rb", buffering=0)
        file.seek(self.offset)
        return file


def setting(options, key):
    """The last value of a --cfg, None when there is none."""
    values = [text.partition(":")[2] for text in options.settings if text.partition(":")[0] == key]
    return values[-1] if values else None


class Runs:
    def __init__(self, options, pfrun, folder):
        self.options, self.pfrun, self.folder = options, pfrun, folder
        self.cost = Cost()
        self.by = options.by
        self.jobs, self.copies = 0, True  # so far; whether a run of the program can be copied
        self.input = Input()
        self.told = []  # what the user should know
        self.aside = None  # of a run with windows between slices: what it did between them, slices.Aside
        self.marks = None
        self.alone = 1.0  # times of the cheap model where no window ever was, over those that are known
        self.compared = 0  # iterations at the begin of a run with windows that were placed ahead, with as many others
        self.lead = []  # the window that each mixed run begins with
        self.held, self.states = {}, {}  # {window of the run with marks: {mark: date}}, and how far apart ranks were
        self.environment = {k: v for k, v in os.environ.items()
                            if k not in ("PARFOCAL_REPORT", "PARFOCAL_SUMMARY", "PARFOCAL_TABLE", "PARFOCAL_MODEL")}
        computes = (setting(options, "smpi/simulate-computation") or "yes").lower() not in OFF
        known = setting(options, "parfocal/" + REPLAY) or os.environ.get("PARFOCAL_" + REPLAY.upper())
        self.records = computes and not known
        if self.records:  # who polls makes more calls in one model than in another
            self.environment["PARFOCAL_COMPUTATION_WAYS"] = "yes"

    def path(self, name):
        return os.path.join(self.folder, name)

    def variables(self, settings):
        return self.environment | {"PARFOCAL_" + k.upper(): v for k, v in settings.items()}

    def command(self, model, load=()):
        return [self.pfrun, "-quiet", *self.options.run_flags, "-model", model, *load, *self.options.app]

    def run(self, model, settings, shown=False, load=(), apart=False):
        """One run; returns (exit status, summary, output). The application's output is shown once, in the cheap run; `apart`: what goes to
        stderr has a file of its own."""
        summary = self.path("summary.json")
        if os.path.exists(summary):
            os.remove(summary)
        environment, command = self.variables(settings) | {"PARFOCAL_SUMMARY": summary}, self.command(model, load)
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        with open(self.path("output.txt"), "wb") as output, open(self.path("errors.txt"), "wb") as errors, self.input.open() as again:
            with subprocess.Popen(command, env=environment, stdin=None if shown else again, stdout=None if shown else output,
                                  stderr=None if shown else errors if apart else subprocess.STDOUT) as process:
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
            result["overhead_share"] = self.count_run(result, processor, time.monotonic() - begin)
        return status, result, text

    def why(self, text):
        """In a line, why a run has failed that went well in the cheap model."""
        line = re.sub(r"^parfocal: (error|warning): ", "", last_line(text))
        if "has not come to its marks" in line:
            line = f"the program passes fewer marks than in {self.options.cheap}: what it does depends on time"
        return line + " (it may read stdin: a file, not a pipe, can be read again)" * self.input.pipe

    def count_run(self, summary, processor, seconds):
        """Adds what a run has cost; returns its overhead. A simulation is one thread: on a busy machine it had a share of the wall-clock. What
        children did is theirs."""
        overhead = total(summary, "overhead_s")
        share = min(1.0, processor / max(seconds, 1e-9))
        self.cost.overhead += overhead * share
        self.cost.application += total(summary, "application_cpu_s")
        self.cost.startup += summary["startup_s"]
        self.cost.wall += overhead
        self.cost.runs += 1
        return overhead * share

    def begin(self, marks, at="auto"):
        """The begin of the program in the cheap model, heard by nobody: so many marks, all of it if that is less. Whether it is all, and well."""
        settings = {"marks": self.path("marks.csv"), "marks_at": at, "marks_end": str(marks)} | ({RECORD: self.path("computation")} if self.records else {})
        status, self.short, _ = self.run(self.options.cheap, settings, apart=True)
        self.marks = files.read_marks(self.path("marks.csv")) if status == 0 else None
        return status == 0 and len(self.marks.marks) <= marks

    def heard(self):
        """The run that was the begin and came to the end of the program: what it said is said now."""
        for name, stream in (("output.txt", sys.stdout), ("errors.txt", sys.stderr)):
            stream.flush()
            with open(self.path(name), "rb") as file:
                shutil.copyfileobj(file, stream.buffer)
            stream.flush()
        return 0, self.short

    def cheap(self, shown=True, at="auto", spans=()):
        """(exit status, summary) of the run that shows the application, or is to succeed without a word; what it computes is measured here and
        replayed in all others. `spans`: windows in it, if the program goes on so far."""
        settings = {"marks": self.path("marks.csv"), "marks_at": os.environ.get("PARFOCAL_MARKS_AT", at)}
        if self.records:
            settings[RECORD] = self.path("computation")
        load = ()
        if spans:
            known = {k: v for k, v in self.window_settings(spans, self.folder, self.by, 1).items() if k != REPLAY}
            settings = known | settings | {"windows_open": "yes"}
            load = ("-load", self.options.fine)
        sys.stdout.flush()
        status, summary, text = self.run(self.options.cheap, settings, shown=shown, load=load)
        if status and not shown:
            raise Problem(f"-sample: the run in {self.options.cheap} failed: {last_line(text)}")
        if status:
            return status, None
        self.marks = files.read_marks(self.path("marks.csv"))
        if spans:
            dates, costs, _ = files.read_dates(self.path("dates.csv"))
            self.held = {spans[window]: of for window, of in dates.items()}
            self.states = {spans[window]: of for window, of in files.read_states(self.path("dates.csv")).items()}
            self.count(list(self.held), costs, "run")
        return 0, summary

    def mark_at(self, place):
        """The cheap run once more, with marks at a place of the program."""
        status, _, text = self.run(self.options.cheap, {"marks": self.path("marks.csv"), "marks_at": "site:" + place, **self.replayed()})
        if status:
            raise Problem(f"-sample: the run with marks at a place of the program failed: {self.why(text)}")
        self.marks, self.held = replace(files.read_marks(self.path("marks.csv")), slices=self.marks.slices), {}

    def replayed(self):
        return {REPLAY: self.path("computation")} if self.records else {}

    def full(self, own=False):
        """Fine dates of all marks, and what the run cost: -verify, or `own`, where nothing else tells the time."""
        before = replace(self.cost)
        status, summary, text = self.run(self.options.fine, {"marks": self.path("fine.csv"), "marks_at": self.marks.at, **self.replayed()})
        if status:
            raise Problem(f"{'-sample' if own else '-verify'}: the full run in {self.options.fine} failed: {self.why(text)}")
        if not own:
            self.cost = before
        fine, end = files.read_marks(self.path("fine.csv")), len(self.marks.marks) - 1
        if slices.differ(fine.calls, self.marks) and not own:
            self.told.append(f"the whole run makes {fine.calls} calls, not {slices.calls_of(self.marks)}: what the program does depends on time")
        more = len(fine.marks) - end - 1  # than are known, behind the last iteration that was told
        both, told = list(zip(fine.marks, self.marks.marks[:end])), self.options.iterations
        if more < 0 or (more and not told) or any(a.at != b.at or (told and a.calls != b.calls) for a, b in both):
            raise Problem(f"-verify: the program does not do the same in {self.options.fine} as in {self.options.cheap}")
        return [mark.date for mark in fine.marks[:end + 1]], summary["overhead_share"]

    def windows(self, wanted, longer):
        """{(first mark, last mark): {mark: date}} of fine windows. Forked windows may overlap; in a mixed run those that meet are one, and the
        `longer` ones have a run of their own."""
        known = {span: self.held[self.holds(span)] for span in wanted + longer if self.holds(span)}
        if known:
            rest = [[span for span in part if span not in known] for part in (wanted, longer)]
            return known | (self.windows(*rest) if any(rest) else {})
        spans = sorted({*wanted, *longer})
        try:
            if self.by == "fork":
                return self.measured(wanted + longer, spans, "fork")
            if self.by == "again":
                return self.dates_of(wanted + longer, spans, *jobs.run(self, spans), "again")
        except Problem as problem:
            why = re.search(r"windows_by fork: (.*?)(;|$)", str(problem), re.IGNORECASE)
            if not why and not isinstance(problem, CopyFailed):
                raise
            self.told.append(f"windows are in mixed runs, not in forked processes: {why[1] if why else problem}")
            self.by = "run"
        return self.mixed(wanted, longer)

    def mixed(self, *parts):
        """Windows in mixed runs, one for each part."""
        result = {}
        for part in filter(None, parts):
            result.update(self.measured(part, files.merged(part + self.lead), "run"))
        return result

    def holds(self, span):
        """The window of the run with marks that holds a span."""
        return next(((first, last) for first, last in self.held if first <= span[0] and span[1] <= last), None)

    def window_settings(self, spans, folder, by, copies):
        """Of a run with these windows, `copies` at a time."""
        files.write_windows(os.path.join(folder, "windows"), spans)
        return {"windows": os.path.join(folder, "windows"), "windows_model": self.options.fine, "windows_by": by, "windows_jobs": str(copies),
                "windows_result": os.path.join(folder, "dates.csv"), "marks_at": self.marks.at, **self.replayed()}

    def measured(self, wanted, spans, by):
        settings = self.window_settings(spans, self.folder, by, self.options.jobs)
        status, _, text = self.run(self.options.cheap, settings, load=("-load", self.options.fine))
        if status:
            raise Problem(f"-sample: a run with windows in {self.options.fine} failed: {self.why(text)}")
        dates, costs, failed = files.read_dates(self.path("dates.csv"))
        result = self.dates_of(wanted, spans, dates, costs, failed, by)
        if by == "run" and self.marks.at.startswith(slices.AT) and spans[-1][1] == len(self.marks.marks) - 1:
            self.aside = slices.aside(self.marks.marks, [dates[window] for window in range(len(spans))], files.read_calls(self.path("dates.csv")))
        return result

    def dates_of(self, wanted, spans, dates, costs, failed, by):
        for window, why in failed.items():
            raise CopyFailed(f"{why} between marks {spans[window][0]} and {spans[window][1]} (a copy can open no file to write to)")
        self.count(spans, costs, by)
        result = {}
        for first, last in wanted:
            # Exactly its own, where windows overlap.
            window = spans.index((first, last)) if (first, last) in spans else next(
                (w for w, (begin, end) in enumerate(spans) if begin <= first and last <= end), None)
            result[first, last] = dates.get(window, {})
            if first not in result[first, last] or last not in result[first, last]:
                raise Problem(f"no window has the marks {first} and {last}: the program does not do the same in each run")
        return result

    def count(self, spans, costs, by):
        marks = self.marks.marks
        if by == "fork" or (by == "again" and self.copies):  # what copies did is not in the run's own
            self.cost.overhead += sum(costs.values())
            self.cost.wall += sum(costs.values())
        self.cost.windows += sum(costs.values())
        self.cost.work += sum(work(marks[first:last]) for first, last in spans)

    def fine_cost(self):
        """Processor seconds that the whole run would take in the fine model, by what its windows took for their work."""
        if not self.cost.work or not self.cost.windows:
            return None
        return self.cost.windows / self.cost.work * work(self.marks.marks)
