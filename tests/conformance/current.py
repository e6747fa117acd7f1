# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's own test programs of today, from the distribution's source package `mpich`: the interface of suite.py."""
import os
import re
import shutil
import tarfile

import suite

ERRORS = ["attr", "basic", "coll", "comm", "datatype", "group", "io", "pt2pt", "rma", "topo"]
FOLDERS = suite.FOLDERS + [f"errors/{name}" for name in ERRORS]
QUICK = {}
# The programs' common code, and flags that their Makefiles give to all.
HELPERS = ["util/dtypes.c", "util/mtest.c", "util/mtest_common.c", "util/mtest_single.c"] + [
    f"dtpools/src/dtpools{part}.c" for part in ("", "_misc", "_init_verify", "_desc", "_attr", "_custom")]
INCLUDES = ["include", "dtpools/include"]
# What their configure script would find here, of which the programs ask.
HAVE = """STRING_H UNISTD_H STDLIB_H STDINT_H STDARG_H MEMORY_H SYS_TIME_H SYS_RESOURCE_H GETRUSAGE LONG_DOUBLE LONG_LONG LONG_LONG_INT
FLOAT__COMPLEX DOUBLE__COMPLEX LONG_DOUBLE__COMPLEX _BOOL MPI_WIN_CREATE MPI_TYPE_CREATE_STRUCT MPI_INIT_THREAD MPI_IO""".split()


def unpack(build):
    """The folder of the suite, fetched and unpacked below `build` when it is not there."""
    root = os.path.join(build, "mpich-test")
    if os.path.exists(os.path.join(root, ".complete")):
        return root
    shutil.rmtree(root, ignore_errors=True)
    with tarfile.open(os.environ.get("MPICH_TARBALL") or suite.fetch.tarball("mpich", build)) as tar:
        for member in tar:
            inside = re.match(r"[^/]+/test/mpi/([\w./-]+)$", member.name)
            if member.isfile() and inside and ".." not in inside[1]:
                target = os.path.join(root, inside[1])
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "wb") as out:
                    shutil.copyfileobj(tar.extractfile(member), out)
    with open(os.path.join(root, "include", "mpitestconf.h"), "w", encoding="utf-8") as out:
        out.writelines(f"#define HAVE_{name} 1\n" for name in HAVE)
        out.write("#define THREAD_PACKAGE_NAME THREAD_PACKAGE_NONE\n")
    for empty in ("dtpools/dtpoolsconf.h", ".complete"):
        open(os.path.join(root, empty), "w", encoding="utf-8").close()
    return root


def variants(root, folder):
    """{program: (sources, flags)} of those that a Makefile makes of another source."""
    with open(os.path.join(root, folder, "Makefile.am"), encoding="utf-8") as f:
        text = f.read().replace("\\\n", " ")
    sources = dict(re.findall(r"^(\w+)_SOURCES\s*=\s*(.*)$", text, re.M))
    flags = dict(re.findall(r"^(\w+)_CPPFLAGS\s*\+?=\s*(.*)$", text, re.M))
    names = set(sources) | set(flags)
    return {name: (re.findall(r"[\w./-]+\.c\b", sources.get(name, name + ".c")), re.findall(r"-D\S+", flags.get(name, "")))
            for name in names}


def tests_of(root, folder):
    """All runs of a folder: the lines of its testlist, but for those that ask for more memory than most machines have."""
    found, made = {}, variants(root, folder)
    for name in ("testlist.in", "testlist"):
        path = os.path.join(root, folder, name)
        if os.path.exists(path):
            break
    else:
        return []
    with open(path, encoding="utf-8") as f:
        listed = [entry for entry in map(suite.parse, f) if entry and not entry[3]]
    for name, np, values, _ in listed:
        sources, flags = made.get(name, ([name + ".c"], []))
        paths = [os.path.join(root, folder, file) for file in sources]
        if all(map(os.path.exists, paths)):
            test = suite.Test(folder, name, np, "used", values, paths, flags)
            found.setdefault(test.key, test)
    return list(found.values())
