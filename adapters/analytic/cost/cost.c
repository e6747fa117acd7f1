/* SPDX-License-Identifier: BSD-3-Clause */
/* The price of one message. */
#include "adapters/analytic/cost/way.h"

#include <math.h>

#include "base/config.h"
#include "base/memory.h"

/* fmax() would be a call of the C library. */
static inline double latest(double a, double b)
{
    return a > b ? a : b;
}

/* Inlined into its callers, which the compiler would not do by itself: a message is priced by one call. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* How long an envelope without data travels: a request, its answer, an acknowledgement. */
ALWAYS_INLINE double control_time(const struct pf_cost_way *way)
{
    return way->transport->control_latency + way->transport->ranges[0].latency_factor * way->latency;
}

/* How long an envelope travels back to the sender. */
ALWAYS_INLINE double answer_time(const struct pf_cost *cost, struct pf_cost_way *way)
{
    return way->transport->control_latency +
           way->transport->ranges[0].latency_factor * pf_cost_way_back(cost, way);
}

/* Nothing overtakes earlier data between two nodes, as the network has it: what leaves at a date, and would
 * arrive at another, arrives behind them. */
ALWAYS_INLINE double behind(const struct pf_cost *cost, const struct pf_cost_last *last, int to, double left,
                            double arrival)
{
    if (__builtin_expect(last->to != to + 1 || last->ready > left, 1))
        return arrival;
    return latest(arrival, last->arrival + (last->inflow.node ? pf_cost_late(cost, &last->inflow) : 0));
}

static inline struct pf_cost_last *last_of(struct pf_cost_last *all, int node, int to)
{
    return &all[(size_t)node * PF_COST_LASTS + (unsigned)to % PF_COST_LASTS];
}

/* When the sender knows that a message was acknowledged at a date. */
ALWAYS_INLINE double acknowledged_at(const struct pf_cost *cost, struct pf_cost_way *way, double date)
{
    double known = date + pf_cost_way_acknowledged(cost, way);
    if (__builtin_expect(way->transport->answered == NULL, 1))
        return known;
    return behind(cost, last_of(way->transport->answered, way->to, way->from), way->from, date, known);
}

/* A message of a batch ends when all of them would, each with the same share of the NIC, if the larger ones
 * had its size. Returns how much later that is than one after the other. */
static double share(struct pf_cost_batch *batch, double start, double busy)
{
    if (batch->left == 0)
        return 0;
    if (batch->left-- == batch->count)
        batch->begin = start;
    double end = batch->begin + fmin(batch->total, batch->count * busy);
    return latest(0, end - (start + busy));
}

/* Where the receiving NIC serves any number of messages at once: how late a message would be if it did not.
 */
static void note_overrun(struct pf_cost *cost, const struct pf_cost_way *way, double arrival, double busy)
{
    double ready = arrival - busy;
    double late = pf_busy_take(&way->transport->behind[way->to], ready, busy) - ready;
    cost->overrun.last = latest(cost->overrun.last, arrival);
    if (late > cost->overrun.seconds) {
        cost->overrun.seconds = late;
        cost->overrun.rank = way->to; /* the node; pf_cost_overrun() finds the rank */
    }
}

/* The arrival of a message that waits for links unless it is short; `alone` is when it would arrive without
 * any wait. */
ALWAYS_INLINE double wait_for_links(struct pf_cost *cost, const struct pf_cost_way *way, size_t bytes,
                                    double start, double arrival, double alone)
{
    double wire = 0;
    if (bytes > cost->network.share_above && way->from != way->to)
        wire = way->range->header + (double)bytes * latest(1, way->range->byte_factor);
    double lone = wire * way->least, end = pf_crowd_wait(cost->network.crowd, way->src, way->from, way->to,
                                                         wire, lone, start, arrival, arrival - alone);
    if (cost->inflow.node && wire > 0) {
        cost->inflow.from = way->from;
        cost->inflow.crossing = pf_links_number(cost->network.middle);
        cost->inflow.bytes = wire;
        cost->inflow.begun = start;
        cost->inflow.alone = lone;
        cost->inflow.through = end - (alone - start - lone);
    }
    return end;
}

/* How long a short message waits for links. What has data comes to them as much later than an empty one as
 * its latency is longer: the NIC fetches the data before. */
static double wait_on_the_way(const struct pf_cost_way *way, double start)
{
    size_t wire = pf_cost_way_wire(way);
    start += latest(0, way->range->latency - way->transport->ranges[0].latency);
    return pf_links_pass(way->transport->middle, way->from, way->to, wire, start, (double)wire * way->least);
}

/* How long a message occupies the NIC of a node that has several links. */
static double nic_time(const struct pf_cost_way *way, size_t bytes)
{
    const struct pf_cost_range *range = way->range;
    return latest(range->gap, (range->header + (double)bytes * range->byte_factor) * range->least_byte_time);
}

static double take(struct pf_busy *busy, double ready, double duration)
{
    return busy && duration > 0 ? pf_busy_take(busy, ready, duration) : ready;
}

/* A link or a NIC serves short messages whole, and one after the other. */
static double serve(const struct pf_cost_way *way, struct pf_busy *busy, double ready, double duration)
{
    return busy && duration > 0 ? pf_busy_serve(busy, ready, duration, way->passes) : ready;
}

/* What acknowledges a short message takes a little of the NICs and links on the way back, and is acknowledged
 * as well, for which gaps are left that no message fits into. */
