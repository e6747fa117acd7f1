/* SPDX-License-Identifier: BSD-3-Clause */
/* What model analytic derives from the rows of the simulated NIC, against the steps of docs/accuracy.md
 * written out: other rows give other times, and what the user gives wins. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "adapters/analytic/cost/cost.h"
#include "base/config.h"

static const int nodes[] = {0, 0, 1, 2};
static double path_bandwidth;

static void route(void *context, int src, int dst, double *latency, double *bandwidth)
{
    (void)context;
    *latency = src == dst ? 5e-6 : 400e-9 * abs(src - dst);
    *bandwidth = path_bandwidth;
}

static struct pf_cost *make(const char *parameters)
{
    char why[600];
    assert_true(pf_config_set("analytic_set", parameters));
    struct pf_cost *cost = pf_cost_new(4, nodes, route, NULL, NULL, why, sizeof why);
    if (!cost)
        fail_msg("'%s': %s", parameters, why);
    return cost;
}

static void near(double value, double expected, double most, int line)
{
    if (fabs(value - expected) > most)
        fail_msg("line %d: %.6g, expected %.6g", line, value, expected);
}
/* Within the rounding of dates of some seconds, and within a packet's header. */
#define NEAR(value, expected)  near(value, expected, 1e-13, __LINE__)
#define ABOUT(value, expected) near(value, expected, 12.1 / fmin(path_bandwidth, 15.75e9), __LINE__)

/* How long a message takes whose receive was posted at a date, from its call. */
static struct pf_cost_received message_of(struct pf_cost *cost, int src, int dst, size_t bytes, double posted,
                                          enum pf_cost_mode mode)
{
    static double now;
    struct pf_cost_sent sent;
    struct pf_cost_received received;
    now += 1; /* NICs are idle */
    pf_cost_message(cost, src, dst, bytes, now, now + posted, mode, &sent, &received);
    received.complete -= now;
    received.safe -= now;
    return received;
}

static struct pf_cost_received message(struct pf_cost *cost, int src, int dst, size_t bytes, double posted)
{
    return message_of(cost, src, dst, bytes, posted, PF_COST_STANDARD);
}

/* The rows, for the sums below. */
struct rows {
    double p, c, B, L; /* latency and bandwidth of PCIe, bandwidth and latency of the path */
};

static double event(const struct rows *r)
{
    return 96 / r->c + r->p;
}

static double command(const struct rows *r)
{
    return 64 / r->c + r->p + 2e-9;
}

static double short_put(const struct rows *r, double n)
{
    return command(r) + (64 + n) / r->B + r->L + (n > 0 ? r->p + n / r->c : 0) + event(r);
}

static double long_put(const struct rows *r, double n)
{
    double read = 2 * r->p + fmin(n, 512) / r->c,
           wire = (64 + n + 12 * floor((n - 1) / 512)) / fmin(r->B, r->c);
    return (n > 2048 ? 64 / r->c : 0) + command(r) + read + wire + r->L + r->p + fmin(n, 512) / r->c +
           event(r);
}

static double ack(const struct rows *r, double n)
{
    return 2e-9 + 32 / r->B + r->L + event(r) + (n > 64 ? 96 / r->c : 0);
}

static void check_rows(const struct rows *r)
{
    static const size_t shorts[] = {0, 1, 4, 8},
                        longs[] = {9, 64, 65, 512, 513, 1000, 2048, 2049, 4096, 5000, 1 << 20};
    path_bandwidth = r->B;
    struct pf_cost *cost = make("");
    for (size_t i = 0; i < sizeof shorts / sizeof shorts[0]; i++) {
        double n = (double)shorts[i];
        struct pf_cost_received m = message(cost, 0, 2, shorts[i], -1);
        NEAR(m.complete, short_put(r, n));
        NEAR(m.safe, short_put(r, n) + ack(r, n));
    }
    for (size_t i = 0; i < sizeof longs / sizeof longs[0]; i++) {
        double n = (double)longs[i];
        struct pf_cost_received m = message(cost, 0, 2, longs[i], -1);
        ABOUT(m.complete, long_put(r, n));
        ABOUT(m.safe, long_put(r, n) + ack(r, n));
    }
    /* The farther node is one path more. */
    NEAR(message(cost, 0, 3, 8, -1).complete, short_put(r, 8) + r->L);
    pf_cost_free(cost);
}

static void test_rows(void **state)
{
    struct rows rows = {250e-9, 15.75e9, 11.1e9, 400e-9};
    (void)state;
    check_rows(&rows);
    rows.B = 25e9; /* faster than PCIe */
    check_rows(&rows);
    rows = (struct rows){500e-9, 31.5e9, 1e9, 400e-9};
    assert_true(pf_config_set("nic_pcie_latency", "500e-9") && pf_config_set("nic_pcie_bw", "31.5e9"));
    check_rows(&rows);
    assert_true(pf_config_set("nic_pcie_latency", "250e-9") && pf_config_set("nic_pcie_bw", "15.75e9"));
}

