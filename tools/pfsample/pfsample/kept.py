# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a sample. It outlives one that was stopped, so that the same command goes on behind the runs that were finished."""
import ctypes
import fcntl
import glob
import itertools
import os
import shutil
import signal
import tempfile
import threading

from pfcurve import same
from pfcurve.errors import Problem, Stopped

NAME = ".parfocal-sample-"
PATIENCE = 60  # seconds


class Kept:
    """In the folder of the report, else in the current one. The command names it; what the files of the command contain, and stdin, is in its key."""

    def __init__(self, where, version, command, stdin):
        self.key = same.key(version, command, same.fingerprint(command[0]), *stdin)
        where = where or (os.getcwd() if os.access(".", os.W_OK) else tempfile.gettempdir())
        name = os.path.join(os.path.abspath(where), NAME + same.digest(command, os.getcwd()))
        self.folder, self.lock = next(filter(None, (self.locked(f"{name}-{number}") for number in itertools.count(1))))
        self.before = self.finished()

    def locked(self, folder):
        """(the folder, a lock on it) for us alone, None where another one works in it: the same command may run twice at a time."""
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if os.stat(folder).st_uid != os.getuid():
                return None
            lock = open(os.path.join(folder, ".lock"), "a+", encoding="utf-8")
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(lock.fileno()), os.stat(lock.name)):
                return None
        except (BlockingIOError, FileNotFoundError):
            return None
        except OSError as error:
            raise Problem(f"-sample: {folder}: {error.strerror}") from None
        lock.seek(0)
        if lock.read() != self.key:
            for entry in os.scandir(folder):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
            lock.truncate(0)
            lock.write(self.key)
            lock.flush()
        return folder, lock

    def finished(self):
        return len(glob.glob(os.path.join(glob.escape(self.folder), "*", "*", "result.json")))

    def __enter__(self):
        return self

    def __exit__(self, kind, stopped, _):
        if kind is Stopped and self.finished():
            stopped.kept = f"finished runs ({self.finished()}) are kept in {os.path.relpath(self.folder)}, and the same command goes on from there"
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.lock.close()


def end_with_us():
    """In a child of ours: it gets SIGTERM when we are killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


class Relay(threading.Thread):
    """Hands on what a run writes while it runs, and keeps it in a file: nothing of it once the run is stopped, which we say ourselves. What is `held` is
    handed on when it is clear that the run goes on to the end of the program."""

    def __init__(self, source, to, path, held):
        super().__init__(daemon=True)
        self.source, self.to, self.path, self.held, self.stopped, self.error, self.waiting = source, to, path, held, False, None, b""
        self.start()

    def run(self):
        try:
            with self.source, open(self.path, "wb", buffering=0) as file:
                for part in iter(lambda: self.source.read1(1 << 16), b""):
                    if not self.stopped:
                        file.write(part)
                        self.waiting += part
                        if not self.held:
                            self.hand_on()
        except OSError as error:  # the run ends, because nobody hears it any more
            self.error = error

    def hand_on(self):
        while self.waiting:
            self.waiting = self.waiting[os.write(self.to, self.waiting):]

    def end(self):
        """What a process that the run left behind still writes, nobody waits for."""
        self.join(PATIENCE)
        if self.error:
            raise self.error
        if not self.held:
            self.hand_on()
