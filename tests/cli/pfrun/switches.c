/* SPDX-License-Identifier: BSD-3-Clause */
/* One program per word of the command line, see switches.bats. */
#include <mpi.h>
#include <parfocal.h>
#include <string.h>

static int rank;
static double data[2];

/* Rank 0 goes on in another phase or model when its call has returned, for which its clock has not moved yet.
 */
static void ahead(const char *into)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 1) /* before it switches: a send follows its receive */
        MPI_Irecv(data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    pf_phase("send");
    if (rank == 0)
        MPI_Send(data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (strcmp(into, "model") == 0)
        pf_model_switch("smpi");
    else
        pf_phase("rest");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void file(void)
{
    MPI_File handle;
    MPI_File_open(MPI_COMM_WORLD, "file.data", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &handle);
    MPI_File_write_at(handle, rank * (MPI_Offset)sizeof *data, data, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&handle);
}

/* Messages that are received before they are sent, and after, one at a time. */
static void tags(void)
{
    MPI_Request request;
    for (int i = 0; i < 100; i++) {
        if (i % 2 == 0)
            MPI_Irecv(&data[1], 1, MPI_DOUBLE, 1 - rank, 1000 + i, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(data, 1, MPI_DOUBLE, 1 - rank, 1000 + i, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        if (i % 2)
            MPI_Irecv(&data[1], 1, MPI_DOUBLE, 1 - rank, 1000 + i, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* A cancelled receive while a message of another model waits, like which one has been received before. */
static void cancelled(const char *first, const char *second)
{
    MPI_Request request;
    pf_model_switch(first);
    MPI_Irecv(&data[1], 1, MPI_DOUBLE, rank, 5, MPI_COMM_WORLD, &request);
    MPI_Send(data, 1, MPI_DOUBLE, rank, 5, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(data, 1, MPI_DOUBLE, rank, 5, MPI_COMM_WORLD);
    pf_model_switch(second);
    MPI_Irecv(&data[1], 1, MPI_DOUBLE, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    pf_model_switch(first);
    MPI_Recv(&data[1], 1, MPI_DOUBLE, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "ahead") == 0)
        ahead(argv[2]);
    if (strcmp(argv[1], "file") == 0)
        file();
    if (strcmp(argv[1], "tags") == 0)
        tags();
    if (strcmp(argv[1], "cancelled") == 0)
        cancelled(argv[2], argv[3]);
    return MPI_Finalize();
}
