/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking instead of polling. A program that polls costs wall-clock time and no simulated time. After some
 * polls in a row that found nothing, the polling actor sleeps until the state of its NIC changes: nothing
 * that it can see happens before. Any change wakes it, also one that posts no event (a header for which a
 * search may be waiting).
 */

#include "lowlevel/portals/internal.h"

void ptl_active(struct ptl_process *process, const char *call)
{
    process->idle = 0;
    process->last_call = call;
}

void ptl_state_changed(struct ptl_process *process, bool resets_idle)
{
    process->changes++;
    if (resets_idle)
        process->idle = 0;
    if (!process->parked) {
        if (process->notify)
            process->notify(process->notify_arg);
        return;
    }
    for (int i = 0; i < process->read_count; i++)
        __builtin_prefetch(process->reads + process->read_places[i]);
    for (struct ptl_waiter *waiter = process->parked; waiter; waiter = waiter->next)
        pf_waiter_wake(&waiter->waiter);
}

/*
 * A program may poll memory between calls that find nothing (Open MPI's osc/portals4 waits so for posts). A
 * message that changes memory without an event costs a date; an engine event only while the process sleeps or
 * is observed.
 */
static void memory_has_changed(struct pf_event *event);

static void await_memory(struct ptl_process *process)
{
    struct pf_event *event = &process->memory_event;
    if (pf_dates_count(&process->memory_changes) == 0)
        return;
    double date = pf_dates_first(&process->memory_changes);
    event->fn = memory_has_changed;
    if (!pf_event_pending(event) || date < event->date)
        pf_engine_post(event, date);
}

static void memory_has_changed(struct pf_event *event)
{
    struct ptl_process *process = pf_container_of(event, struct ptl_process, memory_event);
    pf_dates_pass(&process->memory_changes, pf_engine_now());
    ptl_state_changed(process, true);
    if (process->parked || process->observed)
        await_memory(process);
}

void ptl_memory_changed(struct ptl_process *process, double date)
{
    if (pf_dates_pass(&process->memory_changes, pf_engine_now()))
        process->idle = 0;
    pf_dates_add(&process->memory_changes, date);
    if (process->parked || process->observed)
        await_memory(process);
}

/* No other sleeper has to know. Queues keep most of their room, so that flow control lets in
 * what it would let in if they were empty. */
static bool can_stay(struct ptl_process *process, const struct ptl_eq *eq, const ptl_event_t *event)
{
    enum { SHARE = 8 };
    if (!process->in_poll || !process->keeps || process->parked->next ||
        (eq->tail - eq->head) * SHARE > eq->capacity ||
        !process->keeps(process->keeps_arg, event, process->kept))
        return false;
    process->kept++;
    return true;
}

void ptl_event_stored(const struct ptl_eq *eq, const ptl_event_t *event, bool resets_idle)
{
    struct ptl_process *process = eq->ni->process;
    bool early = event->type == PTL_EVENT_SEND && event->ni_fail_type == PTL_NI_OK;
    if (!(early && process->send_needs_ack) && !can_stay(process, eq, event)) {
        ptl_state_changed(process, resets_idle);
        return;
    }
    process->changes++;
    process->idle = 0;
}

void pf_portals_keep_events(pf_self_t *self, pf_portals_keeps_t *keeps, const void *arg)
{
    self->portals->keeps = keeps;
    self->portals->keeps_arg = arg;
}

static struct pf_pool waiters = PF_POOL(struct ptl_waiter);

static struct ptl_waiter *take_waiter(struct ptl_process *process)
{
    struct ptl_waiter *waiter = process->spare_waiters;
    if (waiter) {
        process->spare_waiters = waiter->next;
        return waiter;
    }
    waiter = pf_pool_get(&waiters);
    pf_waiter_init(&waiter->waiter);
    return waiter;
}

static void remove_waiter(struct ptl_process *process, struct ptl_waiter **list, struct ptl_waiter *waiter)
{
    struct ptl_waiter **link = list;
    while (*link != waiter)
        link = &(*link)->next;
    *link = waiter->next;
    waiter->next = process->spare_waiters;
    process->spare_waiters = waiter;
}

/* When the actor is killed here, its waiter stays listed and is not parked any more: waking it does
 * nothing. */
static bool block_in(struct ptl_process *process, struct ptl_waiter **list, const char *call, double date)
{
    struct ptl_waiter *waiter = take_waiter(process);
    waiter->next = *list;
    *list = waiter;
    const char *outer = process->blocked_in;
    process->blocked_in = call;
    process->counters.parks++;
    bool changed = true;
    if (date < 0.0)
        pf_waiter_park(&waiter->waiter);
    else
        changed = pf_waiter_park_until(&waiter->waiter, date);
    process->blocked_in = outer;
    remove_waiter(process, list, waiter);
    return changed;
}

