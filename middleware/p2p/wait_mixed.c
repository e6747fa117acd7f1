/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking on requests of several owners. No implementation can wait for the others', and polling them would
 * cost simulated time; so the rank parks, and is woken by its NIC (Open MPI) or by the end of an activity of
 * SimGrid (SMPI), which is looked for at each step of the simulation while a rank waits like this.
 */
#include "lowlevel/engine/engine.h"
#include "middleware/comm/routing.h"
#include "middleware/p2p/wait_set.h"

struct sleeper {
    struct pf_waiter waiter;
    struct pf_event wake;
    struct pf_wait_set *set;
    struct sleeper *next;
};

static struct sleeper *sleepers; /* in order of rank numbers does not matter: each is looked at on its own */

static bool part_done(const struct pf_wait_set *set)
{
    for (int i = 0; i < set->count; i++) {
        struct pf_request *request = set->requests[i];
        if (!pf_request_is_active(request) || !request->owner->values->no_upcalls)
            continue;
        struct pf_instance *in = request->owner;
        if (request->own ? request->own->ready(request) : in->ops->request_done(in, request->native))
            return true;
    }
    return false;
}

static void wake_sleeper(struct pf_event *event)
{
    pf_waiter_wake(&pf_container_of(event, struct sleeper, wake)->waiter);
}

/* At each step of the simulation, in the kernel's context. */
static void look_at_sleepers(void)
{
    for (struct sleeper *sleeper = sleepers; sleeper; sleeper = sleeper->next)
        if (!pf_event_pending(&sleeper->wake) && part_done(sleeper->set))
            pf_engine_post(&sleeper->wake, pf_engine_now());
}

static void sleep_until_something_happens(struct pf_wait_set *set)
{
    struct sleeper sleeper = {.set = set, .next = sleepers};
    struct pf_progress *progress = pf_progress_of(set->rank);
    pf_waiter_init(&sleeper.waiter);
    pf_event_init(&sleeper.wake, wake_sleeper);
    sleepers = &sleeper;
    pf_engine_start(); /* not yet, while only SMPI is loaded */
    pf_engine_set_step_hook(look_at_sleepers);
    progress->mixed = &sleeper.waiter;
    pf_waiter_park(&sleeper.waiter);
    progress->mixed = NULL;
    struct sleeper **link = &sleepers;
    while (*link != &sleeper)
        link = &(*link)->next;
    *link = sleeper.next;
    if (!sleepers)
        pf_engine_set_step_hook(NULL);
    pf_engine_cancel(&sleeper.wake);
    pf_waiter_destroy(&sleeper.waiter);
}

void pf_wait_mixed(struct pf_wait_set *set)
{
    struct pf_rank *r = set->rank;
    struct pf_progress *progress = pf_progress_of(r);
    for (;;) {
        progress->changed = false;
        for (int i = 0; i < set->count; i++) {
            struct pf_request *request = set->requests[i];
            if (!pf_request_is_active(request))
                continue;
            pf_request_try(request);
            if (request->done) {
                set->active--;
                set->done++;
            }
        }
        if (set->done)
            return;
        if (progress->changed)
            continue;                   /* the NIC changed meanwhile */
        r->call.model = PF_MODEL_COUNT; /* in several at once */
        sleep_until_something_happens(set);
        r->call.model = PF_MODEL_NONE;
    }
}
