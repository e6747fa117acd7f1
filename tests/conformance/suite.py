# SPDX-License-Identifier: BSD-3-Clause
"""The MPICH3 test programs in SimGrid's source package: fetching them, and reading which program runs how."""
import os
import re
import shutil
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "experiments", "apps"))
import fetch  # noqa: E402

FOLDERS = ["pt2pt", "coll", "comm", "group", "datatype", "info", "attr", "errhan", "topo", "init", "rma", "io", "perf"]
INSIDE = "teshsuite/smpi/mpich3-test"
# Programs that share a source with others: MPICH's own Makefile.am says how, which SimGrid's package leaves out.
FLAVOURS = {"char": "CHAR", "short": "SHORT", "int": "INT", "long": "LONG", "double": "DOUBLE",
            "long_double": "LONG_DOUBLE"}
ACTIONS = {"put": "PUT", "acc": "ACC", "gacc": "GACC", "fop": "FOP", "cas": "CAS"}
VARIANTS = {
    "coll/bcast_full": ("bcast.c", []),
    "coll/bcast_min_datatypes": ("bcast.c", ["-DBCAST_MIN_DATATYPES_ONLY"]),
    "coll/bcast_comm_world": ("bcast.c", ["-DBCAST_COMM_WORLD_ONLY"]),
    "coll/reduce_mpich": ("reduce.c", []),
    "datatype/hindexed_block": ("hindexed_block.c", ["-DTEST_HINDEXED_BLOCK"]),
    "datatype/hindexed_block_contents": ("hindexed_block_contents.c", ["-DTEST_HINDEXED_BLOCK"]),
    "rma/transpose3_shm": ("transpose3.c", ["-DUSE_WIN_ALLOCATE"]),
    "rma/win_shared_create_allocshm": ("win_shared_create.c", ["-DUSE_INFO_ALLOC_SHM=\"true\""]),
    "rma/win_shared_create_no_allocshm": ("win_shared_create.c", ["-DUSE_INFO_ALLOC_SHM=\"false\""]),
    "rma/linked_list_bench_lock_shr_nocheck": ("linked_list_bench_lock_shr.c", ["-DUSE_MODE_NOCHECK"]),
    "rma/mutex_bench": ("mutex_bench.c mcs-mutex.c", []),
    "rma/mutex_bench_shared": ("mutex_bench.c mcs-mutex.c", ["-DUSE_WIN_SHARED"]),
    "rma/mutex_bench_shm": ("mutex_bench.c mcs-mutex.c", ["-DUSE_WIN_SHARED", "-DUSE_WIN_ALLOC_SHM"]),
    "rma/mutex_bench_shm_ordered": ("mutex_bench.c mcs-mutex.c",
                                    ["-DUSE_WIN_SHARED", "-DUSE_WIN_ALLOC_SHM", "-DUSE_CONTIGUOUS_RANK"]),
}
VARIANTS.update({f"rma/fetch_and_op_{n}": ("fetch_and_op.c", [f"-DFOP_TYPE_{d}"]) for n, d in FLAVOURS.items()})
for _n, _d in FLAVOURS.items():
    VARIANTS[f"rma/get_accumulate_{_n}"] = ("get_accumulate.c", [f"-DGACC_TYPE_{_d}"])
    VARIANTS[f"rma/get_accumulate_{_n}_derived"] = ("get_accumulate.c", [f"-DGACC_TYPE_{_d}", "-DGACC_TYPE_DERIVED"])
for _n, _d in ACTIONS.items():
    VARIANTS[f"rma/{_n}_flush_get"] = ("wrma_flush_get.c", [f"-DTEST_{_d}"])
    VARIANTS[f"rma/win_shared_{_n}_flush_load"] = ("win_shared_rma_flush_load.c", [f"-DTEST_{_d}"])
    VARIANTS[f"rma/overlap_wins_{_n}"] = ("overlap_wins_rma.c", [f"-DTEST_{_d}"])
# Not programs of their own: sources of the variants above, and a file of helpers.
PARTS = {"bcast", "reduce", "mcs-mutex", "wrma_flush_get", "win_shared_rma_flush_load", "overlap_wins_rma",
         "win_shared_create"}
