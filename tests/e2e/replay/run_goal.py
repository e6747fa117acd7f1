#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""GOAL schedules: LogGOPSim's finishing times, several processors of a rank, the binary form, what is refused."""
import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

LIMIT = 120
RULES = "--cfg=parfocal/replay_loggops:L=2500,o=1500,g=1000,G=6,O=1,S=1e12"


def dissemination(rank, np=48):
    for n in range(6):
        yield f"s{n}: send 8b to {(rank + 2 ** n) % np} tag {n}"
        yield f"r{n}: recv 8b from {(rank - 2 ** n) % np} tag {n}"
        if n:
            yield f"s{n} requires r{n - 1}"


def ring(rank, np=16):
    for n in range(40):
        yield f"s{n}: send 64b to {(rank + 1) % np} tag {n}"
        yield f"r{n}: recv 64b from {(rank - 1) % np} tag {n}"
        if n:
            yield f"s{n} requires r{n - 1}"


def incast(rank, np=20):
    if rank:
        yield f"s: send 30000b to 0 tag {rank}"
    else:
        yield from (f"r{n}: recv 30000b from {n} tag {n}" for n in range(1, np))


def irequires(rank, np=8):
    yield from ("c: calc 20000", f"s: send 100000b to {(rank + 1) % np} tag 0", f"r: recv 100000b from {(rank - 1) % np} tag 0",
                "s requires c", "d: calc 30000", "d irequires s", "e: calc 1000", "e requires d", "e requires r")


def streams(rank, np=6):
    for n in range(4):
        yield f"a{n}: calc {100000 * (n + 1)} cpu {n}"
        yield f"b{n}: calc 50000 cpu {n}"
        yield f"b{n} requires a{n}"
    yield from (f"s: send 4096b to {(rank + 1) % np} tag 1 cpu 1", f"r: recv 4096b from {(rank - 1) % np} tag 1 cpu 2", "s requires a0", "b3 requires r")


