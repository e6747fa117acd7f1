#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What does a neighbour's job cost, and what does adaptive routing save?

A program on a quarter of a dragonfly's nodes, in order (one group) or scattered, alone or with a job that loads the rest of the
machine; an MPI_Alltoall and the halo exchange of experiments/platforms. Model packet with every routing; models portals and
analytic, which know neither routings nor the neighbour, for comparison. Writes DIR/congestion.csv and
DIR/congestion.png. Simulated times are the same in each run.
"""
import os
import random
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import study  # noqa: E402 (experiments/study.py)
from study import ROOT  # noqa: E402

PROGRAMS = {"alltoall": ["alltoall", "16384", "1"], "halo": ["halo", "65536", "5"]}
PLACEMENTS = ["in order", "scattered"]
ROUTINGS = ["minimal", "minimal-adaptive", "valiant", "ugal", "par"]
SECONDS = re.compile(r"^seconds (\S+)", re.M)
FIRST = re.compile(r'prefix="([^"]+)" radical="(\d+)-')
COLUMNS = ["program", "placement", "neighbour", "model", "routing", "simulated_us", "processor_s"]


class Study:
    def __init__(self, options, folder):
        self.bin, self.folder, self.ranks, self.platform = os.path.abspath(options.bin), folder, options.ranks, f"dragonfly:{options.nodes}"
        self.exchange = study.build(f"{self.bin}/pfcc", f"{folder}/exchange", f"{ROOT}/experiments/platforms/exchange.c")
        prefix, first = FIRST.search(study.output([f"{self.bin}/pfinfo", f"--platform={self.platform}"])).groups()
        self.nodes, generator = list(range(options.nodes)), random.Random(461)
        scattered = sorted(self.nodes, key=lambda _: generator.random())
        self.nodes_of = {"in order": self.nodes[:options.ranks], "scattered": scattered[:options.ranks]}
        for placement, chosen in self.nodes_of.items():
            with open(self.hosts(placement), "w", encoding="utf-8") as file:
                file.writelines(f"{prefix}{int(first) + node}\n" for node in chosen)

    def hosts(self, placement):
        return os.path.join(self.folder, placement.replace(" ", "-"))

    def run(self, program, placement, neighbour, model, routing):
        command = [f"{self.bin}/pfrun", "-np", str(self.ranks), "-platform", self.platform, "-hostfile", self.hosts(placement), "-model", model,
                   "-quiet", "--cfg=smpi/simulate-computation:no", "--log=root.thres:critical"]
        if neighbour != "none":
            others = ",".join(str(node) for node in self.nodes if node not in self.nodes_of[placement])
            command += ["-background", f"{neighbour}:{others}"]
        before = study.processor_s()
        text = study.output([*command, self.exchange, *PROGRAMS[program]], **({"PARFOCAL_NET_ROUTING": routing} if routing else {}))
        return dict(zip(COLUMNS, [program, placement, neighbour, model, routing, 1e6 * float(SECONDS.search(text)[1]), study.processor_s() - before]))


def cases(options):
    for program in options.programs.split(","):
        for placement in PLACEMENTS:
            for neighbour in ["none", *filter(None, options.neighbours.split(","))]:
                if neighbour == "none":
                    yield from ((program, placement, neighbour, model, "") for model in ("analytic", "portals"))
                yield from ((program, placement, neighbour, "packet", routing) for routing in options.routings.split(","))


def verify(rows):
    """A neighbour makes nothing faster by much: what it costs is never below -2 % of the time alone. A list of what is wrong."""
    alone = {(r["program"], r["placement"], r["routing"]): r["simulated_us"] for r in rows if r["model"] == "packet" and r["neighbour"] == "none"}
    return [f"{r['program']}, {r['placement']}, {r['routing']}: {r['simulated_us']:.1f} us with {r['neighbour']}, {alone[key]:.1f} us alone"
            for r in rows if r["model"] == "packet" and r["simulated_us"] < 0.98 * alone[key := (r["program"], r["placement"], r["routing"])]]


def main():
    parser = study.parser(__doc__, "congestion-results")
    parser.add_argument("--nodes", type=int, default=256, help="of the built-in dragonfly")
    parser.add_argument("--ranks", type=int, default=64, help="of the program, one per node")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--routings", default=",".join(ROUTINGS))
    parser.add_argument("--neighbours", default="uniform:0.1,adversarial:0.05",
                        help="of all nodes that the program has not, as pfrun -background takes them; empty: none")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory(prefix="pf-congestion-") as folder:
        runs = Study(options, folder)
        for case in cases(options):
            rows.append(runs.run(*case))
            row = rows[-1]
            print(f"{row['program']:10}{row['placement']:11}{row['neighbour']:17}{row['model']:10}{row['routing']:18}{row['simulated_us']:10.2f} us"
                  f"{row['processor_s']:8.2f} s", flush=True)
    table = os.path.join(options.out, "congestion.csv")
    study.write_table(table, rows, COLUMNS)
    wrong = verify(rows)
    print(*wrong, sep="\n")
    if not wrong and not options.no_plot:
        study.draw("congestion", table, os.path.join(options.out, "congestion.png"))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
