# SPDX-License-Identifier: BSD-3-Clause
"""Readers of the trace formats. Each raises Wrong with the reason when a file is not what the format wants."""
import csv
import json
import os
import re
import shlex
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "base"))
import models  # noqa: E402

COLUMNS = ["type", "initiator_nid", "initiator_rank", "target_nid", "target_rank", "start", "end", "bytes", "wire_bytes",
           "attempt", "outcome", "model", "phase", "call", "from_model"]
MESSAGES = ["put", "get", "get response", "atomic", "fetch-atomic", "fetch-atomic response", "swap", "swap response",
            "Portals ACK", "BXI ACK"]
STEPS = ["PIO payload", "DMA payload", "DMA request", "PCIe payload write", "PCIe event", "PCIe command"]
RANK = ["compute", "MPI call", "switch"]
MODELS = ("analytic", "smpi", "portals")


class Wrong(Exception):
    pass


def demand(condition, why):
    if not condition:
        raise Wrong(why)


def read_csv(path):
    """The lines as dictionaries with numbers in place of their texts."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
        file.seek(0)
        demand(next(csv.reader(file)) == COLUMNS, "csv: other columns")
    latest = 0.0
    for row in rows:
        demand(None not in row and None not in row.values(), f"csv: too many or too few fields: {row}")
        demand(row["type"] in MESSAGES + STEPS + RANK, f"csv: type {row['type']}")
        demand(row["outcome"] in ("done", "lost", "unfinished"), f"csv: outcome {row['outcome']}")
        for name in ("start", "end"):
            row[name] = float(row[name])
        row["bytes"] = int(row["bytes"])
        demand(0 <= row["start"] <= row["end"], f"csv: it ends before it starts: {row}")
        demand(row["end"] >= latest, f"csv: not in the order of the ends: {row}")
        demand((row["type"] in MESSAGES) == bool(row["attempt"]), f"csv: attempt {row}")
        demand((row["type"] in RANK) == bool(row["phase"]) == (row["model"] in MODELS), f"csv: phase or model {row}")
        demand((row["type"] == "MPI call") == row["call"].startswith("MPI_"), f"csv: call {row}")
        demand((row["type"] == "switch") == (row["from_model"] in MODELS), f"csv: from_model {row}")
        demand(row["type"] != "switch" or row["start"] == row["end"], f"csv: a switch that takes time {row}")
        latest = row["end"]
    check_ranks(rows)
    return rows


def check_ranks(rows):
    """Calls and what is between them follow each other without a gap, but for what has no trace: before MPI_Init."""
    last = {}
    for row in rows:
        if row["type"] in ("MPI call", "compute"):
            rank = row["initiator_rank"]
            demand(row["start"] == last.get(rank, row["start"]), f"csv: not where the last one of the rank ended: {row}")
            last[rank] = row["end"]


def read_chrome(path):
    """The bars ("X") and the marks ("i"). Bars of one row may not overlap; every arrow ends, inside a bar, after it has begun."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    bars = [e for e in events if e["ph"] == "X"]
    begins = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    marks = [e for e in events if e["ph"] == "i"]
    named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    demand(all(e["args"]["model"] in e["name"] and e["s"] == "t" for e in marks), "chrome: a mark that is no switch")
    demand(len(marks) + len(bars) + len(begins) + len(ends) + sum(e["ph"] == "M" for e in events) == len(events),
           "chrome: other phases, or two arrows with one number")
    demand({(e["pid"], e["tid"]) for e in events if e["ph"] != "M"} <= named, "chrome: a row without a name")
    demand(begins.keys() == ends.keys(), "chrome: an arrow with one end only")
    for number, end in ends.items():
        demand(begins[number]["ts"] <= end["ts"], f"chrome: arrow {number} goes back in time")
    rows = {}
    for bar in bars:
        demand(bar["dur"] >= 0, f"chrome: {bar}")
        rows.setdefault((bar["pid"], bar["tid"]), []).append((bar["ts"], bar["ts"] + bar["dur"]))
    for row, spans in rows.items():
        spans.sort()
        for before, after in zip(spans, spans[1:]):
            demand(after[0] >= before[1] - 2e-6, f"chrome: {before} and {after} overlap in row {row}")
    return bars, marks


