#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The five benchmarks of the S4BXI thesis (section 4.6.1) on the simulated NIC: a table, results.csv and a picture.

Put and Get requests from one node to another at 64 sizes, as a Portals program without MPI (request.c) under pfrun, on the
platform "quito" (quito.xml: two nodes, 11.1 GB/s, 500 ns). Times are simulated; wall-clock times are those of the whole run.
"""
import csv
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import study  # noqa: E402 (experiments/study.py)

BENCHMARKS = ["Put-WaitAck", "Put-NoWait", "Put-WaitSend", "Get-WaitReply", "Get-NoWait"]
COLUMNS = ["benchmark", "bytes", "count", "seconds", "us_per_request", "GB_per_s", "requests_per_s"]


def run(bindir, program, benchmark, options):
    """All sizes of one benchmark: rows of the table in the order of sizes, and wall-clock seconds."""
    command = [os.path.join(bindir, "pfrun"), "-np", "2", "-platform", os.path.join(HERE, "quito.xml"),
               "--log=root.thres:critical", program, benchmark, str(options.count)]
    begin = time.monotonic()
    text = study.output(command, PARFOCAL_PAYLOAD_COPY="no")
    wall = time.monotonic() - begin
    rows = []
    for name, size, count, seconds in csv.reader(text.splitlines()):
        size, count, seconds = int(size), int(count), float(seconds)
        rows.append([name, size, count, seconds, 1e6 * seconds / count, 1e-9 * size * count / seconds, count / seconds])
    return sorted(rows, key=lambda row: row[1]), wall


def show(rows, walls):
    print(f"{'benchmark':15}{'bytes':>10}{'us/request':>13}{'GB/s':>10}{'requests/s':>14}")
    for name, size, _, _, microseconds, bandwidth, rate in rows:
        print(f"{name:15}{size:10}{microseconds:13.4f}{bandwidth:10.4f}{rate:14.0f}")
    print(f"\n{'benchmark':15}{'simulated s':>13}{'wall-clock s':>14}{'messages per wall-clock second':>32}")
    for name, wall in walls.items():
        mine = [row for row in rows if row[0] == name]
        print(f"{name:15}{sum(row[3] for row in mine):13.3f}{wall:14.2f}{sum(row[2] for row in mine) / wall:32.0f}")


def main():
    parser = study.parser(__doc__, "nic-results")
    parser.add_argument("--count", type=int, default=10000, help="requests per size (the thesis: 10,000)")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    rows, walls = [], {}
    with tempfile.TemporaryDirectory(prefix="pf-nic-") as work:
        program = study.build(f"{options.bin}/pfcc", f"{work}/request", f"{HERE}/request.c")
        for benchmark in BENCHMARKS:
            mine, walls[benchmark] = run(options.bin, program, benchmark, options)
            rows += mine
    show(rows, walls)
    table = os.path.join(options.out, "results.csv")
    study.write_table(table, [dict(zip(COLUMNS, row)) for row in rows], digits=9)
    if not options.no_plot:
        study.draw("five", table, os.path.join(options.out, "five.png"))


if __name__ == "__main__":
    sys.exit(main())
