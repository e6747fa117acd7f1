/* SPDX-License-Identifier: BSD-3-Clause */
/* Points of the specification, one test each: interfaces, limits, fields of events, claims and searches,
 * order. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)
#define QUIET      (PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE)

static ptl_me_t entry(void *start, ptl_size_t length, unsigned int options, ptl_match_bits_t bits)
{
    return (ptl_me_t){.start = start,
                      .length = length,
                      .ct_handle = PTL_CT_NONE,
                      .uid = PTL_UID_ANY,
                      .options = options,
                      .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                      .match_bits = bits};
}

static ptl_handle_me_t append(struct endpoint *e, const ptl_me_t *me, ptl_list_t list, void *user_ptr)
{
    ptl_handle_me_t handle;
    CHECK(PtlMEAppend(e->ni, e->pt, me, list, user_ptr, &handle) == PTL_OK);
    return handle;
}

static void put(struct endpoint *e, const void *data, size_t length, ptl_match_bits_t bits, ptl_size_t offset)
{
    CHECK(PtlPut(e->md, (ptl_size_t)(uintptr_t)data, length, PTL_ACK_REQ, world_address(1), e->pt, bits,
                 offset, NULL, bits) == PTL_OK);
    ptl_event_t event;
    do
        CHECK(PtlEQWait(e->eq, &event) == PTL_OK);
    while (event.type != PTL_EVENT_ACK);
    CHECK(event.ni_fail_type == PTL_NI_OK);
}

static void expect_none(struct endpoint *e)
{
    ptl_event_t event;
    unsigned int which;
    CHECK(PtlEQPoll(&e->eq, 1, 1, &event, &which) == PTL_EQ_EMPTY);
}

/* All four kinds at once, in one process: a message finds the kind that it was sent from. */
static void program_four_interfaces(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    static const unsigned int kinds[4] = {PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_NI_MATCHING | PTL_NI_LOGICAL,
                                          PTL_NI_NO_MATCHING | PTL_NI_PHYSICAL,
                                          PTL_NI_NO_MATCHING | PTL_NI_LOGICAL};
    static char memory[4][8];
    ptl_handle_ni_t ni[4];
    ptl_handle_eq_t eq[4];
    ptl_pt_index_t pt;
    ptl_process_t map[2];
    CHECK(PtlInit() == PTL_OK);
    world_barrier();
    for (int i = 0; i < 2; i++)
        map[i] = world_address(i);
    for (int k = 0; k < 4; k++) {
        CHECK(PtlNIInit(PTL_IFACE_DEFAULT, kinds[k], PTL_PID_ANY, NULL, NULL, &ni[k]) == PTL_OK);
        CHECK(PtlEQAlloc(ni[k], 16, &eq[k]) == PTL_OK && PtlPTAlloc(ni[k], 0, eq[k], 3, &pt) == PTL_OK);
        if (kinds[k] & PTL_NI_LOGICAL)
            CHECK(PtlSetMap(ni[k], 2, map) == PTL_OK);
        ptl_me_t me = entry(memory[k], 8, PTL_ME_OP_PUT | QUIET, 0);
        if (kinds[k] & PTL_NI_LOGICAL)
            me.match_id.rank = 0;
        ptl_le_t le = {memory[k], 8, PTL_CT_NONE, PTL_UID_ANY, PTL_LE_OP_PUT | QUIET};
        ptl_handle_any_t handle;
        CHECK((kinds[k] & PTL_NI_MATCHING
                   ? PtlMEAppend(ni[k], pt, &me, PTL_PRIORITY_LIST, NULL, &handle)
                   : PtlLEAppend(ni[k], pt, &le, PTL_PRIORITY_LIST, NULL, &handle)) == PTL_OK);
    }
    world_barrier();
    for (int k = 0; k < 4; k++) {
        ptl_event_t event;
        if (rank == 0) {
            ptl_md_t md = {.length = PTL_SIZE_MAX, .eq_handle = PTL_EQ_NONE, .ct_handle = PTL_CT_NONE};
            ptl_handle_md_t handle;
            char data[8] = "kind 0";
            data[5] = (char)('0' + k);
            ptl_process_t to = map[1];
            if (kinds[k] & PTL_NI_LOGICAL)
                to.rank = 1;
            CHECK(PtlMDBind(ni[k], &md, &handle) == PTL_OK);
            CHECK(PtlPut(handle, (ptl_size_t)(uintptr_t)data, 8, PTL_NO_ACK_REQ, to, 3, 0, 0, NULL, 0) ==
                  PTL_OK);
            continue;
        }
        CHECK(PtlEQWait(eq[k], &event) == PTL_OK && event.type == PTL_EVENT_PUT);
        CHECK(memory[k][5] == '0' + k);
        CHECK(kinds[k] & PTL_NI_LOGICAL ? event.initiator.rank == 0
                                        : event.initiator.phys.pid == map[0].phys.pid);
    }
    world_barrier();
    PtlFini();
}

