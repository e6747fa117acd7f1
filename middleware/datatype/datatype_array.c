/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subarrays and darrays as compositions of vectors and structures, dimension by dimension (MPI 3.1
 * sections 4.1.3 and 4.1.4). Done here for every implementation: SMPI has no darray, and its one-dimensional
 * subarray forgets the start of a derived type.
 */

#include "middleware/core/rank.h"
#include "middleware/datatype/datatype.h"

/* The part of one dimension that is selected: `blocks` blocks of `length` from `start`, `stride` apart, then
 * `rest` more one stride later. All in elements of that dimension. */
struct slice {
    long start, blocks, length, stride, rest;
};

/* A type under construction: released when the next one replaces it. */
static int replace(struct pf_rank *r, MPI_Datatype *type, const struct pf_recipe *recipe)
{
    MPI_Datatype made;
    int error = pf_datatype_make(r, recipe, &made);
    if (error)
        return error;
    pf_datatype_release(*type);
    *type = made;
    return MPI_SUCCESS;
}

/* Puts the slice of one dimension around `type`, whose extent is one element of the dimension. */
static int add_dimension(struct pf_rank *r, MPI_Datatype *type, MPI_Aint element, int gsize,
                         const struct slice *slice)
{
    MPI_Datatype inner = *type;
    MPI_Aint stride = slice->stride * element;
    int blocks[] = {(int)slice->blocks, (int)slice->length};
    struct pf_recipe vector = {MPI_COMBINER_HVECTOR, 2, 1, 1, blocks, &stride, &inner};
    MPI_Datatype regular;
    int error = pf_datatype_make(r, &vector, &regular);
    if (error)
        return error;
    int lengths[] = {2, 1, (int)slice->rest};
    MPI_Aint places[] = {slice->start * element, (slice->start + slice->blocks * slice->stride) * element};
    MPI_Datatype parts[] = {regular, inner};
    if (slice->rest == 0)
        lengths[0] = 1;
    struct pf_recipe both = {
        MPI_COMBINER_STRUCT, 1 + lengths[0], lengths[0], lengths[0], lengths, places, parts};
    error = replace(r, type, &both);
    pf_datatype_release(regular);
    if (error)
        return error;
    MPI_Aint bounds[] = {0, element * gsize};
    inner = *type;
    struct pf_recipe whole = {MPI_COMBINER_RESIZED, 0, 2, 1, NULL, bounds, &inner};
    return replace(r, type, &whole);
}

static struct slice slice_of_block(int gsize, int argument, int processes, int coordinate)
{
    long length = argument == MPI_DISTRIBUTE_DFLT_DARG ? (gsize + processes - 1) / processes : argument;
    long start = length * coordinate;
    long mine = gsize - start < length ? gsize - start : length;
    return (struct slice){
        .start = mine > 0 ? start : 0, .blocks = 1, .length = mine > 0 ? mine : 0, .stride = 1};
}

static struct slice slice_of_cycle(int gsize, int argument, int processes, int coordinate)
{
    long length = argument == MPI_DISTRIBUTE_DFLT_DARG ? 1 : argument;
    long start = length * coordinate, round = length * processes;
    if (start >= gsize)
        return (struct slice){.blocks = 0, .length = 0};
    long rounds = (gsize - start) / round, left = (gsize - start) % round;
    struct slice slice = {.start = start, .blocks = rounds, .length = length, .stride = round, .rest = left};
    if (left >= length) {
        slice.blocks++;
        slice.rest = 0;
    }
    return slice;
}

static struct slice slice_of_distribution(int distribution, int gsize, int argument, int processes,
                                          int coordinate)
{
    switch (distribution) {
    case MPI_DISTRIBUTE_BLOCK:
        return slice_of_block(gsize, argument, processes, coordinate);
    case MPI_DISTRIBUTE_CYCLIC:
        return slice_of_cycle(gsize, argument, processes, coordinate);
    default:
        return (struct slice){.blocks = 1, .length = gsize, .stride = 1};
    }
}

/* The slice of dimension `i` of a recipe. */
static struct slice slice_of(const struct pf_recipe *recipe, int i)
{
    const int *in = recipe->integers;
    if (recipe->combiner == MPI_COMBINER_SUBARRAY) {
        int ndims = in[0];
        return (struct slice){
            .start = in[1 + 2 * ndims + i], .blocks = 1, .length = in[1 + ndims + i], .stride = 1};
    }
    int rank = in[1], ndims = in[2];
    const int *gsizes = in + 3, *distributions = gsizes + ndims, *arguments = distributions + ndims;
    const int *psizes = arguments + ndims;
    int below = 1; /* processes are in row-major order in either order of the array */
    for (int j = ndims - 1; j > i; j--)
        below *= psizes[j];
    int coordinate = rank / below % psizes[i];
    return slice_of_distribution(distributions[i], gsizes[i], arguments[i], psizes[i], coordinate);
}

int pf_datatype_expand(struct pf_rank *r, const struct pf_recipe *recipe, MPI_Datatype *out)
{
    bool subarray = recipe->combiner == MPI_COMBINER_SUBARRAY;
    int ndims = recipe->integers[subarray ? 0 : 2];
    const int *sizes = recipe->integers + (subarray ? 1 : 3);
    bool rows_last = recipe->integers[recipe->integer_count - 1] == MPI_ORDER_C;
    struct pf_bounds bounds;
    pf_datatype_bounds(recipe->types[0], &bounds);
    MPI_Aint element = bounds.ub - bounds.lb;
    MPI_Datatype type = recipe->types[0];
    pf_datatype_retain(type);
    for (int step = 0; step < ndims; step++) {
        int i = rows_last ? ndims - 1 - step : step;
        struct slice slice = slice_of(recipe, i);
        int error = add_dimension(r, &type, element, sizes[i], &slice);
        if (!error && __builtin_mul_overflow(element, (MPI_Aint)sizes[i], &element))
            error = MPI_ERR_ARG;
        if (error) {
            pf_datatype_release(type);
            return error;
        }
    }
    *out = type;
    return MPI_SUCCESS;
}
