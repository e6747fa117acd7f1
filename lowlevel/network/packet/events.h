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
    bool hollow;     /* the first one has been taken, and its place waits for the next that is posted */
    uint64_t posted; /* since the beginning */
};

/* `late`: after all events of the same date that are not. */
void pf_packet_events_post(struct pf_packet_events *events, double date, bool late, uintptr_t what);

/* The first one, NULL without one; posting and taking make the pointer invalid. */
const struct pf_packet_event *pf_packet_events_first(struct pf_packet_events *events);

/* Takes the first one away. There must be one, and pf_packet_events_first() has said so. */
struct pf_packet_event pf_packet_events_take(struct pf_packet_events *events);

/* The date of the first one; negative without one. */
double pf_packet_events_date(const struct pf_packet_events *events);

#endif
