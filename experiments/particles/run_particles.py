#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ten cycles of a Monte-Carlo particle code, switched after k of them: is a cycle after the switch the same as without one?

Builds the program and makes four tables in DIR, each with its CSV file, and particles.png:
    sweep     each cycle's simulated time and the processor time of its simulation, 4 to 16 ranks, switch after k cycles
    causes    what could make the cycles after a switch slower, provoked one at a time
    growth    processor time along 80 cycles, with and without what SMPI leaves behind
    accuracy  what MPI_Test does to the times of model smpi
Every run must have the physics of a run on one rank, and every cycle after the first one behind a switch the simulated time
of the same cycle in a run without a switch; otherwise the exit status is 1.
"""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import study  # noqa: E402 (experiments/study.py)
from study import ROOT  # noqa: E402

SOURCES = [os.path.join(HERE, name) for name in ("particles.c", "physics.c", "exchange.c")]
FINE = "portals"
NO_COMPUTATION = ["--cfg=smpi/simulate-computation:no"]
COMPUTATION = ["--cfg=smpi/host-speed:1Gf"]
SHORT_TESTS = ["--cfg=smpi/test:1e-7", "--cfg=smpi/grow-injected-times:no"]
PLATFORM = os.path.join(ROOT, "tests", "e2e", "platform")
TABLES = ["sweep", "causes", "growth", "accuracy"]
ROUNDING = 1e-8  # s: what a cycle may differ because the clock shows another hour
LOOKS = 1e-6  # s: the same for ranks that poll, which may just miss a message, or not: ten looks
FIRST = 0.05  # of the first cycle: ranks come to it with other distances between them


class Failure(Exception):
    pass


def read_cycles(text):
    """The lines `cycle N MODEL key value key value ...` of the program."""
    cycles = []
    for words in (line.split() for line in text.splitlines()):
        if words[:1] == ["cycle"]:
            one = dict(zip(words[3::2], words[4::2]))
            one = {key: value if key == "hash" else float(value) for key, value in one.items()}
            cycles.append({"cycle": int(words[1]), "model": words[2], **one})
    return cycles


class Study:
    def __init__(self, options):
        self.bin, self.out, self.quick, self.wrong = os.path.abspath(options.bin), options.out, options.quick, []
        self.size = ["-side", "6", "-cycles", "4"] if self.quick else ["-side", "12", "-cycles", "10"]
        os.makedirs(self.out, exist_ok=True)
        self.program = study.build(f"{self.bin}/pfcc", f"{self.out}/particles", *SOURCES)
        self.physics = {}

    def launch(self, command, ranks, arguments, environment=None):
        done = subprocess.run([*command, *arguments], env={**os.environ, **(environment or {})}, capture_output=True, text=True,
                              check=False)
        cycles = read_cycles(done.stdout)
        if done.returncode or not cycles:
            raise Failure(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-1000:]}")
        physics = [(one["segments"], one["census"], one["hash"]) for one in cycles]
        numbers = [word for flag in ("-side", "-per-cell", "-cycles") if flag in arguments
                   for word in (flag, arguments[arguments.index(flag) + 1])]
        known = self.physics.get(tuple(numbers))
        if known is None and ranks == 1:
            self.physics[tuple(numbers)] = physics
        elif known is None:
            self.run(1, "analytic", [], numbers)
            known = self.physics[tuple(numbers)]
        if known and known != physics:
            raise Failure(f"{' '.join(command)}: the physics is not that of one rank")
        return cycles

    def run(self, ranks, start, items, arguments, cfg=None, environment=None):
        """items: of the schedule. All models are loaded before the first cycle, so that none pays for it."""
        switches = ["-load", FINE, "-schedule", ",".join(items)] if items else []
        command = [f"{self.bin}/pfrun", "-np", str(ranks), "-model", start, *switches, *(cfg or NO_COMPUTATION), self.program]
        return self.launch(command, ranks, arguments, environment)

    def compare(self, label, reference, cycles, at, pool=False):
        """Differences of the cycles from `at` on, and a complaint when they are not what they must be. With a pool of receives
        from before the switch, the first message of each neighbour is still of the first model."""
        deltas = [one["simulated"] - same["simulated"] for one, same in zip(cycles[at:], reference[at:])]
        later = max((abs(delta) for delta in deltas[1:]), default=0.0)
        if later > (LOOKS if cycles[at]["tests"] else ROUNDING):
            self.wrong.append(f"{label}: a later cycle differs by {later * 1e6:.3f} us")
        if not pool and abs(deltas[0]) > FIRST * reference[at]["simulated"]:
            self.wrong.append(f"{label}: the first cycle differs by {deltas[0] * 1e6:.3f} us")
        return deltas[0], later

    def write(self, name, rows):
        study.write_table(os.path.join(self.out, name), rows)

    # ---- the sweep ----

    def sweep(self):
        rows, table = [], []
        for ranks in (4,) if self.quick else (4, 8, 16):
            count = int(self.size[self.size.index("-cycles") + 1])
            done = {model: self.run(ranks, model, [], self.size) for model in ("analytic", "smpi", FINE)}
            for cheap in ("analytic", "smpi"):
                for first, second in ((cheap, FINE), (FINE, cheap)):
                    worst = [0.0, 0.0]
                    for at in range(count + 1) if not self.quick else (0, 2, count):
                        cycles = done[second] if at == 0 else done[first] if at == count else \
                            self.run(ranks, first, [f"cycle-{at}={second}"], self.size)
                        if 0 < at < count and second == FINE:
                            label = f"{ranks} ranks, {first} to {second} after {at}"
                            delta, later = self.compare(label, done[FINE], cycles, at)
                            worst = [max(worst[0], abs(delta) / done[FINE][at]["simulated"]), max(worst[1], later)]
                        rows += [self.row(ranks, first, second, at, one) for one in cycles]
                    if second == FINE:
                        table.append((ranks, first, *worst))
        self.write("particles.csv", rows)
        print("simulated time of the cycles after the switch, against the run in portals alone (largest of all switches)")
        print(f"{'ranks':>5}  {'first model':<12} {'first cycle':>12} {'later cycles':>13}")
        for ranks, first, cycle, later in table:
            print(f"{ranks:>5}  {first:<12} {100 * cycle:>10.3f} % {1e9 * later:>10.2f} ns")

    @staticmethod
    def row(ranks, first, second, at, one):
        return {"ranks": ranks, "first": first, "second": second, "after": at, "cycle": one["cycle"], "model": one["model"],
                "simulated_s": f"{one['simulated']:.9e}", "spread_s": f"{one['spread']:.3e}", "processor_s": f"{one['processor']:.4f}",
                "tests": int(one["tests"]), "messages": int(one["messages"])}

    # ---- what could be the cause ----

    def causes(self):
        ranks, at = (4, 2) if self.quick else (8, 5)
        cases = [("as it is", [], {}), ("receives stay posted across the switch", ["-receives", "keep"], {}),
                 ("no receive posted: unexpected messages, MPI_Iprobe", ["-receives", "probe"], {}),
                 ("blocking reductions in the loop", ["-done", "allreduce"], {}), ("no polling", ["-done", "rounds"], {}),
                 ("SimGrid's list as in stock SMPI", [], {"PARFOCAL_SMPI_FORGET": "no"})]
        rows = []
        for name, extra, environment in cases:
            reference = self.run(ranks, FINE, [], self.size + extra)
            for cheap in ("analytic", "smpi"):
                cycles = self.run(ranks, cheap, [f"cycle-{at}={FINE}"], self.size + extra, None, environment)
                rows.append(self.cause(name, cheap, reference, cycles, at))
        reference = self.run(ranks, FINE, [], self.size)
        for late in ("1e-7", "1e-6", "3e-6", "1e-5", "1e-3"):
            cycles = self.run(ranks, FINE, [], [*self.size, "-skew", late, "-skewed", str(at)])
            rows.append(self.cause(f"no switch, even ranks {float(late) * 1e6:g} us late", "-", reference, cycles, at))
        self.write("particles-causes.csv", rows)
        print("\ncandidates: the cycles after a switch against the same ones in portals alone; tests: calls of them all")
        for row in rows:
            print(f"{row['case']:<52} {row['first']:<9} first cycle {float(row['first_cycle_us']):>+10.3f} us  later "
                  f"{float(row['later_us']):>7.4f} us  tests {row['tests']:>6} for {row['tests_alone']:>6}")

    def cause(self, name, cheap, reference, cycles, at):
        label = f"{name}, from {cheap}"
        delta, later = self.compare(label, reference, cycles, at, "stay posted" in name) if cheap != "-" else \
            (cycles[at]["simulated"] - reference[at]["simulated"],
             max(abs(a["simulated"] - b["simulated"]) for a, b in zip(cycles[at + 1:], reference[at + 1:])))
        tests = [int(sum(one["tests"] for one in run[at:])) for run in (cycles, reference)]
        return {"case": name, "first": cheap, "first_cycle_us": f"{1e6 * delta:.4f}", "later_us": f"{1e6 * later:.5f}",
                "tests": tests[0], "tests_alone": tests[1]}

    # ---- what SMPI leaves behind ----

    def growth(self):
        size = ["-side", "8", "-per-cell", "1", "-cycles", "80"]
        series = [("portals alone", FINE, [], {}), ("smpi", "smpi", [], {}), ("smpi, then portals", "smpi", ["cycle-40=portals"], {}),
                  ("list kept: smpi", "smpi", [], {"PARFOCAL_SMPI_FORGET": "no"}),
                  ("list kept: smpi, then portals", "smpi", ["cycle-40=portals"], {"PARFOCAL_SMPI_FORGET": "no"})]
        rows = []
        for name, start, items, environment in series:
            rows += self.tens(name, self.run(8, start, items, size, COMPUTATION, environment))
        if shutil.which("smpicc") and shutil.which("smpirun"):
            rows += self.tens("stock smpirun", self.stock(size))
        self.write("particles-growth.csv", rows)
        print("\nprocessor time (s) of ten cycles each, 8 ranks, computation measured; the switch is in the middle")
        for name in dict.fromkeys(row["case"] for row in rows):
            print(f"{name:<30}", *(f"{float(row['processor_s']):6.3f}" for row in rows if row["case"] == name))

    @staticmethod
    def tens(name, cycles):
        return [{"case": name, "cycles": f"{i}-{i + 9}", "model": cycles[i]["model"],
                 "processor_s": f"{sum(one['processor'] for one in cycles[i:i + 10]):.4f}"} for i in range(0, len(cycles), 10)]

    def stock(self, size):
        """The same program without any of ours; parfocal.h is empty there."""
        include, program = os.path.join(self.out, "include"), os.path.join(os.path.abspath(self.out), "particles-stock")
        os.makedirs(include, exist_ok=True)
        shutil.copy(os.path.join(ROOT, "middleware", "include", "parfocal.h"), include)
        subprocess.run(["smpicc", "-O2", "-w", "-I" + include, "-o", program, *SOURCES, "-lm"], check=True)
        command = ["smpirun", "-np", "8", "-platform", f"{PLATFORM}/cluster.xml", "-hostfile", f"{PLATFORM}/hostfile",
                   *COMPUTATION, program]
        return self.launch(command, 8, size)

    # ---- why smpi's times are what they are ----

    def accuracy(self):
        rows = []
        for per_cell in ("2", "20"):
            for ranks in (2, 4, 8, 16):
                arguments = ["-side", "12", "-per-cell", per_cell, "-cycles", "5", "-done", "allreduce", "-cost", "1e-6"]
                total = lambda cfg, model: sum(one["simulated"] for one in self.run(ranks, model, [], arguments, NO_COMPUTATION + cfg))
                fine = total([], FINE)
                errors = [total(cfg, "smpi") / fine - 1 for cfg in ([], SHORT_TESTS)]
                rows.append({"per_cell": per_cell, "ranks": ranks, "portals_s": f"{fine:.6e}", "smpi_error": f"{errors[0]:.4f}",
                             "short_tests_error": f"{errors[1]:.4f}"})
        self.write("particles-accuracy.csv", rows)
        print("\nsimulated time in smpi against portals, 1 us a segment; and with tests of 0.1 us that do not grow")
        for row in rows:
            print(f"{int(row['per_cell']) * 1728 * 4:>7} particles {row['ranks']:>3} ranks {100 * float(row['smpi_error']):>+8.1f} % "
                  f"{100 * float(row['short_tests_error']):>+8.1f} %")


def main():
    parser = study.parser(__doc__, "particles-results")
    parser.add_argument("--quick", action="store_true", help="4 ranks, 4 small cycles, one switch: the checks, not the figures")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="of " + ", ".join(TABLES) + " (default: all; with --quick, the first two)")
    options = parser.parse_args()
    if set(options.tables) - set(TABLES):
        parser.error("tables are " + ", ".join(TABLES))
    runs = Study(options)
    try:
        for table in options.tables or TABLES[:2 if runs.quick else None]:
            getattr(runs, table)()
            sys.stdout.flush()
    except Failure as failure:
        sys.exit(f"run_particles: {failure}")
    if not options.no_plot:
        study.draw("particles", os.path.join(options.out, "particles.csv"), os.path.join(options.out, "particles.png"))
    for line in runs.wrong:
        print(f"run_particles: {line}", file=sys.stderr)
    sys.exit(bool(runs.wrong))


if __name__ == "__main__":
    main()
