/* SPDX-License-Identifier: BSD-3-Clause */
/* Matching by source, tag and age: one queue, and lanes by source and by tag once it is long. */
#include "adapters/envelope.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { BY_SOURCE, BY_TAG };

/* From this length on a queue has lanes. */
#define LONG 32

/* Those with a wildcard have a lane of their own. */
static struct pf_envelope_list *lane_of(const struct pf_envelope_queue *queue, int by, int value)
{
    uint32_t lane = ((uint32_t)value * 0x9e3779b1U) >> (32 - queue->lane_bits);
    bool any = value == (by == BY_TAG ? PF_ENVELOPE_ANY_TAG : PF_ENVELOPE_ANY_SOURCE);
    return &queue->lanes[by][any ? 1U << queue->lane_bits : lane];
}

static struct pf_envelope_list *lane_with(const struct pf_envelope_queue *queue, int by,
                                          const struct pf_envelope *envelope)
{
    return lane_of(queue, by, by == BY_TAG ? envelope->tag : envelope->source);
}

static void lane_insert(struct pf_envelope_list *lane, int by, struct pf_envelope *envelope)
{
    struct pf_envelope *before = lane->last;
    while (before && before->order > envelope->order)
        before = before->lane[by].prev;
    envelope->lane[by].prev = before;
    envelope->lane[by].next = before ? before->lane[by].next : lane->first;
    *(before ? &before->lane[by].next : &lane->first) = envelope;
    *(envelope->lane[by].next ? &envelope->lane[by].next->lane[by].prev : &lane->last) = envelope;
}

static void lane_remove(struct pf_envelope_list *lane, int by, struct pf_envelope *envelope)
{
    struct pf_envelope *prev = envelope->lane[by].prev, *next = envelope->lane[by].next;
    *(prev ? &prev->lane[by].next : &lane->first) = next;
    *(next ? &next->lane[by].prev : &lane->last) = prev;
}

/* As many as there are two envelopes for. */
static void make_lanes(struct pf_envelope_queue *queue)
{
    queue->lane_bits = queue->lane_bits ? queue->lane_bits + 1 : 5;
    size_t lanes = ((size_t)1 << queue->lane_bits) + 1;
    free(queue->lanes[0]);
    queue->lanes[BY_SOURCE] = pf_calloc(2 * lanes, sizeof *queue->lanes[0]);
    queue->lanes[BY_TAG] = queue->lanes[BY_SOURCE] + lanes;
    for (struct pf_envelope *e = queue->all.first; e; e = e->next)
        for (int by = BY_SOURCE; by <= BY_TAG; by++)
            lane_insert(lane_with(queue, by, e), by, e);
}

void pf_envelope_insert(struct pf_envelope_queue *queue, struct pf_envelope *envelope)
{
    struct pf_envelope *before = queue->all.last;
    while (before && before->order > envelope->order)
        before = before->prev;
    envelope->prev = before;
    envelope->next = before ? before->next : queue->all.first;
    *(before ? &before->next : &queue->all.first) = envelope;
    *(envelope->next ? &envelope->next->prev : &queue->all.last) = envelope;
    queue->count++;
    if (queue->count > LONG && queue->count > 2 << queue->lane_bits)
        make_lanes(queue);
    else if (queue->lane_bits)
        for (int by = BY_SOURCE; by <= BY_TAG; by++)
            lane_insert(lane_with(queue, by, envelope), by, envelope);
}

void pf_envelope_remove(struct pf_envelope_queue *queue, struct pf_envelope *envelope)
{
    *(envelope->prev ? &envelope->prev->next : &queue->all.first) = envelope->next;
    *(envelope->next ? &envelope->next->prev : &queue->all.last) = envelope->prev;
    queue->count--;
    for (int by = BY_SOURCE; queue->lane_bits && by <= BY_TAG; by++)
        lane_remove(lane_with(queue, by, envelope), by, envelope);
}

static bool equal(int a, int b, int any)
{
    return a == b || a == any || b == any;
}

/* Two sides of a message, at most one with wildcards. */
static bool match(const struct pf_envelope *e, int source, int tag)
{
    return equal(e->source, source, PF_ENVELOPE_ANY_SOURCE) && equal(e->tag, tag, PF_ENVELOPE_ANY_TAG);
}

/* Two lanes, one after the other by age: one of a value, one of those with the wildcard. */
struct walk {
    int by;
    struct pf_envelope *own, *any;
};

static struct walk begin(const struct pf_envelope_queue *queue, int by, int value)
{
    return (struct walk){by, lane_of(queue, by, value)->first,
                         queue->lanes[by][1U << queue->lane_bits].first};
}

static struct pf_envelope *next(struct walk *walk)
{
    struct pf_envelope **from =
        walk->own && (!walk->any || walk->own->order < walk->any->order) ? &walk->own : &walk->any;
    struct pf_envelope *e = *from;
    *from = e ? e->lane[walk->by].next : NULL;
    return e;
}

static struct pf_envelope *first_of_all(const struct pf_envelope_queue *queue, int source, int tag)
{
    struct pf_envelope *e = queue->all.first;
    while (e && !match(e, source, tag))
        e = e->next;
    return e;
}

/* It stands in the lanes of its source and in those of its tag: whichever way is shorter finds it. */
struct pf_envelope *pf_envelope_find(const struct pf_envelope_queue *queue, int source, int tag)
{
    bool any_source = source == PF_ENVELOPE_ANY_SOURCE, any_tag = tag == PF_ENVELOPE_ANY_TAG;
    if (!queue->lane_bits || (any_source && any_tag))
        return first_of_all(queue, source, tag);
    struct walk sources = begin(queue, BY_SOURCE, source), tags = begin(queue, BY_TAG, tag);
    for (;;) {
        struct pf_envelope *e;
        if (!any_source && (!(e = next(&sources)) || match(e, source, tag)))
            return e;
        if (!any_tag && (!(e = next(&tags)) || match(e, source, tag)))
            return e;
    }
}

struct pf_envelope *pf_envelope_last_of(const struct pf_envelope_queue *queue, int source)
{
    bool lanes = queue->lane_bits;
    struct pf_envelope *e = lanes ? lane_of(queue, BY_SOURCE, source)->last : queue->all.last;
    while (e && e->source != source)
        e = lanes ? e->lane[BY_SOURCE].prev : e->prev;
    return e;
}

void pf_envelope_queue_clear(struct pf_envelope_queue *queue, void (*release)(struct pf_envelope *))
{
    struct pf_envelope *next_one;
    for (struct pf_envelope *e = queue->all.first; e; e = next_one) {
        next_one = e->next;
        release(e);
    }
    free(queue->lanes[0]);
    memset(queue, 0, sizeof *queue);
}
