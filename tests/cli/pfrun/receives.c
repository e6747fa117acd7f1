/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 prints how long it takes to post a receive of 1 MB, by MPI_Irecv and by MPI_Start, in nanoseconds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 1000000 };

int main(int argc, char **argv)
{
    char *buffer = calloc(2, BYTES);
    MPI_Request requests[2];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Recv_init(buffer + BYTES, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[1]);
        double begin = MPI_Wtime();
        MPI_Irecv(buffer, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[0]);
        double between = MPI_Wtime();
        MPI_Start(&requests[1]);
        printf("MPI_Irecv %.0f ns, MPI_Start %.0f ns\n", (between - begin) * 1e9,
               (MPI_Wtime() - between) * 1e9);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Request_free(&requests[1]);
    } else if (rank == 1) {
        for (int tag = 0; tag < 2; tag++)
            MPI_Send(buffer, BYTES, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    free(buffer);
    return 0;
}
