/* SPDX-License-Identifier: BSD-3-Clause */
/* In the manner of older programs and test suites: names from before 1.2, volatile flags, the untyped waits,
 * the version as a number, sizes of pWrk and pSync by their macros. Built as C99 and as C11. */
#include <shmemx.h>
#include "check.h"

#if !defined OSHMEM_SPEC_VERSION || OSHMEM_SPEC_VERSION < 10400
#error "the version as other implementations have it"
#endif

enum { COUNT = 10 };

static volatile long flag, other;
static volatile int short_flag;
static int sum[COUNT], part[COUNT], work[COUNT / 2 + 1 + _SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long reduce_sync[_SHMEM_REDUCE_SYNC_SIZE], barrier_sync[_SHMEM_BARRIER_SYNC_SIZE], swapped;
static long exchange_sync[_SHMEM_ALLTOALLS_SYNC_SIZE];

int main(void)
{
    start_pes(0);
    int me = _my_pe(), size = _num_pes(), right = (me + 1) % size, left = (me + size - 1) % size;
    char name[_SHMEM_MAX_NAME_LEN];
    int major, minor;
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    CHECK(major == _SHMEM_MAJOR_VERSION && minor == _SHMEM_MINOR_VERSION &&
          !strcmp(name, _SHMEM_VENDOR_STRING));
    CHECK(shmem_pe_accessible(right) && !shmem_pe_accessible(size) && !shmem_pe_accessible(-1));
    CHECK(shmem_addr_accessible(&sum, right) && !shmem_addr_accessible(&me, right));
    for (int i = 0; i < _SHMEM_BARRIER_SYNC_SIZE; i++)
        barrier_sync[i] = _SHMEM_SYNC_VALUE;
    for (int i = 0; i < COUNT; i++)
        part[i] = me + i;

    shmem_long_p((long *)&flag, left + 100, left);
    shmem_long_wait_until(&flag, _SHMEM_CMP_NE, 0);
    CHECK(flag == me + 100);
    shmem_long_p((long *)&other, 1, right);
    shmem_wait(&other, 0);
    shmem_int_p((int *)&short_flag, 5, right);
    shmem_int_wait(&short_flag, 0);
#if __STDC_VERSION__ >= 201112L
    shmem_wait_until(&short_flag, SHMEM_CMP_GE, 5);
    CHECK(shmem_test(&flag, SHMEM_CMP_GT, 99));
#endif
    shmem_clear_cache_inv();
    shmem_set_cache_inv();
    shmem_clear_cache_line_inv(sum);
    shmem_set_cache_line_inv(sum);
    shmem_udcflush();
    shmem_udcflush_line(sum);

    shmem_int_sum_to_all(sum, part, COUNT, 0, 0, size, work, reduce_sync);
    for (int i = 0; i < COUNT; i++)
        CHECK(sum[i] == size * (size - 1) / 2 + size * i);
    shmem_barrier(0, 0, size, barrier_sync);
    CHECK(shmem_long_swap(&swapped, me + 1, right) == 0);
    shmem_barrier_all();
    CHECK(swapped == left + 1);
    CHECK(shmem_long_cswap(&swapped, me + 1, 7, me) == (size == 1 ? 1 : left + 1));
    CHECK(shmem_long_fadd(&swapped, 0, me) == shmem_long_fetch(&swapped, me));
    shmem_barrier_all();

    long *heap = shmalloc((size_t)size * sizeof *heap), *own = shmemalign(64, (size_t)size * sizeof *own);
    for (int i = 0; i < size; i++)
        own[i] = 10L * me + i;
    shmem_barrier_all();
    shmem_alltoalls64(heap, own, 1, 1, 1, 0, 0, size, exchange_sync);
    for (int i = 0; i < size; i++)
        CHECK(heap[i] == 10L * i + me);
    heap = shrealloc(heap, 2 * (size_t)size * sizeof *heap);
    CHECK(heap[size - 1] == 10L * (size - 1) + me);
    shfree(heap);
    shfree(own);
    shmem_barrier_all();
    if (me == 0)
        printf("PASS\n");
    return 0;
}
