/* SPDX-License-Identifier: BSD-3-Clause */
/* How long collectives take that reduce twice, copy, or make types: "NAME MS", of the slowest rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(double) int out[4096];
static int in[4096], counts[64], places[64];

static void call(const char *name, int each, int ranks)
{
    if (strcmp(name, "scan") == 0)
        MPI_Scan(in, out, each * ranks, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(name, "exscan") == 0)
        MPI_Exscan(in, out, each * ranks, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(name, "block") == 0)
        MPI_Reduce_scatter_block(in, out, each, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Allgatherv(in, each, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, ranks, each = 250;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < ranks; i++) {
        counts[i] = each;
        places[i] = i * each;
    }
    for (int i = 1; i < argc; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime(), own, slowest = 0;
        call(argv[i], each, ranks);
        own = MPI_Wtime() - begin;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Gather(&own, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int r = 0; rank == 0 && r < ranks; r++)
            slowest = ((double *)out)[r] > slowest ? ((double *)out)[r] : slowest;
        if (rank == 0)
            printf("%s %.0f\n", argv[i], slowest * 1e3);
    }
    MPI_Finalize();
    return 0;
}
