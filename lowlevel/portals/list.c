/* SPDX-License-Identifier: BSD-3-Clause */
/* List entries, matching, and the headers of messages that came before their entry. */
#include "lowlevel/portals/internal.h"

static struct pf_pool entries = PF_POOL(struct ptl_le);
static struct pf_pool headers = PF_POOL(struct ptl_unexpected);

#define LE_OPTIONS                                                                                           \
    (PTL_IOVEC | PTL_LE_OP_PUT | PTL_LE_OP_GET | PTL_LE_USE_ONCE | PTL_LE_ACK_DISABLE |                      \
     PTL_LE_UNEXPECTED_HDR_DISABLE | PTL_LE_IS_ACCESSIBLE | PTL_LE_EVENT_LINK_DISABLE |                      \
     PTL_LE_EVENT_COMM_DISABLE | PTL_LE_EVENT_FLOWCTRL_DISABLE | PTL_LE_EVENT_SUCCESS_DISABLE |              \
     PTL_LE_EVENT_OVER_DISABLE | PTL_LE_EVENT_UNLINK_DISABLE | PTL_LE_EVENT_CT_COMM |                        \
     PTL_LE_EVENT_CT_OVERFLOW | PTL_LE_EVENT_CT_BYTES)
#define ME_OPTIONS (LE_OPTIONS | PTL_ME_MANAGE_LOCAL | PTL_ME_NO_TRUNCATE | PTL_ME_MAY_ALIGN)

static struct ptl_pt *pt_of(const struct ptl_le *entry)
{
    return &entry->ni->pts[entry->pt_index];
}

static void post_entry_event(struct ptl_le *entry, ptl_event_kind_t type, double date)
{
    ptl_event_t event = {
        .type = type,
        .start = entry->me.start,
        .user_ptr = entry->user_ptr,
        .pt_index = entry->pt_index,
        .ptl_list = entry->list,
        .ni_fail_type = PTL_NI_OK,
    };
    ptl_eq_post(ptl_pt_eq(entry->ni, pt_of(entry)), &event, date);
}

static void list_append(struct ptl_list *list, struct ptl_le *entry)
{
    entry->prev = list->last;
    entry->next = NULL;
    if (list->last)
        list->last->next = entry;
    else
        list->first = entry;
    list->last = entry;
    list->length++;
    entry->linked = true;
}

void ptl_list_remove(struct ptl_le *entry)
{
    struct ptl_list *list = &pt_of(entry)->lists[entry->list];
    if (entry->prev)
        entry->prev->next = entry->next;
    else
        list->first = entry->next;
    if (entry->next)
        entry->next->prev = entry->prev;
    else
        list->last = entry->prev;
    list->length--;
    entry->linked = false;
}

static void entry_free(struct ptl_le *entry)
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
    entry_free(entry);
}

/* An entry that the NIC has unlinked: tells so when no message uses it any more, and lets it go when no
 * header refers to it. */
void ptl_entry_settle(struct ptl_le *entry, double date)
{
    if (!entry->auto_unlinked || entry->pending > 0)
        return;
    bool silent = entry->me.options & PTL_ME_EVENT_UNLINK_DISABLE;
    if (!entry->unlink_told && !silent)
        post_entry_event(entry, PTL_EVENT_AUTO_UNLINK, date);
    entry->unlink_told = true;
    if (entry->unexpected > 0)
        return;
    if (entry->list == PTL_OVERFLOW_LIST && !silent)
        post_entry_event(entry, PTL_EVENT_AUTO_FREE, date);
    entry_free(entry);
}

static bool id_matches(const struct ptl_ni *ni, ptl_process_t pattern, ptl_process_t id)
{
    if (ni->options & PTL_NI_LOGICAL)
        return pattern.rank == PTL_RANK_ANY || pattern.rank == id.rank;
    return (pattern.phys.nid == PTL_NID_ANY || pattern.phys.nid == id.phys.nid) &&
           (pattern.phys.pid == PTL_PID_ANY || pattern.phys.pid == id.phys.pid);
}