/* What the configuration allows; a wish lowers it and cannot go below what the specification asks for. */
static void program_limits(int rank, int size, void *shared)
{
    (void)rank, (void)size, (void)shared;
    ptl_handle_ni_t ni;
    ptl_ni_limits_t wish = {.max_entries = 1 << 30, .max_cts = 5, .max_waw_ordered_size = 1}, actual;
    ptl_ni_limits_t few_indices = {.max_pt_index = 10, .max_atomic_size = 4};
    CHECK(PtlInit() == PTL_OK);
    CHECK(PtlNIInit(0, NI_OPTIONS, PTL_PID_ANY, &wish, &actual, &ni) == PTL_OK);
    CHECK(actual.max_entries == 77 && actual.max_cts == 5 && actual.max_mds == 88);
    CHECK(actual.max_pt_index == 70 && actual.max_waw_ordered_size == 64 && actual.max_war_ordered_size >= 8);
    CHECK(actual.max_atomic_size >= 64 && actual.max_triggered_ops == 99 &&
          actual.max_unexpected_headers == 66);
    CHECK(actual.features & PTL_COHERENT_ATOMICS && actual.max_msg_size == 1000000);
    CHECK(PtlNIInit(0, PTL_NI_NO_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, &few_indices, &actual, &ni) ==
          PTL_OK);
    CHECK(actual.max_pt_index == 63 && actual.max_atomic_size == 4 && actual.max_fetch_atomic_size == 4);
    PtlFini();
}

/* At the target, remote_offset is what the initiator asked for; `start` is where the data are.
 * MANAGE_LOCAL goes on by what was stored, and an entry that is full takes nothing more (fault of the peer:
 * it went on by what was sent, and beyond the end). */
static void program_manage_local(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    static unsigned char memory[64];
    unsigned char data[40];
    memset(data, 1 + rank, sizeof data);
    if (rank == 1) {
        ptl_me_t me = entry(memory, 50, PTL_ME_OP_PUT | PTL_ME_MANAGE_LOCAL | PTL_ME_MAY_ALIGN | QUIET, 1);
        append(&e, &me, PTL_PRIORITY_LIST, NULL);
    }
    world_barrier();
    static const ptl_size_t stored[3] = {40, 10, 0};
    for (int i = 0; i < 3; i++) {
        if (rank == 0) {
            put(&e, data, 40, 1, 5);
            continue;
        }
        ptl_event_t event = endpoint_expect(&e, PTL_EVENT_PUT);
        CHECK(event.mlength == stored[i] && event.rlength == 40 && event.remote_offset == 5);
        CHECK(stored[i] == 0 || event.start == memory + i * 40);
    }
    if (rank == 1)
        for (int i = 0; i < 64; i++)
            CHECK(memory[i] == (i < 50 ? 1 : 0));
    endpoint_close(&e);
}

/* The block for messages that come first, and what has come. */
static void receive_first(struct endpoint *e, void *block, ptl_size_t length, unsigned int options)
{
    ptl_me_t me =
        entry(block, length, PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_COMM_DISABLE | QUIET | options, 0);
    me.ignore_bits = ~0ULL;
    append(e, &me, PTL_OVERFLOW_LIST, block);
}

/* A search with a persistent entry finds all and counts its end as a failure; with USE_ONCE it finds one.
 * What it has found and counted is there when the call returns. */
