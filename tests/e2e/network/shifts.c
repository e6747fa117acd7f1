/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank sends to each other one, in shifts, and says how many it has heard of rightly. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, right = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int by = 1; by < size; by++) {
        int to = (rank + by) % size, from = (rank + size - by) % size, in = -1;
        MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        right += in == from;
    }
    printf("%d %d\n", rank, right);
    MPI_Finalize();
    return 0;
}
