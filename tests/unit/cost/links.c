/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that share links, in closed forms, and the routes by arithmetic against their hops. */
#include "adapters/analytic/cost/routes/links.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "adapters/analytic/cost/cost.h"
#include "base/config.h"

enum { RANKS = 16 };

/* A bus: every pair of nodes shares link 0; node 3 has a link of its own before it, half as fast. */
static int links_asked;

static int bus(void *context, int src, int dst, struct pf_cost_link *links, int room)
{
    (void)context;
    (void)src;
    links_asked++;
    if (room < 2)
        return 2;
    links[0] = (struct pf_cost_link){0, 1e9};
    links[1] = (struct pf_cost_link){7, 0.5e9};
    return dst == 3 ? 2 : 1;
}

static void route(void *context, int src, int dst, double *latency, double *bandwidth)
{
    (void)context;
    *latency = src == dst ? 0 : 2e-6;
    *bandwidth = dst == 3 ? 0.5e9 : 1e9;
}

static struct pf_cost *make_of(const char *parameters, pf_cost_links_fn *links)
{
    char why[600];
    int nodes[RANKS];
    for (int i = 0; i < RANKS; i++)
        nodes[i] = i;
    assert_true(pf_config_set("analytic_set", parameters));
    struct pf_cost *cost = pf_cost_new(RANKS, nodes, route, links, NULL, why, sizeof why);
    if (!cost)
        fail_msg("'%s': %s", parameters, why);
    return cost;
}

static struct pf_cost *make(const char *topology)
{
    char text[300];
    snprintf(text, sizeof text,
             "model = loggp; contention = link; link_latency = 1 us; link_bandwidth = 1 GB/s; topology = %s",
             topology);
    return make_of(text, NULL);
}

/* When a message of 1 MB that is sent at `now` ms is there, in us after 0. */
static double arrival(struct pf_cost *cost, int src, int dst, double now)
{
    struct pf_cost_received received;
    pf_cost_message(cost, src, dst, 1000000, now * 1e-3, 0, PF_COST_STANDARD, NULL, &received);
    return received.arrival * 1e6;
}

static void near(double value, double expected, int line)
{
    if (fabs(value - expected) > 1e-6)
        fail_msg("line %d: %.9g us, expected %.9g us", line, value, expected);
}
#define NEAR(value, expected) near(value, expected, __LINE__)

/* One message takes a latency per hop and 1,000 us; a second one over the same link twice as long; those that
 * share no link do not delay each other. */
static void test_flows(void **state)
{
    (void)state;
    struct pf_cost *cost = make("ring");
    NEAR(arrival(cost, 0, 2, 0), 1002);
    NEAR(arrival(cost, 1, 2, 0), 2001);   /* 1 us of it before the head of the first one is there */
    NEAR(arrival(cost, 2, 1, 0), 1001);   /* the other direction */
    NEAR(arrival(cost, 5, 7, 0), 1002);   /* elsewhere */
    NEAR(arrival(cost, 1, 2, 10), 11001); /* later */
    pf_cost_free(cost);

    cost = make("star");
    for (int src = 1; src < RANKS; src++) /* all to one: one after the other */
        NEAR(arrival(cost, src, 0, 0), 1000 * src + 2);
    NEAR(arrival(cost, 0, 1, 0), 1002);
    pf_cost_free(cost);

    cost = make("star");
    for (int src = 0; src < RANKS; src += 2) /* pairs */
        NEAR(arrival(cost, src, src + 1, 0), 1002);
    pf_cost_free(cost);

    cost = make("tree:4,2"); /* four leaves have one link out of their subtree */
    for (int src = 0; src < 4; src++)
        NEAR(arrival(cost, src, 4 + src, 0), 1000 * (src + 1) + 4);
    NEAR(arrival(cost, 8, 9, 0), 1002);
    pf_cost_free(cost);

    cost = make("fattree:4x4"); /* as many links as leaves: only those for the same leaf meet */
    for (int src = 0; src < 4; src++)
        NEAR(arrival(cost, src, 4 + src, 0), 1004);
    NEAR(arrival(cost, 8, 4, 0), 2004);
    pf_cost_free(cost);

    cost = make("dragonfly:2,2,2,4"); /* one link from group 0 to group 1 */
    NEAR(arrival(cost, 0, 4, 0), 1003);
    NEAR(arrival(cost, 1, 5, 0), 2003);
    NEAR(arrival(cost, 8, 12, 0), 1005);
    pf_cost_free(cost);

    cost = make("dragonflyplus:2,3,3,1"); /* one link between two groups, three spines within one */
    NEAR(arrival(cost, 0, 6, 0), 1005);
    NEAR(arrival(cost, 2, 7, 0), 2004 + 1); /* the head waits at the global link */
    NEAR(arrival(cost, 12, 14, 0), 1004);
    NEAR(arrival(cost, 13, 15, 0), 1004);
    pf_cost_free(cost);
}

