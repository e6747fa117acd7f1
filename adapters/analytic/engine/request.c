/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a request, and the memory of the message that a receive may keep. */
#include "adapters/analytic/engine/engine.h"

#include "adapters/local/types.h"

static struct pf_pool requests = PF_POOL(struct an_request);
static struct pf_pool messages = PF_POOL(struct an_message);

struct an_message *an_message_new(void)
{
    return pf_pool_get(&messages);
}

void an_message_free(struct an_message *m)
{
    pf_engine_cancel(&m->arrival);
    pf_chain_drop(&m->path);
    if (m->payload)
        an_data_give_back(m->payload, m->payload_class);
    if (m->buffered && m->buffer_number == m->buffered->buffer_number)
        m->buffered->bsend_used -= (int64_t)m->bytes;
    pf_pool_put(&messages, m);
}

static void notice_rings(struct pf_event *event)
{
    struct an_request *request = pf_container_of(event, struct an_request, notice);
    an_job.on_progress(request->rank->mpi, PF_IMPL_ANALYTIC);
}

void an_request_init_notice(struct an_request *request)
{
    pf_event_init(&request->notice, notice_rings);
}

struct an_request *an_request_new(struct an_rank *rank, enum an_kind kind)
{
    struct an_request *request = pf_pool_get(&requests);
    request->kind = kind;
    request->rank = rank;
    request->match = NULL; /* without one, its envelope has no meaning */
    request->message = NULL;
    request->done_at = INFINITY;
    request->path = NULL;
    request->acknowledged_by = -1;
    request->came = NULL;
    request->leaves = NULL;
    request->work = 0;
    request->inflow.node = 0;
    request->status = (MPI_Status){.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};
    request->waited = request->watched = request->freed = false;
    request->persistent = request->keeps_type = request->any = false;
    request->active = true;
    an_request_init_notice(request);
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
    pf_chain_drop(&request->path);
    pf_chain_drop(&request->came);
    pf_pool_put(&requests, request);
}

void an_request_settle_next(struct an_request *request, double date, struct an_rank **last)
{
    request->done_at = date;
    an_rank_expect(request->rank, date);
    if (request->waited)
        an_rank_notify_next(request->rank, request->rank->any ? date : an_rank_work(request->rank, request),
                            last);
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

bool an_request_must_await(struct an_request *request)
{
    struct an_rank *rank = request->rank;
    an_rank_begin_work(rank);
    if (request->done_at < INFINITY)
        return an_rank_must_reach(rank, an_rank_work(rank, request));
    request->waited = true;
    an_rank_begin_await(rank, 1, an_now(rank));
    return true;
}

void an_request_awaited(struct an_request *request)
{
    request->waited = request->rank->polls = false;
    request->rank->polled_at = an_now(request->rank);
}

void an_request_await(struct an_request *request)
{
    if (an_request_must_await(request))
        an_rank_park(request->rank);
    an_request_awaited(request);
}

void an_request_outlast(struct an_request *request, enum pf_chain_class what)
{
    an_request_follow(request);
    an_rank_outlast(request->rank, request->done_at, &request->inflow);
    an_request_late(request, an_now(request->rank), what);
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
    an_request_met(request);
    if (request->leaves)
        an_job.leave(request);
    pf_chain_drop(&request->path);
    pf_chain_drop(&request->came);
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
