/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/*
 * What waits for a counter, by threshold and then by age: a pairing heap, linked through its elements. Adding
 * takes one comparison in whatever order thresholds come, taking the first O(log n) on average over all.
 */
struct ptl_trigger_node {
    struct ptl_trigger_node *child, *sibling;
    uint64_t threshold; /* set by the caller */
    uint64_t age;
};

/* All zeros: an empty queue. */
struct ptl_trigger_queue {
    struct ptl_trigger_node *first; /* the next one to fire, NULL when there is none */
    uint64_t next_age;
};

void ptl_trigger_queue_add(struct ptl_trigger_queue *queue, struct ptl_trigger_node *node);
/* Takes the first one out and returns it; the queue must not be empty. */
struct ptl_trigger_node *ptl_trigger_queue_take(struct ptl_trigger_queue *queue);
