# SPDX-License-Identifier: BSD-3-Clause
"""Units of programs in which nothing comes again, or too seldom: slices of simulated time in the cheap run. They end where all ranks together have made
so many calls, which is the same point of the program in each run, whoever makes the calls."""
import itertools
import math
from dataclasses import dataclass, replace

from pfcurve.curve import seconds_text
from pfcurve.errors import Problem

from . import units

LEAST = 100  # slices that are worth it
CALLS = 4  # of each rank in a slice, about: in two to four slices and one behind, a window has to settle
DRAWN = 7  # units for which half of the budget is enough, or all of it where they are short
LONG = 8  # slices of a unit that is not
BUSY = 6  # times as much to simulate in the same time: another kind,
FEWEST = 12  # if there are so many units
STEP = 0.3  # of the sample, that a further run must add
OTHER = 1e-4  # of all calls, that another run may make more or fewer
AT = "slices:"  # marks, in a run that has them


class TooFew(Problem):
    """There are not calls enough for slices."""


def even(marks):
    """Slices in which there are calls enough, of equal time: (calls and bytes of all ranks up to its end, date of its last call)."""
    known, end = marks.slices, marks.marks[-1].date
    calls = known[-1][0] if known else 0
    number = min(len(known), calls // (CALLS * max(marks.ranks, 1)))
    result = []
    for slice_, after in zip(known, known[1:]):
        if int(after[2] / end * number) > int(slice_[2] / end * number):
            result.append(slice_)
    return result + known[-1:]


def marks_of(marks, known):
    """Marks at the ends of slices, with the start and the end of the run. The last slice is up to the end."""
    names = ["start"] + [units.SLICE] * (len(known) - 1)
    before = [(0, 0, marks.marks[0].date), *known]
    result = [units.Mark(name, "", date, "", there[0] - calls, there[1] - sent) for name, (calls, sent, date), there in zip(names, before, known)]
    return [*result, units.Mark("end", "", marks.marks[-1].date, "", 0, 0)]


def of(marks):
    """(units, how they were found, marks at their ends, the slices that they are)."""
    known = even(marks)
    if len(known) < LEAST:
        raise TooFew(f"-sample: the program has no structure to sample: nothing comes {units.LEAST} times or more in the sequence of its phases, "
                      f"MPI_Pcontrol and collectives, and its {known[-1][0] if known else 0} calls are too few to cut it into slices of time")
    ends = marks_of(marks, known)
    parts = [units.Unit(i, i, i + 1, after.date - mark.date, units.SLICE, units.SLICE, True, units.SLICE, units.work([mark]))
             for i, (mark, after) in enumerate(zip(ends, ends[1:]))]
    return parts, f"slices of {seconds_text(ends[-1].date / len(parts))}", ends, known


def cut(runs):
    """(units, how they were found): the marks of the runs are the ends of slices from now on."""
    parts, found, marks, known = of(runs.marks)
    path = runs.path("slices")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{calls}\n" for calls, *_ in known[:-1])
    runs.marks, runs.held = replace(runs.marks, marks=marks, at=AT + path), {}
    return parts, found


def whole(runs):
    """The run as one unit."""
    start, end = runs.marks.marks[0], runs.marks.marks[-1]
    calls, sent = sum(mark.calls for mark in runs.marks.marks), sum(mark.bytes for mark in runs.marks.marks)
    marks = [replace(start, calls=calls, bytes=sent), end]
    runs.marks, runs.held = replace(runs.marks, marks=marks, at="none"), {}
    return units.Units([units.Unit(0, 0, 1, end.date - start.date, "", "", False, "", units.work(marks[:1]))]), "the whole run"


def group(base, options, around):
    """How many slices a unit has. What is late in one slice is early in the next, so that few long units tell more than many short ones."""
    each = options.budget * len(base) / DRAWN  # with what is around it
    return max(1 if options.strict else around, math.floor(each / 2) - around, min(LONG, math.floor(each) - around))


@dataclass
class Aside:
    """What a mixed run has done beside its windows."""
    longer: float  # than in the cheap run, relatively: it knows of its windows
    calls: int  # of all ranks that it made in all, and those of the cheap run
    usual: int

    @property
    def depends(self):
        """Whether what the program does depends on time, beyond a look or two at what has come."""
        return abs(self.calls - self.usual) > OTHER * self.usual


def aside(marks, windows, calls):
    """`windows`: {mark: date} of each, the last one up to the end of the run."""
    inside = sum(dates[max(dates)] - dates[min(dates)] for dates in windows)
    usual = marks[-1].date - sum(marks[max(dates)].date - marks[min(dates)].date for dates in windows)
    rest = windows[-1][len(marks) - 1] - inside
    return Aside((rest - usual) / marks[-1].date, calls, sum(mark.calls for mark in marks))


def calls_of(marks):
    return sum(mark.calls for mark in marks.marks)


def differ(calls, marks):
    """Whether a run with slices for marks has made another number of calls than the cheap one."""
    return calls > 0 and abs(calls - calls_of(marks)) > OTHER * calls_of(marks)


def told_apart(parts):
    """Units in two kinds, where some have many times as much to simulate in their time as the others: a benchmark of latencies beside one of loads."""
    density = {unit.number: unit.work / unit.x if unit.x > 0 else math.inf for unit in parts}
    order = sorted(parts, key=lambda unit: (density[unit.number], unit.number))
    x, work = ([0.0, *itertools.accumulate(sum_of)] for sum_of in ([unit.x for unit in order], [unit.work for unit in order]))
    best = (0.0, 0)
    for k in range(FEWEST, len(order) - FEWEST + 1):
        there = x[-1] - x[k]
        if x[k] > 0 and there > 0 and (work[-1] - work[k]) / there > BUSY * work[k] / x[k]:
            best = max(best, (x[k] * there * (work[k] / x[k] - (work[-1] - work[k]) / there)**2, -k))
    busy = {unit.number for unit in order[-best[1]:]} if best[1] else set()
    return units.Units([replace(unit, kind="busy " + unit.kind, coarse="busy " + unit.coarse) if unit.number in busy else unit for unit in parts],
                       parts.base, parts.parts)


def are(base):
    """Whether units are slices."""
    return bool(base) and base[0].name == units.SLICE
