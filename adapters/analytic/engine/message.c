/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching. A message is in its destination's queue from the call that sends it, with the date of its
 * arrival. A receive from a given source takes the first one that matches at once, even if it has not arrived
 * yet: no message that is sent later can match before it. A receive from any source, and a probe, must take
 * the message that arrives first: while one is pending, each message to this destination has an event at its
 * arrival, and only that event matches it. Messages of one source do not overtake each other.
 */
#include "adapters/analytic/engine/engine.h"

#include <string.h>

void an_message_remove(struct an_message *m)
{
    pf_engine_cancel(&m->arrival);
    pf_envelope_remove(&m->match->unexpected, &m->envelope);
    m->match = NULL;
}

void an_message_withdraw(struct an_request *receive)
{
    struct an_match *match = receive->match;
    pf_envelope_remove(&match->posted, &receive->envelope);
    receive->match = NULL;
    if (receive->envelope.source == PF_ENVELOPE_ANY_SOURCE)
        an_match_close(match);
}

/* Sets the status of a receive. Returns how many bytes of the message fit into its buffer. */
static size_t describe(struct an_request *receive, int source, int tag, size_t bytes)
{
    size_t room = an_data_bytes(receive->count, receive->type), taken = bytes > room ? room : bytes;
    receive->status.MPI_SOURCE = source;
    receive->status.MPI_TAG = tag;
    receive->status.MPI_ERROR = bytes > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    an_status_set_bytes(&receive->status, taken);
    return taken;
}

static void pack(struct an_message *m, const void *buffer, int count, MPI_Datatype type)
{
    if (m->bytes > 0 && an_job.moves_data) {
        m->payload = an_data_room(m->bytes, &m->payload_class);
        an_data_pack(buffer, count, type, m->payload);
    }
}

/* Copies the data to the receiver. Outside a rank's context nothing can be unpacked: then the receive keeps
 * the message, and the call that completes it unpacks the data. Returns whether the message is finished. */
static bool deliver(struct an_message *m, struct an_request *receive)
{
    if (!an_job.moves_data || m->bytes == 0)
        return true;
    if (pf_engine_inside() && an_data_is_derived(receive->type)) {
        if (!m->payload)
            pack(m, m->buffer, m->count, m->type);
        receive->message = m;
        return false;
    }
    if (m->payload) {
        size_t room = an_data_bytes(receive->count, receive->type);
        an_data_unpack(m->payload, m->bytes < room ? m->bytes : room, receive->buffer, receive->type);
    } else {
        an_data_move(m->buffer, m->count, m->type, receive->buffer, receive->count, receive->type);
    }
    return true;
}

/* How long a processor takes to pack data with gaps, or to unpack them. */
static double packing(MPI_Datatype type, size_t bytes)
{
    double time = pf_cost_pack(an_job.cost, bytes);
    return time > 0 && an_data_has_gaps(type) ? time : 0;
}

/* Whether data may not be read where they are, or written where they go. */
static bool has_gaps(MPI_Datatype type, size_t bytes)
{
    return __builtin_expect(bytes > an_job.asks_above, 0) && an_data_has_gaps(type);
}

/* A receive completes when its data are unpacked. */
static inline __attribute__((always_inline)) void
settle_receive(struct an_request *receive, const struct pf_cost_received *received, size_t bytes)
{
    double unpacking = packing(receive->type, bytes);
    receive->work = received->work + unpacking;
    pf_cost_inflow_set(&receive->inflow, &received->inflow);
    if (!receive->came)
        pf_chain_extend(receive->path, received->complete + unpacking, PF_CHAIN_SOFTWARE);
    an_request_settle(receive, received->complete + unpacking);
}