bool ptl_entry_matches(const struct ptl_ni *ni, const struct ptl_le *entry, ptl_match_bits_t match_bits,
                       ptl_process_t initiator)
{
    if (!ptl_is_matching(ni))
        return true;
    return !((match_bits ^ entry->me.match_bits) & ~entry->me.ignore_bits) &&
           id_matches(ni, entry->me.match_id, initiator);
}

/* Unexpected headers */

struct ptl_unexpected *ptl_unexpected_new(struct ptl_ni *ni, struct ptl_pt *pt, struct ptl_le *entry)
{
    struct ptl_unexpected *header = pf_pool_get(&headers);
    *header = (struct ptl_unexpected){.ni = ni, .entry = entry, .prev = pt->unexpected_last};
    if (pt->unexpected_last)
        pt->unexpected_last->next = header;
    else
        pt->unexpected_first = header;
    pt->unexpected_last = header;
    entry->unexpected++;
    ni->unexpected_count++;
    return header;
}

static void header_remove(struct ptl_pt *pt, struct ptl_unexpected *header)
{
    if (header->prev)
        header->prev->next = header->next;
    else
        pt->unexpected_first = header->next;
    if (header->next)
        header->next->prev = header->prev;
    else
        pt->unexpected_last = header->prev;
}

void ptl_unexpected_drop_all(struct ptl_ni *ni, struct ptl_pt *pt)
{
    while (pt->unexpected_first) {
        struct ptl_unexpected *header = pt->unexpected_first;
        header_remove(pt, header);
        ni->unexpected_count--;
        pf_pool_put(&headers, header);
    }
}

static ptl_event_kind_t overflow_kind(enum ptl_operation operation)
{
    switch (operation) {
    case PTL_DO_PUT:
        return PTL_EVENT_PUT_OVERFLOW;
    case PTL_DO_GET:
        return PTL_EVENT_GET_OVERFLOW;
    case PTL_DO_ATOMIC:
        return PTL_EVENT_ATOMIC_OVERFLOW;
    case PTL_DO_FETCH:
        return PTL_EVENT_FETCH_ATOMIC_OVERFLOW;
    }
    return PTL_EVENT_PUT_OVERFLOW;
}

/* A claimed header whose data are in memory at `date` is reported and forgotten. */
static void report_claim(struct ptl_unexpected *header, double date)
{
    struct ptl_ni *ni = header->ni;
    struct ptl_le *entry = header->entry;
    struct ptl_eq *eq = ptl_pt_eq(ni, pt_of(entry));
    unsigned int options = header->claim.options;
    header->event.type = overflow_kind(header->operation);
    if (!(options & (PTL_ME_EVENT_OVER_DISABLE | PTL_ME_EVENT_SUCCESS_DISABLE)))
        ptl_eq_post(eq, &header->event, date);
    struct ptl_ct *ct = ptl_live_ct(header->claim_ct, header->claim.ct_handle, ni);
    if (ct && (options & PTL_ME_EVENT_CT_OVERFLOW))
        ptl_ct_count(ct, options & PTL_ME_EVENT_CT_BYTES, header->event.mlength, PTL_NI_OK, date);
    if (header->claim_unlinks && !(options & PTL_ME_EVENT_UNLINK_DISABLE)) {
        ptl_event_t event = header->event;
        event.type = PTL_EVENT_AUTO_UNLINK;
        event.start = header->claim.start;
        event.ptl_list = PTL_PRIORITY_LIST;
        ptl_eq_post(eq, &event, date);
    }
    entry->unexpected--;
    ni->unexpected_count--;
    ptl_entry_settle(entry, date);
    pf_pool_put(&headers, header);
}

void ptl_unexpected_complete(struct ptl_unexpected *header, double date)
{
    header->complete = true;
    if (header->claimed)
        report_claim(header, date);
}

static bool header_matches(const struct ptl_le *entry, const struct ptl_unexpected *header)
{
    unsigned int wanted = header->operation == PTL_DO_GET     ? PTL_ME_OP_GET
                          : header->operation == PTL_DO_FETCH ? PTL_ME_OP_GET | PTL_ME_OP_PUT
                                                              : PTL_ME_OP_PUT;
    if (!ptl_entry_matches(entry->ni, entry, header->event.match_bits, header->event.initiator))
        return false;
    if ((entry->me.options & PTL_ME_NO_TRUNCATE) && header->event.rlength > entry->length)
        return false;
    return (entry->me.options & wanted) == wanted &&
           (entry->me.uid == PTL_UID_ANY || entry->me.uid == header->uid);
}

