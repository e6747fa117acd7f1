# SPDX-License-Identifier: BSD-3-Clause
"""Windows as jobs: each is a process of its own, here or on another node, which runs the program in the cheap model up to its windows."""
import json
import os
import re
from dataclasses import dataclass, field

from pfcurve.errors import Problem
from pfcurve.one import read_json
from pfcurve.workflow import Workflow

from . import files

SETTINGS = ("PARFOCAL_", "OMPI_MCA_")
REFUSED = re.compile(r"windows_by fork: (.*?)(;|$)", re.IGNORECASE)  # what a run says that cannot be copied


@dataclass
class Job:
    """One process with its windows. It copies itself at each, so that none feels another."""
    key: str
    folder: str  # below that of the sample
    spans: list
    result: dict = field(default_factory=dict)


def dealt(spans, number):
    """Windows in a row go to one job: one with early windows ends early."""
    number = min(number, len(spans))
    ends = [i * len(spans) // number for i in range(number + 1)]
    return [spans[begin:end] for begin, end in zip(ends, ends[1:])]


def prepare(runs, spans, by):
    runs.jobs += 1
    job = Job(f"job{runs.jobs}", f"jobs/{runs.jobs}", spans)
    folder = runs.path(job.folder)
    os.makedirs(folder)
    settings = runs.window_settings(spans, folder, by, 1)
    summary = {"PARFOCAL_SUMMARY": os.path.join(folder, "summary.json")}
    with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
        json.dump({"key": job.key, "command": runs.command(runs.options.cheap, ("-load", runs.options.fine)), "cwd": os.getcwd(), "timeout": None, "stdin": runs.input.path,
                   "environment": {k: v for k, v in runs.variables(settings).items() if k.startswith(SETTINGS)} | summary}, file)
    return job


def start(runs, parts, by):
    """All jobs, finished."""
    jobs = [prepare(runs, spans, by) for spans in parts]
    Workflow(runs.folder, runs.options, "-sample").run(jobs)
    for job in jobs:
        folder = runs.path(job.folder)
        job.result = read_json(os.path.join(folder, "result.json")) or {"ok": False, "why": "a job was ended from outside"}
        summary = read_json(os.path.join(folder, "summary.json"))
        if summary:
            runs.count_run(summary, job.result.get("processor_s", 0), job.result.get("seconds", 0))
    return jobs


def run(runs, spans):
    """What files.read_dates() says, of all windows. Where a program cannot be copied, each window has a job of its own."""
    jobs = start(runs, dealt(spans, runs.options.jobs) if runs.copies else [[span] for span in spans], "fork" if runs.copies else "run")
    refused = next((why for why in (REFUSED.search(job.result["why"]) for job in jobs) if why), None)
    if refused:
        runs.told.append(f"each window has a run of its own: {refused[1]}")
        runs.copies = False
        return run(runs, spans)
    dates, costs, failed, before = {}, {}, {}, 0
    for job in jobs:
        if not job.result["ok"]:
            raise Problem(f"-sample: a run with windows in {runs.options.fine} failed: {runs.why(job.result['why'])}")
        for all_of, own in zip((dates, costs, failed), files.read_dates(os.path.join(runs.path(job.folder), "dates.csv"))):
            all_of.update({before + window: what for window, what in own.items()})
        before += len(job.spans)
    return dates, costs, failed
