/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Intercomm_create. Each side decides in which model it creates: by its implementation's own function,
 * which Open MPI over Portals has, or by the messages that this function would send, in the analytic model or
 * in Open MPI over UCX, whose function would not meet the other's. When
 * the sides have decided differently, each does its own work inside, and the leaders meet in both models:
 * what the function has made then is not used, shadows are made at first use.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "middleware/agree/switch.h"
#include "middleware/comm/comm.h"
#include "middleware/comm/intercomm.h"
#include "middleware/comm/routing.h"

/* One side of a creation. */
struct side {
    int leader; /* rank of the world */
    const struct pf_comm_shared *local;
    uint64_t sequence; /* number of the collective on it */
    int *ranks;
    int size;
    int model;
    bool by_lists; /* creates by exchanging lists of members: its implementation has no such function */
    int inside;    /* members that have not left the call; 0: its leader has not come, or all have left */
    bool here;
};

/* The leaders of both sides find each other by the peer communicator, the tag, and each other's ranks; the
 * others find their leader by the local communicator. */
struct creation {
    struct creation *next;
    int peer, tag;
    struct side side[2];
};

static struct creation *creations; /* oldest first */

static struct creation *creation_of_leaders(int peer, int tag, int me, int other, int *mine)
{
    struct creation **link = &creations;
    for (; *link; link = &(*link)->next) {
        struct creation *c = *link;
        if (c->peer == peer && c->tag == tag && c->side[0].leader == other && c->side[1].leader == me &&
            !c->side[1].here) {
            *mine = 1;
            return c;
        }
    }
    *link = pf_calloc(1, sizeof **link);
    (*link)->peer = peer;
    (*link)->tag = tag;
    (*link)->side[0].leader = me;
    (*link)->side[1].leader = other;
    *mine = 0;
    return *link;
}

static struct creation *creation_of_member(const struct pf_comm *local, uint64_t sequence, int *mine)
{
    for (struct creation *c = creations; c; c = c->next)
        for (int i = 0; i < 2; i++)
            if (c->side[i].inside > 0 && c->side[i].local == local->shared &&
                c->side[i].sequence == sequence) {
                *mine = i;
                return c;
            }
    pf_die("MPI_Intercomm_create has ended before the leaders of the groups have met");
}

static bool creates_by_lists(const struct pf_instance *in)
{
    return !in->fn->Intercomm_create;
}

static void arrive(struct side *side, const struct pf_comm *local, uint64_t sequence,
                   const struct pf_instance *in)
{
    const struct pf_comm_shared *shared = local->shared;
    side->local = shared;
    side->sequence = sequence;
    side->ranks = pf_malloc((size_t)shared->size * sizeof *side->ranks);
    memcpy(side->ranks, shared->world_ranks, (size_t)shared->size * sizeof *side->ranks);
    side->size = side->inside = shared->size;
    side->by_lists = creates_by_lists(in);
    side->model = in->model;
    side->here = true;
}

static void leave(struct creation *c, struct side *side)
{
    struct creation **link = &creations;
    side->inside--;
    if (!c->side[0].here || !c->side[1].here || c->side[0].inside > 0 || c->side[1].inside > 0)
        return;
    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    free(c->side[0].ranks);
    free(c->side[1].ranks);
    free(c);
}

/* The arguments of the call. */
struct call {
    struct pf_comm *local;
    MPI_Comm local_handle, peer;
    int local_leader, remote_leader, tag;
};

/* ---- by lists ---- */

static int swap_lists(struct pf_instance *in, const struct call *call, const int *ranks, int n, int *others,
                      int m)
{
    pf_native_datatype_t type = pf_native(in, MPI_INT);
    return in->fn->Sendrecv(ranks, n, type, call->remote_leader, call->tag, others, m, type,
                            call->remote_leader, call->tag, pf_native(in, call->peer), NULL);
}

/* The leaders exchange the lengths of their lists of members, and the lists. */
static int meet_by_lists(struct pf_rank *r, const struct call *call, const struct creation *c, int mine)
{
    const struct side *ours = &c->side[mine], *theirs = &c->side[!mine];
    struct pf_instance *in = pf_call_native_begin(r, r->models[(theirs->here ? theirs : ours)->model]);
    int number, code = swap_lists(in, call, &ours->size, 1, &number, 1);
    if (code == MPI_SUCCESS) {
        int *others = pf_malloc((size_t)theirs->size * sizeof *others);
        code = swap_lists(in, call, ours->ranks, ours->size, others, theirs->size);
        free(others);
    }
    pf_call_native_end(r, in);
    return code;
}

/* The leader sends its side the members of the other; all agree on an identifier. */
static int send_by_lists(struct pf_rank *r, struct pf_instance *in, const struct call *call,
                         uint64_t sequence)
{
    pf_call_native_begin(r, in);
    pf_native_comm_t local = pf_native(in, call->local_handle);
    pf_native_datatype_t type = pf_native(in, MPI_INT);
    int number = 0, id = 0, least, mine, code = in->fn->Bcast(&number, 1, type, call->local_leader, local);
    if (code == MPI_SUCCESS) {
        const struct creation *c = creation_of_member(call->local, sequence, &mine);
        int n = c->side[!mine].size, *list = pf_calloc((size_t)n, sizeof *list);
        code = in->fn->Bcast(list, n, type, call->local_leader, local);
        free(list);
    }
    if (code == MPI_SUCCESS)
        code = in->fn->Allreduce(&id, &least, 1, type, pf_native(in, MPI_MAX), local);
    pf_call_native_end(r, in);
    return code;
}

