/* SPDX-License-Identifier: BSD-3-Clause */
/* Matching by source, tag and age: one queue, and lists per source once it is long. */
#include "adapters/envelope.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* From this length on a queue has lists, and never more than MOST_LANES. */
#define LONG       32
#define MOST_LANES 256

static struct pf_envelope_list *list_of(const struct pf_envelope_queue *queue, int source)
{
    return &queue->lists[source >= 0 ? source & queue->mask : queue->mask + 1];
}

static void list_insert(const struct pf_envelope_queue *queue, struct pf_envelope *envelope)
{
    struct pf_envelope_list *list = list_of(queue, envelope->source);
    struct pf_envelope *before = list->last;
    while (before && before->order > envelope->order)
        before = before->list_prev;
    envelope->list_prev = before;
    envelope->list_next = before ? before->list_next : list->first;
    *(before ? &before->list_next : &list->first) = envelope;
    *(envelope->list_next ? &envelope->list_next->list_prev : &list->last) = envelope;
}

static void list_remove(const struct pf_envelope_queue *queue, struct pf_envelope *envelope)
{
    struct pf_envelope_list *list = list_of(queue, envelope->source);
    *(envelope->list_prev ? &envelope->list_prev->list_next : &list->first) = envelope->list_next;
    *(envelope->list_next ? &envelope->list_next->list_prev : &list->last) = envelope->list_prev;
}

static void make_lists(struct pf_envelope_queue *queue, int sources)
{
    int count = 1;
    while (count < sources && count < MOST_LANES)
        count *= 2;
    queue->mask = count - 1;
    queue->lists = pf_calloc((size_t)count + 1, sizeof *queue->lists);
    for (struct pf_envelope *e = queue->all.first; e; e = e->next)
        list_insert(queue, e);
}

void pf_envelope_insert(struct pf_envelope_queue *queue, struct pf_envelope *envelope, int sources)
{
    struct pf_envelope *before = queue->all.last;
    while (before && before->order > envelope->order)
        before = before->prev;
    envelope->prev = before;
    envelope->next = before ? before->next : queue->all.first;
    *(before ? &before->next : &queue->all.first) = envelope;
    *(envelope->next ? &envelope->next->prev : &queue->all.last) = envelope;
    queue->count++;
    if (queue->lists)
        list_insert(queue, envelope);
    else if (queue->count > LONG)
        make_lists(queue, sources);
}

void pf_envelope_remove(struct pf_envelope_queue *queue, struct pf_envelope *envelope)
{
    *(envelope->prev ? &envelope->prev->next : &queue->all.first) = envelope->next;
    *(envelope->next ? &envelope->next->prev : &queue->all.last) = envelope->prev;
    queue->count--;
    if (queue->lists)
        list_remove(queue, envelope);
}

struct pf_envelope *pf_envelope_find_send(const struct pf_envelope_queue *queue, int source, int tag)
{
    if (queue->lists && source >= 0) {
        struct pf_envelope *e = list_of(queue, source)->first;
        while (e && (e->source != source || (tag != PF_ENVELOPE_ANY_TAG && e->tag != tag)))
            e = e->list_next;
        return e;
    }
    struct pf_envelope *e = queue->all.first;
    while (e && ((source >= 0 && e->source != source) || (tag != PF_ENVELOPE_ANY_TAG && e->tag != tag)))
        e = e->next;
    return e;
}

struct pf_envelope *pf_envelope_last_of(const struct pf_envelope_queue *queue, int source)
{
    struct pf_envelope *e = queue->lists ? list_of(queue, source)->last : queue->all.last;
    while (e && e->source != source)
        e = queue->lists ? e->list_prev : e->prev;
    return e;
}

static bool takes(const struct pf_envelope *receive, int source, int tag)
{
    return (receive->source == source || receive->source == PF_ENVELOPE_ANY_SOURCE) &&
           (receive->tag == tag || receive->tag == PF_ENVELOPE_ANY_TAG);
}

static struct pf_envelope *first_in_list(struct pf_envelope *e, int source, int tag)
{
    while (e && !takes(e, source, tag))
        e = e->list_next;
    return e;
}

struct pf_envelope *pf_envelope_find_receive(const struct pf_envelope_queue *queue, int source, int tag)
{
    if (!queue->lists) {
        struct pf_envelope *e = queue->all.first;
        while (e && !takes(e, source, tag))
            e = e->next;
        return e;
    }
    struct pf_envelope *exact = first_in_list(list_of(queue, source)->first, source, tag);
    struct pf_envelope *any = first_in_list(list_of(queue, PF_ENVELOPE_ANY_SOURCE)->first, source, tag);
    return exact && (!any || exact->order < any->order) ? exact : any;
}

void pf_envelope_queue_clear(struct pf_envelope_queue *queue, void (*release)(struct pf_envelope *))
{
    struct pf_envelope *next;
    for (struct pf_envelope *e = queue->all.first; e; e = next) {
        next = e->next;
        release(e);
    }
    free(queue->lists);
    memset(queue, 0, sizeof *queue);
}
