# SPDX-License-Identifier: BSD-3-Clause
"""Runs in a folder, so many at a time: processes here, or each a Slurm job."""
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

from .errors import Problem
from .one import last_line

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "one.py")
LATENCY = 30  # seconds until a shared folder shows here what another node has written


def need_slurm(options):
    """Refuses what does not fit: --slurm without a Slurm, and what is for --slurm without that."""
    if options.slurm and not shutil.which("sbatch"):
        raise Problem("--slurm: there is no sbatch here (Debian: slurm-client)")
    if (options.partition or options.sbatch) and not options.slurm:
        raise Problem("--partition and --sbatch are for --slurm")


class Pool:
    """`options`: slurm, jobs, partition, sbatch, quiet. Runs have a folder below `out` with a run.json that one.py understands; it
    leaves result.json there in any case, unless it is ended from outside."""

    def __init__(self, out, options, tool="pfcurve"):
        self.out, self.options, self.tool = out, options, tool
        self.log = os.path.join(out, f"{tool}.log")
        self.running = {}  # process: run

    def run(self, runs):
        """Begins them in this order."""
        waiting, begin = list(reversed(runs)), time.monotonic()
        with open(self.log, "a", encoding="utf-8") as log:
            try:
                while waiting or self.running:
                    while waiting and len(self.running) < self.options.jobs:
                        self.start(waiting.pop(), log)
                    time.sleep(0.02)
                    self.running = {process: run for process, run in self.running.items() if not self.ended(process, run)}
                    self.show(self.done(runs), len(runs), time.monotonic() - begin)
            except BaseException:
                self.stop()
                raise
            finally:
                self.show(None, 0, 0)
        if self.options.slurm:
            end = time.monotonic() + LATENCY
            while self.done(runs) < len(runs) and time.monotonic() < end:
                time.sleep(0.2)
        if not self.done(runs):
            with open(self.log, encoding="utf-8", errors="replace") as text:
                raise Problem(f"{self.tool} ran nothing: {last_line(text.read())} ({os.path.relpath(self.log)})")

    def start(self, run, log):
        command = [WORKER, os.path.join(self.out, run.folder, "run.json")]
        if self.options.slurm:
            command = [*self.submit(run), f"--wrap={shlex.join(command)}"]
        # In a session of its own, so that ^C reaches this process alone, which ends all that it has started.
        self.running[subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)] = run

    def submit(self, run):
        """The job's comment is its folder, by which it can be cancelled whatever its name is."""
        options = self.options
        partition = [f"--partition={options.partition}"] if options.partition else []
        return ["sbatch", "--wait", "--ntasks=1", "--exclusive", f"--output={os.path.join(self.out, 'slurm-%j.log')}", *partition,
                *options.sbatch, f"--comment={os.path.join(self.out, run.folder)}"]

    def ended(self, process, run):
        """sbatch asks for its job less and less often, so that the result is here long before."""
        if self.options.slurm and self.done([run]):
            process.kill()
            process.wait()
        return process.poll() is not None

    def done(self, runs):
        return sum(os.path.exists(os.path.join(self.out, run.folder, "result.json")) for run in runs)

    def show(self, done, total, seconds):
        """On a terminal a line shows the progress; None takes it away."""
        if self.options.quiet or not sys.stderr.isatty():
            return
        print("\r\033[K" + ("" if done is None else self.progress(done, total, seconds)), end="", file=sys.stderr, flush=True)

    def progress(self, done, total, seconds):
        if not done:
            return f"{self.tool}: 0 of {total} runs"
        left = seconds / done * (total - done)
        text = f"{left:.0f} s" if left < 90 else f"{left / 60:.0f} min" if left < 5400 else f"{left / 3600:.1f} h"
        return f"{self.tool}: {done} of {total} runs, about {text} left"

    def stop(self):
        """^C: each process ends its run; it is killed when it does not end. Jobs are cancelled."""
        if self.options.slurm:
            ours = {os.path.join(self.out, run.folder) for run in self.running.values()}
            listed = subprocess.run(["squeue", "--noheader", "--format=%i %k"], capture_output=True, text=True, check=False).stdout
            jobs = [job for job, _, comment in (line.partition(" ") for line in listed.splitlines()) if comment in ours]
            if jobs:
                subprocess.run(["scancel", *jobs], check=False)
        for number, patience in ((signal.SIGTERM, 15), (signal.SIGKILL, 5)):
            for process in self.running:
                if process.poll() is None:
                    os.killpg(process.pid, number)
            end = time.monotonic() + patience
            while any(process.poll() is None for process in self.running) and time.monotonic() < end:
                time.sleep(0.02)
