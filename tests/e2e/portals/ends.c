/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that end in the middle of things: they leave without PtlFini, are killed, or abort. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)
#define QUIET      (PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE)

enum { LONG = 8 << 20, OPERATIONS = 5 };

/* One of each: short put, long put, get, atomic, fetch. Returns what their acknowledgements and replies say.
 */
static void all_operations(struct endpoint *e, int to, char *memory, ptl_ni_fail_t fails[OPERATIONS])
{
    ptl_size_t at = (ptl_size_t)(uintptr_t)memory;
    ptl_process_t target = world_address(to);
    CHECK(PtlPut(e->md, at, 8, PTL_ACK_REQ, target, e->pt, 1, 0, (void *)0, 0) == PTL_OK);
    CHECK(PtlPut(e->md, at, LONG, PTL_ACK_REQ, target, e->pt, 1, 0, (void *)1, 0) == PTL_OK);
    CHECK(PtlGet(e->md, at, LONG, target, e->pt, 1, 0, (void *)2) == PTL_OK);
    CHECK(PtlAtomic(e->md, at, 8, PTL_ACK_REQ, target, e->pt, 1, 0, (void *)3, 0, PTL_SUM, PTL_INT64_T) ==
          PTL_OK);
    CHECK(PtlFetchAtomic(e->md, at, e->md, at + 8, 8, target, e->pt, 1, 0, (void *)4, 0, PTL_SUM,
                         PTL_INT64_T) == PTL_OK);
    for (int answers = 0; answers < OPERATIONS;) {
        ptl_event_t event;
        CHECK(PtlEQWait(e->eq, &event) == PTL_OK);
        if (event.type == PTL_EVENT_SEND)
            continue;
        CHECK(event.type == PTL_EVENT_ACK || event.type == PTL_EVENT_REPLY);
        fails[(intptr_t)event.user_ptr] = event.ni_fail_type;
        answers++;
    }
}

static void open_target(struct endpoint *e, char *memory)
{
    endpoint_append(e, memory, LONG, PTL_ME_OP_PUT | PTL_ME_OP_GET | QUIET, 1, PTL_PRIORITY_LIST, NULL);
    world_barrier();
}

/* It returns from its program: what is sent to it afterwards comes back as sent to no process. */
static void program_leaves(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    char *memory = calloc(1, LONG);
    if (rank == 1) {
        open_target(&e, memory);
        free(memory);
        return;
    }
    world_barrier();
    sg_actor_sleep_for(1e-3);
    ptl_ni_fail_t fails[OPERATIONS];
    all_operations(&e, 1, memory, fails);
    for (int i = 0; i < OPERATIONS; i++)
        CHECK(fails[i] == PTL_NI_TARGET_INVALID);
    enum { MANY = 300 }; /* more than the command queue holds */
    for (int i = 0; i < MANY; i++)
        CHECK(PtlPut(e.md, (ptl_size_t)(uintptr_t)memory, 8, PTL_ACK_REQ, world_address(1), e.pt, 1, 0, NULL,
                     0) == PTL_OK);
    ptl_event_t event;
    for (int i = 0; i < 2 * 32; i++) /* the queue is short: the rest is dropped with an event */
        CHECK(PtlEQWait(e.eq, &event) != PTL_EQ_EMPTY);
    PtlFini();
    free(memory);
}

