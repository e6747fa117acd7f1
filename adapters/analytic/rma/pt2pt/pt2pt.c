/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that synchronise, over messages. See pt2pt.h. */
#include "adapters/analytic/rma/pt2pt/pt2pt.h"

#include "adapters/analytic/collective/collective.h"
#include "pf_fn.h"

/* ---- goals ---- */

static bool peer_has_answered(const struct an_window *win)
{
    return win->goal_peer->expected == 0;
}

static bool exposure_is_over(const struct an_window *win)
{
    return win->missing == 0 && win->incoming == 0;
}

/* Ends a call: waits until the rank's messages have arrived. */
static int end(struct an_window *win)
{
    an_flow_await(win, &win->all, true);
    return MPI_SUCCESS;
}

/* The same for one target: what is for others may not even have been sent. */
static int end_at(struct an_window *win, struct an_peer *peer)
{
    an_flow_await_answers(win, &peer->flow);
    an_window_reach(win, win->all.safe);
    return MPI_SUCCESS;
}

/* ---- fences ---- */

static void enter(struct an_window *win, enum pf_coll_kind kind, size_t bytes)
{
    struct an_part part = {.pretend = bytes, .send_type = MPI_UINT32_T, .with_data = bytes > 0};
    an_collective_call(win->comm, &part, kind, false);
}

/* NULL: the rank has never accessed any member of that group of AN_PEERS. */
static struct an_peer *known_peer(const struct an_window *win, int i)
{
    struct an_peer *piece = win->peers[i / AN_PEERS];
    return piece ? &piece[i % AN_PEERS] : NULL;
}

/* A reduce-scatter gives each member the number of messages to expect. */
static int pt2pt_fence(int assertion, MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    an_rank_pay_call(win->rank);
    if (!(assertion & MPI_MODE_NOPRECEDE)) {
        for (int i = 0; i < win->rma->size; i++)
            if (known_peer(win, i))
                an_fragment_flush(win, i);
        enter(win, PF_COLL_REDUCE_SCATTER_BLOCK, sizeof(uint32_t));
        an_window_await(win, an_window_is_quiet, NULL);
        end(win);
    }
    enter(win, PF_COLL_BARRIER, 0);
    an_rank_settle(win->rank);
    return MPI_SUCCESS;
}

/* ---- groups ---- */

static int pt2pt_post(MPI_Group group, int assertion, MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    int *origins = an_window_room_for_members(win) + win->rma->size;
    int n = an_window_members(win, group, origins);
    if (n < 0)
        return MPI_ERR_GROUP;
    an_rank_pay_call(win->rank);
    win->missing += n;
    for (int i = 0; i < n && !(assertion & MPI_MODE_NOCHECK); i++) {
        if (origins[i] == win->me)
            an_window_peer(win, win->me)->has_posted = true;
        else
            an_rank_charge(win->rank, an_fragment_note(win, origins[i], AN_NOTE_POSTED, an_now(win->rank)));
    }
    an_rank_pace(win->rank);
    return MPI_SUCCESS;
}

/* Does not wait: operations do, until all targets have posted. */
static int pt2pt_start(MPI_Group group, int assertion, MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    int n = an_window_members(win, group, an_window_room_for_members(win));
    if (n < 0)
        return MPI_ERR_GROUP;
    an_rank_pay_call(win->rank);
    win->accessed_count = n;
    for (int i = 0; i < n; i++) {
        struct an_peer *peer = an_window_peer(win, win->accessed[i]);
        peer->started = true;
        if (assertion & MPI_MODE_NOCHECK)
            continue;
        peer->awaited = !peer->has_posted;
        win->expected += peer->awaited;
        peer->has_posted = false;
    }
    return MPI_SUCCESS;
}

static int pt2pt_complete(MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    an_rank_pay_call(win->rank);
    an_window_await(win, an_window_is_answered, NULL);
    for (int i = 0; i < win->accessed_count; i++) {
        int target = win->accessed[i];
        an_window_peer(win, target)->started = false;
        if (target == win->me)
            win->missing--;
        else
            an_fragment_demand(win, target, AN_COMPLETE);
    }
    return end(win);
}

static int pt2pt_wait(MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    an_rank_pay_call(win->rank);
    an_window_await(win, exposure_is_over, NULL);
    an_rank_settle(win->rank);
    return MPI_SUCCESS;
}

static int pt2pt_test(MPI_Win handle, int *flag)
{
    struct an_window *win = an_window_of(handle);
    an_rank_settle(win->rank);
    *flag = exposure_is_over(win);
    return MPI_SUCCESS;
}

/* ---- locks ---- */

/* Waits for the locks requested before, and for this one only where the rank may access the memory without
 * another call: its own, or memory shared with it. */
static int pt2pt_lock(int type, int rank, int assertion, MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    struct an_peer *peer = an_window_peer(win, rank);
    an_rank_pay_call(win->rank);
    an_window_await(win, an_window_is_answered, NULL);
    peer->lock = type == MPI_LOCK_EXCLUSIVE ? AN_EXCLUSIVE : AN_SHARED;
    if (assertion & MPI_MODE_NOCHECK)
        peer->lock = AN_UNCHECKED;
    else
        an_fragment_lock(win, rank, type == MPI_LOCK_EXCLUSIVE);
    if (rank == win->me || (assertion & AN_MODE_HELD))
        an_window_await(win, an_window_is_answered, NULL);
    if (rank == win->me || (assertion & (AN_MODE_HELD | MPI_MODE_NOCHECK)))
        an_rank_settle(win->rank);
    else
        an_rank_pace(win->rank);
    return MPI_SUCCESS;
}

