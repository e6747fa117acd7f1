/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of 64 sizes, 8 B to 8 MiB: two ranks in turn, more in a ring without a barrier between its rounds.
 * Prints bytes, and what a round takes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZES = 64, ROUNDS = 10, MOST = 1 << 23 };

static void exchange(char *out, char *in, int bytes, int rank, int size)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    if (size > 2) {
        MPI_Sendrecv(out, bytes, MPI_CHAR, to, 0, in, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    } else if (rank == 0) {
        MPI_Send(out, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(in, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *out = calloc(MOST, 1), *in = calloc(MOST, 1);
    double length = 8;
    for (int i = 0; i < SIZES; i++, length *= 1.246134953620891) {
        int bytes = (int)(length + 0.5);
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime(), time, most;
        for (int round = 0; round < ROUNDS; round++)
            exchange(out, in, bytes, rank, size);
        time = MPI_Wtime() - begin;
        MPI_Reduce(&time, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%d %.12e\n", bytes, most / ROUNDS);
    }
    MPI_Finalize();
    return 0;
}
