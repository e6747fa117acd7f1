/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks with different amounts of work then wait for each other: what does the imbalance cost in joules?
 *
 * The work is a number of flops that are not executed (smpi_execute_flops), so that the result is the same on
 * every machine. Builds with pfcc and with SimGrid's smpicc. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { DOUBLES = 1 << 17 };

int main(int argc, char **argv)
{
    int rank, size;
    double *field = malloc(DOUBLES * sizeof *field), *sum = malloc(DOUBLES * sizeof *sum);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < DOUBLES; i++)
        field[i] = rank;
    smpi_execute_flops(1e9 * (rank + 1)); /* rank 0 has the least */
    double done = MPI_Wtime();
    MPI_Allreduce(field, sum, DOUBLES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: worked for %.3f s, ended at %.3f s\n", rank, done, MPI_Wtime());
    int wrong = sum[DOUBLES - 1] != size * (size - 1) / 2.0;
    free(field);
    free(sum);
    MPI_Finalize();
    return wrong;
}
