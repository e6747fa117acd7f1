# SPDX-License-Identifier: BSD-3-Clause
"""HPL alone, from Debian's source package of HPC Challenge: builds it, and writes its input."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "apps"))
import run_apps  # noqa: E402 (the path comes first)

WRAPPED = ["HPL_pdfact", "HPL_bcast", "HPL_pdupdateTT", "HPL_dgemm", "HPL_dtrsm", "pf_MPI_Iprobe"]


def build_hpl(bin_folder, folder):
    """Builds the library and links hpl.c with it, below `folder`; returns the program. What is there is kept."""
    program, source = os.path.join(folder, "hpl"), os.path.join(HERE, "hpl.c")
    if os.path.exists(program) and os.path.getmtime(program) > os.path.getmtime(source):
        return program
    os.makedirs(folder, exist_ok=True)
    os.environ.setdefault("MAKEFLAGS", "-j2")
    compiler = os.path.join(os.path.abspath(bin_folder), "pfcc")
    top = os.path.dirname(run_apps.build_hpcc(compiler, os.path.join(folder, "apt"), folder))
    subprocess.run([compiler, "-O2", "-w", "-I" + os.path.join(top, "include"), "-I" + os.path.join(top, "hpl", "include"),
                    source, "-o", program, *["-Wl,--wrap=" + name for name in WRAPPED],
                    os.path.join(top, "hpl", "lib", "parfocal", "libhpl.a"), "-lblas", "-lm"], check=True)
    return program


def write_input(program, folder, n, p, q, nb=32, check=True):
    """Writes hpccinf.txt to `folder`: one problem of order n in blocks of nb, on p x q ranks. Without `check` HPL
    does not look whether its result is right."""
    os.makedirs(folder, exist_ok=True)
    shipped = [os.path.join(os.path.dirname(program), name, "_hpccinf.txt") for name in sorted(os.listdir(os.path.dirname(program)))]
    text = run_apps.hpcc_input(next(path for path in shipped if os.path.exists(path)), n, p, q)
    for name, value in (("NBs", nb), ("threshold", 16.0 if check else 0.0)):
        text, found = re.subn(rf"(?m)^\S+(\s+{re.escape(name)})", rf"{value}\1", text)
        if found != 1:
            raise RuntimeError(f"hpccinf.txt has no line '{name}'")
    with open(os.path.join(folder, "hpccinf.txt"), "w", encoding="utf-8") as file:
        file.write(text)


def read_result(folder):
    """What HPL has written to hpccoutf.txt: (seconds, Gflop/s, verdict of its check or '')."""
    with open(os.path.join(folder, "hpccoutf.txt"), encoding="utf-8") as file:
        text = file.read()
    line = re.findall(r"(?m)^W[RC]\S+\s+\d+\s+\d+\s+\d+\s+\d+\s+(\S+)\s+(\S+)\s*$", text)
    if not line:
        raise RuntimeError(f"{folder}/hpccoutf.txt has no result")
    verdicts = re.findall(r"\|\|Ax-b\|\|\S* .*\.\.\. (PASSED|FAILED)", text)
    return float(line[-1][0]), float(line[-1][1]), verdicts[-1] if verdicts else ""