static void give_back_own(struct an_window *win)
{
    struct an_peer *peer = an_window_peer(win, win->me);
    peer->asked = peer->granted = false;
    an_rank_charge(win->rank, an_lock_give_back(win, an_now(win->rank)));
}

static void flush_target(struct an_window *win, int target)
{
    struct an_peer *peer = an_window_peer(win, target);
    if (target == win->me)
        return;
    an_window_await(win, peer_has_answered, peer);
    an_fragment_demand(win, target, AN_FLUSH);
    an_window_await(win, peer_has_answered, peer);
}

static int pt2pt_unlock(int rank, MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    struct an_peer *peer = an_window_peer(win, rank);
    an_rank_pay_call(win->rank);
    an_window_await(win, peer_has_answered, peer);
    if (peer->lock == AN_UNCHECKED) {
        flush_target(win, rank);
    } else if (rank == win->me) {
        give_back_own(win);
    } else {
        an_fragment_demand(win, rank, AN_UNLOCK);
        peer->asked = peer->granted = false;
        an_window_await(win, peer_has_answered, peer);
    }
    peer->lock = AN_UNLOCKED;
    return end_at(win, peer);
}

/* Locks of other members are requested with the first operation there. */
static int pt2pt_lock_all(int assertion, MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    an_rank_pay_call(win->rank);
    win->unchecked_all = assertion & MPI_MODE_NOCHECK;
    if (!win->unchecked_all)
        an_fragment_lock(win, win->me, false);
    an_window_await(win, an_window_is_answered, NULL);
    an_rank_settle(win->rank);
    win->locked_all = true;
    return MPI_SUCCESS;
}

/* Flushes all other members, also those that nothing was sent to. */
static void flush_others(struct an_window *win)
{
    an_window_await(win, an_window_is_answered, NULL);
    for (int i = 0; i < win->rma->size; i++)
        if (i != win->me)
            an_fragment_demand(win, i, AN_FLUSH);
    an_window_await(win, an_window_is_answered, NULL);
}

static int pt2pt_unlock_all(MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    an_rank_pay_call(win->rank);
    an_window_await(win, an_window_is_answered, NULL);
    if (win->unchecked_all)
        flush_others(win);
    for (int i = 0; i < win->rma->size && !win->unchecked_all; i++) {
        struct an_peer *peer = known_peer(win, i);
        if (i == win->me || !peer || !peer->asked)
            continue;
        an_fragment_demand(win, i, AN_UNLOCK);
        peer->asked = peer->granted = false;
    }
    if (!win->unchecked_all)
        give_back_own(win);
    an_window_await(win, an_window_is_answered, NULL);
    win->locked_all = false;
    return end(win);
}

/* ---- flushes ---- */

static int flush(int rank, MPI_Win handle, bool local)
{
    struct an_window *win = an_window_of(handle);
    if (!an_window_is_member(win, rank))
        return MPI_ERR_RANK;
    struct an_peer *peer = an_window_peer(win, rank);
    an_rank_pay_call(win->rank);
    if (local) {
        an_window_await(win, peer_has_answered, peer);
        an_fragment_flush(win, rank);
    } else {
        flush_target(win, rank);
    }
    return end_at(win, peer);
}

static int flush_all(MPI_Win handle, bool local)
{
    struct an_window *win = an_window_of(handle);
    an_rank_pay_call(win->rank);
    if (local)
        an_window_await(win, an_window_is_answered, NULL);
    else if (win->locked_all)
        flush_others(win);
    for (int i = 0; i < win->rma->size && (local || !win->locked_all); i++) {
        const struct an_peer *peer = known_peer(win, i);
        if (peer && local)
            an_fragment_flush(win, i);
        else if (peer && peer->lock != AN_UNLOCKED)
            flush_target(win, i);
    }
    return end(win);
}

static int pt2pt_flush(int rank, MPI_Win win)
{
    return flush(rank, win, false);
}

static int pt2pt_flush_local(int rank, MPI_Win win)
{
    return flush(rank, win, true);
}

static int pt2pt_flush_all(MPI_Win win)
{
    return flush_all(win, false);
}

static int pt2pt_flush_local_all(MPI_Win win)
{
    return flush_all(win, true);
}

void an_pt2pt_install(struct pf_own_fn *fn)
{
    an_fragment_arrived = an_handler_arrived;
    fn->Win_fence = pt2pt_fence;
    fn->Win_post = pt2pt_post;
    fn->Win_start = pt2pt_start;
    fn->Win_complete = pt2pt_complete;
    fn->Win_wait = pt2pt_wait;
    fn->Win_test = pt2pt_test;
    fn->Win_lock = pt2pt_lock;
    fn->Win_unlock = pt2pt_unlock;
    fn->Win_lock_all = pt2pt_lock_all;
    fn->Win_unlock_all = pt2pt_unlock_all;
    fn->Win_flush = pt2pt_flush;
    fn->Win_flush_local = pt2pt_flush_local;
    fn->Win_flush_all = pt2pt_flush_all;
    fn->Win_flush_local_all = pt2pt_flush_local_all;
}
