/* SPDX-License-Identifier: BSD-3-Clause */
/* Mean time over ranks of all-to-alls of 1 KiB into which ranks come apart, and of MPI_Gatherv of 8 B behind
 * a barrier. A line for each, of rank 0. Up to 64 ranks. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { BYTES = 1024, MOST = 64, ROUNDS = 5 };

static char in[MOST * BYTES], out[MOST * BYTES];
static int rank, ranks, calls;

/* To the next whole millisecond, and as much behind it as the rank is to be late. */
static double meet(double late)
{
    double ahead = (++calls) * 1e-3 + late - MPI_Wtime();
    struct timespec rest = {0, (long)(ahead * 1e9)};
    nanosleep(&rest, NULL);
    return MPI_Wtime();
}

static void print(const char *call, int apart, double mine)
{
    double all;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %d %.9g\n", call, apart, all / ranks);
}

int main(int argc, char **argv)
{
    int counts[MOST], places[MOST];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int ns = 0; ns <= 1500; ns += 500) {
        double begun = meet(ns * 1e-9 * (rank * 7 % ranks) / ranks);
        MPI_Alltoall(in, BYTES, MPI_CHAR, out, BYTES, MPI_CHAR, MPI_COMM_WORLD);
        print("alltoall", ns, MPI_Wtime() - begun);
    }
    for (int i = 0; i < ranks; i++) {
        counts[i] = 8;
        places[i] = 8 * i;
    }
    double time = 0;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        time -= MPI_Wtime();
        MPI_Gatherv(in, 8, MPI_CHAR, out, counts, places, MPI_CHAR, 0, MPI_COMM_WORLD);
        time += MPI_Wtime();
    }
    print("gatherv", 0, time / ROUNDS);
    return MPI_Finalize();
}
