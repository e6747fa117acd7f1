#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the rules for sources that no compiler checks. Each rule is a function that yields what it objects to.

Usage: check-sources.py [--root DIRECTORY] [--build DIRECTORY] [RULE...]     (all rules without; the names are below)
Prints one line per objection, "file:line: rule: what", and ends with status 1 when there is any.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

TOPS = ["base", "loader", "lowlevel", "adapters", "middleware", "tools", "examples", "experiments", "tests", "scripts", "docs", ".ci"]
NEEDS_README = [top for top in TOPS if not top.startswith(".")]
# Each layer may include what stands before it, and of the adapters only their interface from above: the analytic model's
# libraries without MPI among it, whose tables the tools print and whose parameters they fit.
LAYERS = ["base", "loader", "lowlevel", "adapters", "middleware", "tools"]
ADAPTERS_INTERFACE = ["adapters/adapter.h", "adapters/predefined.h", "adapters/envelope.h", "adapters/model.h",
                      "adapters/analytic/cost/cost.h", "adapters/analytic/cost/parameters/fit.h", "adapters/analytic/coll/coll.h", "adapters/analytic/replay/program.h"]
# Adapters are siblings: none includes another, but each may what they share, which includes none of them.
ADAPTERS_SHARED = "local"
# The folders of the largest room, lowest first, and above them the room itself.
ROOM = "adapters/analytic"
ROOM_ORDER = [f"{ROOM}/{folder}" for folder in (
    "cost/parameters", "cost/routes", "cost", "coll/algorithms", "coll/evaluate", "coll", "engine", "p2p", "collective", "comm",
    "rma/memory", "rma/nic", "rma/pt2pt", "rma")] + [ROOM]
# Files of the middleware that may name one MPI implementation: the start of a job.
NAMES_IMPLEMENTATIONS = ["middleware/process/job.c"]
MAX_LINES = 1000
MAX_README = 30
# Data that have no lines of their own to hold to a limit: one row per MPI function.
LONG_TABLES = (".tsv", ".expected", ".svg", ".csv", ".json", ".xml")
CODE = (".c", ".h", ".cpp", ".cc", ".def", ".py", ".sh", ".bash", ".bats", ".in")
C_CODE = (".c", ".h", ".cpp", ".cc", ".def")
# Sources as other projects write them, which the tests feed to the wrappers.
FOREIGN = ["tests/cli/pfcc/projects/"]
# What an application sees: (header, directories it is found in).
PUBLIC_HEADERS = [
    ("middleware/include/mpi.h", ["middleware/include", "{build}/tools/pfcc/include"]),
    ("middleware/include/parfocal.h", []),
    ("lowlevel/portals/include/portals4.h", []),
    ("lowlevel/portals/runtime.h", ["lowlevel/portals/include", "."]),
    ("lowlevel/job/include/parfocal_portals.h", ["lowlevel/portals/include"]),
    ("lowlevel/job/support/support.h", ["lowlevel/portals/include"]),
]
SYSTEM_PATHS = ["usr", "etc", "proc", "dev", "sys", "bin", "lib", "lib64", "var", "run", "opt", "no", "nowhere"]


class Tree:
    """The files of a source tree, as git knows them (new ones included) or, without git, as they lie there."""

    def __init__(self, root, build):
        self.root, self.build, self.texts = root, build, {}
        self.files = sorted(f for f in self.listing() if f.split("/")[0] in TOPS or "/" not in f)

    def listing(self):
        if os.path.exists(os.path.join(self.root, ".git")) and shutil.which("git"):
            done = subprocess.run(["git", "-C", self.root, "ls-files", "--cached", "--others", "--exclude-standard"],
                                  capture_output=True, text=True)
            if done.returncode == 0:
                return [f for f in set(done.stdout.splitlines()) if os.path.isfile(os.path.join(self.root, f))]
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = [f for f in folders if f not in (".git", "__pycache__") and not f.startswith("build")]
            found += [os.path.relpath(os.path.join(folder, name), self.root) for name in names]
        return found

    def text(self, name):
        if name not in self.texts:
            with open(os.path.join(self.root, name), encoding="utf-8", errors="replace") as f:
                self.texts[name] = f.read()
        return self.texts[name]

    def sources(self, endings):
        return [f for f in self.files if f.endswith(endings) and not f.startswith(tuple(FOREIGN))]


def check_spdx(tree):
    """Every source says its licence in one of its first three lines."""
    for name in tree.sources(CODE) + [f for f in tree.files if os.path.basename(f) in ("meson.build", "Snakefile")]:
        if not name.startswith(tuple(FOREIGN)) and "SPDX-License-Identifier: " not in "\n".join(
                tree.text(name).split("\n", 3)[:3]):
            yield f"{name}:1", "no SPDX-License-Identifier"


