/* SPDX-License-Identifier: BSD-3-Clause */
/* List entries: what they match, their events, their end. */
#include "lowlevel/portals/internal.h"

static struct pf_pool entries = PF_POOL(struct ptl_le);

void ptl_entry_post(struct ptl_le *entry, ptl_event_kind_t type, double date)
{
    ptl_event_t event = {
        .type = type,
        .start = entry->me.start,
        .user_ptr = entry->user_ptr,
        .pt_index = entry->pt_index,
        .ptl_list = entry->list,
        .ni_fail_type = PTL_NI_OK,
    };
    ptl_eq_post(ptl_pt_eq(entry->ni, ptl_entry_pt(entry)), &event, PTL_NO_NETWORK, date);
}

void ptl_list_remove(struct ptl_le *entry)
{
    ptl_match_remove(&ptl_entry_pt(entry)->lists[entry->list], &entry->match);
    entry->linked = false;
}

void ptl_entry_free(struct ptl_le *entry)
{
    entry->ni->entry_count--;
    ptl_handle_free(entry->ni->process, entry->handle);
    pf_pool_put(&entries, entry);
}

/* For an interface that goes: messages still on their way see that it is closed. */
void ptl_entry_drop(void *object)
{
    struct ptl_le *entry = object;
    if (entry->linked)
        ptl_list_remove(entry);
    ptl_entry_free(entry);
}

static void post_last_event(struct ptl_le *entry, ptl_event_kind_t type, double date)
{
    struct ptl_eq *eq = ptl_pt_eq(entry->ni, ptl_entry_pt(entry));
    if (eq && entry->events > 0) {
        entry->events--;
        ptl_eq_release(eq, 1);
    }
    ptl_entry_post(entry, type, date);
}

/* An entry that the NIC has unlinked: posts the event when no message uses it any more, and frees it when no
 * header refers to it. */
void ptl_entry_settle(struct ptl_le *entry, double date)
{
    if (!entry->auto_unlinked || entry->pending > 0)
        return;
    bool silent = entry->me.options & PTL_ME_EVENT_UNLINK_DISABLE;
    if (!entry->unlink_posted && !silent)
        post_last_event(entry, PTL_EVENT_AUTO_UNLINK, date);
    entry->unlink_posted = true;
    if (entry->unexpected > 0)
        return;
    if (entry->list == PTL_OVERFLOW_LIST && !silent)
        post_last_event(entry, PTL_EVENT_AUTO_FREE, date);
    ptl_entry_free(entry);
}

/* Matching */

struct ptl_match_key ptl_match_header(const struct ptl_ni *ni, ptl_match_bits_t match_bits,
                                      ptl_process_t initiator)
{
    uint64_t sender = ni->options & PTL_NI_LOGICAL ? (uint64_t)initiator.rank << 32
                                                   : (uint64_t)initiator.phys.nid << 32 | initiator.phys.pid;
    return (struct ptl_match_key){match_bits, sender};
}

/* What of the identifier does not matter; logical ones use the upper half only. */
static uint64_t ignored_id(const struct ptl_ni *ni, ptl_process_t pattern)
{
    const uint64_t upper = (uint64_t)UINT32_MAX << 32, lower = UINT32_MAX;
    if (ni->options & PTL_NI_LOGICAL)
        return pattern.rank == PTL_RANK_ANY ? upper : 0;
    return (pattern.phys.nid == PTL_NID_ANY ? upper : 0) | (pattern.phys.pid == PTL_PID_ANY ? lower : 0);
}

void ptl_entry_fill(struct ptl_le *entry, struct ptl_ni *ni, ptl_pt_index_t pt_index, const ptl_me_t *me,
                    ptl_list_t list, void *user_ptr)
{
    *entry = (struct ptl_le){.ni = ni, .me = *me, .pt_index = pt_index, .list = list, .user_ptr = user_ptr};
    if (me->ct_handle != PTL_CT_NONE)
        entry->ct = ptl_object(me->ct_handle, PTL_KIND_CT);
    struct ptl_memory memory = ptl_le_memory(entry);
    entry->length = ptl_memory_length(&memory);
    entry->match.key = ptl_match_header(ni, me->match_bits, me->match_id);
    entry->match.ignore = (struct ptl_match_key){me->ignore_bits, ignored_id(ni, me->match_id)};
}

int ptl_entry_check(struct ptl_ni *ni, ptl_pt_index_t pt_index, const ptl_me_t *me)
{
    if (!ptl_pt_used(ni, pt_index) || !me || (me->options & ~PTL_ME_APPEND_OPTIONS_MASK))
        return PTL_ARG_INVALID;
    if (me->ct_handle != PTL_CT_NONE) {
        const struct ptl_ct *ct = ptl_object(me->ct_handle, PTL_KIND_CT);
        if (!ct || ct->ni != ni)
            return PTL_ARG_INVALID;
    }
    if ((me->options & PTL_IOVEC) &&
        (me->length > (ptl_size_t)ni->limits.max_iovecs || (me->length > 0 && !me->start)))
        return PTL_ARG_INVALID;
    return PTL_OK;
}

int ptl_append_check(struct ptl_ni *ni, ptl_pt_index_t pt_index, const ptl_me_t *me, ptl_list_t list)
{
    int status = ptl_entry_check(ni, pt_index, me);
    if (status != PTL_OK)
        return status;
    if (list != PTL_PRIORITY_LIST && list != PTL_OVERFLOW_LIST)
        return PTL_ARG_INVALID;
    if (ni->entry_count >= ni->limits.max_entries)
        return PTL_NO_SPACE;
    if (ni->pts[pt_index]->lists[list].length >= ni->limits.max_list_size)
        return PTL_LIST_TOO_LONG;
    return PTL_OK;
}

struct ptl_le *ptl_entry_new(struct ptl_ni *ni, ptl_pt_index_t pt_index, const ptl_me_t *me, ptl_list_t list,
                             void *user_ptr, enum ptl_kind kind)
{
    struct ptl_le *entry = pf_pool_get(&entries);
    ptl_entry_fill(entry, ni, pt_index, me, list, user_ptr);
    entry->handle = ptl_handle_new(ni->process, kind, entry);
    ni->entry_count++;
    return entry;
}

double ptl_command_date(struct ptl_process *process)
{
    return process->free_mode ? pf_engine_now() : pf_nic_command_date(process->nic);
}

ptl_me_t ptl_me_of_le(const ptl_le_t *le)
{
    return (ptl_me_t){.start = le->start,
                      .length = le->length,
                      .ct_handle = le->ct_handle,
                      .uid = le->uid,
                      .options = le->options,
                      .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                      .ignore_bits = ~(ptl_match_bits_t)0};
}
