/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap of the packet simulator's events. */
#include "lowlevel/network/packet/events.h"

#include "base/memory.h"

enum { CHILDREN = 4 };

static inline bool is_before(const struct pf_packet_event *a, const struct pf_packet_event *b)
{
    return a->date < b->date || (a->date == b->date && a->order < b->order);
}

/* Of `count` events from the first to the last child of a place: the earliest. */
static size_t first_child(const struct pf_packet_event *heap, size_t child, size_t count)
{
    size_t end = child + CHILDREN < count ? child + CHILDREN : count, first = child;
    for (size_t i = child + 1; i < end; i++)
        if (is_before(&heap[i], &heap[first]))
            first = i;
    return first;
}

/* Puts an event at the root of `count`, or below. */
static void sink(struct pf_packet_events *events, struct pf_packet_event event, size_t count)
{
    struct pf_packet_event *heap = events->heap;
    size_t place = 0, child;
    while ((child = CHILDREN * place + 1) < count) {
        child = first_child(heap, child, count);
        if (!is_before(&heap[child], &event))
            break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = event;
    events->hollow = false;
    __builtin_prefetch((void *)(heap[0].what & ~(uintptr_t)7)); /* often a packet, which is next */
}

static void rise(struct pf_packet_events *events, struct pf_packet_event event)
{
    size_t place = events->count;
    while (place > 0) {
        size_t parent = (place - 1) / CHILDREN;
        if (!is_before(&event, &events->heap[parent]))
            break;
        events->heap[place] = events->heap[parent];
        place = parent;
    }
    events->heap[place] = event;
}

void pf_packet_events_post(struct pf_packet_events *events, double date, bool late, uintptr_t what)
{
    struct pf_packet_event new = {date, events->posted++ | (uint64_t)late << 63, what};
    if (events->hollow) {
        sink(events, new, events->count + 1);
    } else {
        if (events->count == events->capacity) {
            events->capacity = events->capacity ? 2 * events->capacity : 256;
            events->heap = pf_reallocarray(events->heap, events->capacity, sizeof *events->heap);
        }
        rise(events, new);
    }
    events->count++;
}

const struct pf_packet_event *pf_packet_events_first(struct pf_packet_events *events)
{
    if (events->hollow && events->count > 0)
        sink(events, events->heap[events->count], events->count);
    events->hollow = false;
    return events->count ? &events->heap[0] : NULL;
}

struct pf_packet_event pf_packet_events_take(struct pf_packet_events *events)
{
    events->count--;
    events->hollow = true;
    return events->heap[0];
}

double pf_packet_events_date(const struct pf_packet_events *events)
{
    if (!events->count)
        return -1.0;
    return events->heap[events->hollow ? first_child(events->heap, 1, events->count + 1) : 0].date;
}
