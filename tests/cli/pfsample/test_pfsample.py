#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""pfrun -sample as a user types it: test_pfsample.py BUILD. The program has iterations of known kinds."""
import csv
import glob
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv.pop(1))
PFRUN = os.path.join(BUILD, "bin", "pfrun")
BODIES = os.path.join(HERE, "..", "..", "..", "experiments", "sampling", "bodies.c")
FIXED = ["-np", "4", "--cfg=smpi/simulate-computation:no"]
PAIR = ["-fine", "portals", "-cheap", "analytic"]
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("PARFOCAL_")}


ASKS = """
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    int rank, steps = 0;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && scanf("%*s %d", &steps) != 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Bcast(&steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < steps; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""

# Says so when it starts, and does not end when it is the start that the file `hold` names.
STARTS = """
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
static long held(void)
{
    long number = 0;
    FILE *file = fopen("hold", "r");
    if (file) {
        if (fscanf(file, "%ld", &number) != 1)
            number = 0;
        fclose(file);
    }
    return number;
}

int main(void)
{
    static char out[10000], in[10000];
    int rank, ranks;
    long starts = -1;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    FILE *file = rank == 0 ? fopen("starts", "a") : NULL;
    if (file) {
        fprintf(file, "start\\n");
        starts = ftell(file) / 6;
        fclose(file);
        printf("begin\\n");
        fprintf(stderr, "complaint\\n");
    }
    for (int i = 0; i < 2000; i++) {
        MPI_Pcontrol(1);
        MPI_Sendrecv(out, 10000, MPI_CHAR, (rank + 1) % ranks, 0, in, 10000, MPI_CHAR, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    while (held() == starts)
        usleep(10000);
    MPI_Finalize();
    return 0;
}
"""

COMPUTES = """
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    int rank;
    volatile double sum = 0;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 700; i++) {
        for (int k = 0; k < 300000; k++)
            sum += k;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        puts("it computes");
    MPI_Finalize();
    return 0;
}
"""

POLLS = """
#include <mpi.h>
int main(void)
{
    static char out[30000], in[30000];
    int rank, ranks;
    volatile double sum = 0;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 100; i++) {
        MPI_Request both[2];
        MPI_Irecv(in, sizeof in, MPI_CHAR, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(out, sizeof out, MPI_CHAR, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &both[1]);
        for (int done = 0; !done; MPI_Testall(2, both, &done, MPI_STATUSES_IGNORE))
            for (int k = 0; k < 1000; k++)
                sum += k;
        for (int k = 0; k < 10000; k++)
            sum += k;
    }
    MPI_Finalize();
    return 0;
}
"""

DEALS = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    static char in[16384];
    int rank, ranks, tasks = 0, most;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    most = atoi(argv[1]) + ranks - 1;
    for (int task = 0; rank > 0 && task >= 0;) {
        MPI_Send(in, 64 + task * 7919 % 16000, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&task, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    while (rank == 0 && tasks < most) {
        MPI_Status status;
        MPI_Recv(in, sizeof in, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        int task = ++tasks < most - ranks + 2 ? tasks : -1;
        MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
"""

TIMED = """
#include <mpi.h>
int main(void)
{
    static char out[4 * 8192], in[4 * 8192];
    int more = 1;
    MPI_Init(NULL, NULL);
    for (double begin = MPI_Wtime(); more;) {
        MPI_Alltoall(out, 8192, MPI_CHAR, in, 8192, MPI_CHAR, MPI_COMM_WORLD);
        more = MPI_Wtime() - begin < 3e-3;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
"""


def until(true):
    """Waits, a minute at most."""
    for _ in range(600):
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("in vain")


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="pf-sample-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run([os.path.join(BUILD, "bin", "pfcc"), "-g", "-O2", BODIES, "-o", os.path.join(cls.folder, "bodies")], check=True)

    def sample(self, *words, status=0, environment=None, stdin=subprocess.DEVNULL):
        done = subprocess.run([PFRUN, *words], capture_output=True, text=True, timeout=600, cwd=self.folder, check=False,
                              stdin=stdin, env={**ENVIRONMENT, "TMPDIR": self.folder, **(environment or {})})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(("parfocal", ".parfocal"))], [], "left behind")
        return done.stdout if status == 0 else done.stderr


