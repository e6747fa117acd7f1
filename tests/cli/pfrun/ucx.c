/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 sends messages of four sizes, each by MPI_Isend and by MPI_Send, and prints how long that takes. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 2000, 5000, 100000};
    static char buffer[100000];
    int rank;
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double start = MPI_Wtime();
    for (int i = 0; i < 8; i++) {
        int size = sizes[i / 2];
        if (rank == 1) {
            MPI_Recv(buffer, size, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 0 && i % 2 == 0) {
            MPI_Isend(buffer, size, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (rank == 0) {
            MPI_Send(buffer, size, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        }
    }
    if (rank == 1)
        printf("all received after %.9f\n", MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}
