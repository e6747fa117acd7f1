/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking messages between two ranks, and pairs of nonblocking ones. Usage: pingpong [round trips] [bytes]
 */
#include "bench.h"

#include <stdlib.h>

static void blocking(int rank, char *buffer, int bytes, long rounds)
{
    for (long i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Send(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
    }
}

static void nonblocking(int rank, char *buffer, int bytes, long rounds)
{
    for (long i = 0; i < rounds; i++) {
        MPI_Request requests[2];
        MPI_Irecv(buffer, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(buffer + bytes, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void measure(const char *name, void (*run)(int, char *, int, long), int rank, char *buffer, int bytes,
                    long rounds)
{
    run(rank, buffer, bytes, 100);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = bench_clock();
    run(rank, buffer, bytes, rounds);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        bench_report(name, bench_clock() - begin, 2 * rounds);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 20000;
    int bytes = argc > 2 ? atoi(argv[2]) : 8, rank;
    char *buffer = calloc(2, (size_t)bytes + 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    measure("message, blocking", blocking, rank, buffer, bytes, rounds);
    measure("message, nonblocking", nonblocking, rank, buffer, bytes, rounds);
    MPI_Finalize();
    free(buffer);
    return 0;
}
