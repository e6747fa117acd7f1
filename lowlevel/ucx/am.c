/* SPDX-License-Identifier: BSD-3-Clause */
/* Active messages: the receiver's worker calls a handler with them. All data come with the first message or
 * its pieces; UCX would have long ones of the newer calls read by their receiver. */
#include "lowlevel/ucx/internal.h"

static struct ucx_handler *handler_of(struct ucp_worker *worker, uint64_t id)
{
    return id < UCX_MOST_HANDLERS ? &worker->handlers[id] : NULL;
}

ucs_status_t ucp_worker_set_am_handler(ucp_worker_h worker, uint16_t id, ucp_am_callback_t cb, void *arg,
                                       uint32_t flags)
{
    struct ucx_handler *handler = handler_of(worker, id);
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
    const struct ucx_handler *handler = handler_of(m->place, m->tag & ((1u << UCX_AM_ID_BITS) - 1));
    const ucp_am_recv_param_t param = {0};
    size_t header = (size_t)(m->tag >> UCX_AM_ID_BITS);
    char *bytes = m->bytes;
    ucx_process_pay(m->place->process, pf_config.openmpi_receive_time);
    if (handler && handler->old)
        handler->old(handler->arg, bytes, m->length, NULL, 0);
    else if (handler && handler->cb)
        handler->cb(handler->arg, bytes, header, bytes + header, m->length - header, &param);
}

/* Of data that a handler has been called without: there are none. */
ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void *descriptor, void *buffer, size_t count,
                                      const ucp_request_param_t *param)
{
    return UCS_STATUS_PTR(UCS_ERR_UNSUPPORTED);
}
