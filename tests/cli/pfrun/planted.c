/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 2 works ten times as long as the others, twice as fast with an argument; messages and collectives. */
#include <mpi.h>
#include <parfocal.h>
#include <time.h>

static void work(double seconds)
{
    struct timespec time = {0, (long)(seconds * 1e9)};
    nanosleep(&time, NULL); /* in simulated time, and exact */
}

int main(int argc, char *argv[])
{
    static char buffer[100000], other[100000];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pf_phase("work");
    for (int i = 0; i < 5; i++) {
        work(rank == 2 ? (argc > 1 ? 0.005 : 0.01) : 0.001);
        MPI_Sendrecv(buffer, i % 2 ? 100000 : 100, MPI_CHAR, (rank + 1) % size, 1, other, 100000, MPI_CHAR,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&rank, other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
