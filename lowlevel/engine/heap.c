/* SPDX-License-Identifier: BSD-3-Clause */
#include "lowlevel/engine/heap.h"

#include <stdlib.h>

#include "base/log.h"

/*
 * A four-way heap: fewer levels than a binary one and the keys of siblings share cache lines. The key is
 * stored beside the pointer, so comparisons do not touch the events.
 */
#define ARITY 4

struct entry {
    double date;
    uint64_t order;
    struct pf_event *event;
};

static struct entry *heap;
static uint32_t size;
static uint32_t capacity;

static inline bool before(const struct entry *a, const struct entry *b)
{
    return a->date < b->date || (a->date == b->date && a->order < b->order);
}

static inline void place(uint32_t index, const struct entry *entry)
{
    heap[index] = *entry;
    entry->event->slot = index + 1;
}

static void sift_up(uint32_t index, struct entry entry)
{
    while (index > 0) {
        uint32_t parent = (index - 1) / ARITY;
        if (!before(&entry, &heap[parent]))
            break;
        place(index, &heap[parent]);
        index = parent;
    }
    place(index, &entry);
}

static void sift_down(uint32_t index, struct entry entry)
{
    for (;;) {
        uint32_t first = index * ARITY + 1;
        if (first >= size)
            break;
        uint32_t last = first + ARITY < size ? first + ARITY : size;
        uint32_t best = first;
        for (uint32_t child = first + 1; child < last; child++)
            if (before(&heap[child], &heap[best]))
                best = child;
        if (!before(&heap[best], &entry))
            break;
        place(index, &heap[best]);
        index = best;
    }
    place(index, &entry);
}

struct pf_event *pf_heap_first(void)
{
    return size ? heap[0].event : NULL;
}

size_t pf_heap_size(void)
{
    return size;
}

void pf_heap_insert(struct pf_event *event)
{
    if (size == capacity) {
        capacity = capacity ? 2 * capacity : 1024;
        heap = realloc(heap, capacity * sizeof *heap);
        if (!heap)
            pf_die("out of memory for %u simulation events", capacity);
    }
    struct entry entry = {event->date, event->order, event};
    sift_up(size++, entry);
}

void pf_heap_remove(struct pf_event *event)
{
    uint32_t index = event->slot - 1;
    event->slot = 0;
    struct entry last = heap[--size];
    if (index == size)
        return;
    if (index > 0 && before(&last, &heap[(index - 1) / ARITY]))
        sift_up(index, last);
    else
        sift_down(index, last);
}

void pf_heap_replace(struct pf_event *event, struct pf_event *successor)
{
    uint32_t index = event->slot - 1;
    event->slot = 0;
    struct entry entry = {successor->date, successor->order, successor};
    sift_down(index, entry);
}
