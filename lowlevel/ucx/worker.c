/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers: what has come for them, and how they find each other. */
#include <stdlib.h>

#include "base/memory.h"
#include "lowlevel/ucx/internal.h"

static struct ucx_message *take(struct ucp_worker *worker)
{
    struct ucx_message *m = worker->first;
    if (!m)
        return NULL;
    worker->first = m->next;
    if (!worker->first)
        worker->last = NULL;
    return m;
}

static unsigned drain(struct ucp_worker *worker)
{
    struct ucx_process *process = worker->process;
    unsigned count = 0;
    for (struct ucx_message *m; (m = take(worker)); count++) {
        if (__builtin_expect(pf_chain_on, 0)) {
            pf_chain_meet(process->self, m->path, pf_engine_now());
            pf_chain_drop(&m->path);
        }
        process->reacts = m->nic.transfer.network;
        if (m->kind == UCX_EAGER || m->kind == UCX_RTS)
            ucx_tag_arrived(m);
        else
            ucx_protocol_handle(m);
    }
    return count;
}

/* Those of its other workers, too: some callers wait for one and forget what others wait for. */
static unsigned drain_all(const struct ucx_process *process)
{
    unsigned count = 0;
    for (int i = 0; i < process->worker_count; i++)
        count += drain(process->workers[i]);
    return count;
}

unsigned ucp_worker_progress(ucp_worker_h worker)
{
    if (worker->process->pretence)
        return 0;
    unsigned count = drain_all(worker->process);
    if (count > 0)
        return count;
    ucx_process_idle(worker->process);
    return drain_all(worker->process);
}

ucs_status_t ucp_worker_create(ucp_context_h context, const ucp_worker_params_t *params, ucp_worker_h *result)
{
    struct ucx_process *process = context->process;
    (void)params; /* one thread per process, whatever it asks for */
    if (process->worker_count == UCX_MOST_WORKERS)
        return UCS_ERR_NO_MEMORY;
    struct ucp_worker *worker = pf_calloc(1, sizeof *worker);
    worker->context = context;
    worker->process = process;
    worker->number = process->worker_count;
    process->workers[process->worker_count++] = worker;
    *result = worker;
    return UCS_OK;
}

/* Messages on their way to it find it closed: the structure stays. */
void ucp_worker_destroy(ucp_worker_h worker)
{
    worker->closed = true;
    for (struct ucx_message *m; (m = take(worker));)
        ucx_message_free(m);
    while (worker->unexpected.first) {
        struct ptl_match_node *node = worker->unexpected.first;
        ptl_match_remove(&worker->unexpected, node);
        ucx_message_free(pf_container_of(node, struct ucx_message, match));
    }
    while (worker->expected.first)
        ptl_match_remove(&worker->expected, worker->expected.first);
    ptl_match_release(&worker->unexpected);
    ptl_match_release(&worker->expected);
    while (worker->eps) {
        struct ucp_ep *ep = worker->eps;
        worker->eps = ep->next;
        free(ep);
    }
}

enum { ADDRESS_MARK = 0x75637870 };

ucs_status_t ucp_worker_get_address(ucp_worker_h worker, ucp_address_t **address, size_t *length)
{
    *address = pf_malloc(sizeof **address);
    **address = (struct ucp_address){ADDRESS_MARK, worker->process->self->rank,
                                     (int32_t)worker->process->user, worker->number};
    *length = sizeof **address;
    return UCS_OK;
}

void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t *address)
{
    free(address);
}

ucs_status_t ucp_worker_query(ucp_worker_h worker, ucp_worker_attr_t *attr)
{
    if (attr->field_mask & UCP_WORKER_ATTR_FIELD_THREAD_MODE)
        attr->thread_mode = UCS_THREAD_MODE_SINGLE;
    if (attr->field_mask & UCP_WORKER_ATTR_FIELD_ADDRESS)
        return ucp_worker_get_address(worker, &attr->address, &attr->address_length);
    return UCS_OK;
}

static struct ucp_worker *worker_at(const struct ucp_address *address)
{
    bool marked = address->mark == ADDRESS_MARK && address->user >= 0 && address->user < PF_UCX_USERS;
    const struct ucx_process *process =
        marked ? ucx_process_find(address->rank, (enum pf_ucx_user)address->user) : NULL;
    bool known = process && address->number >= 0 && address->number < process->worker_count;
    return known ? process->workers[address->number] : NULL;
}

ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params, ucp_ep_h *result)
{
    bool given = params->field_mask & UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    struct ucp_worker *peer = given ? worker_at(params->address) : NULL;
    if (!peer)
        return given ? UCS_ERR_INVALID_ADDR : UCS_ERR_INVALID_PARAM;
    struct ucp_ep *ep = pf_malloc(sizeof *ep);
    *ep = (struct ucp_ep){.worker = worker, .peer = peer, .next = worker->eps};
    worker->eps = ep;
    *result = ep;
    return UCS_OK;
}

/* Of an endpoint callers want the names of its transports, to print them: it has none. */
ucs_status_t ucp_ep_query(ucp_ep_h ep, ucp_ep_attr_t *attr)
{
    return UCS_ERR_UNSUPPORTED;
}

/* Both: it goes with its worker; what was sent arrives. */
void ucp_ep_destroy(ucp_ep_h ep)
{
}

ucs_status_ptr_t ucp_disconnect_nb(ucp_ep_h ep)
{
    return UCS_STATUS_PTR(UCS_OK);
}

ucs_status_t ucp_ep_flush(ucp_ep_h ep)
{
    while (ep->pending > 0 && !ep->worker->process->pretence)
        ucp_worker_progress(ep->worker);
    return UCS_OK;
}
