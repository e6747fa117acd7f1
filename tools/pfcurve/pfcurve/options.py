# SPDX-License-Identifier: BSD-3-Clause
"""The command line. Flags have pfrun's names; one dash and two are the same, as there."""
import argparse
import os
import re
from dataclasses import dataclass, field

import models  # base/models.py

from .curve import measured_times
from .errors import Problem
from .pool import need_slurm

NAMES = models.NAMES  # coarsest first
# Those of another stack than that of portals, or over another network under the NIC, answer questions of their own, and come when they are named.
OTHER_STACKS = {model.name for model in models.MODELS if model.implementation in ("UCX", "MPICH")}
SPECIAL = OTHER_STACKS | {model.name for model in models.MODELS if model.network not in ("", "flow")}
# Of these the network has packets, and can have background traffic.
PACKETS = {name for model in models.MODELS if model.network in ("packet", "external") for name in (model.name, model.pair)}
USAGE = """pfcurve -np N --schedules FILE | --phases | --switch-after [options] ./app [arguments]

Runs an application under a set of schedules and draws the error over the slowdown.
Writes points.csv, runs.csv, curve.svg, curve.png and report.html to the folder of --output, and prints which schedule is the
cheapest within a given error. Finished runs are kept there and not repeated. One dash before a flag and two are the same.
pfcurve -workload FILE compares jobs alone and beside each other instead (pfcurve -workload FILE --help)."""


@dataclass
class Options:
    """What was asked for."""
    run_flags: list = field(default_factory=list)  # of pfrun: -np, -platform, -hostfile, --cfg
    packet_flags: list = field(default_factory=list)  # of pfrun, for runs with a network of packets: -background, -fail
    app: list = field(default_factory=list)
    mode: str = ""
    schedules: str = ""
    unit: str = "time"
    steps: int = 10
    models: list = field(default_factory=list)
    cheap: str = ""
    fine: str = ""
    reference: str = ""
    reference_csv: str = ""
    measured: list = field(default_factory=list)  # seconds, of the CSV
    fit: bool = False
    sample: str = ""
    repeat: int = 3
    within: float = 0.05
    clock: str = "wall"
    jobs: int = 1
    limit: int = 32
    timeout: float = 3600
    output: str = "curve"
    slurm: bool = False
    partition: str = ""
    sbatch: list = field(default_factory=list)
    title: str = ""
    quiet: bool = False


class Parser(argparse.ArgumentParser):
    """Errors are one line."""

    def error(self, message):
        message = re.sub(r"^argument (?:-[\w-]+/)?(--[\w-]+): ", r"\1: ", message)
        raise Problem(f"{message} ({self.prog} --help lists all)")

    def _get_option_tuples(self, option_string):
        """No abbreviations: argparse looks for them in the application's arguments, too, and would find -m ambiguous."""
        return []


class Help(argparse.HelpFormatter):
    """One name for each flag: that of the manual."""

    def __init__(self, prog):
        super().__init__(prog, max_help_position=26, width=110)

    def _format_action_invocation(self, action):
        if not action.option_strings:
            return super()._format_action_invocation(action)
        name = action.option_strings[0 if action.dest in ("np", "platform", "hostfile") else -1]
        values = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{name}{'=' if action.dest in ('cfg', 'sbatch') else ' '}{values}" if action.nargs != 0 else name


def flag(parser, name, **more):
    parser.add_argument("-" + name, "--" + name, **{"dest": name.replace("-", "_"), **more})


def add_run_flags(run, slurm):
    """What a tool that simulates many runs has; `slurm` tells what its flag does."""
    flag(run, "timeout", type=float, default=3600, metavar="SECONDS", help="longest run (default: 3600)")
    flag(run, "slurm", action="store_true", help=slurm)
    flag(run, "partition", default="", metavar="NAME", help="Slurm's partition (default: Slurm's)")
    flag(run, "sbatch", action="append", default=[], metavar="OPTION", help="more for sbatch; may be repeated")
    flag(run, "quiet", action="store_true", help="no progress")
    flag(run, "help", action="store_true", help="this text")
    flag(run, "h", dest="help", action="store_true", help=argparse.SUPPRESS)
    flag(run, "version", action="store_true", help="Parfocal's version")


