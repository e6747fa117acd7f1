#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""pftune: test_pftune.py ROOT BIN [CLASS]. The rules are loaded by mpirun and by model portals, and what the ranks then send is compared."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, BIN = sys.argv.pop(1), sys.argv.pop(1)
sys.path[:0] = [f"{ROOT}/tools/{name}" for name in ("pftune", "pfcurve", "pffit")] + [f"{ROOT}/base", f"{ROOT}/tests/traffic"]
import pmi  # noqa: E402 (next to this file)
import run_traffic  # noqa: E402 (tests/traffic)
from pffit.simulate import algorithm_names, compiling, settings  # noqa: E402
from pftune import mpich, rules  # noqa: E402
from pftune.collectives import COLLECTIVES, OPEN_MPI, Choice, candidates  # noqa: E402

ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("PARFOCAL_", "OMPI_MCA_"))}
RING, DOUBLING = Choice("ring", 4, 0), Choice("recursive_doubling", 3, 0)


def pftune(*arguments, folder):
    return subprocess.run([f"{BIN}/pftune", *arguments], capture_output=True, text=True, timeout=500, check=False, env=ENVIRONMENT, cwd=folder)


def numbers(text):
    return [int(word) for line in text.splitlines() for word in line.partition("#")[0].split()]


def read(text):
    """{collective's number: {ranks: [(bytes, algorithm, segment)]}}, as Open MPI reads it."""
    words = iter(numbers(text))
    found = {next(words): {next(words): [(lambda start, number, _, segment: (start, number, segment))(*(next(words) for _ in range(4)))
                                         for _ in range(next(words))] for _ in range(next(words))} for _ in range(next(words))}
    assert next(words, None) is None
    return found


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pftune-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name


class Rules(unittest.TestCase):
    def rows(self, uncertainty=1.2):
        times = {(8, "allreduce", choice, size): us for size, us_by in ((64, (10, 9, 20)), (1024, (30, 10, 20)), (4096, (40, 50, 20)))
                 for choice, us in zip((OPEN_MPI, RING, DOUBLING), us_by)}
        return rules.choose(times, uncertainty)

    def test_gains_below_the_uncertainty_keep_the_default(self):
        self.assertEqual([row.choice for row in self.rows()], [OPEN_MPI, RING, DOUBLING])
        self.assertEqual([row.fastest for row in self.rows()], [RING, RING, DOUBLING])
        self.assertEqual([row.choice for row in self.rows(2.5)], [OPEN_MPI, RING, OPEN_MPI])
        self.assertEqual([row.choice for row in self.rows(1.05)], [RING, RING, DOUBLING])

    def test_the_file_leaves_to_open_mpi_what_was_not_simulated(self):
        self.assertEqual(read("\n".join(rules.text(self.rows()))),
                         {2: {1: [(0, 0, 0)], 8: [(0, 0, 0), (256, 4, 0), (2048, 3, 0), (8193, 0, 0)], 9: [(0, 0, 0)]}})
        self.assertEqual(read("\n".join(rules.text(self.rows(9)))), {})

    def test_barriers_have_no_size(self):
        rows = rules.choose({(8, "barrier", OPEN_MPI, 0): 3, (8, "barrier", RING, 0): 1}, 1.1)
        self.assertEqual(read("\n".join(rules.text(rows)))[6][8], [(0, 4, 0)])

    def test_gather_and_scatter_have_one_rule_for_all_sizes(self):
        for collective, number in (("gather", 9), ("scatter", 15)):
            self.one_rule(collective, number)

    def one_rule(self, collective, number):
        def chosen(*ring_us):
            times = {(8, collective, choice, size): us for size, ring in zip((64, 4096), ring_us) for choice, us in ((OPEN_MPI, 10), (RING, ring))}
            return rules.choose(times, 1.2)
        self.assertEqual(read("\n".join(rules.text(chosen(5, 9))))[number][8], [(0, 4, 0)])
        self.assertEqual([row.choice for row in chosen(2, 13)], [OPEN_MPI, OPEN_MPI])
        self.assertEqual([row.choice for row in chosen(9, 9)], [OPEN_MPI, OPEN_MPI])

    def test_candidates(self):
        names = ["linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc", "direct"]
        self.assertEqual([c.number for c in candidates("allgather", names, 4, [0], [])], [1, 2, 3, 4, 5])
        self.assertEqual([c.number for c in candidates("allgather", names, 2, [0], [])], [1, 2, 3, 4, 5, 6])
        self.assertEqual(candidates("allreduce", [*"abcd", "segmented_ring", "f"], 4, [0, 8192], ["segmented_ring"]),
                         [Choice("segmented_ring", 5, 0), Choice("segmented_ring", 5, 8192)])

    @unittest.skipUnless(shutil.which("ompi_info"), "no ompi_info")
    def test_numbers_are_those_of_open_mpi(self):
        """Whose text spells some names in another way: the first letters of each, in the order of their numbers."""
        told = subprocess.run(["ompi_info", "--param", "coll", "tuned", "--level", "9"], capture_output=True, text=True, check=True, env=ENVIRONMENT).stdout
        names = algorithm_names(subprocess.run([f"{BIN}/pfinfo", "--collectives"], capture_output=True, text=True, check=True).stdout)
        other = {"non-overlapping": "nonoverlapping", "linear_sync": "linear", "linear_nb": "nonblocking linear", "rabenseifner": "rabenseifner"}
        for collective in COLLECTIVES:
            text = re.search(rf'"coll_tuned_{collective}_algorithm" .*\n\s*(.*)', told)[1]
            listed = dict(re.findall(r"(\d+):? ?([a-z-]+(?:[ _][a-z]+)?)", text))
            for number, name in enumerate(names[collective][:COLLECTIVES[collective].algorithms], 1):
                real = listed.get(str(number))
                if real is None:  # Open MPI's own text forgets its last ones
                    self.assertGreater(number, 4)
                    continue
                plain = [re.sub(r"[^a-z]", "", word) for word in (other.get(name, name), real)]
                same = plain[0][:5] in plain[1] or plain[1].startswith(plain[0][-6:]) or plain[1] in plain[0] or plain[1][-5:] in plain[0]
                self.assertTrue(same, f"{collective} {number}: {name}, {real}")


