/* SPDX-License-Identifier: BSD-3-Clause */
/* The constructors: they check their arguments and write down the recipe (MPI 3.1 sections 4.1.2 and
 * 4.1.3). */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "middleware/core/call.h"
#include "middleware/datatype/datatype.h"

/* A piece of a recipe's integers. */
struct part {
    const int *values;
    int count; /* -1 ends a list */
};
#define PARTS(...) ((const struct part[]){__VA_ARGS__, {NULL, -1}})

/* Makes the type unless there is an error, ends the call. */
static int construct(struct pf_rank *r, int error, int combiner, const struct part *parts, int address_count,
                     const MPI_Aint *addresses, int type_count, const MPI_Datatype *types,
                     MPI_Datatype *newtype)
{
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    int count = 0, *integers = NULL;
    for (; parts->count >= 0; parts++) {
        integers = pf_realloc(integers, ((size_t)count + (size_t)parts->count + 1) * sizeof *integers);
        if (parts->count)
            memcpy(integers + count, parts->values, (size_t)parts->count * sizeof *integers);
        count += parts->count;
    }
    struct pf_recipe recipe = {combiner, count, address_count, type_count, integers, addresses, types};
    error = pf_datatype_make(r, &recipe, newtype);
    free(integers);
    return error ? pf_call_error(r, MPI_COMM_WORLD, error) : pf_call_return(r, MPI_SUCCESS);
}

/* What every constructor checks. */
static int check(int count, int blocklength, MPI_Datatype old, const MPI_Datatype *newtype)
{
    if (count < 0)
        return MPI_ERR_COUNT;
    if (!pf_datatype_valid(old))
        return MPI_ERR_TYPE;
    return blocklength < 0 || !newtype ? MPI_ERR_ARG : MPI_SUCCESS;
}

static int check_list(int error, int count, const void *list)
{
    return !error && count > 0 && !list ? MPI_ERR_ARG : error;
}

static int check_lengths(int error, int count, const int *lengths)
{
    error = check_list(error, count, lengths);
    for (int i = 0; i < count && !error; i++)
        if (lengths[i] < 0)
            error = MPI_ERR_ARG;
    return error;
}

int pf_PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pf_rank *r = PF_ENTER(Type_contiguous);
    return construct(r, check(count, 0, oldtype, newtype), MPI_COMBINER_CONTIGUOUS, PARTS({&count, 1}), 0,
                     NULL, 1, &oldtype, newtype);
}

int pf_PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pf_rank *r = PF_ENTER(Type_vector);
    return construct(r, check(count, blocklength, oldtype, newtype), MPI_COMBINER_VECTOR,
                     PARTS({&count, 1}, {&blocklength, 1}, {&stride, 1}), 0, NULL, 1, &oldtype, newtype);
}

static int hvector(struct pf_rank *r, int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                   MPI_Datatype *newtype)
{
    return construct(r, check(count, blocklength, oldtype, newtype), MPI_COMBINER_HVECTOR,
                     PARTS({&count, 1}, {&blocklength, 1}), 1, &stride, 1, &oldtype, newtype);
}

int pf_PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                                MPI_Datatype *newtype)
{
    return hvector(PF_ENTER(Type_create_hvector), count, blocklength, stride, oldtype, newtype);
}

int pf_PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                         MPI_Datatype *newtype)
{
    return hvector(PF_ENTER(Type_hvector), count, blocklength, stride, oldtype, newtype);
}

int pf_PMPI_Type_indexed(int count, const int array_of_blocklengths[], const int array_of_displacements[],
                         MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pf_rank *r = PF_ENTER(Type_indexed);
    int error = check_lengths(check(count, 0, oldtype, newtype), count, array_of_blocklengths);
    return construct(r, check_list(error, count, array_of_displacements), MPI_COMBINER_INDEXED,
                     PARTS({&count, 1}, {array_of_blocklengths, count}, {array_of_displacements, count}), 0,
                     NULL, 1, &oldtype, newtype);
}

static int hindexed(struct pf_rank *r, int count, const int *lengths, const MPI_Aint *displacements,
                    MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    int error = check_lengths(check(count, 0, oldtype, newtype), count, lengths);
    return construct(r, check_list(error, count, displacements), MPI_COMBINER_HINDEXED,
                     PARTS({&count, 1}, {lengths, count}), count, displacements, 1, &oldtype, newtype);
}

int pf_PMPI_Type_create_hindexed(int count, const int array_of_blocklengths[],
                                 const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                                 MPI_Datatype *newtype)
{
    return hindexed(PF_ENTER(Type_create_hindexed), count, array_of_blocklengths, array_of_displacements,
                    oldtype, newtype);
}

int pf_PMPI_Type_hindexed(int count, const int array_of_blocklengths[],
                          const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                          MPI_Datatype *newtype)
{
    return hindexed(PF_ENTER(Type_hindexed), count, array_of_blocklengths, array_of_displacements, oldtype,
                    newtype);
}

int pf_PMPI_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[],
                                      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pf_rank *r = PF_ENTER(Type_create_indexed_block);
    int error = check_list(check(count, blocklength, oldtype, newtype), count, array_of_displacements);
    return construct(r, error, MPI_COMBINER_INDEXED_BLOCK,
                     PARTS({&count, 1}, {&blocklength, 1}, {array_of_displacements, count}), 0, NULL, 1,
                     &oldtype, newtype);
}

int pf_PMPI_Type_create_hindexed_block(int count, int blocklength, const MPI_Aint array_of_displacements[],
                                       MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pf_rank *r = PF_ENTER(Type_create_hindexed_block);
    int error = check_list(check(count, blocklength, oldtype, newtype), count, array_of_displacements);
    return construct(r, error, MPI_COMBINER_HINDEXED_BLOCK, PARTS({&count, 1}, {&blocklength, 1}), count,
                     array_of_displacements, 1, &oldtype, newtype);
}

