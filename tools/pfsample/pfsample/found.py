# SPDX-License-Identifier: BSD-3-Clause
"""pfinfo --units: the units of a program, as pfrun -sample finds them, without a sample."""
import csv
import os
import re
import tempfile
from collections import Counter

from pfcurve.curve import seconds_text
from pfcurve.errors import Problem
from pfcurve.main import versions

from . import files, sequence, slices, units
from . import options as command_line
from .places import lines
from .runs import Runs

MOST = 12  # lines of a list
WORTH = 0.5  # share of the run in the smallest sample, above which all of the run is simulated in the fine model


class Found:
    """What the marks of one run in the cheap model say."""

    def __init__(self, marks, program):
        self.marks, self.program = marks, program
        self.place = ""  # that was taken for marks, when the program's own say nothing
        self.all_sites = marks.sites
        self.lines = lines(program, [site[0] for site in marks.sites])

    def where(self, site):
        address, function, least, most = site
        often = f"{least}" if least == most else f"{least} to {most}"
        return f"{often:>8} x {function:<18} {self.lines.get(address, 'at 0x' + address)}"

    def seen(self):
        """Marks and places, whether or not they make units."""
        marks = self.marks
        kinds = Counter(mark.at for mark in marks.marks[1:-1])
        text = ", ".join(f"{count} {at}" for at, count in kinds.items()) or "none"
        result = [f"marks: {text}; {marks.ranks} ranks, {seconds_text(marks.marks[-1].date)} of simulated time"]
        result += [f"  not all ranks pass each {at}: not taken" for at in marks.unequal]
        equal = sorted((site for site in self.all_sites if site[2] == site[3]), key=lambda site: -site[2])
        others = len(self.all_sites) - len(equal)
        if self.all_sites:
            result.append(f"places that all ranks call from equally often: {len(equal)}, other places: {others}")
            result += ["  " + self.where(site) for site in equal[:MOST]] + ["  ..."] * (len(equal) > MOST)
        return result

    def begins(self, parts):
        """Where units begin: what the program says, or the calls whose names the marks have."""
        if slices.are(parts.base):
            return []
        body = [unit for unit in parts.base if unit.repeats]
        marks = [self.marks.marks[unit.first] for unit in body]
        plain = len({mark.name for mark in marks}) > 3  # cycle-7 is another cycle-8
        heads = Counter((mark.at, units.plain(mark.name) if plain else mark.name) for mark in marks)
        result = []
        for (at, name), count in heads.most_common(3):
            if at == "site":
                sites = [site for site in self.all_sites if site[0] == self.place] if self.place else []
            else:
                function = "MPI_Pcontrol" if at == "pcontrol" else name if at == "collective" else None
                sites = [site for site in self.all_sites if site[1] == function and 2 * site[3] >= count]
            places = [self.lines.get(site[0], "at 0x" + site[0]) for site in sites[:3]]
            what = name if at in ("collective", "site") else f"{at} {name}"
            result.append(f"  begins with: {what}" + (f", {' or '.join(places)}" if places else ""))
        return result


def kinds_of(parts):
    """A line for each kind of what repeats, and one for the rest."""
    base, kind = parts.base, units.kinds(parts.base)
    whole = sum(unit.x for unit in base)
    groups = {}
    for unit in base:
        groups.setdefault(kind.get(unit.number, ""), []).append(unit)
    result = [f"  {'kind':<12} {'units':>7} {'share':>8}   each"]
    for number, name in enumerate([name for name in groups if name], 1):
        if number > MOST:
            result.append(f"  ... and {len(groups) - number} kinds more")
            break
        result.append(row(f"kind {number}", groups[name], whole))
    return result + ([row("not repeated", groups[""], whole)] if "" in groups else [])


def row(name, group, whole):
    xs = [unit.x for unit in group]
    text = " to ".join(dict.fromkeys(seconds_text(x) for x in (min(xs), max(xs))))
    return f"  {name:<12} {len(group):>7} {100 * sum(xs) / whole:>6.3g} %   {text}"


