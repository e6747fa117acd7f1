/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes. A message that a matched probe finds leaves its queue and is received by its handle. */
#include "adapters/analytic/p2p/p2p.h"

#include "pf_fn.h"

static void describe(const struct an_message *m, MPI_Status *status)
{
    if (!status)
        return;
    *status = (MPI_Status){.MPI_SOURCE = m->envelope.source, .MPI_TAG = m->envelope.tag};
    an_status_set_bytes(status, m->bytes);
}

static struct an_message *find(MPI_Comm handle, int source, int tag)
{
    struct an_comm *comm = an_comm_of(handle);
    return an_message_find(comm, an_source(source), an_tag(tag), an_now(comm->rank));
}

/* The order of arrival decides which message a probe from any source finds. */
static void took(const struct an_rank *rank, const struct an_message *m, int source)
{
    struct pf_chain *path = m && source == MPI_ANY_SOURCE ? an_message_path(m, m->sent.arrival) : NULL;
    an_path_took(rank, path);
    pf_chain_drop(&path);
}

/* How far the rank may be ahead of the clock while all messages from `source` that have arrived are in its
 * queue: a message that is sent from now on arrives later than that. */
static double foresight(struct an_comm *comm, int source)
{
    struct an_rank *rank = comm->rank;
    const struct an_shared *shared = comm->shared;
    if (source == MPI_ANY_SOURCE || shared->match[comm->index].open)
        return 0;
    int from = shared->world_ranks[comm->peers_at + source];
    if (from != rank->soonest_from) {
        rank->soonest_from = from;
        rank->soonest = pf_cost_soonest(an_job.cost, from, rank->base.rank);
    }
    return rank->soonest;
}

/* Probes once. A rank that finds nothing may probe again before it pays, as long as other ranks cannot change
 * the result. */
static struct an_message *probe_once(MPI_Comm handle, int source, int tag)
{
    struct an_comm *comm = an_comm_of(handle);
    struct an_rank *rank = comm->rank;
    double known = foresight(comm, source);
    if (rank->debt >= known)
        an_rank_settle(rank);
    struct an_message *m = find(handle, source, tag);
    took(rank, m, source);
    rank->foresight = m ? 0 : known;
    return m;
}

/* Waits for one. */
static struct an_message *probe_until_found(MPI_Comm handle, int source, int tag)
{
    struct an_comm *comm = an_comm_of(handle);
    struct an_rank *rank = comm->rank;
    struct an_match *match = &comm->shared->match[comm->index];
    struct an_message *m = find(handle, source, tag);
    took(rank, m, source);
    if (m)
        return m;
    an_rank_settle(rank);
    an_match_open(match);
    match->prober = rank;
    rank->busy_until = pf_engine_now();
    an_rank_poll(rank, true);
    while (!(m = find(handle, source, tag)))
        an_rank_park(rank);
    rank->polls = false;
    took(rank, m, source);
    struct pf_chain *path = an_message_path(m, m->sent.arrival);
    an_path_meet(rank, &path);
    match->prober = NULL;
    an_match_close(match);
    return m;
}

static int an_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int error = an_check_peer(comm, source, tag, true);
    if (error)
        return error;
    if (source == MPI_PROC_NULL)
        an_status_set_nothing(status);
    else
        describe(probe_until_found(comm, source, tag), status);
    return MPI_SUCCESS;
}

static int an_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    int error = an_check_peer(comm, source, tag, true);
    if (error)
        return error;
    const struct an_message *m = source == MPI_PROC_NULL ? NULL : probe_once(comm, source, tag);
    *flag = m || source == MPI_PROC_NULL;
    if (m)
        describe(m, status);
    else if (*flag)
        an_status_set_nothing(status);
    return MPI_SUCCESS;
}

static int an_mprobe(int source, int tag, MPI_Comm comm, void **message, MPI_Status *status)
{
    int error = an_check_peer(comm, source, tag, true);
    if (error)
        return error;
    struct an_message *m = probe_until_found(comm, source, tag);
    an_message_remove(m);
    describe(m, status);
    *message = m;
    return MPI_SUCCESS;
}

static int an_improbe(int source, int tag, MPI_Comm comm, int *flag, void **message, MPI_Status *status)
{
    int error = an_check_peer(comm, source, tag, true);
    if (error)
        return error;
    struct an_message *m = probe_once(comm, source, tag);
    *flag = m != NULL;
    if (!m)
        return MPI_SUCCESS;
    an_message_remove(m);
    describe(m, status);
    *message = m;
    return MPI_SUCCESS;
}

static int an_imrecv(void *buffer, int count, MPI_Datatype type, void **message, MPI_Request *handle)
{
    int error = an_check_data(count, type);
    struct an_message *m = *message;
    *handle = MPI_REQUEST_NULL;
    if (error)
        return error;
    struct an_rank *rank = an_job.ranks[m->destination];
    struct an_request *request = an_request_new(rank, AN_RECEIVE);
    an_request_describe(request, buffer, count, type);
    if (an_job.posts)
        rank->debt += pf_cost_post(an_job.cost, an_data_bytes(count, type));
    double posted = an_now(rank);
    an_path_spend(rank, posted, an_receive_class());
    bool has_come = !m->sent.rendezvous;
    if (!has_come)
        request->path = an_path_of(rank);
    an_message_fetch(m, request, posted);
    if (has_come) {
        request->done_at = fmax(posted, request->done_at - pf_cost_mprobe_gain(an_job.cost));
        request->path = an_path_of(rank);
        pf_chain_extend(request->path, request->done_at, an_receive_class());
    }
    *message = NULL;
    *handle = (MPI_Request)request;
    return MPI_SUCCESS;
}

static int an_mrecv(void *buffer, int count, MPI_Datatype type, void **message, MPI_Status *status)
{
    MPI_Request handle;
    int error = an_imrecv(buffer, count, type, message, &handle);
    if (error)
        return error;
    an_request_await((struct an_request *)handle);
    return an_request_finish(&handle, status);
}

void an_probe_install(struct pf_own_fn *fn)
{
    fn->Probe = an_probe;
    fn->Iprobe = an_iprobe;
    fn->Mprobe = an_mprobe;
    fn->Improbe = an_improbe;
    fn->Mrecv = an_mrecv;
    fn->Imrecv = an_imrecv;
}
