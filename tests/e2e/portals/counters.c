/* SPDX-License-Identifier: BSD-3-Clause */
/* Counting events, triggered operations, flow control, bounded queues, blocking instead of polling. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_LOGICAL)
#define QUIET      (PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE)

static void map_ranks(struct endpoint *e, int size)
{
    ptl_process_t *map = calloc((size_t)size, sizeof *map);
    for (int rank = 0; rank < size; rank++)
        map[rank] = world_address(rank);
    CHECK(PtlSetMap(e->ni, (ptl_size_t)size, map) == PTL_OK);
    CHECK(PtlSetMap(e->ni, (ptl_size_t)size, map) == PTL_IGNORED);
    ptl_process_t id;
    CHECK(PtlGetId(e->ni, &id) == PTL_OK && id.rank == (ptl_rank_t)pf_self()->rank);
    free(map);
}

static ptl_handle_me_t counting_entry(struct endpoint *e, void *start, ptl_size_t length,
                                      unsigned int options, ptl_match_bits_t bits, ptl_handle_ct_t ct)
{
    ptl_me_t me = {.start = start,
                   .length = length,
                   .ct_handle = ct,
                   .uid = PTL_UID_ANY,
                   .options = PTL_ME_OP_PUT | PTL_ME_EVENT_COMM_DISABLE | QUIET | options,
                   .match_id.rank = PTL_RANK_ANY,
                   .match_bits = bits};
    ptl_handle_me_t handle;
    CHECK(PtlMEAppend(e->ni, e->pt, &me, PTL_PRIORITY_LIST, NULL, &handle) == PTL_OK);
    return handle;
}

static ptl_process_t rank_id(int rank)
{
    return (ptl_process_t){.rank = (ptl_rank_t)rank};
}

/* Operations and bytes are counted; a wait returns when the value is reached or passed, or at a failure. */
static void program_counting(int rank, int size, void *shared)
{
    (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    map_ranks(&e, size);
    static char memory[4096];
    ptl_handle_ct_t ct = PTL_CT_NONE, bytes = PTL_CT_NONE;
    ptl_ct_event_t value;
    CHECK(PtlCTAlloc(e.ni, &ct) == PTL_OK && PtlCTAlloc(e.ni, &bytes) == PTL_OK);
    if (rank == 1) {
        counting_entry(&e, memory, sizeof memory, PTL_ME_EVENT_CT_COMM, 1, ct);
        counting_entry(&e, memory, sizeof memory, PTL_ME_EVENT_CT_COMM | PTL_ME_EVENT_CT_BYTES, 2, bytes);
        world_barrier();
        CHECK(PtlCTWait(ct, 3, &value) == PTL_OK && value.success >= 3 && value.failure == 0);
        CHECK(PtlCTWait(ct, 2, &value) == PTL_OK); /* passed already */
        CHECK(PtlCTWait(bytes, 5000, &value) == PTL_OK && value.success == 6000);
        unsigned int which;
        ptl_handle_ct_t both[] = {ct, bytes};
        ptl_size_t tests[] = {100, 6000};
        CHECK(PtlCTPoll(both, tests, 2, 0, &value, &which) == PTL_OK && which == 1);
        tests[1] = 6001;
        double before = simgrid_get_clock();
        CHECK(PtlCTPoll(both, tests, 2, 5, &value, &which) == PTL_CT_NONE_REACHED);
        CHECK(simgrid_get_clock() - before > 0.00499 && simgrid_get_clock() - before < 0.00501);
        CHECK(PtlCTSet(ct, (ptl_ct_event_t){10, 0}) == PTL_OK &&
              PtlCTInc(ct, (ptl_ct_event_t){5, 0}) == PTL_OK &&
              PtlCTInc(ct, (ptl_ct_event_t){0, 1}) == PTL_OK);
        CHECK(PtlCTGet(ct, &value) == PTL_OK && value.success == 15 && value.failure == 1);
        CHECK(PtlCTWait(ct, 100, &value) == PTL_OK && value.failure == 1);
    } else {
        ptl_md_t md = {.length = PTL_SIZE_MAX,
                       .options = PTL_MD_EVENT_CT_ACK,
                       .eq_handle = PTL_EQ_NONE,
                       .ct_handle = ct};
        ptl_handle_md_t handle;
        CHECK(PtlMDBind(e.ni, &md, &handle) == PTL_OK);
        world_barrier();
        for (int i = 0; i < 3; i++) {
            CHECK(PtlPut(handle, (ptl_size_t)(uintptr_t)memory, 10, PTL_CT_ACK_REQ, rank_id(1), e.pt, 1, 0,
                         NULL, 0) == PTL_OK);
            CHECK(PtlPut(handle, (ptl_size_t)(uintptr_t)memory, 2000, PTL_CT_ACK_REQ, rank_id(1), e.pt, 2, 0,
                         NULL, 0) == PTL_OK);
        }
        CHECK(PtlCTWait(ct, 6, &value) == PTL_OK && value.success == 6);
        CHECK(PtlPut(handle, 0, 0, PTL_CT_ACK_REQ, rank_id(1), e.pt, 3, 0, NULL, 0) == PTL_OK);
        CHECK(PtlCTWait(ct, 7, &value) == PTL_OK && value.success == 6 && value.failure == 1);
    }
    endpoint_close(&e);
}

/* A token runs around the ring by triggered puts alone, the processors sleep; then counters trigger
 * counters. */
static void program_triggered(int rank, int size, void *shared)
{
    (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    map_ranks(&e, size);
    enum { LAPS = 5 };
    ptl_handle_ct_t ct, other;
    ptl_ct_event_t value;
    CHECK(PtlCTAlloc(e.ni, &ct) == PTL_OK && PtlCTAlloc(e.ni, &other) == PTL_OK);
    counting_entry(&e, NULL, 0, PTL_ME_EVENT_CT_COMM, 1, ct);
    for (int lap = LAPS; lap >= 1; lap--) /* in any order: the threshold decides */
        CHECK(PtlTriggeredPut(e.md, 0, 0, PTL_NO_ACK_REQ, rank_id((rank + 1) % size), e.pt, 1, 0, NULL, 0, ct,
                              (ptl_size_t)lap) == PTL_OK);
    CHECK(PtlTriggeredCTInc(other, (ptl_ct_event_t){7, 0}, ct, 2) == PTL_OK);
    CHECK(PtlTriggeredCTSet(other, (ptl_ct_event_t){100, 0}, other, 7) == PTL_OK);
    world_barrier();
    if (rank == 0)
        CHECK(PtlCTInc(ct, (ptl_ct_event_t){1, 0}) == PTL_OK);
    CHECK(PtlCTWait(ct, LAPS, &value) == PTL_OK);
    CHECK(PtlCTWait(other, 100, &value) == PTL_OK && value.success == 100);
    CHECK(PtlTriggeredCTInc(other, (ptl_ct_event_t){1, 0}, ct, 1000) == PTL_OK);
    CHECK(PtlCTCancelTriggered(ct) == PTL_OK);
    CHECK(PtlCTFree(ct) == PTL_OK && PtlCTFree(ct) == PTL_ARG_INVALID);
    endpoint_close(&e);
}

/* Without an entry the table entry closes; after PtlPTEnable messages arrive again and none is lost or
 * doubled. */
static void program_flow_control(int rank, int size, void *shared)
{
    (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, PTL_PT_FLOWCTRL, 4096);
    map_ranks(&e, size);
    enum { MESSAGES = 20 };
    static char memory[MESSAGES];
    ptl_event_t event;
    if (rank == 0) {
        endpoint_append(&e, memory, 1, PTL_ME_OP_PUT | PTL_ME_USE_ONCE | QUIET, 1, PTL_PRIORITY_LIST, NULL);
        world_barrier();
        endpoint_expect(&e, PTL_EVENT_PUT); /* the only entry; the next message closes the table entry */
        CHECK(PtlEQWait(e.eq, &event) == PTL_OK);
        CHECK(event.type == PTL_EVENT_PT_DISABLED && event.pt_index == e.pt);
        sg_actor_sleep_for(1e-3);
        CHECK(PtlEQGet(e.eq, &event) == PTL_EQ_EMPTY); /* one notice only */
        for (int i = 0; i < (size - 1) * MESSAGES - 1; i++)
            endpoint_append(&e, memory, 1, PTL_ME_OP_PUT | PTL_ME_USE_ONCE | QUIET, 1, PTL_PRIORITY_LIST,
                            NULL);
        CHECK(PtlPTEnable(e.ni, e.pt) == PTL_OK);
        for (int i = 0; i < (size - 1) * MESSAGES - 1; i++)
            endpoint_expect(&e, PTL_EVENT_PUT);
    } else {
        world_barrier();
        int sent = 0, refused = 0, acked = 0;
        while (acked < MESSAGES) {
            CHECK(PtlPut(e.md, (ptl_size_t)(uintptr_t)memory, 1, PTL_ACK_REQ, rank_id(0), e.pt, 1, 0, NULL,
                         0) == PTL_OK);
            sent++;
            do
                CHECK(PtlEQWait(e.eq, &event) == PTL_OK);
            while (event.type != PTL_EVENT_ACK);
            if (event.ni_fail_type == PTL_NI_OK) {
                acked++;
                continue;
            }
            CHECK(event.ni_fail_type == PTL_NI_PT_DISABLED);
            refused++;
            sg_actor_sleep_for(1e-4);
        }
        CHECK(refused > 0 && sent == acked + refused);
    }
    endpoint_close(&e);
}

/* A queue of four: more events are dropped, with one event. With flow control none is lost. */
static void program_bounded(int rank, int size, void *shared)
{
    (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, rank == 0 ? 4 : 64);
    map_ranks(&e, size);
    static char byte;
    if (rank == 0) {
        endpoint_append(&e, &byte, 1, PTL_ME_OP_PUT | QUIET, 1, PTL_PRIORITY_LIST, NULL);
        world_barrier();
        sg_actor_sleep_for(1e-3);
        ptl_event_t event;
        CHECK(PtlEQGet(e.eq, &event) == PTL_EQ_DROPPED && event.type == PTL_EVENT_PUT && event.hdr_data == 0);
        for (int i = 1; i < 4; i++)
            CHECK(PtlEQGet(e.eq, &event) == PTL_OK && event.hdr_data == (ptl_hdr_data_t)i);
        CHECK(PtlEQGet(e.eq, &event) == PTL_EQ_EMPTY);
    } else {
        world_barrier();
        for (int i = 0; i < 10; i++)
            CHECK(PtlPut(e.md, (ptl_size_t)(uintptr_t)&byte, 1, PTL_NO_ACK_REQ, rank_id(0), e.pt, 1, 0, NULL,
                         (ptl_hdr_data_t)i) == PTL_OK);
    }
    endpoint_close(&e);
}

/* Programs that only poll let simulated time go on, with every kind of poll. */
static void program_polling(int rank, int size, void *shared)
{
    (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    map_ranks(&e, size);
    static char byte[2];
    ptl_handle_ct_t ct;
    ptl_event_t event;
    ptl_ct_event_t value = {0, 0};
    unsigned int which;
    CHECK(PtlCTAlloc(e.ni, &ct) == PTL_OK);
    counting_entry(&e, &byte[rank], 1, PTL_ME_EVENT_CT_COMM, 2, ct);
    if (rank == 0)
        endpoint_append(&e, &byte[0], 1, PTL_ME_OP_PUT | QUIET, 1, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    if (rank == 0) {
        while (PtlEQGet(e.eq, &event) == PTL_EQ_EMPTY)
            ;
        CHECK(event.type == PTL_EVENT_PUT && simgrid_get_clock() > 1.0);
        while (PtlEQPoll(&e.eq, 1, 0, &event, &which) == PTL_EQ_EMPTY)
            ;
        CHECK(event.type == PTL_EVENT_PUT && simgrid_get_clock() > 2.0);
        while (value.success == 0)
            CHECK(PtlCTGet(ct, &value) == PTL_OK);
        CHECK(simgrid_get_clock() > 3.0);
        double before = simgrid_get_clock();
        CHECK(PtlEQPoll(&e.eq, 1, 20, &event, &which) == PTL_EQ_EMPTY);
        CHECK(simgrid_get_clock() - before > 0.01999 && simgrid_get_clock() - before < 0.02001);
        struct pf_portals_counters counters;
        pf_portals_counters(pf_self(), &counters);
        CHECK(counters.parks >= 4);
        CHECK(pf_portals_blocked_in(pf_self()) == NULL);
    } else {
        for (int i = 0; i < 3; i++) {
            sg_actor_sleep_for(1.0);
            CHECK(PtlPut(e.md, (ptl_size_t)(uintptr_t)&byte[1], 1, PTL_NO_ACK_REQ, rank_id(0), e.pt,
                         i < 2 ? 1 : 2, 0, NULL, 0) == PTL_OK);
        }
    }
    endpoint_close(&e);
}

/* What a process need not be woken for lies in its queue until something else comes, in its order and at no
 * later date; the queue keeps most of its room. */
struct kept {
    int most; /* that lay there when it was asked */
};

static bool keeps(const void *arg, const ptl_event_t *event, int kept)
{
    struct kept *sum = (struct kept *)(uintptr_t)arg;
    if (kept > sum->most)
        sum->most = kept;
    return event->type == PTL_EVENT_PUT && event->hdr_data % 10 != 0;
}

static void program_keeping(int rank, int size, void *shared)
{
    (void)shared;
    enum { PUTS = 40 };
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    map_ranks(&e, size);
    static char byte;
    struct kept sum = {.most = 0};
    ptl_event_t event;
    unsigned int which;
    endpoint_append(&e, &byte, 1, PTL_ME_OP_PUT | QUIET, 1, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    if (rank == 0) {
        struct pf_portals_counters before, after;
        pf_portals_counters(pf_self(), &before);
        pf_portals_keep_events(pf_self(), keeps, &sum);
        for (unsigned i = 1; i <= PUTS; i++) {
            while (PtlEQPoll(&e.eq, 1, 0, &event, &which) == PTL_EQ_EMPTY)
                ;
            CHECK(event.type == PTL_EVENT_PUT && event.hdr_data == i);
        }
        CHECK(simgrid_get_clock() > PUTS && simgrid_get_clock() < PUTS + 0.001);
        pf_portals_keep_events(pf_self(), NULL, NULL);
        pf_portals_counters(pf_self(), &after);
        /* 10, 20, 30 and 40 wake it, and so do those before them: then more than an eighth of 64 lie there.
         */
        CHECK(after.parks - before.parks == 8 && sum.most == 7);
    } else if (rank == 1) {
        for (unsigned i = 1; i <= PUTS; i++) {
            sg_actor_sleep_for(1.0);
            CHECK(PtlPut(e.md, (ptl_size_t)(uintptr_t)&byte, 1, PTL_NO_ACK_REQ, rank_id(0), e.pt, 1, 0, NULL,
                         i) == PTL_OK);
        }
    }
    endpoint_close(&e);
}

/* A poll of several is fair: a queue or counter that always has something does not keep others from being
 * seen. */
static void program_round_robin(int rank, int size, void *shared)
{
    (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    map_ranks(&e, size);
    enum { QUEUES = 3, ROUNDS = 4 };
    static char memory[64];
    ptl_handle_eq_t queues[QUEUES];
    ptl_handle_ct_t counters[QUEUES];
    ptl_handle_md_t descriptors[QUEUES];
    for (int i = 0; i < QUEUES; i++) {
        CHECK(PtlEQAlloc(e.ni, 64, &queues[i]) == PTL_OK && PtlCTAlloc(e.ni, &counters[i]) == PTL_OK);
        ptl_md_t md = {.length = PTL_SIZE_MAX,
                       .options = PTL_MD_EVENT_CT_ACK | PTL_MD_EVENT_SEND_DISABLE,
                       .eq_handle = queues[i],
                       .ct_handle = counters[i]};
        CHECK(PtlMDBind(e.ni, &md, &descriptors[i]) == PTL_OK);
    }
    endpoint_append(&e, memory, sizeof memory, PTL_ME_OP_PUT | PTL_ME_EVENT_COMM_DISABLE | QUIET, 1,
                    PTL_PRIORITY_LIST, NULL);
    world_barrier();
    if (rank == 0) {
        ptl_event_t event;
        ptl_ct_event_t value;
        ptl_size_t tests[QUEUES] = {ROUNDS, ROUNDS, ROUNDS};
        unsigned int which;
        for (int n = 0; n < ROUNDS * QUEUES; n++)
            CHECK(PtlPut(descriptors[n % QUEUES], (ptl_size_t)(uintptr_t)memory, 8, PTL_ACK_REQ, rank_id(1),
                         e.pt, 1, 0, NULL, 0) == PTL_OK);
        for (int i = 0; i < QUEUES; i++)
            CHECK(PtlCTWait(counters[i], ROUNDS, &value) == PTL_OK);
        for (int n = 0; n < 2 * QUEUES; n++) /* they stay above their limits */
            CHECK(PtlCTPoll(counters, tests, QUEUES, 0, &value, &which) == PTL_OK &&
                  which == (unsigned)n % QUEUES);
        for (int n = 0; n < ROUNDS * QUEUES; n++)
            CHECK(PtlEQPoll(queues, QUEUES, 0, &event, &which) == PTL_OK && which == (unsigned)n % QUEUES);
        CHECK(PtlEQPoll(queues, QUEUES, 1, &event, &which) == PTL_EQ_EMPTY);
        /* A shorter list than the one before. */
        CHECK(PtlPut(descriptors[0], (ptl_size_t)(uintptr_t)memory, 8, PTL_ACK_REQ, rank_id(1), e.pt, 1, 0,
                     NULL, 0) == PTL_OK);
        CHECK(PtlEQPoll(queues, 2, PTL_TIME_FOREVER, &event, &which) == PTL_OK && which == 0);
        CHECK(PtlCTPoll(counters, tests, 1, 0, &value, &which) == PTL_OK && which == 0);
    }
    endpoint_close(&e);
}

/* A probe in a loop sleeps until a header comes that posts no event. */
static void program_probe(int rank, int size, void *shared)
{
    (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    map_ranks(&e, size);
    static char memory[100];
    ptl_me_t me = {.start = memory,
                   .length = sizeof memory,
                   .ct_handle = PTL_CT_NONE,
                   .uid = PTL_UID_ANY,
                   .options = PTL_ME_OP_PUT | PTL_ME_EVENT_COMM_DISABLE | PTL_ME_MANAGE_LOCAL | QUIET,
                   .match_id.rank = PTL_RANK_ANY,
                   .match_bits = 1};
    ptl_handle_me_t handle;
    if (rank == 0) {
        CHECK(PtlMEAppend(e.ni, e.pt, &me, PTL_OVERFLOW_LIST, NULL, &handle) == PTL_OK);
        world_barrier();
        me.options |= PTL_ME_USE_ONCE;
        ptl_event_t event;
        unsigned int which;
        long searches = 0;
        do {
            CHECK(PtlMESearch(e.ni, e.pt, &me, PTL_SEARCH_ONLY, NULL) == PTL_OK);
            while (PtlEQPoll(&e.eq, 1, 0, &event, &which) == PTL_EQ_EMPTY)
                ;
            ptl_event_t none;
            if (event.ni_fail_type != PTL_NI_OK) /* the progress of others between two probes */
                CHECK(PtlEQPoll(&e.eq, 1, 0, &none, &which) == PTL_EQ_EMPTY);
            searches++;
        } while (event.ni_fail_type != PTL_NI_OK);
        CHECK(simgrid_get_clock() > 1.0 && simgrid_get_clock() < 1.0001);
        CHECK(searches < 1000);
    } else {
        world_barrier();
        sg_actor_sleep_for(1.0);
        CHECK(PtlPut(e.md, (ptl_size_t)(uintptr_t)memory, 1, PTL_NO_ACK_REQ, rank_id(0), e.pt, 1, 0, NULL,
                     0) == PTL_OK);
    }
    endpoint_close(&e);
}

/* The middleware's view: a rank that sleeps elsewhere is woken, and a helper that carries its identity
 * progresses it. */
static int notices;
static void count_notice(void *arg)
{
    CHECK(pf_engine_inside());
    ++*(int *)arg;
}

static void helper_main(int argc, char *argv[])
{
    (void)argc, (void)argv;
    pf_portals_park(pf_self());
    CHECK(simgrid_get_clock() > 2.0 && simgrid_get_clock() < 2.0001);
    notices += 1000;
}

static void program_notify(int rank, int size, void *shared)
{
    (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    map_ranks(&e, size);
    static char byte;
    if (rank == 0) {
        pf_portals_set_notify(pf_self(), count_notice, &notices);
        endpoint_append(&e, &byte, 1, PTL_ME_OP_PUT | QUIET, 1, PTL_PRIORITY_LIST, NULL);
        world_barrier();
        sg_actor_sleep_for(1.5);
        CHECK(notices == 1);
        sg_actor_t helper = sg_actor_init("helper", sg_host_self());
        sg_actor_set_data(helper, pf_self());
        sg_actor_start_(helper, helper_main, 0, NULL);
        sg_actor_sleep_for(1.0);
        CHECK(notices == 1001);
        pf_portals_set_notify(pf_self(), NULL, NULL);
        endpoint_expect(&e, PTL_EVENT_PUT);
        endpoint_expect(&e, PTL_EVENT_PUT);
    } else {
        world_barrier();
        for (int i = 0; i < 2; i++) {
            sg_actor_sleep_for(1.0);
            CHECK(PtlPut(e.md, (ptl_size_t)(uintptr_t)&byte, 1, PTL_NO_ACK_REQ, rank_id(0), e.pt, 1, 0, NULL,
                         0) == PTL_OK);
        }
    }
    endpoint_close(&e);
}

/* Free mode: whatever initialisation does, the clock stands still and no rank waits. */
static void program_free(int rank, int size, void *shared)
{
    (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, PTL_PT_FLOWCTRL, 64);
    map_ranks(&e, size);
    if (rank == 0)
        sg_actor_sleep_for(1.0);
    double before = simgrid_get_clock();
    pf_portals_free_mode(pf_self(), true);
    static char memory[100];
    for (int i = 0; i < 10; i++)
        endpoint_append(&e, memory, sizeof memory, PTL_ME_OP_PUT, 1, PTL_PRIORITY_LIST, NULL);
    ptl_event_t event;
    for (int i = 0; i < 10; i++)
        CHECK(PtlEQGet(e.eq, &event) == PTL_OK && event.type == PTL_EVENT_LINK);
    pf_portals_free_mode(pf_self(), false);
    CHECK(simgrid_get_clock() == before);
    endpoint_close(&e);
    CHECK(simgrid_get_clock() == 1.0);
}

/* Polling that cannot end is diagnosed, with the rank and the call. */
static void program_livelock(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    ptl_event_t event;
    unsigned int which;
    for (;;) {
        CHECK(PtlEQPoll(&e.eq, 1, 0, &event, &which) == PTL_EQ_EMPTY);
        if (rank == 1)
            pf_portals_idle_reset(pf_self());
    }
}

static void run(world_program program, int nodes)
{
    struct world world = {.nodes = nodes};
    assert_int_equal(world_run(&world, program), 0);
}

static void test_counting(void **state)
{
    (void)state;
    run(program_counting, 2);
}

static void test_triggered(void **state)
{
    (void)state;
    run(program_triggered, 5);
}

static void test_flow_control(void **state)
{
    (void)state;
    run(program_flow_control, 3);
}

static void test_bounded(void **state)
{
    (void)state;
    run(program_bounded, 2);
}

static void test_polling(void **state)
{
    (void)state;
    run(program_polling, 2);
}

static void test_keeping(void **state)
{
    (void)state;
    assert_int_equal(world_run(&(struct world){.nodes = 2}, program_keeping), 0);
}

static void test_round_robin(void **state)
{
    (void)state;
    assert_int_equal(world_run(&(struct world){.nodes = 2}, program_round_robin), 0);
}

static void test_probe(void **state)
{
    (void)state;
    run(program_probe, 2);
}

static void test_notify(void **state)
{
    (void)state;
    run(program_notify, 2);
}

static void test_free_mode(void **state)
{
    (void)state;
    run(program_free, 2);
}

static void test_livelock(void **state)
{
    (void)state;
    static const char *const settings[] = {"PARFOCAL_LIVELOCK_PASSES=100000", NULL};
    struct world world = {.nodes = 2, .settings = settings};
    char text[4096];
    assert_int_equal(world_run_text(&world, program_livelock, text, sizeof text), 1);
    assert_non_null(strstr(text, "rank 1 polls without end"));
    assert_non_null(strstr(text, "PtlEQPoll"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counting),     cmocka_unit_test(test_triggered),
        cmocka_unit_test(test_flow_control), cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_polling),      cmocka_unit_test(test_keeping),
        cmocka_unit_test(test_round_robin),  cmocka_unit_test(test_probe),
        cmocka_unit_test(test_notify),       cmocka_unit_test(test_free_mode),
        cmocka_unit_test(test_livelock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
