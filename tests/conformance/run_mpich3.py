#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPI conformance: runs MPICH's test programs (the copy in SimGrid's source package, unmodified) under stock smpirun, stock
mpirun and pfrun, and compares.

What passes under stock smpirun must pass in model smpi, and what passes under stock mpirun must pass in model portals:
the exit status is 0 when that is so. Results are kept in the build directory, so a run can be interrupted and goes on.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import current
import report
import suite

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PLATFORM = os.path.join(ROOT, "tests", "e2e", "platform", "cluster.xml")
HOSTS = [f"node-{i}" for i in range(16)]
# The model changes at each, each third and each seventh communicating call of a rank, between two models or among all three.
SCHEDULES = {"every1": "every:1=smpi|portals", "every3": "every:3=smpi|portals", "every7": "every:7=smpi|portals",
             "analytic1": "every:1=analytic|portals", "analytic3": "every:3=analytic|portals",
             "packet3": "every:3=packet|portals",
             "three1": "every:1=smpi|portals|analytic", "three3": "every:3=smpi|analytic|portals"}
COLUMNS = ["smpirun", "mpirun", "smpi", "portals", "packet", "analytic", *SCHEDULES]
EXTRA = ["mpirun-cm", "mpich", "mpich:packet", "ucx", "ucx:packet"]
COMPILER = {"smpirun": "smpicc", "mpirun": "mpicc", "mpirun-cm": "mpicc"}
# The components of stock Open MPI that model portals has above its mtl/portals4, on another mtl: what fails here is theirs.
CM = ["--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", "sockets,tcp", "--mca", "osc", "pt2pt"]
CFLAGS = ["-O0", "-g", "-w", "-std=gnu99"]
QUIET = ["--cfg=smpi/simulate-computation:no", "--log=root.thres:critical"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0],
                                     epilog="These columns switch between models: "
                                            + "; ".join(f"{name} by {what}" for name, what in SCHEDULES.items())
                                            + ". One more column, mpirun-cm, is stock Open MPI with the components that "
                                            "model portals has above its mtl; mpich, ucx and those with :packet are those models.")
    parser.add_argument("folders", nargs="*", help="folders of the suite (default: " + " ".join(suite.FOLDERS) + ")")
    parser.add_argument("--current", action="store_true",
                        help="the suite of the distribution's package mpich instead of that of MPICH 3")
    parser.add_argument("--only", metavar="NAME", action="append", help="only this program; may be repeated")
    parser.add_argument("--columns", default=",".join(COLUMNS), help="what to run, separated by commas (default: %(default)s)")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="folder of pfcc and pfrun")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "conformance"),
                        help="where everything is kept (default: %(default)s; with --current: and -current)")
    parser.add_argument("-j", type=int, default=2, metavar="N", help="runs at a time (default: 2)")
    parser.add_argument("--timeout", type=int, default=60, metavar="S", help="for one run (default: 60)")
    parser.add_argument("--agree", default="follow", help="pfrun's -agree in the columns that switch (default: follow)")
    parser.add_argument("--origin", default="used,commented,unlisted",
                        help="programs that SimGrid runs, has commented out, has no line for (default: all three)")
    parser.add_argument("--quick", action="store_true", help="a selection that takes about a minute and a half")
    parser.add_argument("--all-pass", action="store_true", help="each run must pass, whatever the stock tools do")
    parser.add_argument("--rerun", choices=["none", "failed", "all"], default="none",
                        help="what to run again although there is a result (default: none)")
    parser.add_argument("--list", action="store_true", help="print the tests and do nothing")
    parser.add_argument("-v", "--verbose", action="store_true", help="print each result as it comes")
    args = parser.parse_args()
    args.columns = args.columns.split(",")
    args.kit = current if args.current else suite
    args.build += "-current" if args.current else ""
    for name in args.folders:
        if name not in args.kit.FOLDERS:
            parser.error(f"no folder {name} (there are: {' '.join(args.kit.FOLDERS)})")
    for name in args.columns:
        if name not in COLUMNS + EXTRA:
            parser.error(f"no column {name} (there are: {' '.join(COLUMNS + EXTRA)})")
    args.folders = args.folders or args.kit.FOLDERS
    args.bin, args.build = os.path.abspath(args.bin), os.path.abspath(args.build)
    return args


