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

from pfcurve import same
from pfcurve.curve import total
from pfcurve.errors import Problem, Stopped
from pfcurve.one import last_line, read_json, write_json

from . import files, slices
from .kept import Relay, end_with_us
from .units import work

OFF = ("no", "off", "false", "0")
LIMITS = (signal.SIGXCPU, signal.SIGALRM)  # of time: they end a run, not us
SHARE = 0.2  # of the application in the processor time, above which no other model is five times as cheap
MOST = 1.1  # of the cost of the whole run in the fine model, that a sample takes
LOOK = 0.1  # s, after which we look again whether a run that may end early goes on
RECORD, REPLAY = "computation_record", "computation_replay"


@dataclass
class Cost:
    """What runs cost: all their processor seconds, and the overhead of the simulation, without start-up and the application's own time."""
    processor: float = 0.0
    overhead: float = 0.0
    application: float = 0.0  # processor seconds of the program
    startup: float = 0.0  # by the wall-clock, as the next one
    wall: float = 0.0
    runs: int = 0
    windows: float = 0.0  # processor seconds of fine windows
    work: float = 0.0  # of the program in them


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

    def key(self):
        """What it says decides what the runs do; what a pipe will say, nobody knows."""
        return [self.path, self.offset, same.fingerprint(self.path)]

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
    def __init__(self, options, pfrun, root):
        self.options, self.pfrun, self.root = options, pfrun, root
        self.number, self.folder = 0, root  # of the latest run
        self.recorded = ""  # where what the program computes is
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cost = Cost(used.ru_utime + used.ru_stime)
        self.input = Input()
        self.told = []  # what the user should know
        self.aside = None  # of a run with windows between slices: what it did between them, slices.Aside
        self.marks = None
        self.begins = None  # seconds per work of the begin of the program in the fine model, where that was looked at
        self.exact = False  # all was simulated in the fine model, and nothing in the cheap one
        self.last = 0.0  # processor seconds of the latest run
        self.once = None  # the summary of the run in the cheap model that was heard, and its work
        self.alone = 1.0  # times of the cheap model where no window ever was, over those that are known
        self.compared = 0  # iterations at the begin of a run with windows that were placed ahead, with as many others
        self.lead = []  # the window that each mixed run begins with
        self.held = {}  # {window of the run with marks: {mark: date}}
        self.environment = {k: v for k, v in os.environ.items()
                            if k not in ("PARFOCAL_REPORT", "PARFOCAL_SUMMARY", "PARFOCAL_TABLE", "PARFOCAL_MODEL")}
        computes = (setting(options, "smpi/simulate-computation") or "yes").lower() not in OFF
        known = setting(options, "parfocal/" + REPLAY) or os.environ.get("PARFOCAL_" + REPLAY.upper())
        self.records = computes and not known
        if self.records:  # who polls makes more calls in one model than in another
            self.environment["PARFOCAL_COMPUTATION_WAYS"] = "yes"

    def next(self):
        """A folder for the next run."""
        self.number += 1
        self.folder = os.path.join(self.root, "runs", str(self.number))
        if not os.path.exists(self.path("result.json")):
            shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def variables(self, settings):
        return self.environment | {"PARFOCAL_" + k.upper(): v for k, v in settings.items()}

    def command(self, model, load=()):
        return [self.pfrun, "-quiet", *self.options.run_flags, "-model", model, *load, *self.options.app]

    def run(self, model, settings, shown=False, load=(), held=False):
        """One run in the folder of the latest; returns (exit status, summary, output). What it says is shown once, in the cheap run; that of a `held` one when
        it goes on to the end of the program. One that was finished before the sample was stopped is not run again."""
        what = [self.command(model, load), settings]
        done = read_json(self.path("result.json"))
        if not done or done["what"] != what:
            done = {"what": what, **self.execute(*what, shown, held)}
            write_json(self.path("result.json"), done)
        elif shown and not (held and self.has("left")):
            self.show()
        self.last = done["processor_s"]
        self.cost.processor += self.last
        text = ""
        for name in ("output.txt", "errors.txt"):
            with open(self.path(name), encoding="utf-8", errors="replace") as file:
                text += file.read()
        summary = read_json(self.path("summary.json")) or {}
        if summary:
            summary["overhead_share"] = self.count_run(summary, done["processor_s"], done["seconds"])
        return done["status"], summary, text

    def has(self, word):
        """Whether the marks of the latest run say so, from the moment on at which that is known."""
        try:
            with open(self.path("marks.csv"), encoding="utf-8") as file:
                return file.readline() == f"# {word}\n"
        except OSError:
            return False

    def execute(self, command, settings, shown, held):
        """Runs it now, in a session of its own: whoever stops the sample stops us, and we stop the run."""
        environment = self.variables(settings) | {"PARFOCAL_SUMMARY": self.path("summary.json")}
        before, begin, relays = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic(), []
        with open(self.path("output.txt"), "wb") as output, open(self.path("errors.txt"), "wb") as errors, self.input.open() as again:
            streams = {"stdin": again, "stdout": output, "stderr": errors}
            if shown:
                one = os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())  # in which the order of lines counts
                streams = {"stdin": None, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT if one else subprocess.PIPE}
            with subprocess.Popen(command, env=environment, **streams, start_new_session=True, preexec_fn=end_with_us) as process:
                try:
                    for source, to, path in ((process.stdout, sys.stdout, output.name), (process.stderr, sys.stderr, errors.name)):
                        relays += [Relay(source, to.fileno(), path, held)] if source else []
                    status = self.watch(process, relays) if held else process.wait()
                    for relay in relays:
                        relay.end()
                except BaseException:
                    for relay in relays:
                        relay.stopped = True
                    process.terminate()
                    raise
        if status - 128 in LIMITS:
            raise Stopped(status - 128)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        return {"status": status, "processor_s": processor, "seconds": time.monotonic() - begin}

    def watch(self, process, relays):
        """Waits for a run that may end early: what it says is shown as soon as it is clear that it does not."""
        status = None
        while status is None:
            try:
                status = process.wait(timeout=LOOK)
            except subprocess.TimeoutExpired:
                pass
            for relay in relays:
                relay.held = self.has("left") if status is not None else not self.has("whole")
        return status

    def show(self):
        """What the latest run said."""
        for name, stream in (("output.txt", sys.stdout), ("errors.txt", sys.stderr)):
            stream.flush()
            with open(self.path(name), "rb") as file:
                shutil.copyfileobj(file, stream.buffer)
            stream.flush()

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

    def in_fine(self, marks=0):
        """(exit status, summary) of a run in the fine model that is heard. `marks`: of these, it looks whether another model may save something: then it
        ends at once, heard by nobody."""
        self.next()
        ends = {"marks_end": str(marks), "marks_end_share": str(SHARE)} if marks else {}
        status, summary, _ = self.run(self.options.fine, {"marks": self.path("marks.csv"), **ends} | self.recording(), shown=True, held=bool(marks))
        if status == 0:
            self.marks = files.read_marks(self.path("marks.csv"))
            self.exact = not self.marks.left
            self.begins = None if self.exact else self.seconds_per_work(summary)
        return status, summary

    def seconds_per_work(self, summary):
        """Of the latest run, with the application's and without those of its start."""
        return (summary["overhead_share"] + total(summary, "application_cpu_s")) / max(work(self.marks.marks), 1)

    def pays(self, summary, least):
        """Whether the begin of the program took so many times longer in the fine model than in the cheap one."""
        return not self.begins or self.begins >= least * self.seconds_per_work(summary)

    def affords(self):
        """Whether a further run keeps the sample below the cost of the whole run in the fine model."""
        if not self.begins or not self.fine_cost():
            return True
        return self.cost.processor + self.last <= MOST * self.fine_cost()

    def begin(self, marks, at="auto"):
        """The begin of the program in the cheap model, heard by nobody: so many marks, all of it if that is less. Whether it is all, and well."""
        self.next()
        settings = {"marks": self.path("marks.csv"), "marks_at": at, "marks_end": str(marks)} | self.recording()
        status, self.short, _ = self.run(self.options.cheap, settings)
        self.marks = files.read_marks(self.path("marks.csv")) if status == 0 else None
        if status == 0:
            self.once = self.short, work(self.marks.marks)
        return status == 0 and len(self.marks.marks) <= marks

    def cheap(self, shown=True, at="auto", spans=()):
        """(exit status, summary) of the run that shows the application, or is to succeed without a word; what it computes is measured here and
        replayed in all others. `spans`: windows in it, if the program goes on so far."""
        self.next()
        settings = {"marks": self.path("marks.csv"), "marks_at": os.environ.get("PARFOCAL_MARKS_AT", at)} | self.recording()
        load = ()
        if spans:
            known = {k: v for k, v in self.window_settings(spans).items() if k != REPLAY}
            settings = known | settings | {"windows_open": "yes"}
            load = ("-load", self.options.fine)
        sys.stdout.flush()
        status, summary, text = self.run(self.options.cheap, settings, shown=shown, load=load)
        if status and not shown:
            raise Problem(f"-sample: the run in {self.options.cheap} failed: {last_line(text)}")
        if status:
            return status, None
        self.marks = files.read_marks(self.path("marks.csv"))
        self.once = summary, work(self.marks.marks)
        if spans:
            dates, costs = files.read_dates(self.path("dates.csv"))
            self.held = {spans[window]: of for window, of in dates.items()}
            self.count(list(self.held), costs)
        return 0, summary

    def mark_at(self, place):
        """The cheap run once more, with marks at a place of the program."""
        self.next()
        status, _, text = self.run(self.options.cheap, {"marks": self.path("marks.csv"), "marks_at": "site:" + place, **self.replayed()})
        if status:
            raise Problem(f"-sample: the run with marks at a place of the program failed: {self.why(text)}")
        self.marks, self.held = replace(files.read_marks(self.path("marks.csv")), slices=self.marks.slices), {}

    def recording(self):
        """The latest run that measures computation is the one that others replay."""
        self.recorded = self.path("computation")
        return {RECORD: self.recorded} if self.records else {}

    def replayed(self):
        return {REPLAY: self.recorded} if self.records else {}

    def full(self, own=False):
        """Fine dates of all marks, and what the run cost: -verify, or `own`, where nothing else tells the time."""
        before = replace(self.cost)
        self.next()
        status, _, text = self.run(self.options.fine, {"marks": self.path("fine.csv"), "marks_at": self.marks.at, **self.replayed()})
        if status:
            raise Problem(f"{'-sample' if own else '-verify'}: the full run in {self.options.fine} failed: {self.why(text)}")
        if not own:
            self.cost = before
        fine, end = files.read_marks(self.path("fine.csv")), len(self.marks.marks) - 1
        if slices.differ(fine.calls, self.marks) and not own:
            self.told.append(f"the whole run makes {fine.calls} calls, not {slices.calls_of(self.marks)}: what the program does depends on time")
        if len(fine.marks) != end + 1 or any(a.at != b.at for a, b in zip(fine.marks, self.marks.marks)):
            raise Problem(f"-verify: the program does not do the same in {self.options.fine} as in {self.options.cheap}")
        return [mark.date for mark in fine.marks], self.last

    def windows(self, wanted, longer):
        """{(first mark, last mark): {mark: date}} of fine windows. Those that meet are one, and the `longer` ones have a run of their own."""
        known = {span: self.held[self.holds(span)] for span in wanted + longer if self.holds(span)}
        return known | self.mixed(*([span for span in part if span not in known] for part in (wanted, longer)))

    def mixed(self, *parts):
        """Windows in mixed runs, one for each part."""
        result = {}
        for part in filter(None, parts):
            result.update(self.measured(part, files.merged(part + self.lead)))
        return result

    def holds(self, span):
        """The window of the run with marks that holds a span."""
        return next(((first, last) for first, last in self.held if first <= span[0] and span[1] <= last), None)

    def window_settings(self, spans):
        """Of a run with these windows."""
        files.write_windows(self.path("windows"), spans)
        return {"windows": self.path("windows"), "windows_model": self.options.fine, "windows_result": self.path("dates.csv"), "marks_at": self.marks.at,
                **self.replayed()}

    def measured(self, wanted, spans):
        self.next()
        status, _, text = self.run(self.options.cheap, self.window_settings(spans), load=("-load", self.options.fine))
        if status:
            raise Problem(f"-sample: a run with windows in {self.options.fine} failed: {self.why(text)}")
        dates, costs = files.read_dates(self.path("dates.csv"))
        self.count(spans, costs)
        result = {}
        for first, last in wanted:
            window = next((w for w, (begin, end) in enumerate(spans) if begin <= first and last <= end), None)
            result[first, last] = dates.get(window, {})
            if first not in result[first, last] or last not in result[first, last]:
                raise Problem(f"no window has the marks {first} and {last}: the program does not do the same in each run")
        if self.marks.at.startswith(slices.AT) and spans[-1][1] == len(self.marks.marks) - 1:
            self.aside = slices.aside(self.marks.marks, [dates[window] for window in range(len(spans))], files.read_calls(self.path("dates.csv")))
        return result

    def count(self, spans, costs):
        marks = self.marks.marks
        self.cost.windows += sum(costs.values())
        self.cost.work += sum(work(marks[first:last]) for first, last in spans)

    def fine_cost(self):
        """Processor seconds of the whole run in the fine model, by what its windows took for their work, and the application in the run that was heard."""
        if self.exact:
            return self.last
        if not self.cost.work or not self.cost.windows or not self.once:
            return None
        summary, heard = self.once
        per_work = self.cost.windows / self.cost.work + total(summary, "application_cpu_s") / max(heard, 1)
        return per_work * work(self.marks.marks) + summary["startup_s"]
