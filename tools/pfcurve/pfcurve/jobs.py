# SPDX-License-Identifier: BSD-3-Clause
"""pfcurve -workload: each job alone on its hosts and beside the others, for placements and routings."""
import csv
import os
import re
import shlex
from dataclasses import dataclass

from . import same
from .curve import seconds_text
from .errors import Problem, lock_folder
from .one import prepare, read_json
from .options import PACKETS, Help, Parser, add_run_flags, check_model, flag, positive
from .pool import Pool, need_slurm

USAGE = """pfcurve -workload FILE [options]

Runs the jobs of a workload together, and each alone on the same hosts, and prints how much slower the others make it: as a whole
and in each phase, with the links that several jobs use. Writes jobs.csv and, with packets, links.csv to the folder of --output."""
MOVED = ("place", "per-host", "hostfile", "start", "after")  # of a job's options: what a run alone replaces
MOST_LINKS = 3  # in a line of the output


@dataclass
class Job:
    name: str
    options: dict  # by name, without dashes
    program: list  # empty: a trace is played

    def line(self):
        return shlex.join([word for name, value in self.options.items() for word in ("-" + name, value)] + self.program)


@dataclass
class Run:
    """All jobs, or one of them alone, on the hosts that it had among all."""
    placement: str
    routing: str
    jobs: list
    hosts: list = None  # by rank, of one job
    folder: str = ""
    summary: dict = None

    @property
    def case(self):
        return " ".join(word for word in (self.placement, self.routing) if word)


def build_parser():
    parser = Parser(prog="pfcurve", usage=USAGE, allow_abbrev=False, add_help=False, formatter_class=Help)
    run = parser.add_argument_group("given to pfrun")
    flag(run, "workload", metavar="FILE", help="jobs, as pfrun -workload has them")
    flag(run, "platform", metavar="FILE|NAME", help="platform file or built-in one (default: pfrun's)")
    flag(run, "machine", metavar="NAME|FILE", help="simulated machine (pfinfo --machine)")
    flag(run, "model", metavar="M", help="model of jobs that name none (default: pfrun's)")
    run.add_argument("--cfg", action="append", default=[], metavar="KEY:VALUE", help="setting; may be repeated")
    what = parser.add_argument_group("what is compared")
    flag(what, "placements", default="", metavar="P,...", help="-place of each job that has hosts of its own (default: as the file says)")
    flag(what, "routings", default="", metavar="R,...", help="of packets: minimal, ugal ... (default: pfrun's)")
    flag(what, "output", default="interference", metavar="DIR", help="folder of the results (default: interference)")
    how = parser.add_argument_group("how to run")
    flag(how, "jobs", type=int, metavar="N", help="runs at a time (default: one for each processor; 8 with --slurm)")
    add_run_flags(how, "a Slurm job for each run")
    return parser


def read_jobs(path):
    """The lines of a workload; what is wrong with options and programs, pfrun says."""
    jobs = []
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                words, options = shlex.split(line, comments=True), {}
                if not words:
                    continue
                while len(words) > 1 and words[0].startswith("-"):
                    options[words[0].lstrip("-")] = words[1]
                    del words[:2]
                what = options.get("replay", words[0] if words else "-")
                if what.startswith("-"):
                    raise Problem(f"{path}: line {number} has no program")
                jobs.append(Job(options.get("name", os.path.basename(what)), options, words))
    except OSError as error:
        raise Problem(f"-workload: cannot read '{path}': {error.strerror}") from None
    except ValueError as error:
        raise Problem(f"{path}: {error}") from None
    if not jobs:
        raise Problem(f"-workload: the file '{path}' names no job")
    return jobs


def placed(job, placement):
    """The job with these hosts, unless it names others'."""
    own = "hostfile" not in job.options and not job.options.get("place", "").startswith("as:")
    return Job(job.name, job.options | {"place": placement}, job.program) if placement and own else job


def alone(run, job):
    """The run of one job of `run`, which has ended."""
    hosts = next(one["hosts"] for one in run.summary["jobs"] if one["name"] in (job.name, job.name + ".1"))
    left = {name: value for name, value in job.options.items() if name not in MOVED}
    return Run(run.placement, run.routing, [Job(job.name, left, job.program)], hosts)


class Runs:
    def __init__(self, options, bindir, version):
        self.options, self.version, self.pfrun = options, version, os.path.join(bindir, "pfrun")
        self.out = os.path.abspath(options.output)
        self.lock = lock_folder("pfcurve", self.out, options.output, "--output")

    def run(self, runs):
        """Those that have no result yet."""
        missing = [run for run in runs if not self.prepared(run)]
        if missing:
            Pool(self.out, self.options).run(missing)
        for run in runs:
            folder = os.path.join(self.out, run.folder)
            result = read_json(os.path.join(folder, "result.json")) or {"why": "the run was ended from outside"}
            if not result.get("ok"):
                raise Problem(f"{run.jobs[0].name if run.hosts else 'all jobs'}: {result['why']} ({os.path.relpath(folder)})")
            run.summary = read_json(os.path.join(folder, "summary.json"))

    def prepared(self, run):
        """Whether there is a result; else the run's folder is made."""
        environment = same.environment() | ({"PARFOCAL_NET_ROUTING": run.routing} if run.routing else {})
        command = [self.pfrun, "-workload", "", *self.options.flags]
        lines = [job.line() for job in run.jobs]
        files = [same.fingerprint(word) for job in run.jobs for word in [*job.options.values(), *job.program]]
        key = same.key(self.version, command, lines, run.hosts, environment, files)
        name = run.jobs[0].name if run.hosts else "all"
        run.folder = "runs/" + "-".join([*(re.sub(r"\W+", "_", word) for word in (run.placement, run.routing, name) if word), key])
        folder = os.path.join(self.out, run.folder)
        if (read_json(os.path.join(folder, "result.json")) or {}).get("ok"):
            return True
        command[2] = os.path.join(folder, "workload")
        if has_packets(run.jobs, self.options.model):
            environment["PARFOCAL_NET_STATISTICS"] = os.path.join(folder, "links.csv")
        if run.hosts:
            run.jobs[0].options["hostfile"] = os.path.join(folder, "hosts")
        prepare(folder, key, command, environment, self.options.timeout)
        write_lines(command[2], [job.line() for job in run.jobs])
        write_lines(os.path.join(folder, "hosts"), run.hosts or [])
        return False


