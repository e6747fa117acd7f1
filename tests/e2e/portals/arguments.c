/* SPDX-License-Identifier: BSD-3-Clause */
/* What each function returns for what it cannot do, by the table in arguments.def. Usage: arguments
 * portals4.h */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>

#define PHYSICAL    (PTL_NI_MATCHING | PTL_NI_PHYSICAL)
#define UNUSED_KIND (PTL_NI_NO_MATCHING | PTL_NI_LOGICAL)
#define QUIET       (PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_COMM_DISABLE)

static const char *header_path;

struct objects {
    ptl_handle_any_t bad, out;
    ptl_handle_ni_t ni, logical, flat, unmapped;
    ptl_handle_eq_t eq, empty_eq, full_eq, flat_eq;
    ptl_handle_ct_t ct, flat_ct;
    ptl_handle_md_t md, busy_md, all_md, logical_md, unmapped_md;
    ptl_handle_me_t me, spare_me, used_me;
    ptl_handle_le_t le, used_le;
    ptl_pt_index_t pt, pt2, free_pt, full_pt, flat_pt, flat_pt2, index;
    ptl_process_t self, nobody, rank0, id;
    ptl_event_t event;
    ptl_ct_event_t count;
    ptl_sr_value_t value;
    ptl_size_t size, one;
    ptl_uid_t uid;
    unsigned int which;
    char memory[10];
    ptl_iovec_t pieces[5];
};

/* Later designators win: what a row gives replaces what is valid. */
#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma clang diagnostic ignored "-Winitializer-overrides"
#endif
#define MD(...)                                                                                              \
    (&(ptl_md_t){.start = o->memory,                                                                         \
                 .length = sizeof o->memory,                                                                 \
                 .eq_handle = o->eq,                                                                         \
                 .ct_handle = PTL_CT_NONE,                                                                   \
                 __VA_ARGS__})
#define ENTRY(...)                                                                                           \
    .start = o->memory, .length = sizeof o->memory, .ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY,            \
    .options = PTL_ME_OP_PUT | QUIET, __VA_ARGS__
#define ME(...)             (&(ptl_me_t){.match_id.phys = {PTL_NID_ANY, PTL_PID_ANY}, ENTRY(__VA_ARGS__)})
#define LE(...)             (&(ptl_le_t){ENTRY(__VA_ARGS__)})
#define COUNT(good, failed) ((ptl_ct_event_t){good, failed})

static void check_code(int code, int expected, const char *call, int line)
{
    if (code == expected)
        return;
    fprintf(stderr, "arguments.def:%d: %d and not %d from %s\n", line, code, expected, call);
    CHECK(code == expected);
}

/* More events than the queue holds. */
static void fill_queue(struct objects *o)
{
    while (o->full_eq && PtlEQGet(o->full_eq, &o->event) == PTL_OK)
        ;
    for (int i = 0; i < 4; i++)
        PtlMESearch(o->ni, o->full_pt, ME(.options = PTL_ME_OP_PUT | PTL_ME_USE_ONCE), PTL_SEARCH_ONLY, NULL);
    sg_actor_sleep_for(1e-3);
}

/* The fourth kind of interface, when the rows that need it closed are done. */
static void open_unmapped(struct objects *o)
{
    if (PtlNIInit(PTL_IFACE_DEFAULT, UNUSED_KIND, PTL_PID_ANY, NULL, NULL, &o->unmapped) == PTL_OK)
        CHECK(PtlMDBind(o->unmapped, MD(.eq_handle = PTL_EQ_NONE), &o->unmapped_md) == PTL_OK);
}

/* Before PtlInit, no function but these does anything. */
static void without_init(struct objects *o)
{
#define WITHOUT_INIT(function, expected, call)
#define CASE(function, expected, call) check_code(call, PTL_NO_INIT, #call, __LINE__);
#include "arguments.def"
#undef CASE
#undef WITHOUT_INIT
#define CASE(function, expected, call)
#define WITHOUT_INIT(function, expected, call) check_code(call, expected, #call, __LINE__);
#include "arguments.def"
#undef CASE
#undef WITHOUT_INIT
}

static void with_objects(struct objects *o)
{
#define WITHOUT_INIT(function, expected, call)
#define CASE(function, expected, call) check_code(call, expected, #call, __LINE__);
#include "arguments.def"
#undef CASE
#undef WITHOUT_INIT
}

static const char *const covered[] = {
#define CASE(function, expected, call)         #function,
#define WITHOUT_INIT(function, expected, call) #function,
#include "arguments.def"
#undef CASE
#undef WITHOUT_INIT
};
enum { ROWS = sizeof covered / sizeof covered[0] };

static void open_others(struct objects *o)
{
    const ptl_ni_limits_t few = {.max_list_size = 1, .max_entries = 3};
    CHECK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_NO_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, &few, NULL,
                    &o->flat) == PTL_OK);
    CHECK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, NULL, NULL,
                    &o->logical) == PTL_OK);
    CHECK(PtlEQAlloc(o->flat, 10, &o->flat_eq) == PTL_OK && PtlCTAlloc(o->flat, &o->flat_ct) == PTL_OK);
    CHECK(PtlPTAlloc(o->flat, 0, o->flat_eq, 0, &o->flat_pt) == PTL_OK);
    CHECK(PtlPTAlloc(o->flat, 0, PTL_EQ_NONE, 1, &o->flat_pt2) == PTL_OK);
    CHECK(PtlLEAppend(o->flat, o->flat_pt, LE(), PTL_PRIORITY_LIST, NULL, &o->le) == PTL_OK);
    CHECK(PtlSetMap(o->logical, 1, &o->self) == PTL_OK);
    CHECK(PtlMDBind(o->logical, MD(.eq_handle = PTL_EQ_NONE), &o->logical_md) == PTL_OK);
}

