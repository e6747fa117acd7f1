/* SPDX-License-Identifier: BSD-3-Clause */
/* Routers in stages compared with a simulator of wormholes that goes cycle by cycle (pipeline.h): where
 * curves of latency against load saturate, and latencies below. */
#include "tools/pfnet/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline.h"

enum { CYCLES = 6000, WARM_UP = 1000, BATCHES = 20 };

/* What both simulate. */
struct pair {
    const char *topology, *routing;
    const char *text; /* of the request */
    double load;      /* latency and what is accepted there alone; 0: and saturation, and below it */
    bool often;       /* not only with the argument `all` */
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
                                              .intermediate_is_group = r->shape == PIPELINE_TREE};
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
    assert_near(pair->topology, "latency", load, simulated(pair, load, &accepted), latency,
                pair->r.hold ? 0.06 : 0.03); /* packets that keep the crossbar give their credits at once */
    assert_near(pair->topology, "accepted", load, accepted, other, 0.03);
}

static void compare(struct pair pair)
{
    static const double parts[] = {0.2, 0.5, 0.8};
    print_message("%s\n", pair.text);
    pair.r.warm_up = WARM_UP;
    pair.r.measured = pair.load > 0 && pair.r.flits >= 8 ? 6 * CYCLES : CYCLES; /* few packets have no mean */
    pair.r.seed = 1;
    if (pair.load > 0) {
        compare_at(&pair, pair.load);
        return;
    }
    double load = saturation(referred, &pair, 0, 1);
    assert_near(pair.topology, "saturation", load, saturation(simulated, &pair, 0.9 * load, 1.1 * load), load,
                0.03);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        compare_at(&pair, parts[i] * load);
}

