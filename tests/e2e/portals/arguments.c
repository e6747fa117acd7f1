/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function before PtlInit, and with arguments that are not valid. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)

/* The same calls in both situations: with handles that name nothing. */
static void check_all(int expected)
{
    ptl_handle_any_t bad = PTL_INVALID_HANDLE, out;
    ptl_process_t id = {.phys = {0, 0}};
    ptl_pt_index_t pt;
    ptl_uid_t uid;
    ptl_event_t event;
    ptl_ct_event_t ct = {0, 0};
    ptl_sr_value_t value;
    ptl_size_t size, one = 1;
    unsigned int which;
    ptl_md_t md = {.eq_handle = PTL_EQ_NONE, .ct_handle = PTL_CT_NONE};
    ptl_me_t me = {.ct_handle = PTL_CT_NONE};
    ptl_le_t le = {.ct_handle = PTL_CT_NONE};
    char operand[32] = {0};
    const ptl_op_t sum = PTL_SUM, swap = PTL_SWAP;
    const ptl_datatype_t type = PTL_INT32_T;
    CHECK(PtlNIFini(bad) == expected);
    CHECK(PtlNIStatus(bad, PTL_SR_DROP_COUNT, &value) == expected);
    CHECK(PtlNIHandle(bad, &out) == expected);
    CHECK(PtlSetMap(bad, 1, &id) == expected);
    CHECK(PtlGetMap(bad, 1, &id, &size) == expected);
    CHECK(PtlGetUid(bad, &uid) == expected);
    CHECK(PtlGetId(bad, &id) == expected);
    CHECK(PtlGetPhysId(bad, &id) == expected);
    CHECK(PtlPTAlloc(bad, 0, PTL_EQ_NONE, PTL_PT_ANY, &pt) == expected);
    CHECK(PtlPTFree(bad, 0) == expected);
    CHECK(PtlPTDisable(bad, 0) == expected);
    CHECK(PtlPTEnable(bad, 0) == expected);
    CHECK(PtlMDBind(bad, &md, &out) == expected);
    CHECK(PtlMDRelease(bad) == expected);
    CHECK(PtlMEAppend(bad, 0, &me, PTL_PRIORITY_LIST, NULL, &out) == expected);
    CHECK(PtlMEUnlink(bad) == expected);
    CHECK(PtlMESearch(bad, 0, &me, PTL_SEARCH_ONLY, NULL) == expected);
    CHECK(PtlLEAppend(bad, 0, &le, PTL_PRIORITY_LIST, NULL, &out) == expected);
    CHECK(PtlLEUnlink(bad) == expected);
    CHECK(PtlLESearch(bad, 0, &le, PTL_SEARCH_ONLY, NULL) == expected);
    CHECK(PtlEQAlloc(bad, 1, &out) == expected);
    CHECK(PtlEQFree(bad) == expected);
    CHECK(PtlEQGet(bad, &event) == expected);
    CHECK(PtlEQWait(bad, &event) == expected);
    CHECK(PtlEQPoll(&bad, 1, 0, &event, &which) == expected);
    CHECK(PtlCTAlloc(bad, &out) == expected);
    CHECK(PtlCTFree(bad) == expected);
    CHECK(PtlCTCancelTriggered(bad) == expected);
    CHECK(PtlCTGet(bad, &ct) == expected);
    CHECK(PtlCTWait(bad, 1, &ct) == expected);
    CHECK(PtlCTPoll(&bad, &one, 1, 0, &ct, &which) == expected);
    CHECK(PtlCTSet(bad, ct) == expected);
    CHECK(PtlCTInc(bad, ct) == expected);
    CHECK(PtlPut(bad, 0, 0, PTL_NO_ACK_REQ, id, 0, 0, 0, NULL, 0) == expected);
    CHECK(PtlGet(bad, 0, 0, id, 0, 0, 0, NULL) == expected);
    CHECK(PtlAtomic(bad, 0, 4, PTL_NO_ACK_REQ, id, 0, 0, 0, NULL, 0, sum, type) == expected);
    CHECK(PtlFetchAtomic(bad, 0, bad, 0, 4, id, 0, 0, 0, NULL, 0, sum, type) == expected);
    CHECK(PtlSwap(bad, 0, bad, 0, 4, id, 0, 0, 0, NULL, 0, operand, swap, type) == expected);
    CHECK(PtlTriggeredPut(bad, 0, 0, PTL_NO_ACK_REQ, id, 0, 0, 0, NULL, 0, bad, 1) == expected);
    CHECK(PtlTriggeredGet(bad, 0, 0, id, 0, 0, 0, NULL, bad, 1) == expected);
    CHECK(PtlTriggeredAtomic(bad, 0, 4, PTL_NO_ACK_REQ, id, 0, 0, 0, NULL, 0, sum, type, bad, 1) == expected);
    CHECK(PtlTriggeredFetchAtomic(bad, 0, bad, 0, 4, id, 0, 0, 0, NULL, 0, sum, type, bad, 1) == expected);
    CHECK(PtlTriggeredSwap(bad, 0, bad, 0, 4, id, 0, 0, 0, NULL, 0, operand, swap, type, bad, 1) == expected);
    CHECK(PtlTriggeredCTInc(bad, ct, bad, 1) == expected);
    CHECK(PtlTriggeredCTSet(bad, ct, bad, 1) == expected);
    CHECK(PtlTriggeredMEAppend(bad, 0, &me, PTL_PRIORITY_LIST, NULL, &out, bad, 1) == expected);
    CHECK(PtlTriggeredMEUnlink(bad, bad, 1) == expected);
    CHECK(PtlStartBundle(bad) == expected);
    CHECK(PtlEndBundle(bad) == expected);
}

