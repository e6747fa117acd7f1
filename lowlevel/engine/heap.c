/* SPDX-License-Identifier: BSD-3-Clause */
/* Pending events by date. */
#include "lowlevel/engine/heap.h"

#include <string.h>

#include "base/memory.h"

/*
 * A tournament: every event has a leaf, and every inner node names the leaf of the earlier of its two sides.
 * A leaf that changes is compared with one other per level, a heap would compare with all children; and
 * events stay where they are, so that only those that come or go are touched.
 *
 * The first event stands aside if it was posted as the first: often it is the only one, or the next to run.
 *
 * The key is one number, the date before the order of posting: dates are not negative, so they compare like
 * their bits. Comparing needs no branch, which no processor could predict.
 */
#define ASIDE (PF_EVENT_IN_FIFO - 1) /* slot of the first event */

static const pf_heap_key never = ~(pf_heap_key)0;

static inline pf_heap_key key_of(const struct pf_event *event)
{
    double date = event->date + 0.0; /* no negative zero */
    uint64_t bits;
    memcpy(&bits, &date, sizeof bits);
    return (pf_heap_key)bits << 64 | event->order;
}

/* A leaf has changed. Nodes that did not name it, and do not name it now, are as they were. */
static void replay(struct pf_heap *heap, uint32_t leaf)
{
    uint32_t best = leaf;
    pf_heap_key key = heap->keys[leaf];
    for (uint32_t node = heap->leaves + leaf; node > 1;) {
        uint32_t rival = heap->winners[node ^ 1];
        bool loses = heap->keys[rival] < key;
        key = loses ? heap->keys[rival] : key;
        best = loses ? rival : best;
        node /= 2;
        if (best != leaf && heap->winners[node] != leaf)
            return;
        heap->winners[node] = best;
    }
}

static void *resize(void *array, size_t bytes)
{
    void *bigger = pf_realloc(array, bytes);
    return bigger;
}

/* Twice as many leaves; events keep theirs. */
static void grow(struct pf_heap *heap)
{
    uint32_t old = heap->leaves;
    uint32_t wanted = old ? 2 * old : 8; /* few stages make few events: each level costs time */
    heap->keys = resize(heap->keys, wanted * sizeof *heap->keys);
    heap->events = resize(heap->events, wanted * sizeof(struct pf_event *));
    heap->winners = resize(heap->winners, 2 * (size_t)wanted * sizeof *heap->winners);
    heap->unused = resize(heap->unused, wanted * sizeof *heap->unused);
    heap->leaves = wanted;
    for (uint32_t leaf = wanted; leaf-- > old;) {
        heap->keys[leaf] = never;
        heap->unused[wanted - 1 - leaf] = leaf;
    }
    for (uint32_t leaf = 0; leaf < wanted; leaf++)
        heap->winners[wanted + leaf] = leaf;
    for (uint32_t node = wanted; --node > 0;)
        heap->winners[node] = heap->keys[heap->winners[2 * node]] < heap->keys[heap->winners[2 * node + 1]]
                                  ? heap->winners[2 * node]
                                  : heap->winners[2 * node + 1];
}

static void occupy(struct pf_heap *heap, uint32_t leaf, struct pf_event *event, pf_heap_key key)
{
    heap->keys[leaf] = key;
    heap->events[leaf] = event;
    event->slot = leaf + 1;
    replay(heap, leaf);
}

static void insert(struct pf_heap *heap, struct pf_event *event, pf_heap_key key)
{
    if (heap->size == heap->leaves)
        grow(heap);
    occupy(heap, heap->unused[heap->leaves - 1 - heap->size++], event, key);
}

struct pf_event *pf_heap_first(const struct pf_heap *heap)
{
    return heap->first || heap->size == 0 ? heap->first : heap->events[heap->winners[1]];
}

size_t pf_heap_size(const struct pf_heap *heap)
{
    return heap->size + (heap->first != NULL);
}

void pf_heap_insert(struct pf_heap *heap, struct pf_event *event)
{
    pf_heap_key key = key_of(event);
    if (heap->first ? key > heap->first_key : heap->size > 0 && key > heap->keys[heap->winners[1]]) {
        insert(heap, event, key);
        return;
    }
    if (heap->first)
        insert(heap, heap->first, heap->first_key);
    heap->first = event;
    heap->first_key = key;
    event->slot = ASIDE;
}

void pf_heap_remove(struct pf_heap *heap, struct pf_event *event)
{
    uint32_t leaf = event->slot - 1;
    event->slot = 0;
    if (event == heap->first) {
        heap->first = NULL;
        return;
    }
    heap->keys[leaf] = never;
    replay(heap, leaf);
    heap->unused[heap->leaves - heap->size--] = leaf;
}

void pf_heap_replace(struct pf_heap *heap, struct pf_event *event, struct pf_event *successor)
{
    if (event == heap->first) {
        pf_heap_remove(heap, event);
        pf_heap_insert(heap, successor);
        return;
    }
    uint32_t leaf = event->slot - 1;
    event->slot = 0;
    occupy(heap, leaf, successor, key_of(successor));
}
