/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/topology/fabric.h"
#include "lowlevel/network/packet/routing.h"

/*
 * The fabric of SimGrid's platform: each link that a route crosses is a port with a queue, and packets go
 * where the routes go. It has the hosts that have ranks when it is made, in a small platform all. Needs the
 * platform, so pfnet has it not.
 */
struct pf_packet_platform {
    struct pf_fabric *fabric;
    struct pf_routing routing;
    int32_t *node_of; /* the fabric's node of a platform's node, -1 for none; up to node_count */
    int node_count;
    int32_t *port_of; /* of a platform's link, -1 for none; up to link_count */
    int link_count;
    int32_t *first_step; /* of a route from a to b: [a * nodes + b], and one more */
    int32_t *steps;      /* global numbers of the ports at routers */
    uint8_t *classes;    /* of each step */
    double bus;          /* B/s */
};

/* That of a routing which it has made. */
static inline const struct pf_packet_platform *pf_packet_platform_of(const struct pf_routing *r)
{
    return (const struct pf_packet_platform *)(const void *)((const char *)r -
                                                             offsetof(struct pf_packet_platform, routing));
}

/* Fills it; it must stay where it is. `router_latency`: s, which part of the latency of a link that begins at
 * a router is the router's: at most all of the least one, and none where hosts are routers. `bus`: B/s, what
 * a host can send and receive. */
void pf_packet_platform_make(struct pf_packet_platform *of, double router_latency, double bus);

/* The port's rate and state are the link's. */
void pf_packet_platform_update(struct pf_packet_platform *of, int link);
