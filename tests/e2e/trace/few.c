/* SPDX-License-Identifier: BSD-3-Clause */
/* Few messages, for the sequence diagrams: 8 B and 1 MiB from rank 0 to rank 1, and an end as the argument
 * says. With a second argument so many more of 8 B. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;
    static const int lengths[] = {8, 1 << 20};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *buffer = calloc(1, 1 << 20);
    int count = argc > 2 ? 2 + atoi(argv[2]) : 2;
    for (int i = 0; i < count && rank < 2; i++) {
        int length = lengths[i == 1];
        if (rank == 0)
            MPI_Send(buffer, length, MPI_CHAR, size > 1 ? 1 : 0, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(buffer, length, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    const char *end = argc > 1 ? argv[1] : "";
    if (strcmp(end, "abort") == 0 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(end, "term") == 0 && rank == 1)
        raise(SIGTERM);
    if (strcmp(end, "crash") == 0 && rank == 1)
        abort();
    if (strcmp(end, "stuck") == 0)
        MPI_Recv(buffer, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(end, "compute") == 0) {
        volatile double x = 1.0;
        for (int i = 0; i < 20000000; i++)
            x = x * 1.0000001;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(buffer);
    return MPI_Finalize();
}
