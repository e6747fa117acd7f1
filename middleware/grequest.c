/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generalized requests (MPI 3.1 section 12.2): the application does the work and says when it is done. Only
 * the hub knows of them. A rank that waits for one that is not complete parks; since nobody else may make its
 * MPI calls, the run then ends with a diagnosis instead of spinning.
 */
#include <stdlib.h>

#include "middleware/call.h"
#include "middleware/request.h"

struct grequest {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra_state;
    bool complete;
};

static bool grequest_ready(struct pf_request *request)
{
    return ((const struct grequest *)request->hub_data)->complete;
}

static void grequest_finish(struct pf_request *request)
{
    const struct grequest *g = request->hub_data;
    pf_status_set_empty(&request->status);
    request->error = g->query(g->extra_state, &request->status);
    request->status.MPI_ERROR = request->error;
    request->done = true;
    pf_call_reset_polls();
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
    const struct grequest *g = request->hub_data;
    return g->cancel(g->extra_state, g->complete);
}

static void grequest_release(struct pf_request *request)
{
    const struct grequest *g = request->hub_data;
    g->free(g->extra_state);
    free(request->hub_data);
}

static const struct pf_request_hub hub_grequest = {
    .size = sizeof hub_grequest,
    .ready = grequest_ready,
    .finish = grequest_finish,
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
    struct grequest *g = malloc(sizeof *g);
    *g = (struct grequest){query_fn, free_fn, cancel_fn, extra_state, false};
    struct pf_request *made = pf_request_new(r, r->active, PF_REQUEST_HUB, MPI_COMM_NULL);
    made->hub = &hub_grequest;
    made->hub_data = g;
    *request = (MPI_Request)(uintptr_t)made;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Grequest_complete(MPI_Request handle)
{
    struct pf_rank *r = PF_ENTER(Grequest_complete);
    struct pf_request *request = pf_request_of(handle);
    if (!request || request->hub != &hub_grequest)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_REQUEST);
    ((struct grequest *)request->hub_data)->complete = true;
    if (request->abandoned)
        pf_request_release(request);
    return pf_call_return(r, MPI_SUCCESS);
}
