/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "adapters/analytic/cost/routes/paths.h"
#include "adapters/analytic/cost/routes/route.h"
#include "base/memory.h"

/*
 * What nodes send to each other, from which follows what links carry: a message costs a few instructions. A
 * bounded table, as that of the paths: a pair that needs the place of another one hands that one out.
 */
struct pf_pairs {
    int nodes;
    pf_cost_carry_fn *carry;
    void *context;
    struct pf_pairs_entry {
        int64_t pair; /* plus 1; 0: empty */
        uint64_t messages;
        double bytes;
    } entry[];
};

/* The caller frees it. */
static inline struct pf_pairs *pf_pairs_new(int nodes, pf_cost_carry_fn *carry, void *context)
{
    struct pf_pairs *pairs =
        pf_calloc(1, sizeof *pairs + pf_cost_paths_places(nodes) * sizeof pairs->entry[0]);
    pairs->nodes = nodes;
    pairs->carry = carry;
    pairs->context = context;
    return pairs;
}

static inline void pf_pairs_hand_out(struct pf_pairs *pairs, struct pf_pairs_entry *entry)
{
    int src = (int)((entry->pair - 1) / pairs->nodes), dst = (int)((entry->pair - 1) % pairs->nodes);
    pairs->carry(pairs->context, src, dst, entry->messages, entry->bytes);
    *entry = (struct pf_pairs_entry){0};
}

static inline void pf_pairs_add(struct pf_pairs *pairs, int src, int dst, double bytes)
{
    struct pf_pairs_entry *entry = &pairs->entry[pf_cost_paths_place(pairs->nodes, src, dst)];
    int64_t pair = (int64_t)src * pairs->nodes + dst + 1;
    if (__builtin_expect(entry->pair != pair, 0)) {
        if (entry->pair)
            pf_pairs_hand_out(pairs, entry);
        entry->pair = pair;
    }
    entry->messages++;
    entry->bytes += bytes;
}
