/* SPDX-License-Identifier: BSD-3-Clause */
/* How a rank handles the messages of other ranks. See pt2pt.h. */
#include "adapters/analytic/rma/pt2pt/pt2pt.h"

#include <math.h>

enum { FRAGMENT = 16 };

/* ---- requests of an origin, answered when all its operations are finished ---- */

static double satisfy(struct an_window *win, int origin, enum an_demand demand, double date)
{
    date = an_fragment_note(win, origin, demand == AN_UNLOCK ? AN_NOTE_UNLOCKED : AN_NOTE_FLUSHED, date);
    return demand == AN_UNLOCK ? an_lock_give_back(win, date) : date;
}

/* So many parts of its operations are finished. */
static void over(struct an_window *win, int origin, int parts)
{
    struct an_peer *peer = an_window_peer(win, origin);
    struct an_rank *rank = win->rank;
    peer->incoming -= parts;
    win->incoming -= parts;
    if (peer->owed != AN_NOTHING && peer->incoming == 0) {
        enum an_demand demand = peer->owed;
        peer->owed = AN_NOTHING;
        rank->handles_until = satisfy(win, origin, demand, fmax(pf_engine_now(), rank->handles_until));
    }
    an_window_changed(win);
}

static void demanded(struct an_window *win, const struct an_fragment *f, double *date)
{
    struct an_peer *peer = an_window_peer(win, f->win->me);
    if (f->demand == AN_COMPLETE)
        win->missing--;
    else if (f->demand != AN_NOTHING && peer->incoming > 1) /* more than the fragment itself */
        peer->owed = f->demand;
    else if (f->demand != AN_NOTHING)
        *date = satisfy(win, f->win->me, f->demand, *date);
}

/* ---- operations ---- */

static bool is_atomic(const struct an_access *a)
{
    return a->action == AN_ACCUMULATE || a->action == AN_SWAP || (a->action == AN_GET && a->op == MPI_NO_OP);
}

static double begin(struct an_access *a, double date);

/* The origin and the target both release it; the later one frees it. */
static void let_go(struct an_access *a)
{
    if (--a->parts == 0)
        an_access_discard(a);
}

static void answer_arrived(struct pf_event *event)
{
    struct an_access *a = pf_container_of(event, struct an_access, event);
    an_access_answer(a);
    let_go(a);
}

/* Begins the next atomic operations. */
static void accumulated(struct an_window *win)
{
    struct an_rank *rank = win->rank;
    struct an_access *next;
    win->accumulating = false;
    while (!win->accumulating && (next = win->accumulates.first)) {
        int origin = next->win->me;
        if (!(win->accumulates.first = next->next))
            win->accumulates.last = NULL;
        rank->handles_until = begin(next, fmax(pf_engine_now(), rank->handles_until));
        over(win, origin, 1);
    }
    an_window_changed(win);
}

static void access_over(struct pf_event *event)
{
    struct an_access *a = pf_container_of(event, struct an_access, over);
    struct an_window *win = a->win->rma->members[a->target];
    int parts = a->answers + a->is_long, origin = a->win->me;
    bool atomic = is_atomic(a);
    if (!a->answers && a->payload)
        an_access_work(a);
    let_go(a);
    if (atomic)
        accumulated(win);
    over(win, origin, parts);
}

/* Sends the answer to the origin, which has posted a receive for it. The target of a compare-and-swap waits
 * until it knows that the answer has arrived. */
static double send_answer(struct an_access *a, double date, double *end)
{
    struct pf_cost_sent sent;
    struct pf_cost_received received;
    pf_cost_message(an_job.cost, an_world_rank(a->win, a->target), an_world_rank(a->win, a->win->me),
                    a->bytes, date, a->posted, PF_COST_STANDARD, &sent, &received);
    a->event.fn = answer_arrived;
    pf_engine_post(&a->event, received.complete);
    *end = received.safe;
    return a->action == AN_SWAP ? received.safe : sent.returns;
}

/* Receives the data of a long operation, which were sent before their header: they arrive later, or are
 * fetched again. */
static double receive_data(struct an_access *a, double date, double *end)
{
    struct an_window *win = a->win;
    struct pf_cost_received received;
    double posted = date + pf_cost_post(an_job.cost, a->sent);
    pf_cost_receive(an_job.cost, an_world_rank(win, win->me), an_world_rank(win, a->target), a->sent,
                    &a->data, posted, &received);
    a->data.safe = received.safe;
    an_flow_note(&win->all, received.safe, received.safe);
    an_flow_note(&a->peer->flow, received.safe, received.safe);
    if (a->request && !a->answers)
        an_request_settle(a->request, received.safe);
    *end = fmax(*end, received.complete);
    date = pf_cost_post_end(an_job.cost, a->sent, &a->data, posted);
    an_flow_end(win, &a->peer->flow);
    an_flow_end(win, &win->all);
    return date;
}