static void owe(struct pf_cost_transport *network, struct pf_cost_way *way)
{
    double bytes = network->acknowledgement_bytes, time = bytes * way->least;
    network->passing_out[way->to].owed += time;
    network->passing_in[way->from].owed += time;
    if (!pf_cost_way_is_free(way))
        pf_links_owe(network->middle, way->to, way->from, bytes);
}

/* How many long messages a NIC serves at a date, the last of which takes `work` there. */
static double sharers(const struct pf_busy *busy, double date, double work)
{
    return work > 0 ? ceil(pf_busy_left(busy, date) / work) : 0;
}

/* A short message passes as slowly as one of the long ones at either NIC, which lose what it takes. Returns
 * how much slower. */
static __attribute__((noinline)) double pass_among_long(const struct pf_cost_way *way, double start,
                                                        double came, double busy)
{
    const struct pf_cost_transport *network = way->transport;
    struct pf_inflow *inflow = network->inflow ? network->inflow[way->to] : NULL;
    double out = sharers(&network->busy_out[way->from], start, network->command[way->from].work);
    double in = inflow ? sharers(&network->busy_in[way->to], came, inflow->work) : 0;
    take(&network->busy_out[way->from], start, busy);
    double begin = take(&network->busy_in[way->to], came, busy), travel = came - start;
    if (inflow)
        pf_inflow_add_short(inflow, start, busy, begin + busy - travel);
    return network->inflow ? busy * latest(out, in) : 0;
}

/* A long message is on its way into a NIC, where its bytes take `work` from `start` at the earliest, the NIC
 * is free at `until`, and the message is through at `end`. It has a share of the NIC from when its bytes
 * leave, `travel` before all of these. */
static void note_inflow(struct pf_cost *cost, const struct pf_cost_way *way, size_t bytes, double start,
                        double work, double until, double end, double travel)
{
    struct pf_cost_transport *network = way->transport;
    cost->inflow.node = 0;
    if (!network->inflow || bytes <= network->share_above)
        return;
    struct pf_inflow **inflow = &network->inflow[way->to];
    if (!*inflow)
        *inflow = pf_calloc(1, sizeof **inflow);
    (*inflow)->work = work;
    cost->inflow =
        (struct pf_cost_inflow){.node = way->to + 1,
                                .number = pf_inflow_add(*inflow, start - travel, work, until - travel),
                                .work = work,
                                .end = end - travel};
}

bool pf_cost_by_platform(const struct pf_cost *cost)
{
    return !cost->by_arithmetic;
}

/* A message waits there for so long: for the NIC of its first node or its last one, or for links between. */
static __attribute__((noinline)) void note_waits(struct pf_cost *cost, const struct pf_cost_way *way,
                                                 double out, double links, double in)
{
    const struct pf_cost_transport *t = way->transport;
    double most = latest(out, latest(links, in)), rounding = 1e-12;
    cost->waited_at = PF_CHAIN_SLOWEST;
    if (most < rounding || way->from == way->to)
        return;
    if (links >= most)
        cost->waited_at = pf_links_waited_at(t->links ? t->links : t->middle);
    else
        cost->waited_at = out >= most ? PF_CHAIN_FIRST : PF_CHAIN_LAST;
}

/* transmit_from() between nodes of several links: the NIC serves at its own rate, and each link at the
 * link's. */
static double transmit_by_ports(struct pf_cost *cost, struct pf_cost_way *way, size_t bytes, double ready,
                                bool at_once, double *begun, double *left)
{
    struct pf_cost_transport *network = way->transport;
    const struct pf_cost_range *range = way->range;
    struct pf_ports_pair port = pf_ports_of(network->ports, way->from, way->to);
    double byte_time = way->byte_time, busy = way->busy, nic = nic_time(way, bytes);
    double first =
        serve(way, &(way->passes ? network->passing_out : network->busy_out)[way->from], ready, nic);
    double together = 0, start = first; /* short messages wait for all links on their way alike */
    if (!way->passes)
        start = latest(at_once ? first + nic - busy : first,
                       take(pf_ports_busy(network->ports, port.out), at_once ? ready : first, busy));
    double more = network->batch && !way->passes ? share(&network->batch[way->from], first, nic) : 0;
    if (more > 0)
        together = first + more;
    *begun = start;
    *left = latest(start + busy, together + nic);
    double alone = range->latency + range->latency_factor * way->latency + (double)bytes * byte_time +
                   range->header * way->least;
    double arrival = start + alone, shared = together + alone, on_links = 0;
    if (!pf_cost_way_is_free(way))
        arrival += on_links = wait_on_the_way(way, start);
    double ahead = arrival, from = at_once ? ready : start, head = arrival - (start - from);
    if (port.in != port.out && !way->passes)
        arrival = latest(arrival, take(pf_ports_busy(network->ports, port.in), head - busy, busy) + busy);
    double came = (at_once ? head : arrival) - nic;
    arrival =
        latest(arrival,
               serve(way, &(way->passes ? network->passing_in : network->busy_in)[way->to], came, nic) + nic);
    if (way->passes && network->acknowledgement_bytes > 0)
        owe(network, way);
    if (way->passes && network->shared) {
        take(pf_ports_busy(network->ports, port.out), start, busy);
        if (port.in != port.out)
            take(pf_ports_busy(network->ports, port.in), head - busy, busy);
    }
    if (!way->passes)
        network->shared = true;
    else if (network->shared)
        pass_among_long(way, first, came, nic); /* the NIC is faster than its links, and slows nothing */
    double until = arrival;
    arrival = latest(arrival, shared);
    note_inflow(cost, way, bytes, came, nic, until, arrival, alone - nic);
    if (network->crowd) {
        double before = arrival;
        arrival = wait_for_links(cost, way, bytes, from, before, from + alone);
        on_links = arrival > before ? arrival - start - alone : on_links;
    }
    if (__builtin_expect(cost->notes_waits, 0))
        note_waits(cost, way, latest(start, together) - ready, on_links, until - ahead);
    return arrival;
}

