#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs randwin, random programs of one-sided communication, as run_random.py runs randprog; the options are the same."""
import os
import sys

import run_random

run_random.SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "randwin.c")

if __name__ == "__main__":
    sys.exit(run_random.main())
