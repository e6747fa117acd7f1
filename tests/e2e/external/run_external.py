#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Networks in other processes (docs/external-network.md).

same      over pfnetd a run has the dates of the same network in its own process, to the last digit: each call and message
random    the same for random programs that switch models all the time
constant  examples/external/constant.py against closed forms
broken    simulators, and HELLOs, that do one thing wrong each: one line that says what, a status, and no process is left behind
ns3       examples/external/ns3 and our networks: within 3 % where nothing is congested
fuzz      valid sessions with changed, missing and added bytes, in both directions: an end with one line, or none
ends      addresses, sockets and ends: of pfrun, of the other side, also by SIGKILL
"""
import argparse
import contextlib
import os
import random as random_numbers
import re
import shlex
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
import peers  # noqa: E402
from broken import SIMULATORS  # noqa: E402

LIMIT = 240
SEED = 75  # of the fuzzer
# Left out: with three networks in turn an acknowledgement that enters at the date at which its port is free again goes behind the next
# packet, not before it. Which of the two is first there also depends on PARFOCAL_ENGINE_RUN_AHEAD in one process. Why is not known.
OTHER_ORDER = {7}
MODEL = {"packet": "packet", "flow": "portals", "ideal": "portals-ideal"}
EAGER = {"PARFOCAL_NET_UGAL_BIAS": "0.1", "PARFOCAL_NET_UGAL_CANDIDATES": "3", "PARFOCAL_NET_UGAL_THRESHOLD": "-1"}
CONSTANT = os.path.join(harness.ROOT, "examples", "external", "constant.py")


class External:
    """The commands, and what has failed."""

    def __init__(self, bindir, work):
        self.tools = harness.Tools(bindir, work)
        self.work = work
        self.pfnetd = shlex.quote(self.tools.command("pfnetd"))
        self.star = os.path.join(work, "star.xml")
        self.failures = 0

    def source(self, *path):
        return self.tools.build(os.path.join(harness.ROOT, *path), "pfcc")

    def pfrun(self, options, program, args=(), address=None, environment=None):
        env = {"E2E_SIMULATED": "1", "PARFOCAL_LIVELOCK_POLLS": "200000", **(environment or {})}
        if address is not None:
            env["PARFOCAL_NET_EXTERNAL"] = address
        return self.tools.run([self.tools.command("pfrun"), *harness.SIMULATION, *options, program, *args], LIMIT, env)

    def expect(self, right, what, result=None):
        if right:
            return
        self.failures += 1
        print(f"FAIL {what}: " + (f"status {result.status}\n    {result.command}" if result else ""))
        for line in (result.lines + result.err.splitlines())[-8:] if result else []:
            print("    | " + line[:200])

    def traced(self, options, program, args, address, environment, model):
        """The run, and all its dates with the model's name left out."""
        trace, messages = os.path.join(self.work, "trace.csv"), os.path.join(self.work, "messages")
        result = self.pfrun([*options, "-trace", "csv:" + trace], program, args, address,
                            {**(environment or {}), "PARFOCAL_OPENMPI_MESSAGES": messages})
        text = "\n".join(result.lines)
        for name in (trace, messages):
            with open(name, encoding="utf-8") as file:
                text += file.read()
            os.unlink(name)
        return result, re.sub(rf"(?<![\w-]){model}(?![\w-])", "M", text).splitlines()

    def compare(self, network, options, program, args=(), environment=None, schedule=None):
        """`schedule` and environment may have M in the place of the model."""
        runs, model = [], MODEL[network]
        for name in (model, "external"):
            chosen = ["-schedule", schedule.replace("M", name)] if schedule else ["-model", name]
            env = {key: value.replace("M", name) if key.startswith("E2E_") else value for key, value in (environment or {}).items()}
            result, text = self.traced([*options, *chosen], program, args, f"exec:{self.pfnetd} --network {network}", env, name)
            self.expect(result.status == 0, f"{network}: {name}", result)
            runs.append(text)
        what = f"{network}, {' '.join(options)} {schedule or ''}, {os.path.basename(program)} {' '.join(args)}"
        print(f"{what}: {len(runs[0])} lines", flush=True)
        if runs[0] != runs[1]:
            self.failures += 1
            print(f"FAIL {what}\n" + harness.difference(runs[0], runs[1]))


