/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tag matching, on the processor: receives that wait, and messages that came before theirs. Both are kept in
 * the lists that the NIC of lowlevel/portals has for the same purpose. And sends, active messages among them.
 */
#include "base/memory.h"
#include "lowlevel/ucx/internal.h"

static struct ptl_match_key key_of(ucp_tag_t tag)
{
    return (struct ptl_match_key){.bits = tag};
}

static struct ucx_message *of_node(struct ptl_match_node *node)
{
    return node ? pf_container_of(node, struct ucx_message, match) : NULL;
}

void ucx_tag_arrived(struct ucx_message *m)
{
    struct ucp_worker *worker = m->place;
    m->come = m->part;
    struct ptl_match_node *node = ptl_match_find(&worker->expected, key_of(m->tag), NULL, NULL);
    if (node) {
        struct ucp_request *recv = pf_container_of(node, struct ucp_request, match);
        ptl_match_remove(&worker->expected, node);
        recv->waits = false;
        ucx_protocol_meets(m, recv);
        return;
    }
    worker->process->counters.unexpected++;
    m->match.key = key_of(m->tag);
    m->match.ignore = key_of(0);
    ptl_match_append(&worker->unexpected, &m->match);
}

/* The oldest message that came before a receive with this tag. */
static struct ucx_message *find(struct ucp_worker *worker, ucp_tag_t tag, ucp_tag_t mask)
{
    const struct ptl_match_node pattern = {.key = key_of(tag & mask), .ignore = key_of(~mask)};
    return of_node(ptl_match_next(&worker->unexpected, &pattern, NULL, NULL, NULL));
}

/* Whether the protocol that a message of this length takes is a rendezvous. Its sender's buffer stays busy
 * until the receiver is there: a caller that waits for its send has that from another length on. */
static bool needs_rendezvous(size_t length, const ucp_request_param_t *param)
{
    const struct pf_ucx_settings *settings = pf_ucx_settings();
    return length >= (param->op_attr_mask & UCP_OP_ATTR_FLAG_FAST_CMPL ? settings->rndv_nbr_thresh
                                                                       : settings->rndv_thresh);
}

/* Whether the NIC reads eager data where they are. A caller that waits for its send is better off with a copy
 * than with the way there and back. */
static bool needs_no_copy(const struct ucx_data *data, size_t length, const ucp_request_param_t *param)
{
    return !data->state && !ucx_is_short(length) && length >= pf_ucx_settings()->zcopy_thresh &&
           !(param->op_attr_mask & UCP_OP_ATTR_FLAG_FAST_CMPL);
}

/* The sends of a process by protocol, and what each costs its processor, copies aside. */
static void charge(struct ucx_process *process, const struct ucx_message *m)
{
    double seconds = pf_config.openmpi_send_time;
    if (m->kind == UCX_RTS) {
        process->counters.sends_rndv++;
        seconds += pf_config.ucx_reg_time;
    } else if (m->zcopy) {
        process->counters.sends_zcopy++;
        seconds += pf_config.ucx_reg_time;
    } else if (ucx_is_short(m->length)) {
        process->counters.sends_short++;
    } else {
        process->counters.sends_bcopy++;
    }
    ucx_process_pay(process, seconds);
}

/* Whether no message is real. */
static const struct pf_ucx_pretence *pretended(const struct ucp_worker *worker)
{
    const struct pf_ucx_pretence *pretence = worker->process->pretence;
    return pretence && pretence->fill ? pretence : NULL;
}

static ucs_status_ptr_t send(enum ucx_kind kind, struct ucp_ep *ep, struct ucx_data data, ucp_tag_t tag,
                             bool sync, const ucp_request_param_t *param)
{
    if (pretended(ep->worker)) {
        ucx_data_end(&data);
        return UCS_STATUS_PTR(UCS_OK);
    }
    size_t length = ucx_data_length(&data);
    bool rendezvous = kind == UCX_EAGER && needs_rendezvous(length, param);
    struct ucx_message *m = ucx_message_new(rendezvous ? UCX_RTS : kind, ep->worker, ep->peer);
    m->tag = tag;
    m->length = length;
    m->sync = sync && !rendezvous;
    m->zcopy = !rendezvous && needs_no_copy(&data, length, param);
    bool immediate = !rendezvous && !m->sync && !m->zcopy;
    struct ucp_request *request = NULL;
    if (!immediate || param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL) {
        request = ucx_request_new(ep->worker, param);
        request->data = data;
        m->send = request;
    }
    if (!rendezvous && length > 0) {
        m->bytes = pf_malloc(length);
        ucx_data_pack(&data, m->bytes, length);
    }
    if (!request)
        ucx_data_end(&data);
    charge(ep->worker->process, m);
    if (rendezvous)
        ucx_message_post(m);
    else
        ucx_protocol_send(m);
    if (immediate && request)
        ucx_request_complete(request, UCS_OK);
    return request ? ucx_request_user(request) : UCS_STATUS_PTR(UCS_OK);
}

/* What the older calls say by their arguments. */
static ucp_request_param_t of_older_call(ucp_datatype_t datatype, bool receives)
{
    uint32_t denied = receives ? UCP_OP_ATTR_FLAG_NO_IMM_CMPL : 0;
    return (ucp_request_param_t){.op_attr_mask =
                                     UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_DATATYPE | denied,
                                 .datatype = datatype};
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count, ucp_tag_t tag,
                                  const ucp_request_param_t *param)
{
    return send(UCX_EAGER, ep, ucx_data_begin(buffer, count, param, false), tag, false, param);
}

