#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""OpenSHMEM programs: built with pfoshcc, run with pfrun; their results, and what is said of mistakes.

Usage: run_openshmem.py --bin DIRECTORY
"""
import argparse
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
import specification  # noqa: E402

EXAMPLES = os.path.join(harness.ROOT, "examples", "openshmem")
# program, numbers of PEs, models
RUNS = [
    ("transfers.c", (1, 2, 5), ("portals", "packet", "analytic")),
    ("atomics.c", (1, 2, 7), ("portals", "packet", "analytic")),
    ("collectives.c", (1, 2, 3, 8), ("portals", "packet", "analytic")),
    ("plus.cpp", (1, 3), ("portals",)),
    ("spec.c", (1, 2, 5), ("portals", "packet", "analytic")),
    ("mixed.c", (1, 4), ("portals", "packet", "analytic")),
    ("suites.c", (1, 2, 5), ("portals", "packet", "analytic")),
    ("edges.c", (1, 2, 8), ("portals", "packet", "analytic")),
]
# argument of ends.c on three PEs, exit status, what the output must match
ENDS = [
    ("before", 1, r"PE \d: shmem_barrier_all was called before shmem_init, at ends.c:\d+ \(main\)"),
    ("after", 1, r"PE \d: shmem_my_pe was called after shmem_finalize, at ends.c:"),
    ("pe", 1, r"PE 1: shmem_long_p: there is no PE 3, the job has 3 \(0 to 2\), at ends.c:"),
    ("address", 1, r"PE 1: shmem_long_put: 8 bytes at 0x\w+ are not symmetric: .*, at ends.c:"),
    ("length", 1, r"PE 1: shmem_getmem: 1073741824 bytes at 0x\w+ are not symmetric"),
    ("atomic", 1, r"shmem_long_atomic_inc: an atomic at 0x\w+, which is no multiple of 8"),
    ("get", 1, r"PE \d: shmem_long_g: there is no PE -1, the job has 3 \(0 to 2\), at ends.c:\d+ \(main\)"),
    ("ptr", 1, r"PE \d: shmem_ptr: there is no PE 3, the job has 3 \(0 to 2\), at ends.c:"),
    ("root", 1, r"PE \d: shmem_broadcast64: PE_root 3 is not in the active set, which has 3 PEs, at ends.c:"),
    ("fetch", 1, r"PE \d: shmem_long_atomic_fetch_add: 8 bytes at 0x\w+ are not symmetric: .*, at ends.c:"),
    ("heap", 1, r"PE \d: shmem_long_p: 8 bytes at 0x\w+ are not symmetric: .*, at ends.c:"),
    ("sync", 1, r"PE \d: shmem_barrier: 512 bytes at 0x\w+ are not symmetric: .*, at ends.c:"),
    ("malloc", 0, r"warning: PE \d: shmem_malloc: \d00 bytes, but PE \d asked for \d00: .* each gets the largest one; at ends.c:\d+ \(main\)"),
    ("malloc far", 1, r"PE \d: shmem_malloc: no room for 3221225472 bytes where PE 0 has got 100, at ends.c:"),
    ("align", 1, r"shmem_align: all PEs must call it with the same arguments; PE \d called shmem_align with others"),
    ("thread", 1, r"^\n.*error: shmem_long_p was called from a thread that is no PE of the job, at ends.c:\d+ \(put\)"),
    ("child", 7, r"error: shmem_long_p was called in a child process of a PE, which is no PE, at ends.c:\d+ \(put\)"),
    ("child init", 7, r"error: shmem_init was called in a child process of a PE, which is no PE, at ends.c:\d+ \(init\)"),
    ("thread init", 1, r"^\n.*error: shmem_init was called from a thread that is no PE of the job, at ends.c:\d+ \(init\)"),
    ("instead", 1, r"PE \d: shmem_[mc]alloc: all PEs must .*; PE \d called shmem_[mc]alloc instead"),
    ("free", 1, r"shmem_free: 0x\w+ is not from shmem_malloc, or has been freed"),
    ("set", 1, r"PE 2: shmem_barrier: the PE is not in its active set: PE_start 0, logPE_stride 0, PE_size 2"),
    ("cmp", 1, r"17 is none of SHMEM_CMP_EQ"),
    ("wait", 1, r"(?s)deadlock.*PE 0 is blocked in shmem_long_wait_until, at ends.c:\d+ \(main\).*PE 2 is blocked in"),
    ("absent", 1, r"(?s)PE 0 is blocked in shmem_long_wait_until, at.*PE 1 is blocked in shmem_barrier_all \(for PE 0\), at ends.c"),
    ("lock", 1, r"(?s)PE 0 is blocked in shmem_set_lock \(for PE \d\), at ends.c:\d+"),
    ("test", 1, r"livelock at simulated time \S+ s: 2000 calls of shmem_long_test in a row found nothing.*(?s:.*)PE 1 .*shmem_long_test"),
    ("quiet", 0, r""),
    ("quiet forever", 1, r"livelock at simulated time \S+ s: 2000 calls of shmem_fence in a row found nothing.*(?s:.*)PE 1 .*shmem_fence, at ends.c"),
    ("exit", 7, r"PE 1 called shmem_global_exit with status 7, at ends.c:\d+ \(main\)\n.*PE 0 is blocked in shmem_finalize"),
    ("exit with 0", 0, r"^\n$"),
    ("leave", 0, r"^\n$"),
    ("at exit", 0, r"^finalized\nfinalized\nfinalized\n$"),
    ("leave with 5", 5, r"rank 1 has ended with status 5 and without shmem_finalize(?s:.*)PE 0 is blocked in shmem_finalize \(for PE \d\), at ends.c"),
    ("finalize", 0, r"^\n$"),
]
TWO_LINKS = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="two" routing="Full">
    <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
    <link id="one" bandwidth="11.1GBps" latency="500ns" sharing_policy="SPLITDUPLEX"/>
    <link id="other" bandwidth="11.1GBps" latency="500ns" sharing_policy="SPLITDUPLEX"/>
    <route src="a" dst="b"><link_ctn id="one" direction="UP"/><link_ctn id="other" direction="DOWN"/></route>
  </zone>
</platform>
"""


