/* SPDX-License-Identifier: BSD-3-Clause */
/* The origin: gathers operations in fragments, sends data that do not fit, requests locks. See pt2pt.h. */
#include "adapters/analytic/rma/pt2pt/pt2pt.h"

#include <math.h>

/* Lengths of Open MPI 4.1.4's ompi/mca/osc/pt2pt/osc_pt2pt_header.h, and of a description of the target's
 * type: exact for predefined ones, that of a vector for others. */
enum { FRAGMENT = 16, PUT = 24, ACCUMULATE = 32, SWAP = 16, PREDEFINED = 8, DERIVED = 48 };
static const size_t demand_bytes[] = {[AN_UNLOCK] = 24, [AN_FLUSH] = 16, [AN_COMPLETE] = 8};

enum { MOST_LONGS = 32 }; /* in one fragment */

void an_fragment_lock(struct an_window *win, int target, bool exclusive)
{
    struct an_peer *peer = an_window_peer(win, target);
    peer->asked = true;
    peer->expected++;
    win->expected++;
    struct an_fragment *f = an_fragment_new(win, target, AN_NOTE_LOCK, 0);
    f->exclusive = exclusive;
    if (target == win->me)
        an_lock_request(win, f, an_now(win->rank));
    else
        an_rank_charge(win->rank, an_fragment_send(f, an_now(win->rank)));
}

static bool may_send(const struct an_window *win, const struct an_peer *peer)
{
    if (peer->lock != AN_UNLOCKED)
        return peer->lock == AN_UNCHECKED || peer->granted;
    if (win->locked_all)
        return win->unchecked_all || peer->granted;
    return !peer->started || win->expected == 0;
}

static bool is_permitted(const struct an_window *win)
{
    return may_send(win, win->goal_peer);
}

/* Sends a fragment, or queues it until it may be sent. */
static void start(struct an_window *win, struct an_peer *peer, struct an_fragment *f)
{
    if (peer->ready.first || !may_send(win, peer))
        AN_QUEUE_PUSH(&peer->ready, f);
    else
        an_rank_charge(win->rank, an_fragment_send(f, an_now(win->rank)));
}

static void close_filling(struct an_window *win, struct an_peer *peer)
{
    struct an_fragment *f = peer->filling;
    peer->filling = NULL;
    if (f)
        start(win, peer, f);
}

/* A fragment with room: the current one, or a new one. */
static struct an_fragment *room_for(struct an_window *win, int target, size_t bytes, bool is_long, bool alone)
{
    struct an_peer *peer = an_window_peer(win, target);
    struct an_fragment *f = peer->filling;
    size_t most = FRAGMENT + pf_cost_window_buffer(an_job.cost);
    if (alone || !f || f->bytes + bytes > most || (is_long && f->longs == MOST_LONGS)) {
        close_filling(win, peer);
        f = an_fragment_new(win, target, AN_NOTE_OPERATIONS, FRAGMENT);
        if (!alone)
            peer->filling = f;
    }
    f->bytes += bytes;
    f->longs += is_long;
    return f;
}

void an_fragment_flush(struct an_window *win, int target)
{
    struct an_peer *peer = an_window_peer(win, target);
    struct an_fragment *f = peer->filling;
    peer->filling = NULL;
    double date = an_fragment_release(peer, an_now(win->rank));
    an_rank_charge(win->rank, f ? an_fragment_send(f, date) : date);
}

void an_fragment_demand(struct an_window *win, int target, enum an_demand demand)
{
    struct an_peer *peer = an_window_peer(win, target);
    int answers = demand != AN_COMPLETE;
    room_for(win, target, demand_bytes[demand], false, false)->demand = demand;
    peer->expected += answers;
    win->expected += answers;
    an_fragment_flush(win, target);
}

/* ---- operations ---- */

static bool nothing_accumulates(const struct an_window *win)
{
    return !win->accumulating;
}

/* An access to the rank's own memory needs no messages. */
static void do_locally(struct an_access *a)
{
    struct an_window *win = a->win;
    an_window_await(win, an_window_is_answered, NULL);
    if (a->action == AN_ACCUMULATE || a->action == AN_SWAP)
        an_window_await(win, nothing_accumulates, NULL);
    an_rank_settle(win->rank);
    if (a->payload)
        an_access_work(a);
    if (a->answers) {
        win->all.pending++;
        a->peer->flow.pending++;
        an_access_answer(a);
    } else if (a->request) {
        an_request_settle(a->request, pf_engine_now());
    }
    an_access_discard(a);
}

static size_t align(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

static size_t header_of(const struct an_access *a)
{
    size_t header = a->action == AN_ACCUMULATE ? ACCUMULATE : a->action == AN_SWAP ? SWAP : PUT;
    return header + (a->derived ? DERIVED : PREDEFINED);
}

/* One more part of an access is in progress here; at the target it is when the fragment is sent, which may
 * have to wait for an exposure to another rank to end. */
static void count_part(struct an_access *a)
{
    a->win->all.pending++;
    a->peer->flow.pending++;
}

/* The receive of the answer is posted before the request is sent. */
static void await_answer(struct an_access *a)
{
    struct an_rank *rank = a->win->rank;
    count_part(a);
    an_rank_charge(rank, an_now(rank) + pf_cost_post(an_job.cost, a->bytes));
    rank->handles_until = fmax(rank->handles_until, an_now(rank));
    a->posted = an_now(rank);
}

static void send_data(struct an_access *a)
{
    struct an_window *win = a->win;
    count_part(a);
    pf_cost_send(an_job.cost, an_world_rank(win, win->me), an_world_rank(win, a->target), a->sent,
                 an_now(win->rank), PF_COST_STANDARD, &a->data);
    an_rank_charge(win->rank, a->data.returns);
}

void an_pt2pt_start(struct an_access *a)
{
    struct an_window *win = a->win;
    struct an_peer *peer = a->peer;
    size_t bytes = align(header_of(a) + a->sent);
    an_rank_pay_call(win->rank);
    if (a->target == win->me) {
        do_locally(a);
        return;
    }
    if (win->locked_all && !win->unchecked_all && !peer->asked)
        an_fragment_lock(win, a->target, false);
    a->is_long = bytes > pf_cost_window_buffer(an_job.cost);
    bool asks = a->request && a->answers;
    bool alone = a->action == AN_SWAP || asks || (a->is_long && (a->action == AN_PUT || a->request));
    struct an_fragment *f =
        room_for(win, a->target, a->is_long ? align(header_of(a)) : bytes, a->is_long, alone);
    if (asks ||
        (a->is_long && !a->answers)) /* data of MPI_Get_accumulate are sent before the lock is granted */
        an_window_await(win, is_permitted, peer);
    if (a->answers)
        await_answer(a);
    if (a->is_long)
        send_data(a);
    else if (a->request && !a->answers)
        an_request_settle(a->request, an_now(win->rank));
    f->parts += a->answers + a->is_long;
    AN_QUEUE_PUSH(&f->operations, a);
    if (alone)
        start(win, peer, f);
}

void an_pt2pt_forget(struct an_window *win)
{
    for (int i = 0; i < win->rma->size; i++) {
        struct an_peer *piece = win->peers[i / AN_PEERS];
        if (piece && piece[i % AN_PEERS].filling)
            an_fragment_free(piece[i % AN_PEERS].filling);
    }
}