def same(external):
    pingpong, cg = external.source("examples", "pingpong", "pingpong.c"), external.source("examples", "cg", "cg.c")
    crowd = external.source("tests", "e2e", "network", "crowd.c")
    for network in MODEL:
        external.compare(network, ["-np", "2", "-platform", "star:2"], pingpong, ["1048576", "5"])
        external.compare(network, ["-np", "8", "-platform", "torus:8"], cg, ["-n", "16"])
        external.compare(network, ["-np", "16", "-platform", "fattree:16"], crowd, ["20000"])
    external.compare("packet", ["-np", "8", "-platform", harness.PLATFORM, "-hostfile", harness.PACKED], cg, ["-n", "16"])
    for routing in ("minimal-adaptive", "ugal", "par", "valiant"):
        env = {"PARFOCAL_NET_ROUTING": routing, **EAGER}
        external.compare("packet", ["-np", "16", "-platform", "torus:16"], crowd, ["20000"], env)
    external.compare("packet", ["-np", "16", "-platform", "dragonfly:72", "-background", "uniform:0.3:16-71"], crowd, ["20000"],
                     {"PARFOCAL_NET_ROUTING": "ugal"})
    external.compare("packet", ["-np", "8", "-platform", "fattree:16", "-fail", "r0-r4@5e-6"], crowd, ["20000"],
                     {"PARFOCAL_NET_ROUTING": "ugal", "PARFOCAL_NIC_RETRY_TIMEOUT": "1e-4"})
    for network in ("packet", "flow"):  # every message is lost now and then, and sent again
        external.compare(network, ["-np", "4", "-platform", "star:4", "--cfg=parfocal/net_loss:0.02"], crowd, ["20000"],
                         {"PARFOCAL_NIC_RETRY_TIMEOUT": "1e-4", "PARFOCAL_NIC_RETRIES": "50"})
    external.compare("packet", ["-np", "8", "-platform", "torus:8", "--cfg=parfocal/engine_run_ahead:no"], crowd, ["5000"])
    # Under the name of model portals.
    runs = [external.traced(["-np", "8", "-platform", "torus:8", "-model", model], crowd, ["20000"], None, env, model)[1]
            for model, env in (("packet", {}), ("portals", {"PARFOCAL_NET_MODEL": f"external:exec:{external.pfnetd}"}))]
    external.expect(runs[0] == runs[1] and len(runs[0]) > 100, "PARFOCAL_NET_MODEL=external:...")


def random(external):
    program = external.source("tests", "random", "randprog.c")
    schedules = ["every:1=M|portals", "every:1=M|portals|smpi", "every:3=M|analytic", "every:1=portals-ideal|M|portals"]
    for seed in (seed for seed in range(1, 12) if seed not in OTHER_ORDER):
        hosts = harness.PACKED if seed % 3 == 0 else harness.HOSTFILE
        options = ["-np", str(2 + seed % 4), "-platform", harness.PLATFORM, "-hostfile", hosts, "--cfg=smpi/grow-injected-times:no"]
        external.compare("packet", options, program, [str(seed), "60", "still"], {"E2E_A": "M", "E2E_B": "portals"},
                         schedules[seed % len(schedules)])
    external.compare("ideal", options, program, ["7", "60", "still"], {"E2E_A": "M", "E2E_B": "portals"}, "every:1=M|portals|packet")


def half_round_trips(result):
    """{bytes: us}"""
    found = [re.match(r"pingpong: +(\d+) bytes +([\d.]+) us", line) for line in result.lines]
    return {int(match[1]): float(match[2]) for match in found if match}


