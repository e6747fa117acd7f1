/* SPDX-License-Identifier: BSD-3-Clause */
#include "middleware/bsend.h"

#include "middleware/call.h"

static int detach_from_holder(struct pf_rank *r)
{
    struct pf_instance *holder = r->bsend_impl >= 0 ? r->instances[r->bsend_impl] : NULL;
    if (!holder)
        return MPI_SUCCESS;
    void *buffer;
    int size;
    pf_call_native_begin(r, holder);
    int code = ((int (*)(void *, int *))holder->fn[PF_FN_Buffer_detach])(&buffer, &size);
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
    ((int (*)(void *, int))in->fn[PF_FN_Buffer_attach])(r->bsend_buffer, r->bsend_size);
    pf_call_native_end(r, in);
    r->bsend_impl = in->impl;
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
    int code = detach_from_holder(r);
    *(void **)buffer_addr = r->bsend_buffer;
    *size = r->bsend_size;
    r->bsend_buffer = NULL;
    r->bsend_size = 0;
    return pf_call_return(r, code == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_BUFFER);
}
