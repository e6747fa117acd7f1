/* SPDX-License-Identifier: BSD-3-Clause */
/* Measured points against exact values: an idle network's latency, M/D/1 with its interval, loads, and
 * saturation. */
#include "tools/pfnet/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A packet takes 1 us; a link and a router 100 ns. */
static struct run_point measure(const char *topology, const char *routing, const char *traffic, double load,
                                double slot_bytes, int length, uint64_t seed)
{
    struct pf_fabric_speeds links;
    struct pf_packet_settings settings = pf_packet_settings_plain;
    const struct pf_routing_settings plain = {.seed = seed, .ugal_bias = 1, .ugal_candidates = 1};
    struct pf_routing r;
    struct run_point point;
    char error[300] = "";
    pf_fabric_equal_links(&links, 1e9, 1e-7, 1e-7);
    struct pf_fabric *f = pf_fabric_make(topology, &links, error, sizeof error);
    assert_non_null(f);
    assert_true(pf_routing_open(&r, routing, f, &plain, error, sizeof error));
    struct pf_pattern *p = pf_pattern_make(traffic, f, seed, error, sizeof error);
    assert_non_null(p);
    settings.packet_bytes = 1000;
    settings.header_bytes = 0;
    settings.virtual_networks = 1;
    struct run_request request = {.routing = &r,
                                  .settings = &settings,
                                  .pattern = p,
                                  .load = load,
                                  .rate = 1e9,
                                  .slot_bytes = slot_bytes,
                                  .warm_up = 1e-6 * length,
                                  .batch = 1e-6 * length,
                                  .batches = 20,
                                  .source_limit = 1000,
                                  .confidence = 0.95,
                                  .seed = seed};
    if (!run_point(&request, &point, error, sizeof error))
        fail_msg("%s", error);
    assert_true(point.clean);
    pf_pattern_free(p);
    pf_fabric_free(f);
    return point;
}

/* Alone: cut through two links and a router, or four and three. */
static void test_idle(void **state)
{
    (void)state;
    struct run_point a = measure("star:4", "minimal", "permutation", 1e-3, 1000, 5000, 1);
    assert_true(fabs(a.most - 1.3e-6) < 1e-12);
    assert_true(fabs(a.hops - 2) < 1e-12);
    struct run_point b = measure("fattree:4,2", "minimal", "complement", 1e-3, 0, 5000, 1);
    assert_true(fabs(b.middle / 1.7e-6 - 1) < 0.02);
    assert_true(fabs(b.hops - 4) < 1e-12);
}

/* One source: its link is M/D/1. Intervals of 95 % hold the exact mean in most of the runs. */
static void test_queue(void **state)
{
    enum { RUNS = 60 };
    static const double loads[] = {0.3, 0.5, 0.7, 0.8};
    (void)state;
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        double rho = loads[i], truth = 1.3e-6 + 1e-6 * rho / (2 * (1 - rho));
        int held = 0;
        for (uint64_t seed = 1; seed <= RUNS; seed++) {
            struct run_point p = measure("star:2", "minimal", "hotspot:0", rho, 0, 2000, seed);
            assert_false(p.saturated);
            held += fabs(p.latency - truth) <= p.latency_half;
        }
        print_message("load %g: the interval held the mean in %d of %d runs\n", rho, held, RUNS);
        assert_in_range(held, RUNS * 86 / 100, RUNS);
    }
}

/* One trial per packet time and node: nothing can queue at a lonely source, and loads are met. */
static void test_bernoulli(void **state)
{
    (void)state;
    struct run_point p = measure("star:2", "minimal", "hotspot:0", 0.9, 1000, 2000, 1);
    assert_true(fabs(p.most - 1.3e-6) < 1e-9);
    assert_true(fabs(p.offered - 0.9) < 0.01 && fabs(p.accepted - 0.9) < 0.01);
    p = measure("star:2", "minimal", "hotspot:0", 1, 1000, 2000, 1);
    assert_true(fabs(p.accepted - 1) < 0.001 && fabs(p.most - 1.3e-6) < 1e-9);
    p = measure("star:2", "minimal", "hotspot:0", 0.9, 100, 2000, 1);
    assert_true(p.latency > 2e-6);
}

/* Three sources share one node's link. */
static void test_saturation(void **state)
{
    (void)state;
    struct run_point p = measure("star:4", "minimal", "hotspot:0", 0.32, 0, 1000, 1);
    assert_true(fabs(p.accepted - 0.32) < 0.02);
    p = measure("star:4", "minimal", "hotspot:0", 0.4, 0, 1000, 1);
    assert_true(p.saturated);
    assert_true(fabs(p.accepted - 1.0 / 3) < 0.001);
    assert_true(p.measured > 0 && p.dropped == 0);
}

/* The same seed the same point, to the last digit. */
static void test_determinism(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct run_point a = measure("dragonfly:2,4,2", "ugal", "uniform", 0.4, 0, 100, 7);
        struct run_point b = measure("dragonfly:2,4,2", "ugal", "uniform", 0.4, 0, 100, 7 + (uint64_t)i);
        assert_int_equal(a.latency == b.latency, i == 0);
        assert_int_equal(a.packet_hops == b.packet_hops, i == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_idle), cmocka_unit_test(test_queue),
                                       cmocka_unit_test(test_bernoulli), cmocka_unit_test(test_saturation),
                                       cmocka_unit_test(test_determinism)};
    return cmocka_run_group_tests_name("pfnet point", tests, NULL, NULL);
}
