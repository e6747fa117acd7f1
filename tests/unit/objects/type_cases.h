/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random datatypes, the same on every MPI implementation. print_types.c describes them with the MPI that
 * compiles it: the answers of stock Open MPI are in types.expected, those of the middleware are compared to
 * it. Functions go by their PMPI names, which the middleware has in its own sources.
 */
#ifndef TYPE_CASES_H
#define TYPE_CASES_H

#include <mpi.h>
#include <stdio.h>

#ifdef OPEN_MPI /* removed from the header of version 4, not from the library */
#undef MPI_LB
#undef MPI_UB
#define MPI_LB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_lb)
#define MPI_UB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_ub)
OMPI_DECLSPEC extern struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub;
#endif

#define TYPE_CASE_COUNT 600
#define MAX_BLOCKS      4

static unsigned long long case_state;
static int case_has_pairs; /* pairs have padding that an implementation may pack or not */

/* A number from 0 to n - 1. */
static int below(int n)
{
    case_state = case_state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((case_state >> 33) % (unsigned long long)n);
}

/* Up to 4, rarely 0. */
static int count_or_zero(void)
{
    return below(12) ? 1 + below(MAX_BLOCKS) : 0;
}

static MPI_Datatype random_basic(void)
{
    switch (below(9)) {
    case 0:
        return MPI_CHAR;
    case 1:
        return MPI_SHORT;
    case 2:
    case 3:
        return MPI_INT;
    case 4:
        return MPI_FLOAT;
    case 5:
        return MPI_LONG_DOUBLE;
    case 6:
        case_has_pairs = 1;
        return below(2) ? MPI_DOUBLE_INT : MPI_SHORT_INT;
    default:
        return MPI_DOUBLE;
    }
}

static MPI_Datatype random_type(int depth);

static void release(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED)
        PMPI_Type_free(&type);
}

static MPI_Datatype random_struct(int depth, int markers)
{
    int lengths[MAX_BLOCKS + 2], n = 1 + below(MAX_BLOCKS);
    MPI_Aint places[MAX_BLOCKS + 2];
    MPI_Datatype types[MAX_BLOCKS + 2], made;
    for (int i = 0; i < n; i++) {
        lengths[i] = count_or_zero();
        places[i] = 40 * i + below(24) - 8;
        types[i] = random_type(depth - 1);
    }
    int all = n;
    if (markers & 1) {
        lengths[all] = 1;
        places[all] = below(30) - 20;
        types[all++] = MPI_LB;
    }
    if (markers & 2) {
        lengths[all] = 1;
        places[all] = 20 + below(80);
        types[all++] = MPI_UB;
    }
    PMPI_Type_create_struct(all, lengths, places, types, &made);
    for (int i = 0; i < n; i++)
        release(types[i]);
    return made;
}

static MPI_Datatype random_array(MPI_Datatype old, int distributed)
{
    int sizes[3], subsizes[3], starts[3], distributions[3], arguments[3], processes[3], n = 1 + below(3),
                                                                                        total = 1;
    int order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Datatype made;
    int size;
    PMPI_Type_size(old, &size);
    for (int i = 0; i < n; i++) {
        sizes[i] = 1 + below(6);
        subsizes[i] = 1 + below(sizes[i]);
        starts[i] = below(sizes[i] - subsizes[i] + 1);
        distributions[i] = below(3) == 0 ? MPI_DISTRIBUTE_NONE
                           : below(2)    ? MPI_DISTRIBUTE_BLOCK
                                         : MPI_DISTRIBUTE_CYCLIC;
        processes[i] = distributions[i] == MPI_DISTRIBUTE_NONE ? 1 : 1 + below(3);
        arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
        if (distributions[i] == MPI_DISTRIBUTE_CYCLIC && below(2))
            arguments[i] = 1 + below(3);
        total *= processes[i];
    }
    if (distributed && size > 0) /* Open MPI refuses a darray without data */
        PMPI_Type_create_darray(total, below(total), n, sizes, distributions, arguments, processes, order,
                                old, &made);
    else
        PMPI_Type_create_subarray(n, sizes, subsizes, starts, order, old, &made);
    return made;
}

static MPI_Datatype random_type(int depth)
{
    int lengths[MAX_BLOCKS], places[MAX_BLOCKS], n = count_or_zero(), kind = below(depth > 0 ? 13 : 1);
    MPI_Aint bytes[MAX_BLOCKS];
    MPI_Datatype made, old;
    if (kind == 0)
        return random_basic();
    if (kind == 1)
        return random_struct(depth, 0);
    if (kind == 2)
        return random_struct(depth, below(4));
    old = random_type(depth - 1);
    for (int i = 0; i < MAX_BLOCKS; i++) {
        lengths[i] = count_or_zero();
        places[i] = 5 * i + below(4) - 2;
        bytes[i] = 60 * i + below(40) - 10;
    }
    switch (kind) {
    case 3:
        PMPI_Type_contiguous(n, old, &made);
        break;
    case 4:
        PMPI_Type_vector(n, count_or_zero(), below(9) - 4, old, &made);
        break;
    case 5:
        PMPI_Type_create_hvector(n, count_or_zero(), below(100) - 50, old, &made);
        break;
    case 6:
        PMPI_Type_indexed(n, lengths, places, old, &made);
        break;
    case 7:
        PMPI_Type_create_hindexed(n, lengths, bytes, old, &made);
        break;
    case 8:
        PMPI_Type_create_indexed_block(n, count_or_zero(), places, old, &made);
        break;
    case 9:
        PMPI_Type_create_hindexed_block(n, count_or_zero(), bytes, old, &made);
        break;
    case 10:
        PMPI_Type_create_resized(old, below(20) - 10, below(60), &made);
        break;
    case 11:
        if (below(3) == 0)
            PMPI_Type_dup(old, &made);
        else
            made = random_array(old, 0);
        break;
    default:
        made = random_array(old, 1);
        break;
    }
    release(old);
    return made;
}

static MPI_Datatype type_case(int i)
{
    case_state = 88172645463325252ull + 7919ull * (unsigned)i;
    case_has_pairs = 0;
    below(2);
    return random_type(1 + i % 3);
}

/* One line: size and bounds, and the bytes and elements of a partly filled item. */
static void describe_type(int i, MPI_Datatype type, char *line, size_t room)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Status status;
    int size, bytes, elements;
    PMPI_Type_size(type, &size);
    PMPI_Type_get_extent(type, &lb, &extent);
    PMPI_Type_get_true_extent(type, &true_lb, &true_extent);
    if (size == 0) /* the standard says nothing about the true bounds of no data */
        true_lb = true_extent = 0;
    PMPI_Type_commit(&type);
    if (size == 0) /* Open MPI 4.1.4 divides by zero here */
        type = MPI_BYTE;
    PMPI_Status_set_elements(&status, type, i % 7);
    PMPI_Get_count(&status, MPI_BYTE, &bytes);
    PMPI_Get_elements(&status, type, &elements);
    snprintf(line, room, "%d: size %d bounds %ld %ld true %ld %ld; %d bytes hold %d", i, size, (long)lb,
             (long)extent, (long)true_lb, (long)true_extent, bytes, elements);
}

#endif
