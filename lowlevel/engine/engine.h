/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <simgrid/semaphore.h>

#include "base/export.h"
#include "lowlevel/engine/chain.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Events of our own inside SimGrid's clock: a heap ordered by (date, order of posting), behind a kernel model
 * that gives SimGrid the date of our next event. Events are intrusive: the caller embeds a pf_event
 * and finds its own structure with pf_container_of. Event functions run as SimGrid's maestro, though perhaps
 * in the stack of a rank that has parked: they must not block and must not start SimGrid activities. Ranks
 * post without a simcall (all actors share one thread).
 */
struct pf_event_fifo;

struct pf_event {
    double date;
    uint64_t order;
    void (*fn)(struct pf_event *event);
    struct pf_event *next; /* in its fifo */
    struct pf_event_fifo *fifo;
    struct pf_chain *path; /* why it will run, while it is pending; NULL unless paths are followed */
    uint32_t slot;         /* place in the heap; PF_EVENT_IN_FIFO behind another one; 0 when not pending */
    bool knows_why;        /* needs no path, because what it does follows them itself */
};

#define PF_EVENT_IN_FIFO UINT32_MAX

/*
 * Events that are mostly posted in the order of their dates, such as the messages behind each other in one
 * stage of a pipeline: only the first of them is in the heap. All zeros at the beginning.
 */
struct pf_event_fifo {
    struct pf_event *first, *last;
};

#define pf_container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* Makes the engine known to SimGrid. Idempotent; from a rank. Costs no simulated time. */
PF_EXPORT void pf_engine_start(void);

/* What event functions ask all the time. */
struct pf_engine_state {
    double date;         /* of the running or of the last event */
    const double *clock; /* SimGrid's; before every date where that is not exported */
    bool inside;         /* an event function is running */
};
PF_EXPORT extern struct pf_engine_state pf_engine_state;
PF_EXPORT double pf_engine_actor_now(void);

/* simgrid_get_clock(), for what asks often. */
PF_EXPORT double pf_engine_clock(void);

/* True in an event function. */
static inline bool pf_engine_inside(void)
{
    return pf_engine_state.inside;
}

/* The simulated date in s: that of the running event in an event function, SimGrid's clock in an actor. */
static inline double pf_engine_now(void)
{
    const struct pf_engine_state *state = &pf_engine_state;
    if (state->inside)
        return state->date;
    double clock = *state->clock;
    return __builtin_expect(clock >= state->date, 1) ? clock : pf_engine_actor_now();
}

/* The calling actor works for so many seconds: at once, or, what is `owed` then, later, while that is less
 * than SimGrid's accuracy of dates (1e-9 s), below which it warns. */
PF_EXPORT void pf_engine_pay(double *owed, double seconds);

static inline void pf_event_init(struct pf_event *event, void (*fn)(struct pf_event *))
{
    event->fn = fn;
    event->path = NULL;
    event->slot = 0;
    event->knows_why = false;
}

static inline bool pf_event_pending(const struct pf_event *event)
{
    return event->slot != 0;
}

/* Schedules the event; one that is pending already moves. A date in the past means now. */
PF_EXPORT void pf_engine_post(struct pf_event *event, double date);

/* The same, cheaper when nothing in the fifo is later than the event. The order of execution is that of
 * pf_engine_post() in any case. */
PF_EXPORT void pf_engine_post_in(struct pf_event_fifo *fifo, struct pf_event *event, double date);

/* Removes the event when it is pending. */
PF_EXPORT void pf_engine_cancel(struct pf_event *event);

/* `hook` runs in SimGrid's maestro at each step of the simulation, before SimGrid asks for our next event. It
 * may only post events for the current date. One at a time; NULL ends it. For conditions without a signal. */
PF_EXPORT void pf_engine_set_step_hook(void (*hook)(void));

/* `hook` runs after a series of events, before an actor can run. One at a time; NULL ends it. */
PF_EXPORT void pf_engine_set_return_hook(void (*hook)(void));

/*
 * The place of an event among all others: by its date, then by its turn, a number that is given out at each
 * posting. Two processes that hand the next turn to each other, and each of which runs its own events while
 * they come before the first of the other's, run them in the order of one (network/external).
 */
struct pf_engine_place {
    double date;
    uint64_t turn;
};

static inline bool pf_engine_is_before(struct pf_engine_place a, struct pf_engine_place b)
{
    return a.date < b.date || (a.date == b.date && a.turn < b.turn);
}

/* The turn that the next posting gets, and the order to go on from another one. */
PF_EXPORT uint64_t pf_engine_next_turn(void);
PF_EXPORT void pf_engine_set_next_turn(uint64_t turn);

/* Schedules the event at a place, which is not before now; one that is pending already moves. */
PF_EXPORT void pf_engine_post_at(struct pf_event *event, struct pf_engine_place place);

/* In an event function: before which place nothing runs but what this event function posts. */
PF_EXPORT struct pf_engine_place pf_engine_horizon(void);

/*
 * Without SimGrid, for a process whose clock is another's: the place of the first pending event (infinite:
 * none), running it, and the date at which functions that are called between events are.
 */
PF_EXPORT struct pf_engine_place pf_engine_first_place(void);
PF_EXPORT void pf_engine_run_first(void);
PF_EXPORT void pf_engine_set_date(double date);

/*
 * One blocked actor. The structure lives as long as the actor may be parked on it; the same waiter is used by
 * one actor at a time.
 */
struct pf_waiter {
    sg_sem_t semaphore;    /* NULL: SimGrid's own calls resume the actor */
    void *actor, *context; /* whose it is */
    struct pf_event timer;
    struct pf_chain *path;  /* of what has woken it */
    struct pf_waiter *next; /* in the list of those to wake */
    bool parked;
    bool queued;
    bool timed_out;
    bool knows_why; /* what parks on it follows the paths itself */
};

PF_EXPORT void pf_waiter_init(struct pf_waiter *waiter);
PF_EXPORT void pf_waiter_destroy(struct pf_waiter *waiter);

/* Blocks the calling actor until pf_waiter_wake(). */
PF_EXPORT void pf_waiter_park(struct pf_waiter *waiter);

/* The same with a limit; false when the date came first. */
PF_EXPORT bool pf_waiter_park_until(struct pf_waiter *waiter, double date);

/* Unblocks the parked actor, if any, at the current date. From an event or from an actor. */
PF_EXPORT void pf_waiter_wake(struct pf_waiter *waiter);

/*
 * Wakes the parked actor as SimGrid does when an activity ends at `date`: its clock stops there unless it
 * stops less than `precision` before, and events of that date come first. One alarm at a time, which rings
 * again at each stop until it is moved; INFINITY: none. For the ends of computations that SimGrid does not
 * know of; not without engine_run_ahead.
 */
PF_EXPORT void pf_engine_set_alarm(struct pf_waiter *waiter, double date, double precision);

#ifdef __cplusplus
}
#endif
