/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication: the NICs write and read the memory of another process without its processor. All
 * memory is that of this process, so that an address says all: a key is the endpoint that it was unpacked
 * for, and its bytes are the same everywhere.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lowlevel/ucx/internal.h"

struct ucp_mem {
    void *address;
    size_t length;
    bool allocated;
};

/* A key as callers send it to each other is its own length. */
static const uint64_t packed_key = PF_UCX_KEY;

ucs_status_t ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t *params, ucp_mem_h *result)
{
    struct ucp_mem *mem = pf_malloc(sizeof *mem);
    mem->address = params->address;
    mem->length = params->length;
    mem->allocated = !mem->address && mem->length > 0 && params->flags & UCP_MEM_MAP_ALLOCATE;
    if (mem->allocated)
        mem->address = pf_malloc(mem->length);
    ucx_process_pay(context->process, pf_config.ucx_reg_time);
    *result = mem;
    return UCS_OK;
}

ucs_status_t ucp_mem_query(ucp_mem_h mem, ucp_mem_attr_t *attr)
{
    attr->address = mem->address;
    attr->length = mem->length;
    return UCS_OK;
}

ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h mem)
{
    if (mem->allocated)
        free(mem->address);
    free(mem);
    return UCS_OK;
}

ucs_status_t ucp_rkey_pack(ucp_context_h context, ucp_mem_h mem, void **buffer, size_t *size)
{
    *buffer = (void *)(uintptr_t)&packed_key;
    *size = sizeof packed_key;
    return UCS_OK;
}

void ucp_rkey_buffer_release(void *buffer)
{
}

ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h ep, const void *buffer, ucp_rkey_h *rkey)
{
    const struct pf_ucx_pretence *pretence = ep->worker->process->pretence;
    if (memcmp(buffer, &packed_key, sizeof packed_key) != 0)
        return UCS_ERR_INVALID_PARAM;
    *rkey = ep;
    if (pretence && pretence->key)
        pretence->key(pretence->arg, rkey);
    return UCS_OK;
}

void ucp_rkey_destroy(ucp_rkey_h rkey)
{
}

static struct ucx_message *access_new(enum ucx_kind kind, struct ucp_ep *ep, size_t length)
{
    struct ucx_message *m = ucx_message_new(kind, ep->worker, ep->peer);
    m->ep = ep;
    m->length = m->part = length;
    ep->pending++;
    ep->worker->pending++;
    return m;
}

static struct ucp_request *request_new(struct ucp_ep *ep, ucp_send_callback_t cb)
{
    const ucp_request_param_t param = {.op_attr_mask = cb ? UCP_OP_ATTR_FIELD_CALLBACK : 0,
                                       .cb.old_send = cb};
    return ucx_request_new(ep->worker, &param);
}

/* With a copy of its own, or of data that go with the command, the call has ended for the caller. */
static ucs_status_ptr_t write_to(struct ucp_ep *ep, const void *buffer, size_t length, uint64_t remote,
                                 bool copies, bool wants_request, ucp_send_callback_t cb)
{
    struct ucx_message *m = access_new(UCX_WRITE, ep, length);
    bool is_short = ucx_is_short(length);
    struct ucp_request *request = NULL;
    copies |= is_short || length < pf_ucx_settings()->zcopy_thresh;
    m->source = buffer;
    m->target = (void *)(uintptr_t)remote;
    if (copies) {
        m->bytes = pf_malloc(length ? length : 1);
        memcpy(m->bytes, buffer, length);
    } else if (wants_request) {
        m->send = request = request_new(ep, cb);
    }
    ucx_process_pay(ep->worker->process, pf_config.openmpi_send_time);
    if (!copies)
        ucx_process_pay(ep->worker->process, pf_config.ucx_reg_time);
    else if (!is_short)
        ucx_process_copy(ep->worker->process, length);
    ucx_message_post(m);
    return request ? ucx_request_user(request) : UCS_STATUS_PTR(copies ? UCS_OK : UCS_INPROGRESS);
}

ucs_status_t ucp_put(ucp_ep_h ep, const void *buffer, size_t length, uint64_t remote, ucp_rkey_h rkey)
{
    write_to(ep, buffer, length, remote, true, false, NULL);
    return UCS_OK;
}

ucs_status_t ucp_put_nbi(ucp_ep_h ep, const void *buffer, size_t length, uint64_t remote, ucp_rkey_h rkey)
{
    return (ucs_status_t)(intptr_t)write_to(ep, buffer, length, remote, false, false, NULL);
}

ucs_status_ptr_t ucp_put_nb(ucp_ep_h ep, const void *buffer, size_t length, uint64_t remote, ucp_rkey_h rkey,
                            ucp_send_callback_t cb)
{
    return write_to(ep, buffer, length, remote, false, true, cb);
}

static void read_from(struct ucp_ep *ep, void *buffer, size_t length, uint64_t remote,
                      struct ucp_request *request)
{
    struct ucx_message *m = access_new(UCX_READ, ep, length);
    m->source = (const void *)(uintptr_t)remote;
    m->target = buffer;
    m->send = request;
    ucx_process_pay(ep->worker->process, pf_config.openmpi_send_time + pf_config.ucx_reg_time);
    ucx_message_post(m);
}

