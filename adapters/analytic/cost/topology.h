/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_ANALYTIC_COST_TOPOLOGY_H
#define PF_ADAPTERS_ANALYTIC_COST_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Regular topologies by arithmetic: how many links a shortest path between two positions crosses. Nothing is
 * kept per position or pair, except in a twisted torus, whose rows are searched when first asked for.
 * Used for nodes in a network and for ranks inside a node. Kinds and shapes: xSim's network model.
 */
#define PF_TOPOLOGY_DIMENSIONS 8
/* A twisted torus looks the same from no two positions, so that it needs a row of distances for each: at
 * most 32 MiB in all with this many positions. */
#define PF_TOPOLOGY_TWISTED_MAX 4096

enum pf_cost_topology_kind {
    PF_TOPOLOGY_STAR,     /* 2 */
    PF_TOPOLOGY_RING,     /* one way: d - s, or n - (s - d) */
    PF_TOPOLOGY_RING_TWO, /* both ways: the shorter one */
    PF_TOPOLOGY_MESH,     /* sum of the differences; also a torus, where a dimension wraps: min(d, k - d) */
    PF_TOPOLOGY_TWISTED,  /* a wrap in dimension i also moves dimension (i + twist) mod n by jump[i] */
    PF_TOPOLOGY_TREE,     /* leaves of a tree: 2 x levels up to the common ancestor; also a fat tree */
    PF_TOPOLOGY_DRAGONFLY /* groups x routers x nodes; routers of a group and groups are all connected */
};

struct pf_cost_topology {
    enum pf_cost_topology_kind kind;
    int size;       /* positions */
    int dimensions; /* of `extent` */
    /* Mesh: positions per dimension, the last varies fastest. Tree: children per switch from the leaves'
     * switches up, the last one for all levels above. Dragonfly: groups, routers per group, nodes per
     * router. */
    int extent[PF_TOPOLOGY_DIMENSIONS];
    bool wraps[PF_TOPOLOGY_DIMENSIONS];
    int jump[PF_TOPOLOGY_DIMENSIONS];
    int twist;
    int global_ports;      /* dragonfly: links to other groups per router */
    bool wide;             /* fat tree: as many links upwards as leaves below */
    unsigned short **rows; /* twisted: distances from a position, made when first needed */
};

/*
 * Reads a description such as "torus 8x8x16 wrap 1,1,0" (the grammar is in docs/analytic.md) for `nodes`
 * positions. Returns NULL on success; else one line that says what is wrong, which lives until the next call.
 * The caller frees what it owns with pf_cost_topology_clear().
 */
const char *pf_cost_topology_parse(struct pf_cost_topology *topology, const char *text, int nodes);
void pf_cost_topology_clear(struct pf_cost_topology *topology);

/* Links on a shortest path from position `src` to `dst`, both below `size`; 0 when they are equal. */
int pf_cost_topology_hops(const struct pf_cost_topology *topology, int src, int dst);

/* Writes the description in the grammar of pf_cost_topology_parse(), with all defaults filled in. */
void pf_cost_topology_describe(const struct pf_cost_topology *topology, char *text, size_t size);

/* The router of another group that the link from group `from` to group `to` of a dragonfly starts at: links
 * are dealt to the routers in the order of the groups. */
int pf_cost_topology_gateway(const struct pf_cost_topology *topology, int from, int to);

/* The group over which two links lead from router `router` of `group` to router `to_router` of `to_group`;
 * -1: none. */
int pf_cost_topology_third_group(const struct pf_cost_topology *topology, int group, int router, int to_group,
                                 int to_router);

/* The neighbour of a position of a twisted torus one step (1 or -1) along a dimension; -1: there is none. */
int pf_cost_topology_neighbour(const struct pf_cost_topology *topology, int position, int dimension,
                               int step);

/* How many links there are, one for each direction of a cable, and those of the path from `src` to `dst`,
 * which are different: always the same shortest path, in order. Grids correct the last dimension first; of
 * two ways of the same length a ring takes the one upwards, a grid the one that does not wrap. A fat tree has
 * as many links upwards from each subtree as leaves below it, and a message takes the one that its target's
 * number says. */
size_t pf_cost_topology_links(const struct pf_cost_topology *topology);
typedef void pf_cost_topology_link_fn(void *context, size_t link);
void pf_cost_topology_route(const struct pf_cost_topology *topology, int src, int dst,
                            pf_cost_topology_link_fn *fn, void *context);

#endif
