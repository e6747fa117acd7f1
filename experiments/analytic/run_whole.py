#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The whole simulated time of codes in model analytic, without a fit, against portals: on the built-in fat tree, and where links are crowded.

From MPI_Init to MPI_Finalize, without computation, so that each figure is the same on any machine. HPL is fetched, as in ../hpl, unless --no-hpl.
Codes with crowded links run with `contention = link` as well. Writes DIR/whole.csv; prints it. The exit status is 1 when a code did not find its own result right.
"""
import json
import os
import statistics
import sys

EXPERIMENTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[1:1] = [EXPERIMENTS, os.path.join(EXPERIMENTS, "hpl")]
import build  # noqa: E402 (experiments/hpl/build.py)
import study  # noqa: E402 (experiments/study.py)
from study import ROOT  # noqa: E402

FREE = ["--cfg=smpi/simulate-computation:no", "--log=root.thres:critical"]
PARTICLES = [f"experiments/particles/{name}.c" for name in ("particles", "physics", "exchange")]
# name: sources, arguments of each run
CODES = {
    "cg": (["examples/cg/cg.c"], ["-n 16", "-n 32"]),
    "particles": (PARTICLES, ["-side 12 -cycles 10"]),
    "halo27": (["tests/bench/halo.c"], ["20"]),
    "halo": (["experiments/reality/halo.c"], ["512"]),
    "sort": (["experiments/reality/sort.c"], ["2048", "16384", "131072"]),
    "transpose": (["experiments/reality/transpose.c"], ["256", "1024"]),
    "sweep": (["experiments/reality/sweep.c"], ["512"]),
}
LEAST = {"halo27": 27}  # ranks: three in each dimension
# Ranks: the problem (order, block, rows and columns of the grid), and arguments of hpl.c.
HPL = {16: ((1000, 4, 4, 32), ["", "wait=block"]), 64: ((2000, 8, 8, 32), ["wait=block update=flops"])}
# 64 nodes that begin in the middle of a group of a dragonfly: half of what a transposition moves goes over one bundle of links.
CROWDED = [("transpose", "1024"), ("sort", "16384"), ("cg", "-n 32"), ("spectral", "-m 80")]
LINKS = "contention = link"


class Study:
    def __init__(self, options):
        self.options, self.bin, self.out, self.rows = options, os.path.abspath(options.bin), os.path.abspath(options.out), []
        os.makedirs(self.out, exist_ok=True)
        with open(f"{self.out}/hosts", "w", encoding="utf-8") as file:
            file.writelines(f"node-{node}\n" for node in range(1032, 1096))

    def build(self, name, sources):
        return study.build(f"{self.bin}/pfcc", f"{self.out}/{name}", "-w", f"-I{ROOT}/tests/bench", *(f"{ROOT}/{source}" for source in sources))

    def run(self, model, ranks, place, program, folder=None, **environment):
        """Simulated time of the whole run, and the processor time of its simulation, in seconds."""
        command = [f"{self.bin}/pfrun", "-quiet", "-np", str(ranks), *place, *FREE, "-model", model, "-report", f"{self.out}/report", *program]
        before = study.processor_s()
        text = study.output(command, folder, **environment)
        cost = study.processor_s() - before
        if "WRONG" in text:
            sys.exit(f"run_whole.py: {' '.join(command)}\n{text}")
        with open(f"{self.out}/report/summary.json", encoding="utf-8") as file:
            return json.load(file)["simulated_s"], cost

    def compare(self, code, ranks, arguments, program, place=(), folder=None, platform="fattree", settings=("",)):
        reference, cost = self.run("portals", ranks, place, program, folder)
        for setting in settings:
            found, cheap = self.run("analytic", ranks, place, program, folder, PARFOCAL_ANALYTIC_SET=setting)
            row = {"platform": platform, "ranks": ranks, "code": code, "arguments": arguments, "setting": setting,
                   "portals_s": f"{reference:.9g}", "analytic_s": f"{found:.9g}", "error": f"{found / reference - 1:.5f}",
                   "portals_cpu_s": f"{cost:.3g}", "analytic_cpu_s": f"{cheap:.3g}"}
            self.rows.append(row)
            print(f"{row['platform']:9} {ranks:3} {code:10} {arguments:24} {setting:18} {1e3 * reference:10.4f} ms {1e3 * found:10.4f} ms "
                  f"{100 * (found / reference - 1):+6.2f} %  {cost:7.2f} s {cheap:7.2f} s", flush=True)

    def all(self):
        programs = {name: self.build(name, sources) for name, (sources, _) in CODES.items()}
        programs["spectral"] = os.path.join(os.path.dirname(self.bin), "examples", "spectral")
        for ranks in self.options.np:
            for name, (_, runs) in CODES.items():
                for arguments in runs if ranks >= LEAST.get(name, 0) else ():
                    self.compare(name, ranks, arguments, [programs[name], *arguments.split()])
            if self.options.hpl and ranks in HPL:
                self.hpl(ranks)
        for name, arguments in CROWDED if 64 in self.options.np else ():
            self.compare(name, 64, arguments, [programs[name], *arguments.split()], ["-platform", "dragonfly:256", "-hostfile", f"{self.out}/hosts"],
                         platform="dragonfly", settings=("", LINKS))

    def hpl(self, ranks):
        (n, p, q, nb), runs = HPL[ranks]
        program = build.build_hpl(self.bin, f"{self.out}/hpl")
        folder = f"{self.out}/hpl/{ranks}"
        build.write_input(program, folder, n, p, q, nb, check=ranks == 16)
        for arguments in runs:
            self.compare("hpl", ranks, f"N={n} {arguments}".strip(), [program, *arguments.split()],
                         ["--cfg=parfocal/platform_host_speed:20e9"] if "flops" in arguments else (), folder)


def main():
    parser = study.parser(__doc__, "whole-results", picture=False)
    parser.add_argument("-np", type=study.several(int), default=[16, 64], help="ranks (default: 16,64)")
    parser.add_argument("--no-hpl", dest="hpl", action="store_false", help="without HPL, which is fetched")
    runs = Study(parser.parse_args())
    runs.all()
    study.write_table(f"{runs.out}/whole.csv", runs.rows)
    for platform in dict.fromkeys(row["platform"] for row in runs.rows):
        errors = [abs(float(row["error"])) for row in runs.rows if row["platform"] == platform and (platform == "fattree" or row["setting"])]
        print(f"{platform}: {len(errors)} runs, median {100 * statistics.median(errors):.2f} %, largest {100 * max(errors):.2f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
