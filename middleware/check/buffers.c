/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that can be seen to be wrong without the implementation, and memory that two operations claim. */

#include "middleware/check/internal.h"
#include "middleware/core/rank_objects.h"
#include "middleware/datatype/datatype.h"
#include "middleware/rma/win.h"
#include "base/memory.h"

/* No object of the application lies so low: an address there is NULL plus some displacement. */
#define LOWEST_ADDRESS 4096

static void bad(const struct pf_check_call *call, const char *what, long long value)
{
    pf_check_found(PF_CHECK_ARGUMENT, call->rank, "%s: the %s is %lld",
                   pf_check_place_text(call->fn, call->site), what, value);
}

void pf_check_count(struct pf_check_call *call, MPI_Count count)
{
    if (count < 0)
        bad(call, "count", count);
}

void pf_check_positive(struct pf_check_call *call, const char *what, long long value)
{
    if (value <= 0)
        bad(call, what, value);
}

static void check_rank(struct pf_check_call *call, const struct pf_comm *comm, int peer, bool receives)
{
    if (!comm || peer == MPI_PROC_NULL || (receives && peer == MPI_ANY_SOURCE))
        return;
    if (peer < 0 || peer >= pf_comm_peers(comm))
        pf_check_found(PF_CHECK_ARGUMENT, call->rank, "%s: there is no rank %d among the %d of %s",
                       pf_check_place_text(call->fn, call->site), peer, pf_comm_peers(comm),
                       pf_check_comm_text(call->rank, comm));
}

void pf_check_peer(struct pf_check_call *call, MPI_Comm comm, int peer, bool receives)
{
    static const int probes[] = {PF_FN_Probe, PF_FN_Iprobe, PF_FN_Mprobe, PF_FN_Improbe};
    for (int i = 0; peer == MPI_ANY_SOURCE && i < 4; i++)
        call->rank->check->probes |= call->fn == probes[i];
    check_rank(call, pf_comm_of(call->rank, comm), peer, receives);
}

void pf_check_target(struct pf_check_call *call, MPI_Win win, int target)
{
    const struct pf_win *w = pf_win_of(win);
    check_rank(call, w ? w->comm : NULL, target, false);
}

void pf_check_tag(struct pf_check_call *call, int tag, bool receives)
{
    if (receives && tag == MPI_ANY_TAG)
        return;
    if (tag < 0 || tag > pf_rank_objects(call->rank)->tag_ub)
        bad(call, "tag", tag);
}

static bool meet(const struct pf_check_range *a, const struct pf_check_range *b)
{
    return (a->writes || b->writes) && a->from < b->to && b->from < a->to;
}

