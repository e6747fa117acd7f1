/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A breadth-first search of a random graph whose vertices are dealt out to the PEs. A PE that reaches a
 * vertex of another one sets its level there with an atomic compare-and-swap, and the PE that is the first
 * appends it to the owner's list for the next level: an atomic for the place, and a put.
 *
 *     graph [VERTICES_PER_PE [EDGES_PER_VERTEX]]
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long next_count, going, reached, sums[2], work[2], sync_sum[SHMEM_SYNC_SIZE],
    sync_all[SHMEM_SYNC_SIZE];

static double now(void)
{
    struct timespec ts; /* the simulated clock */
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* The end of edge `k` of a vertex: the graph is not kept, but worked out. */
static long neighbour(long vertex, int k, long vertices)
{
    uint64_t x = (uint64_t)vertex * 0x9e3779b97f4a7c15u + (uint64_t)k * 0xbf58476d1ce4e5b9u + 1;
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    return (long)(x % (uint64_t)vertices);
}

static long sum_of(long mine)
{
    going = mine;
    shmem_barrier(0, 0, shmem_n_pes(), sync_all);
    shmem_long_sum_to_all(sums, &going, 1, 0, 0, shmem_n_pes(), work, sync_sum);
    return sums[0];
}

/* The levels as one process finds them: PE 0's check. */
static long serial(long vertices, int edges, long *deepest)
{
    long *level = calloc((size_t)vertices, sizeof *level), *list = malloc((size_t)vertices * sizeof *list),
         count = 1;
    list[0] = 0;
    level[0] = 1;
    for (long i = 0; i < count; i++)
        for (int k = 0; k < edges; k++) {
            long to = neighbour(list[i], k, vertices);
            if (level[to])
                continue;
            level[to] = level[list[i]] + 1;
            list[count++] = to;
        }
    *deepest = level[list[count - 1]];
    free(level);
    free(list);
    return count;
}

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), size = shmem_n_pes();
    long own = argc > 1 ? atol(argv[1]) : 256;
    int edges = argc > 2 ? atoi(argv[2]) : 4, status = 0;
    if (own < 1 || edges < 1) {
        if (me == 0)
            fprintf(stderr, "usage: graph [VERTICES_PER_PE [EDGES_PER_VERTEX]], at least 1\n");
        shmem_global_exit(2);
    }
    long vertices = own * size, count = me == 0, levels = 0, all = 0;
    long *level = shmem_calloc((size_t)own, sizeof *level); /* 0: not reached */
    long *next = shmem_malloc((size_t)own * sizeof *next), *list = malloc((size_t)own * sizeof *list);
    list[0] = 0;
    level[0] = me == 0;
    shmem_barrier_all();
    double begin = now();
    for (long found = 1; found > 0; levels++) {
        all += found;
        for (long i = 0; i < count; i++)
            for (int k = 0; k < edges; k++) {
                long to = neighbour(list[i] * size + me, k, vertices), place = to / size;
                int pe = (int)(to % size);
                if (shmem_long_atomic_compare_swap(&level[place], 0, levels + 2, pe) == 0)
                    shmem_long_p(&next[shmem_long_atomic_fetch_inc(&next_count, pe)], place, pe);
            }
        shmem_barrier_all();
        count = next_count;
        next_count = 0;
        for (long i = 0; i < count; i++)
            list[i] = next[i];
        reached += count;
        found = sum_of(count);
    }
    double seconds = now() - begin;
    if (me == 0) {
        long deepest, expected = serial(vertices, edges, &deepest);
        status = all != expected || levels != deepest;
        printf("graph: %ld vertices, %ld reached in %ld levels, %.3f us, %.3f million edges/s\n", vertices,
               all, levels, 1e6 * seconds, 1e-6 * (double)(all * edges) / seconds);
        puts(status ? "graph: WRONG" : "graph: verified");
    }
    shmem_finalize();
    return status;
}
