/* SPDX-License-Identifier: BSD-3-Clause */
/* All collectives, over all PEs and over every other one, again and again with the same pSync where that is
 * allowed. */
#include "check.h"

#include <complex.h>

enum { MOST = 300, PES = 64 };

static long sync_a[SHMEM_SYNC_SIZE], sync_b[SHMEM_SYNC_SIZE], sync_c[SHMEM_SYNC_SIZE];
static int64_t from[PES * MOST], to[PES * MOST];

struct set {
    int start, log_stride, size, index;
};
#define SET set.start, set.log_stride, set.size

static void clear(void)
{
    memset(to, -1, sizeof to);
}

static void moves(struct set set, int n)
{
    int me = set.index;
    size_t count = (size_t)n;
    for (int root = 0; root < set.size; root++) {
        clear();
        for (int i = 0; i < n; i++)
            from[i] = 1000 * me + i;
        shmem_barrier(SET, sync_a);
        shmem_broadcast64(to, from, count, root, SET, sync_b);
        for (int i = 0; i < n; i++)
            CHECK(to[i] == (me == root ? -1 : 1000 * root + i));
        shmem_barrier(SET, sync_a);
    }
    clear();
    shmem_barrier(SET, sync_a);
    shmem_fcollect64(to, from, count, SET, sync_b);
    for (int i = 0; i < set.size * n; i++)
        CHECK(to[i] == 1000 * (i / n) + i % n);
    CHECK(to[set.size * n] == -1);
    clear();
    shmem_barrier(SET, sync_a);
    shmem_collect64(to, from, (size_t)(me % n), SET, sync_c);
    for (int pe = 0, i = 0; pe < set.size; pe++)
        for (int k = 0; k < pe % n; k++, i++)
            CHECK(to[i] == 1000 * pe + k);
    clear();
    for (int i = 0; i < set.size * n; i++)
        from[i] = 100000 * me + i;
    shmem_barrier(SET, sync_a);
    shmem_alltoall64(to, from, count, SET, sync_b);
    for (int i = 0; i < set.size * n; i++)
        CHECK(to[i] == 100000 * (i / n) + me * n + i % n);
}

static void strided(struct set set)
{
    int me = set.index;
    int32_t *into = (int32_t *)to, *out = (int32_t *)from;
    clear();
    for (int i = 0; i < set.size * 2 * 3; i++)
        out[i] = 1000 * me + i;
    shmem_barrier(SET, sync_a);
    shmem_alltoalls32(into, out, 2, 3, 2, SET, sync_b);
    for (int i = 0; i < set.size * 2; i++) {
        CHECK(into[2 * i] == 1000 * (i / 2) + 3 * (2 * me + i % 2));
        CHECK(into[2 * i + 1] == -1);
    }
    shmem_barrier(SET, sync_a);
}

#define REDUCE(name, type, operation, own, expected)                                                         \
    do {                                                                                                     \
        static type in[MOST], out[MOST], work[MOST];                                                         \
        for (int i = 0; i < n; i++)                                                                          \
            in[i] = (type)(own);                                                                             \
        shmem_barrier(SET, sync_a);                                                                          \
        shmem_##name##_##operation##_to_all(out, in, n, SET, work, sync_b);                                  \
        for (int i = 0; i < n; i++)                                                                          \
            CHECK(out[i] == (type)(expected));                                                               \
        shmem_barrier(SET, sync_a);                                                                          \
        shmem_##name##_##operation##_to_all(in, in, n, SET, work, sync_b);                                   \
        for (int i = 0; i < n; i++)                                                                          \
            CHECK(in[i] == out[i]);                                                                          \
    } while (0)

static void reductions(struct set set, int n)
{
    int me = set.index, last = set.size - 1, sum = set.size * last / 2;
    REDUCE(int, int, sum, me + i, sum + set.size * i);
    REDUCE(long, long, max, me + i, last + i);
    REDUCE(short, short, min, me - i, -i);
    REDUCE(double, double, sum, me + 0.5, sum + 0.5 * set.size);
    REDUCE(float, float, max, me, last);
    REDUCE(longdouble, long double, prod, me ? 1 : 3, 3);
    REDUCE(longlong, long long, xor, 1LL << me, (1LL << set.size) - 1);
    REDUCE(int, int, and, ~(1 << me % 30), set.size >= 30 ? ~0x3fffffff : ~((1 << set.size) - 1));
    REDUCE(long, long, or, 1L << me, (1L << set.size) - 1);
    static double complex in, out, work[1];
    in = me + 1.0 * I;
    shmem_barrier(SET, sync_a);
    shmem_complexd_sum_to_all(&out, &in, 1, SET, work, sync_b);
    CHECK(creal(out) == sum && cimag(out) == set.size);
    shmem_barrier(SET, sync_a);
}

static void all(struct set set)
{
    for (int n = 1; n <= MOST; n = 6 * n + 1) {
        moves(set, n);
        reductions(set, n);
    }
    strided(set);
    for (int i = 0; i < 20; i++) {
        shmem_barrier(SET, sync_a);
        shmem_sync(SET, sync_b);
    }
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), size = shmem_n_pes();
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        sync_a[i] = sync_b[i] = sync_c[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    all((struct set){0, 0, size, me});
    shmem_barrier_all();
    if (me % 2)
        all((struct set){1, 1, size / 2, me / 2});
    else
        all((struct set){0, 1, (size + 1) / 2, me / 2});
    shmem_barrier_all();
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        CHECK(sync_a[i] == SHMEM_SYNC_VALUE && sync_b[i] == SHMEM_SYNC_VALUE &&
              sync_c[i] == SHMEM_SYNC_VALUE);
    pass();
    return 0;
}
