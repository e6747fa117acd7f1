# SPDX-License-Identifier: BSD-3-Clause
"""From the command line to the pictures."""
import os
import re
import shlex
import shutil
import subprocess
import sys

from . import curve as results
from . import options as command_line
from . import points
from .errors import Problem
from .sweep import Sweep


def need_tools():
    """What a bare machine may not have."""
    missing = [] if shutil.which("snakemake") else ["snakemake"]
    for module, package in (("matplotlib", "python3-matplotlib"), ("jinja2", "python3-jinja2")):
        try:
            __import__(module)
        except ImportError:
            missing.append(package)
    if missing:
        raise Problem(f"missing: {' '.join(missing)} (Debian: apt-get install {' '.join(missing)})")


def versions(bindir):
    """The first line of pfinfo, and the models that it calls available."""
    try:
        done = subprocess.run([os.path.join(bindir, "pfinfo")], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise Problem(f"pfinfo does not run: {error}") from None
    return done.stdout.splitlines()[0], re.findall(r"^  (\w+) +available", done.stdout, re.M)


def command_text(words):
    return " ".join(shlex.quote(word) for word in words)


def typed(row):
    """What to type for this schedule: the program's name as it was given, and a folder for the summary."""
    return command_text([row.command[0], "-report", "report", *row.command[1:]])


def sweep_points(options, sweep):
    singles = [points.single(model) for model in options.models]
    return singles + [point for point in points.from_file(options.schedules, options.cheap, options.models)
                      if point.schedule or point.start not in options.models]


def make_curve(options, sweep, wanted):
    runs = sweep.run(wanted)
    rows = [results.make_row(point, sweep.command(point), [run for run in runs if run.point == point]) for point in wanted]
    return results.Curve(rows, options)


def say(curve, best):
    options = curve.options
    for run in curve.failures():
        print(f"failed: {run.point.name}, run {run.repeat + 1}: {run.result['why']}")
    if not best:
        print(f"No schedule is within {100 * options.within:g} % of {curve.reference_name}.")
        return
    print(f"The cheapest schedule within {100 * options.within:g} % of {curve.reference_name}: {best.point.name}")
    print(f"  error {results.percent_text(best.error.median)}; simulation overhead "
          f"{results.seconds_text(best.overhead.median)}, all {options.reference} {results.seconds_text(curve.finest.overhead.median)}: "
          f"{best.ratio:.3g} times less ({best.ratio_startup:.3g} times with start-up)")
    print(f"  {typed(best)}")


def subtitle(options):
    return f"{command_text([os.path.basename(options.app[0]), *options.app[1:]])}; pfrun {command_text(options.run_flags)}; " \
           f"medians of {options.repeat} runs, bars from least to most"


def work(bindir, arguments):
    args = command_line.build_parser().parse_args(arguments)
    if args.help:
        print(command_line.build_parser().format_help(), end="")
        return 0
    version, available = versions(bindir)
    if args.version:
        print(version.replace("Parfocal", "pfcurve (Parfocal)"))
        return 0
    options = command_line.from_args(args, available)
    need_tools()
    from . import plot  # needs matplotlib
    sweep = Sweep(options, os.path.join(bindir, "pfrun"))
    sweep.open()
    wanted = sweep_points(options, sweep)
    curve = make_curve(options, sweep, wanted)
    best = curve.cheapest_within(options.within)
    results.write_points(curve, os.path.join(sweep.out, "points.csv"))
    results.write_runs(curve, os.path.join(sweep.out, "runs.csv"))
    plot.draw_curve(curve, best, os.path.join(sweep.out, "curve"), subtitle(options))
    say(curve, best)
    return 1 if curve.failures() else 0


def main(bindir, arguments=None):
    try:
        return work(bindir, sys.argv[1:] if arguments is None else arguments)
    except Problem as problem:
        print(f"pfcurve: error: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("pfcurve: stopped; the runs that are finished are kept", file=sys.stderr)
        return 130
