/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two patterns that load a network in opposite ways, without computation:
 *
 *     exchange alltoall BYTES STEPS   every rank sends a block to every other
 *     exchange halo BYTES STEPS       every rank sends a block to its six neighbours on a periodic 3-D grid
 *
 * Checks the data and prints the simulated time of the slowest rank: "seconds S".
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, bytes;
static unsigned char *out, *in;

static unsigned char *block(unsigned char *memory, int number)
{
    return memory + (size_t)number * (size_t)bytes;
}

static unsigned char colour(int from, int to, int step)
{
    return (unsigned char)(from + 7 * to + 31 * step);
}

/* Marks the first and the last byte. */
static void paint(int number, int to, int step)
{
    block(out, number)[0] = block(out, number)[bytes - 1] = colour(rank, to, step);
}

static void check(int number, int from, int step)
{
    const unsigned char *b = block(in, number), expected = colour(from, rank, step);
    if (b[0] == expected && b[bytes - 1] == expected)
        return;
    fprintf(stderr, "exchange: rank %d: wrong data from rank %d in step %d\n", rank, from, step);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void alltoall(int step)
{
    for (int to = 0; to < ranks; to++)
        paint(to, to, step);
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
    for (int from = 0; from < ranks; from++)
        check(from, from, step);
}

static void halo(MPI_Comm grid, int step)
{
    MPI_Request requests[12];
    int peer[6];
    for (int d = 0; d < 3; d++)
        MPI_Cart_shift(grid, d, 1, &peer[2 * d], &peer[2 * d + 1]);
    /* The neighbour sends through its opposite face, and tags the message with its number. */
    for (int face = 0; face < 6; face++)
        MPI_Irecv(block(in, face), bytes, MPI_CHAR, peer[face], face ^ 1, grid, &requests[face]);
    for (int face = 0; face < 6; face++) {
        paint(face, peer[face], step);
        MPI_Isend(block(out, face), bytes, MPI_CHAR, peer[face], face, grid, &requests[6 + face]);
    }
    MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
    for (int face = 0; face < 6; face++)
        check(face, peer[face], step);
}

int main(int argc, char **argv)
{
    int dims[3] = {0, 0, 0}, periodic[3] = {1, 1, 1};
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bytes = argc > 3 ? atoi(argv[2]) : 0;
    int steps = argc > 3 ? atoi(argv[3]) : 0, is_halo = argc > 3 && strcmp(argv[1], "halo") == 0;
    if (bytes < 1 || steps < 1 || (!is_halo && strcmp(argv[1], "alltoall") != 0)) {
        fprintf(stderr, "usage: exchange alltoall|halo BYTES STEPS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    out = calloc((size_t)(ranks > 6 ? ranks : 6), (size_t)bytes);
    in = calloc((size_t)(ranks > 6 ? ranks : 6), (size_t)bytes);
    if (!out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Dims_create(ranks, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periodic, 0, &grid);
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime(), longest;
    for (int step = 0; step < steps; step++) {
        if (is_halo)
            halo(grid, step);
        else
            alltoall(step);
    }
    seconds = MPI_Wtime() - seconds;
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seconds %.9f\n", longest);
    MPI_Comm_free(&grid);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
