/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shortest implementation that an adapter can have: MPI for one rank that is alone. Messages go to
 * oneself, collectives copy from one buffer to the other, and nothing takes simulated time. It shows in one
 * file what an implementation must bring: values, functions, predefined handles, and the operations of struct
 * pf_adapter_ops.
 *
 * Datatypes, operations, statuses and numbers are those of adapters/local, which is SMPI's mpi.h;
 * communicators and requests are its own. A send is copied at once, so only a synchronous one can be pending.
 * One-sided communication is missing: its functions say so.
 */
#include "self_adapter.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <smpi/smpi.h>
#include <xbt/config.h>

#include "adapters/envelope.h"
#include "adapters/local/collectives.h"
#include "adapters/local/local.h"
#include "adapters/local/types.h"
#include "adapters/predefined.h"
#include "base/error.h"
#include "base/memory.h"
#include "pf_own.h"

/* The parameters are MPI's; one rank needs few of them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* ---- objects: the native handles point to them ---- */

struct comm {
    struct pf_envelope_queue sends, receives; /* unmatched */
    uint64_t order;
    int users; /* the handle, and operations in the queues */
};

struct operation {
    struct pf_envelope envelope; /* first */
    struct comm *comm;
    void *buffer; /* of a receive; of a send that is persistent */
    int count;
    MPI_Datatype type;
    void *payload; /* of a send: packed */
    size_t bytes;
    bool receives, synchronous, persistent;
    bool active; /* started, and its end has not been returned to the application */
    bool queued, done;
    bool held; /* by a request of the application */
    MPI_Status status;
};

static struct self_rank {
    struct pf_instance base;
    void *predefined[PF_PREDEFINED_LIMIT];
    void *attached;
    int attached_size;
} the_rank; /* there is one */

static struct comm *comm_new(void)
{
    struct comm *comm = pf_calloc(1, sizeof *comm);
    comm->users = 1;
    return comm;
}

static void comm_drop(struct comm *comm)
{
    if (--comm->users > 0)
        return;
    pf_envelope_queue_clear(&comm->sends, NULL); /* empty: gives back its room */
    pf_envelope_queue_clear(&comm->receives, NULL);
    free(comm);
}

static const MPI_Status empty = {.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};

static struct operation *operation_new(void)
{
    struct operation *op = pf_calloc(1, sizeof *op);
    op->type = MPI_DATATYPE_NULL; /* no null pointer in SMPI */
    op->active = op->held = true;
    op->status = empty;
    return op;
}

static void drop(struct operation *op)
{
    if (op->held || op->queued)
        return;
    if (op->type != MPI_DATATYPE_NULL)
        pf_local_type_drop(op->type);
    free(op->payload);
    free(op);
}

static void enqueue(struct operation *op)
{
    op->queued = true;
    op->comm->users++;
    op->envelope.order = op->comm->order++;
    pf_envelope_insert(op->receives ? &op->comm->receives : &op->comm->sends, &op->envelope);
}

static void dequeue(struct operation *op)
{
    pf_envelope_remove(op->receives ? &op->comm->receives : &op->comm->sends, &op->envelope);
    op->queued = false;
    comm_drop(op->comm);
}

/* ---- data ---- */

static size_t bytes_of(int count, MPI_Datatype type)
{
    return (size_t)count * pf_local_type_size(type);
}

static void *packed(const void *from, int count, MPI_Datatype type)
{
    size_t bytes = bytes_of(count, type);
    void *payload = pf_malloc(bytes + 1);
    if (bytes > 0 && pf_local_type_is_derived(type))
        pf_local_type_pack(type, count, from, payload);
    else if (bytes > 0)
        memcpy(payload, from, bytes);
    return payload;
}

static int check_data(int count, MPI_Datatype type)
{
    if (count < 0)
        return MPI_ERR_COUNT;
    return type != MPI_DATATYPE_NULL && pf_local_type_is_ready(type) ? MPI_SUCCESS : MPI_ERR_TYPE;
}

