#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the words of all text that ships: pages, manual, descriptions of settings, help.

count-words.py [COMMIT]     without a commit: the files of the checkout

Generated pages (settings, manual pages by help2man) are counted once, in what they are generated from.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = re.compile(r"^(?!tests/data/).*\.md$|^docs/man/.*\.(1|h2m)$")
HELP = re.compile(r"^base/(config|options)\.def$|^tools/.*/(options|pfinfo|pfreplay|pfnetd)\.(c|def|py)$")
WORD = re.compile(r"\S*\w\S*")  # not the bars of tables
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=True).stdout


def read(commit, name):
    if commit:
        return git("show", f"{commit}:{name}")
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def count(commit):
    """{folder: words}"""
    names = git("ls-tree", "-r", "--name-only", commit) if commit else git("ls-files", "-co", "--exclude-standard")
    words = {}
    for name in names.splitlines():
        if not (commit or os.path.exists(os.path.join(ROOT, name))):
            continue
        if PAGE.match(name):
            folder = name.split("/")[0] if "/" in name else name
            words[folder] = words.get(folder, 0) + len(WORD.findall(read(commit, name)))
        elif HELP.match(name):
            literals = " ".join(LITERAL.findall(read(commit, name)))
            words["help"] = words.get("help", 0) + len(WORD.findall(literals.replace("\\n", " ")))
    return words


def main():
    words = count(sys.argv[1] if sys.argv[1:] else None)
    for folder in sorted(words, key=words.get, reverse=True):
        print(f"{words[folder]:7} {folder}")
    print(f"{sum(words.values()):7} in all")


if __name__ == "__main__":
    main()
