/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of ranks that can continue, in the order of their dates, so that messages are priced in about
 * that order. A heap.
 */
#include "adapters/analytic/coll/evaluate/evaluate.h"

void pf_evaluate_put(struct pf_coll *coll, int rank)
{
    int slot = coll->queue_length++;
    coll->member[rank].turn = coll->member[rank].clock;
    for (; slot > 0 && pf_evaluate_before(coll, rank, coll->queue[(slot - 1) / 2]); slot = (slot - 1) / 2)
        coll->queue[slot] = coll->queue[(slot - 1) / 2];
    coll->queue[slot] = rank;
}

void pf_evaluate_replace_first(struct pf_coll *coll, int rank)
{
    int *queue = coll->queue, length = coll->queue_length, slot = 0;
    for (;;) {
        int child = 2 * slot + 1;
        if (child >= length)
            break;
        if (child + 1 < length && pf_evaluate_before(coll, queue[child + 1], queue[child]))
            child++;
        if (!pf_evaluate_before(coll, queue[child], rank))
            break;
        queue[slot] = queue[child];
        slot = child;
    }
    queue[slot] = rank;
}

int pf_evaluate_first(struct pf_coll *coll)
{
    int first = coll->queue[0], last = coll->queue[--coll->queue_length];
    if (coll->queue_length)
        pf_evaluate_replace_first(coll, last);
    return first;
}
