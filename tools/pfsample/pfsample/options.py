# SPDX-License-Identifier: BSD-3-Clause
"""The command line of pfrun -sample: pfrun's flags, and its own."""
import argparse
import os
import re
import shutil
from dataclasses import dataclass, field

from pfcurve.errors import Problem
from pfcurve.options import LADDER, check_app, check_model, flag, pfrun_flags
from pfcurve.options import Parser as CurveParser
from pfcurve.workflow import need_slurm

# Flags of pfrun that mean nothing here, because a sample is several runs in models of its own choice.
REFUSED = {"model": "-fine and -cheap name the models", "schedule": "windows are the schedule", "agree": "windows follow",
           "trace": "several runs have no one trace", "replay": "a recorded run has no windows yet", "replay-scale": "it is for -replay",
           "wrapper": "several runs have no one wrapper", "gdb": "several runs have no one debugger",
           "lldb": "several runs have no one debugger", "vgdb": "several runs have no one debugger",
           **dict.fromkeys(("map", "keep-temps", "explain", "progress", "analyze"), "it is for one run")}
BARE = ("gdb", "lldb", "vgdb", "map", "keep-temps", "explain", "progress", "analyze")


@dataclass
class Options:
    """What was asked for."""
    goal: float = 0.02
    fine: str = ""
    cheap: str = ""
    budget: float = 0.1
    strict: bool = False  # the budget was asked for
    iterations: int = 0  # that the program makes, as the user says
    verify: bool = False
    jobs: int = 1
    seed: int = 1
    by: str = "run"
    slurm: bool = False
    partition: str = ""
    sbatch: list = field(default_factory=list)
    report: str = ""
    quiet: bool = False
    run_flags: list = field(default_factory=list)
    settings: list = field(default_factory=list)  # --cfg of them
    app: list = field(default_factory=list)


class Parser(CurveParser):
    """Errors are one line."""

    def error(self, message):
        message = re.sub(r"^argument (?:-[\w-]+/)*--?([\w-]+): ", r"-\1: ", message)
        message = re.sub(r"^unrecognized arguments: (\S+).*", r"unknown option '\1'", message)
        raise Problem(f"{message} (pfrun -help lists all)")


def build_parser():
    parser = Parser(prog="pfrun", allow_abbrev=False, add_help=False)
    for name in ("sample", "fine", "cheap", "budget", "jobs", "seed", "by", "iterations", "platform", "machine", "calibrated", "report", "tmpdir",
                 "load", "background", "fail", "partition"):
        flag(parser, name)
    flag(parser, "sbatch", action="append", default=[])
    parser.add_argument("-np", "--np", "-n", "--n", dest="np")
    parser.add_argument("-hostfile", "--hostfile", "-machinefile", "--machinefile", dest="hostfile")
    for name in ("verify", "quiet", "no-privatize", "slurm"):
        flag(parser, name, action="store_true")
    for name in REFUSED:
        flag(parser, name, dest="refused_" + name, **({"action": "store_true"} if name in BARE else {}))
    for name in ("cfg", "log"):
        parser.add_argument("--" + name, action="append", default=[])
    parser.add_argument("app", nargs=argparse.REMAINDER)
    return parser


def percent(text, name, most):
    match = re.fullmatch(r"([0-9]*\.?[0-9]+(?:e-?[0-9]+)?)\s*(%?)", text.strip())
    value = float(match[1]) / (100 if match[2] or name == "budget" else 1) if match else 0
    if not match or not 0 < value < most:
        raise Problem(f"-{name} needs a share such as {'2%' if name == 'sample' else '10%'}, above 0 and below {100 * most:g} %, not '{text}'")
    return value


def whole(text, name, least, most):
    if not re.fullmatch(r"[0-9]{1,18}", text) or not least <= int(text) <= most:
        raise Problem(f"-{name} needs a whole number from {least} to {most}, not '{text}'")
    return int(text)


def models_of(args, available):
    """(cheap, fine): the cheapest and the finest that there are, when none is named."""
    usual = [model for model in LADDER if model in available and model != "external"]
    for name in (args.cheap, args.fine):
        if name is not None:
            check_model(name, available)
    cheap = args.cheap or usual[0]
    fine = args.fine or usual[-1]
    if LADDER.index(fine) <= LADDER.index(cheap):
        raise Problem(f"-fine {fine} is not finer than -cheap {cheap} (from coarse to fine: {', '.join(usual)})")
    return cheap, fine


def more_flags(args):
    flags = []
    for name in ("tmpdir", "load", "background", "fail"):
        if getattr(args, name):
            flags += ["-" + name, getattr(args, name)]
    return flags + (["-no-privatize"] if args.no_privatize else []) + ["--log=" + setting for setting in args.log]


def from_arguments(arguments, available):
    """Options that fit together; Problem otherwise."""
    args = build_parser().parse_args(arguments)
    for name, why in REFUSED.items():
        if getattr(args, "refused_" + name):
            raise Problem(f"-{name} is not for -sample: {why}")
    for variable in ("PARFOCAL_SCHEDULE", "PARFOCAL_WINDOWS", "PARFOCAL_MARKS"):
        if os.environ.get(variable):
            raise Problem(f"{variable} is not for -sample, which sets it for its runs")
    if not [word for word in args.app if word != "--"]:
        raise Problem("no application given (usage: pfrun -np N -sample GOAL [options] ./app [arguments])")
    if args.app[0].startswith("-") and args.app[0] != "--":
        raise Problem(f"unknown option '{args.app[0]}' (pfrun -help lists all)")
    options = Options(goal=percent(args.sample, "sample", 1), budget=percent(args.budget or "10%", "budget", 1.0001),
                      verify=args.verify, quiet=args.quiet, jobs=whole(args.jobs or ("8" if args.slurm else "1"), "jobs", 1, 1024),
                      slurm=args.slurm, partition=args.partition or "", sbatch=args.sbatch,
                      seed=whole(args.seed or "1", "seed", 0, 2**63 - 1), report=args.report or "",
                      run_flags=pfrun_flags(args) + more_flags(args), settings=args.cfg, app=check_app(args.app))
    options.strict = args.budget is not None
    if args.iterations is not None:
        options.iterations = whole(args.iterations, "iterations", 1, 1_000_000)
    options.cheap, options.fine = models_of(args, available)
    choose_way(options, args.by or "auto")
    return options


def choose_way(options, by):
    """How windows are run: all in one mixed run, as copies of one run, or in runs of their own."""
    if by not in ("auto", "run", "fork", "again"):
        raise Problem(f"-by needs run, fork, again or auto, not '{by}'")
    if by == "run" and options.jobs > 1:
        raise Problem("-jobs is for windows by fork or again: those of -by run are in one run")
    need_slurm(options)
    if options.slurm and by not in ("auto", "again"):
        raise Problem(f"-slurm is for windows by again, not by {by}")
    if options.iterations and (by not in ("auto", "run") or options.jobs > 1 or options.slurm):
        raise Problem("-iterations has one window, at the begin of the run: -by, -jobs and -slurm are for many")
    options.by = by if by != "auto" else "again" if options.slurm else "fork" if options.jobs > 1 else "run"
    if options.by == "again" and not shutil.which("snakemake"):
        raise Problem("-by again: missing: snakemake (Debian: apt-get install snakemake)")
