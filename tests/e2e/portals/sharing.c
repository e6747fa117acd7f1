/* SPDX-License-Identifier: BSD-3-Clause */
/* How messages share links and buses, against closed forms. */
#include "plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)
#define ENTRY      (PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE)

static const double wire = 11.1e9;
/* Latencies of one message besides the streaming, and headers: what closed forms do not count. */
static const double latency = 3.5e-6;
static const double header_share = 0.03;

static void assert_streams(double value, double bytes, double bandwidth)
{
    plan_assert_between(value, bytes / bandwidth, bytes / bandwidth * (1 + header_share) + latency);
}

static void test_alone(void **state)
{
    (void)state;
    static const struct exchange one[] = {{0, 1, MIB, 1}, {0, 0, 0, 0}};
    assert_streams(plan_run_star(one, 2, 1)[0], MIB, wire);
}

static void test_full_duplex(void **state)
{
    (void)state;
    static const struct exchange both[] = {{0, 1, MIB, 1}, {1, 0, MIB, 1}, {0, 0, 0, 0}};
    const double *times = plan_run_star(both, 2, 1);
    assert_streams(times[0], MIB, wire);
    assert_streams(times[1], MIB, wire);
}

static void test_ring(void **state)
{
    (void)state;
    static const struct exchange ring[] = {
        {0, 1, MIB, 1}, {1, 2, MIB, 1}, {2, 3, MIB, 1}, {3, 0, MIB, 1}, {0, 0, 0, 0}};
    const double *times = plan_run_star(ring, 4, 1);
    for (int rank = 0; rank < 4; rank++)
        assert_streams(times[rank], MIB, wire);
}

static void test_incast(void **state)
{
    (void)state;
    static const struct exchange in[] = {
        {1, 0, MIB, 1}, {2, 0, MIB, 1}, {3, 0, MIB, 1}, {4, 0, MIB, 1}, {0, 0, 0, 0}};
    const double *times = plan_run_star(in, 5, 1);
    for (int rank = 1; rank < 5; rank++)
        assert_streams(times[rank], 4.0 * MIB, wire);
}

/* One short and one long message into one node: first half each, then the long one alone. */
static void test_incast_unequal(void **state)
{
    (void)state;
    static const struct exchange in[] = {{1, 0, MIB, 1}, {2, 0, 3 * MIB, 1}, {0, 0, 0, 0}};
    const double *times = plan_run_star(in, 3, 1);
    assert_streams(times[1], 2.0 * MIB, wire);
    assert_streams(times[2], 4.0 * MIB, wire);
}

/* Node 1 sends to 0 and 2, node 3 to 2 as well: max-min gives each one half. */
static void test_chain(void **state)
{
    (void)state;
    static const struct exchange chain[] = {{1, 0, MIB, 1}, {1, 2, MIB, 1}, {3, 2, MIB, 1}, {0, 0, 0, 0}};
    const double *times = plan_run_star(chain, 4, 1);
    assert_streams(times[3], 2.0 * MIB, wire);
    assert_streams(times[1], 2.0 * MIB, wire);
}

/* Small messages that do not go through the solver still take their bytes from the flows. Packets take turns
 * whatever their size: the two of a small message (with its headers it is longer than one) wait for two of
 * the long one. */
static void test_incast_mixed(void **state)
{
    (void)state;
    enum { SMALL = 2048, COUNT = 1000 };
    static const struct exchange in[] = {{1, 0, 4 * MIB, 1}, {2, 0, SMALL, COUNT}, {0, 0, 0, 0}};
    const double *times = plan_run_star(in, 3, 1);
    double total = 4.0 * MIB + SMALL * COUNT;
    plan_assert_between(times[1], total / wire, total / wire * 1.08 + latency);
    double fair = (SMALL + fmax(SMALL, 2.0 * world_packet())) * COUNT / wire;
    plan_assert_between(times[2], fair, fair * 1.1 + 2 * latency);
}

