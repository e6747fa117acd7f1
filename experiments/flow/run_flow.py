#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The flow-control experiment of the S4BXI thesis (section 7.1): does a limit of messages in flight protect others on a shared link?

Pairs of nodes on both sides of one link flood it with the messages of all their processes; another pair measures how long one
message takes. By Portals (flood.c) and through MPI (flood_mpi.c), against a limit in the network interface per node or per pair of
processes, and against a limit in the program. Writes DIR/flow.csv and DIR/flow.png, and checks what is
exact. Simulated times: the same figures on any machine, at any load.
"""
import concurrent.futures
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import study  # noqa: E402 (experiments/study.py)

COLUMNS = ["program", "model", "pairs", "processes", "bytes", "streams", "scope", "limit", "latency_us", "times_quiet", "flood_GB_per_s"]
ORDERED, AT_ONCE = 1, 0  # nic_streams
LINK = ('<link id="{0}" bandwidth="11.1GBps" latency="200ns" sharing_policy="SPLITDUPLEX"/>'
         '<route src="{1}" dst="{2}" symmetrical="NO"><link_ctn id="{0}" direction="UP"/></route>'
         '<route src="{2}" dst="{1}" symmetrical="NO"><link_ctn id="{0}" direction="DOWN"/></route>')


def platform(pairs, processes, folder):
    """Two switches with one link between them, and a pair of nodes more than those that flood."""
    names = [f"{side}-{i}" for i in range(pairs) for side in ("left", "right")] + ["left-watch", "right-watch"]
    zone = ['<router id="left"/><router id="right"/>', LINK.format("shared", "left", "right")]
    for name in names:
        zone.append(f'<host id="{name}" speed="1Gf" core="32"/>' + LINK.format(f"{name}-link", name, name.split("-")[0]))
    # Links come before routes.
    text = "\n".join(zone).replace("<route", "\n<route").splitlines()
    text.sort(key=lambda line: line.startswith("<route"))
    path = os.path.join(folder, f"{pairs}x{processes}")
    with open(path + ".xml", "w", encoding="utf-8") as file:
        file.write("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"
                   '<zone id="two-switches" routing="Floyd">\n' + "\n".join(text) + "\n</zone>\n</platform>\n")
    with open(path + ".hosts", "w", encoding="utf-8") as file:
        file.writelines(f"{name}:{1 if 'watch' in name else processes}\n" for name in names if pairs or "watch" in name)
    return ["-platform", path + ".xml", "-hostfile", path + ".hosts", "-np", str(2 * pairs * processes + 2)]


class Study:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.programs = {name: study.build(f"{options.bin}/pfcc", f"{folder}/{name}", f"{HERE}/{name}.c") for name in ("flood", "flood_mpi")}
        self.places = {pairs: platform(pairs, options.processes, folder) for pairs in (0, 1, 4)}

    def run(self, case):
        """Runs (program, model, pairs, bytes, streams, scope, limit): a row of the table."""
        program, model, pairs, size, streams, scope, limit = case
        window = limit if scope == "program" else self.options.window
        environment = {"PARFOCAL_PAYLOAD_COPY": "no", "PARFOCAL_ANALYTIC_SET": "contention = link", "PARFOCAL_ANALYTIC_DATA": "no",
                       "PARFOCAL_NIC_STREAMS": str(streams)}
        if scope in ("node", "pair"):
            environment |= {"PARFOCAL_NIC_FLOW_CONTROL": scope, "PARFOCAL_NIC_MAX_IN_FLIGHT": str(limit)}
        command = [os.path.join(self.options.bin, "pfrun"), *self.places[pairs], "--log=root.thres:critical",
                   *([] if program == "flood" else ["-model", model, "--cfg=smpi/simulate-computation:no"]), self.programs[program],
                   *map(str, (self.options.processes, size, size, self.options.messages, window))]
        lines = [line.split() for line in study.output(command, **environment).splitlines()]
        latency = [float(line[1]) for line in lines if line[0] == "latency"]
        floods = [(int(line[1]), float(line[2])) for line in lines if line[0] == "flood"]
        rate = size * sum(f[0] for f in floods) / max(f[1] for f in floods) if floods else 0
        return [program, model, pairs, self.options.processes, size, streams, scope, limit, 1e6 * latency[0], None, rate / 1e9]


def powers(last):
    return [1 << i for i in range(last.bit_length())]


def cases(options):
    window, nodes = options.window, options.window * options.processes
    mib, small = 1 << 20, 8192

    def nic(program, pairs, size, streams, step=1):
        return [(program, "portals", pairs, size, streams, scope, limit) for scope, most in (("node", nodes), ("pair", window))
                for limit in powers(most)[::step]] + [(program, "portals", pairs, size, streams, "none", 0)]

    result = [(program, "portals", 0, size, ORDERED, "quiet", 0) for program in ("flood", "flood_mpi") for size in (mib, small, 16 * mib)]
    for streams in (ORDERED, AT_ONCE):
        result += nic("flood", 1, mib, streams) + nic("flood_mpi", 1, mib, streams) + nic("flood", 1, small, streams, 2)
        result += nic("flood", 4, 16 * mib, streams)
        result += [("flood_mpi", "portals", 1, mib, streams, "program", limit) for limit in powers(window)]
    for model in ("smpi", "analytic"):
        result.append(("flood_mpi", model, 0, mib, ORDERED, "quiet", 0))
        result += [("flood_mpi", model, 1, mib, ORDERED, "program", limit) for limit in powers(window)]
    return result


def relate(rows):
    """Latencies as multiples of those on a quiet network."""
    quiet = {(row[0], row[1], row[4]): row[8] for row in rows if row[6] == "quiet"}
    for row in rows:
        row[9] = row[8] / quiet[row[0], row[1], row[4]]


def verify(rows, processes, mib=1 << 20):
    """What must hold exactly, or nearly so: a list of what does not."""
    found = {(row[0], row[1], row[2], row[4], row[5], row[6], row[7]): row[9] for row in rows}
    wrong = []

    def near(case, expected):
        if abs(found[case] / expected - 1) > 0.05:
            wrong.append(f"{case}: {found[case]:.2f} times the quiet latency, and not {expected:.2f}")

    for (program, model, pairs, size, streams, scope, limit), value in list(found.items()):
        if model != "portals" or size < mib or scope in ("quiet", "none"):
            continue
        if streams == ORDERED:
            near((program, model, pairs, size, streams, scope, limit), pairs + 1)
        elif scope == "pair":
            near((program, model, pairs, size, streams, scope, limit), found[program, model, pairs, size, streams, "node", limit * processes])
        if streams == AT_ONCE and scope in ("pair", "program") and program == "flood":
            near((program, model, pairs, size, streams, scope, limit), 1 + pairs * processes * limit)
    return wrong


def main():
    parser = study.parser(__doc__, "flow-results")
    parser.add_argument("--processes", type=int, default=8, help="per node that floods (the thesis: 8)")
    parser.add_argument("--window", type=int, default=32, help="messages that a process has under way without a limit")
    parser.add_argument("--messages", type=int, default=10, help="measured messages per run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pf-flow-") as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(Study(options, folder).run, cases(options)))
    relate(rows)
    table = os.path.join(options.out, "flow.csv")
    study.write_table(table, [dict(zip(COLUMNS, row)) for row in rows])
    for program, model, pairs, _, size, streams, scope, limit, latency, times, rate in rows:
        print(f"{program:10}{model:9}{pairs} pairs {size:9} B streams {streams} {scope:>8}{limit:5}{latency:12.2f} us{times:9.2f} x{rate:8.2f} GB/s")
    wrong = verify(rows, options.processes)
    print(*wrong, sep="\n")
    if not wrong and not options.no_plot:
        study.draw("flow", table, os.path.join(options.out, "flow.png"))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
