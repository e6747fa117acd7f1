# SPDX-License-Identifier: BSD-3-Clause
"""Runs in a folder as a Snakemake workflow: so many at a time here, or each a Slurm job."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from .errors import Problem
from .one import last_line

HERE = os.path.dirname(os.path.abspath(__file__))
WORKER = os.path.join(HERE, "one.py")


def need_slurm(options):
    """Refuses what does not fit: --slurm without a Slurm, and what is for --slurm without that."""
    if options.slurm and not shutil.which("sbatch"):
        raise Problem("--slurm: there is no sbatch here (Debian: slurm-client)")
    if (options.partition or options.sbatch) and not options.slurm:
        raise Problem("--partition and --sbatch are for --slurm")


class Workflow:
    """`options`: slurm, jobs, partition, sbatch, quiet. `name`: of the tool, for the progress line."""

    def __init__(self, out, options, name="pfcurve"):
        self.out, self.options, self.name = out, options, name

    def run(self, runs):
        """`runs` have a key, and a folder below `out` with a run.json that one.py understands; it leaves result.json there."""
        with open(os.path.join(self.out, "plan.json"), "w", encoding="utf-8") as file:
            json.dump({"worker": WORKER, "runs": [{"key": run.key, "folder": run.folder, "number": i} for i, run in enumerate(runs)]},
                      file, indent=1)
        # A single run here has nothing to schedule, and Snakemake takes longer to start than many a run.
        alone = len(runs) == 1 and not self.options.slurm
        command = [WORKER, os.path.join(self.out, runs[0].folder, "run.json")] if alone else self.command()
        log = os.path.join(self.out, "snakemake.log")
        environment = {**os.environ, "XDG_CACHE_HOME": os.path.join(self.out, ".snakemake", "cache")}
        with open(log, "a", encoding="utf-8") as output:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                       env=environment, start_new_session=True)
            try:
                self.watch(process, runs)
            except BaseException:
                self.stop(process)
                raise
        if not self.done(runs):
            with open(log, encoding="utf-8", errors="replace") as text:
                raise Problem(f"{self.name} ran nothing: {last_line(text.read())} ({os.path.relpath(log)})")

    def command(self):
        return ["snakemake", "--snakefile", os.path.join(HERE, "Snakefile"), "--directory", self.out, "--nolock",
                   "--keep-going", "--scheduler", "greedy", "--rerun-triggers", "mtime", "--nocolor", *self.engine()]

    def engine(self):
        options = self.options
        if not options.slurm:
            return ["--cores", str(options.jobs)]
        submit = ["sbatch", "--parsable", "--ntasks=1", "--exclusive", f"--output={os.path.join(self.out, 'slurm-%j.log')}"]
        submit += [f"--partition={options.partition}"] if options.partition else []
        return ["--jobs", str(options.jobs), "--cluster", " ".join([*submit, *options.sbatch]), "--cluster-cancel", "scancel",
                "--cluster-status", os.path.join(HERE, "slurm_status.py"), "--max-status-checks-per-second", "2",
                "--latency-wait", "30"]

    def done(self, runs):
        return sum(os.path.exists(os.path.join(self.out, run.folder, "result.json")) for run in runs)

    def watch(self, process, runs):
        """Waits for the workflow; on a terminal a line shows its progress."""
        shown = sys.stderr.isatty() and not self.options.quiet
        begin = time.monotonic()
        while process.poll() is None:
            time.sleep(0.2)
            if shown:
                print(f"\r\033[K{self.progress(self.done(runs), len(runs), time.monotonic() - begin)}", end="", file=sys.stderr, flush=True)
        if shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def progress(self, done, total, seconds):
        if not done:
            return f"{self.name}: 0 of {total} runs"
        left = seconds / done * (total - done)
        text = f"{left:.0f} s" if left < 90 else f"{left / 60:.0f} min" if left < 5400 else f"{left / 3600:.1f} h"
        return f"{self.name}: {done} of {total} runs, about {text} left"

    @staticmethod
    def stop(process):
        """^C: the workflow ends its runs (on Slurm: cancels them); it is killed when it does not end."""
        for number, patience in ((signal.SIGINT, 15), (signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            try:
                os.killpg(process.pid, number)
                process.wait(timeout=patience)
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                pass
