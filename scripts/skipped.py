#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names what was skipped in a run of `meson test`, one line each: whole tests, and parts of those that passed, which meson does
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


def skipped(test):
    """Pairs of what and why, from one entry of the log."""
    text = test.get("stdout", "") + "\n" + test.get("stderr", "")
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


if __name__ == "__main__":
    main()
