/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/analytic/cost/internal.h"

/*
 * Both ends of one message, what lies between them, and the parts of its price that depend on nothing else.
 * A program sends few sizes to few ranks, so the last ways are remembered, two for each place of a table. A
 * way has two cache lines.
 */
struct pf_cost_way {
    int src, dst; /* ranks; -1: none */
    size_t bytes;
    struct pf_cost_range *range;
    struct pf_cost_transport *transport;
    int from, to; /* nodes */
    bool passes;  /* does not wait for long messages at NICs */
    bool asked,
        free;       /* the links in the middle of its path: are they known, and is there none to wait for? */
    double latency; /* of the path, */
    double back;    /* and of the one that answers take; -1: not asked yet */
    double least;   /* what a byte takes on the path, as fast as the range can use it */
    double byte_time; /* ... and in all */
    double busy;      /* how long the message keeps its NIC busy */
    double overhead_send, overhead_receive;
    struct pf_busy *out, *in; /* what serves one message after the other at both ends; NULL: nothing does */
} __attribute__((aligned(64)));

/* Looks up the path between the nodes of two ranks. */
struct pf_cost_path pf_cost_path_between(const struct pf_cost *cost, int src, int dst);

/* Makes room for the ways of so many ranks. */
void pf_cost_ways_begin(struct pf_cost *cost);

/* The way of so many bytes, by the range of a size; not remembered. */
void pf_cost_way_fill(struct pf_cost *cost, struct pf_cost_way *way, int src, int dst, size_t size,
                      size_t bytes);

/* The rest of pf_cost_way_find(), which has looked at the first of the two. */
struct pf_cost_way *pf_cost_way_look_up(struct pf_cost *cost, struct pf_cost_way *ways, int src, int dst,
                                        size_t bytes);

/* The bytes of a short message on the links. */
static inline size_t pf_cost_way_wire(const struct pf_cost_way *way)
{
    return (size_t)(way->range->header + (double)way->bytes * way->range->byte_factor);
}

/* Is there no link in the middle of its path for which it could wait? Asked by messages that may wait. */
bool pf_cost_way_ask(struct pf_cost_way *way);

static inline bool pf_cost_way_is_free(struct pf_cost_way *way)
{
    return __builtin_expect(way->asked, 1) ? way->free : pf_cost_way_ask(way);
}

static inline double pf_cost_way_back(const struct pf_cost *cost, struct pf_cost_way *way)
{
    if (__builtin_expect(way->back < 0, 0))
        way->back = pf_cost_path_between(cost, way->dst, way->src).latency;
    return way->back;
}

/* How long an acknowledgement travels. */
static inline __attribute__((always_inline)) double pf_cost_way_acknowledged(const struct pf_cost *cost,
                                                                             struct pf_cost_way *way)
{
    return way->range->acknowledgement +
           way->transport->ranges[0].latency_factor * pf_cost_way_back(cost, way);
}

/* The range of a size. */
static inline struct pf_cost_range *pf_cost_range_of(const struct pf_cost_transport *transport, size_t bytes)
{
    int bits = bytes ? 64 - __builtin_clzl(bytes) : 0;
    int i = transport->first[bits];
    while (i + 1 < transport->count && transport->ranges[i + 1].from <= bytes)
        i++;
    return &transport->ranges[i];
}

static inline bool pf_cost_way_is(const struct pf_cost_way *way, int src, int dst, size_t bytes)
{
    return way->src == src && way->dst == dst && way->bytes == bytes;
}

/* The way from rank to rank; valid until the next call. */
static inline struct pf_cost_way *pf_cost_way_find(struct pf_cost *cost, int src, int dst, size_t bytes)
{
    uint32_t place =
        (uint32_t)src * 0x9e3779b1U + (uint32_t)dst * 0x85ebca6bU + (uint32_t)bytes * 0xc2b2ae35U;
    struct pf_cost_way *way = &cost->ways[place >> cost->ways_shift << 1];
    return __builtin_expect(pf_cost_way_is(way, src, dst, bytes), 1)
               ? way
               : pf_cost_way_look_up(cost, way, src, dst, bytes);
}