def check_length(tree):
    """No file is too long to read."""
    for name in tree.files:
        lines = tree.text(name).count("\n") if not name.endswith(LONG_TABLES) and name != "LICENSE" else 0
        if lines > MAX_LINES:
            yield f"{name}:{lines}", f"{lines} lines, at most {MAX_LINES}"


def check_readme(tree):
    """Each top folder explains itself, briefly."""
    for top in NEEDS_README:
        name = top + "/README.md"
        if any(f.startswith(top + "/") for f in tree.files) and name not in tree.files:
            yield f"{top}:1", "no README.md"
        elif name in tree.files and not 2 <= tree.text(name).count("\n") <= MAX_README:
            yield f"{name}:1", f"{tree.text(name).count(chr(10))} lines, but a title, a text and at most {MAX_README} are due"


def check_opening(tree):
    """Each implementation file of a layer opens with a comment that says what it is for."""
    for name in tree.files:
        if name.split("/")[0] in LAYERS and name.endswith((".c", ".cpp")):
            lines = tree.text(name).splitlines()
            if len(lines) < 2 or not lines[1].startswith("/*"):
                yield f"{name}:2", "no comment says what the file is for"


def check_threads(tree):
    """All ranks share one thread, so that thread-local state has no owner. Programs of ranks may have it, and what serves their threads."""
    serving = {*(f"middleware/process/libc_{name}.c" for name in ("openmp", "folder", "proc")), "tools/pfrun/room.c"}
    for name in tree.sources(C_CODE):
        if name.startswith(("tests/e2e/process/", "tests/e2e/abi/")) or name in serving:
            continue
        for number, line in enumerate(code_lines(tree.text(name)), 1):
            if re.search(r"\b(__thread|_Thread_local|thread_local)\b", line):
                yield f"{name}:{number}", "thread-local state, although all ranks share one thread"


def check_memory(tree):
    """Memory comes from base/memory.h, or the next lines look at what malloc() and its like have answered."""
    for name in tree.sources(C_CODE):
        if name.split("/")[0] not in LAYERS or "/glue/" in name or "/support/" in name or name == "base/memory.h":
            continue
        lines = list(code_lines(tree.text(name)))
        for number, line in enumerate(lines, 1):
            if re.search(r"[=(] *(malloc|calloc|realloc|reallocarray|strn?dup|v?asprintf)\(", line) and not re.search(r"!|\?|&& ", "".join(lines[number - 1:number + 3])):
                yield f"{name}:{number}", "the result is not checked; pf_malloc() and its like do that"


