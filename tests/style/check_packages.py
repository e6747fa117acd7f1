#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/packages.txt is the list of packages: debian/control and the recipe of Spack name what stands there, and no other."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GROUPS = {"build", "test", "develop", "ci"}
# What a Debian package names besides, and why it needs no line of its own.
CONTROL_ALONE = {
    "debhelper-compat": "makes Debian packages only",
    "binutils": "comes with gcc",
    "c-compiler": "any that there is, instead of gcc",
}
# Spack's names for libraries, and for programs that Debian calls otherwise.
SPACK = {"pkgconfig": "pkg-config", "python": "python3", "uthash": "uthash-dev", "simgrid": "libsimgrid-dev", "openmpi": "libopenmpi-dev", "pmix": "libpmix-dev",
         "elfutils": "libelf-dev", "libffi": "libffi-dev", "jansson": "libjansson-dev", "gsl": "libgsl-dev",
         "otf2": "libopen-trace-format2-dev",
         "py-matplotlib": "python3-matplotlib", "py-jinja2": "python3-jinja2"}


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def listed(text):
    """{package: its groups}; of NAME/RELEASE the name"""
    packages = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            package, group = line.split()[:2]
            name, _, release = package.partition("/")
            groups = packages.setdefault(name, [])
            groups += [] if release and group in groups else [group] # once for each of several releases
    return packages


def field(control, name):
    """The packages of a field, without versions and architectures; alternatives count each."""
    value = re.search(rf"^{name}:((?:.*\n)(?:[ \t].*\n)*)", control, re.MULTILINE).group(1)
    names = (re.sub(r"\(.*?\)|:\w+", "", word).strip() for word in re.split(r"[,|]", re.sub(r"\$\{.*?\}", "", value)))
    return {name for name in names if name}


def faults(packages, control, spack):
    """What is wrong, a line each."""
    found = [f"scripts/packages.txt: {p}: there is no group {g}" for p, all_groups in packages.items() for g in all_groups if g not in GROUPS]
    found += [f"scripts/packages.txt: {p} stands twice in a group" for p, g in packages.items() if len(set(g)) < len(g)]
    build = {p for p, g in packages.items() if "build" in g}
    wanted = field(control, "Build-Depends")
    found += [f"debian/control: Build-Depends lacks {p} (scripts/packages.txt)" for p in sorted(build - wanted)]
    found += [f"debian/control: Build-Depends has {p}, which is not in the group build of scripts/packages.txt"
              for p in sorted(wanted - build - set(CONTROL_ALONE))]
    for name in ("Depends", "Recommends"):
        found += [f"debian/control: {name} has {p}, which is not in scripts/packages.txt"
                  for p in sorted(field(control, name) - set(packages) - set(CONTROL_ALONE))]
    names = {SPACK.get(n, n) for n in re.findall(r'depends_on\("([\w-]+)', spack)}
    found += [f"packaging/spack/package.py: {n} is not in scripts/packages.txt" for n in sorted(names - set(packages))]
    found += [f"packaging/spack/package.py lacks {p} (scripts/packages.txt)"
              for p in sorted(build - names) if p.startswith("lib") or p == "uthash-dev"]
    return found


def main():
    packages, control, spack = listed(read("scripts", "packages.txt")), read("debian", "control"), read("packaging", "spack", "package.py")
    found = faults(packages, control, spack)
    # It sees what is missing, and what is too much.
    for wrong in (({p: g for p, g in packages.items() if p != "libffi-dev"}, control, spack), (packages, control.replace(" libffi-dev,", ""), spack),
                  (packages, control, spack.replace('"jansson"', '"janssen"')), (packages, control.replace("Recommends: ", "Recommends: emacs, "), spack)):
        if len(faults(*wrong)) <= len(found):
            found.append("check_packages: it overlooks a fault that it was given")
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
