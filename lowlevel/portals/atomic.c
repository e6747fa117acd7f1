/* SPDX-License-Identifier: BSD-3-Clause */
/* Not there yet: atomics and bundles of effect. They return PTL_FAIL (see lowlevel/README.md). */
#include "lowlevel/portals/internal.h"

void ptl_atomic_apply(struct ptl_message *m, const struct ptl_memory *memory)
{
    (void)m, (void)memory;
}

int PtlAtomic(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack_req,
              ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset,
              void *user_ptr, ptl_hdr_data_t hdr_data, ptl_op_t operation, ptl_datatype_t datatype)
{
    (void)md_handle, (void)local_offset, (void)length, (void)ack_req, (void)target_id, (void)pt_index, (void)match_bits;
    (void)remote_offset, (void)user_ptr, (void)hdr_data, (void)operation, (void)datatype;
    return PTL_FAIL;
}

int PtlFetchAtomic(ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset, ptl_handle_md_t put_md_handle,
                   ptl_size_t local_put_offset, ptl_size_t length, ptl_process_t target_id, ptl_pt_index_t pt_index,
                   ptl_match_bits_t match_bits, ptl_size_t remote_offset, void *user_ptr, ptl_hdr_data_t hdr_data,
                   ptl_op_t operation, ptl_datatype_t datatype)
{
    (void)get_md_handle, (void)local_get_offset, (void)put_md_handle, (void)local_put_offset, (void)length;
    (void)target_id, (void)pt_index, (void)match_bits, (void)remote_offset, (void)user_ptr, (void)hdr_data;
    (void)operation, (void)datatype;
    return PTL_FAIL;
}

int PtlAtomicSync(void)
{
    return ptl_current() ? PTL_OK : PTL_NO_INIT;
}

int PtlStartBundle(ptl_handle_ni_t ni_handle)
{
    return !ptl_current() ? PTL_NO_INIT : ptl_object(ni_handle, PTL_KIND_NI) ? PTL_OK : PTL_ARG_INVALID;
}

int PtlEndBundle(ptl_handle_ni_t ni_handle)
{
    return PtlStartBundle(ni_handle);
}
