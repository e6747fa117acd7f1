/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/* What a packet carries for its routing. */
struct pf_packet_path {
    int32_t source, destination; /* nodes */
    int32_t intermediate;        /* node, or the topology's group; -1: none */
    uint8_t hops;                /* links between routers so far */
    uint8_t vc;                  /* class that it has come in */
    uint8_t phase;               /* enum pf_routing_leg, of the last link */
    uint8_t way;                 /* the topology's own, such as the direction in a ring */
    uint64_t id;                 /* key of its random numbers */
};

enum pf_routing_leg {
    PF_LEG_FIRST, /* par: on the minimal way, and may still leave it */
    PF_LEG_AWAY,  /* to the intermediate */
    PF_LEG_HOME   /* to the destination */
};

/* The next link. For the port to the destination's node any class serves, and `vc` is the one that the
 * packet has come in. */
struct pf_packet_hop {
    int32_t port; /* of the present router */
    uint8_t vc;
    /* What the packet's path becomes, by pf_routing_take(). */
    uint8_t phase, way;
    int32_t intermediate;
};
