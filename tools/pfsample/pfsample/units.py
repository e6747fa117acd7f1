# SPDX-License-Identifier: BSD-3-Clause
"""Units, which are sampled, from markers, which every rank passes once and in order: what repeats in the sequence of markers."""
import csv
import hashlib
import operator
import re
from collections import Counter
from dataclasses import dataclass, field

from pfcurve.errors import Problem

from . import thresholds

COLLECTIVE = "reduce|bcast|gather|scatter|alltoall|barrier|scan"  # in the name of a function


class NoStructure(Problem):
    """Nothing recurs in the sequence of markers."""


@dataclass(frozen=True)
class Marker:
    at: str  # start, phase, pcontrol, collective, site, end
    name: str
    date: float  # simulated seconds in the cheap model: the last rank's
    signature: str  # of what happens up to the next marker
    calls: int
    bytes: int


@dataclass
class Markers:
    all: list
    at: str = "auto"  # the setting with which a run with regions gives its markers the same numbers
    unequal: list = field(default_factory=list)  # kinds that not all ranks pass equally often
    sites: list = field(default_factory=list)  # (address, function, least, most)
    ranks: int = 0


@dataclass(frozen=True)
class Unit:
    """What lies between two markers. Those that do not repeat, such as the set-up, are units as well."""
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
    """Units in order. `base`: the iterations that they consist of, by which regions begin and end."""

    def __init__(self, units, base=None, parts=None):
        super().__init__(units)
        self.base = base or list(units)
        self.parts = parts or [(unit.number, unit.number + 1) for unit in units]  # [begin, end) in base

    def region(self, number, before, after):
        """[begin, end) in base."""
        begin, end = self.parts[number]
        return max(0, begin - before), min(len(self.base), end + after)

    def span(self, number, before, after):
        """The first and the last marker of a region."""
        begin, end = self.region(number, before, after)
        return self.base[begin].first, self.base[end - 1].last


