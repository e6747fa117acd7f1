# SPDX-License-Identifier: BSD-3-Clause
"""Reads measured collectives: a table with tabs, or what the OSU benchmarks print."""
import re
import statistics
from collections import namedtuple

Cell = namedtuple("Cell", "nodes collective algorithm bytes us")
COLLECTIVES = {"allreduce", "reduce", "bcast", "alltoall", "allgather", "gather", "scatter", "reduce_scatter", "barrier", "pingpong"}
NEEDED = {"nodes", "collective", "algorithm", "bytes", "median_us"}
KNOWN = NEEDED | {"system", "ranks_per_node", "library", "mean_us", "min_us", "p90_us", "iterations", "remark"}
CONTRADICTION = 2  # the same cell twice, so many times as long
OSU = re.compile(r"# OSU MPI (\S+) Latency Test")


class Refused(Exception):
    """One line for the user."""


def number(text, what, where, whole=False):
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        raise Refused(f"{where}: {what} '{text}' is no {'whole ' if whole else ''}number") from None
    if not 0 <= value < 1e15 or (not whole and value == 0):
        raise Refused(f"{where}: {what} {text} is out of range")
    return value


def collective(text, where):
    name = text.lower()
    if name not in COLLECTIVES:
        raise Refused(f"{where}: collective '{text}' is not one of: {', '.join(sorted(COLLECTIVES))}")
    return name


def check_columns(columns, path):
    for column in columns:
        if column not in KNOWN:
            unit = column.rpartition("_")[2]
            hint = ": times are in microseconds, median_us" if unit in ("s", "ms", "ns") else f" (known: {', '.join(sorted(KNOWN))})"
            raise Refused(f"{path}: unknown column '{column}'{hint}")
    missing = NEEDED - set(columns)
    if missing:
        raise Refused(f"{path}: no column '{min(missing)}'")


def table(lines, path, system):
    columns = lines[0].split("\t")
    check_columns(columns, path)
    rows = []
    for i, line in enumerate(lines[1:], 2):
        where, fields = f"{path}:{i}", line.split("\t")
        if len(fields) != len(columns):
            raise Refused(f"{where}: {len(fields)} fields, but {len(columns)} columns")
        rows.append((where, dict(zip(columns, fields))))
    systems = sorted({row.get("system", "") for _, row in rows})
    if system and system not in systems:
        raise Refused(f"{path}: no system '{system}', but {', '.join(systems)}")
    if not system and len(systems) > 1:
        raise Refused(f"{path} has several systems, {', '.join(systems)}: name one, --fit={path}:{systems[0]}")
    cells = []
    for where, row in rows:
        if system and row["system"] != system:
            continue
        if row.get("ranks_per_node", "1") != "1":
            raise Refused(f"{where}: ranks_per_node {row['ranks_per_node']}: only cells with one rank on each node can be used")
        if not row["bytes"]:
            raise Refused(f"{where}: the size (bytes) is missing")
        cells.append((where, Cell(number(row["nodes"], "nodes", where, True), collective(row["collective"], where), row["algorithm"] or "default",
                                  number(row["bytes"], "bytes", where, True), number(row["median_us"], "median_us", where))))
    return cells


def osu(lines, path, nodes):
    """Several outputs may follow each other. Where OSU gives a size of each rank's part, the whole vector counts here."""
    if not nodes:
        raise Refused(f"{path}: OSU's output does not say how many nodes there were: add -- -np N")
    name, cells = None, []
    for i, line in enumerate(lines, 1):
        title, words = OSU.match(line), line.split()
        if title:
            name = "pingpong" if title[1] == "Latency" else collective(title[1], f"{path}:{i}")
        elif line.startswith("# OSU MPI Latency"):
            name = "pingpong"
        elif name and len(words) >= 2 and words[0].isdigit():
            whole = nodes if name in ("alltoall", "allgather", "gather", "scatter") else 1
            cells.append((f"{path}:{i}", Cell(2 if name == "pingpong" else nodes, name, "default", int(words[0]) * whole, number(words[1], "time", f"{path}:{i}"))))
        elif line.strip() and not line.startswith("#"):
            raise Refused(f"{path}:{i}: '{line.strip()}' is no row of OSU's output")
    return cells


def merged(cells):
    """The median of each cell; a contradiction is refused."""
    times = {}
    for where, cell in cells:
        times.setdefault(cell[:4], []).append((cell.us, where))
    for found in times.values():
        found.sort()
        if found[-1][0] > CONTRADICTION * found[0][0]:
            raise Refused(f"{found[-1][1]}: {found[-1][0]:g} us, but {found[0][0]:g} us at {found[0][1]} for the same cell")
    return [Cell(*key, statistics.median(us for us, _ in found)) for key, found in times.items()]


def read(path, system="", nodes=0, largest=None):
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"cannot read '{path}': {error}") from None
    if not lines:
        raise Refused(f"{path} is empty")
    is_osu = any(line.startswith("# OSU") for line in lines)
    cells = merged(osu(lines, path, nodes) if is_osu else table(lines, path, system))
    cells = [cell for cell in cells if largest is None or cell.bytes <= largest]
    if not cells:
        raise Refused(f"{path} has no cells")
    return cells
