/* SPDX-License-Identifier: BSD-3-Clause */
/* What the MPI functions on error handlers of communicators, windows and files have in common. */
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
