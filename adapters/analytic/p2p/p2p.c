/* SPDX-License-Identifier: BSD-3-Clause */
/* The native functions that send and receive. */
#include "adapters/analytic/p2p/p2p.h"

#include <limits.h>

#include "pf_fn.h"

int an_check_peer(MPI_Comm handle, int peer, int tag, bool receives)
{
    const struct an_comm *comm = an_comm_of(handle);
    if (!comm)
        return MPI_ERR_COMM;
    if ((peer < 0 || peer >= comm->peers) && peer != MPI_PROC_NULL && !(receives && peer == MPI_ANY_SOURCE))
        return MPI_ERR_RANK;
    return tag >= 0 || (receives && tag == MPI_ANY_TAG) ? MPI_SUCCESS : MPI_ERR_TAG;
}

static int check(const struct an_send *s, MPI_Comm comm)
{
    int error = an_check_peer(comm, s->peer, s->tag, false);
    return error ? error : an_check_data(s->count, s->type);
}

/* A buffered send must find room in the attached buffer. */
static int reserve(const struct an_send *s)
{
    const struct an_rank *rank = s->comm->rank;
    if (s->mode != PF_COST_BUFFERED)
        return MPI_SUCCESS;
    size_t bytes = an_data_bytes(s->count, s->type);
    return rank->bsend_buffer && rank->bsend_used + (int64_t)bytes <= rank->bsend_size ? MPI_SUCCESS
                                                                                       : MPI_ERR_BUFFER;
}

/* Whether there is something to send; an error code otherwise, or MPI_SUCCESS. */
static bool may_send(const struct an_send *s, MPI_Comm comm, int *error)
{
    *error = check(s, comm);
    if (*error || s->peer == MPI_PROC_NULL)
        return false;
    *error = reserve(s);
    return !*error;
}

struct an_request *an_start_send(const struct an_send *send)
{
    struct an_request *request = an_send_request(send);
    request->done_at = an_message_send(send, &request);
    pf_cost_inflow_set(&request->inflow, &send->comm->rank->inflow);
    an_message_acknowledged(send, request);
    return request;
}

static int isend(const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                 MPI_Request *handle, enum pf_cost_mode mode)
{
    struct an_send s = {an_comm_of(comm), an_buffer(buffer), count, type, dest, tag, mode};
    int error;
    *handle = MPI_REQUEST_NULL;
    if (!may_send(&s, comm, &error))
        return error;
    *handle = (MPI_Request)an_start_send(&s);
    return MPI_SUCCESS;
}

/* A send that does not wait for its receive needs no request. */
static int send(const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                enum pf_cost_mode mode)
{
    struct an_send s = {an_comm_of(comm), an_buffer(buffer), count, type, dest, tag, mode};
    struct an_request *request = NULL;
    int error;
    if (!may_send(&s, comm, &error))
        return error;
    double begun = an_now(s.comm->rank), done_at = an_message_send(&s, &request);
    an_rank_sends(s.comm->rank, begun, done_at);
    if (!request) {
        an_rank_reach(s.comm->rank, done_at);
        an_message_awaited(&s, done_at);
        an_rank_outlast(s.comm->rank, done_at, &s.comm->rank->inflow);
        an_message_outlasted(&s);
        return MPI_SUCCESS;
    }
    MPI_Request handle = (MPI_Request)request;
    an_request_await(request);
    an_request_outlast(request, PF_CHAIN_TRANSFER);
    return an_request_finish(&handle, NULL);
}

#define SENDS(name, iname, blocking_mode, mode)                                                              \
    static int an_##name(const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) \
    {                                                                                                        \
        return send(buffer, count, type, dest, tag, comm, blocking_mode);                                    \
    }                                                                                                        \
    static int an_##iname(const void *buffer, int count, MPI_Datatype type, int dest, int tag,               \
                          MPI_Comm comm, MPI_Request *request)                                               \
    {                                                                                                        \
        int error = isend(buffer, count, type, dest, tag, comm, request, mode);                              \
        if (*request != MPI_REQUEST_NULL)                                                                    \
            an_rank_pace(an_comm_of(comm)->rank);                                                            \
        return error;                                                                                        \
    }

