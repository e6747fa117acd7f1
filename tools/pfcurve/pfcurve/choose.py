# SPDX-License-Identifier: BSD-3-Clause
"""What a sweep runs, as far as first runs must find out: the program's phases, its simulated time, its collectives."""
from . import points
from .curve import Curve, make_row
from .errors import Problem

SMALL = 0.001  # share of the simulated time below which a phase is not worth points of its own


def first_run(sweep, point):
    run = sweep.run([point], repeats=1)[0]
    if not run.ok:
        raise Problem(f"the first run, all {point.name}, failed: {run.result['why']}")
    return run.summary


def phases_of(summary):
    """Phases in the order of their first occurrence, without those that take next to nothing."""
    names = dict.fromkeys(row["phase"] for row in summary["phases"])
    took = {name: sum(row["simulated_s"] for row in summary["phases"] if row["phase"] == name) for name in names}
    return [name for name in names if took[name] > SMALL * summary["simulated_s"]]


def by_phases(options, sweep):
    """A model for each phase: (points, how they were found)."""
    phases = phases_of(first_run(sweep, points.single(options.fine)))
    if len(phases) < 2:
        raise Problem("--phases: the program has one phase, two are the least; it names them with pf_phase or MPI_Pcontrol")
    number = len(options.models) ** len(phases)
    what = f"{len(phases)} phases ({', '.join(phases)}) in {len(options.models)} models"
    if number <= options.limit:
        return points.combinations(phases, options.models), f"{what}: all {number} combinations"
    singles = [points.single(model) for model in options.models]
    alone = points.one_at_a_time(phases, options.models, options.cheap, options.fine)
    rest = points.greedy(phases, options.cheap, options.fine, gains(options, sweep, phases, singles, alone))
    return singles + list(dict.fromkeys(alone + rest)), \
        f"{what}: one phase at a time from all {options.cheap} and all {options.fine}, then a greedy frontier from all " \
        f"{options.cheap}: in each step the phase to {options.fine} that takes away the most error for its overhead"


def gains(options, sweep, phases, singles, alone):
    """Error that a phase takes away when it alone is in the fine model, for its overhead."""
    runs = sweep.run(singles + alone)
    rows = {row.point: row for row in Curve([make_row(point, [], [run for run in runs if run.point == point], options.clock)
                                             for point in singles + alone], options).good()}
    base = rows.get(points.single(options.cheap))
    result = {}
    for phase in phases:
        row = rows.get(points.phase_point(phases, [options.fine if p == phase else options.cheap for p in phases]))
        # Noise must not make a phase cost less than nothing.
        result[phase] = (base.size - row.size) / max(row.overhead.median - base.overhead.median,
                                                     0.01 * base.overhead.median) if row and base else 0
    return result


def by_switch(options, sweep):
    """The first k of n parts in one model, the rest in the other, both ways: (points, how they were found)."""
    fine, cheap = options.fine, options.cheap
    singles = [points.single(model) for model in options.models]
    whole = first_run(sweep, points.single(fine))
    if options.unit == "phase":
        phases = phases_of(whole)
        return singles + points.switch_after_phase(fine, cheap, phases), \
            f"the first k of {len(phases)} phases ({', '.join(phases)}) in {fine}, then {cheap}, and the reverse"
    if options.unit == "coll":
        number = collectives(options, sweep)
        return singles + points.switch_after_coll(fine, cheap, options.steps, number), \
            f"the first k parts of {number} collectives in {fine}, then {cheap}, and the reverse"
    other = first_run(sweep, points.single(cheap))
    return singles + points.switch_after_time(fine, cheap, options.steps, whole["simulated_s"], other["simulated_s"]), \
        f"the first k of {options.steps} parts of the simulated time in {fine}, then {cheap}, and the reverse"


def collectives(options, sweep):
    """How many collectives on MPI_COMM_WORLD there are: the greatest N for which a switch at the N-th happens. The summary
    does not count them, so that it is searched for with runs in the cheap model."""
    other = options.models[0] if options.models[0] != options.cheap else options.models[1]

    def happens(number):
        summary = first_run(sweep, points.Point(f"probe {number}", options.cheap, f"@coll:{number}={other}"))
        return any(row["model"] == other for row in summary["phases"])

    high = 1
    while happens(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if happens(middle) else (low, middle)
    return low


def from_file(options):
    singles = [points.single(model) for model in options.models]
    named = points.from_file(options.schedules, options.cheap, options.models)
    return singles + [point for point in named if point.schedule], f"schedules of {options.schedules}"
