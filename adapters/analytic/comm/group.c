/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_create_group, which the members of a group call alone. */
#include "adapters/analytic/comm/comm.h"

#include <limits.h>

#include "adapters/analytic/p2p/p2p.h"

enum { PARENT, FIRST_CHILD, PEERS = 3, ROUNDS = 3 };

/* The caller's neighbours in the group's binary tree, as ranks of the world; negative where there is none. */
struct tree {
    struct an_comm *place;
    int tag;
    int peers[PEERS];
};

/* The communicator for messages of groups: of all ranks, separate from the application's. */
static struct an_comm *place_of(struct an_rank *rank)
{
    static struct an_comm *first;
    const struct an_shared *world = rank->world->shared;
    if (!rank->groups)
        rank->groups = first ? an_comm_join_private(rank, first, rank->base.rank)
                             : an_comm_join(rank, -1, world->world_ranks, world->size, rank->base.rank);
    if (!first)
        first = rank->groups;
    return rank->groups;
}

static void find_peers(struct tree *tree, MPI_Group group)
{
    MPI_Group world;
    int me, size, member[PEERS];
    PMPI_Group_size(group, &size);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(world, 1, &tree->place->me, group, &me);
    member[PARENT] = me > 0 ? (me - 1) / 2 : -1;
    for (int i = FIRST_CHILD; i < PEERS; i++)
        member[i] = 2 * me + i < size ? 2 * me + i : -1;
    for (int i = 0; i < PEERS; i++) {
        tree->peers[i] = -1;
        if (member[i] >= 0)
            PMPI_Group_translate_ranks(group, 1, &member[i], world, &tree->peers[i]);
    }
    PMPI_Group_free(&world);
}

/* The values do not matter: the middleware knows which identifier is free. */
static int exchanged;

static MPI_Request receive(const struct tree *tree, int peer)
{
    struct an_request *request = an_request_new(tree->place->rank, AN_RECEIVE);
    an_request_describe(request, &exchanged, 1, MPI_INT);
    request->posted = an_now(tree->place->rank);
    request->path = an_path_post(tree->place->rank, request->posted, PF_CHAIN_SOFTWARE);
    an_message_receive(tree->place, peer, tree->tag, request);
    return (MPI_Request)request;
}

static MPI_Request send(const struct tree *tree, int peer)
{
    struct an_send s = {tree->place, &exchanged, 1, MPI_INT, peer, tree->tag, PF_COST_STANDARD};
    struct an_request *request = an_send_request(&s);
    request->done_at = an_message_send(&s, &request);
    return (MPI_Request)request;
}

static void with_children(const struct tree *tree, MPI_Request (*start)(const struct tree *tree, int peer))
{
    MPI_Request handles[PEERS];
    int n = 0;
    for (int i = FIRST_CHILD; i < PEERS; i++)
        if (tree->peers[i] >= 0)
            handles[n++] = start(tree, tree->peers[i]);
    an_wait_all(n, handles);
    for (int i = 0; i < n; i++)
        an_request_finish(&handles[i], NULL);
}

static void with_parent(const struct tree *tree)
{
    MPI_Request handles[] = {send(tree, tree->peers[PARENT]), receive(tree, tree->peers[PARENT])};
    an_wait_all(2, handles);
    for (int i = 0; i < 2; i++)
        an_request_finish(&handles[i], NULL);
}

/* The application's tag counts within its communicator. */
static int tag_of(const struct an_comm *comm, int tag)
{
    return (int)(((unsigned)comm->shared->id * 65599u + (unsigned)tag) & INT_MAX);
}

int an_comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
    struct an_rank *rank = an_rank_self();
    struct tree tree = {place_of(rank), tag_of(an_comm_of(comm), tag), {0}};
    *made = MPI_COMM_NULL; /* the middleware makes it: it knows the members */
    find_peers(&tree, group);
    for (int i = 0; i < ROUNDS; i++) {
        with_children(&tree, receive);
        if (tree.peers[PARENT] >= 0)
            with_parent(&tree);
        with_children(&tree, send);
    }
    return MPI_SUCCESS;
}