class Checker(harness.Checker):
    def holds(self, title, right, result):
        self.runs += 1
        if not right:
            self.failures += 1
            print(f"FAIL {title}\n    {result.command}\n" + "\n".join(result.lines)[-1500:] + result.err[-1500:])

    def pfrun(self, program, np, args=(), options=()):
        command = [self.tools.command("pfrun"), "-np", str(np), "--log=root.thres:error", "--cfg=smpi/simulate-computation:no",
                   *options, program, *args]
        return self.tools.run(command, 60)

    def build(self, source, *flags):
        wrapper = "pfoshcxx" if source.endswith(".cpp") else "pfoshcc"
        target = os.path.join(self.tools.work, os.path.splitext(os.path.basename(source))[0])
        command = [self.tools.command(wrapper), "-O1", "-g", "-Wall", "-Wextra", "-Werror", *flags, source, "-o", target, "-lm"]
        self.expect(f"building {source}", self.tools.run(command, 120), 0, "")
        return target


def programs(checker):
    for source, sizes, models in RUNS:
        program = checker.build(os.path.join(HERE, "programs", source))
        for model in models:
            for np in sizes:
                checker.expect(f"{source} {np} PEs {model}", checker.pfrun(program, np, options=["-model", model]), 0, r"^PASS\n")


def old_programs(checker):
    for standard in ("-std=gnu99", "-std=gnu11"):
        program = checker.build(os.path.join(HERE, "programs", "old.c"), standard)
        for np in (1, 4):
            checker.expect(f"old.c {standard} {np} PEs", checker.pfrun(program, np), 0, r"^PASS\n")


def names(checker):
    """All that the specification has is declared with its types, can be linked, and is selected by type in C11 and in C++."""
    for suffix, flags in ((".c", ["-std=gnu11"]), (".cpp", ["-Wno-unused-value"])):
        source = os.path.join(checker.tools.work, "names" + suffix)
        text, count = specification.program(suffix == ".cpp")
        with open(source, "w", encoding="utf-8") as out:
            out.write(text)
        program = checker.build(source, *flags, "-Wno-unused-result")
        checker.expect("names" + suffix, checker.pfrun(program, 1), 0, rf"^{count if suffix == '.c' else 0}\n")