def constant(external):
    pingpong = external.source("examples", "pingpong", "pingpong.c")
    tests = ["-np", "2", "-platform", "star:2"]

    def run(latency, rate, address="exec:{} --latency {} --rate {}"):
        result = external.pfrun([*tests, "-model", "external"], pingpong, ["65536", "5"], address.format(CONSTANT, latency, rate))
        external.expect(result.status == 0 and len(half_round_trips(result)) == 9, f"latency {latency}, rate {rate}", result)
        return half_round_trips(result)
    # star:2 has two links of 200 ns and 11.1 GB/s, which are not shared here.
    alone = half_round_trips(external.pfrun([*tests, "-model", "portals-ideal"], pingpong, ["65536", "5"]))
    base = run(400e-9, 11.1e9)
    external.expect(base == alone, f"as in portals-ideal: {base} {alone}")
    # Each way crosses the network once with all its bytes: 64 of a header, 12 more behind each 512.
    later, slower = run(1400e-9, 11.1e9), run(400e-9, 1e9)
    for size in (16, 64, 256):  # smaller ones come with the command
        wire = 64 + size + (size - 1) // 512 * 12
        external.expect(abs(later[size] - base[size] - 1.0) < 0.0011, f"{size} bytes: 1 us more latency makes {base[size]} us {later[size]} us")
        expected = wire * (1 / 1e9 - 1 / 11.1e9) * 1e6
        external.expect(abs(slower[size] - base[size] - expected) < 0.0011,
                        f"{size} bytes: {base[size]} us become {slower[size]} us, not {expected:.3f} us more")


def ns3(external):
    """ns-3's switch sends a packet on when it has all of it, ours as soon as its head is there: 256 bytes more on each way."""
    pingpong, cg = external.source("examples", "pingpong", "pingpong.c"), external.source("examples", "cg", "cg.c")
    address = "exec:" + shlex.quote(external.ns3net)
    times = {}
    for model in ("packet", "portals", "external"):
        result = external.pfrun(["-np", "2", "-platform", "star:2", "-model", model], pingpong, [], address)
        external.expect(result.status == 0 and len(half_round_trips(result)) == 11, f"ping-pong in {model}", result)
        times[model] = {f"ping-pong, {size} bytes, us": time for size, time in half_round_trips(result).items()}
        for np in (4, 16):
            result = external.pfrun(["-np", str(np), "-platform", f"star:{np}", "-model", model], cg, ["-n", "32"], address)
            found = [re.search(r"took ([\d.]+) s in solve", line) for line in result.lines]
            found = [match[1] for match in found if match]
            external.expect(result.status == 0 and len(found) == 1 and "cg: verified" in result.lines, f"cg in {model}", result)
            times[model][f"cg, {np} ranks, us"] = float(found[0]) * 1e6 if found else 0.0
    print("| | `packet` | `portals` | ns-3 | over `packet` |\n|---|---|---|---|---|")
    for what, own in times["packet"].items():
        more = times["external"][what] / own - 1
        print(f"| {what} | {own:.3f} | {times['portals'][what]:.3f} | {times['external'][what]:.3f} | {100 * more:+.1f} % |")
        external.expect(abs(more) < 0.03 and abs(times["external"][what] / times["portals"][what] - 1) < 0.03, f"{what}: more than 3 % away")
    result = external.pfrun(["-np", "4", "-platform", "star:4", "-schedule", "every:10=external|portals|packet|smpi"], cg, ["-n", "32"], address)
    external.expect(result.status == 0 and "cg: verified" in result.lines, "switches to and from it", result)


def left_behind(external):
    """Processes whose command names this test's folder."""
    done = subprocess.run(["ps", "-eo", "pid,ppid,stat,args"], capture_output=True, text=True, check=True, timeout=60)
    return [line for line in done.stdout.splitlines() if external.work in line and "run_external" not in line]


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def error_lines(result):
    return [line for line in result.err.splitlines() if re.match("parfocal: (error|warning): ", line)]


def place_peers(external, name):
    """So that ps shows whose they are."""
    for one in (name, "peers.py"):
        os.symlink(os.path.join(HERE, one), os.path.join(external.work, one))
    return os.path.join(external.work, name)


