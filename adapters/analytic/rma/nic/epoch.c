/* SPDX-License-Identifier: BSD-3-Clause */
/* Active target: fences, and the epochs of MPI_Win_start and MPI_Win_post. */
#include "adapters/analytic/rma/nic/nic.h"

#include "adapters/analytic/collective/collective.h"
#include "pf_fn.h"

/* The operations of this member have arrived when it enters the barrier, so after the barrier those of all
 * members have. A fence with MPI_MODE_NOPRECEDE, which ends no epoch, is the barrier alone: after it the
 * memory of all members is ready. */
static int an_win_fence(int assertion, MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    struct an_part part = {0};
    if (!(assertion & MPI_MODE_NOPRECEDE))
        an_flow_await(win, &win->all, false);
    else
        an_rank_pay_call(win->rank);
    int error = an_collective_call(win->comm, &part, PF_COLL_BARRIER, false);
    an_rank_settle(win->rank);
    return error;
}

/* Sends a message to each origin, unless the application synchronizes in another way (MPI_MODE_NOCHECK). */
static int an_win_post(MPI_Group group, int assertion, MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    int *origins = an_window_room_for_members(win) + win->rma->size;
    int n = an_window_members(win, group, origins);
    if (n < 0)
        return MPI_ERR_GROUP;
    an_rank_pay_call(win->rank);
    for (int i = 0; i < n && !(assertion & MPI_MODE_NOCHECK); i++) {
        struct an_window *origin = win->rma->members[origins[i]];
        struct an_peer *peer = an_window_peer(origin, win->me);
        peer->has_posted = true;
        peer->posted = an_now(win->rank) + an_window_control(win, win->me, origins[i]);
        if (peer->awaited)
            an_rank_notify(origin->rank, peer->posted);
        peer->awaited = false;
    }
    win->missing += n;
    an_rank_pace(win->rank);
    return MPI_SUCCESS;
}

/* Waits for the targets' MPI_Win_post. */
static void await_posts(struct an_window *win)
{
    double latest = an_now(win->rank);
    int unknown = 0;
    for (int i = 0; i < win->accessed_count; i++) {
        struct an_peer *peer = an_window_peer(win, win->accessed[i]);
        peer->awaited = !peer->has_posted;
        unknown += peer->awaited;
        if (peer->has_posted)
            latest = fmax(latest, peer->posted);
    }
    if (unknown > 0)
        an_rank_await(win->rank, unknown, latest);
    else
        an_rank_reach(win->rank, latest);
    for (int i = 0; i < win->accessed_count; i++)
        an_window_peer(win, win->accessed[i])->has_posted = false;
}

static int an_win_start(MPI_Group group, int assertion, MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    int n = an_window_members(win, group, an_window_room_for_members(win));
    if (n < 0)
        return MPI_ERR_GROUP;
    win->accessed_count = n;
    an_rank_pay_call(win->rank);
    if (!(assertion & MPI_MODE_NOCHECK))
        await_posts(win);
    for (int i = 0; i < n; i++)
        an_window_peer(win, win->accessed[i])->started = true;
    return MPI_SUCCESS;
}

/* Sends a message to each target behind the operations; the origin waits only for its own buffers, in MPICH
 * for the operations' ends. */
static int an_win_complete(MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    if (an_job.by_words)
        an_flow_await(win, &win->all, false);
    double now = an_now(win->rank) + (an_job.by_words ? 0 : pf_cost_call(an_job.cost));
    for (int i = 0; i < win->accessed_count; i++) {
        struct an_window *target = win->rma->members[win->accessed[i]];
        struct an_peer *peer = an_window_peer(win, win->accessed[i]);
        double arrival = fmax(peer->last_arrival, now + an_window_control(win, win->me, target->me));
        peer->started = false;
        target->completed_at = fmax(target->completed_at, arrival);
        if (--target->missing == 0 && target->waits)
            an_rank_notify(target->rank, target->completed_at);
    }
    if (!an_job.by_words)
        an_flow_await(win, &win->all, true);
    return MPI_SUCCESS;
}

static int an_win_wait(MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    an_rank_pay_call(win->rank);
    if (win->missing > 0) {
        win->waits = true;
        an_rank_await(win->rank, 1, an_now(win->rank));
        win->waits = false;
    }
    an_window_reach(win, win->completed_at);
    return MPI_SUCCESS;
}

/* After a test the rank may read its memory, so it is not ahead of the clock. The middleware charges for a
 * test that finds nothing. */
static int an_win_test(MPI_Win handle, int *flag)
{
    struct an_window *win = an_window_of(handle);
    an_rank_settle(win->rank);
    *flag = win->missing == 0 && win->completed_at <= pf_engine_now();
    return MPI_SUCCESS;
}

void an_epoch_install(struct pf_own_fn *fn)
{
    fn->Win_fence = an_win_fence;
    fn->Win_post = an_win_post;
    fn->Win_start = an_win_start;
    fn->Win_complete = an_win_complete;
    fn->Win_wait = an_win_wait;
    fn->Win_test = an_win_test;
}