static void test_late_receives(void **state)
{
    const struct rows r = {250e-9, 15.75e9, 11.1e9, 400e-9};
    double look = 64 / r.c + r.p + event(&r), get = 2e-9 + 64 / r.B + r.L;
    (void)state;
    path_bandwidth = r.B;
    struct pf_cost *cost = make("");
    /* A short one is kept, and acknowledged without an event; the receive looks for it. */
    struct pf_cost_received m = message(cost, 0, 2, 8, 3e-6);
    NEAR(m.complete, 3e-6 + look);
    NEAR(m.safe, short_put(&r, 8) + ack(&r, 8) - event(&r));
    /* A long one is fetched: the data cross the wire once more. Posting takes `look` before that. */
    m = message(cost, 0, 2, 65536, 20e-6 + look);
    ABOUT(m.complete, 20e-6 + look + get + long_put(&r, 65536) - 64 / r.c);
    ABOUT(m.safe, m.complete - (r.p + 512 / r.c) - r.L); /* when it has left the sender's memory */
    NEAR(pf_cost_post(cost, 65536), look);
    NEAR(pf_cost_post(cost, 2048), 0);
    pf_cost_free(cost);
}

/* A message of UCX, with its header, as far as the event at the target. */
static double ucx_put(const struct rows *r, double payload)
{
    double pio = payload > 16 ? (payload - 16) / r->c + 100e-9 : 0, wire = (64 + payload) / r->B;
    double packets = 12 * floor((payload - 1) / 512), read = 2 * r->p + fmin(payload, 512) / r->c;
    return command(r) + (payload > 416 ? read + packets / r->B : pio) + wire + r->L + r->p +
           fmin(payload, 512) / r->c + event(r);
}

/* The protocols of docs/ucx.md with the figures of its table. */
static void test_ucx(void **state)
{
    const struct rows r = {250e-9, 15.75e9, 11.1e9, 400e-9};
    const double copy = 1 / 7340032000.0, registers = 180e-9;
    (void)state;
    path_bandwidth = r.B;
    assert_true(pf_config_set("analytic_stack", "ucx"));
    struct pf_cost *cost = make("");
    for (double n = 0; n <= 408; n += 136) { /* short: the receiver copies */
        struct pf_cost_received m = message(cost, 0, 2, (size_t)n, -1);
        NEAR(m.complete, ucx_put(&r, 8 + n) + n * copy);
        NEAR(m.safe, 0);
    }
    /* Copied on both sides; unexpected, the receiver copies later. */
    ABOUT(message(cost, 0, 2, 2000, -1).complete, 2000 * copy + ucx_put(&r, 2008) + 2000 * copy);
    NEAR(message(cost, 0, 2, 2000, -1).safe, 2000 * copy);
    NEAR(message(cost, 0, 2, 2000, 1e-3).complete, 1e-3 + 2000 * copy);
    /* From its place; from memory that its sender waits for, copied, and in two pieces that overlap. */
    ABOUT(message(cost, 0, 2, 8000, -1).complete, registers + ucx_put(&r, 8008) + 8000 * copy);
    ABOUT(message(cost, 0, 2, 8000, -1).safe, registers + ucx_put(&r, 8008) + ack(&r, 0));
    double second = 16512 * copy + ucx_put(&r, 8272);
    struct pf_cost_received m = message_of(cost, 0, 2, 16512, -1, PF_COST_BLOCKING);
    near(m.complete, second + 8256 * copy, 2e-9, __LINE__); /* headers of pieces are longer */
    NEAR(m.safe, 16512 * copy);
    /* A request, a read, and word that it is over. */
    double data = 65536, read = command(&r) + 64 / r.B + r.L,
           answer =
               2 * r.p + 512 / r.c + (64 + data + 12 * 127) / r.B + r.L + r.p + 512 / r.c + event(&r) + 2e-9;
    m = message(cost, 0, 2, 65536, -1);
    ABOUT(m.complete, registers + ucx_put(&r, 56) + registers + read + answer);
    NEAR(m.safe, m.complete + ucx_put(&r, 16));
    pf_cost_free(cost);
    /* MPICH's callers wait for the NIC instead. */
    assert_true(pf_config_set("analytic_stack", "mpich"));
    cost = make("");
    m = message_of(cost, 0, 2, 8000, -1, PF_COST_BLOCKING);
    ABOUT(m.safe, registers + ucx_put(&r, 8008) + ack(&r, 0));
    assert_true(pf_config_set("analytic_stack", "portals"));
    pf_cost_free(cost);
}

