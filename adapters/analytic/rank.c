/* SPDX-License-Identifier: BSD-3-Clause */
/* How the date of a rank moves, and how it waits for requests. */
#include "adapters/analytic/internal.h"

#include <string.h>

#include "adapters/local/types.h"

/*
 * A rank that knows when its call ends does not need to stop the simulation for it: it may run ahead by this
 * much, and by this many calls. Other ranks cannot see that, because what it sends carries its own date; only
 * the order in which ranks of one node ask for their NIC could differ from the order of the dates.
 */
#define MOST_DEBT  5e-6
#define MOST_CALLS 32

struct an_rank *an_rank_self(void)
{
    return an_job.ranks[pf_self()->rank];
}

void an_rank_park(struct an_rank *rank)
{
    pf_waiter_park(&rank->waiter);
    /* A request that was settled between the event and the rank's turn has rung once more: a later wait would
     * take that for its own. */
    pf_engine_cancel(&rank->wake);
    rank->debt = 0;
    rank->calls_in_debt = 0;
}

static void park_until(struct an_rank *rank, double date)
{
    pf_engine_post(&rank->wake, date);
    an_rank_park(rank);
}

void an_rank_settle(struct an_rank *rank)
{
    if (rank->debt > 0)
        park_until(rank, an_now(rank));
}

void an_rank_reach(struct an_rank *rank, double date)
{
    double now = pf_engine_now(), ahead = date - now;
    if (ahead < rank->debt)
        ahead = rank->debt;
    if (ahead <= MOST_DEBT && ++rank->calls_in_debt < MOST_CALLS)
        rank->debt = ahead;
    else if (ahead > 0)
        park_until(rank, now + ahead);
    else
        rank->calls_in_debt = 0;
}

void an_rank_pace(struct an_rank *rank)
{
    if (rank->debt > MOST_DEBT)
        an_rank_settle(rank);
}

static struct pf_pool requests = PF_POOL(struct an_request);

static void notice_rings(struct pf_event *event)
{
    struct an_request *request = pf_container_of(event, struct an_request, notice);
    an_job.on_progress(request->rank->mpi);
}

struct an_request *an_request_new(struct an_rank *rank, enum an_kind kind)
{
    struct an_request *request = pf_pool_get(&requests);
    request->kind = kind;
    request->rank = rank;
    request->box = NULL; /* without one, its envelope says nothing */
    request->message = NULL;
    request->done_at = INFINITY;
    request->work = 0;
    request->status = (MPI_Status){.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};
    request->waited = request->watched = request->freed = false;
    request->persistent = request->keeps_type = false;
    request->active = true;
    pf_event_init(&request->notice, notice_rings);
    return request;
}

static void drop_type(struct an_request *request)
{
    if (request->keeps_type)
        pf_local_type_drop(request->type);
    request->keeps_type = false;
}

void an_request_describe(struct an_request *request, const void *buffer, int count, MPI_Datatype type)
{
    request->buffer = an_buffer(buffer);
    request->count = count;
    request->type = type;
    request->keeps_type = an_data_is_derived(type);
    if (request->keeps_type)
        pf_local_type_keep(type);
}

void an_request_release(struct an_request *request)
{
    if (pf_event_pending(&request->notice))
        pf_engine_cancel(&request->notice);
    if (request->kind == AN_RECEIVE && request->message)
        an_message_free(request->message);
    if (request->keeps_type)
        drop_type(request);
    pf_pool_put(&requests, request);
}

void an_rank_await(struct an_rank *rank, int unknown, double date)
{
    rank->any = false;
    rank->unknown = unknown;
    rank->wake_at = date;
    an_rank_park(rank);
}

/* The rank knows when it goes on. Nothing else has been posted since the one before. */
static void post_wake(struct an_rank *rank, struct an_rank **last)
{
    if (*last && (*last)->wake_at == rank->wake_at)
        (*last)->wake_next = rank;
    else
        pf_engine_post(&rank->wake, rank->wake_at);
    *last = rank;
}

/* A date that the blocked rank waits for has become known. */
static void tell(struct an_rank *rank, double date, struct an_rank **last)
{
    if (rank->any) {
        *last = NULL; /* its event may yet move */
        if (date < rank->wake_at || !pf_event_pending(&rank->wake))
            pf_engine_post(&rank->wake, rank->wake_at = fmax(date, rank->busy_until));
        return;
    }
    if (date > rank->wake_at)
        rank->wake_at = date;
    if (--rank->unknown == 0)
        post_wake(rank, last);
}

void an_rank_tell(struct an_rank *rank, double date)
{
    struct an_rank *last = NULL;
    tell(rank, date, &last);
}

void an_rank_begin_work(struct an_rank *rank)
{
    rank->busy_until = an_now(rank);
    rank->work_from = INFINITY;
    rank->work = 0;
}

double an_rank_work(struct an_rank *rank, const struct an_request *request)
{
    if (request->work == 0)
        return request->done_at;
    rank->work_from = fmin(rank->work_from, fmax(rank->busy_until, request->done_at - request->work));
    rank->work += request->work;
    return fmax(request->done_at, rank->work_from + rank->work);
}

void an_request_settle_next(struct an_request *request, double date, struct an_rank **last)
{
    request->done_at = date;
    if (request->waited)
        tell(request->rank, request->rank->any ? date : an_rank_work(request->rank, request), last);
    if (request->watched) {
        *last = NULL;
        pf_engine_post(&request->notice, date);
    }
    if (request->freed)
        an_request_release(request);
}

void an_request_settle(struct an_request *request, double date)
{
    struct an_rank *last = NULL;
    an_request_settle_next(request, date, &last);
}

void an_request_await(struct an_request *request)
{
    struct an_rank *rank = request->rank;
    an_rank_begin_work(rank);
    if (request->done_at < INFINITY) {
        an_rank_reach(rank, an_rank_work(rank, request));
    } else {
        request->waited = true;
        an_rank_await(rank, 1, an_now(rank));
        request->waited = false;
    }
    rank->looked = an_now(rank);
}

void an_request_watch(struct an_request *request)
{
    if (request->watched)
        return;
    request->watched = true;
    if (request->done_at < INFINITY)
        pf_engine_post(&request->notice, request->done_at);
}

int an_request_finish(MPI_Request *handle, MPI_Status *status)
{
    struct an_request *request = (struct an_request *)*handle;
    if (request->kind == AN_RECEIVE && request->message) {
        struct an_message *m = request->message;
        size_t room = an_data_bytes(request->count, request->type);
        an_data_unpack(m->payload, m->bytes < room ? m->bytes : room, request->buffer, request->type);
    }
    if (status)
        *status = request->status;
    int error = request->status.MPI_ERROR;
    if (request->persistent) {
        if (request->kind == AN_RECEIVE && request->message)
            an_message_free(request->message);
        request->message = NULL;
        drop_type(request);
        request->active = request->watched = false;
        pf_engine_cancel(&request->notice);
    } else {
        an_request_release(request);
        *handle = MPI_REQUEST_NULL;
    }
    return error;
}
