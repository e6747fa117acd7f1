/* SPDX-License-Identifier: BSD-3-Clause */
/* Event queues: rings in the memory of the process, written by the NIC through PCIe. */
#include <stdlib.h>

#include "lowlevel/portals/internal.h"
#include "lowlevel/portals/runtime.h"

/* An event on its way from the NIC to memory. */
struct delivery {
    struct pf_event arrival;
    struct ptl_eq *eq;
    struct ptl_eq_place what;
};

static struct pf_pool deliveries = PF_POOL(struct delivery);
static struct pf_pool queues = PF_POOL(struct ptl_eq);

/* Where an event stands. Queues are long and mostly not full: a division is rare. */
static struct ptl_eq_place *place_at(const struct ptl_eq *eq, uint64_t number)
{
    return &eq->ring[number < eq->capacity ? number : number % eq->capacity];
}

static void release(struct ptl_eq *eq)
{
    if (!eq->freed || eq->in_flight)
        return;
    free(eq->ring);
    pf_pool_put(&queues, eq);
}

int PtlEQAlloc(ptl_handle_ni_t ni_handle, ptl_size_t count, ptl_handle_eq_t *eq_handle)
{
    struct ptl_ni *ni = ptl_object(ni_handle, PTL_KIND_NI);
    if (!ni || !eq_handle || count > UINT32_MAX)
        return ptl_invalid();
    if (ni->eq_count >= ni->limits.max_eqs)
        return PTL_NO_SPACE;
    struct ptl_eq_place *ring = malloc((count ? count : 1) * sizeof *ring);
    if (!ring)
        return PTL_NO_SPACE;
    struct ptl_eq *eq = pf_pool_get(&queues);
    *eq = (struct ptl_eq){.ni = ni, .ring = ring, .capacity = count ? count : 1};
    eq->handle = ptl_handle_new(ni->process, PTL_KIND_EQ, eq);
    ni->eq_count++;
    *eq_handle = eq->handle;
    return PTL_OK;
}

void ptl_eq_drop(void *object)
{
    struct ptl_eq *eq = object;
    ptl_handle_free(eq->ni->process, eq->handle);
    eq->ni->eq_count--;
    eq->freed = true;
    release(eq);
}

int PtlEQFree(ptl_handle_eq_t eq_handle)
{
    struct ptl_eq *eq = ptl_object(eq_handle, PTL_KIND_EQ);
    if (!eq)
        return ptl_invalid();
    struct ptl_process *process = eq->ni->process;
    ptl_eq_drop(eq);
    ptl_state_changed(process, true); /* those that wait on it return PTL_INTERRUPTED */
    return PTL_OK;
}

bool ptl_eq_reserve(struct ptl_eq *eq, unsigned int events)
{
    if (eq->tail - eq->head + eq->in_flight + eq->reserved + events > eq->capacity - eq->notices)
        return false;
    eq->reserved += events;
    return true;
}

void ptl_eq_release(struct ptl_eq *eq, unsigned int events)
{
    eq->reserved -= events;
}

bool ptl_eq_add_notice(struct ptl_eq *eq)
{
    if (eq->spare_notices > 0) {
        eq->spare_notices--;
        return true;
    }
    struct ptl_eq_place *ring = malloc((eq->capacity + 1) * sizeof *ring);
    if (!ring)
        return false;
    uint64_t count = eq->tail - eq->head;
    for (uint64_t i = 0; i < count; i++)
        ring[i] = *place_at(eq, eq->head + i);
    free(eq->ring);
    eq->ring = ring;
    eq->head = 0;
    eq->tail = count;
    eq->capacity++;
    eq->notices++;
    return true;
}

void ptl_eq_remove_notice(struct ptl_eq *eq)
{
    eq->spare_notices++;
}

/*
 * Whether a polling program may have waited for the event. Not for that of a search in vain, unless a header
 * has come after it: the program must search again.
 */
static bool is_news(const struct ptl_eq *eq, const ptl_event_t *event)
{
    if (event->type == PTL_EVENT_SEARCH && event->ni_fail_type == PTL_NI_NO_MATCH)
        return eq->ni->process->header_since_search;
    return event->type != PTL_EVENT_LINK;
}

static void store(struct ptl_eq *eq, const struct ptl_eq_place *what)
{
    const ptl_event_t *event = &what->event;
    bool notice = event->type == PTL_EVENT_PT_DISABLED && eq->notices > 0;
    if (notice)
        eq->notices--; /* until it has been read */
    if (eq->tail - eq->head >= eq->capacity - eq->notices)
        eq->dropped = true;
    else {
        struct ptl_eq_place *place = place_at(eq, eq->tail++);
        *place = *what;
        if (__builtin_expect(pf_chain_on, 0))
            place->path = pf_chain_copy();
    }
    ptl_event_stored(eq, event, is_news(eq, event));
}

static void arrived(struct pf_event *arrival)
{
    struct delivery *delivery = pf_container_of(arrival, struct delivery, arrival);
    struct ptl_eq *eq = delivery->eq;
    eq->in_flight--;
    if (eq->freed)
        release(eq);
    else
        store(eq, &delivery->what);
    pf_pool_put(&deliveries, delivery);
}

