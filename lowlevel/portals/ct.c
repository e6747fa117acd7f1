/* SPDX-License-Identifier: BSD-3-Clause */
/* Counting events and the operations that they trigger. */
#include "lowlevel/portals/internal.h"

static struct pf_pool counters = PF_POOL(struct ptl_ct);
static struct pf_pool trigger_pool = PF_POOL(struct ptl_trigger);

/* A change of a counter on its way: from the process to the NIC, or from the NIC to memory. */
struct change {
    struct pf_event arrival;
    struct ptl_ct *ct;
    ptl_ct_event_t value;
    bool set;
    bool to_nic;
};
static struct pf_pool changes = PF_POOL(struct change);

static void release(struct ptl_ct *ct)
{
    if (ct->freed && !ct->in_flight && !ct->dirty)
        pf_pool_put(&counters, ct);
}

int PtlCTAlloc(ptl_handle_ni_t ni_handle, ptl_handle_ct_t *ct_handle)
{
    struct ptl_ni *ni = ptl_object(ni_handle, PTL_KIND_NI);
    if (!ni || !ct_handle)
        return ptl_invalid();
    if (ni->ct_count >= ni->limits.max_cts)
        return PTL_NO_SPACE;
    struct ptl_ct *ct = pf_pool_get(&counters);
    *ct = (struct ptl_ct){.ni = ni};
    ct->handle = ptl_handle_new(ni->process, PTL_KIND_CT, ct);
    ni->ct_count++;
    *ct_handle = ct->handle;
    return PTL_OK;
}

/* The next one to fire; there must be one. */
static struct ptl_trigger *take_trigger(struct ptl_ct *ct)
{
    return pf_container_of(ptl_trigger_queue_take(&ct->triggers), struct ptl_trigger, node);
}

static void drop_triggers(struct ptl_ct *ct)
{
    while (ct->triggers.first) {
        struct ptl_trigger *trigger = take_trigger(ct);
        trigger->ops->drop(trigger, ct->ni);
        ct->ni->triggered_count--;
        pf_pool_put(&trigger_pool, trigger);
    }
}

void ptl_ct_drop(void *object)
{
    struct ptl_ct *ct = object;
    drop_triggers(ct);
    ptl_handle_free(ct->ni->process, ct->handle);
    ct->ni->ct_count--;
    ct->freed = true;
    release(ct);
}

int PtlCTFree(ptl_handle_ct_t ct_handle)
{
    struct ptl_ct *ct = ptl_object(ct_handle, PTL_KIND_CT);
    if (!ct)
        return ptl_invalid();
    struct ptl_process *process = ct->ni->process;
    ptl_ct_drop(ct);
    ptl_state_changed(process, true);
    return PTL_OK;
}

int PtlCTCancelTriggered(ptl_handle_ct_t ct_handle)
{
    struct ptl_ct *ct = ptl_object(ct_handle, PTL_KIND_CT);
    if (!ct)
        return ptl_invalid();
    drop_triggers(ct);
    return PTL_OK;
}

static void apply(ptl_ct_event_t *value, const ptl_ct_event_t *change, bool set)
{
    if (set) {
        *value = *change;
        return;
    }
    value->success += change->success;
    value->failure += change->failure;
}

static void change_nic(struct ptl_ct *ct, const ptl_ct_event_t *value, bool set);

static void change_arrived(struct pf_event *arrival)
{
    struct change *change = pf_container_of(arrival, struct change, arrival);
    struct ptl_ct *ct = change->ct;
    ct->in_flight--;
    if (ct->freed) {
        release(ct);
    } else if (change->to_nic) {
        change_nic(ct, &change->value, change->set);
    } else {
        apply(&ct->visible, &change->value, change->set);
        ptl_state_changed(ct->ni->process, true);
    }
    pf_pool_put(&changes, change);
}

static void send_change(struct ptl_ct *ct, const ptl_ct_event_t *value, bool set, bool to_nic, double date)
{
    struct change *change = pf_pool_get(&changes);
    change->ct = ct;
    change->value = *value;
    change->set = set;
    change->to_nic = to_nic;
    ct->in_flight++;
    pf_event_init(&change->arrival, change_arrived);
    pf_engine_post(&change->arrival, date);
}

