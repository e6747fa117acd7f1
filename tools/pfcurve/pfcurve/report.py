# SPDX-License-Identifier: BSD-3-Clause
"""report.html: one file that needs nothing else and no network."""
import os
import platform
import time

import jinja2
import matplotlib
import models
from markupsafe import Markup  # a dependency of jinja2

from . import bars
from . import curve as results
from .sweep import VISITS

HERE = os.path.dirname(os.path.abspath(__file__))


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def machine(version):
    return [("Parfocal", version.replace("Parfocal ", "")), ("Matplotlib", matplotlib.__version__), ("Python", platform.python_version()),
            ("system", f"{platform.system()} {platform.release()}"), ("processor", f"{processor()}, {os.cpu_count()} cores")]


def spread_text(spread, form):
    """The median; below it the least and the most where they differ as they are written."""
    text, ends = form(spread.median), [form(value).replace("+", "") for value in (spread.least, spread.most)]
    return text if ends[0] == ends[1] else Markup(f"{text}<small>{ends[0]} to {ends[1]}</small>")


def plain(value):
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def write(curve, best, folder, facts):
    """`facts`: what main knows: version, chosen, fitted, sentences, typed, subtitle, command."""
    loader = jinja2.FileSystemLoader([HERE, os.path.dirname(models.__file__)])  # page.css is beside it
    page = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True).get_template("report.html.in")
    with open(os.path.join(folder, "curve.svg"), encoding="utf-8") as file:
        text = file.read()
    rows = sorted(curve.rows, key=lambda row: row.overhead.median if row.good else float("inf"))
    text = page.render(
        curve=curve, best=best, options=curve.options, rows=rows, failures=len(curve.failures()),
        curve_svg=text[text.index("<svg"):], phases_svg=bars.draw_phases(curve), timeline_svg=bars.draw_timeline(curve, best),
        shown=len(bars.timeline_rows(curve, best)), ranks_svg=bars.draw_ranks(curve, best), visits=VISITS,
        cut=any("cut_s" in rank for row in bars.by_rank(curve, best) for rank in row.good[0].summary["timeline"]),
        seconds=lambda spread: spread_text(spread, results.seconds_text), plain=lambda spread: spread_text(spread, plain),
        percent=lambda spread: spread_text(spread, results.percent_text), ratio=results.ratio_text,
        machine=machine(facts["version"]), configuration=curve.finest.good[0].summary["configuration"],
        date=time.strftime("%Y-%m-%d %H:%M"), hosts=sorted({run.result["host"] for row in curve.good() for run in row.good}), **facts)
    with open(os.path.join(folder, "report.html"), "w", encoding="utf-8") as file:
        file.write(text)
