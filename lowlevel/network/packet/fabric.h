/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_LOWLEVEL_PACKET_FABRIC_H
#define PF_LOWLEVEL_PACKET_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The graph of a packet network: routers, nodes and cables. Vertices 0 to routers-1 are routers, those from
 * `routers` on are nodes. A vertex has ports, numbered from 0; a cable is two directions, with one port at
 * each end. Nothing here knows SimGrid or time: a tool can use it by itself.
 */
struct pf_fabric_port {
    int32_t peer;      /* vertex at the other end; -1: nothing is plugged in (the end of a mesh) */
    int32_t peer_port; /* its port there */
    double rate;       /* B/s out of this port; INFINITY: takes no time; 0: no such direction */
    double latency;    /* s, from this port to the peer */
};

struct pf_fabric_ops;

struct pf_fabric {
    const struct pf_fabric_ops *topology;
    int32_t nodes, routers;
    int32_t *first_port; /* of vertex v: ports[first_port[v]] to ports[first_port[v + 1] - 1] */
    struct pf_fabric_port *ports;
    bool *up;              /* per port: this direction works; changed by pf_fabric_set_up() */
    int32_t down;          /* how many do not */
    double router_latency; /* s, from a head's arrival at a router until it is ready for the crossbar */
    void *shape;           /* the topology's own, one block of memory or NULL */
    char text[160];        /* the description, complete */
};

/* What cables are like, by what they join. */
enum pf_fabric_cable {
    PF_CABLE_NODE,   /* a node and its router */
    PF_CABLE_LOCAL,  /* two routers; in a dragonfly those of a group, in one row of it */
    PF_CABLE_COLUMN, /* dragonfly with two-dimensional groups: routers of a group in one column */
    PF_CABLE_GLOBAL, /* dragonfly: two groups */
    PF_CABLE_COUNT
};

struct pf_fabric_cables {
    double rate[PF_CABLE_COUNT];    /* B/s, each direction */
    double latency[PF_CABLE_COUNT]; /* s */
    double router_latency;          /* s */
};

/* All cables alike. */
void pf_fabric_cables_equal(struct pf_fabric_cables *cables, double rate, double latency,
                            double router_latency);

/*
 * Makes a fabric from a description:
 *   star:N               one router with N nodes
 *   torus:AxBxC[,T]      T nodes (1) at each router; the first dimension varies fastest
 *   mesh:AxBxC[,T]
 *   fattree:K,N[,S]      K-ary N-tree; S: slimmed, switches have K/S cables upwards
 *   fattree:L;M..;W..;P..  extended generalised fat tree with SimGrid's four fields (topo_parameters)
 *   hyperx:AxB,T         routers of a row are all joined, in each dimension; T nodes at each
 *   dragonfly:P,A,H[,G]  P nodes and H global cables at each of A routers of a group (A may be RxC: a
 *                        two-dimensional group), G groups (as many as possible: A H + 1)
 * On failure returns NULL and one line in `error`. The caller ends it with pf_fabric_free().
 */
struct pf_fabric *pf_fabric_make(const char *text, const struct pf_fabric_cables *cables, char *error,
                                 size_t error_size);
void pf_fabric_free(struct pf_fabric *fabric);

/* A direction of a cable works or does not; `port` counts all ports, as in `ports`. */
void pf_fabric_set_up(struct pf_fabric *fabric, int32_t port, bool up);

/* How nodes are numbered, for patterns of traffic: the extents of their digits, the one that varies fastest
 * first. Returns how many. The first *in_group of them count within a group (a dragonfly's; elsewhere a
 * router). */
enum { PF_FABRIC_DIGITS = 10 };
int pf_fabric_extents(const struct pf_fabric *fabric, int32_t extents[PF_FABRIC_DIGITS], int *in_group);

/* One line per form of description for help texts; NULL behind the last. */
const char *pf_fabric_help(int index);

static inline int32_t pf_fabric_port_count(const struct pf_fabric *fabric, int32_t vertex)
{
    return fabric->first_port[vertex + 1] - fabric->first_port[vertex];
}

static inline const struct pf_fabric_port *pf_fabric_port(const struct pf_fabric *fabric, int32_t vertex,
                                                          int32_t port)
{
    return &fabric->ports[fabric->first_port[vertex] + port];
}

static inline bool pf_fabric_is_up(const struct pf_fabric *fabric, int32_t vertex, int32_t port)
{
    return !fabric->down || fabric->up[fabric->first_port[vertex] + port];
}

/* The router that a node hangs on, and its port there. A node has one port, so that theirs stand in a row. */
static inline int32_t pf_fabric_router_of(const struct pf_fabric *fabric, int32_t node)
{
    return fabric->ports[fabric->first_port[fabric->routers] + node].peer;
}

static inline int32_t pf_fabric_node_port(const struct pf_fabric *fabric, int32_t node)
{
    return fabric->ports[fabric->first_port[fabric->routers] + node].peer_port;
}

#endif
