# SPDX-License-Identifier: BSD-3-Clause
"""Which schedules are run: points of the curve, before anything is known about them."""
import itertools
from dataclasses import dataclass

import models  # base/models.py

from .errors import Problem


@dataclass(frozen=True)
class Point:
    """One schedule. `start` is the model in force at first; `schedule` is empty when it stays in force."""
    name: str
    start: str
    schedule: str = ""

    def flags(self):
        return ["-model", self.start] + (["-schedule", self.schedule] if self.schedule else [])

    @property
    def single(self):
        """One model from start to end."""
        return not self.schedule

    sampled = False

    def models(self):
        """Models that the schedule names, in the order of its text."""
        words = [self.start] + [item.rpartition("=")[2] for item in self.schedule.split(",") if item]
        return list(dict.fromkeys(model for word in words for model in word.split("|")))


@dataclass(frozen=True)
class Sample(Point):
    """No schedule but an estimate: what a sample of the run in the fine model says of it all (pfrun -sample)."""
    fine: str = ""
    goal: str = ""
    single = False
    sampled = True

    def flags(self):
        return ["-sample", self.goal, "-fine", self.fine, "-cheap", self.start]

    def models(self):
        return [self.start, self.fine]


def sample(goal, cheap, fine):
    return Sample(f"sample {goal}", cheap, fine=fine, goal=goal)


def single(model):
    return Point(model, model)


def from_file(path, cheap, available):
    """One named schedule a line: a name, blanks, a schedule of pfrun or the name of a model; # begins a comment."""
    points = {}
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{path}: {error}") from None
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split(None, 1)
        if not words:
            continue
        if len(words) != 2:
            raise Problem(f"{path}: line {number}: a name and a schedule are due, not '{words[0]}'")
        name, schedule = words[0], "".join(words[1].split())
        if name in points:
            raise Problem(f"{path}: line {number}: a second schedule '{name}'")
        if models.BY_NAME.get(schedule) in available:
            points[name] = Point(name, models.BY_NAME[schedule])
        elif "=" in schedule:
            points[name] = Point(name, cheap, schedule)
        else:
            raise Problem(f"{path}: line {number}: '{schedule}' is neither a schedule (PHASE=MODEL,...) nor a model")
    if not points:
        raise Problem(f"{path}: no schedule in it")
    return list(points.values())


def phase_point(phases, models, name=""):
    """The program's phases in these models. Every phase is named, because phases may come again in any order; what precedes
    the first pf_phase has no name and runs in the model at the start."""
    current = models[0]
    items = [(phase, model) for phase, model in zip(phases, models) if phase != "start"]
    if len(set(models)) == 1:
        return Point(name or current, current)
    return Point(name or label(phases, models), current, ",".join(f"{phase}={model}" for phase, model in items))


def label(phases, models):
    """Names the phases that are not in the model of most: `portals, setup smpi` says more than a list of all."""
    most = max(dict.fromkeys(models), key=models.count)
    others = [f"{phase} {model}" for phase, model in zip(phases, models) if model != most]
    return f"{most}, {', '.join(others)}"


def combinations(phases, models):
    return [phase_point(phases, list(choice)) for choice in itertools.product(models, repeat=len(phases))]


def switch_after_time(fine, cheap, steps, fine_time, cheap_time):
    """The first k of n parts of the simulated time in one model, then the other; the parts are those of the first model."""
    points = []
    for first, second, whole in ((fine, cheap, fine_time), (cheap, fine, cheap_time)):
        points += [Point(f"{first} {k}/{steps}", first, f"@time:{k * whole / steps:.9g}={second}") for k in range(1, steps)]
    return points


def switch_after_coll(fine, cheap, steps, collectives):
    """The same with collectives on MPI_COMM_WORLD; fewer parts when there are fewer collectives."""
    if collectives < 2:
        raise Problem(f"--unit coll: the program has too few collectives on MPI_COMM_WORLD ({collectives}, two are the least); "
                      "take --unit time or --unit phase")
    steps = min(steps, collectives)
    points = []
    for first, second in ((fine, cheap), (cheap, fine)):
        points += [Point(f"{first} {k}/{steps}", first, f"@coll:{k * collectives // steps + 1}={second}")
                   for k in range(1, steps)]
    return points


def switch_after_phase(fine, cheap, phases):
    """The same with the program's phases, in the order of their first occurrence."""
    if len(phases) < 2:
        raise Problem("--unit phase: the program has one phase, two are the least (pf_phase or MPI_Pcontrol); take --unit time")
    points = []
    for first, second in ((fine, cheap), (cheap, fine)):
        for k in range(1, len(phases)):
            models = [first] * k + [second] * (len(phases) - k)
            points.append(phase_point(phases, models, f"{first} {k}/{len(phases)}"))
    return points


def one_at_a_time(phases, models, cheap, fine):
    """Each phase in each other model, the rest all cheap, and the rest all fine."""
    points = {}
    for base in (cheap, fine):
        for i in range(len(phases)):
            for model in models:
                choice = [base] * len(phases)
                choice[i] = model
                point = phase_point(phases, choice)
                points[point.start, point.schedule] = point
    return [point for point in points.values() if point.schedule]


def greedy(phases, cheap, fine, gain):
    """From all cheap towards all fine, one phase more at a time: first the phase that takes away the most error for its
    overhead. `gain`: phase -> that quotient."""
    order = sorted(phases, key=lambda phase: (-gain[phase], phases.index(phase)))
    points = []
    for k in range(2, len(phases)):
        models = [fine if phase in order[:k] else cheap for phase in phases]
        points.append(phase_point(phases, models))
    return points
