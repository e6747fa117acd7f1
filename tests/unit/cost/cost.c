/* SPDX-License-Identifier: BSD-3-Clause */
/* Prices against the formulae, written out with numbers: LogGP, LogGPS, SMP-SIM, the LogP NIC, and what a
 * file of times means. Two ranks on node 0, one on each of the others. */
#include "adapters/analytic/cost/cost.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/config.h"

static const int nodes[] = {0, 0, 1, 2, 3};
static int routes_asked;
static double downwards = 1; /* how many times as long it is from the greater number to the less */

/* Memory: 100 ns and 20 GB/s; network: 1 us for each step between the nodes' numbers, 10 GB/s. */
static void route(void *context, int src, int dst, double *latency, double *bandwidth)
{
    assert_ptr_equal(context, &routes_asked);
    routes_asked++;
    *latency = src == dst ? 100e-9 : 1e-6 * abs(src - dst) * (src > dst ? downwards : 1);
    *bandwidth = src == dst ? 20e9 : 10e9;
}

static struct pf_cost *make(const char *parameters)
{
    char why[600], plain[1000]; /* what is derived from the NIC is tested in derive.c */
    snprintf(plain, sizeof plain, "defaults = plain; %s", parameters);
    assert_true(pf_config_set("analytic_set", plain));
    struct pf_cost *cost = pf_cost_new(5, nodes, route, NULL, &routes_asked, why, sizeof why);
    if (!cost)
        fail_msg("'%s': %s", parameters, why);
    return cost;
}

static void near(double value, double expected, int line)
{
    if (fabs(value - expected) > 1e-15 * fmax(1, fabs(expected)) && !(isinf(value) && isinf(expected)))
        fail_msg("line %d: %.17g, expected %.17g", line, value, expected);
}
#define NEAR(value, expected) near(value, expected, __LINE__)

/* A message sent at 1 s. */
static struct pf_cost_received message(struct pf_cost *cost, int src, int dst, size_t bytes, double posted,
                                       enum pf_cost_mode mode, struct pf_cost_sent *sent)
{
    struct pf_cost_received received;
    pf_cost_message(cost, src, dst, bytes, 1, posted, mode, sent, &received);
    return received;
}

static void test_platform(void **state)
{
    struct pf_cost *cost = make("");
    struct pf_cost_sent sent;
    (void)state;
    routes_asked = 0;
    struct pf_cost_received r = message(cost, 0, 3, 1000, 0, PF_COST_STANDARD, &sent);
    assert_false(sent.rendezvous);
    NEAR(sent.returns, 1);
    NEAR(sent.safe, 1);
    NEAR(r.complete, 1 + 2e-6 + 1000 / 10e9);
    r = message(cost, 0, 1, 1000, 0, PF_COST_STANDARD, &sent);
    NEAR(r.complete, 1 + 100e-9 + 1000 / 20e9);
    r = message(cost, 2, 2, 0, 0, PF_COST_STANDARD, &sent);
    NEAR(r.complete, 1 + 100e-9);
    message(cost, 0, 3, 1000, 0, PF_COST_STANDARD, NULL);
    message(cost, 1, 3, 1000, 0, PF_COST_STANDARD, NULL);
    assert_int_equal(routes_asked, 3); /* once per pair of nodes */
    pf_cost_free(cost);
}

#define LOGGP                                                                                                \
    "latency = 5 us; latency_factor = 0; bandwidth = 1 GB/s; overhead_send = 1 us; overhead_receive = 2 us;"

static void test_loggp(void **state)
{
    struct pf_cost *cost = make("model = loggp; gap = 3 us; nic_bandwidth = unlimited;" LOGGP);
    struct pf_cost_sent sent;
    (void)state;
    /* o_s + L + mG + o_r, at any size, also when the receive comes late. */
    struct pf_cost_received r = message(cost, 0, 2, 1000000, 0, PF_COST_STANDARD, &sent);
    NEAR(sent.returns, 1 + 1e-6);
    NEAR(sent.safe, 1 + 1e-6);
    NEAR(r.complete, 1 + 1e-6 + 5e-6 + 1e-3 + 2e-6);
    /* The second message waits for the gap, the third for two. */
    NEAR(message(cost, 0, 2, 0, 0, PF_COST_STANDARD, &sent).arrival, 1 + 1e-6 + 3e-6 + 5e-6);
    NEAR(message(cost, 0, 3, 0, 0, PF_COST_STANDARD, &sent).arrival, 1 + 1e-6 + 6e-6 + 5e-6);
    NEAR(message(cost, 2, 3, 0, 2, PF_COST_STANDARD, &sent).complete, 2 + 2e-6);
    pf_cost_free(cost);
}

