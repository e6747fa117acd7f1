/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * New communicators. The implementation in force runs its own real operation and its cost counts; the
 * middleware works out the members by itself, from what they pass, so that the other implementations' shadows
 * can be made without communication.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "middleware/comm/comm.h"
#include "middleware/comm/group.h"
#include "middleware/comm/intercomm.h"
#include "middleware/comm/routing.h"
#include "middleware/object/attribute.h"
#include "middleware/object/info.h"
#include "middleware/core/job_state.h"
#include "middleware/comm/comm_topology.h"

/* What the members of one collective exchange through memory: color and key. Of an intercommunicator
 * it has the members of the first side and then the others. */
struct pf_comm_meeting {
    uint64_t sequence;
    int left; /* members that have not yet read */
    struct pf_comm_meeting *next;
    struct keyed {
        int color, key, rank;
    } * order[2];   /* the members of each side, sorted, */
    int ordered[2]; /* and how many were there then */
    struct {
        bool present;
        int color, key;
    } member[];
};

/* Where a side begins. */
static int meeting_place(const struct pf_comm_shared *side)
{
    return side == side->first ? 0 : side->other->size;
}

static struct pf_comm_meeting *meeting_join(struct pf_comm *comm, uint64_t sequence, int color, int key)
{
    struct pf_comm_shared *shared = comm->shared->first;
    int members = shared->size + (shared->other ? shared->other->size : 0);
    int me = meeting_place(comm->shared) + comm->me;
    struct pf_comm_meeting *meeting = shared->meetings;
    while (meeting && meeting->sequence != sequence)
        meeting = meeting->next;
    if (!meeting) {
        meeting = pf_calloc(1, sizeof *meeting + (size_t)members * sizeof meeting->member[0]);
        meeting->sequence = sequence;
        meeting->left = members;
        meeting->next = shared->meetings;
        shared->meetings = meeting;
    }
    meeting->member[me].present = true;
    meeting->member[me].color = color;
    meeting->member[me].key = key;
    return meeting;
}

static void meeting_leave(struct pf_comm_shared *shared, struct pf_comm_meeting *meeting)
{
    shared = shared->first;
    if (--meeting->left > 0)
        return;
    struct pf_comm_meeting **link = &shared->meetings;
    while (*link != meeting)
        link = &(*link)->next;
    *link = meeting->next;
    free(meeting->order[0]);
    free(meeting->order[1]);
    free(meeting);
}

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->color != y->color)
        return x->color < y->color ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The members of one side by color, key and rank. The first one that asks sorts them for all; where not all
 * take part, as in MPI_Comm_create_group, others may have come since, and each sorts. */
static const struct keyed *meeting_order(const struct pf_comm_shared *side, struct pf_comm_meeting *meeting,
                                         int *count)
{
    int size = side->size, first = meeting_place(side), n = 0, which = side != side->first;
    struct keyed *order = meeting->order[which];
    *count = meeting->ordered[which];
    if (order && *count == size)
        return order;
    if (!order)
        order = meeting->order[which] = pf_malloc(((size_t)size + 1) * sizeof *order);
    for (int i = 0; i < size; i++)
        if (meeting->member[first + i].present)
            order[n++] = (struct keyed){meeting->member[first + i].color, meeting->member[first + i].key, i};
    qsort(order, (size_t)n, sizeof *order, compare_keyed);
    *count = meeting->ordered[which] = n;
    return order;
}

