/* SPDX-License-Identifier: BSD-3-Clause */
/* What the NIC of the target does with a request: matching, data, events, answers. */
#include <string.h>

#include "lowlevel/portals/internal.h"

static struct ptl_ni *target_ni(const struct ptl_message *m)
{
    if (!m->to || m->to->aborted)
        return NULL;
    if (m->ni->closed && !m->has_data)
        return NULL; /* the initiator has gone, and with it the data that were still in its memory */
    for (int kind = 0; kind < PTL_NI_KINDS; kind++) {
        struct ptl_ni *ni = m->to->nis[kind];
        if (ni && !ni->closed && ni->options == m->ni->options)
            return ni;
    }
    return NULL;
}

static bool reads(const struct ptl_message *m)
{
    return m->operation == PTL_DO_GET || m->operation == PTL_DO_FETCH;
}

static bool writes(const struct ptl_message *m)
{
    return m->operation != PTL_DO_GET;
}

static void refuse(struct ptl_message *m, ptl_ni_fail_t fail)
{
    m->fail = fail;
    m->entry = NULL;
    m->mlength = 0;
    if (!m->to)
        return;
    m->to->counters.dropped++;
    if (!m->to_ni)
        return;
    ptl_sr_index_t index = fail == PTL_NI_PERM_VIOLATION ? PTL_SR_PERMISSION_VIOLATIONS
                           : fail == PTL_NI_OP_VIOLATION ? PTL_SR_OPERATION_VIOLATIONS
                                                         : PTL_SR_DROP_COUNT;
    m->to_ni->status[index]++;
}

/* The event of a closed table entry, after those of all messages that came in before. */
static void post_notice(const struct ptl_message *m, struct ptl_pt *pt)
{
    if (!pt->notice_due || pt->busy > 0)
        return;
    pt->notice_due = false;
    ptl_event_t event = {
        .type = PTL_EVENT_PT_DISABLED, .pt_index = m->pt_index, .ni_fail_type = PTL_NI_PT_DISABLED};
    double now = pf_engine_now();
    ptl_eq_post(ptl_pt_eq(m->to_ni, pt), &event, m->nic.transfer.network,
                pt->last_done > now ? pt->last_done : now);
}

/* One message less moves data. */
static void calm_down(const struct ptl_message *m, struct ptl_pt *pt)
{
    post_notice(m, pt);
    ptl_unused(m->to);
    if (!pt->enabled && pt->busy == 0)
        ptl_state_changed(m->to, false); /* PtlPTDisable may wait for it */
}

/* Resources are exhausted or nothing matches (no entry): with flow control the table entry closes until the
 * process opens it again. */
static void refuse_by_flow_control(struct ptl_message *m, struct ptl_pt *pt, const struct ptl_le *entry)
{
    if (!(pt->options & PTL_PT_FLOWCTRL)) {
        refuse(m, PTL_NI_DROPPED);
        return;
    }
    pt->enabled = false;
    pt->notice_due = !entry || !(entry->me.options & PTL_ME_EVENT_FLOWCTRL_DISABLE);
    post_notice(m, pt);
    refuse(m, PTL_NI_PT_DISABLED);
}

/* Where the message starts in an entry. */
static ptl_size_t place_in(const struct ptl_le *entry, const struct ptl_message *m)
{
    return entry->me.options & PTL_ME_MANAGE_LOCAL ? entry->local_offset : m->remote_offset;
}

static ptl_size_t room_at(const struct ptl_le *entry, ptl_size_t place)
{
    return place < entry->length ? entry->length - place : 0;
}

static bool accepts(const struct ptl_match_node *node, const void *arg)
{
    const struct ptl_le *entry = pf_container_of(node, struct ptl_le, match);
    const struct ptl_message *m = arg;
    return !(entry->me.options & PTL_ME_NO_TRUNCATE) || m->rlength <= room_at(entry, place_in(entry, m));
}

static struct ptl_le *find_entry(const struct ptl_ni *ni, const struct ptl_pt *pt,
                                 const struct ptl_message *m)
{
    struct ptl_match_key header = ptl_match_header(ni, m->match_bits, m->initiator);
    for (int list = PTL_PRIORITY_LIST; list <= PTL_OVERFLOW_LIST; list++) {
        struct ptl_match_node *node = ptl_match_find(&pt->lists[list], header, accepts, m);
        if (node)
            return pf_container_of(node, struct ptl_le, match);
    }
    return NULL;
}