/* Where times are measured, overheads lie on lines, and processors do what NICs do not. */
static void test_processors(void **state)
{
    struct pf_cost *cost =
        make("time = 4 us; time[1000 B] = 6 us; nic_time = 0; overhead_send = 1 us;"
             "overhead_send[1000 B] = 3 us; overhead_receive = 2 us; overhead_receive[1000 B] = 4 us;"
             "leave = first; call = 1 us; copy_latency = 10 us; pack_bandwidth = 1 GB/s;"
             "own_bandwidth = 2 GB/s; protocol = meet; rendezvous_done = received");
    struct pf_cost_sent sent;
    (void)state;
    struct pf_cost_received r = message(cost, 0, 2, 500, 0, PF_COST_STANDARD, &sent);
    NEAR(sent.returns, 1 + 1e-6 + 2e-6); /* d + o_s */
    NEAR(sent.arrival, 1 + 1e-6 + 5e-6); /* they have left with the call */
    NEAR(sent.safe, sent.returns);
    NEAR(r.work, 3e-6);
    NEAR(r.complete, sent.arrival + 3e-6);
    r = message(cost, 0, 2, 500, 2, PF_COST_STANDARD, &sent);
    NEAR(r.complete, 2 + 10e-6 + 3e-6);
    r = message(cost, 0, 2, 500, 2, PF_COST_SYNCHRONOUS, &sent);
    NEAR(r.safe, r.complete);
    NEAR(r.complete, 2 + 5e-6 + 3e-6);
    NEAR(pf_cost_pack(cost, 1000), 1e-6);
    NEAR(pf_cost_copy_own(cost, 1000), 0.5e-6);
    pf_cost_free(cost);
    cost = make("time = 4 us; overhead_send = 1 us; latency_factor = 0");
    message(cost, 0, 2, 500, 0, PF_COST_STANDARD, &sent);
    NEAR(sent.arrival, 1 + 1e-6 + 4e-6 + 500 / 10e9);
    NEAR(pf_cost_pack(cost, 1000) + pf_cost_copy_own(cost, 1000), 0);
    pf_cost_free(cost);
}

/* start = max(now, next_free); next_free = start + injection latency + byte delay x bytes. */
static void test_nic(void **state)
{
    struct pf_cost *cost = make("model = loggp; latency = 5 us; latency_factor = 0; gap = 1 us;"
                                "nic_bandwidth = 1 GB/s; bandwidth = 2 GB/s; eager_done = sent");
    struct pf_cost_sent sent;
    (void)state;
    NEAR(message(cost, 0, 2, 10000, 0, PF_COST_STANDARD, &sent).arrival, 1 + 5e-6 + 5e-6);
    NEAR(sent.safe, 1 + 11e-6);
    NEAR(message(cost, 1, 3, 10000, 0, PF_COST_STANDARD, &sent).arrival, 1 + 11e-6 + 10e-6); /* same node */
    NEAR(sent.safe, 1 + 22e-6);
    NEAR(message(cost, 0, 1, 10000, 0, PF_COST_STANDARD, &sent).arrival, 1 + 100e-9 + 10000 / 20e9);
    pf_cost_free(cost);
    cost = make("model = loggp; contention = nic; gap = 1 us; nic_bandwidth = unlimited");
    NEAR(message(cost, 0, 4, 0, 0, PF_COST_STANDARD, &sent).arrival, 1 + 3e-6);
    NEAR(message(cost, 3, 4, 0, 0, PF_COST_STANDARD, &sent).arrival, 1 + 1e-6); /* before the other one */
    NEAR(message(cost, 3, 4, 0, 0, PF_COST_STANDARD, &sent).arrival, 1 + 2e-6);
    NEAR(message(cost, 3, 4, 0, 0, PF_COST_STANDARD, &sent).arrival, 1 + 4e-6); /* would be there at 3 us */
    NEAR(message(cost, 4, 0, 0, 0, PF_COST_STANDARD, &sent).arrival, 1 + 3e-6); /* the other direction */
    pf_cost_free(cost);
}

