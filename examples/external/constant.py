#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A network for pfrun in which every message takes LATENCY + bytes / RATE, as the template for other simulators.

    PARFOCAL_NET_EXTERNAL='exec:examples/external/constant.py --latency 1e-6 --rate 1e10' pfrun -np 2 -model external ./app

docs/external-network.md explains the protocol. What happens to a message is known here when it enters, so that this simulator has
no events of its own: it reports everything at the next ADVANCE. One that has them runs them there, up to the first date at which it has
something to report and never beyond the date in ADVANCE, and says in ADVANCED when its next event is.
"""
import argparse
import math
import os
import socket
import struct
import sys

VERSION = 1
HELLO, INJECT, CANCEL, ADVANCE, ROUTE, ACKNOWLEDGE, FINISH = range(1, 8)
WELCOME, FIRST, SENT, LAST, LOST, CREDIT, ADVANCED, ROUTE_INFO, ACKNOWLEDGED, ERROR = range(65, 75)
HEAD = struct.Struct("<IHHQd")  # length of the whole message, type, version, id, date
LONGEST = 1 << 30


class Wrong(Exception):
    """The client has said something that it must not."""


class Connection:
    """Messages through a socket: those to the client are kept until flush()."""

    def __init__(self, peer):
        self.peer, self.kept, self.heard = peer, [], 0

    def read(self, length):
        data = bytearray()
        while len(data) < length:
            piece = self.peer.recv(min(length - len(data), 1 << 20))
            if not piece:
                raise Wrong("the client has gone")
            data += piece
        return bytes(data)

    def get(self):
        """(type, id, date, body) of the next message."""
        self.heard += 1
        length, kind, version, number, date = HEAD.unpack(self.read(HEAD.size))
        if version != VERSION or not HEAD.size <= length <= LONGEST or not math.isfinite(date):
            raise Wrong(f"message {self.heard}: length {length}, version {version}, date {date}")
        return kind, number, date, self.read(length - HEAD.size)

    def put(self, kind, number=0, date=0.0, body=b""):
        self.kept.append(HEAD.pack(HEAD.size + len(body), kind, VERSION, number, date) + body)

    def flush(self):
        self.peer.sendall(b"".join(self.kept))
        self.kept = []


def fields(layout, body, what):
    if len(body) != struct.calcsize(layout):
        raise Wrong(f"{what}: {len(body)} bytes behind the head")
    return struct.unpack(layout, body)


class Network:
    """One way for each pair of nodes."""

    def __init__(self, connection, latency, rate):
        self.connection, self.latency, self.rate = connection, latency, rate
        self.last = {}  # date of the last arrival, by source, destination and virtual network: nothing overtakes
        self.now = 0.0

    def hello(self):
        kind, _, _, body = self.connection.get()
        if kind != HELLO or body[:8] != b"PARFOCAL" or len(body) < 32:
            raise Wrong("this is no HELLO")
        least, most, _nodes, _names, _settings, _platform = struct.unpack_from("<6I", body, 8)
        if not least <= VERSION <= most:
            raise Wrong(f"it speaks versions {least} to {most}")
        # Messages have left as soon as they enter, whatever their length; no lookahead is promised, and no credits are needed.
        name = b"constant.py"
        flags, lookahead, at_once = 0, 0.0, math.inf
        self.connection.put(WELCOME, body=struct.pack("<IIdddII", VERSION, flags, lookahead, at_once, at_once, 0, len(name)) + name)
        self.connection.flush()

    def inject(self, number, date, body):
        src, dst, size, _ack, _turn, _from, _to, kinds, _ = fields("<IIddQiiII", body, "INJECT")
        way = (src, dst, kinds & 0xff)
        if date < self.now or not (math.isfinite(size) and size >= 0):
            raise Wrong(f"INJECT of {size} bytes at {date}, and it is {self.now}")
        arrival = self.last[way] = max(date + size / self.rate + self.latency, self.last.get(way, 0.0))
        self.connection.put(LAST, number, arrival, struct.pack("<dQ", -1.0, 0))  # the first byte need not be reported

    def serve(self):
        self.hello()
        while True:
            kind, number, date, body = self.connection.get()
            if kind == INJECT:
                self.inject(number, date, body)
            elif kind == ADVANCE:
                fields("<dQQ", body, "ADVANCE")
                self.now = max(self.now, date)
                self.connection.put(ADVANCED, 0, date, struct.pack("<dQQQ", math.inf, 0, 0, 0))  # no event of its own is next
                self.connection.flush()
            elif kind == ROUTE:
                self.connection.put(ROUTE_INFO, 0, date, struct.pack("<ddII", self.latency, self.rate, 1, 0))
                self.connection.flush()
            elif kind == FINISH:
                return
            elif kind != CANCEL:  # reports are not taken back; the client ignores them
                raise Wrong(f"a message of type {kind}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--latency", type=float, default=1e-6, help="s (1e-6)")
    parser.add_argument("--rate", type=float, default=1e10, help="B/s (1e10)")
    parser.add_argument("--socket", help="path to wait at for one client; without it standard input is a socket")
    options = parser.parse_args()
    if options.socket:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as waiting:
            waiting.bind(options.socket)
            waiting.listen(1)
            peer = waiting.accept()[0]
        os.unlink(options.socket)
    else:
        peer = socket.socket(fileno=0)
    try:
        Network(Connection(peer), options.latency, options.rate).serve()
    except Wrong as wrong:
        sys.exit(f"constant.py: {wrong}")


if __name__ == "__main__":
    main()
