/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that are never received, memory that two operations claim, arguments that cannot be meant, and
 * calls after the end.
 */
#include "faults.h"

static int values[16], more[16];

static void unreceived(const char *which)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm comm;

    CASE("unreceived")
    {
        if (rank == 0)
            MPI_Send(values, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
        else if (!wrong)
            MPI_Recv(values, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CASE("overtaken")
    {
        for (int tag = 1; rank == 0 && tag <= 3; tag++)
            MPI_Send(values, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
        for (int i = 0; rank == 1 && i < (wrong ? 2 : 3); i++)
            MPI_Recv(values, 1, MPI_INT, MPI_ANY_SOURCE, wrong && i == 1 ? 3 : MPI_ANY_TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    CASE("freed")
    {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (rank == 0)
            MPI_Isend(values, 1, MPI_INT, 1, 9, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank == 1 && !wrong)
            MPI_Recv(values, 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE);
        MPI_Comm_free(&comm);
    }
}

static void overlap(const char *which)
{
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Datatype column;

    CASE("receives")
    {
        /* Neighbouring columns of a matrix lie in each other, and share nothing. */
        MPI_Type_vector(2, 1, 2, MPI_INT, &column);
        MPI_Type_commit(&column);
        if (rank == 0) {
            MPI_Irecv(values, 4, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);
            MPI_Irecv(values + (wrong ? 3 : 4), 4, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[1]);
            MPI_Irecv(more, 1, column, 1, 3, MPI_COMM_WORLD, &requests[2]);
            MPI_Recv(more + 1, 1, column, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (int tag = 4; rank == 1 && tag > 0; tag--)
            MPI_Send(values, tag > 2 ? 2 : 4, MPI_INT, 0, tag, MPI_COMM_WORLD);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        MPI_Type_free(&column);
    }
    CASE("reads")
    {
        MPI_Irecv(values, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Send(wrong && rank == 0 ? values : more, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Sendrecv(values, 4, MPI_INT, 1 - rank, 2, more, 4, MPI_INT, 1 - rank, 2,
                     MPI_COMM_WORLD, /* now it may */
                     MPI_STATUS_IGNORE);
    }
    CASE("restart")
    {
        MPI_Recv_init(values, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
        for (int i = 0; i < 2; i++) {
            MPI_Isend(i == 1 && wrong && rank == 0 ? values : more, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD,
                      &requests[1]);
            MPI_Start(&requests[0]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
        MPI_Request_free(&requests[0]);
    }
    CASE("alias")
    MPI_Allreduce(wrong ? values : MPI_IN_PLACE, values, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* What both sides say about a message, and which rank waits for which. */
static void pairs(const char *which)
{
    CASE("datatype")
    {
        if (rank == 0)
            MPI_Send(values, 1, wrong ? MPI_FLOAT : MPI_INT, 1, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(values, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CASE("unsafe")
    {
        if (rank == 0 || wrong)
            MPI_Send(values, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
        MPI_Recv(values, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1 && !wrong)
            MPI_Send(values, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
    }
    CASE("crossed")
    {
        if (rank == 0 && wrong)
            MPI_Bcast(values, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Send(values, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(values, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1 || !wrong)
            MPI_Bcast(values, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    CASE("deadlock")
    {
        if (rank == 0 || wrong)
            MPI_Recv(values, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ssend(values, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
        if (rank == 1 && !wrong)
            MPI_Recv(values, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void arguments(const char *which)
{
    MPI_Request request;

    CASE("null")
    {
        MPI_Irecv(values, 4, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
        MPI_Send(NULL, 0, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (wrong && rank == 0)
            MPI_Send(NULL, 4, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    }
    CASE("negative") MPI_Send(values, wrong ? -1 : 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    CASE("rank") MPI_Send(values, 1, MPI_INT, wrong ? 5 : MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    CASE("tag") MPI_Send(values, 1, MPI_INT, MPI_PROC_NULL, wrong ? -7 : 7, MPI_COMM_WORLD);
    CASE("error")
    {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Bcast(values, 1, MPI_INT, wrong ? 3 : 0, MPI_COMM_WORLD);
    }
    CASE("released")
    {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        if (wrong && rank == 0)
            MPI_Request_free(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CASE("started")
    {
        MPI_Recv_init(values, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        if (wrong && rank == 0)
            MPI_Start(&request);
        MPI_Send(more, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
}

int main(int argc, char **argv)
{
    const char *which = begin(argc, argv);
    unreceived(which);
    overlap(which);
    pairs(which);
    arguments(which);
    CASE("unfinished") if (wrong && rank == 0) return 0;
    MPI_Finalize();
    CASE("after")
    {
        if (wrong)
            MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
    return 0;
}
