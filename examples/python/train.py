#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Data-parallel training of a small network: each rank has its part of the samples, gradients are summed over all ranks."""

import sys

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
samples, steps, rate = 2048, 60, 0.5
points = numpy.random.default_rng(1).uniform(-1, 1, (samples, 2))[world.rank :: world.size]
labels = (points[:, :1] * points[:, 1:] > 0).astype(float)  # not separable by a line
start = numpy.random.default_rng(2)
weights = [start.normal(0, 2, (2, 32)), numpy.zeros(32), start.normal(0, 0.5, (32, 1)), numpy.zeros(1)]


def forward(x):
    hidden = numpy.tanh(x @ weights[0] + weights[1])
    return hidden, 1 / (1 + numpy.exp(-(hidden @ weights[2] + weights[3])))


for step in range(steps):
    hidden, out = forward(points)
    delta = (out - labels) / samples
    inner = delta @ weights[2].T * (1 - hidden**2)
    gradients = numpy.concatenate([g.ravel() for g in (points.T @ inner, inner.sum(0), hidden.T @ delta, delta.sum(0))])
    world.Allreduce(MPI.IN_PLACE, gradients)
    for w, part in zip(weights, numpy.split(gradients, numpy.cumsum([w.size for w in weights])[:-1])):
        w -= rate * 10 * part.reshape(w.shape)

right = world.allreduce(int(((forward(points)[1] > 0.5) == labels).sum()))
if world.rank == 0:
    print(f"train: {right} of {samples} right after {steps} steps")
sys.exit(right < 0.9 * samples)
