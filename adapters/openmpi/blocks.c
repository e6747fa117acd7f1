/* SPDX-License-Identifier: BSD-3-Clause */
/* Large blocks of memory that cost nothing until they are used. */
#include "adapters/openmpi/blocks.h"

#include <stdlib.h>
#include <sys/mman.h>

#include <uthash.h>

#include "base/memory.h"

/* Below this a block is the C library's. Its own border is of this order. */
enum { LARGE = 256 * 1024 };

struct block {
    void *at;
    size_t size;
    UT_hash_handle hh;
};

static struct block *blocks;

void *pf_blocks_malloc(size_t size)
{
    if (size < LARGE)
        return malloc(size);
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    struct block *block = pf_malloc(sizeof *block);
    block->at = at;
    block->size = size;
    HASH_ADD_PTR(blocks, at, block);
    return at;
}

void pf_blocks_free(void *at)
{
    struct block *block;
    HASH_FIND_PTR(blocks, &at, block);
    if (!block) {
        free(at);
        return;
    }
    HASH_DEL(blocks, block);
    munmap(block->at, block->size);
    free(block);
}
