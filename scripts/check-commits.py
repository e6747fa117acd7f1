#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Commit subjects: at most 72 characters, a capital, no full stop, and the imperative as far as a word's end shows it.

check-commits.py [--since COMMIT]    the commits since COMMIT, by default since the rule was made
check-commits.py --message FILE      one message: what the hook commit-msg does (scripts/setup.sh develop)
check-commits.py --install           makes that hook, unless there is one
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RULE_MADE = "a0ac6095"
LONGEST = 72
NO_IMPERATIVE = re.compile(r"^(Added|Adds|Fixed|Fixes|Changed|Changes|Removed|Removes|Updated|Updates|Made|Makes|Moved|Moves)\b|^\w+ing\b")
IMPERATIVE = re.compile(r"^(Bring|Ring|String|Ping)\b")
BY_GIT = re.compile(r"^(Merge|Revert|fixup!|squash!|amend!) ?")


def objections(subject):
    if BY_GIT.match(subject):
        return
    if len(subject) > LONGEST:
        yield f"{len(subject)} characters, at most {LONGEST} are allowed"
    if not subject[:1].isupper():
        yield "the first letter is not a capital"
    if subject.endswith("."):
        yield "it ends with a full stop"
    if NO_IMPERATIVE.match(subject) and not IMPERATIVE.match(subject):
        yield "the first word is no imperative"


def git(*arguments):
    """What git prints; None where that is no repository, or there is no git."""
    if not shutil.which("git"):
        return None
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def subjects(since):
    """Of the commits since then; none where there is no history: an archive, a shallow clone."""
    log = git("log", "--no-merges", "--format=%h %s", f"{since}..HEAD")
    return [line.split(" ", 1) for line in (log or "").splitlines()]


def first_line(name):
    with open(name, encoding="utf-8") as file:
        return next((line.strip() for line in file if line.strip() and not line.startswith("#")), "")


def install():
    folder = git("rev-parse", "--git-path", "hooks")
    if folder is None:
        return
    hook = os.path.join(ROOT, folder.strip(), "commit-msg")
    if not os.path.exists(hook):
        os.makedirs(os.path.dirname(hook), exist_ok=True)
        with open(hook, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nexec "$(git rev-parse --show-toplevel)/scripts/check-commits.py" --message "$1"\n')
        os.chmod(hook, 0o755)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", default=RULE_MADE)
    parser.add_argument("--message")
    parser.add_argument("--install", action="store_true")
    options = parser.parse_args()
    if options.install:
        install()
        return 0
    commits = [["message", first_line(options.message)]] if options.message else subjects(options.since)
    wrong = [f"{commit}: {why}: {subject}" for commit, subject in commits for why in objections(subject)]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