def strata_of(parts, options):
    """What a sample would do with them."""
    current = sequence.start(parts, options.seed, options.budget)
    whole = sum(unit.x for unit in parts)
    certain = sum(parts[number].x for number in current.certain)
    why = Counter(current.certain.values())
    least = sequence.least(parts)
    result = [f"sample: {len(parts)} units, {min(100 * least, 100):.3g} % of the run in the fine model at least"
              + (": too few to save anything" if least > WORTH else ""),
              f"  certain: {len(current.certain)}, {100 * certain / whole:.3g} % of the time ("
              + ", ".join(f"{what}: {count}" for what, count in why.items()) + ")"]
    return result + [f"  {stratum.name}: {len(stratum.units)} units, {100 * stratum.x / whole:.3g} % of the time, {len(stratum.zones)} drawn at first"
                     for stratum in current.strata]


def write(parts, path):
    """Which unit is of which kind."""
    kind = units.kinds(parts.base)
    names = {name: f"kind {i}" for i, name in enumerate(dict.fromkeys(kind.values()), 1)}
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["unit", "first_mark", "last_mark", "name", "kind", "cheap_s"])
        for unit in parts.base:
            table.writerow([unit.number, unit.first, unit.last, unit.name, names.get(kind.get(unit.number), "not repeated"), repr(unit.x)])


def tell(found, parts, how, options):
    if options.report:
        os.makedirs(options.report, exist_ok=True)
        write(parts, os.path.join(options.report, "units.csv"))
    repeating = sum(unit.repeats for unit in parts.base)
    how = re.sub(r", (\S+) at 0x[0-9a-f]+", r", \1", how)  # begins() names the line
    which = "" if slices.are(parts.base) else f", of which {repeating} repeat"
    print("\n".join([*found.seen(), f"units: {len(parts.base)}{which} ({how})", *found.begins(parts), *kinds_of(parts),
                     *strata_of(parts, options)]))


def marks_of(path):
    try:
        with open(path, encoding="utf-8") as file:
            written = file.readline(40) == "# parfocal-marks 1\n"
        marks = files.read_marks(path) if written else None
    except OSError as error:
        raise Problem(f"--units={path}: {error.strerror}") from None
    except (LookupError, TypeError, ValueError):
        marks = None
    if not marks or len(marks.marks) < 2:
        raise Problem(f"--units={path}: not a file that PARFOCAL_MARKS wrote")
    return marks


def of_file(path, words):
    """Units by a file of marks; the words after it may name the program, for lines of its source."""
    found = Found(marks_of(path), words[0] if words else "")
    options = command_line.Options()
    try:
        parts, how = units.from_marks(found.marks.marks)
    except Problem:
        place = units.place(found.marks.sites)
        if place:
            print("\n".join(found.seen()))
            raise Problem(f"--units: the marks have no structure; a run with PARFOCAL_MARKS_AT=site:{place} may give some that have "
                          f"({found.lines.get(place, 'a place that all ranks pass equally often')})") from None
        parts, how = of_slices(found)
    tell(found, sequence.grouped(parts, options)[0], how, options)


def of_slices(found):
    try:
        return slices.of(found.marks)[:2]
    except Problem:
        print("\n".join(found.seen()))
        raise


def of_program(bindir, words, structure):
    """Units of a program, which is run in the cheap model."""
    _, available = versions(bindir)
    options = command_line.from_arguments(["-sample", "2%", *words], available)
    with tempfile.TemporaryDirectory(prefix="parfocal-units-") as folder:
        runs = Runs(options, os.path.join(bindir, "pfrun"), folder)
        runs.cheap(shown=False)
        found = Found(runs.marks, options.app[0])
        try:
            parts, how = structure(options, runs)
        except Problem:
            print("\n".join(found.seen()))
            raise
        if not slices.are(parts.base):  # whose marks are ours
            found.place = runs.marks.at.partition(":")[2]
            found.marks = runs.marks
        tell(found, parts, how, options)
        for line in runs.told:
            print(f"  {line}")


def tell_units(bindir, arguments, structure):
    """`arguments` begin with --units or --units=FILE."""
    path, words = arguments[0].partition("=")[2], arguments[1:]
    words = words[1:] if words[:1] == ["--"] else words
    try:
        if path:
            of_file(path, words)
        else:
            of_program(bindir, words, structure)
    except Problem as problem:
        raise Problem(str(problem).replace("-sample: ", "--units: ", 1)) from None
    return 0