/*
 * Data that are ready at a date leave when the NIC has served its earlier messages (the LogP NIC of
 * SST/macro), and arrive a latency and the time of their bytes later. Returns the arrival; they leave from
 * `begun` to `left`. The receiving NIC or the links, where they serve one message after the other, delay the
 * arrival. Data that go `at_once` get their shares of both NICs, and of the links, from `ready` on: they are
 * priced in the order in which their receives meet them, and of two NICs one after the other each would stay
 * idle for what waits at the other one.
 */
ALWAYS_INLINE double transmit_from(struct pf_cost *cost, struct pf_cost_way *way, size_t bytes, double ready,
                                   bool at_once, double *begun, double *left)
{
    const struct pf_cost_range *range = way->range;
    if (__builtin_expect(way->transport->ports != NULL, 0))
        return transmit_by_ports(cost, way, bytes, ready, at_once, begun, left);
    double busy = way->busy, start = way->out ? pf_busy_serve(way->out, ready, busy, way->passes) : ready;
    double later = 0;
    if (way->transport->batch && bytes > way->transport->share_above)
        later = share(&way->transport->batch[way->from], start, busy);
    *begun = start;
    *left = start + busy + later;
    double latency = range->latency_factor * way->latency;
    double arrival = start + range->latency + latency + (double)bytes * way->byte_time;
    arrival += range->header * way->least;
    double alone = arrival;
    if (way->transport->links)
        arrival += pf_links_load(way->transport->links, way->from, way->to, bytes, start, latency,
                                 (double)bytes * way->least);
    else if (!pf_cost_way_is_free(way))
        arrival += wait_on_the_way(way, start);
    double from = at_once ? ready : start, before_in = start - from;
    double shared = arrival + later, came = arrival - busy - before_in, on_links = arrival - alone;
    if (way->in)
        arrival = latest(arrival, pf_busy_serve(way->in, came, busy, way->passes) + busy);
    if (way->passes && way->transport->acknowledgement_bytes > 0)
        owe(way->transport, way);
    if (!way->passes)
        way->transport->shared = true;
    else if (__builtin_expect(way->transport->shared, 0))
        arrival += pass_among_long(way, start, came, busy);
    double until = arrival, in = until - busy - before_in - came;
    arrival = latest(arrival, shared); /* a flow occupies the receiving NIC all the time, not at its end */
    note_inflow(cost, way, bytes, came, busy, until, arrival, came - from);
    if (cost->network.crowd) {
        double before = arrival;
        arrival = wait_for_links(cost, way, bytes, from, before, alone - before_in);
        on_links = arrival > before ? arrival - alone : on_links;
    }
    if (__builtin_expect(cost->notes_waits, 0))
        note_waits(cost, way, start - ready + later, on_links, in);
    if (__builtin_expect(way->transport->behind != NULL, 0) && busy > 0)
        note_overrun(cost, way, arrival, busy);
    return arrival;
}

ALWAYS_INLINE double transmit(struct pf_cost *cost, struct pf_cost_way *way, size_t bytes, double ready,
                              double *left)
{
    double begun;
    return transmit_from(cost, way, bytes, ready, false, &begun, left);
}

/* How long data travel with nothing in their way. */
static inline double travel_time(const struct pf_cost_way *way, size_t bytes)
{
    return way->range->latency + way->range->latency_factor * way->latency + (double)bytes * way->byte_time +
           way->range->header * way->least;
}

/* Data whose head is their request. Heads to one node keep the order of its messages: each arrives after all
 * data of the previous one. Heads to different nodes leave at once, as fast as the NIC takes commands. */
ALWAYS_INLINE double transmit_with_head(struct pf_cost *cost, struct pf_cost_way *way, size_t bytes,
                                        double ready, double request, double *head, double *left)
{
    double begun, arrival = transmit_from(cost, way, bytes, ready, false, &begun, left);
    struct pf_cost_command *command = &way->transport->command[way->from];
    struct pf_cost_last *last = last_of(way->transport->last, way->from, way->to);
    double taken = command->ready <= ready ? latest(ready, command->next) : ready;
    bool ordered = last->to == way->to + 1 && last->ready <= ready;
    double alone = arrival;
    *head = taken + request;
    if (ordered && way->passes)
        arrival = behind(cost, last, way->to, ready, arrival);
    else if (ordered)
        arrival = latest(arrival, last->arrival);
    if (ordered && command->to == way->to + 1)
        *head = begun + arrival - alone + request;
    if (arrival > alone && way->passes) { /* as late as these data will be */
        cost->inflow = last->inflow;
        cost->inflow.spare += arrival - last->arrival;
        arrival += way->busy;
    }
    if (way->passes) /* a link serves it whole: its head waits as long as its data */
        *head = latest(*head, arrival - travel_time(way, bytes) + request);
    last->to = way->to + 1;
    last->ready = ready;
    last->arrival = arrival;
    pf_cost_inflow_set(&last->inflow, &cost->inflow);
    *command = (struct pf_cost_command){way->to + 1, ready, taken + way->range->gap,
                                        way->passes ? command->work : way->busy};
    return arrival;
}

