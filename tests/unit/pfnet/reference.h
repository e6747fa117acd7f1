/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_TEST_REFERENCE_H
#define PF_TEST_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A second simulator, as simple as it can be, to compare the packet network with: cycle by cycle, packets of
 * one flit, input-queued routers with virtual channels and credits, and an allocator: free outputs grant to
 * inputs in turn, inputs accept the grant for the channel whose turn it is, until nothing more fits. It
 * shares no line with the simulator under test: its own graphs, routes and random numbers.
 */
enum reference_shape {
    REFERENCE_STAR, /* one router with `extent` nodes */
    REFERENCE_MESH, /* `extent` in each of the dimensions, one node at each router */
    REFERENCE_TORUS
};

struct reference_request {
    enum reference_shape shape;
    int extent, dimensions; /* a star has none */
    int channels;           /* of each class; a torus has two classes */
    int buffer;             /* flits of each channel at an input */
    int link, router;       /* cycles */
    int credit;             /* cycles that a credit needs besides the link */
    int rounds;             /* of the allocator in a cycle; 0: until nothing more fits */
    double load;            /* flits per cycle and node, Bernoulli; to every other node alike */
    int warm_up, measured;  /* cycles */
    uint64_t seed;
};

struct reference_result {
    double latency;  /* mean, in cycles, of what is born while it measures; 0: not all of it has come */
    double accepted; /* flits per cycle and node that arrive while it measures */
};

struct reference_result reference_run(const struct reference_request *request);

#endif