def together(checker):
    """Two PEs on each host, and random programs: the seed is the argument."""
    hosts = ["-platform", harness.PLATFORM, "-hostfile", harness.PACKED]
    program = os.path.join(checker.tools.work, "transfers")
    checker.expect("two PEs on each host", checker.pfrun(program, 4, ["packed"], hosts), 0, r"^PASS\n")
    program = os.path.join(checker.tools.work, "edges")
    few = ["--cfg=parfocal/ptl_max_objects:100"]
    checker.expect("more contexts than counters", checker.pfrun(program, 2, ["few counters"], few), 0, r"^PASS\n")
    checker.expect("PEs that ask for different sizes", checker.pfrun(program, 5, ["unequal"]), 0, r"^PASS\n")
    checker.expect("stores by a pointer", checker.pfrun(program, 4, ["packed"], hosts), 0, r"^PASS\n")
    program = os.path.join(checker.tools.work, "suites")
    checker.expect("suites.c in the heap, two PEs on each host", checker.pfrun(program, 4, ["heap"], hosts), 0, r"^PASS\n")
    program = os.path.join(checker.tools.work, "plus")
    checker.expect("a mistake in an overloaded call", checker.pfrun(program, 2, ["wrong"]), 1, r"there is no PE 99, .*, at plus.cpp:\d+ \(main\)")
    program = checker.build(os.path.join(HERE, "programs", "random.c"))
    often = ["-schedule", "every:3=portals|analytic|packet"]
    for seed, np, options in ((1, 2, []), (2, 5, ["-model", "packet"]), (3, 8, hosts), (4, 6, []), (5, 7, ["-model", "analytic"]),
                              (6, 8, ["-model", "analytic", *hosts]), (7, 5, often)):
        checker.expect(f"random {seed}", checker.pfrun(program, np, [str(seed)], options), 0, r"^PASS\n")


def hello(checker):
    program = checker.build(os.path.join(EXAMPLES, "hello.c"))
    checker.expect("hello", checker.pfrun(program, 4), 0, r"hello from PE 0 of 4, left of it is PE 3")
    checker.expect("hello in a model without a NIC", checker.pfrun(program, 4, options=["-model", "smpi"]), 1,
                   r"OpenSHMEM needs a model with a network interface, and smpi has none")


def examples(checker):
    """Each verifies its result by itself."""
    for name, arguments in (("sort", ["3000", "2"]), ("graph", ["40", "3"]), ("transpose", ["6"])):
        program = checker.build(os.path.join(EXAMPLES, name + ".c"))
        for model in ("portals", "packet", "analytic"):
            checker.expect(f"{name} {model}", checker.pfrun(program, 6, arguments, ["-model", model]), 0, f"{name}: verified")
        once, again = (checker.pfrun(program, 6, arguments).lines for _ in range(2))
        checker.runs += 1
        if once != again:
            checker.failures += 1
            print(f"FAIL {name}: two runs differ\n{once}\n{again}")


# Of Open MPI's source, where the build has fetched it: program, what it must print on four PEs
OTHERS = [
    ("hello_oshmem_c.c", r"I am 3 of 4: Parfocal \(version: 1.4\)"),
    ("hello_oshmem_cxx.cc", r"I am 3 of 4: Parfocal \(version: 1.4\)"),
    ("ring_oshmem_c.c", r"Process 0 decremented value: 0(?s:.*)Process 3 exiting"),
    ("oshmem_circular_shift.c", r"Process 3 exiting"),
    ("oshmem_max_reduction.c", r"3/4 dst = 3 4 5"),
    ("oshmem_shmalloc.c", r""),
    ("oshmem_strided_puts.c", r"target on PE 1 is 1 3 5 7 9"),
    ("oshmem_symmetric_data.c", r"(?i)target on PE 3 is\s+0\s+1\s+2\s.*15"),
]


def other_examples(checker, bindir):
    folders = glob.glob(os.path.join(glob.escape(os.path.dirname(os.path.abspath(bindir))), "adapters", "openmpi", "openmpi-*", "examples"))
    for name, pattern in OTHERS:
        if not folders or not os.path.exists(os.path.join(folders[0], name)):
            continue
        program = os.path.join(checker.tools.work, "other")
        wrapper = checker.tools.command("pfoshcxx" if name.endswith(".cc") else "pfoshcc")
        built = checker.tools.run([wrapper, "-O1", "-g", os.path.join(folders[0], name), "-o", program], 120)
        checker.expect(f"building {name}", built, 0, "")
        checker.expect(name, checker.pfrun(program, 4), 0, pattern)


def libraries(checker):
    """Static data of a shared library are not symmetric, which is said."""
    library, program = (os.path.join(checker.tools.work, name) for name in ("libshared.so", "shared"))
    source = os.path.join(HERE, "programs", "shared.c")
    wrapper = checker.tools.command("pfoshcc")
    checker.expect("a library", checker.tools.run([wrapper, "-g", "-DLIBRARY", "-shared", "-fPIC", source, "-o", library], 60), 0, "")
    checker.expect("its program", checker.tools.run([wrapper, "-g", source, library, "-Wl,-rpath," + checker.tools.work, "-o", program], 60), 0, "")
    checker.expect("data of a library", checker.pfrun(program, 2), 1,
                   r"PE \d: shmem_long_p: 8 bytes at 0x\w+ are not symmetric: neither static data of the program nor from shmem_malloc, at shared.c:")