/* clang-format off */
#define MESH(k) .shape = PIPELINE_MESH, .extent = k, .dimensions = 2, .terminals = 1, .link = 1
#define TORUS(k, d) .shape = PIPELINE_TORUS, .extent = k, .dimensions = d, .terminals = 1, .link = 1, .new_in_all = true
#define TREE(k, d) .shape = PIPELINE_TREE, .extent = k, .dimensions = d, .link = 1
#define HYPERX(k, t) .shape = PIPELINE_HYPERX, .extent = k, .dimensions = 2, .terminals = t, .link = 1
#define DRAGONFLY(p, l, g) .shape = PIPELINE_DRAGONFLY, .extent = p, .dimensions = 1, .link = l, .global = g, .new_in_all = true
#define ROUTER(c, b, f, r, d, s) .channels = c, .buffer = b, .flits = f, .routing = r, .credit = d, .speedup = s
#define CASE(topology, routing, load, often, ...) {topology, routing, #__VA_ARGS__, load, often, {__VA_ARGS__}}
#define UGAL .valiant = true, .adaptive = true, .threshold = 3
static const struct pair pairs[] = {
    CASE("mesh:4x4", "minimal", 0, true, MESH(4), ROUTER(4, 8, 1, 1, 1, 1)),
    CASE("mesh:5x5", "minimal", 0, false, MESH(5), ROUTER(4, 8, 1, 1, 2, 1)),
    CASE("mesh:5x5", "minimal", 0, false, MESH(5), ROUTER(4, 8, 1, 1, 4, 1)),
    CASE("mesh:4x4", "minimal", 0, false, MESH(4), ROUTER(2, 4, 1, 1, 4, 1)),
    CASE("ring:5", "minimal", 0, true, TORUS(5, 1), ROUTER(2, 8, 1, 2, 2, 1)),
    CASE("ring:8", "minimal", 0, false, TORUS(8, 1), ROUTER(1, 8, 1, 1, 2, 2)),
    CASE("torus:4x4", "minimal", 0, false, TORUS(4, 2), ROUTER(2, 8, 1, 1, 2, 1)),
    CASE("torus:5x5", "minimal", 0, false, TORUS(5, 2), ROUTER(2, 8, 1, 2, 1, 2)),
    CASE("torus:4x4", "minimal", 0, false, TORUS(4, 2), ROUTER(2, 4, 4, 1, 4, 1)),
    /* The channels of the last link serve both classes. */
    CASE("torus:4x4", "minimal", 0, true, TORUS(4, 2), ROUTER(1, 8, 1, 1, 2, 2)),

    CASE("fattree:2,3", "valiant", 0, true, TREE(2, 3), ROUTER(4, 16, 1, 0, 2, 1)),
    CASE("fattree:4,2", "valiant", 0, false, TREE(4, 2), ROUTER(4, 8, 1, 1, 2, 1)),
    CASE("fattree:4,2", "valiant", 0, false, TREE(4, 2), ROUTER(8, 8, 1, 1, 2, 1)),
    CASE("fattree:4,3", "valiant", 0, false, TREE(4, 3), ROUTER(4, 8, 1, 0, 2, 1)),
    CASE("fattree:2,3", "valiant", 0, false, TREE(2, 3), ROUTER(8, 4, 1, 2, 2, 2)),
    CASE("fattree:4,2", "valiant", 0, false, TREE(4, 2), ROUTER(1, 16, 1, 1, 1, 2)),
    CASE("fattree:2,4", "valiant", 0, false, TREE(2, 4), ROUTER(4, 8, 4, 1, 2, 1)),

    CASE("hyperx:3x3,2", "minimal", 0, true, HYPERX(3, 2), ROUTER(8, 4, 1, 0, 2, 1)),
    CASE("hyperx:3x3,2", "valiant", 0, true, HYPERX(3, 2), ROUTER(4, 8, 1, 0, 2, 1), .valiant = true),
    CASE("hyperx:4x4,4", "minimal", 0, false, HYPERX(4, 4), ROUTER(2, 8, 1, 1, 2, 1)),
    CASE("hyperx:4x4,2", "minimal", 0, false, HYPERX(4, 2), ROUTER(1, 8, 1, 1, 2, 2)),
    CASE("hyperx:3x3,3", "minimal", 0, false, HYPERX(3, 3), ROUTER(4, 4, 4, 0, 4, 1)),
    CASE("hyperx:4x4,4", "minimal", 0, false, HYPERX(4, 4), ROUTER(4, 16, 1, 2, 1, 2)),
    /* Heads that stay long make channels scarce, so that it matters which of them they are given. */
    CASE("hyperx:4x4,4", "minimal", 0.55, true, HYPERX(4, 4), ROUTER(4, 16, 1, 2, 1, 1)),

    /* Packets of several flits, which keep the crossbar (hold_switch_for_packet), and one that is faster. */
    CASE("dragonfly:2,4,2,global=1", "minimal", 0, true, DRAGONFLY(2, 3, 20), ROUTER(1, 64, 10, 0, 2, 2), .hold = true),
    CASE("dragonfly:2,4,2,global=1", "minimal", 0, false, DRAGONFLY(2, 1, 10), ROUTER(1, 16, 1, 1, 2, 2)),
    CASE("dragonfly:2,4,2,global=1", "minimal", 0, false, DRAGONFLY(2, 2, 10), ROUTER(2, 16, 1, 2, 2, 2)),
    CASE("dragonfly:2,4,2,global=1", "minimal", 0, false, DRAGONFLY(2, 1, 5), ROUTER(2, 16, 4, 1, 4, 1)),
    CASE("dragonfly:2,4,2,global=1", "minimal", 0, false, DRAGONFLY(2, 1, 2), ROUTER(4, 16, 1, 1, 4, 1)),
    /* What ends behind a global link needs the channel that others end in. */
    CASE("dragonfly:2,4,2,global=1", "minimal", 0, true, DRAGONFLY(2, 3, 20), ROUTER(1, 32, 1, 0, 2, 1)),
    /* The adaptive choice, also when all want one link: then how much is carried in the end hangs on how
     * fresh what a router sees is, so that saturation says little. */
    CASE("dragonfly:2,4,2", "ugal", 0.1, true, DRAGONFLY(2, 1, 2), ROUTER(4, 16, 1, 0, 2, 1), UGAL, .next_group = true),
    CASE("dragonfly:2,4,2", "ugal", 0.2, true, DRAGONFLY(2, 1, 2), ROUTER(4, 16, 1, 0, 2, 1), UGAL, .next_group = true),
    CASE("dragonfly:2,4,2", "ugal", 0.25, true, DRAGONFLY(2, 1, 2), ROUTER(4, 16, 1, 0, 2, 1), UGAL, .next_group = true),
    CASE("dragonfly:2,4,2", "ugal", 0, true, DRAGONFLY(2, 1, 2), ROUTER(4, 16, 1, 0, 2, 1), UGAL),
    CASE("dragonfly:2,4,2", "ugal", 0, true, DRAGONFLY(2, 1, 2), ROUTER(4, 16, 1, 1, 2, 1), UGAL), /* the choice is the router's */
    CASE("dragonfly:2,4,2", "valiant", 0.3, true, DRAGONFLY(2, 1, 2), ROUTER(4, 16, 1, 0, 2, 1), .valiant = true, .next_group = true),

    CASE("mesh:3x3", "minimal", 0, true, MESH(3), ROUTER(4, 16, 4, 1, 2, 1), .hold = true),
    /* Flits of several packets that take turns on a link, and packets that no buffer holds. */
    CASE("mesh:4x4", "minimal", 0, true, MESH(4), ROUTER(4, 16, 4, 1, 2, 1)),
    CASE("mesh:4x4", "minimal", 0, true, MESH(4), ROUTER(4, 16, 4, 0, 2, 2)),
    CASE("mesh:4x4", "minimal", 0, false, MESH(4), ROUTER(2, 4, 4, 1, 2, 1)),
    CASE("mesh:4x4", "minimal", 0, false, MESH(4), ROUTER(2, 4, 4, 1, 2, 2)),
    CASE("mesh:5x5", "minimal", 0, false, MESH(5), ROUTER(4, 8, 5, 1, 2, 2)),
    CASE("mesh:4x4", "minimal", 0, false, MESH(4), ROUTER(2, 8, 4, 2, 2, 2)),
    CASE("mesh:4x4", "minimal", 0, false, MESH(4), ROUTER(4, 4, 2, 0, 4, 1)),
    CASE("mesh:4x4", "minimal", 0.4, true, MESH(4), ROUTER(4, 4, 8, 1, 2, 1)), /* nodes wait for credits */
    CASE("mesh:4x4", "minimal", 0.18, false, MESH(4), ROUTER(1, 4, 8, 1, 2, 1)),
    CASE("mesh:4x4", "minimal", 0.2, true, MESH(4), ROUTER(8, 8, 20, 0, 2, 2)),
    CASE("mesh:4x4", "minimal", 0.4, true, MESH(4), ROUTER(8, 8, 20, 0, 2, 2)),
    /* Steps of half a cycle: a flit leaves with the next cycle of its link, and a stage of several cycles that
     * begins in the second step of one takes a step less. */
    CASE("mesh:4x4", "minimal", 0, true, MESH(4), ROUTER(4, 8, 1, 1, 1, 2)),
    CASE("mesh:4x4", "minimal", 0, true, MESH(4), ROUTER(1, 8, 1, 2, 1, 2)),
    CASE("mesh:4x4", "minimal", 0, false, MESH(4), ROUTER(1, 8, 1, 1, 1, 2)),
    CASE("mesh:5x5", "minimal", 0, false, MESH(5), ROUTER(1, 8, 1, 1, 2, 2)),
    CASE("mesh:4x4", "minimal", 0, false, MESH(4), ROUTER(1, 8, 1, 0, 2, 2)),
    CASE("mesh:4x4", "minimal", 0, false, MESH(4), ROUTER(2, 8, 1, 2, 2, 2)),
    CASE("mesh:4x4", "minimal", 0, false, MESH(4), ROUTER(2, 8, 1, 3, 1, 2)),
};
/* clang-format on */

static bool all;

static void test_pairs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (all || pairs[i].often)
            compare(pairs[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs)};
    all = argc > 1 && strcmp(argv[1], "all") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
