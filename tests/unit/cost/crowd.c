/* SPDX-License-Identifier: BSD-3-Clause */
/* What messages wait for links, and how much later the run is for it, in closed forms. */
#include "adapters/analytic/cost/cost.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/config.h"

enum { RANKS = 16 };

static const char *phase = "first";

static const char *phase_of(int rank)
{
    (void)rank;
    return phase;
}

/* All pairs share link 8, each node has one of its own. */
static int bus(void *context, int src, int dst, struct pf_cost_link *links, int room)
{
    (void)context;
    if (room < 3)
        return 3;
    links[0] = (struct pf_cost_link){16 + src, 1e9};
    links[1] = (struct pf_cost_link){8, 1e9};
    links[2] = (struct pf_cost_link){48 + dst, 1e9};
    return 3;
}

static void route(void *context, int src, int dst, double *latency, double *bandwidth)
{
    (void)context;
    *latency = src == dst ? 0 : 2e-6;
    *bandwidth = 1e9;
}

/* Messages of 1 MB, which takes 1 ms on a link, from even ranks to their neighbours at `now` ms. */
static void send(struct pf_cost *cost, int messages, double now)
{
    struct pf_cost_received received;
    for (int i = 0; i < messages; i++)
        pf_cost_message(cost, 2 * i, 2 * i + 1, 1000000, now * 1e-3, 0, PF_COST_STANDARD, NULL, &received);
}

static struct pf_cost *fresh(const char *parameters)
{
    char why[600];
    int nodes[RANKS];
    for (int i = 0; i < RANKS; i++)
        nodes[i] = i;
    assert_true(pf_config_set("analytic_set", parameters));
    struct pf_cost *cost = pf_cost_new(RANKS, nodes, route, bus, NULL, why, sizeof why);
    if (!cost)
        fail_msg("'%s': %s", parameters, why);
    pf_cost_watch(cost, phase_of);
    return cost;
}

/* All routes are known from earlier messages. */
static struct pf_cost *make(const char *parameters)
{
    struct pf_cost *cost = fresh(parameters);
    send(cost, RANKS / 2, -100);
    return cost;
}

static void expect(struct pf_cost *cost, double ms, const char *name)
{
    struct pf_cost_crowded crowded = pf_cost_crowded(cost);
    if (fabs(crowded.seconds - ms * 1e-3) > 1e-9)
        fail_msg("%.9g s, expected %g ms", crowded.seconds, ms);
    if (!name != !crowded.phase)
        fail_msg("phase %s, expected %s", crowded.phase ? crowded.phase : "none", name ? name : "none");
    if (name)
        assert_string_equal(crowded.phase, name);
    pf_cost_free(cost);
}

static void test_phases(void **state)
{
    (void)state;
    struct pf_cost *cost = make("model = loggp; contention = nic");
    for (int i = 0; i < 5; i++) /* one at a time */
        send(cost, 1, 10 * i);
    expect(cost, 0, NULL);

    cost = make("model = loggp; contention = nic");
    phase = "first";
    send(cost, 2, 0); /* both end after 1 ms, and the bus needs 2 */
    phase = "second";
    send(cost, 4, 20); /* the second leaves 1 ms later now: the bus is not free for the fourth before 23 ms */
    expect(cost, 3, "second");

    phase = "first";
    cost = make("model = loggp; contention = nic");
    send(cost, 2, 0);
    send(cost, 1, 10); /* the rank that is not late comes to the end last */
    expect(cost, 0, "first");
}

/* Three at a time, the first that ever cross the bus: they do so one after the other. */
static void test_arrivals(void **state)
{
    (void)state;
    struct pf_cost *cost = fresh("model = loggp; contention = nic");
    for (int i = 0; i < 3; i++) {
        struct pf_cost_received received;
        pf_cost_message(cost, 2 * i, 2 * i + 1, 1000000, 0, 0, PF_COST_STANDARD, NULL, &received);
        assert_true(fabs(received.arrival - (1 + i) * 1e-3) < 1e-5);
    }
    pf_cost_free(cost);
}

