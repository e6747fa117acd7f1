/* SPDX-License-Identifier: BSD-3-Clause */
/* In the manner of benchmark and test suites: buffers in pages of the heap or static, timed loops of puts,
 * gets and atomics, messages overlapped with computation, a pipeline of flags, a counter under a volatile
 * lock, a profiling tool's own functions around the library's, thread levels. */
#include <sys/time.h>
#include <unistd.h>

#include <mpp/shmem.h>
#include "check.h"

#define LARGER(a, b) ((a) > (b) ? (a) : (b))
enum { LOOPS = 20, LONGEST = 1 << 16, WIDTH = 64 };

static char in_place[LONGEST];
static double total, mine, work[LARGER(1, SHMEM_REDUCE_MIN_WRKDATA_SIZE)];
static long reduce_sync[SHMEM_REDUCE_SYNC_SIZE], collect_sync[SHMEM_COLLECT_SYNC_SIZE], offsets[WIDTH];
static long counter, flags[WIDTH], grid[WIDTH];
static volatile long lock;
static int calls;

/* What a tool for profiling brings. */
void shmem_putmem(void *dest, const void *source, size_t nelems, int pe)
{
    calls++;
    pshmem_putmem(dest, source, nelems, pe);
}

static double microseconds(void)
{
    struct timeval time;
    gettimeofday(&time, NULL);
    return 1e6 * (double)time.tv_sec + (double)time.tv_usec;
}

/* Latencies between the first half of the PEs and the second, as their mean. */
static double exchange(char *to, char *from, size_t length, int me, int size)
{
    int pair = (me + size / 2) % size;
    shmem_barrier_all();
    double begin = microseconds();
    for (int i = 0; me < size / 2 && i < LOOPS; i++) {
        shmem_putmem(to, from, length, pair);
        shmem_quiet();
        shmem_getmem(from, to, length, pair);
    }
    mine = me < size / 2 ? (microseconds() - begin) / LOOPS : 0;
    shmem_double_sum_to_all(&total, &mine, 1, 0, 0, size, work, reduce_sync);
    shmem_barrier_all();
    return total / LARGER(size / 2, 1);
}

static void overlap(char *to, char *from, int pair)
{
    for (int i = 0; i < LOOPS; i++) {
        shmem_putmem_nbi(to, from, LONGEST, pair);
        for (volatile int k = 0; k < 1000; k++)
            ;
        shmem_quiet();
    }
    shmem_barrier_all();
}

/* Each PE has a row, whose elements depend on the row above. */
static void pipeline(int me, int size)
{
    for (int i = 0; i < WIDTH; i++) {
        if (me > 0)
            shmem_long_wait_until(&flags[i], SHMEM_CMP_EQ, 1);
        long value = grid[i] + 1;
        if (me + 1 < size) {
            shmem_long_p(&grid[i], value, me + 1);
            shmem_fence();
            shmem_long_p(&flags[i], 1, me + 1);
        }
        CHECK(value == me + 1);
    }
}

int main(int argc, char **argv)
{
    int level, now;
    CHECK(shmem_init_thread(SHMEM_THREAD_SINGLE, &level) == 0 && level == SHMEM_THREAD_SINGLE);
    shmem_query_thread(&now);
    CHECK(now == level);
    int me = shmem_my_pe(), size = shmem_n_pes();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *heap = shmem_align(page, LONGEST), *own = shmem_align(page, LONGEST);
    CHECK((uintptr_t)heap % page == 0 && (uintptr_t)own % page == 0);
    char *to = argc > 1 && strcmp(argv[1], "heap") == 0 ? heap : in_place;
    double little = exchange(to, own, 1, me, size), much = exchange(to, own, LONGEST, me, size);
    CHECK(size == 1 || (little > 0 && much > 2 * little));
    CHECK(calls == (me < size / 2 ? 2 * LOOPS : 0));
    overlap(to, own, (me + 1) % size);
    pipeline(me, size);

    shmem_set_lock(&lock);
    shmem_long_p(&counter, shmem_long_g(&counter, 0) + 1, 0);
    shmem_clear_lock(&lock);
    shmem_barrier_all();
    CHECK(shmem_long_g(&counter, 0) == size);

    for (int i = 0; i < 2; i++) { /* keys to where those of the PEs before end */
        long keys = me + 1;
        shmem_fcollect64(offsets, &keys, 1, 0, 0, size, collect_sync);
        shmem_barrier_all();
        CHECK(offsets[size - 1] == size);
    }
    shmem_free(own);
    shmem_free(heap);
    pass();
    return 0;
}
