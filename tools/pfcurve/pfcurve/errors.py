# SPDX-License-Identifier: BSD-3-Clause
"""What ends a tool with one line."""
import fcntl
import os
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


def lock_folder(tool, folder, shown, option):
    """Makes a folder for this process alone; the lock lasts as long as the file that is returned."""
    try:
        os.makedirs(folder, exist_ok=True)
        lock = open(os.path.join(folder, ".lock"), "w", encoding="utf-8")
    except OSError as error:
        raise Problem(f"{option} {shown}: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Problem(f"another {tool} works in {shown}") from None
    return lock


def run_tool(tool, work, refusals=(), stopped=lambda _: "stopped; the runs that are finished are kept"):
    """The exit status of work(): what ends it is one line. `refusals`: more exceptions that are bad input; `stopped`: the line after a signal."""
    raise_stops()
    try:
        status = work()
        sys.stdout.flush()
        return status
    except (Problem, *refusals) as problem:
        say(f"{tool}: error: {problem}")
        return 1
    except Stopped as signalled:
        say(f"{tool}: {stopped(signalled)}")
        return signalled.status
    except BrokenPipeError:  # the reader has gone: no output any more, not even by the flush at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # such as a full disk
        where = f"{os.path.relpath(error.filename)}: " if isinstance(error.filename, str) else "writing the results: "
        say(f"{tool}: error: {where}{error.strerror or error}")
        return 1


def say(line):
    """One line in one piece: others may write to the same place."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
