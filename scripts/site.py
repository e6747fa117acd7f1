#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a site of the documentation: BUILD/docs/site/index.html, to be read without a network.

Usage: site.py BUILD    (a build directory; needs Debian's mkdocs and, for the manual, mandoc)

The pages of docs/ are taken as they are. The README becomes the first page, the settings and the manual are asked of the
tools. A link to a file of the repository that is no page becomes the file's name.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^()\s#]+)(#[^()\s]*)?\)")
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}
MANUAL = ["pfrun", "pfcc", "pfinfo", "pfcurve", "pftune", "pfnet"]


def sources():
    """Path in the repository -> name among the site's pages."""
    found = {f"docs/{name}": name for name in sorted(os.listdir(f"{ROOT}/docs"))
             if name.endswith((".md", ".png", ".svg")) and name != "README.md"}
    for path in glob.glob("docs/results/**", root_dir=ROOT, recursive=True):
        if os.path.isfile(f"{ROOT}/{path}"):
            found[path] = os.path.relpath(path, "docs")
    return {**found, **PAGES}


def relink(path, name, text, pages):
    def replace(match):
        image, words, target, anchor = match.groups()
        if "://" in target:
            return match.group(0)
        there = os.path.normpath(os.path.join(os.path.dirname(path), target))
        if there in pages:
            link = os.path.relpath(pages[there], os.path.dirname(name) or ".")
            return f"{image}[{words}]({link}{anchor or ''})"
        return f"{words} (`{there}`)" if words not in (there, f"`{there}`") else f"`{there}`"

    # mkdocs takes a fence for text when more than a language follows: ours say for the tests what is run.
    return re.sub(r"^(```\w+) \w+$", r"\1", LINK.sub(replace, text), flags=re.M)


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def settings(build):
    """The configuration table, as pfinfo prints it: a line NAME=VALUE, and below it type, default and meaning."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PARFOCAL_")}
    text = subprocess.run([f"{build}/bin/pfinfo", "-c"], check=True, capture_output=True, text=True, env=environment).stdout
    rows = re.findall(r"^(PARFOCAL_\w+)=.*\n +(\w+), default (\"[^\"]*\"|[^\s:]+)(?: (.*?))?: (.*)$", text, re.M)
    if len(rows) != text.count("\nPARFOCAL_") + text.startswith("PARFOCAL_"):
        sys.exit("site: the form of pfinfo -c is another")
    rows = [(*row[:4], re.sub(r"docs/(\w+\.md)", r"[\1](\1)", row[4].replace("|", "\\|"))) for row in rows]
    table = "".join(f"| `{name}` | {kind} | `{default}` {unit} | {meaning} |\n"
                    for name, kind, default, unit, meaning in rows)
    return ("# All settings\n\nWhat `pfinfo -c` prints. The variable `PARFOCAL_NIC_PCIE`, for example, is "
            "`--cfg=parfocal/nic_pcie:` on pfrun's command line ([configuration](configuration.md)).\n\n"
            f"| variable | type | default | meaning |\n|---|---|---|---|\n{table}")


def coverage(build):
    """The table of MPI functions, as pfinfo prints it: columns of fixed width, and a line with the sum."""
    text = subprocess.run([f"{build}/bin/pfinfo", "--coverage"], check=True, capture_output=True, text=True).stdout
    header, *lines, total = text.strip().splitlines()
    starts = [match.start() for match in re.finditer(r"\S+", header)] + [None]
    if len(starts) != 7 or not total[0].isdigit():
        sys.exit("site: the form of pfinfo --coverage is another")
    rows = [[line[a:b].strip() for a, b in zip(starts, starts[1:])] for line in [header, *lines]]
    rows.insert(1, ["---"] * 6)
    return "# All MPI functions\n\nWhat `pfinfo --coverage` prints; [MPI coverage](mpi-coverage.md) explains the words. " \
        f"{total}.\n\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def manual(build, name):
    page = f"{ROOT}/docs/man/{name}.1" if name == "pfcc" else f"{build}/docs/man/{name}.1"
    text = subprocess.run(["mandoc", "-T", "ascii", page], check=True, capture_output=True, text=True).stdout
    text = re.sub(".\b", "", text)
    return f"# {name}\n\n```text\n{text}```\n"


def main():
    if len(sys.argv) != 2 or not os.path.isdir(f"{sys.argv[1]}/bin"):
        sys.exit("Usage: site.py BUILD    (a build directory)")
    build = os.path.abspath(sys.argv[1])
    for tool in ("mkdocs", "mandoc", "help2man"):
        if not shutil.which(tool):
            sys.exit(f"site: {tool} is missing (apt-get install {tool})")
    work = f"{build}/docs"
    shutil.rmtree(f"{work}/pages", ignore_errors=True)
    pages = sources()
    for path, name in pages.items():
        if not path.endswith(".md"):
            os.makedirs(os.path.dirname(f"{work}/pages/{name}"), exist_ok=True)
            shutil.copy(f"{ROOT}/{path}", f"{work}/pages/{name}")
            continue
        with open(f"{ROOT}/{path}", encoding="utf-8") as file:
            write(f"{work}/pages", name, relink(path, name, file.read(), pages))
    write(f"{work}/pages", "settings.md", settings(build))
    write(f"{work}/pages", "functions.md", coverage(build))
    for name in MANUAL:
        write(f"{work}/pages", f"{name}.1.md", manual(build, name))
    shutil.copy(f"{ROOT}/docs/mkdocs.yml", work)
    shutil.copy(f"{ROOT}/docs/site.css", f"{work}/pages")
    status = subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--config-file", f"{work}/mkdocs.yml"], check=False).returncode
    if status:
        sys.exit(status)
    broken = [path for path in glob.glob(f"{work}/site/**/*.html", recursive=True) if "```" in open(path, encoding="utf-8").read()]
    if broken:
        sys.exit(f"site: code is shown as text in {' '.join(broken)}")
    print(f"{work}/site/index.html")


main()
