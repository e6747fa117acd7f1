/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives. Each member stores its arguments in a record and waits. With each arrival the schedule
 * determines which members can leave, and when; the member that arrives moves the data of all these.
 */
#include "adapters/analytic/collective/collective.h"

#include <stdlib.h>
#include <string.h>

#include "adapters/local/types.h"
#include "base/log.h"
#include "base/memory.h"

static bool has_counts(enum pf_coll_kind kind)
{
    return kind == PF_COLL_SCATTERV || kind == PF_COLL_GATHERV || kind == PF_COLL_ALLGATHERV ||
           kind == PF_COLL_REDUCE_SCATTER;
}

static bool has_rows(enum pf_coll_kind kind)
{
    return kind == PF_COLL_ALLTOALLV || kind == PF_COLL_ALLTOALLW;
}

static struct an_collective *record_new(struct an_shared *shared)
{
    struct an_collective *c = shared->free_collectives;
    size_t n = (size_t)shared->size;
    if (c) {
        shared->free_collectives = c->next;
        return c;
    }
    c = pf_calloc(1, sizeof *c);
    c->parts = pf_calloc(n, sizeof *c->parts);
    return c;
}

static void record_free(struct an_collective *c, int size)
{
    for (int i = 0; c->rows && i < size; i++)
        free(c->rows[i]);
    for (int i = 0; i < size; i++)
        free(c->parts[i].kept);
    free(c->rows);
    free(c->counts);
    free(c->parts);
    free(c);
}

void an_collective_clear(struct an_shared *shared)
{
    struct an_collective *lists[] = {shared->collectives, shared->free_collectives}, *next;
    for (int i = 0; i < 2; i++)
        for (struct an_collective *c = lists[i]; c; c = next) {
            next = c->next;
            record_free(c, shared->size);
        }
}

static size_t largest(const int *counts, int n, MPI_Datatype type)
{
    int most = 0;
    for (int i = 0; i < n; i++)
        most = counts[i] > most ? counts[i] : most;
    return an_data_sent(most, type);
}

/* Bytes of one block, or of the vector, as this member sees it; of blocks of different lengths on one rank,
 * the longest that it knows. */
static size_t bytes_of(const struct an_part *p, enum pf_coll_kind kind, const struct an_comm *comm)
{
    int me = comm->index;
    if (p->pretend)
        return p->pretend;
    switch (kind) {
    case PF_COLL_BCAST:
    case PF_COLL_REDUCE:
    case PF_COLL_ALLREDUCE:
    case PF_COLL_REDUCE_SCATTER_BLOCK:
    case PF_COLL_SCAN:
    case PF_COLL_EXSCAN:
        return an_data_sent(p->send_count, p->send_type);
    case PF_COLL_SCATTER:
        return me == p->root ? an_data_sent(p->send_count, p->send_type)
                             : an_data_sent(p->receive_count, p->receive_type);
    case PF_COLL_GATHER:
        return p->in_place || !p->send_type ? an_data_sent(p->receive_count, p->receive_type)
                                            : an_data_sent(p->send_count, p->send_type);
    case PF_COLL_ALLGATHER:
    case PF_COLL_ALLTOALL:
        return an_data_sent(p->receive_count, p->receive_type);
    case PF_COLL_GATHERV:
        return me == p->root ? largest(p->receive_counts, comm->peers, p->receive_type)
                             : an_data_sent(p->send_count, p->send_type);
    case PF_COLL_SCATTERV:
        return me == p->root ? largest(p->send_counts, comm->peers, p->send_type)
                             : an_data_sent(p->receive_count, p->receive_type);
    default:
        return 0;
    }
}

static size_t element_of(const struct an_part *p)
{
    MPI_Datatype type = p->send_type ? p->send_type : p->receive_type;
    return type && !p->in_place ? an_data_sent(1, type)
           : p->receive_type    ? an_data_sent(1, p->receive_type)
                                : 1;
}

/* The sizes of `n` blocks from that of member `first` on. */
static void note(struct an_collective *c, int first, int n, const int *counts, MPI_Datatype type)
{
    for (int i = 0; i < n; i++)
        c->counts[first + i] = an_data_sent(counts[i], type);
}

/* On an intercommunicator, members of one side may leave before a member of the other side arrives. */
static void note_rows(struct an_collective *c, const struct an_comm *comm, const struct an_part *p)
{
    for (int i = 0; i < comm->peers; i++) {
        int peer = comm->peers_at + i;
        c->rows[comm->index][peer] =
            an_data_sent(p->send_counts[i], p->send_types ? p->send_types[i] : p->send_type);
        if (c->call.cut)
            c->rows[peer][comm->index] =
                an_data_sent(p->receive_counts[i], p->receive_types ? p->receive_types[i] : p->receive_type);
    }
}