static int structure(struct pf_rank *r, int count, const int *lengths, const MPI_Aint *displacements,
                     const MPI_Datatype *types, MPI_Datatype *newtype)
{
    int error = check_lengths(check(count, 0, MPI_BYTE, newtype), count, lengths);
    error = check_list(check_list(error, count, displacements), count, types);
    for (int i = 0; i < count && !error; i++)
        if (!pf_datatype_valid(types[i]))
            error = MPI_ERR_TYPE;
    return construct(r, error, MPI_COMBINER_STRUCT, PARTS({&count, 1}, {lengths, count}), count,
                     displacements, count, types, newtype);
}

int pf_PMPI_Type_create_struct(int count, const int array_of_blocklengths[],
                               const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[],
                               MPI_Datatype *newtype)
{
    return structure(PF_ENTER(Type_create_struct), count, array_of_blocklengths, array_of_displacements,
                     array_of_types, newtype);
}

int pf_PMPI_Type_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
                        const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    return structure(PF_ENTER(Type_struct), count, array_of_blocklengths, array_of_displacements,
                     array_of_types, newtype);
}

int pf_PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype)
{
    struct pf_rank *r = PF_ENTER(Type_create_resized);
    const MPI_Aint addresses[] = {lb, extent};
    return construct(r, check(0, 0, oldtype, newtype), MPI_COMBINER_RESIZED, PARTS({NULL, 0}), 2, addresses,
                     1, &oldtype, newtype);
}

static bool dimensions_valid(int ndims, const int *sizes, const int *subsizes, const int *starts)
{
    if (ndims <= 0 || !sizes || !subsizes || !starts)
        return false;
    for (int i = 0; i < ndims; i++)
        if (sizes[i] < 1 || subsizes[i] < 1 || subsizes[i] > sizes[i] || starts[i] < 0 ||
            starts[i] > sizes[i] - subsizes[i])
            return false;
    return true;
}

int pf_PMPI_Type_create_subarray(int ndims, const int size_array[], const int subsize_array[],
                                 const int start_array[], int order, MPI_Datatype oldtype,
                                 MPI_Datatype *newtype)
{
    struct pf_rank *r = PF_ENTER(Type_create_subarray);
    int error = check(0, 0, oldtype, newtype);
    if (!error && (!dimensions_valid(ndims, size_array, subsize_array, start_array) ||
                   (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)))
        error = MPI_ERR_ARG;
    return construct(
        r, error, MPI_COMBINER_SUBARRAY,
        PARTS({&ndims, 1}, {size_array, ndims}, {subsize_array, ndims}, {start_array, ndims}, {&order, 1}), 0,
        NULL, 1, &oldtype, newtype);
}

static bool distribution_valid(int distribution, int argument, int gsize, int psize)
{
    if (gsize < 1 || psize < 1 || (argument != MPI_DISTRIBUTE_DFLT_DARG && argument < 1))
        return false;
    switch (distribution) {
    case MPI_DISTRIBUTE_BLOCK:
        return argument == MPI_DISTRIBUTE_DFLT_DARG || (long)argument * psize >= gsize;
    case MPI_DISTRIBUTE_CYCLIC:
        return true;
    case MPI_DISTRIBUTE_NONE:
        return psize == 1;
    default:
        return false;
    }
}

static bool grid_valid(int size, int rank, int ndims, const int *gsizes, const int *distributions,
                       const int *arguments, const int *psizes)
{
    if (ndims <= 0 || size <= 0 || rank < 0 || rank >= size || !gsizes || !distributions || !arguments ||
        !psizes)
        return false;
    long processes = 1;
    for (int i = 0; i < ndims; i++) {
        if (!distribution_valid(distributions[i], arguments[i], gsizes[i], psizes[i]))
            return false;
        processes *= psizes[i];
        if (processes > size)
            return false;
    }
    return processes == size;
}

int pf_PMPI_Type_create_darray(int size, int rank, int ndims, const int gsize_array[],
                               const int distrib_array[], const int darg_array[], const int psize_array[],
                               int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pf_rank *r = PF_ENTER(Type_create_darray);
    int error = check(0, 0, oldtype, newtype);
    if (!error && (!grid_valid(size, rank, ndims, gsize_array, distrib_array, darg_array, psize_array) ||
                   (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)))
        error = MPI_ERR_ARG;
    return construct(r, error, MPI_COMBINER_DARRAY,
                     PARTS({&size, 1}, {&rank, 1}, {&ndims, 1}, {gsize_array, ndims}, {distrib_array, ndims},
                           {darg_array, ndims}, {psize_array, ndims}, {&order, 1}),
                     0, NULL, 1, &oldtype, newtype);
}

static int f90(struct pf_rank *r, int combiner, int precision, int range, MPI_Datatype *newtype)
{
    int error = newtype ? pf_datatype_f90(r, combiner, precision, range, newtype) : MPI_ERR_ARG;
    return error ? pf_call_error(r, MPI_COMM_WORLD, error) : pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype)
{
    return f90(PF_ENTER(Type_create_f90_real), MPI_COMBINER_F90_REAL, p, r, newtype);
}

int pf_PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
{
    return f90(PF_ENTER(Type_create_f90_complex), MPI_COMBINER_F90_COMPLEX, p, r, newtype);
}

int pf_PMPI_Type_create_f90_integer(int r, MPI_Datatype *newtype)
{
    return f90(PF_ENTER(Type_create_f90_integer), MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, r, newtype);
}
