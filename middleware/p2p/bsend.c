/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends while the model changes: whose the user's buffer is. */
#include "middleware/p2p/bsend.h"

#include <limits.h>
#include <stdlib.h>

#include "middleware/p2p/ledger.h"
#include "middleware/comm/routing.h"
#include "middleware/p2p/request.h"
#include "base/memory.h"

/* A copy that is under way. */
struct pf_buffered {
    struct pf_buffered *next;
    struct pf_instance *in;
    pf_native_request_t native;
    struct pf_comm *comm; /* with a reference */
    char bytes[];
};

static int detach_from_holder(struct pf_rank *r)
{
    struct pf_instance *holder = r->bsend_impl >= 0 ? r->instances[r->bsend_impl] : NULL;
    if (!holder)
        return MPI_SUCCESS;
    void *buffer;
    int size;
    pf_call_native_begin(r, holder);
    int code = holder->fn->Buffer_detach(&buffer, &size);
    pf_call_native_end(r, holder);
    r->bsend_impl = -1;
    return code;
}

void pf_bsend_prepare(struct pf_rank *r, struct pf_instance *in)
{
    if (!r->bsend_buffer || r->bsend_impl == in->impl)
        return;
    detach_from_holder(r);
    pf_call_native_begin(r, in);
    in->fn->Buffer_attach(r->bsend_buffer, r->bsend_size);
    pf_call_native_end(r, in);
    r->bsend_impl = in->impl;
}

/* Waits for the copies, or only looks which have left. */
static void reap(struct pf_rank *r, bool all)
{
    struct pf_buffered **link = &r->buffered;
    while (*link) {
        struct pf_buffered *copy = *link;
        struct pf_instance *in = copy->in;
        pf_call_native_begin(r, in);
        bool over =
            all || copy->native == in->values->request_null || in->ops->request_done(in, copy->native);
        if (over && copy->native != in->values->request_null)
            in->fn->Wait(&copy->native, NULL);
        pf_call_native_end(r, in);
        if (over) {
            *link = copy->next;
            pf_comm_release(copy->comm);
            free(copy);
        } else {
            link = &copy->next;
        }
    }
}

void pf_bsend_drain(struct pf_rank *r)
{
    reap(r, true);
}

bool pf_bsend_must_copy(struct pf_rank *r, MPI_Comm comm, int dest, int tag)
{
    if (!pf_ledger_on || !r->bsend_buffer || tag < 0)
        return false;
    const struct pf_ledger_mailbox *mailbox = pf_ledger_mailbox(pf_comm_of(r, comm), dest);
    return mailbox && mailbox->exact;
}

/* Copies into `copy`, in the model in force. Returns the native code. */
static int pack(struct pf_rank *r, struct pf_buffered *copy, int size, const void *buffer, int count,
                MPI_Datatype datatype)
{
    struct pf_instance *in = pf_call_native_begin(r, r->active);
    int position = 0, code = MPI_SUCCESS;
    if (size > 0)
        code = in->fn->Pack(pf_native_p2p_buffer(in, buffer), count, pf_native(in, datatype), copy->bytes,
                            size, &position, pf_native(in, MPI_COMM_WORLD));
    pf_call_native_end(r, in);
    return code;
}

int pf_bsend_copy(struct pf_rank *r, const void *buffer, int count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm)
{
    struct pf_ledger_side side;
    struct pf_ledger_route route = {dest, tag, comm};
    if (count < 0 || !pf_datatype_valid(datatype) || datatype == MPI_DATATYPE_NULL)
        return count < 0 ? MPI_ERR_COUNT : MPI_ERR_TYPE;
    int64_t size = (int64_t)count * pf_datatype_size(datatype);
    if (size > INT_MAX)
        return MPI_ERR_BUFFER;
    reap(r, false);
    struct pf_buffered *copy = pf_malloc(sizeof *copy + (size_t)size + 1);
    struct pf_instance *in = r->active;
    int code = pack(r, copy, (int)size, buffer, count, datatype);
    if (code == MPI_SUCCESS) {
        in = pf_ledger_send(r, &side, &route);
        pf_call_sent(r, count, datatype);
        pf_call_traffic(r, in, dest, count, datatype, comm);
        pf_call_native_begin(r, in);
        pf_call_message(in, 1);
        code = in->fn->Isend(copy->bytes, (int)size, pf_native(in, MPI_BYTE), route.peer, route.tag,
                             pf_native(in, route.comm), &copy->native);
        pf_ledger_sent(&side, code == MPI_SUCCESS);
        pf_call_native_end(r, in);
    }
    if (code != MPI_SUCCESS) {
        free(copy);
        return in->ops->error_class(in, code);
    }
    copy->in = in;
    copy->comm = pf_comm_retain(pf_comm_of(r, comm));
    copy->next = r->buffered;
    r->buffered = copy;
    return MPI_SUCCESS;
}

int pf_bsend_copied(struct pf_rank *r, const void *buffer, int count, MPI_Datatype datatype, int dest,
                    int tag, MPI_Comm comm, MPI_Request *request)
{
    int error = pf_bsend_copy(r, buffer, count, datatype, dest, tag, comm);
    if (error != MPI_SUCCESS)
        return pf_call_error(r, comm, error);
    if (request) {
        struct pf_request *made = pf_request_new(r, r->active, PF_REQUEST_SEND, comm);
        pf_request_was_null(made);
        *request = (MPI_Request)(uintptr_t)made;
    }
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Buffer_attach(void *buffer, int size)
{
    struct pf_rank *r = PF_ENTER(Buffer_attach);
    if (!buffer || size < 0)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    if (r->bsend_buffer)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_BUFFER);
    r->bsend_buffer = buffer;
    r->bsend_size = size;
    r->bsend_impl = -1;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Buffer_detach(void *buffer_addr, int *size)
{
    struct pf_rank *r = PF_ENTER(Buffer_detach);
    if (!buffer_addr || !size)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    pf_bsend_drain(r);
    int code = detach_from_holder(r);
    *(void **)buffer_addr = r->bsend_buffer;
    *size = r->bsend_size;
    r->bsend_buffer = NULL;
    r->bsend_size = 0;
    return pf_call_return(r, code == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_BUFFER);
}
