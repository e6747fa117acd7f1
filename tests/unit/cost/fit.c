/* SPDX-License-Identifier: BSD-3-Clause */
/* From measurements to parameters: each protocol is recognised, points come back, and jumps stay at the
 * threshold. */
#include "adapters/analytic/cost/parameters/fit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "adapters/analytic/cost/cost.h"
#include "base/config.h"

/* A network of two distances, 1 us and 3 us, whose messages of m bytes take 2 x path + m/1 GB/s, above S =
 * 3000 bytes 5 us more; and what a protocol makes of it. */
enum { THRESHOLD = 3000, NEAR_US = 1, FAR_US = 3 };

struct world {
    const char *protocol;
    double late_small, late_excess, handshake, done_after;
    bool meets;
};

static double one_way(const struct world *world, long bytes, double path)
{
    return 2 * path + (double)bytes * 1e-9 + (bytes > THRESHOLD ? 5e-6 + 2 * world->handshake : 0);
}

static void line(struct pf_fit *fit, const char *what, const char *transport, long bytes, double seconds)
{
    char text[200];
    snprintf(text, sizeof text, "%s %s %ld %.12g\n", what, transport, bytes, seconds);
    assert_true(pf_fit_line(fit, text));
}

static void measure(const struct world *world, struct pf_fit *fit)
{
    pf_fit_init(fit);
    line(fit, "call", "any", 0, 50e-9);
    line(fit, "peer", "near", 1, 0);
    line(fit, "peer", "far", 2, 0);
    line(fit, "threshold", "near", THRESHOLD, 0);
    for (long bytes = 0; bytes <= 1 << 20; bytes = bytes ? 2 * bytes : 1) {
        bool eager = bytes <= THRESHOLD;
        double time = one_way(world, bytes, NEAR_US * 1e-6) + 200e-9; /* and o_s */
        line(fit, "oneway", "near", bytes, time);
        line(fit, "oneway", "far", bytes, one_way(world, bytes, FAR_US * 1e-6) + 200e-9);
        line(fit, "sendcall", "near", bytes, 200e-9);
        line(fit, "stream", "near", bytes, 10e-9 + (double)bytes * 0.5e-9);
        line(fit, "late", "near", bytes,
             eager && !world->meets ? world->late_small : time + (eager ? 0 : world->late_excess));
        line(fit, "safe", "near", bytes, eager ? 200e-9 : time + world->done_after);
    }
    fit->transports[PF_FIT_NEAR].path = NEAR_US * 1e-6;
    fit->transports[PF_FIT_FAR].path = FAR_US * 1e-6;
}

static void route(void *context, int src, int dst, double *latency, double *bandwidth)
{
    (void)context;
    *latency = (src + dst == 1 ? NEAR_US : FAR_US) * 1e-6;
    *bandwidth = 1e12; /* not what the fit knows */
}

static struct pf_cost *price(const struct pf_parameters *parameters)
{
    static const int nodes[] = {0, 1, 2};
    char file[] = "fitXXXXXX", why[600];
    int descriptor = mkstemp(file);
    FILE *out = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    assert_non_null(out);
    pf_parameters_write(parameters, out);
    fclose(out);
    pf_config_set("analytic_parameters", file);
    struct pf_cost *cost = pf_cost_new(3, nodes, route, NULL, NULL, why, sizeof why);
    unlink(file);
    if (!cost)
        fail_msg("%s", why);
    return cost;
}

static void check(const struct world *world, const char *done)
{
    static struct pf_fit fit;
    static struct pf_parameters parameters;
    static const long sizes[] = {0, 1, 64, 1500, 2048, 2999, 3000, 3001, 3500, 4096, 5000, 1 << 20, 3 << 20};
    char *text = NULL, expected[80];
    size_t size;
    measure(world, &fit);
    assert_true(pf_fit_line(&fit, "post any 0 150e-9")); /* 100 ns more than any call */
    assert_true(pf_fit_line(&fit, world->meets ? "share any 0 0.51" : "share any 0 0.98"));
    assert_null(pf_fit_make(&fit, &parameters));
    struct pf_cost *cost = price(&parameters);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int peer = 1; peer < 3; peer++) {
            struct pf_cost_received r;
            double now = 1 + 2 * (double)i + peer, path = (peer == 1 ? NEAR_US : FAR_US) * 1e-6;
            pf_cost_message(cost, 0, peer, (size_t)sizes[i], now, 0, PF_COST_STANDARD, NULL, &r);
            double time = one_way(world, sizes[i], path) + 200e-9;
            /* The answer of a handshake has farther to go, of which the points near by have no trace. */
            if (fabs(r.complete - now - time) > 1e-6 * time && !(world->handshake > 0 && peer == 2))
                fail_msg("%s, %ld B to %d: %.9g, expected %.9g", world->protocol, sizes[i], peer,
                         r.complete - now, time);
        }
    }
    pf_cost_free(cost);
    FILE *out = open_memstream(&text, &size);
    pf_parameters_write(&parameters, out);
    fclose(out);
    snprintf(expected, sizeof expected, "\neager = %s\n", world->meets ? "meet" : "push");
    assert_non_null(strstr(text, expected));
    snprintf(expected, sizeof expected, "\nprotocol = %s\n", world->protocol);
    assert_non_null(strstr(text, expected));
    snprintf(expected, sizeof expected, "\nrendezvous_done = %s\n", done);
    assert_non_null(strstr(text, expected));
    assert_non_null(strstr(text, "\neager_max = 3000 B\n"));
    assert_non_null(strstr(text, "\npost = 100 ns\n"));
    assert_non_null(strstr(text, world->meets ? "\ntogether = turns\n" : "\ntogether = share\n"));
    free(text);
}

