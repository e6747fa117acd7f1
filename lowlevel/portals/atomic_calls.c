/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations as calls. */
#include <string.h>

#include "lowlevel/portals/internal.h"

static bool is_swap(ptl_op_t operation)
{
    return operation >= PTL_SWAP && operation < PTL_OP_LAST;
}

/* A conditional or masked swap compares with one constant, so it works on one element. */
static bool needs_operand(ptl_op_t operation)
{
    return operation > PTL_SWAP && operation < PTL_OP_LAST;
}

static int check(ptl_handle_md_t md_handle, ptl_size_t length, ptl_op_t operation, ptl_datatype_t type,
                 bool fetch)
{
    const struct ptl_md *md = ptl_object(md_handle, PTL_KIND_MD);
    if (!md || !ptl_atomic_defined(operation, type))
        return ptl_invalid();
    const ptl_ni_limits_t *limits = &md->ni->limits;
    if (length > (fetch ? limits->max_fetch_atomic_size : limits->max_atomic_size) ||
        length % ptl_type_size(type))
        return PTL_ARG_INVALID;
    return PTL_OK;
}

int ptl_message_atomic(struct ptl_message **out, const struct ptl_atomic_call *call)
{
    if (is_swap(call->operation))
        return ptl_current() ? PTL_ARG_INVALID : PTL_NO_INIT;
    int status = check(call->put_md, call->length, call->operation, call->type, false);
    if (status != PTL_OK)
        return status;
    status = ptl_message_put(out, call->put_md, call->put_offset, call->length, call->ack_req,
                             call->target_id, call->pt_index, call->match_bits, call->remote_offset,
                             call->user_ptr, call->hdr_data);
    if (status != PTL_OK)
        return status;
    (*out)->operation = PTL_DO_ATOMIC;
    (*out)->atomic_operation = call->operation;
    (*out)->atomic_type = call->type;
    return PTL_OK;
}

int ptl_message_fetch(struct ptl_message **out, const struct ptl_atomic_call *call)
{
    int status = check(call->put_md, call->length, call->operation, call->type, true);
    if (status != PTL_OK)
        return status;
    struct ptl_md *get_md = ptl_object(call->get_md, PTL_KIND_MD);
    const struct ptl_md *put_md = ptl_object(call->put_md, PTL_KIND_MD);
    if (!get_md || get_md->ni != put_md->ni || call->get_offset > get_md->length ||
        call->length > get_md->length - call->get_offset || is_swap(call->operation) != call->swap)
        return PTL_ARG_INVALID;
    if (needs_operand(call->operation) && (!call->operand || call->length > ptl_type_size(call->type)))
        return PTL_ARG_INVALID;
    status = ptl_message_put(out, call->put_md, call->put_offset, call->length, PTL_NO_ACK_REQ,
                             call->target_id, call->pt_index, call->match_bits, call->remote_offset,
                             call->user_ptr, call->hdr_data);
    if (status != PTL_OK)
        return status;
    struct ptl_message *m = *out;
    m->operation = PTL_DO_FETCH;
    m->atomic_operation = call->operation;
    m->atomic_type = call->type;
    m->get_md = get_md;
    m->get_offset = call->get_offset;
    get_md->pending++;
    if (needs_operand(call->operation))
        memcpy(m->operand, call->operand, ptl_type_size(call->type));
    return PTL_OK;
}

static int start(struct ptl_message *m, const char *call)
{
    ptl_active(m->from, call);
    ptl_message_start(m, false);
    return PTL_OK;
}

int PtlAtomic(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack_req,
              ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits,
              ptl_size_t remote_offset, void *user_ptr, ptl_hdr_data_t hdr_data, ptl_op_t operation,
              ptl_datatype_t datatype)
{
    struct ptl_atomic_call call = PTL_ATOMIC_CALL;
    struct ptl_message *m;
    int status = ptl_message_atomic(&m, &call);
    return status == PTL_OK ? start(m, "PtlAtomic") : status;
}

int PtlFetchAtomic(ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset, ptl_handle_md_t put_md_handle,
                   ptl_size_t local_put_offset, ptl_size_t length, ptl_process_t target_id,
                   ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset,
                   void *user_ptr, ptl_hdr_data_t hdr_data, ptl_op_t operation, ptl_datatype_t datatype)
{
    struct ptl_atomic_call call = PTL_FETCH_CALL;
    struct ptl_message *m;
    int status = ptl_message_fetch(&m, &call);
    return status == PTL_OK ? start(m, "PtlFetchAtomic") : status;
}

int PtlSwap(ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset, ptl_handle_md_t put_md_handle,
            ptl_size_t local_put_offset, ptl_size_t length, ptl_process_t target_id, ptl_pt_index_t pt_index,
            ptl_match_bits_t match_bits, ptl_size_t remote_offset, void *user_ptr, ptl_hdr_data_t hdr_data,
            const void *operand, ptl_op_t operation, ptl_datatype_t datatype)
{
    struct ptl_atomic_call call = PTL_SWAP_CALL;
    struct ptl_message *m;
    int status = ptl_message_fetch(&m, &call);
    return status == PTL_OK ? start(m, "PtlSwap") : status;
}

/* Atomics are applied in the memory of the process, so there is nothing to bring in step. */
int PtlAtomicSync(void)
{
    return ptl_current() ? PTL_OK : PTL_NO_INIT;
}

/* Bundles are a hint; commands are not held back. */
int PtlStartBundle(ptl_handle_ni_t ni_handle)
{
    return ptl_object(ni_handle, PTL_KIND_NI) ? PTL_OK : ptl_invalid();
}

int PtlEndBundle(ptl_handle_ni_t ni_handle)
{
    return PtlStartBundle(ni_handle);
}
