/* SPDX-License-Identifier: BSD-3-Clause */
/* Short messages with all other ranks, in rounds: waits all | one | sends. The last date is printed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 100, ROUNDS = 50, MOST = 64 };

static char out[MOST][BYTES], in[MOST][BYTES];
static int rank, ranks;

/* Number `i` of the others. */
static int other(int i)
{
    return (rank + i) % ranks;
}

static void exchange(int together)
{
    MPI_Request requests[2 * MOST];
    int n = 0;
    for (int i = 1; i < ranks; i++)
        MPI_Irecv(in[other(i)], BYTES, MPI_CHAR, other(i), 0, MPI_COMM_WORLD, &requests[n++]);
    for (int i = 1; i < ranks; i++)
        MPI_Isend(out[other(i)], BYTES, MPI_CHAR, other(i), 0, MPI_COMM_WORLD, &requests[n++]);
    if (together)
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    else
        for (int i = 0; i < n; i++)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static void send(void)
{
    MPI_Request request;
    for (int i = 1; i < ranks; i++) {
        MPI_Irecv(in[other(ranks - i)], BYTES, MPI_CHAR, other(ranks - i), 0, MPI_COMM_WORLD, &request);
        MPI_Send(out[other(i)], BYTES, MPI_CHAR, other(i), 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < ranks; i++)
            memset(out[i], round + rank + i, BYTES);
        if (strcmp(how, "sends") == 0)
            send();
        else
            exchange(strcmp(how, "all") == 0);
        for (int i = 0; i < ranks; i++)
            if (i != rank && in[i][BYTES - 1] != (char)(round + i + rank))
                MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank == 0)
        printf("%.12f\n", MPI_Wtime());
    MPI_Finalize();
    return 0;
}