/* A header that waits in an overflow entry of each of the interfaces; the entries stay in use. */
static void leave_headers(struct objects *o)
{
    ptl_handle_md_t flat_md;
    CHECK(PtlMDBind(o->flat, MD(.eq_handle = PTL_EQ_NONE), &flat_md) == PTL_OK);
    CHECK(PtlMEAppend(o->ni, o->pt2, ME(), PTL_OVERFLOW_LIST, NULL, &o->used_me) == PTL_OK);
    CHECK(PtlPut(o->all_md, (ptl_size_t)(uintptr_t)o->memory, 1, PTL_NO_ACK_REQ, o->self, o->pt2, 0, 0, NULL,
                 0) == PTL_OK);
    CHECK(PtlLEAppend(o->flat, o->flat_pt2, LE(), PTL_OVERFLOW_LIST, NULL, &o->used_le) == PTL_OK);
    CHECK(PtlPut(flat_md, 0, 1, PTL_NO_ACK_REQ, o->self, o->flat_pt2, 0, 0, NULL, 0) == PTL_OK);
    sg_actor_sleep_for(1e-3);
}

static void open_main(struct objects *o)
{
    const ptl_ni_limits_t few = {.max_entries = 4,
                                 .max_mds = 3,
                                 .max_eqs = 3,
                                 .max_cts = 1,
                                 .max_pt_index = 3, /* 63 is the least that there must be */
                                 .max_iovecs = 4,
                                 .max_list_size = 1,
                                 .max_triggered_ops = 1};
    ptl_ni_limits_t actual;
    CHECK(PtlNIInit(PTL_IFACE_DEFAULT, PHYSICAL, PTL_PID_ANY, &few, &actual, &o->ni) == PTL_OK);
    CHECK(actual.max_pt_index == 63 && actual.max_eqs == 3 && actual.max_iovecs == 4);
    CHECK(PtlGetId(o->ni, &o->self) == PTL_OK);
    CHECK(PtlEQAlloc(o->ni, 10, &o->eq) == PTL_OK && PtlEQAlloc(o->ni, 10, &o->empty_eq) == PTL_OK);
    CHECK(PtlEQAlloc(o->ni, 2, &o->full_eq) == PTL_OK && PtlCTAlloc(o->ni, &o->ct) == PTL_OK);
    CHECK(PtlMDBind(o->ni, MD(), &o->md) == PTL_OK && PtlMDBind(o->ni, MD(), &o->busy_md) == PTL_OK);
    CHECK(PtlMDBind(o->ni, MD(.start = NULL, .length = PTL_SIZE_MAX, .eq_handle = PTL_EQ_NONE), &o->all_md) ==
          PTL_OK);
    CHECK(PtlPTAlloc(o->ni, 0, o->eq, 5, &o->pt) == PTL_OK && o->pt == 5);
    CHECK(PtlPTAlloc(o->ni, 0, PTL_EQ_NONE, PTL_PT_ANY, &o->pt2) == PTL_OK && o->pt2 != PTL_PT_ANY);
    CHECK(PtlPTAlloc(o->ni, 0, o->full_eq, PTL_PT_ANY, &o->full_pt) == PTL_OK);
    for (int i = 3; i <= actual.max_pt_index; i++)
        CHECK(PtlPTAlloc(o->ni, 0, PTL_EQ_NONE, PTL_PT_ANY, &o->free_pt) == PTL_OK);
}

static void program_table(int rank, int size, void *shared)
{
    (void)rank, (void)size, (void)shared;
    struct objects *o = calloc(1, sizeof *o);
    o->bad = o->unmapped = PTL_INVALID_HANDLE;
    o->one = 1;
    without_init(o);
    o->nobody.phys.nid = PTL_NID_ANY;
    o->rank0.rank = 0;
    CHECK(PtlInit() == PTL_OK);
    open_main(o);
    open_others(o);
    leave_headers(o);
    CHECK(PtlMEAppend(o->ni, o->pt, ME(), PTL_PRIORITY_LIST, NULL, &o->me) == PTL_OK);
    CHECK(PtlMEAppend(o->ni, o->full_pt, ME(), PTL_PRIORITY_LIST, NULL, &o->out) == PTL_OK);
    CHECK(PtlTriggeredPut(o->busy_md, 0, 0, PTL_NO_ACK_REQ, o->self, o->pt, 0, 0, NULL, 0, o->ct, 9) ==
          PTL_OK);
    fill_queue(o);
    with_objects(o);
    PtlFini();
    CHECK(PtlAtomicSync() == PTL_NO_INIT);
    free(o);
}

/* Every function that the header declares is in the table. */
static void test_complete(void **state)
{
    (void)state;
    FILE *in = fopen(header_path, "r");
    assert_non_null(in);
    char line[512];
    int functions = 0;
    while (fgets(line, sizeof line, in)) {
        char name[64];
        if (sscanf(line, "int Ptl%60[A-Za-z](", name) != 1 && sscanf(line, "void Ptl%60[A-Za-z](", name) != 1)
            continue;
        int row = 0;
        while (row < ROWS && strcmp(covered[row] + 3, name) != 0)
            row++;
        if (row == ROWS)
            fail_msg("Ptl%s is not in arguments.def", name);
        functions++;
    }
    fclose(in);
    assert_int_equal(functions, 55);
}

static void test_table(void **state)
{
    (void)state;
    struct world world = {.nodes = 1};
    assert_int_equal(world_run(&world, program_table), 0);
}

int main(int argc, char *argv[])
{
    if (argc != 2)
        return 2;
    header_path = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_complete), cmocka_unit_test(test_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
