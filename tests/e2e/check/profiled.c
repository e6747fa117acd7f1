/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with a profiling layer that stands for some functions and calls PMPI_ names: the layer beneath
 * does not see these calls, and must not find fault with what they have completed and freed. */
#include "faults.h"

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return PMPI_Wait(request, status);
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Barrier(MPI_Comm comm)
{
    return PMPI_Barrier(comm);
}

int MPI_Comm_free(MPI_Comm *comm)
{
    return PMPI_Comm_free(comm);
}

int MPI_Type_free(MPI_Datatype *type)
{
    return PMPI_Type_free(type);
}

int main(int argc, char **argv)
{
    const char *which = begin(argc, argv);
    int out = 1, in = 0, n, other = 1 - rank;
    MPI_Comm comm, copy;
    MPI_Datatype type;
    MPI_Request send, receive;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(2, MPI_INT, &type);
    copy = comm;
    for (int i = 0; i < 3; i++) { /* the same buffers again, after a wait that the layer does not see */
        out = i;
        MPI_Isend(&out, 1, MPI_INT, other, 3, comm, &send);
        MPI_Irecv(&in, 1, MPI_INT, other, 3, comm, &receive);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        MPI_Recv_init(&out, 1, MPI_INT, other, 4, comm, &receive);
        MPI_Request_free(&receive);
        MPI_Sendrecv(&in, 1, MPI_INT, other, 5, &out, 1, MPI_INT, other, 5, comm, MPI_STATUS_IGNORE);
        MPI_Barrier(comm);
    }
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    CASE("freed") MPI_Comm_size(wrong && rank == 0 ? copy : MPI_COMM_WORLD, &n);
    CASE("leak")
    {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (!wrong || rank > 0)
            MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
