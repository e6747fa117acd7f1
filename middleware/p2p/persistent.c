/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent requests. While inactive they have no owner: the middleware keeps the arguments, and
 * MPI_Start makes a native request in the model in force. It is made again at each start, because SMPI packs
 * a derived datatype when a request is initialised and Open MPI repeats the old data of a buffered one.
 */
#include <stdlib.h>

#include "middleware/p2p/stranded.h"
#include "middleware/comm/routing.h"
#include "middleware/datatype/datatype.h"
#include "middleware/p2p/bsend.h"
#include "middleware/p2p/request.h"
#include "base/memory.h"

static int persistent_init(struct pf_rank *r, const void *buffer, int count, MPI_Datatype datatype, int peer,
                           int tag, MPI_Comm handle, MPI_Request *request)
{
    bool receive = r->call.fn == PF_FN_Recv_init;
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm)
        return pf_call_error(r, handle, MPI_ERR_COMM);
    if (count < 0)
        return pf_call_error(r, handle, MPI_ERR_COUNT);
    const struct pf_datatype *derived = pf_datatype_of(datatype);
    if (pf_datatype_size(datatype) < 0 || datatype == MPI_DATATYPE_NULL || (derived && !derived->committed))
        return pf_call_error(r, handle, MPI_ERR_TYPE);
    if (tag < 0 && !(receive && tag == MPI_ANY_TAG))
        return pf_call_error(r, handle, MPI_ERR_TAG);
    if ((peer < 0 || peer >= pf_comm_peers(comm)) && peer != MPI_PROC_NULL &&
        !(receive && peer == MPI_ANY_SOURCE))
        return pf_call_error(r, handle, MPI_ERR_RANK);
    if (!request)
        return pf_call_error(r, handle, MPI_ERR_REQUEST);
    if (pf_datatype_lacks_buffer(buffer, count, datatype))
        return pf_call_error(r, handle, MPI_ERR_BUFFER);
    struct pf_persistent *recipe = pf_malloc(sizeof *recipe);
    *recipe = (struct pf_persistent){
        .fn = r->call.fn, .buffer = buffer, .count = count, .datatype = datatype, .peer = peer, .tag = tag};
    pf_datatype_retain(datatype);
    struct pf_request *made = pf_request_new(r, NULL, PF_REQUEST_PERSISTENT, handle);
    made->persistent = recipe;
    *request = (MPI_Request)(uintptr_t)made;
    return pf_call_return(r, MPI_SUCCESS);
}

void pf_persistent_release(struct pf_request *request)
{
    struct pf_persistent *recipe = request->persistent;
    pf_datatype_release(recipe->datatype);
    free(recipe);
    request->persistent = NULL;
}

int pf_PMPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      MPI_Request *request)
{
    return persistent_init(PF_ENTER(Send_init), buf, count, datatype, dest, tag, comm, request);
}

int pf_PMPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                       MPI_Request *request)
{
    return persistent_init(PF_ENTER(Bsend_init), buf, count, datatype, dest, tag, comm, request);
}

int pf_PMPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                       MPI_Request *request)
{
    return persistent_init(PF_ENTER(Ssend_init), buf, count, datatype, dest, tag, comm, request);
}

int pf_PMPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                       MPI_Request *request)
{
    return persistent_init(PF_ENTER(Rsend_init), buf, count, datatype, dest, tag, comm, request);
}

int pf_PMPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                      MPI_Request *request)
{
    return persistent_init(PF_ENTER(Recv_init), buf, count, datatype, source, tag, comm, request);
}

static void started(struct pf_rank *r, struct pf_request *request, struct pf_instance *in)
{
    request->owner = in;
    request->fn = r->call.fn;
    request->site = r->call.site;
    request->peer = request->persistent->peer;
    request->tag = request->persistent->tag;
}