class Refusals(Folder):
    def test_one_line(self):
        body = ["./bodies", "halo", "100"]
        for words, what in (
                (["-sample", "2x", *body], "-sample needs a share"), (["-sample", "0", *body], "-sample needs a share"),
                (["-sample", "100%", *body], "-sample needs a share"), (["-sample"], "-sample"),
                (["-sample", "2%", "-budget", "-5", *body], "-budget needs a share"),
                (["-sample", "2%", "-fine", "pocket", *body], "unknown model 'pocket'"),
                (["-sample", "2%", "-fine", "smpi", "-cheap", "portals", *body], "-fine smpi is not finer than -cheap portals"),
                (["-sample", "2%", "-fine", "smpi", "-cheap", "smpi", *body], "is not finer"),
                (["-sample", "2%", "-model", "smpi", *body], "-model is not for -sample"),
                (["-sample", "2%", "-seed", "x", *body], "-seed needs a whole number"),
                (["-sample", "2%", "-nonsense", *body], "unknown option '-nonsense'"),
                (["-sample", "2%"], "no application"), (["-sample", "2%", "./nothing"], "does not exist"),
                (["-sample", "2%", "-budget", "50", *PAIR, "./bodies", "halo", "2"], "no structure to sample"),
                (["-sample", "2%", "-budget", "50", *PAIR, "./bodies", "halo", "14"], "more than the budget of 50 %"),
                (["-sample", "2%", "-budget", "1", *PAIR, "./bodies", "halo", "100"], "more than the budget of 1 %")):
            said = self.sample(*FIXED, *words, status=1)
            self.assertEqual(said.count("\n"), 1, said)
            self.assertTrue(said.startswith("parfocal: error: ") and what in said, said)
        self.assertIn("-verify is for -sample only", self.sample(*FIXED, "-verify", *body, status=1))
        self.assertIn("PARFOCAL_SCHEDULE", self.sample(*FIXED, "-sample", "2%", *body, status=1, environment={"PARFOCAL_SCHEDULE": "@start=smpi"}))

    def test_status_of_the_application(self):
        """A program that fails fails, and is not sampled."""
        done = subprocess.run([PFRUN, *FIXED, "-sample", "2%", "./bodies", "nothing"], capture_output=True, text=True, timeout=600,
                              cwd=self.folder, check=False, env=ENVIRONMENT)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("usage: bodies", done.stderr)
        self.assertNotIn("sample:", done.stdout)

    def test_arguments_of_the_application(self):
        """What stands behind the program is the program's."""
        said = subprocess.run([PFRUN, *FIXED, "./bodies", "halo", "2", "100", "-sample", "2%"], capture_output=True, text=True, timeout=600,
                              cwd=self.folder, check=False, env=ENVIRONMENT)
        self.assertEqual((said.returncode, said.stdout), (0, "bodies: halo, 2 iterations\n"), said.stderr)


