# SPDX-License-Identifier: BSD-3-Clause
"""From the command line to the pictures."""
import os
import re
import shlex
import shutil
import subprocess
import sys

from . import choose
from . import curve as results
from . import jobs
from . import options as command_line
from . import points, same
from .errors import Problem, run_tool
from .one import last_line
from .sweep import Sweep


def need_tools():
    """What a bare machine may not have."""
    missing = []
    # Matplotlib's package depends by way of fonttools on munkres or on scipy, which is 16 MB more to fetch.
    for module, package in (("matplotlib", "python3-matplotlib python3-munkres"), ("jinja2", "python3-jinja2")):
        try:
            __import__(module)
        except ImportError:
            missing.append(package)
    if missing:
        raise Problem(f"missing: {' '.join(missing)} (Debian: apt-get install --no-install-recommends {' '.join(missing)})")


def versions(bindir):
    """The first line of pfinfo, and the models that it calls available."""
    try:
        done = subprocess.run([os.path.join(bindir, "pfinfo")], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise Problem(f"pfinfo does not run: {error}") from None
    return done.stdout.splitlines()[0], re.findall(r"^  ([\w:-]+) +available", done.stdout, re.M)


def as_typed(bindir, tool):
    """The shortest name of a tool for a command line to repeat: by PATH, or next to this one as it was typed."""
    path = os.path.join(bindir, tool)
    near = os.path.join(os.path.dirname(sys.argv[0]), tool)
    for name, place in ((tool, shutil.which(tool)), (near, near if "/" in near else None)):
        if place and os.path.exists(place) and os.path.samefile(place, path):
            return name
    return path


def command_text(words):
    return " ".join(shlex.quote(word) for word in words)


def typed(row):
    """What to type for this schedule: the program's name as it was given, and a folder for the summary."""
    return command_text([row.command[0], "-report", "report", *row.command[1:]])


def fit(options, sweep, bindir):
    """Model analytic, fitted to the fine model on the platform of the sweep; kept like a run."""
    out = os.path.join(options.output, f"analytic-{options.fine}.txt")
    command = [as_typed(bindir, "pfinfo"), f"--fit={options.fine}", "--output", out, "--", *options.run_flags, *options.packet_flags]
    done_before = out + ".command"
    try:
        with open(done_before, encoding="utf-8") as file:
            fitted = file.read() == command_text(command) and os.path.exists(out)
    except OSError:
        fitted = False
    if not fitted:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout, check=False)
        if done.returncode:
            raise Problem(f"--fit: {last_line(done.stdout + done.stderr)}")
        with open(done_before, "w", encoding="utf-8") as file:
            file.write(command_text(command))
    sweep.analytic = ["--cfg=parfocal/analytic_parameters:" + out]
    return command_text(command)


def sweep_points(options, sweep):
    """All points of the sweep, the single models among them, and in words how they were chosen."""
    ways = {"schedules": lambda: choose.from_file(options), "phases": lambda: choose.by_phases(options, sweep),
            "switch_after": lambda: choose.by_switch(options, sweep)}
    wanted, chosen = ways[options.mode]()
    if options.sample:
        wanted, chosen = [*wanted, points.sample(options.sample, options.cheap, options.fine)], f"{chosen}; a sample of {options.fine}"
    return wanted, chosen


def make_curve(options, sweep, wanted):
    runs = sweep.run(wanted)
    rows = [results.make_row(point, sweep.command(point), [run for run in runs if run.point == point], options.clock)
            for point in wanted]
    return results.Curve(rows, options)


def words(curve, best):
    """What the curve says, in sentences."""
    options = curve.options
    within = f"within {100 * options.within:g} % of {curve.reference_name}"
    if not best:
        closest = min(curve.good(), key=lambda row: row.size)
        return [f"No schedule is {within}. The closest is {closest.point.name}: {results.percent_text(closest.error.median)}.", *sampled(curve)]
    said = [f"The cheapest schedule {within}: {best.point.name}."]
    if best is curve.finest and not options.reference_csv:
        said += ["That is the reference itself: no cheaper one is so accurate."]
    else:
        finest = curve.finest
        said += [f"Its error is {results.percent_text(best.error.median)}. Its simulation overhead is "
                 f"{results.seconds_text(best.overhead.median)}, that of all {options.reference} "
                 f"{results.seconds_text(finest.overhead.median)}: {results.ratio_text(best.ratio)}. Start-up takes "
                 f"{results.seconds_text(best.startup.median)} and {results.seconds_text(finest.startup.median)} besides."]
    return said + sure(curve) + sampled(curve)


