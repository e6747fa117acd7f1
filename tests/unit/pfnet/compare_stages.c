/* SPDX-License-Identifier: BSD-3-Clause */
/* Routers in stages compared with a simulator of wormholes that goes cycle by cycle (pipeline.h): where
 * curves of latency against load saturate, and latencies below. */
#include "tools/pfnet/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "pipeline.h"

enum { CYCLES = 6000, WARM_UP = 1000, BATCHES = 20 };

/* What both simulate. */
struct pair {
    const char *topology, *routing;
    bool group; /* is the intermediate */
    struct pipeline_request r;
};

/* A cycle is a second, a flit a byte. */
static struct pf_packet_settings settings_of(const struct pipeline_request *r)
{
    struct pf_packet_settings settings = pf_packet_settings_plain;
    settings.packet_bytes = (uint32_t)r->flits;
    settings.channels = r->channels;
    settings.channel_buffer = r->buffer;
    settings.credit_delay = r->credit + 1;
    settings.stages[0] = r->routing;
    settings.stages[1] = settings.stages[2] = settings.stages[3] = 1;
    settings.channel_turns = true;
    settings.new_in_any = r->new_in_all;
    settings.ends_in_any = r->shape != PIPELINE_DRAGONFLY;
    settings.sees_credits_only = true;
    settings.looks_ahead = r->routing == 0;
    settings.crossbar_speedup = r->speedup;
    settings.flit_bytes = r->flits > 1 && !r->hold ? 1 : 0;
    settings.rounds = 1;
    settings.cycle = 1.0 / r->speedup;
    return settings;
}

static double simulated(const struct pair *pair, double load, double *accepted)
{
    const struct pipeline_request *r = &pair->r;
    const struct pf_packet_settings settings = settings_of(r);
    const struct pf_routing_settings plain = {.seed = r->seed,
                                              .ugal_bias = 1,
                                              .ugal_ratio = 2,
                                              .ugal_threshold = r->threshold,
                                              .ugal_candidates = 1,
                                              .intermediate_is_group = pair->group};
    struct pf_fabric_speeds links;
    struct pf_routing routing;
    struct run_point point;
    char error[300] = "";
    pf_fabric_equal_links(&links, 1, r->link, 0);
    links.latency[PF_LINK_GLOBAL] = r->global ? r->global : r->link;
    struct pf_fabric *f = pf_fabric_make(pair->topology, &links, error, sizeof error);
    assert_non_null(f);
    assert_true(pf_routing_open(&routing, pair->routing, f, &plain, error, sizeof error));
    struct pf_pattern *p =
        pf_pattern_make(r->next_group ? "adversarial" : "uniform", f, r->seed, error, sizeof error);
    assert_non_null(p);
    struct run_request request = {.routing = &routing,
                                  .settings = &settings,
                                  .pattern = p,
                                  .load = load,
                                  .rate = 1,
                                  .slot_bytes = 1,
                                  .warm_up = r->warm_up,
                                  .batch = r->measured / BATCHES,
                                  .batches = BATCHES,
                                  .source_limit = 1000000,
                                  .confidence = 0.95,
                                  .seed = r->seed};
    if (!run_point(&request, &point, error, sizeof error))
        fail_msg("%s", error);
    assert_true(point.clean);
    pf_pattern_free(p);
    pf_fabric_free(f);
    *accepted = point.accepted;
    return point.latency;
}

static double referred(const struct pair *pair, double load, double *accepted)
{
    struct pipeline_request r = pair->r;
    r.load = load;
    struct pipeline_result result = pipeline_run(&r);
    *accepted = result.accepted;
    return result.latency > 0 ? result.latency : INFINITY;
}

typedef double measure(const struct pair *pair, double load, double *accepted);

