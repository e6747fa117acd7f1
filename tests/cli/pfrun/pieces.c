/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work in pieces, between which a rank asks whether a message has come; when it has, what is left is done at
 * once. So it asks less often where messages are faster, and computes as much.
 */
#include <mpi.h>

enum { STEPS = 40, PIECES = 60, BYTES = 400000 };

static char in[BYTES], out[BYTES];

static void work(int pieces)
{
    volatile double sum = 0;
    for (int i = 0; i < pieces * 20000; i++)
        sum += i;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < STEPS; i++) {
        MPI_Request both[2];
        int done = 0, left = PIECES;
        MPI_Irecv(in, BYTES, MPI_BYTE, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(out, BYTES, MPI_BYTE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &both[1]);
        for (; left > 0 && !done; left--) {
            work(1);
            MPI_Testall(2, both, &done, MPI_STATUSES_IGNORE);
        }
        work(left);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