ALWAYS_INLINE double safe_at(const struct pf_cost *cost, enum pf_cost_done done, struct pf_cost_way *way,
                             size_t bytes, double ready, double left, double arrival)
{
    switch (done) {
    case PF_COST_COPIED:
        return ready + (double)bytes * cost->copy_byte_time;
    case PF_COST_SENT:
        return left;
    case PF_COST_ARRIVED:
    case PF_COST_RECEIVED:
        return arrival;
    case PF_COST_ACKNOWLEDGED:
        return acknowledged_at(cost, way, arrival);
    }
    return arrival;
}

/* How long the envelope of a rendezvous travels. With `get` it is the head of the data, not a control
 * message. */
ALWAYS_INLINE double request_time(const struct pf_cost *cost, const struct pf_cost_way *way)
{
    const struct pf_cost_range *empty = &way->transport->ranges[0];
    if (cost->protocol == PF_COST_MEET)
        return 0;
    if (cost->protocol == PF_COST_RENDEZVOUS)
        return control_time(way);
    if (cost->protocol >= PF_COST_PORTALS)
        return way->range->head + way->range->latency_factor * way->latency;
    return empty->latency + empty->latency_factor * way->latency;
}

static bool waits_for_receive(const struct pf_cost *cost, size_t bytes, enum pf_cost_mode mode)
{
    return mode == PF_COST_SYNCHRONOUS ||
           ((mode == PF_COST_STANDARD || mode == PF_COST_BLOCKING) && bytes > cost->eager_max);
}

static inline void carry(struct pf_cost *cost, const struct pf_cost_way *way, size_t bytes)
{
    const struct pf_cost_range *range = way->range;
    if (__builtin_expect(cost->pairs != NULL, 0) && way->from != way->to)
        pf_pairs_add(cost->pairs, way->from, way->to,
                     range->header + (double)bytes * latest(1, range->byte_factor));
}

static void count(struct pf_cost *cost, const struct pf_cost_way *way, enum pf_cost_kind kind, size_t bytes)
{
    way->range->tally[kind].messages++;
    way->range->tally[kind].bytes += bytes;
    carry(cost, way, bytes);
}

static void latencies(const struct pf_cost *cost, struct pf_cost_way *way, enum pf_cost_crossing crossing,
                      double *links, double *nics)
{
    double control = way->transport->ranges[0].latency_factor * pf_cost_way_back(cost, way);
    *links = way->range->latency_factor * way->latency + (crossing == PF_COST_ONE_WAY ? 0 : control);
    *nics = way->range->latency;
    if (crossing == PF_COST_THERE_AND_BACK)
        *nics += way->range->acknowledgement;
    else if (crossing == PF_COST_ON_REQUEST)
        *nics += way->transport->control_latency;
}

static __attribute__((noinline)) void note_parts(struct pf_cost *cost, struct pf_cost_way *way, size_t bytes)
{
    struct pf_cost_parts *parts = cost->parts;
    parts->messages++;
    bool long_one = bytes > cost->eager_max;
    bool back = (long_one ? cost->rendezvous_done : cost->eager_done) == PF_COST_ACKNOWLEDGED;
    double links, nics;
    latencies(cost, way, back ? PF_COST_THERE_AND_BACK : PF_COST_ONE_WAY, &links, &nics);
    parts->links += links;
    parts->nics += nics + (long_one ? cost->post : 0);
    parts->work += cost->call + way->overhead_send;
    if (!back) /* else the receiver works meanwhile */
        parts->work += way->overhead_receive;
    if (cost->protocol == PF_COST_UCX)
        parts->work += long_one ? 2 * cost->register_time : 2 * (double)bytes * cost->copy_byte_time;
    parts->bytes += (double)bytes * way->byte_time + way->range->header * way->least;
}

void pf_cost_note_waits(struct pf_cost *cost)
{
    cost->notes_waits = true;
    cost->waited_at = PF_CHAIN_SLOWEST;
}

void pf_cost_note(struct pf_cost *cost, struct pf_cost_parts *parts)
{
    cost->parts = parts;
}

/* How many pieces follow the first one, and the bytes of the last one. */
static size_t further_pieces(const struct pf_cost *cost, size_t bytes)
{
    return bytes ? (bytes - 1) / cost->piece : 0;
}

static size_t last_piece(const struct pf_cost *cost, size_t bytes)
{
    return bytes - further_pieces(cost, bytes) * cost->piece;
}

/* Eager data whose first piece is ready at one date and whose last one at another. Their range is that of the
 * message, without the headers of further pieces. */
