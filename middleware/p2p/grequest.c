/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generalized requests (MPI 3.1 section 12.2): the application does the work and reports its end. The
 * middleware keeps them. A rank that waits for one that is not complete parks; since no other rank may make
 * its MPI calls, the run then ends with a diagnosis instead of spinning.
 *
 * Started in SMPI, each has an empty native one as well: what a test costs there depends on the
 * tests before, which only SMPI knows.
 */
#include <stdlib.h>

#include "middleware/comm/routing.h"
#include "middleware/p2p/request.h"
#include "base/memory.h"

struct grequest {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra_state;
    bool complete;
};

static int query_nothing(void *state, union pf_native_status *status)
{
    return 0;
}

static int free_nothing(void *state)
{
    return 0;
}

static int cancel_nothing(void *state, int complete)
{
    return 0;
}

static void shadow_start(struct pf_request *request)
{
    struct pf_instance *in = request->owner;
    if (!in->values->charges_tests)
        return;
    pf_call_native_begin(request->rank, in);
    in->fn->Grequest_start(query_nothing, free_nothing, cancel_nothing, NULL, &request->native);
    pf_call_native_end(request->rank, in);
}

static bool has_shadow(const struct pf_request *request)
{
    return request->native && request->native != request->owner->values->request_null;
}

static void shadow_complete(struct pf_request *request)
{
    struct pf_instance *in = request->owner;
    if (!has_shadow(request))
        return;
    pf_call_native_begin(request->rank, in);
    in->fn->Grequest_complete(request->native);
    pf_call_native_end(request->rank, in);
}

/* A complete one goes, at no cost. */
static void shadow_end(struct pf_request *request)
{
    struct pf_instance *in = request->owner;
    if (!has_shadow(request))
        return;
    pf_call_native_begin(request->rank, in);
    in->fn->Wait(&request->native, NULL);
    pf_call_native_end(request->rank, in);
    request->native = NULL;
}

static bool grequest_ready(struct pf_request *request)
{
    return ((const struct grequest *)request->own_data)->complete;
}

static void grequest_finish(struct pf_request *request)
{
    const struct grequest *g = request->own_data;
    shadow_end(request);
    pf_status_set_empty(&request->status);
    request->error = g->query(g->extra_state, &request->status);
    request->status.MPI_ERROR = request->error;
    request->done = true;
    pf_call_reset_polls();
}

static void grequest_test(struct pf_request *request)
{
    struct pf_instance *in = request->owner;
    int flag = 0;
    if (!has_shadow(request)) {
        pf_request_own_test(request);
        return;
    }
    pf_call_native_begin(request->rank, in);
    in->fn->Test(&request->native, &flag, NULL);
    pf_call_native_end(request->rank, in);
    if (grequest_ready(request))
        grequest_finish(request);
    else
        pf_call_idle(request->rank, in);
}

static bool grequest_wait(struct pf_request *request)
{
    bool ready = grequest_ready(request);
    if (ready)
        grequest_finish(request);
    return ready;
}

static void grequest_abandon(struct pf_request *request)
{
    request->abandoned = true;
    if (grequest_ready(request))
        pf_request_release(request);
}

static int grequest_cancel(struct pf_request *request)
{
    const struct grequest *g = request->own_data;
    return g->cancel(g->extra_state, g->complete);
}

static void grequest_release(struct pf_request *request)
{
    const struct grequest *g = request->own_data;
    shadow_end(request);
    g->free(g->extra_state);
    free(request->own_data);
}

static const struct pf_request_own own_grequest = {
    .size = sizeof own_grequest,
    .ready = grequest_ready,
    .finish = grequest_finish,
    .test = grequest_test,
    .wait = grequest_wait,
    .abandon = grequest_abandon,
    .cancel = grequest_cancel,
    .release = grequest_release,
};

int pf_PMPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                           MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request)
{
    struct pf_rank *r = PF_ENTER(Grequest_start);
    if (!query_fn || !free_fn || !cancel_fn || !request)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    struct grequest *g = pf_malloc(sizeof *g);
    *g = (struct grequest){query_fn, free_fn, cancel_fn, extra_state, false};
    struct pf_request *made = pf_request_new(r, r->active, PF_REQUEST_OWN, MPI_COMM_NULL);
    made->own = &own_grequest;
    made->own_data = g;
    shadow_start(made);
    *request = (MPI_Request)(uintptr_t)made;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Grequest_complete(MPI_Request handle)
{
    struct pf_rank *r = PF_ENTER(Grequest_complete);
    struct pf_request *request = pf_request_of(handle);
    if (!request || request->own != &own_grequest)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_REQUEST);
    ((struct grequest *)request->own_data)->complete = true;
    shadow_complete(request);
    if (request->abandoned)
        pf_request_release(request);
    return pf_call_return(r, MPI_SUCCESS);
}
