/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_EXPERIMENTS_NIC_FIVE_H
#define PF_EXPERIMENTS_NIC_FIVE_H

#include <portals4.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The five benchmarks of the S4BXI thesis, section 4.6.1: `count` equal requests from one process to another.
 * Pure Portals, without a launcher's calls, so that the experiment under pfrun and the tests run the same
 * code.
 */
enum five_kind {
    FIVE_PUT_WAIT_ACK,
    FIVE_PUT_NO_WAIT,
    FIVE_PUT_WAIT_SEND,
    FIVE_GET_WAIT_REPLY,
    FIVE_GET_NO_WAIT,
    FIVE_KINDS
};

static const char *const five_names[FIVE_KINDS] = {"Put-WaitAck", "Put-NoWait", "Put-WaitSend",
                                                   "Get-WaitReply", "Get-NoWait"};

/* The sizes of the thesis: first both sides of every size at which the NIC may do something else, then sizes
 * drawn at random, uniform in the logarithm to base two, from a fixed seed. */
enum { FIVE_SIZES = 64, FIVE_LARGEST = 1 << 22 };

static inline void five_sizes(ptl_size_t sizes[FIVE_SIZES])
{
    static const ptl_size_t fixed[] = {1,   8,   9,   16,  17,   64,   65,      408,         409,
                                       416, 417, 512, 513, 4096, 4097, 1 << 20, FIVE_LARGEST};
    enum { FIXED = sizeof fixed / sizeof fixed[0] };
    uint64_t random = 461;
    for (int i = 0; i < FIXED; i++)
        sizes[i] = fixed[i];
    for (int i = FIXED; i < FIVE_SIZES;) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        sizes[i] = (ptl_size_t)exp2(log2(FIVE_LARGEST) * (double)(random >> 33) / 2147483648.0);
        int before = 0;
        while (sizes[before] != sizes[i])
            before++;
        i += before == i; /* each size once */
    }
}

/* One side: an interface, memory that the other side may put into and get from, and descriptors of it. */
struct five {
    ptl_handle_ni_t ni;
    ptl_handle_eq_t eq;
    ptl_handle_ct_t ct;      /* requests that are done, for the benchmarks that do not wait for each */
    ptl_handle_md_t full;    /* full events */
    ptl_handle_md_t counted; /* counting events only */
    ptl_pt_index_t pt;
    ptl_handle_me_t entry;
    ptl_size_t done; /* value of the counter */
};

enum { FIVE_PT = 4 };

/* Opens one side over `size` bytes: what is sent comes from `source`, what arrives goes to `memory`, which is
 * also what gets read. Returns PTL_OK or the first failure. */
static inline int five_open(struct five *f, ptl_handle_ni_t ni, bool matching, void *memory, void *source,
                            ptl_size_t size)
{
    *f = (struct five){.ni = ni};
    ptl_me_t me = {.start = memory,
                   .length = size,
                   .ct_handle = PTL_CT_NONE,
                   .uid = PTL_UID_ANY,
                   .options = PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE |
                              PTL_ME_EVENT_UNLINK_DISABLE | PTL_ME_EVENT_COMM_DISABLE,
                   .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY}};
    ptl_le_t le = {
        .start = memory, .length = size, .ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY, .options = me.options};
    ptl_md_t md = {.start = source, .length = size};
    int status = PtlEQAlloc(ni, 64, &f->eq);
    if (status == PTL_OK)
        status = PtlCTAlloc(ni, &f->ct);
    if (status == PTL_OK)
        status = PtlPTAlloc(ni, 0, f->eq, FIVE_PT, &f->pt);
    md.eq_handle = f->eq;
    md.ct_handle = PTL_CT_NONE;
    if (status == PTL_OK)
        status = PtlMDBind(ni, &md, &f->full);
    md.eq_handle = PTL_EQ_NONE;
    md.ct_handle = f->ct;
    md.options = PTL_MD_EVENT_CT_ACK | PTL_MD_EVENT_CT_REPLY;
    if (status == PTL_OK)
        status = PtlMDBind(ni, &md, &f->counted);
    if (status != PTL_OK)
        return status;
    return matching ? PtlMEAppend(ni, f->pt, &me, PTL_PRIORITY_LIST, NULL, &f->entry)
                    : PtlLEAppend(ni, f->pt, &le, PTL_PRIORITY_LIST, NULL, &f->entry);
}

/* Waits for an event of this type and passes over others. */
static inline int five_await(struct five *f, ptl_event_kind_t type)
{
    ptl_event_t event;
    do {
        int status = PtlEQWait(f->eq, &event);
        if (status != PTL_OK)
            return status;
        if (event.ni_fail_type != PTL_NI_OK)
            return PTL_FAIL;
    } while (event.type != type);
    return PTL_OK;
}

static inline int five_put(ptl_handle_md_t md, ptl_process_t to, ptl_size_t bytes, ptl_ack_req_t ack)
{
    return PtlPut(md, 0, bytes, ack, to, FIVE_PT, 0, 0, NULL, 0);
}

static inline int five_get(ptl_handle_md_t md, ptl_process_t from, ptl_size_t bytes)
{
    return PtlGet(md, 0, bytes, from, FIVE_PT, 0, 0, NULL);
}

/* One request of the benchmark, and what it waits for. */
static inline int five_step(struct five *f, enum five_kind kind, ptl_process_t peer, ptl_size_t bytes)
{
    int status;
    switch (kind) {
    case FIVE_PUT_WAIT_ACK:
        status = five_put(f->full, peer, bytes, PTL_ACK_REQ);
        return status == PTL_OK ? five_await(f, PTL_EVENT_ACK) : status;
    case FIVE_PUT_WAIT_SEND:
        status = five_put(f->full, peer, bytes, PTL_NO_ACK_REQ);
        return status == PTL_OK ? five_await(f, PTL_EVENT_SEND) : status;
    case FIVE_GET_WAIT_REPLY:
        status = five_get(f->full, peer, bytes);
        return status == PTL_OK ? five_await(f, PTL_EVENT_REPLY) : status;
    case FIVE_PUT_NO_WAIT:
        return five_put(f->counted, peer, bytes, PTL_CT_ACK_REQ);
    case FIVE_GET_NO_WAIT:
        return five_get(f->counted, peer, bytes);
    default:
        return PTL_ARG_INVALID;
    }
}

/* The whole benchmark at the side that initiates. Those that do not wait for each request wait for all of
 * them at the end. */
static inline int five_run(struct five *f, enum five_kind kind, ptl_process_t peer, ptl_size_t bytes,
                           long count)
{
    int status = PTL_OK;
    for (long i = 0; i < count && status == PTL_OK; i++)
        status = five_step(f, kind, peer, bytes);
    if (status != PTL_OK || (kind != FIVE_PUT_NO_WAIT && kind != FIVE_GET_NO_WAIT))
        return status;
    ptl_ct_event_t value;
    f->done += (ptl_size_t)count;
    status = PtlCTWait(f->ct, f->done, &value);
    return status == PTL_OK && value.failure ? PTL_FAIL : status;
}

#endif
