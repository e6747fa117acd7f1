/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The type map of a datatype, entry by entry, straight from the definitions of MPI 3.1 section 4.1 and from
 * nothing but what MPI_Type_get_contents says. Slow and simple: the judge of the middleware's arithmetic and
 * of what a model moves.
 */
#ifndef TYPEMAP_H
#define TYPEMAP_H

#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>

enum { ENTRY_DATA, ENTRY_LB, ENTRY_UB };

struct entry {
    MPI_Aint place;
    int kind, size, align;
};

struct typemap {
    struct entry *entries;
    int count, capacity;
};

struct contents {
    int combiner, integer_count, address_count, type_count;
    int *integers;
    MPI_Aint *addresses;
    MPI_Datatype *types;
};

static void map_type(struct typemap *map, MPI_Datatype type, MPI_Aint place);

static void map_entry(struct typemap *map, MPI_Aint place, int kind, int size, int align)
{
    if (map->count == map->capacity) {
        map->capacity = map->capacity ? 2 * map->capacity : 64;
        map->entries = realloc(map->entries, (size_t)map->capacity * sizeof map->entries[0]);
    }
    map->entries[map->count++] = (struct entry){place, kind, size, align};
}

static void map_named(struct typemap *map, MPI_Datatype type, MPI_Aint place)
{
    int size;
    if (type == MPI_LB || type == MPI_UB) {
        map_entry(map, place, type == MPI_LB ? ENTRY_LB : ENTRY_UB, 0, 1);
    } else if (type == MPI_DOUBLE_INT) {
        map_entry(map, place, ENTRY_DATA, sizeof(double), _Alignof(double));
        map_entry(map, place + (MPI_Aint)sizeof(double), ENTRY_DATA, sizeof(int), _Alignof(int));
    } else if (type == MPI_SHORT_INT) {
        map_entry(map, place, ENTRY_DATA, sizeof(short), _Alignof(short));
        map_entry(map, place + (MPI_Aint)sizeof(int), ENTRY_DATA, sizeof(int), _Alignof(int));
    } else {
        PMPI_Type_size(type, &size);
        map_entry(map, place, ENTRY_DATA, size, size);
    }
}

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint lb, extent;
    PMPI_Type_get_extent(type, &lb, &extent);
    return extent;
}

static void map_block(struct typemap *map, MPI_Datatype type, MPI_Aint place, int length)
{
    for (int i = 0; i < length; i++)
        map_type(map, type, place + i * extent_of(type));
}

/* Is index `i` of a dimension mine? */
static int owns(int distribution, int argument, int gsize, int processes, int coordinate, int i)
{
    if (distribution == MPI_DISTRIBUTE_NONE)
        return 1;
    if (distribution == MPI_DISTRIBUTE_BLOCK)
        return i / (argument == MPI_DISTRIBUTE_DFLT_DARG ? (gsize + processes - 1) / processes : argument) ==
               coordinate;
    return i / (argument == MPI_DISTRIBUTE_DFLT_DARG ? 1 : argument) % processes == coordinate;
}

/* All elements of an array in memory order; those that are selected enter the map, between markers of the
 * whole. */
static void map_array(struct typemap *map, const struct contents *c, MPI_Aint place)
{
    int darray = c->combiner == MPI_COMBINER_DARRAY, n = c->integers[darray ? 2 : 0], total = 1;
    const int *sizes = c->integers + (darray ? 3 : 1), *second = sizes + n, *third = second + n,
              *fourth = third + n;
    int order = c->integers[c->integer_count - 1];
    for (int i = 0; i < n; i++)
        total *= sizes[i];
    map_entry(map, place, ENTRY_LB, 0, 1);
    for (int at = 0; at < total; at++) {
        int rest = at, mine = 1, rank = darray ? c->integers[1] : 0, coordinates[8];
        for (int i = n - 1; darray && i >= 0; i--) {
            coordinates[i] = rank % fourth[i];
            rank /= fourth[i];
        }
        for (int step = 0; step < n; step++) {
            int i = order == MPI_ORDER_C ? n - 1 - step : step, index = rest % sizes[i];
            rest /= sizes[i];
            mine = mine && (darray ? owns(second[i], third[i], sizes[i], fourth[i], coordinates[i], index)
                                   : index >= third[i] && index < third[i] + second[i]);
        }
        if (mine) { /* markers inside do not count: the array has its own */
            struct typemap inner = {0};
            map_type(&inner, c->types[0], place + at * extent_of(c->types[0]));
            for (int i = 0; i < inner.count; i++)
                if (inner.entries[i].kind == ENTRY_DATA)
                    map_entry(map, inner.entries[i].place, ENTRY_DATA, inner.entries[i].size,
                              inner.entries[i].align);
            free(inner.entries);
        }
    }
    map_entry(map, place + total * extent_of(c->types[0]), ENTRY_UB, 0, 1);
}

