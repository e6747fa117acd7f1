/* SPDX-License-Identifier: BSD-3-Clause */
/* Computation between calls. PE 0 computes, the others wait for it; each step is a stretch of its own,
 * whether a call, a look at the clock or a sleep ends it. Prints the simulated microseconds of the whole. */
#include "check.h"

#include <time.h>
#include <unistd.h>

static long flag;
static volatile long counter;

static void compute(void)
{
    for (int i = 0; i < 20000000; i++)
        counter += i;
}

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return 1e6 * (double)ts.tv_sec + 1e-3 * (double)ts.tv_nsec;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), size = shmem_n_pes();
    shmem_barrier_all();
    double begin = now();
    if (me == 0) {
        compute();
        for (int i = 1; i < size; i++)
            shmem_long_p(&flag, 1, i);
        compute();
        double before = now();
        compute();
        usleep(100);
        CHECK(now() >= before + 100);
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("waited %.3f\n", now() - begin);
    }
    if (me == 0)
        printf("computed %.3f\n", now() - begin);
    fflush(stdout);
    shmem_finalize();
    return 0;
}
