/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The symmetric heap. All PEs call these functions in the same order with the same arguments, so there is one
 * list of blocks for all: the first PE that makes the n-th call carries it out, the others are given its
 * result. No PE is more than two calls ahead, since each call that allocates ends with a barrier and each
 * that frees begins with one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "middleware/process/layer.h"
#include "openshmem/internal.h"

#define NOWHERE SIZE_MAX

/* Blocks in the order of their offsets, without gaps. */
struct block {
    size_t offset, length;
    bool used;
    struct block *next;
};

/* A call, and the PE that was the first to make it. */
struct done {
    size_t arguments[2], result;
    size_t length; /* of what is taken */
    const char *name;
    int by;
};

enum { KEPT = 4 };

static struct {
    struct block *blocks;
    uint64_t calls;         /* that have been carried out, */
    struct done done[KEPT]; /* and the latest of them, by number modulo KEPT */
} heap;

static struct block *block_new(size_t offset, size_t length, struct block *next)
{
    struct block *block = pf_malloc(sizeof *block);
    *block = (struct block){offset, length, false, next};
    return block;
}

/* Leaves in the block what fits exactly, the rest before and behind it free. */
static void cut(struct block *block, size_t offset, size_t length)
{
    if (offset > block->offset) {
        struct block *rest = block_new(offset, block->offset + block->length - offset, block->next);
        block->length = offset - block->offset;
        block->next = rest;
        block = rest;
    }
    if (block->length > length) {
        block->next = block_new(offset + length, block->length - length, block->next);
        block->length = length;
    }
    block->used = true;
}

/* Every block begins and ends at a multiple of the least alignment. */
static size_t rounded(size_t length)
{
    return (length + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
}

/* The first place that is large enough. */
static size_t take(const struct pf_shmem *me, size_t alignment, size_t length)
{
    if (!heap.blocks)
        heap.blocks = block_new(0, me->segments[PF_SHMEM_HEAP].length, NULL);
    if (alignment < sizeof(max_align_t))
        alignment = sizeof(max_align_t);
    if (length > me->segments[PF_SHMEM_HEAP].length)
        return NOWHERE;
    length = rounded(length);
    for (struct block *block = heap.blocks; block; block = block->next) {
        size_t offset = (block->offset + alignment - 1) & ~(alignment - 1);
        size_t lost = offset - block->offset;
        if (block->used || lost > block->length || length > block->length - lost)
            continue;
        cut(block, offset, length);
        return offset;
    }
    return NOWHERE;
}

static struct block *block_at(size_t offset)
{
    struct block *block = heap.blocks;
    while (block && (block->offset != offset || !block->used))
        block = block->next;
    return block;
}

/* With all free ones behind it. */
static void join_behind(struct block *block)
{
    while (block->next && !block->next->used) {
        struct block *next = block->next;
        block->length += next->length;
        block->next = next->next;
        free(next);
    }
}

static void join(void)
{
    for (struct block *block = heap.blocks; block; block = block->next)
        if (!block->used)
            join_behind(block);
}

/* Makes it as long as that where it is, if there is room behind it. */
static bool resize(const struct pf_shmem *me, struct block *block, size_t length)
{
    const struct block *next = block->next;
    size_t room = block->length + (next && !next->used ? next->length : 0);
    if (length > me->segments[PF_SHMEM_HEAP].length || rounded(length) > room)
        return false;
    block->used = false;
    join_behind(block);
    cut(block, block->offset, rounded(length));
    join();
    return true;
}

/* The caller's next call, which must be the same for all. **first: it has not been carried out yet. */
static struct done *next_call(struct pf_shmem *me, size_t a, size_t b, bool *first)
{
    struct done *call = &heap.done[me->heap_calls % KEPT];
    *first = me->heap_calls++ == heap.calls;
    if (*first) {
        heap.calls++;
        *call = (struct done){{a, b}, NOWHERE, 0, me->call, me->rank};
    } else if (strcmp(call->name, me->call) != 0 || call->arguments[0] != a || call->arguments[1] != b) {
        pf_shmem_die(me, "all PEs must call it with the same arguments; PE %d called %s%s", call->by,
                     call->name, strcmp(call->name, me->call) == 0 ? " with others" : " instead");
    }
    return call;
}

static void *address_of(const struct pf_shmem *me, size_t offset)
{
    return offset == NOWHERE ? NULL : me->segments[PF_SHMEM_HEAP].base + offset;
}

/* Before OpenSHMEM 1.2, PEs could ask for different lengths. The block gets the longest: what is
 * behind it is free, since no PE returns from the call before all have made it. */
static void lengthen(const struct pf_shmem *me, struct done *call, size_t length)
{
    static bool said;
    char site[256];
    if (!said)
        pf_warn(
            "PE %d: %s: %zu bytes, but PE %d asked for %zu: the specification demands the same size of all "
            "PEs since OpenSHMEM 1.2, and each gets the largest one; at %s",
            me->rank, me->call, length, call->by, call->length, pf_layer_site(me->site, site, sizeof site));
    said = true;
    if (length <= call->length || call->result == NOWHERE)
        return;
    if (!resize(me, block_at(call->result), length))
        pf_shmem_die(me, "no room for %zu bytes where PE %d has got %zu", length, call->by, call->length);
    call->length = length;
}

void *pf_shmem_heap_take(struct pf_shmem *me, size_t alignment, size_t length)
{
    bool first;
    struct done *call = next_call(me, alignment, 0, &first);
    if (!first && length != call->length)
        lengthen(me, call, length);
    if (first) {
        call->length = length;
        call->result = take(me, alignment, length);
        pf_shmem_debug(me, call->result == NOWHERE ? "no room for %zu bytes" : "%zu bytes at offset %zu",
                       length, call->result);
    }
    return address_of(me, call->result);
}

void *pf_shmem_malloc(struct pf_shmem *me, size_t alignment, size_t length)
{
    if (length == 0 || alignment == 0 || (alignment & (alignment - 1)))
        return NULL;
    void *address = pf_shmem_heap_take(me, alignment, length);
    pf_shmem_barrier_all(me);
    return address;
}

void *pf_shmem_calloc(struct pf_shmem *me, size_t count, size_t length)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, length, &bytes))
        bytes = SIZE_MAX / 2;
    if (bytes == 0)
        return NULL;
    void *address = pf_shmem_heap_take(me, sizeof(max_align_t), bytes);
    if (address)
        memset(address, 0, bytes);
    pf_shmem_barrier_all(me);
    return address;
}