/* The header, as events report it. */
static void describe(const struct ptl_message *m, ptl_event_t *event)
{
    struct ptl_memory memory = ptl_le_memory(m->entry);
    *event = (ptl_event_t){
        .start = ptl_memory_address(&memory, m->place),
        .user_ptr = m->entry->user_ptr,
        .hdr_data = m->hdr_data,
        .match_bits = m->match_bits,
        .rlength = m->rlength,
        .mlength = m->mlength,
        .remote_offset = m->remote_offset, /* as the initiator has asked; `start` is where it is */
        .uid = m->uid,
        .initiator = m->initiator,
        .ptl_list = m->list,
        .pt_index = m->pt_index,
        .ni_fail_type = PTL_NI_OK,
        .atomic_operation = m->atomic_operation,
        .atomic_type = m->atomic_type,
    };
}

static void keep_header(struct ptl_message *m, struct ptl_pt *pt)
{
    m->unexpected = ptl_unexpected_new(pt, m);
    describe(m, &m->unexpected->event);
    m->to->counters.unexpected++;
    m->to->header_since_search = true;
    ptl_state_changed(m->to, true);
}

static ptl_size_t accepted_length(const struct ptl_le *entry, const struct ptl_message *m)
{
    ptl_size_t room = room_at(entry, place_in(entry, m));
    return m->rlength < room ? m->rlength : room;
}

/* Whether the entry leaves its list with this message. */
static bool uses_up(const struct ptl_le *entry, const struct ptl_message *m)
{
    if (entry->me.options & PTL_ME_USE_ONCE)
        return true;
    return (entry->me.options & PTL_ME_MANAGE_LOCAL) &&
           room_at(entry, entry->local_offset + accepted_length(entry, m)) < entry->me.min_free;
}

static bool posts_message(const struct ptl_le *entry)
{
    return !(entry->me.options & (PTL_ME_EVENT_COMM_DISABLE | PTL_ME_EVENT_SUCCESS_DISABLE));
}

/* With flow control, a message gets in when there is room for all events that it will cause. */
static bool reserve_events(struct ptl_message *m, struct ptl_pt *pt, struct ptl_le *entry)
{
    struct ptl_eq *eq = ptl_pt_eq(m->to_ni, pt);
    if (!(pt->options & PTL_PT_FLOWCTRL) || !eq)
        return true;
    unsigned int message = posts_message(entry), end = 0;
    if (uses_up(entry, m) && !(entry->me.options & PTL_ME_EVENT_UNLINK_DISABLE))
        end = entry->list == PTL_OVERFLOW_LIST ? 2 : 1; /* AUTO_UNLINK, AUTO_FREE */
    if (!ptl_eq_reserve(eq, message + end))
        return false;
    m->has_event = message > 0;
    entry->events = (uint8_t)end;
    return true;
}

static void release_event(struct ptl_message *m)
{
    struct ptl_eq *eq = ptl_pt_eq(m->to_ni, m->to_ni->pts[m->pt_index]);
    if (m->has_event && eq)
        ptl_eq_release(eq, 1);
    m->has_event = false;
}

/* The message takes its part of the entry; an entry that is used up leaves the list. */
static void take_entry(struct ptl_message *m, struct ptl_le *entry)
{
    bool used_up = uses_up(entry, m);
    m->entry = entry;
    m->list = entry->list;
    m->place = place_in(entry, m);
    m->mlength = accepted_length(entry, m);
    m->ack_disabled = entry->me.options & PTL_ME_ACK_DISABLE;
    entry->pending++;
    m->to_ni->pts[m->pt_index]->busy++;
    if (entry->me.options & PTL_ME_MANAGE_LOCAL)
        entry->local_offset += m->mlength;
    if (used_up) {
        ptl_list_remove(entry);
        entry->auto_unlinked = true;
    }
}

static ptl_ni_fail_t permission(const struct ptl_le *entry, const struct ptl_message *m)
{
    if (entry->me.uid != PTL_UID_ANY && entry->me.uid != m->uid)
        return PTL_NI_PERM_VIOLATION;
    if ((writes(m) && !(entry->me.options & PTL_ME_OP_PUT)) ||
        (reads(m) && !(entry->me.options & PTL_ME_OP_GET)))
        return PTL_NI_OP_VIOLATION;
    return PTL_NI_OK;
}

