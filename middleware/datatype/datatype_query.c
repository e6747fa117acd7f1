/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions about datatypes that the middleware answers by itself, and address arithmetic (MPI 3.1
 * sections 4.1.5 to 4.1.13). */
#include <limits.h>

#include "middleware/core/call.h"
#include "middleware/datatype/datatype.h"

int pf_PMPI_Type_size(MPI_Datatype handle, int *size)
{
    struct pf_rank *r = PF_ENTER(Type_size);
    if (!pf_datatype_valid(handle))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_TYPE);
    if (!size)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    MPI_Count bytes = pf_datatype_size(handle);
    *size = bytes > INT_MAX ? MPI_UNDEFINED : (int)bytes;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Type_size_x(MPI_Datatype handle, MPI_Count *size)
{
    struct pf_rank *r = PF_ENTER(Type_size_x);
    if (!pf_datatype_valid(handle))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_TYPE);
    if (!size)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    *size = pf_datatype_size(handle);
    return pf_call_return(r, MPI_SUCCESS);
}

/* The bounds for a query that returns them through `out` and `other`. Returns an MPI error class. */
static int bounds_for(MPI_Datatype handle, const void *out, const void *other, struct pf_bounds *bounds)
{
    if (!pf_datatype_valid(handle))
        return MPI_ERR_TYPE;
    if (!out || !other)
        return MPI_ERR_ARG;
    pf_datatype_bounds(handle, bounds);
    return MPI_SUCCESS;
}

/* The body of a query of bounds: `results` sets what it returns. */
#define RETURN_BOUNDS(call, out, other, results)                                                             \
    struct pf_rank *r = PF_ENTER(call);                                                                      \
    struct pf_bounds bounds;                                                                                 \
    int error = bounds_for(handle, out, other, &bounds);                                                     \
    if (error)                                                                                               \
        return pf_call_error(r, MPI_COMM_WORLD, error);                                                      \
    results;                                                                                                 \
    return pf_call_return(r, MPI_SUCCESS)

int pf_PMPI_Type_get_extent(MPI_Datatype handle, MPI_Aint *lb, MPI_Aint *extent)
{
    RETURN_BOUNDS(Type_get_extent, lb, extent, *lb = bounds.lb; *extent = bounds.ub - bounds.lb);
}

int pf_PMPI_Type_get_extent_x(MPI_Datatype handle, MPI_Count *lb, MPI_Count *extent)
{
    RETURN_BOUNDS(Type_get_extent_x, lb, extent, *lb = bounds.lb; *extent = bounds.ub - bounds.lb);
}

int pf_PMPI_Type_get_true_extent(MPI_Datatype handle, MPI_Aint *true_lb, MPI_Aint *true_extent)
{
    RETURN_BOUNDS(Type_get_true_extent, true_lb, true_extent, *true_lb = bounds.true_lb;
                  *true_extent = bounds.true_ub - bounds.true_lb);
}

int pf_PMPI_Type_get_true_extent_x(MPI_Datatype handle, MPI_Count *true_lb, MPI_Count *true_extent)
{
    RETURN_BOUNDS(Type_get_true_extent_x, true_lb, true_extent, *true_lb = bounds.true_lb;
                  *true_extent = bounds.true_ub - bounds.true_lb);
}

int pf_PMPI_Type_extent(MPI_Datatype handle, MPI_Aint *extent)
{
    RETURN_BOUNDS(Type_extent, extent, extent, *extent = bounds.ub - bounds.lb);
}

int pf_PMPI_Type_lb(MPI_Datatype handle, MPI_Aint *lb)
{
    RETURN_BOUNDS(Type_lb, lb, lb, *lb = bounds.lb);
}

int pf_PMPI_Type_ub(MPI_Datatype handle, MPI_Aint *ub)
{
    RETURN_BOUNDS(Type_ub, ub, ub, *ub = bounds.ub);
}

int pf_PMPI_Type_get_envelope(MPI_Datatype handle, int *num_integers, int *num_addresses, int *num_datatypes,
                              int *combiner)
{
    struct pf_rank *r = PF_ENTER(Type_get_envelope);
    if (!pf_datatype_valid(handle))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_TYPE);
    if (!num_integers || !num_addresses || !num_datatypes || !combiner)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    const struct pf_datatype *type = pf_datatype_of(handle);
    *num_integers = type ? type->integer_count : 0;
    *num_addresses = type ? type->address_count : 0;
    *num_datatypes = type ? type->type_count : 0;
    *combiner = type ? type->combiner : MPI_COMBINER_NAMED;
    return pf_call_return(r, MPI_SUCCESS);
}

static bool fits(int room, const void *array, int needed)
{
    return room >= needed && (needed == 0 || array);
}

int pf_PMPI_Type_get_contents(MPI_Datatype handle, int max_integers, int max_addresses, int max_datatypes,
                              int integer_array[], MPI_Aint address_array[], MPI_Datatype datatype_array[])
{
    struct pf_rank *r = PF_ENTER(Type_get_contents);
    const struct pf_datatype *type = pf_datatype_of(handle);
    if (!type) /* predefined types have no contents */
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_TYPE);
    if (!fits(max_integers, integer_array, type->integer_count) ||
        !fits(max_addresses, address_array, type->address_count) ||
        !fits(max_datatypes, datatype_array, type->type_count))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    for (int i = 0; i < type->integer_count; i++)
        integer_array[i] = type->integers[i];
    for (int i = 0; i < type->address_count; i++)
        address_array[i] = type->addresses[i];
    for (int i = 0; i < type->type_count; i++) {
        datatype_array[i] = type->types[i];
        pf_datatype_retain(type->types[i]); /* the caller frees derived ones */
    }
    return pf_call_return(r, MPI_SUCCESS);
}

/* The Fortran type of a class with that size, MPI_DATATYPE_NULL when there is none. */
static MPI_Datatype matching_type(int typeclass, int size)
{
    static const struct {
        int typeclass, size;
        MPI_Datatype type;
    } types[] = {
        {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},   {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
        {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},   {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
        {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16}, {MPI_TYPECLASS_REAL, 4, MPI_REAL4},
        {MPI_TYPECLASS_REAL, 8, MPI_REAL8},         {MPI_TYPECLASS_REAL, 16, MPI_REAL16},
        {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},   {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
        {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].typeclass == typeclass && types[i].size == size)
            return types[i].type;
    return MPI_DATATYPE_NULL;
}

int pf_PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    struct pf_rank *r = PF_ENTER(Type_match_size);
    MPI_Datatype found = matching_type(typeclass, size);
    if (!datatype || found == MPI_DATATYPE_NULL)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    *datatype = found;
    return pf_call_return(r, MPI_SUCCESS);
}

/* Addresses need no rank: they are the same before MPI_Init. */
int pf_PMPI_Get_address(const void *location, MPI_Aint *address)
{
    if (!address)
        return pf_call_error(PF_ENTER(Get_address), MPI_COMM_WORLD, MPI_ERR_ARG);
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

int pf_PMPI_Address(const void *location, MPI_Aint *address)
{
    if (!address)
        return pf_call_error(PF_ENTER(Address), MPI_COMM_WORLD, MPI_ERR_ARG);
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

MPI_Aint pf_PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return base + disp;
}

MPI_Aint pf_PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return addr1 - addr2;
}