class Builder:
    """Builds each program once per compiler, and the suite's common code once per compiler."""

    def __init__(self, root, args):
        self.root, self.args = root, args
        self.locks, self.guard, self.archives = {}, threading.Lock(), set()

    def lock(self, target):
        with self.guard:
            return self.locks.setdefault(target, threading.Lock())

    def tool(self, compiler):
        return os.path.join(self.args.bin, "pfcc") if compiler == "pfcc" else compiler

    def current(self, target, sources, compiler):
        if not os.path.exists(target):
            return False
        inputs = list(sources)
        if compiler == "pfcc":
            inputs += [self.tool(compiler), os.path.join(ROOT, "middleware", "include", "mpi.h")]
        return os.path.getmtime(target) > max(map(os.path.getmtime, inputs))

    def compile(self, compiler, sources, target, extra):
        """Returns '' or what the compiler said."""
        with self.lock(target):
            if self.current(target, sources, compiler):
                return ""
            os.makedirs(os.path.dirname(target), exist_ok=True)
            include = [f"-I{os.path.join(self.root, folder)}" for folder in self.args.kit.INCLUDES]
            if compiler != "smpicc" and not self.args.current:  # whose mpi.h includes it, and one program relies on that
                include += ["-include", "xbt/base.h"]
            if compiler == "mpicc":
                include += ["-include", os.path.join(HERE, "mpi1_openmpi.h")]
            command = [self.tool(compiler)] + CFLAGS + include + extra[0] + sources + extra[1] + ["-o", target + ".new"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if done.returncode:
                return " ".join(command) + "\n" + done.stdout + done.stderr
            os.replace(target + ".new", target)
            return ""

    def helpers(self, compiler):
        """The suite's common code as an archive: one of its files has a main() that programs may do without."""
        folder = os.path.join(self.args.build, "bin", compiler, "util")
        archive = os.path.join(folder, "libmtest.a")
        with self.lock(archive):
            if archive in self.archives:
                return archive
            objects = []
            for name in self.args.kit.HELPERS:
                objects.append(os.path.join(folder, os.path.basename(name)[:-2] + ".o"))
                said = self.compile(compiler, [os.path.join(self.root, name)], objects[-1], (["-c"], []))
                if said:
                    raise RuntimeError(f"the suite's common code does not compile with {compiler}:\n{said}")
            subprocess.run(["ar", "rcs", archive] + objects, check=True, timeout=60)
            self.archives.add(archive)
            return archive

    def program(self, test, compiler):
        """(path, '') or (None, what the compiler said)."""
        target = os.path.join(self.args.build, "bin", compiler, test.folder, test.name)
        # SimGrid's people made one program call their library, which smpicc adds by itself.
        libraries = [self.helpers(compiler), "-lm"] + (["-Wl,--as-needed", "-lsimgrid"] if compiler == "pfcc" else [])
        said = self.compile(compiler, test.sources, target, (test.flags, libraries))
        return (None, said) if said else (target, "")


def command_of(column, test, program, args):
    hostfile = os.path.join(args.build, "hostfile")
    if column.startswith("mpirun"):
        start = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(test.np)]
        start += CM if column == "mpirun-cm" else []
    elif column == "smpirun":
        start = ["smpirun", "-np", str(test.np), "-platform", PLATFORM, "-hostfile", hostfile] + QUIET
    else:
        start = [os.path.join(args.bin, "pfrun"), "-quiet", "-np", str(test.np), "-platform", PLATFORM, "-hostfile",
                 hostfile] + QUIET
        if column in SCHEDULES:
            start += ["-schedule", SCHEDULES[column], "-agree", args.agree]
        else:
            start += ["-model", column]
    return start + [program] + test.args


