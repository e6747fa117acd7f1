/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of neighbourhood collectives: they differ in how they describe their blocks. */
#include "middleware/comm/routing.h"
#include "middleware/topology/neighbor.h"

/* Bytes from one block of `count` elements to the next; 0 for types that are not valid, which is reported
 * later. */
static MPI_Aint block_stride(int count, MPI_Datatype type)
{
    struct pf_bounds bounds;
    if (!pf_datatype_valid(type) || type == MPI_DATATYPE_NULL)
        return 0;
    pf_datatype_bounds(type, &bounds);
    return count * (bounds.ub - bounds.lb);
}

int pf_neighbor_allgather(struct pf_rank *r, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                          void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Request *request)
{
    struct pf_neighbor_blocks send = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    struct pf_neighbor_blocks receive = {
        .buffer = recvbuf, .count = recvcount, .type = recvtype, .stride = block_stride(recvcount, recvtype)};
    return pf_neighbor_run(r, comm, &send, &receive, request);
}

int pf_neighbor_allgatherv(struct pf_rank *r, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                           void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                           MPI_Comm comm, MPI_Request *request)
{
    struct pf_neighbor_blocks send = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    struct pf_neighbor_blocks receive = {
        .buffer = recvbuf, .counts = recvcounts, .type = recvtype, .displs = displs};
    return pf_neighbor_run(r, comm, &send, &receive, request);
}

int pf_neighbor_alltoall(struct pf_rank *r, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                         void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Request *request)
{
    struct pf_neighbor_blocks send = {
        .buffer = sendbuf, .count = sendcount, .type = sendtype, .stride = block_stride(sendcount, sendtype)};
    struct pf_neighbor_blocks receive = {
        .buffer = recvbuf, .count = recvcount, .type = recvtype, .stride = block_stride(recvcount, recvtype)};
    return pf_neighbor_run(r, comm, &send, &receive, request);
}

int pf_neighbor_alltoallv(struct pf_rank *r, const void *sendbuf, const int sendcounts[], const int sdispls[],
                          MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct pf_neighbor_blocks send = {
        .buffer = sendbuf, .counts = sendcounts, .type = sendtype, .displs = sdispls};
    struct pf_neighbor_blocks receive = {
        .buffer = recvbuf, .counts = recvcounts, .type = recvtype, .displs = rdispls};
    return pf_neighbor_run(r, comm, &send, &receive, request);
}

int pf_neighbor_alltoallw(struct pf_rank *r, const void *sendbuf, const int sendcounts[],
                          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                          const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                          MPI_Comm comm, MPI_Request *request)
{
    struct pf_neighbor_blocks send = {
        .buffer = sendbuf, .counts = sendcounts, .types = sendtypes, .addresses = sdispls};
    struct pf_neighbor_blocks receive = {
        .buffer = recvbuf, .counts = recvcounts, .types = recvtypes, .addresses = rdispls};
    return pf_neighbor_run(r, comm, &send, &receive, request);
}