ucs_status_t ucp_get_nbi(ucp_ep_h ep, void *buffer, size_t length, uint64_t remote, ucp_rkey_h rkey)
{
    read_from(ep, buffer, length, remote, NULL);
    return UCS_INPROGRESS;
}

ucs_status_ptr_t ucp_get_nb(ucp_ep_h ep, void *buffer, size_t length, uint64_t remote, ucp_rkey_h rkey,
                            ucp_send_callback_t cb)
{
    struct ucp_request *request = request_new(ep, cb);
    read_from(ep, buffer, length, remote, request);
    return ucx_request_user(request);
}

static bool is_atomic_size(size_t size)
{
    return size == sizeof(uint32_t) || size == sizeof(uint64_t);
}

/* `result` and `request`, if any, get the value before. */
static void change(struct ucp_ep *ep, const struct ucx_atomic *atomic, size_t size, void *result,
                   struct ucp_request *request)
{
    struct ucx_message *m = access_new(UCX_ATOMIC, ep, size);
    struct ucx_atomic *copy = m->bytes = pf_malloc(sizeof *copy);
    *copy = *atomic;
    m->part = atomic->operation == UCP_ATOMIC_FETCH_OP_CSWAP ? 2 * size : size;
    m->source = &copy->before;
    m->target = result;
    m->send = request;
    ucx_process_pay(ep->worker->process, pf_config.openmpi_send_time);
    ucx_message_post(m);
}

ucs_status_t ucp_atomic_post(ucp_ep_h ep, ucp_atomic_post_op_t operation, uint64_t value, size_t size,
                             uint64_t remote, ucp_rkey_h rkey)
{
    static const ucp_atomic_fetch_op_t same[] = {
        [UCP_ATOMIC_POST_OP_ADD] = UCP_ATOMIC_FETCH_OP_FADD,
        [UCP_ATOMIC_POST_OP_AND] = UCP_ATOMIC_FETCH_OP_FAND,
        [UCP_ATOMIC_POST_OP_OR] = UCP_ATOMIC_FETCH_OP_FOR,
        [UCP_ATOMIC_POST_OP_XOR] = UCP_ATOMIC_FETCH_OP_FXOR,
    };
    if (!is_atomic_size(size))
        return UCS_ERR_INVALID_PARAM;
    const struct ucx_atomic atomic = {
        .operation = same[operation], .operands = {value}, .place = (void *)(uintptr_t)remote};
    change(ep, &atomic, size, NULL, NULL);
    return UCS_OK;
}

ucs_status_ptr_t ucp_atomic_fetch_nb(ucp_ep_h ep, ucp_atomic_fetch_op_t operation, uint64_t value,
                                     void *result, size_t size, uint64_t remote, ucp_rkey_h rkey,
                                     ucp_send_callback_t cb)
{
    if (!is_atomic_size(size))
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    struct ucx_atomic atomic = {
        .operation = operation, .operands = {value}, .place = (void *)(uintptr_t)remote};
    if (operation == UCP_ATOMIC_FETCH_OP_CSWAP) {
        atomic.operands[1] = value;
        memcpy(&atomic.operands[0], result, size);
    }
    struct ucp_request *request = request_new(ep, cb);
    change(ep, &atomic, size, result, request);
    return ucx_request_user(request);
}

/* ---- the ends of accesses ---- */

/* What is on its way from an endpoint, or from all of a worker. */
static long pending(const struct ucp_worker *worker, const struct ucp_ep *ep)
{
    return ep ? ep->pending : worker->pending;
}

static ucs_status_ptr_t flush(struct ucp_worker *worker, const struct ucp_ep *ep, ucp_send_callback_t cb)
{
    if (pending(worker, ep) == 0 || worker->process->pretence)
        return UCS_STATUS_PTR(UCS_OK);
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.old_send = cb};
    struct ucp_request *request = ucx_request_new(worker, &param);
    request->ep = ep;
    request->next = worker->flushes;
    worker->flushes = request;
    return ucx_request_user(request);
}

/* Messages of other kinds need none: callers hear of each. */
ucs_status_ptr_t ucp_worker_flush_nb(ucp_worker_h worker, unsigned flags, ucp_send_callback_t cb)
{
    return flush(worker, NULL, cb);
}

ucs_status_ptr_t ucp_ep_flush_nb(ucp_ep_h ep, unsigned flags, ucp_send_callback_t cb)
{
    return flush(ep->worker, ep, cb);
}

/* The only caller flushes where it needs an order (adapters/openmpi/glue/osc_ucx.c). */
ucs_status_t ucp_worker_fence(ucp_worker_h worker)
{
    return UCS_OK;
}

/* One that is over and waits no more, taken out of the list. */
static struct ucp_request *take_flush(struct ucp_worker *worker)
{
    struct ucp_request **link = &worker->flushes;
    while (*link && pending(worker, (*link)->ep) > 0)
        link = &(*link)->next;
    struct ucp_request *request = *link;
    if (request)
        *link = request->next;
    return request;
}

void ucx_rma_done(const struct ucx_message *m)
{
    struct ucp_worker *worker = m->ep->worker;
    m->ep->pending--;
    worker->pending--;
    if (m->send)
        ucx_request_complete(m->send, UCS_OK);
    for (struct ucp_request *flush; (flush = take_flush(worker));)
        ucx_request_complete(flush, UCS_OK);
}
