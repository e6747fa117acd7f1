# SPDX-License-Identifier: BSD-3-Clause
"""The protocol of docs/external-network.md, written once more: both sides, for tests of wrong messages."""
import math
import os
import socket
import struct
import sys

VERSION = 1
HELLO, INJECT, CANCEL, ADVANCE, ROUTE, ACKNOWLEDGE, FINISH = range(1, 8)
WELCOME, FIRST, SENT, LAST, LOST, CREDIT, ADVANCED, ROUTE_INFO, ACKNOWLEDGED, ERROR = range(65, 75)
HEAD = struct.Struct("<IHHQd")


def message(kind, number=0, date=0.0, body=b"", version=VERSION, length=None):
    return HEAD.pack(HEAD.size + len(body) if length is None else length, kind, version, number, date) + body


def read(peer, length):
    data = bytearray()
    while len(data) < length:
        piece = peer.recv(length - len(data))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def get(peer):
    length, kind, _, number, date = HEAD.unpack(read(peer, HEAD.size))
    return kind, number, date, read(peer, length - HEAD.size)


def welcome(flags=0, lookahead=0.0, at_once=math.inf, credits=0, text=b"test", version=VERSION, length=None):
    return message(WELCOME, body=struct.pack("<IIdddII", version, flags, lookahead, at_once, at_once, credits,
                                             len(text) if length is None else length) + text)


def advanced(date, following=math.inf, turn=0, flags=0):
    return message(ADVANCED, date=date, body=struct.pack("<dQQQ", following, 0, turn, flags))


def report(kind, number, date):
    return message(kind, number, date, struct.pack("<dQ", -1.0, 0) if kind == LAST else struct.pack("<Q", 0))


def route_info(date, latency=1e-6, rate=1e10):
    return message(ROUTE_INFO, date=date, body=struct.pack("<ddII", latency, rate, 1, 0))


def hello(names=("node-1000", "node-1001"), settings=b"", platform=b"", versions=(1, 1)):
    text = b"".join(name.encode() + b"\0" for name in names)
    return message(HELLO, body=b"PARFOCAL" + struct.pack("<6I", *versions, len(names), len(text), len(settings), len(platform)) +
                   b"\1" * len(names) + text + settings + platform)


def inject(number, date, source=0, destination=1, size=72.0, streams=0, vn=0, ack=0.0, turn=0):
    return message(INJECT, number, date, struct.pack("<IIddQiiII", source, destination, size, ack, turn, source, destination,
                                                     vn | streams << 16, 0))


def advance(date, limit=math.inf, turn=1 << 40, limit_turn=0):
    return message(ADVANCE, date=date, body=struct.pack("<dQQ", limit, limit_turn, turn))


def mutate(data, rng):
    """Some bytes are other ones, some are missing, some are there twice, or the end is."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        if not data:
            break
        at = rng.randrange(len(data))
        how = rng.randrange(6)
        if how < 3:
            data[at] = rng.choice([0, 1, 0x7f, 0x80, 0xff, data[at] ^ 1 << rng.randrange(8), rng.randrange(256)])
        elif how == 3:  # a whole field
            data[at & ~7:(at & ~7) + 8] = struct.pack("<d", rng.choice([math.nan, math.inf, -math.inf, -1.0, 0.0, 1e300, 5e-324]))
        elif how == 4:
            piece = rng.choice([1, 4, 8, 24, 64])
            data[at:at + piece] = b"" if rng.randrange(2) else data[at:at + piece] * 2
        else:
            del data[at:]
    return bytes(data)


class Simulator:
    """A right one, of constant latency and rate; subclasses do something else at one place."""

    latency, rate = 1e-6, 1e10

    def __init__(self, peer):
        self.peer, self.batch, self.asked = peer, [], 0

    def send(self, data):
        self.peer.sendall(data)

    def answer_hello(self):
        self.send(welcome())

    def answer_advance(self, date, limit):
        """Everything that entered since the last one, and where this side is."""
        del limit
        self.send(b"".join(report(LAST, number, at + size / self.rate + self.latency) for number, at, size in self.batch) + advanced(date))
        self.batch = []

    def answer_finish(self):
        return True

    def serve(self):
        get(self.peer)
        self.answer_hello()
        while True:
            kind, number, date, body = get(self.peer)
            if kind == INJECT:
                self.batch.append((number, date, struct.unpack_from("<d", body, 8)[0]))
            elif kind == ADVANCE:
                self.asked += 1
                self.answer_advance(date, struct.unpack_from("<d", body)[0])
            elif kind == ROUTE:
                self.send(route_info(date))
            elif kind == FINISH and self.answer_finish():
                return


def serve(simulators):
    """The program of a peer: argument 1 names one of the simulators."""
    try:
        simulators[sys.argv[1]](socket.socket(fileno=0)).serve()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        sys.stdout.flush()
        os._exit(1)
