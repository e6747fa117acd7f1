/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transposition of a square matrix, whose rows are dealt out in blocks: with one strided put for each row
 * of each block, and with one collective.
 *
 *     transpose [ROWS_PER_PE]
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long sync_a[SHMEM_ALLTOALL_SYNC_SIZE];

static double now(void)
{
    struct timespec ts; /* the simulated clock */
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* A row of mine becomes a piece of a column of theirs. */
static void by_strided_puts(double *to, const double *from, long rows, long columns)
{
    int me = shmem_my_pe(), size = shmem_n_pes();
    for (int i = 0; i < size; i++) {
        int pe = (me + i) % size;
        for (long r = 0; r < rows; r++)
            shmem_double_iput(to + me * rows + r, from + r * columns + pe * rows, columns, 1, (size_t)rows,
                              pe);
    }
    shmem_barrier_all();
}

/* Blocks are turned before, exchanged, and put into rows after. */
static void by_collective(double *to, const double *from, double *out, double *in, long rows, long columns)
{
    int size = shmem_n_pes();
    for (int pe = 0; pe < size; pe++)
        for (long r = 0; r < rows; r++)
            for (long c = 0; c < rows; c++)
                out[(pe * rows + c) * rows + r] = from[r * columns + pe * rows + c];
    shmem_alltoall64(in, out, (size_t)(rows * rows), 0, 0, size, sync_a);
    for (int pe = 0; pe < size; pe++)
        for (long r = 0; r < rows; r++)
            for (long c = 0; c < rows; c++)
                to[r * columns + pe * rows + c] = in[(pe * rows + r) * rows + c];
    shmem_barrier_all();
}

static int good(const double *to, long rows, long columns)
{
    for (long r = 0; r < rows; r++)
        for (long c = 0; c < columns; c++)
            if (to[r * columns + c] != (double)(c * columns + shmem_my_pe() * rows + r))
                return 0;
    return 1;
}

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), size = shmem_n_pes(), right = 1;
    long rows = argc > 1 ? atol(argv[1]) : 16, columns = rows * size;
    if (rows < 1) {
        if (me == 0)
            fprintf(stderr, "usage: transpose [ROWS_PER_PE], at least 1\n");
        shmem_global_exit(2);
    }
    size_t bytes = (size_t)(rows * columns) * sizeof(double);
    double *from = malloc(bytes), *to = shmem_malloc(bytes), *out = malloc(bytes), *in = shmem_malloc(bytes);
    for (long i = 0; i < rows * columns; i++) {
        from[i] = (double)(me * rows * columns + i);
        to[i] = -1;
    }
    shmem_barrier_all();
    double begin = now();
    by_strided_puts(to, from, rows, columns);
    double strided = now() - begin;
    right &= good(to, rows, columns);
    shmem_barrier_all();
    begin = now();
    by_collective(to, from, out, in, rows, columns);
    double collective = now() - begin;
    right &= good(to, rows, columns);
    if (!right)
        printf("transpose: PE %d is WRONG\n", me);
    if (me == 0)
        printf("transpose: %ld x %ld, strided puts %.3f us, alltoall %.3f us\n", columns, columns,
               1e6 * strided, 1e6 * collective);
    if (me == 0 && right)
        puts("transpose: verified");
    shmem_finalize();
    return !right;
}