def grouped(base, size, bounds=()):
    """Units of `size` iterations each, but for what does not repeat, the first two, the rest, and where one of `bounds` begins: what a region costs on
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


def together(kinds):
    """The kind of a unit that consists of some: of one kind, however many."""
    kinds = sorted(kinds)
    return kinds[0] if kinds[0] == kinds[-1] else digest(kinds)


def digest(words):
    return hashlib.sha256("\n".join(map(str, words)).encode()).hexdigest()[:12]


def work(markers):
    """What a fine model has to do between markers, about."""
    return sum(1 + marker.calls + marker.bytes / thresholds.PACKET for marker in markers)


def plain(name):
    """A name without numbers: cycle-7 recurs as cycle-8."""
    return re.sub(r"[0-9]+", "#", name)


def period(tokens):
    """The least distance at which most tokens recur, 0 when there is none."""
    count = len(tokens)
    numbers = {}
    tokens = [numbers.setdefault(token, len(numbers)) for token in tokens]
    for distance in range(1, min(thresholds.LONGEST_PERIOD, count // thresholds.LEAST_UNITS) + 1):
        # A token that is nearly always the same would hide what comes in every tenth iteration.
        if sum(map(operator.eq, tokens, tokens[distance:])) >= thresholds.MATCHING_SHARE * (count - distance):
            return distance
    return 0


def trimmed(tokens, distance):
    """Where the repetition begins and ends: the set-up before it and the output behind it are not part of it."""
    same = [a == b for a, b in zip(tokens, tokens[distance:])]
    first = next((i for i in range(len(same)) if all(same[i:i + distance])), 0)
    last = next((i for i in range(len(same), 0, -1) if all(same[max(0, i - distance):i])), len(same))
    return first, last + distance


def cut(tokens, distance):
    """First markers of the units, and the end of the last one. Where the period is broken, what lies between is one unit."""
    first, end = trimmed(tokens, distance)
    anchor, starts, at = tokens[first], [first], first
    while at < end:
        following = at + distance
        if following < end and tokens[following] != anchor:
            following = next((i for i in range(following, end) if tokens[i] == anchor), end) if distance > 1 else following
        at = min(following, end)
        starts.append(at)
    return starts


def spans(markers):
    """(kinds of markers, markers where units begin and the last one ends, how they were found). Markers that the program sets itself come first."""
    # Names that the program gave are its iterations. Collectives have one name, and differ in what follows.
    named = [("name", lambda m: m.name), ("name without numbers", lambda m: plain(m.name))]
    calls = [("calls and partners", lambda m: m.signature), ("calls", lambda m: (m.name, m.calls)), ("name", lambda m: m.name)]
    for kinds, levels in ((("pcontrol",), named), (("phase",), named), (("phase", "pcontrol"), named), (("collective",), calls), (("site",), calls)):
        numbers = [i for i, marker in enumerate(markers) if marker.at in kinds]
        for what, token in levels if len(numbers) >= thresholds.LEAST_UNITS else ():
            tokens = [token(markers[i]) for i in numbers]
            distance = period(tokens)
            if distance:
                starts = cut(tokens, distance)
                ends = numbers + [len(markers) - 1]
                where = [ends[min(i, len(numbers))] for i in starts]
                if len(set(where)) > thresholds.LEAST_UNITS:
                    each = "each" if distance == 1 else f"each {distance}"
                    return kinds, sorted(set(where)), f"{each} {' or '.join(kinds)} marker{'s' if distance > 1 else ''}, by {what}"
    raise NoStructure(f"-sample: the program has no structure to sample: nothing recurs {thresholds.LEAST_UNITS} times or more in the sequence of its "
                  "phases, MPI_Pcontrol and collectives (pf_phase at the begin of each iteration makes one)")


def only(markers, kinds):
    """Markers of these kinds alone, with what happens between them together: what other markers a program passes may depend on the model, as the
    collectives of one that polls."""
    groups = []
    for marker in markers:
        if marker.at in ("start", "end", *kinds):
            groups.append([])
        groups[-1].append(marker)
    return [Marker(group[0].at, group[0].name, group[0].date, group[0].signature if len(group) == 1 else digest(m.signature for m in group),
                 sum(m.calls for m in group), sum(m.bytes for m in group)) for group in groups]


def call_site(sites):
    """The address of the call site that makes the best markers: all ranks pass it, often; one of a collective first, because iterations end with it.
    None when there is none. `sites`: (address, function, least, most)."""
    good = [(not re.search(COLLECTIVE, function.lower()), -least, address) for address, function, least, most in sites
            if least == most and thresholds.LEAST_UNITS <= least <= thresholds.MOST_SITE_UNITS and function != "MPI_Pcontrol"]  # which has markers of its own
    return min(good)[2] if good else None


def from_markers(markers):
    """(units, how they were found). Together they are the whole run."""
    if len(markers) < 2 or markers[-1].date <= 0:
        raise NoStructure("-sample: the program has no structure to sample: it makes no call that could be a marker")
    _, where, found = spans(markers)
    bounds = sorted({0, *where, len(markers) - 1})
    inside = set(where[:-1])
    units = []
    for first, last in zip(bounds, bounds[1:]):
        part = markers[first:last]
        units.append(Unit(len(units), first, last, markers[last].date - markers[first].date, digest(m.signature for m in part),
                          digest((m.at, plain(m.name), m.calls) for m in part), first in inside, plain(markers[first].name),
                          work(part)))
    return units, found


def of_program(markers):
    """(units, how they were found) of units.Markers. Where the program names its phases or iterations, other markers do not count from now on."""
    kinds = spans(markers.all)[0] if len(markers.all) > 1 else ()
    if kinds in (("phase",), ("pcontrol",)):
        markers.all, markers.at = only(markers.all, kinds), kinds[0]
    return from_markers(markers.all)


def rare(counts):
    return {kind for kind, count in counts.items() if count < thresholds.LEAST_KIND}


def kinds(units):
    """{number of a unit that repeats: kind}. Where hardly two units are equal, those that make the same calls are one kind."""
    body = [unit for unit in units if unit.repeats]
    kind = {unit.number: unit.kind for unit in body}
    few = rare(Counter(kind.values()))
    if sum(kind[unit.number] in few for unit in body) > thresholds.IRREGULAR_SHARE * len(body):
        coarse = Counter(unit.coarse for unit in body if kind[unit.number] in few)
        for unit in body:
            if kind[unit.number] in few:
                # Not even the calls are the same: then they have in common that they have nothing in common.
                kind[unit.number] = "like " + unit.coarse if coarse[unit.coarse] >= thresholds.LEAST_KIND else "irregular"
    return kind


def split(path):
    """(comment lines without #, rows of the table)."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise Problem(f"a run of the sample left no {path}: {error.strerror}") from None
    comments = [line[1:].strip() for line in lines if line.startswith("#")]
    return comments, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def read_markers(path):
    comments, rows = split(path)
    result = Markers([Marker(row["at"], row["name"], float(row["date_s"]), row["signature"], int(row["calls"]), int(row["bytes"])) for row in rows])
    for word, _, rest in (comment.partition(" ") for comment in comments):
        if word == "at":
            result.at = rest
        elif word == "ranks":
            result.ranks = int(rest)
        elif word == "unequal":
            result.unequal.append(rest)
        elif word == "site":
            address, function, least, most = rest.split()[:4]
            result.sites.append((address, function, int(least), int(most)))
    return result


def write_regions(path, regions):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{first} {last}\n" for first, last in regions)


def merged(spans):
    """Those that meet are one."""
    result = []
    for first, last in sorted(spans):
        if result and first <= result[-1][1]:
            result[-1] = (result[-1][0], max(last, result[-1][1]))
        else:
            result.append((first, last))
    return result


def read_dates(path):
    """({region: {marker: date}}, {region: processor seconds})."""
    comments, rows = split(path)
    dates = {}
    for row in rows:
        dates.setdefault(int(row["region"]), {})[int(row["marker"])] = float(row["date_s"])
    return dates, {int(words[1]): float(words[2]) for words in map(str.split, comments) if words[0] == "cost"}
