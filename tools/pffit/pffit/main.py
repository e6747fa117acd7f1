# SPDX-License-Identifier: BSD-3-Clause
"""pfinfo --fit=MEASURED.tsv[:SYSTEM] --for=MACHINE [--output FILE] [-- -model MODEL ... options of pfrun]

Fits the rows of the machine file whose comment begins with "fit" and writes a machine file with them."""
import math
import os
import re
import sys

from pffit import measured
from pffit.simulate import Simulator
from pffit.solve import Fit

ROW = re.compile(r"^(\w+)(\s*=\s*)(\S+)(\s*)(#\s*fit\b.*)?$")
LARGEST = 8 << 20  # bytes: larger cells measure the memory
UNSURE = math.log(2)  # a standard error beyond this: not determined


def factor(values, share):
    values = sorted(abs(v) for v in values)
    return math.exp(values[min(len(values) - 1, int(share * len(values)))])


def both(values):
    return f"{factor(values, 0.5):.2f} (90 %: {factor(values, 0.9):.2f})"


def rows_to_fit(lines, path):
    rows = {}
    for line in lines:
        match = ROW.match(line)
        if match and match[5]:
            try:
                rows[match[1]] = float(match[3])
            except ValueError:
                raise measured.Refused(f"{path}: {match[1]} = {match[3]} is no number that can be fitted") from None
            if rows[match[1]] <= 0:
                raise measured.Refused(f"{path}: {match[1]} must begin above 0 to be fitted")
    if not rows:
        raise measured.Refused(f"{path}: no row to fit: the comment of such a row begins with fit, as in 'openmpi_send_time = 1e-7  # fit'")
    return rows


def machine_lines(name, bindir, option="--for", others="neither analytic nor smpi, and "):
    for path in (name, f"{bindir}/../machines/{name}.machine", f"{bindir}/../share/parfocal/machines/{name}.machine"):
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                return os.path.abspath(path), file.read().splitlines()
    raise measured.Refused(f"{option}: '{name}' is {others}no machine (pfinfo --machine) or file of one")


def read_options(words):
    """Our part of pfrun's options: the model, and the ranks of OSU's output."""
    rest, model, nodes = [], "analytic", 0
    words = list(words)
    while words:
        word = words.pop(0)
        if word in ("-model", "-np") and words:
            value = words.pop(0)
            model, nodes = (value, nodes) if word == "-model" else (model, measured.number(value, "-np", "--fit", True))
        else:
            rest.append(word)
    return rest, model, nodes


def leave_out(fit, cells):
    """By collective; within one collective by algorithm."""
    by = 1 if len({c.collective for c in cells}) > 1 else 2
    kinds = sorted({c[by] for c in cells})
    if len(kinds) < 2:
        return {}
    return {kind: fit.without([i for i, c in enumerate(cells) if c[by] == kind]) for kind in kinds}


def report(fit, names, held_out):
    yield f"{len(fit.measured)} cells; factor between measured and simulated: median {both(fit.residuals)}"
    if held_out:
        together = [r for residuals in held_out.values() for r in residuals]
        yield f"left out of the fit in turn: median {both(together)}"
        for kind, residuals in held_out.items():
            yield f"  {kind:<20} {len(residuals):3d} cells {both(residuals)}"
    for name, value, error, start in zip(names, fit.values, fit.errors, fit.start):
        told = f"within a factor of {math.exp(error):.2f}" if error < UNSURE else "not determined by these cells"
        yield f"{name} = {value:.4g}, {told} (before: {start:.4g})"


def write(path, lines, fit, names, source, told):
    values = dict(zip(names, zip(fit.values, fit.errors)))
    with open(path, "w", encoding="utf-8") as file:
        for line in lines:
            match = ROW.match(line)
            if match and match[1] in values:
                value, error = values[match[1]]
                sure = f"within a factor of {math.exp(error):.2f}" if error < UNSURE else "not determined"
                line = f"{match[1]}{match[2]}{value:.4g}{match[4]}# fit: to {source}, {sure}"
            file.write(line + "\n")
        file.writelines(f"# fit: {line}\n" for line in told)


def run(arguments, bindir):
    source, machine, output, *options = arguments
    path, _, system = (source, "", "") if os.path.isfile(source) else source.rpartition(":")
    options, model, nodes = read_options(options)
    machine, lines = machine_lines(machine, bindir)
    rows = rows_to_fit(lines, machine)
    cells = measured.read(path or source, system, nodes, LARGEST)
    names = list(rows)
    if len(cells) < 2 * len(names):
        raise measured.Refused(f"{source}: {len(cells)} cells do not determine {len(names)} rows: measure at least {2 * len(names)}, or fit fewer")
    simulator = Simulator(bindir, model, options)
    for cell in cells:
        simulator.check(cell)
    fit = Fit([c.us for c in cells], rows.values(), lambda values: simulator.times(cells, machine, dict(zip(names, values))),
              lambda text: print(f"\r{text}", end="", file=sys.stderr, flush=True) if sys.stderr.isatty() else None)
    fit.solve()
    told = list(report(fit, names, leave_out(fit, cells)))
    write(output, lines, fit, names, os.path.basename(source), [f"model {model}", *told])
    print("\n".join(told))
    print(f"written: {output} (pfrun -machine {output if '/' in output else './' + output})")


def main(bindir):
    try:
        run(sys.argv[1:], bindir)
    except measured.Refused as error:
        sys.exit(f"pfinfo: error: --fit: {error}")
    return 0
