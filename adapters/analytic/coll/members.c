/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all ways to evaluate a plan share: what a rank has received, and the queue of ranks that may go on: in
 * the order of their dates, so that NICs are asked in about that order. A heap.
 */
#include "adapters/analytic/coll/evaluate.h"

static inline double later(double a, double b)
{
    return a > b ? a : b;
}

void pf_evaluate_received(struct pf_member *m, const struct pf_cost_received *got, double combine)
{
    /* Where the processor's work is known, finding a message that came before its receive is none: it goes on
     * during the rank's own sends. */
    double start = got->work > 0 ? got->complete - got->work : later(got->arrival, m->clock);
    double end = got->complete + combine;
    m->busy += end - start;
    m->first = start < m->first ? start : m->first;
    m->last = later(m->last, end);
}

bool pf_evaluate_before(const struct pf_coll *coll, int a, int b)
{
    double x = coll->member[a].clock, y = coll->member[b].clock;
    return x < y || (x == y && a < b);
}

void pf_evaluate_put(struct pf_coll *coll, int rank)
{
    int slot = coll->queue_length++;
    for (; slot > 0 && pf_evaluate_before(coll, rank, coll->queue[(slot - 1) / 2]); slot = (slot - 1) / 2)
        coll->queue[slot] = coll->queue[(slot - 1) / 2];
    coll->queue[slot] = rank;
}

int pf_evaluate_first(struct pf_coll *coll)
{
    int *queue = coll->queue, first = queue[0], last = queue[--coll->queue_length], slot = 0;
    for (;;) {
        int child = 2 * slot + 1;
        if (child >= coll->queue_length)
            break;
        if (child + 1 < coll->queue_length && pf_evaluate_before(coll, queue[child + 1], queue[child]))
            child++;
        if (!pf_evaluate_before(coll, queue[child], last))
            break;
        queue[slot] = queue[child];
        slot = child;
    }
    queue[slot] = last;
    return first;
}
