# SPDX-License-Identifier: BSD-3-Clause
"""The result: text, numbers, a table of units."""
import csv
import json
import math
import os
import resource
import statistics

from pfcurve.curve import percent_text, seconds_text

from . import estimate as estimates
from . import plan

RESAMPLES = 200
CONFIDENCE = 0.95


class Result:
    """`borders`: errors of regions; `placed`: online.Online, if the sample is one."""

    def __init__(self, options, units, found, sample, borders, runs, command, placed=None):
        self.options, self.units, self.found, self.borders, self.runs, self.command, self.placed = options, units, found, borders, runs, command, placed
        self.plan, self.known, self.estimate = sample
        self.cheap = None if runs.exact else math.fsum(unit.x for unit in units) * runs.alone
        self.checked = {}
        used = resource.getrusage(resource.RUSAGE_SELF)
        self.paid, self.fine_cost = runs.cost.processor + used.ru_utime + used.ru_stime, runs.fine_cost()
        self.seconds = estimates.of_units(self.plan, self.known, self.estimate)
        self.names = {number: "certain" for number in self.plan.certain} | {unit.number: "not simulated" for unit in self.plan.unseen}
        self.names |= {unit.number: stratum.name for stratum in self.plan.strata for unit in stratum.units}
        self.reached = self.estimate.half <= options.goal * self.estimate.total

    @property
    def cost_ratio(self):
        """Processor time of all that was done over that of the whole run in the fine model, the application's and start-up included."""
        return self.paid / self.fine_cost if self.fine_cost else None

    def verify(self, dates, cost):
        """The full fine run: the true error, and how often intervals of other seeds hold the truth."""
        y = {unit.number: dates[unit.last] - dates[unit.first] for unit in self.units}
        self.fine_cost, border = cost, self.estimate.border / self.estimate.total
        self.checked = {"true_s": dates[-1], "error": self.estimate.total / dates[-1] - 1, "inside": self.estimate.low <= dates[-1] <= self.estimate.high}
        if not self.plan.strata:  # no other seed draws anything else
            return
        placed, parts = self.placed, self.units
        first = (lambda seed: placed.plan(parts, placed.elsewhere(parts, seed), lambda number: True)) if placed else None
        hits, errors, shares = plan.coverage(parts, y, self.options.goal, self.options.budget, range(RESAMPLES), border, first)
        self.checked |= {"resamplings": RESAMPLES, "coverage": hits, "resampled_error_p95": sorted(map(abs, errors))[int(0.95 * RESAMPLES)],
                         "resampled_share": statistics.fmean(shares)}

    def numbers(self):
        """The entry `sample` of the summary."""
        e, o, cost = self.estimate, self.options, self.runs.cost
        return {"estimate_s": e.total, "low_s": e.low, "high_s": e.high, "confidence": CONFIDENCE, "border_s": e.border,
                "cost_ratio": self.cost_ratio, "cost_ratio_from": "the full run" if self.checked or self.runs.exact else "the regions",
                "paid_cpu_s": self.paid, "fine_cpu_s": self.fine_cost,
                "overhead_s": cost.wall, "overhead_cpu_s": cost.overhead, "application_cpu_s": cost.application, "startup_s": cost.startup,
                "reached": self.reached, "goal": o.goal, "fine": o.fine, "cheap": o.cheap, "cheap_s": self.cheap, "seed": o.seed,
                "units": len(self.units), "found": self.found, "simulated": len(self.known), "share": plan.cost(self.units, self.plan.wanted()),
                "strata": [{"name": part.name, "units": part.units, "drawn": part.drawn, "cheap_s": part.x, "ratio": part.ratio,
                            "estimate_s": part.total, "se_s": math.sqrt(part.variance)} for part in e.parts],
                "phases": [{"phase": name, "estimate_s": fine, "cheap_s": cheap} for name, (cheap, fine) in self.phases().items()],
                "command": self.command, **({"verify": self.checked} if self.checked else {})}

    def phases(self):
        """{name of the marker that begins a unit: [cheap, fine seconds]}."""
        result = {}
        for unit in self.units:
            marker = self.runs.markers.all[unit.first]
            name = marker.name if marker.at == "phase" else f"pcontrol {marker.name}" if marker.at == "pcontrol" else marker.name or marker.at
            both = result.setdefault(name, [0.0, 0.0])
            both[0] += unit.x
            both[1] += self.seconds[unit.number]
        return result

    def why_not(self):
        """Why the goal was not reached."""
        if abs(self.estimate.border) >= self.options.goal * self.estimate.total:
            return "the error at the border of regions is as large"
        if self.runs.affords():
            return f"the budget of {100 * self.options.budget:.3g} % of the full run is spent"
        return f"a further run would make the sample as expensive as all {self.options.fine}"

    def text(self):
        e, o, c, certain = self.estimate, self.options, self.checked, len(self.plan.certain)
        lines = [f"sample: {o.fine} takes {seconds_text(e.total)} +- {100 * e.half / e.total:.2g} % "
                 f"({seconds_text(e.low)} to {seconds_text(e.high)} at {100 * CONFIDENCE:g} %)"]
        if not self.reached:
            lines.append(f"  the goal of {100 * o.goal:g} % is not reached: {self.why_not()}")
        if self.cheap is not None:
            lines.append(f"  all {o.cheap} takes {seconds_text(self.cheap)}: {percent_text(self.cheap / e.total - 1)}")
        lines.append(f"  {len(self.units)} units ({self.found}): {certain} certain, {self.plan.sampled} drawn of {len(self.units) - certain}, seed {o.seed}")
        lines += [f"    {part.name}: {part.units} units, {100 * part.total / e.total:.3g} % of the time, {part.drawn} drawn, "
                  f"{o.fine}/{o.cheap} {part.ratio:.4g}" for part in e.parts]
        if self.plan.unseen:
            unseen = sum(self.seconds[unit.number] for unit in self.plan.unseen)
            lines.append(f"    not simulated: {len(self.plan.unseen)} units, {100 * unseen / e.total:.2g} % of the time, added to the interval")
        phases = self.phases()
        if 1 < len(phases) <= 12:
            lines += [f"    {name}: {seconds_text(fine)}" + (f" ({o.cheap}: {seconds_text(cheap)})" if self.cheap is not None else "")
                      for name, (cheap, fine) in phases.items() if fine > 0]
        if not self.runs.exact:
            lines.append(f"  border: {100 * e.border / e.total:+.2g} % by {len(self.borders)} units, added to the interval")
        whole = f"what all {o.fine} would cost is unknown"
        if self.cost_ratio:
            source = "measured" if c or self.runs.exact else "by its regions"
            whole = f"all {o.fine} would cost {seconds_text(self.fine_cost)} ({source}): {100 * self.cost_ratio:.3g} % of that"
        lines.append(f"  cost: {seconds_text(self.paid)} of processor time in {self.runs.cost.runs} runs; {whole}")
        if c:
            lines.append(f"  verified: all {o.fine} takes {seconds_text(c['true_s'])}: error {percent_text(c['error'])}, "
                         f"{'inside' if c['inside'] else 'OUTSIDE'} the interval" +
                         (f"; {100 * c['coverage']:.3g} % of {RESAMPLES} other samples hold it" if "coverage" in c else ""))
        return [*lines, *(f"  {line}" for line in self.runs.notes), f"  again: {self.command}"]

    def write(self, folder, page, summary):
        """units.csv, and the page of a run with this summary."""
        with open(page, encoding="utf-8") as file:
            text = file.read().replace("@PICTURE@", "")
        with open(os.path.join(folder, "report.html"), "w", encoding="utf-8") as file:
            file.write(text.replace("@SUMMARY@", json.dumps(summary).replace("/", "\\/")))
        with open(os.path.join(folder, "units.csv"), "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(["unit", "first_marker", "last_marker", "name", "stratum", "why", "cheap_s", "fine_s", "simulated"])
            for unit in self.units:
                k, known = unit.number, unit.number in self.known
                table.writerow([k, unit.first, unit.last, unit.name, self.names[k], self.plan.certain.get(k, "drawn" if known else ""), repr(unit.x),
                                repr(self.known.get(k, self.seconds[k])), "yes" if known else "no"])
