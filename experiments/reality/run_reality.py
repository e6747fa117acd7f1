#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How well the analytic model predicts real runs: two ranks under mpirun on this machine, over shared memory and over TCP.

The program of `pfinfo --fit-program` is measured under mpirun, `pfinfo --fit` makes parameters of it, and codes that were not
measured for the fit are run for real and predicted. Their computation is measured while they are simulated. Writes
DIR/results.csv, DIR/runs.csv, and the times and parameters of each transport; prints a table. An idle machine is needed: two
processes that wait for each other need both cores.
"""
import argparse
import csv
import os
import re
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TRANSPORTS = {"shared memory": "vader,self", "TCP": "tcp,self"}
MPIRUN = ["mpirun", "-np", "2", "--bind-to", "core", "--mca", "pml", "ob1"]
CODES = [("halo", f"{HERE}/halo.c", ["256", "512", "1024"]), ("transpose", f"{HERE}/transpose.c", ["128", "256", "512"]),
         ("cg", f"{ROOT}/examples/cg/cg.c", ["16", "24", "32"])]
SECONDS = re.compile(r"^seconds (\S+)|took (\S+) s in solve", re.M)
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    <host id="here" speed="1Gf" core="2"/>
    <link id="loopback" bandwidth="10GBps" latency="100ns" sharing_policy="FATPIPE"/>
    <route src="here" dst="here"><link_ctn id="loopback"/></route>
  </zone>
</platform>
"""


class Study:
    def __init__(self, options):
        self.options, self.bin, self.out = options, os.path.abspath(options.bin), os.path.abspath(options.out)
        os.makedirs(self.out, exist_ok=True)
        self.write("platform.xml", PLATFORM)
        self.write("hosts", "here:2\n")
        shutil.copy(f"{ROOT}/middleware/include/parfocal.h", self.out)  # alone: mpicc has an mpi.h of its own
        self.place = ["-np", "2", "-platform", f"{self.out}/platform.xml", "-hostfile", f"{self.out}/hosts"]
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        self.mpirun = MPIRUN + root
        self.write("measure.c", self.output([f"{self.bin}/pfinfo", "--fit-program"]))
        self.measure = self.build("mpicc", "measure", f"{self.out}/measure.c")
        self.real, self.simulated = {}, {}
        for name, source, _ in CODES:
            self.real[name] = self.build("mpicc", f"{name}-real", source)
            self.simulated[name] = self.build(f"{self.bin}/pfcc", f"{name}-simulated", source)

    def write(self, name, text):
        with open(f"{self.out}/{name}", "w", encoding="utf-8") as file:
            file.write(text)

    def build(self, compiler, name, source):
        target = f"{self.out}/{name}"
        self.output([compiler, "-O2", f"-I{self.out}", source, "-o", target, "-lm"])
        return target

    def output(self, command, **environment):
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env={**os.environ, **environment})
        if done.returncode:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def fit(self, transport):
        """The parameter file of a transport."""
        name = transport.replace(" ", "-")
        times = "".join(self.output([*self.mpirun, "--mca", "btl", TRANSPORTS[transport], self.measure, what])
                        for what in ("fit", "between") for _ in range(self.options.repeat))
        # What a call or a late receive costs is measured once after a sleep, with caches as cold as they never are in a program.
        times = "".join(line for line in times.splitlines(True) if line.startswith(("oneway", "peer")))
        self.write(f"{name}.times", times)
        parameters = f"{self.out}/{name}.txt"
        print(self.output([f"{self.bin}/pfinfo", f"--fit={self.out}/{name}.times", "--output", parameters, "--", *self.place])
              .splitlines()[-2])
        return parameters

    def seconds(self, text):
        match = SECONDS.search(text)
        return float(match[1] or match[2])

    def code(self, transport, parameters, name, size):
        """Measured and predicted times, in turn, so that a slow minute hits both."""
        arguments = ["-n", size] if name == "cg" else [size]
        pairs = []
        for _ in range(self.options.repeat):
            real = self.output([*self.mpirun, "--mca", "btl", TRANSPORTS[transport], self.real[name], *arguments])
            simulated = self.output([f"{self.bin}/pfrun", *self.place, "-model", "analytic", "--log=root.thres:critical",
                                     "--cfg=smpi/host-speed:1Gf", self.simulated[name], *arguments],
                                    PARFOCAL_ANALYTIC_PARAMETERS=parameters)
            pairs.append((self.seconds(real), self.seconds(simulated)))
        return pairs


def spread(values):
    middle = statistics.median(values)
    return middle, min(values) / middle - 1, max(values) / middle - 1


def report(study, results):
    print(f"{'transport':<14} {'code':<10} {'size':>5} {'measured':>12} {'spread':>12} {'predicted':>12} {'spread':>12} {'error':>8}")
    errors = []
    with open(f"{study.out}/results.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["transport", "code", "size", "measured_s", "measured_min_s", "measured_max_s", "predicted_s", "predicted_min_s",
                         "predicted_max_s", "error"])
        for (transport, name, size), pairs in results.items():
            real, simulated = zip(*pairs)
            (r, r_low, r_high), (s, s_low, s_high) = spread(real), spread(simulated)
            errors.append(s / r - 1)
            print(f"{transport:<14} {name:<10} {size:>5} {r * 1e3:9.3f} ms {100 * r_low:+5.0f}{100 * r_high:+5.0f} % "
                  f"{s * 1e3:9.3f} ms {100 * s_low:+5.0f}{100 * s_high:+5.0f} % {100 * errors[-1]:+6.1f} %")
            writer.writerow([transport, name, size, *(f"{v:.9g}" for v in (r, min(real), max(real), s, min(simulated), max(simulated))),
                             f"{errors[-1]:.4f}"])
    print(f"mean error {100 * statistics.mean(map(abs, errors)):.1f} %, median {100 * statistics.median(map(abs, errors)):.1f} %, "
          f"largest {100 * max(map(abs, errors)):.1f} % (SMP-SIM: 7.6 % on average)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=f"{ROOT}/build/bin")
    parser.add_argument("--out", default="reality")
    parser.add_argument("--repeat", type=int, default=11)
    study = Study(parser.parse_args())
    results = {}
    for transport in TRANSPORTS:
        parameters = study.fit(transport)
        for name, _, sizes in CODES:
            for size in sizes:
                results[transport, name, size] = study.code(transport, parameters, name, size)
    report(study, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
