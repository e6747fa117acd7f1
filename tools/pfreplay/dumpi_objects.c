/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes, operations and groups of a DUMPI file: what calls that take no time say of them. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tools/pfreplay/dumpi.h"

/* Finds by number, or adds. */
#define PUT(table, number, one)                                                                              \
    do {                                                                                                     \
        int number_ = (int)(number);                                                                         \
        HASH_FIND_INT(table, &number_, one);                                                                 \
        if (!(one)) {                                                                                        \
            (one) = pf_calloc(1, sizeof *(one));                                                             \
            (one)->self = number_;                                                                           \
            HASH_ADD_INT(table, self, one);                                                                  \
        }                                                                                                    \
    } while (0)

/* DUMPI's predefined datatypes by number: SMPI's number, and the size that it has here. */
enum { FIRST_TYPE = 2, FIRST_USER_TYPE = 28 };
static const struct {
    int number;
    int size;
} predefined[] = {{2, 1},  {8, 1},  {9, 1},  {6, 1},   {15, 4},  {3, 2},  {10, 2}, {1, 4},  {11, 4},
                  {4, 8},  {12, 8}, {5, 4},  {0, 8},   {14, 16}, {7, 8},  {13, 8}, {7, 8},  {57, 1},
                  {-1, 0}, {-1, 0}, {30, 8}, {32, 12}, {31, 12}, {33, 6}, {34, 8}, {50, 20}};

static bool is_predefined(int type)
{
    return type >= FIRST_TYPE && type < FIRST_USER_TYPE;
}

/* The size of a datatype in bytes; what is not known ends the process. */
static int64_t size_of_type(const struct dumpi *d, int number)
{
    struct dumpi_type *type;
    HASH_FIND_INT(d->types, &number, type);
    if (!type)
        HASH_FIND_INT(d->sizes, &number, type);
    if (!type && !is_predefined(number))
        dumpi_die(d, "%s: the size of datatype %d is not known (dumpi2ascii -S -X prints it)", d->function,
                  number);
    return type ? type->size : predefined[number - FIRST_TYPE].size;
}

void dumpi_type_put(const struct dumpi *d, int number)
{
    int64_t size = number < FIRST_TYPE ? 0 : size_of_type(d, number); /* MPI_DATATYPE_NULL with nothing */
    if (is_predefined(number) && size == predefined[number - FIRST_TYPE].size &&
        predefined[number - FIRST_TYPE].number >= 0)
        fprintf(d->out, " %d", predefined[number - FIRST_TYPE].number);
    else
        fprintf(d->out, " *%lld", (long long)size);
}

static void new_type(struct dumpi *d, int64_t size)
{
    struct dumpi_type *type;
    if (size < 0 || size > INT32_MAX)
        dumpi_die(d, "%s: a datatype cannot have %lld bytes", d->function, (long long)size);
    PUT(d->types, dumpi_number(d, "newtype"), type);
    type->size = size;
}

static int64_t sum(struct dumpi *d, const char *name)
{
    int count, *numbers = dumpi_array(d, name, &count);
    int64_t all = 0;
    for (int i = 0; i < count; i++)
        all += numbers[i];
    free(numbers);
    return all;
}

static int64_t old_size(const struct dumpi *d)
{
    return size_of_type(d, (int)dumpi_number(d, "oldtype"));
}

static void struct_type(struct dumpi *d)
{
    int lengths, types, *length = dumpi_array(d, "lengths", &lengths),
                        *type = dumpi_array(d, "oldtypes", &types);
    int64_t all = 0;
    if (lengths != types)
        dumpi_die(d, "%s has %d lengths and %d datatypes", d->function, lengths, types);
    for (int i = 0; i < types; i++)
        all += length[i] * size_of_type(d, type[i]);
    free(length);
    free(type);
    new_type(d, all);
}

static void subarray_type(struct dumpi *d)
{
    int count, *sizes = dumpi_array(d, "subsizes", &count);
    int64_t all = old_size(d);
    for (int i = 0; i < count; i++)
        all *= sizes[i];
    free(sizes);
    new_type(d, all);
}

