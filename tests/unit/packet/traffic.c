/* SPDX-License-Identifier: BSD-3-Clause */
/* Open-loop traffic for the laws of the packet network. */
#include "traffic.h"

#include <stdio.h>
#include <string.h>

struct sent {
    struct pf_packet_message message;
    struct pf_packet_timer timer;
    struct world *world;
    bool keep_going;
};

void world_init(struct world *w)
{
    memset(w, 0, sizeof *w);
    pf_fabric_equal_links(&w->links, 1.0, 0.0, 0.0);
    w->settings = pf_packet_settings_plain;
    w->routing_settings = (struct pf_routing_settings){.seed = 1, .ugal_bias = 1.0, .ugal_candidates = 1};
    w->random = 12345;
    w->bytes = 1.0;
    w->pattern = traffic_uniform;
}

void world_fabric(struct world *w, const char *fabric)
{
    char error[200] = "";
    w->fabric = pf_fabric_make(fabric, &w->links, error, sizeof error);
    if (!w->fabric)
        fail_msg("%s: %s", fabric, error);
}

void world_sim(struct world *w, const char *routing)
{
    char error[200] = "";
    if (!pf_routing_open(&w->routing, routing, w->fabric, &w->routing_settings, error, sizeof error))
        fail_msg("%s: %s", routing, error);
    w->sim = pf_packet_sim_make(&w->routing, &w->settings, error, sizeof error);
    if (!w->sim)
        fail_msg("%s", error);
    size_t nodes = (size_t)w->fabric->nodes;
    w->delivered_from = calloc(nodes, sizeof *w->delivered_from);
    w->batch_sum = calloc(TRAFFIC_BATCHES, sizeof *w->batch_sum);
    w->batch_count = calloc(TRAFFIC_BATCHES, sizeof *w->batch_count);
}

void world_close(struct world *w)
{
    assert_true(pf_packet_sim_is_clean(w->sim));
    pf_packet_sim_free(w->sim);
    pf_fabric_free(w->fabric);
    free(w->delivered_from);
    free(w->batch_sum);
    free(w->batch_count);
}

double world_draw(struct world *w)
{
    w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); /* Knuth */
    return (double)(w->random >> 11) * 0x1p-53;
}

int32_t world_draw_below(struct world *w, int32_t limit)
{
    return (int32_t)(world_draw(w) * limit);
}

int32_t traffic_uniform(struct world *w, int32_t source)
{
    (void)source;
    return world_draw_below(w, w->fabric->nodes);
}

int32_t traffic_others(struct world *w, int32_t source)
{
    int32_t to = world_draw_below(w, w->fabric->nodes - 1);
    return to < source ? to : to + 1;
}

/* ---- A single message. */
static double arrival;

static void no_date(struct pf_packet_message *m, double date)
{
    (void)m, (void)date;
}

static void arrived(struct pf_packet_message *m, double date)
{
    (void)m;
    arrival = date;
}

static void unexpected(struct pf_packet_message *m, double date)
{
    (void)date;
    fail_msg("a message from %d to %d is lost", m->source, m->destination);
}

double world_send_one(struct world *w, int32_t source, int32_t destination, double bytes)
{
    static const struct pf_packet_message_ops ops = {sizeof ops, no_date, no_date, arrived, unexpected};
    struct pf_packet_message m = {
        .ops = &ops, .bytes = bytes, .source = source, .destination = destination, .streams = true};
    double start = pf_packet_sim_now(w->sim);
    pf_packet_sim_send(w->sim, &m, start);
    arrival = -1.0;
    while (pf_packet_sim_next(w->sim) >= 0.0)
        pf_packet_sim_advance(w->sim, pf_packet_sim_next(w->sim));
    assert_true(arrival >= 0.0);
    return arrival - m.start;
}

/* ---- Traffic. */
static void traffic_first(struct pf_packet_message *m, double date)
{
    (void)m, (void)date;
}

