/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts, their counters, and order. A put or an atomic counts when the target's NIC has acknowledged it, a
 * get when its reply is in memory, so quiet waits for counters. The NIC delivers what is short in the order
 * of the commands; only what is longer has to be waited for in a fence.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "openshmem/internal.h"

bool pf_shmem_counted_open(struct pf_shmem *me, struct pf_shmem_counted *counted, unsigned int event)
{
    *counted = (struct pf_shmem_counted){PTL_CT_NONE, PTL_INVALID_HANDLE, PTL_INVALID_HANDLE, 0};
    int status = PtlCTAlloc(me->ni, &counted->counter);
    ptl_md_t md = {.start = NULL,
                   .length = PTL_SIZE_MAX,
                   .options = event,
                   .eq_handle = PTL_EQ_NONE,
                   .ct_handle = counted->counter};
    if (status == PTL_OK)
        status = PtlMDBind(me->ni, &md, &counted->memory);
    md.options |= PTL_MD_VOLATILE;
    if (status == PTL_OK)
        status = PtlMDBind(me->ni, &md, &counted->memory_copied);
    return status == PTL_OK;
}

/* Also one that is open in part: what it has not is refused. */
static void counted_close(struct pf_shmem_counted *counted)
{
    PtlMDRelease(counted->memory);
    PtlMDRelease(counted->memory_copied);
    PtlCTFree(counted->counter);
}

void pf_shmem_counted_wait(struct pf_shmem *me, struct pf_shmem_counted *counted)
{
    ptl_ct_event_t event;
    if (counted->issued == 0)
        return;
    int status = PtlCTWait(counted->counter, counted->issued, &event);
    if (status != PTL_OK || event.failure)
        pf_shmem_die(me, "the NIC could not deliver %llu of its operations",
                     (unsigned long long)event.failure);
}

bool pf_shmem_context_open(struct pf_shmem *me, struct pf_shmem_context *context)
{
    context->unordered = false;
    context->open = pf_shmem_counted_open(me, &context->puts, PTL_MD_EVENT_CT_ACK) &&
                    pf_shmem_counted_open(me, &context->gets, PTL_MD_EVENT_CT_REPLY);
    return context->open;
}

static void context_close(struct pf_shmem_context *context)
{
    counted_close(&context->puts);
    counted_close(&context->gets);
    free(context);
}

struct pf_shmem_context *pf_shmem_context_of(struct pf_shmem *me, shmem_ctx_t ctx)
{
    if (ctx == SHMEM_CTX_DEFAULT)
        return &me->default_context;
    for (struct pf_shmem_context *context = me->contexts; context; context = context->next)
        if (context == ctx && context->open)
            return context;
    pf_shmem_die(me, "%p is no context of this PE, or has been destroyed", (void *)ctx);
}

int pf_shmem_ctx_create(struct pf_shmem *me, long options, shmem_ctx_t *ctx)
{
    (void)options; /* they permit simplifications of which there are none here */
    struct pf_shmem_context *context = pf_calloc(1, sizeof *context);
    if (!pf_shmem_context_open(me, context)) { /* the NIC's counters are used up */
        context_close(context);
        return 1;
    }
    context->next = me->contexts;
    me->contexts = context;
    *ctx = context;
    return 0;
}

void pf_shmem_ctx_destroy(struct pf_shmem *me, shmem_ctx_t ctx)
{
    if (ctx == SHMEM_CTX_DEFAULT)
        pf_shmem_die(me, "the default context cannot be destroyed");
    struct pf_shmem_context *context = pf_shmem_context_of(me, ctx);
    pf_shmem_quiet(me, ctx);
    struct pf_shmem_context **link = &me->contexts;
    while (*link != context)
        link = &(*link)->next;
    *link = context->next;
    context_close(context);
}

void pf_shmem_quiet(struct pf_shmem *me, shmem_ctx_t ctx)
{
    struct pf_shmem_context *context = pf_shmem_context_of(me, ctx);
    pf_shmem_counted_wait(me, &context->puts);
    pf_shmem_counted_wait(me, &context->gets);
    context->unordered = false;
}

void pf_shmem_quiet_all(struct pf_shmem *me)
{
    pf_shmem_quiet(me, SHMEM_CTX_DEFAULT);
    for (struct pf_shmem_context *context = me->contexts; context; context = context->next)
        pf_shmem_quiet(me, context);
}

void pf_shmem_fence(struct pf_shmem *me, shmem_ctx_t ctx)
{
    struct pf_shmem_context *context = pf_shmem_context_of(me, ctx);
    if (context->unordered)
        pf_shmem_counted_wait(me, &context->puts);
    context->unordered = false;
}
