/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The native functions of collectives. Each fills a record of its arguments; the blocking call is the
 * nonblocking one and a wait.
 */
#include "adapters/analytic/collective/collective.h"

#include "adapters/local/collectives.h"
#include "adapters/local/types.h"
#include "pf_fn.h"

/* The communicator of a call, and its request when it does not block. */
struct entry {
    struct an_comm *comm;
    MPI_Request *request;
};

/* A member of the root's side that is not the root takes no part. */
static struct an_request *stand_by(struct an_comm *comm)
{
    struct an_request *request = an_request_new(comm->rank, AN_COLLECTIVE);
    comm->collectives++;
    an_request_settle(request, an_now(comm->rank) + pf_cost_call(an_job.cost));
    return request;
}

static int enter(struct entry e, const struct an_part *part, enum pf_coll_kind kind)
{
    struct an_request *request =
        part->root < 0 ? stand_by(e.comm) : an_collective_enter(e.comm, part, kind, e.request != NULL);
    if (e.request) {
        *e.request = (MPI_Request)request;
        return MPI_SUCCESS;
    }
    MPI_Request handle = (MPI_Request)request;
    an_request_await(request);
    an_request_outlast(request, PF_CHAIN_COLLECTIVE);
    return an_request_finish(&handle, NULL);
}

static struct entry entry_of(MPI_Comm comm, MPI_Request *request)
{
    if (request)
        *request = MPI_REQUEST_NULL;
    return (struct entry){an_comm_of(comm), request};
}

static int check_root(const struct an_comm *comm, int root)
{
    if (!comm)
        return MPI_ERR_COMM;
    if (comm->shared->cut && (root == AN_ROOT || root == MPI_PROC_NULL))
        return MPI_SUCCESS;
    return root >= 0 && root < comm->peers ? MPI_SUCCESS : MPI_ERR_ROOT;
}

/* The place of the root in the list of members; -1: this member takes no part. */
static int place_of_root(const struct an_comm *comm, int root)
{
    if (root >= 0)
        return comm->peers_at + root;
    return root == AN_ROOT ? comm->index : -1;
}

/* The data of a member that is not the root; on an intercommunicator the root has none. */
static int check_own_data(const struct an_comm *comm, const struct an_part *p, int count, MPI_Datatype type)
{
    if (p->in_place || p->root < 0 || (comm->shared->cut && p->root == comm->index))
        return MPI_SUCCESS;
    return an_check_data(count, type);
}

static int check_counts(int n, const int *counts, const int *displs, MPI_Datatype type)
{
    if (!counts || !displs)
        return MPI_ERR_ARG;
    for (int i = 0; i < n; i++)
        if (counts[i] < 0)
            return MPI_ERR_COUNT;
    return pf_local_type_is_ready(type) ? MPI_SUCCESS : MPI_ERR_TYPE;
}

static int check_types(const struct an_comm *comm, const int *counts, const int *displs,
                       const MPI_Datatype *types)
{
    if (!counts || !displs || !types)
        return MPI_ERR_ARG;
    for (int i = 0; i < comm->peers; i++) {
        int error = an_check_data(counts[i], types[i]);
        if (error)
            return error;
    }
    return MPI_SUCCESS;
}

/* In place, what a member sends lies where it receives. */
static void send_from_receive(struct an_part *p)
{
    p->in_place = true;
    p->send = p->receive;
    p->send_count = p->receive_count;
    p->send_type = p->receive_type;
    p->send_counts = p->receive_counts;
    p->send_displs = p->receive_displs;
    p->send_types = p->receive_types;
}

static int barrier(struct entry e)
{
    struct an_part p = {0};
    return e.comm ? enter(e, &p, PF_COLL_BARRIER) : MPI_ERR_COMM;
}

static int bcast(struct entry e, void *buffer, int count, MPI_Datatype type, int root)
{
    struct an_part p = {.send = an_buffer(buffer),
                        .receive = an_buffer(buffer),
                        .send_count = count,
                        .receive_count = count,
                        .send_type = type,
                        .receive_type = type};
    int error = check_root(e.comm, root);
    if (!error) {
        p.root = place_of_root(e.comm, root);
        error = p.root < 0 ? MPI_SUCCESS : an_check_data(count, type);
    }
    return error ? error : enter(e, &p, PF_COLL_BCAST);
}

/* The receive arguments matter at the root only. */
static int gather(struct entry e, enum pf_coll_kind kind, const void *send, int count, MPI_Datatype type,
                  void *receive, int receive_count, const int *counts, const int *displs,
                  MPI_Datatype receive_type, int root)
{
    struct an_part p = {.send = an_buffer(send), .send_count = count, .send_type = type};
    int error = check_root(e.comm, root);
    if (error)
        return error;
    p.root = place_of_root(e.comm, root);
    if (e.comm->index == p.root) {
        if (e.comm->shared->cut)
            p.send_type = NULL;
        error = kind == PF_COLL_GATHERV ? check_counts(e.comm->peers, counts, displs, receive_type)
                                        : an_check_data(receive_count, receive_type);
        p.receive = an_buffer(receive);
        p.receive_count = receive_count;
        p.receive_type = receive_type;
        p.receive_counts = counts;
        p.receive_displs = displs;
        p.in_place = send == MPI_IN_PLACE;
    }
    if (!error)
        error = check_own_data(e.comm, &p, count, type);
    return error ? error : enter(e, &p, kind);
}

