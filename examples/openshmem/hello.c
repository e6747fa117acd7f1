/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each PE puts its number into its right neighbour's memory: static data, which OpenSHMEM calls symmetric
 * because they are at the same place in each PE.
 */
#include <shmem.h>
#include <stdio.h>

static long left = -1;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), size = shmem_n_pes();
    shmem_long_p(&left, me, (me + 1) % size);
    shmem_barrier_all();
    printf("hello from PE %d of %d, left of it is PE %ld\n", me, size, left);
    shmem_finalize();
    return 0;
}
