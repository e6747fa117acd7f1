#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""HPL in full, with recorded and replayed computation, sampled, and with its update by flops: Gflop/s, error, cost.

Nodes are sixteen times as fast as 1.25 Gflop/s, about what Debian's reference BLAS does on one core of the machine where
this was written. Writes hpl.csv, one line for each run, and hpl.png to the folder of --out.
"""
import json
import os
import subprocess
import sys
import time

import build

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import study  # noqa: E402 (experiments/study.py)

# Name: (order of the matrix, block, rows and columns of the grid, ways)
CASES = {
    "16": (2000, 32, 4, 4, ["full", "replayed", "sampled", "flops"]),
    "64": (3000, 64, 8, 8, ["full", "replayed", "sampled", "flops"]),
    "64-large": (8000, 64, 8, 8, ["sampled", "flops"]),
}
MODELS = ["analytic", "portals"]
# The reference of each model is its replay: the computation is the same there to the last digit.
ORDER = {pair: i for i, pair in enumerate([("full", "analytic"), ("replayed", "analytic"), ("replayed", "portals"), ("full", "portals"),
                                           ("sampled", "analytic"), ("sampled", "portals"), ("flops", "analytic"), ("flops", "portals")])}
NODE = ["--cfg=parfocal/platform_host_speed:20e9", "--cfg=smpi/host-speed:1.25Gf", "--log=root.thres:critical"]
NONE = "--cfg=smpi/simulate-computation:no"
COLUMNS = ["case", "n", "nb", "p", "q", "way", "model", "hpl_s", "gflops", "gflops_error", "check", "wall_clock_s", "overhead_s",
           "application_cpu_s", "startup_s", "memory_mib", "factorisation_s", "broadcast_s", "update_s"]
PHASES = {"pcontrol:1": "factorisation_s", "pcontrol:2": "broadcast_s", "pcontrol:3": "update_s"}


def memory_mib(pid):
    """Proportional set size of a process, 0 when it has ended."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024
    except (OSError, StopIteration):
        return 0.0


def execute(command, folder, limit):
    """Runs it; returns its wall-clock and processor time, and its largest memory in MiB, looked at every 50 ms."""
    most, begin, used = 0.0, time.monotonic(), study.processor_s()
    end = begin + limit
    with open(os.path.join(folder, "output.txt"), "w", encoding="utf-8") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        while process.poll() is None:
            most = max(most, memory_mib(process.pid))
            if time.monotonic() > end:
                process.kill()
                process.wait()
                sys.exit(f"run_hpl: {' '.join(command)}: not done after {limit} s")
            time.sleep(0.05)
    if process.returncode:
        sys.exit(f"run_hpl: {' '.join(command)}: exit status {process.returncode}, see {folder}/output.txt")
    return time.monotonic() - begin, study.processor_s() - used, most


def settings(way, model, recording):
    """(options of pfrun, arguments of hpl.c, whether HPL checks its result)"""
    if way == "full":
        return ([f"--cfg=parfocal/computation_record:{recording}"] if model == MODELS[0] else []), ["wait=block"], True
    if way == "replayed":
        return [f"--cfg=parfocal/computation_replay:{recording}"], ["wait=block"], True
    arguments = ["wait=block", "update=sample" if way == "sampled" else "update=flops"]
    return ([NONE] if way == "flops" else []), arguments, False


