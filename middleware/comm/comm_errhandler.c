/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI functions on error handlers of communicators, with their names of MPI-1. */
#include "middleware/comm/comm.h"
#include "middleware/core/call.h"
#include "middleware/object/errhandler_calls.h"

int pf_PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
{
    return pf_errhandler_create(PF_ENTER(Comm_create_errhandler), PF_ERRHANDLER_COMM,
                                (void (*)(void))function, errhandler);
}

int pf_PMPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler)
{
    return pf_errhandler_create(PF_ENTER(Errhandler_create), PF_ERRHANDLER_COMM, (void (*)(void))function,
                                errhandler);
}

static int comm_set(struct pf_rank *r, MPI_Comm handle, MPI_Errhandler errhandler)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    return pf_errhandler_finish(r, handle,
                                comm ? pf_errhandler_set(&comm->errhandler, errhandler, PF_ERRHANDLER_COMM)
                                     : MPI_ERR_COMM);
}

static int comm_get(struct pf_rank *r, MPI_Comm handle, MPI_Errhandler *errhandler)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    return pf_errhandler_finish(r, handle,
                                comm ? pf_errhandler_get(&comm->errhandler, errhandler) : MPI_ERR_COMM);
}

int pf_PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return comm_set(PF_ENTER(Comm_set_errhandler), comm, errhandler);
}

int pf_PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return comm_set(PF_ENTER(Errhandler_set), comm, errhandler);
}

int pf_PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return comm_get(PF_ENTER(Comm_get_errhandler), comm, errhandler);
}

int pf_PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return comm_get(PF_ENTER(Errhandler_get), comm, errhandler);
}

/* The function itself succeeds when the handler returns, whatever the code. */
int pf_PMPI_Comm_call_errhandler(MPI_Comm handle, int errorcode)
{
    struct pf_rank *r = PF_ENTER(Comm_call_errhandler);
    if (!pf_comm_of(r, handle))
        return pf_call_error(r, handle, MPI_ERR_COMM);
    (void)pf_errhandler_raise(r, handle, errorcode);
    return pf_call_return(r, MPI_SUCCESS);
}

MPI_Errhandler pf_comm_errhandler(struct pf_rank *r, MPI_Comm *handle)
{
    struct pf_comm *comm = pf_comm_of(r, *handle);
    if (!comm) {
        *handle = MPI_COMM_WORLD;
        comm = r->world;
    }
    return comm ? comm->errhandler : MPI_ERRORS_ARE_FATAL;
}
