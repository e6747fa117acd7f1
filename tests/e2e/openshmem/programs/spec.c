/* SPDX-License-Identifier: BSD-3-Clause */
/* What the examples of the specification show, in programs of our own: each function is one. */
#include "check.h"

#include <complex.h>

enum { COUNT = 16, MOST = 64 };

static int me, size, right, left;
static long sync_a[SHMEM_SYNC_SIZE], sync_b[SHMEM_SYNC_SIZE], lock, counter, cells[MOST];
static long wait_for[MOST], data[MOST * COUNT];

/* A PE that finds a cell set takes it, in whatever order they come. */
static void any_of_many(void)
{
    int open = size;
    for (int pe = 0; pe < size; pe++)
        shmem_p(&wait_for[me], 1L + me, pe);
    while (open > 0)
        for (int pe = 0; pe < size; pe++)
            if (wait_for[pe] >= 0 && shmem_test(&wait_for[pe], SHMEM_CMP_GT, 0)) {
                CHECK(wait_for[pe] == 1 + pe);
                wait_for[pe] = -1;
                open--;
            }
    shmem_barrier_all();
}

/* Two sets with a pSync of their own, used in turn, and blocks of different lengths. */
static void sets(void)
{
    long own[MOST];
    int set = (size + 1) / 2, first = me % 2, members = first ? size / 2 : set;
    for (int i = 0; i <= me; i++)
        own[i] = 100L * me + i;
    static long all[MOST * MOST];
    shmem_collect64(all, own, (size_t)(me + 1), 0, 0, size, sync_a);
    for (int pe = 0, at = 0; pe < size; at += ++pe)
        CHECK(all[at] == 100L * pe && all[at + pe] == 100L * pe + pe);
    for (int i = 0; i < COUNT; i++)
        data[i] = i == 0 ? me : -1;
    shmem_barrier_all();
    shmem_broadcast64(data, data, 1, 0, first, 1, members, sync_b);
    shmem_barrier(first, 1, members, sync_b);
    CHECK(data[0] == first);
    shmem_barrier_all();
}

/* All add under a lock what they have read. */
static void locked(void)
{
    for (int i = 0; i < 3; i++) {
        shmem_set_lock(&lock);
        long seen = shmem_g(&counter, 0);
        shmem_p(&counter, seen + 1, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK(shmem_g(&counter, 0) == 3L * size);
    while (shmem_test_lock(&lock))
        ;
    shmem_clear_lock(&lock);
    shmem_barrier_all();
}

/* A pipeline over two contexts: each one's quiet is for its own puts. */
static void contexts(void)
{
    shmem_ctx_t ctx[2];
    long *to = shmem_malloc(2 * COUNT * sizeof *to), from[2 * COUNT];
    for (int i = 0; i < 2; i++)
        CHECK(shmem_ctx_create(i ? SHMEM_CTX_PRIVATE : SHMEM_CTX_NOSTORE, &ctx[i]) == 0);
    for (int i = 0; i < 2 * COUNT; i++)
        from[i] = 1000L * me + i;
    for (int i = 0; i < 2; i++)
        shmem_put_nbi(ctx[i], to + i * COUNT, from + i * COUNT, COUNT, right);
    for (int i = 0; i < 2; i++) {
        shmem_ctx_quiet(ctx[i]);
        shmem_ctx_destroy(ctx[i]);
    }
    shmem_sync_all();
    for (int i = 0; i < 2 * COUNT; i++)
        CHECK(to[i] == 1000L * left + i);
    shmem_free(to);
}

/* Flags behind data, a fetched sequence number, bits that all set, sums of complex numbers. */
static void rest(void)
{
    static unsigned long bits;
    static double complex sum, part, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
    long from[COUNT];
    for (int i = 0; i < COUNT; i++)
        from[i] = 7L * me + i;
    shmem_iput(data + COUNT, from, 2, 1, COUNT / 2, right);
    shmem_fence();
    shmem_p(&cells[0], 1L, right);
    shmem_wait_until(&cells[0], SHMEM_CMP_EQ, 1);
    CHECK(data[COUNT] == 7L * left && data[COUNT + 2] == 7L * left + 1);
    long number = shmem_atomic_fetch_inc(&cells[1], 0);
    CHECK(number >= 0 && number < size);
    shmem_atomic_or(&bits, 1UL << me, 0);
    part = me + 2 * I;
    shmem_complexd_sum_to_all(&sum, &part, 1, 0, 0, size, work, sync_a);
    CHECK(creal(sum) == size * (size - 1) / 2.0 && cimag(sum) == 2.0 * size);
    shmem_barrier_all();
    CHECK(shmem_atomic_fetch(&bits, 0) == (1UL << size) - 1 && shmem_g(&cells[1], 0) == size);
}

int main(void)
{
    int provided;
    CHECK(shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided) == 0);
    CHECK(provided == SHMEM_THREAD_FUNNELED);
    me = shmem_my_pe(), size = shmem_n_pes();
    right = (me + 1) % size, left = (me + size - 1) % size;
    any_of_many();
    sets();
    locked();
    contexts();
    rest();
    pass();
    return 0;
}
