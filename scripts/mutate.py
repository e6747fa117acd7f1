#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which lines no test guards: breaks the sources in one place at a time, and runs the tests that should notice.

Usage: mutate.py [options] FILE[:FUNCTION]...    or    mutate.py [options] --since REV    (the lines that differ from REV)
A mutant is one condition negated, one operator or number replaced, one statement dropped. The tests are those of the file's folder
(tests/by-folder.tsv), most direct first, or those of --tests; the first that fails kills the mutant. What survives is shown
by file and line: there a test is missing, or the mutant means the same (that remains to be judged).

All happens in a copy of the tree with a build of its own (--directory, by default build-mutate, kept for the next run); only what
the tests need is built. Ends with status 1 when a mutant survives, 2 when nothing can be said: the tests fail without any mutant.
"""
import argparse
import bisect
import collections
import fcntl
import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOMS = ("base", "loader", "lowlevel", "adapters", "middleware", "tools")

TOKEN = re.compile(r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)|(?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)|(?P<name>[A-Za-z_]\w*)
    |(?P<operator><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|[^\s\w])""", re.VERBOSE | re.DOTALL | re.MULTILINE)
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "true": "false", "false": "true"}
SIGNS = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}
OPENING, CLOSING = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "do", "else", "case", "goto", "default"}

Token = collections.namedtuple("Token", "kind text start end")
Mutant = collections.namedtuple("Mutant", "path line column function what start end text")


