/* SPDX-License-Identifier: BSD-3-Clause */
/* Every topology with every routing, offered more than it can carry, with the smallest buffers: when nothing
 * is offered any more, all arrives, and all credits come home. */
#include "traffic.h"

#include <stdio.h>
#include <string.h>

static int32_t half_way(struct world *w, int32_t source)
{
    return (source + w->fabric->nodes / 2) % w->fabric->nodes;
}

static int32_t far_groups(struct world *w, int32_t source)
{
    int32_t nodes = w->fabric->nodes, step = nodes / 3 + 1;
    return world_draw_below(w, 4) == 0 ? world_draw_below(w, nodes) : (source + step) % nodes;
}

/* Whether the fabric admits the routing. */
static bool saturate(const char *fabric, const char *routing, int seed, uint64_t *arrived)
{
    static traffic_pattern *const patterns[] = {traffic_uniform, half_way, far_groups};
    struct world w;
    char error[200];
    world_init(&w);
    w.random = (uint64_t)seed;
    w.routing_settings.seed = (uint64_t)seed;
    w.settings.packet_bytes = 4;
    w.settings.channel_buffer = 4 + 3 * (seed % 3);
    w.settings.channels = 1 + seed % 2;
    w.settings.virtual_networks = 1 + seed % 3 / 2;
    w.settings.alternates = seed % 2;
    w.settings.credit_delay = seed % 4 ? 0.0 : 2.0;
    w.settings.crossbar_speedup = seed % 3 ? 1.0 : 1.5;
    w.settings.arbitration = seed % 5 ? PF_PACKET_ROUND_ROBIN : PF_PACKET_AGE;
    w.links.router_latency = seed % 2;
    w.bytes = 3.0 + seed % 4 * 5;
    w.pattern = patterns[seed % 3];
    w.end = 300.0;
    world_fabric(&w, fabric);
    bool possible = pf_routing_open(&w.routing, routing, w.fabric, &w.routing_settings, error, sizeof error);
    if (!possible) {
        assert_true(strlen(error) > 0);
        pf_fabric_free(w.fabric);
        return false;
    }
    w.settings.output_queues = seed % 7 == 0 && !w.routing.asks_again;
    world_sim(&w, routing);
    traffic_run(&w);
    *arrived += pf_packet_sim_counts(w.sim).arrived;
    assert_int_equal(w.lost, 0);
    world_close(&w);
    return true;
}

static void test_drains(void **state)
{
    (void)state;
    static const char *const fabrics[] = {"star:5",
                                          "ring:5",
                                          "torus:6,2",
                                          "torus:4x4",
                                          "torus:3x3x3",
                                          "mesh:4x4,2",
                                          "fattree:4,2",
                                          "fattree:3,3",
                                          "fattree:4,2,2",
                                          "hyperx:4x3,2",
                                          "dragonfly:2,4,2",
                                          "dragonfly:1,2x3,1",
                                          "dragonfly:2,4,2,5",
                                          "dragonfly:2,4,2,global=1",
                                          "dragonflyplus:2,2,2,2",
                                          "dragonflyplus:2,2,2,2,3"};
    for (size_t f = 0; f < sizeof fabrics / sizeof fabrics[0]; f++) {
        int routings = 0;
        for (int r = 0; pf_routing_name(r); r++) {
            uint64_t arrived = 0;
            bool possible = true;
            for (int seed = 1; seed <= 10 && possible; seed++)
                possible = saturate(fabrics[f], pf_routing_name(r), seed, &arrived);
            if (possible)
                assert_true(arrived > 1000);
            routings += possible;
        }
        assert_true(routings >= 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_drains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