SENDS(send, isend, PF_COST_BLOCKING, PF_COST_STANDARD)
SENDS(bsend, ibsend, PF_COST_BUFFERED, PF_COST_BUFFERED)
SENDS(ssend, issend, PF_COST_SYNCHRONOUS, PF_COST_SYNCHRONOUS)
SENDS(rsend, irsend, PF_COST_READY, PF_COST_READY)

static void post(struct an_comm *comm, int source, int tag, struct an_request *request)
{
    if (an_job.posts)
        request->rank->debt += pf_cost_post(an_job.cost, an_data_bytes(request->count, request->type));
    request->posted = an_now(request->rank);
    request->path = an_path_post(request->rank, request->posted, an_receive_class());
    an_message_receive(comm, an_source(source), an_tag(tag), request);
}

struct an_request *an_start_receive(struct an_comm *comm, void *buffer, int count, MPI_Datatype type,
                                    int source, int tag)
{
    struct an_request *request = an_request_new(comm->rank, AN_RECEIVE);
    an_request_describe(request, buffer, count, type);
    post(comm, source, tag, request);
    return request;
}

static int start_receive(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                         MPI_Request *handle)
{
    int error = an_check_peer(comm, source, tag, true);
    if (!error)
        error = an_check_data(count, type);
    *handle = MPI_REQUEST_NULL;
    if (error || source == MPI_PROC_NULL)
        return error;
    *handle = (MPI_Request)an_start_receive(an_comm_of(comm), buffer, count, type, source, tag);
    return MPI_SUCCESS;
}

static void pay_call(struct an_rank *rank)
{
    an_rank_pay_call(rank);
    an_rank_pace(rank);
}

static int an_irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                    MPI_Request *handle)
{
    int error = start_receive(buffer, count, type, source, tag, comm, handle);
    if (*handle != MPI_REQUEST_NULL)
        pay_call(an_comm_of(comm)->rank);
    return error;
}

static int an_recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                   MPI_Status *status)
{
    MPI_Request handle;
    int error = start_receive(buffer, count, type, source, tag, comm, &handle);
    if (error)
        return error;
    if (handle == MPI_REQUEST_NULL) {
        an_status_set_nothing(status);
        return MPI_SUCCESS;
    }
    an_request_await((struct an_request *)handle);
    return an_request_finish(&handle, status);
}

static int an_sendrecv(const void *out, int out_count, MPI_Datatype out_type, int dest, int sendtag, void *in,
                       int in_count, MPI_Datatype in_type, int source, int recvtag, MPI_Comm comm,
                       MPI_Status *status)
{
    MPI_Request handles[2];
    struct an_send s = {an_comm_of(comm), out, out_count, out_type, dest, sendtag, PF_COST_BLOCKING};
    int error = check(&s, comm);
    if (!error)
        error = start_receive(in, in_count, in_type, source, recvtag, comm, &handles[1]);
    if (error)
        return error;
    double begun = an_now(s.comm->rank);
    isend(out, out_count, out_type, dest, sendtag, comm, &handles[0], PF_COST_BLOCKING);
    if (handles[0] != MPI_REQUEST_NULL)
        an_rank_sends(s.comm->rank, begun, ((struct an_request *)handles[0])->done_at);
    an_wait_all(2, handles);
    if (handles[0] != MPI_REQUEST_NULL)
        an_request_finish(&handles[0], NULL);
    if (handles[1] != MPI_REQUEST_NULL)
        return an_request_finish(&handles[1], status);
    an_status_set_nothing(status);
    return MPI_SUCCESS;
}

static int an_sendrecv_replace(void *buffer, int count, MPI_Datatype type, int dest, int sendtag, int source,
                               int recvtag, MPI_Comm comm, MPI_Status *status)
{
    int class, error = an_check_data(count, type);
    if (error)
        return error;
    size_t bytes = an_data_bytes(count, type);
    bool derived = an_data_is_derived(type);
    if (derived && bytes > INT_MAX) /* no count can describe so many packed bytes */
        return MPI_ERR_COUNT;
    char *room = an_data_room(bytes, &class);
    an_data_pack(an_buffer(buffer), count, type, room);
    error = an_sendrecv(room, derived ? (int)bytes : count, derived ? MPI_BYTE : type, dest, sendtag, buffer,
                        count, type, source, recvtag, comm, status);
    an_data_give_back(room, class);
    return error;
}

