/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that compete for links and buses, against closed forms. Each expectation is the time of the same
 * message alone plus the bytes of others that pass through the bottleneck before its own last byte: exact but
 * for acknowledgements, which share the links too.
 */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>

static const double wire = 11.1e9, bus = 15.75e9;
static const double exact = 1e-4; /* relative; a message of 1 MiB is 3,000 acknowledgements long */

/* And, over packets, for so many of them: equal shares are turns of a packet each. */
static void assert_near(double value, double expected, double tolerance, int packets, double rate)
{
    plan_assert_near(value, expected, tolerance + packets * world_packet() / rate / expected);
}

/* On the wire: one header, and more per further packet (nic_header_bytes, nic_packet_overhead). */
static double wire_bytes(size_t bytes)
{
    return (double)(bytes + 64 + (bytes - 1) / 512 * 12);
}

static double alone(const struct world *world, size_t bytes)
{
    struct world two = *world;
    two.nodes = 2;
    two.ranks_per_node = 1;
    two.platform = NULL;
    const struct exchange one[] = {{0, 1, bytes, 1}, {0, 0, 0, 0}};
    return plan_run(&two, one)[0];
}

/* One message to the next node each: every link carries one message per direction. */
static void test_ring_of_256(void **state)
{
    (void)state;
    enum { NODES = 256 };
    struct world world = {.nodes = NODES};
    struct exchange ring[NODES + 1] = {0};
    double expected = alone(&world, MIB);
    for (int i = 0; i < NODES; i++)
        ring[i] = (struct exchange){i, (i + 1) % NODES, MIB, 1};
    const double *times = plan_run(&world, ring);
    for (int rank = 0; rank < NODES; rank++)
        plan_assert_near(times[rank], expected, exact);
    plan_assert_between(times[0], MIB / wire, 104e-6); /* a half-duplex link would need twice as long */
}

/* Many messages in both directions between two nodes: each direction has the whole rate. */
static void test_full_duplex(void **state)
{
    (void)state;
    enum { COUNT = 8 };
    static const struct exchange both[] = {{0, 1, MIB, COUNT}, {1, 0, MIB, COUNT}, {0, 0, 0, 0}};
    static const struct exchange one_way[] = {{0, 1, MIB, COUNT}, {0, 0, 0, 0}};
    double expected = plan_run_star(one_way, 2, 1)[0];
    plan_assert_between(expected, COUNT * wire_bytes(MIB) / wire, COUNT * wire_bytes(MIB) / wire + 3.5e-6);
    const double *times = plan_run_star(both, 2, 1);
    plan_assert_near(times[0], expected, exact);
    plan_assert_near(times[1], expected, exact);
}

/* k senders to one node: equal shares, so all end together. */
static void test_incast(void **state)
{
    (void)state;
    struct world world = {.nodes = 17};
    double expected = alone(&world, MIB);
    for (int senders = 2; senders <= 16; senders *= 2) {
        struct exchange in[17] = {0};
        for (int i = 0; i < senders; i++)
            in[i] = (struct exchange){i + 1, 0, MIB, 1};
        const double *times = plan_run(&world, in);
        for (int rank = 1; rank <= senders; rank++)
            plan_assert_near(times[rank], expected + (senders - 1) * wire_bytes(MIB) / wire, exact);
    }
}

/* Messages of 1, 2 and 4 MiB into one node: each leaves when it and its equal parts of the others are
 * through. */
static void test_incast_of_mixed_sizes(void **state)
{
    (void)state;
    static const struct exchange in[] = {
        {1, 0, MIB, 1}, {2, 0, 2 * MIB, 1}, {3, 0, 4 * MIB, 1}, {0, 0, 0, 0}};
    struct world world = {.nodes = 4};
    double base = alone(&world, MIB) - wire_bytes(MIB) / wire; /* all but the streaming */
    double one = wire_bytes(MIB) / wire, two = wire_bytes(2 * MIB) / wire, four = wire_bytes(4 * MIB) / wire;
    const double *times = plan_run(&world, in);
    plan_assert_near(times[1], base + 3 * one, exact);
    plan_assert_near(times[2], base + one + 2 * two, exact);
    plan_assert_near(times[3], base + one + two + four, exact);
}

