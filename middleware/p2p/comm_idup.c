/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_idup, whose request may be one of the implementation. */
#include "middleware/comm/intercomm.h"
#include "middleware/comm/routing.h"
#include "middleware/p2p/request.h"

/* Open MPI duplicates an intercommunicator by messages of its own. The new handle is there at once; it may be
 * used when the request is complete. */
static int idup_inter(struct pf_rank *r, struct pf_comm *parent, struct pf_instance *in, MPI_Comm *newcomm,
                      MPI_Request *request)
{
    MPI_Comm handle = pf_comm_handle(parent);
    struct pf_request *made = pf_request_new(r, in, PF_REQUEST_COLLECTIVE, handle);
    pf_native_comm_t native = NULL;
    pf_call_native_begin(r, in);
    int code = in->fn->Comm_idup(pf_native(in, handle), &native, &made->native);
    if (code == MPI_SUCCESS) {
        struct pf_comm *comm = pf_intercomm_duplicate(r, parent, in, native);
        int error = pf_comm_inherit(r, comm, parent, MPI_INFO_NULL, false);
        if (error != MPI_SUCCESS) {
            /* An attribute's copy function does not want it: the other members go on with theirs. */
            in->fn->Wait(&made->native, NULL);
            pf_call_native_end(r, in);
            pf_request_release(made);
            pf_comm_release(comm);
            return pf_call_error(r, handle, error);
        }
        *newcomm = (MPI_Comm)(uintptr_t)comm;
    }
    return pf_request_started(r, in, made, handle, code, request);
}

/*
 * SMPI has no such function, and no other model needs messages for it: the middleware knows the members, and
 * shadows are made at first use. So the request is complete at once and the call takes no simulated time.
 */
int pf_PMPI_Comm_idup(MPI_Comm handle, MPI_Comm *newcomm, MPI_Request *request)
{
    struct pf_rank *r = PF_ENTER(Comm_idup);
    struct pf_comm *parent = pf_comm_of(r, handle);
    if (!parent || !newcomm || !request)
        return pf_call_error(r, handle, parent ? MPI_ERR_ARG : MPI_ERR_COMM);
    *newcomm = MPI_COMM_NULL;
    pf_call_schedule(r, parent == r->world);
    struct pf_instance *in = pf_comm_collective(r, parent);
    if (pf_comm_is_inter(parent) && in->fn->Comm_idup)
        return idup_inter(r, parent, in, newcomm, request);
    struct pf_comm *comm =
        pf_comm_is_inter(parent)
            ? pf_intercomm_duplicate(r, parent, in, NULL)
            : pf_comm_adopt(r, parent, parent->collectives - 1, parent->shared->world_ranks,
                            parent->shared->size, parent->me, parent->shared->node_local, in, NULL);
    int error = pf_comm_inherit(r, comm, parent, MPI_INFO_NULL, false);
    if (error != MPI_SUCCESS) {
        pf_comm_release(comm);
        return pf_call_error(r, handle, error);
    }
    struct pf_request *made = pf_request_new(r, in, PF_REQUEST_COLLECTIVE, handle);
    pf_status_set_empty(&made->status);
    made->done = true;
    *newcomm = (MPI_Comm)(uintptr_t)comm;
    *request = (MPI_Request)(uintptr_t)made;
    return pf_call_return(r, MPI_SUCCESS);
}