static void transmit_pieces(struct pf_cost *cost, struct pf_cost_way *way, size_t bytes, double first,
                            double last, struct pf_cost_sent *out)
{
    size_t further = further_pieces(cost, bytes), wire = bytes + further * cost->piece_header;
    double left;
    struct pf_cost_way whole, end;
    if (further) {
        pf_cost_way_fill(cost, &whole, way->src, way->dst, bytes, wire);
        way = &whole;
    }
    out->data = out->arrival = transmit(cost, way, wire, first, &left);
    pf_cost_inflow_set(&out->inflow, &cost->inflow);
    out->waited_at = cost->waited_at;
    if (!further)
        return;
    size_t rest = last_piece(cost, bytes);
    pf_cost_way_fill(cost, &end, way->src, way->dst, rest, rest);
    out->arrival -= (double)(wire - cost->piece) * way->byte_time;
    out->data = latest(out->data, last + travel_time(&end, rest));
}

/*
 * UCX: the processors match and copy. Short data go with the command; up to a size, and for a caller that
 * waits, they are copied piece by piece into buffers of UCX; longer ones are registered for the NIC, which
 * reports when it has them across. Fills all but `rendezvous`.
 */
static void send_eager_by_ucx(struct pf_cost *cost, struct pf_cost_way *way, size_t bytes, double ready,
                              bool waits, struct pf_cost_sent *out)
{
    bool is_short = bytes <= cost->short_max, kept = is_short || waits || bytes < cost->buffered_below;
    double first = ready;
    out->returns = ready;
    if (!kept) {
        first = out->returns = ready + cost->register_time;
    } else if (!is_short) {
        first += (double)(bytes < cost->piece ? bytes : cost->piece) * cost->copy_byte_time;
        out->returns += (double)bytes * cost->copy_byte_time;
    }
    transmit_pieces(cost, way, bytes, first, out->returns, out);
    out->safe = kept ? out->returns : out->data + pf_cost_way_acknowledged(cost, way);
}

/* When the receiver has copied it, if it can begin at a date. */
static double copied_by_ucx(const struct pf_cost *cost, size_t bytes, const struct pf_cost_sent *sent,
                            double begin, double work)
{
    return latest(latest(sent->arrival, begin) + work,
                  sent->data + (double)last_piece(cost, bytes) * cost->copy_byte_time);
}

/* What is longer than S waits for the receiver, which reads it. */
static void send_by_ucx(struct pf_cost *cost, struct pf_cost_way *way, size_t bytes, double ready,
                        enum pf_cost_mode mode, struct pf_cost_sent *out)
{
    bool waits = mode == PF_COST_BLOCKING && cost->blocks, buffers = mode == PF_COST_BUFFERED;
    bool request = !buffers && bytes > (waits ? cost->blocking_max : cost->eager_max);
    out->rendezvous = request || mode == PF_COST_SYNCHRONOUS;
    if (request) {
        out->returns = ready + cost->register_time;
        out->arrival = out->returns + request_time(cost, way);
        out->data = INFINITY;
    } else {
        send_eager_by_ucx(cost, way, bytes, ready, waits || buffers, out);
    }
    if (out->rendezvous)
        out->safe = INFINITY;
    take(&cost->hands[way->src], ready, out->returns - ready);
}

ALWAYS_INLINE void send(struct pf_cost *cost, struct pf_cost_way *way, size_t bytes, double now,
                        enum pf_cost_mode mode, struct pf_cost_sent *out)
{
    out->inflow.node = 0;
    out->gaps = false;
    out->waited_at = PF_CHAIN_SLOWEST;
    double left, returns = now + cost->call + way->overhead_send;
    if (cost->protocol == PF_COST_UCX)
        send_by_ucx(cost, way, bytes, returns, mode, out);
    else
        out->rendezvous = waits_for_receive(cost, bytes, mode);
    count(cost, way, out->rendezvous ? PF_COST_RENDEZVOUS_SEND : PF_COST_EAGER_SEND, bytes);
    if (__builtin_expect(cost->parts != NULL, 0))
        note_parts(cost, way, bytes);
    if (cost->protocol == PF_COST_UCX)
        return;
    if (out->rendezvous) {
        out->returns = returns;
        out->safe = INFINITY;
        out->arrival = returns + request_time(cost, way);
        if (pf_cost_sends_ahead(cost)) {
            out->data =
                transmit_with_head(cost, way, bytes, returns, request_time(cost, way), &out->arrival, &left);
            pf_cost_inflow_set(&out->inflow, &cost->inflow);
            out->waited_at = cost->waited_at;
        }
        return;
    }
    out->returns = returns + way->transport->reserve;
    if (cost->eager_meets) {
        out->arrival = out->returns;
        out->safe = out->returns + (double)bytes * cost->copy_byte_time;
        return;
    }
    double ready = cost->leaves_first ? now + cost->call : out->returns;
    if (cost->protocol == PF_COST_PORTALS) {
        out->arrival =
            transmit_with_head(cost, way, bytes, ready, request_time(cost, way), &out->data, &left);
        pf_cost_inflow_set(&out->inflow, &cost->inflow);
    } else {
        out->arrival = transmit(cost, way, bytes, ready, &left);
    }
    out->waited_at = cost->waited_at;
    if (bytes < cost->buffered_below)
        out->safe = out->returns;
    else
        out->safe =
            latest(out->returns, safe_at(cost, cost->eager_done, way, bytes, ready, left, out->arrival));
}

/*
 * The arrival of the data of a rendezvous, and when the sender knows that the receive is posted. With `get`
 * the data were sent with the request; a receive that is posted after the request arrived fetches them again,
 * which it starts when all of them have arrived and been discarded.
 */
