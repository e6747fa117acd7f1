# SPDX-License-Identifier: BSD-3-Clause
"""The runs of a sample: one in the cheap model, those with sampled regions, and, to verify, one all in the fine model."""
import ctypes
import fcntl
import glob
import itertools
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace

from pfcurve import same
from pfcurve.curve import total
from pfcurve.errors import Problem, Stopped
from pfcurve.one import last_line, read_json, write_json

from . import thresholds, units
from .units import work

OFF = ("no", "off", "false", "0")
LIMITS = (signal.SIGXCPU, signal.SIGALRM)  # of time: they end a run, not us
LOOK = 0.1  # s between two looks at the output of a run
REPLAY = "computation_replay"
NAME = ".parfocal-sample-"


@dataclass
class Cost:
    """What runs cost."""
    processor: float = 0.0  # s, in all
    overhead: float = 0.0  # processor seconds without start-up and the application's own time
    application: float = 0.0  # processor seconds of the program
    startup: float = 0.0  # by the wall-clock, as the next one
    wall: float = 0.0
    runs: int = 0
    regions: float = 0.0  # processor seconds of sampled regions
    work: float = 0.0  # of the program in them


class Input:
    """The stdin of the first run, for all others: a file is read again, from the same offset on."""

    def __init__(self):
        self.path, self.offset, self.pipe = os.devnull, 0, False
        try:
            kind = os.fstat(0).st_mode
            self.pipe = not stat.S_ISREG(kind) and not stat.S_ISCHR(kind)
            if stat.S_ISREG(kind):
                self.path, self.offset = "/proc/self/fd/0", os.lseek(0, 0, os.SEEK_CUR)  # which opens a file that has been removed as well
        except OSError:  # there is none
            pass

    def key(self):
        """The contents of a file decide what the runs do; those of a pipe are unknown."""
        return [self.path, self.offset, same.fingerprint(self.path)]

    def open(self):
        file = open(self.path, "rb", buffering=0)
        file.seek(self.offset)
        return file


class Kept:
    """In the folder of the report, else in the current one. The command names it; what the files of the command contain, and stdin, is in its key."""

    def __init__(self, where, version, command, stdin):
        self.key = same.key(version, command, same.fingerprint(command[0]), *stdin)
        where = where or (os.getcwd() if os.access(".", os.W_OK) else tempfile.gettempdir())
        name = os.path.join(os.path.abspath(where), NAME + same.digest(command, os.getcwd()))
        self.folder, self.lock = next(filter(None, (self.locked(f"{name}-{number}") for number in itertools.count(1))))
        self.before = self.finished()

    def locked(self, folder):
        """(the folder, a lock on it) for us alone, None where another one works in it: the same command may run twice at a time."""
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if os.stat(folder).st_uid != os.getuid():
                return None
            lock = open(os.path.join(folder, ".lock"), "a+", encoding="utf-8")
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(lock.fileno()), os.stat(lock.name)):
                return None
        except (BlockingIOError, FileNotFoundError):
            return None
        except OSError as error:
            raise Problem(f"-sample: {folder}: {error.strerror}") from None
        lock.seek(0)
        if lock.read() != self.key:
            for entry in os.scandir(folder):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
            lock.truncate(0)
            lock.write(self.key)
            lock.flush()
        return folder, lock

    def finished(self):
        return len(glob.glob(os.path.join(glob.escape(self.folder), "*", "*", "result.json")))

    def __enter__(self):
        return self

    def __exit__(self, kind, stopped, _):
        if kind is Stopped and self.finished():
            stopped.kept = f"finished runs ({self.finished()}) are kept in {os.path.relpath(self.folder)}, and the same command goes on from there"
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.lock.close()


def end_with_us():
    """In a child of ours: it gets SIGTERM when we are killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def processor_s():
    """Of all runs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def word(folder, name):
    """What follows a word in the comments of a run's markers; None where it is not there."""
    try:
        with open(os.path.join(folder, "markers.csv"), encoding="utf-8") as file:
            return next((line[len(name) + 3:].strip() for line in file if line.startswith(f"# {name} ") and line.endswith("\n")), None)
    except OSError:
        return None


def show(folder, sent=(0, 0)):
    """Copies the output of a run, from these offsets on; returns where it ends."""
    ends = []
    for name, stream, offset in zip(("output.txt", "errors.txt"), (sys.stdout, sys.stderr), sent):
        stream.flush()
        with open(os.path.join(folder, name), "rb") as file:
            file.seek(offset)
            shutil.copyfileobj(file, stream.buffer)
            ends.append(file.tell())
        stream.flush()
    return ends