/* ---- by the function ---- */

static int create_by_function(struct pf_rank *r, struct pf_instance *in, const struct call *call,
                              MPI_Comm local, int local_leader, bool leads, pf_native_comm_t *native)
{
    pf_call_native_begin(r, in);
    int code = in->fn->Intercomm_create(pf_native(in, local), local_leader,
                                        leads ? pf_native(in, call->peer) : in->values->comm_null,
                                        call->remote_leader, call->tag, native);
    pf_call_native_end(r, in);
    return code;
}

/* For the other side, which creates by the function: this one is there with its leader alone. */
static int meet_by_function(struct pf_rank *r, struct pf_instance *in, const struct call *call)
{
    pf_native_comm_t native = NULL;
    int code = create_by_function(r, in, call, MPI_COMM_SELF, 0, true, &native);
    if (code == MPI_SUCCESS)
        in->ops->comm_free(in, native);
    return code;
}

/* ---- both ---- */

/* What the leader does before its side goes on. */
static int meet(struct pf_rank *r, const struct call *call, const struct creation *c, int mine)
{
    const struct side *ours = &c->side[mine], *theirs = &c->side[!mine];
    bool they_list = theirs->here && theirs->by_lists;
    int code = MPI_SUCCESS;
    if (they_list || (ours->by_lists && !theirs->here))
        code = meet_by_lists(r, call, c, mine);
    if (code == MPI_SUCCESS && ours->by_lists && theirs->here && !theirs->by_lists)
        code = meet_by_function(r, r->models[theirs->model], call);
    return code;
}

/* The new communicator of a member, after its side has done its work. */
static MPI_Comm adopt(struct pf_rank *r, const struct call *call, uint64_t sequence, struct pf_instance *in,
                      void *native)
{
    int mine;
    struct creation *c = creation_of_member(call->local, sequence, &mine);
    struct side *ours = &c->side[mine], *theirs = &c->side[!mine];
    if (native && theirs->by_lists) {
        in->ops->comm_free(in, native);
        native = NULL;
    }
    struct pf_comm *comm = pf_intercomm_adopt(r, call->local, ours->ranks, ours->size, call->local->me,
                                              theirs->ranks, theirs->size, in, native);
    leave(c, ours);
    return (MPI_Comm)(uintptr_t)comm;
}

/* Where this side creates. */
static struct pf_instance *choose(struct pf_rank *r, struct pf_comm *local)
{
    struct pf_instance *in = pf_comm_collective(r, local);
    return in->ops->intercomm_shadow != pf_adapter_no_intercomm ? in : pf_switch_promote(r);
}

int pf_PMPI_Intercomm_create(MPI_Comm local, int local_leader, MPI_Comm peer, int remote_leader, int tag,
                             MPI_Comm *newcomm)
{
    struct pf_rank *r = PF_ENTER(Intercomm_create);
    struct call call = {pf_comm_of(r, local), local, peer, local_leader, remote_leader, tag};
    struct pf_comm *parent = call.local;
    if (!parent || pf_comm_is_inter(parent))
        return pf_call_error(r, local, MPI_ERR_COMM);
    if (!newcomm || local_leader < 0 || local_leader >= parent->shared->size)
        return pf_call_error(r, local, newcomm ? MPI_ERR_RANK : MPI_ERR_ARG);
    bool leads = parent->me == local_leader;
    const struct pf_comm *bridge = leads ? pf_comm_of(r, peer) : NULL;
    if (leads && !bridge)
        return pf_call_error(r, local, MPI_ERR_COMM);
    if (leads && (tag < 0 || remote_leader < 0 || remote_leader >= pf_comm_peers(bridge)))
        return pf_call_error(r, local, tag < 0 ? MPI_ERR_TAG : MPI_ERR_RANK);
    pf_call_schedule(r, false);
    struct pf_instance *in = choose(r, parent);
    uint64_t sequence = parent->collectives - 1;
    int code = MPI_SUCCESS;
    if (leads) {
        int mine, other = pf_comm_peer_side(bridge)->world_ranks[remote_leader];
        struct creation *c = creation_of_leaders(bridge->shared->first->id, tag, r->self.rank, other, &mine);
        arrive(&c->side[mine], parent, sequence, in);
        code = meet(r, &call, c, mine);
    }
    pf_native_comm_t native = NULL;
    if (code == MPI_SUCCESS)
        code = creates_by_lists(in) ? send_by_lists(r, in, &call, sequence)
                                    : create_by_function(r, in, &call, local, local_leader, leads, &native);
    pf_call_native_begin(r, in);
    if (code == MPI_SUCCESS)
        *newcomm = adopt(r, &call, sequence, in, native);
    return pf_call_leave(r, in, local, code);
}
