/* SPDX-License-Identifier: BSD-3-Clause */
/* What one operation of 8 bytes takes in simulated time, in ns, with nothing else on the way, and how fast
 * they follow each other: PE 0 and PE 1.
 */
#include "check.h"

#include <time.h>
#include <unistd.h>

enum { COUNT = 100 };

static long mailbox, flag;

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* All that was on its way before is over. */
static double begin(void)
{
    shmem_barrier_all();
    usleep(1000);
    return now();
}

static void print(const char *what, double since, int times)
{
    if (shmem_my_pe() == 0)
        printf("%s %.3f\n", what, (now() - since) / times);
}

#define MEASURE(what, call)                                                                                  \
    do {                                                                                                     \
        double since = begin();                                                                              \
        for (int i = 0; me == 0 && i < COUNT; i++) {                                                         \
            call;                                                                                            \
        }                                                                                                    \
        print(what, since, COUNT);                                                                           \
    } while (0)

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    char large[4096] = "";
    char *symmetric = shmem_malloc(sizeof large);
    MEASURE("put-quiet", shmem_long_p(&mailbox, i, 1); shmem_quiet());
    MEASURE("put", shmem_long_p(&mailbox, i, 1));
    MEASURE("get", shmem_long_g(&mailbox, 1));
    MEASURE("fetch-add", shmem_long_atomic_fetch_add(&mailbox, 1, 1));
    MEASURE("compare-swap", shmem_long_atomic_compare_swap(&mailbox, 1, 2, 1));
    MEASURE("add-quiet", shmem_long_atomic_add(&mailbox, 1, 1); shmem_quiet());
    MEASURE("quiet", shmem_quiet());
    MEASURE("fence", shmem_long_p(&mailbox, i, 1); shmem_fence());
    MEASURE("put-4096", shmem_putmem(symmetric, large, sizeof large, 1));
    MEASURE("get-4096", shmem_getmem(large, symmetric, sizeof large, 1));
    double since = begin();
    for (int i = 0; me == 0 && i < COUNT; i++)
        shmem_long_put_nbi(&mailbox, (long *)symmetric, 1, 1);
    shmem_quiet();
    print("put-rate", since, COUNT);
    since = begin();
    for (int i = 0; me == 0 && i < COUNT; i++)
        shmem_long_atomic_add(&mailbox, 1, 1);
    shmem_quiet();
    print("add-rate", since, COUNT);
    since = begin();
    for (int i = 1; i <= COUNT && me < 2; i++) {
        if (me == 0)
            shmem_long_p(&flag, i, 1);
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, i);
        if (me == 1)
            shmem_long_p(&flag, i, 0);
    }
    print("ping-pong", since, 2 * COUNT);
    pass();
    return 0;
}