static void program_searches(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    static char block[1000];
    ptl_handle_ct_t ct;
    ptl_ct_event_t count;
    CHECK(PtlCTAlloc(e.ni, &ct) == PTL_OK);
    if (rank == 1)
        receive_first(&e, block, sizeof block, PTL_ME_MANAGE_LOCAL);
    world_barrier();
    double begin;
    for (int i = 0; rank == 0 && i < 5; i++)
        put(&e, block, 10, i < 3 ? 7 : 8, 0);
    world_barrier();
    if (rank == 1) {
        ptl_me_t me = entry(NULL, 0, PTL_ME_OP_PUT | PTL_ME_EVENT_CT_OVERFLOW, 7);
        me.ct_handle = ct;
        ptl_event_t event;
        for (int deletes = 0; deletes < 2; deletes++) {
            begin = simgrid_get_clock();
            CHECK(PtlMESearch(e.ni, e.pt, &me, deletes ? PTL_SEARCH_DELETE : PTL_SEARCH_ONLY, &me) == PTL_OK);
            double spent = simgrid_get_clock() - begin; /* the command, and what the NIC writes */
            CHECK(spent > 0.3e-6 && spent < 1e-6);
            CHECK(PtlCTGet(ct, &count) == PTL_OK);
            CHECK(count.success == 3u * (1u + (unsigned)deletes) && count.failure == 1u + (unsigned)deletes);
            for (int i = 0; i < 3; i++) {
                CHECK(PtlEQGet(e.eq, &event) == PTL_OK && event.ni_fail_type == PTL_NI_OK);
                CHECK(event.type == (deletes ? PTL_EVENT_PUT_OVERFLOW : PTL_EVENT_SEARCH));
                CHECK(event.user_ptr == &me && event.match_bits == 7 && event.rlength == 10);
            }
            CHECK(simgrid_get_clock() == begin + spent);
            expect_none(&e);
        }
        me.options |= PTL_ME_USE_ONCE;
        CHECK(PtlMESearch(e.ni, e.pt, &me, PTL_SEARCH_ONLY, NULL) == PTL_OK); /* deleted */
        CHECK(PtlCTGet(ct, &count) == PTL_OK && count.success == 6 && count.failure == 3);
        CHECK(PtlEQGet(e.eq, &event) == PTL_OK && event.type == PTL_EVENT_SEARCH);
        CHECK(event.ni_fail_type == PTL_NI_NO_MATCH);
        me.match_bits = 8;
        CHECK(PtlMESearch(e.ni, e.pt, &me, PTL_SEARCH_DELETE, NULL) == PTL_OK);
        endpoint_expect(&e, PTL_EVENT_PUT_OVERFLOW);
        me.options |= PTL_ME_EVENT_OVER_DISABLE; /* no event, found or not */
        for (int i = 0; i < 2; i++)
            CHECK(PtlMESearch(e.ni, e.pt, &me, PTL_SEARCH_DELETE, NULL) == PTL_OK);
        expect_none(&e);
        CHECK(PtlCTGet(ct, &count) == PTL_OK && count.success == 8 && count.failure == 4);
    }
    endpoint_close(&e);
}

/* A message in the unexpected list is not asked for its permission again, and not for its operation. */
static void program_claims(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    static char block[100];
    uint64_t one = 1, old;
    if (rank == 1)
        receive_first(&e, block, sizeof block, 0);
    world_barrier();
    if (rank == 0) {
        put(&e, block, 8, 1, 0);
        CHECK(PtlGet(e.md, (ptl_size_t)(uintptr_t)&old, 8, world_address(1), e.pt, 2, 0, NULL) == PTL_OK);
        endpoint_expect(&e, PTL_EVENT_REPLY);
        CHECK(PtlAtomic(e.md, (ptl_size_t)(uintptr_t)&one, 8, PTL_ACK_REQ, world_address(1), e.pt, 3, 0, NULL,
                        0, PTL_SUM, PTL_UINT64_T) == PTL_OK);
        endpoint_expect(&e, PTL_EVENT_SEND);
        endpoint_expect(&e, PTL_EVENT_ACK);
        CHECK(PtlFetchAtomic(e.md, (ptl_size_t)(uintptr_t)&old, e.md, (ptl_size_t)(uintptr_t)&one, 8,
                             world_address(1), e.pt, 4, 0, &old, 0, PTL_SUM, PTL_UINT64_T) == PTL_OK);
        CHECK(endpoint_expect(&e, PTL_EVENT_SEND).user_ptr ==
              &old); /* of the descriptor that it was put from */
        CHECK(endpoint_expect(&e, PTL_EVENT_REPLY).mlength == 8 && old == 1);
    }
    world_barrier();
    static const ptl_event_kind_t kinds[] = {PTL_EVENT_PUT_OVERFLOW, PTL_EVENT_GET_OVERFLOW,
                                             PTL_EVENT_ATOMIC_OVERFLOW, PTL_EVENT_FETCH_ATOMIC_OVERFLOW};
    for (int i = 0; rank == 1 && i < 4; i++) {
        ptl_me_t me = entry(NULL, 0, PTL_ME_USE_ONCE | QUIET, (ptl_match_bits_t)i + 1);
        me.uid = e.uid + 1;
        append(&e, &me, PTL_PRIORITY_LIST, NULL);
        ptl_event_t event = endpoint_expect(&e, kinds[i]);
        CHECK(i < 2 || (event.atomic_operation == PTL_SUM && event.atomic_type == PTL_UINT64_T));
    }
    endpoint_close(&e);
}

