#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How well the analytic model predicts real runs: two ranks under mpirun on this machine, over shared memory and over TCP.

In each of several rounds, and for each transport: `pfinfo --fit-program` measures messages, and each code is run for real, once
as it is, and once with the library of `pfinfo --record-program`, which measures how long it computes between its calls. Then
`pfinfo --fit` makes parameters of the medians of the first, and the code is simulated: communication from the parameters,
computation from the records. Writes DIR/results.csv, runs.csv, reality.png, and what it was made from; prints a table:

error      the median prediction against the median of the runs as they are
same run   a prediction against the very run that its computation was recorded in (median): the error of the communication
noise      the median of the recorded runs against that of the others: what no prediction can be better than

An idle machine is needed: two processes that wait for each other need both processors.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import study  # noqa: E402 (experiments/study.py)
from study import ROOT  # noqa: E402

TRANSPORTS = {"shared memory": "vader,self", "TCP": "tcp,self"}
MPIRUN = ["mpirun", "-np", "2", "--bind-to", "core", "--mca", "pml", "ob1"]
CODES = [("halo", f"{HERE}/halo.c", ["256", "512", "1024"]), ("transpose", f"{HERE}/transpose.c", ["128", "256", "512"]),
         ("cg", f"{ROOT}/examples/cg/cg.c", ["16", "24", "32"]), ("sweep", f"{HERE}/sweep.c", ["128", "256", "512"]),
         ("sort", f"{HERE}/sort.c", ["2048", "16384", "131072"])]
RESULTS = ["transport", "code", "size", "measured_s", "measured_min_s", "measured_max_s", "predicted_s", "predicted_min_s", "predicted_max_s",
           "error", "error_same_run", "noise"]
RUNS = ["transport", "code", "size", "round", "measured_s", "recorded_run_s", "predicted_s"]
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


def realtime():
    """Nothing else runs on the processors then. Only for runs of about a second: the system stops longer ones."""
    command = ["chrt", "-f", "10"]
    try:
        return command if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0 else []
    except FileNotFoundError:
        return []


