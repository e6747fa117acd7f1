#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/stock.md lists everything that is replaced in stock parts: what the code's tables and the binaries say must be on the page.

check_stock.py BUILD
"""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARIES = ["middleware/libparfocal.so", "lowlevel/libportals.so"]
# What libsimgrid offers in public headers, and what the compiler adds by itself.
PUBLIC = re.compile(r"simgrid::s4u::(?!Engine::on_time_advance)|simgrid::config::get_value<|~|^typeinfo|^vtable")


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def found(pattern, *names):
    """All matches in the files; an empty list means that the code has another form now."""
    result = [match for name in names for path in sorted(glob.glob(os.path.join(ROOT, name)))
              for match in re.findall(pattern, read(path), re.M)]
    if not result:
        sys.exit(f"check_stock: nothing like {pattern} in {' '.join(names)} any more")
    return result


def internals(build):
    """Functions and variables of SimGrid that the binaries import and no public header declares, as Class::name."""
    names = set()
    for binary in BINARIES:
        done = subprocess.run(["nm", "-DC", "--undefined-only", os.path.join(build, binary)], capture_output=True, text=True,
                              check=True, timeout=60)
        for line in done.stdout.splitlines():
            name = line.strip().split(" ", 1)[1]
            if "simgrid::" in name and not PUBLIC.search(name):
                names.add("::".join(name.partition("(")[0].split("::")[-2:]))
    if len(names) < 10:
        sys.exit("check_stock: nm finds no internal functions of SimGrid any more")
    return sorted(name.removeprefix("activity::") for name in names)


def plain(name):
    """A function of std::chrono by its clock."""
    chrono = re.fullmatch(r"_ZNSt6chrono3_V21\d(system_clock|steady_clock)3nowEv", name)
    return chrono[1] if chrono else name


def replaced(build):
    """{name: where it comes from}"""
    names = {}
    libc = found(r"^PF_LIBC\((\w+), (\w+), (\w+), (\w+)\)", "loader/libc.def")
    for name, *columns in libc:
        if set(columns) == {"own"}:
            sys.exit(f"check_stock: loader/libc.def has {name} without a user")
        names[plain(name)] = "a function of the C library (loader/libc.def)"
    led, wrapped = {name for name, program, *_ in libc if program != "own"}, set(found(r"^--wrap=(\w+)$", "tools/pfcc/libc_names.ld"))
    wrapped |= set(found(r"^LEAD\((\w+)\)", "tools/pfcc/pfwaits.c"))
    if led != wrapped:
        sys.exit(f"check_stock: loader/libc.def and tools/pfcc/libc_names.ld with pfwaits.c differ in {' '.join(sorted(led ^ wrapped))}")
    for name in found(r"^PF_IMPORT\((\w+), \w+\)", "middleware/process/imports.def"):
        names[plain(name)] = "a function of the C library (middleware/process/imports.def)"
    for name in found(r'^ +\{"(\w+)", \(void \*\)hook_', "adapters/openmpi/hooks.c"):
        names[name] = "an import of Open MPI (adapters/openmpi/hooks.c)"
    version = "adapters/openmpi/private/*.h"
    for text in found(r"^#define PF_OMPI_(?:RETAIN|COLL|NBC|OSC)\w*((?:.*\\\n)*.*)", version):
        for name in re.findall(r'"((?:ompi|opal|NBC)_\w+)"', text):
            names[name] = "a function of a plugin (adapters/openmpi/private)"
    for text in found(r"^#define PF_OMPI_ANSWERED((?:.*\\\n)*.*)", version):
        for name in re.findall(r"X\((PMIx_\w+)\)", text):
            names[name] = "a function of libpmix (adapters/openmpi/private)"
    for name in found(r'replace\(handle, "(\w+)", ', "adapters/openmpi/glue/osc_portals4.c"):
        names[name] = "an import of osc/portals4 (adapters/openmpi/glue)"
    for name in found(r"^\s+(opal_dl|mca_pml\.\w+|ompi_mtl->\w+|opal_timer\w+) = ", "adapters/openmpi/glue/*.c", "adapters/openmpi/glue/v?/*.c"):
        names[name] = "a table of Open MPI (adapters/openmpi/glue)"
    for text in found(r"^#define PF_OMPI_SETTINGS((?:.*\\\n)*.*)", version):
        for name in re.findall(r'X\("(\w+)", ', text):
            names[name] = "a setting of Open MPI (adapters/openmpi/private)"
    for name in found(r"\bfn->(\w+) = ", "adapters/smpi/*.c"):
        names["MPI_" + name] = "a function of SMPI (adapters/smpi)"
    for name in found(r"\bfn->(Type_\w+) = ", "adapters/local/*.c"):
        names["MPI_" + name] = "a function of SMPI (adapters/local)"
    for name in found(r'"_ZN7simgrid4smpi7(Request)11(finish_wait)E', "lowlevel/simgrid/layouts.h"):
        names["::".join(name)] = "an import of libsimgrid (adapters/smpi)"
    for name in internals(build):
        names[name] = "an internal function of SimGrid (nm)"
    return names


def base(name):
    """The function that a program has written: 64-bit files, fortified, unlocked and the standard's own scanf are variants of it."""
    variant = re.fullmatch(r"(?:__(?:isoc\d\d_)?)?(\w+?)(?:64)?(?:_2|_chk|_unlocked)?", name)
    return variant[1] if variant else name


def main():
    spans = " ".join(re.findall(r"`([^`]+)`", read("docs/stock.md")))
    names = replaced(sys.argv[1])
    missing = [f"{name}: {where}" for name, where in names.items()
               if not any(re.search(rf"(?<![\w.]){re.escape(one)}(?!\w)", spans) for one in (name, base(name)))]
    for line in missing:
        print(f"docs/stock.md does not name {line}")
    users = [path for layer in ("adapters", "lowlevel", "middleware")
             for path in sorted(glob.glob(os.path.join(ROOT, layer, "**", "*.c"), recursive=True))
             if re.search(r"\bpf_imports_replace(_one)?\(|_JUMP_SLOT", read(path))]
    for path in (os.path.relpath(path, ROOT) for path in users):
        if path not in read("docs/stock.md"):
            missing.append(path)
            print(f"docs/stock.md does not name {path}, which leads imports elsewhere")
    print(f"{len(names)} replacements, {len(missing)} not on the page")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