def ends(checker):
    program = checker.build(os.path.join(HERE, "programs", "ends.c"))
    for how, status, pattern in ENDS:
        few = ["--cfg=parfocal/livelock_polls:2000"] if how in ("test", "quiet forever") else []
        checker.expect(f"ends {how}", checker.pfrun(program, 3, [how], few), status, pattern)
    command = ["env", "INIT_EARLY=1", checker.tools.command("pfrun"), "-np", "2", program]
    checker.expect("shmem_init in a constructor", checker.tools.run(command, 60), 1,
                   r"shmem_init was called before main\(\), in a constructor, at ends.c:\d+ \(begin\)")
    program = os.path.join(checker.tools.work, "mixed")
    checker.expect("MPI in a model without a NIC", checker.pfrun(program, 2), 1, r"OpenSHMEM needs a model with a network interface")
    checker.expect("MPI behind OpenSHMEM, no model given", checker.pfrun(program, 2, ["shmem first"]), 0, r"^PASS\n")
    options = ["-model", "analytic", "--cfg=parfocal/livelock_polls:1000"]
    checker.expect("one tests, others call MPI", checker.pfrun(program, 3, ["shmem first"], options), 0, r"^PASS\n")
    for schedule in ("@coll:3=packet", "every:2=analytic|portals"):
        options = ["-model", "portals", "-schedule", schedule]
        checker.expect(f"MPI and OpenSHMEM in {schedule}", checker.pfrun(program, 3, options=options), 0, r"^PASS\n")


# What is set, exit status of heap.c, what the output must match
VARIABLES = [
    (["SHMEM_SYMMETRIC_SIZE=64X"], 1, r"SHMEM_SYMMETRIC_SIZE=64X is no size of a heap"),
    (["SHMEM_SYMMETRIC_SIZE=1kk"], 1, r"SHMEM_SYMMETRIC_SIZE=1kk is no size of a heap"),
    (["SMA_SYMMETRIC_SIZE=1"], 1, r"SMA_SYMMETRIC_SIZE=1 is no size of a heap"),
    (["SHMEM_DEBUG=", "SHMEM_SYMMETRIC_SIZE=1.5g", "SMA_SYMMETRIC_SIZE=8"], 0, r"PE 0: shmem_init: static data .* symmetric heap 1610612736 bytes at 0x"),
    (["SMA_DEBUG=1", "SHMEM_SYMMETRIC_HEAP_SIZE=1100M"], 0, r"symmetric heap 1153433600 bytes at"),
    (["SHMEM_DEBUG=1"], 0, r"(?s)symmetric heap 2147483648 bytes at.*shmem_malloc: 1153433600 bytes at offset 4096"
                           r".*shmem_malloc: no room for 1153433600 bytes.*shmem_free: 1153433600 bytes at offset 4096 given back"),
    (["SHMEM_VERSION="], 0, r"(?m)^Parfocal \S+, OpenSHMEM 1.4$"),
    (["SHMEM_INFO=1"], 0, r"(?m)^SHMEM_SYMMETRIC_SIZE  size of each PE"),
    ([], 0, r"^\d+\s*$"),
]


def variables(checker):
    """Those of the specification; and the default heap for many PEs, which costs what is written to."""
    program = checker.build(os.path.join(HERE, "programs", "heap.c"))
    for pairs, status, pattern in VARIABLES:
        command = ["env", *pairs, checker.tools.command("pfrun"), "-np", "2", "--log=root.thres:error", program]
        checker.expect(f"variables {pairs}", checker.tools.run(command, 60), status, pattern)
    few, many = (checker.expect(f"default heap of {np} PEs", checker.pfrun(program, np), 0, r"^\d+\n") for np in (8, 64))
    each = (int(many.lines[-1]) - int(few.lines[-1])) / 56
    checker.holds(f"{each} kB for each PE beyond the heap", 0 < each <= 3 * 1024, many)


def settings(checker):
    """2000 tests by three PEs, each of which takes as long as the user says."""
    program = os.path.join(checker.tools.work, "ends")
    options = ["--cfg=parfocal/livelock_polls:2000", "--cfg=parfocal/openmpi_idle_time:1e-5"]
    checker.expect("what a test costs", checker.pfrun(program, 3, ["test"], options), 1, r"livelock at simulated time 0\.006\d+ s")


