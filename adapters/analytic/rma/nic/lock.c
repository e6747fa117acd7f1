/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passive target. A lock is granted at its target in the order in which the requests arrive there; shared
 * ones together. MPI_Win_lock_all is one lock here: it waits for the exclusive ones that arrived before it,
 * and later exclusive ones wait for it.
 */
#include "adapters/analytic/rma/nic/nic.h"

#include "pf_fn.h"

/* A request on its way to the target or in its queue, or the message that releases the lock. */
struct an_lock_request {
    struct pf_event event;
    struct an_rma *rma;
    struct an_window *by;
    int target; /* -1: all */
    enum an_lock type;
    uint64_t order;
    int ahead;     /* of a lock of all: exclusive ones that it waits for */
    double answer; /* how long the grant travels */
    bool must;     /* the rank waits for the grant */
    bool late;     /* the rank has continued without the lock, which another rank has */
    struct an_lock_request *next;
};

static struct pf_pool requests = PF_POOL(struct an_lock_request);

/* ---- at the target ---- */

static void discard(struct an_lock_request *request)
{
    an_rma_release(request->rma);
    pf_pool_put(&requests, request);
}

/* The grant arrives at a rank that has continued without it. */
static void granted_late(struct pf_event *event)
{
    struct an_lock_request *request = pf_container_of(event, struct an_lock_request, event);
    struct an_window *win = request->by;
    struct an_peer *peer = an_window_peer(win, request->target);
    peer->lock_waits = false;
    an_nic_start_deferred(win, peer);
    if (peer->unlock_waits)
        an_flow_end(win, &peer->flow);
    peer->unlock_waits = false;
    discard(request);
}

static void grant(struct an_lock_request *request)
{
    if (request->late) {
        request->event.fn = granted_late;
        pf_engine_post(&request->event, pf_engine_now() + request->answer);
        return;
    }
    an_rank_notify(request->by->rank, pf_engine_now() + request->answer);
    discard(request);
}

static struct an_lock_request *pop(struct an_lock_queue *queue)
{
    struct an_lock_request *first = queue->first;
    queue->first = first->next;
    if (!queue->first)
        queue->last = NULL;
    return first;
}

static bool may_have(const struct an_rma *rma, const struct an_target_lock *lock,
                     const struct an_lock_request *request)
{
    const struct an_lock_request *all = rma->waits_for_all.first;
    if (lock->exclusive)
        return false;
    if (request->type == AN_SHARED)
        return true;
    return lock->sharers == 0 && rma->sharers_of_all == 0 && !(all && all->order < request->order);
}

/* Grants the requests at the head of the queue that can have the lock now. */
static void serve(struct an_rma *rma, struct an_target_lock *lock)
{
    while (lock->queue.first && may_have(rma, lock, lock->queue.first)) {
        struct an_lock_request *request = pop(&lock->queue);
        lock->exclusive = request->type == AN_EXCLUSIVE;
        lock->sharers += !lock->exclusive;
        lock->order = request->order;
        grant(request);
    }
}

static void serve_all(struct an_rma *rma)
{
    while (rma->waits_for_all.first && rma->waits_for_all.first->ahead == 0) {
        rma->sharers_of_all++;
        grant(pop(&rma->waits_for_all));
    }
}

/* MPI_Win_lock need not wait for the lock (MPI 3.1 section 11.5.3), and the holder may wait for something
 * that the caller does next. So the caller continues, and its accesses to the target wait instead. */
static void refuse_for_now(struct an_lock_request *request)
{
    request->late = true;
    an_window_peer(request->by, request->target)->lock_waits = true;
    an_rank_notify(request->by->rank, pf_engine_now() + request->answer);
}

static void requested(struct pf_event *event)
{
    struct an_lock_request *request = pf_container_of(event, struct an_lock_request, event);
    struct an_rma *rma = request->rma;
    request->order = rma->arrived_locks++;
    if (request->target < 0) {
        request->ahead = rma->exclusives;
        AN_QUEUE_PUSH(&rma->waits_for_all, request);
        serve_all(rma);
        return;
    }
    struct an_target_lock *lock = &rma->locks[request->target];
    rma->exclusives += request->type == AN_EXCLUSIVE;
    AN_QUEUE_PUSH(&lock->queue, request);
    serve(rma, lock);
    if (lock->queue.last == request && !request->must)
        refuse_for_now(request);
}

static void exclusive_is_over(struct an_rma *rma, uint64_t order)
{
    rma->exclusives--;
    for (struct an_lock_request *r = rma->waits_for_all.first; r; r = r->next)
        r->ahead -= r->order > order;
    serve_all(rma);
}

static void given_back(struct pf_event *event)
{
    struct an_lock_request *request = pf_container_of(event, struct an_lock_request, event);
    struct an_rma *rma = request->rma;
    if (request->target < 0) {
        rma->sharers_of_all--;
        for (int i = 0; rma->sharers_of_all == 0 && rma->exclusives > 0 && i < rma->size; i++)
            serve(rma, &rma->locks[i]);
    } else {
        struct an_target_lock *lock = &rma->locks[request->target];
        if (request->type == AN_EXCLUSIVE) {
            lock->exclusive = false;
            exclusive_is_over(rma, lock->order);
        } else {
            lock->sharers--;
        }
        serve(rma, lock);
    }
    discard(request);
}

