#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""GOAL schedules of what the training of neural networks communicates, for pfrun -replay.

Usage: goal.py ring|tree|experts|pipeline|data -n RANKS [options] > FILE.goal
    ring      allreduce in a ring: 2 (n - 1) steps with an n-th of the vector each (Patarasuk and Yuan 2009)
    tree      allreduce up and down a binomial tree, whole
    experts   all-to-all: each rank sends an n-th of its vector to each other one, the next one first
    pipeline  ranks are stages; --parts microbatches go forwards, then backwards (GPipe, Huang et al. 2019)
    data      data-parallel training: --layers backwards, the gradients of each in a ring as soon as they are there, on a second
              processor of the rank
"""
import argparse


class Rank:
    """Lines of one rank; each method returns the label of what it adds, which begins after `after`."""

    def __init__(self, number, size):
        self.number, self.size, self.lines = number, size, []

    def add(self, what, after):
        label = f"l{len(self.lines)}"
        self.lines.append(f"{label}: {what}")
        self.lines += [f"{label} requires {before}" for before in after if before]
        return label

    def work(self, ns, *after, cpu=0):
        return self.add(f"calc {round(ns)} cpu {cpu}", after)

    def send(self, count, to, tag, *after, cpu=0):
        return self.add(f"send {count}b to {to} tag {tag} cpu {cpu}", after)

    def receive(self, count, source, tag, *after, cpu=0):
        return self.add(f"recv {count}b from {source} tag {tag} cpu {cpu}", after)

    # Messages and sums of an allreduce, after `begin`; returns the last label.

    def ring(self, o, begin=None, tag=0, cpu=0):
        part, last = -(-o.size // self.size), begin
        for step in range(2 * (self.size - 1)):
            self.send(part, (self.number + 1) % self.size, tag + step, last, cpu=cpu)
            last = self.receive(part, (self.number - 1) % self.size, tag + step, begin, cpu=cpu)
            if step < self.size - 1:
                last = self.work(part * o.sum, last, cpu=cpu)
        return last

    def tree(self, o):
        last, mask, children = None, 1, []
        while mask < self.size and not self.number & mask:
            if self.number + mask < self.size:
                children.append(self.number + mask)
                last = self.work(o.size * o.sum, self.receive(o.size, children[-1], 0, last))
            mask *= 2
        if self.number:
            self.send(o.size, self.number - mask, 0, last)
            last = self.receive(o.size, self.number - mask, 1, last)
        for child in reversed(children):
            self.send(o.size, child, 1, last)

    def experts(self, o):
        for distance in range(1, self.size):
            self.send(o.size // self.size, (self.number + distance) % self.size, 0)
            self.receive(o.size // self.size, (self.number - distance) % self.size, 0)

    def pipeline(self, o):
        last = None
        for back in range(2):
            source, to = (self.number - 1, self.number + 1)[::-1 if back else 1]
            for part in range(o.parts):
                got = self.receive(o.size, source, 2 * part + back) if 0 <= source < self.size else None
                last = self.work((1 + back) * o.work, got, last)
                if 0 <= to < self.size:
                    self.send(o.size, to, 2 * part + back, last)

    def data(self, o):
        last, gradients = self.work(o.layers * o.work), None
        for layer in range(o.layers):
            last = self.work(2 * o.work, last)
            gradients = self.ring(o, self.work(0, last, gradients, cpu=1), 2 * self.size * layer, cpu=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("ring", "tree", "experts", "pipeline", "data"))
    parser.add_argument("-n", dest="ranks", type=int, required=True)
    parser.add_argument("--size", type=int, default=1 << 20, help="bytes of the vector, or of a layer's gradients, or of a message of the pipeline")
    parser.add_argument("--sum", type=float, default=0.0, help="ns that a byte takes to be added up")
    parser.add_argument("--work", type=int, default=1000000, help="ns of a layer, or of a part in a stage, forwards; backwards it takes twice that")
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--parts", type=int, default=8)
    o = parser.parse_args()
    if o.ranks < 1 or o.size < 1:
        parser.error("-n and --size must be at least 1")
    print(f"num_ranks {o.ranks}")
    for number in range(o.ranks):
        rank = Rank(number, o.ranks)
        getattr(rank, o.kind)(o)
        print(f"rank {number} {{", *rank.lines, "}", sep="\n")


if __name__ == "__main__":
    main()
