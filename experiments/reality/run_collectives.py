#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How well a machine file predicts measured collectives, and whether the simulation chooses the right algorithms.

MEASURED is a table as pfinfo --fit reads it, of any machine; FILE:SYSTEM takes the rows of one system. Writes DIR/collectives.csv, collectives.png, and prints:

factor   between measured and simulated time, always above 1: median and 90th percentile
choice   cells (nodes, collective, size) in which the algorithm that is the fastest in the simulation is within 10 % of the really fastest one
regret   how many times as long as the really fastest algorithm the chosen one takes, in the mean; and Open MPI's own default
order    pairs of algorithms more than 20 % apart that the simulation puts in the right order
"""
import math
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import study  # noqa: E402 (experiments/study.py)

sys.path.insert(0, f"{study.ROOT}/tools/pffit")
from pffit import measured  # noqa: E402
from pffit.main import both, machine_lines  # noqa: E402
from pffit.simulate import Simulator  # noqa: E402

GOOD, APART = 1.1, 1.2


def cells_of_choice(cells, times):
    """For each (nodes, collective, size) with a choice: measured and simulated times by algorithm, and the default's measured time."""
    found = {}
    for cell, us in zip(cells, times):
        found.setdefault((cell.nodes, cell.ranks_per_node, cell.collective, cell.bytes), {})[cell.algorithm] = (cell.us, us)
    for algorithms in found.values():
        default = algorithms.pop("default", (None, None))[0]
        if len(algorithms) > 1:
            yield algorithms, default


def choices(cells, times):
    regrets, defaults, right, pairs = [], [], 0, 0
    for algorithms, default in cells_of_choice(cells, times):
        best = min(real for real, _ in algorithms.values())
        regrets.append(min(algorithms.values(), key=lambda both_times: both_times[1])[0] / best)
        if default:
            defaults.append(default / best)
        values = list(algorithms.values())
        for i, (real, simulated) in enumerate(values):
            for other, other_simulated in values[i + 1:]:
                if max(real / other, other / real) > APART:
                    pairs += 1
                    right += (real < other) == (simulated < other_simulated)
    if regrets:
        yield f"choice within 10 %: {sum(r <= GOOD for r in regrets)} of {len(regrets)}, mean regret {statistics.mean(regrets):.2f}"
    if defaults:
        yield f"Open MPI's default: {sum(r <= GOOD for r in defaults)} of {len(defaults)}, mean regret {statistics.mean(defaults):.2f}"
    if pairs:
        yield f"order of pairs more than 20 % apart: {right} of {pairs}"


def report(cells, times):
    logarithms = [math.log(c.us / us) for c, us in zip(cells, times)]
    for name in sorted({c.collective for c in cells}):
        yield f"{name:<16} {both([r for c, r in zip(cells, logarithms) if c.collective == name])}"
    yield f"{'all':<16} {both(logarithms)}, bias {math.exp(-statistics.mean(logarithms)):.2f}"
    yield from choices(cells, times)


def simulated(cells, simulator):
    """Those that can be simulated; says of the others that they are left out."""
    reasons = {}
    for cell in cells:
        try:
            simulator.check(cell)
        except measured.Refused as error:
            reasons.setdefault(str(error), []).append(cell)
    for reason, out in reasons.items():
        print(f"run_collectives.py: warning: {len(out)} cells left out: {reason}", file=sys.stderr)
    left = {cell for out in reasons.values() for cell in out}
    if left.issuperset(cells):
        raise measured.Refused("no cell is left")
    return [cell for cell in cells if cell not in left]


def main():
    parser = study.parser(__doc__, "collectives")
    parser.add_argument("measured", help="table of measured cells: FILE or FILE:SYSTEM")
    parser.add_argument("machine", help="machine: NAME or FILE")
    parser.add_argument("--model", default="analytic", help="model (default: analytic)")
    parser.add_argument("--largest", type=int, default=8 << 20, help="cells up to so many bytes (default: 8 MiB)")
    options = parser.parse_args()
    file, _, system = (options.measured, "", "") if os.path.isfile(options.measured) else options.measured.rpartition(":")
    try:
        cells = measured.read(file or options.measured, system, largest=options.largest)
        binaries = os.path.abspath(options.bin)
        simulator = Simulator(binaries, options.model)
        cells = simulated(cells, simulator)
        times = simulator.times(cells, machine_lines(options.machine, binaries)[0], {})
    except measured.Refused as error:
        sys.exit(f"run_collectives.py: {error}")
    os.makedirs(options.out, exist_ok=True)
    study.write_table(f"{options.out}/collectives.csv", [{**cell._asdict(), "simulated_us": us, "factor": cell.us / us} for cell, us in zip(cells, times)])
    print("\n".join(report(cells, times)))
    if not options.no_plot:
        study.draw("collectives", f"{options.out}/collectives.csv", f"{options.out}/collectives.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