static double bring_data(struct pf_cost *cost, struct pf_cost_way *way, size_t bytes,
                         const struct pf_cost_sent *sent, double posted, double *ready, double *left,
                         double *granted)
{
    double met = latest(sent->arrival, posted);
    if (cost->protocol == PF_COST_GET && posted > sent->arrival)
        met = latest(sent->data, posted);
    *granted = met + (cost->protocol == PF_COST_MEET ? 0 : answer_time(cost, way));
    *ready = *granted;
    if (cost->protocol == PF_COST_GET && posted <= sent->arrival) {
        *ready = sent->returns;
        *left = sent->data;
        return sent->data;
    }
    if (cost->protocol == PF_COST_GET) /* copy_latency includes posting the receive */
        *ready += latest(0, cost->copy_latency - cost->post);
    return transmit(cost, way, bytes, *ready, left);
}

/* Of data that were fetched. */
static void note_answer(struct pf_cost *cost, const struct pf_cost_way *way, double ready, double arrival)
{
    struct pf_cost_transport *t = way->transport;
    if (!t->answered)
        t->answered = pf_calloc((size_t)cost->nodes * PF_COST_LASTS, sizeof *t->answered);
    *last_of(t->answered, way->from, way->to) =
        (struct pf_cost_last){.to = way->to + 1,
                              .ready = ready,
                              .arrival = arrival - cost->write_latency + cost->event_latency,
                              .inflow = cost->inflow};
}

static inline void note_outcome(struct pf_cost *cost, int src, int from, int to, double begun, double seconds,
                                bool met, double apart)
{
    if (cost->network.crowd && from != to)
        pf_outcome_add(&cost->network.crowd->outcome, src, to, begun, seconds, met, apart);
}

/*
 * Portals: the NIC matches. A receive is expected when it is posted before the head arrives; it takes
 * `receive_latency` at least, for the NIC's command and event. The target's NIC acknowledges a message when
 * it has delivered its event, or stored the message for a later receive. An unexpected long message is
 * discarded; its receive finds the header when the whole message has arrived, and fetches the data, which
 * ends the send as soon as they have left.
 */
ALWAYS_INLINE void receive_by_nic(struct pf_cost *cost, struct pf_cost_way *way, size_t bytes,
                                  const struct pf_cost_sent *sent, double posted,
                                  struct pf_cost_received *out)
{
    double called = posted - (bytes > cost->eager_max ? cost->post : 0);
    double noticed = called + cost->receive_latency, arrival = sent->rendezvous ? sent->data : sent->arrival,
           head = sent->rendezvous ? sent->arrival : sent->data, begun, left;
    bool expected = called < head;
    if (bytes > cost->eager_max)
        note_outcome(cost, way->src, way->from, way->to, sent->returns, way->busy, expected,
                     fabs(called - head) / (arrival - sent->returns));
    if (!expected && bytes > cost->eager_max) {
        arrival += pf_cost_late(cost, &sent->inflow);
        double fetched = latest(arrival - cost->write_latency, noticed) + answer_time(cost, way);
        out->again = true;
        arrival = transmit_from(cost, way, bytes, fetched, true, &begun, &left);
        note_answer(cost, way, fetched, arrival);
        pf_cost_inflow_set(&out->inflow, &cost->inflow);
        out->waited_at = cost->waited_at;
        out->complete = out->arrival = latest(arrival, posted);
        out->safe = arrival - cost->write_latency - way->range->latency_factor * way->latency;
        out->complete += out->work;
        return;
    }
    out->arrival = latest(latest(arrival, noticed), posted);
    if (__builtin_expect(out->inflow.node != 0, 0))
        out->inflow.spare += out->arrival - arrival;
    out->complete = out->arrival + out->work;
    if (!sent->rendezvous && bytes < cost->buffered_below)
        out->safe = sent->safe;
    else if (!expected && !sent->rendezvous)
        out->safe = acknowledged_at(cost, way, arrival - cost->event_latency);
    else
        out->safe = acknowledged_at(cost, way, latest(arrival, noticed));
}

/* How long the receiver's word travels that a send is over. */
static double word_time(const struct pf_cost *cost, struct pf_cost_way *way)
{
    const struct pf_cost_range *empty = &way->transport->ranges[0];
    return empty->acknowledgement + empty->latency_factor * pf_cost_way_back(cost, way);
}

/* The NIC cannot read what is not in one piece: the sender copies it when the receiver has asked, and both
 * processors do nothing else meanwhile. */
static void receive_gaps_by_ucx(struct pf_cost *cost, struct pf_cost_way *way, size_t bytes, double met,
                                struct pf_cost_received *out)
{
    struct pf_cost_sent data;
    double copy = (double)bytes * cost->copy_byte_time;
    double asked = take(&cost->hands[way->dst], met, out->work) + out->work + request_time(cost, way);
    send_eager_by_ucx(cost, way, bytes, take(&cost->hands[way->src], asked, copy), true, &data);
    out->work += copy;
    out->arrival = data.data;
    out->complete =
        copied_by_ucx(cost, bytes, &data, take(&cost->hands[way->dst], data.arrival, copy), out->work);
    out->safe = data.returns;
}

