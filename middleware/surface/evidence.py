# SPDX-License-Identifier: BSD-3-Clause
"""pf_evidence.h: the programs that tests/coverage/evidence.tsv names for each function, for the coverage table."""

import pathlib

import cfile

EVIDENCE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "coverage" / "evidence.tsv"


def generate(functions):
    return (cfile.header("tests that show that a function works")
            + "/* X(stem of the name, programs of tests/e2e, in the order of the models) */\n"
            + "#define PF_EVIDENCE_LIST(X) \\\n"
            + " \\\n".join(f'    X({f.stem}, "{programs(f.name)}")' for f in functions) + "\n")


def programs(name):
    """One name when it is the same for all models."""
    return ", ".join(dict.fromkeys(rows().get(name, ["-"])))


def rows():
    if not rows.known:
        lines = [line.split("\t") for line in EVIDENCE.read_text().splitlines() if not line.startswith("#")]
        rows.known.update((line[0], line[1:]) for line in lines)
    return rows.known


rows.known = {}
