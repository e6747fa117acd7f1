#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command on a terminal of its own and prints what it wrote there, with escapes, on one line."""
import os
import pty
import sys

child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
text = b""
try:
    while part := os.read(terminal, 4096):
        text += part
except OSError:  # Linux's way to say that the other end is closed
    pass
_, status = os.waitpid(child, 0)
print(repr(text)[2:-1])
sys.exit(os.waitstatus_to_exitcode(status))
