/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries come into lists, and leave them. */
#include "lowlevel/portals/internal.h"

void ptl_entry_link(struct ptl_le *entry, double date)
{
    struct ptl_pt *pt = ptl_entry_pt(entry);
    if (entry->list == PTL_PRIORITY_LIST && pt->unexpected.first && ptl_unexpected_claim_all(entry, date)) {
        ptl_entry_free(entry);
        return;
    }
    ptl_match_append(&pt->lists[entry->list], &entry->match);
    entry->linked = true;
    entry->linked_date = date;
    if (!(entry->me.options & PTL_ME_EVENT_LINK_DISABLE))
        ptl_entry_post(entry, PTL_EVENT_LINK, date);
}

int ptl_entry_unlink(struct ptl_le *entry)
{
    if (!entry->linked || entry->pending > 0 || entry->unexpected > 0)
        return PTL_IN_USE;
    ptl_list_remove(entry);
    ptl_entry_free(entry);
    return PTL_OK;
}

static int append(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_me_t *me, ptl_list_t list,
                  void *user_ptr, ptl_handle_any_t *handle, enum ptl_kind kind)
{
    struct ptl_process *process = ptl_current();
    if (!process)
        return PTL_NO_INIT;
    struct ptl_ni *ni = ptl_lookup(process, ni_handle, PTL_KIND_NI);
    if (!ni || !handle || ptl_is_matching(ni) != (kind == PTL_KIND_ME))
        return PTL_ARG_INVALID;
    int status = ptl_append_check(ni, pt_index, me, list);
    if (status != PTL_OK)
        return status;
    ptl_active(process, kind == PTL_KIND_ME ? "PtlMEAppend" : "PtlLEAppend");
    struct ptl_le *entry = ptl_entry_new(ni, pt_index, me, list, user_ptr, kind);
    *handle = entry->handle;
    ptl_entry_link(entry, ptl_command_date(process));
    return PTL_OK;
}

static int unlink_entry(ptl_handle_any_t handle, enum ptl_kind kind)
{
    struct ptl_le *entry = ptl_object(handle, kind);
    int status = entry ? ptl_entry_unlink(entry) : ptl_invalid();
    const char *call = kind == PTL_KIND_ME ? "PtlMEUnlink" : "PtlLEUnlink";
    return status == PTL_IN_USE ? ptl_in_use(ptl_current(), call, status) : status;
}

int PtlMEAppend(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_me_t *me, ptl_list_t ptl_list,
                void *user_ptr, ptl_handle_me_t *me_handle)
{
    return append(ni_handle, pt_index, me, ptl_list, user_ptr, me_handle, PTL_KIND_ME);
}

int PtlMEUnlink(ptl_handle_me_t me_handle)
{
    return unlink_entry(me_handle, PTL_KIND_ME);
}

int PtlLEAppend(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_le_t *le, ptl_list_t ptl_list,
                void *user_ptr, ptl_handle_le_t *le_handle)
{
    if (le && (le->options & ~PTL_LE_APPEND_OPTIONS_MASK))
        return ptl_current() ? PTL_ARG_INVALID : PTL_NO_INIT;
    ptl_me_t me;
    if (le)
        me = ptl_me_of_le(le);
    return append(ni_handle, pt_index, le ? &me : NULL, ptl_list, user_ptr, le_handle, PTL_KIND_LE);
}

int PtlLEUnlink(ptl_handle_le_t le_handle)
{
    return unlink_entry(le_handle, PTL_KIND_LE);
}
