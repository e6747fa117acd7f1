/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into the program, so that each rank has its own copy of the variables below. */
#include "support.h"

#include <parfocal_portals.h>

static ptl_process_t *mapping;

int libtest_init(void)
{
    return pf_portals_init() == 0 ? 0 : 1;
}

int libtest_fini(void)
{
    free(mapping);
    mapping = NULL;
    pf_portals_fini();
    return 0;
}

ptl_process_t *libtest_get_mapping(ptl_handle_ni_t ni)
{
    int size = pf_portals_size();
    if (mapping || size < 1)
        return mapping;
    ptl_process_t *fresh = malloc((size_t)size * sizeof *fresh);
    if (fresh && pf_portals_map(ni, fresh) == PTL_OK) {
        mapping = fresh;
        return mapping;
    }
    free(fresh);
    return NULL;
}

int libtest_get_rank(void)
{
    return pf_portals_rank();
}

int libtest_get_size(void)
{
    return pf_portals_size();
}

void libtest_barrier(void)
{
    pf_portals_barrier();
}

char *libtest_StrPtlError(int code)
{
    static char *const names[] = {
        [PTL_OK] = "PTL_OK",
        [PTL_ARG_INVALID] = "PTL_ARG_INVALID",
        [PTL_CT_NONE_REACHED] = "PTL_CT_NONE_REACHED",
        [PTL_EQ_DROPPED] = "PTL_EQ_DROPPED",
        [PTL_EQ_EMPTY] = "PTL_EQ_EMPTY",
        [PTL_FAIL] = "PTL_FAIL",
        [PTL_IGNORED] = "PTL_IGNORED",
        [PTL_IN_USE] = "PTL_IN_USE",
        [PTL_INTERRUPTED] = "PTL_INTERRUPTED",
        [PTL_LIST_TOO_LONG] = "PTL_LIST_TOO_LONG",
        [PTL_NO_INIT] = "PTL_NO_INIT",
        [PTL_NO_SPACE] = "PTL_NO_SPACE",
        [PTL_PID_IN_USE] = "PTL_PID_IN_USE",
        [PTL_PT_FULL] = "PTL_PT_FULL",
        [PTL_PT_EQ_NEEDED] = "PTL_PT_EQ_NEEDED",
        [PTL_PT_IN_USE] = "PTL_PT_IN_USE",
        [PTL_ABORTED] = "PTL_ABORTED",
    };
    static char unknown[] = "no Portals return code";
    return code >= 0 && (size_t)code < sizeof names / sizeof names[0] && names[code] ? names[code] : unknown;
}

ptl_handle_md_t libtest_CreateMD(ptl_handle_ni_t ni, void *start, ptl_size_t length)
{
    ptl_md_t md = {.start = start,
                   .length = length,
                   .options = PTL_MD_UNORDERED,
                   .eq_handle = PTL_EQ_NONE,
                   .ct_handle = PTL_CT_NONE};
    ptl_handle_md_t handle;
    LIBTEST_CHECK(PtlMDBind(ni, &md, &handle), "libtest_CreateMD: PtlMDBind");
    return handle;
}

static void make_counter(ptl_handle_ni_t ni, ptl_handle_ct_t *ct)
{
    if (*ct == PTL_INVALID_HANDLE)
        LIBTEST_CHECK(PtlCTAlloc(ni, ct), "PtlCTAlloc");
}

void libtest_CreateMDCT(ptl_handle_ni_t ni, void *start, ptl_size_t length, ptl_handle_md_t *md,
                        ptl_handle_ct_t *ct)
{
    make_counter(ni, ct);
    ptl_md_t wanted = {.start = start,
                       .length = length,
                       .options = PTL_MD_UNORDERED | PTL_MD_EVENT_CT_SEND,
                       .eq_handle = PTL_EQ_NONE,
                       .ct_handle = *ct};
    LIBTEST_CHECK(PtlMDBind(ni, &wanted, md), "libtest_CreateMDCT: PtlMDBind");
}

void libtest_CreateLECT(ptl_handle_ni_t ni, ptl_pt_index_t pt_index, void *start, ptl_size_t length,
                        ptl_handle_le_t *le, ptl_handle_ct_t *ct)
{
    make_counter(ni, ct);
    ptl_le_t entry = {.start = start,
                      .length = length,
                      .ct_handle = *ct,
                      .uid = PTL_UID_ANY,
                      .options = PTL_LE_OP_PUT | PTL_LE_ACK_DISABLE | PTL_LE_EVENT_CT_COMM |
                                 PTL_LE_EVENT_LINK_DISABLE};
    LIBTEST_CHECK(PtlLEAppend(ni, pt_index, &entry, PTL_PRIORITY_LIST, NULL, le),
                  "libtest_CreateLECT: PtlLEAppend");
}

static int append_entries(ptl_handle_ni_t ni, ptl_pt_index_t pt_index, void *start, ptl_size_t length,
                          ptl_size_t count, unsigned int options, ptl_handle_me_t *entries)
{
    for (ptl_size_t i = 0; i < count; i++) {
        ptl_me_t entry = {.start = (char *)start + i * length,
                          .length = length,
                          .ct_handle = PTL_CT_NONE,
                          .uid = PTL_UID_ANY,
                          .options = PTL_ME_OP_PUT | PTL_ME_ACK_DISABLE | PTL_ME_EVENT_LINK_DISABLE | options,
                          .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY}, /* it reads as PTL_RANK_ANY, too */
                          .match_bits = i};
        LIBTEST_CHECK(PtlMEAppend(ni, pt_index, &entry, PTL_PRIORITY_LIST, NULL, &entries[i]), "PtlMEAppend");
    }
    return PTL_OK;
}

