# SPDX-License-Identifier: BSD-3-Clause
"""The command line of pfrun -sample, in which pfrun has found no mistake that its table of options shows."""
import argparse
import os
import re
from dataclasses import dataclass, field

from pfcurve.errors import Problem, say
from pfcurve.options import LADDER, Parser, check_app, check_model, flag, pfrun_flags

@dataclass
class Options:
    """What was asked for."""
    goal: float = 0.02
    fine: str = ""
    cheap: str = ""
    budget: float = 0.1
    strict: bool = False  # the budget was asked for
    verify: bool = False
    seed: int = 1
    report: str = ""
    quiet: bool = False
    run_flags: list = field(default_factory=list)
    settings: list = field(default_factory=list)  # --cfg of them
    app: list = field(default_factory=list)


def build_parser():
    parser = Parser(prog="pfrun", allow_abbrev=False, add_help=False)
    for name in ("sample", "fine", "cheap", "budget", "seed", "iterations", "platform", "machine", "calibrated", "report", "tmpdir",
                 "load", "background", "fail"):
        flag(parser, name)
    parser.add_argument("-np", "--np", "-n", "--n", dest="np")
    parser.add_argument("-hostfile", "--hostfile", "-machinefile", "--machinefile", dest="hostfile")
    for name in ("verify", "quiet", "no-privatize"):
        flag(parser, name, action="store_true")
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
    for variable in ("PARFOCAL_SCHEDULE", "PARFOCAL_WINDOWS", "PARFOCAL_MARKS"):
        if os.environ.get(variable):
            raise Problem(f"{variable} is not for -sample, which sets it for its runs")
    if not [word for word in args.app if word != "--"]:
        raise Problem("no application given (usage: pfrun -np N -sample GOAL [options] ./app [arguments])")
    options = Options(goal=percent(args.sample, "sample", 1), budget=percent(args.budget or "10%", "budget", 1.0001),
                      verify=args.verify, quiet=args.quiet,
                      seed=whole(args.seed or "1", "seed", 0, 2**63 - 1), report=args.report or "",
                      run_flags=pfrun_flags(args) + more_flags(args), settings=args.cfg, app=check_app(args.app))
    options.strict = args.budget is not None
    if args.iterations is not None and not args.quiet:
        say("parfocal: warning: -iterations has no effect any more, and will be removed: the sample finds the iterations")
    options.cheap, options.fine = models_of(args, available)
    return options
