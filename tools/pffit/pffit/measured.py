# SPDX-License-Identifier: BSD-3-Clause
"""Reads measured collectives: a table with tabs, or what a benchmark prints."""
import statistics

from pffit import benchmarks
from pffit.cell import COLLECTIVES, Cell, Refused, number

NEEDED = {"nodes", "collective", "algorithm", "bytes", "median_us"}
KNOWN = NEEDED | {"system", "ranks_per_node", "library", "mean_us", "min_us", "p90_us", "iterations", "remark"}
CONTRADICTION = 2  # the same cell twice, so many times as long


def collective(text, where):
    name = text.lower()
    if name not in COLLECTIVES:
        raise Refused(f"{where}: collective '{text}' is not one of: {', '.join(sorted(COLLECTIVES))}")
    return name


def check_columns(columns, path):
    for column in columns:
        if column not in KNOWN:
            unit = column.rpartition("_")[2]
            hint = ": times are in microseconds, median_us" if unit in ("s", "ms", "ns") else ": a tab goes between columns" if "," in column else f" (known: {', '.join(sorted(KNOWN))})"
            raise Refused(f"{path}: unknown column '{column}'{hint}")
    missing = NEEDED - set(columns)
    if missing:
        raise Refused(f"{path}: no column '{min(missing)}'")


def table(lines, path, system):
    numbered = [(i, line) for i, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    columns = numbered[0][1].split("\t") if numbered else []
    check_columns(columns, path)
    rows = []
    for i, line in numbered[1:]:
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
        if not row["bytes"]:
            raise Refused(f"{where}: the size (bytes) is missing")
        nodes, per_node = number(row["nodes"], "nodes", where, True), number(row.get("ranks_per_node", "1"), "ranks_per_node", where, True)
        if nodes * per_node < 2:
            raise Refused(f"{where}: nodes {nodes}, ranks_per_node {per_node}: a collective of one rank tells nothing")
        cells.append((where, Cell(nodes, collective(row["collective"], where), row["algorithm"].removesuffix("_ompi") or "default",
                                  number(row["bytes"], "bytes", where, True), number(row["median_us"], "median_us", where), per_node)))
    return cells


def merged(cells):
    """The median of each cell; a contradiction is refused."""
    times = {}
    for where, cell in cells:
        times.setdefault(cell._replace(us=0), []).append((cell.us, where))
    for found in times.values():
        found.sort()
        if found[-1][0] > CONTRADICTION * found[0][0]:
            raise Refused(f"{found[-1][1]}: {found[-1][0]:g} us, but {found[0][0]:g} us at {found[0][1]} for the same cell")
    return [key._replace(us=statistics.median(us for us, _ in found)) for key, found in times.items()]


def read(path, system="", nodes=0, largest=None):
    try:
        with open(path, encoding="utf-8-sig") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"cannot read '{path}': {error}") from None
    if not lines:
        raise Refused(f"{path} is empty")
    printed = any(benchmarks.OSU_TITLE.match(line) or benchmarks.IMB_TITLE.match(line) for line in lines)
    cells = merged(benchmarks.read(lines, path, nodes) if printed else table(lines, path, system))
    cells = [cell for cell in cells if largest is None or cell.bytes <= largest]
    if not cells:
        raise Refused(f"{path} has no cells")
    return cells
