/* SPDX-License-Identifier: BSD-3-Clause */
/* Short all-to-alls behind barriers, which ranks leave first that others still have to signal, and behind
 * each other: "NAME TIMES TIME" of one, and its barrier, of the slowest rank. */
#include <mpi.h>
#include <stdio.h>

enum { BYTES = 1024, LONGER = 2048, MOST = 64, TIMES = 4, LONG_TIME = 20 };

static char out[MOST * LONGER], in[MOST * LONGER];

static void blocking(void)
{
    MPI_Alltoall(out, BYTES, MPI_CHAR, in, BYTES, MPI_CHAR, MPI_COMM_WORLD);
}

static void nonblocking(void)
{
    MPI_Request request;
    MPI_Ialltoall(out, BYTES, MPI_CHAR, in, BYTES, MPI_CHAR, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void again(void)
{
    MPI_Alltoall(out, LONGER, MPI_CHAR, in, LONGER, MPI_CHAR, MPI_COMM_WORLD);
}

static void measure(const char *name, void (*exchange)(void), int times, int barriers)
{
    int rank;
    double time, slowest;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    time = -MPI_Wtime();
    for (int i = 0; i < times; i++) {
        if (barriers)
            MPI_Barrier(MPI_COMM_WORLD);
        exchange();
    }
    time += MPI_Wtime();
    MPI_Reduce(&time, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %d %.9g\n", name, times, slowest / times);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    measure("alltoall", blocking, TIMES, 1);
    measure("ialltoall", nonblocking, TIMES, 1);
    measure("transposition", again, LONG_TIME, 0);
    return MPI_Finalize();
}
