/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that do not communicate: what an MPI call costs besides its own work. Usage: calls [repetitions] */
#include "bench.h"

#include <stdlib.h>

#define MEASURE(name, call)                                                                                  \
    do {                                                                                                     \
        double begin = bench_clock();                                                                        \
        for (long i = 0; i < repetitions; i++)                                                               \
            call;                                                                                            \
        bench_report(name, bench_clock() - begin, repetitions);                                              \
    } while (0)

int main(int argc, char **argv)
{
    long repetitions = argc > 1 ? atol(argv[1]) : 1000000;
    int rank, size, flag;
    MPI_Request null = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MEASURE("Comm_rank", MPI_Comm_rank(MPI_COMM_WORLD, &rank));
        MEASURE("Comm_size", MPI_Comm_size(MPI_COMM_WORLD, &size));
        MEASURE("Type_size", MPI_Type_size(MPI_DOUBLE, &size));
        MEASURE("Initialized", MPI_Initialized(&flag));
        MEASURE("Wait null", MPI_Wait(&null, MPI_STATUS_IGNORE));
        MEASURE("Send to null", MPI_Send(&size, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
        MEASURE("Barrier of one", MPI_Barrier(MPI_COMM_SELF));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