def has_packets(jobs, model):
    """Whether a model with links of packets can be in force."""
    named = [re.split(r"[=,|]", job.options.get("model") or job.options.get("schedule") or model) for job in jobs]
    return bool(PACKETS & {word for words in named for word in words})


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def compare(whole, part):
    """Rows of one job: (job, phase, seconds alone, seconds beside the others). The whole has no phase; phases are left out where there is one."""
    beside = {job["name"]: job for job in whole.summary["jobs"]}
    for job in part.summary["jobs"]:
        other = beside[job["name"]]
        yield job["name"], "", job["simulated_s"], other["simulated_s"]
        times, others = ({(phase["phase"], phase["model"]): phase["simulated_s"] for phase in one["phases"] if phase["simulated_s"]} for one in (job, other))
        for phase, model in [key for key in times if key in others and len(times) > 1]:
            yield job["name"], phase, times[phase, model], others[phase, model]


def links(out, run):
    """Bytes and use of each link in a run, {} without packets."""
    try:
        with open(os.path.join(out, run.folder, "links.csv"), encoding="utf-8", newline="") as file:
            return {row["link"]: (int(row["bytes"]), float(row["utilisation"])) for row in csv.DictReader(file) if row["channel"] == "all"}
    except OSError:
        return {}


def shared_links(out, whole, parts):
    """[(link, part of the time in use, {job: bytes alone})] of those that several jobs use alone; the busiest first. And how many are used."""
    used, by_job = links(out, whole), [(part.jobs[0].name, links(out, part)) for part in parts]
    found = [(link, use, {name: table[link][0] for name, table in by_job if link in table}) for link, (_, use) in used.items()]
    return sorted((row for row in found if len(row[2]) > 1), key=lambda row: (-row[1], row[0])), len(used)


def ratio(one, other):
    return f"{other / one:.3f}" if one > 0 else "-"


def words_of_links(found, count):
    if not count:
        return "links: known in models of packets only"
    named = "; ".join(f"{link} ({100 * use:.0f} %: {', '.join(by_job)})" for link, use, by_job in found[:MOST_LINKS])
    return f"links: {len(found)} of {count} carry bytes of several jobs" + (f", the busiest {named}" if found else "")


def from_args(args, available):
    positive(args.jobs, "jobs")
    positive(args.timeout, "timeout")
    if args.model:
        check_model(args.model, available)
    for setting in args.cfg:
        if ":" not in setting:
            raise Problem(f"'--cfg={setting}': a setting is --cfg=KEY:VALUE")
    args.read = read_jobs(args.workload)
    args.model = args.model or ""
    args.flags = [word for name in ("platform", "machine", "model") if getattr(args, name) for word in ("-" + name, getattr(args, name))]
    args.flags += ["--cfg=" + setting for setting in args.cfg]
    args.jobs = args.jobs or (8 if args.slurm else os.cpu_count() or 1)
    if args.routings and not has_packets(args.read, args.model):
        raise Problem("--routings is for networks of packets: no job names such a model (-model packet)")
    need_slurm(args)
    return args


def work(bindir, arguments, version, available):
    parser = build_parser()
    args = parser.parse_args(arguments)
    if args.help:
        print(parser.format_help(), end="")
        return 0
    options = from_args(args, available)
    runs = Runs(options, bindir, version)
    cases = [Run(placement, routing, [placed(job, placement) for job in options.read])
             for placement in options.placements.split(",") for routing in options.routings.split(",")]
    runs.run(cases)
    parts = {id(case): [alone(case, job) for job in case.jobs] for case in cases}
    runs.run([part for case in cases for part in parts[id(case)]])
    rows, shared = [], []
    for case in cases:
        table = [row for part in parts[id(case)] for row in compare(case, part)]
        found, count = shared_links(runs.out, case, parts[id(case)])
        rows += [(case.placement, case.routing, *row) for row in table]
        shared += [(case.placement, case.routing, link, use, name, count) for link, use, by_job in found for name, count in by_job.items()]
        print(f"{case.case or 'as the file says'}: the last job ends after {seconds_text(case.summary['simulated_s'])}")
        print(f"  {'job':16} {'phase':16} {'alone':>10} {'beside':>10} {'slowdown':>9}")
        for job, phase, one, other in table:
            print(f"  {job if not phase else '':16} {phase or 'all':16} {seconds_text(one):>10} {seconds_text(other):>10} {ratio(one, other):>9}")
        print("  " + words_of_links(found, count))
    write_table(os.path.join(runs.out, "jobs.csv"), ("placement", "routing", "job", "phase", "alone_s", "beside_s"), rows)
    if shared:
        write_table(os.path.join(runs.out, "links.csv"), ("placement", "routing", "link", "utilisation", "job", "bytes_alone"), shared)
    print(f"written: {os.path.join(options.output, 'jobs.csv')}" + (f", {os.path.join(options.output, 'links.csv')}" if shared else ""))
    return 0


def write_table(path, head, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])