/* From one buffer of a collective to the other. */
static int move(const void *from, int n, MPI_Datatype from_type, void *to, int m, MPI_Datatype to_type)
{
    if (from == MPI_IN_PLACE || to == MPI_IN_PLACE)
        return MPI_SUCCESS;
    int error = check_data(n, from_type);
    if (!error)
        error = check_data(m, to_type);
    if (error)
        return error;
    size_t bytes = bytes_of(n, from_type), room = bytes_of(m, to_type);
    void *payload = packed(from, n, from_type);
    pf_local_type_unpack_bytes(to_type, payload, bytes < room ? bytes : room, to);
    free(payload);
    return bytes <= room ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

/* ---- messages ---- */

static void deliver(struct operation *send, struct operation *receive)
{
    size_t bytes = send->bytes, room = bytes_of(receive->count, receive->type);
    receive->status = (MPI_Status){.MPI_SOURCE = 0, .MPI_TAG = send->envelope.tag};
    if (bytes > room) {
        bytes = room;
        receive->status.MPI_ERROR = MPI_ERR_TRUNCATE;
    }
    receive->status.count = (int)bytes;
    pf_local_type_unpack_bytes(receive->type, send->payload, bytes, receive->buffer);
    send->done = receive->done = true;
}

static void start(struct operation *op)
{
    struct pf_envelope *e = &op->envelope;
    struct operation *other =
        (struct operation *)(op->receives ? pf_envelope_find(&op->comm->sends, e->source, e->tag)
                                          : pf_envelope_find(&op->comm->receives, e->source, e->tag));
    op->done = false;
    if (!op->receives) {
        free(op->payload);
        op->payload = packed(op->buffer, op->count, op->type);
        op->bytes = bytes_of(op->count, op->type);
    }
    if (!other) {
        op->done = !op->receives && !op->synchronous;
        enqueue(op);
        return;
    }
    dequeue(other);
    deliver(op->receives ? other : op, op->receives ? op : other);
    drop(other);
}

enum mode { STANDARD, SYNCHRONOUS, RECEIVE };

/* An operation that has not started, or NULL: an error, or nothing to do because the peer is MPI_PROC_NULL.
 */
static struct operation *prepare(const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                                 MPI_Comm comm, enum mode mode, int *error)
{
    bool receives = mode == RECEIVE;
    *error = check_data(count, type);
    if (!comm)
        *error = MPI_ERR_COMM;
    else if (peer != 0 && peer != MPI_PROC_NULL && !(receives && peer == MPI_ANY_SOURCE))
        *error = MPI_ERR_RANK;
    else if (tag < 0 && !(receives && tag == MPI_ANY_TAG))
        *error = MPI_ERR_TAG;
    if (*error || peer == MPI_PROC_NULL)
        return NULL;
    struct operation *op = operation_new();
    op->envelope.source = peer == MPI_ANY_SOURCE ? PF_ENVELOPE_ANY_SOURCE : 0;
    op->envelope.tag = tag == MPI_ANY_TAG ? PF_ENVELOPE_ANY_TAG : tag;
    op->comm = (struct comm *)comm;
    op->buffer = (void *)(uintptr_t)buffer;
    op->count = count;
    op->type = type;
    op->receives = receives;
    op->synchronous = mode == SYNCHRONOUS;
    pf_local_type_keep(type);
    return op;
}

static int begin(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                 enum mode mode, MPI_Request *request)
{
    int error;
    struct operation *op = prepare(buffer, count, type, peer, tag, comm, mode, &error);
    *request = (MPI_Request)op;
    if (op)
        start(op);
    return error;
}

/* ---- completion ---- */

/* A wait here lasts for ever, because there is no other rank: SimGrid reports it, and the middleware
 * explains.
 */
static void await(const struct operation *op)
{
    while (!op->done)
        sg_actor_suspend(sg_actor_self());
}

static struct operation *active(MPI_Request request)
{
    struct operation *op = (struct operation *)request;
    return op && op->active ? op : NULL;
}

static int finish(MPI_Request *request, MPI_Status *status)
{
    struct operation *op = active(*request);
    if (status)
        *status = op ? op->status : empty;
    if (!op)
        return MPI_SUCCESS;
    int error = op->status.MPI_ERROR;
    op->active = false;
    if (!op->persistent) {
        op->held = false;
        drop(op);
        *request = MPI_REQUEST_NULL;
    }
    return error;
}

static int self_wait(MPI_Request *request, MPI_Status *status)
{
    if (active(*request))
        await(active(*request));
    return finish(request, status);
}

static int self_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    *flag = !active(*request) || active(*request)->done;
    return *flag ? finish(request, status) : MPI_SUCCESS;
}

static int self_waitall(int n, MPI_Request requests[], MPI_Status statuses[])
{
    int result = MPI_SUCCESS;
    for (int i = 0; i < n; i++)
        if (self_wait(&requests[i], statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[i]) != MPI_SUCCESS)
            result = MPI_ERR_IN_STATUS;
    return result;
}

