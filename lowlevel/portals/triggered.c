/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations that wait for a counter. */
#include "lowlevel/portals/internal.h"

/* ---- What they do. */
static void fire_message(struct ptl_trigger *trigger, const struct ptl_ni *ni)
{
    ptl_message_start(trigger->message, true);
}

static void drop_message(struct ptl_trigger *trigger, const struct ptl_ni *ni)
{
    ptl_message_free(trigger->message);
}

static void fire_change(struct ptl_trigger *trigger, const struct ptl_ni *ni)
{
    if (ptl_live_ct(trigger->ct, trigger->ct_handle, ni))
        ptl_ct_change(trigger->ct, &trigger->value, trigger->set);
}

/* The entry of a trigger may have been unlinked by the process meanwhile. */
static bool entry_is_live(const struct ptl_trigger *trigger, const struct ptl_ni *ni)
{
    return ptl_lookup(ni->process, trigger->entry_handle, PTL_KIND_ME) == trigger->entry;
}

static void fire_append(struct ptl_trigger *trigger, const struct ptl_ni *ni)
{
    if (entry_is_live(trigger, ni))
        ptl_entry_link(trigger->entry, pf_engine_now());
}

static void drop_append(struct ptl_trigger *trigger, const struct ptl_ni *ni)
{
    if (entry_is_live(trigger, ni))
        ptl_entry_drop(trigger->entry);
}

static void fire_unlink(struct ptl_trigger *trigger, const struct ptl_ni *ni)
{
    if (entry_is_live(trigger, ni))
        ptl_entry_unlink(trigger->entry);
}

static void keep(struct ptl_trigger *trigger, const struct ptl_ni *ni)
{
}

static const struct ptl_trigger_ops for_message = {sizeof for_message, fire_message, drop_message};
static const struct ptl_trigger_ops for_change = {sizeof for_change, fire_change, keep};
static const struct ptl_trigger_ops for_append = {sizeof for_append, fire_append, drop_append};
static const struct ptl_trigger_ops for_unlink = {sizeof for_unlink, fire_unlink, keep};

/* ---- The calls. */
/* The counter to wait for; NULL with *status set when the call is not valid. */
static struct ptl_ct *trigger_counter(ptl_handle_ct_t handle, const struct ptl_ni *ni, int *status)
{
    struct ptl_ct *ct = ptl_current() ? ptl_object(handle, PTL_KIND_CT) : NULL;
    *status = !ptl_current() ? PTL_NO_INIT : !ct || (ni && ct->ni != ni) ? PTL_ARG_INVALID : PTL_OK;
    return *status == PTL_OK ? ct : NULL;
}

static int add_message(struct ptl_message *m, ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold,
                       const char *call)
{
    int status;
    struct ptl_ct *ct = trigger_counter(trig_ct_handle, m->ni, &status);
    struct ptl_trigger trigger = {.ops = &for_message, .node.threshold = threshold, .message = m};
    if (ct) {
        ptl_active(m->from, call);
        status = ptl_trigger_add(ct, &trigger);
    }
    if (status != PTL_OK)
        ptl_message_free(m);
    return status;
}

int PtlTriggeredPut(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length,
                    ptl_ack_req_t ack_req, ptl_process_t target_id, ptl_pt_index_t pt_index,
                    ptl_match_bits_t match_bits, ptl_size_t remote_offset, void *user_ptr,
                    ptl_hdr_data_t hdr_data, ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold)
{
    struct ptl_message *m;
    int status = ptl_message_put(&m, md_handle, local_offset, length, ack_req, target_id, pt_index,
                                 match_bits, remote_offset, user_ptr, hdr_data);
    return status == PTL_OK ? add_message(m, trig_ct_handle, threshold, "PtlTriggeredPut") : status;
}

int PtlTriggeredGet(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length,
                    ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits,
                    ptl_size_t remote_offset, void *user_ptr, ptl_handle_ct_t trig_ct_handle,
                    ptl_size_t threshold)
{
    struct ptl_message *m;
    int status = ptl_message_get(&m, md_handle, local_offset, length, target_id, pt_index, match_bits,
                                 remote_offset, user_ptr);
    return status == PTL_OK ? add_message(m, trig_ct_handle, threshold, "PtlTriggeredGet") : status;
}

int PtlTriggeredAtomic(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length,
                       ptl_ack_req_t ack_req, ptl_process_t target_id, ptl_pt_index_t pt_index,
                       ptl_match_bits_t match_bits, ptl_size_t remote_offset, void *user_ptr,
                       ptl_hdr_data_t hdr_data, ptl_op_t operation, ptl_datatype_t datatype,
                       ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold)
{
    struct ptl_atomic_call call = PTL_ATOMIC_CALL;
    struct ptl_message *m;
    int status = ptl_message_atomic(&m, &call);
    return status == PTL_OK ? add_message(m, trig_ct_handle, threshold, "PtlTriggeredAtomic") : status;
}

