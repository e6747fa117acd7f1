/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of OpenMP in ranks, of 2 threads in rank 0, of 3 in rank 1, and so on. Prints for each how many
 * units it has taken, rounded, where a unit is 20 ms of a thread's own processor time. */
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define UNIT 0.02

static int rank, wrong;
static double began;

/* The thread's processor time as the system knows it. */
static double used(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void work(int units)
{
    for (double end = used() + units * UNIT; used() < end;)
        ;
}

static void begin(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    began = MPI_Wtime();
}

static void end(const char *what)
{
    printf("%d %s %.0f\n", rank, what, (MPI_Wtime() - began) / UNIT);
}

int main(int argc, char **argv)
{
    int provided, left = -1, threads = 0, cores = omp_get_num_procs();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1) { /* what the environment says */
        const char *policy = getenv("OMP_WAIT_POLICY");
        printf("%d %s %d %d\n", rank, policy ? policy : "none", omp_get_max_threads(), omp_get_num_procs());
        MPI_Finalize();
        return cores != omp_get_num_procs();
    }
    omp_set_num_threads(rank + 2); /* the rank's own number */
    MPI_Barrier(MPI_COMM_WORLD);

    begin();
#pragma omp parallel
    work(3);
    end("equal");

    begin();
#pragma omp parallel
    work(omp_get_thread_num() == rank + 1 ? 6 : 1);
    end("one");

    begin();
#pragma omp parallel
    {
        work(omp_get_thread_num() ? 3 : 0);
#pragma omp barrier
        work(omp_get_thread_num() ? 0 : 3);
    }
    end("turns");

    begin();
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < 2 * (rank + 2); i++)
        work(2);
    end("loop");

    /* What any thread may ask, and the time that it sees. */
    double least = 1e9;
    int others = 0;
    begin();
#pragma omp parallel reduction(min : least) reduction(+ : others)
    {
        int is_main = 1, is_there = 0;
        double from = MPI_Wtime();
        work(3);
        least = MPI_Wtime() - from;
        MPI_Is_thread_main(&is_main);
        MPI_Initialized(&is_there);
        others += !is_main && is_there;
    }
    printf("%d clocks %.0f\n", rank, least / UNIT);
    wrong |= others != rank + 1;

    /* Messages of the first thread in a region: others run meanwhile, in regions of their own. */
    begin();
#pragma omp parallel reduction(+ : threads)
    {
        if (omp_get_thread_num() == 0) {
            int size, self = rank;
            MPI_Comm_size(MPI_COMM_WORLD, &size);
            MPI_Sendrecv(&self, 1, MPI_INT, (rank + 1) % size, 0, &left, 1, MPI_INT, (rank + size - 1) % size,
                         0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            wrong |= left != (rank + size - 1) % size;
        }
#pragma omp barrier
        wrong |= omp_get_num_threads() != rank + 2;
        threads++;
        work(3);
    }
    end("messages");
    wrong |= threads != rank + 2 || omp_get_max_threads() != rank + 2;
    if (wrong)
        printf("%d wrong\n", rank);
    MPI_Finalize();
    return wrong;
}