# A selection that takes about a minute and a half in three models and passes in all: what the tests of the repository run.
QUICK = {
    "pt2pt": "sendrecv1 sendrecv2 sendrecv3 sendself sendall anyall eagerdt bottom bsend1 bsend2 bsend3 isendself isendirecv "
             "rqstatus rqfreeb greq1 probe-unexp probenull rcancel isendselfprobe inactivereq waittestnull waitany-null "
             "dtype_send recv_any mprobe",
    "coll": "allred2 allred4 alltoallv allgather3 bcastzerotype coll6 redscat red_scat_block exscan gather2 scatterv opmax "
            "op_commutative nonblocking2 nonblocking3 iallred ibarrier",
    "datatype": "sendrecvt4",
    "comm": "dup commcreate1 commname cmsplit comm_create_group comm_group_half dup_with_info comm_info comm_idup "
            "comm_idup_nb comm_idup_mul",
}
# What SimGrid's CMake files give every program of a folder.
FOLDER_FLAGS = {"rma": ["-DHAVE_STDLIB_H=1", "-DHAVE_UNISTD_H=1", "-DHAVE_STRING_H=1", "-DUSE_STDARG=1",
                        "-DHAVE_LONG_DOUBLE=1", "-DHAVE_PROTOTYPES=1", "-DHAVE_SIGNAL_H=1", "-DHAVE_SIGACTION=1",
                        "-DHAVE_SLEEP=1", "-DHAVE_SYSCONF=1"]}


# The programs' common code, and where its headers are.
HELPERS = [f"util/{name}.c" for name in ("dtypes", "mtest", "mtestcheck", "mtest_datatype", "mtest_datatype_gen")]
INCLUDES = ["include"]


class Test:
    """One run of one program: a line of a testlist."""

    def __init__(self, folder, name, np, origin, values, sources, flags):
        self.folder, self.name, self.np = folder, name, np
        self.origin = origin  # used: by SimGrid; commented: out in SimGrid's testlist; unlisted: a program without a line
        self.args = values.get("arg", [])
        self.limit = int(values.get("timeLimit", ["0"])[0])
        self.verdict = values.get("resultTest", [""])[0]
        self.sources, self.flags = sources, flags
        self.key = " ".join([f"{folder}/{name}", str(np)] + self.args)

    def program(self):
        return f"{self.folder}/{self.name}"


def unpack(build):
    """The folder of the suite, fetched and unpacked below `build` when it is not there."""
    root = os.path.join(build, "mpich3-test")
    if os.path.exists(os.path.join(root, ".complete")):
        return root
    path = os.environ.get("SIMGRID_TARBALL") or fetch.tarball("simgrid", build)
    work = root + ".tmp"
    shutil.rmtree(work, ignore_errors=True)
    with tarfile.open(path) as tar:
        for member in tar:
            top, _, rest = member.name.partition("/")
            if member.isfile() and rest.startswith(INSIDE + "/"):
                target = os.path.join(work, os.path.normpath("/" + rest[len(INSIDE) + 1:]).lstrip("/"))
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "wb") as out:
                    shutil.copyfileobj(tar.extractfile(member), out)
    if not os.path.exists(os.path.join(work, "util", "mtest.c")):
        raise RuntimeError(f"{path} has no {INSIDE}")
    open(os.path.join(work, ".complete"), "w", encoding="utf-8").close()
    shutil.rmtree(root, ignore_errors=True)
    os.rename(work, root)
    return root


def sources_of(root, folder, name):
    """(sources, flags) of a program, or None when the suite has no C source for it."""
    files, flags = VARIANTS.get(f"{folder}/{name}", (name + ".c", []))
    paths = [os.path.join(root, folder, f) for f in files.split()]
    if not all(map(os.path.exists, paths)):
        return None
    return paths, FOLDER_FLAGS.get(folder, []) + flags


def parse(line):
    """(name, ranks, values, commented) of a line of a testlist; None for prose."""
    match = re.match(r"\s*(#?)\s?([\w-]+)(?:\s+(\d+))?((?:\s+\w+=\S+)*)\s*$", line)
    if not match or (match[1] and not match[3]):
        return None
    values = {}
    for word in match[4].split():
        key, value = word.split("=", 1)
        values.setdefault(key, []).append(value.strip('"'))
    return match[2], int(match[3] or 2), values, bool(match[1])


def tests_of(root, folder):
    """All runs of a folder: the lines of its testlist, those that SimGrid has commented out, and programs without a line."""
    found, seen = {}, set(PARTS)
    listed = []
    path = os.path.join(root, folder, "testlist")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            listed = [entry for entry in map(parse, f) if entry]
    for name, np, values, commented in listed:
        built = sources_of(root, folder, name)
        if built:
            test = Test(folder, name, np, "commented" if commented else "used", values, *built)
            found.setdefault(test.key, test)
            seen.add(name)
    for file in sorted(os.listdir(os.path.join(root, folder))):
        name = os.path.splitext(file)[0]
        if file.endswith(".c") and name not in seen:
            test = Test(folder, name, 2, "unlisted", {}, *sources_of(root, folder, name))
            found.setdefault(test.key, test)
    return list(found.values())