/* The sizes that this member knows. Those of lists that all members have are noted by the first one. */
static void note_sizes(struct an_collective *c, const struct an_comm *comm, const struct an_part *p)
{
    bool root = comm->index == p->root, inter = c->call.cut > 0, lists = inter || c->arrived == 0;
    switch (c->call.kind) {
    case PF_COLL_GATHERV: /* a message of 0 bytes is not sent, so both sides must know */
        if (root)
            note(c, comm->peers_at, comm->peers, p->receive_counts, p->receive_type);
        else
            note(c, comm->index, 1, &p->send_count, p->send_type);
        break;
    case PF_COLL_SCATTERV:
        if (root)
            note(c, comm->peers_at, comm->peers, p->send_counts, p->send_type);
        else
            note(c, comm->index, 1, &p->receive_count, p->receive_type);
        break;
    case PF_COLL_ALLGATHERV:
        if (lists)
            note(c, comm->peers_at, comm->peers, p->receive_counts, p->receive_type);
        if (inter)
            note(c, comm->index, 1, &p->send_count, p->send_type);
        break;
    case PF_COLL_REDUCE_SCATTER:
        if (lists)
            note(c, comm->first, comm->size, p->receive_counts, p->send_type);
        break;
    case PF_COLL_ALLTOALLV:
    case PF_COLL_ALLTOALLW:
        note_rows(c, comm, p);
        break;
    default:
        break;
    }
}

static void make_room(struct an_collective *c, enum pf_coll_kind kind, int n)
{
    if (has_counts(kind) && !c->counts)
        c->counts = pf_calloc((size_t)n, sizeof *c->counts);
    if (has_rows(kind) && !c->rows) {
        c->rows = pf_calloc((size_t)n, sizeof *c->rows);
        for (int i = 0; i < n; i++)
            c->rows[i] = pf_malloc((size_t)n * sizeof **c->rows);
    }
}

static void fill_call(struct an_collective *c, const struct an_comm *comm, const struct an_part *part,
                      enum pf_coll_kind kind, bool nonblocking)
{
    const struct an_shared *shared = comm->shared;
    c->call = (struct pf_coll_call){.kind = kind,
                                    .nonblocking = nonblocking,
                                    .in_place = part->in_place,
                                    .with_data = part->with_data,
                                    .commutative = !part->op || pf_local_op_is_commutative(part->op),
                                    .predefined = part->op && pf_local_op_is_predefined(part->op),
                                    .mpich = an_job.mpich,
                                    .n = shared->size,
                                    .cut = shared->cut,
                                    .root = part->root,
                                    .world = shared->world_ranks,
                                    .element = element_of(part),
                                    .bytes = bytes_of(part, kind, comm),
                                    .counts = has_counts(kind) ? c->counts : NULL, /* not an old call's */
                                    .rows = has_rows(kind) ? (const size_t *const *)c->rows : NULL};
    c->members = shared->size;
    if (shared->cut)
        an_intercoll_fill(c, comm, part);
}

/* The record of this member's next collective; the first member makes it. */
static struct an_collective *record_of(struct an_comm *comm, const struct an_part *part,
                                       enum pf_coll_kind kind, bool nonblocking)
{
    struct an_shared *shared = comm->shared;
    uint64_t sequence = comm->collectives++;
    struct an_collective **link = &shared->collectives;
    while (*link && (*link)->sequence < sequence)
        link = &(*link)->next;
    struct an_collective *c = *link;
    if (c && c->sequence == sequence) {
        if (c->call.kind != kind)
            pf_die("rank %d calls another collective operation than others on the same communicator: their "
                   "call number %llu",
                   comm->rank->base.rank, (unsigned long long)sequence + 1);
        return c;
    }
    c = record_new(shared);
    make_room(c, kind, shared->size);
    c->shared = shared;
    c->sequence = sequence;
    c->arrived = c->left = c->combined = 0;
    c->schedule = NULL;
    c->path = NULL;
    c->parts_of_time = (struct pf_cost_parts){0};
    fill_call(c, comm, part, kind, nonblocking);
    c->next = *link;
    *link = c;
    return c;
}

static void close_record(struct an_shared *shared, struct an_collective *c)
{
    struct an_collective **link = &shared->collectives;
    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    pf_coll_close(c->schedule);
    pf_chain_drop(&c->path);
    pf_chain_drop(&c->last);
    an_collective_forget(c);
    c->next = shared->free_collectives;
    shared->free_collectives = c;
}