/* Small messages do not go through the solver. They load the links that they cross all the same: the long
 * message loses what they take, and another long one on other links loses nothing. */
static void test_small_with_large(void **state)
{
    (void)state;
    enum { SMALL = 1024, COUNT = 1500 };
    static const struct exchange plan[] = {
        {1, 0, 8 * MIB, 1}, {2, 0, SMALL, COUNT}, {3, 4, 8 * MIB, 1}, {0, 0, 0, 0}};
    struct world world = {.nodes = 5};
    double expected = alone(&world, 8 * MIB);
    /* For the acknowledgement of each, on the same way; over packets it loads no link. */
    const double e2e_ack = world_packet() > 0 ? 0 : 32;
    double small = COUNT * (wire_bytes(SMALL) + e2e_ack) / wire;
    const double *times = plan_run(&world, plan);
    plan_assert_near(times[1], expected + small, 3e-3);
    plan_assert_near(times[3], expected, exact);
}

/* Two pairs of nodes whose ways cross one slow link. */
static void test_shared_middle_link(void **state)
{
    (void)state;
    static const char platform[] =
        "<zone id=\"w\" routing=\"Full\">\n"
        "<host id=\"node-0\" speed=\"1Gf\"/><host id=\"node-1\" speed=\"1Gf\"/>\n"
        "<host id=\"node-2\" speed=\"1Gf\"/><host id=\"node-3\" speed=\"1Gf\"/>\n"
        "<link id=\"a\" bandwidth=\"11.1GBps\" latency=\"100ns\" sharing_policy=\"SPLITDUPLEX\"/>\n"
        "<link id=\"b\" bandwidth=\"11.1GBps\" latency=\"100ns\" sharing_policy=\"SPLITDUPLEX\"/>\n"
        "<link id=\"middle\" bandwidth=\"4GBps\" latency=\"300ns\" sharing_policy=\"SPLITDUPLEX\"/>\n"
        "<route src=\"node-0\" dst=\"node-2\"><link_ctn id=\"a\" direction=\"UP\"/>"
        "<link_ctn id=\"middle\" direction=\"UP\"/></route>\n"
        "<route src=\"node-1\" dst=\"node-3\"><link_ctn id=\"b\" direction=\"UP\"/>"
        "<link_ctn id=\"middle\" direction=\"UP\"/></route>\n"
        "</zone>\n";
    struct world world = {.nodes = 4, .platform = platform};
    static const struct exchange one[] = {{0, 2, MIB, 1}, {0, 0, 0, 0}};
    static const struct exchange two[] = {{0, 2, MIB, 1}, {1, 3, 3 * MIB, 1}, {0, 0, 0, 0}};
    static const struct exchange against[] = {{0, 2, MIB, 1}, {3, 1, MIB, 1}, {0, 0, 0, 0}};
    const double slow = 4e9;
    double expected = plan_run(&world, one)[0];
    plan_assert_between(expected, wire_bytes(MIB) / slow, wire_bytes(MIB) / slow + 3.5e-6);
    const double *times = plan_run(&world, two);
    assert_near(times[0], expected + wire_bytes(MIB) / slow, exact, 1, slow);
    assert_near(times[1], expected + wire_bytes(3 * MIB) / slow, exact, 1, slow);
    times = plan_run(&world, against); /* the other direction is another link */
    plan_assert_near(times[0], expected, exact);
    plan_assert_near(times[3], expected, exact);
}

/* Short messages of two pairs of nodes, which wait at their own slow links, cross a fast one at dates to
 * come: there is room for both. */
