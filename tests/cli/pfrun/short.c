/* SPDX-License-Identifier: BSD-3-Clause */
/* Many computations of some ten nanoseconds, each followed by a short message. Prints the simulated time. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 2000, WORK = 20 };

int main(int argc, char **argv)
{
    int me, size, token = 0;
    double begin;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < ROUNDS; i++) {
        for (volatile int k = 0; k < WORK; k++)
            ;
        MPI_Sendrecv_replace(&token, 1, MPI_INT, (me + 1) % size, 0, (me + size - 1) % size, 0,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (me == 0)
        printf("%.9f\n", MPI_Wtime() - begin);
    MPI_Finalize();
    return 0;
}
