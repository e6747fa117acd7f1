/* SPDX-License-Identifier: BSD-3-Clause */
/* The native functions that complete operations. A rank blocks at most once per call. */
#include "adapters/analytic/p2p/p2p.h"

#include "pf_fn.h"

static struct an_request *request_of(MPI_Request handle)
{
    struct an_request *request = (struct an_request *)handle;
    return request && request->active ? request : NULL;
}

static struct an_rank *rank_of(int n, MPI_Request handles[])
{
    for (int i = 0; i < n; i++)
        if (request_of(handles[i]))
            return request_of(handles[i])->rank;
    return NULL;
}

/* A test sees what has arrived. */
static void poll(int n, MPI_Request handles[])
{
    struct an_rank *rank = an_job_reads() ? rank_of(n, handles) : NULL;
    if (rank)
        an_rank_poll(rank, false);
}

/* A single long message of a kind shares nothing but its target's NIC. */
static bool must_outlast_only(struct an_rank *rank, int n, MPI_Request handles[], enum an_kind kind)
{
    struct an_request *only = NULL;
    for (int i = 0; i < n; i++) {
        struct an_request *request = request_of(handles[i]);
        if (!request || request->kind != kind || !request->inflow.node)
            continue;
        if (only)
            return false;
        only = request;
    }
    if (!only || !an_rank_must_outlast(rank, only->done_at, &only->inflow))
        return false;
    an_request_follow(only);
    an_request_late(only, only->done_at + pf_cost_late(an_job.cost, &only->inflow), PF_CHAIN_TRANSFER);
    return true;
}

bool an_must_wait_all(struct an_rank *rank, int n, MPI_Request handles[])
{
    double latest = an_now(rank);
    int unknown = 0;
    an_rank_begin_work(rank);
    for (int i = 0; i < n; i++) {
        struct an_request *request = request_of(handles[i]);
        if (!request)
            continue;
        if (request->done_at == INFINITY) {
            request->waited = true;
            unknown++;
        } else {
            latest = fmax(latest, an_rank_work(rank, request));
        }
    }
    if (unknown == 0)
        return an_rank_must_reach(rank, latest);
    an_rank_begin_await(rank, unknown, latest);
    return true;
}

/* Another wait may begin, and what has ended this one is known now: the latest, and of several the first.
 * Predictions take all in, and what has outlasted its own date is met by itself. */
static void meet_last(struct an_rank *rank, int n, MPI_Request handles[])
{
    struct an_request *last = NULL;
    int64_t most = 0, now = pf_chain_count(an_now(rank)) + 1;
    for (int i = 0; i < n; i++) {
        struct an_request *request = request_of(handles[i]);
        if (!request || !request->path)
            continue;
        int64_t date = pf_chain_count(request->done_at);
        if (pf_chain_predicts || request->inflow.node)
            an_request_met(request);
        else if (date <= now && (!last || date > most)) {
            last = request;
            most = date;
        }
    }
    if (last)
        an_request_met(last);
}

bool an_must_wait_on(struct an_rank *rank, int n, MPI_Request handles[])
{
    bool shares = false;
    for (int i = 0; i < n; i++) {
        struct an_request *request = request_of(handles[i]);
        if (!request)
            continue;
        request->waited = false;
        shares |= request->inflow.node != 0;
    }
    if (__builtin_expect(pf_chain_on, 0))
        meet_last(rank, n, handles);
    if (__builtin_expect(shares, 0) &&
        (must_outlast_only(rank, n, handles, AN_SEND) || must_outlast_only(rank, n, handles, AN_RECEIVE) ||
         (an_job_reads() && must_outlast_only(rank, n, handles, AN_COLLECTIVE))))
        return true;
    rank->polled_at = an_now(rank);
    rank->polls = false;
    return false;
}

void an_wait_all(int n, MPI_Request handles[])
{
    struct an_rank *rank = rank_of(n, handles);
    if (!rank)
        return;
    if (an_must_wait_all(rank, n, handles))
        an_rank_park(rank);
    while (an_must_wait_on(rank, n, handles))
        an_rank_park(rank);
}

/* Waits until one of them is done. */
static void wait_any(struct an_rank *rank, int n, MPI_Request handles[])
{
    an_rank_poll(rank, true);
    double earliest = INFINITY, now = an_now(rank);
    int unknown = 0;
    for (int i = 0; i < n; i++) {
        struct an_request *request = request_of(handles[i]);
        if (!request)
            continue;
        unknown += request->done_at == INFINITY;
        if (request->done_at < earliest)
            earliest = request->done_at;
    }
    if (earliest <= now || unknown == 0) {
        an_rank_reach(rank, earliest);
        rank->polls = false;
        return;
    }
    for (int i = 0; i < n; i++)
        if (request_of(handles[i]))
            request_of(handles[i])->waited = request_of(handles[i])->done_at == INFINITY;
    rank->any = true;
    rank->busy_until = now;
    rank->wake_at = earliest;
    if (earliest < INFINITY)
        pf_engine_post(&rank->wake, earliest);
    an_rank_park(rank);
    rank->polls = false;
    for (int i = 0; i < n; i++)
        if (request_of(handles[i]))
            request_of(handles[i])->waited = false;
}

static void empty(MPI_Status *status)
{
    if (status)
        *status = (MPI_Status){.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};
}

