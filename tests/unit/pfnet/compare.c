/* SPDX-License-Identifier: BSD-3-Clause */
/* Curves of latency against load compared with those of a second simulator that goes cycle by cycle
 * (reference.h): where they saturate, and latencies below. */
#include "tools/pfnet/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "reference.h"

enum { CYCLES = 8000, WARM_UP = 1000, BATCHES = 20 };

/* A cycle is a second, a flit a byte. */
static double simulated(const char *topology, const struct reference_request *r, double *accepted)
{
    struct pf_fabric_speeds links;
    struct pf_packet_settings settings = pf_packet_settings_plain;
    const struct pf_routing_settings plain = {.seed = r->seed, .ugal_bias = 1, .ugal_candidates = 1};
    struct pf_routing routing;
    struct run_point point;
    char error[300] = "";
    pf_fabric_equal_links(&links, 1, r->link, r->router);
    struct pf_fabric *f = pf_fabric_make(topology, &links, error, sizeof error);
    assert_non_null(f);
    assert_true(pf_routing_open(&routing, "minimal", f, &plain, error, sizeof error));
    struct pf_pattern *p = pf_pattern_make("uniform", f, r->seed, error, sizeof error);
    assert_non_null(p);
    settings.packet_bytes = 1;
    settings.channels = r->channels;
    settings.channel_buffer = r->buffer;
    settings.credit_delay = r->credit;
    settings.rounds = r->rounds;
    settings.cycle = 1;
    struct run_request request = {.routing = &routing,
                                  .settings = &settings,
                                  .pattern = p,
                                  .load = r->load,
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

static double referred(const char *topology, const struct reference_request *r, double *accepted)
{
    (void)topology;
    struct reference_result result = reference_run(r);
    *accepted = result.accepted;
    return result.latency > 0 ? result.latency : INFINITY;
}

typedef double measure(const char *topology, const struct reference_request *r, double *accepted);

/* The load between two at which a packet takes three times as long as in an idle network. */
static double saturation(measure *of, const char *topology, struct reference_request r, double low,
                         double high)
{
    double accepted;
    r.load = 0.05 * high;
    double limit = 3 * of(topology, &r, &accepted);
    while (high - low > 0.01 * high) {
        r.load = (low + high) / 2;
        *(of(topology, &r, &accepted) > limit ? &high : &low) = r.load;
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

static void compare(const char *topology, struct reference_request r)
{
    static const double parts[] = {0.2, 0.4, 0.6, 0.8};
    double accepted, other;
    r.warm_up = WARM_UP;
    r.measured = CYCLES;
    r.seed = 1;
    double load = saturation(referred, topology, r, 0, 1);
    assert_near(topology, "saturation", load, saturation(simulated, topology, r, 0.9 * load, 1.1 * load),
                load, 0.03);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        r.load = parts[i] * load;
        double latency = referred(topology, &r, &other);
        assert_near(topology, "latency", r.load, simulated(topology, &r, &accepted), latency, 0.05);
        assert_near(topology, "accepted", r.load, accepted, other, 0.03);
    }
}

static void test_star(void **state)
{
    (void)state;
    compare("star:8", (struct reference_request){.shape = REFERENCE_STAR,
                                                 .extent = 8,
                                                 .dimensions = 0,
                                                 .channels = 1,
                                                 .buffer = 8,
                                                 .link = 1,
                                                 .router = 1,
                                                 .credit = 0});
    compare("star:5", (struct reference_request){.shape = REFERENCE_STAR,
                                                 .extent = 5,
                                                 .dimensions = 0,
                                                 .channels = 2,
                                                 .buffer = 4,
                                                 .link = 2,
                                                 .router = 3,
                                                 .credit = 1});
}

static void test_mesh(void **state)
{
    (void)state;
    compare("mesh:4x4", (struct reference_request){.shape = REFERENCE_MESH,
                                                   .extent = 4,
                                                   .dimensions = 2,
                                                   .channels = 1,
                                                   .buffer = 8,
                                                   .link = 1,
                                                   .router = 1,
                                                   .credit = 0});
    compare("mesh:6x1", (struct reference_request){.shape = REFERENCE_MESH,
                                                   .extent = 6,
                                                   .dimensions = 1,
                                                   .channels = 2,
                                                   .buffer = 6,
                                                   .link = 1,
                                                   .router = 2,
                                                   .credit = 2});
}

static void test_torus(void **state)
{
    (void)state;
    compare("torus:4x4", (struct reference_request){.shape = REFERENCE_TORUS,
                                                    .extent = 4,
                                                    .dimensions = 2,
                                                    .channels = 2,
                                                    .buffer = 8,
                                                    .link = 1,
                                                    .router = 2,
                                                    .credit = 0});
    compare("ring:5", (struct reference_request){.shape = REFERENCE_TORUS,
                                                 .extent = 5,
                                                 .dimensions = 1,
                                                 .channels = 2,
                                                 .buffer = 8,
                                                 .link = 1,
                                                 .router = 1,
                                                 .credit = 1});
    compare("ring:7", (struct reference_request){.shape = REFERENCE_TORUS,
                                                 .extent = 7,
                                                 .dimensions = 1,
                                                 .channels = 4,
                                                 .buffer = 8,
                                                 .link = 1,
                                                 .router = 1,
                                                 .credit = 0});
}

/* Less buffer than a round trip of credits: they limit. */
static void test_shallow(void **state)
{
    (void)state;
    compare("ring:6", (struct reference_request){.shape = REFERENCE_TORUS,
                                                 .extent = 6,
                                                 .dimensions = 1,
                                                 .channels = 1,
                                                 .buffer = 3,
                                                 .link = 2,
                                                 .router = 2,
                                                 .credit = 1});
    compare("mesh:3x3", (struct reference_request){.shape = REFERENCE_MESH,
                                                   .extent = 3,
                                                   .dimensions = 2,
                                                   .channels = 1,
                                                   .buffer = 4,
                                                   .link = 1,
                                                   .router = 3,
                                                   .credit = 1});
}

/* Routers with a clock, and one round of allocation in each cycle. */
static void test_rounds(void **state)
{
    (void)state;
    compare("mesh:4x4", (struct reference_request){.shape = REFERENCE_MESH,
                                                   .extent = 4,
                                                   .dimensions = 2,
                                                   .channels = 4,
                                                   .buffer = 8,
                                                   .link = 1,
                                                   .router = 1,
                                                   .rounds = 1});
    compare("ring:5", (struct reference_request){.shape = REFERENCE_TORUS,
                                                 .extent = 5,
                                                 .dimensions = 1,
                                                 .channels = 2,
                                                 .buffer = 8,
                                                 .link = 1,
                                                 .router = 1,
                                                 .rounds = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_star),    cmocka_unit_test(test_mesh),   cmocka_unit_test(test_torus),
        cmocka_unit_test(test_shallow), cmocka_unit_test(test_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
