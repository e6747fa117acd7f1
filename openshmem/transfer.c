/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets. A put that returns leaves its source to the caller: the processor writes a short payload to
 * the NIC, with the command; a longer one is read by the NIC, and the call waits until the target has
 * acknowledged it. A put "nbi" is always read by the NIC and never waited for.
 */
#include "openshmem/internal.h"

static ptl_process_t target(int pe)
{
    return (ptl_process_t){.rank = (ptl_rank_t)pe};
}

static void check(const struct pf_shmem *me, int status, const char *call)
{
    if (status != PTL_OK)
        pf_shmem_die(me, "%s failed with status %d", call, status);
}

static void put(struct pf_shmem *me, struct pf_shmem_context *context, void *to, const void *from,
                size_t length, int pe, bool copied)
{
    struct pf_shmem_place place = pf_shmem_locate(me, to, length);
    ptl_handle_md_t md = copied ? context->puts.memory_copied : context->puts.memory;
    context->puts.issued++;
    if (length > me->limits.max_waw_ordered_size)
        context->unordered = true;
    check(me,
          PtlPut(md, (ptl_size_t)(uintptr_t)from, length, PTL_CT_ACK_REQ, target(pe),
                 (ptl_pt_index_t)place.segment, 0, place.offset, NULL, 0),
          "PtlPut");
}

static void get(struct pf_shmem *me, struct pf_shmem_counted *counted, void *to, const void *from,
                size_t length, int pe)
{
    struct pf_shmem_place place = pf_shmem_locate(me, from, length);
    counted->issued++;
    check(me,
          PtlGet(counted->memory, (ptl_size_t)(uintptr_t)to, length, target(pe),
                 (ptl_pt_index_t)place.segment, 0, place.offset, NULL),
          "PtlGet");
}

/* The caller waits for this PE, and for what it has begun itself. */
static void wait_for(struct pf_shmem *me, struct pf_shmem_counted *counted, int pe)
{
    me->waits_for = pe;
    pf_shmem_counted_wait(me, counted);
    me->waits_for = -1;
}

void pf_shmem_put(struct pf_shmem *me, shmem_ctx_t ctx, void *to, const void *from, size_t length, int pe)
{
    struct pf_shmem_context *context = pf_shmem_context_of(me, ctx);
    pf_shmem_check_pe(me, pe);
    if (length == 0)
        return;
    put(me, context, to, from, length, pe, true);
    if (length > me->limits.max_volatile_size)
        wait_for(me, &context->puts, pe);
}

void pf_shmem_put_nbi(struct pf_shmem *me, shmem_ctx_t ctx, void *to, const void *from, size_t length, int pe)
{
    struct pf_shmem_context *context = pf_shmem_context_of(me, ctx);
    pf_shmem_check_pe(me, pe);
    if (length > 0)
        put(me, context, to, from, length, pe, false);
}

void pf_shmem_get(struct pf_shmem *me, shmem_ctx_t ctx, void *to, const void *from, size_t length, int pe)
{
    pf_shmem_context_of(me, ctx);
    pf_shmem_check_pe(me, pe);
    if (length == 0)
        return;
    get(me, &me->answers, to, from, length, pe);
    wait_for(me, &me->answers, pe);
}

void pf_shmem_get_nbi(struct pf_shmem *me, shmem_ctx_t ctx, void *to, const void *from, size_t length, int pe)
{
    struct pf_shmem_context *context = pf_shmem_context_of(me, ctx);
    pf_shmem_check_pe(me, pe);
    if (length > 0)
        get(me, &context->gets, to, from, length, pe);
}

/* One command for each element: the NIC knows no strides at the target. */
void pf_shmem_iput(struct pf_shmem *me, shmem_ctx_t ctx, void *to, const void *from, ptrdiff_t to_stride,
                   ptrdiff_t from_stride, size_t count, size_t size, int pe)
{
    struct pf_shmem_context *context = pf_shmem_context_of(me, ctx);
    pf_shmem_check_pe(me, pe);
    for (size_t i = 0; i < count; i++)
        put(me, context, (char *)to + (ptrdiff_t)i * to_stride * (ptrdiff_t)size,
            (const char *)from + (ptrdiff_t)i * from_stride * (ptrdiff_t)size, size, pe, true);
}

void pf_shmem_iget(struct pf_shmem *me, shmem_ctx_t ctx, void *to, const void *from, ptrdiff_t to_stride,
                   ptrdiff_t from_stride, size_t count, size_t size, int pe)
{
    pf_shmem_context_of(me, ctx);
    pf_shmem_check_pe(me, pe);
    for (size_t i = 0; i < count; i++)
        get(me, &me->answers, (char *)to + (ptrdiff_t)i * to_stride * (ptrdiff_t)size,
            (const char *)from + (ptrdiff_t)i * from_stride * (ptrdiff_t)size, size, pe);
    wait_for(me, &me->answers, pe);
}
