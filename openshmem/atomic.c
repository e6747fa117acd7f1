/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics, which the target's NIC carries out. Those with a result wait for its answer. */
#include "openshmem/internal.h"

static size_t size_of(ptl_datatype_t type)
{
    return type == PTL_INT32_T || type == PTL_UINT32_T || type == PTL_FLOAT ? 4 : 8;
}

static ptl_process_t target(int pe)
{
    return (ptl_process_t){.rank = (ptl_rank_t)pe};
}

static struct pf_shmem_place begin(struct pf_shmem *me, const void *at, ptl_datatype_t type, int pe)
{
    pf_shmem_check_pe(me, pe);
    if ((uintptr_t)at % size_of(type))
        pf_shmem_die(me, "an atomic at %p, which is no multiple of %zu", at, size_of(type));
    return pf_shmem_locate(me, at, size_of(type));
}

static void check(const struct pf_shmem *me, int status, const char *call)
{
    if (status != PTL_OK)
        pf_shmem_die(me, "%s failed with status %d", call, status);
}

static void wait_for_answer(struct pf_shmem *me, int pe)
{
    me->waits_for = pe;
    pf_shmem_counted_wait(me, &me->answers);
    me->waits_for = -1;
}

void pf_shmem_atomic(struct pf_shmem *me, shmem_ctx_t ctx, ptl_datatype_t type, ptl_op_t operation, void *at,
                     const void *value, int pe)
{
    struct pf_shmem_context *context = pf_shmem_context_of(me, ctx);
    struct pf_shmem_place place = begin(me, at, type, pe);
    context->puts.issued++;
    check(me,
          PtlAtomic(context->puts.memory_copied, (ptl_size_t)(uintptr_t)value, size_of(type), PTL_CT_ACK_REQ,
                    target(pe), (ptl_pt_index_t)place.segment, 0, place.offset, NULL, 0, operation, type),
          "PtlAtomic");
}

void pf_shmem_atomic_fetch(struct pf_shmem *me, shmem_ctx_t ctx, ptl_datatype_t type, ptl_op_t operation,
                           void *at, const void *value, void *result, int pe)
{
    pf_shmem_context_of(me, ctx);
    struct pf_shmem_place place = begin(me, at, type, pe);
    me->answers.issued++;
    check(me,
          PtlFetchAtomic(me->answers.memory, (ptl_size_t)(uintptr_t)result, me->signals,
                         (ptl_size_t)(uintptr_t)value, size_of(type), target(pe),
                         (ptl_pt_index_t)place.segment, 0, place.offset, NULL, 0, operation, type),
          "PtlFetchAtomic");
    wait_for_answer(me, pe);
}

static void swap(struct pf_shmem *me, ptl_datatype_t type, ptl_op_t operation, void *at, const void *operand,
                 const void *value, void *result, int pe)
{
    struct pf_shmem_place place = begin(me, at, type, pe);
    me->answers.issued++;
    check(me,
          PtlSwap(me->answers.memory, (ptl_size_t)(uintptr_t)result, me->signals,
                  (ptl_size_t)(uintptr_t)value, size_of(type), target(pe), (ptl_pt_index_t)place.segment, 0,
                  place.offset, NULL, 0, operand, operation, type),
          "PtlSwap");
    wait_for_answer(me, pe);
}

void pf_shmem_atomic_swap(struct pf_shmem *me, shmem_ctx_t ctx, ptl_datatype_t type, void *at,
                          const void *value, void *result, int pe)
{
    pf_shmem_context_of(me, ctx);
    swap(me, type, PTL_SWAP, at, NULL, value, result, pe);
}

void pf_shmem_atomic_compare(struct pf_shmem *me, shmem_ctx_t ctx, ptl_datatype_t type, void *at,
                             const void *condition, const void *value, void *result, int pe)
{
    pf_shmem_context_of(me, ctx);
    swap(me, type, PTL_CSWAP, at, condition, value, result, pe);
}

void pf_shmem_signal(struct pf_shmem *me, long *at, int pe)
{
    static const long one = 1;
    struct pf_shmem_place place = begin(me, at, PTL_INT64_T, pe);
    check(me,
          PtlAtomic(me->signals, (ptl_size_t)(uintptr_t)&one, sizeof one, PTL_NO_ACK_REQ, target(pe),
                    (ptl_pt_index_t)place.segment, 0, place.offset, NULL, 0, PTL_SUM, PTL_INT64_T),
          "PtlAtomic");
}
