/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps begins and ends of operations in a log, and sorts them by date. */
#include "lowlevel/trace/timeline.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "base/binary_heap.h"
#include "base/memory.h"
#include "base/pool.h"
#include "lowlevel/engine/engine.h"

/* ---- The log. */
/* Not so many that new memory would cost more than the rest does, and that nothing stays in the cache. */
enum { LOG_BYTES = 1 << 20 };

enum entry_kind { BEGIN, END, END_LATER, ADD, ARRIVED, ALTER };

struct entry {
    uint8_t kind, outcome;
    pf_trace_span span;
    double present; /* when it was written */
    double date;    /* of an end */
};
/* Of those kinds that have a record. */
struct long_entry {
    struct entry head;
    struct pf_trace_record record;
};

static char *logged;
static size_t logged_bytes;
static double now_or_later;          /* the latest date that was now */
static pf_trace_span *unused, spans; /* that have ended; the highest */
static pf_trace_span last_begun;     /* the last entry is its begin; 0: another one */
static uint32_t unused_count;
static bool over;

static double later(double a, double b)
{
    return a > b ? a : b;
}

static void *append(enum entry_kind kind, pf_trace_span span, size_t size)
{
    double now = pf_engine_now();
    if (!logged)
        logged = pf_malloc(LOG_BYTES);
    if (logged_bytes + size > LOG_BYTES)
        pf_timeline_work_off();
    now_or_later = later(now, now_or_later);
    struct entry *entry = (struct entry *)(void *)(logged + logged_bytes);
    last_begun = kind == BEGIN ? span : 0;
    *entry = (struct entry){.kind = (uint8_t)kind, .span = span, .present = now_or_later};
    return entry;
}

/* A signal before this finds the entry missing, and not half there. */
static void complete(size_t size)
{
    __atomic_signal_fence(__ATOMIC_RELEASE);
    logged_bytes += size;
}

static void append_record(enum entry_kind kind, pf_trace_span span, const struct pf_trace_record *what)
{
    struct long_entry *entry = append(kind, span, sizeof *entry);
    entry->record = *what;
    complete(sizeof *entry);
}

static void append_date(enum entry_kind kind, pf_trace_span span, double date, enum pf_trace_outcome outcome)
{
    struct entry *entry = append(kind, span, sizeof *entry);
    entry->date = date;
    entry->outcome = (uint8_t)outcome;
    complete(sizeof *entry);
}

/* From 1. Those that have ended are used again, so that what has begun has a place in a small array. */
static pf_trace_span new_span(void)
{
    if (unused_count > 0)
        return unused[--unused_count];
    if ((spans & (spans + 1)) == 0)
        unused = pf_reallocarray(unused, 2 * (size_t)spans + 2, sizeof *unused);
    return ++spans;
}

pf_trace_span pf_timeline_begin(const struct pf_trace_record *what)
{
    if (over)
        return 0;
    pf_trace_span span = new_span();
    append_record(BEGIN, span, what);
    return span;
}

void pf_timeline_end(pf_trace_span span, double date, enum pf_trace_outcome outcome)
{
    if (over || !span)
        return;
    append_date(END, span, date, outcome);
    unused[unused_count++] = span;
}

/* Most often there is no later entry than that of its begin, which goes then. */
void pf_timeline_end_later(pf_trace_span span, double date)
{
    if (over || !span)
        return;
    size_t before = logged_bytes - sizeof(struct long_entry);
    const struct long_entry *begin = (const struct long_entry *)(void *)(logged + before);
    if (last_begun == span && date <= later(begin->record.start, begin->head.present)) {
        logged_bytes = before;
        last_begun = 0;
    } else {
        append_date(END_LATER, span, date, PF_TRACE_DONE);
    }
    unused[unused_count++] = span;
}

void pf_timeline_add(const struct pf_trace_record *what)
{
    if (!over)
        append_record(ADD, 0, what);
}

void pf_timeline_arrived(pf_trace_span span)
{
    if (!over && span)
        append_date(ARRIVED, span, 0.0, PF_TRACE_DONE);
}

void pf_timeline_alter(pf_trace_span span, const struct pf_trace_record *what)
{
    if (!over && span)
        append_record(ALTER, span, what);
}

/* ---- Working the log off: begins and ends in the order of their dates. */
struct operation {
    struct pf_trace_record record;
    struct operation *prev, *next; /* among those that have not ended */
    bool begun;                    /* the formats have its begin */
    bool dropped;
};

struct item {
    double date;
    uint64_t order; /* ties: in the order of coming */
    struct operation *operation;
    bool is_end;
};

static struct pf_pool operations = PF_POOL(struct operation);
static struct operation *open_first, *open_last;
static struct operation **operation_of; /* by span */
static size_t operation_places;

static struct item *heap;
static size_t heap_count, heap_capacity;
static uint64_t orders;

static double present; /* of the log */
static double latest;  /* the latest date that went to the formats */
static bool working;

static void (*on_begin)(const struct pf_trace_record *);
static void (*on_end)(const struct pf_trace_record *);

void pf_timeline_start(void (*begin)(const struct pf_trace_record *),
                       void (*end)(const struct pf_trace_record *))
{
    on_begin = begin;
    on_end = end;
}

static double earlier(double a, double b)
{
    return a < b ? a : b;
}

static bool before(const struct item *a, const struct item *b)
{
    return a->date < b->date || (a->date == b->date && a->order < b->order);
}