ucs_status_ptr_t ucp_tag_send_sync_nbx(ucp_ep_h ep, const void *buffer, size_t count, ucp_tag_t tag,
                                       const ucp_request_param_t *param)
{
    return send(UCX_EAGER, ep, ucx_data_begin(buffer, count, param, false), tag, true, param);
}

ucs_status_ptr_t ucp_tag_send_nb(ucp_ep_h ep, const void *buffer, size_t count, ucp_datatype_t datatype,
                                 ucp_tag_t tag, ucp_send_callback_t cb)
{
    ucp_request_param_t param = of_older_call(datatype, false);
    param.cb.old_send = cb;
    return send(UCX_EAGER, ep, ucx_data_begin(buffer, count, &param, false), tag, false, &param);
}

ucs_status_ptr_t ucp_tag_send_sync_nb(ucp_ep_h ep, const void *buffer, size_t count, ucp_datatype_t datatype,
                                      ucp_tag_t tag, ucp_send_callback_t cb)
{
    ucp_request_param_t param = of_older_call(datatype, false);
    param.cb.old_send = cb;
    return send(UCX_EAGER, ep, ucx_data_begin(buffer, count, &param, false), tag, true, &param);
}

static struct ucp_request *new_receive(struct ucp_worker *worker, void *buffer, size_t count,
                                       const ucp_request_param_t *param)
{
    struct ucp_request *request = ucx_request_new(worker, param);
    request->receives = true;
    request->data = ucx_data_begin(buffer, count, param, true);
    return request;
}

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer, size_t count, ucp_tag_t tag,
                                  ucp_tag_t mask, const ucp_request_param_t *param)
{
    struct ucp_request *request = new_receive(worker, buffer, count, param);
    const struct pf_ucx_pretence *pretence = pretended(worker);
    struct ucx_message *m = pretence ? NULL : find(worker, tag, mask);
    if (pretence) {
        request->info = (ucp_tag_recv_info_t){tag, ucx_data_length(&request->data)};
        pretence->fill(pretence->arg, buffer, request->info.length);
        ucx_request_complete(request, UCS_OK);
    } else if (m) {
        ptl_match_remove(&worker->unexpected, &m->match);
        ucx_protocol_meets(m, request);
    } else {
        request->waits = true;
        request->match.key = key_of(tag & mask);
        request->match.ignore = key_of(~mask);
        ptl_match_append(&worker->expected, &request->match);
    }
    return ucx_request_user(request);
}

ucs_status_ptr_t ucp_tag_recv_nb(ucp_worker_h worker, void *buffer, size_t count, ucp_datatype_t datatype,
                                 ucp_tag_t tag, ucp_tag_t mask, ucp_tag_recv_callback_t cb)
{
    ucp_request_param_t param = of_older_call(datatype, true);
    param.cb.old_recv = cb;
    return ucp_tag_recv_nbx(worker, buffer, count, tag, mask, &param);
}

ucp_tag_message_h ucp_tag_probe_nb(ucp_worker_h worker, ucp_tag_t tag, ucp_tag_t mask, int remove,
                                   ucp_tag_recv_info_t *info)
{
    struct ucx_message *m = find(worker, tag, mask);
    if (!m)
        return NULL;
    *info = (ucp_tag_recv_info_t){m->tag, m->length};
    if (remove)
        ptl_match_remove(&worker->unexpected, &m->match);
    return m;
}

ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker, void *buffer, size_t count,
                                      ucp_tag_message_h message, const ucp_request_param_t *param)
{
    struct ucp_request *request = new_receive(worker, buffer, count, param);
    ucx_protocol_meets(message, request);
    return ucx_request_user(request);
}

ucs_status_ptr_t ucp_tag_msg_recv_nb(ucp_worker_h worker, void *buffer, size_t count, ucp_datatype_t datatype,
                                     ucp_tag_message_h message, ucp_tag_recv_callback_t cb)
{
    ucp_request_param_t param = of_older_call(datatype, true);
    param.cb.old_recv = cb;
    return ucp_tag_msg_recv_nbx(worker, buffer, count, message, &param);
}

ucs_status_ptr_t ucp_am_send_nb(ucp_ep_h ep, uint16_t id, const void *buffer, size_t count,
                                ucp_datatype_t datatype, ucp_send_callback_t cb, unsigned flags)
{
    const ucp_request_param_t param = {.op_attr_mask =
                                           UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_DATATYPE,
                                       .datatype = datatype,
                                       .cb.old_send = cb};
    return send(UCX_AM, ep, ucx_data_begin(buffer, count, &param, false), id, false, &param);
}

/* MPICH's data are bytes. */
ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void *header, size_t header_length,
                                 const void *buffer, size_t count, const ucp_request_param_t *param)
{
    const ucp_dt_iov_t parts[] = {{(void *)(uintptr_t)header, header_length},
                                  {(void *)(uintptr_t)buffer, count}};
    const struct ucx_data data = {(void *)(uintptr_t)parts, 2, UCP_DATATYPE_IOV, NULL};
    return send(UCX_AM, ep, data, id | (uint64_t)header_length << UCX_AM_ID_BITS, false, param);
}
