/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators: all members of one share a structure, found by the id that the middleware gives. */
#include "adapters/analytic/comm/comm.h"

#include <stdlib.h>
#include <string.h>

#include "adapters/analytic/collective/collective.h"
#include "base/memory.h"

static struct an_shared **table;
static int table_size;

static struct an_shared *shared_new(int id, const int *world_ranks, int n, int cut)
{
    struct an_shared *shared = pf_calloc(1, sizeof *shared);
    size_t count = (size_t)n;
    shared->id = id;
    shared->size = n;
    shared->cut = cut;
    shared->world_ranks = pf_malloc((count + 1) * sizeof *world_ranks);
    memcpy(shared->world_ranks, world_ranks, count * sizeof *world_ranks);
    shared->joined = pf_calloc(count, sizeof *shared->joined);
    shared->leaves = pf_malloc((count + 1) * sizeof *shared->leaves);
    shared->match = pf_calloc(count, sizeof *shared->match);
    return shared;
}

static void shared_free(struct an_shared *shared)
{
    for (int i = 0; i < shared->size; i++)
        an_match_clear(&shared->match[i]);
    an_collective_clear(shared);
    free(shared->leaves);
    an_split_free(shared->split);
    free(shared->match);
    free(shared->joined);
    free(shared->world_ranks);
    free(shared);
}

static struct an_shared **slot_of(int id)
{
    PF_ARRAY_REACH(table, table_size, id);
    return &table[id];
}

/* Ids are reused. A structure without a holder belongs to an older communicator, unless this member has not
 * joined yet: others may have sent to it and left. */
static bool is_same(const struct an_shared *shared, const int *world_ranks, int n, int cut, int me)
{
    return shared->size == n && shared->cut == cut && (shared->members > 0 || !shared->joined[me]) &&
           memcmp(shared->world_ranks, world_ranks, (size_t)n * sizeof *world_ranks) == 0;
}

struct an_comm *an_intercomm_join(struct an_rank *rank, int id, const int *members, int n, int cut, int index)
{
    struct an_shared *shared = NULL;
    if (id >= 0) {
        struct an_shared **slot = slot_of(id);
        if (*slot && !is_same(*slot, members, n, cut, index)) {
            shared_free(*slot);
            *slot = NULL;
        }
        if (!*slot)
            *slot = shared_new(id, members, n, cut);
        shared = *slot;
    } else {
        shared = shared_new(id, members, n, cut); /* of one member */
    }
    struct an_comm *comm = pf_calloc(1, sizeof *comm);
    int first = index < cut ? 0 : cut, size = cut == 0 ? n : first ? n - cut : cut;
    *comm = (struct an_comm){.rank = rank,
                             .shared = shared,
                             .me = index - first,
                             .index = index,
                             .first = first,
                             .size = size,
                             .peers_at = cut && !first ? cut : 0,
                             .peers = cut ? n - size : n};
    shared->members++;
    shared->joined[index] = true;
    return comm;
}

struct an_comm *an_comm_join(struct an_rank *rank, int id, const int *world_ranks, int n, int me)
{
    return an_intercomm_join(rank, id, world_ranks, n, 0, me);
}

struct an_comm *an_comm_join_private(struct an_rank *rank, const struct an_comm *first, int me)
{
    struct an_comm *comm = pf_malloc(sizeof *comm);
    *comm = *first;
    comm->rank = rank;
    comm->me = comm->index = me;
    comm->collectives = 0;
    comm->shared->members++;
    comm->shared->joined[me] = true;
    return comm;
}

void an_comm_leave(struct an_comm *comm)
{
    if (--comm->shared->members == 0 && comm->shared->id < 0)
        shared_free(comm->shared);
    free(comm);
}
