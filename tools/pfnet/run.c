/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement of one point: warm-up, batches, and arrivals that go on until every packet of the batches
 * has come (as in Dally and Towles, 2004, chapter 23); then the network runs empty.
 */
#include "tools/pfnet/run.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "lowlevel/topology/topology.h"
#include "tools/pfnet/statistic.h"

struct source {
    struct pf_packet_timer timer;
    struct net *net;
    uint64_t draws; /* random numbers taken */
    double next;    /* s; with slots, counted in slots */
    int under_way;
};

struct message {
    struct pf_packet_message base;
    struct net *net;
    struct message *next; /* unused ones */
    int batch;            /* of its begin; -1: not measured */
};

/* Packets that the simulator cannot have yet come in blocks. */
struct block {
    struct block *next;
    struct message message[256];
};

struct net {
    const struct run_request *request;
    struct pf_packet_sim *sim;
    struct source *sources;
    int32_t active; /* nodes that send */
    double wire;    /* bytes of a packet */
    double end;     /* of the last batch */
    bool is_over;   /* nothing is sent any more */
    uint64_t open;  /* measured packets under way */
    uint64_t refused, dropped, came;
    struct message *unused;
    struct block *blocks;
    struct statistic *latency;
    double *arrived, *behind; /* per batch: bytes that came out; went in and did not */
};

static uint64_t draw(struct source *s)
{
    const struct net *net = s->net;
    uint64_t node = (uint64_t)(s - net->sources);
    return pf_topology_hash(pf_topology_hash(net->request->seed + (node << 32)) + s->draws++);
}

/* In (0, 1]. */
static double draw_part(struct source *s)
{
    return ((double)(draw(s) >> 11) + 1) * 0x1p-53;
}

/* The date of the next packet of a source. */
static double next_date(struct source *s)
{
    const struct run_request *r = s->net->request;
    if (r->slot_bytes <= 0) {
        s->next -= log(draw_part(s)) * s->net->wire / (r->rate * r->load);
        return s->next;
    }
    double chance = r->load * r->slot_bytes / s->net->wire;
    s->next += chance < 1 ? fmax(1, ceil(log(draw_part(s)) / log1p(-chance))) : 1;
    return s->next * (r->slot_bytes / r->rate);
}

static int batch_of(const struct net *net, double date)
{
    const struct run_request *r = net->request;
    if (date < r->warm_up || date >= net->end)
        return -1;
    int batch = (int)((date - r->warm_up) / r->batch);
    return batch < r->batches ? batch : r->batches - 1;
}

static void end_message(struct message *m)
{
    struct net *net = m->net;
    net->sources[m->base.source].under_way--;
    net->open -= m->batch >= 0;
    m->next = net->unused;
    net->unused = m;
}

static void message_comes(struct pf_packet_message *base, double date)
{
    struct message *m = (struct message *)base;
    struct net *net = m->net;
    int batch = batch_of(net, date);
    if (batch >= 0) {
        net->arrived[batch] += net->wire;
        net->behind[batch] -= net->wire;
    }
    if (m->batch >= 0)
        statistic_add(net->latency, m->batch, date - base->start);
    end_message(m);
}

static void message_is_lost(struct pf_packet_message *base, double date)
{
    struct message *m = (struct message *)base;
    m->net->dropped++;
    end_message(m);
}

static void nothing(struct pf_packet_message *base, double date)
{
}

static const struct pf_packet_message_ops ops = {sizeof ops, nothing, nothing, message_comes,
                                                 message_is_lost};

static struct message *new_message(struct net *net)
{
    if (!net->unused) {
        struct block *block = pf_malloc(sizeof *block);
        block->next = net->blocks;
        net->blocks = block;
        for (int i = 0; i < 256; i++) {
            block->message[i].next = net->unused;
            net->unused = &block->message[i];
        }
    }
    struct message *m = net->unused;
    net->unused = m->next;
    return m;
}

static void send(struct source *s, double date)
{
    struct net *net = s->net;
    int32_t node = (int32_t)(s - net->sources);
    int32_t to = pf_pattern_destination(net->request->pattern, node, draw(s));
    int batch = batch_of(net, date);
    if (to < 0)
        return;
    net->came += batch >= 0;
    if (batch >= 0)
        net->behind[batch] += net->wire;
    if (s->under_way >= net->request->source_limit) {
        net->refused += batch >= 0;
        return;
    }
    struct message *m = new_message(net);
    m->base = (struct pf_packet_message){
        .ops = &ops, .bytes = net->request->settings->packet_bytes, .source = node, .destination = to};
    m->net = net;
    m->batch = batch;
    net->open += batch >= 0;
    s->under_way++;
    pf_packet_sim_send(net->sim, &m->base, date);
}

