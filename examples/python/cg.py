#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Conjugate gradients for a Poisson problem with numpy and mpi4py: pfrun -np 4 -schedule solve=portals,report=smpi examples/python/cg.py 64"""

import sys

import numpy
from mpi4py import MPI

try:
    from parfocal import phase  # there when pfrun runs the program
except ImportError:

    def phase(name):
        pass


world = MPI.COMM_WORLD
line = world.Create_cart([world.size], [False])
below, above = line.Shift(0, 1)


def apply(x):
    """The five-point Laplacian; x has a row of each neighbour around the rank's own."""
    line.Sendrecv(x[-2], above, recvbuf=x[0], source=below)
    line.Sendrecv(x[1], below, recvbuf=x[-1], source=above)
    y = 4 * x[1:-1] - x[:-2] - x[2:]
    y[:, 1:] -= x[1:-1, :-1]
    y[:, :-1] -= x[1:-1, 1:]
    return y


def dot(a, b):
    return world.allreduce(float(numpy.vdot(a, b)))


phase("setup")
n = int(sys.argv[1]) if len(sys.argv) > 1 else 64
first, end = (n * r // world.size for r in (world.rank, world.rank + 1))
rows, columns = numpy.meshgrid(numpy.arange(first, end), numpy.arange(n), indexing="ij")
around = numpy.zeros((end - first + 2, n))
known = around.copy()
known[1:-1] = numpy.sin(rows + 1.0) + columns / n
b = apply(known)

phase("solve")
x, r = numpy.zeros_like(b), b.copy()
around[1:-1] = r
start = old = dot(r, r)
steps = 0
while old > 1e-20 * start and steps < 10 * n:
    q = apply(around)
    alpha = old / dot(around[1:-1], q)
    x += alpha * around[1:-1]
    r -= alpha * q
    new = dot(r, r)
    around[1:-1] = r + new / old * around[1:-1]
    old, steps = new, steps + 1

phase("report")
error = world.allreduce(float(abs(x - known[1:-1]).max()), MPI.MAX)
if world.rank == 0:
    print(f"cg: {n}^2 points on {world.size} ranks, {steps} iterations, error {error:.1e}")
sys.exit(error > 1e-6)
