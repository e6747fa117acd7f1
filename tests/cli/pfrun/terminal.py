#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command on a terminal of its own and prints what it wrote there, with escapes, on one line.

Usage: terminal.py [COLUMNS] COMMAND...    (without COLUMNS, the terminal does not know how wide it is)
"""
import fcntl
import os
import pty
import struct
import sys
import termios

columns, command = (int(sys.argv[1]), sys.argv[2:]) if sys.argv[1].isdecimal() else (0, sys.argv[1:])
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execv(command[0], command)
text = b""
try:
    while part := os.read(terminal, 4096):
        text += part
except OSError:  # Linux's way to say that the other end is closed
    pass
_, status = os.waitpid(child, 0)
print(repr(text)[2:-1])
sys.exit(os.waitstatus_to_exitcode(status))
