/* SPDX-License-Identifier: BSD-3-Clause */
/* The initiator's part: starting operations, and the NIC's upcalls for them. */
#include "base/log.h"
#include "lowlevel/network/packet/report.h"
#include "lowlevel/network/traffic.h"
#include "lowlevel/platform/platform.h"
#include "lowlevel/portals/internal.h"

static struct ptl_message *of_nic(struct pf_nic_message *nic)
{
    return pf_container_of(nic, struct ptl_message, nic);
}

/* A request or a reply has left the memory at its source. */
static void left_memory(struct pf_nic_message *nic)
{
    struct ptl_message *m = of_nic(nic);
    if (nic->kind == PF_NIC_PUT)
        ptl_message_kept(m);
    else if (nic->kind == PF_NIC_REPLY)
        ptl_target_read(m);
}

static void match(struct pf_nic_message *nic)
{
    struct ptl_message *m = of_nic(nic);
    if (nic->kind == PF_NIC_PUT || nic->kind == PF_NIC_GET)
        ptl_target_match(m);
    else
        nic->accepted = nic->payload;
}

static void complete(struct pf_nic_message *nic)
{
    struct ptl_message *m = of_nic(nic);
    switch (nic->kind) {
    case PF_NIC_PUT:
    case PF_NIC_GET:
        ptl_target_complete(m);
        break;
    case PF_NIC_ACK:
        ptl_message_acknowledged(m, pf_engine_now());
        break;
    case PF_NIC_REPLY:
        ptl_message_replied(m, nic->done_date);
        break;
    }
}

/* The first of a run: what follows has the same reason more likely than not. */
static void warn_lost(const struct pf_nic_message *nic)
{
    static bool warned;
    const struct pf_transfer *t = &nic->transfer;
    char link[200];
    if (warned)
        return;
    warned = true;
    bool down = pf_network_down_link(t->src, t->dst, link, sizeof link);
    pf_warn("host %s has stopped sending to host %s at %.9g s, after %lld repetitions (%s): %s%s",
            sg_host_get_name(pf_platform_host(t->src)), sg_host_get_name(pf_platform_host(t->dst)),
            pf_engine_now(), (long long)pf_config.nic_retries, pf_config_given("nic_retries"),
            down ? "this link is down: " : "messages are lost by chance", down ? link : "");
}

/* The NIC has given up. A request or its answer: the initiator learns that the outcome is unknown. */
static void lost(struct pf_nic_message *nic)
{
    struct ptl_message *m = of_nic(nic);
    warn_lost(nic);
    ptl_target_abandon(m);
    m->fail = PTL_NI_UNDELIVERABLE;
    m->mlength = 0;
    if (m->operation == PTL_DO_GET || m->operation == PTL_DO_FETCH)
        ptl_message_replied(m, pf_engine_now());
    else
        ptl_message_acknowledged(m, pf_engine_now());
}

/* Without end-to-end reliability a loss causes no event, at either end. A process that waits for one waits
 * for ever, so the loss is counted for the diagnosis. */
static void vanished(struct pf_nic_message *nic)
{
    struct ptl_message *m = of_nic(nic);
    ptl_target_abandon(m);
    m->from->counters.vanished++;
    ptl_message_free(m);
}

static const struct pf_nic_client_ops nic_client = {
    .size = sizeof(struct pf_nic_client_ops),
    .buffered = left_memory,
    .sent = left_memory,
    .match = match,
    .complete = complete,
    .lost = lost,
    .vanished = vanished,
};

static void queue_moved(struct pf_nic_message *nic)
{
    struct ptl_process *process = of_nic(nic)->from;
    /* Not at each command: a sender that is woken for a few is as fast in simulated time, as long as the
     * queue never runs dry before it comes. Half of the queue would. */
    if (process->queue_parked && process->queued_commands <= pf_config.nic_command_queue * 3 / 4)
        ptl_queue_moved(process);
}

static enum pf_transfer_kind transfer_kind(const struct ptl_message *m)
{
    switch (m->operation) {
    case PTL_DO_PUT:
        return PF_TRANSFER_PUT;
    case PTL_DO_GET:
        return PF_TRANSFER_GET;
    case PTL_DO_ATOMIC:
        return PF_TRANSFER_ATOMIC;
    case PTL_DO_FETCH:
        return m->atomic_operation >= PTL_SWAP ? PF_TRANSFER_SWAP : PF_TRANSFER_FETCH;
    }
    return PF_TRANSFER_PUT;
}

/* Hands the message to the NIC: as a command of the process, or as an operation that a counter has triggered
 * there. */
