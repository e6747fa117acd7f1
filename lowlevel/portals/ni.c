/* SPDX-License-Identifier: BSD-3-Clause */
/* Network interfaces and portal tables. */
#include <stdlib.h>

#include "lowlevel/portals/internal.h"

static int kind_of(unsigned int options)
{
    return (options & PTL_NI_MATCHING ? 2 : 0) + (options & PTL_NI_LOGICAL ? 1 : 0);
}

static void limit(int *value, int wanted)
{
    if (wanted > 0 && wanted < *value)
        *value = wanted;
}

static void limit_size(ptl_size_t *value, ptl_size_t wanted)
{
    if (wanted > 0 && wanted < *value)
        *value = wanted;
}

/* What every interface must offer. */
enum { LEAST_PT_INDEX = 63, LEAST_WAW = 64, LEAST_WAR = 8 };

static void set_limits(ptl_ni_limits_t *limits, const ptl_ni_limits_t *desired)
{
    /* The operands of volatile atomics travel with the command, which is as long as the longest PIO write. */
    ptl_size_t atomic = pf_config.nic_pio_max ? pf_config.nic_pio_max : PTL_MAX_COMMAND_DATA;
    *limits = (ptl_ni_limits_t){
        .max_entries = (int)pf_config.ptl_max_entries,
        .max_unexpected_headers = (int)pf_config.ptl_max_unexpected,
        .max_mds = (int)pf_config.ptl_max_objects,
        .max_eqs = (int)pf_config.ptl_max_objects,
        .max_cts = (int)pf_config.ptl_max_objects,
        .max_pt_index = (int)pf_config.ptl_max_pt_index,
        .max_iovecs = (int)pf_config.ptl_max_entries,
        .max_list_size = (int)pf_config.ptl_max_entries,
        .max_triggered_ops = (int)pf_config.ptl_max_triggered,
        .max_msg_size = pf_config.ptl_max_msg_size,
        .max_atomic_size = atomic,
        .max_fetch_atomic_size = atomic,
        .max_waw_ordered_size = PTL_ORDERED_SIZE,
        .max_war_ordered_size = PTL_ORDERED_SIZE,
        .max_volatile_size = pf_nic_volatile_max(),
        .features = PTL_COHERENT_ATOMICS,
    };
    if (!desired)
        return;
    limit(&limits->max_entries, desired->max_entries);
    limit(&limits->max_unexpected_headers, desired->max_unexpected_headers);
    limit(&limits->max_mds, desired->max_mds);
    limit(&limits->max_eqs, desired->max_eqs);
    limit(&limits->max_cts, desired->max_cts);
    limit(&limits->max_pt_index, desired->max_pt_index);
    limit(&limits->max_iovecs, desired->max_iovecs);
    limit(&limits->max_list_size, desired->max_list_size);
    limit(&limits->max_triggered_ops, desired->max_triggered_ops);
    limit_size(&limits->max_msg_size, desired->max_msg_size);
    limit_size(&limits->max_atomic_size, desired->max_atomic_size);
    limit_size(&limits->max_fetch_atomic_size, desired->max_fetch_atomic_size);
    limit_size(&limits->max_fetch_atomic_size, limits->max_atomic_size); /* which they are, too */
    limit_size(&limits->max_waw_ordered_size, desired->max_waw_ordered_size);
    limit_size(&limits->max_war_ordered_size, desired->max_war_ordered_size);
    limit_size(&limits->max_volatile_size, desired->max_volatile_size);
    if (limits->max_pt_index < LEAST_PT_INDEX)
        limits->max_pt_index = LEAST_PT_INDEX;
    if (limits->max_waw_ordered_size < LEAST_WAW)
        limits->max_waw_ordered_size = LEAST_WAW;
    if (limits->max_war_ordered_size < LEAST_WAR)
        limits->max_war_ordered_size = LEAST_WAR;
}

static bool options_valid(unsigned int options)
{
    unsigned int matching = options & (PTL_NI_MATCHING | PTL_NI_NO_MATCHING);
    unsigned int addressing = options & (PTL_NI_LOGICAL | PTL_NI_PHYSICAL);
    return (matching == PTL_NI_MATCHING || matching == PTL_NI_NO_MATCHING) &&
           (addressing == PTL_NI_LOGICAL || addressing == PTL_NI_PHYSICAL) &&
           !(options & ~(matching | addressing));
}

