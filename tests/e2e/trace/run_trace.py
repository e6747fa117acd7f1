#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs with pfrun -trace in every format and reads what comes out: it must be well formed, agree with the
counters of the run, be the same in every run, and change nothing of the simulation."""
import argparse
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import formats  # noqa: E402
import harness  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
CG = os.path.join(harness.ROOT, "examples", "cg", "cg.c")
LARGE = {"csv": "run.csv", "paje": "run.paje", "chrome": "run.json"}
SMALL = {"text": "run.txt", "svg": "run.svg"}


class Tracer:
    def __init__(self, tools, limit):
        self.tools, self.limit, self.failures, self.checks = tools, limit, 0, 0

    def path(self, name):
        return os.path.join(self.tools.work, name)

    def expect(self, holds, what, result=None):
        self.checks += 1
        if holds:
            return
        self.failures += 1
        print(f"FAIL {what}")
        if result:
            print(f"    {result.command}: status {result.status}")
            for line in result.err.splitlines()[-5:]:
                print("    | " + line[:200])

    def run(self, source, np, args, traces, options=("-model", "portals"), environment=None):
        flags = [word for name, file in traces.items() for word in ("-trace", f"{name}:{file}")]
        return self.tools.pfrun(self.tools.build(source, "pfcc"), np, args, self.limit, [*options, *flags], environment)

    def read(self, file, reader, what):
        """The result of a reader, None when it objects."""
        try:
            self.checks += 1
            return reader(self.path(file))
        except (formats.Wrong, ValueError, OSError, KeyError, IndexError) as wrong:
            self.failures += 1
            print(f"FAIL {what}: {file}: {type(wrong).__name__}: {wrong}")
            return None

    def content(self, file):
        with open(self.path(file), "rb") as stream:
            return stream.read()

    def remove(self, *files):
        for file in files:
            if os.path.exists(self.path(file)):
                os.unlink(self.path(file))

    def large(self, options, np=8):
        """A solver: all formats together against the counters of the run, twice, and against a run without."""
        args, what = ["-n", "20", "-i", "6"], " ".join(options)
        plain = self.run(CG, np, args, {}, options)
        report = self.path("report")
        first = self.run(CG, np, args, LARGE, [*options, "-quiet", "-report", report])
        self.expect(first.status == plain.status, f"{what}: exit status {first.status}", first)
        self.expect(plain.lines == first.lines, f"{what}: the run with a trace prints something else", first)
        rows = self.read("run.csv", formats.read_csv, what) or []
        with open(os.path.join(report, "summary.json"), encoding="utf-8") as file:
            counters = json.load(file)["portals"]

        def total(*types):
            return sum(r["bytes"] for r in rows if r["type"] in types and r["attempt"] == "1")
        self.expect(total("put", "atomic", "fetch-atomic", "swap") == counters["bytes_put"] > 0, f"{what}: bytes put")
        self.expect(total("get response", "fetch-atomic response", "swap response") == counters["bytes_got"],
                    f"{what}: bytes got")
        requests = [r for r in rows if r["type"] in ("put", "get", "atomic", "fetch-atomic", "swap")]
        self.expect(len(requests) == counters["messages"], f"{what}: {len(requests)} requests, not {counters['messages']}")
        messages = [r for r in rows if r["attempt"]]
        acks = [r for r in rows if r["type"] == "BXI ACK"]
        self.expect(2 * len(acks) == len(messages), f"{what}: one BXI ACK per message")
        bars, marks = self.read("run.json", formats.read_chrome, what) or ([], [])
        switches = sum(1 for r in rows if r["type"] == "switch")
        self.expect(len(marks) == switches, f"{what}: {len(marks)} marks for {switches} switches")
        self.expect(len(bars) == len(rows) - switches + len(messages), f"{what}: {len(bars)} bars for {len(rows)} operations")
        paje = self.read("run.paje", formats.Paje, what)
        if paje:
            self.expect(paje.finished_links == len(messages), f"{what}: {paje.finished_links} links in Paje")
            self.expect(paje.states == len(bars), f"{what}: {paje.states} states in Paje")
            self.expect(paje.switches == switches, f"{what}: {paje.switches} switches in Paje")
        before = {file: self.content(file) for file in LARGE.values()}
        self.run(CG, np, args, LARGE, options)
        for file, text in before.items():
            self.expect(self.content(file) == text, f"{what}: {file} differs in a second run")
        return {r["type"] for r in rows}

    def small(self):
        few = os.path.join(HERE, "few.c")
        # By default the receiving NIC takes no time, and what takes none is not drawn.
        drawn = ["-model", "portals", "--cfg=parfocal/nic_rx_time:1e-7"]
        result = self.run(few, 2, [], {**LARGE, **SMALL}, drawn)
        self.expect(result.status == 0, "few", result)
        rows = [r for r in self.read("run.csv", formats.read_csv, "few") or [] if r["end"] > r["start"]]
        lines = self.read("run.txt", formats.read_text, "few") or []
        tips = self.read("run.svg", formats.read_svg, "few") or []
        self.expect(len(lines) == len(rows) > 10, f"few: {len(lines)} lines of text for {len(rows)} operations")
        inside = sum(1 for r in rows if r["attempt"] and r["type"] != "BXI ACK")  # a bar at the destination's NIC
        self.expect(len(tips) == len(rows) + inside, f"few: {len(tips)} shapes for {len(rows)} operations")
        self.expect(any("put 1 MiB" in line[2] for line in lines), "few: no put of 1 MiB in the text")
        # The setting in the environment does the same as the flag, which wins.
        text = self.content("run.csv")
        self.run(few, 2, [], {}, drawn, {"PARFOCAL_TRACE": "csv:other.csv,text:other.txt"})
        self.expect(self.content("other.csv") == text, "few: PARFOCAL_TRACE gives another trace")
        self.expect(os.path.exists(self.path("other.txt")), "few: no second trace by PARFOCAL_TRACE")
        self.remove("other.csv", "other.txt")
        self.run(few, 2, [], {"csv": "run.csv"}, ["-model", "portals", "--cfg=parfocal/openmpi_pml:ob1"],
                 {"PARFOCAL_TRACE": "csv:other.csv"})
        self.expect(not os.path.exists(self.path("other.csv")), "few: the environment wins over the flag")
        return {r["type"] for r in rows + (self.read("run.csv", formats.read_csv, "few with ob1") or [])}

    def too_large(self):
        self.remove("run.svg", "run.csv")
        result = self.run(os.path.join(HERE, "few.c"), 2, [], {"svg": "run.svg", "csv": "run.csv"},
                          environment={"PARFOCAL_TRACE_DIAGRAM_MAX": "5"})
        self.expect(result.status == 0 and "the sequence diagram 'run.svg' ends at simulated time" in result.err,
                    "a run too large for a diagram", result)
        self.expect(self.content("run.svg").rstrip().endswith(b"</svg>"), "no diagram of what came before the limit")
        self.read("run.csv", formats.read_csv, "the trace with a diagram that is too large")

    def refused(self):
        few = os.path.join(HERE, "few.c")
        os.makedirs(self.path("folder"), exist_ok=True)
        for text, why in (("nonsense:x", "unknown format 'nonsense'"), ("chrom:x", "maybe chrome?"), ("csv", "FORMAT:FILE"),
                          ("csv:", "FORMAT:FILE"), ("csv:no/such/x", "cannot write the file 'no/such/x'"),
                          ("csv:folder", "cannot write the file 'folder'"), ("csv:x,paje:x", "two traces in one file")):
            result = self.tools.pfrun(self.tools.build(few, "pfcc"), 2, [], self.limit, ["-trace", text])
            errors = [line for line in result.err.splitlines() if line.startswith("parfocal: error: ")]
            self.expect(result.status == 1 and len(errors) == 1 and why in errors[0], f"-trace {text}", result)
            self.expect(not os.path.exists(self.path("x")), f"-trace {text}: a file is left behind")
        with open(self.path("kept.csv"), "w", encoding="utf-8") as file:
            file.write("of an earlier run\n")
        result = self.run(few, 2, [], {"csv": "kept.csv"}, ["-model", "portals", "-platform", "nosuch.xml"])
        self.expect(result.status == 1 and self.content("kept.csv") == b"of an earlier run\n",
                    "a run that does not begin keeps the trace of an earlier one", result)

    def unused(self):
        result = self.run(os.path.join(HERE, "few.c"), 2, [], {**LARGE, **SMALL}, ["-model", "smpi"],
                          {"PARFOCAL_TRACE_LAYERS": "nic"})
        self.expect(result.status == 0 and result.err.count("the trace is empty") == 1, "a run in smpi", result)
        self.expect(self.read("run.csv", formats.read_csv, "smpi") == [], "a run in smpi: operations")
        self.expect(self.read("run.json", formats.read_chrome, "smpi") == ([], []), "a run in smpi: bars")
        self.read("run.paje", formats.Paje, "smpi")
        self.read("run.svg", formats.read_svg, "smpi")
        self.read("run.txt", formats.read_text, "smpi")

    def ends(self):
        """What is there when a run breaks off is a complete file."""
        for end, status in (("abort", 7), ("term", 143), ("crash", 134), ("stuck", 1)):
            self.remove(*LARGE.values())
            result = self.run(os.path.join(HERE, "few.c"), 2, [end], {**LARGE, **SMALL})
            self.expect(result.status == status, f"{end}: status {result.status}, not {status}", result)
            rows = self.read("run.csv", formats.read_csv, end) or []
            self.expect(any(r["bytes"] == 1 << 20 for r in rows), f"{end}: the long message is missing")
            self.read("run.paje", formats.Paje, end)
            self.read("run.json", formats.read_chrome, end)
            self.read("run.svg", formats.read_svg, end)
            self.read("run.txt", formats.read_text, end)

    def ends_late(self):
        """The same of a run whose log has been worked off before: nothing is missing and nothing is there twice."""
        count = 20000
        for end, status in (("term", 143), ("abort", 7)):
            self.remove("run.csv")
            result = self.run(os.path.join(HERE, "few.c"), 2, [end, str(count)], {"csv": "run.csv"}, ("-model", "analytic"))
            self.expect(result.status == status, f"late {end}: status {result.status}, not {status}", result)
            rows = self.read("run.csv", formats.read_csv, f"late {end}") or []
            calls = [r["call"] for r in rows if r["type"] == "MPI call" and r["outcome"] == "done"]
            self.expect(calls.count("MPI_Recv") == count + 2, f"late {end}: {calls.count('MPI_Recv')} receives of {count + 2}")

    def compute(self):
        """Measured computation: what it took is up to the machine, that it is there is not."""
        result = self.run(os.path.join(HERE, "few.c"), 2, ["compute"], {**LARGE, **SMALL},
                          ["-model", "portals", "--cfg=smpi/simulate-computation:yes", "--cfg=smpi/host-speed:1Gf"])
        self.expect(result.status == 0, "compute", result)
        rows = [r for r in self.read("run.csv", formats.read_csv, "compute") or [] if r["type"] == "compute"]
        self.expect({r["initiator_rank"] for r in rows} == {"0", "1"}, "compute: not of every rank")
        self.expect(all(r["end"] > r["start"] for r in rows), "compute: without time")
        self.read("run.json", formats.read_chrome, "compute")
        self.read("run.paje", formats.Paje, "compute")
        self.read("run.svg", formats.read_svg, "compute")

    def loopback(self):
        """Ranks of one node: the rank of a step that belongs to no message is not known."""
        packed = self.tools.pfrun(self.tools.build(os.path.join(HERE, "few.c"), "pfcc"), 2, [], self.limit,
                                  ["-model", "portals", "-trace", "csv:run.csv", "-trace", "svg:run.svg"],
                                  hostfile=harness.PACKED)
        self.expect(packed.status == 0, "two ranks of a node", packed)
        rows = self.read("run.csv", formats.read_csv, "two ranks of a node") or []
        self.expect({r["initiator_nid"] for r in rows} == {r["target_nid"] for r in rows} == {"0"}, "loopback: nodes")
        self.expect({r["initiator_rank"] for r in rows if r["type"] == "PCIe event"} == {""}, "loopback: ranks")
        self.read("run.svg", formats.read_svg, "two ranks of a node")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(harness.ROOT, "build", "bin"), help="folder of pfcc and pfrun")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="trace-") as work:
        tracer = Tracer(harness.Tools(os.path.abspath(options.bin), work), options.limit)
        seen = tracer.large(["-model", "portals"])
        seen |= tracer.large(["-model", "portals", "--cfg=parfocal/openmpi_pml:ob1"])
        tracer.large(["-schedule", "solve=portals,report=smpi"])
        seen |= tracer.small()
        for name in ("put", "get", "get response", "Portals ACK", "BXI ACK", "DMA payload", "DMA request"):
            tracer.expect(name in seen, f"no {name} in any trace")
        tracer.too_large()
        tracer.refused()
        tracer.unused()
        tracer.ends()
        tracer.ends_late()
        tracer.compute()
        tracer.loopback()
    print(f"run_trace: {tracer.checks} checks, {tracer.failures} failures")
    return tracer.failures != 0


if __name__ == "__main__":
    sys.exit(main())
