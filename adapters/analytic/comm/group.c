/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages among the members of a new communicator alone: MPI_Comm_create_group, and MPICH's broadcast. */
#include "adapters/analytic/comm/comm.h"

#include <limits.h>

#include "adapters/analytic/p2p/p2p.h"

enum { PARENT, FIRST_CHILD, PEERS = 3, ROUNDS = 3 };

/* The caller's neighbours in the group's binary tree, as ranks of the world; negative where there is none. */
struct tree {
    struct an_comm *place;
    int tag;
    int words; /* of a message */
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
static uint32_t exchanged[AN_FREE_BYTES / sizeof(uint32_t)];

static MPI_Request receive(const struct tree *tree, int peer)
{
    struct an_request *request = an_request_new(tree->place->rank, AN_RECEIVE);
    an_request_describe(request, exchanged, tree->words, MPI_INT);
    request->posted = an_now(tree->place->rank);
    request->path = an_path_post(tree->place->rank, request->posted, PF_CHAIN_SOFTWARE);
    an_message_receive(tree->place, peer, tree->tag, request);
    return (MPI_Request)request;
}

static MPI_Request send(const struct tree *tree, int peer)
{
    struct an_send s = {tree->place, exchanged, tree->words, MPI_INT, peer, tree->tag, PF_COST_STANDARD};
    struct an_request *request = an_send_request(&s);
    request->done_at = an_message_send(&s, &request);
    return (MPI_Request)request;
}

static void finish(int n, MPI_Request *handles)
{
    an_wait_all(n, handles);
    for (int i = 0; i < n; i++)
        an_request_finish(&handles[i], NULL);
}

static void with_children(const struct tree *tree, MPI_Request (*start)(const struct tree *tree, int peer))
{
    MPI_Request handles[PEERS];
    int n = 0;
    for (int i = FIRST_CHILD; i < PEERS; i++)
        if (tree->peers[i] >= 0)
            handles[n++] = start(tree, tree->peers[i]);
    finish(n, handles);
}

static void with_parent(const struct tree *tree)
{
    MPI_Request handles[] = {send(tree, tree->peers[PARENT]), receive(tree, tree->peers[PARENT])};
    finish(2, handles);
}

/* The application's tag counts within its communicator. */
static int tag_of(const struct an_comm *comm, int tag)
{
    return (int)(((unsigned)comm->shared->id * 65599u + (unsigned)tag) & INT_MAX);
}

/* As a rank of the world. */
static int member(const struct an_members *members, int number)
{
    int rank = 0;
    if (members->list)
        return members->list[number];
    PMPI_Group_translate_ranks(members->group, 1, &number, members->world, &rank);
    return rank;
}

static void one(const struct tree *tree, MPI_Request (*start)(const struct tree *tree, int peer), int peer)
{
    MPI_Request handle = start(tree, peer);
    finish(1, &handle);
}

/* MPICH's: binomial, from the first member. */
static void broadcast(struct tree *tree, const struct an_members *m)
{
    int below = 1; /* how many the caller serves, itself included */
    tree->words = 1;
    while (below < m->n && !(m->me & below))
        below <<= 1;
    if (m->me > 0)
        one(tree, receive, member(m, m->me - below));
    for (below >>= 1; below; below >>= 1)
        if (m->me + below < m->n)
            one(tree, send, member(m, m->me + below));
}

/* Recursive doubling. Of the first members, as many as are more than a power of two act through the next. */
static void reduce(struct tree *tree, const struct an_members *m)
{
    int power = 1, me = m->me;
    tree->words = AN_FREE_BYTES / (int)sizeof *exchanged;
    while (2 * power <= m->n)
        power *= 2;
    int more = m->n - power, number = me < 2 * more ? me / 2 : me - more;
    bool through = me < 2 * more && me % 2 == 0;
    int next = me < 2 * more ? member(m, through ? me + 1 : me - 1) : -1;
    if (next >= 0)
        one(tree, through ? send : receive, next);
    for (int step = 1; step < power && !through; step *= 2) {
        int peer = number ^ step;
        peer = member(m, peer < more ? 2 * peer + 1 : peer + more);
        MPI_Request handles[] = {receive(tree, peer), send(tree, peer)};
        finish(2, handles);
    }
    if (next >= 0)
        one(tree, through ? receive : send, next);
}

void an_comm_broadcast(const struct an_comm *parent, const struct an_members *members)
{
    struct tree tree = {.place = place_of(parent->rank), .tag = tag_of(parent, INT_MAX)};
    broadcast(&tree, members);
}

/* In `me` MPI_UNDEFINED, which is negative, if the rank is no member. */
static struct an_members members_of(const struct an_rank *rank, MPI_Group group)
{
    struct an_members members = {.group = group};
    PMPI_Comm_group(MPI_COMM_WORLD, &members.world);
    PMPI_Group_size(group, &members.n);
    PMPI_Group_translate_ranks(members.world, 1, &rank->base.rank, group, &members.me);
    return members;
}

void an_comm_broadcast_group(const struct an_comm *parent, MPI_Group group)
{
    struct an_members members = members_of(parent->rank, group);
    if (members.me >= 0)
        an_comm_broadcast(parent, &members);
    PMPI_Group_free(&members.world);
}

static int create_as_mpich(struct tree *tree, MPI_Group group)
{
    struct an_members members = members_of(tree->place->rank, group);
    reduce(tree, &members);
    broadcast(tree, &members);
    PMPI_Group_free(&members.world);
    return MPI_SUCCESS;
}

int an_comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
    struct an_rank *rank = an_rank_self();
    struct tree tree = {.place = place_of(rank), .tag = tag_of(an_comm_of(comm), tag), .words = 1};
    *made = MPI_COMM_NULL; /* the middleware makes it: it knows the members */
    if (an_job.mpich)
        return create_as_mpich(&tree, group);
    find_peers(&tree, group);
    for (int i = 0; i < ROUNDS; i++) {
        with_children(&tree, receive);
        if (tree.peers[PARENT] >= 0)
            with_parent(&tree);
        with_children(&tree, send);
    }
    return MPI_SUCCESS;
}
