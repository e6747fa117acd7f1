/* SPDX-License-Identifier: BSD-3-Clause */
/* Table entries that close: each kind of exhaustion, its events, recovery; and closing by hand. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)
#define QUIET      (PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE)

enum { LONG = 20000, MESSAGES = 40 };

static void start_put(struct endpoint *e, const void *data, size_t length, ptl_match_bits_t bits)
{
    CHECK(PtlPut(e->md, (ptl_size_t)(uintptr_t)data, length, PTL_ACK_REQ, world_address(0), e->pt, bits, 0,
                 NULL, 0) == PTL_OK);
}

static ptl_ni_fail_t wait_ack(struct endpoint *e)
{
    ptl_event_t event;
    do
        CHECK(PtlEQWait(e->eq, &event) == PTL_OK);
    while (event.type != PTL_EVENT_ACK);
    return event.ni_fail_type;
}

/* Sends until all have got through; how many were refused. */
static int send_all(struct endpoint *e, const void *data, size_t length, int count)
{
    int refused = 0, waiting = count;
    while (waiting > 0) {
        for (int i = 0; i < waiting; i++)
            start_put(e, data, length, 1);
        int again = 0;
        for (int i = 0; i < waiting; i++) {
            ptl_ni_fail_t fail = wait_ack(e);
            CHECK(fail == PTL_NI_OK || fail == PTL_NI_PT_DISABLED);
            again += fail != PTL_NI_OK;
        }
        refused += again;
        waiting = again;
        sg_actor_sleep_for(1e-4);
    }
    return refused;
}

/* Reads all events until the table entry is closed or `count` messages have come; whether it was closed. */
static bool receive(struct endpoint *e, int *count, ptl_event_kind_t kind)
{
    while (*count > 0) {
        ptl_event_t event;
        CHECK(PtlEQWait(e->eq, &event) == PTL_OK); /* never PTL_EQ_DROPPED */
        CHECK(event.type == kind || event.type == PTL_EVENT_PT_DISABLED);
        if (event.type == PTL_EVENT_PT_DISABLED) {
            CHECK(event.ni_fail_type == PTL_NI_PT_DISABLED && event.pt_index == e->pt);
            return true;
        }
        --*count;
    }
    return false;
}

/* The queue is too short for what is on its way at once: long messages from everywhere, whose events come
 * much later than they are let in. None is lost, none is doubled, and the process gets an event each time. */
static void program_short_queue(int rank, int size, void *shared)
{
    (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, PTL_PT_FLOWCTRL, rank ? 256 : 4);
    char *memory = calloc(1, LONG);
    if (rank == 0) {
        int waiting = (size - 1) * MESSAGES, closed = 0;
        endpoint_append(&e, memory, LONG, PTL_ME_OP_PUT | QUIET, 1, PTL_PRIORITY_LIST, NULL);
        world_barrier();
        while (receive(&e, &waiting, PTL_EVENT_PUT)) {
            closed++;
            sg_actor_sleep_for(2e-4); /* the rest of the messages is refused meanwhile */
            CHECK(PtlPTEnable(e.ni, e.pt) == PTL_OK);
        }
        CHECK(closed > 1 && waiting == 0);
        ptl_event_t event;
        CHECK(PtlEQGet(e.eq, &event) == PTL_EQ_EMPTY);
    } else {
        world_barrier();
        CHECK(send_all(&e, memory, LONG, MESSAGES) > 0);
    }
    endpoint_close(&e);
    free(memory);
}

/* No more headers: the message that needs one is refused and closes the table entry. */
static void program_headers(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, PTL_PT_FLOWCTRL, 64);
    static char block[100];
    if (rank == 0) {
        endpoint_append(&e, block, sizeof block, PTL_ME_OP_PUT | PTL_ME_EVENT_COMM_DISABLE | QUIET, 1,
                        PTL_OVERFLOW_LIST, NULL);
        world_barrier();
        ptl_event_t event;
        CHECK(PtlEQWait(e.eq, &event) == PTL_OK && event.type == PTL_EVENT_PT_DISABLED);
        ptl_handle_me_t me =
            endpoint_append(&e, block, 10, PTL_ME_OP_PUT | QUIET, 1, PTL_PRIORITY_LIST, NULL);
        for (int i = 0; i < 3; i++)
            endpoint_expect(&e, PTL_EVENT_PUT_OVERFLOW);
        CHECK(PtlPTEnable(e.ni, e.pt) == PTL_OK);
        endpoint_expect(&e, PTL_EVENT_PUT);
        CHECK(PtlMEUnlink(me) == PTL_OK);
    } else {
        world_barrier();
        for (int i = 0; i < 3; i++) {
            start_put(&e, block, 1, 1);
            CHECK(wait_ack(&e) == PTL_NI_OK);
        }
        CHECK(send_all(&e, block, 1, 1) > 0);
    }
    endpoint_close(&e);
}

