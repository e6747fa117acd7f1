#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Link cycles: files that can only be linked together, because each uses, over some others, a symbol of each.

Usage: check_cycles.py [--edges | --rooms | --arrows FROM TO] BUILD

Reads the objects of a build with nm: which one defines a symbol, and which use it. Prints the strongly connected components, largest first, and
the arrows between the rooms of middleware/ that point upwards, by symbols and by includes (what a header defines inline leaves no symbol),
and ends with status 1 when there is such an arrow or when a cycle is longer than LIMITS allows. Lower these when you can; do not raise them. Calls through pointers are not seen: a table of functions, filled in at
start-up, is how something calls what stands above it.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys

# The most files that one cycle may have, by the folder in which all of them lie; the longest that fits counts. 1: no cycle.
LIMITS = {
    "": 1,
    "lowlevel/engine": 3,  # C and C++ of one object, and the paths that its events carry
    "middleware": 1,
    "middleware/check": 5,
    "middleware/datatype": 2,
    "middleware/p2p": 5,
    "middleware/process": 6,
}
# The rooms of the middleware, lowest first: a file uses its own room and those before it.
ROOMS = ["account", "core", "compute", "summary", "object", "datatype", "agree", "comm", "p2p", "topology", "rma", "io", "check", "sampling", "process", "observing", "fortran", "ompi_abi"]


# A library that no other one is linked with: programs of the standard ABI call the middleware through its names, which belong to
# SimGrid elsewhere in the process. And what goes into programs, under names of the C library.
APART = ("middleware/abi_entries.c", "middleware/ompi_abi/layer.c", "middleware/ompi_abi/ompi_entries.c", "tools/pfcc/pfwaits.c")


def objects(root, build):
    """(source, library, object) of each object of the product: what tests compile for themselves does not count, and what was
    generated counts as a file of the folder for which it was."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    for command in commands:
        built = os.path.join(build, command["output"])
        source = os.path.normpath(os.path.join(command["directory"], command["file"]))
        name = os.path.relpath(source, build if source.startswith(build + os.sep) else root)
        ours = os.path.isdir(os.path.join(root, os.path.dirname(name))) and not command["output"].startswith(("tests/", "examples/"))
        if ours and name not in APART and os.path.exists(built):
            yield name, os.path.dirname(command["output"]), built


def symbols(built):
    """What these objects define and use: {object: (defined, used)}."""
    done = subprocess.run(["nm", "-A", "-f", "posix", *built], capture_output=True, text=True, check=True)
    found = {name: (set(), set()) for name in built}
    for line in done.stdout.splitlines():
        name, rest = line.split(": ", 1)
        symbol, kind = rest.split()[:2]
        if kind in "Uvw":
            found[name][1].add(symbol)
        elif kind.isupper():
            found[name][0].add(symbol)
    return found


def read_links(root, build):
    """{file: {file that it uses: symbols}}. Of several that define a name, those of the same library, else of the same folder."""
    parts = list(objects(root, build))
    if not parts:
        sys.exit(f"check_cycles: no objects in {build}: build first")
    tables = symbols([built for _, _, built in parts])
    owners = collections.defaultdict(list)
    for source, library, built in parts:
        for symbol in tables[built][0]:
            owners[symbol].append((source, library))
    links = {source: collections.defaultdict(set) for source, _, _ in parts}
    for source, library, built in parts:
        for symbol in tables[built][1]:
            near = ([o for o, other in owners[symbol] if other == library] or
                    [o for o, _ in owners[symbol] if o.split("/")[0] == source.split("/")[0]] or [o for o, _ in owners[symbol]])
            for owner in near:
                if owner != source:
                    links[source][owner].add(symbol)
    return links


def components(links):
    """The strongly connected components of more than one file (Tarjan 1972, without recursion), largest first."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for start in sorted(links):
        work = [(start, None)] if start not in index else []
        while work:
            node, rest = work.pop()
            if rest is None:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
                rest = iter(sorted(links[node]))
            for other in rest:
                if other not in index:
                    work += [(node, rest), (other, None)]
                    break
                if other in on_stack:  # low of a finished child, too: it is at most its index
                    low[node] = min(low[node], low[other])
            else:
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    cut = stack.index(node)
                    found += [sorted(stack[cut:])] if len(stack) - cut > 1 else []
                    on_stack.difference_update(stack[cut:])
                    del stack[cut:]
    return sorted(found, key=lambda files: (-len(files), files))


