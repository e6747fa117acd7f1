# SPDX-License-Identifier: BSD-3-Clause
"""Reads what the OSU micro-benchmarks and the Intel MPI Benchmarks (IMB-MPI1) print; several outputs may follow each other.

Where they give a size of each rank's part, the whole vector counts here; of several times that of the slowest rank."""
import re

from pffit.cell import COLLECTIVES, INTS, PARTS, Cell, Refused, number

OTHER_NAMES = {"broadcast": "bcast", "all-to-all personalized exchange": "alltoall", "all-to-allv personalized exchange": "alltoallv",
               "latency": "pingpong"}
OSU_TITLE = re.compile(r"# OSU MPI\S* (.+?)(?: Latency)? Test\b")
IMB_TITLE = re.compile(r"# Benchmarking (\S+)")
IMB_RANKS = re.compile(r"# #processes = (\d+)")
TIMES = ("Max Latency(us)", "Avg Latency(us)", "Latency (us)", "t_max[usec]", "t[usec]")  # the first that is there


def benchmark(text, where):
    name = OTHER_NAMES.get(text.lower(), text.lower())
    if name not in COLLECTIVES:
        raise Refused(f"{where}: benchmark '{text}' is not one of: {', '.join(sorted(COLLECTIVES))}")
    return name


def time_column(line, where):
    """Which word of a row is the time; `line` names the columns."""
    columns = re.split(r"\s{2,}", line.strip().removeprefix("# "))
    if line.lstrip().startswith("#bytes") or line.lstrip().startswith("#rep"):  # IMB's columns have one space between them
        columns = line.split()
    for name in TIMES:
        if name in columns:
            return columns.index(name)
    raise Refused(f"{where}: no time in microseconds among the columns {', '.join(columns)}")


def row(words, column, name, nodes, where):
    """The cell of a row; none for collectives of no bytes."""
    size = 0 if name == "barrier" else number(words[0], "size", where, True)
    if size == 0 and name not in ("barrier", "pingpong"):
        return None
    return Cell(2 if name == "pingpong" else nodes, name, "default", size * (nodes if name in PARTS - INTS else 1), number(words[column], "time", where))


def read(lines, path, nodes):
    """(where, cell) of all rows. `nodes`: how many there were, which OSU does not print; 0 where it is not known."""
    cells, name, column = [], None, None
    for i, line in enumerate(lines, 1):
        where, words = f"{path}:{i}", line.split()
        title, ranks = OSU_TITLE.match(line) or IMB_TITLE.match(line), IMB_RANKS.match(line)
        if title:
            name, column = benchmark(title[1], where), None
        elif ranks:
            nodes = int(ranks[1])
            if nodes < 2:
                raise Refused(f"{where}: a collective of one rank tells nothing: IMB-MPI1 -npmin 2")
        elif re.match(r"# \( *\d+ groups of", line):
            raise Refused(f"{where}: several groups at once (-multi) cannot be used")
        elif name and (re.match(r"# (Size|Avg)\b", line) or re.match(r"\s*#(bytes|repetitions)\b", line)):
            column = time_column(line, where)
        elif name and column is not None and len(words) > column and re.fullmatch(r"[\d.]+", words[0]):
            if not nodes:
                raise Refused(f"{path}: OSU's output does not say how many nodes there were: add -- -np N")
            cell = row(words, column, name, nodes, where)
            cells += [(where, cell)] if cell else []
        elif line.strip() and not line.lstrip().startswith("#"):
            raise Refused(f"{where}: '{line.strip()}' is no row of a benchmark's output" + ("" if column is not None else ", and no line before names columns"))
    return cells
