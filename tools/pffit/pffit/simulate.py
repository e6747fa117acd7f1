# SPDX-License-Identifier: BSD-3-Clause
"""Runs the measured cells in a model, with the algorithms that the measurement forced."""
import os
import re
import shlex
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

from pffit.cell import INTS, PARTS, Refused

HERE = os.path.dirname(os.path.abspath(__file__))
OTHER_NAMES = {"linear": "basic_linear", "linear_synch": "linear_sync", "binary": "binary_tree", "split_binary": "split_binary_tree",
               "scatter_allgather_rd": "scatter_allgather", "neighbor_exchange": "neighbor", "k_bruck": "bruck", "ring_segmented": "segmented_ring",
               "in_order": "in-order_binary", "linear_nonblocking": "linear_nb", "two_procs": "two_proc"}


def plain(name):
    return re.sub("[-_]", "", name.lower().removesuffix("_ompi"))


def algorithm_name(name, names):
    """The one of `names` that is meant, by any of its spellings or by Open MPI's number; "" if none is."""
    if name.isdecimal():
        return names[int(name) - 1] if 1 <= int(name) <= len(names) else ""
    wanted = [plain(name)] + [plain(other) for alias, other in OTHER_NAMES.items() if plain(alias) == plain(name)]
    return next((known for word in wanted for known in names if plain(known) == word), "")


def settings(collective, name, number, segment=0):
    """The environment in which Open MPI, and model analytic, use an algorithm."""
    found = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", f"OMPI_MCA_coll_tuned_{collective}_algorithm": str(number),
             "PARFOCAL_ANALYTIC_COLL": f"{collective}:{name}"}
    if name == "chain":  # as with a file of rules, and in model analytic
        found[f"OMPI_MCA_coll_tuned_{collective}_algorithm_chain_fanout"] = "1"
    if segment:
        found[f"OMPI_MCA_coll_tuned_{collective}_algorithm_segmentsize"] = str(segment)
        found["PARFOCAL_ANALYTIC_COLL"] += f":{segment}"
    return found


def algorithm_names(listing):
    """By collective, from what pfinfo --collectives prints: Open MPI's come first, in the order of their numbers."""
    return {line.split(":")[0]: line.split(": ")[1].split(", ") for line in listing.splitlines() if line[:1].islower() and ": " in line}


def compiling(bindir, program):
    return [f"{bindir}/pfcc", "-O1", "-DEVERY_RANK", f"{HERE}/cells.c", "-o", program]


def started(folder, program, nodes, per_node, words):
    """What pfrun is told to start: so many ranks on each node."""
    if per_node == 1:
        return ["-np", str(nodes), program, *words]
    path = f"{folder}/{nodes}x{per_node}-{'-'.join(words)}.jobs"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"-name cells -np {nodes * per_node} -per-host {per_node} {shlex.join([program, *words])}\n")
    return ["-workload", path]


# Of all runs of that program, whose data matter to nobody.
QUICK = {"PARFOCAL_ANALYTIC_DATA": "no"}


def times_by_size(lines):
    """From what the program prints: microseconds, those of the slowest rank."""
    times = {}
    for words in map(str.split, lines):
        if words[:1] == ["took"]:
            times[int(words[1])] = max(float(words[2]), times.get(int(words[1]), 0))
    return times


class Simulator:
    def __init__(self, bindir, model="analytic", options=()):
        self.pfrun, self.model, self.options = f"{bindir}/pfrun", model, list(options)
        self.folder = tempfile.TemporaryDirectory(prefix="pffit-")
        self.program = f"{self.folder.name}/cells"
        self.run(compiling(bindir, self.program))
        self.algorithms = algorithm_names(self.run([f"{bindir}/pfinfo", "--collectives"]))

    @staticmethod
    def run(command, **environment):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **QUICK, **environment})
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
            raise Refused(f"{' '.join(command[:8])} ... ended with {done.returncode}: {lines[-1]}")
        return done.stdout

    def forced(self, collective, algorithm):
        """The settings by which Open MPI, and model analytic, use an algorithm."""
        if algorithm == "default" or collective == "pingpong":
            return {}
        names = self.algorithms.get(collective, [])
        algorithm, _, segment = algorithm.partition(":")
        name = algorithm_name(algorithm, names)
        if not name or (segment and not segment.isdecimal()):
            raise Refused(f"{collective} has no algorithm '{algorithm}', but {', '.join(names)}")
        return settings(collective, name, names.index(name) + 1, int(segment or 0))

    def check(self, cell):
        """Refuses what cannot be simulated."""
        self.forced(cell.collective, cell.algorithm)
        ranks = cell.nodes * cell.ranks_per_node
        unit = (4 if cell.collective in INTS else 1) * (ranks if cell.collective in PARTS else 1)
        if cell.bytes < unit and cell.collective not in ("barrier", "pingpong"):
            raise Refused(f"{cell.collective} of {cell.bytes} B on {ranks} ranks moves nothing: bytes are those of the whole vector, here at least {unit}")

    def group(self, key, sizes, machine, rows):
        nodes, per_node, collective, algorithm = key
        settings = [f"--cfg=parfocal/{name}:{value:.9g}" for name, value in rows.items()]
        with tempfile.TemporaryDirectory(dir=self.folder.name) as folder:
            text = self.run([self.pfrun, "-model", self.model, "-machine", machine, "--cfg=smpi/simulate-computation:no", *settings, *self.options,
                             *started(folder, self.program, nodes, per_node, [collective, *map(str, sizes)])], **self.forced(collective, algorithm))
        return {(*key, size): us for size, us in times_by_size(text.splitlines()).items()}

    def times(self, cells, machine, rows):
        """Simulated times (us) of the cells, in their order, with these values in place of the machine's."""
        groups, keys = {}, [(c.nodes, c.ranks_per_node, c.collective, c.algorithm) for c in cells]
        for key, cell in zip(keys, cells):
            groups.setdefault(key, []).append(cell.bytes)
        times = {}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for part in pool.map(lambda group: self.group(*group, machine, rows), groups.items()):
                times.update(part)
        return [times[*key, cell.bytes] for key, cell in zip(keys, cells)]
