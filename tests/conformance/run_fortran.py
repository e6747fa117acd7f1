#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's test programs in Fortran (the copies in SimGrid's source package, folders f77 and f90) under stock mpirun and pfrun.

What passes under stock mpirun must pass in every other column: the exit status is 0 when that is so.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

import suite

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PLATFORM = os.path.join(ROOT, "tests", "e2e", "platform", "cluster.xml")
HOSTS = [f"node-{i}" for i in range(16)]
COLUMNS = ["mpirun", "smpi", "portals", "every3"]
QUIET = ["--cfg=smpi/simulate-computation:no", "--log=root.thres:critical"]
# Parts in C, and headers that MPICH's configure would write for addresses of 64 bits.
PARTS = {"c2f2cf": "c2f2c.c", "ctypesinf": "ctypesfromc.c", "c2f2cwinf": "c2f2cwin.c", "c2f2cwinf90": "c2f902cwin.c",
         "greqf": "dummyf.f", "greqf90": "dummyf90.f90"}
HEADERS = {"attraints.h": "integer*8 extrastate, valin, valout, val", "attr1aints.h": "integer*8 extrastate, valin, valout, val",
           "typeaints.h": "integer*8 aint, aintv(max_asizev)", "addsize.h": "integer*8 asize", "add1size.h": "integer*8 asize"}
FLAGS = ["-O0", "-g", "-w", "-std=legacy", "-fcray-pointer"]


def tests_of(root):
    """(folder, name, number of ranks): what the lists name, also commented out, if there is a source."""
    for language, ending in (("f77", ".f"), ("f90", ".f90")):
        for folder in sorted(os.listdir(os.path.join(root, language))):
            where = os.path.join(root, language, folder)
            if folder == "util" or not os.path.isdir(where):
                continue
            ranks = {}
            with open(os.path.join(where, "testlist"), encoding="utf-8") as f:
                for line in f:
                    match = re.fullmatch(r"#?(\w+)\s+(\d+)(\s.*)?", line.strip())
                    if match:
                        ranks[match[1]] = int(match[2])
            for source in sorted(os.listdir(where)):
                if source.endswith(ending) and source not in PARTS.values():
                    name = source[:-len(ending)]
                    yield f"{language}/{folder}", name, ranks.get(name, 1)