/* All members need what has come so far; in a broadcast or scatter, the root only. */
static void note_path(struct an_collective *c, const struct an_comm *comm, int root,
                      const struct pf_chain *mine)
{
    bool from_root =
        c->call.kind == PF_COLL_BCAST || c->call.kind == PF_COLL_SCATTER || c->call.kind == PF_COLL_SCATTERV;
    if (!pf_chain_on || (from_root && comm->index != root))
        return;
    if (c->path)
        pf_chain_join(c->path, mine);
    else
        c->path = pf_chain_duplicate(mine);
}

/* What a member has spent in it to that date is split as its messages' time is when nothing is in their way:
 * one latency for each round, and the bytes and the work of a rank. */
static void split(const struct an_collective *c, struct pf_chain *path, double date)
{
    const struct pf_cost_parts *all = &c->parts_of_time;
    double rounds = fmax(1, (double)pf_coll_rounds(c->schedule)), from = pf_chain_end(path), sum = 0;
    double each = all->messages > 0 ? rounds / (double)all->messages : 0, most = fmax(each, 1.0 / c->members);
    const double part[] = {each * all->links, each * all->nics, most * all->work, most * all->bytes};
    static const enum pf_chain_class what[] = {PF_CHAIN_LATENCY, PF_CHAIN_NIC, PF_CHAIN_SOFTWARE,
                                               PF_CHAIN_TRANSFER};
    double whole = part[0] + part[1] + part[2] + part[3];
    pf_chain_carry(path, &(struct pf_chain_message){.link = PF_CHAIN_SLOWEST,
                                                    .routes = PF_CHAIN_OF_COLLECTIVE,
                                                    .protocol = PF_CHAIN_WHOLE,
                                                    .size = pf_chain_size((double)c->call.bytes)});
    for (int i = 0; i < 4 && whole > 0; i++)
        pf_chain_extend(path, from + (date - from) * ((sum += part[i]) / whole), what[i]);
    pf_chain_extend(path, date, PF_CHAIN_COLLECTIVE);
}

/* The member that came last lets others leave: one segment, from its arrival, or from their own if they leave
 * before that. */
static void follow(const struct an_collective *c, const struct pf_chain *path, struct an_request *leaving,
                   double date)
{
    if (!path)
        return;
    if (pf_chain_end(path) <= date + 1e-13) /* paths are rounded */
        pf_chain_join(leaving->path, path);
    split(c, leaving->path, date);
}

/* Up to the member that has come last, and lets others leave. */
static struct pf_chain *path_of_last(const struct an_collective *c, const struct an_request *request)
{
    struct pf_chain *path = pf_chain_duplicate(request->path);
    if (c->path)
        pf_chain_join(path, c->path);
    return path;
}

static void *keep(char **room, const void *array, size_t bytes)
{
    char *kept = *room;
    if (!array)
        return NULL;
    *room += bytes;
    return memcpy(kept, array, bytes);
}

/* The arrays of a call of `n` blocks. Its caller may not change them before it is complete (MPI 3.1, 5.12),
 * but Open MPI has read them when the call returns, and mpi4py releases them then. */
static void keep_arrays(struct an_part *p, size_t n)
{
    size_t ints = n * sizeof(int), types = n * sizeof(MPI_Datatype);
    if (!p->send_counts && !p->receive_counts)
        return;
    char *room = p->kept = pf_malloc(2 * types + 4 * ints);
    p->send_types = keep(&room, p->send_types, types);
    p->receive_types = keep(&room, p->receive_types, types);
    p->send_counts = keep(&room, p->send_counts, ints);
    p->send_displs = keep(&room, p->send_displs, ints);
    p->receive_counts = keep(&room, p->receive_counts, ints);
    p->receive_displs = keep(&room, p->receive_displs, ints);
}

/* Those whose dates have become known are in `leaves`; returns how many. */
static int take_leaves(const struct an_collective *c)
{
    struct an_leave *leaves = c->shared->leaves;
    int n = 0;
    while (pf_coll_next(c->schedule, &leaves[n].member, &leaves[n].date))
        n++;
    return n;
}

/* The last acknowledgement leaves. It may wait behind what ranks that have left before have sent since. */
static void answered(struct pf_event *event)
{
    struct an_request *request = pf_container_of(event, struct an_request, notice);
    double known = request->work_begins;
    double late =
        pf_cost_answer_late(an_job.cost, request->rank->base.rank, request->came_from, request->bytes, known);
    double date = fmax(request->arrival, known + late);
    an_request_init_notice(request);
    an_request_late(request, date, PF_CHAIN_COLLECTIVE);
    an_request_settle(request, date);
}

/* Whether the rank waits for an acknowledgement when another one has left at `first`: then it leaves later.
 */