/* The load between two at which a packet takes three times as long as in an idle network. */
static double saturation(measure *of, const struct pair *pair, double low, double high)
{
    double accepted, limit = 3 * of(pair, 0.05 * high, &accepted);
    while (high - low > 0.01 * high) {
        double load = (low + high) / 2;
        *(of(pair, load, &accepted) > limit ? &high : &low) = load;
    }
    return (low + high) / 2;
}

static void assert_near(const char *topology, const char *what, double load, double a, double b, double part)
{
    print_message("%s, load %.3f: %s %.4g, reference %.4g (%+.1f %%)\n", topology, load, what, a, b,
                  100 * (a / b - 1));
    if (!(fabs(a / b - 1) <= part))
        fail_msg("%s, load %g: %s is %g, the reference's %g", topology, load, what, a, b);
}

static void compare_at(const struct pair *pair, double load)
{
    double accepted, other, latency = referred(pair, load, &other);
    assert_near(pair->topology, "latency", load, simulated(pair, load, &accepted), latency, 0.05);
    assert_near(pair->topology, "accepted", load, accepted, other, 0.03);
}

static void compare(struct pair pair)
{
    static const double parts[] = {0.2, 0.5, 0.8};
    pair.r.warm_up = WARM_UP;
    pair.r.measured = CYCLES;
    pair.r.seed = 1;
    double load = saturation(referred, &pair, 0, 1);
    assert_near(pair.topology, "saturation", load, saturation(simulated, &pair, 0.9 * load, 1.1 * load), load,
                0.03);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        compare_at(&pair, parts[i] * load);
}

static void test_grids(void **state)
{
    (void)state;
    compare((struct pair){.topology = "mesh:4x4",
                          .routing = "minimal",
                          .r = {.shape = PIPELINE_MESH,
                                .extent = 4,
                                .dimensions = 2,
                                .terminals = 1,
                                .channels = 4,
                                .buffer = 8,
                                .flits = 1,
                                .link = 1,
                                .routing = 1,
                                .credit = 1,
                                .speedup = 1}});
    compare((struct pair){.topology = "ring:5",
                          .routing = "minimal",
                          .r = {.shape = PIPELINE_TORUS,
                                .extent = 5,
                                .dimensions = 1,
                                .terminals = 1,
                                .channels = 2,
                                .buffer = 8,
                                .flits = 1,
                                .link = 1,
                                .routing = 2,
                                .credit = 2,
                                .speedup = 1,
                                .new_in_all = true}});
}

static void test_tree(void **state)
{
    (void)state;
    compare((struct pair){.topology = "fattree:2,3",
                          .routing = "valiant",
                          .group = true,
                          .r = {.shape = PIPELINE_TREE,
                                .extent = 2,
                                .dimensions = 3,
                                .channels = 4,
                                .buffer = 16,
                                .flits = 1,
                                .link = 1,
                                .credit = 2,
                                .speedup = 1}});
}

static void test_hyperx(void **state)
{
    (void)state;
    struct pair pair = {.topology = "hyperx:3x3,2",
                        .routing = "minimal",
                        .r = {.shape = PIPELINE_HYPERX,
                              .extent = 3,
                              .dimensions = 2,
                              .terminals = 2,
                              .channels = 8,
                              .buffer = 4,
                              .flits = 1,
                              .link = 1,
                              .credit = 2,
                              .speedup = 1}};
    compare(pair);
    pair.routing = "valiant";
    pair.r.valiant = true;
    pair.r.channels = 4;
    pair.r.buffer = 8;
    compare(pair);
}

/* Packets of several flits, which keep the crossbar (hold_switch_for_packet), and one that is faster. */
static void test_dragonfly(void **state)
{
    (void)state;
    compare((struct pair){.topology = "dragonfly:2,4,2",
                          .routing = "minimal",
                          .r = {.shape = PIPELINE_DRAGONFLY,
                                .extent = 2,
                                .dimensions = 1,
                                .channels = 1,
                                .buffer = 64,
                                .flits = 10,
                                .link = 3,
                                .global = 20,
                                .credit = 2,
                                .speedup = 2,
                                .new_in_all = true,
                                .hold = true}});
}

