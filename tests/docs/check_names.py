#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the pages name must exist: link targets and their headings, files, functions, configuration variables.

A file is a code span that begins with a top folder; a function is a code span `name()`; a variable is PARFOCAL_ and capitals
anywhere in a page, also in blocks, unless the page shows the warning that it is unknown.
"""
import os
import re
import sys

import pages

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = (".c", ".h", ".cpp", ".py", ".in", ".tsv", ".def")
FOLDERS = ("adapters", "base", "docs", "examples", "experiments", "lowlevel", "middleware", "scripts", "tests", "tools")

VARIABLE = re.compile(r"\bPARFOCAL_[A-Z][A-Z0-9_]*[A-Z0-9]\b(?!\*)")
PATH = re.compile(r"^(?:\./)?((?:" + "|".join(FOLDERS) + r")/[\w./+-]*)$")
CALL = re.compile(r"^(\w+)\(\)$")


def known_variables():
    with open(os.path.join(ROOT, "base/config.def"), encoding="utf-8") as file:
        fields = re.findall(r"^PF_CFG\(\w+, (\w+),", file.read(), re.MULTILINE)
    if len(fields) < 20:
        sys.exit("check_names: cannot read the configuration table any more")
    return {"PARFOCAL_" + field.upper() for field in fields}


def known_words():
    """Every identifier of the sources."""
    words = set()
    for folder in FOLDERS:
        for path, _, files in os.walk(os.path.join(ROOT, folder)):
            for name in files:
                if name.endswith(SOURCES):
                    with open(os.path.join(path, name), encoding="utf-8") as file:
                        words.update(re.findall(r"\w+", file.read()))
    return words


def wrong_links(page, by_name):
    for line, target in page.links():
        if re.match(r"[a-z]+:", target):
            continue  # another site: not our machine's business
        path, _, anchor = target.partition("#")
        name = os.path.normpath(os.path.join(os.path.dirname(page.name), path)) if path else page.name
        if not os.path.exists(os.path.join(ROOT, name)):
            yield line, f"link to {target}: there is no {name}"
        elif anchor and (name not in by_name or anchor not in by_name[name].anchors()):
            yield line, f"link to {target}: {name} has no such heading"


def wrong_spans(page, words):
    for line, span in page.code_spans():
        path, call = PATH.match(span), CALL.match(span)
        if path and not os.path.exists(os.path.join(ROOT, path.group(1))):
            yield line, f"there is no {path.group(1)}"
        if call and re.sub("^pf_P?(?=P?MPI_)", "", call.group(1)) not in words:  # generated wrappers: by MPI's name
            yield line, f"no source has a function {call.group(1)}()"


def wrong_variables(page, variables):
    text = page.prose + [(block.line + i, line) for block in page.blocks for i, line in enumerate(block.lines, 1)]
    for line, content in text:
        for name in VARIABLE.findall(content):
            if name not in variables and not is_shown_as_wrong(page, name):
                yield line, f"{name} is not in base/config.def"


def is_shown_as_wrong(page, name):
    """The page shows the warning that this name is unknown."""
    return any("unknown variable " + name in block.text for block in page.blocks)


def missing_models():
    """Each model has its row in README's list and a section, or its stack has, where the model is STACK:NETWORK."""
    sys.path.insert(0, os.path.join(ROOT, "base"))
    import models
    wrong = 0
    for name in dict.fromkeys(model.name.partition(":")[0] for model in models.MODELS):
        for page, text in (("README.md", f"| `{name}` |"), ("docs/models.md", f"\n## {name}\n")):
            with open(os.path.join(ROOT, page), encoding="utf-8") as f:
                if text not in f.read():
                    print(f"{page}: nothing about model {name}: {text.strip()}")
                    wrong += 1
    return wrong


def main():
    all_pages = pages.find(ROOT)
    by_name = {page.name: page for page in all_pages}
    words, variables = known_words(), known_variables()
    wrong = 0
    for page in all_pages:
        for line, why in [*wrong_links(page, by_name), *wrong_spans(page, words), *wrong_variables(page, variables)]:
            print(f"{page.name}:{line}: {why}")
            wrong += 1
    links = sum(len(page.links()) for page in all_pages)
    wrong += missing_models()
    if links < 10:
        print("check_names: hardly any link was found")
        wrong += 1
    print(f"{len(all_pages)} pages, {links} links, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
