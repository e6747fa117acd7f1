/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts begins and ends of operations by date. */
#include "lowlevel/trace/timeline.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/pool.h"
#include "lowlevel/engine/engine.h"

struct item {
    double date;
    uint64_t order; /* ties: in the order of coming */
    struct pf_trace_record *record;
    bool is_end;
};

static struct pf_pool records = PF_POOL(struct pf_trace_record);
static struct pf_trace_record *open_first, *open_last;

static struct item *heap; /* from 1 */
static size_t heap_count, heap_capacity;
static uint64_t orders;

static double present; /* the latest date that was now */
static double latest;  /* the latest date that went to the formats */
static bool working;
static bool over;

static void (*on_begin)(const struct pf_trace_record *);
static void (*on_end)(const struct pf_trace_record *);

void pf_timeline_start(void (*begin)(const struct pf_trace_record *),
                       void (*end)(const struct pf_trace_record *))
{
    on_begin = begin;
    on_end = end;
}

static bool before(const struct item *a, const struct item *b)
{
    return a->date < b->date || (a->date == b->date && a->order < b->order);
}

static void push(double date, struct pf_trace_record *record, bool is_end)
{
    if (heap_count + 2 > heap_capacity) {
        heap_capacity = heap_capacity ? 2 * heap_capacity : 256;
        heap = pf_realloc(heap, heap_capacity * sizeof *heap);
    }
    struct item item = {date, orders++, record, is_end};
    size_t slot = ++heap_count;
    for (; slot > 1 && before(&item, &heap[slot / 2]); slot /= 2)
        heap[slot] = heap[slot / 2];
    heap[slot] = item;
}

static struct item pop(void)
{
    struct item first = heap[1], last = heap[heap_count--];
    size_t slot = 1;
    for (size_t child; (child = 2 * slot) <= heap_count; slot = child) {
        if (child < heap_count && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &last))
            break;
        heap[slot] = heap[child];
    }
    heap[slot] = last;
    return first;
}

/* Of a dropped record there is a begin only. */
static void pass_on(const struct item *item)
{
    struct pf_trace_record *record = item->record;
    if (item->date > latest)
        latest = item->date;
    record->begun = true;
    if (!record->dropped)
        (item->is_end ? on_end : on_begin)(record);
    if (record->dropped || item->is_end)
        pf_pool_put(&records, record);
}

/* What is in the past cannot change any more. */
static void advance(void)
{
    double now = pf_engine_now();
    if (now > present)
        present = now;
    while (heap_count > 0 && heap[1].date < present) {
        struct item item = pop();
        pass_on(&item);
    }
}

/* The clock of an actor may be behind the last event's date by rounding. */
static double not_past(double date)
{
    return date > present ? date : present;
}

static void link_open(struct pf_trace_record *record)
{
    record->next = NULL;
    record->prev = open_last;
    *(open_last ? &open_last->next : &open_first) = record;
    open_last = record;
}

static void unlink_open(struct pf_trace_record *record)
{
    *(record->prev ? &record->prev->next : &open_first) = record->next;
    *(record->next ? &record->next->prev : &open_last) = record->prev;
}

/*
 * Lanes: the first one of the node's track that is free by the time. Those that end at an unknown date are
 * busy for ever until they do. In a tree, each place has the earlier date of the two below it, so that the
 * first free one of many is found in a few steps.
 */
struct lanes {
    double *free_at; /* from 1; lane i at count + i */
    int count;       /* a power of two */
};
static struct lanes *lanes; /* by node and track */
static int lane_nodes;

static struct lanes *lanes_of(const struct pf_trace_record *record)
{
    int node = pf_trace_node(record);
    if (node >= lane_nodes) {
        int wanted = 2 * node + 16;
        lanes = pf_realloc(lanes, (size_t)wanted * PF_TRACE_TRACK_COUNT * sizeof *lanes);
        for (int i = lane_nodes * PF_TRACE_TRACK_COUNT; i < wanted * PF_TRACE_TRACK_COUNT; i++)
            lanes[i] = (struct lanes){NULL, 0};
        lane_nodes = wanted;
    }
    return &lanes[node * PF_TRACE_TRACK_COUNT + (int)record->track];
}

static void set_lane(struct lanes *all, int lane, double date)
{
    int place = all->count + lane;
    all->free_at[place] = date;
    while ((place /= 2) > 0)
        all->free_at[place] = fmin(all->free_at[2 * place], all->free_at[2 * place + 1]);
}

/* Twice as many; the new ones have always been free. */
static void add_lanes(struct lanes *all)
{
    struct lanes more = {.count = all->count ? 2 * all->count : 1};
    more.free_at = pf_calloc(2 * (size_t)more.count, sizeof(double));
    for (int i = 0; i < more.count; i++)
        set_lane(&more, i, i < all->count ? all->free_at[all->count + i] : -INFINITY);
    free(all->free_at);
    *all = more;
}

static void take_lane(struct pf_trace_record *record)
{
    if (record->track == PF_TRACE_RANK)
        return; /* a rank does one thing at a time */
    struct lanes *all = lanes_of(record);
    if (all->count == 0 || all->free_at[1] > record->start)
        add_lanes(all);
    int place = 1;
    while (place < all->count)
        place = 2 * place + (all->free_at[2 * place] > record->start);
    record->lane = place - all->count;
    set_lane(all, record->lane, INFINITY);
}

static void free_lane(const struct pf_trace_record *record)
{
    if (record->track != PF_TRACE_RANK)
        set_lane(lanes_of(record), record->lane, record->end);
}

struct pf_trace_record *pf_timeline_begin(const struct pf_trace_record *what)
{
    static struct pf_trace_record nowhere;
    if (over)
        return &nowhere;
    working = true;
    advance();
    struct pf_trace_record *record = pf_pool_get(&records);
    *record = *what;
    record->dropped = record->begun = false;
    record->start = not_past(record->start);
    take_lane(record);
    link_open(record);
    push(record->start, record, false);
    working = false;
    return record;
}

void pf_timeline_end(struct pf_trace_record *record, double date, enum pf_trace_outcome outcome)
{
    if (over)
        return;
    working = true;
    advance();
    record->end = not_past(date > record->start ? date : record->start);
    record->outcome = outcome;
    free_lane(record);
    unlink_open(record);
    push(record->end, record, true);
    working = false;
}

void pf_timeline_add(const struct pf_trace_record *what)
{
    pf_timeline_end(pf_timeline_begin(what), what->end, what->outcome);
}

void pf_timeline_drop(struct pf_trace_record *record)
{
    if (over)
        return;
    if (record->begun) { /* the formats have its begin */
        pf_timeline_end(record, record->start, PF_TRACE_DONE);
        return;
    }
    record->end = record->start;
    free_lane(record);
    unlink_open(record);
    record->dropped = true;
}

double pf_timeline_finish(void)
{
    over = true;
    if (working)
        return latest;
    while (open_first) {
        struct pf_trace_record *record = open_first;
        record->end = present > record->start ? present : record->start;
        record->outcome = PF_TRACE_UNFINISHED;
        unlink_open(record);
        push(record->end, record, true);
    }
    while (heap_count > 0) {
        struct item item = pop();
        pass_on(&item);
    }
    return latest;
}