def build_parser():
    parser = Parser(prog="pfcurve", usage=USAGE, allow_abbrev=False, add_help=False, formatter_class=Help)
    run = parser.add_argument_group("given to pfrun")
    flag(run, "np", metavar="N", help="number of ranks")
    flag(run, "platform", metavar="FILE|NAME", help="platform file or built-in one (default: pfrun's)")
    flag(run, "hostfile", metavar="FILE", help="hosts of the ranks")
    flag(run, "machine", metavar="NAME|FILE", help="simulated machine (pfinfo --machine)")
    flag(run, "calibrated", metavar="FILE", help="settings for model smpi (pfinfo --fit)")
    flag(run, "background", metavar="TRAFFIC", help="background traffic, in runs with packets")
    flag(run, "fail", metavar="LINKS", help="links that fail, in these runs as well")
    run.add_argument("--cfg", action="append", default=[], metavar="KEY:VALUE", help="setting; may be repeated")
    what = parser.add_argument_group("which schedules (one of the three)")
    flag(what, "schedules", metavar="FILE", help="one a line: a name, then a schedule or a model")
    flag(what, "phases", action="store_true", help="a model for each phase: all combinations when few")
    flag(what, "switch-after", action="store_true",
         help="the first k of n parts in the fine model, the rest in the cheap one, and the reverse")
    flag(what, "steps", type=int, default=10, metavar="n", help="parts of --switch-after (default: 10)")
    flag(what, "unit", default="time", choices=["time", "phase", "coll"],
         help="parts of simulated time (default), phases, collectives on MPI_COMM_WORLD")
    flag(what, "max-points", type=int, default=32, metavar="N", help="--phases: most combinations (32)")
    flag(what, "models", metavar="M,...", help="models of the sweep (default: analytic, smpi and portals, as far as available)")
    flag(what, "cheap", metavar="M", help="model to save with (default: the first of " + ", ".join(NAMES) + ")")
    flag(what, "fine", metavar="M", help="fine model (default: the last of them)")
    flag(what, "fit", action="store_true", help="first fit model analytic to the fine model (pfinfo --fit)")
    flag(what, "sample", metavar="GOAL", help="besides, a sample of the run in the fine model (pfrun -sample GOAL)")
    out = parser.add_argument_group("result")
    flag(out, "reference", metavar="MODEL|CSV", help="reference: a model (default: the fine one), or measured times")
    flag(out, "within", default="5%", metavar="ERROR", help="error that is small enough (default: 5%%)")
    flag(out, "clock", default="wall", choices=["wall", "cpu"],
         help="cost: wall-clock (default), or, on a busy machine, that times the run's share of a processor")
    flag(out, "output", default="curve", metavar="DIR", help="folder of the results (default: curve)")
    flag(out, "title", default="", metavar="TEXT", help="headline (default: the program's name)")
    run = parser.add_argument_group("how to run")
    flag(run, "repeat", type=int, default=3, metavar="R", help="runs of each schedule (default: 3)")
    flag(run, "jobs", type=int, metavar="N",
         help="runs at a time (default: 1; more disturb each other's wall-clock)")
    add_run_flags(run, "a Slurm job with a node of its own for each run")
    parser.add_argument("app", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def positive(value, name, least=1):
    if value is not None and not least <= value < float("inf"):
        raise Problem(f"--{name} must be at least {least}, not {value:g}")


def percent(text, name):
    match = re.fullmatch(r"([0-9.]+(?:e-?[0-9]+)?)\s*(%?)", text.strip())
    try:
        value = float(match[1]) / (100 if match[2] else 1)
    except (TypeError, ValueError):
        raise Problem(f"--{name} needs an error such as 5% or 0.05, not '{text}'") from None
    if not 0 < value < 1:
        raise Problem(f"--{name} must lie between 0% and 100%, not '{text}'")
    return value


def models_of(text, available):
    names = [name.strip() for name in text.split(",")] if text is not None else [name for name in available if name not in SPECIAL]
    names = [check_model(name, available) for name in names]
    return [model for model in NAMES if model in names]


def check_model(given, available):
    """The name of a model that may be written in another way."""
    name = models.BY_NAME.get(given)
    if not name:
        raise Problem(f"unknown model '{given}': {', '.join(available)} are available")
    if name not in available:
        raise Problem(f"model {given} is not available here (pfinfo prints why)")
    return name


def choose_models(options, args, available):
    options.models = models_of(args.models, available)
    for name, default in (("cheap", options.models[0]), ("fine", options.models[-1])):
        model = default if getattr(args, name) is None else getattr(args, name)
        setattr(options, name, check_model(model, available))
    if options.cheap == options.fine:
        raise Problem(f"--cheap and --fine are both {options.fine}: a curve needs two models")
    reference = args.reference or options.fine
    if reference not in models.BY_NAME and (reference.endswith(".csv") or os.path.exists(reference)):
        options.reference_csv, options.reference = reference, options.fine
        options.measured = measured_times(reference)
    else:
        options.reference = check_model(reference, available)
    wanted = {*options.models, options.cheap, options.fine, options.reference}
    options.models = [model for model in NAMES if model in wanted]


def pfrun_flags(args):
    flags = []
    if args.np:
        if not args.np.isdecimal() or not 1 <= int(args.np) <= 10000000:
            raise Problem(f"-np needs a whole number of ranks from 1 to 10000000, not '{args.np}'")
        flags += ["-np", args.np]
    if args.hostfile:
        flags += ["-hostfile", args.hostfile]
    if not flags:
        raise Problem("how many ranks? -np N or -hostfile FILE")
    if args.platform:
        flags += ["-platform", args.platform]
    for name in ("machine", "calibrated"):
        if getattr(args, name):
            flags += ["-" + name, getattr(args, name)]
    for name in (args.hostfile, args.platform, args.machine, args.calibrated):
        if name and ("/" in name or name.endswith((".xml", ".machine")) or name == args.calibrated) and not os.path.isfile(name):
            raise Problem(f"there is no file {name}")
    for setting in args.cfg:
        if ":" not in setting:
            raise Problem(f"'--cfg={setting}': a setting is --cfg=KEY:VALUE")
        flags.append("--cfg=" + setting)
    return flags


def packet_flags(args, swept):
    """Flags that pfrun refuses in a run without a network of packets."""
    flags = [word for name in ("background", "fail") if getattr(args, name) for word in ("-" + name, getattr(args, name))]
    if flags and not PACKETS & set(swept):
        raise Problem(f"--{flags[0][1:]} is for a network of packets: no such model is in the sweep (--models analytic,packet)")
    return flags


def check_app(app):
    if app and app[0] == "--":
        app = app[1:]
    if not app:
        raise Problem("no application: pfcurve [options] ./app [arguments]")
    if app[0].startswith("-"):
        raise Problem(f"unknown option '{app[0]}' (pfcurve --help lists all)")
    if not os.path.exists(app[0]):
        hint = f": a program of this folder is ./{app[0]}" if "/" not in app[0] else ""
        raise Problem(f"the application '{app[0]}' does not exist{hint}")
    if not os.path.isfile(app[0]):
        raise Problem(f"the application '{app[0]}' is no file")
    if not os.access(app[0], os.X_OK):
        raise Problem(f"the application '{app[0]}' is not executable")
    return app


def mode_of(args):
    modes = [name for name in ("schedules", "phases", "switch_after") if getattr(args, name)]
    if len(modes) != 1:
        raise Problem("which schedules? one of --schedules FILE, --phases and --switch-after")
    if args.schedules and not os.path.isfile(args.schedules):
        raise Problem(f"there is no file {args.schedules}")
    return modes[0]


def from_args(args, available):
    """Options that fit together; Problem otherwise. `available`: models of this installation."""
    for name in ("repeat", "jobs", "steps", "max_points", "timeout"):
        positive(getattr(args, name), name.replace("_", "-"))
    options = Options(run_flags=pfrun_flags(args), app=check_app(args.app), mode=mode_of(args),
                      schedules=args.schedules or "", unit=args.unit, steps=args.steps, fit=args.fit, repeat=args.repeat,
                      within=percent(args.within, "within"), clock=args.clock, limit=args.max_points, timeout=args.timeout, output=args.output,
                      jobs=args.jobs or (8 if args.slurm else 1), slurm=args.slurm, partition=args.partition,
                      sbatch=args.sbatch, quiet=args.quiet)
    if not options.output:
        raise Problem("--output needs the name of a folder")
    choose_models(options, args, available)
    if args.sample is not None:
        percent(args.sample, "sample")
        options.sample = args.sample.replace(" ", "")
    options.packet_flags = packet_flags(args, options.models)
    options.title = args.title or os.path.basename(options.app[0])
    if options.fit and "analytic" not in options.models:
        raise Problem("--fit fits model analytic, which is not among the models of the sweep")
    need_slurm(options)
    return options
