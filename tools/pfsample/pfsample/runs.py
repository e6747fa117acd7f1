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
        self.begins = None  # seconds per work of the begin of the program in the fine model, where that was simulated
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

    def run(self, model, at, markers=True, records=False, spans=(), shown=False, held=False, failed="", **settings):
        """One run in a folder of its own: (exit status, summary); a Problem that begins with `failed` where that is given. `at`: which markers have
        numbers; `records`: what the program computes is measured, else replayed; `spans`: regions. The output is shown once, in the cheap run; that of a
        `held` one when it goes on to the end of the program. A run that was finished before the sample was stopped is not repeated."""
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
        if not done or done["what"] != [command, settings]:
            done = {"what": [command, settings], **self.execute(command, settings, shown, held)}
            write_json(self.path("result.json"), done)
        elif shown and not (held and self.has("left")):
            self.show()
        self.last = done["processor_s"]
        self.cost.processor += self.last
        summary = read_json(self.path("summary.json")) or {}
        if summary:
            summary["overhead_share"] = self.count_run(summary, done["processor_s"], done["seconds"])
        if done["status"] and failed:
            raise Problem(f"{failed}: {self.why()}")
        return done["status"], summary

    def has(self, word):
        """Whether the markers of the latest run have this word at their head, which is written as soon as it is known."""
        try:
            with open(self.path("markers.csv"), encoding="utf-8") as file:
                return file.readline() == f"# {word}\n"
        except OSError:
            return False

    def execute(self, command, settings, shown, held):
        """Runs it now, in a session of its own: a signal ends the sample, which ends the run."""
        environment = self.environment | {"PARFOCAL_" + k.upper(): v for k, v in settings.items()} | {"PARFOCAL_SUMMARY": self.path("summary.json")}
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        one = shown and os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())  # in which the order of lines counts
        with open(self.path("output.txt"), "wb") as output, open(self.path("errors.txt"), "wb") as errors, self.input.open() as again:
            with subprocess.Popen(command, env=environment, stdin=None if shown else again, stdout=output, stderr=output if one else errors,
                                  start_new_session=True, preexec_fn=end_with_us) as process:
                try:
                    status = self.watch(process, held) if shown else process.wait()
                except BaseException:
                    process.terminate()
                    raise
        if status - 128 in LIMITS:
            raise Stopped(status - 128)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        return {"status": status, "processor_s": processor, "seconds": time.monotonic() - begin}

    def watch(self, process, held):
        """Waits for a run whose output is shown. One that may end early is `held`, until it is clear that it does not."""
        sent, status = (0, 0), None
        while status is None:
            try:
                status = process.wait(timeout=LOOK)
            except subprocess.TimeoutExpired:
                pass
            held = held and (self.has("left") if status is not None else not self.has("whole"))
            sent = sent if held else self.show(sent)
        return status

    def show(self, sent=(0, 0)):
        """Copies the output of the latest run, from these offsets on; returns where it ends."""
        ends = []
        for name, stream, offset in zip(("output.txt", "errors.txt"), (sys.stdout, sys.stderr), sent):
            stream.flush()
            with open(self.path(name), "rb") as file:
                file.seek(offset)
                shutil.copyfileobj(file, stream.buffer)
                ends.append(file.tell())
            stream.flush()
        return ends

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
        """(exit status, summary) of a run in the fine model that is shown. `markers`: after so many the run decides whether another model may save
        something; then it ends, and its output is not shown."""
        ends = {"markers_end": str(markers), "markers_end_share": str(thresholds.APPLICATION_SHARE)} if markers else {}
        status, summary = self.run(self.options.fine, "auto", records=True, shown=True, held=bool(markers), **ends)
        if status == 0:
            self.markers = units.read_markers(self.path("markers.csv"))
            self.exact = not self.markers.left
            self.begins = None if self.exact else self.seconds_per_work(summary)
        return status, summary

    def seconds_per_work(self, summary):
        """Of the latest run, with the application's and without those of its start."""
        return (summary["overhead_share"] + total(summary, "application_cpu_s")) / max(work(self.markers.all), 1)

    def pays(self, summary, least):
        """Whether the begin of the program took so many times longer in the fine model than in the cheap one."""
        return not self.begins or self.begins >= least * self.seconds_per_work(summary)

    def affords(self):
        """Whether a further run keeps the sample below the cost of the whole run in the fine model."""
        whole = self.begins and self.fine_cost()
        return not whole or self.cost.processor + self.last <= thresholds.MOST_COST * whole

    def begin(self, markers, at="auto"):
        """The begin of the program in the cheap model, which is not shown: so many markers, or all of it. Whether that is all, and no failure."""
        status, self.short = self.run(self.options.cheap, at, records=True, markers_end=str(markers))
        self.markers = units.read_markers(self.path("markers.csv")) if status == 0 else None
        if status == 0:
            self.once = self.short, work(self.markers.all)
        return status == 0 and len(self.markers.all) <= markers

    def cheap(self, shown=True, at="auto", spans=()):
        """(exit status, summary) of the run in which the output of the application is `shown`, or which must not fail. `spans`: regions in it, as far as
        the program goes on."""
        sys.stdout.flush()
        failed = "" if shown else f"-sample: the run in {self.options.cheap} failed"
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