static void traffic_done(struct pf_packet_message *m, double date)
{
    struct sent *s = (struct sent *)m;
    struct world *w = s->world;
    if (date >= w->begin && date < w->end) {
        w->delivered += m->bytes;
        w->delivered_from[m->source] += m->bytes;
    }
    if (m->start >= w->begin && m->start < w->end) {
        int batch = (int)((m->start - w->begin) / (w->end - w->begin) * TRAFFIC_BATCHES);
        w->batch_sum[batch] += date - m->start;
        w->batch_count[batch]++;
        w->count++;
    }
    free(s);
}

static void traffic_lost(struct pf_packet_message *m, double date)
{
    (void)date;
    ((struct sent *)m)->world->lost++;
    free(m);
}

static void send_next(struct world *w, int32_t source, double date);

/* The source is free: the next one of a node that always has one. */
static void traffic_sent(struct pf_packet_message *m, double date)
{
    send_next(((struct sent *)m)->world, m->source, date);
}

static const struct pf_packet_message_ops traffic_ops = {sizeof traffic_ops, traffic_first, traffic_sent,
                                                         traffic_done, traffic_lost};

static void timer_rings(struct pf_packet_timer *timer, double date)
{
    struct sent *s = (struct sent *)((char *)timer - offsetof(struct sent, timer));
    struct world *w = s->world;
    int32_t source = s->message.source;
    pf_packet_sim_send(w->sim, &s->message, date);
    send_next(w, source, date);
}

static void send_next(struct world *w, int32_t source, double date)
{
    double when = w->gap > 0.0 ? date - w->gap * log(1.0 - world_draw(w)) : date;
    int32_t to = w->pattern(w, source);
    if (when >= w->end || to < 0)
        return;
    struct sent *s = calloc(1, sizeof *s);
    s->world = w;
    s->message =
        (struct pf_packet_message){.ops = &traffic_ops,
                                   .bytes = w->bytes,
                                   .source = source,
                                   .destination = to,
                                   .virtual_network = (uint8_t)(source % w->settings.virtual_networks),
                                   .streams = w->gap <= 0.0};
    s->timer.ring = timer_rings;
    if (w->gap > 0.0)
        pf_packet_sim_at(w->sim, &s->timer, when);
    else
        pf_packet_sim_send(w->sim, &s->message, date);
}

void traffic_run(struct world *w)
{
    for (int32_t node = 0; node < w->fabric->nodes; node++) {
        send_next(w, node, 0.0);
        if (w->gap <= 0.0)
            send_next(w, node, 0.0); /* one more than is leaving */
    }
    uint64_t steps = 0;
    while (pf_packet_sim_next(w->sim) >= 0.0 && steps++ < UINT64_C(1000000000))
        pf_packet_sim_advance(w->sim, pf_packet_sim_next(w->sim));
    struct pf_packet_counts counts = pf_packet_sim_counts(w->sim);
    assert_int_equal(counts.messages_under_way, 0);
    assert_int_equal(counts.packets, counts.arrived + counts.dropped);
    assert_true(pf_packet_sim_is_clean(w->sim));
}

double traffic_throughput(const struct world *w, int32_t nodes)
{
    return w->delivered / (w->end - w->begin) / nodes;
}

double traffic_latency(const struct world *w, double *interval)
{
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < TRAFFIC_BATCHES; i++) {
        double mean = w->batch_sum[i] / (double)w->batch_count[i];
        sum += mean;
        squares += mean * mean;
    }
    double mean = sum / TRAFFIC_BATCHES;
    double variance = (squares - sum * mean) / (TRAFFIC_BATCHES - 1);
    *interval = 2.756 * sqrt(variance / TRAFFIC_BATCHES); /* Student's t, 29 degrees of freedom */
    return mean;
}

void assert_close(double a, double b)
{
    if (!(fabs(a - b) <= 1e-6 * fabs(b)))
        fail_msg("%.12g is not %.12g", a, b);
}

void assert_between(double low, double a, double high)
{
    if (!(a >= low && a <= high))
        fail_msg("%.9g is not between %.9g and %.9g", a, low, high);
}
