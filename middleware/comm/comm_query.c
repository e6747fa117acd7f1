/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions about communicators that the middleware answers by itself. */
#include <string.h>

#include "base/log.h"
#include "middleware/comm/comm.h"
#include "middleware/comm/intercomm.h"
#include "middleware/comm/routing.h"
#include "middleware/object/info.h"

/* For a thread, or a child process, of a rank. */
static const struct pf_comm *look_at(MPI_Comm handle, const int *answer, const char *call)
{
    const struct pf_comm *comm = pf_comm_of(pf_call_rank_elsewhere(), handle);
    if (!comm || !answer)
        pf_die("%s in another thread or process of a rank: an argument is not valid", call);
    return comm;
}

int pf_PMPI_Comm_size(MPI_Comm handle, int *size)
{
    struct pf_rank *r = PF_ENTER(Comm_size);
    if (PF_UNLIKELY(!r))
        return *size = look_at(handle, size, "MPI_Comm_size")->shared->size, MPI_SUCCESS;
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm || !size)
        return pf_call_error(r, handle, comm ? MPI_ERR_ARG : MPI_ERR_COMM);
    *size = comm->shared->size;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Comm_rank(MPI_Comm handle, int *rank)
{
    struct pf_rank *r = PF_ENTER(Comm_rank);
    if (PF_UNLIKELY(!r))
        return *rank = look_at(handle, rank, "MPI_Comm_rank")->me, MPI_SUCCESS;
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm || !rank)
        return pf_call_error(r, handle, comm ? MPI_ERR_ARG : MPI_ERR_COMM);
    *rank = comm->me;
    return pf_call_return(r, MPI_SUCCESS);
}

/* Two lists of members without doubles: CONGRUENT when equal, SIMILAR in another order, else UNEQUAL. */
static int compare(const int *x, int x_size, const int *y, int y_size)
{
    int common = 0;
    if (x_size != y_size)
        return MPI_UNEQUAL;
    if (x_size == 0 || memcmp(x, y, (size_t)x_size * sizeof *x) == 0)
        return MPI_CONGRUENT;
    for (int i = 0; i < x_size; i++)
        for (int j = 0; j < y_size; j++)
            common += x[i] == y[j];
    return common == x_size ? MPI_SIMILAR : MPI_UNEQUAL;
}

int pf_PMPI_Comm_compare(MPI_Comm first, MPI_Comm second, int *result)
{
    struct pf_rank *r = PF_ENTER(Comm_compare);
    struct pf_comm *a = pf_comm_of(r, first), *b = pf_comm_of(r, second);
    if (!a || !b)
        return pf_call_error(r, a ? second : first, MPI_ERR_COMM);
    if (!result)
        return pf_call_error(r, first, MPI_ERR_ARG);
    *result = MPI_UNEQUAL;
    if (a == b) {
        *result = MPI_IDENT;
    } else if (pf_comm_is_inter(a) == pf_comm_is_inter(b)) {
        const struct pf_comm_shared *x = a->shared, *y = b->shared;
        int local = compare(x->world_ranks, x->size, y->world_ranks, y->size);
        int remote = MPI_CONGRUENT;
        if (x->other)
            remote = compare(x->other->world_ranks, x->other->size, y->other->world_ranks, y->other->size);
        *result = local == MPI_UNEQUAL || remote == MPI_UNEQUAL   ? MPI_UNEQUAL
                  : local == MPI_SIMILAR || remote == MPI_SIMILAR ? MPI_SIMILAR
                                                                  : MPI_CONGRUENT;
    }
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Comm_set_name(MPI_Comm handle, const char *name)
{
    struct pf_rank *r = PF_ENTER(Comm_set_name);
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm || !name)
        return pf_call_error(r, handle, comm ? MPI_ERR_ARG : MPI_ERR_COMM);
    size_t length = strnlen(name, sizeof comm->name - 1);
    memcpy(comm->name, name, length);
    comm->name[length] = 0;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Comm_get_name(MPI_Comm handle, char *name, int *length)
{
    struct pf_rank *r = PF_ENTER(Comm_get_name);
    if (handle == MPI_COMM_NULL) { /* MPI 3.1 section 6.8 gives it a name */
        strcpy(name, "MPI_COMM_NULL");
        *length = (int)strlen(name);
        return pf_call_return(r, MPI_SUCCESS);
    }
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm || !name || !length)
        return pf_call_error(r, handle, comm ? MPI_ERR_ARG : MPI_ERR_COMM);
    strcpy(name, comm->name);
    *length = (int)strlen(name);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Comm_set_info(MPI_Comm handle, MPI_Info info)
{
    struct pf_rank *r = PF_ENTER(Comm_set_info);
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm)
        return pf_call_error(r, handle, MPI_ERR_COMM);
    if (!pf_info_of(info))
        return pf_call_error(r, handle, MPI_ERR_INFO);
    if (comm->info)
        pf_info_release((MPI_Info)(uintptr_t)comm->info);
    comm->info = pf_info_of(pf_info_copy_known(r, info));
    pf_comm_bind_by_info(r, comm);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Comm_get_info(MPI_Comm handle, MPI_Info *info)
{
    struct pf_rank *r = PF_ENTER(Comm_get_info);
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm || !info)
        return pf_call_error(r, handle, comm ? MPI_ERR_ARG : MPI_ERR_COMM);
    if (comm->info)
        *info = pf_info_copy(r, (MPI_Info)(uintptr_t)comm->info);
    else
        return pf_call_return(r, pf_PMPI_Info_create(info));
    return pf_call_return(r, MPI_SUCCESS);
}
