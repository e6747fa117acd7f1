# SPDX-License-Identifier: BSD-3-Clause
"""From the command line to the estimate."""
import json
import os
import sys

from pfcurve.errors import Problem, Stopped, raise_stops, say
from pfcurve.main import as_typed, command_text, versions

from . import ahead as windows_ahead
from . import options as command_line
from . import plan as plan_of_units
from . import result, sequence, slices, units
from .found import WORTH, tell_units
from .kept import Kept
from .runs import Input, Runs
from .windows import Windows

MORE = 4  # times as many units, for which a cheap run with other marks is worth it


def structure(runs):
    """Units by what the program says, else by a place that all ranks pass equally often, else slices of time."""
    if runs.marks.marks[-1].date <= 0:
        raise Problem("-sample: the program takes no simulated time")
    try:
        kinds = units.spans(runs.marks.marks)[0] if len(runs.marks.marks) > 1 else ()
        if kinds in (("phase",), ("pcontrol",)):
            runs.marks.marks, runs.marks.at = units.only(runs.marks.marks, kinds), kinds[0]
        return units.from_marks(runs.marks.marks)
    except Problem:
        pass
    place = units.place(runs.marks.sites)
    if place:
        try:
            return at_place(runs, place)
        except Problem:  # nothing comes again there
            pass
    return slices.cut(runs)


def at_place(runs, place, finest=False):
    function = next(site[1] for site in runs.marks.sites if site[0] == place)
    runs.mark_at(place)
    parts, found = units.from_marks(runs.marks.marks, finest)
    return parts, f"{found}, {function} at 0x{place}"


def grouped(options, base, found):
    parts, size = sequence.grouped(base, options)
    return parts, found + (f", {size} to a unit" if size > 1 else "")


def drawn_ahead(options, runs, ahead):
    """What is known from the one run: (units, how they were found, windows, the sample or None where a second run must follow); None where the whole
    program does not have the iterations that its begin had."""
    base, found = structure(runs)
    if [(unit.first, unit.last) for unit in base[:len(ahead.base)]] != [(unit.first, unit.last) for unit in ahead.base]:
        return None
    base = ahead.clean(ahead.kinds_of(base), runs.held)
    runs.alone = ahead.alone
    drawn = ahead.found(base, options.seed, runs.holds)
    parts = ahead.parts(base, drawn)
    windows = Windows(runs, parts)
    sample = windows_ahead.run(parts, windows, ahead, drawn, options)
    if sample:
        return parts, f"{found}, {ahead.size} to a unit", windows, sample
    parts, found = grouped(options, base, found)
    return parts, found, Windows(runs, parts), None


def parts_of(options, runs):
    """(units, how they were found). Where they are too few for a small sample, a place that is passed more often may give more, or slices of time."""
    parts, found = grouped(options, *structure(runs))
    if sequence.least(parts) <= max(options.budget, WORTH):
        return parts, found
    place = units.place(runs.marks.sites, MORE * sum(unit.repeats for unit in parts.base))
    for other in [lambda: at_place(runs, place, finest=True)] * bool(place) + [lambda: slices.cut(runs)]:
        marks = runs.marks
        try:
            others, where = grouped(options, *other())
            mixed = any(name == plan_of_units.OTHER for name, _ in plan_of_units.layout(others)[1])  # pieces of iterations, each another
            if not mixed and sequence.least(others) < sequence.least(parts):
                return others, where
        except Problem:  # nothing comes again there
            pass
        runs.marks = marks
    return parts, found


def fits(options, runs, parts):
    """Whether to sample. The smallest sample must fit into a budget that was asked for; else it takes what it needs, up to where the whole run in
    the fine model is hardly dearer."""
    share, said = sequence.least(parts), f"of the run in {options.fine}"
    if options.strict and share > 0.9:
        raise Problem(f"-sample: {sum(unit.repeats for unit in parts)} units that repeat are too few to sample: the smallest sample simulates "
                      f"{100 * share:.3g} % {said} (pfrun -model {options.fine} runs it all)")
    if options.strict and share > options.budget:
        raise Problem(f"-sample: the smallest sample simulates {100 * share:.2g} % {said}, more than the budget of "
                      f"{100 * options.budget:g} % (-budget {100 * share + 0.5:.0f}% allows it)")
    if share <= options.budget:
        return True
    if share > WORTH:
        runs.told.append(f"the run is short: the smallest sample would simulate {100 * share:.3g} % {said}, so all of it is simulated there")
        return False
    runs.told.append(f"the run is short: the smallest sample simulates {100 * share:.2g} % {said}")
    options.budget = share
    return True