static void test_loggps(void **state)
{
    struct pf_cost *cost = make("eager_max = 999;" LOGGP);
    struct pf_cost_sent sent;
    struct pf_cost_received r;
    (void)state;
    r = message(cost, 0, 2, 1000, 0, PF_COST_STANDARD, &sent);
    assert_true(sent.rendezvous);
    NEAR(sent.returns, 1 + 1e-6);
    NEAR(sent.safe, INFINITY);
    NEAR(sent.arrival, 1 + 6e-6);
    NEAR(r.safe, 1 + 12e-6); /* the NIC has its last byte */
    NEAR(r.arrival, 1 + 17e-6);
    NEAR(r.complete, 1 + 19e-6);
    r = message(cost, 0, 2, 1000, 2, PF_COST_STANDARD, &sent); /* the receive comes later */
    NEAR(r.complete, 2 + 5e-6 + 6e-6 + 2e-6);
    message(cost, 3, 2, 1000, 2, PF_COST_BUFFERED, &sent);
    assert_false(sent.rendezvous);
    message(cost, 3, 2, 1000, 2, PF_COST_READY, &sent);
    assert_false(sent.rendezvous);
    message(cost, 3, 2, 0, 2, PF_COST_SYNCHRONOUS, &sent);
    assert_true(sent.rendezvous);
    pf_cost_free(cost);

    cost = make("eager_max = 999; protocol = meet; rendezvous_done = arrived;" LOGGP);
    r = message(cost, 0, 2, 1000, 0, PF_COST_STANDARD, &sent);
    NEAR(r.complete, 1 + 1e-6 + 6e-6 + 2e-6);
    NEAR(r.safe, r.arrival);
    r = message(cost, 0, 2, 1000, 2, PF_COST_STANDARD, &sent);
    NEAR(r.complete, 2 + 6e-6 + 2e-6);
    pf_cost_free(cost);

    cost = make("eager_max = 999; copy_latency = 0.5 us; copy_bandwidth = 1 GB/s;" LOGGP);
    r = message(cost, 0, 2, 100, 2, PF_COST_STANDARD, &sent); /* eager, and its receive comes later */
    NEAR(r.complete, 2 + 0.5e-6 + 0.1e-6 + 2e-6);
    pf_cost_free(cost);

    cost =
        make("eager_max = 999; protocol = get; copy_latency = 0.5 us; rendezvous_done = acknowledged;" LOGGP);
    r = message(cost, 0, 2, 1000, 0, PF_COST_STANDARD, &sent);
    NEAR(r.complete, 1 + 1e-6 + 6e-6 + 2e-6);
    NEAR(r.safe, r.arrival + 5e-6);
    r = message(cost, 0, 2, 1000, 2, PF_COST_STANDARD, &sent);
    NEAR(r.complete, 2 + 5.5e-6 + 6e-6 + 2e-6);
    /* The data that were sent in vain have occupied the NIC. What was fetched a second later does not hold
     * up what goes now. */
    r = message(cost, 1, 2, 1000, 0, PF_COST_STANDARD, &sent);
    NEAR(sent.data, 1 + 1e-6 + 2e-6 + 6e-6);
    pf_cost_free(cost);
}

/* Where the path back is longer, what answers takes that: acknowledgements, and requests for data. */
static void test_path_back(void **state)
{
    struct pf_cost_sent sent;
    (void)state;
    downwards = 3;
    struct pf_cost *cost =
        make("eager_max = 999; protocol = get; rendezvous_done = acknowledged; latency = 5 us;"
             "bandwidth = 1 GB/s; overhead_send = 1 us; overhead_receive = 2 us");
    double data = 6e-6, control = 5e-6, up = 1e-6, down = 3e-6;
    struct pf_cost_received r = message(cost, 0, 2, 1000, 0, PF_COST_STANDARD, &sent);
    NEAR(r.complete, 1 + 1e-6 + data + up + 2e-6);
    NEAR(r.safe, r.arrival + control + down);
    r = message(cost, 2, 0, 1000, 0, PF_COST_STANDARD, &sent);
    NEAR(r.complete, 1 + 1e-6 + data + down + 2e-6);
    NEAR(r.safe, r.arrival + control + up);
    r = message(cost, 0, 2, 1000, 2, PF_COST_STANDARD, &sent);
    NEAR(r.complete, 2 + control + down + data + up + 2e-6);
    downwards = 1;
    pf_cost_free(cost);
}

