/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with one fault of memory, which the last rank has; the argument chooses it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int shared_by_nobody[4]; /* each rank has its own */

int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    const char *fault = argc > 1 ? argv[1] : "none";
    volatile int beyond = 4;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *numbers = calloc(4, sizeof *numbers);
    shared_by_nobody[0] = numbers[0] = rank;
    MPI_Allreduce(numbers, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == size - 1) {
        int local[4] = {sum, sum, sum, sum};
        if (strcmp(fault, "heap") == 0)
            numbers[beyond] = 1;
        if (strcmp(fault, "global") == 0)
            shared_by_nobody[beyond] = 1;
        if (strcmp(fault, "stack") == 0)
            printf("%d\n", local[beyond]);
        if (strcmp(fault, "freed") == 0) {
            free(numbers);
            numbers[0] = 1;
        }
        if (strcmp(fault, "overflow") == 0)
            printf("%d\n", beyond + 2147483647);
    }
    if (strcmp(fault, "message") == 0) { /* too short at rank 0, which sends */
        int room[5];
        MPI_Bcast(rank == 0 ? numbers : room, 5, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("sum %d of rank %d\n", sum, shared_by_nobody[0]);
    free(numbers);
    MPI_Finalize();
    return 0;
}
