/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes, one for each argument, and other ways to end. */
#include "check.h"

#include <sched.h>
#include <signal.h>

static long flag, lock;

static void ignore(int number)
{
    (void)number;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    long automatic = 0;
    if (!strcmp(how, "before"))
        shmem_barrier_all();
    shmem_init();
    int me = shmem_my_pe(), size = shmem_n_pes();
    if (!strcmp(how, "pe") && me == 1)
        shmem_long_p(&flag, 1, size);
    if (!strcmp(how, "address") && me == 1)
        shmem_long_put(&automatic, &flag, 1, 0);
    if (!strcmp(how, "length") && me == 1)
        shmem_getmem(&automatic, &flag, (size_t)1 << 30, 0);
    if (!strcmp(how, "atomic"))
        shmem_long_atomic_inc((long *)((char *)&flag + 1), 0);
    if (!strcmp(how, "malloc"))
        shmem_malloc(me ? 100 : 200);
    if (!strcmp(how, "instead") && me)
        shmem_malloc(100);
    else if (!strcmp(how, "instead"))
        shmem_calloc(100, 1);
    if (!strcmp(how, "free"))
        shmem_free(&flag);
    if (!strcmp(how, "set")) {
        static long sync[SHMEM_SYNC_SIZE];
        shmem_barrier(0, 0, size - 1, sync);
    }
    if (!strcmp(how, "cmp"))
        shmem_long_wait_until(&flag, 17, 0);
    if (!strcmp(how, "wait"))
        shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
    if (!strcmp(how, "absent") && me)
        shmem_barrier_all();
    else if (!strcmp(how, "absent"))
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    if (!strcmp(how, "lock")) {
        shmem_set_lock(&lock);
        shmem_set_lock(&lock);
    }
    if (!strcmp(how, "test"))
        while (!shmem_long_test(&flag, SHMEM_CMP_NE, 0))
            ;
    if (!strcmp(how, "spin with a handler"))
        signal(SIGURG, ignore);
    if ((!strcmp(how, "spin") || !strcmp(how, "spin with a handler")) && me == 1)
        while (*(volatile long *)&flag == 0)
            ;
    if (!strcmp(how, "spin in libc") && me == 1)
        while (*(volatile long *)&flag == 0)
            sched_yield();
    if (!strcmp(how, "quiet") && me == 1)
        while (*(volatile long *)&flag == 0)
            shmem_quiet();
    else if (!strcmp(how, "quiet"))
        shmem_long_p(&flag, 1, 1);
    if (!strcmp(how, "quiet forever"))
        while (*(volatile long *)&flag == 0)
            shmem_fence();
    if (!strcmp(how, "get"))
        shmem_long_g(&flag, -1);
    if (!strcmp(how, "fetch"))
        shmem_long_atomic_fetch_add(&automatic, 1, 0);
    if (!strcmp(how, "ptr"))
        shmem_ptr(&flag, size);
    if (!strcmp(how, "root")) {
        static long sync[SHMEM_SYNC_SIZE];
        shmem_broadcast64(&flag, &lock, 1, size, 0, 0, size, sync);
    }
    if (!strcmp(how, "heap"))
        shmem_long_p((long *)shmem_malloc(64) + ((long)1 << 40), 1, 0);
    if (!strcmp(how, "sync"))
        shmem_barrier(0, 0, size, &automatic);
    if (!strcmp(how, "exit") && me == 1)
        shmem_global_exit(7);
    if (!strcmp(how, "exit with 0") && me == 1)
        shmem_global_exit(0);
    if (!strcmp(how, "leave"))
        return 0;
    shmem_finalize();
    if (!strcmp(how, "after"))
        shmem_my_pe();
    return 0;
}