static struct ptl_unexpected *find_header(const struct ptl_le *entry, struct ptl_unexpected *from)
{
    while (from && !header_matches(entry, from))
        from = from->next;
    return from;
}

static void claim(struct ptl_unexpected *header, const struct ptl_le *entry, bool unlinks, double date)
{
    header_remove(pt_of(entry), header);
    header->claimed = true;
    header->claim = entry->me;
    header->claim_ct = entry->ct;
    header->claim_unlinks = unlinks;
    header->event.user_ptr = entry->user_ptr;
    if (header->complete)
        report_claim(header, date);
}

void ptl_entry_link(struct ptl_le *entry, double date)
{
    struct ptl_pt *pt = pt_of(entry);
    if (entry->list == PTL_PRIORITY_LIST) {
        struct ptl_unexpected *header = pt->unexpected_first;
        while ((header = find_header(entry, header))) {
            struct ptl_unexpected *next = header->next;
            bool once = entry->me.options & PTL_ME_USE_ONCE;
            claim(header, entry, once, date);
            if (once) {
                entry_free(entry);
                return;
            }
            header = next;
        }
    }
    list_append(&pt->lists[entry->list], entry);
    entry->linked_date = date;
    if (!(entry->me.options & PTL_ME_EVENT_LINK_DISABLE))
        post_entry_event(entry, PTL_EVENT_LINK, date);
}

int ptl_entry_unlink(struct ptl_le *entry)
{
    if (!entry->linked || entry->pending > 0 || entry->unexpected > 0)
        return PTL_IN_USE;
    ptl_list_remove(entry);
    entry_free(entry);
    return PTL_OK;
}

/* Append, unlink and search as calls */

int ptl_append_check(struct ptl_ni *ni, ptl_pt_index_t pt_index, const ptl_me_t *me, ptl_list_t list)
{
    if (pt_index > (ptl_pt_index_t)ni->limits.max_pt_index || !ni->pts[pt_index].used || !me ||
        (me->options & ~ME_OPTIONS) || (list != PTL_PRIORITY_LIST && list != PTL_OVERFLOW_LIST))
        return PTL_ARG_INVALID;
    if (me->ct_handle != PTL_CT_NONE && !ptl_object(me->ct_handle, PTL_KIND_CT))
        return PTL_ARG_INVALID;
    if ((me->options & PTL_IOVEC) && me->length > (ptl_size_t)ni->limits.max_iovecs)
        return PTL_ARG_INVALID;
    if (ni->entry_count >= ni->limits.max_entries)
        return PTL_NO_SPACE;
    if (ni->pts[pt_index].lists[list].length >= ni->limits.max_list_size)
        return PTL_LIST_TOO_LONG;
    return PTL_OK;
}

static void fill(struct ptl_le *entry, struct ptl_ni *ni, ptl_pt_index_t pt_index, const ptl_me_t *me,
                 ptl_list_t list, void *user_ptr)
{
    *entry = (struct ptl_le){.ni = ni, .me = *me, .pt_index = pt_index, .list = list, .user_ptr = user_ptr};
    if (me->ct_handle != PTL_CT_NONE)
        entry->ct = ptl_object(me->ct_handle, PTL_KIND_CT);
    struct ptl_memory memory = ptl_le_memory(entry);
    entry->length = ptl_memory_length(&memory);
}

struct ptl_le *ptl_entry_new(struct ptl_ni *ni, ptl_pt_index_t pt_index, const ptl_me_t *me, ptl_list_t list,
                             void *user_ptr, enum ptl_kind kind)
{
    struct ptl_le *entry = pf_pool_get(&entries);
    fill(entry, ni, pt_index, me, list, user_ptr);
    entry->handle = ptl_handle_new(ni->process, kind, entry);
    ni->entry_count++;
    return entry;
}

