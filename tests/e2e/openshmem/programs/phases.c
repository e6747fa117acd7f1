/* SPDX-License-Identifier: BSD-3-Clause */
/* Two phases; what is on its way when one begins arrives all the same, in order. Prints how long each took in
 * simulated microseconds. Arguments: the models that the program itself switches to in them, if any. */
#include "check.h"

#include <parfocal.h>
#include <time.h>

enum { COUNT = 20000, MOST = 16 };

static long sync[SHMEM_ALLTOALL_SYNC_SIZE], flag;

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return 1e6 * (double)ts.tv_sec + 1e-3 * (double)ts.tv_nsec;
}

/* The phase begins while the put is on its way, and the flag must not overtake it. */
static void phase(const char *name, const char *model, long round)
{
    int me = shmem_my_pe(), size = shmem_n_pes(), right = (me + 1) % size, left = (me + size - 1) % size;
    static long block[COUNT];
    long *from = shmem_malloc(sizeof block), *to = shmem_malloc(MOST * sizeof block / 8);
    for (int i = 0; i < COUNT; i++)
        from[i] = 1000L * me + i + round;
    shmem_barrier_all();
    shmem_long_put_nbi(block, from, COUNT, right);
    CHECK(pf_phase(name) == 0);
    if (model)
        CHECK(pf_model_switch(model) == 0);
    shmem_fence();
    shmem_long_p(&flag, round, right);
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
    for (int i = 0; i < COUNT; i++)
        CHECK(block[i] == 1000L * left + i + round);
    shmem_barrier_all();
    double begin = now();
    shmem_alltoall64(to, from, COUNT / MOST, 0, 0, size, sync);
    shmem_barrier_all();
    double end = now();
    for (int i = 0; i < size; i++)
        CHECK(to[i * (COUNT / MOST)] == 1000L * i + me * (COUNT / MOST) + round);
    if (me == 0)
        printf("%s in %s: %.3f\n", name, pf_model_current(), end - begin);
    shmem_free(to);
    shmem_free(from);
}

int main(int argc, char **argv)
{
    CHECK(pf_phase("too early") == -1);
    shmem_init();
    phase("first", argc > 1 ? argv[1] : NULL, 1);
    phase("second", argc > 2 ? argv[2] : NULL, 2);
    pass();
    return 0;
}
