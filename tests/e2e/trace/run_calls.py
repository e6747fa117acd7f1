#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPI calls in traces: every call of the application and no other, in the right phase and model, around switches too; the
same in all formats; no effect on the simulation; no memory that grows with the run; only what was asked for."""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import formats  # noqa: E402
import harness  # noqa: E402
import run_trace  # noqa: E402

PHASES = os.path.join(run_trace.HERE, "phases.c")
NP = 4
OF_PHASES = {"start": "smpi", "one": "smpi", "two": "portals", "three": "analytic", 'rest, "quoted"': "analytic"}
BY_PHASE = ["-schedule", "one=smpi,two=portals,three=analytic"]
ROTATING = ["-schedule", "every:3=smpi|portals|analytic"]
FILES = {"csv": "calls.csv", "paje": "calls.paje", "chrome": "calls.json"}


def of_rank(rows, rank, *types):
    return [r for r in rows if r["initiator_rank"] == str(rank) and r["type"] in types]


class Calls(run_trace.Tracer):
    def __init__(self, tools, limit, otf2):
        super().__init__(tools, limit)
        self.files = {**FILES, "otf2": "calls.otf2"} if otf2 else FILES

    def rows(self, what, file="calls.csv"):
        return self.read(file, formats.read_csv, what) or []

    def models(self, options):
        """A trace changes nothing, is the same twice, and the same in all formats."""
        what = " ".join(options)
        plain = self.run(PHASES, NP, [], {}, options)
        first = self.run(PHASES, NP, [], self.files, options, {"PARFOCAL_COUNT_CALLS": "yes"})
        self.expect(plain.status == first.status == 0 and len(plain.lines) == NP, what, first)
        self.expect(plain.lines == first.lines, f"{what}: other dates with a trace", first)
        rows = self.rows(what)
        counted = {name: sum(one["calls"] for one in by_model.values()) for name, by_model in first.functions.items()}
        counted.pop("MPI_Comm_get_name", None)  # called back, inside another call
        traced = collections.Counter(r["call"] for r in rows if r["type"] == "MPI call")
        self.expect(traced == counted, f"{what}: calls {set(traced.items()) ^ set(counted.items())}")
        self.same_in_all(rows, what)
        before = {file: self.content(file) for file in FILES.values()}
        second = self.run(PHASES, NP, [], self.files, options)
        self.expect(second.lines == plain.lines, f"{what}: other dates in a second run", second)
        for file, text in before.items():
            self.expect(self.content(file) == text, f"{what}: {file} differs in a second run")
        return rows

    def same_in_all(self, rows, what):
        spans = sorted((r["call"] or "compute", int(r["initiator_rank"])) for r in rows if r["type"] in ("MPI call", "compute"))
        bars, marks = self.read("calls.json", formats.read_chrome, what) or ([], [])
        ours = [b for b in bars if "phase" in b["args"]]
        self.expect(sorted((b["name"], b["tid"] - 1) for b in ours) == spans, f"{what}: other calls in chrome")
        paje = self.read("calls.paje", formats.Paje, what)
        switches = [r for r in rows if r["type"] == "switch"]
        self.expect(paje and paje.switches == len(marks) == len(switches), f"{what}: number of switches")
        dumped = subprocess.run(["pj_dump", self.path("calls.paje")], capture_output=True, text=True, timeout=60, check=False)
        states = [line for line in dumped.stdout.splitlines() if line.startswith("State")]
        self.expect(dumped.returncode == 0 and len(states) == len(bars), f"{what}: pj_dump has {len(states)} states")
        if "otf2" in self.files:
            self.otf2(rows, len(bars), what)

    def otf2(self, rows, bars, what):
        """Enter and Leave alternate in every row; the calls of each rank are those of the table, one after the other."""
        text = subprocess.run(["otf2-print", self.path("calls.otf2")], capture_output=True, text=True, timeout=60, check=False)
        self.expect(text.returncode == 0 and not text.stderr, f"{what}: otf2-print: {text.stderr[:200]}")
        inside, seen, dates = {}, collections.defaultdict(list), {}
        pattern = re.compile(r'(ENTER|LEAVE) +(\d+) +(\d+) +Region: "([^"]*)"|.*"model" <0>; STRING; "(\w+)".*"phase" <1>; STRING; "(.*)" <')
        for line in text.stdout.splitlines():
            found = pattern.match(line)
            if not found:
                continue
            kind, row, date, region, model, phase = found.groups()
            if model:
                seen[last][-1] += (model, phase)
                continue
            last = int(row)
            self.expect((kind == "ENTER") == (inside.get(last) is None) and inside.get(last, region) in (None, region),
                        f"{what}: otf2: {line}")
            self.expect(int(date) >= dates.get(last, 0), f"{what}: otf2: back in time: {line}")
            inside[last], dates[last] = (region if kind == "ENTER" else None), int(date)
            if kind == "ENTER":
                seen[last].append((region,))
        self.expect(sum(map(len, seen.values())) == bars, f"{what}: otf2: operations")
        for rank in range(NP):
            calls = [(r["call"] or r["type"], r["model"], r["phase"]) for r in of_rank(rows, rank, "MPI call", "compute")]
            self.expect(calls in seen.values(), f"{what}: otf2: calls of rank {rank}")
        marks = subprocess.run(["otf2-marker", self.path("calls.otf2")], capture_output=True, text=True, timeout=60, check=False)
        switches = sum(1 for r in rows if r["type"] == "switch")
        self.expect(marks.stdout.count("MARKER ") == switches, f"{what}: otf2: markers")

    def by_phase(self, rows):
        """Phases with a model each: what belongs to a phase is in its model, and all of it."""
        for r in rows:
            if r["phase"]:
                self.expect(r["model"] == OF_PHASES[r["phase"]] or r["type"] == "compute", f"by phase: {r}")
        for rank in range(NP):
            switches = [(r["from_model"], r["model"], r["phase"]) for r in of_rank(rows, rank, "switch")]
            self.expect(switches == [("smpi", "portals", "two"), ("portals", "analytic", "three")], f"by phase: {switches}")
            for switch in of_rank(rows, rank, "switch"):
                calls = of_rank(rows, rank, "MPI call")
                old = [c for c in calls if c["model"] == switch["from_model"]]
                new = [c for c in calls if c["model"] == switch["model"]]
                self.expect(max(c["end"] for c in old) <= switch["start"] <= min(c["start"] for c in new),
                            f"by phase: not between the calls of both models: {switch}")
        nic = [r for r in rows if r["type"] in formats.MESSAGES]
        two = [r for r in rows if r["phase"] == "two" and r["type"] == "MPI call"]
        self.expect(nic and min(r["start"] for r in two) <= min(r["start"] for r in nic), "by phase: messages before their phase")

    def rotating(self, rows):
        """The call that makes a rank switch is in the new model; what follows stays there until the next switch."""
        for rank in range(NP):
            model = "smpi"
            switches = of_rank(rows, rank, "switch")
            self.expect(len(switches) > 5, f"rotating: {len(switches)} switches of rank {rank}")
            for call in of_rank(rows, rank, "MPI call"):
                if call["model"] != model:
                    switch = switches.pop(0)
                    self.expect((switch["start"], switch["from_model"], switch["model"]) == (call["start"], model, call["model"]),
                                f"rotating: {switch} before {call}")
                    model = call["model"]
            self.expect(not switches, f"rotating: {len(switches)} switches of rank {rank} without a call")

    def filters(self):
        def run(layers="mpi,nic", ranks=""):
            result = self.run(PHASES, NP, [], FILES, BY_PHASE, {"PARFOCAL_TRACE_LAYERS": layers, "PARFOCAL_TRACE_RANKS": ranks})
            self.expect(result.status == 0, f"layers {layers}, ranks {ranks}", result)
            self.read("calls.paje", formats.Paje, f"layers {layers}, ranks {ranks}")
            self.read("calls.json", formats.read_chrome, f"layers {layers}, ranks {ranks}")
            return self.rows(f"layers {layers}, ranks {ranks}")
        everything = run()
        texts = [str(r) for r in everything]
        mpi, nic = run("mpi"), run("nic")
        self.expect(mpi == [r for r in everything if r["type"] in formats.RANK], "layer mpi")
        self.expect([str(r) for r in nic] == [str(r) for r in everything if r["type"] not in formats.RANK], "layer nic")
        some = run(ranks="0,2-2")
        self.expect(0 < len(some) < len(everything) and all(str(r) in texts for r in some), "ranks: others than without the filter")
        self.expect({r["initiator_rank"] for r in some if r["type"] in formats.RANK} == {"0", "2"}, "ranks: calls of others")
        nodes = {r["initiator_nid"] for r in some if r["type"] in formats.RANK}
        self.expect(all({r["initiator_nid"], r["target_nid"]} & nodes for r in some), "ranks: NICs of others")
        for name, value in (("LAYERS", "mpi,nix"), ("LAYERS", ""), ("RANKS", "1-"), ("RANKS", "a"), ("RANKS", "3-1"), ("RANKS", "1,")):
            result = self.run(PHASES, NP, [], {"csv": "no.csv"}, [], {"PARFOCAL_TRACE_" + name: value})
            errors = [line for line in result.err.splitlines() if line.startswith("parfocal: error: ")]
            self.expect(result.status == 1 and len(errors) == 1 and name in errors[0], f"{name} {value}", result)
            self.expect(not os.path.exists(self.path("no.csv")), f"{name} {value}: a file is left")

    def peak(self, rounds, model, files, layers):
        """The peak memory of a run in bytes."""
        flags = [word for name, file in files.items() for word in ("-trace", f"{name}:{self.path(file)}")]
        command = [self.tools.command("pfrun"), "-np", "2", "-platform", harness.PLATFORM, *harness.SIMULATION, "-model", model,
                   *flags, f"--cfg=parfocal/trace_layers:{layers}", self.tools.build(PHASES, "pfcc"), str(rounds)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=self.tools.work) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.expect(process.returncode == 0, f"{rounds} rounds: status {process.returncode}")
        return usage.ru_maxrss * 1024

    def memory(self, short, long, model, files, layers):
        """A long run needs no more memory than a short one, however much it writes. The log has 1 MiB, OTF2's library up to
        4.25 MiB for each row: the short run must have filled both."""
        first = self.peak(short, model, files, layers)
        more = self.peak(long, model, files, layers) - first
        folder = self.path("calls") if "otf2" in files else self.tools.work
        written = sum(entry.stat().st_size for entry in os.scandir(folder))
        self.expect(more < 2e6 < written / 8, f"memory: {model}: {more} B more; {written} B written")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(harness.ROOT, "build", "bin"), help="folder of pfcc and pfrun")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one run")
    parser.add_argument("--otf2", action="store_true", help="the build has OTF2")
    options = parser.parse_args()
    for tool in ["pj_dump"] + ["otf2-print"] * options.otf2:
        if not shutil.which(tool):
            sys.exit(f"run_calls: {tool} is missing (scripts/packages.txt)")
    with tempfile.TemporaryDirectory(prefix="calls-") as work:
        calls = Calls(harness.Tools(os.path.abspath(options.bin), work), options.limit, options.otf2)
        for model in formats.MODELS:
            calls.models(["-model", model])
        calls.by_phase(calls.models(BY_PHASE))
        calls.rotating(calls.models(ROTATING))
        calls.filters()
        calls.memory(150, 1500, "portals", FILES, "mpi,nic")
        if options.otf2:
            calls.memory(9000, 20000, "analytic", {"otf2": "calls.otf2"}, "mpi")
    print(f"run_calls: {calls.checks} checks, {calls.failures} failures")
    return calls.failures != 0


if __name__ == "__main__":
    sys.exit(main())