static bool must_look(struct an_request *leaving, const struct pf_coll_sent *sent, double date, double first)
{
    double answer = sent->safe > first ? pf_cost_answer_leaves(an_job.cost, leaving->rank->base.rank,
                                                               sent->to, sent->bytes, sent->safe)
                                       : -INFINITY;
    if (answer <= first || answer <= pf_engine_now())
        return false;
    leaving->arrival = date;
    leaving->work_begins = sent->safe;
    leaving->came_from = sent->to;
    leaving->bytes = sent->bytes;
    leaving->notice.fn = answered;
    pf_engine_post(&leaving->notice, answer);
    return true;
}

static void let_leave(const struct an_collective *c, const struct pf_chain *path, int n)
{
    struct an_rank *last = NULL;
    double first = INFINITY;
    for (int i = 0; i < n; i++)
        first = fmin(first, c->shared->leaves[i].date);
    for (int i = 0; i < n; i++) {
        const struct an_leave *leave = &c->shared->leaves[i];
        struct an_request *leaving = c->parts[leave->member].request;
        pf_cost_inflow_set(&leaving->inflow, pf_coll_inflow(c->schedule, leave->member));
        follow(c, path, leaving, leave->date);
        if (must_look(leaving, pf_coll_sent(c->schedule, leave->member), leave->date, first))
            last = NULL;
        else
            an_request_settle_next(leaving, leave->date, &last);
    }
}

static void step(struct pf_event *event);

static void post_step(struct an_collective *c)
{
    double date = pf_coll_resumes(c->schedule);
    c->step.fn = step;
    if (date < INFINITY)
        pf_engine_post(&c->step, fmax(date, pf_engine_now()));
    else
        pf_engine_cancel(&c->step); /* the one that has come has gone on for all */
}

static void step(struct pf_event *event)
{
    struct an_collective *c = pf_container_of(event, struct an_collective, step);
    pf_cost_note(an_job.cost, pf_chain_on ? &c->parts_of_time : NULL);
    pf_coll_resume(c->schedule, pf_engine_now());
    pf_cost_note(an_job.cost, NULL);
    let_leave(c, c->last, take_leaves(c));
    post_step(c);
}

void an_collective_leave(struct an_request *request)
{
    struct an_collective *c = request->leaves;
    struct an_leave leave = {request->peer, request->done_at};
    if (an_job.moves_data && !c->parts[leave.member].pretend)
        an_collective_move(c, leave.member, &leave, 1);
    if (++c->left == c->members)
        close_record(c->shared, c);
}

struct an_request *an_collective_enter(struct an_comm *comm, const struct an_part *part,
                                       enum pf_coll_kind kind, bool nonblocking)
{
    struct an_shared *shared = comm->shared;
    an_rank_settle(comm->rank);
    struct an_collective *c = record_of(comm, part, kind, nonblocking);
    struct an_part *mine = &c->parts[comm->index];
    struct an_request *request = an_request_new(comm->rank, AN_COLLECTIVE);
    *mine = *part;
    if (nonblocking)
        keep_arrays(mine, (size_t)(kind == PF_COLL_REDUCE_SCATTER ? comm->size : comm->peers));
    mine->request = request;
    mine->here = true;
    request->path = an_path_of(comm->rank);
    note_sizes(c, comm, mine);
    if (!c->schedule)
        c->schedule = pf_coll_open(an_job.colls, &c->call);
    c->arrived++;
    note_path(c, comm, part->root, request->path);
    pf_cost_note(an_job.cost, pf_chain_on ? &c->parts_of_time : NULL);
    pf_coll_arrive(c->schedule, comm->index, pf_engine_now());
    pf_cost_note(an_job.cost, NULL);
    if (pf_coll_is_stepwise(c->schedule)) {
        request->leaves = c;
        request->peer = comm->index;
        pf_chain_drop(&c->last);
        c->last = path_of_last(c, request);
        let_leave(c, c->last, take_leaves(c));
        post_step(c);
        return request;
    }
    int n = take_leaves(c);
    if (n == 0)
        return request;
    if (an_job.moves_data && !part->pretend && shared->cut)
        an_intercoll_move(c, shared->leaves, n);
    else if (an_job.moves_data && !part->pretend)
        an_collective_move(c, comm->me, shared->leaves, n);
    struct pf_chain *path = path_of_last(c, request);
    let_leave(c, path, n);
    pf_chain_drop(&path);
    c->left += n;
    if (c->left == c->members)
        close_record(shared, c);
    return request;
}

int an_collective_call(struct an_comm *comm, const struct an_part *part, enum pf_coll_kind kind,
                       bool nonblocking)
{
    struct an_request *request = an_collective_enter(comm, part, kind, nonblocking);
    MPI_Request handle = (MPI_Request)request;
    an_request_await(request);
    an_request_outlast(request, PF_CHAIN_COLLECTIVE);
    return an_request_finish(&handle, NULL);
}
