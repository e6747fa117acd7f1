/* SPDX-License-Identifier: BSD-3-Clause */
/* The constructors: they check their arguments and write down the recipe (MPI 3.1 sections 4.1.2 and
 * 4.1.3). */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "middleware/core/call.h"
#include "middleware/datatype/datatype.h"

/* Makes the type, ends the call. */
static int construct(struct pf_rank *r, const struct pf_recipe *recipe, MPI_Datatype *newtype)
{
    int error = pf_datatype_make(r, recipe, newtype);
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

static int check_lengths(int count, const int *lengths)
{
    if (count > 0 && !lengths)
        return MPI_ERR_ARG;
    for (int i = 0; i < count; i++)
        if (lengths[i] < 0)
            return MPI_ERR_ARG;
    return MPI_SUCCESS;
}

static int *new_integers(size_t n)
{
    int *integers = pf_malloc(n * sizeof *integers);
    return integers;
}

static void put(int **at, const int *values, int n)
{
    if (n)
        memcpy(*at, values, (size_t)n * sizeof *values);
    *at += n;
}

int pf_PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pf_rank *r = PF_ENTER(Type_contiguous);
    int error = check(count, 0, oldtype, newtype);
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    struct pf_recipe recipe = {MPI_COMBINER_CONTIGUOUS, 1, 0, 1, &count, NULL, &oldtype};
    return construct(r, &recipe, newtype);
}

int pf_PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pf_rank *r = PF_ENTER(Type_vector);
    int error = check(count, blocklength, oldtype, newtype);
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    int integers[] = {count, blocklength, stride};
    struct pf_recipe recipe = {MPI_COMBINER_VECTOR, 3, 0, 1, integers, NULL, &oldtype};
    return construct(r, &recipe, newtype);
}

static int hvector(struct pf_rank *r, int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                   MPI_Datatype *newtype)
{
    int error = check(count, blocklength, oldtype, newtype);
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    int integers[] = {count, blocklength};
    struct pf_recipe recipe = {MPI_COMBINER_HVECTOR, 2, 1, 1, integers, &stride, &oldtype};
    return construct(r, &recipe, newtype);
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
    int error = check(count, 0, oldtype, newtype);
    if (!error)
        error = check_lengths(count, array_of_blocklengths);
    if (!error && count > 0 && !array_of_displacements)
        error = MPI_ERR_ARG;
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    int *integers = new_integers(1 + 2 * (size_t)count), *at = integers;
    put(&at, &count, 1);
    put(&at, array_of_blocklengths, count);
    put(&at, array_of_displacements, count);
    struct pf_recipe recipe = {MPI_COMBINER_INDEXED, 1 + 2 * count, 0, 1, integers, NULL, &oldtype};
    int code = construct(r, &recipe, newtype);
    free(integers);
    return code;
}

static int hindexed(struct pf_rank *r, int count, const int *lengths, const MPI_Aint *displacements,
                    MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    int error = check(count, 0, oldtype, newtype);
    if (!error)
        error = check_lengths(count, lengths);
    if (!error && count > 0 && !displacements)
        error = MPI_ERR_ARG;
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    int *integers = new_integers(1 + (size_t)count), *at = integers;
    put(&at, &count, 1);
    put(&at, lengths, count);
    struct pf_recipe recipe = {MPI_COMBINER_HINDEXED, 1 + count, count, 1, integers, displacements, &oldtype};
    int code = construct(r, &recipe, newtype);
    free(integers);
    return code;
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
    int error = check(count, blocklength, oldtype, newtype);
    if (!error && count > 0 && !array_of_displacements)
        error = MPI_ERR_ARG;
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    int *integers = new_integers(2 + (size_t)count), *at = integers;
    put(&at, &count, 1);
    put(&at, &blocklength, 1);
    put(&at, array_of_displacements, count);
    struct pf_recipe recipe = {MPI_COMBINER_INDEXED_BLOCK, 2 + count, 0, 1, integers, NULL, &oldtype};
    int code = construct(r, &recipe, newtype);
    free(integers);
    return code;
}

int pf_PMPI_Type_create_hindexed_block(int count, int blocklength, const MPI_Aint array_of_displacements[],
                                       MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct pf_rank *r = PF_ENTER(Type_create_hindexed_block);
    int error = check(count, blocklength, oldtype, newtype);
    if (!error && count > 0 && !array_of_displacements)
        error = MPI_ERR_ARG;
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    int integers[] = {count, blocklength};
    struct pf_recipe recipe = {MPI_COMBINER_HINDEXED_BLOCK, 2,       count, 1, integers,
                               array_of_displacements,      &oldtype};
    return construct(r, &recipe, newtype);
}

static int structure(struct pf_rank *r, int count, const int *lengths, const MPI_Aint *displacements,
                     const MPI_Datatype *types, MPI_Datatype *newtype)
{
    int error = check(count, 0, MPI_BYTE, newtype);
    if (!error)
        error = check_lengths(count, lengths);
    if (!error && count > 0 && (!displacements || !types))
        error = MPI_ERR_ARG;
    for (int i = 0; i < count && !error; i++)
        if (!pf_datatype_valid(types[i]))
            error = MPI_ERR_TYPE;
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    int *integers = new_integers(1 + (size_t)count), *at = integers;
    put(&at, &count, 1);
    put(&at, lengths, count);
    struct pf_recipe recipe = {MPI_COMBINER_STRUCT, 1 + count, count, count, integers, displacements, types};
    int code = construct(r, &recipe, newtype);
    free(integers);
    return code;
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
    int error = check(0, 0, oldtype, newtype);
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    MPI_Aint addresses[] = {lb, extent};
    struct pf_recipe recipe = {MPI_COMBINER_RESIZED, 0, 2, 1, NULL, addresses, &oldtype};
    return construct(r, &recipe, newtype);
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
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    int *integers = new_integers(2 + 3 * (size_t)ndims), *at = integers;
    put(&at, &ndims, 1);
    put(&at, size_array, ndims);
    put(&at, subsize_array, ndims);
    put(&at, start_array, ndims);
    put(&at, &order, 1);
    struct pf_recipe recipe = {MPI_COMBINER_SUBARRAY, 2 + 3 * ndims, 0, 1, integers, NULL, &oldtype};
    int code = construct(r, &recipe, newtype);
    free(integers);
    return code;
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
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    int *integers = new_integers(4 + 4 * (size_t)ndims), *at = integers;
    put(&at, &size, 1);
    put(&at, &rank, 1);
    put(&at, &ndims, 1);
    put(&at, gsize_array, ndims);
    put(&at, distrib_array, ndims);
    put(&at, darg_array, ndims);
    put(&at, psize_array, ndims);
    put(&at, &order, 1);
    struct pf_recipe recipe = {MPI_COMBINER_DARRAY, 4 + 4 * ndims, 0, 1, integers, NULL, &oldtype};
    int code = construct(r, &recipe, newtype);
    free(integers);
    return code;
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
