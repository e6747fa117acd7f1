/* SPDX-License-Identifier: BSD-3-Clause */
/* The calendar of the packet simulator's events. */
#include "lowlevel/network/packet/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
    CHILDREN = 4,       /* of a place in a heap */
    PER_SLOT = 2,       /* events that a slot should have */
    REACH = 2,          /* slots for each event: so far ahead most new ones are posted */
    FEWEST = 64,        /* fewer events need no slots */
    MEASUREMENT = 4096, /* events taken between two looks at the slots' length */
    FIRST_MEASUREMENT = 1024,
    FEW = 16, /* events that are sorted one by one */
    WORD = 64
};
#define LAST_SLOT 0x1p62 /* where counting ends */

struct pf_packet_event_node {
    struct pf_packet_event event;
    struct pf_packet_event_node *next;
};

/* ---- Heaps. */
/* Without branches, which nothing could predict. */
static inline bool is_before(const struct pf_packet_event *a, const struct pf_packet_event *b)
{
    return (a->date < b->date) | ((a->date == b->date) & (a->order < b->order));
}

/* Of `count` events from the first to the last child of a place: the earliest. */
static inline size_t first_child(const struct pf_packet_event *heap, size_t child, size_t count)
{
    size_t end = child + CHILDREN < count ? child + CHILDREN : count, first = child;
    for (size_t i = child + 1; i < end; i++)
        first = is_before(&heap[i], &heap[first]) ? i : first;
    return first;
}

/* Puts an event at the root, which is empty, or below. */
static __attribute__((noinline)) void sink(struct pf_packet_event_heap *heap, struct pf_packet_event event)
{
    struct pf_packet_event *events = heap->events;
    size_t place = 0, child;
    while ((child = CHILDREN * place + 1) < heap->count) {
        child = first_child(events, child, heap->count);
        if (!is_before(&events[child], &event))
            break;
        events[place] = events[child];
        place = child;
    }
    events[place] = event;
}

/* What is rare or long stands in functions of its own: the others then save no registers. */
static __attribute__((noinline)) void grow(struct pf_packet_event_heap *heap)
{
    heap->capacity = heap->capacity ? 2 * heap->capacity : 256;
    heap->events = pf_reallocarray(heap->events, heap->capacity, sizeof *heap->events);
}

static __attribute__((noinline)) void push(struct pf_packet_event_heap *heap, struct pf_packet_event event)
{
    if (heap->count == heap->capacity)
        grow(heap);
    size_t place = heap->count++;
    while (place > 0) {
        size_t parent = (place - 1) / CHILDREN;
        if (!is_before(&event, &heap->events[parent]))
            break;
        heap->events[place] = heap->events[parent];
        place = parent;
    }
    heap->events[place] = event;
}

/* The root has been taken: the last event fills its place. */
static inline void fill(struct pf_packet_event_heap *heap)
{
    heap->count--;
    if (heap->count > 0)
        sink(heap, heap->events[heap->count]);
}

/* ---- Sorted lists, from the last to the first. */
static int compare(const void *a, const void *b)
{
    return is_before(a, b) ? 1 : -1;
}

/* Few are sorted at once; for many sort() runs when all are there. */
static inline void insert(struct pf_packet_event_heap *list, struct pf_packet_event event)
{
    if (list->count == list->capacity)
        grow(list);
    size_t place = list->count++;
    while (place > 0 && list->count <= FEW && is_before(&list->events[place - 1], &event)) {
        list->events[place] = list->events[place - 1];
        place--;
    }
    list->events[place] = event;
}

static inline void sort(struct pf_packet_event_heap *list)
{
    if (__builtin_expect(list->count > FEW, 0))
        qsort(list->events, list->count, sizeof *list->events, compare);
}

/* ---- Slots. A later slot's events are later: both the product and its cutting off never fall. */
static inline int64_t slot_of(const struct pf_packet_events *events, double date)
{
    double slot = date * events->slots_per_second;
    return slot < LAST_SLOT ? (int64_t)slot : (int64_t)LAST_SLOT;
}

