/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a message, and what its initiator learns of the operation: local events and counters. */
#include <string.h>

#include "lowlevel/network/traffic.h"
#include "lowlevel/portals/internal.h"

static struct pf_pool messages = PF_POOL(struct ptl_message);

/* The network of an operation is that of the call which begins it, or of the event that it is an answer to.
 * What a library sets up while it is initialised, for a counter to trigger some day, has none yet. */
static uint8_t network_now(const struct ptl_process *process)
{
    if (process->reacts != PTL_NO_NETWORK)
        return process->reacts;
    return process->free_mode ? PTL_NO_NETWORK : process->network;
}

struct ptl_message *ptl_message_new(struct ptl_md *md, enum ptl_operation operation)
{
    struct ptl_message *m = pf_pool_get(&messages);
    memset(m, 0, offsetof(struct ptl_message, operand)); /* the data need no zeros */
    m->operation = operation;
    m->md = md;
    m->ni = md->ni;
    m->from = md->ni->process;
    m->initiator = ptl_own_id(md->ni);
    m->uid = PTL_THE_UID;
    m->nic.transfer.network = network_now(md->ni->process);
    md->pending++;
    return m;
}

void ptl_message_free(struct ptl_message *m)
{
    if (m->md)
        m->md->pending--;
    if (m->get_md)
        m->get_md->pending--;
    ptl_unused(m->from);
    pf_pool_put(&messages, m);
}

/* One full event at the initiator. */
static void post(const struct ptl_message *m, const struct ptl_md *md, ptl_event_kind_t type,
                 ptl_ni_fail_t fail, double date)
{
    if (fail == PTL_NI_OK && (md->md.options & PTL_MD_EVENT_SUCCESS_DISABLE))
        return;
    ptl_event_t event = {
        .type = type,
        .user_ptr = m->user_ptr,
        .rlength = m->rlength,
        .mlength = m->mlength,
        .remote_offset = m->place,
        .ptl_list = m->list,
        .pt_index = m->pt_index,
        .ni_fail_type = fail,
        .atomic_operation = m->atomic_operation,
        .atomic_type = m->atomic_type,
    };
    if (type == PTL_EVENT_SEND)
        event.mlength = m->rlength;
    if (type == PTL_EVENT_REPLY)
        event.start = (char *)md->md.start + (m->operation == PTL_DO_FETCH ? m->get_offset : m->offset);
    ptl_eq_post(ptl_live_eq(md->eq, md->md.eq_handle, m->ni), &event, m->nic.transfer.network, date);
}

/* The counter that counts this kind of event, NULL when none does. */
static struct ptl_ct *counter(const struct ptl_message *m, const struct ptl_md *md, unsigned int option)
{
    return md->md.options & option ? ptl_live_ct(md->ct, md->md.ct_handle, m->ni) : NULL;
}

static void count(const struct ptl_message *m, const struct ptl_md *md, unsigned int option,
                  ptl_size_t length, ptl_ni_fail_t fail, double date)
{
    struct ptl_ct *ct = counter(m, md, option);
    if (ct)
        ptl_ct_count(ct, md->md.options & PTL_MD_EVENT_CT_BYTES, length, fail, date);
}

/* A message that the target has dropped, or refused by its permissions, has been sent all the same: only its
 * acknowledgement reports that. Both report a disabled table entry, as Open MPI's flow control needs it. */
static void post_send(struct ptl_message *m, ptl_ni_fail_t fail, double date)
{
    m->send_posted = true;
    if (fail == PTL_NI_DROPPED || fail == PTL_NI_PERM_VIOLATION || fail == PTL_NI_OP_VIOLATION)
        fail = PTL_NI_OK;
    if (!(m->md->md.options & PTL_MD_EVENT_SEND_DISABLE))
        post(m, m->md, PTL_EVENT_SEND, fail, date);
    count(m, m->md, PTL_MD_EVENT_CT_SEND, m->rlength, fail, date);
}

void ptl_message_take_payload(struct ptl_message *m)
{
    struct ptl_memory to = {m->data, sizeof m->data, false};
    struct ptl_memory from = ptl_md_memory(m->md);
    ptl_memory_copy(&to, 0, &from, m->offset, m->rlength);
    m->has_data = true;
}

void ptl_message_kept(struct ptl_message *m)
{
    if (m->send_posted || !pf_nic_keeps(m->rlength))
        return;
    if (!m->has_data && !m->ni->closed)
        ptl_message_take_payload(m);
    post_send(m, PTL_NI_OK, pf_engine_now());
    if (m->operation != PTL_DO_FETCH && m->ack_req == PTL_NO_ACK_REQ) {
        m->md->pending--; /* that was all for the initiator; the descriptor may go */
        m->md = NULL;
        ptl_unused(m->from);
    }
}

void ptl_message_acknowledged(struct ptl_message *m, double date)
{
    if (!m->ni->closed) {
        if (!m->send_posted)
            post_send(m, m->fail, date);
        bool wanted = m->ack_req != PTL_NO_ACK_REQ && (m->fail != PTL_NI_OK || !m->ack_disabled);
        if (wanted && m->ack_req == PTL_ACK_REQ)
            post(m, m->md, PTL_EVENT_ACK, m->fail, date);
        /* An operation-completed acknowledgement counts operations, whatever has become of them. */
        bool completed = m->ack_req == PTL_OC_ACK_REQ && m->fail != PTL_NI_UNDELIVERABLE;
        if (wanted && completed)
            ptl_ct_add(counter(m, m->md, PTL_MD_EVENT_CT_ACK), 1, 0, date);
        else if (wanted)
            count(m, m->md, PTL_MD_EVENT_CT_ACK, m->mlength, m->fail, date);
    }
    ptl_message_free(m);
}

void ptl_message_replied(struct ptl_message *m, double date)
{
    if (!m->ni->closed) {
        if (m->operation == PTL_DO_FETCH && !m->send_posted)
            post_send(m, m->fail, date);
        const struct ptl_md *md = m->operation == PTL_DO_FETCH ? m->get_md : m->md;
        ptl_event_t event = {
            .type = PTL_EVENT_REPLY,
            .start = (char *)md->md.start + (m->operation == PTL_DO_FETCH ? m->get_offset : m->offset),
            .user_ptr = m->user_ptr,
            .mlength = m->mlength,
            .remote_offset = m->place,
            .ptl_list = m->list,
            .pt_index = m->pt_index,
            .ni_fail_type = m->fail,
        };
        m->from->counters.bytes_got += m->mlength;
        if (!m->from->free_mode)
            pf_traffic_count(m->nic.transfer.dst_process, m->from->self->rank, m->mlength);
        if (m->fail != PTL_NI_OK || !(md->md.options & PTL_MD_EVENT_SUCCESS_DISABLE))
            ptl_eq_post(ptl_live_eq(md->eq, md->md.eq_handle, m->ni), &event, m->nic.transfer.network, date);
        struct ptl_ct *ct = ptl_live_ct(md->ct, md->md.ct_handle, m->ni);
        if (ct && (md->md.options & PTL_MD_EVENT_CT_REPLY))
            ptl_ct_count(ct, md->md.options & PTL_MD_EVENT_CT_BYTES, m->mlength, m->fail, date);
    }
    ptl_message_free(m);
}