static void receive_by_ucx(struct pf_cost *cost, struct pf_cost_way *way, size_t bytes,
                           const struct pf_cost_sent *sent, double posted, struct pf_cost_received *out)
{
    if (isinf(sent->data) && sent->gaps) {
        receive_gaps_by_ucx(cost, way, bytes, latest(sent->arrival, posted), out);
        return;
    }
    if (isinf(sent->data)) {
        double begun, left;
        out->work += cost->register_time;
        double met = take(&cost->hands[way->dst], latest(sent->arrival, posted), out->work);
        double asked = met + out->work + answer_time(cost, way);
        out->arrival = out->complete = transmit_from(cost, way, bytes, asked, true, &begun, &left);
        pf_cost_inflow_set(&out->inflow, &cost->inflow);
        out->waited_at = cost->waited_at;
        out->safe = out->arrival + word_time(cost, way);
        return;
    }
    out->work += (double)bytes * cost->copy_byte_time;
    out->arrival = sent->data;
    out->complete = copied_by_ucx(cost, bytes, sent, posted, out->work);
    out->inflow.spare = out->complete - copied_by_ucx(cost, bytes, sent, 0, out->work);
    out->safe = sent->rendezvous ? out->complete + word_time(cost, way) : sent->safe;
}

ALWAYS_INLINE void receive(struct pf_cost *cost, struct pf_cost_way *way, size_t bytes,
                           const struct pf_cost_sent *sent, double posted, struct pf_cost_received *out)
{
    double left, ready, granted;
    out->work = way->overhead_receive;
    pf_cost_inflow_set(&out->inflow, &sent->inflow);
    out->waited_at = sent->waited_at;
    out->again = false;
    if (cost->protocol == PF_COST_UCX) {
        receive_by_ucx(cost, way, bytes, sent, posted, out);
        return;
    }
    if (!sent->rendezvous && cost->eager_meets) {
        out->safe = sent->safe;
        out->arrival = transmit(cost, way, bytes, latest(sent->arrival, posted), &left);
        out->waited_at = cost->waited_at;
        out->complete = out->arrival + out->work;
        return;
    }
    if (cost->protocol == PF_COST_PORTALS) {
        receive_by_nic(cost, way, bytes, sent, posted, out);
        return;
    }
    if (!sent->rendezvous) {
        out->safe = sent->safe;
        out->arrival = sent->arrival;
        /* An unexpected message is in a buffer of the library, and is copied. */
        bool early = posted > sent->arrival;
        double copied = posted + cost->copy_latency + (double)bytes * cost->copy_byte_time;
        out->complete = (early ? copied : sent->arrival) + out->work;
        return;
    }
    out->arrival = bring_data(cost, way, bytes, sent, posted, &ready, &left, &granted);
    out->again = cost->protocol == PF_COST_GET && posted > sent->arrival;
    if (cost->protocol != PF_COST_GET || out->again) { /* else it came with the request */
        pf_cost_inflow_set(&out->inflow, &cost->inflow);
        out->waited_at = cost->waited_at;
    }
    out->complete = latest(out->arrival, posted) + out->work;
    out->safe = latest(granted, safe_at(cost, cost->rendezvous_done, way, bytes, ready, left, out->arrival));
    if (cost->rendezvous_done == PF_COST_RECEIVED)
        out->safe = out->complete;
}

void pf_cost_send(struct pf_cost *cost, int src, int dst, size_t bytes, double now, enum pf_cost_mode mode,
                  struct pf_cost_sent *out)
{
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, bytes);
    send(cost, way, bytes, now, mode, out);
}

void pf_cost_receive(struct pf_cost *cost, int src, int dst, size_t bytes, const struct pf_cost_sent *sent,
                     double posted, struct pf_cost_received *out)
{
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, bytes);
    receive(cost, way, bytes, sent, posted, out);
    if (__builtin_expect(out->again, 0))
        carry(cost, way, bytes);
}

void pf_cost_message(struct pf_cost *cost, int src, int dst, size_t bytes, double now, double posted,
                     enum pf_cost_mode mode, struct pf_cost_sent *sent, struct pf_cost_received *out)
{
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, bytes);
    struct pf_cost_sent mine;
    if (!sent)
        sent = &mine;
    send(cost, way, bytes, now, mode, sent);
    receive(cost, way, bytes, sent, posted, out);
    if (__builtin_expect(out->again, 0))
        carry(cost, way, bytes);
}

size_t pf_cost_window_buffer(const struct pf_cost *cost)
{
    return cost->window_buffer;
}

void pf_cost_put(struct pf_cost *cost, int src, int dst, size_t bytes, double now, bool handled,
                 struct pf_cost_access *out)
{
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, bytes);
    struct pf_cost_sent sent;
    count(cost, way, PF_COST_ACCESS, bytes);
    out->returns = now + cost->call + way->overhead_send;
    if (handled) {
        send_eager_by_ucx(cost, way, bytes, out->returns, false, &sent);
        out->returns = sent.returns;
        out->safe = sent.safe;
        out->arrival = copied_by_ucx(cost, bytes, &sent, 0, (double)bytes * cost->copy_byte_time);
        return;
    }
    out->arrival = transmit(cost, way, bytes, out->returns, &out->safe);
    if (cost->window_words) /* the target gets no event */
        out->arrival -= cost->event_latency;
}

void pf_cost_ask(struct pf_cost *cost, int src, int dst, double now, struct pf_cost_access *out)
{
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, 0);
    out->returns = out->safe = now + cost->call + way->overhead_send;
    out->arrival = out->returns + control_time(way);
}

double pf_cost_answer(struct pf_cost *cost, int src, int dst, size_t bytes, double date)
{
    double left;
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, bytes);
    count(cost, way, PF_COST_ACCESS, bytes);
    return transmit(cost, way, bytes, date, &left);
}