static void test_platform(void **state)
{
    (void)state;
    struct pf_cost *cost = make_of("model = loggp; contention = link", bus);
    links_asked = 0;
    NEAR(arrival(cost, 0, 1, 0), 1002);
    NEAR(arrival(cost, 2, 1, 0), 2002);
    NEAR(arrival(cost, 4, 3, 0),
         1000 + 2002); /* alone it has 2000 for the faster link, and would now need 3000 */
    NEAR(arrival(cost, 5, 3, 0), 2000 + 1000 + 2002); /* it waits at both */
    assert_int_equal(links_asked, 4);
    NEAR(arrival(cost, 0, 1, 10), 11002);
    assert_int_equal(links_asked, 4); /* once per pair */
    pf_cost_free(cost);

    cost = make_of("model = loggp", bus); /* off by default */
    NEAR(arrival(cost, 0, 1, 0), 1002);
    NEAR(arrival(cost, 2, 1, 0), 1002);
    pf_cost_free(cost);
}

/* Nodes of 1 GB/s behind two switches of 2 GB/s, between which all meet. */
static int switches(void *context, int src, int dst, struct pf_cost_link *links, int room)
{
    (void)context;
    assert_true(room >= 4);
    links[0] = (struct pf_cost_link){10 + src, 1e9};
    links[1] = (struct pf_cost_link){1, 2e9};
    links[2] = (struct pf_cost_link){2, 2e9};
    links[3] = (struct pf_cost_link){30 + dst, 1e9};
    return 4;
}

/* 1,000 bytes take 1 us alone. */
static double passes(struct pf_links *links, int src, double start)
{
    return pf_links_pass(links, src, src + 1, 1000, start, 1e-6) * 1e6;
}

static void test_pass(void **state)
{
    (void)state;
    struct pf_links *links = pf_links_of_platform(RANKS, false, switches, NULL);
    NEAR(passes(links, 0, 0), 0);
    NEAR(passes(links, 2, 0), 0.5); /* of its head: the last link begins so much later */
    NEAR(passes(links, 4, 0), 1);   /* not at both switches */
    NEAR(passes(links, 6, 0), 1.5);
    NEAR(passes(links, 0, 1), 0); /* later */
    for (int i = 0; i < 3; i++)
        pf_links_wait(links, 2 * i, 2 * i + 1, 1e6, 1, 1e-3);
    NEAR(passes(links, 0, 1),
         1.5); /* behind a short one, and with three long ones, at both switches at once */
    NEAR(passes(links, 0, 2), 0);
    pf_links_free(links);

    links = pf_links_of_platform(RANKS, false, switches, NULL);
    for (int src = 0; src < RANKS; src += 2) /* pair after pair, all at the same dates */
        for (int i = 0; i < 100; i++)
            assert_true(passes(links, src, i * 10e-6) <= 3.5 + 1e-6);
    for (int src = 0; src < RANKS; src += 2)
        for (int i = 0; i < 100; i++)
            assert_true(pf_links_wait(links, src, src + 1, 1e6, 1 + i * 10e-3, 1e-3) <= 3.5e-3 + 1e-9);
    pf_links_free(links);
}

static void refused(const char *parameters, const char *reason)
{
    char why[600];
    int nodes[2] = {0, 1};
    assert_true(pf_config_set("analytic_set", parameters));
    assert_null(pf_cost_new(2, nodes, route, NULL, NULL, why, sizeof why));
    if (!strstr(why, reason))
        fail_msg("'%s': '%s' does not say '%s'", parameters, why, reason);
}

static void test_refused(void **state)
{
    (void)state;
    refused("contention = link", "the links of the platform are not known");
    refused("contention = link; topology = star; link_latency = 1 us; bandwidth = 1 GB/s", "link_bandwidth");
    refused("contention = link; topology = star; link_latency = 1 us; link_bandwidth = unlimited",
            "not unlimited");
    refused("contention = links", "is none of: none nic link");
    refused("contention = link; topology = torus:200x100x100; link_latency = 1 us; link_bandwidth = 1 GB/s",
            "too many links");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flows),
        cmocka_unit_test(test_platform),
        cmocka_unit_test(test_pass),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
