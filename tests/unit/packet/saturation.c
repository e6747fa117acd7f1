/* SPDX-License-Identifier: BSD-3-Clause */
/* What a crossbar, a ring, a dragonfly and a tree can carry. */
#include "traffic.h"

#include <stdio.h>

/* Slots of 1 s: all packets are alike and begin together. */
static double crossbar(int nodes, bool output_queues)
{
    struct world w;
    char fabric[32];
    world_init(&w);
    snprintf(fabric, sizeof fabric, "star:%d", nodes);
    w.settings.packet_bytes = 1;
    w.settings.channel_buffer = output_queues ? 256 : 16;
    w.settings.output_queues = output_queues;
    w.begin = 2000.0;
    w.end = w.begin + 300000.0 / nodes;
    world_fabric(&w, fabric);
    world_sim(&w, "minimal");
    traffic_run(&w);
    double throughput = traffic_throughput(&w, nodes);
    world_close(&w);
    return throughput;
}

/* Karol, Hluchyj, Morgan: "Input versus output queueing on a space-division packet switch", 1987, table I. */
static void test_crossbar(void **state)
{
    (void)state;
    /* A binomial count of 300,000 packets has a 99 % interval of 0.0024; the winners of a slot are not
     * independent, which narrows it. */
    const double half = 0.0024;
    double two = crossbar(2, false), four = crossbar(4, false), eight = crossbar(8, false);
    assert_between(0.75 - half, two, 0.75 + half);
    assert_between(0.6553 - half, four, 0.6553 + half);
    assert_between(0.6184 - half, eight, 0.6184 + half);
    double large = crossbar(64, false), limit = 2.0 - sqrt(2.0);
    assert_between(limit, large, limit + 0.012);
}

static void test_output_queues(void **state)
{
    (void)state;
    for (int nodes = 2; nodes <= 8; nodes *= 2) {
        double t = crossbar(nodes, true);
        assert_between(0.95, t, 1.0);
    }
}

static int32_t tornado(struct world *w, int32_t source)
{
    int32_t k = w->fabric->nodes;
    return (source + (k - 1) / 2) % k;
}

/* Bytes per second and node that a saturated ring of links of rate 1 delivers. The oldest packet goes first:
 * round robin gives a new packet as much of a link as all those that have come far, and a ring that is
 * offered more than it can carry then delivers less. */
static double ring(int k, const char *routing, traffic_pattern *pattern)
{
    struct world w;
    char fabric[32];
    world_init(&w);
    snprintf(fabric, sizeof fabric, "ring:%d", k);
    w.settings.packet_bytes = 1;
    w.settings.channels = 8;
    w.settings.channel_buffer = 32;
    w.settings.output_queues = true;
    w.settings.arbitration = PF_PACKET_AGE;
    w.pattern = pattern;
    w.begin = 2000.0;
    w.end = 22000.0;
    world_fabric(&w, fabric);
    for (int32_t port = 0; port < w.fabric->first_port[2 * k]; port++) /* only the ring limits */
        if (port >= w.fabric->first_port[k] || w.fabric->ports[port].peer >= k)
            w.fabric->ports[port].rate = 16.0;
    world_sim(&w, routing);
    traffic_run(&w);
    double accepted = traffic_throughput(&w, k);
    world_close(&w);
    return accepted;
}

/* Dally and Towles, "Principles and practices of interconnection networks", chapters 3 and 4: the busiest
 * link carries the rate of a node x mean distance x nodes / links, or more where the pattern is not even.
 */
static void test_ring(void **state)
{
    (void)state;
    for (int k = 5; k <= 9; k += 4) {
        double minimal = 8.0 * k / (k * k - 1), worst = 2.0 / (k - 1), valiant = 4.0 * k / (k * k - 1);
        /* More than 70,000 packets whose distance deviates by less than its mean: 99 % are within 0.01. */
        const double half = 0.01;
        assert_between(minimal * (1 - half), ring(k, "minimal", traffic_uniform), minimal * (1 + half));
        assert_between(worst * (1 - 1e-6), ring(k, "minimal", tornado), worst * (1 + 1e-6));
        assert_between(valiant * (1 - half), ring(k, "valiant", tornado), valiant * (1 + half));
        assert_between(valiant * (1 - half), ring(k, "valiant", traffic_others), valiant * (1 + half));
    }
}

/* A random node of the next group. */
static int32_t next_group(struct world *w, int32_t source)
{
    int32_t extents[PF_FABRIC_DIGITS], in_group;
    pf_fabric_extents(w->fabric, extents, &in_group);
    int32_t size = extents[0] * extents[1], nodes = w->fabric->nodes;
    return (source / size * size + size + world_draw_below(w, size)) % nodes;
}

