# SPDX-License-Identifier: BSD-3-Clause
"""The options of pfrun -sample, which pfrun has read."""
import os
import re

from pfcurve.errors import Problem, say
from pfcurve.options import NAMES, OTHER_STACKS, check_app, check_model, pfrun_flags

PASSED_ON = ("tmpdir", "load", "background", "fail")  # to all runs


class Given(dict):
    """Options by the names of pfrun's table, and what follows from them; None for what was not given."""
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__


def given_to_pfrun(text, app):
    """`text`: NAME=VALUE, each with a separator behind it."""
    args = Given(cfg=[], log=[], app=app)
    for option in text.split("\036")[:-1]:
        name, _, value = option.partition("=")
        if name in ("-cfg", "-log"):
            args[name[1:]].append(value)
        else:
            args[name.replace("-", "_")] = value
    return args


def percent(text, name, most):
    match = re.fullmatch(r"([0-9]*\.?[0-9]+(?:e-?[0-9]+)?)\s*(%?)", text.strip())
    value = float(match[1]) / (100 if match[2] or name == "budget" else 1) if match else 0
    if not match or not 0 < value < most:
        raise Problem(f"-{name} needs a share such as {'2%' if name == 'sample' else '10%'}, above 0 and below {100 * most:g} %, not '{text}'")
    return value


def models_of(args, available):
    """(cheap, fine): the cheapest and the finest that there are, when none is named."""
    usual = [model for model in NAMES if model in available and model not in OTHER_STACKS | {"external"}]
    cheap, fine = (check_model(name, available) for name in (args.cheap or usual[0], args.fine or usual[-1]))
    if NAMES.index(fine) <= NAMES.index(cheap):
        raise Problem(f"-fine {fine} is not finer than -cheap {cheap} (from coarse to fine: {', '.join(usual)})")
    return cheap, fine


def checked(args, available):
    """What was asked for, if it fits together; Problem otherwise. Besides the options: `goal`, `strict` (a budget was asked for), `run_flags` of pfrun and
    `cfg`, the settings among them."""
    for variable in ("PARFOCAL_SCHEDULE", "PARFOCAL_REGIONS", "PARFOCAL_MARKERS"):
        if os.environ.get(variable):
            raise Problem(f"{variable} is not for -sample, which sets it for its runs")
    if not [word for word in args.app if word != "--"]:
        raise Problem("no application given (usage: pfrun -np N -sample GOAL [options] ./app [arguments])")
    if args.seed and not re.fullmatch("[0-9]{1,18}", args.seed):
        raise Problem(f"-seed needs a whole number from 0 to {10**18 - 1}, not '{args.seed}'")
    if args.iterations and not args.quiet:
        say("parfocal: warning: -iterations has no effect any more, and will be removed: the sample finds the iterations")
    args.cheap, args.fine = models_of(args, available)
    flags = [word for name in PASSED_ON if getattr(args, name) for word in ("-" + name, getattr(args, name))]
    args.run_flags = pfrun_flags(args) + flags + ["-no-privatize"] * bool(args.no_privatize) + ["--log=" + setting for setting in args.log]
    args.goal, args.strict, args.budget = percent(args.sample or "2%", "sample", 1), args.budget is not None, percent(args.budget or "10%", "budget", 1.0001)
    args.seed, args.report, args.app = int(args.seed or 1), args.report or "", check_app(args.app)
    return args
