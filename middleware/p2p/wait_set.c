/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests of one wait or test, sorted by owner. */
#include "middleware/p2p/wait_set.h"

#include <stdlib.h>
#include <string.h>

#include "middleware/p2p/stranded.h"
#include "middleware/comm/routing.h"
#include "base/memory.h"

static void make_room(struct pf_wait_set *set, int count)
{
    set->heap = NULL;
    set->requests = set->stack_requests;
    set->natives = set->stack_natives;
    set->index = set->stack_index;
    set->statuses = set->stack_statuses;
    if (count <= PF_WAIT_STACK)
        return;
    size_t n = (size_t)count;
    char *room = pf_malloc(n * (sizeof(union pf_native_status) + 2 * sizeof(void *) + sizeof(int)));
    set->heap = room;
    set->statuses = (union pf_native_status *)room;
    set->requests = (struct pf_request **)(room + n * sizeof(union pf_native_status));
    set->natives = (pf_native_request_t *)(set->requests + n);
    set->index = (int *)(set->natives + n);
}

int pf_wait_set_open(struct pf_wait_set *set, struct pf_rank *r, int count, MPI_Request handles[])
{
    if (count < 0 || (count > 0 && !handles))
        return count < 0 ? MPI_ERR_ARG : MPI_ERR_REQUEST;
    set->rank = r;
    set->count = count;
    set->handles = handles;
    set->active = set->done = set->own = set->parts = 0;
    set->owner = NULL;
    set->failed = MPI_COMM_WORLD;
    make_room(set, count);
    bool several = false;
    for (int i = 0; i < count; i++) {
        struct pf_request *request = pf_request_of(handles[i]);
        if (!request && handles[i] != MPI_REQUEST_NULL) {
            pf_wait_set_close(set);
            return MPI_ERR_REQUEST;
        }
        set->requests[i] = request;
        if (!request)
            continue;
        set->done += request->done;
        if (!pf_request_is_active(request))
            continue;
        several |= request->own || (set->owner && set->owner->impl != request->owner->impl);
        set->own += request->own != NULL;
        if (!set->owner)
            set->owner = request->owner;
        set->active++;
    }
    if (several)
        set->owner = NULL;
    r->call.waits = set;
    return MPI_SUCCESS;
}

void pf_wait_set_close(struct pf_wait_set *set)
{
    set->rank->call.waits = NULL;
    free(set->heap);
}

struct pf_instance *pf_wait_set_owner(const struct pf_wait_set *set, int impl)
{
    if (set->owner)
        return set->owner->impl == impl ? set->owner : NULL;
    for (int i = 0; i < set->count; i++)
        if (pf_request_is_active(set->requests[i]) && set->requests[i]->owner->impl == impl)
            return set->requests[i]->owner;
    return NULL;
}

int pf_wait_set_part(struct pf_wait_set *set, const struct pf_instance *in)
{
    int n = 0;
    for (int i = 0; i < set->count; i++) {
        if (!pf_request_is_active(set->requests[i]) || set->requests[i]->owner->impl != in->impl ||
            set->requests[i]->own)
            continue;
        set->natives[n] = set->requests[i]->native;
        set->index[n++] = i;
    }
    set->parts = n;
    return n;
}

/* The error of a request, which its status has when it was one of several, or when SMPI forgets to return it.
 */
static int error_of(struct pf_instance *in, const void *status, int code)
{
    int error = code == MPI_SUCCESS ? MPI_SUCCESS : in->ops->error_class(in, code);
    if (error != MPI_ERR_IN_STATUS && (error != MPI_SUCCESS || !in->values->status_has_error))
        return error;
    struct pf_native_status_view view;
    in->ops->status_get(status, &view);
    return view.error == MPI_SUCCESS ? MPI_SUCCESS : in->ops->error_class(in, view.error);
}

/* The native part of completion: the status in the middleware's terms, and what is left of a persistent
 * request. */
