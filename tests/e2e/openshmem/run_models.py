#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""OpenSHMEM programs without MPI: what their computation costs in simulated time, their phases and schedules, all models with a NIC.

Usage: run_models.py --bin DIRECTORY
"""
import argparse
import os
import re
import shlex
import sys
import tempfile

from run_openshmem import HERE, Checker, harness

# The processor of this machine as fast as a host of the built-in platforms.
MEASURED = ["--cfg=smpi/simulate-computation:yes", "--cfg=smpi/host-speed:1Gf"]


def microseconds(result, what):
    return [float(value) for value in re.findall(rf"^{what} (\S+)$", "\n".join(result.lines), re.MULTILINE)]


def computation(checker):
    """Measured by default, not with simulate-computation:no; recorded and replayed to the last digit; as a file has it."""
    program = checker.build(os.path.join(HERE, "programs", "compute.c"))
    measured = checker.pfrun(program, 3, options=MEASURED)
    free = checker.pfrun(program, 3)
    checker.expect("measured", measured, 0, "computed")
    checker.expect("free", free, 0, "computed")
    # 20,000,000 additions to memory: more than 1 ms on any processor
    checker.holds("computation takes simulated time", min(microseconds(measured, "waited")) > 1000 and
                  microseconds(measured, "computed")[0] > 3000, measured)
    checker.holds("computation is free", max(microseconds(free, "computed") + microseconds(free, "waited")) < 200, free)

    name = os.path.join(checker.tools.work, "recorded")
    times = ["--cfg=parfocal/rank_times:yes"]
    recorded = checker.pfrun(program, 3, options=[*MEASURED, *times, "--cfg=parfocal/computation_record:" + name])
    replay = ["--cfg=parfocal/computation_replay:" + name]
    replayed = checker.pfrun(program, 3, options=[*times, *replay])
    checker.holds("a replay has the dates of the recording", recorded.status == 0 and recorded.lines == replayed.lines and
                  recorded.lines and re.findall(r"^rank \d: .*", recorded.err, re.MULTILINE) ==
                  re.findall(r"^rank \d: .*", replayed.err, re.MULTILINE) != [], replayed)
    checker.expect("a file of another job", checker.pfrun(program, 2, options=replay), 1, "was recorded with 3 ranks, this run has 2")

    with open(name, encoding="utf-8") as file:
        text = file.read()
    long = r"(?<!speed )\b\d{7,}\b"
    checker.holds("three long stretches were recorded", len(re.findall(long, text)) == 3, recorded)
    with open(name, "w", encoding="utf-8") as file:  # each takes 2 ms, the others nothing
        file.write(re.sub(long, "2000000", re.sub(r"\b\d{3,6}\b", "0", text)))
    given = checker.pfrun(program, 3, options=replay)
    free, given = (microseconds(result, "computed")[0] for result in (free, given))
    checker.holds(f"three stretches of 2 ms: {given} us instead of 6 ms more than {free} us", abs(given - free - 6000) < 1, replayed)


def durations(result):
    """Of the phases, as printed: (phase, model), microseconds."""
    return {match[0:2]: float(match[2]) for match in re.findall(r"^(\w+) in (\S+): (\S+)$", "\n".join(result.lines), re.MULTILINE)}


def phases(checker):
    """A phase takes in its model what it takes when all is in that model: by the schedule, and by the program's own will."""
    program = checker.build(os.path.join(HERE, "programs", "phases.c"))
    alone = {}
    for model in ("portals", "packet", "portals-ideal", "analytic"):
        result = checker.expect(f"phases {model}", checker.pfrun(program, 4, options=["-model", model]), 0, r"PASS\n")
        alone[model] = max(durations(result).values(), default=0)
    checker.holds(f"the models differ: {alone}", len(set(alone.values())) == 4, result)
    for first, second, options, arguments in (
            ("portals", "packet", ["-schedule", "second=packet"], ()),
            ("packet", "portals", ["-model", "packet", "-schedule", "second=portals"], ()),
            ("portals", "packet", ["-schedule", "@coll:4=packet"], ()),
            ("analytic", "portals", ["-model", "analytic", "-schedule", "second=portals"], ()),
            ("packet", "analytic", ["-model", "packet", "-schedule", "@coll:4=analytic"], ()),
            ("portals-ideal", "packet", [], ("portals-ideal", "packet"))):
        title = f"{first}, then {second} by {options or 'the program'}"
        result = checker.expect(title, checker.pfrun(program, 4, arguments, options), 0, r"PASS\n")
        for (phase, model), expected in zip(durations(result), (first, second)):
            checker.holds(f"{title}: {phase} in {model}", model == expected and
                          abs(durations(result)[phase, model] - alone[model]) < 0.002, result)
    sweep = [checker.tools.command("pfcurve"), "-np", "4", "--phases", "--models", "analytic,portals", "--output", "curve",
             "--cfg=smpi/simulate-computation:no", program]
    checker.expect("pfcurve", checker.tools.run(sweep, 120), 0, r"all 8 combinations(?s:.*)The cheapest schedule within 5 % of all portals: ")
    checker.expect("a phase in smpi", checker.pfrun(program, 4, options=["-schedule", "second=smpi"]), 1,
                   "OpenSHMEM needs a model with a network interface, and smpi has none")


def networks(checker):
    """The programs of the other test, and each result the same, where the network is ideal or in another process."""
    pfnetd = "exec:" + shlex.quote(checker.tools.command("pfnetd")) + " --network packet"
    for source in ("transfers.c", "atomics.c", "collectives.c", "phases.c"):
        program = checker.build(os.path.join(HERE, "programs", source))
        for model in ("portals-ideal", "external"):
            options = ["-model", model, *(["--cfg=parfocal/net_external:" + pfnetd] if model == "external" else [])]
            result = checker.expect(f"{source} {model}", checker.pfrun(program, 5, options=options), 0, r"(?m)^PASS$")
    inside = checker.pfrun(program, 5, options=["-model", "packet"])
    checker.holds("pfnetd has the dates of packet", [line.replace("external", "packet") for line in result.lines] == inside.lines, result)
    checker.expect("external without an address", checker.pfrun(program, 2, options=["-model", "external"]), 1, "PARFOCAL_NET_EXTERNAL says where")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        checker = Checker(harness.Tools(arguments.bin, work))
        for part in (computation, phases, networks):
            part(checker)
        print(f"{checker.runs} checks, {checker.failures} failures")
        return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