/*
 * Counters may trigger changes of counters. Those that have changed are queued and worked off here in one
 * loop, so that a long chain does not become a deep recursion.
 */
static struct ptl_ct *dirty_first;
static struct ptl_ct **dirty_last = &dirty_first;

static bool is_due(const struct ptl_ct *ct)
{
    return ct->triggers.first && ct->triggers.first->threshold <= ct->value.success;
}

static void fire_due(struct ptl_ct *ct)
{
    while (!ct->freed && is_due(ct)) {
        struct ptl_trigger *trigger = take_trigger(ct);
        ct->ni->triggered_count--;
        trigger->ops->fire(trigger, ct->ni);
        pf_pool_put(&trigger_pool, trigger);
    }
}

static void work_off(void)
{
    static bool working;
    if (working)
        return;
    working = true;
    while (dirty_first) {
        struct ptl_ct *ct = dirty_first;
        dirty_first = ct->next_dirty;
        if (!dirty_first)
            dirty_last = &dirty_first;
        ct->dirty = false;
        fire_due(ct);
        release(ct);
    }
    working = false;
}

static void check_triggers(struct ptl_ct *ct)
{
    if (!is_due(ct))
        return;
    if (!ct->dirty) {
        ct->dirty = true;
        ct->next_dirty = NULL;
        *dirty_last = ct;
        dirty_last = &ct->next_dirty;
    }
    work_off();
}

static void change_nic(struct ptl_ct *ct, const ptl_ct_event_t *value, bool set)
{
    apply(&ct->value, value, set);
    check_triggers(ct);
}

void ptl_ct_change(struct ptl_ct *ct, const ptl_ct_event_t *value, bool set)
{
    change_nic(ct, value, set);
    send_change(ct, value, set, false, pf_nic_event_date(ct->ni->process->nic, pf_engine_now()));
}

/* The NIC counts: triggers now, memory at `date` plus PCIe. */
double ptl_ct_add(struct ptl_ct *ct, ptl_size_t success, ptl_size_t failure, double date)
{
    if (!ct || ct->freed)
        return date;
    ptl_ct_event_t value = {success, failure};
    double written = pf_nic_event_date(ct->ni->process->nic, date);
    send_change(ct, &value, false, false, written);
    change_nic(ct, &value, false);
    return written;
}

double ptl_ct_count(struct ptl_ct *ct, bool bytes, ptl_size_t length, ptl_ni_fail_t fail, double date)
{
    if (fail != PTL_NI_OK)
        return ptl_ct_add(ct, 0, 1, date);
    return ptl_ct_add(ct, bytes ? length : 1, 0, date);
}

static int change_from_process(ptl_handle_ct_t ct_handle, ptl_ct_event_t value, bool set, const char *call)
{
    struct ptl_process *process = ptl_current();
    if (!process)
        return PTL_NO_INIT;
    struct ptl_ct *ct = ptl_object(ct_handle, PTL_KIND_CT);
    if (!ct)
        return PTL_ARG_INVALID;
    ptl_active(process, call);
    apply(&ct->visible, &value, set);
    if (process->free_mode)
        change_nic(ct, &value, set);
    else
        send_change(ct, &value, set, true, pf_nic_command_date(process->nic));
    return PTL_OK;
}

int PtlCTSet(ptl_handle_ct_t ct_handle, ptl_ct_event_t new_ct)
{
    return change_from_process(ct_handle, new_ct, true, "PtlCTSet");
}

int PtlCTInc(ptl_handle_ct_t ct_handle, ptl_ct_event_t increment)
{
    if (increment.success && increment.failure) /* one of them at a time */
        return ptl_current() ? PTL_ARG_INVALID : PTL_NO_INIT;
    return change_from_process(ct_handle, increment, false, "PtlCTInc");
}