def depends(options, runs, parts):
    """What the program does depends on time: nobody knows what it would do in the fine model, so all of it is simulated there."""
    why = (f"what the program does depends on time: it makes {runs.aside.calls} calls in a run with windows in {options.fine}, "
           f"{runs.aside.usual} in {options.cheap}")
    if options.strict:
        raise Problem(f"-sample: {why} (pfrun -model {options.fine} runs it all)")
    runs.told.append(why + ", so all of it is simulated there")
    return whole(runs, parts)


def whole(runs, parts):
    """A sample that is a run all in the fine model."""
    runs.aside = None
    dates, _ = runs.full(own=True)
    return sequence.all_of(parts, lambda _: {unit.number: dates[unit.last] - dates[unit.first] for unit in parts})


def exact(runs):
    """(units, how they were found, windows, the sample) of a run that was all in the fine model."""
    try:
        parts, found = units.from_marks(runs.marks.marks)
        parts = units.Units(parts)
    except Problem:
        parts, found = slices.whole(runs)
    runs.told.append(f"a sample would not pay, so all of it is simulated in {runs.options.fine}")
    return parts, found, Windows(runs, parts), sequence.all_of(parts, lambda _: {unit.number: unit.x for unit in parts})


def any_parts(options, runs):
    """As parts_of(), of programs that are too short for slices, too."""
    try:
        return parts_of(options, runs)
    except slices.TooFew:
        if options.strict:
            raise
        return slices.whole(runs)


def work(bindir, arguments):
    version, available = versions(bindir)
    options = command_line.from_arguments(arguments, available)
    if options.report:
        os.makedirs(options.report, exist_ok=True)
    pfrun = os.path.join(bindir, "pfrun")
    with Kept(options.report, version, [pfrun, *arguments], Input().key()) as kept:
        if kept.before and not options.quiet:
            say(f"parfocal: -sample goes on where it was stopped: finished runs ({kept.before}) are not repeated")
        runs = Runs(options, pfrun, kept.folder)
        status, summary, ahead = windows_ahead.begin(options, runs)
        if status:
            return status
        drawn = drawn_ahead(options, runs, ahead) if ahead else exact(runs) if runs.exact else None
        if drawn:
            parts, found, windows, sample = drawn
        else:
            if ahead:  # it was not heard in vain, but its marks are those of a run with windows
                ahead, runs.held = None, {}
                runs.cheap(shown=False)
            (parts, found), sample = any_parts(options, runs), None
            windows = Windows(runs, parts)
        if not sample:
            ahead = None
            sampled = fits(options, runs, parts)
            sample = sequence.run(parts, windows.measure, options.goal, options.budget, options.seed, windows.border, affords=runs.affords) if sampled else whole(runs, parts)
        if runs.aside and runs.aside.depends:
            sample = depends(options, runs, parts)
        elif runs.aside and abs(runs.aside.longer) > options.goal / 4:
            runs.told.append(f"beside its windows, a run takes {100 * abs(runs.aside.longer):.2g} % {'longer' if runs.aside.longer > 0 else 'less'} than in "
                             f"{options.cheap}: what the program does depends on time, and a run all in the fine model may be as far off")
        plan, known, estimate = sample
        said = result.Result(options, parts, found, plan, known, estimate, windows.errors, runs,
                             command_text([as_typed(bindir, "pfrun"), *result.with_seed(arguments, options.seed)]), ahead)
        if options.verify:
            said.verify(*(([mark.date for mark in runs.marks.marks], runs.last) if runs.exact else runs.full()))
        summary["sample"] = said.numbers()
    print("\n".join(said.text()))
    for name in [os.path.join(options.report, "summary.json")] * bool(options.report) + [os.environ.get("PARFOCAL_SUMMARY", "")]:
        if name:
            with open(name, "w", encoding="utf-8") as file:
                json.dump(summary, file, indent=1)
    if options.report:
        said.write(options.report)
    return 0


def main(bindir):
    raise_stops()
    asked = sys.argv[1:2] and sys.argv[1].startswith("--units")  # pfinfo has become us
    try:
        status = tell_units(bindir, sys.argv[1:], parts_of) if asked else work(bindir, sys.argv[1:])
        sys.stdout.flush()
        return status
    except Problem as problem:
        say(f"parfocal: error: {problem}")
        return 1
    except Stopped as stopped:
        say(f"parfocal: error: {'--units' if asked else '-sample'}: stopped by {stopped}; {getattr(stopped, 'kept', 'nothing of it is kept')}")
        return stopped.status
    except BrokenPipeError:  # who read our words has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # such as a full disk
        where = f"{error.filename}: " if isinstance(error.filename, str) else "-sample: "
        say(f"parfocal: error: {where}{error.strerror or error}")
        return 1
