/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"

/*
 * The packet simulator's own events, in the order of (date, early before late, order of posting). An event
 * cannot be cancelled; its poster ignores it when it is obsolete.
 *
 * A calendar (Brown, "Calendar queues: a fast O(1) priority queue implementation for the simulation event set
 * problem", 1988): time is cut into slots of equal length. The events of the present slot are in a small
 * heap, those of the next slots in lists without order, and what is later than these in another heap. Slots
 * are so long that a few events are in each; this is measured now and then. No order depends on it.
 */
struct pf_packet_event {
    double date;
    uint64_t order;
    uintptr_t what; /* a pointer, whose lowest bits say what it points to (sim.c) */
};

struct pf_packet_event_heap { /* or a sorted list, the first one at its end */
    struct pf_packet_event *events;
    size_t count, capacity;
};

struct pf_packet_event_node; /* of a list */

struct pf_packet_events {
    struct pf_packet_event_heap sorted; /* were in the present slot when it became that */
    struct pf_packet_event_heap near;   /* have been posted into it since then */
    bool hollow;     /* the first of these has been taken, and its place waits for the next that is posted */
    uint64_t posted; /* since the beginning */

    struct pf_packet_event_heap far;
    struct pf_packet_event_node **slots; /* of number n: [n % slot_count] */
    uint64_t *filled;                    /* bit per slot: it has a list */
    int64_t slot_count;                  /* 0: everything is near */
    int64_t slot;                        /* the present one */
    double slots_per_second;
    size_t listed; /* events in lists */
    struct pf_pool nodes;

    uint64_t taken, measured_taken, measure_at; /* up to now; at the last measurement; at the next */
    double measured_date;
};

void pf_packet_events_start(struct pf_packet_events *events);
/* Frees what it has. */
void pf_packet_events_end(struct pf_packet_events *events);

/* `late`: after all events of the same date that are not. */
void pf_packet_events_post(struct pf_packet_events *events, double date, bool late, uintptr_t what);

/* The first one, NULL without one; posting and taking make the pointer invalid. */
const struct pf_packet_event *pf_packet_events_first(struct pf_packet_events *events);

/* Takes the first one away, if it is not later than a date; else false. */
bool pf_packet_events_take(struct pf_packet_events *events, double until, struct pf_packet_event *event);
