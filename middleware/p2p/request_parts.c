/* SPDX-License-Identifier: BSD-3-Clause */
/* A request of the application that several native ones of the same owner stand for. */
#include <stdlib.h>

#include "middleware/comm/routing.h"
#include "middleware/p2p/request.h"
#include "base/memory.h"

struct parts {
    int count;
    pf_native_request_t natives[];
};

static bool parts_ready(struct pf_request *request)
{
    const struct parts *parts = request->own_data;
    struct pf_instance *in = request->owner;
    for (int i = 0; i < parts->count; i++)
        if (parts->natives[i] != in->values->request_null && !in->ops->request_done(in, parts->natives[i]))
            return false;
    return true;
}

/* Also the way to finish: it then returns at once. */
static bool parts_wait(struct pf_request *request)
{
    struct parts *parts = request->own_data;
    struct pf_instance *in = request->owner;
    int code = MPI_SUCCESS;
    if (parts->count > 0) {
        pf_call_native_begin(request->rank, in);
        code = pf_native_code(in, in->fn->Waitall(parts->count, parts->natives, NULL));
        pf_call_native_end(request->rank, in);
    }
    pf_status_set_empty(&request->status);
    request->error = code == MPI_SUCCESS ? MPI_SUCCESS : in->ops->error_class(in, code);
    request->status.MPI_ERROR = request->error;
    request->done = true;
    pf_call_reset_polls();
    return true;
}

static void parts_finish(struct pf_request *request)
{
    parts_wait(request);
}

/* The operation goes on, and its communicator must stay: kept until MPI_Finalize. */
static void parts_abandon(struct pf_request *request)
{
    request->abandoned = true;
}

/* A collective operation cannot be cancelled: MPI 3.1 section 5.12. */
static int parts_cancel(struct pf_request *request)
{
    return MPI_ERR_REQUEST;
}

static void parts_release(struct pf_request *request)
{
    free(request->own_data);
}

static const struct pf_request_own own_parts = {
    .size = sizeof own_parts,
    .ready = parts_ready,
    .finish = parts_finish,
    .test = pf_request_own_test,
    .wait = parts_wait,
    .abandon = parts_abandon,
    .cancel = parts_cancel,
    .release = parts_release,
};

struct pf_request *pf_request_new_parts(struct pf_rank *r, struct pf_instance *in, MPI_Comm comm, int count,
                                        pf_native_request_t **natives)
{
    struct pf_request *request = pf_request_new(r, in, PF_REQUEST_OWN, comm);
    struct parts *parts = pf_calloc(1, sizeof *parts + (size_t)count * sizeof parts->natives[0]);
    request->own = &own_parts;
    request->own_data = parts;
    *natives = parts->natives;
    return request;
}

int pf_request_parts_started(struct pf_rank *r, struct pf_instance *in, struct pf_request *request, int count,
                             MPI_Comm comm, int code, MPI_Request *handle)
{
    ((struct parts *)request->own_data)->count = count;
    *handle = MPI_REQUEST_NULL;
    if (code == MPI_SUCCESS)
        *handle = (MPI_Request)(uintptr_t)request;
    else
        pf_request_release(request);
    return pf_call_leave(r, in, comm, code);
}
