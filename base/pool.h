/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"

/* Fixed-size objects from chunks; freed ones are used again first. The hot path never calls malloc. Objects
 * whose size is that of whole cache lines begin at one. */
struct pf_pool {
    size_t object_size;
    void *free_list;
    size_t in_use;
    void *chunks;
};

#define PF_POOL(type)                                                                                        \
    {                                                                                                        \
        sizeof(type), NULL, 0, NULL                                                                          \
    }

static inline void pf_pool_refill(struct pf_pool *pool)
{
    enum { CHUNK_OBJECTS = 64, ALIGNMENT = 16, LINE = 64 };
    size_t size = (pool->object_size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    char *chunk = aligned_alloc(LINE, LINE + size * CHUNK_OBJECTS);
    if (!chunk)
        pf_die("out of memory for objects of %zu bytes", pool->object_size);
    *(void **)chunk = pool->chunks;
    pool->chunks = chunk;
    chunk += LINE;
    for (int i = CHUNK_OBJECTS - 1; i >= 0; i--) {
        *(void **)(chunk + (size_t)i * size) = pool->free_list;
        pool->free_list = chunk + (size_t)i * size;
    }
}

/* Frees the memory of all objects, which must be unused. */
static inline void pf_pool_drain(struct pf_pool *pool)
{
    while (pool->chunks) {
        void *chunk = pool->chunks;
        pool->chunks = *(void **)chunk;
        free(chunk);
    }
    pool->free_list = NULL;
}

/* Zeroed objects of any size that begin at a cache line and stay: those that were made together lie together.
 */
struct pf_lines {
    char *free;
    size_t left;
};

static inline void *pf_lines_get(struct pf_lines *lines, size_t bytes)
{
    const size_t line = 64, chunk = 1024 * line, size = (bytes + line - 1) / line * line;
    if (size > lines->left) {
        lines->left = size > chunk ? size : chunk;
        lines->free = pf_memory_checked(aligned_alloc(line, lines->left), lines->left);
    }
    void *object = memset(lines->free, 0, size);
    lines->free += size;
    lines->left -= size;
    return object;
}

static inline void *pf_pool_get(struct pf_pool *pool)
{
    if (!pool->free_list)
        pf_pool_refill(pool);
    void *object = pool->free_list;
    pool->free_list = *(void **)object;
    pool->in_use++;
    return object;
}

static inline void pf_pool_put(struct pf_pool *pool, void *object)
{
    *(void **)object = pool->free_list;
    pool->free_list = object;
    pool->in_use--;
}
