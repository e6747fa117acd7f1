/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_PACKET_EVENTS_H
#define PF_PACKET_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The packet simulator's own events: a heap of four children per place, ordered by (date, early before late,
 * order of posting). An event cannot be taken back; who posted it ignores it when it has been overtaken.
 */
struct pf_packet_event {
    double date;
    uint64_t order;
    uintptr_t what; /* a pointer, whose lowest bits say what it points to (sim.c) */
};

struct pf_packet_events {
    struct pf_packet_event *heap;
    size_t count, capacity;
    uint64_t posted; /* since the beginning */
};

/* `late`: after all events of the same date that are not. */
void pf_packet_events_post(struct pf_packet_events *events, double date, bool late, uintptr_t what);

/* Takes the first one away. There must be one. */
struct pf_packet_event pf_packet_events_take(struct pf_packet_events *events);

/* The date of the first one; negative without one. */
static inline double pf_packet_events_date(const struct pf_packet_events *events)
{
    return events->count ? events->heap[0].date : -1.0;
}

#endif
