# SPDX-License-Identifier: BSD-3-Clause
"""Units of programs in which nothing comes again, or too seldom: slices of simulated time in the cheap run. They end where all ranks together have made
so many calls, which is the same point of the program in each run, whoever makes the calls."""
import math
from dataclasses import dataclass, replace

from pfcurve.curve import seconds_text
from pfcurve.errors import Problem

from . import units

LEAST = 100  # slices that are worth it
CALLS = 4  # of each rank in a slice, about: in two to four slices and one behind, a window has to settle
DRAWN = 7  # units for which half of the budget is enough, or all of it where they are short
LONG = 8  # slices of a unit that is not
AT = "slices:"  # marks, in a run that has them


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
        raise Problem(f"-sample: the program has no structure to sample: nothing comes {units.LEAST} times or more in the sequence of its phases, "
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


def aside(marks, windows, calls):
    """`windows`: {mark: date} of each, the last one up to the end of the run."""
    inside = sum(dates[max(dates)] - dates[min(dates)] for dates in windows)
    usual = marks[-1].date - sum(marks[max(dates)].date - marks[min(dates)].date for dates in windows)
    rest = windows[-1][len(marks) - 1] - inside
    return Aside((rest - usual) / marks[-1].date, calls, sum(mark.calls for mark in marks))


def are(base):
    """Whether units are slices."""
    return bool(base) and base[0].name == units.SLICE
