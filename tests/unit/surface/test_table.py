# SPDX-License-Identifier: BSD-3-Clause
"""The table of the MPI surface against the standard's description, Open MPI's header and the installed libraries."""

import csv
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(TESTS.parent / "middleware" / "surface"))
import table  # noqa: E402

FUNCTIONS = table.read()
BY_NAME = {f.name: f for f in FUNCTIONS}
# Functions of ours that Open MPI's header does not declare: MPI-1's, and two that it has as macros.
F08 = {"MPI_Status_c2f08", "MPI_Status_f082c", "MPI_Status_f2f08", "MPI_Status_f082f"}  # of MPI 3.1, which stock Open MPI 4 lacks
EXTRA = {f.name for f in FUNCTIONS if f.era == "removed"} | {"MPI_Aint_add", "MPI_Aint_diff"} | F08
RENAMED = {"assert": "assertion"}  # a macro of the C library

OPENMPI_INCLUDE = pathlib.Path("/usr/lib/x86_64-linux-gnu/openmpi/include")
LIBMPI = pathlib.Path("/usr/lib/x86_64-linux-gnu/libmpi.so.40")
LIBSIMGRID = pathlib.Path("/usr/lib/x86_64-linux-gnu/libsimgrid.so")

# The standard's kinds that have one kind of ours; the others follow from the C type.
KINDS = {
    "BUFFER": "BUFFER", "C_BUFFER": "BASEPTR", "C_BUFFER2": "BASEPTR", "COMMUNICATOR": "COMM", "DATATYPE": "DATATYPE",
    "REQUEST": "REQUEST", "FILE": "FILE", "WINDOW": "WIN", "STATUS": "STATUS", "INFO": "INFO", "GROUP": "GROUP",
    "OPERATION": "OP", "ERRHANDLER": "ERRHANDLER", "MESSAGE": "MESSAGE", "TAG": "TAG", "STRING": "STRING",
    "FUNCTION": "FUNCTION", "POLYFUNCTION": "FUNCTION", "KEYVAL": "KEYVAL", "LOGICAL": "LOGICAL", "ASSERT": "ASSERT",
    "ORDER": "ORDER", "LOCK_TYPE": "LOCK", "THREAD_LEVEL": "THREAD", "COLOR": "COLOR", "SPLIT_TYPE": "SPLIT_TYPE",
    "COMM_COMPARISON": "COMPARISON", "GROUP_COMPARISON": "COMPARISON", "TOPOLOGY_TYPE": "TOPOLOGY",
    "ACCESS_MODE": "AMODE", "UPDATE_MODE": "WHENCE", "COMBINER": "COMBINER", "TYPECLASS": "TYPECLASS",
    "ERROR_CODE": "ERRCODE", "ERROR_CLASS": "ERRCODE", "WEIGHT": "WEIGHTS", "ATTRIBUTE_VAL": "ATTRIBUTE",
    "DISTRIB_ENUM": "DISTRIBUTION", "DTYPE_DISTRIBUTION": "DISTRIBUTION_ARG",
}
BASE_TYPES = {
    **{kind: [ctype] for kind, ctype in table.HANDLES.items()},
    **{kind: ["int"] for kind in table.NAMED_VALUES}, "INT": ["int"], "DISPL": ["int"], "LOGICAL": ["int"],
    "AINT": ["MPI_Aint"], "OFFSET": ["MPI_Offset"], "LONGCOUNT": ["MPI_Count"], "FINT": ["MPI_Fint"],
    "BUFFER": ["void"], "BASEPTR": ["void"], "ATTRIBUTE": ["void"], "EXTRA_STATE": ["void"], "STATUS": ["MPI_Status"],
    "STRING": ["char"], "WEIGHTS": ["int"], "RANGES": ["int"],
}


def base_type(ctype):
    return re.sub(r"const |[*\[\]3 ]", "", ctype)