class Study:
    def __init__(self, options):
        self.options, self.bin, self.out = options, os.path.abspath(options.bin), os.path.abspath(options.out)
        os.makedirs(self.out, exist_ok=True)
        self.write("platform.xml", PLATFORM)
        self.write("hosts", "here:2\n")
        shutil.copy(f"{ROOT}/middleware/include/parfocal.h", self.out)  # alone: mpicc has an mpi.h of its own
        self.place = ["-np", "2", "-platform", f"{self.out}/platform.xml", "-hostfile", f"{self.out}/hosts"]
        patient = ["--mca", "mpi_yield_when_idle", "1"] if options.quick else []  # also where others use the processors
        self.mpirun = [*realtime(), *MPIRUN, *patient, *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]
        self.write("measure.c", study.output([f"{self.bin}/pfinfo", "--fit-program"]))
        self.write("record.c", study.output([f"{self.bin}/pfinfo", "--record-program"]))
        self.measure = self.build("mpicc", "measure", f"{self.out}/measure.c")
        self.record = self.build("mpicc", "record.so", f"{self.out}/record.c", "-shared", "-fPIC")
        self.cases = [(t, name, size) for t in TRANSPORTS for name, _, sizes in CODES for size in sizes[:1 if options.quick else None]]
        self.real, self.simulated = {}, {}
        for name, source, _ in CODES:
            self.real[name] = self.build("mpicc", f"{name}-real", source)
            self.simulated[name] = self.build(f"{self.bin}/pfcc", f"{name}-simulated", source)

    def write(self, name, text):
        with open(f"{self.out}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
        return f"{self.out}/{name}"

    def build(self, compiler, name, source, *flags):
        return study.build(compiler, f"{self.out}/{name}", *flags, f"-I{self.out}", source)

    def run_real(self, transport, *command, **environment):
        exported = [word for name in environment for word in ("-x", name)]
        return study.output([*self.mpirun, "--mca", "btl", TRANSPORTS[transport], *exported, *command], **environment)

    @staticmethod
    def command(programs, name, size):
        return [programs[name], *(["-n"] if name == "cg" else []), size]

    @staticmethod
    def seconds(text):
        match = SECONDS.search(text)
        if not match or "WRONG" in text:
            sys.exit(f"a code has not worked: {text}")
        return float(match[1] or match[2])

    def time(self, case):
        transport, name, size = case
        return self.seconds(self.run_real(transport, *self.command(self.real, name, size)))

    def record_computation(self, case, index):
        """The file that says how long each rank computes between its calls, and how long that run has taken."""
        transport, name, size = case
        file = f"{self.out}/{'-'.join(case).replace(' ', '-')}-{index}.computation"
        output = self.run_real(transport, "env", f"LD_PRELOAD={self.record}", *self.command(self.real, name, size),
                             PARFOCAL_COMPUTATION_RECORD=file)
        return file, self.seconds(output)

    def fit(self, transport, times):
        """A file of parameters, and what pfinfo says of its errors."""
        name = transport.replace(" ", "-")
        parameters, file = f"{self.out}/{name}.txt", self.write(f"{name}.times", "".join(times))
        output = study.output([f"{self.bin}/pfinfo", f"--fit={file}", "--output", parameters, "--", *self.place])
        return parameters, output.splitlines()[-2]

    def predict(self, case, parameters, record):
        _, name, size = case
        return self.seconds(study.output([f"{self.bin}/pfrun", *self.place, "-model", "analytic", "--log=root.thres:critical",
                                         *self.command(self.simulated, name, size)],
                                        PARFOCAL_ANALYTIC_PARAMETERS=parameters, PARFOCAL_COMPUTATION_REPLAY=record))

    def measure_all(self):
        """Rounds, so that a slow minute hits everything."""
        times, runs, records = ({key: [] for key in keys} for keys in (TRANSPORTS, self.cases, self.cases))
        for index in range(self.options.repeat):
            for transport in TRANSPORTS:
                times[transport].append(self.run_real(transport, self.measure, "machine", *(["1"] if self.options.quick else [])))
            for case in self.cases:
                runs[case].append(self.time(case))
                records[case].append(self.record_computation(case, index))
            if sys.stderr.isatty():
                print(f"\rround {index + 1} of {self.options.repeat}", end="", file=sys.stderr, flush=True)
        return times, runs, records

    def predict_all(self, times, records):
        """Per case a prediction from the computation of each round."""
        predicted = {}
        for transport in TRANSPORTS:
            parameters, summary = self.fit(transport, times[transport])
            print(f"{transport}: {summary}")
            for case in self.cases:
                if case[0] == transport:
                    predicted[case] = [self.predict(case, parameters, file) for file, _ in records[case]]
        return predicted


def report(measured, runs, records, predicted):
    print(f"{'transport':<14} {'code':<10} {'size':>6} {'measured':>12} {'spread':>12} {'predicted':>12} {'spread':>12} {'error':>8} {'same run':>8} {'noise':>8}")
    rows, errors, same_run, noise = [], [], [], []
    for case in measured.cases:
        middle, guess, low, high = statistics.median(runs[case]), statistics.median(predicted[case]), min(predicted[case]), max(predicted[case])
        errors.append(guess / middle - 1)
        noise.append(statistics.median(took for _, took in records[case]) / middle - 1)
        same_run.append(statistics.median(p / took - 1 for p, (_, took) in zip(predicted[case], records[case])))
        print(f"{case[0]:<14} {case[1]:<10} {case[2]:>6} {middle * 1e3:9.3f} ms {100 * (min(runs[case]) / middle - 1):+5.0f}"
              f"{100 * (max(runs[case]) / middle - 1):+5.0f} % {guess * 1e3:9.3f} ms {100 * (low / guess - 1):+5.0f}"
              f"{100 * (high / guess - 1):+5.0f} % {100 * errors[-1]:+6.1f} % {100 * same_run[-1]:+6.1f} % {100 * noise[-1]:+6.1f} %")
        rows.append([*case, *(f"{v:.9g}" for v in (middle, min(runs[case]), max(runs[case]), guess, low, high)),
                     *(f"{v[-1]:.4f}" for v in (errors, same_run, noise))])
    each = [[*case, i, *(f"{v:.9g}" for v in (real, took, guess))] for case in measured.cases
            for i, (real, (_, took), guess) in enumerate(zip(runs[case], records[case], predicted[case]))]
    for name, columns, table in (("results", RESULTS, rows), ("runs", RUNS, each)):
        study.write_table(f"{measured.out}/{name}.csv", [dict(zip(columns, row)) for row in table])
    for what, values in (("error", errors), ("same run", same_run), ("noise", noise)):
        sizes = [abs(e) for e in values]
        print(f"{what}: mean {100 * statistics.mean(sizes):.1f} %, median {100 * statistics.median(sizes):.1f} %, largest "
              f"{100 * max(sizes):.1f} % (SMP-SIM: 7.6 % on average)")


def main():
    parser = study.parser(__doc__, "reality")
    parser.add_argument("--repeat", type=int, default=7, help="rounds")
    parser.add_argument("--quick", action="store_true", help="only the smallest sizes, and too few rounds for figures")
    options = parser.parse_args()
    measured = Study(options)
    times, runs, records = measured.measure_all()
    report(measured, runs, records, measured.predict_all(times, records))
    if not options.quick and not options.no_plot:
        study.draw("reality", f"{measured.out}/results.csv", f"{measured.out}/reality.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