static int choose_pid(struct ptl_process *process, ptl_pid_t pid)
{
    if (pid == PTL_PID_ANY || pid == process->pid)
        return PTL_OK;
    if (pid > PTL_PID_MAX)
        return PTL_ARG_INVALID;
    for (int kind = 0; kind < PTL_NI_KINDS; kind++)
        if (process->nis[kind])
            return PTL_PID_IN_USE; /* one process has one pid */
    if (ptl_find_process(process->nid, pid))
        return PTL_PID_IN_USE;
    process->pid = pid;
    return PTL_OK;
}

/* What messages look at in hundreds of processes lies close together. */
static struct pf_lines memory;

static struct ptl_ni *create_ni(struct ptl_process *process, unsigned int options,
                                const ptl_ni_limits_t *desired)
{
    struct ptl_ni *ni = pf_lines_get(&memory, sizeof *ni);
    set_limits(&ni->limits, desired);
    ni->pts = pf_lines_get(&memory, ((size_t)ni->limits.max_pt_index + 1) * sizeof *ni->pts);
    ni->process = process;
    ni->options = options;
    ni->logical_id = PTL_RANK_ANY;
    ni->handle = ptl_handle_new(process, PTL_KIND_NI, ni);
    return ni;
}

int PtlNIInit(ptl_interface_t iface, unsigned int options, ptl_pid_t pid, const ptl_ni_limits_t *desired,
              ptl_ni_limits_t *actual, ptl_handle_ni_t *ni_handle)
{
    struct ptl_process *process = ptl_current();
    if (!process)
        return PTL_NO_INIT;
    if ((iface != PTL_IFACE_DEFAULT && iface != 0) || !options_valid(options) || !ni_handle)
        return PTL_ARG_INVALID;
    struct ptl_ni **place = &process->nis[kind_of(options)];
    if (!*place) { /* an interface that is there keeps its pid and its limits */
        int status = choose_pid(process, pid);
        if (status != PTL_OK)
            return status;
        *place = create_ni(process, options, desired);
    }
    (*place)->references++;
    if (actual)
        *actual = (*place)->limits;
    *ni_handle = (*place)->handle;
    return PTL_OK;
}

static void drop_md(void *object)
{
    struct ptl_md *md = object;
    ptl_handle_free(md->ni->process, md->handle);
}

/* Of a table entry without list entries. */
static void release_lists(struct ptl_pt *pt)
{
    ptl_match_release(&pt->lists[PTL_PRIORITY_LIST]);
    ptl_match_release(&pt->lists[PTL_OVERFLOW_LIST]);
    ptl_match_release(&pt->unexpected);
}

void ptl_ni_close(struct ptl_ni *ni)
{
    struct ptl_process *process = ni->process;
    ni->closed = true;
    ptl_for_each_object(process, PTL_KIND_LE, ni, ptl_entry_drop);
    ptl_for_each_object(process, PTL_KIND_ME, ni, ptl_entry_drop);
    for (int i = 0; i <= ni->limits.max_pt_index; i++) {
        if (!ni->pts[i])
            continue;
        ptl_unexpected_drop_all(ni, ni->pts[i]);
        release_lists(ni->pts[i]);
    }
    ptl_for_each_object(process, PTL_KIND_MD, ni, drop_md);
    ptl_for_each_object(process, PTL_KIND_CT, ni, ptl_ct_drop);
    ptl_for_each_object(process, PTL_KIND_EQ, ni, ptl_eq_drop);
    process->nis[kind_of(ni->options)] = NULL;
    ptl_handle_free(process, ni->handle);
    free(ni->map);
    free(ni->map_processes);
    ni->map = NULL;
    ni->map_processes = NULL;
    ni->map_size = 0;
    /* Messages on their way look at `closed`; the structure stays. */
    ni->next = process->closed;
    process->closed = ni;
    ptl_state_changed(process, true);
}

int PtlNIFini(ptl_handle_ni_t ni_handle)
{
    struct ptl_ni *ni = ptl_object(ni_handle, PTL_KIND_NI);
    if (!ni)
        return ptl_invalid();
    if (--ni->references == 0)
        ptl_ni_close(ni);
    return PTL_OK;
}

int PtlNIStatus(ptl_handle_ni_t ni_handle, ptl_sr_index_t status_register, ptl_sr_value_t *value)
{
    struct ptl_ni *ni = ptl_object(ni_handle, PTL_KIND_NI);
    if (!ni || (unsigned int)status_register >= PTL_SR_LAST || !value)
        return ptl_invalid();
    *value = ni->status[status_register];
    return PTL_OK;
}