def rows_of_standard():
    with open(TESTS / "data" / "mpi-functions.tsv", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            yield row


# Of MPI 4 and for mpi_f08: later versions of both libraries have some of them.
LATER = re.compile(r"MPI_(Session_\w+|P(send|recv)_init|Pready\w*|Parrived|Isendrecv\w*|Info_(create_env|get_string)|"
                   r"(Comm|Intercomm)_create_from_groups?|Group_from_session_pset|Comm_idup_with_info|Status_(c2f08|f082c|f2f08|f082f)|"
                   r"(Barrier|Bcast|Reduce|Reduce_scatter(_block)?|Reduce_local|Allreduce|Scan|Exscan|Gatherv?|Scatterv?|"
                   r"(Neighbor_)?(Allgatherv?|Alltoall[vw]?|allgatherv?|alltoall[vw]?))_init)$")


class AgainstTheStandard(unittest.TestCase):
    def test_same_functions(self):
        standard = {row["function"] for row in rows_of_standard()}
        self.assertEqual(len(standard), 405)
        self.assertEqual(set(BY_NAME) - EXTRA, standard)
        self.assertEqual(len(EXTRA), 16)

    def test_parameters(self):
        counts = {}
        for row in rows_of_standard():
            function = BY_NAME[row["function"]]
            if not row["parameter"]:
                continue
            param = function.params[int(row["position"]) - 1]
            counts[function.name] = counts.get(function.name, 0) + 1
            with self.subTest(function=function.name, parameter=row["parameter"]):
                self.assertEqual(param.name, RENAMED.get(row["parameter"], row["parameter"]))
                self.assertEqual(param.dir, row["direction"])
                if row["kind"] in KINDS:
                    self.assertEqual(param.kind, KINDS[row["kind"]])
                if row["kind"] == "RANK":
                    self.assertIn(param.kind, ("RANK", "ROOT", "RANGES"))
                if row["length"] and param.kind not in ("STRING", "ARGV"):
                    self.assertTrue(param.is_array)
                    if row["length"] != "*":
                        self.assertEqual(param.length, row["length"].replace("n,3", "n"))
        self.assertEqual({f: len(BY_NAME[f].params) for f in counts}, counts)


class InItself(unittest.TestCase):
    def test_types_fit_kinds(self):
        for f in FUNCTIONS:
            for p in f.params:
                with self.subTest(function=f.name, parameter=p.name):
                    if p.kind in BASE_TYPES:
                        self.assertIn(base_type(p.ctype), BASE_TYPES[p.kind])
                    if p.dir != "in":
                        self.assertRegex(p.ctype, r"[*\]]")
                        self.assertNotIn("const", p.ctype)
                    if p.length not in ("", "*") and not p.length.startswith("MPI_"):
                        self.assertIn(p.length, [q.name for q in f.params])

    def test_no_matching_call_is_promoted(self):
        for f in FUNCTIONS:
            if f.group in ("p2p", "persistent", "request", "coll", "icoll", "neighbor"):
                self.assertNotIn(f.route, ("FALLBACK", "REFUSED"), f.name)

    def test_active_functions_exist_in_smpi(self):
        for f in FUNCTIONS:
            if f.route in ("ACTIVE", "RECIPE") and f.name not in ("MPI_Comm_remote_group",):
                self.assertEqual(f.smpi, "yes", f.name)

    def test_bad_tables_are_refused(self):
        good = "MPI_X\tint\tMIDDLEWARE\tenv\tyes\tstd\t-\tint x\n"
        for bad in (good + good, good.replace("\tint x", ""), good.replace("int x", "x"), good.replace("int x", "WHAT: int x"),
                    good.replace("MIDDLEWARE", "HUT"), good.replace("int x", "int x[]"), good.replace("int x", "int x[y]"),
                    good.replace("int x", "int x, int x")):
            with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
                file.write(bad)
                file.flush()
                with self.assertRaises(table.TableError, msg=bad):
                    table.read(file.name)


@unittest.skipUnless((OPENMPI_INCLUDE / "mpi.h").exists(), "Open MPI's mpi.h is not installed")
class AgainstOpenMpi(unittest.TestCase):
    def declarations(self):
        """Name: (return type, types of the parameters) of each function in the preprocessed header."""
        text = subprocess.run(["gcc", "-E", "-P", "-I", OPENMPI_INCLUDE, OPENMPI_INCLUDE / "mpi.h"], check=True,
                              capture_output=True, text=True).stdout
        text = re.sub(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", "", text)
        found = re.findall(r"\b((?:int|double|MPI_\w+)\b[\s*]*)\b(MPI_\w+)\s*\(([^(){};]*)\)\s*;", text)
        return {name: (ret.strip(), [] if args.strip() == "void" else args.split(",")) for ret, name, args in found
                if name not in ("MPI_Copy_function",)}

    def normal(self, declaration):
        """The type alone: arrays as pointers, no parameter name, the handles' integer type by its own name."""
        declaration = " ".join(declaration.split())
        if declaration == "...":
            return declaration
        match = re.match(r"(.*?)(\w+) ?((?:\[\w*\])*)$", declaration)
        kind, arrays = match.group(1).replace(" ", ""), match.group(3)
        if arrays:
            kind += "*" + arrays[arrays.index("]") + 1:]
        return kind.replace("MPI_Fint", "int")

    def test_same_prototypes(self):
        declared = {name: what for name, what in self.declarations().items() if not LATER.match(name)}
        text = (OPENMPI_INCLUDE / "mpi.h").read_text()
        if int(re.search(r"define MPI_VERSION (\d)", text)[1]) > 3:  # of later versions of MPI, what 3.1 has
            declared = {name: what for name, what in declared.items() if name in BY_NAME}
        self.assertEqual(set(declared), set(BY_NAME) - EXTRA)
        for name, (ret, args) in declared.items():
            f = BY_NAME[name]
            with self.subTest(function=name):
                self.assertEqual(f.ret.replace("MPI_Fint", "int"), ret)
                ours = [self.normal(p.declaration) for p in f.params]
                theirs = [self.normal(a) for a in args]
                if name == "MPI_Pcontrol":
                    theirs[0] = "int"
                self.assertEqual(ours, theirs)

    @unittest.skipUnless(LIBMPI.exists(), "libmpi is not installed")
    def test_library_has_them_all(self):
        names = exported(LIBMPI)
        self.assertEqual({f.name for f in FUNCTIONS if f.name not in names} - {"MPI_Aint_add", "MPI_Aint_diff"} - F08, set())


@unittest.skipUnless(LIBSIMGRID.exists(), "libsimgrid is not installed")
class AgainstSmpi(unittest.TestCase):
    def test_present(self):
        names = exported(LIBSIMGRID)
        for f in FUNCTIONS:
            self.assertEqual(f.smpi != "no", f.name in names, f.name)

    def test_stubs(self):
        """A function that only reports itself as missing refers to the text of that message."""
        stubs = {f.name for f in FUNCTIONS if f.smpi in ("stub", "noop")}
        self.assertEqual(len(stubs), 88)
        self.assertEqual(sum(f.smpi == "stub" for f in FUNCTIONS), 84)
        library = LIBSIMGRID.read_bytes()
        texts = {m.start() for m in re.finditer(rb"Not yet implemented: %s", library)}
        self.assertTrue(texts)
        found = {name[1:] for name, (address, size) in exported(LIBSIMGRID, "P").items()
                 if refers_to(library, address, size, texts)}
        self.assertEqual({name for name in found if not LATER.match(name)}, stubs)


def exported(library, prefix=""):
    """Address and size of each exported (P)MPI function. SimGrid's text section is mapped where it lies in the file."""
    lines = subprocess.run(["nm", "-D", "-S", "--defined-only", library], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    symbols = {}
    for fields in map(str.split, lines):
        if len(fields) == 4 and fields[3].split("@")[0].startswith(prefix + "MPI_"):
            symbols[fields[3].split("@")[0]] = (int(fields[0], 16), int(fields[1], 16))
    return symbols


def refers_to(library, address, size, targets):
    """Whether the x86-64 code at [address, address + size) holds an offset to one of the targets."""
    return any(address + i + 4 + struct.unpack_from("<i", library, address + i)[0] in targets for i in range(size - 3))


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says what it skips
