#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Bad input to every row of the configuration, every flag of pfrun, and the other tools: one clear line, a status other than 0,
no crash, no hang, nothing left behind. The same of both ends of each number's range, where a run may also work.

Usage: run_bad.py BIN [--all] [--seed N] [--cases N] [--timeout SECONDS] [--only WORD]

Without --all a sample runs, which the seed chooses; the seed is printed.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
NUMBERS = ["-1e9", "1e30", "", "x", "nan", "1 2"]
LONG = "a" * 5000
TEXTS = {  # rows of any text, by what they are about
    "model": ["x", "smpi,portals", " "],
    "schedule": ["x", "=", "=smpi", "a=", "@coll:0=smpi", "@coll:=smpi", "@time:-1=smpi", "@time:x=smpi", "every:0=smpi", "every:1=",
                 "@x=smpi", "/", "a=smpi,a=smpi", "@coll:99999999999999999999=smpi", LONG],
    "load": ["x", ",", "smpi,", "smpi;portals"],
    "trace": ["x", "csv", "csv:", ":x", "csv:/", "csv:nosuch/x", "csv:a,csv:a"],
    "private": ["x", "/", "lib", "libc", "libparfocal.so", "/usr/lib/libgsl.so", "libgsl,x"],
    "trace_layers": ["x", "mpi;nic"],
    "trace_ranks": ["x", "-1", "3-1", "1-", "0,", "99999999999"],
    "nic_service_ranks": ["x", "-1", "1-", "0 1"],
    "nic_loopback_levels": ["x", "1", "1:0", "1:x", "1:1e9:x", "2:1e9,1:1e9", "1:1e9,", "-1:1e9", "1:1e9"],
    "net_fail": ["x", "x@", "x@y"],
    "platform": ["/", "nosuch", "star:", "star:0", "star:-1", "star:x", "star:99999999999999999999", "torus:2000000", "fattree:30000", LONG],
    "analytic_parameters": ["nosuch", "/"],
    "what_if": ["x", "compute", "compute=", "compute=0", "compute=x", "rank:9999=2", "rank:x=2", ",", "latencey=2", LONG],
    "analytic_set": ["x", "latency", "latency=-1", "latency=x", "=1"],
    "analytic_coll": ["x", "allreduce", "allreduce:x", "bcast:binomial:x"],
    "openmpi_libdir": ["nosuch", "/"],
    "mpich_libdir": ["nosuch", "/"],
    "file_local": ["relative", ":", "/a:b"],
    "openmpi_plugin_dir": ["nosuch", "/"],
    "clone_dir": ["nosuch", "/proc"],
    "openmpi_messages": ["nosuch/x", "/"],
    "computation_record": ["nosuch/x", "/"],
    "computation_replay": ["nosuch", "/"],
    "report": ["/dev/null", "/proc/x"],
    "machine": ["nosuch", "/", "nosuch/x", "x.machine"],
    "calibrated": ["nosuch", "/"],
    "summary": ["nosuch/x", "/"],
    "net_external": ["x", "/", "nosuch/x", "unix:", "tcp:x", "tcp:localhost:1", "exec:", LONG],
    "net_statistics": ["nosuch/x", "/"],
    "replay_record": ["nosuch/x", "/"],
    "replay_loggops": ["x", "L=", "L=1"],
    "markers": ["nosuch/x", "/"],
    "markers_hold": ["x", "-1", "3:", "3:x", ":4"],
    "regions": ["nosuch", "/"],
    "regions_model": ["x", "packets"],
    "background": ["x", "uniform", "uniform:", "uniform:x", "uniform:-1", "uniform:2", "nosuch:0.3", "uniform:0.3:x", "uniform:0.3:9", "hotspot:9:0.5",
                   "file:nosuch:0.3", ":0.3", LONG],
}
OTHER_READERS = ("cc", "cxx", "pfrun")  # read by other programs than a run
MODELS = {"openmpi": "portals", "clone": "portals", "nic": "portals", "net": "packet", "net_external": "external", "background": "packet", "ptl": "portals", "idle": "portals",
          "livelock": "portals", "analytic": "analytic", "mpich": "mpich"}
