#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Simulators that each do one thing wrong; argument 1 says which. EXPECTED has what the client must say about each."""
import math
import os
import signal
import struct
import time

from peers import (ACKNOWLEDGED, ADVANCED, CREDIT, ERROR, FIRST, HEAD, INJECT, LAST, LOST, SENT, WELCOME, Simulator, advanced, message,
                   report, serve, welcome)


def at_hello(data):
    """Says this instead of WELCOME."""
    class Peer(Simulator):
        def answer_hello(self):
            self.send(data)
    return Peer


def at_advance(make, when=3, flags=0, credits=0):
    """Says this instead of the answer to an ADVANCE after which something is under way."""
    class Peer(Simulator):
        def answer_hello(self):
            self.send(welcome(flags=flags, credits=credits, at_once=-1.0))

        def answer_advance(self, date, limit):
            if self.asked < when or not self.batch:
                super().answer_advance(date, limit)
            else:
                self.send(make(self.batch[0][0], date, limit))
    return Peer


def dies(_number, _date, _limit):
    os.kill(os.getpid(), signal.SIGKILL)


def is_silent(_number, _date, _limit):
    time.sleep(3600)


def floods(_number, date, _limit):
    return b"".join(advanced(date, date) for _ in range(10))


class DiesAtHello(Simulator):
    def answer_hello(self):
        os._exit(3)


class DiesInWelcome(Simulator):
    def answer_hello(self):
        self.send(welcome()[:30])
        os._exit(3)


class SilentAtHello(Simulator):
    def answer_hello(self):
        time.sleep(3600)


class GetsNowhere(Simulator):
    """Always wants to be asked again at the same date, and never reports anything."""

    def answer_advance(self, date, limit):
        self.send(advanced(date, date))


class EndsBadly(Simulator):
    def answer_finish(self):
        os._exit(7)


def body(kind, size):
    return lambda number, date, limit: message(kind, number, date, bytes(size))


