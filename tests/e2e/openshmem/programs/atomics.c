/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics of all types by all PEs on one of them, order, waiting, and locks. */
#include "check.h"

/* clang-format off */
#define BY_TYPE(X) \
    X(int, int) X(long, long) X(longlong, long long) X(uint, unsigned int) X(ulong, unsigned long) \
    X(ulonglong, unsigned long long) X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) \
    X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
/* clang-format on */

#define SUMS(name, type)                                                                                     \
    static void sums_##name(void)                                                                            \
    {                                                                                                        \
        static type sum, bag;                                                                                \
        int me = shmem_my_pe(), size = shmem_n_pes(), home = size - 1;                                       \
        shmem_##name##_atomic_add(&sum, (type)(me + 1), home);                                               \
        shmem_##name##_atomic_inc(&sum, home);                                                               \
        type before = shmem_##name##_atomic_fetch_add(&sum, 2, home);                                        \
        CHECK(before >= (type)(me + 2));                                                                     \
        CHECK(shmem_##name##_atomic_fetch_inc(&sum, home) >= before + 2);                                    \
        shmem_barrier_all();                                                                                 \
        CHECK(shmem_##name##_atomic_fetch(&sum, home) == (type)(size * (size + 1) / 2 + 4 * size));          \
        shmem_barrier_all();                                                                                 \
        if (me == 0) {                                                                                       \
            shmem_##name##_atomic_set(&bag, 5, home);                                                        \
            CHECK(shmem_##name##_atomic_swap(&bag, 7, home) == 5);                                           \
            CHECK(shmem_##name##_atomic_compare_swap(&bag, 6, 8, home) == 7);                                \
            CHECK(shmem_##name##_atomic_compare_swap(&bag, 7, 9, home) == 7);                                \
            CHECK(shmem_##name##_atomic_fetch(&bag, home) == 9);                                             \
        }                                                                                                    \
        shmem_barrier_all();                                                                                 \
    }
BY_TYPE(SUMS)

#define BITS(name, type)                                                                                     \
    static void bits_##name(void)                                                                            \
    {                                                                                                        \
        static type either, both = (type)-1, odd;                                                            \
        int me = shmem_my_pe(), size = shmem_n_pes();                                                        \
        shmem_##name##_atomic_or(&either, (type)1 << me, 0);                                                 \
        shmem_##name##_atomic_and(&both, ~((type)1 << me), 0);                                               \
        shmem_##name##_atomic_fetch_xor(&odd, (type)3 << me, 0);                                             \
        shmem_barrier_all();                                                                                 \
        CHECK(shmem_##name##_atomic_fetch_or(&either, 0, 0) == ((type)1 << size) - 1);                       \
        CHECK(shmem_##name##_atomic_fetch_and(&both, (type)-1, 0) == (type) ~(((type)1 << size) - 1));       \
        CHECK(shmem_##name##_atomic_fetch(&odd, 0) == ((type)1 | (type)1 << size));                          \
        shmem_barrier_all();                                                                                 \
    }
BITS(uint, unsigned int)
BITS(ulong, unsigned long)
BITS(ulonglong, unsigned long long)
BITS(int32, int32_t)
BITS(int64, int64_t)
BITS(uint32, uint32_t)
BITS(uint64, uint64_t)

static void reals(void)
{
    static double d = 1.5;
    static float f = 2.5F;
    if (shmem_my_pe() == 0) {
        int there = shmem_n_pes() - 1;
        CHECK(shmem_double_atomic_swap(&d, 3.25, there) == 1.5 &&
              shmem_double_atomic_fetch(&d, there) == 3.25);
        shmem_float_atomic_set(&f, 4.5F, there);
        CHECK(shmem_float_atomic_swap(&f, 5.5F, there) == 4.5F);
    }
    shmem_barrier_all();
}

/* Data, whatever their length, are there when the flag behind a fence is. */
static void order(void)
{
    static long flag, data[1000], answer;
    int me = shmem_my_pe(), size = shmem_n_pes(), right = (me + 1) % size, left = (me + size - 1) % size;
    long out[1000];
    for (int n = 1; n <= 1000; n = 3 * n + 1) {
        for (int i = 0; i < n; i++)
            out[i] = me + n + i;
        shmem_long_put_nbi(data, out, (size_t)n, right);
        shmem_fence();
        shmem_long_p(&flag, n, right);
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, n);
        for (int i = 0; i < n; i++)
            CHECK(data[i] == left + n + i);
        shmem_long_p(&answer, n, left);
        while (!shmem_long_test(&answer, SHMEM_CMP_GE, n))
            ;
        shmem_quiet(); /* `out` is used again */
    }
    shmem_barrier_all();
}

static void locks(void)
{
    static long lock, count, inside;
    int others = 0;
    for (int i = 0; i < 5; i++) {
        shmem_set_lock(&lock);
        CHECK(shmem_long_atomic_fetch_inc(&inside, 0) == 0);
        long seen = shmem_long_g(&count, 0);
        shmem_long_p(&count, seen + 1, 0);
        shmem_quiet();
        CHECK(shmem_long_atomic_fetch_add(&inside, -1, 0) == 1);
        shmem_clear_lock(&lock);
    }
    while (shmem_test_lock(&lock))
        others++;
    shmem_long_p(&count, shmem_long_g(&count, 0) + 1, 0);
    shmem_clear_lock(&lock);
    shmem_barrier_all();
    CHECK(shmem_long_g(&count, 0) == 6L * shmem_n_pes());
    (void)others;
}

int main(void)
{
    shmem_init();
#define RUN_SUMS(name, type) sums_##name();
    BY_TYPE(RUN_SUMS)
    bits_uint();
    bits_ulong();
    bits_ulonglong();
    bits_int32();
    bits_int64();
    bits_uint32();
    bits_uint64();
    reals();
    order();
    locks();
    pass();
    return 0;
}