def sampled(curve):
    """What the sample says without the run that all others are compared with, and whether that is so."""
    said = []
    for row in (row for row in curve.good() if row.point.sampled):
        sample, seconds = row.good[0].summary["sample"], row.simulated
        half = (seconds.most - seconds.least) / 2 / seconds.median
        inside = seconds.least <= curve.finest.simulated.median <= seconds.most
        said.append(f"The {row.point.name}: all {row.point.fine} takes {results.seconds_text(seconds.median)} +- {100 * half:.2g} % at "
                    f"{100 * sample['confidence']:g} %, from {sample['simulated']} of {sample['units']} units. All {curve.options.reference} "
                    f"takes {results.seconds_text(curve.finest.simulated.median)}: {'inside' if inside else 'OUTSIDE'} the interval. "
                    f"The sample's overhead is {results.ratio_text(row.ratio)} of that.")
    return said


MOST_NAMES = 4  # of ties


def sure(curve):
    """Whether another schedule could be the cheapest as well."""
    names = [row.point.name for row in sorted(curve.ties, key=lambda row: row.overhead.median)]
    if names:
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        return [f"A tie: the overhead of {', '.join(names[:MOST_NAMES])}{more} overlaps with it, from the least to the most of "
                f"{curve.options.repeat} runs."]
    if curve.options.repeat == 1 and len(curve.good()) > 1:
        return ["One run each: how much the overhead varies from run to run is not known (--repeat)."]
    return []


def busy(curve):
    """A warning where other work ran on the machine."""
    if curve.share() >= 0.9 or curve.options.clock == "cpu":
        return []
    return [f"The machine was busy: the runs had {100 * curve.share():.0f} % of a processor. Their wall-clock times say little; "
            "repeat the sweep on an idle machine, or take --clock cpu."]


def subtitle(options):
    return f"{command_text([os.path.basename(options.app[0]), *options.app[1:]])}; pfrun {command_text(options.run_flags)}; " \
           + ("processor time; " if options.clock == "cpu" else "") \
           + (f"medians of {options.repeat} runs, bars from least to most" if options.repeat > 1 else "one run each")


def work(bindir, arguments):
    if any(word.lstrip("-").partition("=")[0] == "workload" and word.startswith("-") for word in arguments):
        return jobs.work(bindir, arguments, *versions(bindir))
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
    from . import plot, report  # they need matplotlib and jinja2
    sweep = Sweep(options, as_typed(bindir, "pfrun"), version)
    sweep.open()
    fitted = fit(options, sweep, bindir) if options.fit else ""
    wanted, chosen = sweep_points(options, sweep)
    curve = make_curve(options, sweep, wanted)
    best = curve.best
    results.write_points(curve, os.path.join(sweep.out, "points.csv"))
    results.write_runs(curve, os.path.join(sweep.out, "runs.csv"))
    plot.draw_curve(curve, best, os.path.join(sweep.out, "curve"), subtitle(options))
    sentences = words(curve, best)
    report.write(curve, best, sweep.out, {"version": version, "chosen": chosen, "fitted": fitted, "sentences": sentences + busy(curve),
                                          "typed": typed, "subtitle": subtitle(options),
                                          "command": command_text([as_typed(bindir, "pfcurve"), *arguments]),
                                          "cwd": os.getcwd(), "environment": same.environment()})
    print(f"{chosen}; {len(curve.rows)} schedules, {sum(len(row.good) for row in curve.rows)} runs")
    for run in curve.failures():
        print(f"failed: {run.point.name}, run {run.repeat + 1}: {run.result['why']}")
    for sentence in sentences + busy(curve):
        print(sentence)
    if best:
        print(f"  {typed(best)}")
    print(f"Picture and report: {os.path.join(options.output, 'curve.png')}, {os.path.join(options.output, 'report.html')}")
    return 1 if curve.failures() else 0


def main(bindir):
    return run_tool("pfcurve", lambda: work(bindir, sys.argv[1:]))