static void take(struct an_message *m, struct an_request *receive, double posted)
{
    struct pf_cost_received received;
    if (m->sent.rendezvous)
        m->sent.gaps = has_gaps(m->type, m->bytes) || has_gaps(receive->type, m->bytes);
    pf_cost_receive(an_job.cost, m->source, m->destination, m->bytes, &m->sent, posted, &received);
    /* Where processors do the work, one call of the progress engine finds all messages that have arrived. */
    if (received.work > 0 && !m->sent.rendezvous && posted > received.arrival &&
        received.arrival <= receive->rank->polled_at)
        received.complete -= pf_cost_first_poll(an_job.cost);
    an_path_follow(&m->path, &m->sent, m->source, m->destination, m->bytes, receive, &received, m->request);
    describe(receive, m->envelope.source, m->envelope.tag, m->bytes);
    bool over = deliver(m, receive);
    if (m->request) {
        m->request->message = NULL;
        pf_cost_inflow_set(&m->request->inflow, &received.inflow);
        an_request_settle(m->request, received.safe);
        m->request = NULL;
    }
    if (over)
        an_message_free(m);
    settle_receive(receive, &received, m->bytes);
}

/* Over UCX the processor of a receive's rank must see the request before it can read the data: it does not
 * while it computes. */
static inline bool may_ask(const struct an_request *receive, size_t bytes)
{
    return __builtin_expect(bytes > an_job.asks_above, 0) && an_job.alone && !receive->rank->polls &&
           !receive->freed;
}

static void ask(struct an_message *m, struct an_request *receive)
{
    struct an_rank *rank = receive->rank;
    m->receive = receive;
    m->next = NULL;
    if (!rank->asking)
        rank->asking_end = &rank->asking;
    *rank->asking_end = m;
    rank->asking_end = &m->next;
}

void an_message_answer(struct an_rank *rank, bool waits)
{
    struct an_message *m = rank->asking, *next;
    double now = an_now(rank);
    rank->asking = NULL;
    for (; m; m = next) {
        struct an_request *receive = m->receive;
        next = m->next;
        if (!waits && m->sent.arrival > now) {
            ask(m, receive);
            continue;
        }
        pf_chain_drop(&receive->path);
        receive->path = an_path_post(rank, now, an_receive_class());
        take(m, receive, fmax(receive->posted, now));
    }
}

void an_message_take(struct an_message *m, struct an_request *receive, double posted)
{
    if (may_ask(receive, m->bytes) && m->sent.data == INFINITY && m->sent.arrival > receive->rank->polled_at)
        ask(m, receive);
    else
        take(m, receive, posted);
}

static void arrived(struct pf_event *event)
{
    struct an_message *m = pf_container_of(event, struct an_message, arrival);
    struct an_match *match = m->match;
    struct an_request *receive =
        (struct an_request *)pf_envelope_find(&match->posted, m->envelope.source, m->envelope.tag);
    if (receive) {
        an_message_withdraw(receive);
        an_message_remove(m);
        an_message_take(m, receive, receive->posted);
    } else if (match->prober) {
        pf_engine_post(&match->prober->wake, fmax(m->sent.arrival, match->prober->busy_until));
    }
}

/* Dates that are not negative have the order of their bits. */
static uint64_t order_of(const struct an_message *m)
{
    uint64_t bits;
    memcpy(&bits, &m->sent.arrival, sizeof bits);
    return bits;
}

/*
 * A receive or probe needs the first arrival from any source. Until then messages are in the order of the
 * calls, which suffices for each source: in an exchange of all with all, sorting each message by its date
 * would take longer than everything else. Numbers of calls are less than the bits of any date.
 */
static void order_by_arrival(struct an_match *match)
{
    if (match->ordered)
        return;
    match->ordered = true;
    for (int i = match->unexpected.count; i > 0; i--) {
        struct an_message *m = (struct an_message *)match->unexpected.all.first;
        pf_envelope_remove(&match->unexpected, &m->envelope);
        m->envelope.order = order_of(m);
        pf_envelope_insert(&match->unexpected, &m->envelope);
    }
}

void an_match_open(struct an_match *match)
{
    order_by_arrival(match);
    if (match->open++ > 0)
        return;
    double now = pf_engine_now();
    for (struct pf_envelope *e = match->unexpected.all.first; e; e = e->next) {
        struct an_message *m = (struct an_message *)e;
        if (m->sent.arrival > now)
            pf_engine_post(&m->arrival, m->sent.arrival);
    }
}

void an_match_close(struct an_match *match)
{
    match->open--;
}

