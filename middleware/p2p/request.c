/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of the middleware: made, kept alive, started again, freed. */
#include "middleware/p2p/request.h"

#include <stdlib.h>
#include <string.h>

#include "middleware/comm/routing.h"
#include "middleware/datatype/datatype.h"
#include "middleware/datatype/op.h"
#include "middleware/p2p/wait_set.h"
#include "base/memory.h"

struct pf_request *pf_request_new(struct pf_rank *r, struct pf_instance *in, enum pf_request_kind kind,
                                  MPI_Comm comm)
{
    struct pf_request *request = r->free_requests;
    if (request)
        r->free_requests = request->next_free;
    else
        request = pf_malloc(sizeof *request);
    /* Part by part: for the whole, gcc takes an instruction that is slow to begin. */
    request->object = (struct pf_object){.kind = PF_KIND_REQUEST, .references = 1};
    request->owner = in;
    request->native = NULL;
    request->rank = r;
    request->operands.any = false;
    request->comm = pf_comm_retain(pf_comm_of(r, comm));
    request->persistent = NULL;
    memset(&request->side, 0, sizeof request->side);
    request->own = NULL;
    request->own_data = NULL;
    request->kind = kind;
    request->done = request->abandoned = false;
    request->error = MPI_SUCCESS;
    memset(&request->status, 0, sizeof request->status);
    request->next_free = request->next_get = NULL;
    request->get_link = NULL;
    request->site = r->call.site;
    request->fn = r->call.fn;
    request->peer = r->call.peer;
    request->tag = r->call.tag;
    return request;
}

/* The operation has completed. Most requests have no operands. */
static void release_operands(struct pf_request *request)
{
    struct pf_request_operands *operands = &request->operands;
    if (PF_LIKELY(!operands->any))
        return;
    for (size_t i = 0; i < sizeof operands->memory / sizeof operands->memory[0]; i++)
        free(operands->memory[i]);
    for (int i = 0; i < 2; i++)
        pf_datatype_release(operands->datatypes[i]);
    if (operands->more) {
        for (int i = 0; i < operands->more_count; i++)
            pf_datatype_release(operands->more[i]);
        free(operands->more);
    }
    pf_op_release(operands->op);
    *operands = (struct pf_request_operands){0};
}

static bool has_operands(const struct pf_request *request)
{
    const struct pf_request_operands *operands = &request->operands;
    return operands->any && (operands->memory[0] || operands->datatypes[0] || operands->op);
}

void pf_request_release(struct pf_request *request)
{
    struct pf_rank *r = request->rank;
    pf_ledger_forget(&request->side);
    release_operands(request);
    if (request->persistent)
        pf_persistent_release(request);
    if (request->own)
        request->own->release(request);
    pf_request_forget_get(request);
    if (request->comm)
        pf_comm_release(request->comm);
    request->object.kind = PF_KIND_DEAD;
    request->next_free = r->free_requests;
    r->free_requests = request;
}

void pf_request_was_null(struct pf_request *request)
{
    pf_status_set_empty(&request->status);
    if (request->rank->call.peer == MPI_PROC_NULL)
        request->status.MPI_SOURCE = MPI_PROC_NULL;
    request->done = true;
}

int pf_request_started(struct pf_rank *r, struct pf_instance *in, struct pf_request *request, MPI_Comm comm,
                       int code, MPI_Request *handle)
{
    /* Of a nonblocking collective that compares lengths or copies as it starts: it is the completion's. */
    if (PF_UNLIKELY(code != MPI_SUCCESS) && in->ops->error_class(in, code) == MPI_ERR_TRUNCATE) {
        request->native = in->values->request_null;
        in->unreported = code;
        code = MPI_SUCCESS;
    }
    pf_ledger_started(&request->side, code == MPI_SUCCESS);
    if (PF_LIKELY(code == MPI_SUCCESS)) {
        *handle = (MPI_Request)(uintptr_t)request;
        request->error = PF_LIKELY(!in->unreported) ? MPI_SUCCESS : in->ops->error_class(in, in->unreported);
        in->unreported = MPI_SUCCESS; /* it is the completion's */
        if (PF_UNLIKELY(request->native == in->values->request_null))
            pf_request_was_null(request);
    } else {
        pf_request_release(request);
        *handle = MPI_REQUEST_NULL;
    }
    return pf_call_leave(r, in, comm, code);
}

