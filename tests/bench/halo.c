/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The communication of LULESH: a cube of side^3 ranks, each of which exchanges faces, edges and corners with
 * up to 26 neighbours, and a minimum over all ranks per step. Usage: halo [steps] [edge of a rank's cube]
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#define NEIGHBOURS 26

static int side, place[3], edge;

/* The rank at an offset, MPI_PROC_NULL outside of the cube. */
static int neighbour(const int offset[3])
{
    int rank = 0;
    for (int d = 2; d >= 0; d--) {
        int x = place[d] + offset[d];
        if (x < 0 || x >= side)
            return MPI_PROC_NULL;
        rank = rank * side + x;
    }
    return rank;
}

/* Values in what is shared at an offset: a face, an edge or a corner. */
static int values_at(const int offset[3])
{
    int n = 1;
    for (int d = 0; d < 3; d++)
        n *= offset[d] == 0 ? edge : 1;
    return n;
}

static double exchange(double *const in[], double *const out[], const int peers[], const int counts[])
{
    MPI_Request requests[2 * NEIGHBOURS];
    int n = 0;
    double sum = 0;
    for (int i = 0; i < NEIGHBOURS; i++)
        if (peers[i] != MPI_PROC_NULL)
            MPI_Irecv(in[i], counts[i], MPI_DOUBLE, peers[i], i, MPI_COMM_WORLD, &requests[n++]);
    for (int i = 0; i < NEIGHBOURS; i++)
        if (peers[i] != MPI_PROC_NULL)
            MPI_Isend(out[i], counts[i], MPI_DOUBLE, peers[i], NEIGHBOURS - 1 - i, MPI_COMM_WORLD,
                      &requests[n++]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < NEIGHBOURS; i++)
        sum += peers[i] == MPI_PROC_NULL ? 0 : in[i][counts[i] - 1];
    return sum;
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 100, rank, size, n = 0;
    int peers[NEIGHBOURS], counts[NEIGHBOURS];
    double *in[NEIGHBOURS], *out[NEIGHBOURS], value, least = 0;
    edge = argc > 2 ? atoi(argv[2]) : 8;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while ((side + 1) * (side + 1) * (side + 1) <= size)
        side++;
    if (side * side * side != size)
        return 2;
    for (int d = 0, rest = rank; d < 3; d++, rest /= side)
        place[d] = rest % side;
    for (int i = 0; i < 27; i++) {
        int offset[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
        if (i == 13)
            continue;
        peers[n] = neighbour(offset);
        counts[n] = values_at(offset);
        in[n] = calloc((size_t)counts[n], sizeof(double));
        out[n] = malloc((size_t)counts[n] * sizeof(double));
        for (int k = 0; k < counts[n]; k++)
            out[n][k] = rank + 1;
        n++;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = bench_clock();
    for (int step = 0; step < steps; step++) {
        value = exchange(in, out, peers, counts);
        MPI_Allreduce(&value, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    }
    double end = bench_clock();
    if (rank == 0) {
        printf("least sum %g\n", least);
        bench_report("step", end - begin, steps);
    }
    MPI_Finalize();
    return 0;
}