void ptl_target_match(struct ptl_message *m)
{
    m->to_ni = target_ni(m);
    if (!m->to_ni) {
        refuse(m, PTL_NI_TARGET_INVALID);
        return;
    }
    if (!ptl_pt_used(m->to_ni, m->pt_index)) {
        refuse(m, PTL_NI_DROPPED);
        return;
    }
    struct ptl_pt *pt = m->to_ni->pts[m->pt_index];
    if (!pt->enabled) {
        refuse(m, PTL_NI_PT_DISABLED);
        return;
    }
    struct ptl_le *entry = find_entry(m->to_ni, pt, m);
    bool unexpected =
        entry && entry->list == PTL_OVERFLOW_LIST && !(entry->me.options & PTL_ME_UNEXPECTED_HDR_DISABLE);
    bool no_header = unexpected && m->to_ni->unexpected_count >= m->to_ni->limits.max_unexpected_headers;
    if (!entry || no_header) {
        m->to->counters.no_header += no_header;
        m->to->counters.no_buffer += !entry && (pt->options & PTL_PT_FLOWCTRL);
        refuse_by_flow_control(m, pt, entry);
        return;
    }
    ptl_ni_fail_t fail = permission(entry, m);
    if (fail != PTL_NI_OK) {
        refuse(m, fail);
        return;
    }
    if (!reserve_events(m, pt, entry)) {
        refuse_by_flow_control(m, pt, entry);
        return;
    }
    if (pf_chain_on && entry->list == PTL_PRIORITY_LIST && entry->match.ignore.sender)
        pf_chain_took(m->to->self, pf_chain_date_of(NULL));
    take_entry(m, entry);
    if (unexpected)
        keep_header(m, pt);
    m->nic.accepted = writes(m) ? m->mlength : 0;
}

static ptl_event_kind_t event_kind(const struct ptl_message *m)
{
    switch (m->operation) {
    case PTL_DO_PUT:
        return PTL_EVENT_PUT;
    case PTL_DO_GET:
        return PTL_EVENT_GET;
    case PTL_DO_ATOMIC:
        return PTL_EVENT_ATOMIC;
    case PTL_DO_FETCH:
        return PTL_EVENT_FETCH_ATOMIC;
    }
    return PTL_EVENT_PUT;
}

/* The operation is done at the target at `date`: events, counters, the entry's further life. Returns when its
 * event is in memory, `date` when there is none. */
static double conclude(struct ptl_message *m, double date)
{
    struct ptl_le *entry = m->entry;
    unsigned int options = entry->me.options;
    if (date < entry->linked_date)
        date = entry->linked_date; /* the message matched a command that is still on its way to the NIC */
    release_event(m);
    struct ptl_eq *eq = posts_message(entry) ? ptl_pt_eq(m->to_ni, m->to_ni->pts[m->pt_index]) : NULL;
    double done = date;
    if (eq) {
        ptl_event_t event;
        describe(m, &event);
        event.type = event_kind(m);
        done = ptl_eq_post(eq, &event, m->nic.transfer.network, date);
    }
    struct ptl_ct *ct = ptl_live_ct(entry->ct, entry->me.ct_handle, m->to_ni);
    if (ct && (options & PTL_ME_EVENT_CT_COMM))
        ptl_ct_count(ct, options & PTL_ME_EVENT_CT_BYTES, m->mlength, PTL_NI_OK, date);
    else if (!eq && writes(m) && m->mlength > 0) {
        ptl_memory_written(m->to, (char *)entry->me.start + m->place, m->mlength, date);
        ptl_memory_changed(m->to, date);
    }
    struct ptl_pt *pt = m->to_ni->pts[m->pt_index];
    entry->pending--;
    pt->busy--;
    if (date > pt->last_done)
        pt->last_done = date;
    bool settled = m->unexpected && m->unexpected->claimed; /* by the claim, which may even free the entry */
    if (m->unexpected)
        ptl_unexpected_complete(m->unexpected, date);
    if (!settled)
        ptl_entry_settle(entry, date);
    calm_down(m, pt);
    m->entry = NULL;
    m->unexpected = NULL;
    return done;
}

/* The rest of the message will not come: the process gets the event of a failed operation. */
void ptl_target_abandon(struct ptl_message *m)
{
    if (!m->entry || m->to_ni->closed)
        return;
    struct ptl_le *entry = m->entry;
    unsigned int options = entry->me.options;
    struct ptl_pt *pt = m->to_ni->pts[m->pt_index];
    double now = pf_engine_now();
    release_event(m);
    if (!(options & PTL_ME_EVENT_COMM_DISABLE)) {
        ptl_event_t event;
        describe(m, &event);
        event.type = event_kind(m);
        event.ni_fail_type = PTL_NI_UNDELIVERABLE;
        ptl_eq_post(ptl_pt_eq(m->to_ni, pt), &event, m->nic.transfer.network, now);
    }
    struct ptl_ct *ct = ptl_live_ct(entry->ct, entry->me.ct_handle, m->to_ni);
    if (ct && (options & PTL_ME_EVENT_CT_COMM))
        ptl_ct_add(ct, 0, 1, now);
    entry->pending--;
    pt->busy--;
    if (m->unexpected)
        ptl_unexpected_abandon(pt, m->unexpected, now); /* settles the entry, which may be gone then */
    else
        ptl_entry_settle(entry, now);
    calm_down(m, pt);
    m->entry = NULL;
    m->unexpected = NULL;
}

