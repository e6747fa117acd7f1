# SPDX-License-Identifier: BSD-3-Clause
"""pfinfo --units: the units of a program, as pfrun -sample finds them, without a sample."""
import csv
import os
import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import replace

from pfcurve.curve import seconds_text
from pfcurve.errors import Problem
from pfcurve.main import versions

from . import options as command_line
from . import plan, thresholds, units
from .runs import Runs

MOST = 12  # lines of a list
LIBRARY = 40  # bits of an address, above which stands the number of a library


def lines_of(program, addresses):
    """{address: "file.c:12 (function)"} of call sites of the program, as far as addr2line knows them. Addresses are those of markers: hexadecimal, and
    where the call returns to. Of an inlined function, both lines are given."""
    own = [address for address in addresses if not int(address, 16) >> LIBRARY]
    if not own:
        return {}
    try:
        done = subprocess.run(["addr2line", "-a", "-i", "-C", "-f", "-s", "-e", program, *(hex(int(address, 16) - 1) for address in own)],
                              capture_output=True, text=True, errors="replace", timeout=300, check=False)
    except (OSError, subprocess.SubprocessError):
        return {}
    result = {}
    for address, answer in zip(own, re.split(r"^0x[0-9a-f]+\n", done.stdout, flags=re.M)[1:]):
        words = answer.splitlines()
        frames = [f"{line.split(' ')[0]} ({function})" if not line.startswith(("?", ":")) else f"in {function}"
                  for function, line in zip(words[::2], words[1::2]) if not function.startswith("?")]
        if frames:
            result[address] = " from ".join(frames[:2])
    return result


def seen(markers, lines):
    """Markers and call sites, whether or not they make units."""
    kinds = Counter(marker.at for marker in markers.all[1:-1])
    text = ", ".join(f"{count} {at}" for at, count in kinds.items()) or "none"
    result = [f"markers: {text}; {markers.ranks} ranks, {seconds_text(markers.all[-1].date)} of simulated time"]
    result += [f"  not all ranks pass each {at}: not taken" for at in markers.unequal]
    equal = sorted((site for site in markers.sites if site[2] == site[3]), key=lambda site: -site[2])
    if markers.sites:
        result.append(f"call sites that all ranks pass equally often: {len(equal)}, other call sites: {len(markers.sites) - len(equal)}")
        result += [f"  {count:>8} x {function:<18} {lines[address]}" for address, function, count, _ in equal[:MOST]] + ["  ..."] * (len(equal) > MOST)
    return result


def report(parts, found, options):
    """A line for each kind of what recurs, and one for the rest."""
    base, kind, groups, least = parts.base, units.kinds(parts.base), {}, plan.least(parts)
    names = {name: f"kind {i}" for i, name in enumerate(dict.fromkeys(kind.values()), 1)}
    kinds = {unit.number: names.get(kind.get(unit.number), "not repeated") for unit in base}
    for unit in sorted(base, key=lambda unit: not unit.repeats):
        groups.setdefault(kinds[unit.number], []).append(unit.x)
    if options.report:
        os.makedirs(options.report, exist_ok=True)
        with open(os.path.join(options.report, "units.csv"), "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["unit", "first_marker", "last_marker", "name", "kind", "cheap_s"],
                                        *([unit.number, unit.first, unit.last, unit.name, kinds[unit.number], repr(unit.x)] for unit in base)])
    whole = sum(unit.x for unit in base)
    lines, more = [f"  {name:<12} {len(xs):>7} {100 * sum(xs) / whole:>6.3g} %   " + " to ".join(dict.fromkeys(seconds_text(x) for x in (min(xs), max(xs))))
                   for name, xs in groups.items()], [f"  ... and {len(groups) - MOST} kinds more"]
    return [f"units: {len(base)}, of which {sum(unit.repeats for unit in base)} repeat ({found})", f"  {'kind':<12} {'units':>7} {'share':>8}   each",
            *lines[:MOST], *more * (len(lines) > MOST),
            f"sample: {min(100 * least, 100):.3g} % of the run in the fine model at least" + (": too few units to save anything" if least > thresholds.MOST_SAMPLED else "")]


def of_program(bindir, given, structure):
    """Prints the units of a program, which is run in the cheap model."""
    _, available = versions(bindir)
    options = command_line.checked(given, available)
    with tempfile.TemporaryDirectory(prefix="parfocal-units-") as folder:
        runs = Runs(options, os.path.join(bindir, "pfrun"), folder)
        runs.cheap(shown=False)
        first, sites = runs.markers, runs.markers.sites
        lines = {site[0]: f"at 0x{site[0]}" for site in sites} | lines_of(options.app[0], [site[0] for site in sites])
        try:
            parts, found = structure(options, runs)
        except Problem:
            print("\n".join(seen(first, lines)))
            raise
        found = re.sub(r"at 0x([0-9a-f]+)", lambda match: lines[match[1]], found)
        print("\n".join([*seen(replace(runs.markers, sites=sites), lines), *report(parts, found, options), *(f"  {line}" for line in runs.notes)]))


def report_units(bindir, given, structure):
    try:
        of_program(bindir, given, structure)
    except Problem as problem:
        raise Problem(str(problem).replace("-sample: ", "--units: ", 1)) from None
    return 0