int PtlNIHandle(ptl_handle_any_t handle, ptl_handle_ni_t *ni_handle)
{
    struct ptl_ni *ni = ptl_current() ? ptl_object_ni(ptl_current(), handle) : NULL;
    if (!ni || !ni_handle)
        return ptl_invalid();
    *ni_handle = ni->handle;
    return PTL_OK;
}

/* Portal table */

int PtlPTAlloc(ptl_handle_ni_t ni_handle, unsigned int options, ptl_handle_eq_t eq_handle,
               ptl_pt_index_t pt_index_req, ptl_pt_index_t *pt_index)
{
    struct ptl_ni *ni = ptl_object(ni_handle, PTL_KIND_NI);
    if (!ni)
        return ptl_invalid();
    struct ptl_eq *eq = NULL;
    if (eq_handle != PTL_EQ_NONE && !(eq = ptl_object(eq_handle, PTL_KIND_EQ)))
        return PTL_ARG_INVALID;
    ptl_pt_index_t count = (ptl_pt_index_t)ni->limits.max_pt_index + 1;
    if (!pt_index || (options & ~PTL_PT_ALLOC_OPTIONS_MASK) || (eq && eq->ni != ni) ||
        (pt_index_req != PTL_PT_ANY && pt_index_req >= count))
        return PTL_ARG_INVALID;
    if ((options & PTL_PT_FLOWCTRL) && !eq)
        return PTL_PT_EQ_NEEDED;
    ptl_pt_index_t index = pt_index_req;
    if (index == PTL_PT_ANY) {
        for (index = 0; index < count && ptl_pt_used(ni, index); index++)
            ;
        if (index == count)
            return PTL_PT_FULL;
    } else if (ptl_pt_used(ni, index)) {
        return PTL_PT_IN_USE;
    }
    if (!ni->pts[index])
        ni->pts[index] = pf_lines_get(&memory, sizeof **ni->pts);
    if ((options & PTL_PT_FLOWCTRL) && !ptl_eq_add_notice(eq))
        return PTL_NO_SPACE;
    *ni->pts[index] = (struct ptl_pt){.used = true,
                                      .enabled = !(options & PTL_PT_ALLOC_DISABLED),
                                      .options = options,
                                      .eq = eq,
                                      .eq_handle = eq_handle};
    *pt_index = index;
    return PTL_OK;
}

static struct ptl_pt *pt_of(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index)
{
    struct ptl_ni *ni = ptl_object(ni_handle, PTL_KIND_NI);
    return ni && ptl_pt_used(ni, pt_index) ? ni->pts[pt_index] : NULL;
}

int PtlPTFree(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index)
{
    struct ptl_pt *pt = pt_of(ni_handle, pt_index);
    if (!pt)
        return ptl_invalid();
    const struct ptl_ni *ni = ptl_object(ni_handle, PTL_KIND_NI);
    if (pt->lists[0].first || pt->lists[1].first || pt->unexpected.first || pt->busy > 0)
        return ptl_in_use(ptl_current(), "PtlPTFree", PTL_PT_IN_USE);
    release_lists(pt);
    struct ptl_eq *eq = ptl_pt_eq(ni, pt);
    if (eq && (pt->options & PTL_PT_FLOWCTRL))
        ptl_eq_remove_notice(eq);
    pt->used = false;
    return PTL_OK;
}

/* Messages that were let in before still move data, or their events are on their way. */
static bool is_settled(const struct ptl_ni *ni, const struct ptl_pt *pt)
{
    const struct ptl_eq *eq = ptl_pt_eq(ni, pt);
    return pt->busy == 0 && (!eq || eq->in_flight == 0);
}

/* Returns when nothing of the messages let in before is still to come. */
int PtlPTDisable(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index)
{
    struct ptl_pt *pt = pt_of(ni_handle, pt_index);
    if (!pt)
        return ptl_invalid();
    struct ptl_process *process = ptl_current();
    struct ptl_ni *ni = ptl_lookup(process, ni_handle, PTL_KIND_NI);
    pt->enabled = false;
    ptl_active(process, "PtlPTDisable");
    while (!ni->closed && !process->aborted && !process->free_mode && !is_settled(ni, pt))
        ptl_block(process, "PtlPTDisable", -1.0);
    return process->aborted ? PTL_ABORTED : PTL_OK;
}

int PtlPTEnable(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index)
{
    struct ptl_pt *pt = pt_of(ni_handle, pt_index);
    if (!pt)
        return ptl_invalid();
    pt->enabled = true;
    return PTL_OK;
}