/* All send to all at once: a NIC that waits for another one still has time for the messages that are priced
 * later, so that all end when each NIC has served two. */
static void test_ucx_order(void **state)
{
    static const int pairs[][2] = {{2, 3}, {3, 2}, {0, 2}, {0, 3}, {2, 0}, {3, 0}};
    (void)state;
    path_bandwidth = 11.1e9;
    assert_true(pf_config_set("analytic_stack", "ucx"));
    struct pf_cost *cost = make("");
    const size_t bytes = 1 << 20;
    double alone = message(cost, 2, 3, bytes, -1).complete, now = 1000;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct pf_cost_sent sent;
        struct pf_cost_received m;
        pf_cost_message(cost, pairs[i][0], pairs[i][1], bytes, now, now - 1, PF_COST_STANDARD, &sent, &m);
        assert_true(m.complete - now < alone + 1.05 * (double)bytes / path_bandwidth);
    }
    assert_true(pf_config_set("analytic_stack", "portals"));
    pf_cost_free(cost);
}

/* The NIC is the one that messages take in turns, on both sides; inside a node it is the loopback. */
static void test_rates(void **state)
{
    struct pf_cost_access first, second, third;
    (void)state;
    path_bandwidth = 11.1e9;
    struct pf_cost *cost = make("");
    double wire = (64 - 12 + (1 << 20) * 524.0 / 512) / 11.1e9;
    pf_cost_put(cost, 0, 2, 1 << 20, 1, false, &first);
    pf_cost_put(cost, 3, 2, 1 << 20, 1, false, &second);
    pf_cost_put(cost, 3, 2, 0, 1, false, &third);
    NEAR(second.arrival, first.arrival + wire);
    struct pf_cost_received m = message(cost, 0, 1, 8, -1);
    const struct rows loop = {250e-9, 15.75e9, 15.75e9, 50e-9};
    NEAR(m.complete, short_put(&loop, 8));
    pf_cost_free(cost);
}

/* Levels of the host's memory: another bandwidth and latency from 64 KiB on. */
static void test_memory_levels(void **state)
{
    (void)state;
    path_bandwidth = 11.1e9;
    pf_config.nic_loopback_memory = true;
    for (size_t bytes = 65535; bytes <= 1 << 20; bytes = bytes == 65535 ? 65536 : 2 * bytes) {
        double all = 64 + (double)bytes + floor((double)(bytes - 1) / 512) * 12, part = bytes > 65535;
        struct pf_cost *cost = make("");
        double plain = message(cost, 0, 1, bytes, -1).complete;
        pf_cost_free(cost);
        assert_true(pf_config_set("nic_loopback_levels", "65536:4e9:250e-9"));
        cost = make("");
        ABOUT(message(cost, 0, 1, bytes, -1).complete, plain + part * (all / 4e9 - all / 15.75e9 + 200e-9));
        pf_cost_free(cost);
        assert_true(pf_config_set("nic_loopback_levels", ""));
    }
    pf_config.nic_loopback_memory = false;
}

static void test_the_user_wins(void **state)
{
    (void)state;
    path_bandwidth = 10e9;
    struct pf_cost *cost = make("time = 3 us; time[1 KiB] = 4 us; nic_time = 1 us");
    NEAR(message(cost, 0, 2, 0, -1).complete, 3e-6);
    pf_cost_free(cost);
    cost = make("bandwidth = 1 GB/s");
    assert_true(message(cost, 0, 2, 1000000, -1).complete > 1e-3);
    pf_cost_free(cost);
    cost = make("defaults = plain");
    NEAR(message(cost, 0, 2, 1000, -1).complete, 400e-9 + 1000 / 10e9);
    pf_cost_free(cost);
    cost = make("model = loggp");
    NEAR(message(cost, 0, 2, 1000, -1).complete, 400e-9 + 1000 / 10e9);
    pf_cost_free(cost);
    char file[] = "/tmp/pf-derive-XXXXXX";
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    FILE *out = fdopen(fd, "w");
    fputs("latency = 1 us\n", out);
    fclose(out);
    pf_config_set("analytic_parameters", file);
    cost = make("");
    NEAR(message(cost, 0, 2, 0, -1).complete, 1.4e-6); /* a file is all there is, */
    pf_cost_free(cost);
    cost = make("defaults = nic"); /* unless it is asked for more */
    assert_true(message(cost, 0, 2, 0, -1).safe > 1.6e-6);
    pf_cost_free(cost);
    pf_config_set("analytic_parameters", "");
    remove(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),          cmocka_unit_test(test_late_receives),
        cmocka_unit_test(test_ucx),           cmocka_unit_test(test_ucx_order),
        cmocka_unit_test(test_rates),         cmocka_unit_test(test_memory_levels),
        cmocka_unit_test(test_the_user_wins),
    };
    pf_config_load();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
