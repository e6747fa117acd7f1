# SPDX-License-Identifier: BSD-3-Clause
"""The Markdown pages of the repository: their lines, code blocks, links and headings."""
import os
import re

LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)")
FENCE = re.compile(r"^```(.*)$")


class Block:
    """A fenced block: its words after the fence, its text, and the line of the page on which it begins."""

    def __init__(self, page, info, line):
        self.page, self.words, self.line = page, info.split(), line
        self.lines = []

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)

    def __str__(self):
        return f"{self.page.name}:{self.line}"


class Page:
    """One file. `prose` has its lines outside of fenced blocks, with their numbers."""

    def __init__(self, root, name):
        self.root, self.name = root, name
        self.prose, self.blocks = [], []
        with open(os.path.join(root, name), encoding="utf-8") as file:
            self._read(file.read().splitlines())

    def _read(self, lines):
        block = None
        for number, line in enumerate(lines, 1):
            fence = FENCE.match(line)
            if fence and block is None:
                block = Block(self, fence.group(1), number)
                self.blocks.append(block)
            elif fence:
                block = None
            elif block is not None:
                block.lines.append(line)
            else:
                self.prose.append((number, line))
        if block is not None:
            raise ValueError(f"{block}: the block has no end")

    def links(self):
        """(line, target) of every link."""
        return [(number, target) for number, line in self.prose for target in LINK.findall(line)]

    def code_spans(self):
        """(line, text) of everything between single backquotes; a span may be broken over two lines."""
        text = "\n".join(line for _, line in self.prose)
        starts = [number for number, _ in self.prose]
        return [(starts[text.count("\n", 0, m.start())], " ".join(m.group(1).split()))
                for m in re.finditer(r"`([^`]+)`", text)]

    def anchors(self):
        """The names under which the headings can be linked, as code hosting sites make them."""
        heads = [line.lstrip("#").strip() for _, line in self.prose if line.startswith("#")]
        return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def find(root):
    """All pages of the repository, without those of build directories."""
    pages = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build")) and f != "__pycache__"
                            and not os.path.exists(os.path.join(folder, f, "build.ninja")))
        pages += [Page(root, os.path.relpath(os.path.join(folder, f), root)) for f in sorted(files) if f.endswith(".md")]
    return pages
