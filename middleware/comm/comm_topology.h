/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/* A Cartesian grid; ranks are numbered in row-major order (MPI 3.1 section 7.5.1). */
struct pf_topology_cart {
    int ndims;
    int *dims, *periods;
};

/* A graph that every member knows as a whole: MPI's index and edges. */
struct pf_topology_graph {
    int nnodes;
    int *index, *edges;
};

/* The edges of one member of a distributed graph. */
struct pf_topology_dist {
    int indegree, outdegree;
    int *sources, *destinations;
    int *source_weights, *destination_weights;
    bool weighted;
};

/*
 * The virtual topology of a communicator. Only the middleware knows it: no implementation needs it for
 * anything, and the handles of a communicator and its duplicates share one.
 */
struct pf_topology {
    int kind; /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
    int references;
    union {
        struct pf_topology_cart cart;
        struct pf_topology_graph graph;
        struct pf_topology_dist dist;
    };
};

struct pf_topology *pf_topology_new(int kind);
struct pf_topology *pf_topology_retain(struct pf_topology *topology);
void pf_topology_release(struct pf_topology *topology);

/* A copy on the heap, never NULL. */
int *pf_topology_copy(const int *values, int count);