def binomial(rank, np=37):
    mask = 1
    while mask < np and not rank & mask:
        mask *= 2
    if rank:
        yield f"r: recv 4096b from {rank - mask} tag 0"
    n = 0
    while (mask := mask // 2):
        if rank + mask < np:
            yield f"s{n}: send 4096b to {rank + mask} tag 0"
            if rank:
                yield f"s{n} requires r"
            n += 1


def crowd(rank, np=24):
    """Much waits for few processors and NICs."""
    for n in range(1, np):
        yield f"s{n}: send {300 * n}b to {(rank + n) % np} tag 0 cpu {n % 3} nic {n % 2}"
        yield f"r{n}: recv {300 * n}b from {(rank - n) % np} tag 0 cpu {rank % 3} nic {n % 2}"
        yield f"c{n}: calc {700 * (n + rank)} cpu {n % 4}"
        if n % 5 == 0:
            yield f"c{n} requires r{n - 1}"


# What LogGOPSim prints for them with these parameters, in ns.
FINISH = [(dissemination, 48, 33252), (ring, 16, 235120), (incast, 20, 3452386), (irequires, 8, 753993), (streams, 6, 450000), (binomial, 37, 175920)]

CROWD = 429319  # of an engine that tries everything that waits again whenever a processor is free

# Calculated by hand, with the same rules: a message of m B ends o + L + o + 6 (m - 1) ns after its send has begun.
TWO = "num_ranks 2\nrank 0 {\n%s\n}\nrank 1 {\n%s\n}\n"
BY_HAND = [
    (TWO % ("send 101b to 1 tag 3", "recv 101b from 0 tag 3"), "", 6100),
    (TWO % ("send 101b to 1 tag 3 cpu 1", "calc 9000\nrecv 101b from 0 tag 3"), "", 9000),     # taken up by cpu 1
    (TWO % ("send 101b to 1 tag 3", "c: calc 9000\nrecv 101b from 0 tag 3"), "", 11100),       # and by cpu 0, which is busy until then
    (TWO % ("send 1b to 1 nic 0\nsend 1b to 1 nic 1", "recv 1b from 0\nrecv 1b from 0"), ",g=9000", 7000),
    (TWO % ("send 1b to 1 nic 0\nsend 1b to 1 nic 0", "recv 1b from 0\nrecv 1b from 0"), ",g=9000", 14500),
    (TWO % ("s: send 101b to 1\nc: calc 500\nc requires s", "c: calc 30000\nr: recv 101b from 0\nr requires c"), ",S=100", 32100),  # the send waits for its receive
]


class Test:
    def __init__(self, bindir, work):
        self.bin, self.work, self.failed = os.path.abspath(bindir), work, 0

    def write(self, name, content):
        path = os.path.join(self.work, name)
        with open(path, "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        return path

    def time(self, content, *options, model="analytic"):
        """Simulated seconds and what is said; None where it is refused."""
        done = subprocess.run([os.path.join(self.bin, "pfrun"), "-quiet", "-model", model, "--cfg=smpi/host-speed:1Gf", "-report", self.work,
                               *options, "-replay", self.write("schedule", content)], capture_output=True, text=True, cwd=self.work, timeout=LIMIT)
        if done.returncode:
            return None if done.returncode == 1 else f"status {done.returncode}", done.stderr
        with open(os.path.join(self.work, "summary.json"), encoding="utf-8") as f:
            return json.load(f)["simulated_s"], done.stderr

    def check(self, what, good, detail):
        if not good:
            self.failed += 1
            print(f"FAIL {what}\n{detail}", flush=True)

    def refused(self, what, content, text, *options, model="analytic"):
        time, said = self.time(content, *options, model=model)
        errors = [line for line in said.splitlines() if "error: " in line]
        self.check(f"{what} is refused", time is None and len(errors) == 1 and text in errors[0], f"{time}\n{said}")


def schedule(program, np):
    return f"num_ranks {np}\n" + "".join(f"\nrank {rank} {{\n" + "\n".join(program(rank)) + "\n}\n" for rank in range(np))


def as_binary(text):
    """As txt2bin writes it: from its description in tools/pfreplay/goal_binary.c."""
    words = [line.split() for line in text.split("\n")]
    ranks, operations, edges, labels = [], [], [], {}
    for line in words:
        if line[:1] == ["rank"]:
            operations, edges, labels = [], [], {}
            ranks.append((operations, edges))
        elif "requires" in line or "irequires" in line:
            edges.append((labels[line[0]], labels[line[2]], line[1]))
        elif line and line[0] not in ("num_ranks", "}"):
            if line[0].endswith(":"):
                labels[line.pop(0)[:-1]] = len(operations)
            places = dict(zip(line[-2::-2], line[:0:-2]))  # word, number ... from the end
            number = {name: int(places.get(name, 0)) & 0xffffffff for name in ("tag", "cpu", "nic", "to", "from")}
            kind = ["send", "recv", "calc"].index(line[0]) + 1
            operations.append((kind, number["to"] or number["from"], int(line[1].rstrip("b")), number["tag"], number["cpu"], number["nic"]))
    data, places, at = b"", [], 6 + 16 * len(ranks)
    for operations, edges in ranks:
        needs = [sum(of == n for of, _, _ in edges) for n in range(len(operations))]
        roots = [n for n, count in enumerate(needs) if not count]
        nodes, listed = b"", []
        for n, operation in enumerate(operations):
            nodes += struct.pack("<IBIQIBB", needs[n], *operation)
            for way in ("requires", "irequires"):
                more = [of for of, on, how in edges if on == n and how == way]
                nodes += struct.pack("<II", len(more), len(listed))
                listed += more
        part = struct.pack(f"<II{len(roots)}I", len(operations), len(roots), *roots) + nodes + struct.pack(f"<{len(listed)}I", *listed)
        places.append(struct.pack("<QQ", at + len(data), at + len(data) + len(part)))
        data += part
    return struct.pack("<QIBB", 4223, len(ranks), 3, 1) + b"".join(places) + data


def same_in_binary(test, text, *options, model="analytic"):
    times = [test.time(content, *options, model=model) for content in (text, as_binary(text))]
    test.check(f"binary form in {model} {options}", times[0][0] and times[0][0] == times[1][0], f"{text[:400]}\n{times}")
    return times[0][0]


def part_rules(test):
    for program, np, expected in FINISH:
        time = same_in_binary(test, schedule(program, np), RULES)
        test.check(f"LogGOPSim's time of {program.__name__}", time and abs(time * 1e9 - expected) < 1e-3, f"{time}, not {expected} ns")
    time, said = test.time(schedule(crowd, 24), RULES)
    test.check("much waits", time and abs(time * 1e9 - CROWD) < 1e-3, f"{time}, not {CROWD} ns\n{said}")
    for text, more, expected in BY_HAND:
        time, said = test.time(text, RULES + more)
        test.check(f"by hand{more}", time and abs(time * 1e9 - expected) < 1e-3, f"{text}{time}, not {expected} ns\n{said}")


def part_streams(test):
    text = TWO % ("a: calc 1000000 cpu 0\nb: calc 1000000 cpu 7\nc: calc 500000 cpu 7\nc requires a", "recv 8b from 0 tag 1\ncalc 5")
    text = text.replace("c requires a", "c requires a\nsend 8b to 1 tag 1 cpu 1")
    time, said = test.time(text)
    test.check("beside each other", time and abs(time - 1.5e-3) < 1e-12 and not said, f"{time}\n{said}")
    time, said = test.time(text, model="smpi")
    test.check("one after the other, with a warning", time and time > 2.5e-3 and "one after the other" in said, f"{time}\n{said}")
    same_in_binary(test, text)
    for program, np, _ in FINISH:
        same_in_binary(test, schedule(program, np), model="analytic" if program is streams else "portals")
    time, said = test.time(TWO % ("send 8b to 1 nic 1", "recv 8b from 0"))
    test.check("NICs", time and "several NICs" in said, f"{time}\n{said}")


def part_lines(test):
    """What stands behind a brace is read; a rank alone is played without a word."""
    lines = "num_ranks 2\nrank 0 {\na: calc 1000000\nb: send 8b to 1\nb requires a\n}\nrank 1 {\nrecv 8b from 0\n}\n"
    expected, _ = test.time(lines)
    braces = lines.replace("{\n", "{ ").replace("\n}\n", " }\n")
    for text in (lines.replace("{\n", "{ "), lines.replace("}\nrank", "} rank"), lines.replace("2\nrank", "2 rank"), braces, braces.replace(" }\n", "}")):
        for model in ("analytic", "portals"):
            time, said = test.time(text, model=model)
            test.check("lines are joined", time and time > 1e-3 and (model != "analytic" or time == expected) and not said, f"{text}{time}, not {expected}\n{said}")
    test.refused("a second label", TWO % ("a: calc 1\nb: calc 1\nb requires a a", "calc 5"), "something stands behind what is required")
    time, said = test.time("num_ranks 1\nrank 0 {\ncalc 1000\n}\n")
    test.check("a rank alone", time == 1e-6 and not said, f"{time}\n{said}")


def part_refused(test):
    good = schedule(streams, 6)
    test.refused("a rule", good, "'x=1' is not one of L, o, g, G, O, S", "--cfg=parfocal/replay_loggops:L=1,x=1")
    test.refused("a rule without a number", good, "'L=' is not one of", "--cfg=parfocal/replay_loggops:L=")
    test.refused("another model", good, "LogGOPSim's rules need -model analytic", RULES, model="smpi")
    test.refused("another trace", "0 init\n0 finalize\n", "LogGOPSim's rules are for GOAL schedules", RULES)
    test.refused("a message to nobody", TWO % ("recv 8b from 1 tag 4", "calc 5 cpu 1\ncalc 5"), "deadlock: operation 1 of rank 0 waits, to receive 8 B from rank 1")
    test.refused("a circle", TWO % ("a: calc 1\nb: calc 1 cpu 1\na requires b\nb requires a", "calc 5"), "rank 0: operations require each other in a circle")
    test.refused("a large cpu", TWO % ("calc 1 cpu 256", "calc 5"), "a cpu or nic has a number above 255")
    test.refused("a rest", TWO % ("calc 1 cpu 2 x", "calc 5"), "something stands behind the operation")
    binary = as_binary(schedule(irequires, 8))
    for length in range(8, len(binary), 97):
        test.refused(f"{length} bytes", binary[:length], "the file is cut off")
    chance = random.Random(1)
    for case in range(60):
        wrong = bytearray(binary)
        for _ in range(chance.randint(1, 3)):
            wrong[chance.randrange(8, len(wrong))] = chance.randrange(256)
        time, said = test.time(bytes(wrong), RULES)
        test.check(f"case {case}", isinstance(time, float) or time is None and said.count("error: ") == 1, f"{time}\n{said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    with tempfile.TemporaryDirectory() as work:
        test = Test(parser.parse_args().bin, work)
        part_rules(test)
        part_streams(test)
        part_lines(test)
        part_refused(test)
    return 1 if test.failed else 0


if __name__ == "__main__":
    sys.exit(main())
