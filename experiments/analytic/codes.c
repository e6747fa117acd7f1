/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small codes whose messages were in no fit, without computation:
 *
 *   codes stencil BYTES     2-D halo exchange with four neighbours, and a reduction to all of 8 B
 *   codes ring BYTES        a token goes round
 *   codes transpose BYTES   the transposition of an FFT: blocks of BYTES between all ranks of a row, then of
 * a column
 *   codes incast BYTES      seven ranks send to rank 0, which has posted its receives
 *   codes fanout BYTES      rank 0 sends to seven ranks
 *   codes overlap BYTES     as stencil, with 10 us of sleep between posting and waiting
 *
 * Prints the slowest rank's simulated time.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 5, PEERS = 7 };

static int rank, ranks, dims[2];
static char *out, *in;

static void stencil(int bytes, MPI_Comm grid, int sleep_us)
{
    MPI_Request requests[8];
    double mine = rank, sum;
    for (int d = 0, n = 0; d < 2; d++) {
        int low, high;
        MPI_Cart_shift(grid, d, 1, &low, &high);
        MPI_Irecv(in + (size_t)(2 * d) * bytes, bytes, MPI_CHAR, low, d, grid, &requests[n++]);
        MPI_Irecv(in + (size_t)(2 * d + 1) * bytes, bytes, MPI_CHAR, high, d, grid, &requests[n++]);
        MPI_Isend(out, bytes, MPI_CHAR, low, d, grid, &requests[n++]);
        MPI_Isend(out, bytes, MPI_CHAR, high, d, grid, &requests[n++]);
        if (d == 1 && sleep_us)
            usleep((unsigned)sleep_us);
        if (d == 1)
            MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
}

static void ring(int bytes)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    if (rank == 0)
        MPI_Send(out, bytes, MPI_CHAR, next, 0, MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_CHAR, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0)
        MPI_Send(out, bytes, MPI_CHAR, next, 0, MPI_COMM_WORLD);
}

/* All messages have rank 0 as their one end. */
static void crowd(int bytes, int into)
{
    MPI_Request requests[PEERS];
    int n = ranks - 1 < PEERS ? ranks - 1 : PEERS;
    if (rank > n)
        return;
    for (int i = 0; i < (rank ? 1 : n); i++) {
        int peer = rank ? 0 : i + 1;
        if (into == (rank > 0))
            MPI_Isend(out, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(in + (size_t)i * (size_t)bytes, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(rank ? 1 : n, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int periodic[2] = {1, 1}, keep[2][2] = {{0, 1}, {1, 0}};
    MPI_Comm grid, line[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int bytes = argc > 2 ? atoi(argv[2]) : 0;
    if (bytes < 1 || bytes > 1 << 20)
        MPI_Abort(MPI_COMM_WORLD, 2);
    out = calloc((size_t)ranks + 8, (size_t)bytes);
    in = calloc((size_t)ranks + 8, (size_t)bytes);
    if (!out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &grid);
    for (int d = 0; d < 2; d++)
        MPI_Cart_sub(grid, keep[d], &line[d]);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime(), longest;
    for (int step = 0; step < STEPS; step++) {
        if (strcmp(argv[1], "stencil") == 0)
            stencil(bytes, grid, 0);
        else if (strcmp(argv[1], "overlap") == 0)
            stencil(bytes, grid, 10);
        else if (strcmp(argv[1], "incast") == 0 || strcmp(argv[1], "fanout") == 0)
            crowd(bytes, strcmp(argv[1], "incast") == 0);
        else if (strcmp(argv[1], "ring") == 0)
            ring(bytes);
        else
            for (int d = 0; d < 2; d++)
                MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, line[d]);
    }
    begin = MPI_Wtime() - begin;
    MPI_Allreduce(&begin, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %d %.12g\n", argv[1], bytes, longest);
    free(out);
    free(in);
    return MPI_Finalize();
}
