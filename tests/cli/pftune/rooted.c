/* SPDX-License-Identifier: BSD-3-Clause */
/* A gather in place and a scatter whose ranks do not all give the size: with rules by size, ranks took
 * different algorithms. */
#include <mpi.h>
#include <stdio.h>

enum { COUNT = 2048, MOST = 64 };

int main(int argc, char **argv)
{
    static int part[COUNT], all[COUNT * MOST];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Scatter(all, COUNT, MPI_INT, part, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
    } else {
        MPI_Gather(part, COUNT, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
        MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, part, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        puts("done");
    MPI_Finalize();
    return 0;
}
