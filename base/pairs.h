/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/pool.h"

/*
 * A pointer for each pair of numbers that has been asked for. The pairs of one first number with sixteen
 * second ones in a row have a block of two cache lines, and the blocks are in an open-addressing table, at
 * most half full: when all pairs exist, that is hardly more than the pointers. All zero at
 * first; entries stay where they are.
 */
enum { PF_PAIRS_BLOCK = 16 };

struct pf_pairs_place {
    uint64_t key;
    void **block; /* NULL: free */
};

struct pf_pairs {
    struct pf_pairs_place *places;
    int bits; /* of their number */
    size_t count;
    struct pf_lines blocks;
};

/* Keys are made of small numbers, each in bits of its own: all of them reach the high bits of the product. */
static inline struct pf_pairs_place *pf_pairs_find(const struct pf_pairs *pairs, uint64_t key)
{
    size_t mask = ((size_t)1 << pairs->bits) - 1;
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15ULL >> (64 - pairs->bits));
    while (pairs->places[at].block && pairs->places[at].key != key)
        at = (at + 1) & mask;
    return &pairs->places[at];
}

static inline void pf_pairs_grow(struct pf_pairs *pairs)
{
    enum { FIRST_BITS = 8 };
    struct pf_pairs old = *pairs;
    pairs->bits = old.places ? old.bits + 1 : FIRST_BITS;
    pairs->places = pf_calloc((size_t)1 << pairs->bits, sizeof *pairs->places);
    for (size_t i = 0; old.places && i < (size_t)1 << old.bits; i++)
        if (old.places[i].block)
            *pf_pairs_find(pairs, old.places[i].key) = old.places[i];
    free(old.places);
}

/* The pair's pointer, NULL at first. */
static inline void **pf_pairs_get(struct pf_pairs *pairs, uint64_t one, uint32_t other)
{
    uint64_t key = one << 32 | other / PF_PAIRS_BLOCK;
    struct pf_pairs_place *place = pairs->places ? pf_pairs_find(pairs, key) : NULL;
    if (__builtin_expect(!place || !place->block, 0)) {
        if (!place || 2 * (pairs->count + 1) > (size_t)1 << pairs->bits)
            pf_pairs_grow(pairs);
        place = pf_pairs_find(pairs, key);
        *place =
            (struct pf_pairs_place){key, pf_lines_get(&pairs->blocks, PF_PAIRS_BLOCK * sizeof *place->block)};
        pairs->count++;
    }
    return &place->block[other % PF_PAIRS_BLOCK];
}
