/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program without MPI asks of its launcher, and memory that changes without an event. */
#include "world.h"

#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include "lowlevel/job/include/parfocal_portals.h"

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)
#define SILENT     (PTL_ME_OP_PUT | PTL_ME_EVENT_SUCCESS_DISABLE | PTL_ME_EVENT_LINK_DISABLE)

/* Rank 1 looks at its memory between polls that find nothing. It must wake up when the bytes are there. */
static void program_watch_memory(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    static uint64_t words[2];
    volatile uint64_t *seen = words;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    if (rank == 1)
        endpoint_append(&e, words, sizeof words, SILENT, 5, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    static const uint64_t value = 77, one = 1;
    ptl_event_t event;
    if (rank == 0) {
        sg_actor_sleep_for(1e-3);
        CHECK(PtlPut(e.md, (ptl_size_t)&value, sizeof value, PTL_NO_ACK_REQ, world_address(1), e.pt, 5, 0,
                     NULL, 0) == PTL_OK);
        sg_actor_sleep_for(1e-3);
        CHECK(PtlAtomic(e.md, (ptl_size_t)&one, sizeof one, PTL_NO_ACK_REQ, world_address(1), e.pt, 5, 8,
                        NULL, 0, PTL_SUM, PTL_UINT64_T) == PTL_OK);
    } else {
        for (int i = 0; i < 2; i++) {
            while (seen[i] == 0)
                CHECK(PtlEQGet(e.eq, &event) == PTL_EQ_EMPTY);
            double late = simgrid_get_clock() - (i + 1) * 1e-3;
            CHECK(late > 0.5e-6 && late < 10e-6);
        }
        CHECK(words[0] == 77 && words[1] == 1);
    }
    endpoint_close(&e);
}

/* The barrier ends when the last one comes, for all at the same date, and again. */
static void program_barrier(int rank, int size, void *shared)
{
    (void)shared;
    CHECK(pf_portals_init() == 0);
    CHECK(pf_portals_rank() == rank && pf_portals_size() == size);
    for (int i = 1; i <= 3; i++) {
        sg_actor_sleep_for(1e-3 * ((rank + i) % size));
        CHECK(pf_portals_barrier() == 0);
        double date = simgrid_get_clock(), expected = 1e-3 * (size - 1) * i;
        CHECK(date - expected < 1e-12 && expected - date < 1e-12);
    }
    pf_portals_fini();
}

/* The first call of all ranks, at one date, before any PtlInit. */
static void program_barrier_first(int rank, int size, void *shared)
{
    (void)shared;
    CHECK(pf_portals_barrier() == 0);
    CHECK(simgrid_get_clock() == 0.0);
    CHECK(PtlInit() == PTL_OK);
    sg_actor_sleep_for(1e-3 * rank);
    CHECK(pf_portals_barrier() == 0);
    CHECK(simgrid_get_clock() == 1e-3 * (size - 1));
    PtlFini();
}

/* The number of the host is the nid, in any order of arrival. */
static void program_hosts(int rank, int size, void *shared)
{
    (void)shared;
    sg_actor_sleep_for(1e-3 * (size - rank));
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    ptl_process_t own;
    CHECK(PtlGetPhysId(e.ni, &own) == PTL_OK);
    CHECK(own.phys.nid == (ptl_nid_t)rank && own.phys.pid == (ptl_pid_t)rank + 1);
    endpoint_close(&e);
}

/* Every rank has another pid, none has 0, and the map knows all, also those that chose their own. */
static void program_map(int rank, int size, void *shared)
{
    (void)shared;
    ptl_handle_ni_t ni;
    ptl_process_t map[8], own;
    CHECK(pf_portals_map(PTL_INVALID_HANDLE, map) == PTL_NO_INIT);
    CHECK(PtlInit() == PTL_OK);
    CHECK(pf_portals_map(PTL_INVALID_HANDLE, map) == PTL_ARG_INVALID);
    ptl_pid_t wanted = rank == 2 ? 99 : PTL_PID_ANY;
    CHECK(PtlNIInit(PTL_IFACE_DEFAULT, NI_OPTIONS, wanted, NULL, NULL, &ni) == PTL_OK);
    CHECK(pf_portals_map(ni, NULL) == PTL_ARG_INVALID);
    CHECK(pf_portals_map(ni, map) == PTL_OK);
    CHECK(PtlGetPhysId(ni, &own) == PTL_OK);
    CHECK(own.phys.nid == map[rank].phys.nid && own.phys.pid == map[rank].phys.pid);
    CHECK(rank != 2 || own.phys.pid == 99);
    for (int i = 0; i < size; i++)
        CHECK(map[i].phys.pid != 0);
    CHECK(PtlNIFini(ni) == PTL_OK);
    PtlFini();
    CHECK(!pf_portals_leave(pf_self()));
}

/* A process that ends is closed, whatever it has left open; what is on its way to it then has no effect. */
static void program_leave(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    static char data[100000];
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    CHECK(PtlInit() == PTL_OK); /* twice */
    if (rank == 1)
        endpoint_append(&e, data, sizeof data, PTL_ME_OP_PUT, 5, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    if (rank == 1) {
        CHECK(pf_portals_leave(pf_self()) && !pf_portals_leave(pf_self()));
        return;
    }
    CHECK(PtlPut(e.md, (ptl_size_t)data, sizeof data, PTL_ACK_REQ, world_address(1), e.pt, 5, 0, NULL, 0) ==
          PTL_OK);
    ptl_event_t event;
    do
        CHECK(PtlEQWait(e.eq, &event) == PTL_OK);
    while (event.type != PTL_EVENT_ACK);
    CHECK(event.ni_fail_type != PTL_NI_OK);
    CHECK(pf_portals_leave(pf_self()));
}

/* An acknowledgement that nothing counts does not keep the descriptor busy (as programs of the reference
 * implementation's test suite have it). */
static void program_uncounted(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    static uint64_t word;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    if (rank == 1)
        endpoint_append(&e, &word, sizeof word, SILENT, 5, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    for (int i = 0; rank == 0 && i < 4; i++) {
        bool counted = i % 2;
        ptl_md_t md = {.start = &word, .length = sizeof word, .eq_handle = PTL_EQ_NONE};
        ptl_handle_md_t handle;
        ptl_ct_event_t sent;
        md.options = PTL_MD_EVENT_CT_SEND | (counted ? PTL_MD_EVENT_CT_ACK : 0);
        CHECK(PtlCTAlloc(e.ni, &md.ct_handle) == PTL_OK);
        CHECK(PtlMDBind(e.ni, &md, &handle) == PTL_OK);
        ptl_ack_req_t request = i < 2 ? PTL_CT_ACK_REQ : PTL_ACK_REQ;
        CHECK(PtlPut(handle, 0, sizeof word, request, world_address(1), e.pt, 5, 0, NULL, 0) == PTL_OK);
        CHECK(PtlCTWait(md.ct_handle, 1, &sent) == PTL_OK && sent.failure == 0);
        CHECK(PtlMDRelease(handle) == (counted ? PTL_IN_USE : PTL_OK));
        while (counted && PtlMDRelease(handle) == PTL_IN_USE) /* ends, as a loop over polls does */
            ;
    }
    endpoint_close(&e);
}

static void test_uncounted(void **state)
{
    (void)state;
    assert_int_equal(world_run(&(struct world){.nodes = 2}, program_uncounted), 0);
}

static void test_watch_memory(void **state)
{
    (void)state;
    assert_int_equal(world_run(&(struct world){.nodes = 2}, program_watch_memory), 0);
    assert_int_equal(world_run(&(struct world){.nodes = 1, .ranks_per_node = 2}, program_watch_memory), 0);
}

static void test_barrier(void **state)
{
    (void)state;
    assert_int_equal(world_run(&(struct world){.nodes = 5}, program_barrier), 0);
    assert_int_equal(world_run(&(struct world){.nodes = 1}, program_barrier), 0);
}

static void test_barrier_first(void **state)
{
    (void)state;
    assert_int_equal(world_run(&(struct world){.nodes = 3, .ranks_per_node = 2}, program_barrier_first), 0);
}

static void test_hosts(void **state)
{
    (void)state;
    assert_int_equal(world_run(&(struct world){.nodes = 5}, program_hosts), 0);
}

static void test_map(void **state)
{
    (void)state;
    assert_int_equal(world_run(&(struct world){.nodes = 2, .ranks_per_node = 2}, program_map), 0);
}

static void test_leave(void **state)
{
    (void)state;
    assert_int_equal(world_run(&(struct world){.nodes = 2}, program_leave), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_watch_memory), cmocka_unit_test(test_barrier),
                                       cmocka_unit_test(test_map),          cmocka_unit_test(test_leave),
                                       cmocka_unit_test(test_uncounted),    cmocka_unit_test(test_hosts),
                                       cmocka_unit_test(test_barrier_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
