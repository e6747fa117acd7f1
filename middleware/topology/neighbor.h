/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_NEIGHBOR_H
#define PF_MIDDLEWARE_NEIGHBOR_H

#include "middleware/comm/comm.h"

/* The blocks of one side of a neighbourhood collective: one per neighbour, in the order of the topology. */
struct pf_neighbor_blocks {
    const char *buffer;
    int count; /* of each block, when counts is NULL */
    const int *counts;
    MPI_Aint stride;           /* bytes from one block to the next, when neither array of places is there */
    const int *displs;         /* in extents of the type */
    const MPI_Aint *addresses; /* in bytes */
    MPI_Datatype type;         /* of each block, when types is NULL */
    const MPI_Datatype *types;
};

/* A collective of the call in progress, with all its arguments. `request` is NULL for a blocking one. Ends
 * the call. */
int pf_neighbor_run(struct pf_rank *r, MPI_Comm comm, struct pf_neighbor_blocks *send,
                    struct pf_neighbor_blocks *receive, MPI_Request *request);

#endif