/* LOCAL_INC_UH_RLENGTH: what came before the entry counts as if it were in it. */
static void program_counted_claims(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    static char block[100], memory[30];
    if (rank == 1)
        receive_first(&e, block, sizeof block, PTL_ME_MANAGE_LOCAL);
    world_barrier();
    for (int i = 0; rank == 0 && i < 3; i++)
        put(&e, block, 10, 1, 0);
    world_barrier();
    unsigned int options = PTL_ME_OP_PUT | PTL_ME_MANAGE_LOCAL | PTL_ME_LOCAL_INC_UH_RLENGTH;
    if (rank == 1) {
        ptl_me_t me = entry(memory, 15, options, 1);
        me.min_free = 6; /* one message leaves five */
        append(&e, &me, PTL_PRIORITY_LIST, memory);
        endpoint_expect(&e, PTL_EVENT_PUT_OVERFLOW);
        CHECK(endpoint_expect(&e, PTL_EVENT_AUTO_UNLINK).user_ptr == memory);
        me.length = 30;
        append(&e, &me, PTL_PRIORITY_LIST, memory);
        endpoint_expect(&e, PTL_EVENT_PUT_OVERFLOW);
        endpoint_expect(&e, PTL_EVENT_PUT_OVERFLOW);
        endpoint_expect(&e, PTL_EVENT_LINK);
    }
    world_barrier();
    if (rank == 0)
        put(&e, block, 10, 1, 0);
    else
        CHECK(endpoint_expect(&e, PTL_EVENT_PUT).start == memory + 20);
    endpoint_close(&e);
}

/* An operation-completed acknowledgement counts operations, refused ones too, and never bytes. */
static void program_completed(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    static char memory[100];
    if (rank == 1)
        endpoint_append(&e, memory, sizeof memory, PTL_ME_OP_PUT | PTL_ME_EVENT_COMM_DISABLE | QUIET, 1,
                        PTL_PRIORITY_LIST, NULL);
    world_barrier();
    if (rank == 0) {
        ptl_handle_ct_t ct;
        ptl_ct_event_t count;
        CHECK(PtlCTAlloc(e.ni, &ct) == PTL_OK);
        ptl_md_t md = {.length = PTL_SIZE_MAX,
                       .options = PTL_MD_EVENT_CT_ACK | PTL_MD_EVENT_CT_BYTES | PTL_MD_UNORDERED |
                                  PTL_MD_UNRELIABLE | PTL_MD_VOLATILE,
                       .eq_handle = PTL_EQ_NONE,
                       .ct_handle = ct};
        ptl_handle_md_t handle;
        CHECK(PtlMDBind(e.ni, &md, &handle) == PTL_OK);
        for (int bits = 1; bits <= 2; bits++) /* the second finds no entry */
            CHECK(PtlPut(handle, (ptl_size_t)(uintptr_t)memory, 50, PTL_OC_ACK_REQ, world_address(1), e.pt,
                         (ptl_match_bits_t)bits, 0, NULL, 0) == PTL_OK);
        CHECK(PtlCTWait(ct, 2, &count) == PTL_OK && count.success == 2 && count.failure == 0);
    }
    endpoint_close(&e);
}

/* The order of short messages to one address, as max_waw_ordered_size and max_war_ordered_size promise. */
static void program_order(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 1024);
    enum { ROUNDS = 100 };
    static uint64_t memory[8], got[ROUNDS][8];
    static uint64_t values[2 * ROUNDS][8];
    if (rank == 1)
        endpoint_append(&e, memory, sizeof memory,
                        PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_COMM_DISABLE | QUIET, 1,
                        PTL_PRIORITY_LIST, NULL);
    world_barrier();
    if (rank == 0) {
        for (int i = 0; i < 2 * ROUNDS; i++)
            for (int word = 0; word < 8; word++)
                values[i][word] = (uint64_t)i;
        for (int i = 0; i < ROUNDS; i++) { /* write, write, read, write: no actor waits */
            size_t length = i % 2 ? 64 : 8;
            for (int k = 0; k < 2; k++)
                CHECK(PtlPut(e.md, (ptl_size_t)(uintptr_t)values[2 * i + k], length, PTL_NO_ACK_REQ,
                             world_address(1), e.pt, 1, 0, NULL, 0) == PTL_OK);
            CHECK(PtlGet(e.md, (ptl_size_t)(uintptr_t)got[i], length, world_address(1), e.pt, 1, 0, NULL) ==
                  PTL_OK);
        }
        int replies = 0;
        while (replies < ROUNDS) {
            ptl_event_t event;
            CHECK(PtlEQWait(e.eq, &event) == PTL_OK && event.ni_fail_type == PTL_NI_OK);
            replies += event.type == PTL_EVENT_REPLY;
        }
        for (int i = 0; i < ROUNDS; i++)
            for (int word = 0; word < (i % 2 ? 8 : 1); word++)
                CHECK(got[i][word] == (uint64_t)(2 * i + 1));
    }
    endpoint_close(&e);
}