/* ---- persistent requests ---- */

static int init(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                MPI_Request *handle, enum an_kind kind, enum pf_cost_mode mode)
{
    int error = an_check_peer(comm, peer, tag, kind == AN_RECEIVE);
    if (!error)
        error = an_check_data(count, type);
    *handle = MPI_REQUEST_NULL;
    if (error || peer == MPI_PROC_NULL)
        return error;
    struct an_request *request = an_request_new(an_comm_of(comm)->rank, kind);
    request->persistent = true;
    request->active = false;
    request->comm = an_comm_of(comm);
    request->envelope.source = peer;
    request->envelope.tag = tag;
    request->mode = mode;
    request->buffer = (void *)(uintptr_t)buffer;
    request->count = count;
    request->type = type;
    *handle = (MPI_Request)request;
    return MPI_SUCCESS;
}

#define INIT(name, data, kind, mode)                                                                         \
    static int an_##name(data *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,       \
                         MPI_Request *request)                                                               \
    {                                                                                                        \
        return init(buffer, count, type, peer, tag, comm, request, kind, mode);                              \
    }

INIT(send_init, const void, AN_SEND, PF_COST_STANDARD)
INIT(bsend_init, const void, AN_SEND, PF_COST_BUFFERED)
INIT(ssend_init, const void, AN_SEND, PF_COST_SYNCHRONOUS)
INIT(rsend_init, const void, AN_SEND, PF_COST_READY)
INIT(recv_init, void, AN_RECEIVE, PF_COST_STANDARD)

/* The middleware makes a new persistent request for each start, so each is started once. */
static int an_start(MPI_Request *handle)
{
    struct an_request *request = (struct an_request *)*handle;
    if (!request || !request->persistent || request->active)
        return MPI_ERR_REQUEST;
    struct an_send s = {request->comm, an_buffer(request->buffer), request->count,
                        request->type, request->envelope.source,   request->envelope.tag,
                        request->mode};
    int error = request->kind == AN_SEND ? reserve(&s) : MPI_SUCCESS;
    if (error)
        return error;
    request->active = true;
    an_request_describe(request, request->buffer, request->count, request->type);
    request->rank->debt += pf_cost_start(an_job.cost, 1);
    if (request->kind == AN_SEND) {
        request->done_at = an_message_send(&s, &request);
        pf_cost_inflow_set(&request->inflow, &s.comm->rank->inflow);
        an_message_acknowledged(&s, request);
        an_rank_pace(request->rank);
    } else {
        post(request->comm, s.peer, s.tag, request);
        pay_call(request->rank);
    }
    return MPI_SUCCESS;
}

/* ---- the attached buffer: the engine stores the messages, the buffer's size only limits them ---- */

static int an_buffer_attach(void *buffer, int size)
{
    struct an_rank *rank = an_rank_self();
    rank->bsend_buffer = buffer;
    rank->bsend_size = size;
    rank->bsend_used = 0;
    rank->buffer_number++;
    return MPI_SUCCESS;
}

static int an_buffer_detach(void *buffer, int *size)
{
    struct an_rank *rank = an_rank_self();
    *(void **)buffer = rank->bsend_buffer;
    *size = rank->bsend_size;
    rank->bsend_buffer = NULL;
    rank->bsend_size = 0;
    return MPI_SUCCESS;
}

void an_p2p_install(struct pf_own_fn *fn)
{
    fn->Send = an_send;
    fn->Bsend = an_bsend;
    fn->Ssend = an_ssend;
    fn->Rsend = an_rsend;
    fn->Isend = an_isend;
    fn->Ibsend = an_ibsend;
    fn->Issend = an_issend;
    fn->Irsend = an_irsend;
    fn->Recv = an_recv;
    fn->Irecv = an_irecv;
    fn->Sendrecv = an_sendrecv;
    fn->Sendrecv_replace = an_sendrecv_replace;
    fn->Send_init = an_send_init;
    fn->Bsend_init = an_bsend_init;
    fn->Ssend_init = an_ssend_init;
    fn->Rsend_init = an_rsend_init;
    fn->Recv_init = an_recv_init;
    fn->Start = an_start;
    fn->Buffer_attach = an_buffer_attach;
    fn->Buffer_detach = an_buffer_detach;
}