/* The first use whose range may reach to `address`: all are shorter than the longest. */
static int first_use(const struct pf_check *check, const char *address)
{
    int low = 0, high = check->use_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if ((uintptr_t)check->uses[middle].range.from + check->longest <= (uintptr_t)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void check_uses(const struct pf_check_call *call, const struct pf_check_range *range,
                       const struct pf_check_record *except)
{
    const struct pf_check *check = call->rank->check;
    for (int i = first_use(check, range->from); i < check->use_count && check->uses[i].range.from < range->to;
         i++) {
        const struct pf_check_use *use = &check->uses[i];
        if (use->user == except || !meet(range, &use->range))
            continue;
        pf_check_found(PF_CHECK_OVERLAP, call->rank, "%s %s memory that a pending %s %s",
                       pf_check_place_text(call->fn, call->site), range->writes ? "writes to" : "reads",
                       pf_check_place_text(use->made.fn, use->made.site),
                       use->range.writes ? "writes to" : "reads");
        return;
    }
}

void pf_check_memory(struct pf_check_call *call, const void *buffer, MPI_Count count, MPI_Datatype type)
{
    struct pf_bounds bounds;
    if (buffer || count <= 0 || !pf_datatype_valid(type))
        return;
    pf_datatype_bounds(type, &bounds);
    if (bounds.size > 0 && bounds.true_lb < LOWEST_ADDRESS)
        pf_check_found(PF_CHECK_ARGUMENT, call->rank, "%s: the buffer is NULL and the count %lld",
                       pf_check_place_text(call->fn, call->site), (long long)count);
    else
        return;
    call->refused = MPI_ERR_BUFFER; /* the implementation would crash */
}

void pf_check_blocks(struct pf_check_call *call, const void *buffer, const int *counts, int blocks,
                     MPI_Datatype type, const MPI_Datatype *types)
{
    for (int i = 0; counts && i < blocks && !call->refused; i++) {
        pf_check_count(call, counts[i]);
        if (types && counts[i] > 0)
            pf_check_datatype(call, types[i]);
        pf_check_memory(call, buffer, counts[i], types ? types[i] : type);
    }
}

/* What an operation touches, if that is one stretch without holes. */
static struct pf_check_range range_of(const void *buffer, MPI_Count count, MPI_Datatype type, bool writes)
{
    struct pf_bounds bounds;
    struct pf_check_range range = {NULL, NULL, writes};
    pf_datatype_bounds(type, &bounds);
    bool whole = bounds.dense || (count == 1 && bounds.true_ub - bounds.true_lb == bounds.size);
    if (!whole || count <= 0 || bounds.size <= 0)
        return range;
    range.from = (const char *)((uintptr_t)buffer + (uintptr_t)bounds.true_lb);
    range.to = range.from + count * bounds.size;
    return range;
}

void pf_check_buffer(struct pf_check_call *call, const void *buffer, MPI_Count count, MPI_Datatype type,
                     int blocks, bool writes)
{
    if (buffer == MPI_IN_PLACE)
        return;
    pf_check_count(call, count);
    if (!pf_datatype_valid(type))
        return;
    pf_check_memory(call, buffer, count * blocks, type);
    struct pf_check_range range = range_of(buffer, count * blocks, type, writes);
    if (range.from == range.to)
        return;
    check_uses(call, &range, NULL);
    for (int i = 0; i < call->range_count; i++)
        if (meet(&call->ranges[i], &range))
            pf_check_found(PF_CHECK_OVERLAP, call->rank, "%s: its buffers overlap",
                           pf_check_place_text(call->fn, call->site));
    if (call->range_count < 3)
        call->ranges[call->range_count++] = range;
}

void pf_check_message(struct pf_check_call *call, bool receives, MPI_Count count, MPI_Datatype type)
{
    call->signatures[receives] = pf_check_signature_of(call->rank, count, type);
}

void pf_check_matched(struct pf_check_call *call, MPI_Message message)
{
    const struct pf_check_record *record = pf_check_find(call->rank, message);
    const char *difference = record && record->kind == PF_KIND_MESSAGE
                                 ? pf_check_signatures_differ(record->signature, call->signatures[1])
                                 : NULL;
    if (difference)
        pf_check_found(PF_CHECK_SIGNATURE, call->rank, "%s receives what %s has found: %s",
                       pf_check_place_text(call->fn, call->site),
                       pf_check_place_text(record->made.fn, record->made.site), difference);
}

void pf_check_restart(struct pf_check_call *call, const struct pf_check_record *request)
{
    for (int i = 0; i < 2; i++)
        if (request->ranges[i].from != request->ranges[i].to)
            check_uses(call, &request->ranges[i], request);
}

static void add_use(struct pf_check *check, const struct pf_check_use *use)
{
    size_t length = (size_t)(use->range.to - use->range.from);
    PF_ARRAY_ROOM(check->uses, check->use_capacity, check->use_count + 1);
    int at = check->use_count++;
    while (at > 0 && check->uses[at - 1].range.from > use->range.from) {
        check->uses[at] = check->uses[at - 1];
        at--;
    }
    check->uses[at] = *use;
    if (length > check->longest)
        check->longest = length;
}

void pf_check_use(struct pf_rank *r, struct pf_check_record *request)
{
    request->active = true;
    for (int i = 0; i < 2; i++) {
        struct pf_check_use use = {request->ranges[i], request->made, request, -1};
        if (use.range.from != use.range.to)
            add_use(r->check, &use);
    }
}

/* A buffer that the window reads already, where most programs read it again. */
static struct pf_check_use *same_use(const struct pf_check *check, const struct pf_check_use *new)
{
    int i = first_use(check, new->range.from);
    while (i < check->use_count && check->uses[i].range.from < new->range.from)
        i++;
    struct pf_check_use *use = i < check->use_count ? &check->uses[i] : NULL;
    bool same = use && use->user == new->user && use->range.from == new->range.from &&
                use->range.to == new->range.to && !use->range.writes && !new->range.writes;
    return same ? use : NULL;
}

void pf_check_use_origin(struct pf_check_call *call, MPI_Win win, int target)
{
    const struct pf_check_record *record = pf_check_find(call->rank, win);
    for (int i = 0; record && i < call->range_count; i++) {
        struct pf_check_use new = {call->ranges[i], {call->fn, call->site}, record, target};
        struct pf_check_use *use = same_use(call->rank->check, &new);
        if (!use)
            add_use(call->rank->check, &new);
        else if (use->target != target)
            use->target = -1;
    }
}

void pf_check_unuse_origins(struct pf_rank *r, const struct pf_check_record *win, int target)
{
    struct pf_check *check = r->check;
    int left = 0;
    for (int i = 0; i < check->use_count; i++) {
        const struct pf_check_use *use = &check->uses[i];
        if (use->user != win || (target != -1 && use->target != -1 && use->target != target))
            check->uses[left++] = *use;
    }
    check->use_count = left;
}

void pf_check_unuse(struct pf_rank *r, struct pf_check_record *request)
{
    struct pf_check *check = r->check;
    int left = 0;
    bool has_ranges = request->ranges[0].from || request->ranges[1].from;
    if (request->active && has_ranges) {
        for (int i = 0; i < check->use_count; i++)
            if (check->uses[i].user != request)
                check->uses[left++] = check->uses[i];
        check->use_count = left;
    }
    request->active = false;
}
