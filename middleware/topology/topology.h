/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/comm/comm.h"
#include "middleware/comm/comm_topology.h"

/* The topology of a communicator if it is of that kind; otherwise NULL, and *error is the class to report. */
const struct pf_topology *pf_topology_of(struct pf_rank *r, MPI_Comm handle, int kind, int *error);

/* The rank `disp` steps away from `rank` along `direction`. */
int pf_topology_cart_neighbor(const struct pf_topology_cart *cart, int rank, int direction, int disp);

/* The neighbours of a rank, and their number. */
const int *pf_topology_graph_neighbors(const struct pf_topology_graph *graph, int rank, int *count);

/* Does this argument name an array? */
static inline bool pf_topology_weights_given(const int *weights)
{
    return weights && weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}