static struct pf_request_operands *operands_of(struct pf_request *request)
{
    if (!request->operands.any)
        request->operands = (struct pf_request_operands){.any = true};
    return &request->operands;
}

void pf_request_keep_op(struct pf_request *request, MPI_Op op)
{
    pf_op_retain(op);
    operands_of(request)->op = op;
}

void pf_request_keep_datatype(struct pf_request *request, MPI_Datatype datatype)
{
    if (pf_is_predefined(datatype))
        return;
    pf_datatype_retain(datatype);
    struct pf_request_operands *operands = operands_of(request);
    operands->datatypes[operands->datatypes[0] != NULL] = datatype;
}

void pf_request_keep_datatypes(struct pf_request *request, const MPI_Datatype *datatypes, int n)
{
    if (n <= 0)
        return;
    struct pf_request_operands *operands = operands_of(request);
    operands->more = pf_realloc(operands->more, (size_t)(operands->more_count + n) * sizeof *operands->more);
    for (int i = 0; i < n; i++) {
        pf_datatype_retain(datatypes[i]);
        operands->more[operands->more_count++] = datatypes[i];
    }
}

void pf_request_keep_memory(struct pf_request *request, void *memory)
{
    void **place = operands_of(request)->memory;
    while (*place)
        place++;
    *place = memory;
}

void pf_request_completed(struct pf_request *request, MPI_Request *handle)
{
    if (!request->persistent) {
        pf_request_release(request);
        *handle = MPI_REQUEST_NULL;
        return;
    }
    release_operands(request);
    request->owner = NULL;
    request->native = NULL;
    request->done = false;
    request->error = MPI_SUCCESS;
    if (request->abandoned)
        pf_request_release(request);
}

int pf_PMPI_Request_free(MPI_Request *handle)
{
    struct pf_rank *r = PF_ENTER(Request_free);
    struct pf_request *request = handle ? pf_request_of(*handle) : NULL;
    if (!request)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_REQUEST);
    *handle = MPI_REQUEST_NULL;
    struct pf_instance *in = request->owner;
    if (!pf_request_is_active(request)) {
        pf_request_release(request);
        return pf_call_return(r, MPI_SUCCESS);
    }
    if (request->own) {
        request->own->abandon(request);
        return pf_call_return(r, MPI_SUCCESS);
    }
    /* The operation goes on, and what it needs must stay: such requests are kept until MPI_Finalize. */
    if (has_operands(request) || request->persistent) {
        request->abandoned = true;
        return pf_call_return(r, MPI_SUCCESS);
    }
    pf_call_native_begin(r, in);
    int code = in->fn->Request_free(&request->native);
    pf_request_release(request);
    return pf_call_leave(r, in, MPI_COMM_WORLD, code);
}

int pf_PMPI_Cancel(MPI_Request *handle)
{
    struct pf_rank *r = PF_ENTER(Cancel);
    struct pf_request *request = handle ? pf_request_of(*handle) : NULL;
    if (!request || (!request->owner && !request->done))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_REQUEST);
    if (request->done)
        return pf_call_return(r, MPI_SUCCESS);
    if (request->own) {
        int error = request->own->cancel(request);
        return error == MPI_SUCCESS ? pf_call_return(r, error) : pf_call_error(r, MPI_COMM_WORLD, error);
    }
    if (!pf_ledger_cancel(&request->side))
        return pf_call_return(r, MPI_SUCCESS);
    struct pf_instance *in = pf_call_native_begin(r, request->owner);
    return pf_call_leave(r, in, MPI_COMM_WORLD, in->fn->Cancel(&request->native));
}

int pf_PMPI_Request_get_status(MPI_Request handle, int *flag, MPI_Status *status)
{
    struct pf_rank *r = PF_ENTER(Request_get_status);
    struct pf_request *request = pf_request_of(handle);
    if (!flag || (!request && handle != MPI_REQUEST_NULL))
        return pf_call_error(r, MPI_COMM_WORLD, flag ? MPI_ERR_REQUEST : MPI_ERR_ARG);
    if (!request || !request->owner) { /* null or inactive: MPI 3.1 section 3.7.6 */
        *flag = 1;
        if (status)
            pf_status_set_empty(status);
        return pf_call_return(r, MPI_SUCCESS);
    }
    if (!request->done)
        pf_request_try(request);
    *flag = request->done;
    if (!request->done)
        pf_call_idle_uncharged(r, request->owner);
    if (request->done && status)
        *status = request->status;
    return pf_call_return(r, MPI_SUCCESS);
}
