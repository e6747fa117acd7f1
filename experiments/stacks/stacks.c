/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What MPI programs do most, to be timed in several MPI libraries:
 *
 *     stacks pingpong|allreduce|alltoall|halo BYTES STEPS
 *
 * between ranks 0 and 1, of all (BYTES is a block), and with four neighbours in a ring of two dimensions.
 * Checks the data and prints the simulated time of the slowest rank for a step: "seconds S".
 */
#include <mpi.h>
#include <parfocal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, bytes;
static unsigned char *out, *in;
static MPI_Comm grid;

static void pingpong(void)
{
    if (rank > 1)
        return;
    for (int turn = 0; turn < 2; turn++) {
        if (turn == rank)
            MPI_Send(out, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(in, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void allreduce(void)
{
    MPI_Allreduce(out, in, bytes, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
}

static void alltoall(void)
{
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static void halo(void)
{
    MPI_Request requests[8];
    int peer[4];
    for (int d = 0; d < 2; d++)
        MPI_Cart_shift(grid, d, 1, &peer[2 * d], &peer[2 * d + 1]);
    for (int side = 0; side < 4; side++)
        MPI_Irecv(in + (size_t)side * bytes, bytes, MPI_CHAR, peer[side], side ^ 1, grid, &requests[side]);
    for (int side = 0; side < 4; side++)
        MPI_Isend(out, bytes, MPI_CHAR, peer[side], side, grid, &requests[4 + side]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

/* All ranks send the same, so that a maximum is that, too. */
static void check(void)
{
    if (memcmp(in, out, (size_t)bytes) == 0)
        return;
    fprintf(stderr, "stacks: rank %d: wrong data\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"pingpong", "allreduce", "alltoall", "halo"};
    static void (*const operations[])(void) = {pingpong, allreduce, alltoall, halo};
    int which = 0, steps = argc == 4 ? atoi(argv[3]) : 0, dims[2] = {0}, periodic[2] = {1, 1};
    double longest;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bytes = steps ? atoi(argv[2]) : 0;
    while (steps && which < 4 && strcmp(argv[1], names[which]) != 0)
        which++;
    if (bytes < 1 || steps < 1 || which == 4 || ranks < 2) {
        fprintf(stderr, "usage: stacks pingpong|allreduce|alltoall|halo BYTES STEPS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    out = malloc((size_t)bytes * (size_t)(ranks + 4));
    in = calloc((size_t)(ranks + 4), (size_t)bytes);
    for (size_t i = 0; i < (size_t)bytes * (size_t)(ranks + 4); i++)
        out[i] = (unsigned char)(1 + i % (size_t)bytes % 251);
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &grid);
    operations[which](); /* the first one may make connections */
    MPI_Barrier(MPI_COMM_WORLD);
    pf_phase("timed");
    double seconds = MPI_Wtime();
    for (int step = 0; step < steps; step++)
        operations[which]();
    seconds = (MPI_Wtime() - seconds) / steps;
    pf_phase("end");
    if (which > 0 || rank < 2)
        check();
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seconds %.9f\n", which == 0 ? longest / 2 : longest);
    return MPI_Finalize();
}
