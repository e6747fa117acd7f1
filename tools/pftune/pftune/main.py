# SPDX-License-Identifier: BSD-3-Clause
"""From the command line to the file of rules."""
import math
import os
import re
import sys

from pfcurve.errors import Problem, run_tool
from pfcurve.main import command_text, versions
from pffit.main import machine_lines
from pffit.measured import Refused
from pffit.simulate import algorithm_names

from . import mpich, rules
from . import options as command_line
from .collectives import COLLECTIVES, NOT_CHOSEN, OPEN_MPI, candidates, known
from .runs import Run, Runs, output_of

# What pfinfo --fit writes into a machine file, or words to that effect.
STATED = re.compile(r"\bleft out of the fit\b[^.]{0,40}? median (?:of )?(\d+\.\d+)")


def stated_uncertainty(options, bindir):
    """The median factor between measured and simulated times that the fit had not seen."""
    if options.uncertainty:
        return options.uncertainty, "--uncertainty"
    if options.machine:
        path, lines = machine_lines(options.machine, bindir, "-machine", "")
        comments = " ".join(line.lstrip("# ") for line in lines if line.startswith("#"))
        match = STATED.search(comments)
        if match:
            return float(match[1]), f"of {os.path.basename(path)}, median of what was left out of its fit"
    raise Problem(f"{options.machine or 'the platform'} does not state the error of a fit (pfinfo --fit): name it, as --uncertainty 1.2")


def plan(options, names):
    """All runs; refuses algorithms that no collective has."""
    if options.library == "mpich":
        every = sorted({algorithm.name for collective in options.collectives for algorithm in mpich.COLLECTIVES[collective]})
    else:
        every = sorted({name for collective in options.collectives for name in names[collective][:COLLECTIVES[collective].algorithms]} - NOT_CHOSEN)
    for name in options.algorithms:
        known(name, every, "algorithm")
    runs = []
    for ranks in [nodes * options.per_node for nodes in options.nodes]:
        for collective in options.collectives:
            sizes = [0] if collective == "barrier" else options.sizes
            choices = mpich.candidates(collective, ranks, options.algorithms) if options.library == "mpich" else \
                candidates(collective, names[collective], ranks, options.segments, options.algorithms)
            for choice in [OPEN_MPI, *choices]:
                runs.append(Run(ranks, collective, choice, sizes))
    return runs


def head(options, version, uncertainty, source, command):
    yield f"Rules for coll/tuned of Open MPI 4.1 and 5.0, by {version}: {command}"
    yield f"mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename {os.path.abspath(options.output)}"
    yield f"Gains are simulated times over each other, in model {options.model}, uncertain by a factor of {uncertainty:.2f} ({source}); below it the default is kept."
    yield f"Bytes are those of the whole vector, ranks on each node: {options.per_node}. Open MPI also applies these rules to operations that do not commute,"
    yield "which its algorithms ring, segmented_ring, binomial and others then combine in another order: take no rules for reductions there."
    yield ""


def summary(rows):
    changed = [row for row in rows if row.choice != OPEN_MPI]
    if not changed:
        return f"{len(rows)} cells: no choice gains more than the uncertainty; the file leaves all to the library"
    mean = math.exp(sum(math.log(row.default_us / row.us) for row in changed) / len(changed))
    return f"{len(rows)} cells: {len(changed)} have another algorithm than the default, with a mean gain of {mean:.2f}"


def work(bindir, arguments):
    parser = command_line.build_parser()
    args = parser.parse_args(arguments)
    if args.help:
        print(parser.format_help(), end="")
        return 0
    version, available = versions(bindir)
    if args.version:
        print(version.replace("Parfocal", "pftune (Parfocal)"))
        return 0
    options = command_line.from_args(args, available)
    uncertainty, source = stated_uncertainty(options, bindir)
    names = algorithm_names(output_of([os.path.join(bindir, "pfinfo"), "--collectives"]))
    wanted = plan(options, names)
    tree = mpich.built_in() if options.library == "mpich" else None
    rows = rules.choose(Runs(options, bindir, version).times(wanted), uncertainty)
    table = list(rules.table(rows, uncertainty))
    with open(options.output + ".new", "w", encoding="utf-8") as file:
        if options.library == "mpich":
            file.write(mpich.text(rows, tree))
        else:
            said = [*head(options, version, uncertainty, source, command_text(["pftune", *arguments])), *table]
            file.writelines(f"# {line}".rstrip() + "\n" for line in said)
            file.writelines(line + "\n" for line in rules.text(rows))
    os.replace(options.output + ".new", options.output)
    print("\n".join(table))
    print(f"{summary(rows)}; uncertain by a factor of {uncertainty:.2f} ({source})")
    how = f" (MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE={os.path.abspath(options.output)})" if tree else ""
    print(f"written: {options.output}{how}")
    return 0


def main(bindir):
    return run_tool("pftune", lambda: work(bindir, sys.argv[1:]), (Refused,))
