/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run that ends early prints: which rank is in what, and what it waits for. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "loader/image.h"
#include "lowlevel/portals/runtime.h"
#include "middleware/p2p/stranded.h"
#include "middleware/core/call_site.h"
#include "middleware/core/job_programs.h"
#include "middleware/core/upcalls.h"
#include "middleware/p2p/request.h"
#include "middleware/p2p/wait_set.h"
#include "middleware/process/job.h"
#include "middleware/core/job_state.h"

/* As many requests of one call, and messages, as a reader takes in. */
#define REQUESTS_SHOWN 8
#define MESSAGES_SHOWN 4

/* More ranks than this are printed in groups of those that are at the same place, at most so many groups. */
#define RANKS_APART  16
#define GROUPS_SHOWN 20
#define RANGES_SHOWN 8

/* Ranks of one group are linked from the first to the last. */
struct group {
    int first, last, count;
};

struct places {
    struct group groups[GROUPS_SHOWN];
    int count, others; /* ranks beyond the groups */
    int *next;         /* of each rank, the next one of its group, or -1 */
};

static void peer_text(char *text, size_t size, int peer, int tag)
{
    char from[16], which[16];
    snprintf(from, sizeof from, peer == MPI_ANY_SOURCE ? "any" : "%d", peer);
    snprintf(which, sizeof which, tag == MPI_ANY_TAG ? "any" : "%d", tag);
    snprintf(text, size, " (peer %s, tag %s)", from, which);
}

/* What was sent to the rank on this communicator and not received (-agree follow). */
static void print_messages(FILE *out, const struct pf_rank *r, const struct pf_comm *comm)
{
    char site[256];
    int shown = 0;
    if (!comm || !comm->shared->mailboxes)
        return;
    const struct pf_ledger_entry *e = pf_ledger_entry_of(comm->shared->mailboxes[comm->me].sends.all.first);
    for (; e && shown < MESSAGES_SHOWN; e = pf_ledger_entry_of(e->envelope.next), shown++)
        fprintf(out, "parfocal:   not received: rank %d sent tag %d to rank %d in model %s (%s at %s)\n",
                e->sender, e->envelope.tag, r->self.rank, pf_model_name(e->model), pf_fn_name(e->fn),
                pf_call_site(e->site, site, sizeof site));
    if (e)
        fprintf(out, "parfocal:   and more\n");
}

/* Whether it is not what the call waits for: completed, though the call has not seen that yet. While a native
 * call runs, the set's array of handles is the implementation's to change. */
static bool is_complete(const struct pf_wait_set *set, int i)
{
    struct pf_request *request = set->requests[i];
    struct pf_instance *in = request->owner;
    if (request->own)
        return request->own->ready(request);
    pf_native_request_t native = request->native;
    for (int k = 0; k < set->parts; k++)
        if (set->index[k] == i)
            native = set->natives[k];
    return native == in->values->request_null || in->ops->request_will_be_done(in, native);
}

static void print_request(FILE *out, const struct pf_rank *r, const struct pf_request *request, bool first)
{
    char site[256], peer[64] = "";
    bool p2p = request->kind != PF_REQUEST_COLLECTIVE && request->kind != PF_REQUEST_RMA &&
               request->kind != PF_REQUEST_FILE;
    if (p2p)
        peer_text(peer, sizeof peer, request->peer, request->tag);
    fprintf(out, "parfocal:   rank %d waits for %s%s, model %s, started at %s\n", r->self.rank,
            pf_fn_name(request->fn), peer, pf_model_name(request->owner->model),
            pf_call_site(request->site, site, sizeof site));
    if (p2p && pf_request_receives(request) && first)
        print_messages(out, r, request->comm);
}

static void print_requests(FILE *out, const struct pf_rank *r)
{
    const struct pf_wait_set *set = r->call.waits;
    int waiting = 0;
    for (int i = 0; set && i < set->count; i++) {
        if (!pf_request_is_active(set->requests[i]) || is_complete(set, i))
            continue;
        if (waiting++ < REQUESTS_SHOWN)
            print_request(out, r, set->requests[i], waiting == 1);
    }
    if (waiting > REQUESTS_SHOWN)
        fprintf(out, "parfocal:   and for %d more\n", waiting - REQUESTS_SHOWN);
}

/* "3", or "0-2, 5". */
static void print_ranges(FILE *out, const struct places *places, const struct group *group)
{
    int ranges = 0, left = group->count;
    for (int i = group->first; i >= 0 && ranges < RANGES_SHOWN; ranges++) {
        int last = i;
        for (left--; places->next[last] == last + 1; left--)
            last++;
        fprintf(out, "%s%d", ranges ? ", " : "", i);
        if (last > i)
            fprintf(out, "-%d", last);
        i = places->next[last];
    }
    if (left > 0)
        fprintf(out, " and %d more", left);
}