static int self_testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    *flag = 1;
    for (int i = 0; i < n; i++)
        *flag &= !active(requests[i]) || active(requests[i])->done;
    return *flag ? self_waitall(n, requests, statuses) : MPI_SUCCESS;
}

/* The active ones that are done, at most `most`: MPI_UNDEFINED when none is active. */
static int self_some(int n, MPI_Request requests[], int most, int indices[], int *count,
                     MPI_Status statuses[])
{
    int result = MPI_SUCCESS, some = 0, found = 0;
    for (int i = 0; i < n && found < most; i++) {
        some += active(requests[i]) != NULL;
        if (!active(requests[i]) || !active(requests[i])->done)
            continue;
        if (finish(&requests[i], statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[found]) != MPI_SUCCESS)
            result = most > 1 ? MPI_ERR_IN_STATUS : MPI_ERR_TRUNCATE; /* there is no other error */
        indices[found++] = i;
    }
    *count = some ? found : MPI_UNDEFINED;
    return result;
}

static int self_testsome(int n, MPI_Request requests[], int *count, int indices[], MPI_Status statuses[])
{
    return self_some(n, requests, n, indices, count, statuses);
}

static int self_waitsome(int n, MPI_Request requests[], int *count, int indices[], MPI_Status statuses[])
{
    int code = self_some(n, requests, n, indices, count, statuses);
    while (*count == 0)
        sg_actor_suspend(sg_actor_self());
    return code;
}

static int self_testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    int count;
    if (status)
        *status = empty;
    int code = self_some(n, requests, 1, index, &count, status);
    if (count != 1)
        *index = MPI_UNDEFINED;
    *flag = count != 0;
    return code;
}

static int self_waitany(int n, MPI_Request requests[], int *index, MPI_Status *status)
{
    int flag, code = self_testany(n, requests, index, &flag, status);
    while (!flag)
        sg_actor_suspend(sg_actor_self());
    return code;
}

static int self_request_free(MPI_Request *request)
{
    struct operation *op = (struct operation *)*request;
    op->held = false;
    drop(op);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int self_cancel(MPI_Request *request)
{
    struct operation *op = active(*request);
    if (!op)
        return MPI_ERR_REQUEST;
    if (op->queued && !op->done) {
        dequeue(op);
        op->status.cancelled = 1;
        op->done = true;
    }
    return MPI_SUCCESS;
}

/* ---- the calls that send and receive ---- */

static int block(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                 enum mode mode, MPI_Status *status)
{
    MPI_Request request;
    int error = begin(buffer, count, type, peer, tag, comm, mode, &request);
    if (!error && request == MPI_REQUEST_NULL && status)
        *status = (MPI_Status){.MPI_SOURCE = MPI_PROC_NULL, .MPI_TAG = MPI_ANY_TAG};
    return error || request == MPI_REQUEST_NULL ? error : self_wait(&request, status);
}

#define SEND_ARGUMENTS const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm
#define SENDS(name, mode)                                                                                    \
    static int self_##name(SEND_ARGUMENTS)                                                                   \
    {                                                                                                        \
        return block(buffer, count, type, peer, tag, comm, mode, NULL);                                      \
    }                                                                                                        \
    static int self_i##name(SEND_ARGUMENTS, MPI_Request *request)                                            \
    {                                                                                                        \
        return begin(buffer, count, type, peer, tag, comm, mode, request);                                   \
    }                                                                                                        \
    static int self_##name##_init(SEND_ARGUMENTS, MPI_Request *request)                                      \
    {                                                                                                        \
        return initialise(buffer, count, type, peer, tag, comm, mode, request);                              \
    }

static int initialise(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                      enum mode mode, MPI_Request *request)
{
    int error;
    struct operation *op = prepare(buffer, count, type, peer, tag, comm, mode, &error);
    *request = (MPI_Request)op;
    if (op) {
        op->persistent = true;
        op->active = false;
    }
    return error;
}

SENDS(send, STANDARD)
SENDS(ssend, SYNCHRONOUS)

static int self_recv_init(void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                          MPI_Request *request)
{
    return initialise(buffer, count, type, peer, tag, comm, RECEIVE, request);
}

static int self_recv(void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                     MPI_Status *status)
{
    return block(buffer, count, type, peer, tag, comm, RECEIVE, status);
}

static int self_irecv(void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                      MPI_Request *request)
{
    return begin(buffer, count, type, peer, tag, comm, RECEIVE, request);
}

static int self_sendrecv(const void *out, int n, MPI_Datatype t, int dest, int sendtag, void *in, int m,
                         MPI_Datatype u, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    int error = self_send(out, n, t, dest, sendtag, comm);
    return error ? error : self_recv(in, m, u, source, recvtag, comm, status);
}

static int self_sendrecv_replace(void *buffer, int n, MPI_Datatype t, int dest, int sendtag, int source,
                                 int recvtag, MPI_Comm comm, MPI_Status *status)
{
    return self_sendrecv(buffer, n, t, dest, sendtag, buffer, n, t, source, recvtag, comm, status);
}

static int self_start(MPI_Request *request)
{
    struct operation *op = (struct operation *)*request;
    op->active = true;
    op->status = empty;
    start(op);
    return MPI_SUCCESS;
}

static int self_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    const struct operation *send = (struct operation *)pf_envelope_find(
        &((struct comm *)comm)->sends, source == MPI_ANY_SOURCE ? PF_ENVELOPE_ANY_SOURCE : source,
        tag == MPI_ANY_TAG ? PF_ENVELOPE_ANY_TAG : tag);
    *flag = send || source == MPI_PROC_NULL;
    if (status && source == MPI_PROC_NULL)
        *status = (MPI_Status){.MPI_SOURCE = MPI_PROC_NULL, .MPI_TAG = MPI_ANY_TAG};
    else if (status && send)
        *status = (MPI_Status){.MPI_SOURCE = 0, .MPI_TAG = send->envelope.tag, .count = (int)send->bytes};
    return MPI_SUCCESS;
}