/* Each small message of many nodes has its share as the flows have theirs, not all of them one. */
static void test_incast_crowd(void **state)
{
    (void)state;
    enum { SMALL = 2048, COUNT = 100, FLOWS = 4, NODES = 13 };
    struct exchange in[NODES] = {{0, 0, 0, 0}};
    for (int node = 1; node < NODES; node++)
        in[node - 1] =
            node <= FLOWS ? (struct exchange){node, 0, 4 * MIB, 1} : (struct exchange){node, 0, SMALL, COUNT};
    const double *times = plan_run_star(in, NODES, 1);
    double fair = (SMALL + (NODES - 2) * fmax(SMALL, 2.0 * world_packet())) * COUNT / wire;
    for (int node = FLOWS + 1; node < NODES; node++)
        plan_assert_between(times[node], SMALL * COUNT / wire, fair * 1.1 + 2 * latency);
}

/* Ranks of one node share its NIC and link. */
static void test_shared_nic(void **state)
{
    (void)state;
    static const struct exchange out[] = {{0, 2, MIB, 1}, {1, 3, MIB, 1}, {0, 0, 0, 0}};
    const double *times = plan_run_star(out, 2, 2);
    plan_assert_between(times[0], MIB / wire, 2.0 * MIB / wire * (1 + header_share) + latency);
    assert_streams(times[1] > times[0] ? times[1] : times[0], 2.0 * MIB, wire);
}

/* Within a node the bus is the limit, in both directions at once. */
static void test_loopback(void **state)
{
    (void)state;
    static const struct exchange self[] = {{0, 1, MIB, 1}, {0, 0, 0, 0}};
    assert_streams(plan_run_star(self, 1, 2)[0], MIB, 15.75e9);
}

/* A link that goes down for a while: the message is sent again and delivered once. */
static void program_fault(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    char *data = calloc(1, 8 * MIB);
    memset(data, 1 + rank, 8 * MIB);
    endpoint_append(&e, data, 8 * MIB, ENTRY | PTL_ME_USE_ONCE, 1, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    if (rank == 0) {
        CHECK(PtlPut(e.md, (ptl_size_t)(uintptr_t)data, 8 * MIB, PTL_ACK_REQ, world_address(1), e.pt, 1, 0,
                     NULL, 0) == PTL_OK);
        endpoint_expect(&e, PTL_EVENT_SEND);
        endpoint_expect(&e, PTL_EVENT_ACK);
        *(double *)shared = simgrid_get_clock();
    } else {
        endpoint_expect(&e, PTL_EVENT_PUT);
        CHECK(data[8 * MIB - 1] == 1);
    }
    ptl_event_t event;
    CHECK(PtlEQGet(e.eq, &event) == PTL_EQ_EMPTY);
    endpoint_close(&e);
}

static void program_broken(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    static char data[100000];
    if (rank == 0) {
        sg_actor_sleep_for(1.0);
        ptl_event_t event;
        CHECK(PtlPut(e.md, (ptl_size_t)(uintptr_t)data, sizeof data, PTL_ACK_REQ, world_address(1), e.pt, 1,
                     0, NULL, 0) == PTL_OK);
        CHECK(PtlEQWait(e.eq, &event) == PTL_OK && event.ni_fail_type == PTL_NI_UNDELIVERABLE);
        CHECK(PtlEQWait(e.eq, &event) == PTL_OK && event.ni_fail_type == PTL_NI_UNDELIVERABLE);
        CHECK(event.type == PTL_EVENT_ACK);
    }
    endpoint_close(&e);
}

static void test_link_faults(void **state)
{
    (void)state;
    static const char *const quick[] = {"PARFOCAL_NIC_RETRY_TIMEOUT=1", NULL};
    struct world world = {.nodes = 2, .settings = quick, .down_link = "0.0001 0\n0.5 1\n"};
    assert_int_equal(world_run(&world, program_fault), 0);
    double time = *(double *)world_shared();
    plan_assert_between(time, 1.0001 + 8.0 * MIB / wire,
                        1.0001 + 8.0 * MIB / wire * (1 + header_share) + latency);
    world.down_link = "0.0001 0\n";
    assert_int_equal(world_run(&world, program_broken), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),          cmocka_unit_test(test_full_duplex),
        cmocka_unit_test(test_ring),           cmocka_unit_test(test_incast),
        cmocka_unit_test(test_incast_unequal), cmocka_unit_test(test_chain),
        cmocka_unit_test(test_incast_mixed),   cmocka_unit_test(test_incast_crowd),
        cmocka_unit_test(test_shared_nic),     cmocka_unit_test(test_loopback),
        cmocka_unit_test(test_link_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
