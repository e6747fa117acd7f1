#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""NetPIPE and HPC Challenge, unmodified, from Debian's sources: fetches, builds with pfcc and runs them in smpi, in portals
and with a switch in mid-run at a collective; checks their own verdicts and prints a table.

With --wrapper mpicc or smpicc it does the same with the stock tools, to see that the recipe is right.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time

import fetch

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
HPCC_MAKE = """\
SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -s
MKDIR = mkdir -p
RM = /bin/rm -f
TOUCH = touch
ARCH = parfocal
TOPdir = ../../..
INCdir = $(TOPdir)/include
BINdir = $(TOPdir)/bin/$(ARCH)
LIBdir = $(TOPdir)/lib/$(ARCH)
HPLlib = $(LIBdir)/libhpl.a
LAlib = -lblas
F2CDEFS = -DAdd_ -DF77_INTEGER=int -DStringSunStyle
HPL_INCLUDES = -I$(INCdir) -I$(INCdir)/$(ARCH)
HPL_LIBS = $(HPLlib) $(LAlib) -lm
HPL_DEFS = $(F2CDEFS) $(HPL_INCLUDES)
CC = @CC@
CCNOOPT = $(HPL_DEFS) -w
CCFLAGS = $(HPL_DEFS) -O2 -w
LINKER = $(CC)
LINKFLAGS = -Wl,-u,main
ARCHIVER = ar
ARFLAGS = r
RANLIB = echo
"""


def run(command, folder, limit, log=None):
    """Runs a command; returns (status, output). Status 'timeout' after `limit` seconds."""
    with open(log or os.devnull, "w+", encoding="utf-8", errors="replace") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            status = "timeout"
        out.seek(0)
        return status, out.read()


def unpack(package, cache, folder):
    """Unpacks the upstream tarball afresh below `folder`; returns the source folder."""
    path = fetch.tarball(package, cache)
    with tarfile.open(path) as tar:
        top = os.path.join(folder, os.path.commonpath(tar.getnames()))
        shutil.rmtree(top, ignore_errors=True)
        tar.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # not in 3.11.2
    return top


def missing_packages(cc, options):
    """What a machine may lack on which Parfocal was built."""
    missing = [] if shutil.which("make") else ["make"]
    blas = subprocess.run([cc, "-print-file-name=libblas.so"], capture_output=True, text=True, check=False).stdout
    if options.only != "netpipe" and "/" not in blas:
        missing.append("libblas-dev")
    return " ".join(missing)


def make(arguments, folder, what):
    status, output = run(["make"] + arguments, folder, 900, os.path.join(folder, "make.log"))
    if status != 0:
        raise RuntimeError(f"{what} does not compile (see {folder}/make.log):\n" + "\n".join(output.splitlines()[-10:]))


def build_netpipe(cc, cache, folder):
    top = unpack("netpipe", cache, folder)
    make(["mpi", f"MPICC={cc}"], top, "NetPIPE")
    return os.path.join(top, "NPmpi")


def build_hpcc(cc, cache, folder):
    top = unpack("hpcc", cache, folder)
    with open(os.path.join(top, "hpl", "Make.parfocal"), "w", encoding="utf-8") as f:
        # Open MPI hides the MPI-1 names that HPL uses, unless an option says so.
        old_names = " -DOMPI_OMIT_MPI1_COMPAT_DECLS=0 -DOMPI_REMOVED_USE_STATIC_ASSERT=0" if cc == "mpicc" else ""
        f.write(HPCC_MAKE.replace("@CC@", cc + old_names))
    os.makedirs(os.path.join(top, "hpl", "lib", "parfocal"))
    make(["arch=parfocal"], top, "HPCC")
    return os.path.join(top, "hpcc")


def hpcc_input(template, n, p, q):
    """The shipped input with one problem of order n on a grid of p x q."""
    lines = open(template, encoding="utf-8").read().splitlines()
    values = {"# of problems sizes (N)": "1", "Ns": str(n), "# of NBs": "1", "NBs": "32",
              "# of process grids (P x Q)": "1", "Ps": str(p), "Qs": str(q)}
    for i, line in enumerate(lines):
        match = re.match(r"(.*\S)\s{2,}(\S.*)$", line)
        if match and match.group(2) in values:
            lines[i] = f"{values[match.group(2)]:<12} {match.group(2)}"
    return "\n".join(lines) + "\n"


def check_netpipe(folder, output):
    """NetPIPE's -i compares every byte; without it, it writes latency and bandwidth."""
    if "Doing an integrity check" in output:
        passed, failed = output.count("Integrity check passed"), output.count("Integrity check failed")
        return f"FAILED: {passed} sizes passed, {failed} failed" if failed or passed < 20 else f"{passed} sizes intact"
    rows = [line.split() for line in open(os.path.join(folder, "np.out"), encoding="utf-8")]
    if len(rows) < 10:
        return "FAILED: np.out is too short"
    return f"{float(rows[0][2]) * 1e6:.2f} us, {max(float(r[1]) for r in rows):.0f} Mb/s"


def check_hpcc(folder, _output):
    path = os.path.join(folder, "hpccoutf.txt")
    text = open(path, encoding="utf-8", errors="replace").read() if os.path.exists(path) else ""
    residuals = re.findall(r"\|\|Ax-b\|\|.*?([0-9.e+-]+) \.+ (\w+)", text)
    if "End of HPC Challenge tests" not in text:
        return "FAILED: it did not come to its end"
    if not residuals or any(verdict != "PASSED" for _, verdict in residuals):
        return "FAILED: HPL residual"
    if re.search(r"(?m)FAILED|^Success=0", text):
        return "FAILED: " + re.search(r"(?m).*FAILED.*|^Success=0", text).group(0)
    return f"HPL residual {residuals[0][0]} PASSED"