/* What comes too late with `get`: the data sent in vain are there first, then they are fetched. */
static void test_get_in_vain(void **state)
{
    struct pf_cost *cost =
        make("eager_max = 999; protocol = get; post = 0.3 us; copy_latency = 0.5 us;" LOGGP);
    struct pf_cost_sent sent;
    (void)state;
    NEAR(pf_cost_post(cost, 999), 0);
    NEAR(pf_cost_post(cost, 1000), 0.3e-6);
    /* The request is there at 6 us, the data at 7 us. */
    struct pf_cost_received r = message(cost, 0, 2, 1000, 1 + 6e-6, PF_COST_STANDARD, &sent);
    NEAR(r.complete, 1 + 7e-6 + 2e-6);
    /* 1 us later because of the NIC: 8 us. Then a control message, the rest of copy_latency, the data. */
    r = message(cost, 0, 2, 1000, 1 + 7.5e-6, PF_COST_STANDARD, &sent);
    NEAR(r.complete, 1 + 8e-6 + 5e-6 + 0.2e-6 + 6e-6 + 2e-6);
    pf_cost_free(cost);
}

/* The head of a message comes behind the data before it to the same node: receives of a stream that are
 * posted one after the other are in time. To another node it goes at once. */
static void test_heads(void **state)
{
    struct pf_cost *cost = make("eager_max = 999; protocol = get; copy_latency = 0.5 us;" LOGGP);
    struct pf_cost_sent sent;
    (void)state;
    for (int i = 0; i < 4; i++) {
        pf_cost_send(cost, 0, 2, 1000, 1, PF_COST_STANDARD, &sent);
        NEAR(sent.arrival, 1 + 6e-6 + i * 1e-6);
        NEAR(sent.data, 1 + 7e-6 + i * 1e-6);
    }
    pf_cost_send(cost, 0, 3, 1000, 1, PF_COST_STANDARD, &sent);
    NEAR(sent.arrival, 1 + 6e-6);
    NEAR(sent.data, 1 + 11e-6);
    pf_cost_free(cost);
}

/* Messages that leave at once: in turns, or all at the same rate. */
static void test_together(void **state)
{
    static const size_t sizes[] = {1000, 3000, 2000};
    struct pf_cost_sent sent;
    (void)state;
    struct pf_cost *cost = make("model = loggp; latency = 5 us; latency_factor = 0; bandwidth = 1 GB/s");
    assert_false(pf_cost_shares(cost));
    pf_cost_free(cost);
    cost = make("model = loggp; latency = 5 us; latency_factor = 0; bandwidth = 1 GB/s; together = share");
    assert_true(pf_cost_shares(cost));
    pf_cost_together_begin(cost, 0);
    for (int i = 0; i < 3; i++)
        pf_cost_together_add(cost, 0, 2 + i, sizes[i]);
    pf_cost_together_add(cost, 0, 1, 1000); /* on the same node: another way */
    pf_cost_send(cost, 0, 2, 1000, 1, PF_COST_STANDARD, &sent);
    NEAR(sent.arrival, 1 + 5e-6 + 3e-6); /* a third of the rate */
    pf_cost_send(cost, 0, 3, 3000, 1, PF_COST_STANDARD, &sent);
    NEAR(sent.arrival, 1 + 5e-6 + 6e-6); /* when all are done */
    pf_cost_send(cost, 0, 4, 2000, 1, PF_COST_STANDARD, &sent);
    NEAR(sent.arrival, 1 + 5e-6 + 6e-6);
    pf_cost_send(cost, 0, 2, 1000, 1, PF_COST_STANDARD, &sent); /* alone, after them */
    NEAR(sent.arrival, 1 + 5e-6 + 7e-6);
    pf_cost_free(cost);
}

