/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap of the packet simulator's events. */
#include "lowlevel/network/packet/events.h"

#include "base/memory.h"

enum { CHILDREN = 4 };

static inline bool is_before(const struct pf_packet_event *a, const struct pf_packet_event *b)
{
    return a->date < b->date || (a->date == b->date && a->order < b->order);
}

void pf_packet_events_post(struct pf_packet_events *events, double date, bool late, uintptr_t what)
{
    if (events->count == events->capacity) {
        events->capacity = events->capacity ? 2 * events->capacity : 256;
        events->heap = pf_reallocarray(events->heap, events->capacity, sizeof *events->heap);
    }
    struct pf_packet_event new = {date, events->posted++ | (uint64_t)late << 63, what};
    size_t place = events->count++;
    while (place > 0) {
        size_t parent = (place - 1) / CHILDREN;
        if (!is_before(&new, &events->heap[parent]))
            break;
        events->heap[place] = events->heap[parent];
        place = parent;
    }
    events->heap[place] = new;
}

static size_t first_child(const struct pf_packet_events *events, size_t child)
{
    size_t end = child + CHILDREN, first = child;
    if (end > events->count)
        end = events->count;
    for (size_t i = child + 1; i < end; i++)
        if (is_before(&events->heap[i], &events->heap[first]))
            first = i;
    return first;
}

struct pf_packet_event pf_packet_events_take(struct pf_packet_events *events)
{
    struct pf_packet_event taken = events->heap[0], last = events->heap[--events->count];
    size_t place = 0, child;
    while ((child = CHILDREN * place + 1) < events->count) {
        child = first_child(events, child);
        if (!is_before(&events->heap[child], &last))
            break;
        events->heap[place] = events->heap[child];
        place = child;
    }
    if (events->count > 0)
        events->heap[place] = last;
    return taken;
}
