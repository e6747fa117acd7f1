/* SPDX-License-Identifier: BSD-3-Clause */
/* Why messages and requests come when they do. */
#include "adapters/analytic/engine/engine.h"

/* The way through the network to `date`. */
static void travel(struct pf_chain *path, int source, int destination, size_t bytes,
                   enum pf_cost_crossing crossing, double date)
{
    struct pf_chain_way way = {.date = date};
    pf_cost_latencies(an_job.cost, source, destination, bytes, crossing, &way.links, &way.nics);
    pf_chain_travel(path, &way);
}

struct pf_chain *an_message_path(const struct an_message *m, double date)
{
    struct pf_chain *path = pf_chain_duplicate(m->path);
    pf_chain_extend(path, m->sent.returns, PF_CHAIN_SOFTWARE);
    if (path)
        travel(path, m->source, m->destination, m->bytes, PF_COST_ONE_WAY, date);
    return path;
}

static int target_of(const struct an_send *s)
{
    return s->comm->shared->world_ranks[s->comm->peers_at + s->peer];
}

void an_message_awaited(const struct an_send *s, double date)
{
    int rank = s->comm->rank->base.rank;
    pf_self_t *self = an_job.job->ranks[rank];
    if (!pf_chain_on || !pf_chain_needs(self, date))
        return;
    struct pf_chain_way way = {.date = date};
    pf_cost_latencies(an_job.cost, rank, target_of(s), an_data_bytes(s->count, s->type),
                      PF_COST_THERE_AND_BACK, &way.links, &way.nics);
    pf_chain_go(self, &way);
}

void an_message_acknowledged(const struct an_send *s, struct an_request *request)
{
    if (!pf_chain_on || request->done_at == INFINITY)
        return;
    request->path = pf_chain_copy_on(an_job.job->ranks[s->comm->rank->base.rank], an_now(s->comm->rank));
    request->acknowledged_by = target_of(s);
    request->bytes = an_data_bytes(s->count, s->type);
}

void an_request_follow(struct an_request *r)
{
    if (r->acknowledged_by >= 0)
        travel(r->path, r->rank->base.rank, r->acknowledged_by, r->bytes, PF_COST_THERE_AND_BACK, r->done_at);
    r->acknowledged_by = -1;
    if (!r->came)
        return;
    travel(r->came, r->came_from, r->rank->base.rank, r->bytes, PF_COST_ONE_WAY, r->arrival);
    pf_chain_join(r->path, r->came);
    pf_chain_extend(r->path, r->work_begins, an_receive_class());
    pf_chain_extend(r->path, r->done_at, PF_CHAIN_SOFTWARE);
    pf_chain_drop(&r->came);
}

/* Of the messages that a rank waits for together, one decides: the way of an eager one is followed when that
 * is known. */
static bool can_wait(const struct pf_cost_sent *sent, const struct pf_cost_received *received)
{
    return !pf_chain_predicts && !sent->rendezvous && !received->again;
}

void an_path_follow(struct pf_chain **path, const struct pf_cost_sent *sent, int source, int destination,
                    size_t bytes, struct an_request *receive, const struct pf_cost_received *received,
                    struct an_request *send)
{
    if (!*path || !receive->path)
        return;
    bool ahead = sent->rendezvous && pf_cost_sends_ahead(an_job.cost);
    bool pieces = !sent->rendezvous && pf_cost_in_pieces(an_job.cost);
    double arrival = pieces ? received->arrival : sent->arrival;
    pf_chain_extend(*path, sent->returns, PF_CHAIN_SOFTWARE);
    if (can_wait(sent, received)) {
        receive->came = *path;
        receive->came_from = source;
        receive->bytes = bytes;
        receive->arrival = arrival;
        receive->work_begins = received->complete - received->work;
        *path = NULL;
        return;
    }
    travel(*path, source, destination, sent->rendezvous && !ahead ? 0 : bytes, PF_COST_ONE_WAY,
           ahead ? sent->data : arrival);
    if (receive->any)
        an_path_took(receive->rank, *path);
    pf_chain_join(receive->path, *path);
    if (send) {
        send->path = pf_chain_duplicate(receive->path);
        travel(send->path, source, destination, bytes, PF_COST_ONE_WAY, received->safe);
    }
    if (received->again || (sent->rendezvous && !ahead))
        travel(receive->path, source, destination, bytes, PF_COST_ON_REQUEST, received->arrival);
    pf_chain_extend(receive->path, received->complete - received->work, an_receive_class());
    pf_chain_extend(receive->path, received->complete, PF_CHAIN_SOFTWARE);
    pf_chain_drop(path);
}

void an_request_met(struct an_request *request)
{
    pf_self_t *self = an_job.job->ranks[request->rank->base.rank];
    bool is_late = request->acknowledged_by >= 0 || request->came;
    if (!request->path || (is_late && !pf_chain_needs(self, request->done_at)))
        return;
    an_request_follow(request);
    pf_chain_meet(self, request->path, an_now(request->rank));
}