static void insert(struct an_match *match, struct an_message *m)
{
    const struct an_message *last =
        (const struct an_message *)pf_envelope_last_of(&match->unexpected, m->envelope.source);
    if (last && last->sent.arrival > m->sent.arrival)
        m->sent.arrival = last->sent.arrival;
    if (match->unexpected.count == 0 && !match->open)
        match->ordered = false;
    m->envelope.order = match->ordered ? order_of(m) : match->sends++;
    m->match = match;
    pf_envelope_insert(&match->unexpected, &m->envelope);
    if (match->open)
        pf_engine_post(&m->arrival, m->sent.arrival);
    an_rank_expect(an_job.ranks[m->destination], m->sent.arrival);
}

/* The call lasts until `date`; it began at `now`, when the simulation's clock was at `clock`. */
static void charge(struct an_rank *rank, double clock, double now, double date)
{
    if (date > now)
        rank->debt = date - clock;
}

/* The receive was posted first: the data go directly into its buffer. Returns when the send completes. */
static double send_to(const struct an_send *s, size_t bytes, double clock, struct an_request *receive)
{
    struct an_rank *rank = s->comm->rank;
    struct pf_cost_sent sent;
    struct pf_cost_received received;
    double now = clock + rank->debt;
    an_message_withdraw(receive);
    if (has_gaps(s->type, bytes) || has_gaps(receive->type, bytes)) {
        pf_cost_send(an_job.cost, rank->base.rank, receive->rank->base.rank, bytes, now, s->mode, &sent);
        sent.gaps = true;
        pf_cost_receive(an_job.cost, rank->base.rank, receive->rank->base.rank, bytes, &sent, receive->posted,
                        &received);
    } else {
        pf_cost_message(an_job.cost, rank->base.rank, receive->rank->base.rank, bytes, now, receive->posted,
                        s->mode, &sent, &received);
    }
    charge(rank, clock, now, sent.returns);
    struct pf_chain *path = an_path_send(rank, now, clock + rank->debt);
    if (path)
        an_path_follow(&path, &sent, rank->base.rank, receive->rank->base.rank, bytes, receive, &received,
                       NULL);
    size_t taken = describe(receive, s->comm->me, s->tag, bytes);
    if (receive->keeps_type || an_data_is_derived(s->type))
        an_data_move(s->buffer, s->count, s->type, receive->buffer, receive->count, receive->type);
    else if (an_job.moves_data && taken > 0)
        memmove(receive->buffer, s->buffer, taken);
    settle_receive(receive, &received, bytes);
    pf_cost_inflow_set(&rank->inflow, &received.inflow);
    rank->waited_at = received.waited_at;
    rank->rendezvous = sent.rendezvous;
    return received.safe;
}

static struct an_message *message_new(const struct an_send *s, size_t bytes, const struct pf_cost_sent *sent)
{
    struct an_message *m = an_message_new();
    const struct an_shared *shared = s->comm->shared;
    *m = (struct an_message){.envelope = {.source = s->comm->me, .tag = s->tag},
                             .source = s->comm->rank->base.rank,
                             .destination = shared->world_ranks[s->comm->peers_at + s->peer],
                             .bytes = bytes,
                             .sent = *sent,
                             .arrival = {.fn = arrived}};
    return m;
}

struct an_request *an_send_request(const struct an_send *s)
{
    struct an_request *request = an_request_new(s->comm->rank, AN_SEND);
    an_request_describe(request, s->buffer, s->count, s->type);
    return request;
}

/* A rendezvous: the match will complete the request. */
static void await_receive(const struct an_send *s, struct an_message *m, struct an_request **request)
{
    if (!*request)
        *request = an_send_request(s);
    m->request = *request;
    m->request->message = m;
    m->buffer = s->buffer;
    m->count = s->count;
    m->type = s->type;
}

/* While a receive from any source is pending, messages match when they arrive: one that was sent before may
 * be on its way to this receive. */
static bool overtakes(struct an_match *match, const struct an_request *receive, int source)
{
    return match->open && pf_envelope_find(&match->unexpected, source, receive->envelope.tag);
}

