/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes for some 50 ms in each of two phases "long", and not at all in "short" and in "pcontrol:1"; no
 * phase ends with an MPI call that takes time. Prints how long it has computed by the system's clock, in
 * seconds: syscall() keeps out of the simulator's clocks. */
#include <mpi.h>
#include <parfocal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double processor_time(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double compute(void)
{
    double start = processor_time();
    for (volatile int i = 0; i < 30000000; i++)
        continue;
    return processor_time() - start;
}

int main(void)
{
    MPI_Init(NULL, NULL);
    pf_phase("long");
    double seconds = compute();
    pf_phase("short");
    MPI_Barrier(MPI_COMM_WORLD);
    pf_phase("long");
    seconds += compute();
    printf("computed %.9f\n", seconds);
    MPI_Pcontrol(1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