/* SMPI: an eager sender goes on, but data leave when the receive is there. */
static void test_eager_meets(void **state)
{
    struct pf_cost *cost = make(
        "eager = meet; eager_max = 999; control_latency = 0.5 us; rendezvous_done = acknowledged;" LOGGP);
    struct pf_cost_sent sent;
    struct pf_cost_received r;
    (void)state;
    r = message(cost, 0, 2, 500, 2, PF_COST_STANDARD, &sent);
    assert_false(sent.rendezvous);
    NEAR(sent.safe, 1 + 1e-6);
    NEAR(sent.arrival, 1 + 1e-6);
    NEAR(r.complete, 2 + 5.5e-6 + 2e-6);
    r = message(cost, 2, 3, 500, 0, PF_COST_STANDARD, &sent);
    NEAR(r.complete, 1 + 1e-6 + 5.5e-6 + 2e-6);
    r = message(cost, 4, 3, 1000, 2, PF_COST_STANDARD, &sent);
    NEAR(sent.arrival, 1 + 1.5e-6);
    NEAR(r.arrival, 2 + 0.5e-6 + 6e-6);
    NEAR(r.safe, r.arrival + 0.5e-6);
    pf_cost_free(cost);
}

/* The consistent values of SMP-SIM's equations. d = 1 us, O_a = 2 us, L_net = 5 us, B_net = 1 GB/s, L_mem =
 * 0.5 us, B_mem = 4 GB/s, m = 1000 bytes: m/B_net = 1 us, m/B_mem = 0.25 us. */
static void test_smp(void **state)
{
    struct pf_cost *cost = make(
        "model = smp; call = 1 us; reserve = 2 us; latency = 5 us; latency_factor = 0; bandwidth = 1 GB/s;"
        "memory.latency = 0.5 us; memory.latency_factor = 0; memory.bandwidth = 4 GB/s");
    struct pf_cost_sent sent;
    struct pf_cost_received r;
    (void)state;
    r = message(cost, 0, 2, 1000, 0, PF_COST_BUFFERED, &sent);
    NEAR(sent.returns, 1 + 3e-6);
    NEAR(sent.safe, 1 + 3.25e-6);
    NEAR(sent.arrival, 1 + 3e-6 + 6e-6);
    NEAR(r.complete, sent.arrival);
    r = message(cost, 4, 2, 1000, 2, PF_COST_BUFFERED, &sent); /* the receive comes after the message */
    NEAR(r.complete, 2 + 0.25e-6);
    r = message(cost, 0, 1, 1000, 0, PF_COST_BUFFERED, &sent);
    NEAR(sent.returns, 1 + 1e-6);
    NEAR(sent.safe, 1 + 1.25e-6);
    NEAR(r.complete, 1 + 1e-6 + 0.75e-6);
    r = message(cost, 3, 2, 1000, 0, PF_COST_SYNCHRONOUS, &sent);
    NEAR(sent.arrival, 1 + 6e-6);
    NEAR(r.safe, 1 + 11.25e-6);
    NEAR(r.arrival, 1 + 17e-6);
    r = message(cost, 3, 2, 1000, 2, PF_COST_SYNCHRONOUS, &sent);
    NEAR(r.safe, 2 + 5.25e-6);
    NEAR(r.arrival, 2 + 11e-6);
    NEAR(pf_cost_call(cost), 1e-6);
    pf_cost_free(cost);
}

static double one_way(struct pf_cost *cost, size_t bytes)
{
    return message(cost, 0, 2, bytes, 0, PF_COST_BUFFERED, NULL).complete - 1;
}

static void test_sizes(void **state)
{
    struct pf_cost *cost =
        make("latency = 1 us; latency[1000] = 3 us; latency_factor = 0; latency_factor[2000] = 2;"
             "bandwidth_factor = 0.5; bandwidth_factor[1001] = 0.8; nic_bandwidth = unlimited");
    (void)state;
    NEAR(one_way(cost, 0), 1e-6);
    NEAR(one_way(cost, 999), 1e-6 + 999 / 5e9);
    NEAR(one_way(cost, 1000), 3e-6 + 1000 / 5e9);
    NEAR(one_way(cost, 1001), 3e-6 + 1001 / 8e9);
    NEAR(one_way(cost, 2000), 3e-6 + 2e-6 + 2000 / 8e9);
    NEAR(one_way(cost, 1 << 20), 3e-6 + 2e-6 + (1 << 20) / 8e9);
    pf_cost_free(cost);
    cost = make(
        "time = 1 us; time[1000] = 2 us; time[3000] = 2 us; time[5000] = 10 us; nic_bandwidth = unlimited");
    NEAR(one_way(cost, 0), 1e-6);
    NEAR(one_way(cost, 500), 1.5e-6);
    NEAR(one_way(cost, 2000), 2e-6);
    NEAR(one_way(cost, 4000), 6e-6);
    NEAR(one_way(cost, 6000), 14e-6);
    pf_cost_free(cost);
    cost = make("time = 1 us; time[1000] = 2 us; latency_factor = 2; latency_factor[1000] = 4; nic_time = 0; "
                "nic_time[100] = 10 us");
    NEAR(one_way(cost, 0), 3e-6);
    NEAR(one_way(cost, 500), 1.5e-6 + 3e-6);
    NEAR(one_way(cost, 2000), 50e-6 + 3e-6 + 6e-6); /* the one before occupies the NIC */
    pf_cost_free(cost);
    cost = make("bandwidth[1000] = 1 GB/s"); /* below that the path's */
    NEAR(one_way(cost, 500), 1e-6 + 500 / 10e9);
    pf_cost_free(cost);
    cost = make("time[64] = 1 us; latency_factor = 1");
    NEAR(one_way(cost, 0), 2e-6);
    pf_cost_free(cost);
    cost = make("time[64] = 1 us; time[128] = 2 us; latency_factor = 1");
    NEAR(one_way(cost, 8), 2e-6); /* before the first point: its time */
    NEAR(one_way(cost, 96), 2.5e-6);
    pf_cost_free(cost);
}

