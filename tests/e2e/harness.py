# SPDX-License-Identifier: BSD-3-Clause
"""Builds and runs MPI programs under stock mpirun, stock smpirun and pfrun, with time limits. Shared by the tests."""
import difflib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PLATFORM = os.path.join(HERE, "platform", "cluster.xml")
HOSTFILE = os.path.join(HERE, "platform", "hostfile")
PACKED = os.path.join(HERE, "platform", "packed")  # two ranks on each host
# Measured computation differs from run to run; without it simulated times are the same to the last digit.
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
SIMULATION = ["--cfg=smpi/simulate-computation:no", "--log=root.thres:critical"]
CFLAGS = ["-O1", "-g", "-w"]
# The wrappers of other languages than C.
LANGUAGES = {".cpp": {"pfcc": "pfcxx", "smpicc": "smpicxx", "mpicc": "mpicxx"},
             ".f90": {"pfcc": "pff90", "smpicc": "smpif90", "mpicc": "mpif90"},
             ".f": {"pfcc": "pff77", "smpicc": "smpiff", "mpicc": "mpif77"}}


class Result:
    """What one run left behind."""

    def __init__(self, command, status, out, err):
        self.command, self.status, self.err = command, status, err
        lines = sorted(out.splitlines())  # ranks print in any order
        self.lines = lines
        self.data = [line for line in lines if not line.startswith("T ")]
        self.times = [line for line in lines if line.startswith("T ")]
        self.summary = {}  # pfrun's
        self.calls = {}  # of MPI, by model; from pfrun's summary
        self.check = {}  # how much PARFOCAL_CHECK has found, by kind
        self.functions = {}  # the same by function, when PARFOCAL_COUNT_CALLS asks for it


class Tools:
    """The commands of one build directory, and a work directory for what they make."""

    def __init__(self, bindir, work):
        self.bindir, self.work = os.path.abspath(bindir), os.path.abspath(work)
        os.makedirs(os.path.join(self.work, "include"), exist_ok=True)
        # Alone: in its folder is our mpi.h, which the stock wrappers must not see.
        shutil.copy(os.path.join(ROOT, "middleware", "include", "parfocal.h"), os.path.join(work, "include"))

    def has_model(self, model):
        """Whether this installation can use it: the first line of a model's text in pfinfo says so."""
        text = subprocess.run([self.command("pfinfo")], capture_output=True, text=True, check=True).stdout
        return re.search(rf"^  {model} +available", text, re.MULTILINE) is not None

    def command(self, name):
        path = os.path.join(self.bindir, name)
        if not os.access(path, os.X_OK):
            sys.exit(f"harness: {path} is missing; build it first, or name its folder with --bin")
        return path

    def build(self, source, compiler):
        """Compiles with pfcc, smpicc or mpicc (pfcxx... for .cpp); returns the file. Raises RuntimeError."""
        stem, extension = os.path.splitext(os.path.basename(source))
        source = os.path.abspath(source)
        target = os.path.join(self.work, f"{stem}.{compiler}")
        deps = [source] + [os.path.join(os.path.dirname(source), f) for f in os.listdir(os.path.dirname(source))
                           if f.endswith((".h", ".inc"))]
        ours = compiler == "pfcc"
        name = LANGUAGES.get(extension, {}).get(compiler, compiler)
        tool = self.command(name) if ours else name
        if ours:
            deps.append(tool)
        if os.path.exists(target) and os.path.getmtime(target) > max(map(os.path.getmtime, deps)):
            return target
        include = [] if ours else ["-I" + os.path.join(self.work, "include")]
        legacy = ["-fallow-argument-mismatch"] if extension == ".f" else []  # which pff77 has by itself
        command = [tool] + CFLAGS + legacy + include + [source, "-o", target + ".new", "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=self.work)  # where modules go
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        os.replace(target + ".new", target)
        return target

    def run(self, command, limit, environment=None, cwd=None, stdin=None):
        """Runs the command in a process group of its own and ends that after `limit` seconds (status 'timeout')."""
        env = dict(os.environ, **(environment or {}))
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
                                   errors="replace", cwd=cwd or self.work, stdin=stdin, start_new_session=True)
        try:
            out, err = process.communicate(timeout=limit)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            status = "timeout"
        shown = [f"{k}={v}" for k, v in (environment or {}).items()] + command
        return Result(" ".join(map(quote, shown)), status, out, err)

    def mpirun(self, program, np, args, limit):
        return self.run(MPIRUN + ["-np", str(np), program] + args, limit)

    def smpirun(self, program, np, args, limit, options=(), hostfile=HOSTFILE):
        command = ["smpirun", "-np", str(np), "-platform", PLATFORM, "-hostfile", hostfile, *SIMULATION, *options]
        return self.run(command + [program] + args, limit, {"E2E_SIMULATED": "1"})

    def pfrun(self, program, np, args, limit, options=(), environment=None, hostfile=HOSTFILE):
        handle, summary = tempfile.mkstemp(suffix=".json", dir=self.work)
        os.close(handle)
        fixed = {"E2E_SIMULATED": "1", "PARFOCAL_SUMMARY": summary, "PARFOCAL_LIVELOCK_POLLS": "200000"}
        command = [self.command("pfrun"), "-np", str(np), "-platform", PLATFORM, "-hostfile", hostfile, *SIMULATION,
                   *options]
        try:
            result = self.run(command + [program] + args, limit, dict(environment or {}, **fixed))
            with open(summary, encoding="utf-8") as f:
                text = f.read()
            report = result.summary = json.loads(text) if text else {"phases": []}
            result.functions = report.get("functions", {})
            result.check = report.get("check", {})
            for phase in report["phases"]:
                result.calls[phase["model"]] = result.calls.get(phase["model"], 0) + phase["calls"]
        finally:
            os.unlink(summary)
        result.command = result.command.replace(f"PARFOCAL_SUMMARY={summary} ", "")
        return result


class Checker:
    """Counts runs, and those that end otherwise than they should."""

    def __init__(self, tools):
        self.tools, self.failures, self.runs = tools, 0, 0

    def expect(self, title, result, status, pattern):
        self.runs += 1
        text = "\n".join(result.lines) + "\n" + result.err
        if result.status != status or not re.search(pattern, text):
            self.failures += 1
            print(f"FAIL {title}: status {result.status} instead of {status}, or nothing like /{pattern}/\n"
                  f"    {result.command}\n{text[-1500:]}")
        return result


def quote(word):
    return word if word and not set(word) & set("|;&<>()$`\\\"' *?[]#~=%!{}\n") - set("=") else "'" + word + "'"


def difference(expected, got):
    """The first lines of a diff, or '' when both are the same."""
    if expected == got:
        return ""
    lines = list(difflib.unified_diff(expected, got, "expected", "got", lineterm="", n=0))[2:]
    return "\n".join("    " + line for line in lines[:12]) + ("\n    ..." if len(lines) > 12 else "")
