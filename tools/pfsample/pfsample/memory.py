# SPDX-License-Identifier: BSD-3-Clause
"""Iterations known by heart. One that makes the same calls with as many bytes, and that ranks enter equally far apart, takes as long as the one that is
remembered, and leaves them apart as that one did: so a window from the begin of a regular run tells all that follows."""
import math
import statistics
from dataclasses import dataclass, field

from . import estimate, plan, student

GOAL = 0.005  # that is worth it: wider ones have fewer windows
BEGIN = 160  # iterations of the window at the begin
LEAST = 20  # of what was remembered must have come again
RARE = 3  # times in none of which something happened: it may happen in 3 of n


@dataclass
class Memory:
    known: dict = field(default_factory=dict)  # {(what is done, how far apart ranks are): (seconds, how far apart they are then)}
    errors: list = field(default_factory=list)  # relative, of what came again
    lost: int = 0  # times that it did not lead to what followed
    seconds: dict = field(default_factory=dict)  # {what is done: all that were seen}

    def see(self, what, state, seconds, then):
        self.seconds.setdefault(what, []).append(seconds)
        before = self.known.setdefault((what, state), (seconds, then))
        if before[0] > 0:
            self.errors.append(seconds / before[0] - 1)
            self.lost += then != before[1]

    def spread(self):
        """How far apart, relatively, iterations are that do the same from different states."""
        return max((statistics.pstdev(all_of) / statistics.fmean(all_of) for all_of in self.seconds.values()), default=0.0)


def deed(unit):
    """What an iteration does: its calls, partners and sizes in powers of two, and its bytes."""
    return unit.kind, unit.work


def remember(base, held, states):
    """What all windows have shown, those before others first."""
    memory, new = Memory(), set()
    for window in sorted(held):
        dates, state = held[window], states[window]
        for unit in base:
            if unit.first < window[0] or not unit.repeats:
                continue
            if unit.last > window[1]:
                break
            if state.get(unit.first) and state.get(unit.last):
                key = deed(unit), state[unit.first]
                first = key not in new
                new.add(key)
                memory.see(*key, dates[unit.last] - dates[unit.first], state[unit.last])
                if first:  # nothing came again
                    memory.errors.pop()
    return memory


def run(base, held, states):
    """(plan, fine times of what was simulated, estimate) of a run whose begin is a window; None where it does not tell what follows."""
    first = min(held, default=None)
    if first is None or first[0] != 0:
        return None
    memory, dates = remember(base, held, states), held[first]
    certain = {unit.number: dates[unit.last] - dates[unit.first] for unit in base if unit.last <= first[1]}
    number, state, heart = len(certain), states[first].get(base[len(certain) - 1].last) if certain else None, {}
    while number < len(base) and (deed(base[number]), state) in memory.known:
        heart[number], state = memory.known[deed(base[number]), state]
        number += 1
    if not heart or len(memory.errors) < LEAST:
        return None
    return told(base, certain, heart, base[number:], memory)


def told(base, certain, heart, unseen, memory):
    units = [base[number] for number in heart]
    x, seconds, count = sum(unit.x for unit in units), math.fsum(heart.values()), len(memory.errors)
    # What was remembered comes again and again, so its errors do not cancel; and where it may lead elsewhere, all may be as far off as states are.
    error = math.sqrt(math.fsum(e * e for e in memory.errors) / count)
    leaves = min(1.0, (memory.lost + RARE) / count) * memory.spread()
    part = estimate.Part(estimate.BY_HEART, len(units), len(memory.known), x, seconds / x if x > 0 else 1.0, seconds, (error * seconds)**2, count, error)
    rest = part.ratio * sum(unit.x for unit in unseen)
    total = sum(certain.values()) + seconds + rest
    half = max((student.quantile(0.95, count) * error + leaves) * seconds + rest, estimate.LEAST_WIDTH * total)
    stratum = plan.Stratum(estimate.BY_HEART, units)
    stratum.zones = [(0, len(units))]
    stratum.found = {stratum.zones[0]: units[0]}
    made = plan.Plan(base, {number: "at the begin" for number in certain}, [stratum], list(unseen))
    return made, dict(certain), estimate.Estimate(total, max(total - half, 0), total + half, part.variance, count, 0.0, [part])