static double command_date(struct ptl_process *process)
{
    return process->free_mode ? pf_engine_now() : pf_nic_command_date(process->nic);
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
    ptl_active(process, "PtlMEAppend");
    struct ptl_le *entry = ptl_entry_new(ni, pt_index, me, list, user_ptr, kind);
    *handle = entry->handle;
    ptl_entry_link(entry, command_date(process));
    return PTL_OK;
}

static int unlink_entry(ptl_handle_any_t handle, enum ptl_kind kind)
{
    if (!ptl_current())
        return PTL_NO_INIT;
    struct ptl_le *entry = ptl_object(handle, kind);
    return entry ? ptl_entry_unlink(entry) : PTL_ARG_INVALID;
}

/*
 * The answer to a search that found nothing is delayed like any event, until the process has polled in vain
 * for long: then it is there at once, so that a program that searches in a loop goes to sleep in its next
 * poll and not for the time of one search.
 */
static void answer_search(struct ptl_ni *ni, struct ptl_pt *pt, const ptl_event_t *event)
{
    struct ptl_process *process = ni->process;
    bool was_free = process->free_mode;
    if (event->ni_fail_type == PTL_NI_NO_MATCH && process->idle >= pf_config.idle_passes)
        process->free_mode = true;
    ptl_eq_post(ptl_pt_eq(ni, pt), event, command_date(process));
    process->free_mode = was_free;
}

static int search(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_me_t *me, ptl_search_op_t op,
                  void *user_ptr, bool matching)
{
    struct ptl_process *process = ptl_current();
    if (!process)
        return PTL_NO_INIT;
    struct ptl_ni *ni = ptl_lookup(process, ni_handle, PTL_KIND_NI);
    if (!ni || ptl_is_matching(ni) != matching || (op != PTL_SEARCH_ONLY && op != PTL_SEARCH_DELETE))
        return PTL_ARG_INVALID;
    int status = ptl_append_check(ni, pt_index, me, PTL_PRIORITY_LIST);
    if (status != PTL_OK)
        return status;
    process->last_call = "PtlMESearch";
    process->header_since_search = false;
    struct ptl_pt *pt = &ni->pts[pt_index];
    struct ptl_le pattern;
    fill(&pattern, ni, pt_index, me, PTL_PRIORITY_LIST, user_ptr);
    struct ptl_unexpected *header = find_header(&pattern, pt->unexpected_first);
    if (header && op == PTL_SEARCH_DELETE) {
        claim(header, &pattern, false, command_date(process));
        return PTL_OK;
    }
    ptl_event_t event = {.pt_index = pt_index, .ni_fail_type = PTL_NI_NO_MATCH};
    if (header)
        event = header->event;
    event.type = PTL_EVENT_SEARCH;
    event.user_ptr = user_ptr;
    answer_search(ni, pt, &event);
    return PTL_OK;
}

static ptl_me_t entry_of_le(const ptl_le_t *le)
{
    return (ptl_me_t){.start = le->start,
                      .length = le->length,
                      .ct_handle = le->ct_handle,
                      .uid = le->uid,
                      .options = le->options,
                      .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                      .ignore_bits = ~(ptl_match_bits_t)0};
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

int PtlMESearch(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_me_t *me,
                ptl_search_op_t ptl_search_op, void *user_ptr)
{
    return search(ni_handle, pt_index, me, ptl_search_op, user_ptr, true);
}

int PtlLEAppend(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_le_t *le, ptl_list_t ptl_list,
                void *user_ptr, ptl_handle_le_t *le_handle)
{
    if (le && (le->options & ~LE_OPTIONS))
        return ptl_current() ? PTL_ARG_INVALID : PTL_NO_INIT;
    ptl_me_t me;
    if (le)
        me = entry_of_le(le);
    return append(ni_handle, pt_index, le ? &me : NULL, ptl_list, user_ptr, le_handle, PTL_KIND_LE);
}

int PtlLEUnlink(ptl_handle_le_t le_handle)
{
    return unlink_entry(le_handle, PTL_KIND_LE);
}

int PtlLESearch(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_le_t *le,
                ptl_search_op_t ptl_search_op, void *user_ptr)
{
    ptl_me_t me;
    if (le)
        me = entry_of_le(le);
    return search(ni_handle, pt_index, le ? &me : NULL, ptl_search_op, user_ptr, false);
}