static inline void put(struct pf_packet_events *events, struct pf_packet_event event)
{
    int64_t slot = slot_of(events, event.date);
    if (slot <= events->slot) {
        push(&events->near, event);
    } else if (slot - events->slot < events->slot_count) {
        size_t place = (size_t)(slot & (events->slot_count - 1));
        struct pf_packet_event_node *node = pf_pool_get(&events->nodes);
        *node = (struct pf_packet_event_node){event, events->slots[place]};
        events->slots[place] = node;
        events->filled[place / WORD] |= UINT64_C(1) << place % WORD;
        events->listed++;
    } else {
        push(&events->far, event);
    }
}

/* What an event points to is needed soon. Numbers are no addresses. */
static inline void fetch(const struct pf_packet_event *event)
{
    if (event->what >> 32)
        __builtin_prefetch((void *)(event->what & ~(uintptr_t)7));
}

/* The present slot moves on, when nothing is in it: what is listed for another one and what of the far events
 * belongs to that is near now. */
static void go_to(struct pf_packet_events *events, int64_t slot)
{
    int64_t mask = events->slot_count - 1;
    size_t place = (size_t)(slot & mask);
    struct pf_packet_event_node *node =
        slot - events->slot < events->slot_count ? events->slots[place] : NULL;
    events->slot = slot;
    if (node) {
        events->slots[place] = NULL;
        events->filled[place / WORD] &= ~(UINT64_C(1) << place % WORD);
        __builtin_prefetch(events->slots[(slot + 1) & mask]);
        __builtin_prefetch(events->slots[(slot + 2) & mask]);
    }
    for (struct pf_packet_event_node *next; node; node = next) {
        next = node->next;
        fetch(&node->event);
        insert(&events->sorted, node->event);
        pf_pool_put(&events->nodes, node);
        events->listed--;
    }
    while (events->far.count > 0 && slot_of(events, events->far.events[0].date) <= slot) {
        insert(&events->sorted, events->far.events[0]);
        fill(&events->far);
    }
    sort(&events->sorted);
}

/* The next slot that has a list. There must be one. */
static int64_t next_listed(const struct pf_packet_events *events)
{
    size_t mask = (size_t)events->slot_count - 1, begin = (size_t)(events->slot + 1) & mask,
           word = begin / WORD;
    uint64_t bits = events->filled[word] & ~UINT64_C(0) << begin % WORD;
    while (!bits) {
        word = (word + 1) & (mask / WORD);
        bits = events->filled[word];
    }
    size_t place = word * WORD + (size_t)__builtin_ctzll(bits);
    return events->slot + 1 + (int64_t)((place - begin) & mask);
}

/* Nothing is near: goes to the next slot that has something. False: there is none. */
static __attribute__((noinline)) bool go_on(struct pf_packet_events *events)
{
    int64_t slot = INT64_MAX;
    if (events->listed == 0 && events->far.count == 0)
        return false;
    if (events->listed > 0)
        slot = next_listed(events);
    if (events->far.count > 0) {
        int64_t far = slot_of(events, events->far.events[0].date);
        slot = far < slot ? far : slot;
    }
    go_to(events, slot);
    return true;
}

static void move_all(struct pf_packet_event_heap *from, struct pf_packet_event_heap *to)
{
    for (size_t i = 0; i < from->count; i++)
        push(to, from->events[i]);
    from->count = 0;
}

