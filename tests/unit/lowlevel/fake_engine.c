/* SPDX-License-Identifier: BSD-3-Clause */
/* The event engine without SimGrid: a clock that jumps from event to event. */
#include "fake_engine.h"

#include "lowlevel/engine/heap.h"

static double now;
static struct pf_heap pending;
static uint64_t orders;
struct pf_engine_state pf_engine_state = {.clock = &now};

double pf_engine_actor_now(void)
{
    return now;
}

void pf_engine_post(struct pf_event *event, double date)
{
    if (event->slot)
        pf_heap_remove(&pending, event);
    event->date = date > now ? date : now;
    event->order = orders++;
    pf_heap_insert(&pending, event);
}

void pf_engine_cancel(struct pf_event *event)
{
    if (event->slot)
        pf_heap_remove(&pending, event);
}

bool fake_engine_step(void)
{
    struct pf_event *event = pf_heap_first(&pending);
    if (!event)
        return false;
    pf_heap_remove(&pending, event);
    now = event->date;
    event->fn(event);
    return true;
}

void fake_engine_run_at(double date)
{
    struct pf_event *event;
    while ((event = pf_heap_first(&pending)) && event->date <= date)
        fake_engine_step();
    now = date;
}
