/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_TEST_PIPELINE_H
#define PF_TEST_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A third simulator, of the routers that engineers know from cycle-driven simulators: packets of several
 * flits in wormholes through virtual channels. The head of a packet is routed, then gets a channel of the
 * output, which no other packet has until the tail has left, then its flits one by one get the crossbar. Both
 * allocators are iSLIP with one round. Only one packet of a queue is in these stages. It shares no line with
 * the simulator under test.
 */
enum pipeline_shape {
    PIPELINE_MESH, /* `extent` in each of the dimensions */
    PIPELINE_TORUS,
    PIPELINE_HYPERX,
    PIPELINE_TREE,     /* `extent`-ary `dimensions`-tree; up by chance */
    PIPELINE_DRAGONFLY /* `extent` nodes and global links, twice as many routers in a group */
};

struct pipeline_request {
    enum pipeline_shape shape;
    int extent, dimensions;
    int terminals; /* nodes at each router: grids and HyperX */
    int channels;  /* of each class; a torus and a dragonfly have two classes */
    int buffer;    /* flits of each channel at an input */
    int flits;     /* of a packet */
    int link;      /* cycles */
    int global;    /* the same, between groups */
    int routing;   /* cycles of the stage; the others take one each */
    int credit;    /* cycles that a credit needs besides the link */
    int speedup;   /* steps of a router in each cycle */
    bool valiant;  /* over a random node, with classes of their own on the way there */
    /* With valiant, in a dragonfly: only if the flits behind the minimal way's output are more than twice
     * those behind the other one's and the threshold. */
    bool adaptive;
    int threshold;
    bool next_group; /* dragonfly: all packets of a group go to nodes of the next one */
    bool new_in_all; /* a new packet takes a channel of any class, not of the first one only */
    bool hold;       /* a packet keeps the crossbar while its flits follow each other */
    double load;     /* flits per cycle and node, packets by Bernoulli trials; to every other node alike */
    int warm_up, measured; /* cycles */
    uint64_t seed;
};

struct pipeline_result {
    double latency;  /* mean, in cycles, of packets that are born while it measures; 0: not all have come */
    double accepted; /* flits per cycle and node that arrive while it measures */
};

struct pipeline_result pipeline_run(const struct pipeline_request *request);

#endif