static void test_flits(void **state)
{
    (void)state;
    compare((struct pair){.topology = "mesh:3x3",
                          .routing = "minimal",
                          .r = {.shape = PIPELINE_MESH,
                                .extent = 3,
                                .dimensions = 2,
                                .terminals = 1,
                                .channels = 4,
                                .buffer = 16,
                                .flits = 4,
                                .link = 1,
                                .routing = 1,
                                .credit = 2,
                                .speedup = 1,
                                .hold = true}});
}

/* Flits of several packets that take turns on a link, and packets that no buffer holds. */
static void test_wormholes(void **state)
{
    (void)state;
    struct pair pair = {.topology = "mesh:4x4",
                        .routing = "minimal",
                        .r = {.shape = PIPELINE_MESH,
                              .extent = 4,
                              .dimensions = 2,
                              .terminals = 1,
                              .channels = 4,
                              .buffer = 16,
                              .flits = 4,
                              .link = 1,
                              .routing = 1,
                              .credit = 2,
                              .speedup = 1}};
    compare(pair);
    pair.r.routing = 0;
    pair.r.speedup = 2;
    compare(pair);
    pair.r.channels = 8;
    pair.r.buffer = 8;
    pair.r.flits = 20;
    pair.r.warm_up = WARM_UP;
    pair.r.measured = 6 * CYCLES; /* fewer packets have no mean */
    compare_at(&pair, 0.2);
    compare_at(&pair, 0.4);
}

/* Steps of half a cycle, an even and an odd number of them: a flit leaves with the next cycle of its link.
 */
static void test_half_cycles(void **state)
{
    (void)state;
    struct pair pair = {.topology = "mesh:4x4",
                        .routing = "minimal",
                        .r = {.shape = PIPELINE_MESH,
                              .extent = 4,
                              .dimensions = 2,
                              .terminals = 1,
                              .channels = 4,
                              .buffer = 8,
                              .flits = 1,
                              .link = 1,
                              .routing = 1,
                              .credit = 1,
                              .speedup = 2}};
    compare(pair);
    pair.r.channels = 1;
    pair.r.routing = 2;
    compare(pair);
}

/* The adaptive choice between the direct link and others, also when that is what all want: then how much is
 * carried in the end hangs on how fresh what a router sees is, so that saturation says little. */
static void test_adaptive(void **state)
{
    (void)state;
    struct pair pair = {.topology = "dragonfly:2,4,2",
                        .routing = "ugal",
                        .r = {.shape = PIPELINE_DRAGONFLY,
                              .extent = 2,
                              .dimensions = 1,
                              .channels = 4,
                              .buffer = 16,
                              .flits = 1,
                              .link = 1,
                              .global = 2,
                              .credit = 2,
                              .speedup = 1,
                              .valiant = true,
                              .adaptive = true,
                              .threshold = 3,
                              .next_group = true,
                              .new_in_all = true,
                              .warm_up = WARM_UP,
                              .measured = CYCLES / 2,
                              .seed = 1}};
    compare_at(&pair, 0.1);
    compare_at(&pair, 0.2);
    compare_at(&pair, 0.25);
    pair.r.next_group = false;
    compare(pair);
    pair.r.routing = 1; /* the choice is the router's */
    compare(pair);
    pair.r.routing = 0;
    pair.r.adaptive = false;
    pair.routing = "valiant";
    pair.r.next_group = true;
    compare_at(&pair, 0.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grids),    cmocka_unit_test(test_tree),
        cmocka_unit_test(test_hyperx),   cmocka_unit_test(test_dragonfly),
        cmocka_unit_test(test_flits),    cmocka_unit_test(test_wormholes),
        cmocka_unit_test(test_adaptive), cmocka_unit_test(test_half_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