int PtlTriggeredFetchAtomic(ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset,
                            ptl_handle_md_t put_md_handle, ptl_size_t local_put_offset, ptl_size_t length,
                            ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits,
                            ptl_size_t remote_offset, void *user_ptr, ptl_hdr_data_t hdr_data,
                            ptl_op_t operation, ptl_datatype_t datatype, ptl_handle_ct_t trig_ct_handle,
                            ptl_size_t threshold)
{
    struct ptl_atomic_call call = PTL_FETCH_CALL;
    struct ptl_message *m;
    int status = ptl_message_fetch(&m, &call);
    return status == PTL_OK ? add_message(m, trig_ct_handle, threshold, "PtlTriggeredFetchAtomic") : status;
}

int PtlTriggeredSwap(ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset,
                     ptl_handle_md_t put_md_handle, ptl_size_t local_put_offset, ptl_size_t length,
                     ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits,
                     ptl_size_t remote_offset, void *user_ptr, ptl_hdr_data_t hdr_data, const void *operand,
                     ptl_op_t operation, ptl_datatype_t datatype, ptl_handle_ct_t trig_ct_handle,
                     ptl_size_t threshold)
{
    struct ptl_atomic_call call = PTL_SWAP_CALL;
    struct ptl_message *m;
    int status = ptl_message_fetch(&m, &call);
    return status == PTL_OK ? add_message(m, trig_ct_handle, threshold, "PtlTriggeredSwap") : status;
}

static int add_change(ptl_handle_ct_t ct_handle, ptl_ct_event_t value, bool set,
                      ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold)
{
    int status;
    struct ptl_ct *ct = trigger_counter(ct_handle, NULL, &status);
    if (!ct)
        return status;
    struct ptl_ct *trigger_ct = trigger_counter(trig_ct_handle, ct->ni, &status);
    if (!trigger_ct)
        return status;
    struct ptl_trigger trigger = {.ops = &for_change,
                                  .node.threshold = threshold,
                                  .ct = ct,
                                  .ct_handle = ct_handle,
                                  .value = value,
                                  .set = set};
    return ptl_trigger_add(trigger_ct, &trigger);
}

int PtlTriggeredCTInc(ptl_handle_ct_t ct_handle, ptl_ct_event_t increment, ptl_handle_ct_t trig_ct_handle,
                      ptl_size_t threshold)
{
    if (increment.success && increment.failure)
        return ptl_current() ? PTL_ARG_INVALID : PTL_NO_INIT;
    return add_change(ct_handle, increment, false, trig_ct_handle, threshold);
}

int PtlTriggeredCTSet(ptl_handle_ct_t ct_handle, ptl_ct_event_t new_ct, ptl_handle_ct_t trig_ct_handle,
                      ptl_size_t threshold)
{
    return add_change(ct_handle, new_ct, true, trig_ct_handle, threshold);
}

int PtlTriggeredMEAppend(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_me_t *me,
                         ptl_list_t ptl_list, void *user_ptr, ptl_handle_me_t *me_handle,
                         ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold)
{
    struct ptl_ni *ni = ptl_object(ni_handle, PTL_KIND_NI);
    if (!ni || !me_handle || !ptl_is_matching(ni))
        return ptl_invalid();
    int status = ptl_append_check(ni, pt_index, me, ptl_list);
    if (status != PTL_OK)
        return status;
    struct ptl_ct *ct = trigger_counter(trig_ct_handle, ni, &status);
    if (!ct)
        return status;
    if (ni->triggered_count >= ni->limits.max_triggered_ops)
        return PTL_NO_SPACE;
    struct ptl_le *entry = ptl_entry_new(ni, pt_index, me, ptl_list, user_ptr, PTL_KIND_ME);
    struct ptl_trigger trigger = {
        .ops = &for_append, .node.threshold = threshold, .entry = entry, .entry_handle = entry->handle};
    *me_handle = entry->handle;
    return ptl_trigger_add(ct, &trigger);
}

int PtlTriggeredMEUnlink(ptl_handle_me_t me_handle, ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold)
{
    struct ptl_le *entry = ptl_object(me_handle, PTL_KIND_ME);
    if (!entry)
        return ptl_invalid();
    int status;
    struct ptl_ct *ct = trigger_counter(trig_ct_handle, entry->ni, &status);
    if (!ct)
        return status;
    struct ptl_trigger trigger = {
        .ops = &for_unlink, .node.threshold = threshold, .entry = entry, .entry_handle = me_handle};
    return ptl_trigger_add(ct, &trigger);
}
