/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The last long messages into each NIC. Prices let one of them through after the other, which is right for
 * the last one; a real NIC shares its link among all, so that the earlier ones are through later than their
 * price. The sender of such a message looks, when its price has passed, at what has come since. A message
 * costs a few instructions, a look a step for each message that came since; memory is 2 KB per node that
 * receives.
 */
enum { PF_INFLOW_KEPT = 128 };

struct pf_inflow {
    uint32_t count;
    double work;  /* of the last long one */
    double until; /* when all of them are through */
    struct pf_inflow_message {
        double start, work; /* s: when its bytes begin to arrive, and their time on the link */
        bool whole;         /* a short one: those that share the link lose that time together */
    } last[PF_INFLOW_KEPT];
};

/* Adds a message, behind which the link is free at `until`; returns its number, from 1. */
static inline uint32_t pf_inflow_add(struct pf_inflow *inflow, double start, double work, double until)
{
    inflow->until = until > inflow->until ? until : inflow->until;
    inflow->last[inflow->count % PF_INFLOW_KEPT] = (struct pf_inflow_message){start, work, false};
    return ++inflow->count;
}

/* Likewise a short message, for which the others lose the link. */
static inline void pf_inflow_add_short(struct pf_inflow *inflow, double start, double work, double until)
{
    uint32_t number = pf_inflow_add(inflow, start, work, until);
    inflow->last[(number - 1) % PF_INFLOW_KEPT].whole = true;
}

/* How much later than at `end` message `number` is through, with `work` of its own: each message that was
 * priced since has taken as much of the link as it had to get when this one began, and at most as much as
 * this one still had to get when that one began. Until then this one shares the link with those for which it
 * has waited and with those that have come since. */
static inline double pf_inflow_late(const struct pf_inflow *inflow, uint32_t number, double work, double end)
{
    bool kept = inflow->count - number < PF_INFLOW_KEPT;
    double start = kept ? inflow->last[(number - 1) % PF_INFLOW_KEPT].start : end - work;
    double at = start, late = 0, left = work, sharers = work > 0 && end > at ? (end - at) / work : 1;
    for (uint32_t i = kept ? number : inflow->count - PF_INFLOW_KEPT; i < inflow->count; i++) {
        const struct pf_inflow_message *other = &inflow->last[i % PF_INFLOW_KEPT];
        double takes = other->start < start ? other->work - (start - other->start) : other->work;
        if (other->start >= end + late || takes <= 0)
            continue;
        if (other->start > at) {
            left -= (other->start - at) / sharers;
            at = other->start;
        }
        if (other->whole) {
            late += takes / (sharers > 1 ? sharers : 1);
            continue;
        }
        takes = takes < left ? takes : left;
        late += takes > 0 ? takes : 0;
        sharers++;
    }
    return end + late <= inflow->until ? late : inflow->until > end ? inflow->until - end : 0;
}
