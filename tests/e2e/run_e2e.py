#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the end-to-end programs in every way that must give the same result, and compares.

A program says how it may be run in comment lines of its own, one per variant:
    /* e2e: switch=any np=4 exit=0 args=a,b */
    switch    any: any schedule; coll: only those that switch at collectives; own: it switches by itself between the
              models E2E_A and E2E_B; none
    stock=no  stock SMPI cannot run it; mpirun=no: stock Open MPI cannot (or it would hang there)
    exit      expected status, or nonzero; message: regular expression that pfrun's output must then match
    without=ucx,mpich  not in these models, nor under schedules with them: the program says why
    options   further options for pfrun, separated by commas
    compare=mpirun  its lines under mpirun are the right ones; otherwise its only line is "NAME: PASS"
Lines of output that begin with "T " are simulated times: they must equal stock smpirun's in model smpi. All other lines
must be the same in every run.
"""
import argparse
import os
import random
import re
import shutil
import sys
import tempfile

import harness

PROGRAMS = os.path.join(harness.HERE, "programs")
MODES = ["mpirun", "stock", "smpi", "loaded", "settings", "portals", "analytic", "packet", "ucx", "mpich", "ucx:packet", "mpich:packet", "own", "schedule", "three", "networks", "stacks"]
# Models of programs that switch by themselves.
PAIRS = [("smpi", "portals"), ("portals", "smpi"), ("analytic", "smpi"), ("portals", "analytic"), ("portals", "portals-ideal"),
         ("packet", "portals"), ("ucx", "smpi"), ("portals", "ucx"), ("mpich", "ucx"), ("smpi", "mpich")]
STACKS = ["ucx", "mpich", "ucx:packet", "mpich:packet"]  # other than that of portals
# Without --modes one of these, and one of SETTINGS, by seed and program.
EITHER = [("packet", *STACKS), ("networks", "stacks")]
PACKET_AGAIN = 0.25  # which part of the variants is run again in packet, ucx or mpich: they are many
# Bit-identical to smpirun "with the same flags": some that change SMPI's times a lot.
SETTINGS = [["--cfg=smpi/coll-selector:ompi"], ["--cfg=network/model:CM02"], ["--cfg=smpi/async-small-thresh:65536"],
            ["--cfg=smpi/send-is-detached-thresh:100", "--cfg=smpi/or:0:1e-7:1e-10", "--cfg=smpi/os:0:2e-7:1e-10"]]


class Variant:
    """One e2e line of a program."""

    def __init__(self, source, line):
        self.source = source
        self.name = os.path.splitext(os.path.basename(source))[0]
        values = dict(word.split("=", 1) for word in line.split())
        self.switch = values.pop("switch")
        self.np = int(values.pop("np", "4"))
        self.exit = values.pop("exit", "0")
        self.stock = values.pop("stock", "yes") == "yes"
        self.mpirun = values.pop("mpirun", "yes") == "yes"
        self.message = values.pop("message", "")
        self.without = {m for m in values.pop("without", "").split(",") if m}
        self.compare = values.pop("compare", "") == "mpirun"
        self.args = [a for a in values.pop("args", "").split(",") if a]
        self.options = [o for o in values.pop("options", "").split(",") if o]
        if values or self.switch not in ("any", "coll", "own", "none"):
            sys.exit(f"run_e2e: {source}: cannot read the e2e line: {line}")
        self.strands = self.switch == "own" and bool(self.message)  # only wrong where the models differ
        self.title = " ".join([self.name] + self.args)


def variants_of(source):
    with open(source, encoding="utf-8") as f:
        text = f.read()
    variants = [Variant(source, line) for line in re.findall(r"/\* e2e: (.*?) \*/", text)]
    if not variants:
        sys.exit(f"run_e2e: {source} has no e2e line")
    for variant in variants:
        variant.without |= {model for model in STACKS if model.partition(":")[0] in variant.without}
    return variants


def random_schedules(variant, rng, count, models, by_count=True):
    """A correct program stays correct under any schedule, because both sides of each message agree."""
    if by_count and variant.switch == "any":
        yield from schedules_by_count(rng, count)
    for _ in range(count - 1):
        at, items = 0, []
        for step in range(rng.randint(1, 6)):
            at += rng.randint(1, 12)
            items.append(f"@coll:{at}={models[step % len(models)]}")
        yield ",".join(items)


def schedules_of_three(variant, rng):
    """Among all models, and between the cheap ones."""
    models = ["analytic", "portals", "smpi"]
    if variant.switch == "any":
        yield "every:1=" + "|".join(models)
        yield f"every:{rng.randint(2, 9)}=smpi|analytic"
    rng.shuffle(models)
    yield from random_schedules(variant, rng, 2, models, by_count=False)


def schedule_of_networks(variant, rng):
    """Between models that share an implementation, and its matching."""
    other = rng.choice(["portals-ideal", "packet", "packet"])
    if variant.switch == "any":
        return rng.choice([f"every:1=portals|{other}", f"every:{rng.randint(1, 5)}={other}|portals|smpi",
                           f"every:3={other}|analytic"])
    return next(random_schedules(variant, rng, 2, rng.sample(["portals", other, "smpi"], 3), by_count=False))


def schedule_of_stacks(variant, rng, stack):
    """Between models of different stacks, and others."""
    if variant.switch == "any":
        return rng.choice([f"every:1={stack}|portals", f"every:{rng.randint(1, 5)}={stack}|smpi|portals", f"every:3={stack}|analytic",
                           f"every:{rng.randint(1, 5)}=smpi|{stack}"])
    return next(random_schedules(variant, rng, 2, [stack] + rng.sample(["portals", "smpi", "analytic"], 2), by_count=False))


def schedules_by_count(rng, count):
    """Ranks switch at different points of the program."""
    yield "every:1=smpi|portals"
    yield f"every:{rng.randint(2, 9)}={rng.choice(['smpi|portals', 'portals|smpi', 'smpi|portals|portals'])}"
    if count > 2:
        yield "every:3=portals|smpi"
        yield "@time:{:.9f}=portals,@time:{:.9f}=smpi".format(10 ** rng.uniform(-6, -3), 10 ** rng.uniform(-3, -1))


class Runner:
    """Runs one variant in all modes and counts what failed."""

    def __init__(self, tools, options):
        self.tools, self.options = tools, options
        self.failures = self.runs = 0
        self.missing = {model for model in STACKS if not tools.has_model(model)}

    def fail(self, variant, mode, result, why):
        self.failures += 1
        print(f"FAIL {variant.title} [{mode}]: {why}\n    {result.command}")
        for line in (result.data + result.err.splitlines())[-8:]:
            print("    | " + line[:200])

    def judge(self, variant, mode, result, data, times):
        """`data` and `times` are the lines to compare with, or None."""
        self.runs += 1
        before = self.failures
        wanted = "0" if variant.strands and mode == "mpirun" else variant.exit
        right = result.status not in (0, "timeout") if wanted == "nonzero" else str(result.status) == wanted
        if not right:
            self.fail(variant, mode, result, f"exit status {result.status}, expected {wanted}")
        elif variant.message and mode not in ("mpirun", "stock"):
            if not re.search(variant.message, result.err + "\n".join(result.data)):
                self.fail(variant, mode, result, f"no message like /{variant.message}/")
        elif wanted == "0":
            delta = harness.difference(data, result.data) if data is not None else ""
            if delta:
                self.fail(variant, mode, result, "other data\n" + delta)
            delta = harness.difference(times, result.times) if times is not None else ""
            if delta:
                self.fail(variant, mode, result, "other simulated times\n" + delta)
        if self.options.verbose and self.failures == before:
            print(f"  ok {variant.title} [{mode}]")

    def pfrun(self, variant, options, environment=None):
        program = self.tools.build(variant.source, "pfcc")
        return self.tools.pfrun(program, variant.np, variant.args, self.options.limit,
                                list(options) + variant.options, environment)

    def settings(self, variant, options):
        """Stock smpirun and ours, with two ranks on a host and further options, portals loaded."""
        stock = self.tools.smpirun(self.tools.build(variant.source, "smpicc"), variant.np, variant.args,
                                   self.options.limit, options, harness.PACKED)
        if stock.status != 0:  # the setting is too much for stock SMPI
            print(f"  no comparison: {variant.title} under stock smpirun with {' '.join(options)}: {stock.status}")
            return
        ours = self.tools.pfrun(self.tools.build(variant.source, "pfcc"), variant.np, variant.args, self.options.limit,
                                ["-model", "smpi", "-load", "portals"] + options, {"E2E_A": "smpi", "E2E_B": "smpi"},
                                harness.PACKED)
        self.judge(variant, " ".join(options), ours, stock.data, stock.times)

    def twice(self, variant, mode, options, data, environment, models):
        """Two runs must not differ, simulated times included; each of the models must have been in use."""
        first = self.pfrun(variant, options, environment)
        self.judge(variant, mode, first, data, None)
        idle = [model for model in models if not first.calls.get(model)]
        if idle and variant.exit == "0" and first.status == 0:
            self.fail(variant, mode, first, f"no call in {', '.join(idle)}")
        if variant.exit == "0" and first.status == 0:
            self.judge(variant, mode + " again", self.pfrun(variant, options, environment), first.data, first.times)

    def packet(self, variant, data, only):
        """The network of packets, by either name: the same times, and those of a second run, other models loaded."""
        first = self.pfrun(variant, ["-model", "packet"], only("packet"))
        self.judge(variant, "packet", first, data, None)
        if variant.exit != "0" or first.status != 0:
            return
        if random.Random(f"packet {variant.title}").random() < PACKET_AGAIN:
            again = self.pfrun(variant, ["-model", "packet", "-load", "portals,smpi,analytic"], only("packet"))
            self.judge(variant, "packet, all loaded", again, first.data, first.times)
            again = self.pfrun(variant, ["-model", "portals"], {**only("portals"), "PARFOCAL_NET_MODEL": "packet"})
            self.judge(variant, "portals over packet", again, first.data, first.times)

    def stack(self, variant, data, only, stack):
        """The same times in a second run, other models loaded."""
        first = self.pfrun(variant, ["-model", stack], only(stack))
        self.judge(variant, stack, first, data, None)
        if variant.exit == "0" and first.status == 0 and random.Random(f"{stack} {variant.title}").random() < PACKET_AGAIN:
            # Other models, which are loaded first, change the order in which ranks begin. MPICH's collectives leave ties to it.
            loaded = [] if stack.startswith("mpich") else ["-load", "portals,smpi,analytic"]
            again = self.pfrun(variant, ["-model", stack, *loaded], only(stack))
            self.judge(variant, f"{stack}, again", again, first.data, first.times)

    def modes_of(self, v):
        """What is asked for, or a sample of all; and which settings."""
        if self.options.modes:
            return self.options.modes, SETTINGS
        rng = random.Random(f"modes {self.options.seed} {v.title}")
        taken = [rng.choice([mode for mode in either if mode not in v.without]) for either in EITHER]
        left = set(sum(EITHER, ())) - set(taken)
        return [mode for mode in MODES if mode not in left], [rng.choice(SETTINGS)]

    def variant(self, v):
        v.without |= self.missing
        (modes, settings), data, times = self.modes_of(v), [f"{v.name}: PASS"], None
        limit = self.options.limit
        if "mpirun" in modes and v.mpirun and shutil.which("mpirun"):
            result = self.tools.mpirun(self.tools.build(v.source, "mpicc"), v.np, v.args, limit)
            self.judge(v, "mpirun", result, None if v.compare else data, None)
            data = result.data if v.compare else data
        if "stock" in modes and v.stock:
            result = self.tools.smpirun(self.tools.build(v.source, "smpicc"), v.np, v.args, limit)
            self.judge(v, "stock", result, data, None)
            times = result.times
        only = lambda model: {"E2E_A": model, "E2E_B": model}
        if "smpi" in modes and not v.strands:
            self.judge(v, "smpi", self.pfrun(v, ["-model", "smpi"], only("smpi")), data, times)
        if "loaded" in modes and not v.strands and v.exit == "0":
            result = self.pfrun(v, ["-model", "smpi", "-load", "portals"], only("smpi"))
            self.judge(v, "loaded", result, data, times)
        if "settings" in modes and v.stock and v.exit == "0":
            for options in settings:
                self.settings(v, options)
        if "portals" in modes and not v.strands:
            self.twice(v, "portals", ["-model", "portals"], data, only("portals"), ["portals"])
        if "analytic" in modes and not v.strands:
            self.twice(v, "analytic", ["-model", "analytic"], data, only("analytic"), ["analytic"])
        if "packet" in modes and not v.strands:
            self.packet(v, data, only)
        for stack in STACKS:
            if stack in modes and not v.strands and stack not in v.without:
                self.stack(v, data, only, stack)
        if "own" in modes and v.switch == "own":
            for a, b in PAIRS:
                if v.without & {a, b}:
                    continue
                self.twice(v, f"own {a} {b}", ["-model", a], data, {"E2E_A": a, "E2E_B": b}, [a, b])
        if "schedule" in modes and v.switch in ("any", "coll"):
            rng = random.Random(f"{self.options.seed} {v.title}")
            for schedule in random_schedules(v, rng, self.options.schedules, ["portals", "smpi"]):
                result = self.pfrun(v, ["-schedule", schedule])
                self.judge(v, f"seed {self.options.seed}: {schedule}", result, data, None)
        if "three" in modes and v.switch in ("any", "coll"):
            rng = random.Random(f"three {self.options.seed} {v.title}")
            for schedule in schedules_of_three(v, rng):
                result = self.pfrun(v, ["-schedule", schedule])
                self.judge(v, f"seed {self.options.seed}: {schedule}", result, data, None)
        if "networks" in modes and v.switch in ("any", "coll"):
            schedule = schedule_of_networks(v, random.Random(f"networks {self.options.seed} {v.title}"))
            self.judge(v, f"seed {self.options.seed}: {schedule}", self.pfrun(v, ["-schedule", schedule]), data, None)
        stacks = [stack for stack in STACKS if stack not in v.without]
        if "stacks" in modes and v.switch in ("any", "coll") and stacks:
            rng = random.Random(f"stacks {self.options.seed} {v.title}")
            schedule = schedule_of_stacks(v, rng, rng.choice(stacks))
            self.judge(v, f"seed {self.options.seed}: {schedule}", self.pfrun(v, ["-schedule", schedule]), data, None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help="names such as split; all without")
    parser.add_argument("--bin", default=os.path.join(harness.ROOT, "build", "bin"), help="folder of pfcc and pfrun")
    parser.add_argument("--programs-in", default=PROGRAMS, help="folder of the programs")
    parser.add_argument("--work", help="folder for what is built; temporary without")
    parser.add_argument("--modes", type=lambda text: MODES if text == "all" else text.split(","), help="or all; a sample of all without")
    parser.add_argument("--seed", default="1", help="of the random schedules")
    parser.add_argument("--schedules", type=int, default=3, help="random schedules of each kind")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one run")
    parser.add_argument("--registered", help="only compare this list of names with the programs that exist")
    parser.add_argument("--verbose", "-v", action="store_true")
    options = parser.parse_args()
    if set(options.modes or ()) - set(MODES):
        parser.error("modes are all, " + ", ".join(MODES))

    sources = {os.path.splitext(f)[0]: f for f in sorted(os.listdir(options.programs_in)) if f.endswith((".c", ".f", ".f90"))}
    names = options.programs or list(sources)
    if options.registered is not None:
        odd = set(options.registered.split(",")) ^ set(names)
        print(f"run_e2e: not both a file and in programs/meson.build: {', '.join(sorted(odd)) or 'none'}")
        return bool(odd)

    work = options.work or tempfile.mkdtemp(prefix="e2e-")
    runner = Runner(harness.Tools(os.path.abspath(options.bin), os.path.abspath(work)), options)
    try:
        for name in names:
            for variant in variants_of(os.path.join(options.programs_in, sources.get(name, name))):
                try:
                    runner.variant(variant)
                except RuntimeError as error:
                    runner.failures += 1
                    print(f"FAIL {variant.title}: does not compile\n{error}")
                sys.stdout.flush()
    finally:
        if not options.work:
            shutil.rmtree(work)
    print(f"run_e2e: {runner.runs} runs, {runner.failures} failures, seed {options.seed}")
    return runner.failures != 0


if __name__ == "__main__":
    sys.exit(main())