bool ptl_block(struct ptl_process *process, const char *call, double date)
{
    pf_dates_pass(&process->memory_changes, pf_engine_now());
    await_memory(process);
    return block_in(process, &process->parked, call, date);
}

void ptl_wait_until(struct ptl_process *process, double date, const char *call)
{
    while (pf_engine_now() < date && !process->aborted)
        block_in(process, &process->queue_parked, call, date);
}

void ptl_queue_wait(struct ptl_process *process)
{
    while (process->queued_commands >= pf_config.nic_command_queue && !process->aborted)
        block_in(process, &process->queue_parked, "the command queue", -1.0);
}

void ptl_queue_moved(struct ptl_process *process)
{
    for (struct ptl_waiter *waiter = process->queue_parked; waiter; waiter = waiter->next)
        pf_waiter_wake(&waiter->waiter);
}

/* Looks at the clock now and then only: this runs in every poll. */
static void watch_for_livelock(struct ptl_process *process, const char *call)
{
    enum { LOOK_EVERY = 1024 };
    if (++process->stuck_passes % LOOK_EVERY)
        return;
    double now = pf_engine_now();
    if (now != process->stuck_date) {
        process->stuck_date = now;
        process->stuck_passes = 0;
    }
    if (process->stuck_passes > pf_config.livelock_passes)
        pf_die(
            "rank %d polls without end: %ld calls of %s at simulated time %.9f s found nothing, and none of "
            "them lets time pass (PARFOCAL_LIVELOCK_PASSES sets the limit)",
            process->self->rank, process->stuck_passes, call, now);
}

bool ptl_idle_for_long(const struct ptl_process *process)
{
    return process->idle >= pf_config.idle_passes && process->idle >= process->least_idle_passes;
}

bool ptl_idle_pass(struct ptl_process *process, const char *call)
{
    process->last_call = call;
    if (process->polls_are_free)
        return false;
    watch_for_livelock(process, call);
    if (pf_dates_pass(&process->memory_changes, pf_engine_now()))
        process->idle = 0;
    process->idle++;
    if (!ptl_idle_for_long(process))
        return false;
    process->kept = 0;
    process->in_poll = true;
    ptl_block(process, call, -1.0);
    process->in_poll = false;
    return true;
}

int ptl_in_use(struct ptl_process *process, const char *call, int status)
{
    bool again = process->last_call == call;
    process->last_call = call;
    if (!again)
        return status;
    process->releases = true;
    ptl_idle_pass(process, call);
    process->releases = false;
    return status;
}

void pf_portals_idle_reset(pf_self_t *self)
{
    if (self->portals)
        self->portals->idle = 0;
}

int pf_portals_network(const char *name)
{
    return pf_network_find(name);
}

void pf_portals_enter(pf_self_t *self, int network)
{
    struct ptl_process *process = self->portals;
    process->idle = 0;
    process->network = (uint8_t)network;
    process->reacts = PTL_NO_NETWORK;
}

int pf_portals_network_now(const pf_self_t *self)
{
    return self->portals->network;
}

int pf_portals_network_use(pf_self_t *self, int network)
{
    struct ptl_process *process = self->portals;
    int before = process->network;
    process->network = (uint8_t)network;
    process->reacts = PTL_NO_NETWORK;
    return before;
}

const uint64_t *pf_portals_changes(const pf_self_t *self)
{
    if (!self->portals)
        return NULL;
    self->portals->observed = true;
    return &self->portals->changes;
}

void pf_portals_idle_pass(pf_self_t *self)
{
    ptl_idle_pass(self->portals, "PtlEQPoll");
}

void pf_portals_idle_at_least(pf_self_t *self, long passes)
{
    self->portals->least_idle_passes = passes;
}

void pf_portals_count_polls(pf_self_t *self, bool on)
{
    if (self->portals)
        self->portals->polls_are_free = !on;
}

void pf_portals_send_needs_ack(pf_self_t *self, bool on)
{
    self->portals->send_needs_ack = on;
}

void pf_portals_reads_when_woken(pf_self_t *self, const char *base, const uint32_t *places, int count)
{
    if (!self->portals)
        return;
    self->portals->reads = base;
    self->portals->read_places = places;
    self->portals->read_count = count;
}

void pf_portals_park(pf_self_t *self)
{
    if (!self->portals)
        pf_die("rank %d waits for its network interface before PtlInit", self->rank);
    ptl_block(self->portals, "pf_portals_park", -1.0);
}

void pf_portals_set_notify(pf_self_t *self, void (*fn)(void *arg), void *arg)
{
    if (!self->portals)
        pf_die("rank %d observes its network interface before PtlInit", self->rank);
    self->portals->observed = true;
    self->portals->notify = fn;
    self->portals->notify_arg = arg;
}

const char *pf_portals_blocked_in(const pf_self_t *self)
{
    return self->portals ? self->portals->blocked_in : NULL;
}
