/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank sends so many messages to each other one at once, or calls a collective. Prints simulated us.
 * Usage: flood BYTES [MESSAGES] (0: MPI_Ialltoall; with counts of many sizes -1: MPI_Alltoallv, -2:
 * MPI_Gatherv) */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZES = 8 };

static void flood(int rank, int ranks, int bytes, int each, char *out, char *in)
{
    MPI_Request *requests = malloc(2 * (size_t)(ranks * each) * sizeof *requests);
    int count = 0;
    for (int k = 0; k < each; k++)
        for (int i = 1; i < ranks; i++)
            MPI_Irecv(in + (size_t)bytes * (size_t)(k * ranks + i), bytes, MPI_CHAR,
                      (rank - i + ranks) % ranks, k, MPI_COMM_WORLD, &requests[count++]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < each; k++)
        for (int i = 1; i < ranks; i++)
            MPI_Isend(out, bytes, MPI_CHAR, (rank + i) % ranks, k, MPI_COMM_WORLD, &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

/* Blocks of many sizes. */
static void exchange(int rank, int ranks, int bytes, int gathers, char *out, char *in)
{
    int *counts = malloc(2 * (size_t)ranks * sizeof *counts), *places = counts + ranks;
    for (int i = 0; i < ranks; i++) {
        counts[i] = bytes / SIZES * ((gathers ? i : rank + i) % SIZES + 1);
        places[i] = bytes * i;
    }
    if (gathers)
        MPI_Gatherv(out, counts[rank], MPI_CHAR, in, counts, places, MPI_CHAR, 0, MPI_COMM_WORLD);
    else
        MPI_Alltoallv(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, MPI_COMM_WORLD);
    free(counts);
}

int main(int argc, char **argv)
{
    int rank, ranks, bytes = atoi(argv[1]), each = argc > 2 ? atoi(argv[2]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t room = (size_t)bytes * (size_t)ranks;
    char *out = calloc(room, 1), *in = calloc(room, each > 1 ? (size_t)each : 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime(), time, longest;
    for (int i = 0; i < 2; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (each > 0)
            flood(rank, ranks, bytes, each, out, in);
        else if (each < 0)
            exchange(rank, ranks, bytes, each < -1, out, in);
        else
            MPI_Ialltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    time = MPI_Wtime() - begin;
    MPI_Reduce(&time, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.3f\n", longest * 1e6);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
