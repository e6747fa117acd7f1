#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What does a neighbour's job cost, and what does adaptive routing save?

A program on a quarter of a dragonfly's nodes, in order (one group) or scattered, alone or with a job that loads the rest of the
machine; an MPI_Alltoall and the halo exchange of experiments/platforms. Model packet with every routing; models portals and
analytic, which know neither routings nor the neighbour, for comparison. Writes DIR/congestion.csv and a picture (with Debian's
python3-matplotlib). Simulated times are the same in each run.
"""
import argparse
import csv
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAMS = {"alltoall": ["alltoall", "16384", "1"], "halo": ["halo", "65536", "5"]}
PLACEMENTS = ["in order", "scattered"]
ROUTINGS = ["minimal", "minimal-adaptive", "valiant", "ugal", "par"]
SECONDS = re.compile(r"^seconds (\S+)", re.M)
FIRST = re.compile(r'prefix="([^"]+)" radical="(\d+)-')
COLUMNS = ["program", "placement", "neighbour", "model", "routing", "simulated_us", "processor_s"]


def output(command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"run_congestion: {' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def processor_time():
    """Of all runs so far, start-up included: other load on the machine hardly changes it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Study:
    def __init__(self, options, folder):
        self.bin, self.folder, self.ranks, self.platform = os.path.abspath(options.bin), folder, options.ranks, f"dragonfly:{options.nodes}"
        self.exchange = os.path.join(folder, "exchange")
        output([f"{self.bin}/pfcc", "-O2", f"{ROOT}/experiments/platforms/exchange.c", "-o", self.exchange])
        prefix, first = FIRST.search(output([f"{self.bin}/pfinfo", f"--platform={self.platform}"])).groups()
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
        before = processor_time()
        text = output([*command, self.exchange, *PROGRAMS[program]], **({"PARFOCAL_NET_ROUTING": routing} if routing else {}))
        return dict(zip(COLUMNS, [program, placement, neighbour, model, routing, 1e6 * float(SECONDS.search(text)[1]), processor_time() - before]))


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="folder of pfcc, pfrun and pfinfo")
    parser.add_argument("--out", default="congestion-results", help="folder of congestion.csv, .svg and .png")
    parser.add_argument("--nodes", type=int, default=256, help="of the built-in dragonfly")
    parser.add_argument("--ranks", type=int, default=64, help="of the program, one per node")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--routings", default=",".join(ROUTINGS))
    parser.add_argument("--neighbours", default="uniform:0.1,adversarial:0.05",
                        help="of all nodes that the program has not, as pfrun -background takes them; empty: none")
    parser.add_argument("--no-plot", action="store_true", help="table only")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory(prefix="pf-congestion-") as folder:
        study = Study(options, folder)
        for case in cases(options):
            rows.append(study.run(*case))
            row = rows[-1]
            print(f"{row['program']:10}{row['placement']:11}{row['neighbour']:17}{row['model']:10}{row['routing']:18}{row['simulated_us']:10.2f} us"
                  f"{row['processor_s']:8.2f} s", flush=True)
    table = os.path.join(options.out, "congestion.csv")
    with open(table, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()} for row in rows)
    wrong = verify(rows)
    print(*wrong, sep="\n")
    if wrong or options.no_plot:
        return 1 if wrong else 0
    return subprocess.run([os.path.join(HERE, "plot_congestion.py"), table, os.path.join(options.out, "congestion")], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
