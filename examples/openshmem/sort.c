/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A distributed sort of integers, as ISx does it: each PE has keys drawn at random, counts them by the PE
 * that they belong to, makes room there with one atomic for each target, and puts them. Then each PE sorts
 * its bucket by counting.
 *
 *     sort [KEYS_PER_PE [ROUNDS]]
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 1 << 12 }; /* values that belong to one PE */

static long filled, total, sum, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 1], sync_sum[SHMEM_SYNC_SIZE];

static double now(void)
{
    struct timespec ts; /* the simulated clock */
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void draw(uint32_t *keys, long count, uint32_t range)
{
    uint64_t random = 88172645463325252u + 977u * (uint64_t)shmem_my_pe();
    for (long i = 0; i < count; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        keys[i] = (uint32_t)(random % range);
    }
}

/* The keys in the order of the PEs that they belong to; start[pe] is where those of `pe` begin. */
static void bucket(const uint32_t *keys, uint32_t *ordered, long count, long *start, int size)
{
    memset(start, 0, (size_t)(size + 1) * sizeof *start);
    for (long i = 0; i < count; i++)
        start[keys[i] / WIDTH + 1]++;
    for (int pe = 0; pe < size; pe++)
        start[pe + 1] += start[pe];
    long *next = malloc((size_t)size * sizeof *next);
    memcpy(next, start, (size_t)size * sizeof *next);
    for (long i = 0; i < count; i++)
        ordered[next[keys[i] / WIDTH]++] = keys[i];
    free(next);
}

static void exchange(const uint32_t *ordered, const long *start, uint32_t *mine)
{
    int me = shmem_my_pe(), size = shmem_n_pes();
    for (int i = 0; i < size; i++) {
        int pe = (me + i) % size;
        long count = start[pe + 1] - start[pe];
        if (count == 0)
            continue;
        long place = shmem_long_atomic_fetch_add(&filled, count, pe);
        shmem_put32_nbi(mine + place, ordered + start[pe], (size_t)count, pe);
    }
    shmem_barrier_all();
}

/* Whether all keys are where they belong, and none is lost; the bucket is sorted by counting. */
static int check(const uint32_t *mine, long keys)
{
    static long counts[WIDTH];
    int me = shmem_my_pe(), good = 1;
    memset(counts, 0, sizeof counts);
    for (long i = 0; i < filled; i++) {
        good &= mine[i] / WIDTH == (uint32_t)me;
        counts[mine[i] % WIDTH]++;
    }
    total = filled;
    shmem_long_sum_to_all(&sum, &total, 1, 0, 0, shmem_n_pes(), work, sync_sum);
    return good && sum == keys * shmem_n_pes();
}

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), size = shmem_n_pes(), good = 1;
    long count = argc > 1 ? atol(argv[1]) : 1 << 15;
    int rounds = argc > 2 ? atoi(argv[2]) : 3;
    if (count < 1 || rounds < 1) {
        if (me == 0)
            fprintf(stderr, "usage: sort [KEYS_PER_PE [ROUNDS]], at least 1\n");
        shmem_global_exit(2);
    }
    long room = 2 * count + 1024;
    uint32_t *keys = malloc((size_t)count * sizeof *keys), *ordered = malloc((size_t)count * sizeof *keys);
    uint32_t *mine = shmem_malloc((size_t)room * sizeof *mine);
    long *start = malloc((size_t)(size + 1) * sizeof *start);
    draw(keys, count, (uint32_t)size * WIDTH);
    double moved = 0;
    for (int round = 0; round < rounds; round++) {
        filled = 0;
        shmem_barrier_all();
        bucket(keys, ordered, count, start, size);
        double begin = now();
        exchange(ordered, start, mine);
        moved += now() - begin;
        good &= check(mine, count);
        shmem_barrier_all();
    }
    if (me == 0)
        printf("sort: %d x %ld keys, exchange %.3f us, %.3f GB/s per PE\n", size, count, 1e6 * moved / rounds,
               4e-9 * (double)count * rounds / moved);
    printf(good ? "" : "sort: PE %d holds wrong keys\n", me);
    if (me == 0 && good)
        printf("sort: verified\n");
    shmem_free(mine);
    free(keys);
    free(ordered);
    free(start);
    shmem_finalize();
    return !good;
}