int libtest_CreateMEPersistent(ptl_handle_ni_t ni, ptl_pt_index_t pt_index, void *start, ptl_size_t length,
                               ptl_size_t count, ptl_handle_me_t *entries)
{
    return append_entries(ni, pt_index, start, length, count, 0, entries);
}

int libtest_CreateMEUseOnce(ptl_handle_ni_t ni, ptl_pt_index_t pt_index, void *start, ptl_size_t length,
                            ptl_size_t count, ptl_handle_me_t *entries)
{
    return append_entries(ni, pt_index, start, length, count, PTL_ME_USE_ONCE | PTL_ME_EVENT_UNLINK_DISABLE,
                          entries);
}

void libtest_FreeME(ptl_size_t count, ptl_handle_me_t *entries)
{
    for (ptl_size_t i = 0; i < count; i++)
        LIBTEST_CHECK(PtlMEUnlink(entries[i]), "libtest_FreeME: PtlMEUnlink");
}

ptl_pt_index_t libtest_PTAlloc(ptl_handle_ni_t ni, ptl_pt_index_t request, ptl_handle_eq_t eq)
{
    ptl_pt_index_t pt_index;
    LIBTEST_CHECK(PtlPTAlloc(ni, 0, eq, request, &pt_index), "libtest_PTAlloc: PtlPTAlloc");
    return pt_index;
}

/* Barrier and combination: each rank sends to rank 0, which answers all when all have come. A rank with the
 * answer knows that no rank is still in the round before. */

enum { BARRIER_PT = 14, VALUES_PT = 15, RESULT_PT = 16 };

struct channel {
    ptl_pt_index_t pt_index;
    ptl_handle_ct_t ct;
    ptl_size_t awaited;
};

static struct {
    int rank, size;
    struct channel barrier, values, result;
    ptl_handle_md_t empty_md, values_md;
    double *slots; /* of all ranks, and the result behind them */
} group = {.rank = -1};

static void open_channel(struct channel *channel, ptl_handle_ni_t ni, ptl_pt_index_t pt_index, void *start,
                         ptl_size_t length)
{
    ptl_handle_le_t entry;
    *channel =
        (struct channel){.pt_index = libtest_PTAlloc(ni, pt_index, PTL_EQ_NONE), .ct = PTL_INVALID_HANDLE};
    libtest_CreateLECT(ni, channel->pt_index, start, length, &entry, &channel->ct);
}

static void await(struct channel *channel, ptl_size_t messages)
{
    ptl_ct_event_t reached;
    channel->awaited += messages;
    LIBTEST_CHECK(PtlCTWait(channel->ct, channel->awaited, &reached), "PtlCTWait");
}

static void send_to(int rank, const struct channel *channel, ptl_handle_md_t md, ptl_size_t local_offset,
                    ptl_size_t length, ptl_size_t remote_offset)
{
    ptl_process_t target;
    target.phys.nid = target.phys.pid = 0;
    target.rank = (ptl_rank_t)rank;
    LIBTEST_CHECK(libtest_Put_offset(md, local_offset, length, target, channel->pt_index, 0, remote_offset),
                  "PtlPut");
}

void libtest_BarrierInit(ptl_handle_ni_t ni, int rank, int nproc)
{
    group.rank = rank;
    group.size = nproc;
    group.empty_md = libtest_CreateMD(ni, NULL, 0);
    open_channel(&group.barrier, ni, BARRIER_PT, NULL, 0);
}

void libtest_Barrier(void)
{
    if (group.rank > 0) {
        send_to(0, &group.barrier, group.empty_md, 0, 0, 0);
        await(&group.barrier, 1);
        return;
    }
    await(&group.barrier, (ptl_size_t)group.size - 1);
    for (int rank = 1; rank < group.size; rank++)
        send_to(rank, &group.barrier, group.empty_md, 0, 0, 0);
}

void libtest_AllreduceDouble_init(ptl_handle_ni_t ni)
{
    ptl_size_t bytes = ((ptl_size_t)group.size + 1) * sizeof *group.slots;
    if (group.rank < 0 || !(group.slots = malloc(bytes))) {
        fprintf(stderr, "libtest_AllreduceDouble_init: libtest_BarrierInit is missing, or memory\n");
        exit(1);
    }
    group.values_md = libtest_CreateMD(ni, group.slots, bytes);
    open_channel(&group.values, ni, VALUES_PT, group.slots, bytes);
    open_channel(&group.result, ni, RESULT_PT, group.slots, bytes);
}

static double combine(double left, double right, ptl_op_t op)
{
    switch (op) {
    case PTL_SUM:
        return left + right;
    case PTL_PROD:
        return left * right;
    case PTL_MIN:
        return right < left ? right : left;
    case PTL_MAX:
        return right > left ? right : left;
    default:
        fprintf(stderr, "libtest_AllreduceDouble: operation %d is not provided\n", (int)op);
        exit(1);
    }
}

double libtest_AllreduceDouble(double value, ptl_op_t op)
{
    const ptl_size_t one = sizeof *group.slots, result = (ptl_size_t)group.size * one;
    ptl_size_t own = (ptl_size_t)group.rank * one;
    group.slots[group.rank] = value;
    if (group.rank > 0) {
        send_to(0, &group.values, group.values_md, own, one, own);
        await(&group.result, 1);
        return group.slots[group.size];
    }
    await(&group.values, (ptl_size_t)group.size - 1);
    for (int rank = 1; rank < group.size; rank++)
        value = combine(value, group.slots[rank], op);
    group.slots[group.size] = value;
    for (int rank = 1; rank < group.size; rank++)
        send_to(rank, &group.result, group.values_md, result, one, result);
    return value;
}