static bool is(const struct dumpi *d, const char *name)
{
    return strcmp(d->function + 4, name) == 0;
}

/* Type_commit and its like have nothing that is needed. */
static void type_call(struct dumpi *d)
{
    struct dumpi_type *type;
    if (is(d, "Type_contiguous"))
        new_type(d, dumpi_number(d, "count") * old_size(d));
    else if (is(d, "Type_vector") || is(d, "Type_hvector") || is(d, "Type_create_hvector"))
        new_type(d, dumpi_number(d, "count") * dumpi_number(d, "blocklength") * old_size(d));
    else if (is(d, "Type_indexed") || is(d, "Type_hindexed") || is(d, "Type_create_hindexed"))
        new_type(d, sum(d, "lengths") * old_size(d));
    else if (is(d, "Type_create_indexed_block"))
        new_type(d, dumpi_number(d, "count") * dumpi_number(d, "blocklength") * old_size(d));
    else if (is(d, "Type_struct") || is(d, "Type_create_struct"))
        struct_type(d);
    else if (is(d, "Type_create_subarray"))
        subarray_type(d);
    else if (is(d, "Type_create_resized") || is(d, "Type_dup"))
        new_type(d, old_size(d));
    else if (is(d, "Type_size")) {
        PUT(d->types, dumpi_number(d, "datatype"), type);
        type->size = dumpi_number(d, "size");
    } else if (dumpi_field(d, "newtype")) {
        PUT(d->types, dumpi_number(d, "newtype"), type);
        HASH_DEL(d->types, type); /* its size is not known, unless the table has it */
        free(type);
    }
}

/* ---- Groups. */
static void new_group(struct dumpi *d, int count, int *ranks)
{
    struct dumpi_group *group;
    PUT(d->groups, dumpi_number(d, dumpi_field(d, "newgroup") ? "newgroup" : "group"), group);
    free(group->ranks);
    group->count = count;
    group->ranks = ranks;
}

/* One that is not known. */
static void forget_group(struct dumpi *d)
{
    struct dumpi_group *group;
    PUT(d->groups, dumpi_number(d, dumpi_field(d, "newgroup") ? "newgroup" : "group"), group);
    HASH_DEL(d->groups, group);
    free(group->ranks);
    free(group);
}

static const struct dumpi_group *find_group(const struct dumpi *d, const char *field)
{
    static const struct dumpi_group empty = {.count = 0};
    int number = (int)dumpi_number(d, field);
    struct dumpi_group *group;
    HASH_FIND_INT(d->groups, &number, group);
    return group ? group : number == 2 ? &empty : NULL;
}

const struct dumpi_group *dumpi_group_of(const struct dumpi *d, const char *field)
{
    const struct dumpi_group *group = find_group(d, field);
    if (!group)
        dumpi_die(d, "%s: the members of its group are not known: it is not of MPI_COMM_WORLD", d->function);
    return group;
}

static void comm_group(struct dumpi *d)
{
    int number = (int)dumpi_number(d, "comm");
    struct dumpi_comm *comm;
    HASH_FIND_INT(d->comms, &number, comm);
    if (number != 2 && number != 3 && !(comm && comm->is_world)) {
        forget_group(d);
        return;
    }
    int count = number == 3 ? 1 : d->ranks, *ranks = pf_calloc((size_t)count, sizeof *ranks);
    for (int i = 0; i < count; i++)
        ranks[i] = number == 3 ? d->rank : i;
    new_group(d, count, ranks);
}