def check_includes(tree):
    """Includes point downwards only, and not to another adapter."""
    for name in tree.sources(C_CODE):
        layer = name.split("/")[0]
        if layer not in LAYERS:
            continue
        for number, line in enumerate(tree.text(name).splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
            if match:
                target = resolve(tree, name, match[1])
                wrong = include_fault(layer, target) or sibling_fault(name, target) or folder_fault(name, target)
                if wrong:
                    yield f"{name}:{number}", wrong


def resolve(tree, name, target):
    """The included file relative to the root, where it is one of ours."""
    near = os.path.normpath(os.path.join(os.path.dirname(name), target))
    return near if near in tree.files or target.startswith(".") else target


def include_fault(layer, target):
    other = target.split("/")[0]
    if other not in TOPS or "/" not in target:
        return None  # of the system, or generated
    if other not in LAYERS:
        return f"{layer}/ includes {target}, which is no part of the product"
    if LAYERS.index(other) > LAYERS.index(layer):
        return f"{layer}/ includes {target}, which stands above it"
    if other == "adapters" and layer != "adapters" and target not in ADAPTERS_INTERFACE:
        return f"{layer}/ includes {target}; of the adapters only {' and '.join(ADAPTERS_INTERFACE)}"
    return None


def sibling_fault(name, target):
    own, other = name.split("/"), target.split("/")
    if own[0] != "adapters" or other[0] != "adapters" or len(own) < 3 or len(other) < 3:
        return None  # what stands above the folders, and the interface between them, is for all
    if other[1] in (own[1], ADAPTERS_SHARED):
        return None
    return f"adapters/{own[1]} includes {target} of another adapter; they share adapters/{ADAPTERS_SHARED} only"


def folder_fault(name, target):
    own, other = os.path.dirname(name), os.path.dirname(target)
    if own in ROOM_ORDER and other.startswith(ROOM) and (other not in ROOM_ORDER or ROOM_ORDER.index(other) > ROOM_ORDER.index(own)):
        return f"{own} includes {target}, which stands above it"
    return None


def check_capabilities(tree):
    """The middleware asks what an implementation can do (struct pf_native_values), not which one it is."""
    for name in tree.sources(C_CODE):
        if not name.startswith("middleware/") or name.startswith(tuple(NAMES_IMPLEMENTATIONS)):
            continue
        for number, line in enumerate(code_lines(tree.text(name)), 1):
            match = re.search(r"\bPF_IMPL_(?!COUNT\b)\w+", line)
            if match:
                yield f"{name}:{number}", f"{match[0]}: ask for a capability (adapters/adapter.h) instead of one implementation"


def check_private(tree):
    """What a dependency has no header for stands in one folder, by version, and nowhere else."""
    simgrid = re.compile(r"\b_ZN\w*7simgrid\w*|^ *namespace simgrid\b.*")
    openmpi = re.compile(r'"(?:lib(?:mpi|open-\w+)\.so|(?:ompi|opal|orte)_)\w*')
    for name in tree.sources(C_CODE):
        rules = [simgrid] * (name.split("/")[0] in LAYERS and not name.startswith("lowlevel/simgrid/"))
        rules += [openmpi] * (name.startswith("adapters/openmpi/") and not name.startswith("adapters/openmpi/private/"))
        for number, line in enumerate(code_lines(tree.text(name), strings=True), 1):
            for match in filter(None, (rule.search(line) for rule in rules if not re.match(r"\s*#\s*include", line))):
                yield f"{name}:{number}", f"{match[0]} belongs to the header of a version (lowlevel/simgrid/, adapters/openmpi/private/)"


def check_paths(tree):
    """Nothing depends on a developer's folder."""
    path = re.compile(r"""(?:^|(?<=[\s"'=(:<`,]))/([A-Za-z][\w.-]*)/([\w.-]+)""")
    for name in tree.files:
        if name.endswith((".tsv", ".expected")):
            continue
        for number, line in enumerate(tree.text(name).splitlines(), 1):
            for match in path.finditer(line.removeprefix("#!")):
                template = match[1] == "tmp" and "XXXXXX" in match[2]
                if match[1] not in SYSTEM_PATHS and not template:
                    yield f"{name}:{number}", f"absolute path {match[0]}"


def check_headers(tree):
    """Every public header compiles by itself as C and as C++."""
    for header, folders in PUBLIC_HEADERS:
        if header not in tree.files:
            continue
        missing = [f for f in (f.format(build=tree.build) for f in folders if "{build}" in f) if not os.path.isdir(f)]
        if missing:
            yield f"{header}:1", f"there is no {missing[0]}: run 'meson setup build && ninja -C build' first, or pass --build DIRECTORY"
            continue
        include = ["-I" + os.path.join(tree.root, f.format(build=tree.build)) for f in folders]
        for tool, options in compilers():
            command = [tool, *options, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *include,
                       "-include", os.path.join(tree.root, header), "-"]
            done = subprocess.run(command, input="", capture_output=True, text=True)
            if done.returncode:
                yield f"{header}:1", f"does not compile alone with {tool} {options[-1]}: {first_error(done.stderr)}"


def compilers():
    for tool, language, standard in (("gcc", "c", "c99"), ("gcc", "c", "c11"), ("g++", "c++", "c++11"),
                                     ("clang", "c", "c99"), ("clang++", "c++", "c++17")):
        if shutil.which(tool):
            yield tool, ["-x", language, "-std=" + standard]


def first_error(text):
    return next((line for line in text.splitlines() if "error" in line), text.strip())


def code_lines(text, strings=False):
    """The lines of a C file without comments, and without strings unless they are wanted."""
    blank = lambda match: match[0] if strings and match[0][0] == '"' else "\n" * match[0].count("\n")
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S).split("\n")


RULES = {name[len("check_"):]: function for name, function in list(globals().items()) if name.startswith("check_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="rules:\n" + "\n".join(f"  {n}: {f.__doc__}" for n, f in RULES.items()))
    parser.add_argument("rules", nargs="*", metavar="RULE", help=", ".join(RULES))
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument("--root", default=here, help="top of the source tree")
    parser.add_argument("--build", help="build directory, for generated headers (default: ROOT/build)")
    options = parser.parse_args()
    unknown = set(options.rules) - set(RULES)
    if unknown:
        parser.error(f"no rule {', '.join(sorted(unknown))}")
    tree = Tree(os.path.abspath(options.root), os.path.abspath(options.build or os.path.join(options.root, "build")))
    if not tree.files:
        parser.error(f"no sources in {options.root}")
    faults = [(where, rule, what) for rule in options.rules or RULES for where, what in RULES[rule](tree)]
    for where, rule, what in faults:
        print(f"{where}: {rule}: {what}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