/* The first of `n` sorted members that is not before another one. */
static int place_of(const struct keyed *order, int n, struct keyed key)
{
    int low = 0;
    while (low < n) {
        int middle = low + (n - low) / 2;
        if (compare_keyed(&order[middle], &key) < 0)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* Members of `color` on one side, ordered by key and then by rank; returns their number, and the index of
 * number `self` of them. */
static int meeting_members(const struct pf_comm_shared *side, struct pf_comm_meeting *meeting, int color,
                           int *world_ranks, int self, int *me)
{
    int count, n = 0;
    const struct keyed *order = meeting_order(side, meeting, &count);
    int first = place_of(order, count, (struct keyed){color, INT_MIN, INT_MIN});
    for (; first + n < count && order[first + n].color == color; n++)
        world_ranks[n] = side->world_ranks[order[first + n].rank];
    if (self >= 0) {
        int key = meeting->member[meeting_place(side) + self].key;
        *me = place_of(order, count, (struct keyed){color, key, self}) - first;
    }
    return n;
}

struct pf_comm *pf_comm_adopt(struct pf_rank *r, struct pf_comm *parent, uint64_t sequence,
                              const int *world_ranks, int size, int me, bool node_local,
                              struct pf_instance *in, void *native)
{
    struct pf_comm_shared *shared = pf_comm_shared_get(parent, sequence, world_ranks, size, node_local);
    struct pf_comm *comm = pf_comm_new(r, shared, me);
    pf_comm_take(comm, parent, in, native);
    return comm;
}

int pf_comm_inherit(struct pf_rank *r, struct pf_comm *comm, struct pf_comm *parent, MPI_Info info,
                    bool own_info)
{
    comm->topology = pf_topology_retain(parent->topology);
    int error = pf_attributes_copy(parent->attributes, pf_comm_handle(parent), &comm->attributes);
    if (error != MPI_SUCCESS)
        return error;
    MPI_Info source = own_info ? info : parent->info ? (MPI_Info)(uintptr_t)parent->info : MPI_INFO_NULL;
    comm->info = pf_info_of(pf_info_copy(r, source));
    if (parent->shared->first->bound_model >= 0)
        pf_comm_bind(comm->shared, parent->shared->first->bound_model);
    pf_comm_bind_by_info(r, comm);
    return MPI_SUCCESS;
}

/* The communicator of the members of `color`, MPI_COMM_NULL for one that has none. Between groups of which
 * one is empty there is no intercommunicator. All members have joined the meeting. */
static MPI_Comm adopt_color(struct pf_rank *r, struct pf_comm *parent, uint64_t sequence,
                            struct pf_comm_meeting *meeting, int color, bool node_local,
                            struct pf_instance *in, void *native)
{
    const struct pf_comm_shared *other = parent->shared->other;
    struct pf_comm *comm = NULL;
    if (color == MPI_UNDEFINED)
        return MPI_COMM_NULL;
    int *members = pf_malloc((size_t)(parent->shared->size + (other ? other->size : 0)) * sizeof *members);
    int me = 0, ignored, n = meeting_members(parent->shared, meeting, color, members, parent->me, &me);
    if (!other) {
        comm = pf_comm_adopt(r, parent, sequence, members, n, me, node_local, in, native);
    } else {
        int others = meeting_members(other, meeting, color, members + n, -1, &ignored);
        if (others > 0)
            comm = pf_intercomm_adopt(r, parent, members, n, me, members + n, others, in, native);
    }
    free(members);
    return comm ? (MPI_Comm)(uintptr_t)comm : MPI_COMM_NULL;
}

static int duplicate(struct pf_rank *r, MPI_Comm handle, MPI_Info info, bool own_info, MPI_Comm *newcomm)
{
    struct pf_comm *parent = pf_comm_of(r, handle);
    if (!parent || !newcomm)
        return pf_call_error(r, handle, parent ? MPI_ERR_ARG : MPI_ERR_COMM);
    pf_call_schedule(r, parent == r->world);
    struct pf_instance *in = pf_comm_collective(r, parent);
    uint64_t sequence = parent->collectives - 1;
    pf_native_comm_t native = NULL;
    pf_call_native_begin(r, in);
    int code = in->fn->Comm_dup(pf_native(in, handle), &native);
    if (code != MPI_SUCCESS)
        return pf_call_leave(r, in, handle, code);
    struct pf_comm *comm =
        pf_comm_is_inter(parent)
            ? pf_intercomm_duplicate(r, parent, in, native)
            : pf_comm_adopt(r, parent, sequence, parent->shared->world_ranks, parent->shared->size,
                            parent->me, parent->shared->node_local, in, native);
    pf_call_native_end(r, in);
    int error = pf_comm_inherit(r, comm, parent, info, own_info);
    if (error != MPI_SUCCESS) {
        pf_comm_release(comm);
        *newcomm = MPI_COMM_NULL;
        return pf_call_error(r, handle, error);
    }
    *newcomm = (MPI_Comm)(uintptr_t)comm;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    return duplicate(PF_ENTER(Comm_dup), comm, MPI_INFO_NULL, false, newcomm);
}

int pf_PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    return duplicate(PF_ENTER(Comm_dup_with_info), comm, info, true, newcomm);
}

int pf_PMPI_Comm_create(MPI_Comm handle, MPI_Group group_handle, MPI_Comm *newcomm)
{
    struct pf_rank *r = PF_ENTER(Comm_create);
    struct pf_comm *parent = pf_comm_of(r, handle);
    struct pf_group *group = pf_group_of(r, group_handle);
    if (!parent || !group)
        return pf_call_error(r, handle, parent ? MPI_ERR_GROUP : MPI_ERR_COMM);
    if (!newcomm)
        return pf_call_error(r, handle, MPI_ERR_ARG);
    pf_call_schedule(r, parent == r->world);
    struct pf_instance *in = pf_comm_collective(r, parent);
    uint64_t sequence = parent->collectives - 1;
    int color = group->me == MPI_UNDEFINED ? MPI_UNDEFINED : 0;
    struct pf_comm_meeting *meeting =
        pf_comm_is_inter(parent) ? meeting_join(parent, sequence, color, group->me) : NULL;
    pf_native_comm_t native = in->values->comm_null;
    pf_call_native_begin(r, in);
    int code = in->fn->Comm_create(pf_native(in, handle), pf_native(in, group_handle), &native);
    if (code == MPI_SUCCESS) {
        *newcomm = MPI_COMM_NULL;
        if (meeting)
            *newcomm = adopt_color(r, parent, sequence, meeting, color, false, in, native);
        else if (group->me != MPI_UNDEFINED)
            *newcomm = (MPI_Comm)(uintptr_t)pf_comm_adopt(r, parent, sequence, group->world_ranks,
                                                          group->size, group->me, false, in, native);
    }
    if (meeting)
        meeting_leave(parent->shared, meeting);
    return pf_call_leave(r, in, handle, code);
}

static int split(struct pf_rank *r, struct pf_comm *parent, MPI_Comm handle, int color, int key,
                 MPI_Comm *newcomm)
{
    struct pf_instance *in = pf_comm_collective(r, parent);
    uint64_t sequence = parent->collectives - 1;
    struct pf_comm_meeting *meeting = meeting_join(parent, sequence, color, key);
    pf_native_comm_t native = in->values->comm_null;
    pf_call_native_begin(r, in);
    int code = in->fn->Comm_split(pf_native(in, handle),
                                  color == MPI_UNDEFINED ? in->values->undefined : color, key, &native);
    if (code == MPI_SUCCESS)
        *newcomm = adopt_color(r, parent, sequence, meeting, color, false, in, native);
    meeting_leave(parent->shared, meeting);
    return pf_call_leave(r, in, handle, code);
}

int pf_PMPI_Comm_split(MPI_Comm handle, int color, int key, MPI_Comm *newcomm)
{
    struct pf_rank *r = PF_ENTER(Comm_split);
    struct pf_comm *parent = pf_comm_of(r, handle);
    if (!parent)
        return pf_call_error(r, handle, MPI_ERR_COMM);
    if (!newcomm || (color < 0 && color != MPI_UNDEFINED))
        return pf_call_error(r, handle, MPI_ERR_ARG);
    pf_call_schedule(r, parent == r->world);
    return split(r, parent, handle, color, key, newcomm);
}

/* What intercommunicator merging says: the high side comes last; when both say the same, the leaders' ranks
 * decide, as in Open MPI. */
static bool comes_first(const struct pf_comm_shared *side, const struct pf_comm_meeting *meeting)
{
    const struct pf_comm_shared *other = side->other;
    int high = meeting->member[meeting_place(side)].color;
    int other_high = meeting->member[meeting_place(other)].color;
    return high != other_high ? !high : side->world_ranks[0] < other->world_ranks[0];
}

static MPI_Comm adopt_merged(struct pf_rank *r, struct pf_comm *parent, const struct pf_comm_meeting *meeting,
                             struct pf_instance *in, void *native)
{
    const struct pf_comm_shared *ours = parent->shared, *others = ours->other;
    bool first = comes_first(ours, meeting);
    const struct pf_comm_shared *low = first ? ours : others, *top = first ? others : ours;
    int size = ours->size + others->size, me = parent->me + (first ? 0 : others->size);
    int *members = pf_malloc((size_t)size * sizeof *members);
    memcpy(members, low->world_ranks, (size_t)low->size * sizeof *members);
    memcpy(members + low->size, top->world_ranks, (size_t)top->size * sizeof *members);
    struct pf_comm *comm = pf_comm_new(r, pf_comm_shared_meet(members, size, me), me);
    pf_comm_take(comm, parent, in, native);
    free(members);
    return (MPI_Comm)(uintptr_t)comm;
}

int pf_PMPI_Intercomm_merge(MPI_Comm handle, int high, MPI_Comm *newcomm)
{
    struct pf_rank *r = PF_ENTER(Intercomm_merge);
    struct pf_comm *parent = pf_comm_of(r, handle);
    if (!parent || !pf_comm_is_inter(parent))
        return pf_call_error(r, handle, MPI_ERR_COMM);
    if (!newcomm)
        return pf_call_error(r, handle, MPI_ERR_ARG);
    pf_call_schedule(r, false);
    struct pf_instance *in = pf_comm_collective(r, parent);
    struct pf_comm_meeting *meeting = meeting_join(parent, parent->collectives - 1, high != 0, 0);
    pf_native_comm_t native = NULL;
    pf_call_native_begin(r, in);
    int code = in->fn->Intercomm_merge(pf_native(in, handle), high, &native);
    if (code == MPI_SUCCESS)
        *newcomm = adopt_merged(r, parent, meeting, in, native);
    meeting_leave(parent->shared, meeting);
    return pf_call_leave(r, in, handle, code);
}

/* Members of `comm` on the caller's host, in rank order. */
static int host_members(struct pf_comm *comm, int *world_ranks, int *me)
{
    int n = 0;
    for (int i = 0; i < comm->shared->size; i++) {
        int world_rank = comm->shared->world_ranks[i];
        if (pf_job_state.selves[world_rank]->host != comm->owner->self.host)
            continue;
        if (i == comm->me)
            *me = n;
        world_ranks[n++] = world_rank;
    }
    return n;
}

/*
 * SMPI makes a node-local communicator without communication and in rank order whatever the keys are, so
 * no rank waits for the others' keys here. A key or type that would need them is refused instead of giving
 * another order than MPI's.
 */
static void check_rank_order(struct pf_rank *r, struct pf_comm *parent, struct pf_comm_meeting *meeting)
{
    bool alone = meeting->member[parent->me].color == MPI_UNDEFINED; /* then so must be the host's others */
    int last = 0;
    bool first = true;
    for (int i = 0; i < parent->shared->size; i++) {
        int world_rank = parent->shared->world_ranks[i];
        if (!meeting->member[i].present || pf_job_state.selves[world_rank]->host != r->self.host)
            continue;
        bool undefined = meeting->member[i].color == MPI_UNDEFINED;
        if (undefined != alone || (!undefined && !first && meeting->member[i].key < last))
            pf_die("rank %d: MPI_Comm_split_type with keys that reorder ranks, or MPI_UNDEFINED on a part of "
                   "a host, cannot "
                   "run in the smpi model; use MPI_Comm_split or another model",
                   world_rank);
        last = meeting->member[i].key;
        first = false;
    }
}

static int first_on_host(const void *host)
{
    int rank = 0;
    while (pf_job_state.selves[rank]->host != host)
        rank++;
    return rank;
}

int pf_PMPI_Comm_split_type(MPI_Comm handle, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    struct pf_rank *r = PF_ENTER(Comm_split_type);
    struct pf_comm *parent = pf_comm_of(r, handle);
    (void)info; /* no key is understood, as MPI allows */
    if (!parent)
        return pf_call_error(r, handle, MPI_ERR_COMM);
    if (!newcomm || (split_type != MPI_COMM_TYPE_SHARED && split_type != MPI_UNDEFINED))
        return pf_call_error(r, handle, MPI_ERR_ARG);
    pf_call_schedule(r, parent == r->world);
    if (pf_comm_is_inter(parent)) /* members of a host are on both sides */
        return split(r, parent, handle,
                     split_type == MPI_UNDEFINED ? MPI_UNDEFINED : first_on_host(r->self.host), key, newcomm);
    struct pf_instance *in = pf_comm_collective(r, parent);
    uint64_t sequence = parent->collectives - 1;
    /* The color is the first member of the host: it is the same for all members of a host. */
    int *members = pf_calloc((size_t)parent->shared->size, sizeof *members);
    int me = 0;
    int n = host_members(parent, members, &me);
    struct pf_comm_meeting *meeting =
        meeting_join(parent, sequence, split_type == MPI_UNDEFINED ? MPI_UNDEFINED : members[0], key);
    int color = split_type == MPI_UNDEFINED ? MPI_UNDEFINED : members[0];
    pf_native_comm_t native = in->values->comm_null;
    int code = MPI_SUCCESS;
    pf_call_native_begin(r, in);
    if (in->values->splits_alone) {
        check_rank_order(r, parent, meeting);
        native = NULL; /* the shadow, made at first use, is what SMPI itself makes */
    } else {
        code = in->fn->Comm_split(pf_native(in, handle),
                                  color == MPI_UNDEFINED ? in->values->undefined : color, key, &native);
        n = meeting_members(parent->shared, meeting, color, members, parent->me, &me);
    }
    if (code == MPI_SUCCESS) {
        *newcomm = MPI_COMM_NULL;
        if (color != MPI_UNDEFINED)
            *newcomm =
                (MPI_Comm)(uintptr_t)pf_comm_adopt(r, parent, sequence, members, n, me, true, in, native);
    }
    free(members);
    meeting_leave(parent->shared, meeting);
    return pf_call_leave(r, in, handle, code);
}

/* MPI 3.1 section 6.4.3: collective by the standard, but no implementation here communicates for it. */
static int free_comm(struct pf_rank *r, MPI_Comm *handle)
{
    struct pf_comm *comm = handle ? pf_comm_of(r, *handle) : NULL;
    if (!comm || comm == r->world || comm == r->alone)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_COMM);
    int error = pf_attributes_delete_all(&comm->attributes, *handle);
    if (error != MPI_SUCCESS)
        return pf_call_error(r, *handle, error);
    pf_comm_release(comm);
    *handle = MPI_COMM_NULL;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Comm_free(MPI_Comm *handle)
{
    return free_comm(PF_ENTER(Comm_free), handle);
}

/* The same: what is pending keeps the communicator until it is done, and there is no connection to be cut. */
int pf_PMPI_Comm_disconnect(MPI_Comm *handle)
{
    return free_comm(PF_ENTER(Comm_disconnect), handle);
}

/* This job was not spawned (MPI 3.1 section 10.3.2). */
int pf_PMPI_Comm_get_parent(MPI_Comm *parent)
{
    struct pf_rank *r = PF_ENTER(Comm_get_parent);
    if (!parent)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    *parent = MPI_COMM_NULL;
    return pf_call_return(r, MPI_SUCCESS);
}