NAN, INF = math.nan, math.inf
SIMULATORS = {
    "dies at HELLO": (DiesAtHello, "it has closed the connection"),
    "dies in WELCOME": (DiesInWelcome, "in the middle of a message"),
    "says nothing at HELLO": (SilentAtHello, "it has sent nothing for too long"),
    "wrong type at HELLO": (at_hello(advanced(0.0)), "a ADVANCED, type 71, where WELCOME should be"),
    "short WELCOME": (at_hello(message(WELCOME, body=b"1234")), "at least 40 are needed"),
    "version of the head": (at_hello(message(WELCOME, body=bytes(40), version=2)), "a WELCOME of version 2"),
    "version of WELCOME": (at_hello(welcome(version=7)), "it wants version 7"),
    "flags of WELCOME": (at_hello(welcome(flags=0x80)), "flags 0x80"),
    "lookahead": (at_hello(welcome(lookahead=NAN)), "lookahead of"),
    "at once": (at_hello(welcome(at_once=NAN)), "a length that is no number"),
    "text of WELCOME": (at_hello(welcome(length=100)), "4 bytes of text and says 100"),
    "length below the head": (at_hello(message(WELCOME, length=3)), "a WELCOME of 3 bytes"),
    "length above all": (at_hello(message(WELCOME, length=0x7fffffff)), "a WELCOME of 2147483647 bytes"),
    "no protocol": (at_hello(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 3), "its message 1"),
    "error": (at_hello(message(ERROR, body=b"no such network\nhere")), "it says: no such network?here"),
    "dies": (at_advance(dies), "it has closed the connection"),
    "says nothing": (at_advance(is_silent), "it has sent nothing for too long"),
    "half a message": (at_advance(lambda n, d, l: report(LAST, n, d)[:30] + dies_later()), "in the middle of a message"),
    "unknown id": (at_advance(lambda n, d, l: report(LAST, n + 12345, d)), "which is not under way"),
    "old id": (at_advance(lambda n, d, l: report(LAST, n, d) + report(LAST, n, d)), "whose end it has reported"),
    "second FIRST": (at_advance(lambda n, d, l: report(FIRST, n, d) + report(FIRST, n, d)), "a second time"),
    "second SENT": (at_advance(lambda n, d, l: report(SENT, n, d) + report(SENT, n, d)), "SENT of message"),
    "FIRST after LOST": (at_advance(lambda n, d, l: report(LOST, n, d) + report(FIRST, n, d)), "whose end it has reported"),
    "FIRST dated behind LAST": (at_advance(lambda n, d, l: report(FIRST, n, d + 1e-5) + report(LAST, n, d + 1e-6)),
                                "before its last report"),
    "the past": (at_advance(lambda n, d, l: report(LAST, n, d - 1e-9)), "and it is"),
    "NaN": (at_advance(lambda n, d, l: report(LAST, n, NAN)), "whose date is no number"),
    "infinity": (at_advance(lambda n, d, l: report(LAST, n, INF)), "whose date is no number"),
    "short LAST": (at_advance(body(LAST, 8)), "a LAST of 8 bytes behind its head, which must be 16"),
    "long FIRST": (at_advance(body(FIRST, 16)), "a FIRST of 16 bytes"),
    "acknowledged before": (at_advance(lambda n, d, l: message(LAST, n, d, struct.pack("<dQ", d / 2, 0)), flags=2), "its acknowledgement of"),
    "acknowledged NaN": (at_advance(lambda n, d, l: message(LAST, n, d, struct.pack("<dQ", NAN, 0)), flags=2), "its acknowledgement of"),
    "advanced back": (at_advance(lambda n, d, l: advanced(d / 2)), "it has advanced to"),
    "advanced too far": (at_advance(lambda n, d, l: advanced(l + 1e-3) if l < INF else advanced(d, NAN)), "it has advanced to"),
    "next in the past": (at_advance(lambda n, d, l: advanced(d, d / 2)), "its next step is at"),
    "next NaN": (at_advance(lambda n, d, l: advanced(d, NAN)), "its next step is at"),
    "turn back": (at_advance(lambda n, d, l: advanced(d, turn=1)), "its turn 1 does not follow"),
    "turn far away": (at_advance(lambda n, d, l: advanced(d, turn=(1 << 64) - 1)), "does not follow"),
    "flags of ADVANCED": (at_advance(lambda n, d, l: advanced(d, flags=6)), "flags 0x6"),
    "inside for ever": (at_advance(lambda n, d, l: advanced(d, flags=1)), "it"),
    "short ADVANCED": (at_advance(body(ADVANCED, 4)), "a ADVANCED of 4 bytes"),
    "unasked": (at_advance(body(ACKNOWLEDGED, 0)), "type 73, where what happens until ADVANCED should be"),
    "unknown type": (at_advance(body(999, 0)), "a message, type 999"),
    "client's type": (at_advance(body(INJECT, 48)), "a INJECT, type 2"),
    "credit of no node": (at_advance(lambda n, d, l: message(CREDIT, 0, d, struct.pack("<4I", 99, 0, 1, 0)), credits=1000), "CREDIT for node 99"),
    "credit unasked": (at_advance(lambda n, d, l: message(CREDIT, 0, d, struct.pack("<4I", 0, 0, 1, 0))), "CREDIT for node 0"),
    "error later": (at_advance(lambda n, d, l: message(ERROR, body=b"a link is on fire")), "it says: a link is on fire"),
    "too much": (at_advance(floods), "it goes on behind ADVANCED"),
    "gets nowhere": (GetsNowhere, "it does not get beyond"),
    "ends badly": (EndsBadly, "has ended with status 7"),
}


def dies_later():
    """What has been said before must have left."""
    if os.fork() == 0:
        time.sleep(0.2)
        os.kill(os.getppid(), signal.SIGKILL)
        os._exit(0)
    return b""


if __name__ == "__main__":
    assert HEAD.size == 24
    serve({name: peer for name, (peer, _) in SIMULATORS.items()})