/* It is killed while messages move into and out of its memory, at many dates; losses are reported. */
static sg_actor_t victim;
static void program_killed(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    double delay = *(double *)shared;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    if (rank == 1) {
        char small[64] = {0}; /* goes with the stack of the actor */
        char *memory = calloc(1, LONG);
        victim = sg_actor_self();
        endpoint_append(&e, small, sizeof small, PTL_ME_OP_PUT | QUIET, 2, PTL_PRIORITY_LIST, NULL);
        open_target(&e, memory);
        CHECK(PtlPut(e.md, (ptl_size_t)(uintptr_t)memory, LONG, PTL_ACK_REQ, world_address(0), e.pt, 3, 0,
                     NULL, 0) == PTL_OK);
        ptl_event_t event;
        for (;;)
            CHECK(PtlEQWait(e.eq, &event) == PTL_OK);
    }
    char *memory = calloc(2, LONG);
    endpoint_append(&e, memory + LONG, LONG, PTL_ME_OP_PUT | PTL_ME_EVENT_COMM_DISABLE | QUIET, 3,
                    PTL_PRIORITY_LIST, NULL);
    world_barrier();
    if (rank == 2) {
        sg_actor_sleep_for(delay);
        sg_actor_kill(victim);
        PtlFini();
        return;
    }
    ptl_ni_fail_t fails[OPERATIONS];
    all_operations(&e, 1, memory, fails);
    for (int i = 0; i < OPERATIONS; i++)
        CHECK(fails[i] == PTL_NI_OK || fails[i] == PTL_NI_TARGET_INVALID);
    sg_actor_sleep_for(0.01);
    all_operations(&e, 1, memory, fails);
    for (int i = 0; i < OPERATIONS; i++)
        CHECK(fails[i] == PTL_NI_TARGET_INVALID);
    PtlFini();
    free(memory);
}

/* A wait for a process that has ended lasts for ever, and SimGrid reports it. */
static void program_stranded(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    if (rank == 1)
        return;
    ptl_event_t event;
    PtlEQWait(e.eq, &event);
}

/* PtlAbort: every kind of call that blocks returns, and calls that would block later return at once. */
static struct endpoint aborted;
static ptl_handle_ct_t aborted_ct;
static int returned;

static void wait_for_event(int argc, char *argv[])
{
    (void)argc, (void)argv;
    ptl_event_t event;
    unsigned int which;
    CHECK(PtlEQWait(aborted.eq, &event) == PTL_ABORTED);
    CHECK(PtlEQPoll(&aborted.eq, 1, PTL_TIME_FOREVER, &event, &which) == PTL_ABORTED);
    CHECK(PtlEQGet(aborted.eq, &event) == PTL_ABORTED);
    returned++;
}

static void poll_for_event(int argc, char *argv[])
{
    (void)argc, (void)argv;
    ptl_event_t event;
    unsigned int which;
    CHECK(PtlEQPoll(&aborted.eq, 1, 1000, &event, &which) == PTL_ABORTED);
    returned++;
}

static void wait_for_count(int argc, char *argv[])
{
    (void)argc, (void)argv;
    ptl_ct_event_t count;
    CHECK(PtlCTWait(aborted_ct, 5, &count) == PTL_ABORTED);
    CHECK(PtlCTWait(aborted_ct, 0, &count) == PTL_ABORTED); /* reached, but nothing counts any more */
    CHECK(PtlCTGet(aborted_ct, &count) == PTL_ABORTED);
    returned++;
}

static void poll_for_count(int argc, char *argv[])
{
    (void)argc, (void)argv;
    ptl_ct_event_t count;
    ptl_size_t test = 5;
    unsigned int which;
    CHECK(PtlCTPoll(&aborted_ct, &test, 1, 1000, &count, &which) == PTL_ABORTED);
    returned++;
}

static void disable(int argc, char *argv[])
{
    (void)argc, (void)argv;
    sg_actor_sleep_for(1e-4); /* the long message has begun */
    CHECK(PtlPTDisable(aborted.ni, aborted.pt) == PTL_ABORTED);
    returned++;
}