class Running:
    """A run under way, in a session of its own: a signal ends the sample, which ends the run."""

    def __init__(self, folder, what, environment, stdin, shown):
        self.folder, self.what, self.shown, self.sent, self.left = folder, what, shown, (0, 0), False
        command, _, hold = what
        self.word, _, marker = hold.partition(" ")  # with which it waits for us
        ends = os.pipe() if hold else ()
        if hold:
            environment["PARFOCAL_MARKERS_HOLD"] = f"{ends[0]}:{marker}" if marker else str(ends[0])
        self.pipe = ends[1] if hold else None
        one = shown and os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())  # in which the order of lines counts
        self.before, self.begin = processor_s(), time.monotonic()
        with open(os.path.join(folder, "output.txt"), "wb") as output, open(os.path.join(folder, "errors.txt"), "wb") as errors:
            self.process = subprocess.Popen(command, env=environment, stdin=stdin, stdout=output, stderr=output if one else errors,
                                            start_new_session=True, preexec_fn=end_with_us, pass_fds=ends[:1])
        if hold:
            os.close(ends[0])

    def watch(self):
        """The exit status; None when it waits. Output that is shown comes as soon as it is clear that the run goes on."""
        status = None
        while status is None:
            try:
                status = self.process.wait(timeout=LOOK if self.shown or self.word else None)
            except subprocess.TimeoutExpired:
                if self.word and word(self.folder, self.word):
                    return None
            except BaseException:
                self.process.terminate()
                raise
            if self.shown and not self.left and (status is not None or not self.word or word(self.folder, "whole")):
                self.sent = show(self.folder, self.sent)
        return status

    def release(self, on):
        """A run that waits goes `on`, or ends."""
        self.before, self.word, self.left = processor_s(), "", not on
        if on:
            os.write(self.pipe, b"g")
        os.close(self.pipe)


def setting(options, key):
    """The last value of a --cfg, None when there is none."""
    values = [text.partition(":")[2] for text in options.cfg if text.partition(":")[0] == key]
    return values[-1] if values else None


