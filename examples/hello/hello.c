/* SPDX-License-Identifier: BSD-3-Clause */
/* The smallest program: each rank says where it runs, in rank order. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int rank, nranks, length;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    MPI_Get_processor_name(name, &length);

    /* A token keeps the lines in order: stdout of a parallel program has no order of its own. */
    if (rank > 0)
        MPI_Recv(NULL, 0, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("hello from rank %d of %d on %s\n", rank, nranks, name);
    fflush(stdout);
    if (rank < nranks - 1)
        MPI_Send(NULL, 0, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
