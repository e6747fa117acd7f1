/* SPDX-License-Identifier: BSD-3-Clause */
/* Active messages: the receiver's worker calls a handler with them. All data come with the first message or
 * its pieces; UCX would have long ones of the newer calls read by their receiver. */
#include "lowlevel/ucx/internal.h"

enum { ID_BITS = 16 }; /* of a message's tag; its upper part is the length of the header */

static struct ucx_handler *handler_of(struct ucp_worker *worker, uint64_t id)
{
    return id < UCX_MOST_HANDLERS ? &worker->handlers[id] : NULL;
}

ucs_status_t ucp_worker_set_am_handler(ucp_worker_h worker, uint16_t id, ucp_am_callback_t cb, void *arg,
                                       uint32_t flags)
{
    struct ucx_handler *handler = handler_of(worker, id);
    (void)flags;
    if (!handler)
        return UCS_ERR_INVALID_PARAM;
    *handler = (struct ucx_handler){.old = cb, .arg = arg};
    return UCS_OK;
}

ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker, const ucp_am_handler_param_t *param)
{
    struct ucx_handler *handler = handler_of(worker, param->id);
    if (!handler)
        return UCS_ERR_INVALID_PARAM;
    *handler = (struct ucx_handler){.cb = param->cb, .arg = param->arg};
    return UCS_OK;
}

void ucx_am_arrived(const struct ucx_message *m)
{
    const struct ucx_handler *handler = handler_of(m->place, m->tag & ((1u << ID_BITS) - 1));
    const ucp_am_recv_param_t param = {0};
    size_t header = (size_t)(m->tag >> ID_BITS);
    char *bytes = m->bytes;
    ucx_process_pay(m->place->process, pf_config.openmpi_receive_time);
    if (handler && handler->old)
        handler->old(handler->arg, bytes, m->length, NULL, 0);
    else if (handler && handler->cb)
        handler->cb(handler->arg, bytes, header, bytes + header, m->length - header, &param);
}

ucs_status_ptr_t ucp_am_send_nb(ucp_ep_h ep, uint16_t id, const void *buffer, size_t count,
                                ucp_datatype_t datatype, ucp_send_callback_t cb, unsigned flags)
{
    const ucp_request_param_t param = {.op_attr_mask =
                                           UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_DATATYPE,
                                       .datatype = datatype,
                                       .cb.old_send = cb};
    (void)flags;
    return ucx_send(UCX_AM, ep, ucx_data_begin(buffer, count, &param, false), id, false, &param);
}

/* MPICH's data are bytes. */
ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void *header, size_t header_length,
                                 const void *buffer, size_t count, const ucp_request_param_t *param)
{
    const ucp_dt_iov_t parts[] = {{(void *)(uintptr_t)header, header_length},
                                  {(void *)(uintptr_t)buffer, count}};
    const struct ucx_data data = {(void *)(uintptr_t)parts, 2, UCP_DATATYPE_IOV, NULL};
    return ucx_send(UCX_AM, ep, data, id | (uint64_t)header_length << ID_BITS, false, param);
}

/* Of data that a handler has been called without: there are none. */
ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void *descriptor, void *buffer, size_t count,
                                      const ucp_request_param_t *param)
{
    (void)worker, (void)descriptor, (void)buffer, (void)count, (void)param;
    return UCS_STATUS_PTR(UCS_ERR_UNSUPPORTED);
}