/* Returns until when the target's processor works for it. */
static double begin(struct an_access *a, double date)
{
    struct an_window *win = a->win->rma->members[a->target];
    double end = date;
    if (is_atomic(a) && win->accumulating) {
        AN_QUEUE_PUSH(&win->accumulates, a);
        win->incoming++;
        an_window_peer(win, a->win->me)->incoming++;
        return date;
    }
    if (a->payload && (a->answers || !a->is_long))
        an_access_work(a);
    if (!a->answers && !a->is_long) {
        an_access_discard(a);
        return date;
    }
    win->accumulating |= is_atomic(a);
    a->parts = 1 + a->answers;
    if (a->is_long)
        date = receive_data(a, date, &end);
    if (a->answers)
        date = send_answer(a, date, &end);
    pf_event_init(&a->over, access_over);
    pf_engine_post(&a->over, end);
    return date;
}

static double operations(struct an_window *win, struct an_fragment *f, double date)
{
    struct an_access *next;
    for (struct an_access *a = f->operations.first; a; a = next) {
        next = a->next;
        date = begin(a, date);
    }
    demanded(win, f, &date);
    return date;
}

/* ---- messages ---- */

static void posted(struct an_window *win, struct an_peer *peer)
{
    if (peer->awaited)
        win->expected--;
    else
        peer->has_posted = true;
    peer->awaited = false;
}

static double handle(struct an_window *win, struct an_fragment *f, double date)
{
    struct an_peer *peer = an_window_peer(win, f->win->me);
    switch (f->note) {
    case AN_NOTE_OPERATIONS:
        return operations(win, f, date);
    case AN_NOTE_LOCK:
        return an_lock_request(win, f, date);
    case AN_NOTE_POSTED:
        posted(win, peer);
        return date;
    case AN_NOTE_LOCKED:
        peer->granted = true;
        an_window_answered(win, peer);
        return an_fragment_release(peer, date);
    case AN_NOTE_UNLOCKED:
    case AN_NOTE_FLUSHED:
        an_window_answered(win, peer);
        return date;
    }
    return date;
}

static void handle_next(struct an_rank *rank, struct an_fragment *f, double now)
{
    struct an_window *win = f->win->rma->members[f->target];
    enum an_note note = f->note;
    int origin = f->win->me;
    size_t receive = FRAGMENT + pf_cost_window_buffer(an_job.cost);
    rank->handles_until = handle(win, f, now) + pf_cost_post(an_job.cost, receive);
    if (note != AN_NOTE_LOCK)
        an_fragment_free(f);
    if (note == AN_NOTE_OPERATIONS)
        over(win, origin, 1);
    an_window_changed(win);
}

/*
 * Fragments that arrive while the processor is busy wait for the date at which it is free, in one chain with
 * one event. If it is busy longer by then, they queue behind those that wait for the later date.
 */
static void wait_on(struct an_rank *rank, struct an_fragment *f, struct an_fragment *last)
{
    if (rank->late && rank->late_until == rank->handles_until) {
        rank->late->last->next = f;
        rank->late->last = last;
        return;
    }
    f->last = last;
    rank->late = f;
    rank->late_until = rank->handles_until;
    pf_engine_post(&f->event, rank->handles_until + AN_SOON);
}

/* Whether a fragment is later than it was priced, behind long data or behind another fragment that is. */
static bool is_held(struct an_fragment *f, double now)
{
    struct an_peer *origin = an_window_peer(f->win->rma->members[f->target], f->win->me);
    double late = pf_cost_late(an_job.cost, &f->inflow);
    f->inflow.spare += late;
    origin->held_until = fmax(origin->held_until, now + late);
    if (origin->held_until > now)
        pf_engine_post(&f->event, origin->held_until);
    return origin->held_until > now;
}

void an_handler_arrived(struct pf_event *event)
{
    struct an_fragment *f = pf_container_of(event, struct an_fragment, event), *last = f->last, *next;
    struct an_rank *rank = f->win->rma->members[f->target]->rank;
    double now = pf_engine_now();
    if (rank->late != f && is_held(f, now))
        return;
    if (rank->late == f)
        rank->late = NULL;
    rank->handles_until = fmax(rank->handles_until, an_rank_looks(rank, now));
    for (; f && rank->handles_until <= now; f = next) {
        next = f->next;
        handle_next(rank, f, now);
    }
    if (f)
        wait_on(rank, f, last);
}