static void map_resized(struct typemap *map, const struct contents *c, MPI_Aint place)
{
    struct typemap inner = {0};
    map_type(&inner, c->types[0], place);
    for (int i = 0; i < inner.count; i++)
        if (inner.entries[i].kind == ENTRY_DATA)
            map_entry(map, inner.entries[i].place, ENTRY_DATA, inner.entries[i].size, inner.entries[i].align);
    free(inner.entries);
    map_entry(map, place + c->addresses[0], ENTRY_LB, 0, 1);
    map_entry(map, place + c->addresses[0] + c->addresses[1], ENTRY_UB, 0, 1);
}

static void map_blocks(struct typemap *map, const struct contents *c, MPI_Aint place)
{
    const int *n = c->integers;
    MPI_Aint extent = c->combiner == MPI_COMBINER_STRUCT ? 0 : extent_of(c->types[0]);
    for (int i = 0; i < n[0]; i++) {
        switch (c->combiner) {
        case MPI_COMBINER_CONTIGUOUS:
            map_block(map, c->types[0], place + i * extent, 1);
            break;
        case MPI_COMBINER_VECTOR:
            map_block(map, c->types[0], place + i * n[2] * extent, n[1]);
            break;
        case MPI_COMBINER_HVECTOR:
            map_block(map, c->types[0], place + i * c->addresses[0], n[1]);
            break;
        case MPI_COMBINER_INDEXED:
            map_block(map, c->types[0], place + n[1 + n[0] + i] * extent, n[1 + i]);
            break;
        case MPI_COMBINER_HINDEXED:
            map_block(map, c->types[0], place + c->addresses[i], n[1 + i]);
            break;
        case MPI_COMBINER_INDEXED_BLOCK:
            map_block(map, c->types[0], place + n[2 + i] * extent, n[1]);
            break;
        case MPI_COMBINER_HINDEXED_BLOCK:
            map_block(map, c->types[0], place + c->addresses[i], n[1]);
            break;
        default:
            map_block(map, c->types[i], place + c->addresses[i], n[1 + i]);
            break;
        }
    }
}

static void map_type(struct typemap *map, MPI_Datatype type, MPI_Aint place)
{
    struct contents c;
    PMPI_Type_get_envelope(type, &c.integer_count, &c.address_count, &c.type_count, &c.combiner);
    if (c.combiner == MPI_COMBINER_NAMED) {
        map_named(map, type, place);
        return;
    }
    c.integers = calloc((size_t)c.integer_count + 1, sizeof c.integers[0]);
    c.addresses = calloc((size_t)c.address_count + 1, sizeof c.addresses[0]);
    c.types = calloc((size_t)c.type_count + 1, sizeof c.types[0]);
    PMPI_Type_get_contents(type, c.integer_count, c.address_count, c.type_count, c.integers, c.addresses,
                           c.types);
    if (c.combiner == MPI_COMBINER_DUP)
        map_type(map, c.types[0], place);
    else if (c.combiner == MPI_COMBINER_RESIZED)
        map_resized(map, &c, place);
    else if (c.combiner == MPI_COMBINER_SUBARRAY || c.combiner == MPI_COMBINER_DARRAY)
        map_array(map, &c, place);
    else
        map_blocks(map, &c, place);
    for (int i = 0; i < c.type_count; i++) {
        int a, b, d, combiner;
        PMPI_Type_get_envelope(c.types[i], &a, &b, &d, &combiner);
        if (combiner != MPI_COMBINER_NAMED)
            PMPI_Type_free(&c.types[i]);
    }
    free(c.integers);
    free(c.addresses);
    free(c.types);
}

#endif
