/* SPDX-License-Identifier: BSD-3-Clause */
/* What long messages leave in memory when several follow each other before any process looks. */
#include "world.h"

#include <string.h>

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)
#define ENTRY      (PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_COMM_DISABLE)
enum { SIZE = 1 << 16, BITS_TARGET = 1, BITS_ECHO = 2 };

static char first[SIZE], second[SIZE], target[SIZE], echo[SIZE], fetched[SIZE];

static void put(struct endpoint *e, const char *from, ptl_size_t length, int to, ptl_size_t at)
{
    CHECK(PtlPut(e->md, (ptl_size_t)(uintptr_t)from, length, PTL_ACK_REQ, world_address(to), e->pt,
                 BITS_TARGET, at, NULL, 0) == PTL_OK);
}

static void wait_for_acks(struct endpoint *e, int count)
{
    ptl_event_t event;
    while (count > 0) {
        CHECK(PtlEQWait(e->eq, &event) == PTL_OK && event.ni_fail_type == PTL_NI_OK);
        count -= event.type == PTL_EVENT_ACK;
    }
}

static int all(const char *memory, ptl_size_t from, ptl_size_t to, char value)
{
    for (ptl_size_t i = from; i < to; i++)
        if (memory[i] != value)
            return 0;
    return 1;
}

static void check(struct endpoint *e, char low, char high)
{
    memset(fetched, 0, SIZE);
    CHECK(PtlGet(e->md, (ptl_size_t)(uintptr_t)fetched, SIZE, world_address(1), e->pt, BITS_TARGET, 0,
                 NULL) == PTL_OK);
    ptl_event_t event;
    do
        CHECK(PtlEQWait(e->eq, &event) == PTL_OK);
    while (event.type != PTL_EVENT_REPLY);
    CHECK(all(fetched, 0, SIZE / 2, low) && all(fetched, SIZE / 2, SIZE, high));
}

/* A store that another one covers, covers partly, or leaves alone. */
static void program_covered(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 256);
    endpoint_append(&e, target, SIZE, ENTRY, BITS_TARGET, PTL_PRIORITY_LIST, NULL);
    memset(first, 'a', SIZE);
    memset(second, 'b', SIZE);
    world_barrier();
    if (rank == 0) {
        put(&e, first, SIZE, 1, 0);
        put(&e, second, SIZE, 1, 0);
        wait_for_acks(&e, 2);
        check(&e, 'b', 'b');
        put(&e, second, SIZE, 1, 0);
        put(&e, first, SIZE / 2, 1, 0);
        wait_for_acks(&e, 2);
        check(&e, 'a', 'b');
        put(&e, first, SIZE / 2, 1, SIZE / 2);
        put(&e, second, SIZE / 2, 1, 0);
        wait_for_acks(&e, 2);
        check(&e, 'b', 'a');
        put(&e, first, SIZE, 1, 0);
        put(&e, second, 8, 1, 0); /* came with its command */
        wait_for_acks(&e, 2);
        put(&e, second, 8, 1, 8);
        wait_for_acks(&e, 1);
        memset(second, 'a', 16);
        put(&e, second, 16, 1, 0);
        wait_for_acks(&e, 1);
        check(&e, 'a', 'a');
    }
    world_barrier();
    endpoint_close(&e);
}

/* The memory of one store is the source of the next, which a counter starts in the NIC: put, echoed by a
 * triggered put, and a get behind a put. */
static void program_chain(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    memset(first, 'c', SIZE);
    ptl_handle_ct_t arrivals, echoes;
    CHECK(PtlCTAlloc(e.ni, &arrivals) == PTL_OK && PtlCTAlloc(e.ni, &echoes) == PTL_OK);
    ptl_me_t me = {.start = rank ? target : echo,
                   .length = SIZE,
                   .ct_handle = rank ? arrivals : echoes,
                   .uid = PTL_UID_ANY,
                   .options = ENTRY | PTL_ME_EVENT_CT_COMM,
                   .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                   .match_bits = rank ? BITS_TARGET : BITS_ECHO};
    ptl_handle_me_t handle;
    CHECK(PtlMEAppend(e.ni, e.pt, &me, PTL_PRIORITY_LIST, NULL, &handle) == PTL_OK);
    world_barrier();
    if (rank == 1)
        CHECK(PtlTriggeredPut(e.md, (ptl_size_t)(uintptr_t)target, SIZE, PTL_NO_ACK_REQ, world_address(0),
                              e.pt, BITS_ECHO, 0, NULL, 0, arrivals, 1) == PTL_OK);
    world_barrier();
    if (rank == 0) {
        ptl_ct_event_t count;
        put(&e, first, SIZE, 1, 0);
        CHECK(PtlCTWait(echoes, 1, &count) == PTL_OK && count.success == 1);
        CHECK(all(echo, 0, SIZE, 'c'));
        memset(first, 'd', SIZE);
        put(&e, first, SIZE, 1, 0);
        check(&e, 'd', 'd');
    }
    world_barrier();
    endpoint_close(&e);
}

static void run(world_program program)
{
    struct world world = {.nodes = 2};
    assert_int_equal(world_run(&world, program), 0);
}

static void test_covered(void **state)
{
    (void)state;
    run(program_covered);
}

static void test_chain(void **state)
{
    (void)state;
    run(program_chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_covered), cmocka_unit_test(test_chain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
