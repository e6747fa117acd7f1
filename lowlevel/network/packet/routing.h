/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lowlevel/topology/fabric.h"
#include "lowlevel/topology/path.h"

/*
 * Which port a packet takes next, and which class of virtual channels on that link. Classes make a routing
 * free of deadlocks: buffers of different classes are never shared. A simulator may have several channels in
 * each class. All functions are pure: chance is a hash of (seed, packet, counter).
 */

/* What a router may see: its own outputs. */
struct pf_packet_load {
    size_t size;
    /* Bytes that wait at this router for an output, in the class or (vc -1) in all, or are in the buffer at
     * its other end: what credits have not come back for. */
    int64_t (*queued)(void *of, int32_t port, int vc);
    void *of;
};

struct pf_routing_settings {
    uint64_t seed;
    /* Minimal is taken when queue x hops of the minimal way <= bias x queue x hops of the other + threshold.
     */
    double ugal_threshold;      /* bytes */
    double ugal_bias;           /* 1: none */
    double ugal_ratio;          /* > 0: a non-minimal way counts as so many times as long as the minimal one,
                                   whatever their hops; 0: hops are counted */
    int ugal_candidates;        /* non-minimal ways that are compared, at least 1 */
    bool intermediate_is_group; /* the random intermediate is a group (dragonfly) or a common ancestor (tree)
                                 */
    bool in_order; /* ties are broken by source and destination and not by packet, so that `minimal` takes one
                      way for each pair */
};

struct pf_routing;

struct pf_routing_ops {
    size_t size;
    const char *name, *help;
    /* At the head of the input buffer of the source's router, once: whether to go away first, and where to.
     */
    void (*begin)(const struct pf_routing *r, const struct pf_packet_load *load, struct pf_packet_path *p);
    /* At the head of an input buffer of `router`. False: no way, the packet must be dropped. */
    bool (*next)(const struct pf_routing *r, int32_t router, const struct pf_packet_load *load,
                 const struct pf_packet_path *p, struct pf_packet_hop *hop);
};

struct pf_routing {
    const struct pf_routing_ops *ops;
    const struct pf_fabric *fabric;
    struct pf_routing_settings settings;
    int classes;     /* classes of virtual channels that it uses, at least 1 */
    char reason[80]; /* why so many make it free of deadlocks */
    /* The answer of next() depends on loads: while a packet waits, it must be asked again whenever credits
     * come back to any output of the router. Freedom from deadlock rests on it in minimal-adaptive. */
    bool asks_again;
    uint8_t base[3]; /* first class of each leg */
};

/* Prepares a routing, by name, on a fabric. On failure (unknown, or impossible on this fabric) false and one
 * line in `error`. */
bool pf_routing_open(struct pf_routing *r, const char *name, const struct pf_fabric *fabric,
                     const struct pf_routing_settings *settings, char *error, size_t error_size);

/* The names of all routings: NULL behind the last. */
const char *pf_routing_name(int index);
const char *pf_routing_help(int index);

/* A path of a new packet; begin() comes later, in the source's router. */
void pf_routing_start(struct pf_packet_path *p, int32_t source, int32_t destination, uint64_t id);

/* The packet leaves a router by `hop`. */
static inline void pf_routing_take(const struct pf_packet_hop *hop, struct pf_packet_path *p)
{
    p->hops++;
    p->vc = hop->vc;
    p->phase = hop->phase;
    p->way = hop->way;
    p->intermediate = hop->intermediate;
}