/* The other side of the blocking send or receive in which the rank is, else an empty text. */
static void peer_of(const struct pf_rank *r, char *text, size_t size)
{
    *text = 0;
    switch (r->call.fn) {
    case PF_FN_Send:
    case PF_FN_Ssend:
    case PF_FN_Rsend:
    case PF_FN_Bsend:
    case PF_FN_Recv:
    case PF_FN_Probe:
    case PF_FN_Mprobe:
    case PF_FN_Sendrecv:
    case PF_FN_Sendrecv_replace:
        peer_text(text, size, r->call.peer, r->call.tag);
        break;
    default:
        break;
    }
}

static const char *model_of(const struct pf_rank *r)
{
    bool probes = r->call.fn == PF_FN_Probe || r->call.fn == PF_FN_Mprobe; /* of whatever is sent first */
    return probes && r->call.model == PF_MODEL_COUNT ? "any" : pf_model_name(r->call.model);
}

static void print_call(FILE *out, const struct pf_rank *r, bool alone)
{
    char site[256], peer[64];
    peer_of(r, peer, sizeof peer);
    fprintf(out, " blocked in %s%s, model %s, at %s\n", pf_fn_name(r->call.fn), alone ? peer : "",
            model_of(r), pf_call_site_of(r, r->call.site, site, sizeof site));
    if (*peer && alone)
        print_messages(out, r, pf_comm_of((struct pf_rank *)(uintptr_t)r, r->call.comm));
}

/* A rank that has called Portals and not MPI. Refused messages are why others wait, more likely than not. */
static void print_portals(FILE *out, const struct pf_rank *r)
{
    const char *call = pf_portals_blocked_in(&r->self);
    struct pf_portals_counters counters;
    uint32_t nid = 0, pid = 0;
    if (!call && pf_portals_in_barrier(&r->self))
        call = "pf_portals_barrier";
    fprintf(out, "parfocal: rank %d ", r->self.rank);
    if (pf_portals_physical_id(r->self.rank, &nid, &pid))
        fprintf(out, "(nid %u, pid %u) ", nid, pid);
    if (r->state == PF_RANK_LEFT)
        fprintf(out, "has ended");
    else if (call)
        fprintf(out, "is blocked in %s", call);
    else
        fprintf(out, "is in no Portals call");
    pf_portals_counters(&r->self, &counters);
    fprintf(out, "; it has started %llu messages and refused %llu\n", (unsigned long long)counters.messages,
            (unsigned long long)counters.dropped);
}

/* Without end-to-end reliability a lost message leaves no other trace than a waiting rank, and without
 * room for its header, a message stays with its sender until the receiver has received others. */
static void print_vanished(FILE *out)
{
    unsigned long long count = 0;
    int headers = -1, buffers = -1;
    for (int i = 0; pf_job_state.ranks && i < pf_job_state.size; i++) {
        struct pf_portals_counters counters;
        pf_portals_counters(&pf_job_state.ranks[i].self, &counters);
        count += counters.vanished;
        headers = counters.no_header > 0 ? i : headers;
        buffers = counters.no_buffer > 0 ? i : buffers;
    }
    if (headers >= 0)
        fprintf(out,
                "parfocal: the NIC of rank %d was full: it keeps %lld messages that no rank has received "
                "(PARFOCAL_PTL_MAX_UNEXPECTED=N raises that)\n",
                headers, (long long)pf_config.ptl_max_unexpected);
    if (buffers >= 0)
        fprintf(
            out,
            "parfocal: the buffers of rank %d were full: Open MPI has %zu of %zu B for short messages that "
            "no rank has received (PARFOCAL_OPENMPI_SHORT_RECV_NUM=N raises that)\n",
            buffers, pf_config.openmpi_short_recv_num, pf_config.openmpi_short_recv_size);
    if (count > 0)
        fprintf(out,
                "parfocal: the network has lost %llu messages for good: PARFOCAL_NIC_E2E=no switches off the "
                "NIC's reliability\n",
                count);
}

/* The same call at the same place of a program: each rank has a copy of its own. */
static bool at_same_place(const struct pf_rank *a, const struct pf_rank *b)
{
    struct pf_image_place here = {0}, there = {0};
    if (a->state != b->state || a->call.fn != b->call.fn || a->call.model != b->call.model)
        return false;
    if (a->call.site == b->call.site)
        return pf_call_place_same(a, b);
    pf_loaded_where(a->call.site, &here);
    pf_loaded_where(b->call.site, &there);
    return here.offset == there.offset &&
           pf_job_program_of(a->self.rank) == pf_job_program_of(b->self.rank) && pf_call_place_same(a, b);
}

static void add_place(struct places *places, int rank)
{
    struct group *group = places->groups, *end = group + places->count;
    const struct pf_rank *ranks = pf_job_state.ranks;
    bool apart = pf_job_state.size <= RANKS_APART && ranks[rank].state != PF_RANK_NEW;
    while (group < end && (apart || !at_same_place(&ranks[group->first], &ranks[rank])))
        group++;
    if (group == end && places->count == GROUPS_SHOWN) {
        places->others++;
        return;
    }
    places->next[rank] = -1;
    if (group == end) {
        places->count++;
        *group = (struct group){.first = rank};
    } else {
        places->next[group->last] = rank;
    }
    group->last = rank;
    group->count++;
}

