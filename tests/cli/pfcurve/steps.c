/* SPDX-License-Identifier: BSD-3-Clause */
/* Something to sweep over: steps.c N makes N collectives on MPI_COMM_WORLD, the first half in phase "first",
 * the rest in phase "second". With a second argument the program ends with status 3 after saying so. */
#include <mpi.h>
#include <parfocal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 6, rank, sum;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < n; i++) {
        if (i == 0 || i == n / 2)
            pf_phase(i == 0 && n > 1 ? "first" : "second");
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    if (argc > 2)
        printf("steps: nothing will come of this\n");
    return argc > 2 ? 3 : 0;
}
