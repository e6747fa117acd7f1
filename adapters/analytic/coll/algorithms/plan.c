/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts that every plan is made of: its stages, and how a vector is cut into blocks and segments. */
#include "adapters/analytic/coll/algorithms/schedule.h"

struct pf_stage *pf_plan_add(struct pf_plan *plan, pf_stage_at *at, int rounds)
{
    struct pf_stage *stage = &plan->stage[plan->stages++];
    int n = plan->call.n, steps = pf_log2((unsigned)n);
    *stage = (struct pf_stage){
        .at = at,
        .rounds = rounds,
        .fan = 2,
        .root = plan->call.root,
        .segment = plan->total,
        .segments = 1,
        .power = 1 << steps,
        .extra = n - (1 << steps),
        .steps = steps,
        .bytes = plan->total,
    };
    return stage;
}

void pf_stage_cut(const struct pf_plan *plan, struct pf_stage *stage, size_t segment)
{
    stage->segment = stage->bytes;
    stage->segments = 1;
    if (segment < plan->element || segment >= stage->bytes)
        return;
    size_t elements = segment / plan->element, rest = segment - elements * plan->element;
    stage->segment = (elements + (rest > plan->element / 2)) * plan->element;
    stage->segments = (int)((stage->bytes + stage->segment - 1) / stage->segment);
}

size_t pf_plan_counts(const struct pf_coll_call *call)
{
    size_t total = 0;
    for (int r = 0; r < call->n; r++)
        total += call->counts[r];
    return total;
}

size_t pf_plan_blocks(const struct pf_plan *plan, int first, int count)
{
    int n = plan->call.n, last = first + count;
    if (!plan->start)
        return (size_t)count * plan->call.bytes;
    if (last <= n)
        return plan->start[last] - plan->start[first];
    return plan->start[n] - plan->start[first] + plan->start[last - n];
}

size_t pf_plan_even(const struct pf_plan *plan, size_t bytes, int parts, int i)
{
    size_t elements = bytes / plan->element, whole = elements / (size_t)parts,
           rest = elements % (size_t)parts;
    return ((size_t)i * whole + ((size_t)i < rest ? (size_t)i : rest)) * plan->element;
}

struct pf_doubling pf_doubling_find(int n, int v, int round, int rounds)
{
    int step = 0, begin = 0;
    while (begin + step + 1 <= round)
        begin += ++step;
    for (; round < rounds; round++) {
        if (round > begin + step)
            begin += ++step;
        int mask = 1 << step, own = v & ~(mask - 1), other = own ^ mask, partners = n - other;
        if (round == begin) {
            if ((v ^ mask) < n)
                return (struct pf_doubling){round, true, true, false, v ^ mask, own, mask};
            continue;
        }
        /* `other` is the part of the highest ranks: its partners have received, the rest of `own` has not. */
        if (other < own || partners <= 0 || partners >= mask)
            continue;
        int half = mask >> (round - begin), peer = v ^ half, end = (v & ~(2 * half - 1)) + partners;
        if ((v < end) != (peer < end))
            return (struct pf_doubling){round, v < end, v >= end, true, peer, other, mask};
    }
    return (struct pf_doubling){.round = rounds};
}