/* Marks the ranks that a list of ranks, or of ranges, names; in their order if `order` is given. */
static int listed(const struct dumpi *d, const struct dumpi_group *of, bool *marks, int *order)
{
    bool ranges = strstr(d->function, "range") != NULL;
    int count, *list = dumpi_array(d, ranges ? "ranges" : "ranks", &count), named = 0;
    for (int i = 0; i + (ranges ? 2 : 0) < count; i += ranges ? 3 : 1) {
        int last = ranges ? list[i + 1] : list[i], step = ranges ? list[i + 2] : 1;
        if (step == 0)
            dumpi_die(d, "%s has a range with stride 0", d->function);
        for (int rank = list[i]; step > 0 ? rank <= last : rank >= last; rank += step) {
            if (rank < 0 || rank >= of->count || named == of->count)
                dumpi_die(d, "%s: there is no rank %d in its group", d->function, rank);
            marks[rank] = true;
            order[named++] = of->ranks[rank];
        }
    }
    free(list);
    return named;
}

/* Those of one group that are, or are not, in another. */
static int chosen(const struct dumpi_group *a, const struct dumpi_group *b, bool in, int *ranks)
{
    int count = 0;
    for (int i = 0; i < a->count; i++) {
        bool found = false;
        for (int k = 0; k < b->count; k++)
            found |= a->ranks[i] == b->ranks[k];
        if (found == in)
            ranks[count++] = a->ranks[i];
    }
    return count;
}

static void group_of_groups(struct dumpi *d)
{
    const struct dumpi_group *a = find_group(d, "group1"), *b = find_group(d, "group2");
    if (!a || !b) {
        forget_group(d);
        return;
    }
    int *ranks = pf_calloc((size_t)(a->count + b->count) + 1, sizeof *ranks), count;
    if (is(d, "Group_union")) {
        memcpy(ranks, a->ranks, (size_t)a->count * sizeof *ranks);
        count = a->count + chosen(b, a, false, ranks + a->count);
    } else {
        count = chosen(a, b, is(d, "Group_intersection"), ranks);
    }
    new_group(d, count, ranks);
}

static void group_of_ranks(struct dumpi *d)
{
    const struct dumpi_group *of = find_group(d, "group");
    if (!of) {
        forget_group(d);
        return;
    }
    bool *marks = pf_calloc((size_t)of->count + 1, sizeof *marks);
    int *ranks = pf_calloc((size_t)of->count + 1, sizeof *ranks);
    int count = listed(d, of, marks, ranks);
    if (strstr(d->function, "excl")) {
        count = 0;
        for (int i = 0; i < of->count; i++)
            if (!marks[i])
                ranks[count++] = of->ranks[i];
    }
    free(marks);
    new_group(d, count, ranks);
}

static void group_call(struct dumpi *d)
{
    if (is(d, "Group_union") || is(d, "Group_intersection") || is(d, "Group_difference"))
        group_of_groups(d);
    else if (is(d, "Group_incl") || is(d, "Group_excl") || is(d, "Group_range_incl") ||
             is(d, "Group_range_excl"))
        group_of_ranks(d);
}

static void new_op(struct dumpi *d)
{
    struct dumpi_op *op;
    PUT(d->ops, dumpi_number(d, "op"), op);
    op->commutes = dumpi_number(d, "commute") != 0;
}

bool dumpi_object(struct dumpi *d)
{
    if (strncmp(d->function, "MPI_Type_", 9) == 0)
        type_call(d);
    else if (strncmp(d->function, "MPI_Group_", 10) == 0)
        group_call(d);
    else if (is(d, "Comm_group"))
        comm_group(d);
    else if (is(d, "Op_create"))
        new_op(d);
    else
        return false;
    return true;
}

#define FREE_ALL(table)                                                                                      \
    do {                                                                                                     \
        __typeof__(table) one_, next_;                                                                       \
        HASH_ITER(hh, table, one_, next_)                                                                    \
        {                                                                                                    \
            HASH_DEL(table, one_);                                                                           \
            free(one_);                                                                                      \
        }                                                                                                    \
    } while (0)

void dumpi_objects_free(struct dumpi *d)
{
    for (struct dumpi_group *group = d->groups; group; group = group->hh.next)
        free(group->ranks);
    FREE_ALL(d->requests);
    FREE_ALL(d->groups);
    FREE_ALL(d->comms);
    FREE_ALL(d->types);
    FREE_ALL(d->sizes);
    FREE_ALL(d->ops);
    free(d->taken);
}