static void store_data(struct ptl_message *m)
{
    struct ptl_memory to = ptl_le_memory(m->entry);
    struct ptl_memory from = {m->data, sizeof m->data, false};
    if (m->operation != PTL_DO_PUT) {
        if (!m->has_data) { /* by DMA */
            struct ptl_memory operands = ptl_md_memory(m->md);
            ptl_memory_copy(&from, 0, &operands, m->offset, m->mlength);
        }
        ptl_atomic_apply(m, &to);
    } else if (m->has_data)
        ptl_memory_copy(&to, m->place, &from, 0, m->mlength);
    else if (!m->ni->closed) {
        from = ptl_md_memory(m->md);
        ptl_memory_store(&to, m->place, &from, m->offset, m->mlength);
    }
}

/* A short get is ordered: what it returns is read now, and not when the reply leaves. */
static void read_data(struct ptl_message *m)
{
    if (m->operation != PTL_DO_GET || m->mlength > PTL_ORDERED_SIZE)
        return;
    struct ptl_memory from = ptl_le_memory(m->entry);
    struct ptl_memory to = {m->data, sizeof m->data, false};
    ptl_memory_copy(&to, 0, &from, m->place, m->mlength);
    m->has_data = true;
}

/* The same structure travels back as the answer. */
static void answer(struct ptl_message *m, enum pf_nic_kind kind, double date)
{
    struct pf_nic *nic = m->nic.src;
    m->nic.src = m->nic.dst;
    m->nic.dst = nic;
    m->nic.kind = kind;
    m->nic.transfer.kind = kind == PF_NIC_ACK                ? PF_TRANSFER_ACK
                           : m->operation == PTL_DO_GET      ? PF_TRANSFER_REPLY
                           : m->atomic_operation >= PTL_SWAP ? PF_TRANSFER_SWAP_REPLY
                                                             : PF_TRANSFER_FETCH_REPLY;
    m->nic.transfer.src_process = m->nic.transfer.dst_process;
    m->nic.transfer.dst_process = m->from->self->rank;
    m->nic.payload = kind == PF_NIC_REPLY ? m->mlength : 0;
    pf_nic_submit(&m->nic, date);
}

static bool wants_ack(const struct ptl_message *m)
{
    if (m->operation == PTL_DO_FETCH)
        return false;
    return !m->send_posted || (m->ack_req != PTL_NO_ACK_REQ && (m->fail != PTL_NI_OK || !m->ack_disabled));
}

void ptl_target_complete(struct ptl_message *m)
{
    double date = m->nic.done_date;
    if (m->entry && m->to_ni->closed) {
        m->entry = NULL;
        m->unexpected = NULL;
        refuse(m, PTL_NI_TARGET_INVALID);
    }
    if (m->entry && writes(m))
        store_data(m);
    else if (m->entry)
        read_data(m);
    if (reads(m)) {
        answer(m, PF_NIC_REPLY, date);
        return;
    }
    /* The NIC acknowledges when it has written the payload and the event. */
    double done = m->entry ? conclude(m, date) : date;
    if (!wants_ack(m))
        ptl_message_free(m);
    else if (pf_config.nic_quick_acks)
        ptl_message_acknowledged(m, date);
    else
        answer(m, PF_NIC_ACK, done);
}

/* The data of a reply have left the target's memory: the process there may use it again. */
void ptl_target_read(struct ptl_message *m)
{
    if (!m->entry || m->to_ni->closed)
        return;
    if (!m->ni->closed && m->mlength > 0) {
        struct ptl_memory to = ptl_md_memory(m->operation == PTL_DO_FETCH ? m->get_md : m->md);
        ptl_size_t offset = m->operation == PTL_DO_FETCH ? m->get_offset : m->offset;
        struct ptl_memory from = ptl_le_memory(m->entry);
        struct ptl_memory fetched = {m->data, sizeof m->data, false};
        if (m->operation == PTL_DO_FETCH || m->has_data)
            ptl_memory_copy(&to, offset, &fetched, 0, m->mlength);
        else
            ptl_memory_copy(&to, offset, &from, m->place, m->mlength);
    }
    conclude(m, pf_engine_now());
}
