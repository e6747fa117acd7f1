# SPDX-License-Identifier: BSD-3-Clause
"""The files that pfrun writes for samples and reads from them: marks, windows, dates."""
import csv
from dataclasses import dataclass, field

from pfcurve.errors import Problem

from .units import Mark


@dataclass
class Marks:
    marks: list
    at: str = "auto"  # what a run with windows must be told so that numbers mean the same
    unequal: list = field(default_factory=list)  # what not all ranks pass equally often
    sites: list = field(default_factory=list)  # (address, function, least, most)
    ranks: int = 0
    slices: list = field(default_factory=list)  # (calls and bytes of all ranks up to its end, date of its last call)
    calls: int = 0  # that the run had, if slices were its marks
    left: bool = False  # the run ended before the end of the program, because another model may pay


def split(path):
    """(comment lines without #, rows of the table)."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise Problem(f"a run of the sample left no {path}: {error.strerror}") from None
    comments = [line[1:].strip() for line in lines if line.startswith("#")]
    return comments, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def read_marks(path):
    comments, rows = split(path)
    result = Marks([Mark(row["at"], row["name"], float(row["date_s"]), row["signature"], int(row["calls"]), int(row["bytes"]))
                    for row in rows])
    for comment in comments:
        word, _, rest = comment.partition(" ")
        if word == "at":
            result.at = rest
        elif word in ("ranks", "calls"):
            setattr(result, word, int(rest))
        elif word == "left":
            result.left = True
        elif word == "slice":
            calls, sent, date = rest.split()
            result.slices.append((int(calls), int(sent), float(date)))
        elif word == "unequal":
            result.unequal.append(rest)
        elif word == "site":
            address, function, least, most = rest.split()[:4]
            result.sites.append((address, function, int(least), int(most)))
    return result


def write_windows(path, windows):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{first} {last}\n" for first, last in windows)


def merged(spans):
    """Those that meet are one."""
    result = []
    for first, last in sorted(spans):
        if result and first <= result[-1][1]:
            result[-1] = (result[-1][0], max(last, result[-1][1]))
        else:
            result.append((first, last))
    return result


def read_calls(path):
    """How many calls the run had by which slices are counted; 0: unknown."""
    return next((int(comment.split()[1]) for comment in split(path)[0] if comment.startswith("calls ")), 0)


def read_dates(path):
    """({window: {mark: date}}, {window: processor seconds})."""
    comments, rows = split(path)
    dates = {}
    for row in rows:
        dates.setdefault(int(row["window"]), {})[int(row["mark"])] = float(row["date_s"])
    return dates, {int(words[1]): float(words[2]) for words in map(str.split, comments) if words[0] == "cost"}
