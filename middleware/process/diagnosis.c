/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run that cannot go on says: which rank is blocked in what, and what it waits for. */
#include <stdio.h>

#include "lowlevel/portals/runtime.h"
#include "middleware/p2p/ledger.h"
#include "middleware/p2p/stranded.h"
#include "middleware/core/call.h"
#include "middleware/core/call_site.h"
#include "middleware/core/upcalls.h"
#include "middleware/p2p/request.h"
#include "middleware/p2p/wait_set.h"
#include "middleware/process/job.h"
#include "middleware/core/job_state.h"

/* As many requests of one call, and messages, as a reader takes in. */
#define REQUESTS_SHOWN 8
#define MESSAGES_SHOWN 4

static void peer_text(char *text, size_t size, int peer, int tag)
{
    char who[16], which[16];
    snprintf(who, sizeof who, peer == MPI_ANY_SOURCE ? "any" : "%d", peer);
    snprintf(which, sizeof which, tag == MPI_ANY_TAG ? "any" : "%d", tag);
    snprintf(text, size, " (peer %s, tag %s)", who, which);
}

/* What was sent to the rank on this communicator and not received (-agree follow). */
static void print_messages(FILE *out, const struct pf_rank *r, const struct pf_comm *comm)
{
    char site[256];
    int shown = 0;
    if (!comm || !comm->shared->boxes)
        return;
    const struct pf_ledger_entry *e = pf_ledger_entry_of(comm->shared->boxes[comm->me].sends.all.first);
    for (; e && shown < MESSAGES_SHOWN; e = pf_ledger_entry_of(e->envelope.next), shown++)
        fprintf(out, "parfocal:   not received: rank %d sent tag %d to rank %d in model %s (%s at %s)\n",
                e->sender, e->envelope.tag, r->self.rank, pf_model_name(e->model), pf_fn_name(e->fn),
                pf_call_site(e->site, site, sizeof site));
    if (e)
        fprintf(out, "parfocal:   and more\n");
}

static void print_requests(FILE *out, const struct pf_rank *r)
{
    const struct pf_wait_set *set = r->call.waits;
    char site[256], peer[64] = "";
    int shown = 0;
    for (int i = 0; set && i < set->count && shown < REQUESTS_SHOWN; i++) {
        const struct pf_request *request = set->requests[i];
        if (!pf_request_is_active(request))
            continue;
        bool p2p = request->kind != PF_REQUEST_COLLECTIVE && request->kind != PF_REQUEST_RMA &&
                   request->kind != PF_REQUEST_FILE;
        if (p2p)
            peer_text(peer, sizeof peer, request->peer, request->tag);
        fprintf(out, "parfocal:   rank %d waits for %s%s, model %s, started at %s\n", r->self.rank,
                pf_fn_name(request->fn), p2p ? peer : "", pf_model_name(request->owner->model),
                pf_call_site(request->site, site, sizeof site));
        if (p2p && pf_request_receives(request) && shown == 0)
            print_messages(out, r, request->comm);
        shown++;
    }
    if (set && set->active > shown)
        fprintf(out, "parfocal:   and for %d more\n", set->active - shown);
}

static void print_call(FILE *out, const struct pf_rank *r)
{
    char site[256], peer[64] = "";
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
        peer_text(peer, sizeof peer, r->call.peer, r->call.tag);
        break;
    default:
        break;
    }
    bool probes = r->call.fn == PF_FN_Probe || r->call.fn == PF_FN_Mprobe; /* of whatever is sent first */
    const char *model = probes && r->call.model == PF_MODEL_COUNT ? "any" : pf_model_name(r->call.model);
    fprintf(out, "parfocal: rank %d is blocked in %s%s, model %s, at %s\n", r->self.rank,
            pf_fn_name(r->call.fn), peer, model, pf_call_site(r->call.site, site, sizeof site));
    if (*peer)
        print_messages(out, r, pf_comm_of((struct pf_rank *)(uintptr_t)r, r->call.comm));
}

/* A rank that has called Portals and not MPI. Refused messages are why others wait, more likely than not. */
static bool print_portals(FILE *out, const struct pf_rank *r)
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
    return call;
}

/* Without end-to-end reliability a lost message leaves no other trace than that somebody waits. */
static void print_vanished(FILE *out)
{
    unsigned long long count = 0;
    for (int i = 0; pf_job_state.ranks && i < pf_job_state.size; i++) {
        struct pf_portals_counters counters;
        pf_portals_counters(&pf_job_state.ranks[i].self, &counters);
        count += counters.vanished;
    }
    if (count > 0)
        fprintf(out,
                "parfocal: the network has lost %llu messages for good: PARFOCAL_NIC_E2E=no switches off the "
                "NIC's reliability\n",
                count);
}

int pf_job_print_blocked(FILE *out)
{
    int count = 0;
    print_vanished(out);
    for (int i = 0; pf_job_state.ranks && i < pf_job_state.size; i++) {
        const struct pf_rank *r = &pf_job_state.ranks[i];
        if (pf_upcalls.print_layer(out, &r->self)) {
            count++;
            continue;
        }
        if (r->portals_program && (r->state == PF_RANK_NEW || r->state == PF_RANK_LEFT))
            count += print_portals(out, r);
        if (r->state != PF_RANK_RUNNING)
            continue;
        if (r->call.model >= 0) {
            print_call(out, r);
            print_requests(out, r);
            count++;
        } else {
            fprintf(out, "parfocal: rank %d is not in an MPI call; its last one was %s\n", r->self.rank,
                    pf_fn_name(r->call.fn));
        }
    }
    pf_stranded_print(out);
    return count;
}
