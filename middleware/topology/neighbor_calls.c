/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of neighbourhood collectives: they differ in how they tell their blocks. */
#include "middleware/core/call.h"
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

static int allgather(struct pf_rank *r, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                     void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct pf_neighbor_blocks send = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    struct pf_neighbor_blocks receive = {
        .buffer = recvbuf, .count = recvcount, .type = recvtype, .stride = block_stride(recvcount, recvtype)};
    return pf_neighbor_run(r, comm, &send, &receive, request);
}

int pf_PMPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                               int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return allgather(PF_ENTER(Neighbor_allgather), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                     comm, NULL);
}

int pf_PMPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return allgather(PF_ENTER(Ineighbor_allgather), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                     recvtype, comm, request);
}

static int allgatherv(struct pf_rank *r, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                      void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                      MPI_Comm comm, MPI_Request *request)
{
    struct pf_neighbor_blocks send = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    struct pf_neighbor_blocks receive = {
        .buffer = recvbuf, .counts = recvcounts, .type = recvtype, .displs = displs};
    return pf_neighbor_run(r, comm, &send, &receive, request);
}

int pf_PMPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                MPI_Comm comm)
{
    return allgatherv(PF_ENTER(Neighbor_allgatherv), sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                      displs, recvtype, comm, NULL);
}

int pf_PMPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                 const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                 MPI_Comm comm, MPI_Request *request)
{
    return allgatherv(PF_ENTER(Ineighbor_allgatherv), sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                      displs, recvtype, comm, request);
}

static int alltoall(struct pf_rank *r, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct pf_neighbor_blocks send = {
        .buffer = sendbuf, .count = sendcount, .type = sendtype, .stride = block_stride(sendcount, sendtype)};
    struct pf_neighbor_blocks receive = {
        .buffer = recvbuf, .count = recvcount, .type = recvtype, .stride = block_stride(recvcount, recvtype)};
    return pf_neighbor_run(r, comm, &send, &receive, request);
}

int pf_PMPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                              int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoall(PF_ENTER(Neighbor_alltoall), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                    comm, NULL);
}

int pf_PMPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                               int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return alltoall(PF_ENTER(Ineighbor_alltoall), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                    comm, request);
}

static int alltoallv(struct pf_rank *r, const void *sendbuf, const int sendcounts[], const int sdispls[],
                     MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
                     MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct pf_neighbor_blocks send = {
        .buffer = sendbuf, .counts = sendcounts, .type = sendtype, .displs = sdispls};
    struct pf_neighbor_blocks receive = {
        .buffer = recvbuf, .counts = recvcounts, .type = recvtype, .displs = rdispls};
    return pf_neighbor_run(r, comm, &send, &receive, request);
}

int pf_PMPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                               MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                               const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoallv(PF_ENTER(Neighbor_alltoallv), sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                     recvcounts, rdispls, recvtype, comm, NULL);
}

int pf_PMPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                                const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Request *request)
{
    return alltoallv(PF_ENTER(Ineighbor_alltoallv), sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                     recvcounts, rdispls, recvtype, comm, request);
}

static int alltoallw(struct pf_rank *r, const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                     MPI_Request *request)
{
    struct pf_neighbor_blocks send = {
        .buffer = sendbuf, .counts = sendcounts, .types = sendtypes, .addresses = sdispls};
    struct pf_neighbor_blocks receive = {
        .buffer = recvbuf, .counts = recvcounts, .types = recvtypes, .addresses = rdispls};
    return pf_neighbor_run(r, comm, &send, &receive, request);
}

int pf_PMPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                               const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return alltoallw(PF_ENTER(Neighbor_alltoallw), sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                     recvcounts, rdispls, recvtypes, comm, NULL);
}

int pf_PMPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                                const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                MPI_Request *request)
{
    return alltoallw(PF_ENTER(Ineighbor_alltoallw), sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                     recvcounts, rdispls, recvtypes, comm, request);
}
