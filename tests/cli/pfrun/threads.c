/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of OpenMP in a rank: which of them takes simulated time. Prints the policy of waiting, and seconds
 * of two regions in which only the first thread computes, and only the other one. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static double compute(void)
{
    double x = 1;
    for (int i = 0; i < 100000000; i++)
        x = x * 0.999999 + 1e-6;
    return x;
}

/* Simulated seconds of a region in which one thread computes and all wait for it. */
static double region(int thread)
{
    double begin = MPI_Wtime(), sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += omp_get_thread_num() == thread ? compute() : 0;
    return sum > 0.9 ? MPI_Wtime() - begin : -1;
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *policy = getenv("OMP_WAIT_POLICY");
    double first = region(0), other = region(1);
    printf("rank %d %s %.4f %.4f\n", rank, policy ? policy : "none", first, other);
    MPI_Finalize();
    return 0;
}
