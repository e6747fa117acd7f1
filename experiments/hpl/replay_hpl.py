#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""HPL recorded and replayed: here in two models, as an OTF2 archive, and under the distribution's mpirun.

Usage: replay_hpl.py [-n ORDER] [-p ROWS] [-q COLUMNS] [--bin DIRECTORY] [--out DIRECTORY] [--csv FILE]
Needs what run_hpl.py needs, and mpicc and mpirun of Open MPI. Fails when a replay has another simulated time than the program.
"""
import argparse
import json
import os
import re
import subprocess
import sys

import build

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = ("analytic", "portals")
LAB = "--cfg=smpi/simulate-computation:no"
# hpl.c for an MPI that is not simulated: no sampling, and the function's own name where pfcc gives it another.
MACHINE = ["-Dsmpi_execute_flops(x)=((void)(x))", "-DSMPI_SAMPLE_GLOBAL_TAG(a,b,c,d,e,f)=for (a; b; c)",
           "-D__wrap_pf_MPI_Iprobe=__wrap_MPI_Iprobe", "-D__real_pf_MPI_Iprobe=__real_MPI_Iprobe"]


def build_for_machine(folder):
    """HPL by mpicc; returns the program."""
    program = os.path.join(folder, "hpl")
    if os.path.exists(program):
        return program
    os.makedirs(folder, exist_ok=True)
    os.environ.setdefault("MAKEFLAGS", "-j2")
    top = os.path.dirname(build.run_apps.build_hpcc("mpicc", os.path.join(folder, "apt"), folder))
    wrapped = [name.replace("pf_", "") for name in build.WRAPPED]
    subprocess.run(["mpicc", "-O2", "-w", *MACHINE, "-I" + os.path.join(top, "include"), "-I" + os.path.join(top, "hpl", "include"),
                    os.path.join(HERE, "hpl.c"), "-o", program, *["-Wl,--wrap=" + name for name in wrapped],
                    os.path.join(top, "hpl", "lib", "parfocal", "libhpl.a"), "-lblas", "-lm"], check=True)
    return program


class Runs:
    """pfrun in a folder with HPL's input."""

    def __init__(self, bin_folder, folder):
        self.bin, self.folder = os.path.abspath(bin_folder), folder

    def run(self, *arguments):
        """The simulated time with twelve digits, processor seconds of it all, and peak memory in MiB."""
        done = subprocess.run(["/usr/bin/env", "time", "-f", "used %U %S %M", os.path.join(self.bin, "pfrun"), "-quiet", "-report", "report", LAB,
                               *arguments], cwd=self.folder, capture_output=True, text=True, check=False, timeout=3600)
        used = re.search(r"^used (\S+) (\S+) (\d+)$", done.stderr, re.MULTILINE)
        if done.returncode or not used:
            raise RuntimeError(f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
        with open(os.path.join(self.folder, "report", "summary.json"), encoding="utf-8") as file:
            return f"{json.load(file)['simulated_s']:.12f}", float(used[1]) + float(used[2]), int(used[3]) // 1024

    def record_on_machine(self, program, ranks):
        """A recording by mpicc's library under mpirun."""
        source = subprocess.run([os.path.join(self.bin, "pfinfo"), "--record-program=calls"], capture_output=True, text=True, check=True).stdout
        with open(os.path.join(self.folder, "record.c"), "w", encoding="utf-8") as file:
            file.write(source)
        subprocess.run(["mpicc", "-O2", "-shared", "-fPIC", "record.c", "-o", "record.so"], cwd=self.folder, check=True)
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        subprocess.run(["mpirun", "--oversubscribe", "-np", str(ranks), "-x", "PARFOCAL_REPLAY_RECORD=machine.replay", "env",
                        f"LD_PRELOAD={self.folder}/record.so", program, "wait=block"], cwd=self.folder, check=True, env=environment,
                       stdout=subprocess.DEVNULL, timeout=3600)
        return "machine.replay"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=1000)
    parser.add_argument("-p", type=int, default=4)
    parser.add_argument("-q", type=int, default=4)
    parser.add_argument("--bin", default=os.path.join(HERE, "..", "..", "build", "bin"))
    parser.add_argument("--out", default="build-hpl")
    parser.add_argument("--csv", default=os.path.join(HERE, "..", "..", "docs", "results", "replay-hpl.csv"))
    options = parser.parse_args()
    out = os.path.abspath(options.out)
    program, machine = build.build_hpl(options.bin, os.path.join(out, "pfcc")), build_for_machine(os.path.join(out, "mpicc"))
    runs, ranks = Runs(options.bin, os.path.join(out, "replay")), options.p * options.q
    build.write_input(program, runs.folder, options.n, options.p, options.q)
    app, rows, failed = ["-np", str(ranks), program, "wait=block"], [], False
    traces = {"analytic": ["-model", "analytic", "-trace", "replay:analytic.replay"], "portals": ["-model", "portals", "-trace", "replay:portals.replay"],
              "OTF2": ["-model", "analytic", "-trace", "otf2:own.otf2"]}
    expected = {}
    for model in MODELS:
        expected[model], seconds, memory = runs.run("-model", model, *app)
        rows.append(("the program", model, expected[model], seconds, memory))
    for name, options_of in traces.items():
        runs.run(*options_of, *app)
    runs.record_on_machine(machine, ranks)
    for name, file in (("analytic", "analytic.replay"), ("portals", "portals.replay"), ("OTF2", "own.otf2"), ("mpirun", "machine.replay")):
        for model in MODELS:
            time, seconds, memory = runs.run("-model", model, "-replay", file)
            rows.append((f"recorded: {name}", model, time, seconds, memory))
            # A recording of a machine has no looks at the clock, which take 10 ns each in the program.
            failed |= abs(float(time) - float(expected[model])) > 1e-7 if name == "mpirun" else time != expected[model]
    with open(options.csv, "w", encoding="utf-8") as file:
        file.write("n,ranks,run,model,simulated_s,processor_s,memory_mib\n")
        for row in rows:
            file.write(f"{options.n},{ranks},{row[0]},{row[1]},{row[2]},{row[3]:.2f},{row[4]}\n")
            print(f"{row[0]:20} {row[1]:10} {row[2]} s simulated, {row[3]:.2f} s, {row[4]} MiB")
    return failed


if __name__ == "__main__":
    sys.exit(main())