/* A buffered send whose message the middleware copies: it is complete at once. */
static int start_copied(struct pf_rank *r, struct pf_request *request)
{
    const struct pf_persistent *recipe = request->persistent;
    MPI_Comm comm = pf_comm_handle(request->comm);
    int error =
        pf_bsend_copy(r, recipe->buffer, recipe->count, recipe->datatype, recipe->peer, recipe->tag, comm);
    if (error != MPI_SUCCESS)
        return pf_call_error(r, comm, error);
    started(r, request, r->active);
    pf_request_was_null(request);
    return MPI_SUCCESS;
}

static int native_init(struct pf_instance *in, const struct pf_persistent *recipe,
                       const struct pf_ledger_route *route, pf_native_request_t *native)
{
    bool receives = recipe->fn == PF_FN_Recv_init;
    void *buffer = pf_native_p2p_buffer(in, recipe->buffer);
    int count = pf_native_count(in, recipe->count, recipe->datatype, !receives);
    pf_native_datatype_t type = pf_native(in, recipe->datatype);
    int peer = pf_native_rank(in, route->peer), tag = pf_native_tag(in, route->tag);
    pf_native_comm_t comm = pf_native(in, route->comm);
    if (receives)
        return in->fn->Recv_init(buffer, count, type, peer, tag, comm, native);
    return (recipe->fn == PF_FN_Bsend_init   ? in->fn->Bsend_init
            : recipe->fn == PF_FN_Ssend_init ? in->fn->Ssend_init
            : recipe->fn == PF_FN_Rsend_init
                ? in->fn->Rsend_init
                : in->fn->Send_init)(buffer, count, type, peer, tag, comm, native);
}

static int start(struct pf_rank *r, struct pf_request *request)
{
    const struct pf_persistent *recipe = request->persistent;
    MPI_Comm comm = pf_comm_handle(request->comm);
    pf_call_schedule_message(r, recipe->peer, recipe->count, recipe->datatype, comm);
    struct pf_instance *in = pf_comm_route(r, comm);
    struct pf_ledger_route route = {recipe->peer, recipe->tag, comm};
    pf_call_peer(r, recipe->peer, recipe->tag, comm);
    if (recipe->fn == PF_FN_Bsend_init && pf_bsend_must_copy(r, comm, recipe->peer, recipe->tag))
        return start_copied(r, request);
    if (PF_UNLIKELY(pf_ledger_on))
        in = (recipe->fn == PF_FN_Recv_init ? pf_ledger_receive : pf_ledger_send)(r, &request->side, &route);
    if (recipe->fn == PF_FN_Bsend_init)
        pf_bsend_prepare(r, in);
    pf_call_native_begin(r, in);
    pf_call_message(in, 1);
    int code = native_init(in, recipe, &route, &request->native);
    if (code == MPI_SUCCESS && request->native != in->values->request_null)
        code = in->fn->Start(&request->native);
    pf_call_native_end(r, in);
    pf_ledger_started(&request->side, code == MPI_SUCCESS);
    if (code != MPI_SUCCESS)
        return pf_call_failed(r, in, comm, code);
    started(r, request, in);
    if (recipe->fn != PF_FN_Recv_init) {
        pf_call_sent(r, recipe->count, recipe->datatype);
        pf_call_traffic(r, in, recipe->peer, recipe->count, recipe->datatype, comm);
        pf_stranded_sent(r, in, comm, recipe->peer, recipe->tag);
    }
    if (request->native == in->values->request_null)
        pf_request_was_null(request);
    return MPI_SUCCESS;
}

static int start_all(struct pf_rank *r, int count, MPI_Request handles[])
{
    if (count < 0 || !handles)
        return pf_call_error(r, MPI_COMM_WORLD, count < 0 ? MPI_ERR_ARG : MPI_ERR_REQUEST);
    for (int i = 0; i < count; i++) {
        struct pf_request *request = pf_request_of(handles[i]);
        if (!request || !request->persistent || request->owner || request->done)
            return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_REQUEST);
        int error = start(r, request);
        if (error != MPI_SUCCESS)
            return pf_call_return(r, error);
    }
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Start(MPI_Request *handle)
{
    return start_all(PF_ENTER(Start), 1, handle);
}

int pf_PMPI_Startall(int count, MPI_Request handles[])
{
    return start_all(PF_ENTER(Startall), count, handles);
}
