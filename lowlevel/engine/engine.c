/* SPDX-License-Identifier: BSD-3-Clause */
/* Posts, moves and runs events, and parks and wakes ranks. */
#include "lowlevel/engine/engine.h"

#include <math.h>

#include <simgrid/engine.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/engine/heap.h"
#include "lowlevel/simgrid/private.h"

static const double before_all = -1;
struct pf_engine_state pf_engine_state = {.clock = &before_all};

static struct pf_heap pending;
static uint64_t orders; /* ties are broken by the order of posting */

static struct pf_waiter *wake_first;
static struct pf_waiter **wake_last = &wake_first;
static double wake_date; /* when the queued waiters have to run */

static struct {
    struct pf_waiter *waiter;
    double date, precision;
} alarm_clock = {.date = INFINITY};

static struct pf_heap workers;       /* timers of actors that work, by the date at which they have done it */
static uint64_t stops;               /* of SimGrid's clock */
static const double accuracy = 1e-9; /* s: SimGrid takes dates that are nearer for equal */

static struct pf_engine_place series_end; /* of the events that run without a look at SimGrid */

/* SimGrid adds differences to its clock, so the clock may miss an event's date by rounding. */
static inline double with_tolerance(double clock)
{
    return clock + fabs(clock) * 1e-15;
}

void pf_engine_start(void)
{
    static bool started;
    if (started)
        return;
    started = true;
    pf_config_load();
    pf_engine_bind();
    if (&pf_simgrid_clock)
        pf_engine_state.clock = &pf_simgrid_clock;
}

static void no_hook(void)
{
}

static void (*return_hook)(void) = no_hook;

void pf_engine_set_return_hook(void (*hook)(void))
{
    return_hook = hook ? hook : no_hook;
}

double pf_engine_clock(void)
{
    return &pf_simgrid_clock ? pf_simgrid_clock : simgrid_get_clock();
}

double pf_engine_actor_now(void)
{
    double current = pf_engine_state.date;
    double clock = pf_engine_clock();
    return clock > current ? clock : (with_tolerance(clock) >= current ? current : clock);
}

static void leave(struct pf_event *event);

static void set_place(struct pf_event *event, double date, uint64_t order)
{
    bool again = event->slot != 0;
    if (again)
        leave(event);
    double now = pf_engine_now();
    if (__builtin_expect(pf_chain_on, 0))
        pf_chain_posted(event, again, now);
    event->date = date > now ? date : now;
    event->order = order;
}

static void set_date(struct pf_event *event, double date)
{
    set_place(event, date, orders++);
}

void pf_engine_post(struct pf_event *event, double date)
{
    set_date(event, date);
    event->fifo = NULL;
    pf_heap_insert(&pending, event);
}

void pf_engine_post_at(struct pf_event *event, struct pf_engine_place place)
{
    set_place(event, place.date, place.turn);
    event->fifo = NULL;
    pf_heap_insert(&pending, event);
}

uint64_t pf_engine_next_turn(void)
{
    return orders;
}

void pf_engine_set_next_turn(uint64_t turn)
{
    orders = turn;
}

struct pf_engine_place pf_engine_first_place(void)
{
    const struct pf_event *first = pf_heap_first(&pending);
    return first ? (struct pf_engine_place){first->date, first->order}
                 : (struct pf_engine_place){INFINITY, UINT64_MAX};
}

/* Actors that have been woken run before any other event. */
struct pf_engine_place pf_engine_horizon(void)
{
    struct pf_engine_place first = pf_engine_first_place();
    if (wake_first)
        return (struct pf_engine_place){pf_engine_state.date, 0};
    return pf_engine_is_before(first, series_end) ? first : series_end;
}

void pf_engine_set_date(double date)
{
    pf_engine_state.date = date;
    pf_engine_state.inside = true;
}

void pf_engine_post_in(struct pf_event_fifo *fifo, struct pf_event *event, double date)
{
    set_date(event, date);
    event->fifo = NULL;
    if (fifo->last && event->date < fifo->last->date) {
        pf_heap_insert(&pending, event);
        return;
    }
    event->fifo = fifo;
    event->next = NULL;
    if (fifo->last) {
        fifo->last->next = event;
        event->slot = PF_EVENT_IN_FIFO;
    } else {
        fifo->first = event;
        pf_heap_insert(&pending, event);
    }
    fifo->last = event;
}