class Paje:
    """Reads the head, then checks every event against the types and containers known so far."""

    def __init__(self, path):
        self.kinds, self.types, self.values, self.containers = {}, {"0": None}, set(), {}
        self.stacks, self.links, self.states, self.finished_links, self.switches, self.clock = {}, {}, 0, 0, 0, 0.0
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        body = self.read_head(lines)
        for number, line in enumerate(lines[body:], body + 1):
            fields = shlex.split(line)
            demand(fields[0] in self.kinds, f"paje:{number}: no definition of event {fields[0]}")
            name, wanted = self.kinds[fields[0]]
            demand(len(fields) == len(wanted) + 1, f"paje:{number}: {name} has {len(fields) - 1} fields")
            self.event(number, name, dict(zip(wanted, fields[1:])))
        demand(not self.links, f"paje: links without an end: {sorted(self.links)[:3]}")
        demand(not any(self.stacks.values()), "paje: states without an end")

    def read_head(self, lines):
        current = None
        for number, line in enumerate(lines):
            if not line.startswith("%"):
                return number
            words = line[1:].split()
            if words[0] == "EventDef":
                current = []
                self.kinds[words[2]] = (words[1], current)
            elif words[0] != "EndEventDef":
                demand(words[1] in ("string", "date", "color", "int", "double"), f"paje:{number + 1}: {line}")
                current.append(words[0])
        raise Wrong("paje: nothing but a head")

    def event(self, number, name, f):
        def known(what, where, kind):
            demand(what in where, f"paje:{number}: {kind} {what} is not known")
        if "Time" in f:
            demand(float(f["Time"]) >= self.clock, f"paje:{number}: goes back in time")
            self.clock = float(f["Time"])
        if name in ("PajeDefineContainerType", "PajeDefineStateType", "PajeDefineEventType", "PajeDefineLinkType"):
            known(f["Type"], self.types, "type")
            self.types[f["Alias"]] = name
        elif name == "PajeDefineEntityValue":
            known(f["Type"], self.types, "type")
            demand(re.fullmatch(r"[01]\S* [01]\S* [01]\S*", f["Color"]), f"paje:{number}: colour {f['Color']}")
            self.check_colour(number, f)
            self.values.add(f["Alias"])
        elif name == "PajeCreateContainer":
            known(f["Type"], self.types, "type")
            demand(f["Container"] == "0" or f["Container"] in self.containers, f"paje:{number}: its container is not known")
            demand(f["Alias"] not in self.containers, f"paje:{number}: made twice")
            self.containers[f["Alias"]] = f["Type"]
        elif name == "PajeDestroyContainer":
            known(f["Name"], self.containers, "container")
        else:
            self.operation(number, name, f, known)

    def check_colour(self, number, f):
        """An MPI call has the colour of its model."""
        model = re.fullmatch(r"MPI_\w+ \((\S+)\)", f["Name"])
        if model:
            wanted = " ".join(f"{int(models.COLOURS[model[1]][i:i + 2], 16) / 255:.3f}" for i in (1, 3, 5))
            demand(f["Color"] == wanted, f"paje:{number}: {f['Name']} has colour {f['Color']}, and not {wanted}")

    def operation(self, number, name, f, known):
        known(f["Type"], self.types, "type")
        known(f["Container"], self.containers, "container")
        if "Value" in f:
            known(f["Value"], self.values, "value")
        if name == "PajePushState":
            self.states += 1
            stack = self.stacks.setdefault(f["Container"], [])
            demand(not stack, f"paje:{number}: two operations in one row at once")
            stack.append(f["Value"])
        elif name == "PajePopState":
            demand(self.stacks.get(f["Container"]), f"paje:{number}: no state to end")
            self.stacks[f["Container"]].pop()
        elif name == "PajeStartLink":
            known(f["StartContainer"], self.containers, "container")
            demand(f["Key"] not in self.links, f"paje:{number}: link {f['Key']} begins twice")
            self.links[f["Key"]] = f["Value"]
        elif name == "PajeEndLink":
            known(f["EndContainer"], self.containers, "container")
            demand(self.links.pop(f["Key"], None) == f["Value"], f"paje:{number}: link {f['Key']} has not begun")
            self.finished_links += 1
        else:
            demand(name == "PajeNewEvent", f"paje:{number}: {name}")
            self.switches += f["Type"] == "Switch"


def read_text(path):
    """The operations: (start, end, rest of the line), in the order of their starts."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    demand(lines[0].split()[:2] == ["start", "end"] and lines[1].split()[:2] == ["us", "us"], "text: another head")
    rows = [(float(line[:14]), float(line[14:29]), line[29:]) for line in lines[2:]]
    demand(all(a[0] <= b[0] for a, b in zip(rows, rows[1:])), "text: not in the order of the starts")
    return rows


def read_svg(path):
    """The tips of the arrows and bars. No two labels may overlap, and nothing may stand outside."""
    root = xml.etree.ElementTree.parse(path).getroot()
    space = "{http://www.w3.org/2000/svg}"
    width, height = float(root.get("width")), float(root.get("height"))
    boxes = []
    for text in root.iter(space + "text"):
        x, y = float(text.get("x")), float(text.get("y"))
        demand(0 <= x <= width and 0 <= y <= height, f"svg: '{text.text}' stands outside")
        if text.get("class") == "label":
            long = 6.0 * len(text.text)
            left = x - long if text.get("text-anchor") == "end" else x
            boxes.append((left, left + long, y - 9, y, text.text))
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            demand(a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2], f"svg: '{a[4]}' is over '{b[4]}'")
    return [title.text for title in root.iter(space + "title")]