class Runs:
    def __init__(self, options, pfrun, root):
        self.options, self.pfrun, self.root = options, pfrun, root
        self.number, self.folder = 0, root  # of the latest run
        self.recorded = ""  # the file with the computation of the program
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cost = Cost(used.ru_utime + used.ru_stime)
        self.input = Input()
        self.notes = []  # for the user
        self.markers = None
        self.waiting = None  # the run in the fine model that waits after its begin: it goes on where a sample would not pay
        self.early = None  # the marker up to which another model is compared, and the processor seconds up to there
        self.times = None  # that the begin of the program takes as long in the fine model as in the cheap one
        self.hidden = ""  # the folder of the run in the cheap model whose output is shown where the waiting run ends
        self.exact = False  # all was simulated in the fine model, and nothing in the cheap one
        self.last = 0.0  # processor seconds of the latest run
        self.once = None  # the summary of the latest run in the cheap model without regions of other runs, and its work
        self.alone = 1.0  # times of the cheap model before any region, over those that are known
        self.compared = 0  # iterations at the begin of an online sample that are compared with as many others
        self.lead = []  # the region that each mixed run begins with
        self.held = {}  # {region of the run with markers: {marker: date}}
        self.environment = {k: v for k, v in os.environ.items()
                            if k not in ("PARFOCAL_REPORT", "PARFOCAL_SUMMARY", "PARFOCAL_TABLE", "PARFOCAL_MODEL")}
        computes = (setting(options, "smpi/simulate-computation") or "yes").lower() not in OFF
        self.records = computes and not (setting(options, "parfocal/" + REPLAY) or os.environ.get("PARFOCAL_" + REPLAY.upper()))
        if self.records:  # a program that polls makes more calls in one model than in another
            self.environment["PARFOCAL_COMPUTATION_WAYS"] = "yes"

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, model, at, markers=True, records=False, spans=(), shown=False, hold="", failed="", **settings):
        """One run in a folder of its own: (exit status, summary); a Problem that begins with `failed` where that is given. `at`: which markers have
        numbers; `records`: what the program computes is measured, else replayed; `spans`: regions; `hold`: the word with which the run waits for us, and,
        behind a blank, the marker: (None, Running) when it does. A run that was finished before the sample was stopped is not repeated."""
        self.number += 1
        self.folder = os.path.join(self.root, "runs", str(self.number))
        done = read_json(self.path("result.json"))
        if not done:
            shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder, exist_ok=True)
        settings["markers_at"] = at
        if markers:
            settings["markers"] = self.path("markers.csv")
        if spans:
            units.write_regions(self.path("regions"), spans)
            settings |= {"regions": self.path("regions"), "regions_model": self.options.fine}
        if self.records:
            self.recorded = self.path("computation") if records else self.recorded
            settings["computation_record" if records else REPLAY] = self.recorded
        command = [self.pfrun, "-quiet", *self.options.run_flags, "-model", model, *(["-load", self.options.fine] if spans else []), *self.options.app]
        what = [command, settings, hold]
        if done and done["what"] == what:
            if shown and not done["left"]:
                self.show()
            return self.count_result(done, failed)
        environment = self.environment | {"PARFOCAL_" + k.upper(): v for k, v in settings.items()} | {"PARFOCAL_SUMMARY": self.path("summary.json")}
        with self.input.open() as again:
            run = Running(self.folder, what, environment, None if shown else again, shown)
        status = run.watch()
        return (None, run) if status is None else self.end(run, status, failed)

    def word(self, name):
        """What follows a word in the markers of the latest run, which is written as soon as it is known; None where the word is not there."""
        return word(self.folder, name)

    def end(self, run, status, failed=""):
        """(exit status, summary) of a run that has ended."""
        if status - 128 in LIMITS:
            raise Stopped(status - 128)
        self.folder = run.folder
        done = {"what": run.what, "status": status, "processor_s": processor_s() - run.before, "seconds": time.monotonic() - run.begin, "left": run.left}
        write_json(self.path("result.json"), done)
        return self.count_result(done, failed)

    def count_result(self, done, failed=""):
        self.last = done["processor_s"]
        self.cost.processor += self.last
        summary = read_json(self.path("summary.json")) or {}
        if summary:
            summary["overhead_share"] = self.count_run(summary, done["processor_s"], done["seconds"])
        if done["status"] and failed:
            raise Problem(f"{failed}: {self.why()}")
        return done["status"], summary

    def show(self):
        show(self.folder)

    def why(self):
        """In a line, why the latest run has failed, although the program went well in the cheap model."""
        text = ""
        for name in ("output.txt", "errors.txt"):
            with open(self.path(name), encoding="utf-8", errors="replace") as file:
                text += file.read()
        return re.sub(r"^parfocal: (error|warning): ", "", last_line(text)) + " (it may read stdin: a file, not a pipe, can be read again)" * self.input.pipe

    def count_run(self, summary, processor, seconds):
        """Adds what a run has cost; returns its overhead. A simulation is one thread, which on a busy machine has a share of the wall-clock."""
        overhead = total(summary, "overhead_s")
        share = min(1.0, processor / max(seconds, 1e-9))
        self.cost.overhead += overhead * share
        self.cost.application += total(summary, "application_cpu_s")
        self.cost.startup += summary["startup_s"]
        self.cost.wall += overhead
        self.cost.runs += 1
        return overhead * share

    def in_fine(self, markers=0):
        """(exit status, summary) of a run in the fine model that is shown. `markers`: after so many it decides whether another model may save something;
        then it waits, and there is no status."""
        ends = {"markers_end": str(markers), "markers_end_share": str(thresholds.APPLICATION_SHARE)} if markers else {}
        status, summary = self.run(self.options.fine, "auto", records=True, shown=True, hold="left" if markers else "", **ends)
        early = self.word("early")
        if early and (status is None or self.word("left") and not self.word("whole")):
            self.early = early.split()
        if status is None:
            self.waiting = summary
        elif not self.early:
            self.all_in_fine(status)
        return status, summary

    def all_in_fine(self, status):
        self.exact = status == 0
        self.markers = units.read_markers(self.path("markers.csv")) if self.exact else None

    def go_on(self):
        """As in_fine(), all of it: by the run that waits, where there is one."""
        run, self.waiting, self.early, self.hidden = self.waiting, None, None, ""
        if not run:
            return self.in_fine()
        run.release(True)
        self.recorded = os.path.join(run.folder, "computation") if self.records else ""
        status, summary = self.end(run, run.watch())
        self.all_in_fine(status)
        return status, summary

    def leave(self):
        """Ends the run that waits: the sample is taken."""
        run, latest, self.waiting = self.waiting, self.folder, None
        if run:
            run.release(False)
            last = self.last
            self.end(run, run.watch())
            self.folder, self.last = latest, last
        if self.hidden:
            show(self.hidden)
            self.hidden = ""

    def close(self):
        if self.waiting:
            self.waiting.release(False)
            self.waiting.process.wait()

    def pays(self, least):
        """Whether the begin of the program took so many times longer in the fine model than in the cheap one."""
        return self.times is None or self.times >= least

    def affords(self):
        """Whether a further run keeps the sample below the cost of the whole run in the fine model."""
        whole = self.times and self.fine_cost()
        return not whole or self.cost.processor + self.last <= thresholds.MOST_COST * whole

    def begin(self, markers, at="auto"):
        """The begin of the program in the cheap model, which is not shown: so many markers, or all of it. Whether that is all, and no failure. It ends where
        the run in the fine model was early, if it took nearly as long up to there."""
        hold = f"held {self.early[0]}" if self.early and self.times is None else ""
        status, self.short = self.run(self.options.cheap, at, records=True, hold=hold, markers_end=str(markers))
        held = self.word("held")
        if held:
            self.times = float(self.early[1]) / max(float(held.split()[1]), 1e-3)
        if status is None:
            self.short.release(self.pays(thresholds.ONE_RUN))
            status, self.short = self.end(self.short, self.short.watch())
        whole = status == 0 and self.pays(thresholds.ONE_RUN)
        self.markers = units.read_markers(self.path("markers.csv")) if whole else None
        if whole:
            self.once = self.short, work(self.markers.all)
        return whole and len(self.markers.all) <= markers

    def cheap(self, shown=True, at="auto", spans=(), fails=False):
        """(exit status, summary) of the run in which the output of the application is `shown`, or which must not fail, but for `fails`. `spans`: regions in
        it, as far as the program goes on."""
        sys.stdout.flush()
        failed = "" if shown or fails else f"-sample: the run in {self.options.cheap} failed"
        status, summary = self.run(self.options.cheap, os.environ.get("PARFOCAL_MARKERS_AT", at), records=True, spans=spans, shown=shown, failed=failed)
        if status:
            return status, None
        self.markers = units.read_markers(self.path("markers.csv"))
        self.once = summary, work(self.markers.all)
        if spans:
            dates, costs = units.read_dates(self.path("regions.dates"))
            self.held = {spans[region]: of for region, of in dates.items()}
            self.count(list(self.held), costs)
        return 0, summary

    def marker_at(self, site):
        """The cheap run once more, with markers at a call site."""
        self.run(self.options.cheap, "site:" + site, failed="-sample: the run with markers at a call site failed")
        self.markers, self.held = units.read_markers(self.path("markers.csv")), {}

    def full(self, own=False):
        """Fine dates of all markers, and what the run cost: -verify, or `own`, where there is no sample."""
        before = replace(self.cost)
        self.run(self.options.fine, self.markers.at, failed=f"{'-sample' if own else '-verify'}: the full run in {self.options.fine} failed")
        if not own:
            self.cost = before
        fine = units.read_markers(self.path("markers.csv")).all
        if len(fine) != len(self.markers.all) or any(a.at != b.at for a, b in zip(fine, self.markers.all)):
            raise Problem(f"-verify: the program does not do the same in {self.options.fine} as in {self.options.cheap}")
        return [marker.date for marker in fine], self.last

    def regions(self, wanted):
        """{(first marker, last marker): {marker: date}} of sampled regions. Those that meet are one."""
        known = {span: self.held[self.holds(span)] for span in wanted if self.holds(span)}
        rest = [span for span in wanted if span not in known]
        return known | self.measured(rest, units.merged(rest + self.lead)) if rest else known

    def holds(self, span):
        """The region of the run with markers that holds a span."""
        return next(((first, last) for first, last in self.held if first <= span[0] and span[1] <= last), None)

    def measured(self, wanted, spans):
        failed = f"-sample: a run with sampled regions in {self.options.fine} failed"
        self.run(self.options.cheap, self.markers.at, markers=False, spans=spans, failed=failed)
        dates, costs = units.read_dates(self.path("regions.dates"))
        if len(dates) < len(spans):
            raise Problem(f"{failed}: the program passes fewer markers than in {self.options.cheap}: what it does depends on time")
        self.count(spans, costs)
        return {(first, last): next(dates[n] for n, (begin, end) in enumerate(spans) if begin <= first and last <= end) for first, last in wanted}

    def count(self, spans, costs):
        self.cost.regions += sum(costs.values())
        self.cost.work += sum(work(self.markers.all[first:last]) for first, last in spans)

    def fine_cost(self):
        """Processor seconds of the whole run in the fine model, by the cost of its regions per work, and the application in the latest run of the cheap model."""
        if self.exact:
            return self.last
        if not self.cost.work or not self.cost.regions or not self.once:
            return None
        summary, done = self.once
        per_work = self.cost.regions / self.cost.work + total(summary, "application_cpu_s") / max(done, 1)
        return per_work * work(self.markers.all) + summary["startup_s"]
