/* SPDX-License-Identifier: BSD-3-Clause */
/* Thread-local variables of libraries of which each rank has a copy, in threads that the program makes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/memory.h"
#include "loader/image_layout.h"

struct block {
    uintptr_t of; /* the one in the copy */
    void *bytes;
    UT_hash_handle hh;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* of a thread's blocks */
static pthread_t of_ranks;
static pf_image_locals_find *find;

static void forget(void *all)
{
    struct block *next = all;
    HASH_CLEAR(hh, next); /* the table alone: the blocks still know their order */
    for (next = all; next;) {
        struct block *one = next;
        next = one->hh.next;
        free(one->bytes);
        free(one);
    }
}

static void begin(void)
{
    pthread_key_create(&key, forget);
}

void pf_image_locals_begin(pf_image_locals_find *initial)
{
    of_ranks = pthread_self();
    find = initial;
}

static void *block_of_thread(uintptr_t of)
{
    pthread_once(&once, begin);
    struct block *all = pthread_getspecific(key), *one;
    HASH_FIND(hh, all, &of, sizeof of, one);
    if (one)
        return one->bytes;
    one = pf_calloc(1, sizeof *one);
    one->of = of;
    size_t size, filled;
    const char *initial = find((const char *)of, &filled, &size);
    one->bytes = pf_calloc(1, size);
    memcpy(one->bytes, initial, filled);
    HASH_ADD(hh, all, of, sizeof of, one);
    pthread_setspecific(key, all);
    return one->bytes;
}

/* Right below the thread pointer, which points at itself. */
static void *of_executable(uintptr_t place)
{
    char *thread;
    __asm__("movq %%fs:0, %0" : "=r"(thread));
    return thread + (intptr_t)place;
}

void *pf_image_local(const uintptr_t *index)
{
    if (!index[0])
        return of_executable(index[1]);
    if (pthread_equal(pthread_self(), of_ranks))
        return (void *)(index[0] + index[1]);
    return (char *)block_of_thread(index[0]) + index[1];
}
