/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock of a window's own memory, granted in the order of the requests. See pt2pt.h. */
#include "adapters/analytic/rma/pt2pt/pt2pt.h"

static bool take(struct an_window *win, bool exclusive)
{
    if (exclusive ? win->lock_state != 0 : win->lock_state < 0)
        return false;
    win->lock_state = exclusive ? -1 : win->lock_state + 1;
    return true;
}

static double grant(struct an_window *win, struct an_fragment *f, double date)
{
    struct an_window *by = f->win;
    an_fragment_free(f);
    if (by != win)
        return an_fragment_note(win, by->me, AN_NOTE_LOCKED, date);
    struct an_peer *peer = an_window_peer(win, win->me);
    peer->granted = true;
    an_window_answered(win, peer);
    an_window_changed(win);
    return date;
}

/* Grants waiting requests in the order of their arrival. */
static double serve(struct an_window *win, double date)
{
    while (win->lockers.first && take(win, win->lockers.first->exclusive))
        date = grant(win, an_fragment_pop(&win->lockers), date);
    return date;
}

double an_lock_request(struct an_window *win, struct an_fragment *f, double date)
{
    if (take(win, f->exclusive))
        return grant(win, f, date);
    AN_QUEUE_PUSH(&win->lockers, f);
    return date;
}

double an_lock_give_back(struct an_window *win, double date)
{
    win->lock_state = win->lock_state < 0 ? 0 : win->lock_state - 1;
    return win->lock_state == 0 ? serve(win, date) : date;
}