double an_message_send(const struct an_send *s, struct an_request **request)
{
    struct an_rank *rank = s->comm->rank;
    struct an_shared *shared = s->comm->shared;
    int target = s->comm->peers_at + s->peer;
    struct an_match *match = &shared->match[target];
    size_t bytes = an_data_bytes(s->count, s->type);
    rank->debt += packing(s->type, bytes);
    double clock = pf_engine_now(), now = clock + rank->debt;
    struct an_request *receive = (struct an_request *)pf_envelope_find(&match->posted, s->comm->me, s->tag);
    if (receive &&
        (receive->envelope.source == PF_ENVELOPE_ANY_SOURCE || overtakes(match, receive, s->comm->me)))
        receive = NULL;
    if (receive && !may_ask(receive, bytes))
        return send_to(s, bytes, clock, receive);
    struct pf_cost_sent sent;
    pf_cost_send(an_job.cost, rank->base.rank, shared->world_ranks[target], bytes, now, s->mode, &sent);
    charge(rank, clock, now, sent.returns);
    pf_cost_inflow_set(&rank->inflow, &sent.inflow);
    rank->waited_at = sent.waited_at;
    rank->rendezvous = sent.rendezvous;
    struct an_message *m = message_new(s, bytes, &sent);
    m->path = an_path_send(rank, now, clock + rank->debt);
    if (sent.rendezvous)
        await_receive(s, m, request);
    else
        pack(m, s->buffer, s->count, s->type);
    if (s->mode == PF_COST_BUFFERED) {
        m->buffered = rank;
        m->buffer_number = rank->buffer_number;
        rank->bsend_used += (int64_t)bytes;
    }
    if (receive) {
        an_message_withdraw(receive);
        an_message_take(m, receive, receive->posted);
    } else {
        insert(match, m);
    }
    return sent.rendezvous ? (*request)->done_at : sent.safe;
}

/* Whether it has arrived, for calls that take the first arrival. */
static bool is_there(const struct an_match *match, const struct an_message *m, double now)
{
    return match->open ? !pf_event_pending(&m->arrival) : m->sent.arrival <= now;
}

struct an_message *an_message_find(struct an_comm *comm, int source, int tag, double now)
{
    struct an_match *match = &comm->shared->match[comm->index];
    if (source == PF_ENVELOPE_ANY_SOURCE)
        order_by_arrival(match);
    struct an_message *m = (struct an_message *)pf_envelope_find(&match->unexpected, source, tag);
    return m && is_there(match, m, now) ? m : NULL;
}

void an_message_fetch(struct an_message *m, struct an_request *request, double posted)
{
    struct an_rank *rank = request->rank;
    double returns = pf_cost_post_end(an_job.cost, m->bytes, &m->sent, posted);
    struct pf_chain *path = returns > posted ? an_message_path(m, returns) : NULL;
    an_message_take(m, request, posted);
    rank->debt += returns - posted;
    an_path_meet(rank, &path);
}

void an_message_receive(struct an_comm *comm, int source, int tag, struct an_request *request)
{
    struct an_match *match = &comm->shared->match[comm->index];
    bool any = source == PF_ENVELOPE_ANY_SOURCE;
    request->any = any;
    if (any)
        order_by_arrival(match);
    struct an_message *m = (struct an_message *)pf_envelope_find(&match->unexpected, source, tag);
    if (m && (any || match->open) && !is_there(match, m, request->posted))
        m = NULL;
    if (m) {
        an_message_remove(m);
        an_message_fetch(m, request, request->posted);
        return;
    }
    request->envelope = (struct pf_envelope){.order = match->receives++, .source = source, .tag = tag};
    request->match = match;
    pf_envelope_insert(&match->posted, &request->envelope);
    if (any)
        an_match_open(match);
}

static void free_envelope(struct pf_envelope *envelope)
{
    struct an_message *m = (struct an_message *)envelope;
    if (m->request)
        m->request->message = NULL;
    an_message_free(m);
}

static void forget_receive(struct pf_envelope *envelope)
{
    ((struct an_request *)envelope)->match = NULL;
}

void an_match_clear(struct an_match *match)
{
    pf_envelope_queue_clear(&match->unexpected, free_envelope);
    pf_envelope_queue_clear(&match->posted, forget_receive);
}
