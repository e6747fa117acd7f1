/* SPDX-License-Identifier: BSD-3-Clause */
/* Times that follow from the mechanism alone: one packet, one message, several into one node, a queue. */
#include "traffic.h"

#include <stdio.h>

/* routers x latency + links x latency + bytes / rate, once. */
static void test_one_packet(void **state)
{
    (void)state;
    static const struct {
        const char *fabric;
        int32_t to;
        int routers;
    } cases[] = {
        {"star:5", 3, 1},       {"ring:8", 3, 4},       {"ring:8", 7, 2},
        {"torus:4x4x4", 42, 7}, {"mesh:5x5", 24, 9},    {"fattree:4,2", 1, 1},
        {"fattree:4,2", 15, 3}, {"fattree:2,4", 15, 7}, {"torus:3x3,2", 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world w;
        world_init(&w);
        pf_fabric_equal_links(&w.links, 11.1e9, 110e-9, 130e-9);
        world_fabric(&w, cases[i].fabric);
        world_sim(&w, "minimal");
        for (double bytes = 1.0; bytes <= 2048.0; bytes *= 2.0)
            assert_close(world_send_one(&w, 0, cases[i].to, bytes),
                         cases[i].routers * 130e-9 + (cases[i].routers + 1) * 110e-9 + bytes / 11.1e9);
        struct pf_packet_counts counts = pf_packet_sim_counts(w.sim);
        assert_int_equal(counts.hops, 12 * (cases[i].routers + 1));
        world_close(&w);
    }
}

/* Of different rates the slowest counts, once, wherever it is. */
static void test_slowest_link(void **state)
{
    (void)state;
    for (int32_t slow = 0; slow < 4; slow++) {
        struct world w;
        world_init(&w);
        pf_fabric_equal_links(&w.links, 8e9, 100e-9, 50e-9);
        world_fabric(&w, "mesh:3x1");
        for (int32_t port = 0; port < w.fabric->first_port[6]; port++) {
            struct pf_fabric_port *p = &w.fabric->ports[port];
            int32_t from = port < w.fabric->first_port[3] ? 0 : 3; /* at a node? */
            for (int32_t v = 0; v < 6; v++)
                if (port >= w.fabric->first_port[v])
                    from = v;
            bool here = (slow == 0 && from == 3) || (slow == 1 && from == 0 && p->peer == 1) ||
                        (slow == 2 && from == 1 && p->peer == 2) || (slow == 3 && from == 2 && p->peer == 5);
            p->rate = here ? 1e9 : p->rate;
        }
        world_sim(&w, "minimal");
        assert_close(world_send_one(&w, 0, 2, 2048.0), 4 * 100e-9 + 3 * 50e-9 + 2048 / 1e9);
        double bytes = 10.0 * 2048;
        assert_between(bytes / 1e9, world_send_one(&w, 0, 2, bytes),
                       bytes / 1e9 + 550e-9 + 1.0001 * 2048 / 8e9);
        world_close(&w);
    }
}

/* The payload of one message alone moves at rate x payload / (payload + headers). */
static void test_long_message(void **state)
{
    (void)state;
    static const char *const fabrics[] = {"star:2", "ring:7", "fattree:4,3"};
    for (size_t i = 0; i < 3; i++) {
        for (int speedup = 1; speedup <= 2; speedup++) {
            struct world w;
            world_init(&w);
            pf_fabric_equal_links(&w.links, 11.1e9, 300e-9, 100e-9);
            w.settings.packet_bytes = 1000;
            w.settings.header_bytes = 24;
            w.settings.crossbar_speedup = speedup;
            world_fabric(&w, fabrics[i]);
            world_sim(&w, "minimal");
            int32_t to = w.fabric->nodes - 1;
            double one = world_send_one(&w, 0, to, 1000.0);
            double all = world_send_one(&w, 0, to, 4e6);
            assert_close(all - one, 3999.0 * 1024 / 11.1e9);
            world_close(&w);
        }
    }
}

/* A buffer of one packet: one packet per round trip of its credits. */
static void test_credits(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    pf_fabric_equal_links(&w.links, 10e9, 200e-9, 100e-9);
    w.settings.packet_bytes = 1000;
    w.settings.channel_buffer = 1500;
    w.settings.credit_delay = 50e-9;
    world_fabric(&w, "star:2");
    world_sim(&w, "minimal");
    double one = world_send_one(&w, 0, 1, 1000.0);
    double all = world_send_one(&w, 0, 1, 1000.0 * 101);
    /* Of the first link: there, the router, back, and the delay. */
    assert_close(all - one, 100 * (200e-9 + 100e-9 + 200e-9 + 50e-9));
    world_close(&w);
}

static int32_t to_first(struct world *w, int32_t source)
{
    (void)w;
    return source == 0 ? -1 : 0;
}

/* n into one: all together have the link's rate, and equal shares of it. */
static void test_many_into_one(void **state)
{
    (void)state;
    static const int speedups[] = {1, 2};
    for (int i = 0; i < 4; i++) {
        struct world w;
        world_init(&w);
        w.settings.packet_bytes = 1;
        w.settings.crossbar_speedup = speedups[i % 2];
        w.settings.arbitration = i < 2 ? PF_PACKET_ROUND_ROBIN : PF_PACKET_AGE;
        w.pattern = to_first;
        w.begin = 1000.0;
        w.end = 15000.0;
        world_fabric(&w, "star:8");
        world_sim(&w, "minimal");
        traffic_run(&w);
        assert_between(0.999, traffic_throughput(&w, 1), 1.001);
        for (int source = 1; source < 8; source++)
            assert_between(0.99 / 7, w.delivered_from[source] / 14000.0, 1.01 / 7);
        world_close(&w);
    }
}

/* M/D/1 (Pollaczek and Khinchine): the mean wait is rho / (2 (1 - rho)) services. */
static void test_queue(void **state)
{
    (void)state;
    for (int tenth = 3; tenth <= 9; tenth += 3) {
        struct world w;
        double rho = tenth / 10.0, interval;
        world_init(&w);
        w.settings.channel_buffer = 1 << 30;
        w.pattern = to_first;
        w.gap = 3.0 / rho;
        w.begin = 1000.0;
        w.end = 400000.0;
        world_fabric(&w, "star:4");
        for (int node = 0; node < 4; node++) /* the way to the queue takes no time */
            w.fabric->ports[w.fabric->first_port[w.fabric->routers + node]].rate = INFINITY;
        world_sim(&w, "minimal");
        traffic_run(&w);
        double wait = traffic_latency(&w, &interval) - 1.0, law = rho / (2.0 * (1.0 - rho));
        assert_true(interval < 0.1 * law);
        assert_between(law - interval, wait, law + interval);
        world_close(&w);
    }
}

/* A node behind a slow link: what waits for it fills the buffers of its virtual network, and holds up what
 * comes behind it in the same one, but nothing of another. */
static double first_arrival;

static void note_arrival(struct pf_packet_message *m, double date)
{
    if (m->destination == 2)
        first_arrival = date;
}

static void no_event(struct pf_packet_message *m, double date)
{
    (void)m, (void)date;
}

static double behind_a_slow_one(uint8_t virtual_network)
{
    static const struct pf_packet_message_ops ops = {sizeof ops, no_event, no_event, note_arrival, no_event};
    struct world w;
    world_init(&w);
    w.settings.packet_bytes = 1;
    w.settings.virtual_networks = 2;
    w.settings.channel_buffer = 4;
    world_fabric(&w, "star:3");
    w.fabric->ports[w.fabric->first_port[0] + 1].rate = 1e-3; /* from the router to node 1 */
    world_sim(&w, "minimal");
    struct pf_packet_message slow = {.ops = &ops, .bytes = 20.0, .source = 0, .destination = 1};
    struct pf_packet_message other = {
        .ops = &ops, .bytes = 1.0, .source = 0, .destination = 2, .virtual_network = virtual_network};
    pf_packet_sim_send(w.sim, &slow, 0.0);
    pf_packet_sim_advance(w.sim, 100.0);
    pf_packet_sim_send(w.sim, &other, 100.0);
    while (pf_packet_sim_next(w.sim) >= 0.0)
        pf_packet_sim_advance(w.sim, pf_packet_sim_next(w.sim));
    world_close(&w);
    return first_arrival - other.start;
}

static void test_virtual_networks(void **state)
{
    (void)state;
    assert_close(behind_a_slow_one(1), 1.0);
    assert_true(behind_a_slow_one(0) > 1000.0);
}

/* A long message from node 0 to node 1, and short ones of 10 B from 0, of `virtual_network`, that begin with
 * its first packet under way. Returns when the last of those has come; the long one's end is in long_arrival.
 */
static double last_arrival, long_arrival;

static void note_arrivals(struct pf_packet_message *m, double date)
{
    *(m->bytes > 10.0 ? &long_arrival : &last_arrival) = date;
}

static double behind_a_long_one(bool alternates, uint8_t virtual_network, int32_t to, int count)
{
    enum { MOST = 20 };
    static const struct pf_packet_message_ops ops = {sizeof ops, no_event, no_event, note_arrivals, no_event};
    struct pf_packet_message first = {.ops = &ops, .bytes = 5000.0, .source = 0, .destination = 1},
                             others[MOST];
    struct world w;
    world_init(&w);
    w.settings.packet_bytes = 1000;
    w.settings.virtual_networks = 2;
    w.settings.channels = 2;
    w.settings.alternates = alternates;
    world_fabric(&w, "star:3");
    world_sim(&w, "minimal");
    pf_packet_sim_send(w.sim, &first, 0.0);
    pf_packet_sim_advance(w.sim, 100.0);
    for (int i = 0; i < count; i++) {
        others[i] = (struct pf_packet_message){
            .ops = &ops, .bytes = 10.0, .source = 0, .destination = to, .virtual_network = virtual_network};
        pf_packet_sim_send(w.sim, &others[i], 100.0);
    }
    while (pf_packet_sim_next(w.sim) >= 0.0)
        pf_packet_sim_advance(w.sim, pf_packet_sim_next(w.sim));
    assert_true(pf_packet_sim_is_clean(w.sim));
    world_close(&w);
    return last_arrival - 100.0;
}

/* Of two that share a link each has half of it, until the shorter one is through; nothing is gained. */
static void test_alternation(void **state)
{
    (void)state;
    for (int32_t to = 1; to <= 2; to++) {
        assert_close(behind_a_long_one(true, 1, to, 1), 2 * 10.0);
        assert_close(long_arrival, 5000.0 + 10.0);
        assert_close(behind_a_long_one(true, 1, to, 20), 20 * 2 * 10.0);
        assert_close(long_arrival, 5000.0 + 20 * 10.0);
        assert_true(behind_a_long_one(false, 1, to, 1) >= 900.0 + 10.0);
    }
    assert_close(behind_a_long_one(true, 0, 2, 1), 2 * 10.0);
    assert_true(behind_a_long_one(true, 0, 1, 1) >= 900.0 + 10.0); /* it would pass what it follows */
}

/* At most 1 KB for each class of a port, in what people build. */
static void test_memory(void **state)
{
    (void)state;
    static const char *const fabrics[] = {"dragonfly:4,8,4", "fattree:32,2", "fattree:4,5", "torus:8x8x8"};
    for (size_t i = 0; i < sizeof fabrics / sizeof fabrics[0]; i++) {
        struct world w;
        world_init(&w);
        w.settings.channels = 4;
        world_fabric(&w, fabrics[i]);
        world_sim(&w, "valiant");
        assert_true(pf_packet_sim_port_memory(w.sim) <= 1024 * (size_t)w.routing.classes);
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_packet),       cmocka_unit_test(test_slowest_link),
        cmocka_unit_test(test_long_message),     cmocka_unit_test(test_credits),
        cmocka_unit_test(test_many_into_one),    cmocka_unit_test(test_queue),
        cmocka_unit_test(test_virtual_networks), cmocka_unit_test(test_alternation),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
