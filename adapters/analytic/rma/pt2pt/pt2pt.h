/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_ANALYTIC_RMA_PT2PT_H
#define PF_ADAPTERS_ANALYTIC_RMA_PT2PT_H

#include "adapters/analytic/rma/memory/window.h"

/*
 * One-sided communication made of messages (`windows = pt2pt`), with the protocol of Open MPI 4.1's
 * osc/pt2pt. An origin gathers the operations for a target in a fragment, which leaves when it is full or
 * when the epoch ends; data that do not fit go alone, before their header, and so come to their target in
 * vain first. Locks, flushes and posts are asked for and answered by short messages. Ranks handle what comes
 * to them in the order of arrival: each takes as long as posting its receive again.
 *
 * A rank handles messages at any time, as if it were always inside MPI.
 */

/* What a message is. */
enum an_note {
    AN_NOTE_OPERATIONS,
    AN_NOTE_POSTED,
    AN_NOTE_LOCK,
    AN_NOTE_LOCKED,
    AN_NOTE_UNLOCKED,
    AN_NOTE_FLUSHED
};

struct an_fragment {
    struct pf_event event;    /* its arrival */
    struct an_fragment *next; /* in a queue */
    struct an_fragment *last; /* of those that wait behind it for the target's processor */
    struct an_window *win;    /* the sender's */
    int target;
    enum an_note note;
    bool exclusive; /* of AN_NOTE_LOCK */
    size_t bytes;
    struct an_access_queue operations;
    int longs; /* of these, whose data go alone */
    enum an_demand demand;
};

/* Replaces the functions that synchronise. */
void an_pt2pt_install(struct pf_own_fn *fn);

/* ---- messages (fragment.c) ---- */

/* What happens when one arrives: an_handler_arrived(). */
extern void (*an_fragment_arrived)(struct pf_event *event);

/* A message of so many bytes; 0: as its note has. */
struct an_fragment *an_fragment_new(struct an_window *win, int target, enum an_note note, size_t bytes);
void an_fragment_free(struct an_fragment *f);

/* Sends it at a date. Returns until when its sender is busy with it. */
double an_fragment_send(struct an_fragment *f, double date);

/* Sends a message that carries no operations, likewise. */
double an_fragment_note(struct an_window *win, int target, enum an_note note, double date);

/* Sends what has waited for the target's permission, likewise. */
double an_fragment_release(struct an_peer *peer, double date);

/* The calling rank waits until the goal is reached; `peer` is what the goal looks at. */
void an_window_await(struct an_window *win, bool (*goal)(const struct an_window *win),
                     const struct an_peer *peer);

/* Something has changed that a goal may look at. */
void an_window_changed(struct an_window *win);

/* The peer has answered what it was asked. */
void an_window_answered(struct an_window *win, struct an_peer *peer);

/* Goals: no operation of others is on its way to the window or under way there; no answer is expected. */
bool an_window_is_quiet(const struct an_window *win);
bool an_window_is_answered(const struct an_window *win);

/* ---- the lock of a window's own memory (holder.c) ---- */

/* `f` asks for it: is answered now or when its turn comes. Both return until when the window's rank is busy
 * with answers. */
double an_lock_request(struct an_window *win, struct an_fragment *f, double date);
double an_lock_give_back(struct an_window *win, double date);

/* ---- the origin (origin.c) ---- */

/* An access is made: the calling rank pays, and waits where osc/pt2pt does. */
void an_pt2pt_start(struct an_access *a);

/* Asks `target` for its lock. */
void an_fragment_lock(struct an_window *win, int target, bool exclusive);

/* The last operation to the target: demands something, and all that waits leaves. The rank pays. */
void an_fragment_demand(struct an_window *win, int target, enum an_demand demand);
void an_fragment_flush(struct an_window *win, int target);

/* The window ends: what has gathered and was never sent goes with it. */
void an_pt2pt_forget(struct an_window *win);

/* ---- the target (handler.c) ---- */

/* A message has arrived. */
void an_handler_arrived(struct pf_event *event);

static inline struct an_fragment *an_fragment_pop(struct an_fragment_queue *queue)
{
    struct an_fragment *f = queue->first;
    if (f && !(queue->first = f->next))
        queue->last = NULL;
    return f;
}

#endif
