# SPDX-License-Identifier: BSD-3-Clause
"""From simulated times to choices, and to Open MPI's file of rules."""
import math
from collections import namedtuple

from .collectives import COLLECTIVES, OPEN_MPI

# Of a barrier there is no size. The size that Open MPI looks at is that of the arguments for sending, which count at the root only in a scatter,
# and not at the root of a gather in place: ranks that saw different sizes would take different algorithms, and hang.
WITHOUT_SIZE = {"barrier", "gather", "scatter"}
REACH = 2  # sizes that are farther off than this factor are Open MPI's to decide

# choice: what the rule says, OPEN_MPI where the gain of the fastest one is below the uncertainty
Row = namedtuple("Row", "ranks collective bytes default_us us fastest choice")


def for_all_sizes(by_sizes, uncertainty):
    """The choice with the largest mean gain, which must exceed the uncertainty, and at no size be a loss by more than that."""
    def gains(choice):
        return [by_choice[OPEN_MPI] / by_choice[choice] for by_choice in by_sizes]
    best = max(by_sizes[0], key=lambda choice: (math.prod(gains(choice)), -choice.number))
    good = math.prod(gains(best)) > uncertainty**len(by_sizes) and min(gains(best)) * uncertainty >= 1
    return best if good else OPEN_MPI


def choose(times, uncertainty):
    """A row for each (ranks, collective, bytes), in this order."""
    cells = {}
    for (ranks, collective, choice, size), us in times.items():
        cells.setdefault((ranks, collective, size), {})[choice] = us
    rows = []
    for (ranks, collective, size), by_choice in sorted(cells.items()):
        default = by_choice[OPEN_MPI]
        fastest = min(by_choice, key=lambda choice: (by_choice[choice], choice.number, choice.segment))
        us = by_choice[fastest]
        choice = fastest if default > uncertainty * us else OPEN_MPI
        if collective in WITHOUT_SIZE:
            choice = for_all_sizes([cell for key, cell in sorted(cells.items()) if key[:2] == (ranks, collective)], uncertainty)
        rows.append(Row(ranks, collective, size, default, us, fastest, choice))
    return rows


def by_size(rows):
    """(from so many bytes, choice): each size stands for what is nearer to it, by factors, than to its neighbours."""
    if rows[0].collective in WITHOUT_SIZE:
        return [(0, rows[0].choice)]
    rules = [(0, OPEN_MPI), (rows[0].bytes // REACH, rows[0].choice)]
    rules += [(math.isqrt(a.bytes * b.bytes), b.choice) for a, b in zip(rows, rows[1:])]
    rules.append((rows[-1].bytes * REACH + 1, OPEN_MPI))
    return [rule for i, rule in enumerate(rules) if i == 0 or rule[1] != rules[i - 1][1]]


def text(rows):
    """Open MPI's form: collectives, of each the sizes of communicators, of each those of messages. A rule counts from its size on; the first
    one for smaller communicators as well, so that it must be Open MPI's own, as what follows the last one."""
    names = [name for name in COLLECTIVES if any(row.collective == name and row.choice != OPEN_MPI for row in rows)]
    yield f"{len(names)} # collectives"
    for name in names:
        counts = sorted({row.ranks for row in rows if row.collective == name})
        yield f"{COLLECTIVES[name].number} # {name}"
        yield f"{len(counts) + 2} # communicator sizes"
        yield from ("1 # ranks, and more", "1 # message sizes", "0 0 0 0 # Open MPI decides")
        for ranks in counts:
            rules = by_size([row for row in rows if (row.ranks, row.collective) == (ranks, name)])
            yield f"{ranks} # ranks, and more"
            yield f"{len(rules)} # message sizes"
            for start, choice in rules:
                yield f"{start} {choice.number} 0 {choice.segment} # from {start} B: {choice.algorithm if choice.number else 'Open MPI decides'}"
        yield from (f"{counts[-1] + 1} # ranks, and more: not simulated", "1 # message sizes", "0 0 0 0 # Open MPI decides")


def spelled(choice):
    return choice.algorithm + (f", segments of {choice.segment} B" if choice.segment else "")


def table(rows, uncertainty):
    yield f"{'collective':<15}{'ranks':>7}{'bytes':>11}{'default us':>12}{'fastest us':>12}  {'gain':<22}fastest"
    for row in rows:
        gain = row.default_us / row.us
        span = f"{gain:.2f} ({gain / uncertainty:.2f} to {gain * uncertainty:.2f})"
        instead = "" if row.choice == row.fastest else f" (rule: {spelled(row.choice)})"
        yield f"{row.collective:<15}{row.ranks:>7}{row.bytes:>11}{row.default_us:>12.2f}{row.us:>12.2f}  {span:<22}{spelled(row.fastest)}{instead}"