/* All events get new slots. */
static void set_slots(struct pf_packet_events *events, size_t count, double per_second, double now)
{
    struct pf_packet_event_heap all = {0};
    if (events->hollow)
        fill(&events->near);
    events->hollow = false;
    move_all(&events->sorted, &all);
    move_all(&events->near, &all);
    move_all(&events->far, &all);
    for (int64_t place = 0; place < events->slot_count; place++)
        for (struct pf_packet_event_node *node = events->slots[place], *next; node; node = next) {
            next = node->next;
            push(&all, node->event);
            pf_pool_put(&events->nodes, node);
        }
    events->slots = pf_reallocarray(events->slots, count, sizeof *events->slots);
    events->filled = pf_reallocarray(events->filled, count / WORD, sizeof *events->filled);
    memset(events->slots, 0, count * sizeof *events->slots);
    memset(events->filled, 0, count / WORD * sizeof *events->filled);
    events->slot_count = (int64_t)count;
    events->slots_per_second = per_second;
    events->slot = slot_of(events, now);
    events->listed = 0;
    for (size_t i = 0; i < all.count; i++)
        put(events, all.events[i]);
    free(all.events);
}

/* Slots fit when they have some PER_SLOT events each, and reach so far that most new events are in one. */
static __attribute__((noinline)) void measure(struct pf_packet_events *events, double now)
{
    size_t open = events->sorted.count + events->near.count + events->listed + events->far.count;
    size_t count = WORD;
    size_t slots = (size_t)events->slot_count;
    double time = now - events->measured_date;
    double per_second = (double)(events->taken - events->measured_taken) / time / PER_SLOT;
    double ratio = per_second / events->slots_per_second;
    events->measured_taken = events->taken;
    events->measured_date = now;
    events->measure_at = events->taken + MEASUREMENT + open;
    while (count < REACH * open)
        count *= 2;
    if (open >= FEWEST && time > 0.0 && per_second < LAST_SLOT &&
        (ratio < 0.5 || ratio > 2.0 || REACH * open > 2 * slots || slots > 8 * REACH * open))
        set_slots(events, count, per_second, now);
}

void pf_packet_events_start(struct pf_packet_events *events)
{
    *events = (struct pf_packet_events){.nodes = PF_POOL(struct pf_packet_event_node),
                                        .measure_at = FIRST_MEASUREMENT};
}

void pf_packet_events_end(struct pf_packet_events *events)
{
    free(events->sorted.events);
    free(events->near.events);
    free(events->far.events);
    free(events->slots);
    free(events->filled);
    pf_pool_drain(&events->nodes);
}

void pf_packet_events_post(struct pf_packet_events *events, double date, bool late, uintptr_t what)
{
    struct pf_packet_event new = {date, events->posted++ | (uint64_t)late << 63, what};
    if (events->hollow && slot_of(events, date) <= events->slot) {
        events->hollow = false;
        sink(&events->near, new);
    } else {
        put(events, new);
    }
}

/* Brings the first one to its place when it is not in the sorted list alone. */
static __attribute__((noinline)) const struct pf_packet_event *find_first(struct pf_packet_events *events)
{
    const struct pf_packet_event_heap *sorted = &events->sorted, *near = &events->near;
    if (events->hollow)
        fill(&events->near);
    events->hollow = false;
    if (sorted->count == 0 && near->count == 0 && !go_on(events))
        return NULL;
    if (near->count == 0)
        return &sorted->events[sorted->count - 1];
    if (sorted->count == 0 || is_before(&near->events[0], &sorted->events[sorted->count - 1]))
        return &near->events[0];
    return &sorted->events[sorted->count - 1];
}

static inline const struct pf_packet_event *first_of(struct pf_packet_events *events)
{
    const struct pf_packet_event_heap *sorted = &events->sorted;
    if (events->near.count == 0 && sorted->count > 0)
        return &sorted->events[sorted->count - 1];
    return find_first(events);
}

const struct pf_packet_event *pf_packet_events_first(struct pf_packet_events *events)
{
    return first_of(events);
}

bool pf_packet_events_take(struct pf_packet_events *events, double until, struct pf_packet_event *event)
{
    const struct pf_packet_event *first = first_of(events);
    if (!first || first->date > until)
        return false;
    *event = *first;
    if (first == events->near.events) /* of the two places the one that is no list's */
        events->hollow = true;
    else
        events->sorted.count--;
    if (__builtin_expect(++events->taken >= events->measure_at, 0))
        measure(events, event->date);
    return true;
}