class Talk(Folder):
    GOOD = {"-machine": "marenostrum5", "-nodes": "4", "-sizes": "8", "-o": "r.conf"}

    def refused(self, reason, **change):
        words = {**self.GOOD, **{"-" + name: value for name, value in change.items()}}
        done = pftune(*(word for pair in words.items() if pair[1] is not None for word in pair), folder=self.folder)
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (1, "", 1), done.stderr)
        self.assertIn("pftune: error: " + reason, done.stderr)
        self.assertEqual(os.path.exists(f"{self.folder}/r.conf"), False)

    def test_bad_input_is_one_line(self):
        self.refused("unknown collective 'alreduce': did you mean allreduce?", collectives="alreduce")
        self.refused("unknown algorithm 'rign': did you mean ring?", algorithms="rign")
        self.refused("unknown algorithm 'chain'", algorithms="chain", collectives="bcast")
        self.refused("-sizes: '8Q' is no number of bytes", sizes="8Q")
        self.refused("-sizes: 6 is not from 4 to 1024M, in multiples of 4", sizes="6")
        self.refused("-sizes needs a list", sizes=None)
        self.refused("-nodes: '1' is no number of nodes", nodes="1")
        self.refused("where to? -o FILE", o=None)
        self.refused("which machine?", machine=None)
        self.refused(f"{ROOT}/machines/bxi.machine does not state the error of a fit", machine=f"{ROOT}/machines/bxi.machine")
        self.refused("--uncertainty: '0.5' is no factor", uncertainty="0.5")
        self.refused("unknown library 'mpic': did you mean mpich?", library="mpic")
        self.refused("unknown collective 'barrier'", library="mpich", collectives="barrier")
        self.refused("model portals has no algorithms of -library mpich", library="mpich", model="portals")
        self.refused("model mpich has no algorithms of -library openmpi: take -library mpich", model="mpich")
        self.refused("model smpi has SMPI's algorithms", model="smpi")
        self.refused("unknown model 'analytik'", model="analytik")
        self.refused("-machine: 'nosuch' is no machine", machine="nosuch")
        self.refused("--partition and --sbatch are for --slurm", partition="x")
        self.refused("unrecognized arguments: -nosuch", nosuch="1")


