#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests PARFOCAL_CHECK: every fault is found, with the line that docs/check.md shows; what is right is not found.

run_check.py --bin DIR faults   runs the programs of this folder with and without their faults (cases.txt);
run_check.py --bin DIR classes  runs one wrong program of each class of classes.py (--all: all), and the right ones;
run_check.py --bin DIR silent   runs correct programs of tests/e2e/programs: nothing may be found, and no simulated
                                time may differ from that without the layer.
"""
import argparse
import concurrent.futures
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import classes  # noqa: E402
import harness  # noqa: E402

LIMIT = 60
STATUS = 86  # PF_CHECK_STATUS in middleware/check/check.h
CHECK = {"PARFOCAL_CHECK": "yes"}
MODELS = [["-model", "smpi"], ["-model", "portals"], ["-model", "analytic"], ["-schedule", "every:2=analytic|portals|smpi"]]
MIXED = ["-schedule", "every:2=smpi|portals"]
# Which end the job themselves: a collective that differs, or an error handler that is fatal.
FATAL = {"fatal", "error", "deadlock", "unfinished"}
# Each object and each kind of call is there; any other program can be named.
PROGRAMS = ["coll", "datatypes", "group", "icoll", "idupinter", "intercoll", "keyvals", "mixed", "completions", "persistent", "probe", "rma", "wincalls", "split", "truncate",
            "winshapes"]
DOC = os.path.join(harness.ROOT, "docs", "check.md")


def cases():
    with open(os.path.join(HERE, "cases.txt"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                program, case, ranks, kind, count, pattern = line.strip().split(None, 5)
                yield program, case, int(ranks), kind, int(count), pattern


def lines_of(result):
    return [line for line in result.err.splitlines() if line.startswith("parfocal: check: ")]


def fail(result, why):
    return [f"{why}\n    {result.command}\n" + "".join(f"    | {line}\n" for line in (result.data + result.err.splitlines())[-8:])]


def with_fault(tools, case, model):
    """The lines that were printed, and what is wrong with them."""
    program, name, ranks, kind, count, pattern = case
    result = tools.pfrun(tools.build(os.path.join(HERE, program + ".c"), "pfcc"), ranks, [name, "wrong"], LIMIT, model, CHECK)
    lines, wrong = lines_of(result), []
    if not any(re.search(pattern, line) for line in lines):
        wrong += fail(result, f"{program} {name}: no line like /{pattern}/")
    if result.check.get(kind) != count or result.check.get("findings") != count:
        wrong += fail(result, f"{program} {name}: found {result.check}, expected {kind}: {count}")
    if result.status != STATUS and not (name in FATAL and result.status not in (0, "timeout")):
        wrong += fail(result, f"{program} {name}: exit status {result.status}")
    return lines, wrong


def without(tools, case):
    program, name, ranks = case[:3]
    result = tools.pfrun(tools.build(os.path.join(HERE, program + ".c"), "pfcc"), ranks, [name, "right"], LIMIT, MIXED, CHECK)
    if result.status != 0 or lines_of(result) or result.check.get("findings") != 0:
        return [], fail(result, f"{program} {name} without the fault: exit status {result.status}, {result.check}")
    return [], []


def documented(printed):
    """Each line that the page shows must have been printed just so."""
    with open(DOC, encoding="utf-8") as f:
        shown = [line.strip() for line in f if line.startswith("parfocal: check: ")]
    kinds = {line for line in shown}
    return [f"docs/check.md shows a line that no test prints: {line}\n" for line in sorted(kinds - printed)] + \
        ([] if shown else ["docs/check.md shows no line\n"])


def entries(tools):
    """Without the layer nothing lies between the application and the functions beneath."""
    program, wrong = tools.build(os.path.join(HERE, "entries.c"), "pfcc"), []
    for environment, expected in (({}, "direct direct"), (CHECK, "layer layer")):
        result = tools.pfrun(program, 1, [], LIMIT, [], environment)
        if result.data != [expected]:
            wrong += fail(result, f"entries: {result.data}, expected {expected}")
    return wrong


def faults(tools, workers):
    for program in {case[0] for case in cases()}:
        tools.build(os.path.join(HERE, program + ".c"), "pfcc")
    jobs = [(with_fault, case, model) for case in cases() for model in MODELS] + [(without, case) for case in cases()]
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        done = list(pool.map(lambda job: job[0](tools, *job[1:]), jobs))
    printed = {line for lines, _ in done for line in lines}
    return len(jobs) + 2, [text for _, wrong in done for text in wrong] + entries(tools) + documented(printed)


def one_silent(tools, name, model):
    source = os.path.join(harness.HERE, "programs", name + ".c")
    with open(source, encoding="utf-8") as f:
        np = int((re.findall(r"/\* e2e: .*?np=(\d+)", f.read()) or ["4"])[0])
    program = tools.build(source, "pfcc")
    names = {"E2E_A": model[-1], "E2E_B": model[-1]} if model[0] == "-model" else {}
    plain = tools.pfrun(program, np, [], LIMIT, model, names)
    with tempfile.TemporaryDirectory() as folder:
        # Looking up source lines takes long: only for a line that is printed.
        asked, tool = os.path.join(folder, "asked"), os.path.join(folder, "addr2line")
        with open(tool, "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\n: >{asked}\nexit 1\n")
        os.chmod(tool, 0o755)
        path = {"PATH": folder + ":" + os.environ["PATH"]}
        checked = tools.pfrun(program, np, [], LIMIT, model, dict(names, **CHECK, **path))
        wrong = fail(checked, f"{name}: source lines are looked up") if os.path.exists(asked) else []
    if checked.status != plain.status or lines_of(checked) or checked.check.get("findings") != 0:
        wrong += fail(checked, f"{name}: exit status {checked.status}, {checked.check}")
    if checked.lines != plain.lines:
        wrong += fail(checked, f"{name}: other output or simulated times\n" + harness.difference(plain.lines, checked.lines))
    return wrong


def silent(tools, workers, programs):
    jobs = [(name, model) for name in programs or PROGRAMS for model in MODELS]
    for name in programs or PROGRAMS:
        tools.build(os.path.join(harness.HERE, "programs", name + ".c"), "pfcc")
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        done = list(pool.map(lambda job: one_silent(tools, *job), jobs))
    return len(jobs), [text for wrong in done for text in wrong]


def one_class(tools, program, number, kind, name, model):
    """A wrong one is found, with the function, the rank and the line; a right one is not."""
    result = tools.pfrun(program, 2, [str(number), f"{kind}/{name}"], LIMIT, model, CHECK)
    if kind.startswith("right"):
        good = result.status == 0 and not lines_of(result)
    else:
        reported = [line for line in lines_of(result) if re.search(r"rank \d.*MPI_\w+ at \S+:\d+ ", line)]
        good = reported and result.status not in (0, "timeout")
    return [] if good else fail(result, f"{kind} {name}: exit status {result.status}")


def by_class(tools, workers, everything):
    all_cases, of_kind = classes.cases(), {}
    path = os.path.join(tools.work, "classes.c")
    with open(path, "w", encoding="utf-8") as f:
        f.write(classes.source(all_cases))
    program = tools.build(path, "pfcc")
    for number, (kind, name, _) in enumerate(all_cases):
        of_kind.setdefault(kind, []).append((number, kind, name))
    jobs = []
    for i, listed in enumerate(of_kind.values()):
        chosen = listed if everything else {listed[i * 7 % len(listed)], listed[i * 5 % len(listed)]}
        jobs += [(*case, model) for j, case in enumerate(sorted(chosen)) for model in (MODELS[:3] if everything else [MODELS[(i + j) % 3]])]
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        done = list(pool.map(lambda job: one_class(tools, program, *job), jobs))
    return len(jobs), [text for wrong in done for text in wrong]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, help="folder with pfcc and pfrun")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("what", choices=["faults", "silent", "classes"])
    parser.add_argument("--all", action="store_true", help="all classes with all functions in all models")
    parser.add_argument("programs", nargs="*", help="of tests/e2e/programs, for silent")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        tools = harness.Tools(os.path.abspath(options.bin), work)
        if options.what == "faults":
            count, wrong = faults(tools, options.jobs)
        elif options.what == "classes":
            count, wrong = by_class(tools, options.jobs, options.all)
        else:
            count, wrong = silent(tools, options.jobs, options.programs)
    print("".join(wrong), end="")
    print(f"{options.what}: {count} cases, {len(wrong)} failures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