/* Thousands of messages do not fit into the nearer caches: fetches what the next change of a fifo reads. */
static inline void fetch(const struct pf_event *event)
{
    enum { LINE = 64, LINES_AFTER = 3 };
    if (!event)
        return;
    const char *at = (const char *)event;
    for (int i = -1; i <= LINES_AFTER; i++)
        __builtin_prefetch(at + (ptrdiff_t)i * LINE);
}

/* The first of a fifo leaves the heap, where its successor takes its place. */
static void leave_fifo(struct pf_event *event)
{
    struct pf_event_fifo *fifo = event->fifo;
    fifo->first = event->next;
    if (!fifo->first) {
        fifo->last = NULL;
        pf_heap_remove(&pending, event);
        return;
    }
    fetch(fifo->first->next);
    pf_heap_replace(&pending, event, fifo->first);
}

/* Rare: an event inside a fifo is looked for. */
static void cancel_in_fifo(struct pf_event *event)
{
    struct pf_event_fifo *fifo = event->fifo;
    struct pf_event *before = fifo->first;
    while (before->next != event)
        before = before->next;
    before->next = event->next;
    if (fifo->last == event)
        fifo->last = before;
    event->slot = 0;
}

static void leave(struct pf_event *event)
{
    if (!event->fifo)
        pf_heap_remove(&pending, event);
    else if (event->slot == PF_EVENT_IN_FIFO)
        cancel_in_fifo(event);
    else
        leave_fifo(event);
}

void pf_engine_cancel(struct pf_event *event)
{
    if (!event->slot)
        return;
    leave(event);
    if (__builtin_expect(pf_chain_on, 0))
        pf_chain_drop(&event->path);
}

static void run_event(struct pf_event *event)
{
    if (event->fifo)
        leave_fifo(event);
    else
        pf_heap_remove(&pending, event);
    pf_engine_state.date = event->date;
    pf_engine_state.inside = true;
    if (__builtin_expect(pf_chain_on, 0))
        pf_chain_runs(event);
    event->fn(event);
    pf_engine_state.inside = false;
}

void pf_engine_run_first(void)
{
    run_event(pf_heap_first(&pending));
    pf_engine_state.inside = true;
}

static void release_wakes(void)
{
    while (wake_first) {
        struct pf_waiter *waiter = wake_first;
        wake_first = waiter->next;
        if (!wake_first)
            wake_last = &wake_first;
        waiter->queued = false;
        waiter->parked = false; /* needs no second wake-up at this date */
        pf_waiter_release(waiter);
    }
}

static double next_date(double clock)
{
    if (wake_first)
        return wake_date > clock ? wake_date - clock : 0.0;
    struct pf_event *first = pf_heap_first(&pending);
    if (!first)
        return -1.0;
    return first->date > clock ? first->date - clock : 0.0;
}

/*
 * How far away the next date is at which SimGrid must stop for us, -1 when there is none. Called when SimGrid
 * stands at `clock`.
 */
double pf_engine_next_date(double clock)
{
    return pf_engine_live_actors() == 0 ? -1.0 : next_date(clock);
}

/*
 * Executes events before `limit`, the date of the next thing that SimGrid knows of (infinite when there is
 * none), until one wakes an actor: up to there no actor can see that SimGrid's clock stands still. Then the
 * same answer as above.
 */
double pf_engine_run_ahead(double clock, double limit)
{
    if (pf_engine_live_actors() == 0)
        return -1.0;
    struct pf_event *first;
    series_end = (struct pf_engine_place){limit, 0};
    while (!wake_first && (first = pf_heap_first(&pending)) && first->date < limit)
        run_event(first);
    return_hook();
    return next_date(clock);
}

static void release(struct pf_waiter *waiter)
{
    waiter->parked = false;
    pf_waiter_release(waiter);
}

static void release_workers(double clock)
{
    struct pf_event *first;
    while ((first = pf_heap_first(&workers)) && first->date - clock < accuracy) {
        pf_heap_remove(&workers, first);
        release(pf_container_of(first, struct pf_waiter, timer));
    }
}

/* SimGrid's clock has moved to `clock`: everything up to there happens now. */
void pf_engine_run_until(double clock)
{
    if (!(clock < INFINITY)) /* nothing would ever come after it */
        pf_die("simulated time is infinite: a model has computed a wrong date; please report the program and "
               "its "
               "options");
    double limit = with_tolerance(clock);
    stops++;
    if (wake_first && wake_date <= limit)
        release_wakes();
    struct pf_event *first;
    series_end = (struct pf_engine_place){limit, UINT64_MAX};
    while ((first = pf_heap_first(&pending)) && first->date <= limit) {
        run_event(first);
        release_wakes();
    }
    if (alarm_clock.date - clock < alarm_clock.precision && alarm_clock.waiter->parked)
        release(alarm_clock.waiter);
    release_workers(clock);
    return_hook();
}

