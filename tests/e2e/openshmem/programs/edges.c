/* SPDX-License-Identifier: BSD-3-Clause */
/* What the specification permits and few programs do: nothing to move at no address, tests of a lock by
 * its holder, many contexts, memory that grows and shrinks where it is, a whole heap at once, all alignments,
 * tests of what holds at all times. With "unequal" PEs ask for different sizes, as before 1.2. With "packed"
 * PEs 0 and 1, 2 and 3 ... share a host, and signal each other by stores. */
#include "check.h"

enum { CONTEXTS = 200, TURNS = 20 };

static long sync[SHMEM_SYNC_SIZE], lock, counter, flag;

static void nothing(int size, int right)
{
    static int work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
    shmem_broadcast32(NULL, NULL, 0, 0, 0, 0, size, sync);
    shmem_barrier_all();
    shmem_fcollect32(NULL, NULL, 0, 0, 0, size, sync);
    shmem_barrier_all();
    shmem_collect64(NULL, NULL, 0, 0, 0, size, sync);
    shmem_barrier_all();
    shmem_alltoall32(NULL, NULL, 0, 0, 0, size, sync);
    shmem_barrier_all();
    shmem_alltoalls64(NULL, NULL, 1, 1, 0, 0, 0, size, sync);
    shmem_barrier_all();
    shmem_int_sum_to_all(NULL, NULL, 0, 0, 0, size, work, sync);
    shmem_putmem(NULL, NULL, 0, right);
    shmem_getmem_nbi(NULL, NULL, 0, right);
    shmem_long_iput(NULL, NULL, 1, 1, 0, right);
    shmem_long_iget(NULL, NULL, 1, 1, 0, right);
    shmem_quiet();
}