/* Two processors that share a memory: an eager message costs its sender 1 us + m / 1 GB/s, its receiver 2 us
 * + m / 1 GB/s, and takes 4 us + 2 m / 1 GB/s in all; above 4 KiB it crosses in 5 us + m / 0.5 GB/s, and two
 * that cross each other take half as long again. One measurement is 1 us too long. */
static void measure_machine(struct pf_fit *fit)
{
    pf_fit_init(fit);
    line(fit, "call", "any", 0, 0.1e-6);
    line(fit, "copy", "any", 1 << 20, 100e-6);
    line(fit, "peer", "memory", 1, 0);
    line(fit, "threshold", "memory", 4096, 0);
    for (long bytes = 0; bytes <= 1 << 20; bytes = bytes ? 2 * bytes : 1) {
        bool eager = bytes <= 4096;
        double copy = (double)bytes * 1e-9, time = (eager ? 4e-6 : 5e-6) + 2 * copy,
               call = 1e-6 + (eager ? copy : 0);
        line(fit, "oneway", "memory", bytes, time + (bytes == 2 ? 1e-6 : 0));
        line(fit, "exchange", "memory", bytes, 0.1e-6 + (eager ? call + 2e-6 + copy : 1.5 * time));
        line(fit, "sendcall", "memory", bytes, call);
        line(fit, "safe", "memory", bytes, eager ? call : time);
        line(fit, "late", "memory", bytes, eager ? 7e-6 + copy : time);
        if (bytes >= 512)
            line(fit, "apart", "memory", bytes, time + 4 * copy);
    }
}

static void test_machine(void **state)
{
    static struct pf_fit fit;
    static struct pf_parameters parameters;
    char *text = NULL;
    size_t size;
    (void)state;
    measure_machine(&fit);
    assert_null(pf_fit_make(&fit, &parameters));
    FILE *out = open_memstream(&text, &size);
    pf_parameters_write(&parameters, out);
    fclose(out);
    /* Lines that one call, o_s, o_r, and what lies between them make a one-way time of, and an exchange. */
    static const char *const expected[] = {
        "\nleave = first\n",
        "\neager_max = 4 KiB\n",
        "\ncall = 100 ns\n",
        "\npack_bandwidth = 500 MB/s\n",
        "\nown_bandwidth = 10.48576 GB/s\n",
        "\ncopy_latency = 5 us\n",
        "\nmemory.overhead_send = 900 ns\n",
        "\nmemory.overhead_receive = 2 us\n",
        "\nmemory.overhead_receive[4 KiB] = 6.096 us\n",
        "\nmemory.overhead_receive[8 KiB] = 14.388 us\n",
        "\nrendezvous_done = received\n",
        "\nmemory.time = 1.9 us\n",
        "\nmemory.time[1 KiB] = 2.924 us\n",
        "\nmemory.nic_time[4 KiB] = 0\n",
        "\nmemory.nic_time[8 KiB] = 10.692 us\n",
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        if (!strstr(text, expected[i]))
            fail_msg("no%sin\n%s", expected[i], text);
    free(text);
    fit.transports[PF_FIT_MEMORY].points[3].exchange = NAN;
    assert_non_null(strstr(pf_fit_make(&fit, &parameters), "measurements of 4 B, memory, are missing"));
}

static void test_protocols(void **state)
{
    static const struct world meet = {.protocol = "meet", .meets = true},
                              get = {.protocol = "get",
                                     .late_small = 0.4e-6,
                                     .late_excess = 2.4e-6,
                                     .done_after = 2e-6},
                              rendezvous = {.protocol = "rendezvous",
                                            .late_small = 0.1e-6,
                                            .late_excess = -2e-6,
                                            .handshake = 2e-6};
    (void)state;
    check(&meet, "arrived");
    check(&get, "acknowledged");
    check(&rendezvous, "arrived");
}

static void test_incomplete(void **state)
{
    static struct pf_fit fit;
    static struct pf_parameters parameters;
    (void)state;
    pf_fit_init(&fit);
    assert_string_equal(pf_fit_make(&fit, &parameters), "there are no measurements");
    assert_false(pf_fit_line(&fit, "hello world"));
    assert_false(pf_fit_line(&fit, "oneway sideways 8 1e-6"));
    assert_false(pf_fit_line(&fit, "twoway near 8 1e-6"));
    assert_false(pf_fit_line(&fit, "oneway near 8 nan"));
    assert_true(pf_fit_line(&fit, "oneway near 8 1e-6"));
    assert_null(pf_fit_make(&fit, &parameters)); /* a ping-pong is enough for LogGP, */
    assert_true(pf_fit_line(&fit, "late near 8 1e-6"));
    /* but what else is measured must be complete. */
    assert_string_equal(pf_fit_make(&fit, &parameters), "measurements of 8 B, near, are missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_protocols), cmocka_unit_test(test_machine),
                                       cmocka_unit_test(test_incomplete)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
