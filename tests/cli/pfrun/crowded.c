/* SPDX-License-Identifier: BSD-3-Clause */
/* Two pairs of ranks send 10 MB at once, over one link; with an argument one pair alone, and 8 bytes before.
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    enum { BYTES = 10000000 };
    int rank;
    char *data = calloc(BYTES, 1), word[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && rank == 0)
        MPI_Send(word, 8, MPI_CHAR, 2, 0, MPI_COMM_WORLD);
    if (argc > 1 && rank == 2) {
        MPI_Recv(word, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(word, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
    if (argc > 1 && rank == 0)
        MPI_Recv(word, 8, MPI_CHAR, 2, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < 2 && rank < 3 - argc)
        MPI_Send(data, BYTES, MPI_CHAR, rank + 2, 2, MPI_COMM_WORLD);
    if (rank >= 2 && rank < 5 - argc)
        MPI_Recv(data, BYTES, MPI_CHAR, rank - 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    free(data);
    return 0;
}