int PtlCTGet(ptl_handle_ct_t ct_handle, ptl_ct_event_t *event)
{
    struct ptl_process *process = ptl_current();
    if (!process)
        return PTL_NO_INIT;
    struct ptl_ct *ct = ptl_object(ct_handle, PTL_KIND_CT);
    if (!ct || !event)
        return PTL_ARG_INVALID;
    if (ct->visible.success == ct->last_read.success && ct->visible.failure == ct->last_read.failure)
        ptl_idle_pass(process, "PtlCTGet");
    else
        ptl_active(process, "PtlCTGet");
    ct = ptl_object(ct_handle, PTL_KIND_CT); /* it may be gone when the call has blocked */
    if (!ct)
        return PTL_INTERRUPTED;
    if (process->aborted)
        return PTL_ABORTED;
    ct->last_read = ct->visible;
    *event = ct->visible;
    return PTL_OK;
}

/* PTL_OK when a counter has reached its test value or holds a failure. Round robin, as with queues. */
static int scan(struct ptl_process *process, const ptl_handle_ct_t *handles, const ptl_size_t *tests,
                unsigned int size, ptl_ct_event_t *event, unsigned int *which)
{
    unsigned int i = process->next_counter < size ? process->next_counter : 0;
    for (unsigned int n = 0; n < size; n++, i = i + 1 < size ? i + 1 : 0) {
        const struct ptl_ct *ct = ptl_lookup(process, handles[i], PTL_KIND_CT);
        if (!ct)
            return PTL_ARG_INVALID;
        if (ct->visible.success >= tests[i] || ct->visible.failure > 0) {
            *event = ct->visible;
            *which = i;
            if (size > 1)
                process->next_counter = i + 1;
            return PTL_OK;
        }
    }
    return PTL_CT_NONE_REACHED;
}

static int poll_counters(const ptl_handle_ct_t *handles, const ptl_size_t *tests, unsigned int size,
                         ptl_time_t timeout, ptl_ct_event_t *event, unsigned int *which, const char *call)
{
    struct ptl_process *process = ptl_current();
    if (!process)
        return PTL_NO_INIT;
    if (!handles || !tests || size == 0 || !event || !which)
        return PTL_ARG_INVALID;
    if (process->aborted)
        return PTL_ABORTED;
    int status = scan(process, handles, tests, size, event, which);
    if (status == PTL_OK)
        process->idle = 0;
    if (status != PTL_CT_NONE_REACHED)
        return status;
    double limit = timeout == PTL_TIME_FOREVER ? -1.0 : pf_engine_now() + (double)timeout * 1e-3;
    do {
        if (process->aborted)
            return PTL_ABORTED;
        bool more = timeout > 0 ? ptl_block(process, call, limit) : (ptl_idle_pass(process, call), false);
        status = scan(process, handles, tests, size, event, which);
        if (!more)
            break;
    } while (status == PTL_CT_NONE_REACHED);
    if (process->aborted)
        return PTL_ABORTED;
    return status == PTL_ARG_INVALID ? PTL_INTERRUPTED : status;
}

int PtlCTWait(ptl_handle_ct_t ct_handle, ptl_size_t test, ptl_ct_event_t *event)
{
    unsigned int which;
    return poll_counters(&ct_handle, &test, 1, PTL_TIME_FOREVER, event, &which, "PtlCTWait");
}

int PtlCTPoll(const ptl_handle_ct_t *ct_handles, const ptl_size_t *tests, unsigned int size,
              ptl_time_t timeout, ptl_ct_event_t *event, unsigned int *which)
{
    return poll_counters(ct_handles, tests, size, timeout, event, which, "PtlCTPoll");
}

int ptl_trigger_add(struct ptl_ct *ct, const struct ptl_trigger *trigger)
{
    struct ptl_ni *ni = ct->ni;
    if (ni->triggered_count >= ni->limits.max_triggered_ops)
        return PTL_NO_SPACE;
    struct ptl_trigger *copy = pf_pool_get(&trigger_pool);
    *copy = *trigger;
    ptl_trigger_queue_add(&ct->triggers, &copy->node);
    ni->triggered_count++;
    check_triggers(ct);
    return PTL_OK;
}
