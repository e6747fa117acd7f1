/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages per second of wall-clock time with long lists; not a test. Usage: portals-bench-match [longest
 * list] */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)
#define QUIET      (PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE | PTL_ME_EVENT_COMM_DISABLE)

enum how { AT_THE_END, IN_ORDER, REVERSE, CLAIMS };

static enum how how;
static long entries, messages;

static double wall_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ptl_match_bits_t bits_of(long i)
{
    if (how == AT_THE_END)
        return (ptl_match_bits_t)entries - 1;
    return (ptl_match_bits_t)(how == REVERSE || how == CLAIMS ? messages - 1 - i : i);
}

static void append_all(struct endpoint *e, bool in_order)
{
    ptl_me_t me = {.ct_handle = PTL_CT_NONE,
                   .uid = PTL_UID_ANY,
                   .options = PTL_ME_OP_PUT | QUIET | PTL_ME_EVENT_OVER_DISABLE |
                              (how != AT_THE_END ? PTL_ME_USE_ONCE : 0),
                   .match_id = world_address(0)};
    ptl_handle_me_t handle;
    for (long i = 0; i < entries; i++) {
        me.match_bits = in_order ? (ptl_match_bits_t)i : bits_of(i);
        CHECK(PtlMEAppend(e->ni, e->pt, &me, PTL_PRIORITY_LIST, NULL, &handle) == PTL_OK);
    }
}

static void send_all(struct endpoint *e)
{
    ptl_handle_ct_t ct;
    ptl_ct_event_t count;
    CHECK(PtlCTAlloc(e->ni, &ct) == PTL_OK);
    ptl_md_t md = {
        .length = PTL_SIZE_MAX, .options = PTL_MD_EVENT_CT_ACK, .eq_handle = PTL_EQ_NONE, .ct_handle = ct};
    ptl_handle_md_t handle;
    CHECK(PtlMDBind(e->ni, &md, &handle) == PTL_OK);
    for (long i = 0; i < messages; i++)
        CHECK(PtlPut(handle, 0, 0, PTL_CT_ACK_REQ, world_address(1), e->pt,
                     how == CLAIMS ? (ptl_match_bits_t)i : bits_of(i), 0, NULL, 0) == PTL_OK);
    CHECK(PtlCTWait(ct, (ptl_size_t)messages, &count) == PTL_OK && count.failure == 0);
}

static void program(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    double *seconds = shared, begin = 0.0;
    endpoint_open(&e, NI_OPTIONS, 0, 16);
    pf_portals_free_mode(pf_self(), rank == 1);
    if (rank == 1 && how == CLAIMS)
        endpoint_append(&e, NULL, 0, PTL_ME_OP_PUT | QUIET, 0, PTL_OVERFLOW_LIST, NULL);
    if (rank == 1 && how != CLAIMS)
        append_all(&e, true);
    if (rank == 1 && how == CLAIMS) {
        ptl_me_t me = {.ct_handle = PTL_CT_NONE,
                       .uid = PTL_UID_ANY,
                       .options = PTL_ME_OP_PUT | QUIET,
                       .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                       .ignore_bits = ~0ULL};
        ptl_handle_me_t handle;
        CHECK(PtlMEAppend(e.ni, e.pt, &me, PTL_OVERFLOW_LIST, NULL, &handle) == PTL_OK);
    }
    world_barrier();
    if (rank == 0) {
        begin = wall_clock();
        send_all(&e);
        *seconds = wall_clock() - begin;
    }
    world_barrier();
    if (rank == 1 && how == CLAIMS) { /* the newest header first */
        begin = wall_clock();
        append_all(&e, false);
        *seconds = wall_clock() - begin;
    }
    endpoint_close(&e);
}

static void measure(const char *name, enum how which, long list, long count)
{
    static const char *const settings[] = {"PARFOCAL_PTL_MAX_UNEXPECTED=1000000", NULL};
    struct world world = {.nodes = 2, .settings = settings};
    how = which;
    entries = list;
    messages = count;
    if (world_run(&world, program) != 0) {
        printf("%-40s %7ld entries: failed\n", name, list);
        return;
    }
    double seconds = *(double *)world_shared();
    printf("%-40s %7ld entries: %9.1f k/s of wall-clock\n", name, list, (double)count / seconds * 1e-3);
    fflush(stdout);
}

int main(int argc, char *argv[])
{
    long longest = argc > 1 ? atol(argv[1]) : 100000;
    static const long lists[] = {10, 1000, 100000};
    for (int i = 0; i < 3 && lists[i] <= longest; i++) {
        long list = lists[i];
        measure("exact entries, hit at the end", AT_THE_END, list, list > 1000 ? 2000 : 20000);
        measure("posted in the order of the messages", IN_ORDER, list, list);
        measure("posted in reverse order", REVERSE, list, list);
        measure("unexpected, claimed in reverse order", CLAIMS, list, list);
    }
    return 0;
}