/* ---- at the origin ---- */

/* A message to all has arrived when it reaches the farthest member. */
static void find_farthest(struct an_window *win)
{
    for (int i = 0; i < win->rma->size; i++) {
        win->farthest_to = fmax(win->farthest_to, an_window_control(win, win->me, i));
        win->farthest_from = fmax(win->farthest_from, an_window_control(win, i, win->me));
    }
}

static double travel_to(struct an_window *win, int target)
{
    if (target < 0 && win->farthest_to < 0)
        find_farthest(win);
    return target < 0 ? win->farthest_to : an_window_control(win, win->me, target);
}

static double travel_from(const struct an_window *win, int target)
{
    return target < 0 ? win->farthest_from : an_window_control(win, target, win->me);
}

static struct an_lock_request *send(struct an_window *win, int target, enum an_lock type,
                                    void (*fn)(struct pf_event *))
{
    struct an_lock_request *request = pf_pool_get(&requests);
    *request = (struct an_lock_request){.rma = win->rma, .by = win, .target = target, .type = type};
    win->rma->references++;
    pf_event_init(&request->event, fn);
    pf_engine_post(&request->event, an_now(win->rank) + travel_to(win, target));
    return request;
}

static void acquire(struct an_window *win, int target, enum an_lock type, bool must)
{
    an_rank_pay_call(win->rank);
    struct an_lock_request *request = send(win, target, type, requested);
    request->answer = travel_from(win, target);
    request->must = must;
    an_rank_await(win->rank, 1, an_now(win->rank));
}

static int an_win_lock(int type, int rank, int assertion, MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    struct an_peer *peer = an_window_peer(win, rank);
    enum an_lock wanted = type == MPI_LOCK_EXCLUSIVE ? AN_EXCLUSIVE : AN_SHARED;
    if (assertion & MPI_MODE_NOCHECK) {
        an_rank_pay_call(win->rank);
        an_rank_settle(win->rank);
        wanted = AN_UNCHECKED;
    } else {
        /* The rank may access its own memory, or memory shared with it, without another call. */
        acquire(win, rank, wanted, rank == win->me || (assertion & AN_MODE_HELD));
    }
    peer->lock = wanted;
    return MPI_SUCCESS;
}

/* Gives the lock back; in MPICH the target says that it has it. */
static void release(struct an_window *win, int target, enum an_lock type)
{
    send(win, target, type, given_back);
    if (an_job.by_words)
        an_window_reach(win, an_now(win->rank) + travel_to(win, target) + travel_from(win, target));
}

/* Releases the lock when all operations at the target have ended. */
static int an_win_unlock(int rank, MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    struct an_peer *peer = an_window_peer(win, rank);
    if (peer->lock_waits) {
        peer->unlock_waits = true;
        peer->flow.pending++;
    }
    an_flow_await(win, &peer->flow, false);
    if (peer->lock != AN_UNCHECKED)
        release(win, rank, peer->lock);
    peer->lock = AN_UNLOCKED;
    return MPI_SUCCESS;
}

static int an_win_lock_all(int assertion, MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    win->unchecked_all = assertion & MPI_MODE_NOCHECK;
    if (win->unchecked_all) {
        an_rank_pay_call(win->rank);
        an_rank_settle(win->rank);
    } else {
        acquire(win, -1, AN_SHARED, true);
    }
    win->locked_all = true;
    return MPI_SUCCESS;
}

static int an_win_unlock_all(MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    an_flow_await(win, &win->all, false);
    if (!win->unchecked_all)
        release(win, -1, AN_SHARED);
    win->locked_all = false;
    return MPI_SUCCESS;
}

static int flush(int rank, MPI_Win handle, bool safe)
{
    struct an_window *win = an_window_of(handle);
    if (!an_window_is_member(win, rank))
        return MPI_ERR_RANK;
    struct an_peer *peer = an_window_peer(win, rank);
    an_flow_await(win, &peer->flow, safe);
    return MPI_SUCCESS;
}

static int flush_all(MPI_Win handle, bool safe)
{
    struct an_window *win = an_window_of(handle);
    an_flow_await(win, &win->all, safe);
    return MPI_SUCCESS;
}

static int an_win_flush(int rank, MPI_Win win)
{
    return flush(rank, win, false);
}

static int an_win_flush_local(int rank, MPI_Win win)
{
    return flush(rank, win, true);
}

static int an_win_flush_all(MPI_Win win)
{
    return flush_all(win, false);
}

static int an_win_flush_local_all(MPI_Win win)
{
    return flush_all(win, true);
}

void an_lock_install(struct pf_own_fn *fn)
{
    fn->Win_lock = an_win_lock;
    fn->Win_unlock = an_win_unlock;
    fn->Win_lock_all = an_win_lock_all;
    fn->Win_unlock_all = an_win_unlock_all;
    fn->Win_flush = an_win_flush;
    fn->Win_flush_local = an_win_flush_local;
    fn->Win_flush_all = an_win_flush_all;
    fn->Win_flush_local_all = an_win_flush_local_all;
}