static void program_aborts(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    static const xbt_main_func_t waits[] = {wait_for_event, poll_for_event, wait_for_count, poll_for_count,
                                            disable};
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    char *memory = calloc(1, LONG);
    if (rank == 1) {
        aborted = e;
        CHECK(PtlCTAlloc(e.ni, &aborted_ct) == PTL_OK);
        endpoint_append(&e, memory, LONG, PTL_ME_OP_PUT | PTL_ME_EVENT_COMM_DISABLE | QUIET, 1,
                        PTL_PRIORITY_LIST, NULL);
        world_barrier();
        for (int i = 0; i < 5; i++) {
            sg_actor_t helper = sg_actor_init("helper", sg_host_self());
            sg_actor_set_data(helper, pf_self());
            sg_actor_start_(helper, waits[i], 0, NULL);
        }
        sg_actor_sleep_for(3e-4);
        CHECK(returned == 0);
        PtlAbort();
        sg_actor_sleep_for(1e-6);
        CHECK(returned == 5);
        world_barrier();
        PtlFini();
        return;
    }
    world_barrier();
    CHECK(PtlPut(e.md, (ptl_size_t)(uintptr_t)memory, LONG, PTL_NO_ACK_REQ, world_address(1), e.pt, 1, 0,
                 NULL, 0) == PTL_OK);
    world_barrier();
    CHECK(PtlPut(e.md, (ptl_size_t)(uintptr_t)memory, 8, PTL_ACK_REQ, world_address(1), e.pt, 1, 0, NULL,
                 0) == PTL_OK);
    ptl_event_t event;
    do
        CHECK(PtlEQWait(e.eq, &event) == PTL_OK);
    while (event.type != PTL_EVENT_ACK || event.ni_fail_type == PTL_NI_OK);
    CHECK(event.ni_fail_type == PTL_NI_TARGET_INVALID);
    PtlFini();
}

/* An interface or a queue that goes interrupts those that wait on it. */
static void interrupted(int argc, char *argv[])
{
    (void)argc, (void)argv;
    ptl_event_t event;
    ptl_ct_event_t count;
    CHECK(PtlEQWait(aborted.eq, &event) == PTL_INTERRUPTED);
    CHECK(PtlCTWait(aborted_ct, 5, &count) == PTL_INTERRUPTED);
    returned++;
}

static void program_interrupts(int rank, int size, void *shared)
{
    (void)rank, (void)size, (void)shared;
    endpoint_open(&aborted, NI_OPTIONS, 0, 64);
    CHECK(PtlCTAlloc(aborted.ni, &aborted_ct) == PTL_OK);
    sg_actor_t helper = sg_actor_init("helper", sg_host_self());
    sg_actor_set_data(helper, pf_self());
    sg_actor_start_(helper, interrupted, 0, NULL);
    sg_actor_sleep_for(1e-3);
    CHECK(PtlPTFree(aborted.ni, aborted.pt) == PTL_OK && PtlEQFree(aborted.eq) == PTL_OK);
    sg_actor_sleep_for(1e-3);
    CHECK(PtlNIFini(aborted.ni) == PTL_OK);
    sg_actor_sleep_for(1e-3);
    CHECK(returned == 1);
    PtlFini();
}

static void test_leaves(void **state)
{
    (void)state;
    struct world world = {.nodes = 2};
    assert_int_equal(world_run(&world, program_leaves), 0);
    struct world node = {.nodes = 1, .ranks_per_node = 2};
    assert_int_equal(world_run(&node, program_leaves), 0);
}

/* The killed rank counts as unfinished, so the status is 4. */
static void test_killed(void **state)
{
    (void)state;
    static const double delays[] = {0, 1e-6, 1.7e-6, 2e-6, 3e-6, 5e-6, 1e-5, 1e-4, 5e-4, 1e-3, 1.6e-3, 2e-3};
    struct world world = {.nodes = 3};
    for (size_t i = 0; i < sizeof delays / sizeof delays[0]; i++) {
        *(double *)world_shared() = delays[i];
        assert_int_equal(world_run(&world, program_killed), 4);
    }
}

static void test_stranded(void **state)
{
    (void)state;
    struct world world = {.nodes = 2};
    char text[4096];
    assert_int_equal(world_run_text(&world, program_stranded, text, sizeof text), 4);
    assert_non_null(strstr(text, "eadlock"));
}

static void test_aborts(void **state)
{
    (void)state;
    struct world world = {.nodes = 2};
    assert_int_equal(world_run(&world, program_aborts), 0);
}

static void test_interrupts(void **state)
{
    (void)state;
    struct world world = {.nodes = 1};
    assert_int_equal(world_run(&world, program_interrupts), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_leaves), cmocka_unit_test(test_killed),
                                       cmocka_unit_test(test_stranded), cmocka_unit_test(test_aborts),
                                       cmocka_unit_test(test_interrupts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
