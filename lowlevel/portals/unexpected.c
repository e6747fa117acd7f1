/* SPDX-License-Identifier: BSD-3-Clause */
/* The headers of messages that came before their list entry: kept, claimed, searched for. */
#include "lowlevel/portals/internal.h"

static struct pf_pool headers = PF_POOL(struct ptl_unexpected);

static struct ptl_unexpected *of_node(struct ptl_match_node *node)
{
    return node ? pf_container_of(node, struct ptl_unexpected, match) : NULL;
}

struct ptl_unexpected *ptl_unexpected_new(struct ptl_pt *pt, const struct ptl_message *m)
{
    struct ptl_unexpected *header = pf_pool_get(&headers);
    *header = (struct ptl_unexpected){
        .ni = m->to_ni, .entry = m->entry, .network = m->nic.transfer.network, .operation = m->operation};
    header->match.key = ptl_match_header(m->to_ni, m->match_bits, m->initiator);
    ptl_match_append(&pt->unexpected, &header->match);
    if (pf_chain_on)
        header->came = pf_chain_date_of(NULL);
    m->entry->unexpected++;
    m->to_ni->unexpected_count++;
    return header;
}

void ptl_unexpected_drop_all(struct ptl_ni *ni, struct ptl_pt *pt)
{
    while (pt->unexpected.first) {
        struct ptl_unexpected *header = of_node(pt->unexpected.first);
        ptl_match_remove(&pt->unexpected, &header->match);
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

/* What a header that an entry (or a search) has found counts there; returns when the value is in memory. */
static double count(const struct ptl_ni *ni, struct ptl_ct *entry_ct, const ptl_me_t *me, ptl_size_t length,
                    ptl_ni_fail_t fail, double date)
{
    struct ptl_ct *ct = ptl_live_ct(entry_ct, me->ct_handle, ni);
    if (ct && (me->options & PTL_ME_EVENT_CT_OVERFLOW))
        return ptl_ct_count(ct, me->options & PTL_ME_EVENT_CT_BYTES, length, fail, date);
    return date;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

static void forget(struct ptl_unexpected *header, double date)
{
    struct ptl_le *entry = header->entry;
    entry->unexpected--;
    header->ni->unexpected_count--;
    ptl_entry_settle(entry, date);
    pf_pool_put(&headers, header);
}

/* A claimed header whose data are in memory at `date` is reported and forgotten; returns when the process can
 * know of it. */
static double report_claim(struct ptl_unexpected *header, double date)
{
    struct ptl_ni *ni = header->ni;
    struct ptl_eq *eq = ptl_pt_eq(ni, ptl_entry_pt(header->entry));
    unsigned int options = header->claim.options, quiet = PTL_ME_EVENT_OVER_DISABLE;
    ptl_ni_fail_t fail = header->event.ni_fail_type;
    if (fail == PTL_NI_OK)
        quiet |= PTL_ME_EVENT_SUCCESS_DISABLE;
    header->event.type = overflow_kind(header->operation);
    double known = options & quiet ? date : ptl_eq_post(eq, &header->event, header->network, date);
    known = later(known, count(ni, header->claim_ct, &header->claim, header->event.mlength, fail, date));
    if (!header->claim_unlinks || (options & PTL_ME_EVENT_UNLINK_DISABLE)) {
        forget(header, date);
        return known;
    }
    ptl_event_t event = header->event;
    event.type = PTL_EVENT_AUTO_UNLINK;
    event.ni_fail_type = PTL_NI_OK;
    event.start = header->claim.start;
    event.ptl_list = PTL_PRIORITY_LIST;
    uint8_t network = header->network;
    forget(header, date); /* may free the entry that the message was in, whose event comes first */
    return ptl_eq_post(eq, &event, network, date);
}

void ptl_unexpected_complete(struct ptl_unexpected *header, double date)
{
    header->complete = true;
    if (header->claimed)
        report_claim(header, date);
}

void ptl_unexpected_abandon(struct ptl_pt *pt, struct ptl_unexpected *header, double date)
{
    header->event.ni_fail_type = PTL_NI_UNDELIVERABLE;
    if (header->claimed) {
        report_claim(header, date);
        return;
    }
    ptl_match_remove(&pt->unexpected, &header->match);
    forget(header, date);
}

/* A message that is there already is not asked for its permission again; but what must not be cut is not
 * found where it would have been. */
static bool fits(const struct ptl_match_node *node, const void *arg)
{
    const struct ptl_unexpected *header = pf_container_of(node, struct ptl_unexpected, match);
    const struct ptl_le *entry = arg;
    if (!(entry->me.options & PTL_ME_NO_TRUNCATE))
        return true;
    ptl_size_t place =
        entry->me.options & PTL_ME_MANAGE_LOCAL ? entry->local_offset : header->event.remote_offset;
    return place <= entry->length && header->event.rlength <= entry->length - place;
}

static struct ptl_unexpected *find(const struct ptl_le *entry, const struct ptl_unexpected *after)
{
    return of_node(ptl_match_next(&ptl_entry_pt(entry)->unexpected, &entry->match,
                                  after ? &after->match : NULL, fits, entry));
}

/* An entry or a search for any sender takes the first that came. */
static void note_order(const struct ptl_le *entry, const struct ptl_unexpected *header)
{
    if (pf_chain_on && entry->match.ignore.sender)
        pf_chain_took(entry->ni->process->self, header->came);
}

/* Returns when the process can know of it; `date` when the data are yet to come. */
static double claim(struct ptl_unexpected *header, const struct ptl_le *entry, bool unlinks, double date)
{
    ptl_match_remove(&ptl_entry_pt(entry)->unexpected, &header->match);
    note_order(entry, header);
    header->claimed = true;
    header->claim = entry->me;
    header->claim_ct = entry->ct;
    header->claim_unlinks = unlinks;
    header->event.user_ptr = entry->user_ptr;
    return header->complete ? report_claim(header, date) : date;
}

/* Whether the entry counts what came before it as its own, and has no room left then. */
static bool takes_room(struct ptl_le *entry, const struct ptl_unexpected *header)
{
    const unsigned int both = PTL_ME_MANAGE_LOCAL | PTL_ME_LOCAL_INC_UH_RLENGTH;
    if ((entry->me.options & both) != both)
        return false;
    ptl_size_t room = entry->length - entry->local_offset;
    entry->local_offset += header->event.rlength < room ? header->event.rlength : room;
    return entry->length - entry->local_offset < entry->me.min_free;
}

bool ptl_unexpected_claim_all(struct ptl_le *entry, double date)
{
    bool used_up = false;
    for (struct ptl_unexpected *header = find(entry, NULL), *next; header && !used_up; header = next) {
        used_up = (entry->me.options & PTL_ME_USE_ONCE) || takes_room(entry, header);
        next = used_up ? NULL : find(entry, header);
        claim(header, entry, used_up, date);
    }
    return used_up;
}

/* Searches */

/* Both kinds of answers return when the process can know of them. */
static double answer(const struct ptl_le *pattern, ptl_event_t *event, uint8_t network, double date)
{
    struct ptl_ni *ni = pattern->ni;
    unsigned int quiet = PTL_ME_EVENT_OVER_DISABLE;
    if (event->ni_fail_type == PTL_NI_OK)
        quiet |= PTL_ME_EVENT_SUCCESS_DISABLE;
    event->type = PTL_EVENT_SEARCH;
    event->user_ptr = pattern->user_ptr;
    double known = date;
    if (!(pattern->me.options & quiet))
        known = ptl_eq_post(ptl_pt_eq(ni, ptl_entry_pt(pattern)), event, network, date);
    return later(known, count(ni, pattern->ct, &pattern->me, event->mlength, event->ni_fail_type, date));
}

static double count_none(const struct ptl_le *pattern, double date)
{
    return count(pattern->ni, pattern->ct, &pattern->me, 0, PTL_NI_NO_MATCH, date);
}

/*
 * The answer to a search that found nothing is delayed like any event, until the process has polled in vain
 * for long: then it is there at once, so that a program that searches in a loop goes to sleep in its next
 * poll and not for the time of one search.
 */
static double answer_none(const struct ptl_le *pattern, double date)
{
    struct ptl_process *process = pattern->ni->process;
    bool was_free = process->free_mode;
    if (ptl_idle_for_long(process))
        process->free_mode = true;
    ptl_event_t event = {.pt_index = pattern->pt_index, .ni_fail_type = PTL_NI_NO_MATCH};
    double known = answer(pattern, &event, PTL_NO_NETWORK, date);
    process->free_mode = was_free;
    return known;
}

/* Whether a counter counts the end of the search. */
static bool is_counted(const struct ptl_le *pattern)
{
    return pattern->ct && (pattern->me.options & PTL_ME_EVENT_CT_OVERFLOW);
}

/*
 * A search with a persistent entry finds all headers; the counter then counts its end as a failure, and an
 * event comes only when there was none. Returns when the call may return: a program looks at once for what
 * has been found, and at counters, which it cannot wait for when they stay as they are. An event that says
 * that there was nothing is left to polls.
 */
static double answer_search(const struct ptl_le *pattern, ptl_search_op_t op, double date)
{
    bool once = pattern->me.options & PTL_ME_USE_ONCE;
    double known = 0.0;
    bool found = false;
    for (struct ptl_unexpected *header = find(pattern, NULL), *next; header; header = next) {
        next = once ? NULL : find(pattern, header);
        found = true;
        if (op == PTL_SEARCH_DELETE) {
            known = later(known, claim(header, pattern, false, date));
        } else {
            ptl_event_t event = header->event;
            note_order(pattern, header);
            known = later(known, answer(pattern, &event, header->network, date));
        }
    }
    if (found)
        return once ? known : later(known, count_none(pattern, date));
    double end = answer_none(pattern, date);
    return is_counted(pattern) ? end : 0.0;
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
    int status = ptl_entry_check(ni, pt_index, me);
    if (status != PTL_OK)
        return status;
    process->last_call = matching ? "PtlMESearch" : "PtlLESearch";
    process->header_since_search = false;
    struct ptl_le pattern;
    ptl_entry_fill(&pattern, ni, pt_index, me, PTL_PRIORITY_LIST, user_ptr);
    ptl_wait_until(process, answer_search(&pattern, op, ptl_command_date(process)), process->last_call);
    return PTL_OK;
}

int PtlMESearch(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_me_t *me,
                ptl_search_op_t ptl_search_op, void *user_ptr)
{
    return search(ni_handle, pt_index, me, ptl_search_op, user_ptr, true);
}

int PtlLESearch(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_le_t *le,
                ptl_search_op_t ptl_search_op, void *user_ptr)
{
    if (le && (le->options & ~PTL_LE_APPEND_OPTIONS_MASK))
        return ptl_current() ? PTL_ARG_INVALID : PTL_NO_INIT;
    ptl_me_t me;
    if (le)
        me = ptl_me_of_le(le);
    return search(ni_handle, pt_index, le ? &me : NULL, ptl_search_op, user_ptr, false);
}