static void complete(struct pf_rank *r, struct pf_instance *in, struct pf_request *request,
                     const void *status, int error)
{
    pf_status_from_native(in, status, &request->status);
    request->error = error != MPI_SUCCESS ? error : request->error; /* or that with which it began */
    request->status.MPI_ERROR = request->error;
    request->done = true;
    pf_ledger_completed(&request->side, &request->status);
    if (request->persistent && request->native && request->native != in->values->request_null)
        in->fn->Request_free(&request->native);
    pf_stranded_received(r, request->owner, request);
    pf_call_reset_polls();
}

void pf_wait_set_complete(struct pf_wait_set *set, struct pf_instance *in, struct pf_request *request, int i,
                          int code)
{
    const void *status = pf_native_status_at(in, set->statuses, i);
    int error = error_of(in, status, code);
    if (error == MPI_ERR_PENDING) /* another request of the call has failed, and Open MPI has not waited */
        return;
    complete(set->rank, in, request, status, error);
    set->active--;
    set->done++;
}

void pf_wait_set_done(struct pf_wait_set *set, struct pf_instance *in, int i, int code)
{
    struct pf_request *request = set->requests[set->index[i]];
    request->native = set->natives[i];
    pf_wait_set_complete(set, in, request, i, code);
}

int pf_wait_set_deliver(struct pf_wait_set *set, int i, MPI_Status *status)
{
    struct pf_request *request = set->requests[i];
    int error = MPI_SUCCESS;
    if (!request || !request->done) { /* null or inactive: MPI 3.1 section 3.7.3 */
        if (status)
            pf_status_set_empty(status);
        return MPI_SUCCESS;
    }
    if (status) {
        int before = status->MPI_ERROR; /* only calls with several statuses set it */
        *status = request->status;
        status->MPI_ERROR = before;
    }
    error = request->error;
    /* A communicator that only the request keeps alive has no handler any more. */
    if (error != MPI_SUCCESS && request->comm && request->comm->object.references > 1)
        set->failed = pf_comm_handle(request->comm);
    pf_request_completed(request, &set->handles[i]);
    set->done--;
    return error;
}

void pf_request_finish(struct pf_request *request)
{
    struct pf_instance *in = request->owner;
    union pf_native_status status;
    int code = in->fn->Wait(&request->native, &status);
    complete(request->rank, in, request, &status, error_of(in, &status, code));
}

void pf_request_try(struct pf_request *request)
{
    struct pf_rank *r = request->rank;
    struct pf_instance *in = request->owner;
    pf_call_native_begin(r, in);
    in->ops->progress(in);
    if (request->own) {
        bool ready = request->own->ready(request);
        pf_call_native_end(r, in);
        if (ready)
            request->own->finish(request);
        return;
    }
    if (in->ops->request_done(in, request->native))
        pf_request_finish(request);
    pf_call_native_end(r, in);
}

/* Is request `i` one that the middleware has yet to complete? */
static bool waits_for_own(const struct pf_wait_set *set, int i)
{
    return pf_request_is_active(set->requests[i]) && set->requests[i]->own;
}

static void wait_alone(struct pf_rank *r, MPI_Request *handle)
{
    const struct pf_wait_set *waits = r->call.waits;
    struct pf_wait_set alone;
    pf_wait_set_open(&alone, r, 1, handle);
    pf_wait_mixed(&alone);
    pf_wait_set_close(&alone);
    r->call.waits = waits;
}

void pf_wait_set_block_own(struct pf_wait_set *set)
{
    for (int i = 0; set->own && i < set->count; i++) {
        if (!waits_for_own(set, i))
            continue;
        if (!set->requests[i]->own->wait(set->requests[i]))
            wait_alone(set->rank, &set->handles[i]);
        set->active--;
        set->done++;
    }
}

void pf_request_own_test(struct pf_request *request)
{
    pf_request_try(request);
    if (request->done)
        return;
    if (request->owner->values->charges_tests) /* no native test has */
        request->owner->ops->idle(request->owner);
    pf_call_idle(request->rank, request->owner);
}

void pf_wait_set_try_own(struct pf_wait_set *set)
{
    for (int i = 0; set->own && i < set->count; i++) {
        if (!waits_for_own(set, i))
            continue;
        set->requests[i]->own->test(set->requests[i]);
        if (set->requests[i]->done) {
            set->active--;
            set->done++;
        }
    }
}