FLAGS = [
    ["-np"], ["-np", ""], ["-np", "0"], ["-np", "-1"], ["-np", "1.5"], ["-np", "2x"], ["-np", "99999999999"], ["-n", "x"],
    ["-platform"], ["-platform", ""], ["-platform", "/"], ["-platform", "nosuch"], ["-platform", "star:0"], ["-platform", "dragonfly:2000000"],
    ["-hostfile", "nosuch"], ["-hostfile", "/"], ["-hostfile", "/dev/null"], ["-hostfile", ""], ["-machinefile", "/"],
    ["-model", "x"], ["-model", "packets"], ["-schedule", "x"], ["-agree", ""], ["-agree", "x"], ["-load", "x"],
    ["-trace", ""], ["-trace", "x"], ["-trace", "csv:"], ["-trace", "csv:/"], ["-trace", "ti:/"], ["-trace", "smpi:nosuch/x"],
    ["-machine", "x"], ["-machine", "/"], ["-machine", "text/x"], ["-calibrated", "x"], ["-calibrated", "/"], ["-report", "/dev/null"], ["-report", "/proc/x"], ["-tmpdir", "nosuch"], ["-tmpdir", "/dev/null"],
    ["-wrapper", ""], ["-wrapper", "nosuch-command"], ["-replay", "x"], ["-bandwidth", "1"], ["-x"], ["--x"], ["-"], ["---np", "2"],
    ["--cfg"], ["--cfg="], ["--cfg=:"], ["--cfg=x"], ["--cfg=x:"], ["--cfg=x:1"], ["--cfg=parfocal/"], ["--cfg=parfocal/:1"],
    ["--cfg=parfocal/model"], ["--cfg=parfocal/nosuch:1"], ["--cfg=smpi/host-speed:x"], ["--cfg=smpi/simulate-computation:x"],
    ["--cfg=contexts/nthreads:x"], ["--cfg=contexts/stack-size:x"], ["--cfg=network/model:x"], ["--cfg=surf/precision:x"],
    ["--log=="], ["--log=x"], ["--log=.x:y"], ["--log=root.:x"], ["--log=root.x:y"], ["--log=root.thres:x"], ["--log=root.app:x"],
    ["--log=root.thres:"], ["--log=root"], ["--log=:"],
]
TOOLS = [  # not pfrun
    ["pfinfo", "--x"], ["pfinfo", "x"], ["pfinfo", "--platform=x"], ["pfinfo", "--platform=star:0"], ["pfinfo", "--platform=star:x"],
    ["pfinfo", "--platform=dragonfly:100000000000"], ["pfinfo", "--platform=/"], ["pfinfo", "--fit"], ["pfinfo", "--fit=x"],
    ["pfinfo", "--machine=x"], ["pfinfo", "--machine=/"],
    ["pfinfo", "--fit=/"], ["pfinfo", "--fit=/dev/null"], ["pfinfo", "--fit=portals", "--", "-np", "x"],
    ["pfinfo", "--fit=/dev/null", "--output=/"], ["pfinfo", "--fit=portals", "--for=x"], ["pfinfo", "--for=smpi"],
    ["pfinfo", "--fit=smpi", "--for=smpi"], ["pfinfo", "--fit=x", "--for=smpi"], ["pfinfo", "--fit=portals", "--for=smpi", "--output=/"],
    ["pfcc", "-o", "a.out", "nosuch.c"], ["pfcc", "-o", "/", "EFFECTS"], ["pfcc", "-o", "nosuch/a", "EFFECTS"], ["pfcc", "--nosuch", "EFFECTS"],
    ["pfcurve"], ["pfcurve", "-np", "2"], ["pfcurve", "-np", "x", "--phases", "PROGRAM"], ["pfcurve", "-np", "2", "--phases", "nosuch"],
    ["pfcurve", "-np", "2", "--schedules", "nosuch", "PROGRAM"], ["pfcurve", "-np", "2", "--schedules", "/dev/null", "PROGRAM"],
    ["pfcurve", "-np", "2", "--phases", "--repeat", "0", "PROGRAM"], ["pfcurve", "-np", "2", "--phases", "--jobs", "-1", "PROGRAM"],
    ["pfcurve", "-np", "2", "--phases", "--output", "/dev/null", "PROGRAM"], ["pfcurve", "-np", "2", "--phases", "--models", "x", "PROGRAM"],
    ["pfcurve", "-np", "2", "--phases", "--within", "x", "PROGRAM"], ["pfcurve", "-np", "2", "--switch-after", "--steps", "0", "PROGRAM"],
    ["pfcurve", "-np", "2", "--phases", "--reference", "nosuch.csv", "PROGRAM"], ["pfcurve", "--nosuch"],
]
PROGRAMS = [  # what stands where the program should
    [], [""], ["nosuch"], ["/"], ["/dev/null"], ["text"],
    ["PROGRAM", "phases", ":", "PROGRAM"], ["PROGRAM", "phases", ":"], ["PROGRAM", ":", "-np", "2", "nosuch"],
]


