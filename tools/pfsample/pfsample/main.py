# SPDX-License-Identifier: BSD-3-Clause
"""From the command line to the estimate."""
import json
import os
import sys
from contextlib import closing
from dataclasses import replace

from pfcurve.errors import Problem, run_tool, say
from pfcurve.main import as_typed, command_text, versions

from . import online, plan, result, thresholds, units
from . import options as command_line
from .found import report_units
from .regions import Regions
from .runs import Input, Kept, Runs


def structure(runs):
    """(units, how they were found): by the program's own markers, else by a call site that all ranks pass equally often."""
    if runs.markers.all[-1].date <= 0:
        raise Problem("-sample: the program takes no simulated time")
    try:
        return units.of_program(runs.markers)
    except units.NoStructure:
        site = units.call_site(runs.markers.sites)
        if not site:
            raise
    function = next(each[1] for each in runs.markers.sites if each[0] == site)
    runs.marker_at(site)
    parts, found = units.from_markers(runs.markers.all)
    return parts, f"{found}, {function} at 0x{site}"


def grouped(options, base, found):
    size = plan.group(base, options.budget)
    return units.grouped(base, size), found + (f", {size} to a unit" if size > 1 else "")


def parts_of(options, runs):
    return grouped(options, *structure(runs))


def any_parts(options, runs):
    """As parts_of(); a program in which nothing recurs is one unit, unless a budget was asked for."""
    try:
        return parts_of(options, runs)
    except units.NoStructure:
        if options.strict:
            raise
        return one_unit(runs)


def one_unit(runs):
    start, end = runs.markers.all[0], runs.markers.all[-1]
    calls, sent = sum(marker.calls for marker in runs.markers.all), sum(marker.bytes for marker in runs.markers.all)
    both = [replace(start, calls=calls, bytes=sent), end]
    runs.markers, runs.held = replace(runs.markers, all=both, at="none"), {}
    return units.Units([units.Unit(0, 0, 1, end.date - start.date, "", "", False, "", units.work(both[:1]))]), "the whole run"


def online_sample(options, runs, placed):
    """What the run with regions shows: (units, how they were found, regions, the sample or None where a second run must follow); None where the whole
    program does not have the iterations that its begin had."""
    try:
        base, found = units.of_program(runs.markers)
    except units.NoStructure:
        return None
    if [(unit.first, unit.last) for unit in base[:len(placed.base)]] != [(unit.first, unit.last) for unit in placed.base]:
        return None
    base = placed.clean(online.kinds_of(base, placed.level), runs.held)
    runs.alone = placed.alone
    drawn = placed.found(base, options.seed, runs.holds)
    parts = placed.parts(base, drawn)
    regions = Regions(runs, parts)
    sample = online.run(parts, regions, placed, drawn, options)
    if sample:
        return parts, f"{found}, {placed.size} to a unit", regions, sample
    parts, found = grouped(options, base, found)
    return parts, found, Regions(runs, parts), None


def exact(runs):
    """As online_sample(), of a run that was all in the fine model."""
    try:
        if len(runs.markers.all) > thresholds.MOST_LISTED:
            raise units.NoStructure
        parts, found = units.from_markers(runs.markers.all)
        parts = units.Units(parts)
    except units.NoStructure:
        parts, found = one_unit(runs)
    runs.notes.append(f"a sample would not pay, so all of it is simulated in {runs.options.fine}")
    return parts, found, Regions(runs, parts), plan.all_of(parts, {unit.number: unit.x for unit in parts})


def whole(runs, parts):
    """A sample that is a run all in the fine model."""
    dates, _ = runs.full(own=True)
    return plan.all_of(parts, {unit.number: dates[unit.last] - dates[unit.first] for unit in parts})


def fits(options, runs, parts):
    """Whether to sample. The smallest sample must fit into a budget that was asked for. Another budget grows up to where the whole run in the fine model
    costs hardly more."""
    share, text = plan.least(parts), f"of the run in {options.fine}"
    if options.strict and share > options.budget:
        raise Problem(f"-sample: the smallest sample simulates {100 * min(share, 1):.3g} % {text}, more than the budget of "
                      f"{100 * options.budget:g} % (without -budget, the sample takes what it needs, or all is simulated)")
    if share <= options.budget:
        return True
    if share > thresholds.MOST_SAMPLED:
        if not runs.waiting:
            runs.notes.append(f"the run is short: the smallest sample would simulate {100 * share:.3g} % {text}, so all of it is simulated there")
        return False
    runs.notes.append(f"the run is short: the smallest sample simulates {100 * share:.2g} % {text}")
    options.budget = share
    return True


def work(bindir, page, given, arguments):
    version, available = versions(bindir)
    options = command_line.checked(given, available)
    if options.report:
        os.makedirs(options.report, exist_ok=True)
    pfrun = os.path.join(bindir, "pfrun")
    with Kept(options.report, version, [pfrun, *arguments], Input().key()) as kept, closing(Runs(options, pfrun, kept.folder)) as runs:
        if kept.before and not options.quiet:
            say(f"parfocal: -sample goes on where it was stopped: finished runs ({kept.before}) are not repeated")
        status, summary, placed = online.begin(options, runs)
        if status:
            return status
        known = online_sample(options, runs, placed) if placed else exact(runs) if runs.exact else None
        if not known:
            if placed:  # markers of a run with regions
                runs.held = {}
                runs.cheap(shown=False)
            parts, found = any_parts(options, runs)
            known = parts, found, Regions(runs, parts), None
        if not known[3] and not fits(options, runs, known[0]):
            if runs.waiting:
                status, summary = runs.go_on()
                if status:
                    return status
                known = exact(runs)
            else:
                runs.leave()
                known = *known[:3], whole(runs, known[0])
        runs.leave()
        parts, found, regions, sample = known
        if not sample:
            placed = None
            sample = plan.run(parts, regions.measure, options.goal, options.budget, options.seed, regions.border, affords=runs.affords)
        seed = [] if {"-seed", "--seed"} & {*arguments} else ["-seed", str(options.seed)]
        command = command_text([as_typed(bindir, "pfrun"), *seed, *arguments])  # repeats the sample to the last digit
        report = result.Result(options, parts, found, sample, regions.errors, runs, command, placed)
        if options.verify:
            report.verify(*(([marker.date for marker in runs.markers.all], runs.last) if runs.exact else runs.full()))
        summary["sample"] = report.numbers()
    print("\n".join(report.text()))
    for name in [os.path.join(options.report, "summary.json")] * bool(options.report) + [os.environ.get("PARFOCAL_SUMMARY", "")]:
        if name:
            with open(name, "w", encoding="utf-8") as file:
                json.dump(summary, file, indent=1)
    if options.report:
        report.write(options.report, page, summary)
    return 0


def main(bindir, page):
    text, count, *arguments = sys.argv[1:]
    given = command_line.given_to_pfrun(text, arguments[int(count):])
    return run_tool("parfocal", lambda: report_units(bindir, given, parts_of) if given.units else work(bindir, page, given, arguments),
                    stopped=lambda signalled: f"error: {'--units' if given.units else '-sample'}: stopped by {signalled}; "
                                              f"{getattr(signalled, 'kept', 'nothing of it is kept')}")
