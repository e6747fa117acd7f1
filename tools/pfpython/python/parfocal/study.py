# SPDX-License-Identifier: BSD-3-Clause
"""Starts pfrun and pfcurve, and reads what they have written as plain records."""
import contextlib
import csv
import os
import shutil
import subprocess
import tempfile
import types

from . import simulated
from .one import end, last_line, read_json

ABOVE = 4  # folders, from this one to that of bin: in a build directory and in an installation
NEEDS = {"efficiency": "explain=True", "critical_path": "explain=True", "rank_times": "explain=True", "timeline": "PARFOCAL_TIMELINE=100",
         "check": "PARFOCAL_CHECK=True", "functions": "PARFOCAL_COUNT_CALLS=True", "sample": "sample='2%'", "network": "model='packet'"}


class Record(types.SimpleNamespace):
    """An object of a JSON file, with its keys as attributes; vars() is the dictionary."""


class Records(list):
    """Records with the same keys."""

    def to_pandas(self):
        """A data frame, where pandas is installed; a record in a record is a column `outer.inner`."""
        import pandas
        return pandas.json_normalize([_unmade(record) for record in self])


class Run(Record):
    """What is known of a run: the keys of summary.json (docs/summary.md), with what the program has printed as `stdout`, and
    `stderr`, both "" when it is read from a file. `partial` says whether the run was cut short."""
    partial, partial_reason = False, ""
    stdout = stderr = ""

    def __getattr__(self, name):
        hint = f" (run it with {NEEDS[name]})" if name in NEEDS else ""
        raise AttributeError(f"the summary of this run has no '{name}'{hint}")


class Error(Exception):
    """A run or a sweep has failed: the line in which pfrun or pfcurve says why. `status`: its exit status; `stdout` and `stderr`;
    `run`: what is known of a run that was cut short, else None."""

    def __init__(self, text, status=None, stdout="", stderr="", run=None):
        super().__init__(text)
        self.status, self.stdout, self.stderr, self.run = status, stdout, stderr, run


def run(*command, np=None, report=None, timeout=None, pfrun=None, **options):
    """Runs a program and its arguments on `np` simulated ranks. Further keywords are pfrun's options, and settings:
    run("./app", "-n", "64", np=16, model="packet", schedule={"solve": "portals"}, explain=True, what_if={"link_bw": 2},
    cfg=["smpi/host-speed:1Gf"], PARFOCAL_NIC_RX_TIME=1e-7). A run that takes longer than `timeout` seconds is cut short. The report stays
    in the folder `report`, or is removed. Returns a Run, or raises Error."""
    with _folder(report) as folder:
        before = _written(folder, "summary.json")
        done = _execute(pfrun, "pfrun", [*_flags({"np": np, "report": folder, "quiet": True, **options}), *command], options, timeout)
        summary = read_json(os.path.join(folder, "summary.json")) if _written(folder, "summary.json") != before else None
    known = summary and _run(summary, done)
    if done.returncode or not known:
        raise Error(_why(done, "parfocal: error: ", known and known.partial_reason), done.returncode, done.stdout, done.stderr, known)
    return known


def curve(*command, np=None, output=None, timeout=None, pfcurve=None, **options):
    """Runs a program under a set of schedules, by pfcurve, whose options the keywords are: curve("./app", np=16, phases=True,
    models="analytic,smpi", fine="smpi", within="5%"). Returns a Record: `points` and `runs`, the rows of points.csv and runs.csv
    (docs/curve.md), `best`, the point of the cheapest schedule or None, and `stdout`. The files stay in the folder `output`, or are
    removed. Runs that fail are in `runs`; Error is raised when there is no curve."""
    with _folder(output) as folder:
        before = _written(folder, "points.csv")
        done = _execute(pfcurve, "pfcurve", [*_flags({"np": np, "output": folder, **options}), *command], options, timeout)
        if _written(folder, "points.csv") == before:
            raise Error(_why(done, "pfcurve: error: "), done.returncode, done.stdout, done.stderr)
        points, runs = (_table(os.path.join(folder, name)) for name in ("points.csv", "runs.csv"))
    best = next((point for point in points if point.cheapest == "yes"), None)
    return Record(points=points, runs=runs, best=best, stdout=done.stdout)


def read(path):
    """The Run whose summary is in this file, or in this folder of -report."""
    name = os.path.join(path, "summary.json") if os.path.isdir(path) else path
    summary = read_json(name)
    if not isinstance(summary, dict):
        raise Error(f"{name}: no summary of a run")
    return _run(summary)


def _flags(options):
    """Words of a command line: names and values as pfrun and pfcurve have them, lists and dictionaries with commas."""
    words = []
    for name, value in options.items():
        if value is None or value is False or name.startswith("PARFOCAL_"):
            continue
        items = [f"{key}{':' if name in ('cfg', 'log') else '='}{item}" for key, item in value.items()] if isinstance(value, dict) else value
        if name in ("cfg", "log"):
            words += [f"--{name}={item}" for item in ([items] if isinstance(items, str) else items)]
            continue
        words.append("-" + name.replace("_", "-"))
        if value is not True:
            words.append(",".join(map(str, items)) if isinstance(items, (list, tuple)) else str(items))
    return words


def _execute(given, tool, words, options, timeout):
    """In a session of its own, of which nothing is left when it is stopped."""
    if simulated:
        raise Error("this program runs in a simulation: start runs from outside of it")
    settings = {name: "yes" if value is True else "no" if value is False else str(value) for name, value in options.items()
                if name.startswith("PARFOCAL_") and value is not None}
    try:
        process = subprocess.Popen([given or _find(tool), *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, errors="replace", env=os.environ | settings, start_new_session=True)
    except OSError as error:
        raise Error(f"{given}: {error.strerror}") from None
    with process:
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            end(process)
            stdout, stderr = process.communicate()
        except BaseException:  # such as the interrupt of a notebook
            end(process)
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def _find(tool):
    """That of the build directory or installation to which this module belongs, else by PATH."""
    own = os.path.join(os.path.abspath(__file__), *[".."] * (ABOVE + 1), "bin", tool)
    path = os.path.normpath(own) if os.path.exists(os.path.normpath(own)) else shutil.which(tool)
    if not path:
        raise Error(f"{tool} is not in PATH")
    return path


def _folder(kept):
    return contextlib.nullcontext(os.path.abspath(kept)) if kept else tempfile.TemporaryDirectory(prefix="parfocal-")


def _written(folder, name):
    """Tells a file from one of an earlier run."""
    with contextlib.suppress(OSError):
        return os.stat(os.path.join(folder, name)).st_mtime_ns
    return None


def _why(done, prefix, reason=None):
    line = last_line(done.stderr)
    if line.startswith(prefix):
        return line[len(prefix):]
    why = reason or (line if done.stderr.strip() else "")
    return f"{os.path.basename(done.args[0])} ended with exit status {done.returncode}" + (f": {why}" if why else "")


def _run(summary, done=None):
    streams = {"stdout": done.stdout, "stderr": done.stderr} if done else {}
    return Run(**vars(_made(summary)), **streams)


def _made(value):
    if isinstance(value, dict):
        return Record(**{name: _made(item) for name, item in value.items()})
    return Records(map(_made, value)) if isinstance(value, list) else value


def _unmade(value):
    return {name: _unmade(item) for name, item in vars(value).items()} if isinstance(value, Record) else value


def _table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return Records(Record(**{name: _cell(text) for name, text in row.items()}) for row in csv.DictReader(file))


def _cell(text):
    with contextlib.suppress(ValueError):
        return int(text)
    with contextlib.suppress(ValueError):
        return float(text)
    return text or None