static void test_fast_middle_link(void **state)
{
    (void)state;
    static const char platform[] =
        "<zone id=\"w\" routing=\"Full\">\n"
        "<host id=\"node-0\" speed=\"1Gf\"/><host id=\"node-1\" speed=\"1Gf\"/>\n"
        "<host id=\"node-2\" speed=\"1Gf\"/><host id=\"node-3\" speed=\"1Gf\"/>\n"
        "<link id=\"a\" bandwidth=\"1GBps\" latency=\"100ns\" sharing_policy=\"SPLITDUPLEX\"/>\n"
        "<link id=\"b\" bandwidth=\"4GBps\" latency=\"100ns\" sharing_policy=\"SPLITDUPLEX\"/>\n"
        "<link id=\"middle\" bandwidth=\"10GBps\" latency=\"300ns\" sharing_policy=\"SPLITDUPLEX\"/>\n"
        "<route src=\"node-0\" dst=\"node-2\"><link_ctn id=\"a\" direction=\"UP\"/>"
        "<link_ctn id=\"middle\" direction=\"UP\"/></route>\n"
        "<route src=\"node-1\" dst=\"node-3\"><link_ctn id=\"b\" direction=\"UP\"/>"
        "<link_ctn id=\"middle\" direction=\"UP\"/></route>\n"
        "</zone>\n";
    struct world world = {.nodes = 4, .platform = platform};
    static const struct exchange one[] = {{0, 2, 2000, 500}, {0, 0, 0, 0}};
    static const struct exchange other[] = {{1, 3, 2000, 500}, {0, 0, 0, 0}};
    static const struct exchange two[] = {{0, 2, 2000, 500}, {1, 3, 2000, 500}, {0, 0, 0, 0}};
    double first = plan_run(&world, one)[0], second = plan_run(&world, other)[1];
    const double *times = plan_run(&world, two);
    plan_assert_near(times[0], first, 1e-3);
    plan_assert_near(times[1], second, 1e-3);
}

/* Links are wide here, so that PCIe is the bottleneck: ranks of one host share it, each direction for
 * itself. */
static void test_shared_bus(void **state)
{
    (void)state;
    enum { RANKS = 4, HOSTS = 5 };
    struct world world = {.nodes = HOSTS, .ranks_per_node = RANKS, .bandwidth = 1e12};
    double expected = alone(&world, MIB), one = wire_bytes(MIB) / bus;
    plan_assert_between(expected, one, one + 3.5e-6);
    struct exchange out[RANKS + 1] = {0}, in[RANKS + 1] = {0}, both[2 * RANKS + 1] = {0};
    for (int i = 0; i < RANKS; i++) {
        out[i] = both[i] = (struct exchange){i, (i + 1) * RANKS, MIB, 1};
        in[i] = both[RANKS + i] = (struct exchange){(i + 1) * RANKS, i, MIB, 1};
    }
    const double *times = plan_run(&world, out);
    for (int i = 0; i < RANKS; i++)
        assert_near(times[i], expected + (RANKS - 1) * one, 1e-3, RANKS, bus);
    times = plan_run(&world, in);
    for (int i = 1; i <= RANKS; i++)
        assert_near(times[i * RANKS], expected + (RANKS - 1) * one, 1e-3, RANKS, bus);
    times = plan_run(&world, both);
    for (int i = 0; i < RANKS; i++) {
        assert_near(times[i], expected + (RANKS - 1) * one, 1e-3, RANKS, bus);
        assert_near(times[(i + 1) * RANKS], expected + (RANKS - 1) * one, 1e-3, RANKS, bus);
    }
}

/* Streams behind a short message that waits for links: they leave before it arrives, and yet come after it
 * and in order. Out of order they would be refused, and sent again ten seconds later. */
static void test_streams_behind_a_queue(void **state)
{
    (void)state;
    enum { NODES = 60 };
    struct world world = {.nodes = NODES};
    struct exchange in[NODES + 2] = {0};
    int count = 0;
    for (int i = 2; i < NODES; i++)
        in[count++] = (struct exchange){i, 1, 3500, 1};
    in[count++] = (struct exchange){0, 1, 3500, 1};
    in[count++] = (struct exchange){0, 1, 5000, 4};
    plan_assert_between(plan_run(&world, in)[0], 5 * 3500 / wire, 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_of_256),
        cmocka_unit_test(test_full_duplex),
        cmocka_unit_test(test_incast),
        cmocka_unit_test(test_incast_of_mixed_sizes),
        cmocka_unit_test(test_small_with_large),
        cmocka_unit_test(test_shared_middle_link),
        cmocka_unit_test(test_fast_middle_link),
        cmocka_unit_test(test_shared_bus),
        cmocka_unit_test(test_streams_behind_a_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
