# SPDX-License-Identifier: BSD-3-Clause
"""Simulates the choices, all sizes of one choice in a run; a run that has a result is not repeated."""
import os
import subprocess
from dataclasses import dataclass

from pfcurve import same
from pfcurve.errors import Problem, lock_folder
from pfcurve.one import last_line, prepare, read_json
from pfcurve.pool import Pool
from pffit.simulate import QUICK, compiling, settings, started, times_by_size

from . import mpich
from .collectives import OPEN_MPI


@dataclass
class Run:
    ranks: int
    collective: str
    choice: object
    sizes: list
    folder: str = ""  # below that of all runs


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Problem(f"{os.path.basename(command[0])}: {last_line(done.stderr + done.stdout)}")
    return done.stdout


class Runs:
    def __init__(self, options, bindir, version):
        self.options, self.pfrun, self.version = options, os.path.join(bindir, "pfrun"), version
        self.out = os.path.abspath(options.output) + ".runs"
        self.lock = lock_folder("pftune", self.out, f"{options.output}.runs", "-o")
        self.program = os.path.join(self.out, "cells")
        output_of(compiling(bindir, self.program))

    def times(self, wanted):
        """Simulated times (us) by (ranks, collective, choice, bytes)."""
        missing = [run for run in wanted if not self.prepared(run)]
        if missing:
            Pool(self.out, self.options, "pftune").run(missing)
        return {(run.ranks, run.collective, run.choice, size): us for run in wanted for size, us in self.cells(run)}

    def prepared(self, run):
        """Whether there is a result; else the run's folder is made."""
        environment = same.environment() | QUICK
        if self.options.library == "mpich":
            environment |= mpich.settings(run.collective, run.choice)
        elif run.choice != OPEN_MPI:
            environment |= settings(run.collective, *run.choice)
        words = started(self.out, self.program, run.ranks // self.options.per_node, self.options.per_node, [run.collective, *map(str, run.sizes)])
        command = [self.pfrun, "-model", self.options.model, "--cfg=smpi/simulate-computation:no", *self.options.run_flags, *words]
        key = same.key(self.version, command, environment)
        segment = f"-{run.choice.segment}" if run.choice.segment else ""
        run.folder = f"{run.collective}-{run.ranks}-{run.choice.algorithm}{segment}-{key}"
        folder = os.path.join(self.out, run.folder)
        if (read_json(os.path.join(folder, "result.json")) or {}).get("ok"):
            return True
        prepare(folder, key, command, environment, self.options.timeout)
        return False

    def cells(self, run):
        folder = os.path.join(self.out, run.folder)
        result = read_json(os.path.join(folder, "result.json")) or {"why": "the run was ended from outside"}
        with open(os.path.join(folder, "output.txt"), encoding="utf-8", errors="replace") as file:
            times = times_by_size(file)
        if not result.get("ok") or len(times) != len(run.sizes):
            raise Problem(f"{run.collective} on {run.ranks} ranks, {run.choice.algorithm}: {result.get('why') or 'no times'} ({os.path.relpath(folder)})")
        return list(times.items())
