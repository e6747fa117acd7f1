# SPDX-License-Identifier: BSD-3-Clause
"""What ends a tool with one line."""
import signal
import sys

STOPS = {signal.SIGINT: "^C (SIGINT)", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP", signal.SIGQUIT: "SIGQUIT",
         signal.SIGXCPU: "the limit of CPU time (SIGXCPU)", signal.SIGALRM: "a time limit (SIGALRM)"}


class Problem(Exception):
    """Bad input, or a machine on which the tool cannot run. The text says what to do."""


class Stopped(BaseException):
    """A signal ends the tool."""

    def __init__(self, number):
        super().__init__(STOPS[number])
        self.status = 128 + number


def raise_stops():
    """Signals that stop a tool raise Stopped, once; those that the shell ignores (nohup) stay ignored."""
    caught = [number for number in STOPS if signal.getsignal(number) != signal.SIG_IGN]

    def stop(number, _):
        for other in caught:
            signal.signal(other, signal.SIG_IGN)
        raise Stopped(number)

    for number in caught:
        signal.signal(number, stop)


def say(line):
    """One line in one piece: others may write to the same place."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
