/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes, one for each argument, and other ways to end. */
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static long flag, lock;

static void ignore(int number)
{
    (void)number;
}

static void *put(void *unused)
{
    shmem_long_p(&flag, 1, 0);
    return unused;
}

static void *init(void *unused)
{
    shmem_init();
    return unused;
}

static void finalize(void)
{
    shmem_long_p(&flag, 1, 0);
    shmem_finalize();
    printf("finalized\n");
}

/* Its arguments are those of main() only, so the environment asks for it. */
__attribute__((constructor)) static void begin(void)
{
    if (getenv("INIT_EARLY"))
        shmem_init();
}

static void in_a_thread(void *(*function)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, NULL) == 0)
        pthread_join(thread, NULL);
}

static int in_a_child(void *(*function)(void *))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        function(NULL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
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
    if (!strcmp(how, "malloc far")) {
        for (int i = 1; me == 0 && i < size; i++)
            shmem_long_p(&flag, 1, i);
        if (me)
            shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        shmem_malloc(me ? (size_t)3 << 30 : 100);
    }
    if (!strcmp(how, "align"))
        shmem_align(me ? 64 : 128, 100);
    if (!strcmp(how, "thread"))
        in_a_thread(put);
    if (!strcmp(how, "child") && me == 1)
        return in_a_child(put) ? 7 : 0;
    if (!strcmp(how, "child init") && me == 1)
        return in_a_child(init) ? 7 : 0;
    if (!strcmp(how, "thread init"))
        in_a_thread(init);
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
    static char from[1 << 20], to[1 << 20];
    if (!strcmp(how, "finalize")) { /* what a context has begun is done then */
        shmem_ctx_t ctx;
        memset(from, 7, sizeof from);
        shmem_barrier_all();
        shmem_ctx_create(0, &ctx);
        shmem_ctx_getmem_nbi(ctx, to, from, sizeof to, (me + 1) % size);
    }
    if (!strcmp(how, "leave") || (!strcmp(how, "at exit") && atexit(finalize) == 0))
        return 0;
    if (!strcmp(how, "leave with 5") && me == 1)
        return 5;
    shmem_finalize();
    if (!strcmp(how, "finalize") && memcmp(from, to, sizeof to) != 0)
        return 1;
    if (!strcmp(how, "after"))
        shmem_my_pe();
    return 0;
}
