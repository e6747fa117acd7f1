# SPDX-License-Identifier: BSD-3-Clause
"""-iterations: the user says how many iterations the program makes. Then it is not run to its end: once its iterations come again, in the fine model, from
states that were seen, all that follow are known by heart."""
from dataclasses import replace

from pfcurve.errors import Problem

from . import ahead, files, memory, units
from .windows import Windows

BEGIN = 200  # marks of the begin, by which iterations are found
WINDOW = 50  # iterations of the first run in the fine model, twice as many of each further one,
MOST = 400  # up to so many
WHY = "leave -iterations away"


def continued(base, regular, marks, count):
    """(units, marks) up to the last of `count` iterations, as if each were what came a period before."""
    base, marks = list(base), marks[:base[-1].last + 1]
    count += sum(not unit.repeats for unit in base)
    while len(base) < count:
        before, last = base[-regular.distance], base[-1].last
        first = marks[before.first]
        marks += [replace(mark, date=marks[last].date + mark.date - first.date) for mark in marks[before.first + 1:before.last + 1]]
        marks[last] = replace(first, date=marks[last].date)  # which was the end of what was known
        base.append(replace(before, number=len(base), first=last, last=len(marks) - 1))
    base = base[:count]
    end = base[-1].last
    return base, [*marks[:end], replace(marks[end], at="end", name="", calls=0, bytes=0)]


def run(options, runs):
    """(summary of the run that looked at the begin, units, how they were found, windows, the sample)."""
    if runs.records:
        raise Problem("-iterations is for programs whose computation takes no simulated time, or a known one (--cfg=smpi/simulate-computation:no, or "
                      "PARFOCAL_COMPUTATION_REPLAY): measured times never come again")
    base, _ = ahead.look(runs, BEGIN)
    regular = ahead.regular(base) if base else None
    if not regular or regular.level or regular.usual:
        raise Problem(f"-iterations: the begin of the program shows no iterations that are alike (MPI_Pcontrol in the loop marks them), or is all of it: {WHY}")
    if options.iterations < 2 * WINDOW:
        raise Problem(f"-iterations {options.iterations}: fewer than {2 * WINDOW} are too few to memoize them: {WHY}")
    first, found = next(unit.number for unit in base if unit.repeats), "each iteration, known by heart"
    base, runs.marks.marks = continued(base, regular, runs.marks.marks, options.iterations)
    size = WINDOW
    while size <= min(MOST, (len(base) - first) // 2):
        span = (0, base[first + size].first)
        dates = runs.measured([span], [span])[span]
        sample = memory.run(base, {span: dates}, {span: files.read_states(runs.path("dates.csv"))[0]})
        if sample and not sample[0].unseen and sample[2].half <= options.goal * sample[2].total:
            runs.told.append(f"the program was run for {size} of {options.iterations} iterations; what comes behind them is not part of the estimate")
            parts = units.Units(base)
            return runs.short, parts, found, Windows(runs, parts), sample
        size *= 2
    raise Problem(f"-iterations: after {size // 2} iterations in {options.fine}, others come that were not seen, or the interval is wider than the goal: {WHY}")