/* The send arguments matter at the root only. */
static int scatter(struct entry e, enum pf_coll_kind kind, const void *send, int send_count,
                   const int *counts, const int *displs, MPI_Datatype send_type, void *receive, int count,
                   MPI_Datatype type, int root)
{
    struct an_part p = {.receive = an_buffer(receive), .receive_count = count, .receive_type = type};
    int error = check_root(e.comm, root);
    if (error)
        return error;
    p.root = place_of_root(e.comm, root);
    if (e.comm->index == p.root) {
        error = kind == PF_COLL_SCATTERV ? check_counts(e.comm->peers, counts, displs, send_type)
                                         : an_check_data(send_count, send_type);
        p.send = an_buffer(send);
        p.send_count = send_count;
        p.send_type = send_type;
        p.send_counts = counts;
        p.send_displs = displs;
        p.in_place = receive == MPI_IN_PLACE;
    }
    if (!error)
        error = check_own_data(e.comm, &p, count, type);
    return error ? error : enter(e, &p, kind);
}

/* Open MPI compares the block that a member sends to itself with its receive block before it sends anything.
 */
static int check_own_block(const struct an_comm *comm, const struct an_part *p)
{
    int i = comm->me, sent = p->send_counts ? p->send_counts[i] : p->send_count;
    int room = p->receive_counts ? p->receive_counts[i] : p->receive_count;
    size_t bytes = an_data_bytes(sent, p->send_types ? p->send_types[i] : p->send_type);
    return bytes == an_data_bytes(room, p->receive_types ? p->receive_types[i] : p->receive_type)
               ? MPI_SUCCESS
               : MPI_ERR_TRUNCATE;
}

/* Allgather, alltoall and their kin: `p` holds both sides. */
static int exchange(struct entry e, enum pf_coll_kind kind, struct an_part *p)
{
    if (!e.comm)
        return MPI_ERR_COMM;
    bool by_counts = kind != PF_COLL_ALLGATHER && kind != PF_COLL_ALLTOALL;
    bool send_counts = kind == PF_COLL_ALLTOALLV || kind == PF_COLL_ALLTOALLW;
    p->in_place = p->send == MPI_IN_PLACE;
    p->send = an_buffer(p->send);
    p->receive = an_buffer(p->receive);
    int error;
    if (kind == PF_COLL_ALLTOALLW)
        error = check_types(e.comm, p->receive_counts, p->receive_displs, p->receive_types);
    else
        error = by_counts ? check_counts(e.comm->peers, p->receive_counts, p->receive_displs, p->receive_type)
                          : an_check_data(p->receive_count, p->receive_type);
    if (error)
        return error;
    if (p->in_place)
        send_from_receive(p);
    else if (kind == PF_COLL_ALLTOALLW)
        error = check_types(e.comm, p->send_counts, p->send_displs, p->send_types);
    else
        error = send_counts ? check_counts(e.comm->peers, p->send_counts, p->send_displs, p->send_type)
                            : an_check_data(p->send_count, p->send_type);
    if (!error && (send_counts || kind == PF_COLL_ALLTOALL) && !p->in_place && !e.comm->shared->cut)
        error = check_own_block(e.comm, p);
    return error ? error : enter(e, p, kind);
}

/* Reductions and scans. In place, the contribution lies in the receive buffer. */
static int reduce_with(struct entry e, enum pf_coll_kind kind, struct an_part *p, int count,
                       MPI_Datatype type)
{
    int error = p->root < 0 ? MPI_SUCCESS : an_check_data(count, type);
    if (!error && p->root >= 0 && !pf_local_can_reduce(p->op, type))
        error = MPI_ERR_OP;
    p->in_place = p->send == MPI_IN_PLACE;
    p->receive = an_buffer(p->receive);
    p->send = p->in_place ? p->receive : an_buffer(p->send);
    p->send_count = p->receive_count = count;
    p->send_type = p->receive_type = type;
    return error ? error : enter(e, p, kind);
}

static int reduce(struct entry e, const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                  int root)
{
    struct an_part p = {.send = send, .receive = receive, .op = op};
    int error = check_root(e.comm, root);
    if (!error)
        p.root = place_of_root(e.comm, root);
    return error ? error : reduce_with(e, PF_COLL_REDUCE, &p, count, type);
}

static int reduce_all(struct entry e, enum pf_coll_kind kind, const void *send, void *receive, int count,
                      MPI_Datatype type, MPI_Op op)
{
    struct an_part p = {.send = send, .receive = receive, .op = op};
    bool scans = kind == PF_COLL_SCAN || kind == PF_COLL_EXSCAN; /* not between two groups */
    return e.comm && !(scans && e.comm->shared->cut) ? reduce_with(e, kind, &p, count, type) : MPI_ERR_COMM;
}