/* Traffic that never pauses: the bus needs four times as long. */
static void test_no_pause(void **state)
{
    (void)state;
    struct pf_cost *cost = make("model = loggp; contention = nic");
    for (int i = 0; i < 100; i++)
        send(cost, 4, i);
    assert_true(fabs(pf_cost_crowded(cost).seconds - 0.3) < 0.01);
    pf_cost_free(cost);
}

/* Rank 2 is farther away than the others. */
static void far(void *context, int src, int dst, double *latency, double *bandwidth)
{
    route(context, src, dst, latency, bandwidth);
    *latency = src == 2 ? 100e-6 : *latency;
}

/* Messages that leave at the same date share the NIC from then on, wherever they come from. */
static void test_shared_nic(void **state)
{
    (void)state;
    char why[600];
    int nodes[RANKS];
    struct pf_cost_sent sent[3];
    for (int i = 0; i < RANKS; i++)
        nodes[i] = i;
    assert_true(pf_config_set("analytic_set",
                              "model = loggps; protocol = portals; contention = nic; together = share; "
                              "share_above = 4 kB; eager_max = 4 kB"));
    struct pf_cost *cost = pf_cost_new(RANKS, nodes, far, bus, NULL, why, sizeof why);
    assert_non_null(cost);
    pf_cost_send(cost, 1, 0, 1000000, 0, PF_COST_STANDARD, &sent[0]);
    pf_cost_send(cost, 2, 0, 1000000, 0, PF_COST_STANDARD, &sent[1]);
    pf_cost_send(cost, 3, 0, 1000000, 0, PF_COST_STANDARD, &sent[2]);
    assert_true(fabs(pf_cost_late(cost, &sent[0].inflow) - 2.047e-3) < 1e-6);
    pf_cost_free(cost);
}

/* The lesser of what comes in time and of what comes too early, on one node. */
static void test_undecided(void **state)
{
    (void)state;
    struct pf_cost *cost = fresh("model = loggps; protocol = portals; contention = nic; eager_max = 4 kB");
    struct pf_cost_received received;
    phase = "first";
    for (int i = 0; i < 3; i++) {
        pf_cost_message(cost, 1, 0, 1000000, 0.01 * i, 0.01 * i, PF_COST_STANDARD, NULL, &received);
        assert_false(received.again);
    }
    assert_true(pf_cost_undecided(cost).seconds == 0);
    phase = "second";
    for (int i = 0; i < 2; i++) {
        pf_cost_message(cost, 1, i, 1000000, 0.1 + 0.01 * i, 0.105 + 0.01 * i, PF_COST_STANDARD, NULL,
                        &received);
        assert_true(received.again || i == 1); /* the second does not leave its node */
    }
    assert_true(fabs(pf_cost_undecided(cost).seconds - 1.0235e-3) < 1e-6);
    assert_string_equal(pf_cost_undecided(cost).phase, "second");
    pf_cost_free(cost);
}

/* Where all share what their NICs have, or links are waited for, there is nothing to report. */
static void test_nothing(void **state)
{
    (void)state;
    static const char *const cases[] = {"model = loggp; contention = link", "model = loggp"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pf_cost *cost = make(cases[i]);
        send(cost, 4, 0);
        expect(cost, 0, NULL);
    }
    struct pf_cost *cost = make("model = loggp; contention = nic");
    struct pf_cost_received received;
    for (int src = 1; src < RANKS; src++) /* into one node */
        pf_cost_message(cost, src, 0, 1000000, 0, 0, PF_COST_STANDARD, NULL, &received);
    expect(cost, 0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phases),     cmocka_unit_test(test_arrivals),  cmocka_unit_test(test_no_pause),
        cmocka_unit_test(test_shared_nic), cmocka_unit_test(test_undecided), cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
