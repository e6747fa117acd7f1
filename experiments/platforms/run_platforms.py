#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One program on five platforms with as many nodes: which is the fastest, where is the contention, and does the cheap model know?

The main example, an MPI_Alltoall and a halo exchange (exchange.c) on a crossbar, a fat tree, one with half as many links upwards, a torus and a
dragonfly; ranks on the nodes in their order, or scattered. On 64 nodes in models packet, portals and analytic; on 256 in analytic only.
Model packet runs on the routers of the built-in platform where it is one, and on SimGrid's routes, which are those of portals. The bytes of
all messages of Open MPI over the routes of SimGrid (routes.c) give the busiest link. Writes DIR/platforms.csv and
DIR/platforms.png. Simulated times are the same in each run; costs are processor time.
"""
import csv
import itertools
import json
import os
import random
import re
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import study  # noqa: E402 (experiments/study.py)

BANDWIDTH = 11.1e9  # of every link, in bytes per second (platform_link_bw)
PLATFORMS = ["crossbar", "fat tree", "fat tree 2:1", "torus", "dragonfly"]
BUILT_IN = {"crossbar": "star", "fat tree": "fattree", "fat tree 2:1": "fattree", "torus": "torus", "dragonfly": "dragonfly"}
PLACEMENTS = ["in order", "scattered"]
PROGRAMS = {"cg": ["-n", "32"], "alltoall": ["alltoall", "16384", "1"], "halo": ["halo", "65536", "5"]}
MODELS = {"packet": "", "packet routes": "", "portals": "", "analytic": "contention = nic", "analytic link": "contention = link"}
REFERENCES = ["packet", "packet routes", "portals"]  # what cheaper models are compared with
SECONDS = re.compile(r"^seconds (\S+)|took (\S+) s in solve", re.M)
COLUMNS = ["program", "ranks", "platform", "placement", "model", "simulated_us", "overhead_s", "start_up_s", "busiest_share",
           "busiest_over_mean", "busiest_kind", "busiest_link"]
KINDS = [("local_link", "node"), ("green_link", "in a chassis"), ("black_link", "between chassis"), ("blue_link", "between groups")]


class Study:
    def __init__(self, options, folder):
        self.bin, self.folder, self.ranks = os.path.abspath(options.bin), folder, sorted({options.fine, options.coarse})
        self.routes_of = {}
        self.exchange = study.build(f"{self.bin}/pfcc", f"{folder}/exchange", f"{HERE}/exchange.c")
        study.build("cc", f"{folder}/routes", f"{HERE}/routes.c", "-lsimgrid")
        for ranks in self.ranks:
            shuffled = list(range(ranks))
            generator = random.Random(461)
            shuffled.sort(key=lambda _: generator.random())
            for placement, order in zip(PLACEMENTS, (list(range(ranks)), shuffled)):
                with open(self.hosts(ranks, placement), "w", encoding="utf-8") as file:
                    file.writelines(f"node-{node}\n" for node in order)
                for platform in PLATFORMS:
                    first = int(re.search(r'radical="(\d+)-', self.built_in(platform, ranks))[1])
                    with open(self.hosts(ranks, placement, platform), "w", encoding="utf-8") as file:
                        file.writelines(f"node-{first + node}\n" for node in order)
            for platform in PLATFORMS:
                self.write_platform(platform, ranks)

    def hosts(self, ranks, placement, platform=None):
        """With a platform: by the names that the built-in one has."""
        name = f"{ranks} {placement} {platform}.hosts" if platform else f"{ranks} {placement}.hosts"
        return f"{self.folder}/{name.replace(' ', '-').replace(':', '-')}"

    def built_in(self, platform, ranks):
        return study.output([f"{self.bin}/pfinfo", f"--platform={BUILT_IN[platform]}:{ranks}"])

    def file_of(self, platform, ranks):
        return f"{self.folder}/{platform.replace(' ', '-').replace(':', '-')}-{ranks}.xml"

    def write_platform(self, platform, ranks):
        text = self.built_in(platform, ranks)
        # Hosts and links by the numbers of the nodes.
        text = re.sub(r'radical="(\d+)-(\d+)"', lambda m: f'radical="0-{int(m[2]) - int(m[1])}"', text)
        if platform == "fat tree 2:1":
            text = re.sub(r'"2;(\d+),(\d+);1,(\d+);1,1"', lambda m: f'"2;{m[1]},{m[2]};1,{int(m[3]) // 2};1,1"', text)
        if platform == "torus" and ranks == 256:  # the built-in one would have 7 x 7 x 6 nodes
            text = text.replace("7,7,6", "8,8,4").replace("0-293", "0-255")
        with open(self.file_of(platform, ranks), "w", encoding="utf-8") as file:
            file.write(text)

    def routes(self, platform, ranks):
        """The links between each pair of nodes."""
        if (platform, ranks) not in self.routes_of:
            lines = study.output([f"{self.folder}/routes", self.file_of(platform, ranks), str(ranks), "--log=root.thres:critical"]).splitlines()
            fields = [line.split() for line in lines]
            self.routes_of[platform, ranks] = {(int(f[0]), int(f[1])): f[2:] for f in fields}
        return self.routes_of[platform, ranks]

    def loads(self, messages, platform, ranks, placement):
        """Bytes per link."""
        with open(self.hosts(ranks, placement), encoding="utf-8") as file:
            node = [int(line.split("-")[1]) for line in file]
        routes, loads = self.routes(platform, ranks), {}
        with open(messages, encoding="utf-8") as file:
            for row in csv.DictReader(file):
                for link in routes[node[int(row["from"])], node[int(row["to"])]]:
                    loads[link] = loads.get(link, 0) + int(row["bytes"])
        return loads

    def run(self, case):
        program, ranks, platform, placement, model = case
        name = f"{self.folder}/" + "-".join(map(str, case)).replace(" ", "-").replace(":", "-")
        messages, report = name + ".messages", name + ".report"
        executable = f"{os.path.dirname(self.bin)}/examples/cg" if program == "cg" else self.exchange
        routers = model == "packet"  # and else SimGrid's routes
        begin, used = time.monotonic(), study.processor_s()
        text = study.output([f"{self.bin}/pfrun", "-np", str(ranks), "-platform", f"{BUILT_IN[platform]}:{ranks}" if routers else self.file_of(platform, ranks),
                       "-hostfile", self.hosts(ranks, placement, platform if routers else None), "-model", model.split()[0], "-report", report, "-quiet",
                       "--cfg=smpi/simulate-computation:no", "--log=root.thres:critical", executable, *PROGRAMS[program]],
                      PARFOCAL_OPENMPI_MESSAGES=messages, PARFOCAL_ANALYTIC_SET=MODELS[model])
        share = min(1, (study.processor_s() - used) / (time.monotonic() - begin))  # of a processor that this run had
        match = SECONDS.search(text)
        with open(report + "/summary.json", encoding="utf-8") as file:
            summary = json.load(file)
        overhead = share * sum(phase["overhead_s"] for phase in summary["phases"])
        row = dict(zip(COLUMNS, [*case, 1e6 * float(match[1] or match[2]), overhead, share * summary["startup_s"]]))
        if model == "portals":
            loads = self.loads(messages, platform, ranks, placement)
            busiest = max(sorted(loads), key=loads.get)
            row |= {"busiest_share": 1e6 * loads[busiest] / BANDWIDTH / row["simulated_us"],
                    "busiest_over_mean": loads[busiest] * len(loads) / sum(loads.values()), "busiest_kind": kind_of(busiest, platform, ranks),
                    "busiest_link": busiest}
        return row


def kind_of(link, platform, ranks):
    if platform in ("crossbar", "torus"):
        return "node" if platform == "crossbar" else "grid"
    for begin, kind in KINDS:
        if link.startswith(begin):
            return kind
    match = re.match(r"link_from_(\d+)_(\d+)", link)  # of a fat tree
    return "node" if match and int(match[1]) < ranks else "between switches"


def agreement(fine, cheap):
    """Of the pairs of cases whose times differ by more than 5 % in the fine model: how many the other ranks so too, and of how many."""
    right, clear = 0, 0
    for a, b in itertools.combinations(range(len(fine)), 2):
        if max(fine[a], fine[b]) > 1.05 * min(fine[a], fine[b]):
            clear += 1
            right += (fine[a] < fine[b]) == (cheap[a] < cheap[b])
    return right, clear


def compare(rows, program, ranks, model, reference):
    """On the networks that both have."""
    def of(which):
        return {(row["platform"], row["placement"]): row for row in rows if (row["program"], row["ranks"], row["model"]) == (program, ranks, which)}

    def cost(which, *columns):
        return sum(row[column] for row in which for column in columns)

    cheap, fine = of(model), of(reference)
    cheap, fine = ([found[key] for key in cheap if key in fine] for found in (cheap, fine))
    times = [[row["simulated_us"] for row in found] for found in (fine, cheap)]
    errors = [c / f - 1 for f, c in zip(*times)]
    right, clear = agreement(*times)
    print(f"{program:10}{reference:15}{model:15}{f'{right} of {clear}':>14}{100 * sum(map(abs, errors)) / len(errors):10.1f} %"
          f"{100 * max(errors, key=abs):+7.0f} %{cost(cheap, 'overhead_s') / cost(fine, 'overhead_s'):11.3f}"
          f"{cost(cheap, 'overhead_s', 'start_up_s') / cost(fine, 'overhead_s', 'start_up_s'):16.3f}")


def summarise(rows, ranks):
    print(f"\n{'program':10}{'reference':15}{'model':15}{'ranked right':>14}{'mean error':>12}{'largest':>9}{'overhead':>11}{'with start-up':>16}")
    programs = dict.fromkeys(row["program"] for row in rows)
    for program, reference in itertools.product(programs, REFERENCES):
        for model in list(MODELS)[list(MODELS).index(reference) + 1:]:
            compare(rows, program, ranks, model, reference)


def verify(rows):
    """No network is faster than its busiest link: a list of what is."""
    return [f"{row['program']} on {row['platform']}, {row['placement']}: {row['simulated_us']:.1f} us are less than the busiest link needs"
            for row in rows if row.get("busiest_share", 0) > 1.01]  # some messages come before and after what is timed


def main():
    parser = study.parser(__doc__, "platform-results")
    parser.add_argument("--fine", type=int, default=64, help="nodes of the runs in all models")
    parser.add_argument("--coarse", type=int, default=256, help="nodes of the runs in analytic alone; the same as --fine: none")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="which (default: all)")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    cases = [(program, options.fine, platform, placement, model) for program in options.programs.split(",") for platform in PLATFORMS
             for placement in PLACEMENTS for model in MODELS if (platform, model) != ("fat tree 2:1", "packet")]  # which is not built in
    if options.coarse != options.fine:
        cases += [(program, options.coarse, platform, placement, "analytic link") for program in options.programs.split(",")
                  for platform in PLATFORMS for placement in PLACEMENTS]
    rows = []
    with tempfile.TemporaryDirectory(prefix="pf-platforms-") as folder:
        for row in map(Study(options, folder).run, cases):
            rows.append(row)
            more = f"  busiest link {100 * row['busiest_share']:3.0f} % of the time, {row['busiest_kind']}" if "busiest_share" in row else ""
            print(f"{row['program']:10}{row['ranks']:4} {row['platform']:14}{row['placement']:11}{row['model']:14}{row['simulated_us']:11.2f} us"
                  f"{row['overhead_s']:8.2f} s{more}", flush=True)
    table = os.path.join(options.out, "platforms.csv")
    study.write_table(table, rows, COLUMNS)
    summarise(rows, options.fine)
    wrong = verify(rows)
    print(*wrong, sep="\n")
    if not wrong and not options.no_plot:
        study.draw("platforms", table, os.path.join(options.out, "platforms.png"))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