static void program_all(int rank, int size, void *shared)
{
    (void)rank, (void)size, (void)shared;
    ptl_handle_ni_t ni;
    CHECK(PtlNIInit(PTL_IFACE_DEFAULT, NI_OPTIONS, PTL_PID_ANY, NULL, NULL, &ni) == PTL_NO_INIT);
    CHECK(PtlAtomicSync() == PTL_NO_INIT);
    check_all(PTL_NO_INIT);
    CHECK(PtlInit() == PTL_OK && PtlInit() == PTL_OK);
    check_all(PTL_ARG_INVALID);
    CHECK(PtlAtomicSync() == PTL_OK);
    CHECK(PtlHandleIsEqual(PTL_EQ_NONE, PTL_EQ_NONE) && !PtlHandleIsEqual(PTL_EQ_NONE, PTL_INVALID_HANDLE));
    CHECK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING, PTL_PID_ANY, NULL, NULL, &ni) == PTL_ARG_INVALID);
    CHECK(PtlNIInit(7, NI_OPTIONS, PTL_PID_ANY, NULL, NULL, &ni) == PTL_ARG_INVALID);
    PtlFini();
    CHECK(PtlAtomicSync() == PTL_OK);
    PtlFini();
    CHECK(PtlAtomicSync() == PTL_NO_INIT);
}