static int self_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int flag = 0, code = self_iprobe(source, tag, comm, &flag, status);
    while (!flag)
        sg_actor_suspend(sg_actor_self());
    return code;
}

/* Every send is copied: the attached buffer is only remembered. */
static int self_buffer_attach(void *buffer, int size)
{
    the_rank.attached = buffer;
    the_rank.attached_size = size;
    return MPI_SUCCESS;
}

static int self_buffer_detach(void *buffer, int *size)
{
    *(void **)buffer = the_rank.attached;
    *size = the_rank.attached_size;
    return MPI_SUCCESS;
}

/* ---- collectives of one member ---- */

static int started(int error, MPI_Request *request)
{
    struct operation *op = error ? NULL : operation_new();
    *request = (MPI_Request)op;
    if (op)
        op->done = true;
    return error;
}

static int rooted(int root, int error)
{
    return root == 0 ? error : MPI_ERR_ROOT;
}

static int reduced(const void *send, void *receive, int n, MPI_Datatype t, MPI_Op op)
{
    if (check_data(n, t))
        return check_data(n, t);
    return pf_local_can_reduce(op, t) ? move(send, n, t, receive, n, t) : MPI_ERR_OP;
}

/* Block 0 of a buffer of blocks. */
static void *block_at(const void *buffer, int displacement, MPI_Datatype type)
{
    if (buffer == MPI_IN_PLACE)
        return MPI_IN_PLACE;
    ptrdiff_t extent = type == MPI_DATATYPE_NULL ? 0 : pf_local_type_extent(type);
    return (char *)(uintptr_t)buffer + displacement * extent;
}

#define BOTH(name, expression, ...)                                                                          \
    static int self_##name(__VA_ARGS__, MPI_Comm comm)                                                       \
    {                                                                                                        \
        return comm ? (expression) : MPI_ERR_COMM;                                                           \
    }                                                                                                        \
    static int self_i##name(__VA_ARGS__, MPI_Comm comm, MPI_Request *request)                                \
    {                                                                                                        \
        return started(comm ? (expression) : MPI_ERR_COMM, request);                                         \
    }
#define FROM   const void *s, int n, MPI_Datatype t
#define TO     void *r, int m, MPI_Datatype u
#define FROM_V const void *s, const int *n, const int *d, MPI_Datatype t
#define TO_V   void *r, const int *m, const int *e, MPI_Datatype u
#define REDUCE const void *s, void *r, int n, MPI_Datatype t, MPI_Op op