static void push(double date, struct operation *operation, bool is_end)
{
    PF_ARRAY_ROOM(heap, heap_capacity, heap_count + 1);
    struct item item = {date, orders++, operation, is_end};
    PF_HEAP_PUT(heap, heap_count, item, before);
}

static struct item pop(void)
{
    struct item first = heap[0];
    PF_HEAP_DROP_FIRST(heap, heap_count, before);
    return first;
}

/* Of a dropped record there is a begin only. */
static void pass_on(const struct item *item)
{
    struct operation *operation = item->operation;
    latest = later(item->date, latest);
    operation->begun = true;
    if (!operation->dropped)
        (item->is_end ? on_end : on_begin)(&operation->record);
    if (operation->dropped || item->is_end)
        pf_pool_put(&operations, operation);
}

/* What is in the past cannot change any more. */
static void advance(double date)
{
    present = date;
    while (heap_count > 0 && heap[0].date < present) {
        struct item item = pop();
        pass_on(&item);
    }
}

static void link_open(struct operation *operation)
{
    operation->next = NULL;
    operation->prev = open_last;
    *(open_last ? &open_last->next : &open_first) = operation;
    open_last = operation;
}

static void unlink_open(struct operation *operation)
{
    *(operation->prev ? &operation->prev->next : &open_first) = operation->next;
    *(operation->next ? &operation->next->prev : &open_last) = operation->prev;
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
static int lane_places;

static struct lanes *lanes_of(const struct pf_trace_record *record)
{
    int place = pf_trace_node(record) * PF_TRACE_TRACK_COUNT + (int)record->track;
    PF_ARRAY_REACH(lanes, lane_places, place);
    return &lanes[place];
}

static void set_lane(struct lanes *all, int lane, double date)
{
    int place = all->count + lane;
    all->free_at[place] = date;
    while ((place /= 2) > 0)
        all->free_at[place] = earlier(all->free_at[2 * place], all->free_at[2 * place + 1]);
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

/* The clock of an actor may be behind the last event's date by rounding. */
static struct operation *begin(const struct pf_trace_record *what)
{
    struct operation *operation = pf_pool_get(&operations);
    struct pf_trace_record *record = &operation->record;
    *record = *what;
    operation->dropped = operation->begun = false;
    record->start = later(record->start, present);
    take_lane(record);
    link_open(operation);
    push(record->start, operation, false);
    return operation;
}

static void end(struct operation *operation, double date, enum pf_trace_outcome outcome)
{
    struct pf_trace_record *record = &operation->record;
    record->end = later(later(date, record->start), present);
    record->outcome = (uint8_t)outcome;
    free_lane(record);
    unlink_open(operation);
    push(record->end, operation, true);
}

static void drop(struct operation *operation)
{
    operation->record.end = operation->record.start;
    free_lane(&operation->record);
    unlink_open(operation);
    operation->dropped = true;
}

static void end_later(struct operation *operation, const struct entry *entry)
{
    if (!(entry->date > operation->record.start) && !operation->begun) {
        drop(operation);
        return;
    }
    advance(entry->present);
    end(operation, later(entry->date, operation->record.start), PF_TRACE_DONE);
}

static void alter(struct operation *operation, const struct pf_trace_record *what)
{
    if (operation->begun)
        return;
    operation->record.model = what->model;
    operation->record.phase = what->phase;
    operation->record.colour = what->colour;
}

/* Returns the bytes of the entry. */
static size_t work_off(const struct entry *entry)
{
    const struct pf_trace_record *record = &((const struct long_entry *)(const void *)entry)->record;
    struct operation **operation = &operation_of[entry->span];
    switch ((enum entry_kind)entry->kind) {
    case BEGIN:
        advance(entry->present);
        *operation = begin(record);
        return sizeof(struct long_entry);
    case ADD:
        advance(entry->present);
        end(begin(record), record->end, record->outcome);
        return sizeof(struct long_entry);
    case ALTER:
        alter(*operation, record);
        return sizeof(struct long_entry);
    case END:
        advance(entry->present);
        end(*operation, entry->date, entry->outcome);
        break;
    case END_LATER:
        end_later(*operation, entry);
        break;
    case ARRIVED:
        (*operation)->record.arrived = true;
        break;
    }
    return sizeof(struct entry);
}

/* Until the mask is set again, signals that end the run wait: half a trace would be left. Faults of our
 * own do not wait. */
static void hold_signals(sigset_t *kept)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_BLOCK, &all, kept);
}

void pf_timeline_work_off(void)
{
    sigset_t kept;
    if (logged_bytes == 0)
        return;
    hold_signals(&kept);
    working = true;
    PF_ARRAY_ROOM(operation_of, operation_places, spans + 1);
    for (size_t at = 0; at < logged_bytes;)
        at += work_off((const struct entry *)(const void *)(logged + at));
    logged_bytes = 0;
    last_begun = 0;
    working = false;
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
}

double pf_timeline_finish(void)
{
    sigset_t kept;
    over = true;
    if (working)
        return latest;
    hold_signals(&kept);
    pf_timeline_work_off();
    while (open_first) {
        struct operation *operation = open_first;
        end(operation, later(present, operation->record.start), PF_TRACE_UNFINISHED);
    }
    while (heap_count > 0) {
        struct item item = pop();
        pass_on(&item);
    }
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    return latest;
}