def refused_hello(external, first, expected):
    """What pfnetd says to a client whose first message is this."""
    mine, its = socket.socketpair()
    with mine, its:
        process = subprocess.Popen([external.tools.command("pfnetd"), "--network", "packet", "--platform", "star:2"], stdin=its,
                                   stderr=subprocess.PIPE, text=True, cwd=external.work)
        its.close()
        mine.sendall(first)
        mine.shutdown(socket.SHUT_WR)
        said = process.communicate(timeout=LIMIT)[1]
    external.expect(process.returncode == 1 and len(said.splitlines()) == 1 and expected in said, f"{first!r}: one line with '{expected}': {said}")


def broken(external):
    for setting in ("fabric_rate_0=nan", "fabric_rate_1=-1", "fabric_latency_2=inf", "fabric_latency_0=1e7", "fabric_router_latency=-1e-9",
                    "fabric_router_latency=fast", "fabric_rate_0="):
        refused_hello(external, peers.hello(("node-1000", "node-1001"), settings=setting.encode() + b"\n"), f"message 1 of the client: HELLO has {setting}, which must be from 0 to ")
    for first, expected in ((peers.message(peers.HELLO, version=2), "a HELLO of version 2 of the protocol"), (peers.message(peers.HELLO, length=10), "a HELLO of 10 bytes"),
                            (peers.message(peers.HELLO, date=float("nan")), "a HELLO whose date is no number"), (b"GET / HTTP/1.1\r\nHost: here\r\n\r\n", "a message of "),
                            (b"x", "in the middle of a message")):
        refused_hello(external, first, "message 1 of the client: " * (len(first) > 1) + expected)
    crowd = external.source("tests", "e2e", "network", "crowd.c")
    peer = place_peers(external, "broken.py")
    for name, (_, expected) in SIMULATORS.items():
        silent = "nothing" in name
        result = external.pfrun(["-np", "2", "-platform", "star:2", "-model", "external"], crowd, ["20000"], f"exec:{peer} {shlex.quote(name)}",
                                {"PARFOCAL_NET_EXTERNAL_TIMEOUT": "1" if silent else "120"})
        lines = error_lines(result)
        right = (result.status == 1 and len(lines) == 1 and expected in lines[0] and "network external" in lines[0]
                 and ("message " in lines[0] or name == "ends badly"))
        external.expect(right, f"{name}: one line with '{expected}'", result)
        external.expect(wait_until(lambda: not left_behind(external)), f"{name}: left behind {left_behind(external)}")