def spinning(checker):
    """It never ends by itself. What is said comes while it goes on: also when it spins over calls of another library, with the program's
    own handler for the signal by which its place is found."""
    line = r"ends.c:(\d+) \(main\)"
    checker.build(os.path.join(HERE, "programs", "ends.c"))
    for how, now in (("spin", rf", and is at {line}"), ("spin in libc", rf", and is at {line}"), ("spin with a handler", "")):
        spins(checker, how, rf"PE 1 has computed for 0.2 s since its shmem_n_pes at {line}{now}: if it waits")


def spins(checker, how, pattern):
    program = os.path.join(checker.tools.work, "ends")
    command = [checker.tools.command("pfrun"), "-np", "3", "--log=root.thres:error", "--cfg=parfocal/spin_hint:0.2", program, how]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        watch = threading.Timer(60, os.killpg, (process.pid, signal.SIGKILL))
        watch.start()
        said = next((line for line in process.stderr if "PE" in line), "")
        watch.cancel()
        os.killpg(process.pid, signal.SIGKILL)
    checker.runs += 1
    found = re.search(pattern, said)
    if not found or len(set(found.groups())) != len(found.groups()):
        checker.failures += 1
        print(f"FAIL {how}: {said}")


def defaults():
    """The settings of the NIC, in ns and bytes."""
    with open(os.path.join(harness.ROOT, "base", "config.def"), encoding="utf-8") as table:
        rows = dict(re.findall(r"PF_CFG\(\w+, (nic_\w+), ([^,]+),", table.read()))
    return {name: float(value) for name, value in rows.items() if re.match(r"[-+.0-9e]+$", value)}


def closed_forms():
    """ns of each operation of times.c: the sums of docs/accuracy.md."""
    s = defaults()
    latency, bus, wire = 1e9 * s["nic_pcie_latency"], 1e9 / s["nic_pcie_bw"], 1 / 11.1
    sending = 1e9 * s["nic_tx_time"]

    def posted(length):
        return latency + length * bus

    def cross(length):
        return sending + (s["nic_header_bytes"] + length + (length - 1) // 512 * 12 * (length > 0)) * wire + 1000

    def by_dma(length):
        return 2 * latency + min(length, 512) * bus + cross(length) + posted(min(length, 512))

    command, event, ack = posted(s["nic_command_bytes"]), posted(s["nic_event_bytes"]), sending + s["nic_ack_bytes"] * wire + 1000
    put = command + cross(8) + posted(8)
    fetch = command + cross(8) + posted(8) + by_dma(8) + event
    gap = 1e9 * max(s["nic_tx_gap"], s["nic_rx_gap"], 1e-9 * (s["nic_header_bytes"] + 8) * wire)
    each = (put + ack + event + 99 * gap) / 100  # of 100, the last of which is waited for
    return {"put-rate": each, "add-rate": each, "put-quiet": put + ack + event, "add-quiet": put + ack + event, "put": 0, "quiet": 0, "fence": 0, "ping-pong": put,
            "get": command + cross(0) + by_dma(8) + event, "fetch-add": fetch, "compare-swap": fetch,
            "get-4096": command + cross(0) + by_dma(4096) + event,
            "put-4096": command + by_dma(4096) + ack + event}


def times(checker):
    program = checker.build(os.path.join(HERE, "programs", "times.c"))
    platform = os.path.join(checker.tools.work, "two.xml")
    with open(platform, "w", encoding="utf-8") as out:
        out.write(TWO_LINKS)
    for model in ("portals", "packet", "analytic"):
        # acknowledgements between NICs take a part of the wire from those that come back (docs/accuracy.md)
        options = ["-model", model, "-platform", platform, "--cfg=parfocal/nic_e2e:no"]
        result = checker.expect(f"times {model}", checker.pfrun(program, 2, options=options), 0, "PASS")
        measured = dict(line.split() for line in result.lines if line != "PASS")
        for name, expected in closed_forms().items():
            checker.runs += 1
            if abs(float(measured.get(name, "nan")) - expected) <= 0.001 * expected + 0.2:  # reading the clock costs 10 ns of 100 rounds
                continue
            checker.failures += 1
            print(f"FAIL {model}: {name} takes {measured.get(name)} ns instead of {expected:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        checker = Checker(harness.Tools(arguments.bin, work))
        for part in (hello, programs, old_programs, names, together, examples, libraries, ends, variables, settings, spinning, times):
            part(checker)
        other_examples(checker, arguments.bin)
        print(f"{checker.runs} checks, {checker.failures} failures")
        return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
