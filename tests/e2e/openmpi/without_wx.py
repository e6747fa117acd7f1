#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program on a system that refuses memory that is both written and executed, as hardened ones do, and as it is.

Open MPI cannot be an image there: the program warns of that in one line, succeeds all the same, and prints the same simulated
dates. Usage: without_wx.py PROGRAM [ARGUMENT...]
Skipped (77) where the kernel knows no such refusal (PR_SET_MDWE is of Linux 6.3).
"""
import ctypes
import subprocess
import sys

PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 65, 1
LIBC = ctypes.CDLL(None, use_errno=True)


def refuse():
    return LIBC.prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0)


def run(before=None):
    return subprocess.run(sys.argv[1:], preexec_fn=before, capture_output=True, text=True, check=False)


def main():
    known = subprocess.run([sys.executable, "-c", "import ctypes, sys; sys.exit(ctypes.CDLL(None).prctl("
                            f"{PR_SET_MDWE}, {PR_MDWE_REFUSE_EXEC_GAIN}, 0, 0, 0) != 0)"], check=False)
    if known.returncode:
        print("skipped: this kernel has no PR_SET_MDWE")
        return 77
    free, refused = run(), run(refuse)
    for done in (free, refused):
        print(done.returncode, done.stdout, done.stderr)
    warnings = [line for line in refused.stderr.splitlines() if line.startswith("parfocal: ")]
    good = len(warnings) == 1 and "Open MPI is loaded the slow way" in warnings[0] and "parfocal: " not in free.stderr
    good = good and free.returncode == refused.returncode == 0 and free.stdout and free.stdout == refused.stdout
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