class Samples(Folder):
    def numbers(self, name="report"):
        with open(os.path.join(self.folder, name, "summary.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_run(self):
        said = self.sample(*FIXED, "-sample", "3%", *PAIR, "-budget", "40", "-verify", "-report", "run", "./bodies", "halo", "100")
        summary = self.numbers("run")
        sample = summary["sample"]
        self.assertEqual(sample["confidence"], 0.95)
        self.assertTrue(sample["low_s"] < sample["estimate_s"] < sample["high_s"])
        self.assertLess(abs(sample["verify"]["error"]), 0.03, said)
        self.assertGreaterEqual(sample["verify"]["coverage"], 0.93, said)
        self.assertAlmostEqual(sample["cheap_s"], summary["simulated_s"], places=12)
        self.assertEqual(said.count("bodies: halo"), 1, "the output of the application is shown once")
        # The command that it prints has the same result to the last digit.
        command = shlex.split(re.search(r"again: (.*)", said)[1])
        subprocess.run([word if word != "run" or command[i - 1] != "-report" else "again" for i, word in enumerate(command)],
                       cwd=self.folder, env=ENVIRONMENT, timeout=600, check=True, capture_output=True)
        again = self.numbers("again")["sample"]
        for key in ("estimate_s", "low_s", "high_s", "border_s", "strata", "phases", "verify"):
            self.assertEqual(again[key], sample[key], key)

    def test_online(self):
        """Of a program whose begin is regular, markers and regions are of one run, whose output is shown."""
        words = [*FIXED, "-sample", "2%", *PAIR, "-budget", "10", "-verify", "-seed", "3", "./bodies", "halo", "700", "4096"]
        said = self.sample("-report", "online", *words)
        summary = self.numbers("online")
        sample = summary["sample"]
        self.assertIn("in 2 runs", said)
        self.assertEqual(said.count("bodies: halo"), 1)
        self.assertTrue(sample["reached"] and sample["verify"]["inside"], said)
        self.assertLess(abs(sample["verify"]["error"]), 0.01, said)
        self.assertGreaterEqual(sample["verify"]["coverage"], 0.93, said)
        self.assertRegex(said, r"not simulated: 2 units, 0\.[0-9]+ % of the time, added to the interval")
        self.assertLess(sample["share"], 0.2)
        plain = subprocess.run([PFRUN, *FIXED, "-quiet", "-model", "analytic", "./bodies", "halo", "700", "4096"], cwd=self.folder, timeout=600, check=True,
                               capture_output=True, env={**ENVIRONMENT, "PARFOCAL_SUMMARY": "plain.json"})
        self.assertEqual(plain.stderr, b"")
        with open(os.path.join(self.folder, "plain.json"), encoding="utf-8") as file:
            self.assertAlmostEqual(sample["cheap_s"] / json.load(file)["simulated_s"], 1, delta=1e-3)
        self.sample("-report", "again", *words)
        for key in ("estimate_s", "low_s", "high_s", "border_s", "strata", "phases", "verify"):
            self.assertEqual(self.numbers("again")["sample"][key], sample[key], key)
        with open(os.path.join(self.folder, "online", "units.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertAlmostEqual(sum(float(row["fine_s"]) for row in rows if row["simulated"] == "yes" or row["stratum"] != "kind 2") /
                               sum(float(row["cheap_s"]) for row in rows if row["simulated"] == "yes" or row["stratum"] != "kind 2"),
                               sample["estimate_s"] / sample["cheap_s"], delta=0.01)

    def test_iterations(self):
        """An option that once was warns, and the sample is the same."""
        words = [*FIXED, "-sample", "2%", *PAIR, "-budget", "20", "./bodies", "halo", "700", "4096"]
        plain = self.sample(*words)
        done = subprocess.run([PFRUN, *words[:2], "-iterations", "700", *words[2:]], cwd=self.folder, timeout=600, check=True, capture_output=True, text=True,
                              env=ENVIRONMENT)
        self.assertEqual(done.stderr, "parfocal: warning: -iterations has no effect any more, and will be removed: the sample finds the iterations\n")
        self.assertEqual(*(text.split("\n")[1] for text in (plain, done.stdout)))

    def test_not_online(self):
        """A program whose iterations differ has its regions drawn when all are known; so has one of which its begin is all, shown once."""
        said = self.sample(*FIXED, "-sample", "2%", *PAIR, "-budget", "20", "./bodies", "alltoallv", "700", "1024")
        self.assertRegex(said, "in [3-6] runs")
        said = self.sample(*FIXED, "-sample", "5%", *PAIR, "-budget", "50", "./bodies", "halo", "150")
        self.assertIn("in 2 runs", said)
        self.assertEqual(said.count("bodies: halo"), 1)

    def test_online_with_measured_computation(self):
        said = self.sample("-np", "4", "-sample", "10%", *PAIR, "-budget", "10", "-verify", "-report", "computes", "./bodies", "halo", "500", "4096")
        self.assertLess(abs(self.numbers("computes")["sample"]["verify"]["error"]), 0.1, said)

    def whole(self, *words):
        """The numbers of a sample that was a run all in the fine model, in one run that was shown once."""
        said = self.sample(*FIXED, "-sample", "5%", *PAIR, "-verify", "-report", "whole", *words)
        self.assertIn("a sample would not pay, so all of it is simulated in portals", said)
        self.assertIn("in 1 runs", said)
        self.assertNotIn("all analytic takes", said)
        sample = self.numbers("whole")["sample"]
        self.assertEqual((sample["share"], sample["cheap_s"], sample["verify"]["error"]), (1, None, 0))
        self.assertAlmostEqual(self.numbers("whole")["simulated_s"], sample["estimate_s"], places=12)
        return said, sample

    def test_short(self):
        """Without a budget that was asked for, a run of less than a second is simulated in the fine model, all of it."""
        for iterations in ("150", "2"):
            said, _ = self.whole("./bodies", "halo", iterations)
            self.assertEqual(said.count("bodies: halo"), 1)

    def test_that_does_not_pay(self):
        """A program that computes more than its simulation does is simulated in the fine model at once: no other model is much cheaper."""
        self.program("busy-body", COMPUTES)
        said, sample = self.whole("./busy-body")
        self.assertEqual(said.count("it computes"), 1)
        self.assertLess(sample["cost_ratio"], 1.5)
        self.assertGreater(sample["application_cpu_s"], 1)

    def test_that_pays(self):
        """One whose time goes to the fine model is looked at, and sampled, for less than that."""
        said = self.sample("-np", "16", *FIXED[2:], "-sample", "2%", "-fine", "packet", "-cheap", "analytic", "-verify", "-report", "pays",
                           "./bodies", "halo", "3000", "32768")
        sample = self.numbers("pays")["sample"]
        self.assertIn("in 3 runs; all packet would cost", said)
        self.assertEqual(said.count("bodies: halo"), 1)
        self.assertTrue(sample["reached"] and sample["verify"]["inside"], said)
        self.assertLess(sample["cost_ratio"], 1, said)
        self.assertAlmostEqual(sample["cost_ratio"], sample["paid_cpu_s"] / sample["fine_cpu_s"], places=12)

    def test_stdin(self):
        """A file on stdin is read in each run; a pipe cannot be, as one line reports."""
        with open(os.path.join(self.folder, "asks.c"), "w", encoding="utf-8") as file:
            file.write(ASKS)
        subprocess.run([os.path.join(BUILD, "bin", "pfcc"), "asks.c", "-o", "asks"], cwd=self.folder, check=True)
        with open(os.path.join(self.folder, "given"), "w+", encoding="utf-8") as file:
            file.write("skipped\n150\n")
        words = [*FIXED, "-sample", "10%", *PAIR, "-budget", "50"]
        with open(os.path.join(self.folder, "given"), "rb", buffering=0) as file:
            self.assertIn("sample: portals takes", self.sample(*words, "./asks", stdin=file))
        there, here = os.pipe()
        os.write(here, b"first 150\n")
        os.close(here)
        said = self.sample(*words, "./asks", status=1, stdin=there)
        os.close(there)
        self.assertEqual(said.count("parfocal: error"), 1, said)
        self.assertIn("it may read stdin: a file, not a pipe, can be read again", said)

    def test_poll(self):
        """What is computed between looks for a message is measured once and replayed, however often a model lets the program look."""
        with open(os.path.join(self.folder, "polls.c"), "w", encoding="utf-8") as file:
            file.write(POLLS)
        subprocess.run([os.path.join(BUILD, "bin", "pfcc"), "polls.c", "-o", "polls"], cwd=self.folder, check=True)
        said = self.sample("-np", "4", "-sample", "10%", *PAIR, "-budget", "50", "-verify", "-report", "polls-report", "./polls")
        self.assertTrue(self.numbers("polls-report")["sample"]["verify"]["inside"], said)

    def test_time(self):
        """A program that does as much as a time allows does not do the same in each model: one line."""
        with open(os.path.join(self.folder, "timed.c"), "w", encoding="utf-8") as file:
            file.write(TIMED)
        subprocess.run([os.path.join(BUILD, "bin", "pfcc"), "timed.c", "-o", "timed"], cwd=self.folder, check=True)
        alone = {"PARFOCAL_ANALYTIC_SET": "contention = none"} # else both models have the same times
        said = self.sample(*FIXED, "-sample", "10%", *PAIR, "-budget", "50", "./timed", status=1, environment=alone)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn("the program passes fewer markers than in analytic: what it does depends on time", said)

    def program(self, name, text):
        with open(os.path.join(self.folder, name + ".c"), "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run([os.path.join(BUILD, "bin", "pfcc"), "-g", name + ".c", "-o", name], cwd=self.folder, check=True)

    def test_without_structure(self):
        """Where no call is made equally often by all ranks, all is simulated in the fine model, unless a budget was asked for."""
        self.program("deals", DEALS)
        said = self.sample(*FIXED, "-sample", "2%", *PAIR, "-budget", "60", "./deals", "4000", status=1)
        self.assertIn("the program has no structure to sample", said)
        self.assertEqual(said.count("\n"), 1, said)
        self.whole("./deals", "40000")

    def test_no_time(self):
        """A program that communicates nothing is refused."""
        self.program("silent", "#include <mpi.h>\nint main(void) { MPI_Init(NULL, NULL); MPI_Finalize(); return 0; }\n")
        said = self.sample("-np", "1", *FIXED[2:], "-sample", "2%", *PAIR, "-budget", "10", "./silent", status=1)
        self.assertEqual(said, "parfocal: error: -sample: the program takes no simulated time\n")

    def start(self, *words):
        """A sample whose signals reach all that a terminal's would."""
        return subprocess.Popen([PFRUN, *FIXED, "-sample", "1%", *PAIR, *words], cwd=self.folder, env={**ENVIRONMENT, "TMPDIR": self.folder},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def kept(self, *path):
        return glob.glob(os.path.join(self.folder, ".parfocal-sample-*", *path))

    def stopped(self, number, starts, runs, *words):
        """What a sample prints on stderr that a signal has stopped in its run `starts`, when `runs` were finished in all."""
        with open(os.path.join(self.folder, "hold"), "w", encoding="utf-8") as file:
            file.write(str(starts))
        process = self.start(*words)
        until(lambda: any(os.path.getsize(path) for path in self.kept("*", str(runs + 1), "output.txt")))
        os.killpg(process.pid, number)
        said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 128 + number, said)
        os.remove(os.path.join(self.folder, "hold"))
        self.assertEqual(said.count("parfocal: error"), 1, said)
        self.assertIn(f"finished runs ({runs}) are kept in .parfocal-sample-", said)
        self.assertEqual(len(self.kept("runs", "*", "result.json")), runs)
        self.assertEqual(subprocess.run(["pgrep", "-f", self.folder], capture_output=True, check=False).stdout, b"")
        return said

    def starts(self):
        """How often the program has run since this was asked."""
        path = os.path.join(self.folder, "starts")
        with open(path, encoding="utf-8") as file:
            count = len(file.readlines())
        os.remove(path)
        return count

    def test_stopped(self):
        """Finished runs are kept: the same command goes on behind them, prints the same as if nothing had stopped it, and leaves nothing behind; a changed
        program is another one."""
        self.program("starts-all", STARTS)
        words = ["-budget", "20", "-verify", "./starts-all"]
        through = self.sample(*FIXED, "-sample", "1%", *PAIR, *words)
        self.assertEqual(self.starts(), 3)
        said = self.stopped(signal.SIGINT, 2, 1, *words)
        self.assertIn("stopped by ^C (SIGINT)", said)
        self.assertEqual(self.starts(), 2)
        said = self.stopped(signal.SIGTERM, 2, 2, *words)
        self.assertIn("-sample goes on where it was stopped: finished runs (1) are not repeated\n", said)
        self.assertEqual(self.starts(), 2)
        resumed = self.sample(*FIXED, "-sample", "1%", *PAIR, *words)
        self.assertEqual(self.starts(), 1)
        self.assertEqual(*(re.sub("cost: .*", "", text) for text in (through, resumed)))
        self.assertEqual(self.kept(), [])
        self.stopped(signal.SIGTERM, 3, 2, *words)
        with open(os.path.join(self.folder, "starts-all"), "ab") as file:
            file.write(b"changed")
        self.starts()
        self.sample(*FIXED, "-sample", "1%", *PAIR, *words)
        self.assertEqual(self.starts(), 3)

    def test_report(self):
        self.sample(*FIXED, "-sample", "5%", *PAIR, "-budget", "95", "-report", "out", "-seed", "9", "./bodies", "amr", "90", "512")
        sample = self.numbers("out")["sample"]
        self.assertEqual(sample["seed"], 9)
        with open(os.path.join(self.folder, "out", "units.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertAlmostEqual(sum(float(row["cheap_s"]) for row in rows), sample["cheap_s"], places=12)
        self.assertEqual(sum(row["simulated"] == "yes" for row in rows), sample["simulated"])
        self.assertEqual({row["name"] for row in rows if row["why"] == "drawn"}, {"#"})
        with open(os.path.join(self.folder, "out", "report.html"), encoding="utf-8") as file:
            data = re.search('<script type="application/json" id="run">(.*)</script>', file.read())
        self.assertEqual(json.loads(data.group(1)), self.numbers("out"))

    def test_measured_computation(self):
        """The default: what was measured once is what all runs compute, so that a second look at the same sample is the same."""
        said = self.sample("-np", "4", "-sample", "10%", *PAIR, "-budget", "80", "-verify", "-report", "measured", "./bodies", "halo", "60")
        self.assertLess(abs(self.numbers("measured")["sample"]["verify"]["error"]), 0.1, said)


class Units(Folder):
    """pfinfo --units: what would be sampled."""

    def units(self, *words, status=0, environment=None):
        done = subprocess.run([os.path.join(BUILD, "bin", "pfinfo"), *words], capture_output=True, text=True, timeout=600, cwd=self.folder,
                              check=False, env={**ENVIRONMENT, "TMPDIR": self.folder, **(environment or {})})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("parfocal-")], [], "left behind")
        return done.stdout, done.stderr

    def line(self, what):
        with open(BODIES, encoding="utf-8") as file:
            return next(f"bodies.c:{number} (" for number, line in enumerate(file, 1) if what in line)

    def test_program(self):
        """Kinds, counts, where they begin, shares of the time, strata."""
        said, _ = self.units("--units", "--", *FIXED, "-report", "units", "./bodies", "amr", "300")
        self.assertIn("markers: 301 pcontrol; 4 ranks", said)
        self.assertIn("units: 302, of which 300 repeat (each pcontrol marker, by name)", said)
        self.assertRegex(said, r" 300 x MPI_Pcontrol +" + re.escape(self.line("MPI_Pcontrol(1);")))
        self.assertRegex(said, r"\n  kind 1 +270 +[0-9.]+ % ")
        self.assertRegex(said, r"\n  kind 2 +30 +[0-9.]+ % ")
        self.assertRegex(said, r"sample: [0-9.]+ % of the run in the fine model at least\n")
        self.assertNotIn("bodies: amr", said, "the output of the program is not shown")
        shares = [float(share) for share in re.findall(r"^  (?:kind|not) \S+ +[0-9]+ +([0-9.]+) %", said, re.M)]
        self.assertAlmostEqual(sum(shares), 100, delta=1)
        with open(os.path.join(self.folder, "units", "units.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["kind"] for row in rows].count("kind 2"), 30)

    def test_no_structure(self):
        """Says so, behind what was seen."""
        said, why = self.units("--units", "--", *FIXED, "./bodies", "halo", "2", status=1)
        self.assertRegex(said, r"call sites that all ranks pass equally often: [0-9]+, other call sites: 0\n +8 x MPI_Irecv")
        self.assertEqual(why.count("\n"), 1)
        self.assertTrue(why.startswith("parfocal: error: --units: the program has no structure to sample"), why)

    def test_refusals(self):
        for words, what in ((["--units", *FIXED], "no application"), (["--units", *FIXED, "./nothing"], "does not exist"), (["--units=markers.csv"], "a file of markers is not read any more"),
                            (["--units", *FIXED, "./bodies", "nothing"], "the run in analytic failed: ")):
            said, why = self.units(*words, status=1)
            self.assertEqual((said, why.count("\n")), ("", 1), why)
            self.assertTrue(why.startswith("parfocal: error: ") and what in why, why)


if __name__ == "__main__":
    unittest.main()
