/* SPDX-License-Identifier: BSD-3-Clause */
/* The pending events by date. */
#include "lowlevel/engine/heap.h"

#include <stdlib.h>
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
__extension__ typedef unsigned __int128 pf_key;

static pf_key *keys; /* by leaf; free leaves are later than everything */
static struct pf_event **events;
static uint32_t *winners; /* node i is above 2i and 2i + 1; leaf l is node leaves + l */
static uint32_t *unused;  /* leaves, the next one to use last */
static uint32_t leaves;   /* a power of two */
static uint32_t size;

static struct pf_event *first; /* stands aside: earlier than all leaves; or NULL */
static pf_key first_key;
#define ASIDE (PF_EVENT_IN_FIFO - 1) /* its slot */

static const pf_key never = ~(pf_key)0;

static inline pf_key key_of(const struct pf_event *event)
{
    double date = event->date + 0.0; /* no negative zero */
    uint64_t bits;
    memcpy(&bits, &date, sizeof bits);
    return (pf_key)bits << 64 | event->order;
}

/* A leaf has changed. Nodes that did not name it, and do not name it now, are as they were. */
static void replay(uint32_t leaf)
{
    uint32_t best = leaf;
    pf_key key = keys[leaf];
    for (uint32_t node = leaves + leaf; node > 1;) {
        uint32_t rival = winners[node ^ 1];
        bool loses = keys[rival] < key;
        key = loses ? keys[rival] : key;
        best = loses ? rival : best;
        node /= 2;
        if (best != leaf && winners[node] != leaf)
            return;
        winners[node] = best;
    }
}

static void *resize(void *array, size_t bytes)
{
    void *bigger = pf_realloc(array, bytes);
    return bigger;
}

/* Twice as many leaves; events keep theirs. */
static void grow(void)
{
    uint32_t old = leaves;
    uint32_t wanted = old ? 2 * old : 8; /* few stages make few events: each level costs time */
    keys = resize(keys, wanted * sizeof *keys);
    events = resize(events, wanted * sizeof(struct pf_event *));
    winners = resize(winners, 2 * (size_t)wanted * sizeof *winners);
    unused = resize(unused, wanted * sizeof *unused);
    leaves = wanted;
    for (uint32_t leaf = wanted; leaf-- > old;) {
        keys[leaf] = never;
        unused[wanted - 1 - leaf] = leaf;
    }
    for (uint32_t leaf = 0; leaf < wanted; leaf++)
        winners[wanted + leaf] = leaf;
    for (uint32_t node = wanted; --node > 0;)
        winners[node] =
            keys[winners[2 * node]] < keys[winners[2 * node + 1]] ? winners[2 * node] : winners[2 * node + 1];
}

static void occupy(uint32_t leaf, struct pf_event *event, pf_key key)
{
    keys[leaf] = key;
    events[leaf] = event;
    event->slot = leaf + 1;
    replay(leaf);
}

static void insert(struct pf_event *event, pf_key key)
{
    if (size == leaves)
        grow();
    occupy(unused[leaves - 1 - size++], event, key);
}

struct pf_event *pf_heap_first(void)
{
    return first || size == 0 ? first : events[winners[1]];
}

size_t pf_heap_size(void)
{
    return size + (first != NULL);
}

void pf_heap_insert(struct pf_event *event)
{
    pf_key key = key_of(event);
    if (first ? key > first_key : size > 0 && key > keys[winners[1]]) {
        insert(event, key);
        return;
    }
    if (first)
        insert(first, first_key);
    first = event;
    first_key = key;
    event->slot = ASIDE;
}

void pf_heap_remove(struct pf_event *event)
{
    uint32_t leaf = event->slot - 1;
    event->slot = 0;
    if (event == first) {
        first = NULL;
        return;
    }
    keys[leaf] = never;
    replay(leaf);
    unused[leaves - size--] = leaf;
}

void pf_heap_replace(struct pf_event *event, struct pf_event *successor)
{
    if (event == first) {
        pf_heap_remove(event);
        pf_heap_insert(successor);
        return;
    }
    uint32_t leaf = event->slot - 1;
    event->slot = 0;
    occupy(leaf, successor, key_of(successor));
}