static void test_topologies(void **state)
{
    struct pf_cost *cost = make("topology = ring:4,oneway; link_latency = 2 us; link_bandwidth = 1 GB/s;"
                                "node.topology = mesh:2; node.link_latency = 10 ns");
    (void)state;
    NEAR(message(cost, 0, 4, 1000, 0, PF_COST_STANDARD, NULL).complete, 1 + 6e-6 + 1e-6);
    NEAR(message(cost, 4, 0, 1000, 0, PF_COST_STANDARD, NULL).complete, 1 + 2e-6 + 1e-6);
    NEAR(message(cost, 0, 1, 1000, 0, PF_COST_STANDARD, NULL).complete, 1 + 10e-9 + 1000 / 20e9);
    NEAR(message(cost, 1, 1, 1000, 0, PF_COST_STANDARD, NULL).complete, 1 + 1000 / 20e9);
    pf_cost_free(cost);
}

static void far(void *context, int src, int dst, double *latency, double *bandwidth)
{
    (void)context;
    *latency = src == dst ? 0 : 1e-6 * (dst - src > 0 ? dst - src : 1 + src - dst);
    *bandwidth = 1e9;
}

/* With more nodes than the table holds, pairs share places and must not share answers. */
static void test_many_nodes(void **state)
{
    enum { RANKS = 1500 };
    static int many[RANKS];
    char why[200];
    (void)state;
    for (int i = 0; i < RANKS; i++)
        many[i] = i;
    pf_config_set("analytic_set", "defaults = plain; nic_bandwidth = unlimited");
    struct pf_cost *cost = pf_cost_new(RANKS, many, far, NULL, NULL, why, sizeof why);
    assert_non_null(cost);
    for (int pass = 0; pass < 2; pass++) {
        for (int src = 0; src < RANKS; src++) {
            for (int dst = pass; dst < RANKS; dst += 7) {
                double latency, bandwidth;
                far(NULL, src, dst, &latency, &bandwidth);
                NEAR(message(cost, src, dst, 0, 0, PF_COST_STANDARD, NULL).complete, 1 + latency);
            }
        }
    }
    pf_cost_free(cost);
}

static void test_explain(void **state)
{
    struct pf_cost *cost = make("latency = 5 us; bandwidth[1 KiB] = 1 GB/s; eager_max = 2 KiB; gap = 10 ns");
    char *text = NULL;
    size_t size;
    (void)state;
    message(cost, 0, 2, 10, 0, PF_COST_STANDARD, NULL);
    message(cost, 0, 2, 4096, 0, PF_COST_STANDARD, NULL);
    message(cost, 0, 3, 4096, 0, PF_COST_STANDARD, NULL);
    message(cost, 0, 1, 10, 0, PF_COST_STANDARD, NULL);
    FILE *out = open_memstream(&text, &size);
    pf_cost_explain(cost, out);
    fclose(out);
    static const char *const parts[] = {
        "analytic model: loggps",
        "5 ranks on 4 nodes",
        "network: 3 messages",
        "memory of a node: 1 messages",
        "1 KiB and more, rendezvous: 2 messages, 8192 bytes\n    arrives after 5 us + 1 x path latency + m / "
        "1 GB/s",
        "bandwidth[1 KiB] = 1 GB/s",
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strstr(text, parts[i]))
            fail_msg("'%s' is missing in:\n%s", parts[i], text);
    free(text);
    pf_cost_free(cost);
}

