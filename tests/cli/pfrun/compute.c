/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes for a while between messages and collectives, more on higher ranks; `more`: once more. The dates
 * of all ranks at the end, to the last digit. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static volatile double sum;

static void compute(int n)
{
    for (int i = 1; i < n * 1000; i++)
        sum += 1.0 / i;
}

static int last_value(int *in, int rank, int size)
{
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, in, 1, MPI_INT, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return *in;
}

int main(int argc, char **argv)
{
    int rank, size, value = 0;
    double end;
    struct timespec now;
    (void)argv;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5; i++) {
        compute(20 * (rank + 1));
        last_value(&value, rank, size);
        compute(30);
        clock_gettime(CLOCK_REALTIME, &now);
        MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (argc > 1)
        MPI_Barrier(MPI_COMM_WORLD);
    usleep(100);
    end = MPI_Wtime();
    printf("T %d %.17g %ld\n", rank, end, (long)now.tv_nsec);
    MPI_Finalize();
    return 0;
}
