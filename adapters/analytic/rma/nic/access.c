/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses by the NICs. The call prices its message and posts an event for its arrival, which changes the
 * target's memory. An access with an answer has a second event, at the origin.
 */
#include "adapters/analytic/rma/nic/nic.h"

static void answered(struct pf_event *event)
{
    struct an_access *a = pf_container_of(event, struct an_access, event);
    an_access_answer(a);
    an_access_discard(a);
}

static void arrived(struct pf_event *event)
{
    struct an_access *a = pf_container_of(event, struct an_access, event);
    if (a->payload)
        an_access_work(a);
    if (!a->answers) {
        an_access_discard(a);
        return;
    }
    a->event.fn = answered;
    pf_engine_post(&a->event, pf_cost_answer(an_job.cost, an_world_rank(a->win, a->target),
                                             an_world_rank(a->win, a->win->me), a->bytes, pf_engine_now()));
}

/* MPICH's targets combine by their processors. */
static bool is_handled(const struct an_access *a)
{
    return an_job.by_words && a->action != AN_PUT && a->action != AN_GET;
}

/* The price of sending it at a date. */
static void price(const struct an_access *a, double date, struct pf_cost_access *cost)
{
    int from = an_world_rank(a->win, a->win->me), to = an_world_rank(a->win, a->target);
    if (a->sent > 0)
        pf_cost_put(an_job.cost, from, to, a->sent, date, is_handled(a), cost);
    else
        pf_cost_ask(an_job.cost, from, to, date, cost);
}

static void post(struct an_access *a, const struct pf_cost_access *cost)
{
    struct an_window *win = a->win;
    int from = an_world_rank(win, win->me), to = an_world_rank(win, a->target);
    struct an_peer *peer = a->peer;
    peer->last_arrival = fmax(peer->last_arrival, cost->arrival);
    if (!a->answers) {
        double acknowledged =
            peer->last_arrival + (is_handled(a) ? pf_cost_control(an_job.cost, to, from)
                                                : pf_cost_acknowledgement(an_job.cost, to, from));
        an_flow_note(&peer->flow, cost->safe, acknowledged);
        an_flow_note(&win->all, cost->safe, acknowledged);
        if (a->request)
            an_request_settle(a->request, cost->safe);
    }
    pf_engine_post(&a->event, peer->last_arrival);
}

static void count_pending(struct an_access *a)
{
    a->peer->flow.pending++;
    a->win->all.pending++;
}

/* The lock has not been granted yet. The call returns nevertheless: the holder may wait for something that
 * this rank does next. */
static void defer(struct an_access *a)
{
    count_pending(a);
    AN_QUEUE_PUSH(&a->peer->deferred, a);
}

/* The rank pays, the NICs do the rest. */
void an_nic_start(struct an_access *a)
{
    struct an_rank *rank = a->win->rank;
    struct pf_cost_access cost;
    pf_event_init(&a->event, arrived);
    if (a->peer->lock_waits) {
        an_rank_pay_call(rank);
        defer(a);
        return;
    }
    price(a, an_now(rank), &cost);
    an_rank_charge(rank, cost.returns);
    if (a->answers)
        count_pending(a);
    post(a, &cost);
}

void an_nic_start_deferred(struct an_window *win, struct an_peer *peer)
{
    struct an_access *next;
    struct pf_cost_access cost;
    for (struct an_access *a = peer->deferred.first; a; a = next) {
        next = a->next;
        bool answers = a->answers;
        price(a, pf_engine_now(), &cost);
        post(a, &cost);
        if (answers)
            continue;
        an_flow_end(win, &peer->flow);
        an_flow_end(win, &win->all);
    }
    peer->deferred = (struct an_access_queue){0};
}