/* No message can be seen before, whatever its size and way, and the quickest one can be seen then. */
static void test_soonest(void **state)
{
    static const char *const parameters[] = {
        "",
        LOGGP,
        "eager_max = 1 KiB; protocol = get",
        "eager_max = 1 KiB; protocol = rendezvous; control_latency = 300 ns",
        "eager_max = 1 KiB; protocol = meet",
        "eager = meet",
        "latency = 3 us; latency[100 B] = 1 us; bandwidth = 1 GB/s",
        "latency_factor[4 B] = 2; latency_factor[1 KiB] = 0.5; latency_factor[2 KiB] = 0.5; time = 3 us; "
        "time[1 KiB] = 4 us",
    };
    (void)state;
    for (size_t p = 0; p < sizeof parameters / sizeof parameters[0]; p++) {
        for (int src = 0; src < 5; src++) {
            struct pf_cost *cost = make(parameters[p]);
            double soonest = pf_cost_soonest(cost, src, 1), first = INFINITY;
            for (size_t bytes = 0; bytes < 3000; bytes++) {
                struct pf_cost_sent sent;
                pf_cost_send(cost, src, 1, bytes, (double)bytes, PF_COST_STANDARD, &sent);
                first = fmin(first, sent.arrival - sent.returns);
            }
            if (soonest > first + 1e-12 || soonest < first - 1e-12)
                fail_msg("'%s' from %d: %.17g, but the first is seen after %.17g", parameters[p], src,
                         soonest, first);
            pf_cost_free(cost);
        }
    }
}

static struct {
    uint64_t messages;
    double bytes;
} carried[4][4];

static void carry(void *context, int src, int dst, uint64_t messages, double bytes)
{
    assert_ptr_equal(context, carried);
    carried[src][dst].messages += messages;
    carried[src][dst].bytes += bytes;
}

/* What nodes send to each other, once each; nothing within a node. */
static void test_carry(void **state)
{
    struct pf_cost *cost = make("");
    struct pf_cost_sent sent;
    struct pf_cost_access access;
    (void)state;
    pf_cost_carry(cost, carry, carried);
    message(cost, 0, 1, 1000, 0, PF_COST_STANDARD, &sent);
    for (int i = 1; i <= 3; i++)
        message(cost, 1, 3, 100, 0, PF_COST_SYNCHRONOUS, &sent);
    pf_cost_carried(cost);
    pf_cost_put(cost, 4, 0, 7, 1, false, &access);
    pf_cost_carried(cost);
    pf_cost_carried(cost);
    for (int src = 0; src < 4; src++)
        for (int dst = 0; dst < 4; dst++) {
            bool many = src == 0 && dst == 2, put = src == 3 && dst == 0;
            assert_int_equal(carried[src][dst].messages, many ? 3 : put);
            NEAR(carried[src][dst].bytes, many ? 300 : put ? 7 : 0);
        }
    pf_cost_free(cost);
    cost = make("eager_max = 1 KiB; protocol = get");
    pf_cost_carry(cost, carry, carried);
    message(cost, 3, 4, 2000, 5, PF_COST_STANDARD, &sent); /* its data leave twice */
    pf_cost_carried(cost);
    assert_int_equal(carried[2][3].messages, 2);
    NEAR(carried[2][3].bytes, 4000);
    pf_cost_free(cost);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_platform),    cmocka_unit_test(test_loggp),
        cmocka_unit_test(test_processors),  cmocka_unit_test(test_nic),
        cmocka_unit_test(test_loggps),      cmocka_unit_test(test_smp),
        cmocka_unit_test(test_sizes),       cmocka_unit_test(test_topologies),
        cmocka_unit_test(test_explain),     cmocka_unit_test(test_path_back),
        cmocka_unit_test(test_get_in_vain), cmocka_unit_test(test_heads),
        cmocka_unit_test(test_together),    cmocka_unit_test(test_eager_meets),
        cmocka_unit_test(test_soonest),     cmocka_unit_test(test_carry),
        cmocka_unit_test(test_many_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
