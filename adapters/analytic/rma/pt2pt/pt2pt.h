/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/analytic/rma/memory/window.h"

/*
 * One-sided communication made of messages (`windows = pt2pt`), with the protocol of Open MPI 4.1's
 * osc/pt2pt. An origin gathers the operations for a target in a fragment, which is sent when it is full or
 * when the epoch ends. Data that do not fit are a message of their own, sent before the fragment with their
 * header: they arrive unexpected. Locks, flushes and posts are requested and answered by short messages. A
 * rank handles messages in the order of arrival; each takes as long as posting its receive again.
 *
 * A rank handles messages as if it were always inside MPI, but not while a call of it waits for the end of a
 * send: mtl/portals4 looks for nothing else then.
 */

/* The kind of a message. */
enum an_note {
    AN_NOTE_OPERATIONS,
    AN_NOTE_POSTED,
    AN_NOTE_LOCK,
    AN_NOTE_LOCKED,
    AN_NOTE_UNLOCKED,
    AN_NOTE_FLUSHED
};

struct an_fragment {
    struct pf_event event;        /* its arrival */
    struct pf_cost_inflow inflow; /* of data that it has not overtaken */
    struct an_fragment *next;     /* in a queue */
    struct an_fragment *last;     /* of the chain behind it that waits for the target's processor */
    struct an_window *win;        /* the sender's */
    int target;
    enum an_note note;
    bool exclusive; /* of AN_NOTE_LOCK */
    size_t bytes;
    struct an_access_queue operations;
    int longs; /* of these, whose data are a message of their own */
    int parts; /* of these that the target finishes later: answers, and such data */
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

/* Sends it at a date. Returns until when the sender's processor is busy. */
double an_fragment_send(struct an_fragment *f, double date);

/* Sends a message that carries no operations, likewise. */
double an_fragment_note(struct an_window *win, int target, enum an_note note, double date);

/* Sends the fragments that waited for the target's permission, likewise. */
double an_fragment_release(struct an_peer *peer, double date);

/* The calling rank waits until the goal is true; `peer` is what the goal reads. */
void an_window_await(struct an_window *win, bool (*goal)(const struct an_window *win),
                     const struct an_peer *peer);

/* Something has changed that a goal may read. */
void an_window_changed(struct an_window *win);

/* The peer has answered a request. */
void an_window_answered(struct an_window *win, struct an_peer *peer);

/* Goals: no operation of other ranks is on its way to the window or in progress there; no answer is expected.
 */
bool an_window_is_quiet(const struct an_window *win);
bool an_window_is_answered(const struct an_window *win);

/* ---- the lock of a window's own memory (holder.c) ---- */

/* `f` requests it, and is answered now or later; the holder releases it. Both return until when the window's
 * rank is busy with answers. */
double an_lock_request(struct an_window *win, struct an_fragment *f, double date);
double an_lock_give_back(struct an_window *win, double date);

/* ---- the origin (origin.c) ---- */

/* Starts an access: the calling rank pays, and waits where osc/pt2pt does. */
void an_pt2pt_start(struct an_access *a);

/* Requests the lock of `target`. */
void an_fragment_lock(struct an_window *win, int target, bool exclusive);

/* Requests something of the target behind the operations; sends all fragments that wait. The rank pays. */
void an_fragment_demand(struct an_window *win, int target, enum an_demand demand);
void an_fragment_flush(struct an_window *win, int target);

/* Frees the fragments of a window that were never sent. */
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
