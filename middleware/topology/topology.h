/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_TOPOLOGY_H
#define PF_MIDDLEWARE_TOPOLOGY_H

#include <stdbool.h>

#include "middleware/comm/comm.h"

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
 * The virtual topology of a communicator. Only the hub knows it: no implementation needs it for anything, and
 * the handles of a communicator and its duplicates share one.
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

/* The topology of a communicator if it is of that kind; otherwise NULL, and *error is the class to report. */
const struct pf_topology *pf_topology_of(struct pf_rank *r, MPI_Comm handle, int kind, int *error);

/* The rank at some coordinates, MPI_PROC_NULL when they are outside a dimension that is not periodic. */
int pf_topology_cart_rank(const struct pf_topology_cart *cart, const int *coords);
/* The rank `disp` steps away from `rank` along `direction`. */
int pf_topology_cart_neighbor(const struct pf_topology_cart *cart, int rank, int direction, int disp);

/* The neighbours of a rank, and their number. */
const int *pf_topology_graph_neighbors(const struct pf_topology_graph *graph, int rank, int *count);

#endif