static struct block *own_block(struct pf_shmem *me, const void *address)
{
    struct block *block = block_at((size_t)((const char *)address - me->segments[PF_SHMEM_HEAP].base));
    if (!block)
        pf_shmem_die(me, "%p is not from shmem_malloc, or has been freed", address);
    return block;
}

static void free_together(struct pf_shmem *me, void *address)
{
    bool first;
    next_call(me, (size_t)((char *)address - me->segments[PF_SHMEM_HEAP].base), 0, &first);
    if (!first)
        return;
    struct block *block = own_block(me, address);
    pf_shmem_debug(me, "%zu bytes at offset %zu given back", block->length, block->offset);
    block->used = false;
    join();
}

void pf_shmem_free(struct pf_shmem *me, void *address)
{
    if (!address)
        return;
    pf_shmem_barrier_all(me);
    free_together(me, address);
}

void *pf_shmem_realloc(struct pf_shmem *me, void *old, size_t length)
{
    if (!old)
        return pf_shmem_malloc(me, sizeof(max_align_t), length);
    if (length == 0) {
        pf_shmem_free(me, old);
        return NULL;
    }
    pf_shmem_barrier_all(me);
    struct block *block = own_block(me, old); /* the first PE may have changed its length */
    bool first;
    struct done *call = next_call(me, block->offset, length, &first);
    if (first)
        call->result = resize(me, block, length) ? block->offset : take(me, sizeof(max_align_t), length);
    void *address = address_of(me, call->result);
    bool moves = address && address != old;
    if (moves)
        memcpy(address, old, block->length < length ? block->length : length);
    pf_shmem_barrier_all(me);
    if (moves)
        free_together(me, old);
    return address;
}
