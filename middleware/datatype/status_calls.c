/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI functions on statuses: how much of a datatype was received, and what a program sets itself. */
#include <limits.h>
#include <string.h>

#include "middleware/core/call.h"
#include "middleware/core/status.h"
#include "middleware/datatype/datatype.h"

static int check(const MPI_Status *status, MPI_Datatype datatype, const void *out)
{
    if (status == MPI_STATUS_IGNORE || !out)
        return MPI_ERR_ARG;
    return pf_datatype_valid(datatype) ? MPI_SUCCESS : MPI_ERR_TYPE;
}

int pf_PMPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    struct pf_rank *r = PF_ENTER(Get_count);
    int error = check(status, datatype, count);
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    int64_t bytes = pf_status_bytes(status);
    MPI_Count item = pf_datatype_bytes(r, datatype, pf_status_impl(status));
    if (item == 0) /* whatever has come, as in Open MPI: there are no items in it */
        *count = 0;
    else
        *count = bytes % item || bytes / item > INT_MAX ? MPI_UNDEFINED : (int)(bytes / item);
    return pf_call_return(r, MPI_SUCCESS);
}

static MPI_Count elements(struct pf_rank *r, const MPI_Status *status, MPI_Datatype datatype)
{
    MPI_Count count = pf_datatype_elements(r, datatype, pf_status_impl(status), pf_status_bytes(status));
    return count < 0 ? MPI_UNDEFINED : count;
}

int pf_PMPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    struct pf_rank *r = PF_ENTER(Get_elements);
    int error = check(status, datatype, count);
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    MPI_Count n = elements(r, status, datatype);
    *count = n > INT_MAX ? MPI_UNDEFINED : (int)n;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    struct pf_rank *r = PF_ENTER(Get_elements_x);
    int error = check(status, datatype, count);
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    *count = elements(r, status, datatype);
    return pf_call_return(r, MPI_SUCCESS);
}

/* From now on the bytes are the middleware's. */
static int set_elements(struct pf_rank *r, MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    int error = check(status, datatype, status);
    if (!error && count < 0)
        error = MPI_ERR_COUNT;
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    pf_status_set_bytes(status, pf_datatype_element_bytes(datatype, count), 0);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count)
{
    return set_elements(PF_ENTER(Status_set_elements), status, datatype, count);
}

int pf_PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return set_elements(PF_ENTER(Status_set_elements_x), status, datatype, count);
}

int pf_PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    struct pf_rank *r = PF_ENTER(Status_set_cancelled);
    if (status == MPI_STATUS_IGNORE)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    status->mpi_reserved[PF_STATUS_CANCELLED] = flag != 0;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    struct pf_rank *r = PF_ENTER(Test_cancelled);
    if (status == MPI_STATUS_IGNORE || !flag)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    *flag = status->mpi_reserved[PF_STATUS_CANCELLED] != 0;
    return pf_call_return(r, MPI_SUCCESS);
}

_Static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint) &&
                   sizeof(MPI_Status) == sizeof(MPI_F08_status),
               "a Fortran status is the same words");

/* Each of the three to another; the values that stand for no status are NULL in all. */
static int convert(struct pf_rank *r, const void *from, void *to)
{
    if (!from || !to)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    memcpy(to, from, sizeof(MPI_Status));
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)
{
    return convert(PF_ENTER(Status_c2f), c_status, f_status);
}

int pf_PMPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)
{
    return convert(PF_ENTER(Status_f2c), f_status, c_status);
}

int pf_PMPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)
{
    return convert(PF_ENTER(Status_c2f08), c_status, f08_status);
}

int pf_PMPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)
{
    return convert(PF_ENTER(Status_f082c), f08_status, c_status);
}

int pf_PMPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)
{
    return convert(PF_ENTER(Status_f2f08), f_status, f08_status);
}

int pf_PMPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)
{
    return convert(PF_ENTER(Status_f082f), f08_status, f_status);
}