void ptl_message_start(struct ptl_message *m, bool triggered)
{
    struct ptl_process *process = m->from;
    bool from_process = !triggered && !pf_engine_inside();
    if (from_process && !process->free_mode)
        ptl_queue_wait(process);
    if (m->nic.transfer.network == PTL_NO_NETWORK)
        m->nic.transfer.network = process->network;
    process->counters.messages++;
    if (m->operation != PTL_DO_GET)
        process->counters.bytes_put += m->rlength;
    m->nic.in_command = m->operation != PTL_DO_GET && pf_nic_in_command(m->rlength, ptl_is_matching(m->ni),
                                                                        m->md->md.options & PTL_MD_VOLATILE);
    if (m->nic.in_command)
        ptl_message_take_payload(m);
    m->nic.client = &nic_client;
    m->nic.src = process->nic;
    m->nic.dst = m->to ? m->to->nic : process->nic;
    m->nic.kind = m->operation == PTL_DO_GET ? PF_NIC_GET : PF_NIC_PUT;
    m->nic.transfer.kind = transfer_kind(m);
    m->nic.transfer.src_process = process->self->rank;
    m->nic.transfer.dst_process = m->to ? m->to->self->rank : -1;
    if (m->operation != PTL_DO_GET && !process->free_mode)
        pf_traffic_count(process->self->rank, m->nic.transfer.dst_process, m->rlength);
    m->nic.service = process->service;
    m->nic.matching = ptl_is_matching(m->ni);
    m->nic.payload = m->operation == PTL_DO_GET ? 0 : m->rlength;
    if (!from_process) {
        pf_nic_submit(&m->nic, pf_engine_now());
        return;
    }
    process->queued_commands++;
    m->nic.queue_count = &process->queued_commands;
    m->nic.queue_moved = queue_moved;
    pf_nic_command(&m->nic, process->free_mode);
}

static int check_target(struct ptl_ni *ni, ptl_process_t target_id, ptl_pt_index_t pt_index,
                        ptl_size_t length)
{
    if (!ptl_target_valid(ni, target_id) || pt_index > (ptl_pt_index_t)ni->limits.max_pt_index ||
        length > ni->limits.max_msg_size)
        return PTL_ARG_INVALID;
    return PTL_OK;
}

static bool in_md(const struct ptl_md *md, ptl_size_t offset, ptl_size_t length)
{
    return offset <= md->length && length <= md->length - offset;
}

int ptl_message_put(struct ptl_message **out, ptl_handle_md_t md_handle, ptl_size_t local_offset,
                    ptl_size_t length, ptl_ack_req_t ack_req, ptl_process_t target_id,
                    ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset,
                    void *user_ptr, ptl_hdr_data_t hdr_data)
{
    struct ptl_process *process = ptl_current();
    if (!process)
        return PTL_NO_INIT;
    struct ptl_md *md = ptl_lookup(process, md_handle, PTL_KIND_MD);
    if (!md || !in_md(md, local_offset, length) || (unsigned int)ack_req > PTL_OC_ACK_REQ)
        return PTL_ARG_INVALID;
    if ((ack_req == PTL_ACK_REQ && !md->eq && !md->ct) || (ack_req == PTL_CT_ACK_REQ && !md->ct))
        return PTL_ARG_INVALID;
    int status = check_target(md->ni, target_id, pt_index, length);
    if (status != PTL_OK)
        return status;
    struct ptl_message *m = ptl_message_new(md, PTL_DO_PUT);
    m->offset = local_offset;
    m->rlength = length;
    /* An acknowledgement that would only be counted, where nothing counts it, is not asked for: the
     * descriptor may go as soon as the message has left it. */
    bool uncounted = (ack_req != PTL_ACK_REQ || !md->eq) && !(md->md.options & PTL_MD_EVENT_CT_ACK);
    m->ack_req = uncounted ? PTL_NO_ACK_REQ : ack_req;
    m->to = ptl_resolve(md->ni, target_id);
    m->pt_index = pt_index;
    m->match_bits = match_bits;
    m->remote_offset = remote_offset;
    m->user_ptr = user_ptr;
    m->hdr_data = hdr_data;
    *out = m;
    return PTL_OK;
}

int PtlPut(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack_req,
           ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits,
           ptl_size_t remote_offset, void *user_ptr, ptl_hdr_data_t hdr_data)
{
    struct ptl_message *m;
    int status = ptl_message_put(&m, md_handle, local_offset, length, ack_req, target_id, pt_index,
                                 match_bits, remote_offset, user_ptr, hdr_data);
    if (status != PTL_OK)
        return status;
    ptl_active(m->from, "PtlPut");
    ptl_message_start(m, false);
    return PTL_OK;
}

int ptl_message_get(struct ptl_message **out, ptl_handle_md_t md_handle, ptl_size_t local_offset,
                    ptl_size_t length, ptl_process_t target_id, ptl_pt_index_t pt_index,
                    ptl_match_bits_t match_bits, ptl_size_t remote_offset, void *user_ptr)
{
    struct ptl_process *process = ptl_current();
    if (!process)
        return PTL_NO_INIT;
    struct ptl_md *md = ptl_lookup(process, md_handle, PTL_KIND_MD);
    if (!md || !in_md(md, local_offset, length))
        return PTL_ARG_INVALID;
    int status = check_target(md->ni, target_id, pt_index, length);
    if (status != PTL_OK)
        return status;
    struct ptl_message *m = ptl_message_new(md, PTL_DO_GET);
    m->offset = local_offset;
    m->rlength = length;
    m->to = ptl_resolve(md->ni, target_id);
    m->pt_index = pt_index;
    m->match_bits = match_bits;
    m->remote_offset = remote_offset;
    m->user_ptr = user_ptr;
    *out = m;
    return PTL_OK;
}

int PtlGet(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_process_t target_id,
           ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset, void *user_ptr)
{
    struct ptl_message *m;
    int status = ptl_message_get(&m, md_handle, local_offset, length, target_id, pt_index, match_bits,
                                 remote_offset, user_ptr);
    if (status != PTL_OK)
        return status;
    ptl_active(m->from, "PtlGet");
    ptl_message_start(m, false);
    return PTL_OK;
}
