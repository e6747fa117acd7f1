#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names what was skipped and what failed in a run of `meson test`, one line each: whole tests, and parts of them, which meson does
not see: of bats, Python's unittest, and cmocka.

Usage: skipped.py MESON-LOGS/testlog.json
"""
import json
import re
import sys

# In the output of a test: what was skipped, and why.
PARTS = (
    re.compile(r"^ok \d+ (?P<what>.*?) +# skip *(?P<why>.*)$", re.MULTILINE | re.IGNORECASE),
    re.compile(r"^(?P<what>.*) \.\.\. skipped (?P<why>.*)$", re.MULTILINE),
    re.compile(r"^\[  SKIPPED \] (?P<what>\w+)(?P<why>)$", re.MULTILINE),
)
# The end of a unittest that was not verbose: only the number is known.
UNNAMED = re.compile(r"^(?:OK|FAILED) \((?:.*, )?skipped=(\d+)", re.MULTILINE)
# The parts that failed.
FAILURES = re.compile(r"^(?:not ok \d+|(?:FAIL|ERROR):|\[  FAILED  \]) +(?!(?:tests: )?\d+ test)(.*)$", re.MULTILINE)


def output(test):
    return test.get("stdout", "") + "\n" + test.get("stderr", "")


def failed(test):
    """What failed, of one entry of the log."""
    if test["result"] in ("OK", "EXPECTEDFAIL", "SKIP"):
        return []
    return list(dict.fromkeys(FAILURES.findall(output(test)))) or [test["result"].lower()]


def skipped(test):
    """Pairs of what and why, from one entry of the log."""
    text = output(test)
    if test["result"] == "SKIP":
        return [("all of it", (text.split("\n\n")[0].strip() or "it does not say why").splitlines()[-1])]
    found = list(dict.fromkeys((match["what"], match["why"]) for part in PARTS for match in part.finditer(text)))
    unnamed = sum(int(number) for number in UNNAMED.findall(text))
    return found + [("a part that it does not name", "")] * (unnamed - len(found))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    with open(sys.argv[1]) as log:
        for test in map(json.loads, log):
            for what, why in skipped(test):
                print(f"skipped: {test['name']}: {what}{' (' + why + ')' if why else ''}")
            for what in failed(test):
                print(f"failed: {test['name']}: {what}")


if __name__ == "__main__":
    main()
