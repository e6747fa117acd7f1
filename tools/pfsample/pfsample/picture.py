# SPDX-License-Identifier: BSD-3-Clause
"""sample.svg and sample.html: the units over simulated time, those that were simulated marked, and the same as a table."""
import html
import os

from pfcurve.bars import time_axis
from pfcurve.curve import percent_text, seconds_text
from pfcurve.style import COLOURS, INK, PALE, plt, style, svg_of, tidy

MOST_ROWS = 500  # of the table in the page; units.csv has all

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px/1.45 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222 }}
table {{ border-collapse: collapse }} td, th {{ padding: 0.15em 0.8em; text-align: right; border-bottom: 1px solid #ddd }}
td:first-child, th:first-child {{ text-align: left }} svg {{ width: 100%; height: auto }} pre {{ overflow-x: auto; background: #f6f6f6; padding: 0.7em }}
</style></head><body><main><h1>{title}</h1><pre>{text}</pre>
<figure role="img" aria-label="{label}">{svg}<figcaption>{label} The table below has the same numbers.</figcaption></figure>
<h2>Strata</h2><table><thead><tr><th scope="col">stratum</th><th scope="col">units</th><th scope="col">drawn</th><th scope="col">share</th>
<th scope="col">{fine}/{cheap}</th></tr></thead><tbody>{strata}</tbody></table>
<h2>Units that were simulated in {fine}</h2><table><thead><tr><th scope="col">unit</th><th scope="col">begins at</th><th scope="col">stratum</th>
<th scope="col">why</th><th scope="col">{cheap}</th><th scope="col">{fine}</th><th scope="col">ratio</th></tr></thead><tbody>{units}</tbody></table>{more}
</main></body></html>
"""


def draw(result):
    style()
    marks = result.runs.marks.marks
    figure, axis = plt.subplots(figsize=(11, 4))
    axis.plot([marks[unit.first].date for unit in result.units], [unit.x for unit in result.units], drawstyle="steps-post", linewidth=0.8,
              color=COLOURS[result.options.cheap], label=f"{result.options.cheap}, all units")
    for why, marker, numbers in (("certain", "s", [k for k in result.known if k in result.plan.certain]),
                                 ("drawn", "o", [k for k in result.known if k not in result.plan.certain])):
        axis.plot([marks[result.units[k].first].date for k in numbers], [result.known[k] for k in numbers], marker, markersize=5,
                  color=COLOURS[result.options.fine], markeredgecolor="white", label=f"{result.options.fine}, {why}")
        axis.vlines([marks[result.units[k].first].date for k in numbers], [result.units[k].x for k in numbers],
                    [result.known[k] for k in numbers], color=PALE, linewidth=0.8, zorder=1)
    axis.set_yscale("log")
    axis.set_xlabel(f"Simulated time in {result.options.cheap}")
    axis.set_ylabel("Simulated seconds of a unit", color=INK)
    axis.legend(frameon=False, fontsize=8.5, ncol=3, loc="lower right", bbox_to_anchor=(1, 1))
    tidy(axis)
    time_axis(axis)
    figure.tight_layout()
    return figure


def row(cells):
    return "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells) + "</tr>\n"


def write(result, folder):
    figure = draw(result)
    figure.savefig(os.path.join(folder, "sample.svg"), metadata={"Date": None})
    marks, o, e = result.runs.marks.marks, result.options, result.estimate
    strata = "".join(row([p.name, p.units, p.drawn, f"{100 * p.total / e.total:.3g} %", f"{p.ratio:.4f}"]) for p in e.parts)
    units = "".join(row([k, seconds_text(marks[result.units[k].first].date), result.names[k], result.plan.certain.get(k, "drawn"),
                         seconds_text(result.units[k].x), seconds_text(result.known[k]),
                         percent_text(result.known[k] / result.units[k].x - 1) if result.units[k].x > 0 else ""])
                    for k in sorted(result.known)[:MOST_ROWS])
    label = f"Simulated seconds of each of {len(result.units)} units in {o.cheap}, and of {len(result.known)} of them in {o.fine}."
    page = PAGE.format(title=html.escape(f"Sample of {os.path.basename(o.app[0])}"), text=html.escape("\n".join(result.text())), fine=o.fine,
                       cheap=o.cheap, label=label, svg=svg_of(figure), strata=strata, units=units,
                       more="<p>units.csv has all.</p>" if len(result.known) > MOST_ROWS else "")
    with open(os.path.join(folder, "sample.html"), "w", encoding="utf-8") as file:
        file.write(page)
