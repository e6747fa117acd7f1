/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

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

/* The bodies of the collectives, which wrappers.py makes of these. */
int pf_neighbor_allgather(struct pf_rank *r, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                          void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Request *request);
int pf_neighbor_allgatherv(struct pf_rank *r, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                           void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                           MPI_Comm comm, MPI_Request *request);
int pf_neighbor_alltoall(struct pf_rank *r, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                         void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Request *request);
int pf_neighbor_alltoallv(struct pf_rank *r, const void *sendbuf, const int sendcounts[], const int sdispls[],
                          MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int pf_neighbor_alltoallw(struct pf_rank *r, const void *sendbuf, const int sendcounts[],
                          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                          const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                          MPI_Comm comm, MPI_Request *request);
