/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 takes from any source what the others send after 1 and 2 ms of work, three times: by receives that
 * are posted in time, by receives that are late, and by probes. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, data[2];
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int how = 0; how < 3; how++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank > 0 && rank < 3) {
            usleep(1000u * (unsigned)rank);
            MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        }
        if (rank == 0 && how == 1)
            usleep(5000);
        for (int i = 0; rank == 0 && i < 2; i++) {
            if (how == 2) {
                MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
                MPI_Recv(&data[i], 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Irecv(&data[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[i]);
            }
        }
        if (rank == 0 && how < 2)
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