class Runner:
    def __init__(self, root, args):
        self.root, self.args = root, args
        self.include = os.path.join(args.build, "fortran", "include")
        os.makedirs(self.include, exist_ok=True)
        for name, text in HEADERS.items():
            with open(os.path.join(self.include, name), "w", encoding="utf-8") as f:
                f.write(f"       {text}\n")
        for language in ("ours/f77", "ours/f90", "stock/f77", "stock/f90"):  # as its parts in C include it
            os.makedirs(os.path.join(args.build, "fortran", language, "include"), exist_ok=True)
            with open(os.path.join(args.build, "fortran", language, "include", "mpitestconf.h"), "w", encoding="utf-8") as f:
                f.write("#define F77_NAME_LOWER_USCORE 1\n")
        with open(os.path.join(args.build, "fortran", "hosts"), "w", encoding="utf-8") as f:
            f.write("\n".join(HOSTS) + "\n")

    def program(self, folder, name, ours):
        """(path, '') or (None, what the compiler said)."""
        language = folder.split("/")[0]
        place = os.path.join(self.args.build, "fortran", "ours" if ours else "stock", folder, name)
        tool = os.path.join(self.args.bin, "pff90") if ours else "mpif90"
        target = os.path.join(place, name)
        archive = os.path.join(os.path.dirname(self.args.bin), "middleware", "fortran", "libparfocal_fortran.a")
        newest = max(os.path.getmtime(f) for f in (__file__, tool, archive) if os.path.exists(f))
        if os.path.exists(target) and os.path.getmtime(target) > newest:
            return target, ""
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        # A copy: an include in the folder of the source would come before ours.
        source = f"{name}.{'f' if language == 'f77' else 'f90'}"
        util = "mtestf.f" if language == "f77" else "mtestf90.f90"
        sources = [util, source] + ([PARTS[name]] if name in PARTS else [])
        shutil.copy(os.path.join(self.root, folder, source), place)
        shutil.copy(os.path.join(self.root, language, "util", util), place)
        if name in PARTS:
            shutil.copy(os.path.join(self.root, folder, PARTS[name]), place)
        said = ""
        for each in sources:
            flags = FLAGS if not each.endswith(".c") else ["-w", "-Wno-error", "-I" + os.path.join(self.root, "include")]
            if not ours and not each.endswith(".c"):
                flags = flags + ["-fallow-argument-mismatch"]
            compiler = (os.path.join(self.args.bin, "pfcc") if ours else "mpicc") if each.endswith(".c") else tool
            done = subprocess.run([compiler, *flags, "-I", self.include, "-c", each], cwd=place, capture_output=True, text=True,
                                  timeout=120)
            said += done.stderr if done.returncode else ""
        if said:
            return None, said
        objects = [each.rsplit(".", 1)[0] + ".o" for each in sources]
        done = subprocess.run([tool, *objects, "-o", target + ".new"], cwd=place, capture_output=True, text=True, timeout=120)
        if done.returncode:
            return None, done.stderr
        os.replace(target + ".new", target)
        return target, ""

    def run(self, folder, name, ranks, column):
        program, said = self.program(folder, name, column != "mpirun")
        if not program:
            return "does not compile: " + next((t for t in said.splitlines() if "rror" in t), said[:100])
        if column == "mpirun":
            command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks)]
        else:
            how = ["-schedule", "every:3=smpi|portals"] if column == "every3" else ["-model", column]
            command = [os.path.join(self.args.bin, "pfrun"), "-np", str(ranks), "-platform", PLATFORM, "-hostfile",
                       os.path.join(self.args.build, "fortran", "hosts"), *QUIET, *how]
        try:
            done = subprocess.run(command + [program], capture_output=True, text=True, errors="replace", cwd=os.path.dirname(program),
                                  timeout=self.args.timeout)
        except subprocess.TimeoutExpired:
            return "longer than the limit"
        if done.returncode == 0 and "No Errors" in done.stdout:
            return "pass"
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        return f"status {done.returncode}: " + " / ".join(lines[:3])[:300]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*", help="programs such as f77/coll/exscanf (default: all)")
    parser.add_argument("--columns", default=",".join(COLUMNS), help="what to run (default: %(default)s)")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="folder of pff90 and pfrun")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "conformance"), help="where everything is kept")
    parser.add_argument("-j", type=int, default=2, metavar="N", help="runs at a time (default: 2)")
    parser.add_argument("--timeout", type=int, default=30, metavar="S", help="for one run (default: 30)")
    parser.add_argument("-v", "--verbose", action="store_true", help="print each result")
    args = parser.parse_args()
    args.build, args.bin = os.path.abspath(args.build), os.path.abspath(args.bin)
    columns = args.columns.split(",")
    runner = Runner(suite.unpack(args.build), args)
    tests = [t for t in tests_of(runner.root) if not args.names or f"{t[0]}/{t[1]}" in args.names]

    def all_columns(test):
        return [runner.run(*test, column) for column in columns]

    passed, worse = dict.fromkeys(columns, 0), 0
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for test, results in zip(tests, pool.map(all_columns, tests)):
            must = columns[0] != "mpirun" or results[0] == "pass"
            for column, result in zip(columns, results):
                passed[column] += result == "pass"
                worse += must and result != "pass"
                if args.verbose or (result != "pass" and (must or column != "mpirun")):
                    print(f"{'FAIL' if must and result != 'pass' else 'also'} {test[0]}/{test[1]} [{column}] {result}")
            sys.stdout.flush()
    print(f"{len(tests)} programs: " + ", ".join(f"{column} {count}" for column, count in passed.items())
          + f"; {worse} results worse than stock")
    return worse != 0


if __name__ == "__main__":
    sys.exit(main())
