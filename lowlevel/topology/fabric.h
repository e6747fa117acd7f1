/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The graph of a packet network: routers, nodes and links. Vertices 0 to routers-1 are routers, those from
 * `routers` on are nodes. A vertex has ports, numbered from 0; a link has two directions and one port at
 * each end. Nothing here knows SimGrid or time: a tool can use it by itself.
 */
struct pf_fabric_port {
    int32_t peer;      /* vertex at the other end; -1: nothing is plugged in (the end of a mesh) */
    int32_t peer_port; /* its port there */
    double rate;       /* B/s out of this port; INFINITY: takes no time; 0: no such direction */
    double latency;    /* s, from this port to the peer */
};

struct pf_fabric_ops;
struct pf_fabric_kind;

struct pf_fabric {
    const struct pf_fabric_ops *topology;
    const struct pf_fabric_kind *kind;
    int32_t nodes, routers;
    int32_t terminals;   /* nodes at each of the first routers; 0: at any routers */
    bool is_direct;      /* nodes are joined directly: each is its router */
    double global_width; /* rate of global links in that of others */
    int32_t *first_port; /* of vertex v: ports[first_port[v]] to ports[first_port[v + 1] - 1] */
    struct pf_fabric_port *ports;
    bool *up;              /* per port: this direction works; changed by pf_fabric_set_up() */
    int32_t down;          /* how many do not */
    double router_latency; /* s, from a head's arrival at a router until it is ready for the crossbar */
    void *shape;           /* the topology's own, one block of memory or NULL */
    char text[160];        /* the description, complete */
};

/* Links by what they join. */
enum pf_fabric_link_kind {
    PF_LINK_NODE,   /* a node and its router */
    PF_LINK_LOCAL,  /* two routers; in a dragonfly those of a group, in one row of it */
    PF_LINK_COLUMN, /* dragonfly with two-dimensional groups: routers of a group in one column */
    PF_LINK_GLOBAL, /* dragonfly: two groups */
    PF_LINK_KINDS
};

struct pf_fabric_speeds {
    double rate[PF_LINK_KINDS];    /* B/s, each direction */
    double latency[PF_LINK_KINDS]; /* s */
    double router_latency;         /* s */
};

/* All links alike. */
void pf_fabric_equal_links(struct pf_fabric_speeds *links, double rate, double latency,
                           double router_latency);

/*
 * Topologies by their description, KIND:NUMBERS (docs/packet.md#topologies). KIND:HOSTS has so many hosts, or
 * a few more where that fills the shape; KIND alone as many as are needed. Grids whose routers have one node
 * each are joined directly: a path has no link between a node and its router.
 */

/* The complete description of what was written, with at least `hosts` hosts where that says none. False, and
 * one line in `error`, when it is none. */
bool pf_fabric_describe(const char *text, int64_t hosts, char *complete, size_t size, char *error,
                        size_t error_size);

/* Whether the word before the colon names a kind. */
bool pf_fabric_is_kind(const char *text);

/* Makes a fabric from a description with its numbers. On failure returns NULL and one line in `error`. The
 * caller ends it with pf_fabric_free(). Without links (NULL) it has no ports: pf_fabric_hops() needs none. */
struct pf_fabric *pf_fabric_make(const char *text, const struct pf_fabric_speeds *links, char *error,
                                 size_t error_size);

/* Plugs in the links of a fabric that has none. */
void pf_fabric_wire(struct pf_fabric *fabric, const struct pf_fabric_speeds *links);
/* How many ports it has or would have, nodes' included: one for each direction of a link. */
int64_t pf_fabric_links(const struct pf_fabric *fabric);

/* Links on the minimal path between two nodes; 0 when they are the same. */
int pf_fabric_hops(const struct pf_fabric *fabric, int32_t from, int32_t to);
/* These links, in order, as ports: the path of a packet with routing `minimal` and this seed. */
typedef void pf_fabric_link_fn(void *context, int32_t port);
void pf_fabric_route(const struct pf_fabric *fabric, uint64_t seed, int32_t from, int32_t to,
                     pf_fabric_link_fn *fn, void *context);
/* What decides between equal ways of a pair of nodes. */
uint64_t pf_fabric_pair_key(uint64_t seed, int32_t from, int32_t to);

/* SimGrid's <cluster> that has the same hosts and links; false: there is none. Its routes may differ where
 * several are as short. */
struct pf_fabric_cluster {
    char topology[16], parameters[120];
    bool same_routes;
};
bool pf_fabric_cluster(const struct pf_fabric *fabric, struct pf_fabric_cluster *cluster);

void pf_fabric_free(struct pf_fabric *fabric);

/* A direction of a link works or does not; `port` counts all ports, as in `ports`. */
void pf_fabric_set_up(struct pf_fabric *fabric, int32_t port, bool up);

/* How nodes are numbered, for patterns of traffic: the extents of their digits, the one that varies fastest
 * first. Returns how many. The first *in_group of them count within a group (a dragonfly's; elsewhere a
 * router). */
enum { PF_FABRIC_DIGITS = 24 };
int pf_fabric_extents(const struct pf_fabric *fabric, int32_t extents[PF_FABRIC_DIGITS], int *in_group);

/* Kind, form of its numbers and one line of help, in the order of the table; false behind the last. */
bool pf_fabric_help(int index, const char **name, const char **numbers, const char **help);

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