/* Without flow control the same is dropped, and an entry may suppress the event of its exhaustion. */
static void program_quiet(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    bool controlled = *(const int *)shared;
    endpoint_open(&e, NI_OPTIONS, controlled ? PTL_PT_FLOWCTRL : 0, 64);
    static char block[100];
    if (rank == 0) {
        endpoint_append(&e, block, sizeof block,
                        PTL_ME_OP_PUT | PTL_ME_EVENT_COMM_DISABLE | PTL_ME_EVENT_FLOWCTRL_DISABLE | QUIET, 1,
                        PTL_OVERFLOW_LIST, NULL);
        world_barrier();
        world_barrier();
        ptl_event_t event;
        unsigned int which;
        CHECK(PtlEQPoll(&e.eq, 1, 1, &event, &which) == PTL_EQ_EMPTY);
        ptl_sr_value_t dropped;
        CHECK(PtlNIStatus(e.ni, PTL_SR_DROP_COUNT, &dropped) == PTL_OK && dropped == 2);
    } else {
        world_barrier();
        for (int i = 0; i < 5; i++) {
            start_put(&e, block, 1, 1);
            CHECK(wait_ack(&e) == (i < 3 ? PTL_NI_OK : controlled ? PTL_NI_PT_DISABLED : PTL_NI_DROPPED));
        }
        world_barrier();
    }
    endpoint_close(&e);
}

/* PtlPTDisable returns when the messages that were let in are done and reported; nothing comes after it. */
static void program_disable(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, PTL_PT_ALLOC_DISABLED, 64);
    enum { BYTES = 4 << 20 };
    char *memory = calloc(1, BYTES);
    if (rank == 0) {
        endpoint_append(&e, memory, BYTES, PTL_ME_OP_PUT | QUIET, 1, PTL_PRIORITY_LIST, NULL);
        world_barrier(); /* closed from the beginning */
        world_barrier();
        CHECK(PtlPTEnable(e.ni, e.pt) == PTL_OK);
        world_barrier();
        sg_actor_sleep_for(5e-5); /* in the middle of the message */
        double before = simgrid_get_clock();
        CHECK(PtlPTDisable(e.ni, e.pt) == PTL_OK);
        CHECK(simgrid_get_clock() - before > 1e-4);
        ptl_event_t event;
        CHECK(PtlEQGet(e.eq, &event) == PTL_OK && event.type == PTL_EVENT_PUT && memory[BYTES - 1] == 9);
        before = simgrid_get_clock();
        CHECK(PtlPTDisable(e.ni, e.pt) == PTL_OK && simgrid_get_clock() == before);
        world_barrier();
    } else {
        memset(memory, 9, BYTES);
        world_barrier();
        start_put(&e, memory, 1, 1);
        CHECK(wait_ack(&e) == PTL_NI_PT_DISABLED);
        world_barrier();
        world_barrier();
        start_put(&e, memory, BYTES, 1);
        CHECK(wait_ack(&e) == PTL_NI_OK);
        world_barrier();
        start_put(&e, memory, 1, 1);
        CHECK(wait_ack(&e) == PTL_NI_PT_DISABLED);
    }
    endpoint_close(&e);
    free(memory);
}

static const char *const few_headers[] = {"PARFOCAL_PTL_MAX_UNEXPECTED=3", NULL};

static void run(world_program program, int nodes, const char *const *settings)
{
    struct world world = {.nodes = nodes, .settings = settings};
    assert_int_equal(world_run(&world, program), 0);
}

static void test_short_queue(void **state)
{
    (void)state;
    if (world_packet() > 0)
        return; /* the senders take turns there, and an event comes as soon as the next header: it never fills
                 */
    run(program_short_queue, 4, NULL);
}

static void test_headers(void **state)
{
    (void)state;
    run(program_headers, 2, few_headers);
}

static void test_quiet(void **state)
{
    (void)state;
    for (int controlled = 0; controlled < 2; controlled++) {
        *(int *)world_shared() = controlled;
        run(program_quiet, 2, few_headers);
    }
}

static void test_disable(void **state)
{
    (void)state;
    run(program_disable, 2, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_short_queue), cmocka_unit_test(test_headers),
                                       cmocka_unit_test(test_quiet), cmocka_unit_test(test_disable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