def measure(options, program, case, way, model):
    n, nb, p, q, _ = CASES[case]
    folder = os.path.join(options.out, f"{case}-{way}-{model}")
    flags, arguments, check = settings(way, model, os.path.join(options.out, f"{case}.computation"))
    build.write_input(program, folder, n, p, q, nb, check=check)
    if os.path.exists(os.path.join(folder, "hpccoutf.txt")):
        os.remove(os.path.join(folder, "hpccoutf.txt"))
    fit = ["--cfg=parfocal/analytic_parameters:" + os.path.join(options.out, f"analytic-{p * q}.txt")]
    wall, processor, memory = execute([os.path.join(options.bin, "pfrun"), "-np", str(p * q), "-model", model, "-report", "report", "-quiet",
                                       *NODE, *flags, *fit, program, *arguments], folder, options.limit)
    share = min(1.0, processor / wall) if options.clock == "cpu" else 1.0
    _, gflops, verdict = build.read_result(folder)
    if check and verdict != "PASSED":
        sys.exit(f"run_hpl: HPL's check says {verdict or 'nothing'}, see {folder}/hpccoutf.txt")
    with open(os.path.join(folder, "report", "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    row = {"case": case, "n": n, "nb": nb, "p": p, "q": q, "way": way, "model": model, "gflops": gflops,
           "hpl_s": float(f"{(2 / 3 * n ** 3 + 3 / 2 * n ** 2) / gflops / 1e9:.5g}"), "check": verdict,
           "wall_clock_s": round(wall * share, 2), "startup_s": round(summary["startup_s"] * share, 3), "memory_mib": round(memory)}
    for column in ("overhead_s", "application_cpu_s"):
        row[column] = round(sum(phase[column] for phase in summary["phases"]) * share, 3)
    for phase in summary["phases"]:
        if phase["phase"] in PHASES:
            row[PHASES[phase["phase"]]] = float(f"{phase['simulated_s']:.5g}")
    return row


def fit(options, ranks):
    """Fits model analytic to portals, once for each number of ranks."""
    path = os.path.join(options.out, f"analytic-{ranks}.txt")
    if not os.path.exists(path):
        subprocess.run([os.path.join(options.bin, "pfinfo"), "--fit=portals", "--output", path, "--", "-np", str(ranks)],
                       check=True, stdout=subprocess.DEVNULL)


def main():
    parser = study.parser(__doc__, "hpl-results")
    parser.add_argument("--clock", default="wall", choices=["wall", "cpu"],
                        help="cpu: wall-clock times are multiplied by the share of a processor, for a busy machine")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one run")
    parser.add_argument("--quick", action="store_true", help="one small case, for the test of this study")
    options = parser.parse_args()
    options.bin, options.out = os.path.abspath(options.bin), os.path.abspath(options.out)
    if options.quick:
        CASES.clear()
        CASES["4"] = (300, 32, 2, 2, ["full", "replayed", "sampled", "flops"])
    program = build.build_hpl(options.bin, os.path.join(options.out, "build"))
    rows = []
    print(f"{'case':<9} {'way':<9} {'model':<9} {'Gflop/s':>8} {'error':>7} {'overhead':>9} {'wall-clock':>10} {'memory':>9}")
    for case, (_, _, p, q, ways) in CASES.items():
        fit(options, p * q)
        reference = {}
        for way, model in sorted(((way, model) for way in ways for model in MODELS), key=ORDER.__getitem__):
            row = measure(options, program, case, way, model)
            if way == "replayed":
                reference[model] = row["gflops"]
                if model == MODELS[0] and row["gflops"] != rows[-1]["gflops"]:
                    sys.exit(f"run_hpl: replayed {row['gflops']} Gflop/s, recorded {rows[-1]['gflops']}")
            row["gflops_error"] = round(row["gflops"] / reference[model] - 1, 4) if model in reference else ""
            rows.append(row)
            error = f"{100 * row['gflops_error']:+.1f} %" if model in reference else ""
            print(f"{case:<9} {way:<9} {model:<9} {row['gflops']:>8.2f} {error:>7} {row['overhead_s']:>7.2f} s "
                  f"{row['wall_clock_s']:>8.1f} s {row['memory_mib']:>5} MiB", flush=True)
    table = os.path.join(options.out, "hpl.csv")
    study.write_table(table, rows, COLUMNS, digits=12)
    if not options.no_plot:
        study.draw("hpl", table, os.path.join(options.out, "hpl.png"))


if __name__ == "__main__":
    main()