class Runs:
    def __init__(self, binaries, folder, timeout):
        self.binaries, self.folder, self.timeout = binaries, folder, timeout
        self.count = self.failures = 0
        self.names = {"PROGRAM": os.path.join(folder, "program"), "EFFECTS": os.path.join(HERE, "effects.c")}
        self.kept = {"tmp", "program", "effects", "text"}

    def left(self):
        return sorted(set(os.listdir(self.folder)) - self.kept) + os.listdir(os.path.join(self.folder, "tmp"))

    def run(self, command, settings, may_work):
        """may_work: input that is in order, or that cannot be refused."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PARFOCAL_")}
        environment.pop("MALLOC_PERTURB_", None)  # would touch gigabytes of buffers that only take addresses
        environment.update(settings, TMPDIR=os.path.join(self.folder, "tmp"))
        arguments = [self.names.get(word, word) for word in command[1:]]
        self.count += 1
        with subprocess.Popen([os.path.join(self.binaries, command[0]), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, text=True, errors="replace", cwd=self.folder, env=environment,
                              start_new_session=True) as process:
            try:
                text = process.communicate(timeout=self.timeout)[1]
                status = process.returncode
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                text, status = process.communicate()[1], "hangs"
        self.judge(command, settings, status, text, may_work)
        for name in self.left():
            subprocess.run(["rm", "-rf", os.path.join(self.folder, name), os.path.join(self.folder, "tmp", name)], check=True)

    def judge(self, command, settings, status, text, may_work):
        ours = command[0] == "pfrun"  # pfcc's errors are the compiler's, and the other tools have their own name in front
        errors = len(re.findall("^parfocal: error: " if ours else r"rror|^\S*pf[a-z]*: |^usage", text, re.MULTILINE))
        refused = status != "hangs" and 0 < status < 128 and (errors == 1 if ours else errors > 0)
        noise = re.search("acktrace|ssertion|Traceback|SIGSEGV|core dumped", text)
        if not (refused or may_work and status == 0 and errors == 0) or noise or (status != 0 and self.left()):
            self.failures += 1
            shown = {name: value[:80] for name, value in settings.items()}
            print(f"FAIL {shown} {' '.join(command)}: status {status}, {errors} errors, left {self.left()}\n{text[:800]}", flush=True)


def rows():
    with open(os.path.join(ROOT, "base", "config.def"), encoding="utf-8") as file:
        return re.findall(r'^PF_CFG\((\w+), (\w+), .*?, "[^"]*", "([^"]*)", "', file.read(), re.MULTILINE)


def of_row(kind, name, possible):
    """Pairs of a value, and whether it may work."""
    if kind in ("INT", "SIZE", "DOUBLE"):
        least, most = possible.split(" to ")
        below, above = f"{float(least) - 1:.17g}", f"{float(most) * 1.01 + 1:.17g}" if kind == "DOUBLE" else f"{int(float(most)) + 1}"
        return [(value, value == "-1e9" and float(least) <= -1e9) for value in NUMBERS + [below, above]] + [(least, True), (most, True)]
    if kind == "BOOL":
        return [(value, False) for value in ("", "x", "2", "-1")] + [("yes", True), ("no", True)]
    if possible:
        return [("x", False), (possible.lstrip("|") + ",", False)] + [(word, True) for word in possible.split("|")]
    return [(value, False) for value in TEXTS[name]]


def cases():
    """Every case: its command, its settings, and whether it may work."""
    quiet = ["--log=root.thres:critical"]
    for kind, name, possible in rows():
        if name in OTHER_READERS:
            continue
        options = quiet + ([] if name.startswith("platform") else ["-platform", "star:4"])
        options += [] if name == "model" else ["-model", MODELS.get(name, MODELS.get(name.split("_")[0], "smpi"))]
        options += ["-trace", "csv:run.csv"] if name in ("trace_layers", "trace_ranks") else []
        for value, may_work in of_row(kind, name, possible):
            program = (["effects"] if "idle" in name else ["effects", "blocking"]) if may_work else ["PROGRAM", "phases"]
            settings = {"PARFOCAL_" + name.upper(): value}
            if name == "clone_dir":  # not used without clones
                settings["PARFOCAL_OPENMPI_LOADING"] = "clones"
            yield ["pfrun", *options, "-np", "3" if may_work else "2", *program], settings, may_work
    for flag in FLAGS:
        yield (["pfrun", *flag] if flag == ["-np"] else ["pfrun", "-np", "2", *flag, "PROGRAM", "phases"]), {}, False
    for large in ("dragonfly:10000", "fattree:10000", "torus:10000"):
        yield ["pfrun", *quiet, "-np", "3", "-platform", large, "effects", "blocking"], {}, True
    for program in PROGRAMS:
        yield ["pfrun", "-np", "2", *program], {}, False
    for tool in TOOLS:
        yield tool, {}, False
    yield ["pfcc", "-o", "a.out", "EFFECTS"], {"PARFOCAL_CC": "nosuch-compiler"}, False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1000000)
    chosen = [case for case in cases() if given.only in str(case)]
    known = len(chosen)
    if not given.all:
        chosen = random.Random(seed).sample(chosen, min(given.cases, known))
    binaries = os.path.abspath(given.binaries)
    with tempfile.TemporaryDirectory(prefix="bad-") as folder:
        os.mkdir(os.path.join(folder, "tmp"))
        for name, source in (("program", "ends"), ("effects", "effects")):
            subprocess.run([os.path.join(binaries, "pfcc"), "-O1", "-o", os.path.join(folder, name), os.path.join(HERE, source + ".c")],
                           check=True, timeout=120)
        with open(os.path.join(folder, "text"), "w", encoding="utf-8") as file:
            file.write("no program\n")
        runs = Runs(binaries, folder, given.timeout)
        for case in chosen:
            runs.run(*case)
    print(f"run_bad: {runs.count} of {known} cases, {runs.failures} failures, " + ("all" if given.all else f"--seed {seed}"))
    return runs.failures != 0 or runs.count == 0


if __name__ == "__main__":
    sys.exit(main())
