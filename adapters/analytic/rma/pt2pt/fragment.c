/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between members of a window, and goals that a rank waits for. See pt2pt.h. */
#include "adapters/analytic/rma/pt2pt/pt2pt.h"

#include <math.h>

/* Lengths of Open MPI 4.1.4's ompi/mca/osc/pt2pt/osc_pt2pt_header.h. */
static const size_t note_bytes[] = {[AN_NOTE_POSTED] = 2,
                                    [AN_NOTE_LOCK] = 16,
                                    [AN_NOTE_LOCKED] = 16,
                                    [AN_NOTE_UNLOCKED] = 16,
                                    [AN_NOTE_FLUSHED] = 16};

/* Receives of fragments are always posted. */
#define LONG_AGO (-1.0)

void (*an_fragment_arrived)(struct pf_event *event);

static struct pf_pool fragments = PF_POOL(struct an_fragment);

struct an_fragment *an_fragment_new(struct an_window *win, int target, enum an_note note, size_t bytes)
{
    struct an_fragment *f = pf_pool_get(&fragments);
    *f = (struct an_fragment){
        .win = win, .target = target, .note = note, .bytes = bytes ? bytes : note_bytes[note]};
    pf_event_init(&f->event, an_fragment_arrived);
    return f;
}

void an_fragment_free(struct an_fragment *f)
{
    pf_pool_put(&fragments, f);
}

/* The date of its arrival is known at once, because its receive is always posted. */
double an_fragment_send(struct an_fragment *f, double date)
{
    struct an_window *win = f->win, *target = win->rma->members[f->target];
    struct an_peer *origin = an_window_peer(target, win->me);
    struct pf_cost_sent sent;
    struct pf_cost_received received;
    pf_cost_message(an_job.cost, an_world_rank(win, win->me), an_world_rank(win, f->target), f->bytes, date,
                    LONG_AGO, PF_COST_STANDARD, &sent, &received);
    an_flow_note(&win->all, received.safe, received.safe);
    an_flow_note(&an_window_peer(win, f->target)->flow, received.safe, received.safe);
    if (f->note == AN_NOTE_OPERATIONS) {
        origin->incoming += 1 + f->parts;
        target->incoming += 1 + f->parts;
    }
    origin->last_delivery = fmax(origin->last_delivery, received.complete);
    pf_cost_inflow_set(&f->inflow, &received.inflow);
    f->next = NULL;
    f->last = f;
    pf_engine_post(&f->event, origin->last_delivery);
    return sent.returns;
}

double an_fragment_note(struct an_window *win, int target, enum an_note note, double date)
{
    return an_fragment_send(an_fragment_new(win, target, note, 0), date);
}

double an_fragment_release(struct an_peer *peer, double date)
{
    for (struct an_fragment *f; (f = an_fragment_pop(&peer->ready));)
        date = an_fragment_send(f, date);
    return date;
}

/* ---- goals ---- */

void an_window_changed(struct an_window *win)
{
    if (!win->goal || !win->goal(win))
        return;
    win->goal = NULL;
    an_rank_notify(win->rank, fmax(pf_engine_now(), win->rank->handles_until));
}

void an_window_await(struct an_window *win, bool (*goal)(const struct an_window *win),
                     const struct an_peer *peer)
{
    win->goal_peer = peer;
    if (goal(win))
        return;
    win->goal = goal;
    an_rank_await(win->rank, 1, an_now(win->rank));
}

bool an_window_is_quiet(const struct an_window *win)
{
    return win->incoming == 0;
}

bool an_window_is_answered(const struct an_window *win)
{
    return win->expected == 0;
}

void an_window_answered(struct an_window *win, struct an_peer *peer)
{
    peer->expected--;
    win->expected--;
}