def session(peer):
    """What a client says to a pfnetd with two nodes, as it needs not read what comes back to go on."""
    turn = 1 << 20
    said = [peers.hello(("node-1000", "node-1001"), settings=b"net_small_max=4096\n")]
    for number in range(6):
        date = number * 1e-3
        said.append(peers.inject(number, date, number % 2, 1 - number % 2, (72.0, 1e5)[number // 3], number // 3, number % 4, 32.0, turn))
        turn += 1 << 20
        said.append(peers.advance(date, date + 1e-3, turn))
        if number == 2:
            said += [peers.message(peers.ROUTE, 0, date, b"\0\0\0\0\1\0\0\0"),
                     peers.message(peers.ACKNOWLEDGE, 0, date + 1e-3, b"\0\0\0\0\1\0\0\0" + bytes(8)), peers.message(peers.CANCEL, 77, date + 1e-3)]
        turn += 1 << 30
        said.append(peers.advance(date + 1e-3, date + 1e-3, turn))
        turn += 1 << 30
    said.append(peers.message(peers.FINISH))
    peer.settimeout(60)
    return said


def fuzz(external):
    rng = random_numbers.Random(SEED)
    ended = {}

    def judge(what, status, said, result=None):
        lines = [line for line in said.splitlines() if line.startswith("parfocal: error")]
        ended[status] = ended.get(status, 0) + 1
        external.expect(status in (0, 1) and len(lines) == status, f"{what}: status {status}\n{said[-600:]}", result)
    for case in range(300):
        mine, its = socket.socketpair()
        with mine, its:
            said = session(mine) if case else session(mine)[:-1] + [b"x"]
            data = b"".join(said) if case == 1 else peers.mutate(b"".join(said), rng)
            options = ["--platform", "star:2"] if case % 4 else []
            if case % 4 == 0:  # the platform is the client's, too
                with open(external.star, "rb") as file:
                    data = peers.mutate(b"".join([peers.hello(platform=file.read()), *said[1:]]), rng)
            env = {**os.environ, "PARFOCAL_NET_EXTERNAL_TIMEOUT": "5"}
            process = subprocess.Popen([external.tools.command("pfnetd"), "--network", ("packet", "flow", "ideal")[case % 3], *options],
                                       stdin=its, stderr=subprocess.PIPE, text=True, env=env, cwd=external.work, errors="replace")
            its.close()
            try:
                mine.sendall(data)
                mine.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it has ended
            try:
                judge(f"pfnetd, case {case}", process.wait(60), process.stderr.read())
            except subprocess.TimeoutExpired:
                process.kill()
                judge(f"pfnetd, case {case}", "timeout", "")
            process.stderr.close()
    external.expect(ended.get(0, 0) > 0 and ended.get(1, 0) > 100, f"pfnetd: {ended}")
    ended.clear()
    crowd = external.source("tests", "e2e", "network", "crowd.c")
    peer = place_peers(external, "mutant.py")
    for case in range(60):
        result = external.pfrun(["-np", "2", "-platform", "star:2", "-model", "external"], crowd, ["20000"], f"exec:{peer} {rng.randrange(1 << 30)}",
                                {"PARFOCAL_NET_EXTERNAL_TIMEOUT": "5"})
        judge(f"pfrun, case {case}", result.status, result.err, result)
    external.expect(ended.get(0, 0) > 5 and ended.get(1, 0) > 10, f"pfrun: {ended}")
    external.expect(wait_until(lambda: not left_behind(external)), f"left behind: {left_behind(external)}")


def is_there(path):
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except FileNotFoundError:
        return False


def ends(external):
    crowd = external.source("tests", "e2e", "network", "crowd.c")
    long_run, many = external.source("examples", "pingpong", "pingpong.c"), ["1", "100000000"]  # hours
    base = ["-np", "4", "-platform", "torus:4", "-model", "external"]
    path = os.path.join(external.work, "net.socket")

    def refused(expected, address, options=(), environment=None):
        result = external.pfrun([*base, *options], crowd, ["1000"], address, environment)
        external.expect(result.status == 1 and len(result.err.splitlines()) == 1 and expected in result.err, f"{address}: '{expected}'", result)
    refused("model 'external' is without a network: PARFOCAL_NET_EXTERNAL", None)
    refused("is none of exec:COMMAND", "nonsense")
    refused("no simulator answers at '/nowhere/socket'", "/nowhere/socket")
    refused("no simulator answers at 'localhost:1'", "tcp:localhost:1")
    refused("is not HOST:PORT", "tcp:1:x")
    refused("names no command", "exec: ")
    refused("characters", "unix:" + "x" * 200)
    refused("PARFOCAL_NET_MODEL: 'externally'", "", environment={"PARFOCAL_NET_MODEL": "externally"})
    refused("model 'portals' is without a network", None, ["-model", "portals"], {"PARFOCAL_NET_MODEL": "external"})
    result = external.pfrun(base, crowd, ["1000"], "exec:" + os.path.join(external.work, "is-not-there"))
    external.expect(result.status == 1 and len(error_lines(result)) == 1 and "closed the connection" in result.err, "no such command", result)

    reference = external.pfrun(["-np", "4", "-platform", "torus:4", "-model", "packet"], crowd, ["1000"]).lines

    @contextlib.contextmanager
    def server(*options):
        process = subprocess.Popen([external.tools.command("pfnetd"), *options], stderr=subprocess.PIPE, text=True, cwd=external.work)
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            process.stderr.close()

    # At a path: only for its owner, and gone when a client has come. What a dead one left there is replaced.
    for leftover in (False, True):
        if leftover:
            with socket.socket(socket.AF_UNIX) as dead:
                dead.bind(path)
        with server("--socket", path) as process:
            external.expect(wait_until(lambda: is_there(path) and stat.S_IMODE(os.stat(path).st_mode) == 0o600), "mode of the socket")
            if not leftover:
                with server("--socket", path) as other:
                    external.expect(other.wait(60) == 1 and "another process already listens" in other.stderr.read(), "two at a path")
                with open(path + ".file", "w", encoding="utf-8"), server("--socket", path + ".file") as other:
                    external.expect(other.wait(60) == 1 and os.path.exists(path + ".file"), "a file is no socket")
            time.sleep(0.2 if leftover else 0)
            result = external.pfrun(base, crowd, ["1000"], path)
            external.expect(result.status == 0 and result.lines == reference, "at a path", result)
            external.expect(process.wait(60) == 0 and not is_there(path), "pfnetd ends with its client")
    # By TCP, where the port may be taken.
    for port in range(20000 + os.getpid() % 10000, 32000, 97):
        with server("--tcp", str(port)) as process:
            result = None
            while process.poll() is None and (result is None or "no simulator answers" in result.err):
                result = external.pfrun(base, crowd, ["1000"], f"tcp:127.0.0.1:{port}")
            if process.wait(60) == 0:
                external.expect(result.status == 0 and result.lines == reference, "by TCP", result)
                break
    # Signals to one that waits.
    for number in (signal.SIGTERM, signal.SIGHUP):
        with server("--socket", path) as process:
            external.expect(wait_until(lambda: is_there(path)), "the socket is there")
            process.send_signal(number)
            external.expect(process.wait(60) == -number and not is_there(path), f"signal {number} leaves nothing")
    # One side is killed.
    with server("--socket", path) as process:
        wait_until(lambda: is_there(path))
        client = subprocess.Popen([external.tools.command("pfrun"), *base, long_run, *many], cwd=external.work, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, env={**os.environ, "PARFOCAL_NET_EXTERNAL": path})
        wait_until(lambda: not is_there(path))
        time.sleep(1)
        process.kill()
        said = client.communicate(timeout=LIMIT)[1]
        external.expect(client.returncode == 1 and "network external" in said and said.count("parfocal: error") == 1, f"pfnetd is killed: {said}")
    def children(process):
        return subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=False).stdout.split()

    for address in ("exec:" + external.pfnetd, path):
        with server("--socket", path) as process:
            wait_until(lambda: is_there(path))
            client = subprocess.Popen([external.tools.command("pfrun"), *base, "-tmpdir", external.work, long_run, *many], cwd=external.work,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                      env={**os.environ, "PARFOCAL_NET_EXTERNAL": address})
            external.expect(wait_until(lambda: not is_there(path) if address == path else children(client)), f"it has begun: {address}")
            child = children(client)
            time.sleep(1)
            client.kill()
            client.communicate(timeout=LIMIT)
            external.expect(wait_until(lambda: not any(os.path.exists("/proc/" + number) for number in child)), "its child is left behind")
            if address == path:
                status, said = process.wait(60), process.stderr.read()
                external.expect(status == 1 and "closed the connection" in said, f"pfrun is killed: {status}, {said}")
            else:
                process.kill()
                os.unlink(path)
    external.expect(wait_until(lambda: not left_behind(external)), f"left behind: {left_behind(external)}")
    external.expect(not is_there(path), "a socket is left")


def main():
    checks = {"same": same, "random": random, "constant": constant, "broken": broken, "fuzz": fuzz, "ns3": ns3, "ends": ends}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=checks)
    parser.add_argument("--bin", default=os.path.join(harness.ROOT, "build", "bin"))
    parser.add_argument("--ns3net", help="the program of examples/external/ns3")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="external-") as work:
        external = External(options.bin, work)
        external.ns3net = os.path.abspath(options.ns3net) if options.ns3net else None
        with open(external.star, "w", encoding="utf-8") as out:
            subprocess.run([external.tools.command("pfinfo"), "--platform", "star:2"], stdout=out, check=True, timeout=60)
        checks[options.check](external)
    if external.failures:
        sys.exit(f"{external.failures} failures")


if __name__ == "__main__":
    main()