void pf_engine_set_alarm(struct pf_waiter *waiter, double date, double precision)
{
    alarm_clock.waiter = waiter;
    alarm_clock.date = date;
    alarm_clock.precision = precision;
}

double pf_engine_until_alarm(double clock)
{
    const struct pf_event *first = pf_heap_first(&workers);
    double date = first ? fmin(first->date, alarm_clock.date) : alarm_clock.date;
    return date > clock ? date - clock : 0.0;
}

void pf_waiter_init(struct pf_waiter *waiter)
{
    *waiter = (struct pf_waiter){.semaphore = pf_waiter_needs_semaphore() ? sg_sem_init(0) : NULL};
}

void pf_waiter_destroy(struct pf_waiter *waiter)
{
    pf_engine_cancel(&waiter->timer);
    if (waiter->semaphore)
        sg_sem_destroy(waiter->semaphore);
    waiter->semaphore = NULL;
}

static __attribute__((noinline)) void block_on_path(struct pf_waiter *waiter)
{
    pf_chain_drop(&waiter->path);
    pf_chain_parks();
    pf_waiter_block(waiter);
    pf_chain_resumes(&waiter->path);
}

void pf_waiter_park(struct pf_waiter *waiter)
{
    waiter->timed_out = false;
    waiter->parked = true;
    if (__builtin_expect(pf_chain_on, 0) && !waiter->knows_why)
        block_on_path(waiter);
    else
        pf_waiter_block(waiter);
}

static void timer_rings(struct pf_event *event)
{
    struct pf_waiter *waiter = pf_container_of(event, struct pf_waiter, timer);
    if (waiter->parked && !waiter->queued)
        waiter->timed_out = true;
    pf_waiter_wake(waiter);
}

bool pf_waiter_park_until(struct pf_waiter *waiter, double date)
{
    pf_event_init(&waiter->timer, timer_rings);
    pf_engine_post(&waiter->timer, date);
    pf_waiter_park(waiter);
    pf_engine_cancel(&waiter->timer);
    return !waiter->timed_out;
}

static void wake_from_actor(struct pf_event *event)
{
    (void)event; /* running it is enough: the queue is released after every event */
}

void pf_waiter_wake(struct pf_waiter *waiter)
{
    static struct pf_event nudge = {.fn = wake_from_actor};
    if (!waiter->parked || waiter->queued)
        return;
    waiter->queued = true;
    if (__builtin_expect(pf_chain_on, 0) && !waiter->knows_why)
        waiter->path = pf_chain_copy();
    waiter->next = NULL;
    if (!wake_first)
        wake_date = pf_engine_now();
    *wake_last = waiter;
    wake_last = &waiter->next;
    if (!pf_engine_inside() && !nudge.slot)
        pf_engine_post(&nudge, pf_engine_now());
}

/* As SimGrid has it, of those that end at the same date and began at one stop the last comes first. */
static uint64_t worker_order(void)
{
    enum { BITS = 24 }; /* for the ranks that begin at one stop */
    static uint64_t stop, left;
    left = stop == stops && left > 0 ? left - 1 : ((uint64_t)1 << BITS) - 1;
    stop = stops;
    return stop << BITS | left;
}

/* As sg_actor_sleep_for(), at a fraction of its price and without a need for SimGrid's whole rounds. One that
 * is killed meanwhile keeps its waiter. */
static void work(double seconds)
{
    static struct pf_waiter *spare;
    struct pf_waiter *waiter = spare;
    if (!waiter) {
        waiter = pf_malloc(sizeof *waiter);
        pf_waiter_init(waiter);
        waiter->knows_why = true;
    } else {
        spare = waiter->next;
    }
    pf_event_init(&waiter->timer, NULL);
    waiter->timer.date = pf_engine_clock() + seconds;
    waiter->timer.order = worker_order();
    pf_heap_insert(&workers, &waiter->timer);
    pf_waiter_park(waiter);
    waiter->next = spare;
    spare = waiter;
}

void pf_engine_pay(double *owed, double seconds)
{
    *owed += seconds;
    if (*owed < accuracy)
        return;
    seconds = *owed;
    *owed = 0;
    work(seconds);
}