/* Others stand in the queue while the holder asks for its own lock. */
static void locks(int me, int size)
{
    for (int i = 0; i < TURNS; i++) {
        if ((me + i) % 3)
            shmem_set_lock(&lock);
        else
            while (shmem_test_lock(&lock))
                ;
        CHECK(shmem_test_lock(&lock) == 1);
        long before = shmem_long_g(&counter, 0);
        CHECK(shmem_test_lock(&lock) == 1);
        shmem_long_p(&counter, before + 1, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK(shmem_long_g(&counter, 0) == TURNS * size);
    shmem_barrier_all();
    counter = 0;
    shmem_barrier_all();
}

static void contexts(int size, int right)
{
    shmem_ctx_t ctx[CONTEXTS];
    for (int i = 0; i < CONTEXTS; i++) {
        CHECK(shmem_ctx_create(i % 8, &ctx[i]) == 0);
        shmem_ctx_long_atomic_inc(ctx[i], &counter, right);
    }
    for (int i = 0; i < CONTEXTS; i++)
        shmem_ctx_quiet(ctx[i]);
    shmem_sync_all();
    CHECK(counter == CONTEXTS);
    for (int i = CONTEXTS - 1; i >= 0; i--)
        shmem_ctx_destroy(ctx[i]);
    CHECK(size == shmem_n_pes());
}

/* With a NIC that has few counters: no context beyond them, and no harm done. */
static void few_counters(int right)
{
    shmem_ctx_t ctx[CONTEXTS], last;
    int count = 0;
    while (count < CONTEXTS && shmem_ctx_create(0, &ctx[count]) == 0)
        count++;
    CHECK(count > 10 && count < CONTEXTS);
    shmem_ctx_long_atomic_inc(ctx[count - 1], &counter, right);
    shmem_ctx_destroy(ctx[count - 1]);
    CHECK(shmem_ctx_create(0, &last) == 0 && shmem_ctx_create(0, &ctx[count - 1]) != 0);
    shmem_ctx_destroy(last);
    shmem_sync_all();
    CHECK(counter == 1);
}

static void memory(int me)
{
    CHECK(!shmem_malloc(SIZE_MAX) && !shmem_malloc(SIZE_MAX - 8) && !shmem_calloc(SIZE_MAX / 2, 4));
    size_t all = (size_t)2 << 30;
    char *whole = shmem_malloc(all); /* of the default heap */
    CHECK(whole && !shmem_malloc(1));
    whole[all - 1] = 1;
    char *less = shmem_realloc(whole, 1000);
    CHECK(less == whole);
    memset(less, me, 1000);
    char *more = shmem_realloc(less, all);
    CHECK(more == whole && more[999] == (char)me && !shmem_realloc(more, all + 1) && more[999] == (char)me);
    less = shmem_realloc(more, 1000);
    char *behind = shmem_malloc(1000);
    CHECK(behind && behind != less);
    more = shmem_realloc(less, 100000); /* no room where it is */
    CHECK(more != less);
    for (int i = 0; i < 1000; i++)
        CHECK(more[i] == (char)me);
    shmem_free(more);
    shmem_free(behind);
    whole = shmem_malloc(all);
    CHECK(whole);
    shmem_free(whole);
}

/* Any power of 2 that the heap can have, and nothing else. */
static void alignments(void)
{
    for (size_t alignment = 1; alignment <= (size_t)1 << 30; alignment *= 2) {
        char *first = shmem_align(alignment, 100), *second = shmem_align(alignment, 1);
        CHECK(first && (uintptr_t)first % alignment == 0 && (!second || (uintptr_t)second % alignment == 0));
        CHECK(second || alignment == (size_t)1 << 30);
        shmem_free(second);
        shmem_free(first);
    }
    CHECK(!shmem_align((size_t)1 << 40, 1) && !shmem_align((size_t)1 << 63, 1));
    CHECK(!shmem_align(0, 100) && !shmem_align(3, 100) && !shmem_align(48, 100));
}

/* A value on its way holds as well as the one before it; one that is not there yet is not seen. */
static void always(int me, int right)
{
    static int value, other;
    static long steps;
    for (int i = 0; i < 20; i++) {
        shmem_int_p(&value, 1, right);
        shmem_long_atomic_inc(&steps, right);
    }
    for (int i = 0; i < 100; i++) {
        CHECK(shmem_int_test(&value, SHMEM_CMP_LE, 1) && shmem_int_test(&value, SHMEM_CMP_GE, 0));
        CHECK(shmem_long_test(&steps, SHMEM_CMP_LT, 21) && !shmem_long_test(&steps, SHMEM_CMP_GT, 20));
        CHECK(!shmem_int_test(&other, SHMEM_CMP_NE, 0)); /* lets time pass */
    }
    shmem_barrier_all();
    CHECK(value == 1 && steps == 20 && me == shmem_my_pe());
}

/* Each has what it asked for, and no other PE is in it. */
static void unequal(int me, int size, int right)
{
    for (int round = 0; round < 4; round++) {
        int most = round % 2 ? size - 1 : 0; /* its PE asks for one, the others for more */
        int mine = 100 * (abs(me - most) + 1), theirs = 100 * (abs(right - most) + 1);
        int *block = round < 2 ? shmem_malloc((size_t)mine * sizeof *block)
                               : shmem_calloc((size_t)mine, sizeof *block);
        int *behind = shmem_malloc(sizeof *behind);
        *behind = -me;
        for (int i = 0; i < theirs; i++)
            shmem_int_p(&block[i], i, right);
        shmem_barrier_all();
        for (int i = 0; i < mine; i++)
            CHECK(block[i] == i);
        CHECK(*behind == -me);
        shmem_free(block);
        shmem_free(behind);
    }
}

/* No NIC sees a store; the call that follows it wakes a waiting PE. */
static void stores(int me)
{
    volatile long *there = shmem_ptr(&flag, me ^ 1);
    CHECK(there);
    for (long i = 1; i <= TURNS; i++) {
        if (me % 2 == 0)
            *there = i;
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, i);
        if (me % 2)
            *there = i;
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), size = shmem_n_pes(), right = (me + 1) % size;
    if (argc > 1 && strcmp(argv[1], "few counters") == 0) {
        few_counters(right);
        pass();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "unequal") == 0) {
        unequal(me, size, right);
        pass();
        return 0;
    }
    memory(me);
    alignments();
    always(me, right);
    nothing(size, right);
    locks(me, size);
    contexts(size, right);
    if (argc > 1)
        stores(me);
    pass();
    return 0;
}
