#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Mutates valid inputs of every kind with a fixed seed and gives them to the tools: platforms, hostfiles, machines, calibrations,
schedules, traces, options, and both ends of the protocol of external networks. Each run must work or be refused with one line and a
status of 1; none may end by a signal, hang, take much memory, show what SimGrid says, or run anything.

Usage: hostile.py BIN [--cases N] [--seed N] [--kind WORD] [--keep FOLDER] [--verbose]
"""
import argparse
import collections
import os
import random
import re
import resource
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading

SECONDS, CPU_SECONDS, ADDRESSES, MEMORY = 60, 20, 40 << 30, 1 << 30
PROGRAM = """#include <mpi.h>
int main(int c, char **v) { int n, a[64] = {0}, b[64]; MPI_Init(&c, &v); MPI_Comm_size(MPI_COMM_WORLD, &n);
MPI_Alltoall(a, 64 / n, MPI_INT, b, 64 / n, MPI_INT, MPI_COMM_WORLD); MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }
"""
HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n'
PLATFORMS = [HEAD + body + "\n</platform>\n" for body in (
    '<cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="10GBps" lat="500ns" bb_bw="20GBps" bb_lat="1us" '
    'loopback_bw="5GBps" loopback_lat="100ns" limiter_link="15GBps" core="4" router_id="r"/>',
    '<cluster id="c" prefix="n" suffix="" radical="0-7" speed="1Gf,2Gf" bw="10GBps" lat="500ns" topology="TORUS" topo_parameters="2,2,2"/>',
    '<cluster id="c" prefix="n" suffix="" radical="0-15" speed="1Gf" bw="10GBps" lat="500ns" topology="FAT_TREE" '
    'topo_parameters="2;4,4;1,2;1,2" sharing_policy="SPLITDUPLEX"/>',
    '<cluster id="c" prefix="n" suffix="" radical="0-119" speed="1Gf" bw="10GBps" lat="500ns" topology="DRAGONFLY" topo_parameters="3,4;4,3;5,1;2"/>',
    '<zone id="z" routing="Full">\n<host id="a" speed="1Gf" core="2"><prop id="p" value="1"/></host>\n<host id="b" speed="2Gf"/>\n'
    '<host id="c" speed="1Gf,5Gf" pstate="1"/>\n<link id="l" bandwidth="1GBps" latency="1us" sharing_policy="SPLITDUPLEX"/>\n'
    '<link id="m" bandwidth="2GBps" latency="2us" sharing_policy="FATPIPE"/>\n<route src="a" dst="b"><link_ctn id="l" direction="UP"/></route>\n'
    '<route src="a" dst="c"><link_ctn id="m"/></route>\n<route src="b" dst="c"><link_ctn id="l" direction="DOWN"/><link_ctn id="m"/></route>\n</zone>',
    '<config id="General"><prop id="network/bandwidth-factor" value="0.9"/><prop id="smpi/os" value="0:1e-6:1e-9;1000:2e-6:0"/></config>\n'
    '<zone id="w" routing="Floyd">\n<zone id="x" routing="Dijkstra"><host id="a" speed="1Gf"/><router id="r"/>'
    '<link id="i" bandwidth="1GBps" latency="1us"/><route src="a" dst="r"><link_ctn id="i"/></route></zone>\n'
    '<zone id="y" routing="Cluster"><host id="b" speed="1Gf"/><link id="u" bandwidth="1GBps" latency="1us"/>'
    '<link id="d" bandwidth="1GBps" latency="1us"/><host_link id="b" up="u" down="d"/><router id="s"/><backbone id="k" bandwidth="9GBps" latency="1ns"/></zone>\n'
    '<link id="o" bandwidth="1GBps" latency="1us"/>\n<zoneRoute src="x" dst="y" gw_src="r" gw_dst="s"><link_ctn id="o"/></zoneRoute>\n</zone>',
    '<zone id="t" routing="Full">\n<host id="a" speed="1Gf"/>\n<host id="b" speed="1Gf"/>\n<link id="l" bandwidth="1GBps" latency="1us"/>\n'
    '<route src="a" dst="b"><link_ctn id="l"/></route>\n<trace id="x" periodicity="1.0">\n0.0 1.0\n0.000001 0.5\n</trace>\n'
    '<trace_connect kind="BANDWIDTH" trace="x" element="l"/>\n</zone>',
    '<zone id="v" routing="Vivaldi">\n<peer id="a" speed="1Gf" coordinates="1 2 3" bw_in="1GBps" bw_out="1GBps"/>\n'
    '<peer id="b" speed="1Gf" coordinates="4 5 6" bw_in="1GBps" bw_out="1GBps" lat="1ms"/>\n</zone>',
)]
MACHINE = "# a machine\nplatform = star:4\nplatform_link_bw = 12.5e9 # data sheet\nnic_pcie_bw = 15e9\nnet_router_latency = 100e-9\n" \
          "net_model = packet\nnet_packet_bytes = 4096\nsmpi/os = 0:1e-6:0\nanalytic_set = latency=1e-6\n"
CALIBRATED = "smpi/os = 0:8.9e-06:7.0e-10;1420:1.4e-05:2.1e-10\nsmpi/bw-factor = 65472:0.94;15424:0.69;0:0.5\nsmpi/async-small-thresh = 65536\n"
TI = "0 init\n0 compute 1e6\n0 isend 1 5 1000 0\n0 wait 0 1 5\n0 allreduce 10 5 1\n0 alltoallv 8 4 4 8 4 4 1 1\n0 bcast 5 0 1\n0 finalize\n" \
     "1 init\n1 recv 0 5 1000 0\n1 allreduce 10 5 1\n1 alltoallv 8 4 4 8 4 4 1 1\n1 bcast 5 0 1\n1 finalize\n"
GOAL = "num_ranks 2\nrank 0 {\na: calc 1000 cpu 0\nb: send 8b to 1 tag 0\nc: recv 100b from 1 tag 3\nb requires a\nc irequires b\n}\n" \
       "rank 1 {\na: recv 8b from 0 tag 0\nb: send 100b to 0 tag 3\nb requires a\n}\n"
OPTIONS = [
    ["-platform", "fattree:16"], ["-platform", "torus:2x2x2"], ["-platform", "dragonfly:12"], ["-platform", "star:4"],
    ["-schedule", "@start=analytic,@coll:1=smpi,@time:1e-6=analytic"], ["-schedule", "every:2=smpi|analytic"],
    ["-fail", "link_0_UP@1e-6:2e-6", "-model", "packet"], ["-background", "uniform:0.3:0-3", "-model", "packet"],
    ["--cfg=smpi/bw-factor:0:0.9;1000:0.8"], ["--cfg=smpi/os:0:1e-6:1e-9"], ["--cfg=network/latency-factor:1.1"], ["--cfg=smpi/host-speed:1Gf"],
    ["--cfg=smpi/wtime:1e-6"], ["--cfg=smpi/async-small-thresh:100"], ["--cfg=contexts/stack-size:8192"], ["--cfg=surf/precision:1e-9"],
    ["--cfg=maxmin/precision:1e-6"], ["--cfg=network/TCP-gamma:4194304"], ["--cfg=smpi/cpu-threshold:1e-6"], ["--cfg=smpi/send-is-detached-thresh:65536"],
    ["--cfg=parfocal/nic_pcie_bw:1e9"], ["--cfg=parfocal/net_packet_bytes:2048", "-model", "packet"], ["--cfg=parfocal/analytic_set:latency=1e-6", "-model", "analytic"],
    ["-trace", "csv:trace.csv"], ["-np", "4"], ["-agree", "strict"], ["-load", "smpi,analytic"],
]
WORDS = ["nan", "inf", "-inf", "-1", "0", "-0", "1e308", "1e-320", "", "99999999999999999999", "2147483648", "4294967296", "1e999", "0x10",
         "1,,2", "1e5", "100000", ";", "-", ":", "@", "=", "%s%n", "$(touch OWNED)", "exec:touch OWNED", "external:exec:touch OWNED", "./evil.so",
         "/dev/zero", "../..", "\\", "\"", "<", "&lol;", "é", "\x01", "a" * 3000]
BOMB = '<!DOCTYPE platform [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'


def mutate_text(rng, text):
    """One or two changes, of a number, a quoted text, a word, a line or a byte."""
    for _ in range(rng.choice((1, 1, 1, 2))):
        way = rng.choice((0, 0, 0, 0, 3, 3, 3, 3, 6, 6, 7, 8, 9))
        if way < 3:
            found = list(re.finditer(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?", text))
        elif way < 6:
            found = list(re.finditer(r'(?<=")[^"]*(?=")|[A-Za-z_]{2,}', text))
        elif way == 6:
            found = list(re.finditer(r'\s\w+="[^"]*"|\S+', text))
        else:
            found = list(re.finditer(r"[^\n]*\n", text))
        if not found:
            text = rng.choice(WORDS) + text
            continue
        one, other = rng.choice(found), rng.choice(found)
        if way < 6:
            new = rng.choice(WORDS + [other.group()] * 3)
        elif way == 6:
            new = rng.choice(["", other.group(), one.group() * 2])
        elif way == 7:
            new = rng.choice(["", other.group(), one.group() * rng.choice((2, 100, 3000))])
        elif way == 8:
            cut = rng.randrange(len(text) + 1)
            return text[:cut]
        else:
            place = rng.randrange(len(text) + 1)
            text = text[:place] + rng.choice([chr(rng.randrange(1, 256)), rng.choice(WORDS), BOMB]) + text[place + rng.randrange(3):]
            continue
        text = text[:one.start()] + new + text[one.end():]
    return text


def mutate_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not data:
            break
        place, way = rng.randrange(len(data)), rng.randrange(6)
        if way < 2:
            data[place] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
        elif way == 2:
            data[place:place + 8] = struct.pack("<d", rng.choice((float("nan"), float("inf"), -1.0, 1e308, 0.0)))
        elif way == 3:
            data[place:place + 8] = struct.pack("<q", rng.choice((-1, 0, 1 << 31, 1 << 40, (1 << 63) - 1)))
        elif way == 4:
            del data[place:place + rng.randrange(1, 40)]
        else:
            data[place:place] = data[place:place + rng.randrange(1, 40)]
    return bytes(data)


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))


class Driver:
    def __init__(self, given, folder):
        self.given, self.folder, self.rng = given, folder, random.Random(given.seed)
        self.bin = os.path.abspath(given.binaries)
        self.failures, self.most, self.outcomes = 0, 0, collections.Counter()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("PARFOCAL_")}
        self.environment.pop("MALLOC_PERTURB_", None)
        self.environment["TMPDIR"] = os.path.join(folder, "tmp")
        os.mkdir(self.environment["TMPDIR"])
        os.mkdir(self.path("sample"))
        with open(self.path("program.c"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        self.tool(["pfcc", "-o", "program", "program.c"])
        self.tool(["pfrun", "-np", "3", "-platform", "star:3", "-trace", "replay:sample.rec", "-trace", "otf2:sample/sample.otf2", "./program"])
        with open(self.path("sample.rec"), "rb") as file:
            self.recording = file.read()

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, words):
        subprocess.run([os.path.join(self.bin, words[0]), *words[1:]], cwd=self.folder, env=self.environment, check=True, timeout=120,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape"))
        return name

    def run(self, words, files, stdin=subprocess.DEVNULL):
        """Runs a tool, and judges: `files` are what it was given."""
        with subprocess.Popen([os.path.join(self.bin, words[0]), *words[1:]], cwd=self.folder, env=self.environment, stdin=stdin,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limits, start_new_session=True) as process:
            try:
                text = process.communicate(timeout=SECONDS)[1].decode("utf-8", "replace")
                status = process.returncode
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                text, status = process.communicate()[1].decode("utf-8", "replace"), "hangs"
        most = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        if most > max(MEMORY, self.most):
            self.most, status = most, f"{most >> 20} MiB of memory"
        self.judge(words, files, status, text)

    def judge(self, words, files, status, text):
        errors = len(re.findall(r"^(?:parfocal: error|pf\w+): ", text, re.MULTILINE))
        noise = re.search(r"CRITICAL|acktrace|ssertion|terminate called|Traceback|core dumped|Sanitizer|'std::|what\(\)", text)
        good = status == 0 and errors == 0 or status in range(1, 70) and errors == 1
        self.outcomes["worked" if status == 0 else "refused" if good else "failed"] += 1
        owned = os.path.exists(self.path("OWNED"))
        if self.given.verbose:
            print(status, words, text.strip()[:300])
        if good and not noise and not owned:
            return
        self.failures += 1
        print(f"FAIL status {status}, {errors} errors{', something was executed' if owned else ''}: {' '.join(words)[:500]}\n{text[:700]}", flush=True)
        for name in ("OWNED",):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        if self.given.keep:
            folder = os.path.join(self.given.keep, str(self.failures))
            os.makedirs(folder, exist_ok=True)
            for name in files:
                (shutil.copytree if os.path.isdir(self.path(name)) else shutil.copy)(self.path(name), os.path.join(folder, name))
            with open(os.path.join(folder, "command"), "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(repr(words) + "\n" + text)

    def model(self):
        return self.rng.choice(["smpi", "smpi", "analytic", "analytic", "packet", "portals"])

    def program(self, *options):
        return ["pfrun", "-np", "2", *options, "--cfg=smpi/simulate-computation:no", "./program"]

    # ---- One kind of input each.
    def platform(self):
        name = self.write("p.xml", mutate_text(self.rng, self.rng.choice(PLATFORMS)))
        self.run(self.program("-platform", name, "-model", self.model()), [name])

    def hostfile(self):
        name = self.write("hosts", mutate_text(self.rng, "node-1000:2\nnode-1001\n# all\nnode-1002 slots=2\n\nnode-1003\n"))
        self.run(self.program("-platform", "star:4", "-hostfile", name, "-model", self.model()), [name])

    def machine(self):
        name = self.write("x.machine", mutate_text(self.rng, MACHINE))
        self.run(self.program("-machine", name, "-model", self.model()), [name])

    def calibrated(self):
        name = self.write("c.settings", mutate_text(self.rng, CALIBRATED))
        self.run(self.program("-platform", "star:2", "-calibrated", name), [name])

    def trace(self):
        content = self.rng.choice([TI, GOAL])
        name = self.write("t.trace", mutate_text(self.rng, content))
        self.run(["pfrun", "-replay", name, "-platform", "star:2", "-model", self.model()], [name])

    def recording_(self):
        mutate = mutate_bytes if self.rng.randrange(2) else lambda rng, data: mutate_text(rng, data.decode("latin-1")).encode("latin-1", "replace")
        name = self.write("t.rec", mutate(self.rng, self.recording))
        self.run(["pfrun", "-replay", name, "-platform", "star:3", "-model", self.model()], [name])

    def otf2(self):
        shutil.rmtree(self.path("otf2"), ignore_errors=True)
        shutil.copytree(self.path("sample"), self.path("otf2"))
        files = [os.path.join(where, name) for where, _, names in sorted(os.walk(self.path("otf2"))) for name in sorted(names)]
        chosen = self.rng.choice(files)
        with open(chosen, "rb") as file:
            data = file.read()
        self.write(chosen, mutate_bytes(self.rng, data))
        self.run(["pfrun", "-replay", "otf2/sample.otf2", "-platform", "star:3", "-model", self.model()], ["otf2"])

    def option(self):
        words = list(self.rng.choice(OPTIONS))
        place = 0 if len(words) == 1 else 1
        words[place] = mutate_text(self.rng, words[place]).replace("\0", "") or " "
        if place == 0 and not words[0].startswith("--cfg="):
            words[0] = "--cfg=" + words[0]
        self.run(self.program(*(word[:100000] for word in words)), [])

    def pieces(self):
        """What a client says to a server."""
        def message(kind, ident, date, body):
            return struct.pack("<IHHQd", 24 + len(body), kind, 1, ident, date) + body
        hello = b"PARFOCAL" + struct.pack("<IIIIII", 1, 4, 1, 1, 0, 0)
        return message(1, 0, 0.0, hello[:32]) + message(4, 0, 0.0, struct.pack("<dQQ", 1.0, 1, 1)) + message(7, 0, 0.0, b"")

    def client(self):
        """A client that pfnetd should not trust."""
        ours, theirs = socket.socketpair()
        name = self.write("bytes", mutate_bytes(self.rng, self.rng.choice([self.said, self.pieces()])))
        with open(self.path(name), "rb") as file:
            data = file.read()
        with ours, theirs:
            def talk():
                try:
                    ours.sendall(data)
                    ours.shutdown(socket.SHUT_WR)
                    while ours.recv(65536):
                        pass
                except OSError:
                    pass
            thread = threading.Thread(target=talk, daemon=True)
            thread.start()
            self.run(["pfnetd", "--network", self.rng.choice(["packet", "flow", "ideal"])], [name], stdin=theirs)

    def server(self):
        """A server that pfrun should not trust: what pfnetd says, with changes."""
        name = self.write("bytes", mutate_bytes(self.rng, self.answered))
        path = self.path("socket")
        if os.path.exists(path):
            os.remove(path)
        with open(self.path(name), "rb") as file, socket.socket(socket.AF_UNIX) as listener:
            data = file.read()
            listener.bind(path)
            listener.listen()

            def talk():
                try:
                    other, _ = listener.accept()
                    with other:
                        other.sendall(data)
                        other.shutdown(socket.SHUT_WR)
                        while other.recv(65536):
                            pass
                except OSError:
                    pass
            thread = threading.Thread(target=talk, daemon=True)
            thread.start()
            self.run(self.program("-platform", "star:2", "-model", "external", "--cfg=parfocal/net_external:" + path), [name])
            listener.shutdown(socket.SHUT_RDWR)

    def listen(self):
        """Notes what a client and a server say to each other in a good run."""
        path, said, answered = self.path("between"), bytearray(), bytearray()
        ours, theirs = socket.socketpair()
        with socket.socket(socket.AF_UNIX) as listener, ours, theirs, \
                subprocess.Popen([os.path.join(self.bin, "pfnetd")], stdin=theirs, cwd=self.folder, env=self.environment):
            theirs.close()
            listener.bind(path)
            listener.listen()
            with subprocess.Popen([os.path.join(self.bin, "pfrun"), "-np", "2", "-platform", "star:2", "-model", "external",
                                   "--cfg=smpi/simulate-computation:no", "--cfg=parfocal/net_external:" + path, "./program"],
                                  cwd=self.folder, env=self.environment):
                other, _ = listener.accept()

                def carry(source, sink, notes):
                    while data := source.recv(65536):
                        notes += data
                        sink.sendall(data)
                    sink.shutdown(socket.SHUT_WR)
                back = threading.Thread(target=carry, args=(ours, other, answered), daemon=True)
                back.start()
                carry(other, ours, said)
                back.join()
                other.close()
        self.said, self.answered = bytes(said), bytes(answered)


KINDS = {"platform": 8, "hostfile": 1, "machine": 2, "calibrated": 1, "trace": 3, "recording_": 2, "otf2": 2, "option": 3, "client": 2, "server": 2}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries")
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--keep", help="folder that receives the inputs of what fails")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        driver = Driver(given, folder)
        if given.kind in (None, "client", "server"):
            driver.listen()
        kinds = [given.kind] if given.kind else [kind for kind, weight in KINDS.items() for _ in range(weight)]
        for case in range(given.cases):
            getattr(driver, kinds[case % len(kinds)])()
    print(f"hostile: {given.cases} cases, {dict(driver.outcomes)}, {driver.failures} failures, --seed {given.seed}")
    return driver.failures != 0 or driver.outcomes["refused"] == 0


if __name__ == "__main__":
    sys.exit(main())
