/* SPDX-License-Identifier: BSD-3-Clause */
/* An application that does what its first argument says, in rank 1 where only one rank does it. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int global;
static char large[1 << 24];

static int deeper(volatile char *above)
{
    volatile char here[4096];
    here[0] = above[0];
    return deeper(here) + here[0];
}

/* More than a stack and the guard below it: the first touch lies in another rank's. */
static void __attribute__((noinline)) spread(const char *what)
{
    volatile char here[9000000];
    here[0] = what[0];
    printf("%c", here[0]);
}

static void *wait_alone(void *unused)
{
    MPI_Barrier(MPI_COMM_SELF);
    return unused;
}

static void misbehave(const char *what, int number)
{
    pthread_t thread;
    volatile int zero = 0;
    int buffer;
    if (strcmp(what, "segv") == 0)
        *(volatile int *)0 = 1;
    if (strcmp(what, "jump") == 0) /* the unwinder reads code there */
        ((void (*)(void))(uintptr_t)0x10)();
    if (strcmp(what, "fpe") == 0)
        zero = 12345 / zero;
    if (strcmp(what, "abort") == 0)
        abort();
    if (strcmp(what, "libc") == 0)
        strcpy((char *)(size_t)zero, what);
    if (strcmp(what, "overflow") == 0)
        deeper((volatile char *)what);
    if (strcmp(what, "device") == 0)
        MPI_Send((void *)0x7e0000000000, number, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
    if (strcmp(what, "frame") == 0)
        spread(what);
    if (strcmp(what, "exit") == 0)
        exit(7);
    if (strcmp(what, "mpiabort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(what, "thread") == 0 && pthread_create(&thread, NULL, wait_alone, NULL) == 0)
        pthread_join(thread, NULL);
    if (strcmp(what, "deadlock") == 0)
        MPI_Recv(&buffer, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    static const char *const endless[] = {"spin", "loop", "malloc", "memset", "pause"};
    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++)
        if (strcmp(what, endless[i]) == 0) {
            printf("spinning\n");
            fflush(stdout);
        }
    while (strcmp(what, "spin") == 0)
        zero++;
    while (strcmp(what, "malloc") == 0)
        free(malloc((size_t)rand() % 100000));
    while (strcmp(what, "memset") == 0)
        memset(large, zero, sizeof large);
    while (strcmp(what, "pause") == 0)
        pause();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank, size, sum;
    if (strcmp(what, "early") == 0)
        *(volatile int *)0 = 1;
    if (strcmp(what, "beforeinit") == 0)
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 2; i < argc && rank == 0 && strcmp(what, "args") == 0; i++)
        printf("<%s>\n", argv[i]);
    global += rank;
    if (rank == 1)
        misbehave(what, argc > 2 ? atoi(argv[2]) : 0);
    if (rank == 0 && strcmp(what, "device") == 0)
        MPI_Recv(large, sizeof large, MPI_CHAR, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (strcmp(what, "loop") == 0)
        MPI_Allreduce(&global, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&global, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    double end = MPI_Wtime();
    if (rank == 0)
        printf("ranks %d sum %d end %.17g\n", size, sum, end);
    MPI_Finalize();
    return rank == 1 && strcmp(what, "status") == 0 ? 5 : 0;
}
