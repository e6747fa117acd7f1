#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Proves by runs what `pfinfo --coverage` claims: that each MPI function works in each model, or is refused there.

evidence.tsv names for each function and model one program of tests/e2e that calls it. The test runs these programs in that
model with PARFOCAL_COUNT_CALLS and looks at the counts: a call must have succeeded; where the table says "refused", one must
have returned MPI_ERR_UNSUPPORTED_OPERATION. --update runs all programs and writes evidence.tsv again.
"""
import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import harness  # noqa: E402
import run_e2e  # noqa: E402

EVIDENCE = os.path.join(HERE, "evidence.tsv")
FOLDERS = [os.path.join(harness.HERE, "programs"), os.path.join(harness.HERE, "topology")]
HEADER = """# SPDX-License-Identifier: BSD-3-Clause
# Which program shows that a function works in a model, or is refused there: written by run_coverage.py --update.
"""


class Claims:
    """The answers of pfinfo --coverage: claims[function][model] is a word such as SMPI, emulated, refused."""

    def __init__(self, tools):
        text = subprocess.run([tools.command("pfinfo"), "--coverage"], capture_output=True, text=True, check=True).stdout
        head, *lines = text.splitlines()
        ends = [i for i in range(1, len(head)) if head[i - 1] == " " and head[i] != " "]
        cut = lambda line: [line[a:b].strip() for a, b in zip([0] + ends, ends + [None])]
        columns = cut(head)
        self.models = columns[2:-1]
        self.answers = {}
        for line in lines:
            if line.startswith("MPI_"):
                fields = cut(line)
                self.answers[fields[0]] = dict(zip(self.models, fields[2:]))


def sources():
    return {name[:-2]: os.path.join(folder, name) for folder in FOLDERS for name in sorted(os.listdir(folder))
            if name.endswith(".c")}


class Run:
    """What one program's variants did in one model: functions[name] is the entry of the summary."""

    def __init__(self, tools, options, name, source, model):
        self.name, self.model, self.functions, self.problems = name, model, {}, []
        environment = {"PARFOCAL_COUNT_CALLS": "yes", "E2E_A": model, "E2E_B": model}
        for v in run_e2e.variants_of(source):
            if v.strands:
                continue
            result = tools.pfrun(tools.build(source, "pfcc"), v.np, v.args, options.limit, ["-model", model] + v.options,
                                 environment)
            expected = result.status not in (0, "timeout") if v.exit == "nonzero" else str(result.status) == v.exit
            if not expected:
                self.problems.append(f"{v.title} in {model}: exit status {result.status}, expected {v.exit}\n"
                                     f"    {result.command}\n" + result.err[-1000:])
            for function, models in result.functions.items():
                self.add(function, models.get(model))

    def add(self, function, counts):
        if counts:
            mine = self.functions.setdefault(function, dict.fromkeys(counts, 0))
            for key, value in counts.items():
                mine[key] += value

    def shows(self, function, answer):
        """A success, or the error that the table announces."""
        counts = self.functions.get(function)
        if not counts:
            return False
        if answer == "refused":
            return counts["unsupported"] > 0
        if answer == "no variables":
            return counts["errors"] > counts["unsupported"]
        return counts["calls"] > counts["errors"]


def run_all(tools, options, pairs):
    """Runs (program, model) pairs; returns a dictionary of them."""
    known = sources()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name in {name for name, _ in pairs}:
            tools.build(known[name], "pfcc")
        done = pool.map(lambda pair: Run(tools, options, pair[0], known[pair[0]], pair[1]), pairs)
        return dict(zip(pairs, done))


def cover(runs, claims):
    """Few programs for all cells: always the one that shows most of what is left; the name decides between equals."""
    left = {(f, m) for f, models in claims.answers.items() for m in models}
    chosen = {}
    names = sorted({name for name, _ in runs})
    shown = {name: {(f, m) for f, m in left if runs[name, m].shows(f, claims.answers[f][m])} for name in names}
    while left:
        best = max(names, key=lambda name: len(shown[name] & left))
        found = shown[best] & left
        if not found:
            break
        chosen.update(dict.fromkeys(found, best))
        left -= found
    return chosen, left


def read():
    """{(function, model): program}."""
    with open(EVIDENCE, encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    models = lines[0][1:]
    return {(line[0], model): program for line in lines[1:] for model, program in zip(models, line[1:]) if program != "-"}


def update(tools, options, claims):
    pairs = [(name, model) for name in sources() for model in claims.models]
    runs = run_all(tools, options, pairs)
    for run in runs.values():
        for problem in run.problems:
            print("FAIL " + problem)
    chosen, left = cover(runs, claims)
    with open(EVIDENCE, "w", encoding="utf-8") as f:
        f.write(HEADER + "\t".join(["function"] + claims.models) + "\n")
        for function in claims.answers:
            f.write("\t".join([function] + [chosen.get((function, m), "-") for m in claims.models]) + "\n")
    for function, model in sorted(left):
        print(f"FAIL {function} in {model} ({claims.answers[function][model]}): no program shows it")
    print(f"run_coverage: {len(chosen)} cells shown by {len(set(chosen.values()))} programs, {len(left)} cells by none")
    return bool(left)


def check(tools, options, claims):
    evidence, problems = read(), []
    cells = [(f, m) for f, models in claims.answers.items() for m in models]
    for function, model in evidence:
        if model not in claims.answers.get(function, {}):
            problems.append(f"evidence.tsv names {function} in {model}, which pfinfo does not know")
    unknown = set(evidence.values()) - set(sources())
    problems += [f"evidence.tsv names the program {name}, which does not exist" for name in sorted(unknown)]
    pairs = sorted({(name, m) for (_, m), name in evidence.items() if name not in unknown})
    runs = run_all(tools, options, pairs)
    for run in runs.values():
        problems += run.problems
    for function, model in cells:
        name, answer = evidence.get((function, model)), claims.answers[function][model]
        if not name:
            problems.append(f"{function} in {model} ({answer}): no program shows it")
        elif name not in unknown and not runs[name, model].shows(function, answer):
            what = "did not refuse it" if answer == "refused" else "made no successful call of it"
            problems.append(f"{function} in {model} ({answer}): {name} {what}: {runs[name, model].functions.get(function)}")
    for problem in problems:
        print("FAIL " + problem)
    print(f"run_coverage: {len(cells)} cells, {len(runs)} runs of programs, {len(problems)} problems"
          + ("; --update names other programs" if problems else ""))
    return bool(problems)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(harness.ROOT, "build", "bin"), help="folder of pfcc, pfrun, pfinfo")
    parser.add_argument("--work", help="folder for what is built; temporary without")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one run")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time")
    parser.add_argument("--update", action="store_true", help="run all programs and write evidence.tsv")
    options = parser.parse_args()
    work = options.work or tempfile.mkdtemp(prefix="coverage-")
    try:
        tools = harness.Tools(os.path.abspath(options.bin), os.path.abspath(work))
        return (update if options.update else check)(tools, options, Claims(tools))
    finally:
        if not options.work:
            shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main())
