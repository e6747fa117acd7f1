#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds a fuzzer with clang and runs it a fixed number of times with a fixed seed; then once more with a fault put into the
code, which it must find. With --seconds it runs for long instead and keeps what it has learned (README.md)."""
import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
FLAGS = ["-O1", "-g", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=undefined"]
TARGETS = {
    "match": {
        "harness": "tests/fuzz/match.c",
        "source": "lowlevel/portals/match.c",
        # An element of no group is forgotten when another one matches.
        "fault": ("return other ? other : best;", "return best ? best : other;"),
    },
    "parameters": {
        "harness": "tests/fuzz/parameters.c",
        "source": "adapters/analytic/cost/parameters/quantity.c",
        # What is pure C, and its parts of the network.
        "with": ["adapters/analytic/cost/**/*.c", "lowlevel/topology/*.c", "lowlevel/nic/levels.c", "lowlevel/ucx/settings.c"],
        "without": {"adapters/analytic/cost/parameters/quantity.c", "adapters/analytic/cost/routes/platform_route.c"},
        "generated": "lowlevel/topology",  # in the build directory
        # Negative numbers are taken.
        "fault": ("if (signbit(number) && number != 0)", "if (number < -1e300)"),
    },
}


def compiler():
    """The first clang that can link a fuzzer, None without any."""
    for name in ("clang", "clang-14"):
        if not shutil.which(name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            empty = os.path.join(folder, "empty.c")
            with open(empty, "w") as out:
                out.write("int LLVMFuzzerTestOneInput(const char *p, long n) { return p == 0 && n < 0; }\n")
            if subprocess.run([name, *FLAGS, "-Wno-everything", empty, "-o", os.path.join(folder, "empty")],
                              capture_output=True).returncode == 0:
                return name
    return None


def sources(root, target):
    names = {name for pattern in target.get("with", []) for name in glob.glob(pattern, root_dir=root, recursive=True)}
    return [os.path.join(root, name) for name in sorted(names - target.get("without", set()))]


def build(clang, root, target, source, program):
    command = [clang, *FLAGS, "-D_GNU_SOURCE", "-I" + root, "-I" + os.path.join(target["build"], target.get("generated", "")), os.path.join(root, target["harness"]), source,
               *sources(root, target), "-o", program, "-lm"]
    subprocess.run(command, check=True)


def run(program, folder, corpus, arguments):
    """Findings go to `folder`; inputs that reach something new are written to the first corpus."""
    new = os.path.join(folder, "new")
    os.makedirs(new, exist_ok=True)
    command = [program, "-max_len=120", "-artifact_prefix=" + folder + "/", *arguments, new, *corpus]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")


def check(clang, root, target, corpus, folder, arguments):
    program = os.path.join(folder, "fuzzer")
    build(clang, root, target, os.path.join(root, target["source"]), program)
    result = run(program, folder, corpus, arguments)
    print("\n".join(result.stdout.splitlines()[-8:]))
    if result.returncode != 0:
        print(result.stdout)
        return "the fuzzer has found something"
    with open(os.path.join(root, target["source"])) as text:
        sound = text.read()
    before, after = target["fault"]
    if sound.count(before) != 1:
        return "the line for the fault is not there any more: " + before
    faulty = os.path.join(folder, os.path.basename(target["source"]))
    with open(faulty, "w") as out:
        out.write(sound.replace(before, after))
    build(clang, root, target, faulty, program + "-faulty")
    if run(program + "-faulty", os.path.join(folder, "faulty"), corpus, arguments).returncode == 0:
        return "the fuzzer does not find a fault"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--runs", type=int, default=40000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, help="run for so long; needs --keep")
    parser.add_argument("--build", help="build directory (default: build in the folder of the sources)")
    parser.add_argument("--keep", help="folder for new inputs and findings")
    options = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    target = {**TARGETS[options.target], "build": options.build or os.path.join(root, "build")}
    corpus = [os.path.join(root, "tests/fuzz/corpus", options.target)]
    clang = compiler()
    if not clang:
        print("skipped: no clang with libFuzzer (packages clang, libclang-rt-14-dev)")
        return SKIPPED
    if options.seconds:
        os.makedirs(options.keep, exist_ok=True)
        program = os.path.join(options.keep, "fuzzer")
        build(clang, root, target, os.path.join(root, target["source"]), program)
        arguments = [f"-max_total_time={options.seconds}", f"-seed={options.seed}", "-print_final_stats=1"]
        result = run(program, options.keep, corpus, arguments)
        print("\n".join(result.stdout.splitlines()[-40:]))
        return result.returncode
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "faulty"))
        print(f"seed {options.seed}, {options.runs} runs")
        problem = check(clang, root, target, corpus, folder, [f"-runs={options.runs}", f"-seed={options.seed}"])
    if problem:
        print(problem)
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main())