BOTH(bcast, rooted(root, check_data(n, t)), void *b, int n, MPI_Datatype t, int root)
BOTH(gather, rooted(root, move(s, n, t, r, m, u)), FROM, TO, int root)
BOTH(gatherv, rooted(root, move(s, n, t, block_at(r, *e, u), *m, u)), FROM, TO_V, int root)
BOTH(scatter, rooted(root, move(s, n, t, r, m, u)), FROM, TO, int root)
BOTH(scatterv, rooted(root, move(block_at(s, *d, t), *n, t, r, m, u)), FROM_V, TO, int root)
BOTH(allgather, move(s, n, t, r, m, u), FROM, TO)
BOTH(allgatherv, move(s, n, t, block_at(r, *e, u), *m, u), FROM, TO_V)
BOTH(alltoall, move(s, n, t, r, m, u), FROM, TO)
BOTH(alltoallv,
     move(s == MPI_IN_PLACE ? s : block_at(s, *d, t), s == MPI_IN_PLACE ? 0 : *n, t, block_at(r, *e, u), *m,
          u),
     FROM_V, TO_V)
BOTH(alltoallw, s == MPI_IN_PLACE ? MPI_SUCCESS : move((const char *)s + *d, *n, *t, (char *)r + *e, *m, *u),
     const void *s, const int *n, const int *d, const MPI_Datatype *t, void *r, const int *m, const int *e,
     const MPI_Datatype *u)
BOTH(reduce, rooted(root, reduced(s, r, n, t, op)), REDUCE, int root)
BOTH(allreduce, reduced(s, r, n, t, op), REDUCE)
BOTH(scan, reduced(s, r, n, t, op), REDUCE)
BOTH(exscan, reduced(s, MPI_IN_PLACE, n, t, op), REDUCE)
BOTH(reduce_scatter_block, reduced(s, r, n, t, op), REDUCE)
BOTH(reduce_scatter, reduced(s, r, *n, t, op), const void *s, void *r, const int *n, MPI_Datatype t,
     MPI_Op op)

static int self_barrier(MPI_Comm comm)
{
    return comm ? MPI_SUCCESS : MPI_ERR_COMM;
}

static int self_ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return started(self_barrier(comm), request);
}

/* ---- communicators: the middleware knows the members, and has them made by ops->comm_shadow ---- */

#define MAKES_COMM(name, ...)                                                                                \
    static int self_##name(MPI_Comm comm, __VA_ARGS__)                                                       \
    {                                                                                                        \
        *made = MPI_COMM_NULL;                                                                               \
        return comm ? MPI_SUCCESS : MPI_ERR_COMM;                                                            \
    }

MAKES_COMM(comm_dup, MPI_Comm *made)
MAKES_COMM(comm_create, MPI_Group group, MPI_Comm *made)
MAKES_COMM(comm_create_group, MPI_Group group, int tag, MPI_Comm *made)
MAKES_COMM(comm_split, int color, int key, MPI_Comm *made)
MAKES_COMM(cart_create, int n, const int *dims, const int *periods, int reorder, MPI_Comm *made)
MAKES_COMM(graph_create, int n, const int *index, const int *edges, int reorder, MPI_Comm *made)
MAKES_COMM(dist_graph_create, int n, const int *nodes, const int *degrees, const int *targets,
           const int *weights, MPI_Info info, int reorder, MPI_Comm *made)
MAKES_COMM(dist_graph_create_adjacent, int n, const int *sources, const int *source_weights, int m,
           const int *targets, const int *weights, MPI_Info info, int reorder, MPI_Comm *made)

/* ---- the tables ---- */

static union pf_own_table functions;
static struct pf_native_values values;

