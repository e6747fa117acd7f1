/* SPDX-License-Identifier: BSD-3-Clause */
/* Single messages in flight against the figures of the peer simulator, which agree with hardware. */
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/engine.h>

#define ME_OPTIONS (PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE)

static size_t message_size;
static bool target_has_event; /* for each put */
enum { ROUNDS = 10 };

static void put(struct endpoint *e, void *buffer, int to, ptl_ack_req_t ack)
{
    CHECK(PtlPut(e->md, (ptl_size_t)(uintptr_t)buffer, message_size, ack, world_address(to), e->pt, 1, 0,
                 NULL, 0) == PTL_OK);
}

static void ping_pong(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    endpoint_open(&e, PTL_NI_MATCHING | PTL_NI_PHYSICAL, 0, 64);
    char *buffer = calloc(2, message_size);
    memset(buffer, 'a' + rank, message_size);
    ptl_md_t md = {.length = PTL_SIZE_MAX, .eq_handle = PTL_EQ_NONE, .ct_handle = PTL_CT_NONE};
    ptl_handle_md_t silent;
    CHECK(PtlMDBind(e.ni, &md, &silent) == PTL_OK);
    e.md = silent;
    endpoint_append(&e, buffer + message_size, message_size, ME_OPTIONS, 1, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    double start = simgrid_get_clock();
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 0)
            put(&e, buffer, 1, PTL_NO_ACK_REQ);
        endpoint_expect(&e, PTL_EVENT_PUT);
        CHECK(buffer[message_size] == 'b' - rank && buffer[2 * message_size - 1] == 'b' - rank);
        if (rank == 1)
            put(&e, buffer, 0, PTL_NO_ACK_REQ);
    }
    if (rank == 0)
        *(double *)shared = (simgrid_get_clock() - start) / ROUNDS / 2;
    endpoint_close(&e);
}

static void put_wait_ack(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    endpoint_open(&e, PTL_NI_MATCHING | PTL_NI_PHYSICAL, 0, 64);
    char *buffer = calloc(1, message_size);
    if (rank == 1)
        endpoint_append(&e, buffer, message_size,
                        ME_OPTIONS | (target_has_event ? 0 : PTL_ME_EVENT_COMM_DISABLE), 1, PTL_PRIORITY_LIST,
                        NULL);
    world_barrier();
    double start = simgrid_get_clock();
    for (int round = 0; rank == 0 && round < ROUNDS; round++) {
        put(&e, buffer, 1, PTL_ACK_REQ);
        endpoint_expect(&e, PTL_EVENT_SEND);
        endpoint_expect(&e, PTL_EVENT_ACK);
    }
    if (rank == 0)
        *(double *)shared = (simgrid_get_clock() - start) / ROUNDS;
    endpoint_close(&e);
}

static double measure(world_program program, size_t bytes)
{
    struct world world = {.nodes = 2};
    message_size = bytes;
    assert_int_equal(world_run(&world, program), 0);
    double time = *(double *)world_shared();
    print_message("%9zu B: %.9f s\n", bytes, time);
    return time;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (fabs(value - expected) > tolerance * expected)
        fail_msg("%.9f s instead of %.9f s +- %g %%", value, expected, 100 * tolerance);
}

/* The peer on its platform "quito": two links of 500 ns, PCIe of 250 ns. */
static void test_ping_pong(void **state)
{
    (void)state;
    static const struct {
        size_t bytes;
        double time;
    } peer[] = {{8, 1.767e-6},   {9, 2.224e-6},    {64, 2.232e-6},      {408, 2.289e-6},
                {409, 2.290e-6}, {4096, 2.648e-6}, {1 << 20, 101.45e-6}};
    for (size_t i = 0; i < sizeof peer / sizeof peer[0]; i++)
        assert_near(measure(ping_pong, peer[i].bytes), peer[i].time, 0.03);
}

/* The target's NIC writes its event before it acknowledges. */
static void test_wait_ack(void **state)
{
    (void)state;
    target_has_event = true;
    assert_near(measure(put_wait_ack, 8), 3.031e-6, 0.03);
    target_has_event = false;
    assert_near(measure(put_wait_ack, 8), 2.772e-6, 0.03);
}

/* More bytes never arrive earlier, and each way of moving the payload costs more than the one before. */
static void test_sizes(void **state)
{
    (void)state;
    static const size_t sizes[] = {8, 9, 64, 65, 408, 409, 512, 4096, 4097, 65536, 4 << 20};
    double before = 0.0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        double time = measure(ping_pong, sizes[i]);
        assert_true(time > before);
        before = time;
    }
    assert_near(before, (4 << 20) / 11.1e9, 0.05); /* the wire's bandwidth */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ping_pong),
        cmocka_unit_test(test_wait_ack),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
