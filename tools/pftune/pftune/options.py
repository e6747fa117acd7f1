# SPDX-License-Identifier: BSD-3-Clause
"""The command line. One dash and two are the same, as with pfcurve."""
import os
import re
from dataclasses import dataclass, field

from pfcurve.errors import Problem
from pfcurve.options import Help, Parser, add_run_flags, check_model, flag, positive
from pfcurve.pool import need_slurm

from . import mpich
from .collectives import COLLECTIVES, known

USAGE = """pftune -machine NAME|FILE -nodes N,... -sizes BYTES,... -o FILE [options]

Simulates collectives with each algorithm of Open MPI, one rank on each node, and writes the file of rules with which Open MPI
(coll_tuned_dynamic_rules_filename, 4.1 and 5.0) takes the fastest, where it gains more than the simulation's uncertainty; or MPICH's
(MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE, 4). Finished runs are kept in FILE.runs and not repeated."""
LARGEST = 1 << 30


@dataclass
class Options:
    """What was asked for."""
    run_flags: list = field(default_factory=list)  # of pfrun
    machine: str = ""
    library: str = "openmpi"
    model: str = "analytic"
    nodes: list = field(default_factory=list)
    per_node: int = 1
    sizes: list = field(default_factory=list)
    collectives: list = field(default_factory=list)
    algorithms: list = field(default_factory=list)  # none: all
    segments: list = field(default_factory=list)
    uncertainty: float = 0  # a factor; 0: what the machine file states
    output: str = ""
    timeout: float = 3600
    jobs: int = 1
    slurm: bool = False
    partition: str = ""
    sbatch: list = field(default_factory=list)
    quiet: bool = False


def build_parser():
    parser = Parser(prog="pftune", usage=USAGE, allow_abbrev=False, add_help=False, formatter_class=Help)
    what = parser.add_argument_group("what is simulated")
    flag(what, "machine", metavar="NAME|FILE", help="simulated machine (pfinfo --machine)")
    flag(what, "platform", metavar="FILE|NAME", help="platform file or built-in one")
    flag(what, "library", default="openmpi", metavar="openmpi|mpich", help="whose algorithms (default: openmpi)")
    flag(what, "model", default="analytic", metavar="M", help="model (default: analytic)")
    what.add_argument("--cfg", action="append", default=[], metavar="KEY:VALUE", help="setting; may be repeated")
    flag(what, "nodes", metavar="N,...", help="numbers of nodes")
    flag(what, "ranks-per-node", type=int, default=1, metavar="N", help="ranks on each node (default: 1)")
    flag(what, "sizes", metavar="BYTES,...", help="bytes of the whole vector, as 8, 64K, 1M")
    flag(what, "collectives", metavar="NAME,...", help="collectives (default: all): " + ", ".join(COLLECTIVES) + "; of MPICH " + ", ".join(mpich.COLLECTIVES))
    flag(what, "algorithms", metavar="NAME,...", help="only these algorithms (default: all; pfinfo --collectives, those of MPICH by its own names)")
    flag(what, "segments", default="0,8K,64K", metavar="BYTES,...", help="segment sizes where an algorithm has segments (default: 0,8K,64K; 0: none)")
    out = parser.add_argument_group("result")
    out.add_argument("--output", "-o", metavar="FILE", help="file of rules")
    flag(out, "uncertainty", metavar="FACTOR", help="gains up to this factor keep Open MPI's default (default: the median error of the fit that the machine file states)")
    run = parser.add_argument_group("how to run")
    flag(run, "jobs", type=int, metavar="N", help="runs at a time (default: one for each processor; 8 with --slurm)")
    add_run_flags(run, "a Slurm job for each run")
    return parser


def words(text, name):
    found = [word for word in (text or "").split(",") if word]
    if not found:
        raise Problem(f"-{name} needs a list, as a,b")
    return found


def byte_sizes(text, name, least, unit=1):
    sizes = set()
    for word in words(text, name):
        match = re.fullmatch(r"(\d{1,12})([kKM]?)", word)
        if not match:
            raise Problem(f"-{name}: '{word}' is no number of bytes, as 8, 64K or 1M")
        value = int(match[1]) << {"": 0, "k": 10, "K": 10, "M": 20}[match[2]]
        if not least <= value <= LARGEST or value % unit:
            raise Problem(f"-{name}: {word} is not from {least} to {LARGEST >> 20}M" + (f", in multiples of {unit}" if unit > 1 else ""))
        sizes.add(value)
    return sorted(sizes)


def node_counts(text):
    counts = set()
    for word in words(text, "nodes"):
        if not word.isdecimal() or not 2 <= int(word) <= 1000000:
            raise Problem(f"-nodes: '{word}' is no number of nodes from 2 to 1000000")
        counts.add(int(word))
    return sorted(counts)


def factor(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 1 <= value < 100:
        raise Problem(f"--uncertainty: '{text}' is no factor from 1 to 100, as 1.2")
    return value


def platform_flags(args):
    flags = [word for name in ("machine", "platform") if getattr(args, name) for word in ("-" + name, getattr(args, name))]
    if not flags:
        raise Problem("which machine? -machine NAME|FILE, or -platform FILE|NAME")
    for setting in args.cfg:
        if ":" not in setting:
            raise Problem(f"'--cfg={setting}': a setting is --cfg=KEY:VALUE")
    return flags + ["--cfg=" + setting for setting in args.cfg]


def check_library(library, model):
    known(library, ["openmpi", "mpich"], "library")
    stack = model.partition(":")[0]
    if stack == "smpi":
        raise Problem("model smpi has SMPI's algorithms, not Open MPI's: analytic, portals, packet ... have them")
    if stack != "analytic" and (stack == "mpich") != (library == "mpich"):
        raise Problem(f"model {model} has no algorithms of -library {library}: " + ("analytic and mpich have" if library == "mpich" else "take -library mpich"))


def from_args(args, available):
    """Options that fit together; Problem otherwise. `available`: models of this installation."""
    check_model(args.model, available)
    check_library(args.library, args.model)
    names = list(mpich.COLLECTIVES if args.library == "mpich" else COLLECTIVES)
    positive(args.ranks_per_node, "ranks-per-node")
    positive(args.jobs, "jobs")
    positive(args.timeout, "timeout")
    options = Options(run_flags=platform_flags(args), machine=args.machine or "", library=args.library, model=args.model, nodes=node_counts(args.nodes), per_node=args.ranks_per_node,
                      sizes=byte_sizes(args.sizes, "sizes", 4, 4), segments=byte_sizes(args.segments, "segments", 0),
                      collectives=[known(word, names, "collective") for word in (words(args.collectives, "collectives") if args.collectives else names)],
                      algorithms=words(args.algorithms, "algorithms") if args.algorithms else [],
                      uncertainty=factor(args.uncertainty) if args.uncertainty else 0, output=args.output or "", timeout=args.timeout,
                      jobs=args.jobs or (8 if args.slurm else os.cpu_count() or 1), slurm=args.slurm, partition=args.partition,
                      sbatch=args.sbatch, quiet=args.quiet)
    if not options.output:
        raise Problem("where to? -o FILE")
    need_slurm(options)
    return options