double pf_cost_control(struct pf_cost *cost, int src, int dst)
{
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, 0);
    return cost->window_words ? request_time(cost, way) : control_time(way);
}

bool pf_cost_window_words(const struct pf_cost *cost)
{
    return cost->window_words;
}

double pf_cost_acknowledgement(struct pf_cost *cost, int src, int dst)
{
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, SIZE_MAX);
    if (!cost->window_words)
        return control_time(way);
    return way->range->acknowledgement + way->transport->ranges[0].latency_factor * way->latency;
}

/* The time in a range is linear in the size: its minimum is at one end. */
static double soonest_in(const struct pf_cost_transport *transport, int i, const struct pf_cost_path *path)
{
    const struct pf_cost_range *range = &transport->ranges[i];
    double byte_time =
        range->byte_time + range->byte_factor * path->byte_time + range->latency_slope * path->latency;
    double end = i + 1 < transport->count ? (double)transport->ranges[i + 1].from : INFINITY;
    return range->latency + range->latency_factor * path->latency +
           (byte_time < 0 ? end : (double)range->from) * byte_time;
}

double pf_cost_soonest(struct pf_cost *cost, int src, int dst)
{
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, 0);
    double soonest = cost->eager_meets ? 0 : request_time(cost, way);
    for (int i = 0; i < way->transport->count && cost->protocol == PF_COST_PORTALS; i++)
        soonest = fmin(soonest, way->transport->ranges[i].head +
                                    way->transport->ranges[i].latency_factor * way->latency);
    struct pf_cost_path path = pf_cost_path_between(cost, src, dst);
    for (int i = 0; i < way->transport->count; i++)
        soonest = fmin(soonest, soonest_in(way->transport, i, &path));
    return latest(soonest, 0);
}

double pf_cost_post_end(const struct pf_cost *cost, size_t bytes, const struct pf_cost_sent *sent,
                        double posted)
{
    bool late = cost->protocol == PF_COST_PORTALS && sent->rendezvous && bytes > cost->eager_max &&
                posted - cost->post >= sent->arrival;
    if (!late)
        return posted;
    return latest(posted, sent->data + pf_cost_late(cost, &sent->inflow) - cost->write_latency);
}

double pf_cost_safe_unexpected(const struct pf_cost *cost, const struct pf_cost_sent *sent)
{
    bool acknowledges = cost->protocol == PF_COST_PORTALS && cost->eager_done == PF_COST_ACKNOWLEDGED;
    return acknowledges ? latest(sent->returns, sent->safe - cost->event_latency) : sent->safe;
}

bool pf_cost_shares(const struct pf_cost *cost)
{
    return cost->network.batch != NULL;
}

bool pf_cost_shares_above(const struct pf_cost *cost, size_t bytes)
{
    return cost->protocol == PF_COST_PORTALS && cost->network.inflow && bytes > cost->network.share_above;
}

void pf_cost_flow(struct pf_cost *cost, int src, int dst, size_t bytes, struct pf_cost_flow *flow)
{
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, bytes);
    double byte_time = way->byte_time, path = way->range->latency_factor * way->latency;
    count(cost, way, PF_COST_RENDEZVOUS_SEND, bytes);
    if (cost->parts)
        note_parts(cost, way, bytes);
    flow->call = cost->call + way->overhead_send;
    flow->gap = way->range->gap;
    flow->work = way->busy;
    flow->bytes = flow->work / way->least;
    flow->acknowledgement_bytes = (double)pf_config.nic_ack_bytes;
    flow->reliability_bytes = (double)pf_config.nic_e2e_ack_bytes;
    flow->request_bytes = (double)pf_config.nic_header_bytes;
    flow->head = request_time(cost, way);
    flow->latency =
        way->range->latency + path + (double)bytes * byte_time + way->range->header * way->least - flow->work;
    flow->acknowledgement = pf_cost_way_acknowledged(cost, way);
    flow->post = bytes > cost->eager_max ? cost->post : 0;
    flow->receive_latency = cost->receive_latency;
    flow->receive = way->overhead_receive;
    flow->write_latency = cost->write_latency;
    flow->again = answer_time(cost, way);
    flow->left = cost->write_latency + path;
}

void pf_cost_latencies(struct pf_cost *cost, int src, int dst, size_t bytes, enum pf_cost_crossing crossing,
                       double *links, double *nics)
{
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, bytes);
    latencies(cost, way, crossing, links, nics);
}

void pf_cost_flow_met(struct pf_cost *cost, int src, int dst, double begun, double work, bool met)
{
    note_outcome(cost, src, cost->node_of_rank[src], cost->node_of_rank[dst], begun, work, met, INFINITY);
}

void pf_cost_together_begin(struct pf_cost *cost, int src)
{
    cost->network.batch[cost->node_of_rank[src]] = (struct pf_cost_batch){0};
}

void pf_cost_together_add(struct pf_cost *cost, int src, int dst, size_t bytes)
{
    struct pf_cost_way *way = pf_cost_way_find(cost, src, dst, bytes);
    if (way->from == way->to || bytes <= cost->network.share_above)
        return;
    struct pf_cost_batch *batch = &cost->network.batch[way->from];
    batch->count++;
    batch->left++;
    batch->total += cost->network.ports ? nic_time(way, bytes) : way->busy;
}
