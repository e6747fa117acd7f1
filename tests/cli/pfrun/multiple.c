/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that asks for MPI_THREAD_MULTIPLE and has threads: by default only the first one calls MPI; with
 * an argument both do, with "work" the other one computes. Prints rank, granted level, and the sum that the
 * other thread and a collective made. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int both, computes;

static void *work(void *value)
{
    int size = 0;
    *(int *)value = -1;
    MPI_Comm_size(MPI_COMM_WORLD, &size); /* any thread may ask for these two */
    if (size == 3)
        MPI_Comm_rank(MPI_COMM_WORLD, value);
    if (both)
        MPI_Barrier(MPI_COMM_SELF);
    for (volatile long i = computes ? 50000000 : 0; i > 0; i--)
        ;
    *(int *)value += 1;
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, again, rank, value, sum;
    pthread_t thread;
    computes = argc > 1 && strcmp(argv[1], "work") == 0;
    both = argc > 1 && !computes;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Query_thread(&again);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    value = rank;
    if (pthread_create(&thread, NULL, work, &value) != 0)
        return 1;
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    static const char *const levels[] = {"single", "funneled", "serialized", "multiple"};
    printf("rank %d %s %d %d\n", rank, levels[provided], provided == again, sum);
    MPI_Finalize();
    return 0;
}