/* Bytes per second and node that dragonfly:H,2H,H delivers when all send as much as they can. */
static double dragonfly(int h, const char *routing, traffic_pattern *pattern)
{
    struct world w;
    char fabric[40];
    world_init(&w);
    snprintf(fabric, sizeof fabric, "dragonfly:%d,%d,%d", h, 2 * h, h);
    w.settings.packet_bytes = 1;
    w.settings.channels = 4;
    w.settings.channel_buffer = 16;
    w.settings.crossbar_speedup = 2.0; /* only links limit */
    w.routing_settings.intermediate_is_group = true;
    w.pattern = pattern;
    w.begin = 300.0;
    w.end = 700.0;
    world_fabric(&w, fabric);
    world_sim(&w, routing);
    traffic_run(&w);
    double accepted = traffic_throughput(&w, w.fabric->nodes);
    world_close(&w);
    return accepted;
}

/* Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", 2008. From one group to
 * the next there is one link for a p nodes. Over a random third group each of the a h + 1 groups sends and
 * receives over the a h - 1 links to the others, and each packet crosses two: (a h - 1) / (2 a p), near 1/2.
 */
static void test_dragonfly(void **state)
{
    (void)state;
    for (int h = 2; h <= 3; h++) {
        double minimal = 1.0 / (2 * h * h), valiant = (2 * h * h - 1) / (4.0 * h * h);
        assert_between(0.99 * minimal, dragonfly(h, "minimal", next_group), 1.001 * minimal);
        assert_between(0.98 * valiant, dragonfly(h, "valiant", next_group), 1.05 * valiant);
    }
    /* The direct link comes on top. */
    assert_between(0.9 * 7 / 16, dragonfly(2, "ugal", next_group), 9.0 / 16);
    assert_between(0.9 * 7 / 16, dragonfly(2, "par", next_group), 9.0 / 16);
    assert_between(0.95, dragonfly(2, "minimal", traffic_others), 1.0);
}

/* All nodes send a long message to the node so many places further: how long it takes until all have arrived.
 */
static double last_arrival;

static void no_date(struct pf_packet_message *m, double date)
{
    (void)m, (void)date;
}

static void arrived(struct pf_packet_message *m, double date)
{
    (void)m;
    last_arrival = fmax(last_arrival, date);
}

static double shift(const char *fabric, int32_t by, double packets)
{
    static const struct pf_packet_message_ops ops = {sizeof ops, no_date, no_date, arrived, no_date};
    struct world w;
    world_init(&w);
    w.settings.packet_bytes = 1;
    w.settings.channel_buffer = 16;
    w.settings.channels = 4;
    world_fabric(&w, fabric);
    world_sim(&w, "minimal");
    int32_t nodes = w.fabric->nodes;
    struct pf_packet_message *all = calloc((size_t)nodes, sizeof *all);
    for (int32_t i = 0; i < nodes; i++) {
        all[i] = (struct pf_packet_message){
            .ops = &ops, .bytes = packets, .source = i, .destination = (i + by) % nodes};
        pf_packet_sim_send(w.sim, &all[i], 0.0);
    }
    last_arrival = 0.0;
    while (pf_packet_sim_next(w.sim) >= 0.0)
        pf_packet_sim_advance(w.sim, pf_packet_sim_next(w.sim));
    assert_true(pf_packet_sim_is_clean(w.sim));
    free(all);
    world_close(&w);
    return last_arrival;
}

/* Zahavi, "Fat-tree routing and node ordering providing contention free traffic for MPI global collectives",
 * 2012: with d-mod-k no two messages of a shift share a link. Half of the links upwards take twice the time
 * where all leave their switch. */
static void test_tree(void **state)
{
    (void)state;
    for (int32_t by = 1; by < 64; by++)
        assert_close(shift("fattree:4,3", by, 100.0), 100.0);
    for (int32_t by = 1; by < 16; by++)
        assert_close(shift("fattree:4,2", by, 100.0), 100.0);
    assert_between(1999.0, shift("fattree:4,2,2", 4, 1000.0), 2010.0);
    assert_between(1999.0, shift("fattree:4,2,2", 8, 1000.0), 2010.0);
    assert_between(3999.0, shift("fattree:4,2,4", 4, 1000.0), 4010.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crossbar),  cmocka_unit_test(test_output_queues), cmocka_unit_test(test_ring),
        cmocka_unit_test(test_dragonfly), cmocka_unit_test(test_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