static void ring(struct pf_packet_timer *timer, double date)
{
    struct source *s = (struct source *)timer;
    if (s->net->is_over)
        return;
    send(s, date);
    pf_packet_sim_at(s->net->sim, timer, next_date(s));
}

/* A node whose pattern never sends is none that a load is counted for. */
static bool sends(struct source *s)
{
    for (int i = 0; i < 64; i++)
        if (pf_pattern_destination(s->net->request->pattern, (int32_t)(s - s->net->sources),
                                   pf_topology_hash((uint64_t)i)) >= 0)
            return true;
    return false;
}

static void start(struct net *net)
{
    int32_t nodes = net->request->routing->fabric->nodes;
    net->sources = pf_calloc((size_t)nodes, sizeof *net->sources);
    for (int32_t n = 0; n < nodes; n++) {
        struct source *s = &net->sources[n];
        s->timer.ring = ring;
        s->net = net;
        if (!sends(s))
            continue;
        net->active++;
        pf_packet_sim_at(net->sim, &s->timer, next_date(s));
    }
}

/* Until all that is measured has come, or so long that it never will: then true. */
static bool go(struct net *net)
{
    const struct run_request *r = net->request;
    double length = r->batch * r->batches, now = 0;
    while (net->active && (now < net->end || (net->open && now < net->end + 4 * length))) {
        now += r->batch / 2;
        pf_packet_sim_advance(net->sim, now);
    }
    bool late = net->open > 0;
    net->is_over = true;
    for (double next; (next = pf_packet_sim_next(net->sim)) >= 0;)
        pf_packet_sim_advance(net->sim, next);
    return late;
}

static double busiest(const struct net *net)
{
    const struct pf_fabric *f = net->request->routing->fabric;
    double most = 0, date = pf_packet_sim_now(net->sim);
    for (int32_t port = 0; port < f->first_port[f->routers]; port++)
        if (f->ports[port].peer >= 0 && f->ports[port].peer < f->routers && !isinf(f->ports[port].rate))
            most = fmax(most, pf_packet_sim_port_counts(net->sim, port).bytes / f->ports[port].rate / date);
    return most;
}

static void report(struct net *net, bool late, struct run_point *point)
{
    const struct run_request *r = net->request;
    struct pf_packet_counts counts = pf_packet_sim_counts(net->sim);
    double full = net->active ? r->rate * net->active * r->batch : 1;
    *point = (struct run_point){
        .load = r->load, .dropped = net->dropped, .measured = statistic_count(net->latency)};
    for (int i = 0; i < r->batches; i++) {
        net->arrived[i] /= full;
        net->behind[i] /= full;
    }
    point->offered = (double)net->came * net->wire / (full * r->batches);
    point->accepted = statistic_mean_of(net->arrived, r->batches, r->confidence, &point->accepted_half);
    point->latency = statistic_mean(net->latency, r->confidence, &point->latency_half);
    point->middle = statistic_quantile(net->latency, 0.5);
    point->high = statistic_quantile(net->latency, 0.99);
    point->most = net->latency->most;
    point->hops = counts.packets ? (double)counts.hops / (double)counts.packets : 0;
    point->busiest = busiest(net);
    point->packet_hops = counts.hops;
    double noise, less = statistic_mean_of(net->behind, r->batches, r->confidence, &noise);
    point->saturated = late || net->refused || (less > 0.01 * point->offered && less > noise);
    point->clean = counts.arrived + counts.dropped == counts.packets && !counts.messages_under_way &&
                   pf_packet_sim_is_clean(net->sim);
}

static void clear(struct net *net)
{
    for (struct block *block = net->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    pf_packet_sim_free(net->sim);
    free(net->sources);
    free(net->latency);
    free(net->arrived);
    free(net->behind);
}

bool run_point(const struct run_request *request, struct run_point *point, char *error, size_t error_size)
{
    struct net net = {.request = request};
    net.sim = pf_packet_sim_make(request->routing, request->settings, error, error_size);
    if (!net.sim)
        return false;
    net.wire = (double)request->settings->packet_bytes + request->settings->header_bytes;
    net.end = request->warm_up + request->batches * request->batch;
    net.latency = pf_malloc(sizeof *net.latency);
    net.arrived = pf_calloc((size_t)request->batches, sizeof *net.arrived);
    net.behind = pf_calloc((size_t)request->batches, sizeof *net.behind);
    statistic_start(net.latency, request->batches, net.wire / request->rate / 100);
    start(&net);
    bool late = go(&net);
    report(&net, late, point);
    clear(&net);
    return true;
}
