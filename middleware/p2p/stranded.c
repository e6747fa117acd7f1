/* SPDX-License-Identifier: BSD-3-Clause */
/* A record of messages in strict agreement, to name the one that never meets its receive. */
#include "middleware/p2p/stranded.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "middleware/comm/routing.h"
#include "middleware/core/call_site.h"
#include "middleware/p2p/request.h"
#include "middleware/p2p/wait_set.h"
#include "middleware/core/job_state.h"

/* One message on its way to a rank. */
struct envelope {
    int comm;        /* id of the middleware */
    int source, tag; /* rank in that communicator */
    int sender;      /* rank in the world */
    int model;
    int fn;
    const void *site;
};

/* Of one receiver: the messages not yet received, oldest first. The oldest are forgotten beyond the limit. */
#define ENVELOPE_LIMIT 4096

struct pf_unreceived {
    int count, capacity;
    struct envelope *envelopes;
};

static struct pf_unreceived *unreceived_of(struct pf_rank *r)
{
    if (!r->unreceived)
        r->unreceived = pf_calloc(1, sizeof *r->unreceived);
    return r->unreceived;
}

static void drop(struct pf_unreceived *list, int at)
{
    for (int i = at + 1; i < list->count; i++)
        list->envelopes[i - 1] = list->envelopes[i];
    list->count--;
}

void pf_stranded_note_sent(struct pf_rank *r, struct pf_instance *in, MPI_Comm handle, int peer, int tag)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm || peer >= pf_comm_peers(comm))
        return;
    struct pf_unreceived *list =
        unreceived_of(&pf_job_state.ranks[pf_comm_peer_side(comm)->world_ranks[peer]]);
    if (list->count == ENVELOPE_LIMIT)
        drop(list, 0);
    PF_ARRAY_ROOM(list->envelopes, list->capacity, list->count + 1);
    list->envelopes[list->count++] = (struct envelope){.comm = comm->shared->first->id,
                                                       .source = comm->me,
                                                       .tag = tag,
                                                       .sender = r->self.rank,
                                                       .model = in->model,
                                                       .fn = r->call.fn,
                                                       .site = r->call.site};
}

/* Models that share an implementation share its matching, so such a message does arrive. */
static void die_of_mixing(const struct pf_rank *r, const struct pf_instance *in, const struct envelope *e)
{
    char here[128], there[128];
    pf_die(
        "stranded message: rank %d sent tag %d to rank %d in model %s (%s at %s), but rank %d received it in "
        "model %s (%s at %s); switch both sides at the same point of the program",
        e->sender, e->tag, r->self.rank, pf_model_name(e->model), pf_fn_name(e->fn),
        pf_call_site(e->site, there, sizeof there), r->self.rank, pf_model_name(in->model),
        pf_fn_name(r->call.fn), pf_call_site_of(r, r->call.site, here, sizeof here));
}

void pf_stranded_note_received(struct pf_rank *r, struct pf_instance *in, struct pf_comm *comm, int source,
                               int tag)
{
    struct pf_unreceived *list = r->unreceived;
    const struct envelope *mixed = NULL;
    if (!comm || !list)
        return;
    for (int i = 0; i < list->count; i++) {
        const struct envelope *e = &list->envelopes[i];
        if (pf_model_impl(e->model) != in->impl || e->comm != comm->shared->first->id ||
            e->source != source || e->tag != tag)
            continue;
        if (e->model == in->model) {
            drop(list, i);
            return;
        }
        mixed = mixed ? mixed : e; /* or an older one, whose receive has not been waited for yet */
    }
    if (mixed)
        die_of_mixing(r, in, mixed);
}

void pf_stranded_received(struct pf_rank *r, struct pf_instance *in, const struct pf_request *request)
{
    const MPI_Status *status = &request->status; /* one that was cancelled says nothing of a message */
    if (!r->unreceived || status->MPI_SOURCE < 0 || pf_status_cancelled(status))
        return;
    if (pf_request_receives(request))
        pf_stranded_note_received(r, in, request->comm, status->MPI_SOURCE, status->MPI_TAG);
}

void pf_call_received(struct pf_rank *r, struct pf_instance *in, MPI_Comm comm, int source,
                      const void *native, MPI_Status *status)
{
    MPI_Status own;
    int before =
        status ? status->MPI_ERROR : 0; /* a single status keeps its error field (MPI 3.1 section 3.2.5) */
    if (!status)
        status = &own;
    pf_status_from_native(in, native, status);
    status->MPI_ERROR = before;
    if (source >= 0) /* SMPI has another value when a rank sends to itself */
        status->MPI_SOURCE = source;
    if (r->unreceived && status->MPI_SOURCE >= 0)
        pf_stranded_note_received(r, in, pf_comm_of(r, comm), status->MPI_SOURCE, status->MPI_TAG);
}

static bool matches(const struct pf_comm *comm, int peer, int tag, const struct envelope *e)
{
    return comm && comm->shared->id == e->comm && (peer == e->source || peer == MPI_ANY_SOURCE) &&
           (tag == e->tag || tag == MPI_ANY_TAG);
}

/* Does the rank's blocked call wait, in another implementation, for such a message? */
static bool awaits(struct pf_rank *r, const struct envelope *e)
{
    if (r->state != PF_RANK_RUNNING || r->call.model < 0)
        return false;
    const struct pf_wait_set *set = r->call.waits;
    for (int i = 0; set && i < set->count; i++) {
        const struct pf_request *request = set->requests[i];
        if (pf_request_is_active(request) && request->owner->model != e->model &&
            pf_request_receives(request) && matches(request->comm, request->peer, request->tag, e))
            return true;
    }
    switch (r->call.fn) {
    case PF_FN_Recv:
    case PF_FN_Probe:
    case PF_FN_Iprobe:
    case PF_FN_Sendrecv:
    case PF_FN_Sendrecv_replace:
        return r->call.model != e->model &&
               matches(pf_comm_of(r, r->call.comm), r->call.peer, r->call.tag, e);
    default:
        return false;
    }
}

int pf_stranded_print(FILE *out)
{
    int count = 0;
    char here[128], there[128];
    for (int i = 0; i < pf_job_state.size; i++) {
        struct pf_rank *r = &pf_job_state.ranks[i];
        for (int j = 0; r->unreceived && j < r->unreceived->count; j++) {
            const struct envelope *e = &r->unreceived->envelopes[j];
            if (!awaits(r, e))
                continue;
            fprintf(out,
                    "parfocal: stranded message: rank %d sent tag %d to rank %d in model %s (%s at %s), but "
                    "rank %d waits in "
                    "model %s (%s at %s); switch both sides at the same point of the program\n",
                    e->sender, e->tag, i, pf_model_name(e->model), pf_fn_name(e->fn),
                    pf_call_site(e->site, there, sizeof there), i, pf_model_name(r->call.model),
                    pf_fn_name(r->call.fn), pf_call_site_of(r, r->call.site, here, sizeof here));
            count++;
        }
    }
    return count;
}
