/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI functions on error classes, codes and texts: MPI 3.1 sections 8.4 and 8.5. */
#include <string.h>

#include "middleware/core/call.h"
#include "middleware/core/errhandler.h"

int pf_PMPI_Add_error_class(int *errorclass)
{
    struct pf_rank *r = PF_ENTER(Add_error_class);
    if (!errorclass)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    int code = pf_error_code_add(r, 0);
    if (!code)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_NO_MEM);
    *errorclass = code;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Add_error_code(int errorclass, int *errorcode)
{
    struct pf_rank *r = PF_ENTER(Add_error_code);
    if (!errorcode || errorclass == MPI_SUCCESS || !pf_errhandler_text(errorclass) ||
        pf_errhandler_class(r, errorclass) != errorclass)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    int code = pf_error_code_add(r, errorclass);
    if (!code)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_NO_MEM);
    *errorcode = code;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Add_error_string(int errorcode, const char *string)
{
    struct pf_rank *r = PF_ENTER(Add_error_string);
    char *text = pf_error_code_added_text(r, errorcode);
    if (!text || !string || strnlen(string, MPI_MAX_ERROR_STRING) >= MPI_MAX_ERROR_STRING)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    strcpy(text, string);
    return pf_call_return(r, MPI_SUCCESS);
}

/* These two also serve programs that look at an error before MPI_Init or after MPI_Finalize. */
int pf_PMPI_Error_class(int errorcode, int *errorclass)
{
    const pf_self_t *self = pf_job_self();
    if (!errorclass || !pf_errhandler_text(errorcode))
        return pf_call_error(PF_ENTER(Error_class), MPI_COMM_WORLD, MPI_ERR_ARG);
    *errorclass = pf_errhandler_class(self ? self->mpi : NULL, errorcode);
    return MPI_SUCCESS;
}

int pf_PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
    const char *text = pf_errhandler_text(errorcode);
    if (!text && errorcode > 0 && errorcode <= MPI_ERR_LASTCODE) /* some ask for all of them */
        text = "unknown error code";
    if (!text || !string || !resultlen)
        return pf_call_error(PF_ENTER(Error_string), MPI_COMM_WORLD, MPI_ERR_ARG);
    *resultlen = (int)strlen(text);
    memcpy(string, text, (size_t)*resultlen + 1);
    return MPI_SUCCESS;
}