/* Valid handles, one wrong argument each; limits; use after free. */
static void program_details(int rank, int size, void *shared)
{
    (void)rank, (void)size, (void)shared;
    ptl_handle_ni_t ni, again, flat;
    ptl_ni_limits_t limits = {.max_eqs = 2, .max_cts = 1, .max_mds = 1, .max_entries = 2, .max_pt_index = 3},
                    actual;
    CHECK(PtlInit() == PTL_OK);
    CHECK(PtlNIInit(PTL_IFACE_DEFAULT, NI_OPTIONS, PTL_PID_ANY, &limits, &actual, &ni) == PTL_OK);
    CHECK(actual.max_eqs == 2 && actual.max_pt_index == 3 && actual.max_msg_size > 0);
    CHECK(PtlNIInit(PTL_IFACE_DEFAULT, NI_OPTIONS, PTL_PID_ANY, NULL, NULL, &again) == PTL_OK && again == ni);
    CHECK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_NO_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL,
                    &flat) == PTL_OK);
    ptl_handle_eq_t eq, eq2, eq3;
    CHECK(PtlEQAlloc(ni, 10, &eq) == PTL_OK && PtlEQAlloc(ni, 10, &eq2) == PTL_OK);
    CHECK(PtlEQAlloc(ni, 10, &eq3) == PTL_NO_SPACE);
    CHECK(PtlEQFree(eq2) == PTL_OK && PtlEQFree(eq2) == PTL_ARG_INVALID);
    CHECK(PtlEQAlloc(ni, 10, &eq3) == PTL_OK && eq3 != eq2);
    ptl_event_t event;
    CHECK(PtlEQGet(eq, NULL) == PTL_ARG_INVALID && PtlEQGet(eq2, &event) == PTL_ARG_INVALID);
    ptl_handle_ni_t owner;
    CHECK(PtlNIHandle(eq, &owner) == PTL_OK && owner == ni);
    ptl_pt_index_t pt, pt2;
    CHECK(PtlPTAlloc(ni, PTL_PT_FLOWCTRL, PTL_EQ_NONE, PTL_PT_ANY, &pt) == PTL_PT_EQ_NEEDED);
    CHECK(PtlPTAlloc(ni, 1U << 20, eq, PTL_PT_ANY, &pt) == PTL_ARG_INVALID);
    CHECK(PtlPTAlloc(ni, 0, eq, 4, &pt) == PTL_ARG_INVALID);
    CHECK(PtlPTAlloc(flat, 0, eq, 0, &pt) == PTL_ARG_INVALID); /* another interface's queue */
    CHECK(PtlPTAlloc(ni, 0, eq, 2, &pt) == PTL_OK && pt == 2);
    CHECK(PtlPTAlloc(ni, 0, eq, 2, &pt2) == PTL_PT_IN_USE);
    for (int i = 0; i < 3; i++)
        CHECK(PtlPTAlloc(ni, 0, eq, PTL_PT_ANY, &pt2) == PTL_OK);
    CHECK(PtlPTAlloc(ni, 0, eq, PTL_PT_ANY, &pt2) == PTL_PT_FULL);
    char memory[10];
    ptl_md_t md = {.start = memory, .length = 10, .eq_handle = eq, .ct_handle = PTL_CT_NONE};
    ptl_handle_md_t md_handle, md_handle2;
    CHECK(PtlMDBind(ni, &md, &md_handle) == PTL_OK && PtlMDBind(ni, &md, &md_handle2) == PTL_NO_SPACE);
    md.eq_handle = eq2;
    CHECK(PtlMDBind(ni, &md, &md_handle2) == PTL_ARG_INVALID);
    ptl_process_t self, nobody = {.phys = {PTL_NID_ANY, 0}};
    CHECK(PtlGetId(ni, &self) == PTL_OK);
    CHECK(PtlPut(md_handle, 5, 6, PTL_NO_ACK_REQ, self, pt, 0, 0, NULL, 0) == PTL_ARG_INVALID);
    CHECK(PtlPut(md_handle, 11, 0, PTL_NO_ACK_REQ, self, pt, 0, 0, NULL, 0) == PTL_ARG_INVALID);
    CHECK(PtlPut(md_handle, 0, 1, PTL_NO_ACK_REQ, nobody, pt, 0, 0, NULL, 0) == PTL_ARG_INVALID);
    CHECK(PtlPut(md_handle, 0, 1, PTL_NO_ACK_REQ, self, 99, 0, 0, NULL, 0) == PTL_ARG_INVALID);
    CHECK(PtlPut(md_handle, 0, 1, PTL_CT_ACK_REQ, self, pt, 0, 0, NULL, 0) == PTL_ARG_INVALID);
    ptl_me_t me = {
        .start = memory, .length = 10, .ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY, .options = 1U << 30};
    ptl_handle_me_t me_handle;
    CHECK(PtlMEAppend(ni, pt, &me, PTL_PRIORITY_LIST, NULL, &me_handle) == PTL_ARG_INVALID);
    me.options = PTL_ME_OP_PUT;
    CHECK(PtlMEAppend(flat, pt, &me, PTL_PRIORITY_LIST, NULL, &me_handle) == PTL_ARG_INVALID);
    CHECK(PtlMEAppend(ni, pt, NULL, PTL_PRIORITY_LIST, NULL, &me_handle) == PTL_ARG_INVALID);
    CHECK(PtlMEAppend(ni, pt, &me, PTL_PRIORITY_LIST, NULL, &me_handle) == PTL_OK);
    CHECK(PtlMEAppend(ni, pt, &me, PTL_PRIORITY_LIST, NULL, &md_handle2) == PTL_OK);
    CHECK(PtlMEAppend(ni, pt, &me, PTL_PRIORITY_LIST, NULL, &md_handle2) == PTL_NO_SPACE);
    CHECK(PtlPTFree(ni, pt) == PTL_PT_IN_USE);
    CHECK(PtlLEUnlink(me_handle) == PTL_ARG_INVALID && PtlMEUnlink(me_handle) == PTL_OK);
    CHECK(PtlMEUnlink(me_handle) == PTL_ARG_INVALID && PtlMEUnlink(md_handle2) == PTL_OK);
    CHECK(PtlPTFree(ni, pt) == PTL_OK && PtlPTFree(ni, pt) == PTL_ARG_INVALID);
    CHECK(PtlSetMap(ni, 1, &self) == PTL_ARG_INVALID);                         /* a physical interface */
    CHECK(PtlNIFini(ni) == PTL_OK && PtlEQGet(eq, &event) != PTL_ARG_INVALID); /* initialised twice */
    CHECK(PtlNIFini(ni) == PTL_OK && PtlEQGet(eq, &event) == PTL_ARG_INVALID);
    PtlFini();
}

static void test_all(void **state)
{
    (void)state;
    struct world world = {.nodes = 1};
    assert_int_equal(world_run(&world, program_all), 0);
}

static void test_details(void **state)
{
    (void)state;
    struct world world = {.nodes = 1};
    assert_int_equal(world_run(&world, program_details), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_details)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