def run(command, limit, folder):
    """(status, output, seconds); status 'timeout' when it took too long. Nothing that it started is left behind."""
    environment = dict(os.environ, OMPI_MCA_rmaps_base_oversubscribe="1", PARFOCAL_LIVELOCK_POLLS="2000000")
    began = time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace", dir=folder) as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=folder,
                                   env=environment, start_new_session=True)
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = "timeout"
            process.send_signal(signal.SIGTERM)  # mpirun ends its ranks, which have groups of their own
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                pass
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        out.seek(0)
        return status, out.read(200000), time.monotonic() - began


class Results:
    """What is known, on disk after each run."""

    def __init__(self, args):
        self.args = args
        self.path = os.path.join(args.build, "results.json")
        self.lock = threading.Lock()
        self.rows = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as f:
                self.rows = json.load(f)

    def log(self, test, column):
        name = hashlib.sha1(test.key.encode()).hexdigest()[:6]
        return os.path.join(self.args.build, "logs", test.folder, f"{test.name}.{test.np}.{name}.{column}")

    def wanted(self, test, column):
        known = self.rows.get(test.key, {}).get(column)
        return not known or self.args.rerun == "all" or (self.args.rerun == "failed" and known["verdict"] != "pass")

    def put(self, test, column, verdict, seconds, text):
        path = self.log(test, column)
        with self.lock:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            self.rows.setdefault(test.key, {})[column] = {"verdict": verdict, "seconds": round(seconds, 2)}
            with open(self.path + ".new", "w", encoding="utf-8") as f:
                json.dump(self.rows, f, indent=0, sort_keys=True)
            os.replace(self.path + ".new", self.path)
            if self.args.verbose:
                print(f"{test.key:40} {column:8} {verdict:10} {seconds:6.1f} s", flush=True)


def one(test, column, builder, results):
    args = results.args
    program, said = builder.program(test, COMPILER.get(column, "pfcc"))
    if not program:
        results.put(test, column, "not built", 0, said)
        return
    # The programs of io and some others leave files behind.
    folder = tempfile.mkdtemp(prefix="run-", dir=args.build)
    try:
        command = command_of(column, test, program, args)
        status, output, seconds = run(command, min(test.limit or args.timeout, args.timeout), folder)
    finally:
        subprocess.run(["rm", "-rf", folder], check=False)
    verdict = report.verdict(test.verdict, status, output)
    results.put(test, column, verdict, seconds, f"$ {' '.join(command)}\n{output}\nexit status {status}\n")


def main():
    args = arguments()
    os.makedirs(args.build, exist_ok=True)
    try:
        root = args.kit.unpack(args.build)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"run_mpich3: the programs cannot be fetched: {error}")
    tests = [t for folder in args.folders for t in args.kit.tests_of(root, folder)
             if t.origin in args.origin.split(",") and (not args.only or t.name in args.only)
             and (not args.quick or t.name in args.kit.QUICK.get(folder, "").split())]
    if not tests:
        sys.exit("run_mpich3: no such test")
    if args.list:
        for test in tests:
            print(f"{test.key:40} {test.origin}")
        return 0
    if not os.access(os.path.join(args.bin, "pfcc"), os.X_OK):
        sys.exit(f"run_mpich3: no pfcc in {args.bin}; build Parfocal first, or name the folder with --bin")
    with open(os.path.join(args.build, "hostfile"), "w", encoding="utf-8") as f:
        f.write("\n".join(HOSTS[i % len(HOSTS)] for i in range(max(t.np for t in tests))) + "\n")
    results, builder = Results(args), Builder(root, args)
    jobs = [(t, c) for t in tests for c in args.columns if results.wanted(t, c)]
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        futures = [pool.submit(one, t, c, builder, results) for t, c in jobs]
        try:
            for future in concurrent.futures.as_completed(futures):
                future.result()
        except (RuntimeError, KeyboardInterrupt) as error:
            pool.shutdown(cancel_futures=True)
            sys.exit(f"run_mpich3: {error or 'interrupted'}")
    status = report.write(tests, args.columns, results.rows, args.build)
    return report.all_passed(tests, args.columns, results) if args.all_pass else status


if __name__ == "__main__":
    sys.exit(main())
