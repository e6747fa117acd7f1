/* SPDX-License-Identifier: BSD-3-Clause */
/* Half of a round trip from rank 0 to each of two others: lines of peer, bytes, seconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 100000 };

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 24, 200, 6000, LARGEST};
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *buffer = calloc(1, LARGEST);
    for (int peer = 1; peer < size; peer += size - 2) {
        for (int i = 0; i < 5; i++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double begin = MPI_Wtime();
            for (int k = 0; k < 8; k++) {
                if (rank == 0)
                    MPI_Send(buffer, sizes[i], MPI_CHAR, peer, 0, MPI_COMM_WORLD);
                if (rank == 0 || rank == peer)
                    MPI_Recv(buffer, sizes[i], MPI_CHAR, rank ? 0 : peer, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
                if (rank == peer)
                    MPI_Send(buffer, sizes[i], MPI_CHAR, 0, 0, MPI_COMM_WORLD);
            }
            if (rank == 0)
                printf("%d %d %.9g\n", peer, sizes[i], (MPI_Wtime() - begin) / 16);
        }
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}
