/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of new communicators after an MPI_Comm_split, found once for all ranks. */
#include <stdlib.h>
#include <string.h>

#include "adapters/analytic/comm/comm.h"
#include "base/memory.h"

struct keyed {
    int color, key, rank;
};

/* What the members say in MPICH's exchange before an MPI_Comm_split, sorted once for all of them. */
struct an_split {
    uint64_t sorted; /* number of the call for which that has been done */
    struct keyed *said;
    struct keyed *order; /* by color, key, rank */
    int *place;          /* of each member in that order, */
    int *begin, *end;    /* of those of its color; by place */
    int *world;          /* the order as ranks of the world */
};

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->color != y->color)
        return x->color < y->color ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static struct an_split *split_new(int members)
{
    size_t n = (size_t)members;
    struct an_split *split = pf_calloc(1, sizeof *split);
    split->said = pf_calloc(n, sizeof *split->said);
    split->order = pf_calloc(n, sizeof *split->order);
    split->place = pf_calloc(4 * n, sizeof *split->place);
    split->begin = split->place + n;
    split->end = split->begin + n;
    split->world = split->end + n;
    return split;
}

void an_split_free(struct an_split *split)
{
    if (!split)
        return;
    free(split->said);
    free(split->order);
    free(split->place);
    free(split);
}

static void sort(const struct an_shared *shared, struct an_split *split)
{
    struct keyed *order = split->order;
    int n = shared->size;
    memcpy(order, split->said, (size_t)n * sizeof *order);
    qsort(order, (size_t)n, sizeof *order, compare_keyed);
    for (int i = 0; i < n; i++) {
        split->place[order[i].rank] = i;
        split->world[i] = shared->world_ranks[order[i].rank];
        split->begin[i] = i > 0 && order[i].color == order[i - 1].color ? split->begin[i - 1] : i;
    }
    for (int i = n - 1; i >= 0; i--)
        split->end[i] = i + 1 < n && order[i].color == order[i + 1].color ? split->end[i + 1] : i + 1;
}

void an_split_say(struct an_comm *comm, int color, int key)
{
    struct an_shared *shared = comm->shared;
    if (!shared->split)
        shared->split = split_new(shared->size);
    shared->split->said[comm->me] = (struct keyed){color, key, comm->me};
}

struct an_members an_split_members(const struct an_comm *comm)
{
    struct an_split *split = comm->shared->split;
    if (split->sorted != comm->collectives)
        sort(comm->shared, split);
    split->sorted = comm->collectives;
    int place = split->place[comm->me], begin = split->begin[place];
    return (struct an_members){
        .list = split->world + begin, .n = split->end[place] - begin, .me = place - begin};
}