class Runs(Folder):
    ARGUMENTS = ["-machine", "marenostrum5", "-nodes", "4,8", "-sizes", "64,16K", "-collectives", "bcast,barrier", "-o", "r.conf", "-quiet"]

    def test_results_are_kept_and_repeatable(self):
        first = pftune(*self.ARGUMENTS, folder=self.folder)
        self.assertEqual((first.returncode, first.stderr), (0, ""))
        self.assertRegex(first.stdout, r"(?m)^bcast +4 +64 +[\d.]+ +[\d.]+ +[\d.]+ \([\d.]+ to [\d.]+\) +\w+")
        self.assertIn("6 cells: ", first.stdout)
        self.assertIn("of marenostrum5.machine, median of what was left out of its fit", first.stdout)
        with open(f"{self.folder}/r.conf", encoding="utf-8") as file:
            text = file.read()
        read(text)
        files = {path: os.stat(f"{self.folder}/r.conf.runs/{path}/result.json").st_mtime_ns for path in os.listdir(f"{self.folder}/r.conf.runs") if "-" in path}
        self.assertGreater(len(files), 20)
        again = pftune(*self.ARGUMENTS, folder=self.folder)
        self.assertEqual(again.stdout, first.stdout)
        self.assertEqual({path: os.stat(f"{self.folder}/r.conf.runs/{path}/result.json").st_mtime_ns for path in files}, files)
        with open(f"{self.folder}/r.conf", encoding="utf-8") as file:
            self.assertEqual(file.read(), text)

    def test_a_run_that_fails_is_told(self):
        done = pftune(*self.ARGUMENTS, "--cfg=parfocal/nosuch:1", folder=self.folder)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
        self.assertIn("nosuch", done.stderr)


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
class Messages(Folder):
    RANKS, SIZES = 8, (64, 8192, 262144)  # bytes of the whole vector
    PARTS = ("allgather", "alltoall", "gather", "scatter")  # where the cases of run_traffic count the part of one rank

    def case(self, collective, size):
        return run_traffic.case(collective, size // self.RANKS if collective in self.PARTS else size, "int")

    def rooted(self, environment):
        """Ranks that do not know the size of a gather or scatter take the same algorithm as the others."""
        program = f"{self.folder}/rooted"
        subprocess.run(["mpicc", os.path.join(os.path.dirname(os.path.abspath(__file__)), "rooted.c"), "-o", program], check=True)
        done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(self.RANKS), program], capture_output=True, text=True,
                              timeout=60, check=False, env={**ENVIRONMENT, **environment})
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)

    def test_every_rule_is_what_runs(self):
        done = pftune("-machine", "marenostrum5", "-nodes", str(self.RANKS), "-sizes", ",".join(map(str, self.SIZES)), "-uncertainty", "1.02", "-o", "r.conf",
                      "-quiet", folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        path = f"{self.folder}/r.conf"
        with open(path, encoding="utf-8") as file:
            ruled = read(file.read())
        wanted = []  # (collective, bytes, algorithm, segment): each rule at a size that was simulated
        for collective, about in COLLECTIVES.items():
            for start, number, segment in ruled.get(about.number, {}).get(self.RANKS, []):
                following = [next_start for next_start, _, _ in ruled[about.number][self.RANKS] if next_start > start] or [1 << 40]
                for size in [0] if collective == "barrier" else [s for s in self.SIZES if start <= s < following[0]]:
                    if number:
                        wanted.append((collective, size, number, segment))
        self.assertGreater(len(wanted), 8, done.stdout)
        cases = [self.case(collective, size) for collective, size, _, _ in wanted]
        by_rules = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_dynamic_rules_filename": path}

        def runner(environment):
            return run_traffic.Runner(BIN, self.folder, "cm", environment)
        self.rooted(by_rules)
        try:
            default, real = runner({}).real(self.RANKS, cases), runner({}).real(self.RANKS, cases, by_rules)
        except run_traffic.Unrecorded as reason:
            self.skipTest(str(reason))
        simulated = runner(by_rules).simulated(self.RANKS, cases)
        names = algorithm_names(subprocess.run([f"{BIN}/pfinfo", "--collectives"], capture_output=True, text=True, check=True).stdout)
        forced = {}
        for size in {size for _, size, _, _ in wanted}:  # one algorithm of each collective in a run
            here = [i for i, row in enumerate(wanted) if row[1] == size]
            environment = {}
            for collective, _, number, segment in (wanted[i] for i in here):
                environment |= settings(collective, names[collective][number - 1], number, segment)
            forced.update(zip(here, runner(environment).simulated(self.RANKS, [cases[i] for i in here])))
        for i, row in enumerate(wanted):
            with self.subTest(row):
                self.assertEqual(real[i], forced[i])
                self.assertEqual(simulated[i], forced[i])
        told_apart = sum(default[i] != real[i] for i in range(len(wanted)))
        self.assertGreater(told_apart, len(wanted) // 2, "the messages hardly tell the rules from Open MPI's defaults")


class Mpich(Folder):
    RANKS, SIZES = 8, (64, 8192, 262144)
    RULES = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"

    def sent(self, calls, environment):
        """What each rank sends in each call, under the real library."""
        said, error = pmi.run(self.RANKS, [f"{self.folder}/calls", *(f"{collective}:{size}" for collective, size in calls)], {**ENVIRONMENT, **environment})
        self.assertEqual(error, "")
        found = {}
        for line in re.findall("^[0-9 ]+$", said, flags=re.M):  # not what hwloc says of a machine
            call, rank, *sizes = map(int, line.split())
            found[call, rank] = sizes
        return [[found[call, rank] for rank in range(self.RANKS)] for call in range(len(calls))]

    def test_every_rule_is_what_runs(self):
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run(["gcc", "-rdynamic", f"{here}/mpich_calls.c", "-o", f"{self.folder}/calls", "-l:libmpich.so.12", "-ldl"], check=True)
        done = pftune("-library", "mpich", "-machine", "marenostrum5", "-nodes", str(self.RANKS), "-sizes", ",".join(map(str, self.SIZES)), "-uncertainty",
                      "1.02", "-o", "r.json", "-quiet", folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = re.findall(r"(?m)^(\w+) +\d+ +(\d+) +[\d.]+ +[\d.]+ +[\d.]+ \(.*?\) +(\w+)( \(rule: default\))?$", done.stdout)
        chosen = [(collective, int(size), "default" if kept else name) for collective, size, name, kept in rows]
        self.assertEqual(len(chosen), len(mpich.COLLECTIVES) * len(self.SIZES))
        calls = [row[:2] for row in chosen]
        default, ruled = self.sent(calls, {}), self.sent(calls, {self.RULES: f"{self.folder}/r.json"})
        for i, (collective, size, name) in enumerate(chosen):
            with self.subTest(collective=collective, size=size, algorithm=name):
                forced = {} if name == "default" else {f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM": name}
                self.assertEqual(ruled[i], self.sent(calls[i:i + 1], forced)[0] if forced else default[i])
        self.assertGreater(sum(a != b for a, b in zip(default, ruled)), 2, done.stdout)
        self.simulated(chosen)

    def simulated(self, chosen):
        """Model mpich, which is the real library as well, takes the same time by the rules as by force."""
        collective, size, name = next(row for row in chosen if row[2] != "default")
        program = f"{self.folder}/cells"
        subprocess.run(compiling(BIN, program), check=True)
        times = []
        for environment in ({self.RULES: f"{self.folder}/r.json"}, {f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM": name}, {}):
            times.append(subprocess.run([f"{BIN}/pfrun", "-np", str(self.RANKS), "-model", "mpich", "-machine", "marenostrum5", "--cfg=smpi/simulate-computation:no",
                                         program, collective, str(size)], capture_output=True, text=True, check=True, env={**ENVIRONMENT, **environment}).stdout)
        self.assertEqual(times[0], times[1])
        self.assertNotEqual(times[0], times[2])

    def test_branches_keep_what_they_do_not_choose(self):
        before = {"algorithm=MPIR_Allreduce_intra_recursive_doubling": {}}
        tree = {"collective=allreduce": {"comm_type=intra": {"avg_msg_size<=0": {"algorithm=MPIR_Allreduce_intra_smp": {}}, "avg_msg_size=any": before},
                                         "comm_type=inter": before}, "collective=bcast": before}
        choice = Choice("reduce_scatter_allgather", 2, 0)
        rows = rules.choose({(8, "allreduce", c, size): us for size in (64, 1024) for c, us in ((OPEN_MPI, 10), (choice, 5 if size > 64 else 10))}, 1.2)
        told = json.loads(mpich.text(rows, tree))
        chosen = {"is_op_built_in=yes": {"count<pow2": before, "count=any": {"algorithm=MPIR_Allreduce_intra_reduce_scatter_allgather": {}}},
                  "is_op_built_in=no": before}
        self.assertEqual(told.pop("collective=allreduce")["comm_type=intra"].pop("avg_msg_size=any"),
                         {"comm_size<=7": before, "comm_size<=8": {"avg_msg_size<256": before, "avg_msg_size<2049": chosen, "avg_msg_size=any": before},
                          "comm_size=any": before})
        self.assertEqual(told, {"collective=bcast": before})
        self.assertEqual(json.loads(mpich.text([], tree)), tree)


if __name__ == "__main__":
    unittest.main()
