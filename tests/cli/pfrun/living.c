/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that ends while another thread of each rank lives: living THREAD END. The thread does the first, the
 * rank the second, or the thread as well ("both"). */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *end;
static int rank, pipes[2];

static int is(const char *what)
{
    return strcmp(end, what) == 0;
}

static void end_run(void)
{
    if (is("exit"))
        exit(7);
    if (is("_exit"))
        _exit(7);
    if (is("quick_exit"))
        quick_exit(7);
    if (is("abort"))
        abort();
    if (is("crash"))
        *(volatile int *)8 = 1;
    if (is("MPI_Abort"))
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (is("error"))
        MPI_Send(NULL, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (is("deadlock"))
        MPI_Recv(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is("child") && fork() == 0)
        _exit(0);
}

static void *live(void *what)
{
    if (strcmp(what, "reads") == 0)
        getchar();
    if (strcmp(what, "opens") == 0)
        fgetc(fdopen(pipes[0], "r"));
    if (strcmp(what, "keeps") == 0)
        flockfile(stdout);
    if (strcmp(what, "ends") == 0 || strcmp(what, "both") == 0)
        end_run();
    for (;;)
        if (strcmp(what, "spins") != 0)
            pause();
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int provided;
    end = argv[2];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d has begun\n", rank);
    if (pipe(pipes) != 0 || pthread_create(&thread, NULL, live, argv[1]) != 0)
        return 1;
    /* Real time, for the thread to be where it stays. */
    syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 200000000}, NULL);
    if (strcmp(argv[1], "ends") == 0)
        pthread_join(thread, NULL);
    end_run();
    MPI_Finalize();
    return 0;
}