class Table:
    """Prints one line per run as it ends."""

    def __init__(self):
        self.failed = 0
        print(f"{'application':<18} {'run':<24} {'wall-clock':>10} {'simulated':>12}  {'MPI calls':<24} verdict")

    def row(self, name, mode, seconds, summary, verdict):
        self.failed += verdict.startswith("FAILED")
        simulated, calls = "", ""
        if os.path.exists(summary):
            with open(summary, encoding="utf-8") as f:
                data = json.load(f)
            simulated = f"{data['simulated_s']:.6f} s"
            calls = ", ".join(f"{model} {n}" for model, n in calls_by_model(data).items())
        print(f"{name:<18} {mode:<24} {seconds:>8.1f} s {simulated:>12}  {calls:<24} {verdict}", flush=True)


def calls_by_model(data):
    calls = {}
    for phase in data["phases"]:
        calls[phase["model"]] = calls.get(phase["model"], 0) + phase["calls"]
    return calls


def check_switched(summary, title):
    """A run with a switch in the middle must have used both models; returns '' or what is wrong."""
    with open(summary, encoding="utf-8") as f:
        calls = calls_by_model(json.load(f))
    wanted = ["smpi", "portals"] if title.startswith("switch") else [title]
    idle = [model for model in wanted if not calls.get(model)]
    return f"FAILED: no call in {', '.join(idle)}" if idle else ""


def launchers(options):
    """[(title, command without np and program)] of the runs to make."""
    common = ["-platform", options.platform, "-hostfile", options.hostfile]
    quiet = ["--log=root.thres:critical", "--cfg=smpi/host-speed:10Gf", "--cfg=smpi/grow-injected-times:no"]
    if options.wrapper == "mpicc":
        return [("mpirun", ["mpirun", "--allow-run-as-root", "--oversubscribe"])]
    if options.wrapper == "smpicc":
        return [("stock smpirun", ["smpirun"] + common + quiet)]
    pfrun = [os.path.join(options.bin, "pfrun")] + common + quiet
    switched = f"@coll:{options.coll}=portals"
    runs = [("smpi", ["-model", "smpi"]), ("portals", ["-model", "portals"]),
            ("switch " + switched, ["-model", "smpi", "-schedule", switched])]
    return [(title, pfrun + extra) for title, extra in runs]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="folder of pfcc and pfrun")
    parser.add_argument("--cache", default=os.path.join(ROOT, "build", "apps"), help="tarballs and builds are kept here")
    parser.add_argument("--wrapper", default="pfcc", choices=["pfcc", "mpicc", "smpicc"])
    parser.add_argument("--only", choices=["netpipe", "hpcc"])
    parser.add_argument("-n", type=int, default=500, help="order of HPL's matrix")
    parser.add_argument("--coll", type=int, default=20, help="the switch comes before this collective")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one run")
    e2e = os.path.join(ROOT, "tests", "e2e", "platform")
    parser.add_argument("--platform", default=os.path.join(e2e, "cluster.xml"))
    parser.add_argument("--hostfile", default=os.path.join(e2e, "hostfile"))
    options = parser.parse_args()
    options.bin, options.cache = os.path.abspath(options.bin), os.path.abspath(options.cache)

    cc = os.path.join(options.bin, "pfcc") if options.wrapper == "pfcc" else options.wrapper
    missing = missing_packages(cc, options)
    if missing:
        sys.exit(f"run_apps: missing: {missing} (Debian: apt-get install {missing})")
    build = os.path.join(options.cache, options.wrapper)
    os.makedirs(build, exist_ok=True)
    jobs = []
    try:
        if options.only != "hpcc":
            program = build_netpipe(cc, options.cache, build)
            jobs.append(("NetPIPE", program, 2, ["-n", "20", "-u", "1000000", "-o", "np.out"], check_netpipe))
            jobs.append(("NetPIPE integrity", program, 2, ["-i", "-n", "5", "-u", "70000"], check_netpipe))
        if options.only != "netpipe":
            program = build_hpcc(cc, options.cache, build)
            jobs.append((f"HPCC N={options.n}", program, 4, [], check_hpcc))
    except RuntimeError as error:
        sys.exit(f"run_apps: {error}")

    table = Table()
    for title, launcher in launchers(options):
        for name, program, np, arguments, check in jobs:
            folder = os.path.join(build, "run", re.sub(r"\W+", "-", f"{name} {title}"))
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            if name.startswith("HPCC"):
                with open(os.path.join(folder, "hpccinf.txt"), "w", encoding="utf-8") as f:
                    f.write(hpcc_input(os.path.join(os.path.dirname(program), "_hpccinf.txt"), options.n, 2, 2))
            begin = time.monotonic()
            summary = os.path.join(folder, "summary.json")
            os.environ["PARFOCAL_SUMMARY"] = summary
            status, output = run(launcher + ["-np", str(np), program] + arguments, folder, options.limit,
                                 os.path.join(folder, "output.txt"))
            verdict = check(folder, output) if status == 0 else f"FAILED: exit status {status}, see {folder}/output.txt"
            if options.wrapper == "pfcc" and status == 0 and not verdict.startswith("FAILED"):
                verdict = check_switched(summary, title) or verdict
            table.row(name, title, time.monotonic() - begin, summary, verdict)
    return table.failed != 0


if __name__ == "__main__":
    sys.exit(main())
