# SPDX-License-Identifier: BSD-3-Clause
"""Units, which are sampled, from marks, which every rank passes once and in order: what repeats in the sequence of marks."""
import hashlib
import re
from collections import Counter
from dataclasses import dataclass

from pfcurve.errors import Problem

LEAST = 12  # repetitions that make a structure
ALIKE = 0.9  # of the marks that must be what the mark one period before was
LONGEST = 512  # marks of a period
PACKET = 4096  # bytes
MOST = 20000  # units by a place of the program: more are not needed, and cost a mark each


@dataclass(frozen=True)
class Mark:
    at: str  # start, phase, pcontrol, collective, site, end
    name: str
    date: float  # simulated seconds in the cheap model: the last rank's
    signature: str  # of what happens up to the next mark
    calls: int
    bytes: int


@dataclass(frozen=True)
class Unit:
    """What lies between two marks. Those that do not repeat, such as the set-up, are units as well."""
    number: int
    first: int
    last: int  # where the next one begins
    x: float  # its simulated time in the cheap model
    kind: str  # units of one kind do the same
    coarse: str  # units of one coarse kind make the same calls, with other sizes or partners
    repeats: bool
    name: str
    work: float  # of a fine simulation, in calls: a packet is worth one as well


class Units(list):
    """Units in order. `base`: the iterations that they consist of, by which windows begin and end."""

    def __init__(self, units, base=None, parts=None):
        super().__init__(units)
        self.base = base or list(units)
        self.parts = parts or [(unit.number, unit.number + 1) for unit in units]  # [begin, end) in base

    def window(self, number, before, after):
        """[begin, end) in base."""
        begin, end = self.parts[number]
        return max(0, begin - before), min(len(self.base), end + after)

    def span(self, number, before, after):
        """The first and the last mark of a window."""
        begin, end = self.window(number, before, after)
        return self.base[begin].first, self.base[end - 1].last


def grouped(base, size, bounds=()):
    """Units of `size` iterations each, but for what does not repeat, the first two, the rest, and where one of `bounds` begins: what a window costs on
    its way in and out, and what ranks are apart at its ends, is paid once for all of them."""
    groups = []
    repeating = [unit.number for unit in base if unit.repeats][:2]
    for unit in base:
        last = groups[-1] if groups else []
        begins = unit.number in bounds or not unit.repeats
        if last and not begins and len(last) < size and last[0].repeats and last[0].number not in repeating:
            last.append(unit)
        else:
            groups.append([unit])
    result = []
    for group in groups:
        first = group[0]
        result.append(first if len(group) == 1 and size == 1 else Unit(
            len(result), first.first, group[-1].last, sum(unit.x for unit in group), together(unit.kind for unit in group),
            together(unit.coarse for unit in group), first.repeats, first.name, sum(unit.work for unit in group)))
    return Units(result, base, [(group[0].number, group[-1].number + 1) for group in groups])


SLICE = "slice"  # the kind of units that are slices of time


def together(kinds):
    """The kind of a unit that consists of some: of one kind, however many."""
    kinds = sorted(kinds)
    return kinds[0] if kinds[0] == kinds[-1] else digest(kinds)


def digest(words):
    return hashlib.sha256("\n".join(map(str, words)).encode()).hexdigest()[:12]


def work(marks):
    """What a fine model has to do between marks, about."""
    return sum(1 + mark.calls + mark.bytes / PACKET for mark in marks)


def plain(name):
    """A name without numbers: cycle-7 comes again as cycle-8."""
    return re.sub(r"[0-9]+", "#", name)


