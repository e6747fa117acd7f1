/* SPDX-License-Identifier: BSD-3-Clause */
/* Accumulates that SMPI would end the process for return an error instead. */
#include "adapters/smpi/smpi_functions.h"

#include <stdbool.h>
#include <stddef.h>

#include <smpi/smpi.h>

#include "adapters/local/types.h"
#include "pf_own.h"

/* The walk through the items of a datatype, which has no context; no other actor runs before it has ended. */
static struct {
    MPI_Op op;
    bool all;
} allowed;

static void visit(ptrdiff_t offset, int items, void *basic)
{
    if (items > 0 && !pf_local_can_reduce(allowed.op, basic))
        allowed.all = false;
}

/* Would the operation end the process? Whatever else is wrong with the arguments SMPI says itself. */
static bool refused(MPI_Op op, int count, MPI_Datatype type)
{
    if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP || count <= 0 ||
        type == MPI_DATATYPE_NULL || !pf_local_type_is_ready(type))
        return false;
    if (!pf_local_type_is_derived(type))
        return !pf_local_can_reduce(op, type);
    allowed.op = op;
    allowed.all = true;
    pf_local_type_walk(type, 1, visit);
    return !allowed.all;
}

static int accumulate(const void *origin, int origin_count, MPI_Datatype origin_type, int rank,
                      MPI_Aint place, int count, MPI_Datatype type, MPI_Op op, MPI_Win win)
{
    if (refused(op, count, type))
        return MPI_ERR_OP;
    return PMPI_Accumulate(origin, origin_count, origin_type, rank, place, count, type, op, win);
}

static int raccumulate(const void *origin, int origin_count, MPI_Datatype origin_type, int rank,
                       MPI_Aint place, int count, MPI_Datatype type, MPI_Op op, MPI_Win win,
                       MPI_Request *request)
{
    if (refused(op, count, type))
        return MPI_ERR_OP;
    return PMPI_Raccumulate(origin, origin_count, origin_type, rank, place, count, type, op, win, request);
}

static int get_accumulate(const void *origin, int origin_count, MPI_Datatype origin_type, void *result,
                          int result_count, MPI_Datatype result_type, int rank, MPI_Aint place, int count,
                          MPI_Datatype type, MPI_Op op, MPI_Win win)
{
    if (refused(op, count, type))
        return MPI_ERR_OP;
    return PMPI_Get_accumulate(origin, origin_count, origin_type, result, result_count, result_type, rank,
                               place, count, type, op, win);
}

static int rget_accumulate(const void *origin, int origin_count, MPI_Datatype origin_type, void *result,
                           int result_count, MPI_Datatype result_type, int rank, MPI_Aint place, int count,
                           MPI_Datatype type, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    if (refused(op, count, type))
        return MPI_ERR_OP;
    return PMPI_Rget_accumulate(origin, origin_count, origin_type, result, result_count, result_type, rank,
                                place, count, type, op, win, request);
}

static int fetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint place,
                        MPI_Op op, MPI_Win win)
{
    if (refused(op, 1, type))
        return MPI_ERR_OP;
    return PMPI_Fetch_and_op(origin, result, type, rank, place, op, win);
}

void pf_smpi_accumulate_install(struct pf_own_fn *fn)
{
    fn->Accumulate = accumulate;
    fn->Raccumulate = raccumulate;
    fn->Get_accumulate = get_accumulate;
    fn->Rget_accumulate = rget_accumulate;
    fn->Fetch_and_op = fetch_and_op;
}