def place_of(files):
    return os.path.commonpath([os.path.dirname(name) for name in files])


def limit(place):
    return LIMITS[max((f for f in LIMITS if f in ("", place) or place.startswith(f + "/")), key=len)]


def show(files, links, with_symbols):
    """A component and its edges."""
    place = place_of(files)
    print(f"{place or 'several top folders'}: a cycle of {len(files)} files, at most {limit(place)}")
    for name in files:
        uses = [other for other in files if other in links[name]]
        print(f"  {os.path.relpath(name, place or '.')} -> " + ", ".join(os.path.relpath(other, place or ".") for other in uses))
        for other in uses if with_symbols else []:
            print(f"      {os.path.relpath(other, place or '.')}: {' '.join(sorted(links[name][other]))}")


def room_of(name):
    parts = name.split("/")
    return parts[1] if parts[0] == "middleware" and len(parts) == 3 else None


def arrows_of(links):
    """(room, room that it uses, file, file, symbols), for different rooms."""
    for source in sorted(links):
        for owner in sorted(links[source]):
            a, b = room_of(source), room_of(owner)
            if a and b and a != b:
                yield a, b, source, owner, " ".join(sorted(links[source][owner]))


def includes(root):
    """The same arrows for what a source or header of a room includes."""
    for room in ROOMS:
        folder = os.path.join(root, "middleware", room)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if name.endswith((".c", ".cpp", ".h")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    for other in re.findall(r'^#include "(middleware/[^"]*)"', file.read(), re.M):
                        if room_of(other) in ROOMS and room_of(other) != room:
                            yield room, room_of(other), f"middleware/{room}/{name}", other, "an include"


def show_rooms(arrows):
    """Pairs of files by rooms: the row uses the column. What is right of the diagonal points upwards."""
    counts = collections.Counter((a, b) for a, b, *_ in arrows)
    print(" " * 11 + "".join(f"{room[:9]:>10}" for room in ROOMS))
    for a in ROOMS:
        print(f"{a:11}" + "".join(f"{counts[a, b] or '-':>10}" for b in ROOMS))


def check(links, root, with_symbols):
    arrows, found = [*arrows_of(links), *includes(root)], components(links)
    wrong = [files for files in found if len(files) > limit(place_of(files))]
    for files in found:
        show(files, links, with_symbols)
    unknown = {room_of(name) for name in links} - set(ROOMS) - {None}
    for room in sorted(unknown):
        print(f"middleware/{room} has no place in the order of rooms: ROOMS in {os.path.basename(__file__)}")
    upwards = [arrow for arrow in arrows if unknown.isdisjoint(arrow[:2]) and ROOMS.index(arrow[0]) < ROOMS.index(arrow[1])]
    for a, b, source, owner, names in upwards:
        print(f"{a} points upwards to {b}: {source} -> {owner}: {names}")
    print(f"{sum(map(len, found))} of {len(links)} files are in {len(found)} cycles, {len(wrong)} of which are too long; "
          f"{len(upwards)} arrows between rooms point upwards")
    return bool(wrong or unknown or upwards)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD", help="build directory")
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."), help="the sources")
    parser.add_argument("--edges", action="store_true", help="with the symbols")
    parser.add_argument("--rooms", action="store_true", help="only the table of arrows between the rooms of middleware/")
    parser.add_argument("--arrows", nargs=2, metavar=("FROM", "TO"), help="only the files and symbols behind an entry of that table")
    options = parser.parse_args()
    links = read_links(os.path.realpath(options.root), os.path.realpath(options.build))
    if options.rooms:
        return show_rooms(arrows_of(links))
    if options.arrows:
        for a, b, source, owner, names in arrows_of(links):
            if [a, b] == options.arrows:
                print(f"{source} -> {owner}: {names}")
        return 0
    return check(links, options.root, options.edges)


if __name__ == "__main__":
    sys.exit(main())