static int reduce_scatter(struct entry e, const void *send, void *receive, const int *counts,
                          MPI_Datatype type, MPI_Op op)
{
    struct an_part p = {.send = send, .receive = receive, .receive_counts = counts, .op = op};
    if (!e.comm)
        return MPI_ERR_COMM;
    int error = check_counts(e.comm->size, counts, counts, type);
    return error ? error : reduce_with(e, PF_COLL_REDUCE_SCATTER, &p, 0, type);
}

/* ---- the functions as MPI has them ---- */

#define BOTH(name, call, ...)                                                                                \
    static int an_##name(__VA_ARGS__, MPI_Comm comm)                                                         \
    {                                                                                                        \
        struct entry e = entry_of(comm, NULL);                                                               \
        return call;                                                                                         \
    }                                                                                                        \
    static int an_i##name(__VA_ARGS__, MPI_Comm comm, MPI_Request *request)                                  \
    {                                                                                                        \
        struct entry e = entry_of(comm, request);                                                            \
        return call;                                                                                         \
    }

#define SIDES const void *send, int n, MPI_Datatype t, void *receive, int m, MPI_Datatype u
#define SIDES_V                                                                                              \
    const void *send, int n, MPI_Datatype t, void *receive, const int *m, const int *d, MPI_Datatype u

BOTH(bcast, bcast(e, buffer, count, type, root), void *buffer, int count, MPI_Datatype type, int root)
BOTH(gather, gather(e, PF_COLL_GATHER, send, n, t, receive, m, NULL, NULL, u, root), SIDES, int root)
BOTH(gatherv, gather(e, PF_COLL_GATHERV, send, n, t, receive, 0, m, d, u, root), SIDES_V, int root)
BOTH(scatter, scatter(e, PF_COLL_SCATTER, send, n, NULL, NULL, t, receive, m, u, root), SIDES, int root)
BOTH(scatterv, scatter(e, PF_COLL_SCATTERV, send, 0, n, d, t, receive, m, u, root), const void *send,
     const int *n, const int *d, MPI_Datatype t, void *receive, int m, MPI_Datatype u, int root)
/* What the exchanges pass, by MPI's names. */
#define PART(...) (&(struct an_part){.send = send, .receive = receive, __VA_ARGS__})
BOTH(allgather,
     exchange(e, PF_COLL_ALLGATHER,
              PART(.send_count = n, .send_type = t, .receive_count = m, .receive_type = u)),
     SIDES)
BOTH(allgatherv,
     exchange(e, PF_COLL_ALLGATHERV,
              PART(.send_count = n, .send_type = t, .receive_counts = m, .receive_displs = d,
                   .receive_type = u)),
     SIDES_V)
BOTH(alltoall,
     exchange(e, PF_COLL_ALLTOALL,
              PART(.send_count = n, .send_type = t, .receive_count = m, .receive_type = u)),
     SIDES)
BOTH(alltoallv,
     exchange(e, PF_COLL_ALLTOALLV,
              PART(.send_counts = n, .send_displs = sd, .send_type = t, .receive_counts = m,
                   .receive_displs = d, .receive_type = u)),
     const void *send, const int *n, const int *sd, MPI_Datatype t, void *receive, const int *m, const int *d,
     MPI_Datatype u)
BOTH(alltoallw,
     exchange(e, PF_COLL_ALLTOALLW,
              PART(.send_counts = n, .send_displs = sd, .send_types = t, .receive_counts = m,
                   .receive_displs = d, .receive_types = u)),
     const void *send, const int *n, const int *sd, const MPI_Datatype *t, void *receive, const int *m,
     const int *d, const MPI_Datatype *u)
BOTH(reduce, reduce(e, send, receive, n, t, op, root), const void *send, void *receive, int n, MPI_Datatype t,
     MPI_Op op, int root)

#define REDUCTION const void *send, void *receive, int n, MPI_Datatype t, MPI_Op op
BOTH(allreduce, reduce_all(e, PF_COLL_ALLREDUCE, send, receive, n, t, op), REDUCTION)
BOTH(scan, reduce_all(e, PF_COLL_SCAN, send, receive, n, t, op), REDUCTION)
BOTH(exscan, reduce_all(e, PF_COLL_EXSCAN, send, receive, n, t, op), REDUCTION)
BOTH(reduce_scatter_block, reduce_all(e, PF_COLL_REDUCE_SCATTER_BLOCK, send, receive, n, t, op), REDUCTION)
BOTH(reduce_scatter, reduce_scatter(e, send, receive, n, t, op), const void *send, void *receive,
     const int *n, MPI_Datatype t, MPI_Op op)

static int an_barrier(MPI_Comm comm)
{
    return barrier(entry_of(comm, NULL));
}

static int an_ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return barrier(entry_of(comm, request));
}

void an_collective_install(struct pf_own_fn *fn)
{
#define X(Name, name)                                                                                        \
    fn->Name = an_##name;                                                                                    \
    fn->I##name = an_i##name;
    PF_LOCAL_COLLECTIVES(X)
#undef X
}