class Source:
    """The tokens of a C file; `partner` has for each bracket the other one."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens, at = [], 0
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise ValueError(f"{path}: cannot read it at offset {at}")
            if match.lastgroup not in ("skip", "directive"):
                self.tokens.append(Token(match.lastgroup, match[0], at, match.end()))
            at = match.end()
        self.lines = [0] + [m.end() for m in re.finditer("\n", text)]
        self.partner, stack = {}, []
        for i, token in enumerate(self.tokens):
            if token.text in OPENING:
                stack.append(i)
            elif token.text in CLOSING and stack:
                self.partner[i] = stack.pop()
                self.partner[self.partner[i]] = i

    def at(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def line(self, offset):
        return bisect.bisect_right(self.lines, offset)

    def bodies(self):
        """(name, first token, last token) of each function: a block behind a list of parameters, outside of any other."""
        i = 0
        while i < len(self.tokens):
            if self.at(i) == "{" and i in self.partner:
                head = self.partner.get(i - 1)
                if self.at(i - 1) == ")" and head and self.tokens[head - 1].kind == "name":
                    yield self.at(head - 1), i, self.partner[i]
                i = self.partner[i]
            i += 1

    def statement_end(self, i):
        """The semicolon that ends the statement which begins at token i, None for what is no simple statement."""
        while i < len(self.tokens):
            if self.at(i) == ";":
                return i
            if self.at(i) in "{}":
                return None
            i = self.partner.get(i, i) + 1 if self.at(i) in OPENING else i + 1
        return None

    def begins_statement(self, i):
        if self.at(i - 1) in ("{", "}", "else", "do"):
            return True
        if self.at(i - 1) == ";":  # not inside the head of a for
            return not self.in_brackets(i)
        if self.at(i - 1) == ")":
            return self.at(self.partner.get(i - 1, 0) - 1) in ("if", "for", "while")
        return self.at(i - 1) == ":" and self.at(i - 3) in ("case", "") or self.at(i - 2) == "default"

    def in_brackets(self, i):
        """Is the innermost bracket around token i a round or a square one?"""
        depth = 0
        for k in range(i - 1, -1, -1):
            if self.at(k) in CLOSING:
                depth += 1
            elif self.at(k) in OPENING:
                if depth == 0:
                    return self.at(k) != "{"
                depth -= 1
        return False

    def dropped(self, i):
        """What the simple statement at token i is, if it can be dropped: '' when it cannot."""
        end = self.statement_end(i)
        if end is None:
            return ""
        first = self.at(i)
        if first in ("break", "continue"):
            return first
        if first in ("++", "--"):
            return "step"
        if first in KEYWORDS or self.tokens[i].kind != "name" and first not in ("*", "("):
            return ""
        k = i + 1 if first == "*" else i
        while k < end:  # a chain of names, members, elements and calls
            if self.tokens[k].kind == "name" and self.at(k + 1) not in ("->", ".", "[", "("):
                k += 1
                break
            if self.at(k) in OPENING:
                k = self.partner[k] + 1
                if self.at(k) in ("->", ".", "[", "("):
                    continue
                break
            k += 1
        if k == end:
            return "call" if self.at(end - 1) == ")" else ""
        if self.at(k) in ("++", "--"):
            return "step"
        return "assignment" if re.fullmatch(r"[-+*/%&|^]?=|<<=|>>=", self.at(k)) else ""

    def mutants(self, wanted=None):
        """All mutants, in the order of the text; `wanted`: of one function."""
        found = []
        for name, first, last in self.bodies():
            if wanted in (None, name):
                for i in range(first + 1, last):
                    found += self.mutants_at(i, name)
        return found

    def mutants_at(self, i, function):
        token = self.tokens[i]

        def mutant(what, start, end, text):
            line = self.line(token.start)
            return Mutant(self.path, line, token.start - self.lines[line - 1] + 1, function, what, start, end, text)

        if self.begins_statement(i):
            what = self.dropped(i)
            if what:
                last = self.tokens[self.statement_end(i)]
                shown = " ".join(self.text[token.start:last.end].split())
                yield mutant(f"{what} dropped: {shown}", token.start, last.end, ";")
        binary = self.tokens[i - 1].kind in ("name", "number") and self.at(i - 1) not in KEYWORDS or self.at(i - 1) in (")", "]")
        if token.text in SWAPS:
            yield mutant(f"{token.text} becomes {SWAPS[token.text]}", token.start, token.end, SWAPS[token.text])
        elif token.text in SIGNS and binary:
            yield mutant(f"{token.text} becomes {SIGNS[token.text]}", token.start, token.end, SIGNS[token.text])
        elif token.text in ("if", "while") and i + 1 in self.partner:
            opening, closing = self.tokens[i + 1], self.tokens[self.partner[i + 1]]
            condition = " ".join(self.text[opening.start:closing.end].split())
            yield mutant(f"{token.text} negated: {condition}", opening.start, closing.end,
                         f"(!{self.text[opening.start:closing.end]})")
        elif token.kind == "number" and re.fullmatch(r"\d+", token.text):
            other = "1" if token.text == "0" else "0" if token.text == "1" else str(int(token.text) + 1)
            yield mutant(f"{token.text} becomes {other}", token.start, token.end, other)


def changed_lines(revision):
    """{file: lines} of the rooms that differ from a revision."""
    command = ["git", "diff", "-U0", "--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/", revision, "--", *ROOMS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"mutate: --since {revision}: {done.stderr.strip()}")
    text = done.stdout
    lines, path = {}, None
    for line in text.splitlines():
        if line.startswith("+++ "):
            path = line[6:] if line.startswith("+++ b/") and line.endswith((".c", ".h")) else None
        match = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)
        if match and path:
            first, count = int(match[1]), int(match[2] or 1)
            lines.setdefault(path, set()).update(range(first, first + count))
    return lines


def chosen(options):
    """All mutants that were asked for, {file: text}."""
    found, texts = [], {}
    for what in options.what:
        if not os.path.isfile(what.partition(":")[0]):
            sys.exit(f"mutate: {what}: no such file")
    wanted = [(os.path.relpath(os.path.abspath(name), ROOT), function or None) for name, _, function in
              (what.partition(":") for what in options.what)]
    lines = changed_lines(options.since) if options.since else {}
    wanted += [(path, None) for path in sorted(lines)]
    for path, function in wanted:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            texts[path] = file.read()
        mutants = Source(path, texts[path]).mutants(function)
        if function and not mutants:
            sys.exit(f"mutate: {path}: nothing to change in a function {function}")
        found += [m for m in mutants if path not in lines or m.line in lines[path]]
    return found, texts


def sources():
    """Names of all files that are no products, as git knows them, or where there is no git by their folders."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        return listed.stdout.split("\0")
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name != ".git" and not (folder == ROOT and name.startswith("build"))]
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in files]
    return found