/* The event of a put without payload comes behind those of the puts before it, which are still on their way
 * through the target's bus. */
static void program_empty_last(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    static const size_t lengths[] = {4000, 0, 200000, 0, 8, 0, 500, 500, 0};
    enum { COUNT = sizeof lengths / sizeof lengths[0] };
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, PTL_PT_MATCH_UNORDERED, 64); /* a permission that changes nothing */
    static char memory[200000];
    if (rank == 1)
        endpoint_append(&e, memory, sizeof memory, PTL_ME_OP_PUT | QUIET, 1, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    for (size_t i = 0; i < COUNT; i++) {
        if (rank == 0)
            CHECK(PtlPut(e.md, (ptl_size_t)(uintptr_t)memory, lengths[i], PTL_NO_ACK_REQ, world_address(1),
                         e.pt, 1, 0, NULL, i) == PTL_OK);
        else if (rank == 1)
            CHECK(endpoint_expect(&e, PTL_EVENT_PUT).hdr_data == i);
    }
    world_barrier();
    endpoint_close(&e);
}

/* A configuration in which nothing travels with the command has atomics all the same. */
static void program_atomics_by_dma(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    static int32_t memory[20];
    int32_t values[20];
    for (int i = 0; i < 20; i++)
        values[i] = i;
    if (rank == 1)
        endpoint_append(&e, memory, sizeof memory, PTL_ME_OP_PUT | PTL_ME_EVENT_COMM_DISABLE | QUIET, 1,
                        PTL_PRIORITY_LIST, NULL);
    world_barrier();
    if (rank == 0) {
        CHECK(PtlAtomic(e.md, (ptl_size_t)(uintptr_t)values, sizeof values, PTL_ACK_REQ, world_address(1),
                        e.pt, 1, 0, NULL, 0, PTL_SUM, PTL_INT32_T) == PTL_OK);
        endpoint_expect(&e, PTL_EVENT_SEND);
        endpoint_expect(&e, PTL_EVENT_ACK);
    }
    world_barrier();
    for (int i = 0; rank == 1 && i < 20; i++)
        CHECK(memory[i] == i);
    endpoint_close(&e);
}

static void run(world_program program, const char *const *settings)
{
    struct world world = {.nodes = 2, .settings = settings};
    assert_int_equal(world_run(&world, program), 0);
    struct world node = {.nodes = 1, .ranks_per_node = 2, .settings = settings};
    assert_int_equal(world_run(&node, program), 0);
}

static const char *const limits[] = {"PARFOCAL_PTL_MAX_ENTRIES=77",
                                     "PARFOCAL_PTL_MAX_OBJECTS=88",
                                     "PARFOCAL_PTL_MAX_TRIGGERED=99",
                                     "PARFOCAL_PTL_MAX_UNEXPECTED=66",
                                     "PARFOCAL_PTL_MAX_PT_INDEX=70",
                                     "PARFOCAL_PTL_MAX_MSG_SIZE=1000000",
                                     NULL};
static const char *const no_pio[] = {"PARFOCAL_NIC_PIO_MAX=0", NULL};

#define TEST(name, settings)                                                                                 \
    static void test_##name(void **state)                                                                    \
    {                                                                                                        \
        (void)state;                                                                                         \
        run(program_##name, settings);                                                                       \
    }
TEST(four_interfaces, NULL)
TEST(limits, limits)
TEST(manage_local, NULL)
TEST(searches, NULL)
TEST(claims, NULL)
TEST(counted_claims, NULL)
TEST(completed, NULL)
TEST(order, NULL)
TEST(empty_last, NULL)
TEST(atomics_by_dma, no_pio)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_four_interfaces), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_manage_local),    cmocka_unit_test(test_searches),
        cmocka_unit_test(test_claims),          cmocka_unit_test(test_counted_claims),
        cmocka_unit_test(test_completed),       cmocka_unit_test(test_order),
        cmocka_unit_test(test_atomics_by_dma),  cmocka_unit_test(test_empty_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
