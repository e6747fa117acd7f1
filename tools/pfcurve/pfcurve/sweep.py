# SPDX-License-Identifier: BSD-3-Clause
"""Runs points. What has a result of the same command line is not run again."""
import os
import re
from dataclasses import dataclass, field

from . import same
from .errors import lock_folder
from .one import prepare, read_json
from .options import PACKETS
from .pool import Pool

VISITS = 100  # of a rank to a phase in a model, that the picture of the ranks knows


@dataclass
class Run:
    """One run of one point."""
    point: object
    repeat: int
    command: list  # what to type, without the folder of the report
    key: str
    folder: str  # below the folder of the results
    result: dict = field(default_factory=dict)
    summary: dict = field(default_factory=dict)

    @property
    def ok(self):
        return bool(self.result.get("ok"))


class Sweep:
    def __init__(self, options, pfrun, version):
        self.options, self.pfrun, self.version = options, pfrun, version
        self.out = os.path.abspath(options.output)
        self.analytic = []  # flags for runs with model analytic
        self.runs = {}  # by key
        self.lock = None
        self.tried = set()  # keys of runs of this sweep

    def open(self):
        """Makes the folder, for this pfcurve alone."""
        self.lock = lock_folder("pfcurve", self.out, self.options.output, "--output")
        os.makedirs(os.path.join(self.out, "runs"), exist_ok=True)

    def command(self, point):
        analytic = self.analytic if "analytic" in point.models() else []
        packets = self.options.packet_flags if PACKETS & set(point.models()) else []
        return [self.pfrun, *self.options.run_flags, *analytic, *packets, *point.flags(), *self.options.app]

    def plan(self, point, repeat):
        command = self.command(point)
        key = same.key(self.version, command, repeat)
        slug = re.sub(r"[^\w.]+", "-", point.name).strip("-")[:40] or "run"
        return Run(point, repeat, command, key, f"runs/{slug}-{repeat + 1}-{key}")

    def run(self, points, repeats=None):
        """Runs what is missing and returns all runs of these points, in order."""
        wanted = [self.plan(point, repeat) for repeat in range(repeats or self.options.repeat) for point in points]
        for run in wanted:
            if run.key not in self.runs and not self.load(run):
                self.prepare(run)
        missing = [run for run in wanted if run.key not in self.runs]
        if missing:
            self.execute(missing)
            for run in missing:
                if not self.load(run):
                    run.result = {"ok": False, "why": "the run was ended from outside: no result"}
                self.runs[run.key] = run
        return [self.runs[run.key] for run in wanted]

    def load(self, run):
        """Takes over a result that is there. One that failed in an earlier sweep is tried again."""
        folder = os.path.join(self.out, run.folder)
        result = read_json(os.path.join(folder, "result.json"))
        if not result or (not result["ok"] and run.key not in self.tried):
            return False
        run.result, run.summary = result, read_json(os.path.join(folder, "summary.json")) or {}
        self.runs[run.key] = run
        return True

    def prepare(self, run):
        command = [run.command[0], "--log=root.thres:critical", *run.command[1:]]
        if run.repeat == 0:  # the pictures show the first run
            command.insert(1, f"--cfg=parfocal/timeline:{VISITS}")
        prepare(os.path.join(self.out, run.folder), run.key, command, same.environment(), self.options.timeout)

    def execute(self, runs):
        self.tried.update(run.key for run in runs)
        Pool(self.out, self.options).run(runs)