static int finish(MPI_Request *handle, MPI_Status *status)
{
    if (request_of(*handle))
        return an_request_finish(handle, status);
    empty(status);
    return MPI_SUCCESS;
}

static MPI_Status *status_at(MPI_Status statuses[], int i)
{
    return statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[i];
}

static int finish_all(int n, MPI_Request handles[], MPI_Status statuses[])
{
    int result = MPI_SUCCESS;
    for (int i = 0; i < n; i++) {
        int error = finish(&handles[i], status_at(statuses, i));
        if (error != MPI_SUCCESS)
            result = MPI_ERR_IN_STATUS;
    }
    return result;
}

static int an_wait(MPI_Request *handle, MPI_Status *status)
{
    if (an_job_reads())
        an_wait_all(1, handle);
    else if (request_of(*handle))
        an_request_await(request_of(*handle));
    return finish(handle, status);
}

static int an_waitall(int n, MPI_Request handles[], MPI_Status statuses[])
{
    an_wait_all(n, handles);
    return finish_all(n, handles, statuses);
}

static int first_done(int n, MPI_Request handles[])
{
    poll(n, handles);
    for (int i = 0; i < n; i++)
        if (request_of(handles[i]) && an_request_is_done(request_of(handles[i])))
            return i;
    return MPI_UNDEFINED;
}

static int take_any(int n, MPI_Request handles[], int *index, MPI_Status *status)
{
    *index = first_done(n, handles);
    if (*index != MPI_UNDEFINED)
        return finish(&handles[*index], status);
    empty(status);
    return MPI_SUCCESS;
}

static int an_waitany(int n, MPI_Request handles[], int *index, MPI_Status *status)
{
    struct an_rank *rank = rank_of(n, handles);
    if (rank)
        wait_any(rank, n, handles);
    return take_any(n, handles, index, status);
}

static int take_some(int n, MPI_Request handles[], int *count, int indices[], MPI_Status statuses[])
{
    int result = MPI_SUCCESS;
    poll(n, handles);
    *count = 0;
    for (int i = 0; i < n; i++) {
        if (!request_of(handles[i]) || !an_request_is_done(request_of(handles[i])))
            continue;
        if (finish(&handles[i], status_at(statuses, *count)) != MPI_SUCCESS)
            result = MPI_ERR_IN_STATUS;
        indices[(*count)++] = i;
    }
    return result;
}

static int an_waitsome(int n, MPI_Request handles[], int *count, int indices[], MPI_Status statuses[])
{
    struct an_rank *rank = rank_of(n, handles);
    *count = MPI_UNDEFINED;
    if (!rank)
        return MPI_SUCCESS;
    wait_any(rank, n, handles);
    return take_some(n, handles, count, indices, statuses);
}

static int an_test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    poll(1, handle);
    *flag = !request_of(*handle) || an_request_is_done(request_of(*handle));
    return *flag ? finish(handle, status) : MPI_SUCCESS;
}

static int an_testall(int n, MPI_Request handles[], int *flag, MPI_Status statuses[])
{
    poll(n, handles);
    *flag = 0;
    for (int i = 0; i < n; i++)
        if (request_of(handles[i]) && !an_request_is_done(request_of(handles[i])))
            return MPI_SUCCESS;
    *flag = 1;
    return finish_all(n, handles, statuses);
}

static int an_testany(int n, MPI_Request handles[], int *index, int *flag, MPI_Status *status)
{
    bool some = rank_of(n, handles) != NULL;
    int error = take_any(n, handles, index, status);
    *flag = *index != MPI_UNDEFINED || !some;
    return error;
}

static int an_testsome(int n, MPI_Request handles[], int *count, int indices[], MPI_Status statuses[])
{
    *count = MPI_UNDEFINED;
    return rank_of(n, handles) ? take_some(n, handles, count, indices, statuses) : MPI_SUCCESS;
}

static int an_request_free(MPI_Request *handle)
{
    struct an_request *request = (struct an_request *)*handle;
    *handle = MPI_REQUEST_NULL;
    if (!request)
        return MPI_ERR_REQUEST;
    an_rank_poll(request->rank, true); /* no wait will answer for it */
    request->rank->polls = false;
    if (!request->active || (request->done_at < INFINITY && !request->message))
        an_request_release(request);
    else
        request->freed = true;
    return MPI_SUCCESS;
}

static void cancelled(struct an_request *request)
{
    request->status.cancelled = 1;
    an_request_settle(request, an_now(request->rank));
}

/* What is not matched can be cancelled: posted receives, and sends that wait for their receive. */
static int an_cancel(MPI_Request *handle)
{
    struct an_request *request = request_of(*handle);
    if (!request)
        return MPI_ERR_REQUEST;
    if (request->match) {
        an_message_withdraw(request);
        cancelled(request);
    } else if (request->kind == AN_SEND && request->message && request->message->match) {
        an_message_remove(request->message);
        an_message_free(request->message);
        request->message = NULL;
        cancelled(request);
    }
    return MPI_SUCCESS;
}

void an_wait_install(struct pf_own_fn *fn)
{
    fn->Wait = an_wait;
    fn->Waitall = an_waitall;
    fn->Waitany = an_waitany;
    fn->Waitsome = an_waitsome;
    fn->Test = an_test;
    fn->Testall = an_testall;
    fn->Testany = an_testany;
    fn->Testsome = an_testsome;
    fn->Request_free = an_request_free;
    fn->Cancel = an_cancel;
}