class Tree:
    """The copy of the sources, and its build."""

    def __init__(self, directory, jobs, patience):
        self.source, self.build = os.path.join(directory, "tree"), os.path.join(directory, "build")
        self.jobs, self.patience, self.seconds = jobs, patience, {}
        os.makedirs(self.source, exist_ok=True)
        self.lock = open(os.path.join(directory, "lock"), "w", encoding="utf-8")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.copy()
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            self.command(["meson", "setup", self.build, self.source, "-Dtests=true"])
        self.targets, self.tests = self.introspect("targets"), self.introspect("tests")

    def copy(self):
        """Writes only what differs, so that ninja builds only that."""
        names = {name for name in sources() if os.path.isfile(os.path.join(ROOT, name))}
        for folder, _, files in os.walk(self.source):
            for name in files:
                if os.path.relpath(os.path.join(folder, name), self.source) not in names:
                    os.unlink(os.path.join(folder, name))
        for name in names:
            here, there = os.path.join(ROOT, name), os.path.join(self.source, name)
            with open(here, "rb") as file:
                data = file.read()
            if os.path.exists(there):
                with open(there, "rb") as file:
                    if file.read() == data:
                        continue
            os.makedirs(os.path.dirname(there), exist_ok=True)
            with open(there, "wb") as file:
                file.write(data)
            shutil.copymode(here, there)

    def write(self, path, text):
        with open(os.path.join(self.source, path), "w", encoding="utf-8") as file:
            file.write(text)

    def command(self, words):
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode:
            print(done.stdout[-3000:] + f"\nmutate: {' '.join(words)} failed", file=sys.stderr)
            sys.exit(2)

    def introspect(self, what):
        with open(os.path.join(self.build, "meson-info", f"intro-{what}.json"), encoding="utf-8") as file:
            return json.load(file)

    def needs(self, tests):
        """The ninja targets behind these tests: all, for one that runs more than a program of its own."""
        made = {target["id"]: target["filename"][0] for target in self.targets}
        wanted = set()
        for test in self.tests:
            if test["name"] in tests:
                program = os.path.realpath(test["cmd"][0])
                if not program.startswith(os.path.realpath(self.build) + os.sep):
                    return []
                wanted |= {os.path.relpath(path, self.build) for path in [program, *(made[name] for name in test["depends"])]}
        return sorted(wanted)

    def make(self, targets):
        return subprocess.run(["ninja", "-C", self.build, f"-j{self.jobs}", *targets], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace")

    def test(self, name):
        """'ok', 'failed' or 'timed out': after ten times the time that the test takes without a mutant, and some more."""
        declared = next(test["timeout"] for test in self.tests if test["name"] == name) or 30
        limit = self.patience + 10 * self.seconds[name] if name in self.seconds else 4 * declared
        begun = time.monotonic()
        done = subprocess.run(["meson", "test", "-C", self.build, "--no-rebuild", "--num-processes", "1", "--timeout-multiplier",
                               str(limit / declared), name], env={"MALLOC_PERTURB_": "0", **os.environ}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace")
        self.seconds.setdefault(name, time.monotonic() - begun)
        if re.search(r"^Timeout: *[1-9]", done.stdout, re.MULTILINE):
            return "timed out"
        return "failed" if done.returncode else "ok"


def tests_of(tree, path, options):
    """The tests that guard a file, most direct first."""
    if options.tests:
        return options.tests.split(",")
    spec = importlib.util.spec_from_file_location("tests_for", os.path.join(ROOT, "scripts", "tests-for.py"))
    tests_for = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tests_for)
    folders, names = tests_for.table(), [test["name"] for test in tree.tests]
    patterns = folders.get(tests_for.row_of(path, folders), [])
    found = list(dict.fromkeys(name for pattern in patterns for name in tests_for.fnmatch.filter(names, pattern)))
    if not found:
        sys.exit(f"mutate: no test is named for {path} (tests/by-folder.tsv); name some with --tests")
    return found


def judge(tree, mutant, texts, tests, targets):
    """What has become of a mutant, and by which test."""
    text = texts[mutant.path]
    tree.write(mutant.path, text[:mutant.start] + mutant.text + text[mutant.end:])
    try:
        if tree.make(targets).returncode:
            return "did not build", ""
        for name in tests:
            answer = tree.test(name)
            if answer != "ok":
                return ("killed" if answer == "failed" else answer), name
        return "SURVIVED", ""
    finally:
        tree.write(mutant.path, text)


def run(tree, mutants, texts, options):
    tests = {path: tests_of(tree, path, options) for path in texts}
    targets = {path: tree.needs(tests[path]) for path in texts}
    for path in texts:
        done = tree.make(targets[path])
        bad = [name for name in tests[path] if done.returncode == 0 and name not in tree.seconds and tree.test(name) != "ok"]
        bad += [done.stdout[-3000:]] if done.returncode else []
        if bad:
            print(f"mutate: without any mutant, this fails: {', '.join(bad)}", file=sys.stderr)
            sys.exit(2)
    fates = collections.Counter()
    survivors = collections.defaultdict(set)
    for mutant in mutants:
        fate, test = judge(tree, mutant, texts, tests[mutant.path], targets[mutant.path])
        fates[fate] += 1
        if fate == "SURVIVED":
            survivors[mutant.path].add(mutant.line)
        print(f"{fate:<13} {describe(mutant)}" + (f"  [{test}]" if test else ""), flush=True)
    for path, lines in survivors.items():
        print(f"no test guards {path}: " + ", ".join(map(str, sorted(lines))))
    print(f"{len(mutants)} mutants: {fates['killed']} killed, {fates['timed out']} timed out, {fates['did not build']} did not build, "
          f"{fates['SURVIVED']} survived")
    return 1 if survivors else 0


def describe(mutant):
    return f"{mutant.path}:{mutant.line}:{mutant.column} {mutant.function}(): {mutant.what[:120]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="FILE[:FUNCTION]")
    parser.add_argument("--since", metavar="REV", help="the lines of the working tree that differ from this revision")
    parser.add_argument("--count", type=int, default=0, help="so many of the mutants only, by chance (default: all)")
    parser.add_argument("--seed", type=int, default=None, help="which ones")
    parser.add_argument("--tests", help="names of tests, separated by commas, instead of those of the folder")
    parser.add_argument("--list", action="store_true", help="only list the mutants")
    parser.add_argument("--directory", default=os.path.join(ROOT, "build-mutate"), help="of the copy and its build")
    parser.add_argument("--jobs", type=int, default=2, help="of ninja")
    parser.add_argument("--patience", type=float, default=10, metavar="SECONDS", help="with a mutant, beyond ten times the usual")
    options = parser.parse_args()
    if not options.what and not options.since:
        parser.error("name a file, or --since a revision")
    mutants, texts = chosen(options)
    every = len(mutants)
    if options.count and options.count < every:
        seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1000000)
        mutants = [mutants[i] for i in sorted(random.Random(seed).sample(range(every), options.count))]
        print(f"mutate: {options.count} of {every} mutants, --seed {seed}", flush=True)
    if options.list or not mutants:
        print("\n".join(describe(mutant) for mutant in mutants) or "mutate: nothing to change")
        return 0
    touched = {mutant.path for mutant in mutants}
    tree = Tree(os.path.abspath(options.directory), options.jobs, options.patience)
    return run(tree, mutants, {path: text for path, text in texts.items() if path in touched}, options)


if __name__ == "__main__":
    sys.exit(main())
