#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what Open MPI's collectives send in the simulation with what the same Open MPI sends under mpirun.

For each call of a collective: how many messages and bytes go from which rank to which, counted where the messaging layer
(PML) is entered. `reference` takes recorded matrices (tests/data/openmpi-4.1.4-collective-matrices.tsv), `fixed` runs a list
of cases under mpirun on this machine, `random` draws cases; it prints its seed, and --seed repeats it.
"""
import argparse
import collections
import os
import random
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import harness  # noqa: E402

REFERENCE = os.path.join(harness.ROOT, "tests", "data", "openmpi-4.1.4-collective-matrices.tsv")
LIMIT = 200  # seconds for one run

REDUCTIONS = ["reduce", "allreduce", "allreduce_in_place", "scan", "exscan", "reduce_scatter", "reduce_scatter_block",
              "ireduce", "iallreduce"]
MOVES = ["bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgather_in_place", "allgatherv", "alltoall",
         "alltoall_in_place", "alltoallv", "alltoallw", "ibcast", "iallgather", "ialltoall", "persistent"]
VECTORS = [name for name in REDUCTIONS if name != "reduce_scatter_block"] + ["bcast", "ibcast"]
EMPTY = ["barrier", "ibarrier"]
COMMUNICATORS = ["world", "dup", "half", "reverse", "most"]
TYPES = {"char": 1, "int": 4, "double": 8, "vector": 8, "double_int": 12}

Case = collections.namedtuple("Case", "name bytes type root op comm")


def case(name, size, kind="char", root=0, op="sum", comm="world"):
    return Case(name, size, kind, root, op, comm)


def matrices(sends, count):
    """sends: per rank, in its order, (to, bytes, tag). Per case {(from, to): [messages, bytes]}."""
    result = [collections.defaultdict(lambda: [0, 0]) for _ in range(count)]
    for rank, own in sends.items():
        current = 0
        for to, size, tag in own:
            if to == rank and size == 0 and tag == current + 1:
                current += 1  # the mark before the next case
            elif 1 <= current <= count:
                cell = result[current - 1][rank, to]
                cell[0] += 1
                cell[1] += size
        if current != count + 1:
            raise RuntimeError(f"rank {rank} has marked {current} of {count + 1} places")
    return [{pair: tuple(cell) for pair, cell in matrix.items()} for matrix in result]


class Runner:
    def __init__(self, bindir, work, pml, environment):
        self.tools = harness.Tools(bindir, work)
        self.work, self.pml, self.runs = work, pml, 0
        self.environment = environment  # of the simulation alone
        self.recorder = None

    def case_file(self, cases):
        self.runs += 1
        path = os.path.join(self.work, f"cases{self.runs}")
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(" ".join(map(str, c)) + "\n" for c in cases)
        return path

    def simulated(self, ranks, cases, hosts=16, late=False):
        """With the ranks dealt to so many hosts: the real ranks share one, and where they are must not matter. `late`:
        communicators and types are made in model smpi, and Open MPI sees shadows of them."""
        hostfile = os.path.join(self.work, "hosts")
        with open(hostfile, "w", encoding="utf-8") as f:
            f.writelines(f"node-{rank % hosts}\n" for rank in range(ranks))
        log = os.path.join(self.work, "messages.csv")
        program = self.tools.build(os.path.join(HERE, "traffic.c"), "pfcc")
        environment = dict(self.environment, PARFOCAL_OPENMPI_MESSAGES=log, PARFOCAL_OPENMPI_PML=self.pml)
        arguments = [self.case_file(cases)] + (["portals"] if late else [])
        # All ranks switch at the same place. Where any may switch at any time, messages have the ledger's tags and not
        # the marks that are looked for here.
        models = ["-model", "smpi", "-load", "portals", "-agree", "strict"] if late else ["-model", "portals"]
        done = self.tools.pfrun(program, ranks, arguments, LIMIT, models, environment, hostfile)
        check(done)
        sends = {rank: [] for rank in range(ranks)}
        with open(log, encoding="utf-8") as f:
            next(f)
            for line in f:
                _, rank, to, size, tag = line.split(",")
                sends[int(rank)].append((int(to), int(size), int(tag)))
        return matrices(sends, len(cases))

    def real(self, ranks, cases, environment=None):
        if not self.recorder:
            self.recorder = os.path.join(self.work, "record.so")
            subprocess.run(["cc", "-O1", "-shared", "-fPIC", os.path.join(HERE, "record.c"), "-o", self.recorder],
                           check=True)
        program = self.tools.build(os.path.join(HERE, "traffic.c"), "mpicc")
        with tempfile.TemporaryDirectory(dir=self.work) as logs:
            command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks), "-x",
                       "LD_PRELOAD=" + self.recorder, "-x", "TRAFFIC_DIR=" + logs, "--mca", "pml_monitoring_enable", "1",
                       program, self.case_file(cases)]
            check(self.tools.run(command, LIMIT, environment))
            if not os.listdir(logs):
                raise Unrecorded("this Open MPI's messages cannot be recorded: it was linked with -Bsymbolic-functions")
            sends = {}
            for rank in range(ranks):
                with open(os.path.join(logs, str(rank)), encoding="utf-8") as f:
                    sends[rank] = [tuple(map(int, line.split(","))) for line in f]
        return matrices(sends, len(cases))


class Unrecorded(Exception):
    """What record.c stands for is called past it."""


def check(result):
    if result.status:
        raise RuntimeError(f"{result.command}\nended with {result.status}\n{result.err}")


def show(matrix):
    return [f"{a} -> {b}: {m} messages, {size} bytes" for (a, b), (m, size) in sorted(matrix.items())]


def compare(ranks, cases, expected, got):
    wrong = 0
    for one, before, after in zip(cases, expected, got):
        if before == after:
            continue
        wrong += 1
        print(f"DIFFERENT {ranks} ranks: {' '.join(map(str, one))}")
        if wrong <= 5:
            print(harness.difference(show(before), show(after)))
    return wrong


def reference_cases():
    found = collections.defaultdict(lambda: collections.defaultdict(dict))
    with open(REFERENCE, encoding="utf-8") as f:
        next(f)
        for line in f:
            name, ranks, size, a, b, messages, total = line.split()
            found[int(ranks)][case(name, int(size))][int(a), int(b)] = (int(messages), int(total))
    return found


def draw(rng):
    kind, op = rng.choice(list(TYPES)), "sum"
    name = rng.choice(REDUCTIONS + MOVES + EMPTY)
    if name in REDUCTIONS:
        op = {"vector": ["commutative", "ordered"], "double_int": ["minloc", "ordered"]}.get(
            kind, ["sum", "max", "commutative", "ordered"])
        op = rng.choice(op)
    limit = rng.choice([12, 17, 21]) if name in VECTORS else 14
    size = int(2 ** rng.uniform(0, limit)) // TYPES[kind] * TYPES[kind]
    return Case(name, 0 if name in EMPTY else size, kind, rng.randrange(17), op, rng.choice(COMMUNICATORS))


def fixed_cases(ranks):
    """Every collective in three sizes, and what varies with types, operations, roots and communicators."""
    plain = [case(name, size, "int") for name in MOVES + REDUCTIONS for size in (8, 4000, 40000)]
    other = [case(name, size, kind, ranks - 1, op, comm)
             for i, name in enumerate(MOVES + REDUCTIONS)
             for size, kind, op in [(24, "vector", "ordered"), (24000, "double_int", "minloc"), (6000, "double", "commutative")]
             for comm in [COMMUNICATORS[(i + ranks) % 4 + 1]]]
    return plain + other + [case(name, 0, comm=comm) for name in EMPTY for comm in COMMUNICATORS]


def batches(options):
    if options.what == "fixed":
        return [(ranks, fixed_cases(ranks)) for ranks in (2, 5, 8, 17)]
    rng = random.Random(options.seed)
    return [(rng.randint(2, 17), [draw(rng) for _ in range(options.cases)]) for _ in range(options.runs)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["reference", "fixed", "random"])
    parser.add_argument("--bin", default=os.path.join(harness.ROOT, "build", "bin"), help="folder of pfcc and pfrun")
    parser.add_argument("--pml", default="cm", help="Open MPI's messaging layer in the simulation: cm or ob1")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--runs", type=int, default=10, help="random: how many numbers of ranks")
    parser.add_argument("--cases", type=int, default=40, help="random: how many calls with each")
    parser.add_argument("--spoil", action="store_true",
                        help="take Open MPI's usual algorithms from the simulation; the comparison must notice")
    options = parser.parse_args()
    if options.what == "random":
        print(f"seed {options.seed}")
    wrong = total = 0
    with tempfile.TemporaryDirectory(prefix="pf-traffic-") as work:
        environment = {"OMPI_MCA_coll": "^tuned"} if options.spoil else {}
        runner = Runner(os.path.abspath(options.bin), work, options.pml, environment)
        if options.what == "reference":
            for ranks, found in reference_cases().items():
                cases, expected = list(found), list(found.values())
                for hosts in (16, 1):
                    wrong += compare(ranks, cases, expected, runner.simulated(ranks, cases, hosts))
                    total += len(cases)
        else:
            for i, (ranks, cases) in enumerate(batches(options)):
                wrong += compare(ranks, cases, runner.real(ranks, cases), runner.simulated(ranks, cases, late=i % 2))
                total += len(cases)
    print(f"{total - wrong} of {total} matrices are the same")
    if options.spoil:
        return 0 if wrong else 1
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main())
