/* SPDX-License-Identifier: BSD-3-Clause */
/* Why messages and requests come when they do. */
#include "adapters/analytic/engine/engine.h"

/* As paths know it. */
struct known {
    int source, destination; /* ranks */
    size_t bytes;
    bool rendezvous;
    int waited_at; /* as in pf_cost_sent */
};

/* What messages like this one have in common. */
struct kind {
    size_t bytes, priced; /* its own, and those by which it travels */
    int source, destination;
    enum pf_cost_crossing crossing;
    bool rendezvous, known;
    struct pf_chain_way way;
};

static void find(struct kind *kind)
{
    int from = an_job.nodes[kind->source], to = an_job.nodes[kind->destination];
    bool by_platform = from == to || pf_cost_by_platform(an_job.cost);
    kind->way.message =
        (struct pf_chain_message){.from = from,
                                  .to = to,
                                  .routes = by_platform ? PF_CHAIN_BY_PLATFORM : PF_CHAIN_OF_PARAMETERS,
                                  .protocol = kind->rendezvous ? PF_CHAIN_RENDEZVOUS : PF_CHAIN_EAGER,
                                  .size = pf_chain_size((double)kind->bytes),
                                  .back = kind->crossing != PF_COST_ONE_WAY};
    pf_cost_latencies(an_job.cost, kind->source, kind->destination, kind->priced, kind->crossing,
                      &kind->way.links, &kind->way.nics);
    kind->known = true;
}

/* Until the next call. */
static struct pf_chain_way *way_of(const struct known *m, size_t priced, enum pf_cost_crossing crossing,
                                   double date)
{
    enum { KEPT = 64 };
    static struct kind kinds[KEPT];
    struct kind *kind =
        &kinds[((size_t)m->source * 7 + (size_t)m->destination * 5 + m->bytes + crossing) % KEPT];
    if (__builtin_expect(!kind->known || kind->bytes != m->bytes || kind->priced != priced ||
                             kind->source != m->source || kind->destination != m->destination ||
                             kind->crossing != crossing || kind->rendezvous != m->rendezvous,
                         0)) {
        *kind = (struct kind){m->bytes, priced,        m->source, m->destination,
                              crossing, m->rendezvous, false,     {.date = 0}};
        find(kind);
    }
    if (kind->way.message.link != m->waited_at)
        kind->way.message.link = m->waited_at; /* seldom: it is copied as part of something wider */
    kind->way.date = date;
    return &kind->way;
}

/* The way through the network to `date`. */
static void travel(struct pf_chain *path, const struct known *m, enum pf_cost_crossing crossing, double date)
{
    pf_chain_travel(path, way_of(m, m->bytes, crossing, date));
}

struct pf_chain *an_message_path(const struct an_message *m, double date)
{
    struct pf_chain *path = pf_chain_duplicate(m->path);
    pf_chain_extend(path, m->sent.returns, PF_CHAIN_SOFTWARE);
    if (path)
        travel(path,
               &(struct known){m->source, m->destination, m->bytes, m->sent.rendezvous, m->sent.waited_at},
               PF_COST_ONE_WAY, date);
    return path;
}

static int target_of(const struct an_send *s)
{
    return s->comm->shared->world_ranks[s->comm->peers_at + s->peer];
}

/* The sender's. */
static struct known known_of(const struct an_send *s, int waited_at)
{
    return (struct known){s->comm->rank->base.rank, target_of(s), an_data_bytes(s->count, s->type),
                          s->comm->rank->rendezvous, waited_at};
}

void an_message_awaited(const struct an_send *s, double date)
{
    pf_self_t *self = an_job.job->ranks[s->comm->rank->base.rank];
    if (!pf_chain_on || !pf_chain_needs(self, date))
        return;
    struct known m = known_of(s, s->comm->rank->waited_at);
    pf_chain_go(self, way_of(&m, m.bytes, PF_COST_THERE_AND_BACK, date));
}

void an_message_outlasted(const struct an_send *s)
{
    struct an_rank *rank = s->comm->rank;
    pf_self_t *self = an_job.job->ranks[rank->base.rank];
    if (!pf_chain_on || !rank->inflow.node || !pf_chain_needs(self, an_now(rank)))
        return;
    struct known m = known_of(s, pf_cost_late_at(an_job.cost, &rank->inflow));
    pf_chain_carry_on(self, &way_of(&m, m.bytes, PF_COST_ONE_WAY, an_now(rank))->message);
    an_path_spend(rank, an_now(rank), PF_CHAIN_TRANSFER);
}

void an_message_acknowledged(const struct an_send *s, struct an_request *request)
{
    if (!pf_chain_on || request->done_at == INFINITY)
        return;
    request->path = pf_chain_copy_on(an_job.job->ranks[s->comm->rank->base.rank], an_now(s->comm->rank));
    request->acknowledged_by = target_of(s);
    request->waited_at = s->comm->rank->waited_at;
    request->rendezvous = s->comm->rank->rendezvous;
    request->bytes = an_data_bytes(s->count, s->type);
}

void an_request_follow(struct an_request *r)
{
    if (r->acknowledged_by >= 0)
        travel(r->path,
               &(struct known){r->rank->base.rank, r->acknowledged_by, r->bytes, r->rendezvous, r->waited_at},
               PF_COST_THERE_AND_BACK, r->done_at);
    r->acknowledged_by = -1;
    if (!r->came)
        return;
    travel(r->came, &(struct known){r->came_from, r->rank->base.rank, r->bytes, false, r->waited_at},
           PF_COST_ONE_WAY, r->arrival);
    pf_chain_merge(&r->path, &r->came);
    pf_chain_extend(r->path, r->work_begins, an_receive_class());
    pf_chain_extend(r->path, r->done_at, PF_CHAIN_SOFTWARE);
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
        receive->waited_at = sent->waited_at;
        receive->arrival = arrival;
        receive->work_begins = received->complete - received->work;
        *path = NULL;
        return;
    }
    struct known m = {source, destination, bytes, sent->rendezvous, sent->waited_at};
    pf_chain_travel(*path, way_of(&m, sent->rendezvous && !ahead ? 0 : bytes, PF_COST_ONE_WAY,
                                  ahead ? sent->data : arrival));
    if (receive->any)
        an_path_took(receive->rank, *path);
    pf_chain_join(receive->path, *path);
    if (send) {
        send->path = pf_chain_duplicate(receive->path);
        travel(send->path, &m, PF_COST_ONE_WAY, received->safe);
    }
    m.waited_at = received->waited_at;
    if (received->again || (sent->rendezvous && !ahead))
        travel(receive->path, &m, PF_COST_ON_REQUEST, received->arrival);
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

void an_request_late(struct an_request *request, double date, enum pf_chain_class what)
{
    if (!request->path)
        return;
    if (date > request->done_at && request->inflow.node)
        pf_chain_wait_at(request->path, pf_cost_late_at(an_job.cost, &request->inflow));
    pf_chain_extend(request->path, date, what);
}
