/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a call through the layer: in, on to the middleware, and out. */
#include <stdlib.h>

#include "middleware/check/internal.h"
#include "middleware/core/upcalls.h"
#include "middleware/core/job_state.h"
#include "base/memory.h"

/* So many completed requests of a rank keep their memory, so that their addresses do not come back. The same
 * for the other objects of all ranks. */
#define KEPT_REQUESTS 1024
#define KEPT_OBJECTS  65536

/* Objects that have been freed, in a ring. */
static void **objects;
static unsigned next_object;

static void keep_object(void *object)
{
    if (!objects)
        objects = pf_calloc(KEPT_OBJECTS, sizeof *objects);
    void **place = &objects[next_object++ % KEPT_OBJECTS];
    free(*place);
    *place = object;
    const pf_self_t *self = pf_self();
    struct pf_rank *r = self ? self->mpi : NULL;
    if (r && r->check)
        pf_check_gone(r, object);
}

/* Requests that calls by PMPI_ names have completed since the last call that the layer has seen: they are in
 * front of the one that it has put there. */
static void note_completed(struct pf_rank *r)
{
    for (struct pf_request *q = r->free_requests; q && q != r->check->oldest; q = q->next_free) {
        struct pf_check_record *record = pf_check_find(r, q);
        if (record && record->references == 0)
            break;
        if (!record)
            continue;
        pf_check_gone(r, q);
        pf_check_unuse(r, record);
        record->references = 0;
    }
}

bool pf_check_start(struct pf_rank *r)
{
    if (!pf_check_on)
        return false;
    r->check = pf_calloc(1, sizeof *r->check);
    r->check->kept_end = &r->check->kept;
    pf_object_keep = keep_object;
    pf_upcalls.comm_ends = pf_check_comm_ends;
    pf_upcalls.posted = pf_check_posted;
    pf_upcalls.met = pf_check_met;
    pf_upcalls.note_released = pf_check_note_release;
    return true;
}

/* A function that the application must not call any more: unlike other findings there is no way to go on. */
static void refuse_finalized(struct pf_rank *r, int fn, const void *site) __attribute__((noreturn));
static void refuse_finalized(struct pf_rank *r, int fn, const void *site)
{
    pf_check_found(PF_CHECK_FINALIZED, r, "%s, after MPI_Finalize", pf_check_place_text(fn, site));
    pf_job_abort(r->self.rank, pf_check_status(0));
}

bool pf_check_enter(struct pf_check_call *call, int fn, const void *site)
{
    if (!pthread_equal(pthread_self(), pf_job_state.thread))
        return false;
    pf_self_t *self = pf_self();
    struct pf_rank *r = self ? self->mpi : NULL;
    if (!r || !r->check)
        return false;
    site = pf_call_site_of_layer(r, site);
    if (r->state == PF_RANK_FINALIZED)
        refuse_finalized(r, fn, site);
    *call = (struct pf_check_call){
        .rank = r, .fn = fn, .site = site, .outer = r->entry_site, .comm = MPI_COMM_WORLD};
    call->previous = r->check->call;
    r->check->call = call;
    call->collective = (struct pf_check_collective){.root = -1, .bytes = -1, .elements = -1, .own = -1};
    r->check->calls++;
    r->entry_site = site;
    note_completed(r);
    return true;
}

/* Requests that the call has released do not come back at once. A call makes one at most in general: so many
 * may come back. */
static void keep_requests(struct pf_rank *r)
{
    struct pf_check *check = r->check;
    struct pf_request *q, *next;
    for (q = r->free_requests; q && q != check->oldest; q = next) {
        next = q->next_free;
        q->next_free = NULL;
        *check->kept_end = q;
        check->kept_end = &q->next_free;
        check->kept_count++;
    }
    if (!q && check->kept_count > KEPT_REQUESTS) {
        q = check->kept;
        check->kept = q->next_free;
        check->kept_count--;
        q->next_free = NULL;
    }
    r->free_requests = check->oldest = q;
}

int pf_check_leave(struct pf_check_call *call, int code)
{
    struct pf_rank *r = call->rank;
    struct pf_check_meeting *none = NULL;
    r->entry_site = call->outer;
    pf_check_await(call, &call->notes[0], &none);
    pf_check_await(call, &call->notes[1], &call->meeting);
    r->check->call = call->previous;
    if (call->child)
        pf_check_scope_release(call->child);
    keep_requests(r);
    return code;
}

int pf_check_refuse(struct pf_check_call *call)
{
    struct pf_rank *r = pf_call_enter(call->fn, call->site);
    return pf_check_leave(call, pf_call_error(r, call->comm, call->refused));
}
