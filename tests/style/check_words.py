#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pages, messages and comments use the field's words (docs/glossary.md) and name the actor: none of tests/style/words.tsv.

Messages are the text of calls that print or end a run, in C and Python; comments are those of C sources. Code spans and blocks
are names, not words.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIST = os.path.join(ROOT, "tests/style/words.tsv")
SOURCES = ("adapters", "base", "loader", "lowlevel", "middleware", "openshmem", "tools")
NOT_PAGES = ("tests/", "docs/glossary.md", "docs/changes.md")  # the last two list the words
PROGRAMS = ("examples", "experiments", "tests")  # whose messages are not the project's own
C_SOURCES = (".c", ".cpp", ".h")
KINDS = {"pages": {"page"}, "messages": {"page", "message"}, "comments": {"page", "message", "comment"}, "sources": {"comment"}}
PRINTS = re.compile(r"\b(pf_die|pf_warn|play_die|fail|refuse|die|say|fputs|f?printf|sys\.exit|print|Problem|CopyFailed|flag)\s*\(")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|(/\*.*?\*/|//[^\n]*)', re.S)


def words():
    """[(pattern, instead, kinds of text)]"""
    with open(LIST, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    return [(re.compile(r"(?<![\w-])" + pattern + r"(?![\w-])", re.I), instead, KINDS[where]) for pattern, instead, where in rows]


def files():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build")) and f != "__pycache__"
                            and not os.path.exists(os.path.join(folder, f, "build.ninja")))
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), ROOT)


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def page_text(text):
    """The text without code, at the same lines."""
    keep = lambda match: re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"^```.*?^```$", keep, text, flags=re.M | re.S)
    text = re.sub(r"^    .*$", keep, text, flags=re.M)
    return re.sub(r"`[^`]+`|\]\([^)]*\)", keep, text)


def call_text(text, start):
    """The literals of a call's arguments, joined as the compiler joins them."""
    depth, end = 1, start
    while end < len(text) and depth:
        literal = LITERAL.match(text, end) if text[end] == '"' else None
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end = literal.end() if literal else end + 1
    return "".join(LITERAL.findall(text[start:end]))


def comments(text):
    """(where it begins, a comment on one line, without code spans)"""
    for match in COMMENT.finditer(text):
        if match.group(1):
            yield match.start(), re.sub(r"`[^`]+`", " ", re.sub(r"\s*\n\s*(?:\* ?)?", " ", match.group(1)))


def texts():
    """(name, line, text, kind)"""
    for name in files():
        if name.endswith(".md") and not name.startswith(NOT_PAGES) or re.search(r"^docs/man/.*\.(1|h2m)$", name):
            yield from ((name, number, line, "page") for number, line in enumerate(page_text(read(name)).splitlines(), 1))
        elif re.search(r"^base/\w+\.def$|^tools/.*/options\.(c|py)$", name):
            for number, line in enumerate(read(name).splitlines(), 1):
                yield from ((name, number, literal, "message") for literal in LITERAL.findall(line))
        elif name.startswith(SOURCES) and name.endswith((*C_SOURCES, ".py")) or name.startswith(PROGRAMS) and name.endswith(C_SOURCES):
            text = read(name)
            found = [(m.start(), call_text(text, m.end()), "message") for m in PRINTS.finditer(text) if name.startswith(SOURCES)]
            if name.endswith(C_SOURCES):
                found += ((start, comment, "comment") for start, comment in comments(text))
            yield from ((name, text.count("\n", 0, start) + 1, words, kind) for start, words, kind in found)


def main():
    listed, wrong, messages = words(), 0, 0
    for name, line, text, kind in texts():
        messages += kind == "message" and " " in text
        for pattern, instead, kinds in listed:
            found = pattern.search(text) if kind in kinds else None
            if found:
                print(f"{name}:{line}: '{found.group()}' is not used here: {instead}")
                wrong += 1
    if messages < 500:
        print("check_words: hardly any message was found")
        wrong += 1
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
