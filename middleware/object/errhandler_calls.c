/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI functions on error handlers and on those of communicators; windows and files have theirs. */
#include "middleware/core/call.h"
#include "middleware/object/errhandler_calls.h"

int pf_errhandler_create(struct pf_rank *r, enum pf_errhandler_kind kind, void (*function)(void),
                         MPI_Errhandler *out)
{
    if (!function || !out)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    MPI_Errhandler made = pf_errhandler_new(r, kind, function);
    if (made == MPI_ERRHANDLER_NULL)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_NO_MEM);
    *out = made;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_errhandler_finish(struct pf_rank *r, MPI_Comm comm, int error)
{
    return error ? pf_call_error(r, comm, error) : pf_call_return(r, MPI_SUCCESS);
}

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

int pf_PMPI_Errhandler_free(MPI_Errhandler *handle)
{
    struct pf_rank *r = PF_ENTER(Errhandler_free);
    if (!handle || !pf_errhandler_valid(*handle))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    pf_errhandler_release(
        *handle); /* predefined ones stay: a program frees what MPI_Comm_get_errhandler gave it */
    *handle = MPI_ERRHANDLER_NULL;
    return pf_call_return(r, MPI_SUCCESS);
}