static void print_place(FILE *out, const struct places *places, const struct group *group)
{
    const struct pf_rank *r = &pf_job_state.ranks[group->first];
    char site[256];
    fprintf(out, group->count == 1 ? "parfocal: rank " : "parfocal: ranks ");
    print_ranges(out, places, group);
    fprintf(out, group->count == 1 ? " is" : " are");
    if (r->state == PF_RANK_NEW) {
        fprintf(out, " not past MPI_Init\n");
    } else if (r->call.model >= 0) {
        print_call(out, r, group->count == 1);
        print_requests(out, r);
    } else {
        fprintf(out, " not in an MPI call; the last one was %s at %s\n", pf_fn_name(r->call.fn),
                pf_call_site_of(r, r->call.site, site, sizeof site));
    }
}

/* Groups the ranks, and prints the first of those that have not called MPI; returns how many these are. */
static int look(FILE *out, struct places *places)
{
    int apart = 0;
    *places = (struct places){.next = pf_calloc((size_t)pf_job_state.size + 1, sizeof *places->next)};
    for (int i = 0; pf_job_state.ranks && i < pf_job_state.size; i++) {
        const struct pf_rank *r = &pf_job_state.ranks[i];
        if (apart < GROUPS_SHOWN && pf_upcalls.print_layer(out, &r->self)) {
            apart++;
        } else if (r->portals_program && (r->state == PF_RANK_NEW || r->state == PF_RANK_LEFT)) {
            if (apart++ < GROUPS_SHOWN)
                print_portals(out, r);
        } else if (r->state == PF_RANK_RUNNING || (r->state == PF_RANK_NEW && !r->self.shmem)) {
            add_place(places, i);
        }
    }
    return apart;
}

void pf_job_print_places(FILE *out)
{
    struct places places;
    print_vanished(out);
    int apart = look(out, &places);
    bool begun = pf_job_state.ranks && (places.groups[0].count < pf_job_state.size ||
                                        pf_job_state.ranks[places.groups[0].first].state != PF_RANK_NEW);
    for (int i = 0; begun && i < places.count; i++)
        print_place(out, &places, &places.groups[i]);
    if (places.others + apart > GROUPS_SHOWN)
        fprintf(out, "parfocal: and more ranks\n");
    free(places.next);
    pf_stranded_print(out);
}

/* The lines of a text, each without what begins it on a terminal. */
static json_t *lines_of(char *text)
{
    json_t *array = json_array();
    for (char *line; (line = strsep(&text, "\n"));)
        if (strncmp(line, "parfocal:", 9) == 0)
            json_array_append_new(array, json_string(line + 9 + strspn(line + 9, " ")));
    return array;
}

static json_t *place_object(const struct places *places, const struct group *group)
{
    const struct pf_rank *r = &pf_job_state.ranks[group->first];
    bool inside = r->state != PF_RANK_NEW && r->call.model >= 0;
    char site[256], peer[64], *ranks = NULL, *waits = NULL;
    size_t size;
    FILE *out = open_memstream(&ranks, &size);
    print_ranges(out, places, group);
    fclose(out);
    json_t *object = json_pack("{s:s, s:i, s:s}", "ranks", ranks, "count", group->count, "state",
                               r->state == PF_RANK_NEW ? "before MPI_Init"
                               : inside                ? "blocked"
                                                       : "outside of MPI");
    free(ranks);
    if (r->state == PF_RANK_NEW)
        return object;
    peer_of(r, peer, sizeof peer);
    json_object_set_new(object, "call", json_string(pf_fn_name(r->call.fn)));
    json_object_set_new(object, "site", json_string(pf_call_site_of(r, r->call.site, site, sizeof site)));
    if (!inside)
        return object;
    json_object_set_new(object, "model", json_string(model_of(r)));
    if (*peer && group->count == 1)
        json_object_set_new(object, "with", json_string(peer + 1));
    out = open_memstream(&waits, &size);
    print_requests(out, r);
    fclose(out);
    if (*waits)
        json_object_set_new(object, "waits_for", lines_of(waits));
    free(waits);
    return object;
}

json_t *pf_job_places(void)
{
    struct places places;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int apart = look(out, &places);
    fclose(out);
    json_t *array = json_array(), *lines = lines_of(text);
    for (int i = 0; i < places.count; i++)
        json_array_append_new(array, place_object(&places, &places.groups[i]));
    for (size_t i = 0; i < json_array_size(lines); i++)
        json_array_append_new(array, json_pack("{s:O}", "state", json_array_get(lines, i)));
    int more = places.others + (apart > GROUPS_SHOWN ? apart - GROUPS_SHOWN : 0);
    if (more)
        json_array_append_new(array, json_pack("{s:i, s:s}", "count", more, "state", "not looked at"));
    json_decref(lines);
    free(text);
    free(places.next);
    return array;
}