static int lacks(void)
{
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

static void install_messages(struct pf_own_fn *fn)
{
    fn->Send = fn->Rsend = fn->Bsend = self_send;
    fn->Isend = fn->Irsend = fn->Ibsend = self_isend;
    fn->Send_init = fn->Rsend_init = fn->Bsend_init = self_send_init;
    fn->Ssend = self_ssend;
    fn->Issend = self_issend;
    fn->Ssend_init = self_ssend_init;
    fn->Recv = self_recv;
    fn->Irecv = self_irecv;
    fn->Recv_init = self_recv_init;
    fn->Start = self_start;
    fn->Sendrecv = self_sendrecv;
    fn->Sendrecv_replace = self_sendrecv_replace;
    fn->Probe = self_probe;
    fn->Iprobe = self_iprobe;
    fn->Buffer_attach = self_buffer_attach;
    fn->Buffer_detach = self_buffer_detach;
    fn->Wait = self_wait;
    fn->Waitall = self_waitall;
    fn->Waitany = self_waitany;
    fn->Waitsome = self_waitsome;
    fn->Test = self_test;
    fn->Testall = self_testall;
    fn->Testany = self_testany;
    fn->Testsome = self_testsome;
    fn->Request_free = self_request_free;
    fn->Cancel = self_cancel;
}

static void install_collectives(struct pf_own_fn *fn)
{
#define X(Name, name)                                                                                        \
    fn->Name = self_##name;                                                                                  \
    fn->I##name = self_i##name;
    PF_LOCAL_COLLECTIVES(X)
#undef X
#define X(Name, name) fn->Name = self_##name;
    PF_LOCAL_COMM_MAKERS(X)
#undef X
}

/* The middleware calls what is not NULL, and asks before it calls only for a few. */
static void find_functions(void)
{
    struct pf_own_fn *fn = &functions.own;
    for (int i = 0; i < PF_FN_COUNT; i++)
        functions.by_number[i] = (void *)lacks;
    fn->Mprobe = NULL; /* the middleware does it with a probe and a receive */
    fn->Improbe = NULL;
    fn->Win_test = NULL;
    fn->Comm_idup = NULL;
    pf_local_install(fn);
    install_messages(fn);
    install_collectives(fn);
}

/* ---- the operations of the adapter ---- */

static int self_open(const struct pf_job *job, char *why, size_t why_size)
{
    if (job->size != 1) {
        snprintf(why, why_size, "it is for one rank, not for %d", job->size);
        return PF_ERR_ARG;
    }
    values = pf_local_values;
    values.most_bytes = INT_MAX; /* the status counts bytes in an int */
    values.bottom = NULL;        /* as the middleware's */
    values.splits_alone = true;
    find_functions();
    pf_local_predefined(the_rank.predefined);
    the_rank.predefined[PF_PREDEFINED_COMM_WORLD] = comm_new();
    the_rank.predefined[PF_PREDEFINED_COMM_SELF] = comm_new();
    the_rank.base = (struct pf_instance){.adapter = &pf_self_adapter,
                                         .ops = pf_self_adapter.ops,
                                         .values = &values,
                                         .fn = &functions.native,
                                         .predefined = the_rank.predefined,
                                         .impl = PF_IMPL_ANALYTIC, /* in whose place it is tested */
                                         .job_size = 1};
    return PF_SUCCESS;
}

static struct pf_instance *self_instance(int rank, const char *network)
{
    return &the_rank.base;
}

/* A test in vain must cost simulated time, or others never come. */
static void self_idle(struct pf_instance *in)
{
    sg_actor_sleep_for(sg_cfg_get_double("smpi/test"));
}

static int comm_shadow(struct pf_instance *in, const int *world_ranks, int n, int me, int id, bool node_local,
                       void **native)
{
    *native = comm_new();
    return PF_SUCCESS;
}

static void comm_free(struct pf_instance *in, void *native)
{
    comm_drop(native);
}

static void no_handle_hook(struct pf_instance *in, void *native)
{
    /* errors are always returned */
}

static int no_win_shadow(struct pf_instance *in, const struct pf_win_recipe *recipe, void **native)
{
    return PF_ERR_UNSUPPORTED;
}

static int no_win_open(struct pf_instance *in, void *native)
{
    return PF_ERR_UNSUPPORTED;
}

static int no_win_share(struct pf_instance *in, void *comm, const void *mine, void *all_sizes, int bytes)
{
    return lacks();
}

/* What is not done now will not be while the rank waits for it: on_progress has nothing to report. */
static bool request_done(struct pf_instance *in, void *request)
{
    return ((const struct operation *)request)->done;
}

static const struct pf_adapter_ops ops = {
    .size = sizeof ops,
    .probe = pf_local_probe,
    .open = self_open,
    .instance = self_instance,
    .start = pf_adapter_no_start,
    .finish = pf_adapter_no_start,
    .enter = pf_adapter_no_hook,
    .leave = pf_adapter_no_hook,
    .idle = self_idle,
    .settle = pf_adapter_no_hook,
    .ahead = pf_adapter_no_debt,
    .status_get = pf_local_status_get,
    .error_class = pf_local_error_class,
    .comm_shadow = comm_shadow,
    .intercomm_shadow = pf_adapter_no_intercomm,
    .comm_free = comm_free,
    .comm_kept = pf_adapter_no_comm_kept,
    .comm_errors_return = no_handle_hook,
    .win_made = no_handle_hook,
    .win_gone = no_handle_hook,
    .win_shadow = no_win_shadow,
    .win_open = no_win_open,
    .win_free = no_handle_hook,
    .win_share = no_win_share,
    .request_done = request_done,
    .request_will_be_done = request_done,
    .progress = pf_adapter_no_hook,
};

const struct pf_adapter pf_self_adapter = {.abi = PF_ADAPTER_ABI, .name = "self", .ops = &ops};
