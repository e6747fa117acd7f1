#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank is a process: runs each case of in_c.c, in_cxx.cpp and in_fortran.f90 under stock mpirun and in every model, and compares status,
lines and files.

run_process.py BUILD [CASE...]
"""
import os
import random
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402

RANKS = 3
INPUT = "7 words\nthe second line\n"
OPTIONS = ["-a", "x", "-ab1", "-c", "-c2", "y", "-b", "3", "--", "-z"]
MODELS = ["analytic", "smpi", "portals", "packet"]


def cases(source):
    with open(os.path.join(HERE, source), encoding="utf-8") as file:
        return re.findall(r"^ *case \('(\w+)'\)$|\{\"(\w+)\", [a-z_]+\}", file.read(), re.M)


def outcome(tools, command, folder):
    """Status, lines, and the files that the ranks have left."""
    os.mkdir(folder)
    with open(os.path.join(folder, "..", "input"), encoding="utf-8") as given:
        result = tools.run(command, 60, cwd=folder, stdin=given)
    files = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            with open(path, encoding="utf-8", errors="replace") as file:
                files[os.path.relpath(path, folder)] = (oct(os.stat(path).st_mode & 0o777), file.read())
    shutil.rmtree(folder)
    return {"status": result.status, "lines": result.lines, "files": sorted(files.items())}, result


def main():
    build, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    seed = int(os.environ.get("PROCESS_SEED", random.SystemRandom().randrange(10000)))
    choice = random.Random(seed)
    failed = count = 0
    work = tempfile.mkdtemp(prefix="process-")
    try:
        tools = harness.Tools(os.path.join(build, "bin"), work)
        with open(os.path.join(work, "input"), "w", encoding="utf-8") as file:
            file.write(INPUT)
        for source in ("in_c.c", "in_cxx.cpp", "in_fortran.f90"):
            built = {compiler: tools.build(os.path.join(HERE, source), compiler) for compiler in ("pfcc", "mpicc")}
            for case in map("".join, cases(source)):
                if wanted and case not in wanted:
                    continue
                arguments = [case] + OPTIONS
                right, _ = outcome(tools, harness.MPIRUN + ["-np", str(RANKS), built["mpicc"]] + arguments, os.path.join(work, "run"))
                if right["status"] != 0:
                    sys.exit(f"run_process: {source} {case} ends with {right['status']} under mpirun")
                mixed = f"every:{choice.randint(1, 3)}=" + "|".join(choice.sample(MODELS, 3))
                for way in [["-model", model] for model in MODELS] + [["-schedule", mixed]]:
                    command = [tools.command("pfrun"), "-np", str(RANKS)] + way + harness.SIMULATION + [built["pfcc"]] + arguments
                    found, result = outcome(tools, command, os.path.join(work, "run"))
                    if found != right:
                        failed += 1
                        print(f"FAIL {source} {case} {' '.join(way)} (PROCESS_SEED={seed})")
                        for what in right:
                            if found[what] != right[what]:
                                print(f"  {what}: {found[what]}\n  mpirun: {right[what]}")
                        print("  " + "\n  ".join(result.err.splitlines()[-5:]))
                count += 1
    finally:
        shutil.rmtree(work)
    if count == 0:
        sys.exit(f"run_process: no case of the name {' '.join(wanted)}")
    print(f"{count} cases, each in {len(MODELS) + 1} ways: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