double ptl_eq_post(struct ptl_eq *eq, const ptl_event_t *event, uint8_t network, double date)
{
    if (!eq || eq->freed)
        return date;
    struct ptl_process *process = eq->ni->process;
    if (process->free_mode && !pf_engine_inside()) {
        struct ptl_eq_place what = {.event = *event, .network = network};
        store(eq, &what);
        return date;
    }
    struct delivery *delivery = pf_pool_get(&deliveries);
    delivery->eq = eq;
    delivery->what.event = *event;
    delivery->what.network = network;
    eq->in_flight++;
    pf_event_init(&delivery->arrival, arrived);
    double written = pf_nic_event_date(process->nic, date);
    pf_engine_post_in(&eq->deliveries, &delivery->arrival, written);
    return written;
}

static bool queue_holds(const struct ptl_eq *eq, bool (*is)(const void *arg, const ptl_event_t *event),
                        const void *arg)
{
    for (uint64_t i = eq->head; i < eq->tail; i++)
        if (is(arg, &place_at(eq, i)->event))
            return true;
    return false;
}

bool pf_portals_any_event(const pf_self_t *self, bool (*is)(const void *arg, const ptl_event_t *event),
                          const void *arg)
{
    const struct ptl_process *process = self->portals;
    for (uint32_t i = 0; process && i < process->slot_count; i++)
        if (process->slots[i].kind == PTL_KIND_EQ && queue_holds(process->slots[i].object, is, arg))
            return true;
    return false;
}

/* Takes the first event out; PTL_OK, PTL_EQ_DROPPED (an event is returned, others were lost) or
 * PTL_EQ_EMPTY. */
static int take(struct ptl_eq *eq, ptl_event_t *event)
{
    if (eq->head == eq->tail)
        return PTL_EQ_EMPTY;
    struct ptl_eq_place *place = place_at(eq, eq->head++);
    *event = place->event;
    if (__builtin_expect(pf_chain_on, 0)) {
        pf_chain_meet(eq->ni->process->self, place->path, pf_engine_now());
        pf_chain_drop(&place->path);
    }
    eq->ni->process->reacts = place->network;
    if (eq->head == eq->tail)
        eq->head = eq->tail = 0; /* queues are long and mostly empty: use the same memory again */
    if (event->type == PTL_EVENT_PT_DISABLED)
        eq->notices++;
    if (is_news(eq, event))
        eq->ni->process->idle =
            -1; /* a program drains a queue first, and looks at the events only after an empty poll */
    if (!eq->dropped)
        return PTL_OK;
    eq->dropped = false;
    return PTL_EQ_DROPPED;
}

/* Round robin: the queue after the one that had the latest event is looked at first. */
static int scan(struct ptl_process *process, const ptl_handle_eq_t *handles, unsigned int size,
                ptl_event_t *event, unsigned int *which)
{
    unsigned int i = process->next_queue < size ? process->next_queue : 0;
    process->reacts = PTL_NO_NETWORK; /* the previous event has been handled */
    for (unsigned int n = 0; n < size; n++, i = i + 1 < size ? i + 1 : 0) {
        struct ptl_eq *eq = ptl_lookup(process, handles[i], PTL_KIND_EQ);
        if (!eq)
            return PTL_ARG_INVALID;
        int status = take(eq, event);
        if (status != PTL_EQ_EMPTY) {
            *which = i;
            if (size > 1)
                process->next_queue = i + 1;
            return status;
        }
    }
    return PTL_EQ_EMPTY;
}

/* A queue that was there when the wait began and is not any more interrupts it. */
static int wait_status(struct ptl_process *process, int status)
{
    if (process->aborted)
        return PTL_ABORTED;
    return status == PTL_ARG_INVALID ? PTL_INTERRUPTED : status;
}

static int wait_for_event(struct ptl_process *process, const ptl_handle_eq_t *handles, unsigned int size,
                          ptl_time_t timeout, ptl_event_t *event, unsigned int *which, const char *call)
{
    double limit = timeout == PTL_TIME_FOREVER ? -1.0 : pf_engine_now() + (double)timeout * 1e-3;
    for (;;) {
        bool changed = ptl_block(process, call, limit);
        int status = wait_status(process, scan(process, handles, size, event, which));
        if (status != PTL_EQ_EMPTY || !changed)
            return status;
    }
}

static int poll_queues(const ptl_handle_eq_t *handles, unsigned int size, ptl_time_t timeout,
                       ptl_event_t *event, unsigned int *which, const char *call)
{
    struct ptl_process *process = ptl_current();
    if (!process)
        return PTL_NO_INIT;
    if (!handles || size == 0 || !event || !which)
        return PTL_ARG_INVALID;
    if (process->aborted)
        return PTL_ABORTED;
    int status = scan(process, handles, size, event, which);
    if (status != PTL_EQ_EMPTY)
        return status;
    if (timeout > 0)
        return wait_for_event(process, handles, size, timeout, event, which, call);
    if (!ptl_idle_pass(process, call))
        return PTL_EQ_EMPTY;
    return wait_status(process, scan(process, handles, size, event, which));
}

int PtlEQGet(ptl_handle_eq_t eq_handle, ptl_event_t *event)
{
    unsigned int which;
    return poll_queues(&eq_handle, 1, 0, event, &which, "PtlEQGet");
}

int PtlEQWait(ptl_handle_eq_t eq_handle, ptl_event_t *event)
{
    unsigned int which;
    return poll_queues(&eq_handle, 1, PTL_TIME_FOREVER, event, &which, "PtlEQWait");
}

int PtlEQPoll(const ptl_handle_eq_t *eq_handles, unsigned int size, ptl_time_t timeout, ptl_event_t *event,
              unsigned int *which)
{
    return poll_queues(eq_handles, size, timeout, event, which, "PtlEQPoll");
}
