# SPDX-License-Identifier: BSD-3-Clause
"""What is told at the end: text, numbers, a table of units."""
import csv
import math
import os
import resource
import statistics

from pfcurve.curve import percent_text, seconds_text

from . import estimate as estimates
from . import sequence, slices

RESAMPLES = 200
CONFIDENCE = 0.95


def with_seed(arguments, seed):
    """The command that repeats the sample to the last digit names the seed."""
    names = [word.lstrip("-") for word in arguments]
    return arguments if "seed" in names else ["-seed", str(seed), *arguments]


class Result:
    def __init__(self, options, units, found, plan, known, estimate, borders, runs, command, ahead=None):
        self.options, self.units, self.found, self.plan, self.known = options, units, found, plan, known
        self.estimate, self.borders, self.runs, self.command = estimate, borders, runs, command
        self.ahead = ahead  # windows that were placed in the run with marks
        self.cheap = None if runs.exact else math.fsum(unit.x for unit in units) * runs.alone
        self.truth, self.checked = None, {}
        used = resource.getrusage(resource.RUSAGE_SELF)
        self.paid = runs.cost.processor + used.ru_utime + used.ru_stime
        self.fine_cost = runs.fine_cost()
        self.seconds = estimates.of_units(plan, known, estimate)
        self.names = {number: "certain" for number in plan.certain}
        self.names.update({unit.number: "not simulated" for unit in plan.unseen})
        for stratum in plan.strata:
            self.names.update({unit.number: stratum.name for unit in stratum.units})

    @property
    def cost_ratio(self):
        """Processor time of all that was done over that of the whole run in the fine model, the application's and start-up included."""
        return self.paid / self.fine_cost if self.fine_cost else None

    def verify(self, dates, cost):
        """The full fine run: the true error, and how often intervals of other seeds hold the truth."""
        y = {unit.number: dates[unit.last] - dates[unit.first] for unit in self.units}
        self.truth, self.fine_cost = dates[-1], cost
        border = self.estimate.border / self.estimate.total
        self.checked = {"true_s": self.truth, "error": self.estimate.total / self.truth - 1,
                        "inside": self.estimate.low <= self.truth <= self.estimate.high}
        if not self.plan.strata:  # nothing was drawn, so no other seed draws anything else
            return
        hits, errors, shares = sequence.coverage(self.units, y, self.options.goal, self.options.budget, range(RESAMPLES), border,
                                                 (lambda seed: self.ahead.plan(self.units, self.ahead.elsewhere(self.units, seed), lambda number: True))
                                                 if self.ahead else None)
        self.checked.update({"resamplings": RESAMPLES, "coverage": hits, "resampled_error_p95": sorted(map(abs, errors))[int(0.95 * RESAMPLES)],
                             "resampled_share": statistics.fmean(shares)})

    def numbers(self):
        """The entry `sample` of the summary."""
        e, ratio, cost = self.estimate, self.cost_ratio, self.runs.cost
        return {"estimate_s": e.total, "low_s": e.low, "high_s": e.high, "confidence": CONFIDENCE, "border_s": e.border,
                "cost_ratio": ratio, "cost_ratio_from": "the full run" if self.checked or self.runs.exact else "the windows",
                "paid_cpu_s": self.paid, "fine_cpu_s": self.fine_cost,
                "overhead_s": cost.wall, "overhead_cpu_s": cost.overhead, "application_cpu_s": cost.application, "startup_s": cost.startup,
                "reached": self.reached(), "goal": self.options.goal, "fine": self.options.fine, "cheap": self.options.cheap,
                "cheap_s": self.cheap, "seed": self.options.seed, "units": len(self.units), "found": self.found,
                "simulated": len(self.known), "share": sequence.cost(self.units, self.plan.wanted()),
                "strata": [{"name": part.name, "units": part.units, "drawn": part.drawn, "cheap_s": part.x, "ratio": part.ratio,
                            "estimate_s": part.total, "se_s": math.sqrt(part.variance)} for part in e.parts],
                "phases": [{"phase": name, "estimate_s": fine, "cheap_s": cheap} for name, (cheap, fine) in self.phases().items()],
                "command": self.command, **({"verify": self.checked} if self.checked else {})}

    def reached(self):
        return self.estimate.half <= self.options.goal * self.estimate.total

    def phases(self):
        """{name of the mark that begins a unit: [cheap, fine seconds]}."""
        marks, result = self.runs.marks.marks, {}
        for unit in [] if slices.are(self.units) else self.units:
            mark = marks[unit.first]
            name = mark.name if mark.at == "phase" else f"pcontrol {mark.name}" if mark.at == "pcontrol" else mark.name or mark.at
            both = result.setdefault(name, [0.0, 0.0])
            both[0] += unit.x
            both[1] += self.seconds[unit.number]
        return result

    def text(self):
        e, o = self.estimate, self.options
        drawn = self.plan.sampled
        lines = [f"sample: {o.fine} takes {seconds_text(e.total)} +- {100 * e.half / e.total:.2g} % "
                 f"({seconds_text(e.low)} to {seconds_text(e.high)} at {100 * CONFIDENCE:g} %)"]
        if not self.reached():
            wide = abs(e.border) >= o.goal * e.total
            lines.append(f"  the goal of {100 * o.goal:g} % is not reached: " + (
                "windows do not settle as a run all in the fine model does" if wide else f"the budget of {100 * o.budget:.3g} % of the full run is spent" if self.runs.affords() else
                f"a further run would make the sample as dear as all {o.fine}"))
        if self.cheap is not None:
            lines.append(f"  all {o.cheap} says {seconds_text(self.cheap)}: {percent_text(self.cheap / e.total - 1)}")
        lines.append(f"  {len(self.units)} units ({self.found}): {len(self.plan.certain)} certain, {drawn} drawn of "
                     f"{len(self.units) - len(self.plan.certain)}, seed {o.seed}")
        lines += [f"    {part.name}: {part.units} units, {100 * part.total / e.total:.3g} % of the time, {part.drawn} drawn, "
                  f"{o.fine}/{o.cheap} {part.ratio:.4g}" for part in e.parts]
        if self.plan.unseen:
            unseen = sum(self.seconds[unit.number] for unit in self.plan.unseen)
            lines.append(f"    not simulated: {len(self.plan.unseen)} units, {100 * unseen / e.total:.2g} % of the time, added to the interval")
        phases = self.phases()
        if 1 < len(phases) <= 12:
            lines += [f"    {name}: {seconds_text(fine)}" + (f" ({o.cheap}: {seconds_text(cheap)})" if self.cheap is not None else "") for name, (cheap, fine) in phases.items()
                      if fine > 0]
        if not self.runs.exact:
            lines.append(f"  border: {100 * e.border / e.total:+.2g} % by {len(self.borders)} units, added to the interval")
        lines.append(f"  cost: {seconds_text(self.paid)} of processor time in {self.runs.cost.runs} runs; " + (
            f"all {o.fine} would cost {seconds_text(self.fine_cost)} ({'measured' if self.checked or self.runs.exact else 'by its windows'}): "
            f"{100 * self.cost_ratio:.3g} % of that" if self.cost_ratio else f"what all {o.fine} would cost is unknown"))
        if self.checked:
            c = self.checked
            lines.append(f"  verified: all {o.fine} takes {seconds_text(c['true_s'])}: error {percent_text(c['error'])}, "
                         f"{'inside' if c['inside'] else 'OUTSIDE'} the interval" +
                         (f"; {100 * c['coverage']:.3g} % of {RESAMPLES} other samples hold it" if "coverage" in c else ""))
        lines += [f"  {line}" for line in self.runs.told]
        return [*lines, f"  again: {self.command}"]

    def write(self, folder):
        """units.csv and, where matplotlib is, sample.svg and sample.html."""
        with open(os.path.join(folder, "units.csv"), "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(["unit", "first_mark", "last_mark", "name", "stratum", "why", "cheap_s", "fine_s", "simulated"])
            for unit in self.units:
                table.writerow([unit.number, unit.first, unit.last, unit.name, self.names[unit.number],
                                self.plan.certain.get(unit.number, "drawn" if unit.number in self.known else ""), repr(unit.x),
                                repr(self.known.get(unit.number, self.seconds[unit.number])), "yes" if unit.number in self.known else "no"])
        try:
            from . import picture
        except ImportError:
            print("  no picture: matplotlib is missing (Debian: apt-get install python3-matplotlib)")
            return
        picture.write(self, folder)
