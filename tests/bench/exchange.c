/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank sends 8 bytes to every other one, point to point, all at once: MPI_Irecv, MPI_Isend,
 * MPI_Waitall. Arguments: how often. */
#include "bench.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 1, rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *in = calloc((size_t)size, sizeof *in), out = rank;
    MPI_Request *requests = malloc(2 * (size_t)size * sizeof *requests);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = bench_clock();
    for (int time = 0; time < times; time++) {
        int n = 0;
        for (int i = 1; i < size; i++)
            MPI_Irecv(&in[(rank + i) % size], 1, MPI_DOUBLE, (rank + i) % size, time, MPI_COMM_WORLD,
                      &requests[n++]);
        for (int i = 1; i < size; i++)
            MPI_Isend(&out, 1, MPI_DOUBLE, (rank + size - i) % size, time, MPI_COMM_WORLD, &requests[n++]);
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double end = bench_clock();
    for (int i = 0; i < size; i++)
        wrong += in[i] != (i == rank ? 0 : i);
    if (rank == 0)
        bench_report("message", end - begin, (long)times * size * (size - 1));
    free(in);
    free(requests);
    MPI_Finalize();
    return wrong != 0;
}