def period(tokens):
    """The least distance at which most tokens come again, with the share of those that do: (0, 0.0) when there is none."""
    count = len(tokens)
    for distance in range(1, min(LONGEST, count // LEAST) + 1):
        same = sum(a == b for a, b in zip(tokens, tokens[distance:]))
        # A token that is nearly always the same would hide what comes in every tenth iteration.
        if same >= ALIKE * (count - distance):
            return distance, same / (count - distance)
    return 0, 0.0


def trimmed(tokens, distance):
    """Where the repetition begins and ends: the set-up before it and the output behind it are not part of it."""
    same = [a == b for a, b in zip(tokens, tokens[distance:])]
    first = next((i for i in range(len(same)) if all(same[i:i + distance])), 0)
    last = next((i for i in range(len(same), 0, -1) if all(same[max(0, i - distance):i])), len(same))
    return first, last + distance


def cut(tokens, distance):
    """First marks of the units, and the end of the last one. Where the period is broken, what lies between is one unit."""
    first, end = trimmed(tokens, distance)
    anchor, starts, at = tokens[first], [first], first
    while at < end:
        following = at + distance
        if following < end and tokens[following] != anchor:
            near = [i for i in range(at + 1, end) if tokens[i] == anchor]
            following = next((i for i in near if i >= following), end) if distance > 1 else following
        at = min(following, end)
        starts.append(at)
    return starts


def own(marks):
    """Numbers of the marks by which units are found: what the program says itself comes first, and of what it says what is
    said often enough."""
    for kinds in (("pcontrol",), ("phase",), ("phase", "pcontrol"), ("collective",), ("site",)):
        numbers = [i for i, mark in enumerate(marks) if mark.at in kinds]
        if len(numbers) >= LEAST:
            yield kinds, numbers


def spans(marks, finest=False):
    """(kinds of marks, marks where units begin and the last one ends, how they were found). `finest`: as many units as there are, whatever each does."""
    for kinds, numbers in own(marks):
        said = kinds != ("collective",) and kinds != ("site",)
        # Names that the program gave are its iterations. Collectives have one name, and are told apart by what follows.
        levels = [("name", lambda m: m.name), ("name without numbers", lambda m: plain(m.name))] if said else [
            ("calls and partners", lambda m: m.signature), ("calls", lambda m: (m.name, m.calls)), ("name", lambda m: m.name)]
        for what, token in reversed(levels) if finest else levels:
            tokens = [token(marks[i]) for i in numbers]
            distance, _ = period(tokens)
            if distance:
                starts = cut(tokens, distance)
                ends = numbers + [len(marks) - 1]
                where = [ends[min(i, len(numbers))] for i in starts]
                if len(set(where)) > LEAST:
                    each = "each" if distance == 1 else f"each {distance}"
                    return kinds, sorted(set(where)), f"{each} {' or '.join(kinds)} mark{'s' if distance > 1 else ''}, by {what}"
    raise Problem(f"-sample: the program has no structure to sample: nothing comes {LEAST} times or more in the sequence of its "
                  "phases, MPI_Pcontrol and collectives (pf_phase at the begin of each iteration makes one)")


def only(marks, kinds):
    """Marks of these kinds alone, with what happens between them together: what other marks a program passes may depend on the model, as the
    collectives of one that polls."""
    groups = []
    for mark in marks:
        if mark.at in ("start", "end", *kinds):
            groups.append([])
        groups[-1].append(mark)
    return [Mark(group[0].at, group[0].name, group[0].date, group[0].signature if len(group) == 1 else digest(m.signature for m in group),
                 sum(m.calls for m in group), sum(m.bytes for m in group)) for group in groups]


def place(sites, often=LEAST):
    """The place of the program that makes the best marks, where nothing else does: all ranks pass it, often. Of collectives first, because
    they are what an iteration ends with. None when there is no such place. `sites`: (address, function, least, most)."""
    good = [(not is_collective(function), -least, address) for address, function, least, most in sites
            if least == most and often <= least <= MOST and function != "MPI_Pcontrol"]  # which has marks of its own
    return min(good)[2] if good else None


def is_collective(function):
    return re.search("reduce|bcast|gather|scatter|alltoall|barrier|scan", function.lower()) is not None


def from_marks(marks, finest=False):
    """(units, how they were found). Together they are the whole run."""
    if len(marks) < 2 or marks[-1].date <= 0:
        raise Problem("-sample: the program has no structure to sample: it makes no call that could be a mark")
    _, where, found = spans(marks, finest)
    bounds = sorted({0, *where, len(marks) - 1})
    inside = set(where[:-1])
    units = []
    for first, last in zip(bounds, bounds[1:]):
        part = marks[first:last]
        units.append(Unit(len(units), first, last, marks[last].date - marks[first].date, digest(m.signature for m in part),
                          digest((m.at, plain(m.name), m.calls) for m in part), first in inside, plain(marks[first].name),
                          work(part)))
    return units, found


def rare(counts, least):
    return {kind for kind, count in counts.items() if count < least}


def kinds(units, least=5):
    """{number of a unit that repeats: kind}. Where hardly two units are equal, those that make the same calls are one kind."""
    body = [unit for unit in units if unit.repeats]
    kind = {unit.number: unit.kind for unit in body}
    few = rare(Counter(kind.values()), least)
    if sum(kind[unit.number] in few for unit in body) > 0.05 * len(body):
        coarse = Counter(unit.coarse for unit in body if kind[unit.number] in few)
        for unit in body:
            if kind[unit.number] in few:
                # Not even the calls are the same: then they have in common that they have nothing in common.
                kind[unit.number] = "like " + unit.coarse if coarse[unit.coarse] >= least else "irregular"
    return kind
