#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fits model analytic to the finer models on one platform and scores it on what was not in the fit.

The fit uses ping-pongs of powers of two (pfinfo --fit). Scored are ping-pongs of other sizes, collectives of all ranks, the
main example (examples/cg) and small codes (codes.c), none of which were in the fit; the codes also on more ranks and on
other topologies, with a fit there, without and with contention = link. Computation takes no time in these
runs. SMPI runs the main example also with the algorithm that Open MPI takes for its reductions ("cg, doubling"). Writes DIR/results.csv, DIR/analytic-MODEL.txt and DIR/accuracy.png; prints a table.
"""
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import study  # noqa: E402 (experiments/study.py)
from study import ROOT  # noqa: E402

# SMPI chooses its algorithms by rules of its own; these are Open MPI's, as in the other two models.
SAME_ALGORITHMS = {"smpi": ["--cfg=smpi/coll-selector:ompi"], "portals": []}
# What SMPI's version of those rules gets wrong for 8 B on 16 ranks: a reduction and a broadcast instead of this.
DOUBLING = {"smpi": ["--cfg=smpi/allreduce:rdb"]}
CODES = [(name, size) for name in ("stencil", "ring", "transpose") for size in (64, 4096, 65536)]
# Ranks and platform of the other places.
OTHERS = {"32 ranks": ("32", "fattree"), "torus": ("32", "torus"), "dragonfly": ("32", "dragonfly")}
QUIET = ["--log=root.thres:critical", "--cfg=smpi/simulate-computation:no"]


class Experiment:
    def __init__(self, options):
        self.bin, self.out = os.path.abspath(options.bin), options.out
        self.run_options = ["-np", str(options.np), *(["-platform", options.platform] if options.platform else [])]
        os.makedirs(self.out, exist_ok=True)
        self.measure = self.build("tools/pfinfo/measure.c")
        self.cg = self.build("examples/cg/cg.c")
        self.small = self.build("experiments/analytic/codes.c")

    def build(self, source):
        return study.build(f"{self.bin}/pfcc", os.path.join(self.out, os.path.splitext(os.path.basename(source))[0]), os.path.join(ROOT, source))

    def fit(self, model, name="", run_options=()):
        parameters = os.path.join(self.out, f"analytic-{model}{name}.txt")
        study.output([os.path.join(self.bin, "pfinfo"), f"--fit={model}", "--output", parameters, "--",
                     *(run_options or self.run_options)])
        return os.path.abspath(parameters)

    def codes(self, model, flags, kind, run_options=(), **environment):
        run = [os.path.join(self.bin, "pfrun"), *(run_options or self.run_options), "-model", model, *QUIET, *flags]
        return {(kind, name, size): float(study.output([*run, self.small, name, str(size)], **environment).split()[-1])
                for name, size in CODES}

    def elsewhere(self, model, flags):
        """Rows of the other places."""
        rows = []
        for index, (place, (ranks, platform)) in enumerate(OTHERS.items()):
            options = ["-np", ranks, "-platform", platform]
            parameters = self.fit(model, f"-{index}", options)
            measured = self.codes(model, flags, place, options)
            for kind, more in ((place, ""), (place + ", link", "contention = link")):
                modelled = self.codes("analytic", [], place, options, PARFOCAL_ANALYTIC_PARAMETERS=parameters,
                                      PARFOCAL_ANALYTIC_SET=more)
                rows += [(model, kind, *key[1:], seconds, modelled[key]) for key, seconds in measured.items()]
        return rows

    def times(self, model, flags, parameters=""):
        """What everything took: {(kind, what, bytes): seconds}."""
        result = {}
        run = [os.path.join(self.bin, "pfrun"), *self.run_options, "-model", model, *QUIET, *flags]
        for what in ("between", "collectives"):
            text = study.output([*run, self.measure, what], PARFOCAL_ANALYTIC_PARAMETERS=parameters)
            for name, lane, size, seconds in re.findall(r"^(\w+) (\w+) (\d+) (\S+)$", text, re.M):
                if name == "oneway":
                    result["one-way", lane, int(size)] = float(seconds)
                elif lane == "all":
                    result["collective", name, int(size)] = float(seconds)
        for points in (16, 32, 48):
            text = study.output([*run, self.cg, "-n", str(points)], PARFOCAL_ANALYTIC_PARAMETERS=parameters)
            result["cg", "cg", points] = float(re.search(r"slowest rank took (\S+) s", text)[1])
            if model not in DOUBLING and model != "analytic":
                continue
            text = study.output([*run, *DOUBLING.get(model, []), self.cg, "-n", str(points)],
                               PARFOCAL_ANALYTIC_PARAMETERS=parameters)
            result["cg, doubling", "cg", points] = float(re.search(r"slowest rank took (\S+) s", text)[1])
        result.update(self.codes(model, flags, "codes", PARFOCAL_ANALYTIC_PARAMETERS=parameters))
        return result


def table(rows):
    print(f"{'fitted to':10} {'scored on':28} {'points':>6} {'median':>8} {'90 %':>8} {'largest':>8}")
    groups = {}
    for model, kind, what, _, measured, modelled in rows:
        groups.setdefault((model, kind), []).append(abs(modelled / measured - 1))
        if kind == "collective":
            groups.setdefault((model, "  " + what), []).append(abs(modelled / measured - 1))
    for (model, kind), errors in groups.items():
        errors.sort()
        tail = errors[min(len(errors) - 1, int(0.9 * len(errors)))]
        print(f"{model:10} {kind:28} {len(errors):6} {100 * statistics.median(errors):7.1f}% {100 * tail:7.1f}% "
              f"{100 * errors[-1]:7.1f}%")


def main():
    parser = study.parser(__doc__, "analytic-results")
    parser.add_argument("--np", type=int, default=16)
    parser.add_argument("--platform", help="as for pfrun")
    options = parser.parse_args()
    experiment = Experiment(options)
    rows = []
    for model, flags in SAME_ALGORITHMS.items():
        parameters = experiment.fit(model)
        measured = experiment.times(model, flags)
        modelled = experiment.times("analytic", [], os.path.abspath(parameters))
        rows += [(model, *key, seconds, modelled[key]) for key, seconds in measured.items()]
        rows += experiment.elsewhere(model, flags)
    columns = ("model", "kind", "what", "bytes", "seconds in the model", "seconds in analytic")
    study.write_table(os.path.join(options.out, "results.csv"), [dict(zip(columns, row)) for row in rows], digits=17)
    table(rows)
    if not options.no_plot:
        study.draw("accuracy", os.path.join(options.out, "results.csv"), os.path.join(options.out, "accuracy.png"))


if __name__ == "__main__":
    main()
