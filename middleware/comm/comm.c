/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators: what members share, handles, and shadows. */
#include "middleware/comm/comm.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "middleware/agree/ledger_queues.h"
#include "middleware/comm/comm_id.h"
#include "middleware/core/job_state.h"
#include "middleware/core/upcalls.h"
#include "middleware/core/errhandler.h"
#include "middleware/object/info.h"
#include "middleware/comm/comm_topology.h"

/*
 * Members that create the same communicator find each other's shared part by the place of its birth: the
 * parent, the number of the collective that made it, and its first member (a split makes several at once). An
 * entry lives until all members have joined.
 */
struct birth_key {
    int parent;
    int first_member;
    uint64_t sequence;
};

struct pf_comm_birth {
    struct birth_key key;
    struct pf_comm_shared *shared;
    UT_hash_handle hh;
};

static struct pf_comm_birth *births;

struct pf_comm_shared *pf_comm_shared_new(const int *world_ranks, int size, bool node_local)
{
    struct pf_comm_shared *shared = pf_calloc(1, sizeof *shared);
    shared->id = pf_comm_id_take();
    shared->size = size;
    shared->references = size;
    shared->first = shared;
    shared->node_local = node_local;
    shared->newest_model = shared->bound_model = PF_MODEL_NONE;
    shared->world_ranks = pf_malloc((size_t)size * sizeof *world_ranks);
    memcpy(shared->world_ranks, world_ranks, (size_t)size * sizeof *world_ranks);
    return shared;
}

struct pf_comm_shared *pf_comm_pair_new(const int *first_ranks, int first_size, const int *other_ranks,
                                        int other_size)
{
    struct pf_comm_shared *first = pf_comm_shared_new(first_ranks, first_size, false);
    struct pf_comm_shared *other = pf_comm_shared_new(other_ranks, other_size, false);
    first->other = other;
    other->other = other->first = first;
    first->references += other_size;
    pf_comm_bound_count++;
    return first;
}

static void shared_free(struct pf_comm_shared *shared)
{
    if (shared->check)
        pf_upcalls.comm_ends(shared);
    pf_ledger_free(shared->mailboxes, shared->size);
    if (shared->id >= 0)
        pf_comm_id_give_back(shared->id);
    free(shared->stretches);
    free(shared->world_ranks);
    free(shared);
}

void pf_comm_shared_release(struct pf_comm_shared *shared)
{
    struct pf_comm_shared *first = shared->first;
    if (--first->references > 0)
        return;
    if (first->hidden)
        pf_comm_shared_release(first->hidden);
    if (first->private_comm)
        pf_comm_shared_release(first->private_comm);
    pf_comm_bind(first, PF_MODEL_NONE);
    if (first->other) {
        pf_comm_bound_count--;
        shared_free(first->other);
    }
    shared_free(first);
}

struct pf_comm_shared *pf_comm_shared_get(const struct pf_comm *parent, uint64_t sequence,
                                          const int *world_ranks, int size, bool node_local)
{
    struct birth_key key;
    memset(&key, 0, sizeof key); /* padding is part of the hashed bytes */
    key.parent = parent->shared->id;
    key.first_member = world_ranks[0];
    key.sequence = sequence;
    struct pf_comm_birth *birth;
    HASH_FIND(hh, births, &key, sizeof key, birth);
    if (!birth) {
        birth = pf_calloc(1, sizeof *birth);
        birth->key = key;
        birth->shared = pf_comm_shared_new(world_ranks, size, node_local);
        birth->shared->birth = birth;
        HASH_ADD(hh, births, key, sizeof birth->key, birth);
    }
    struct pf_comm_shared *shared = birth->shared;
    if (++shared->joined == shared->size) {
        HASH_DEL(births, birth);
        free(birth);
        shared->birth = NULL;
    }
    return shared;
}

static struct pf_comm *comm_alloc(struct pf_rank *r, struct pf_comm_shared *shared, int me)
{
    struct pf_comm *comm = pf_calloc(1, sizeof *comm);
    comm->object.kind = PF_KIND_COMM;
    comm->object.references = 1;
    comm->object.home = r->active->impl;
    comm->shared = shared;
    comm->owner = r;
    comm->me = me;
    comm->errhandler = MPI_ERRORS_ARE_FATAL;
    return comm;
}

struct pf_comm *pf_comm_new(struct pf_rank *r, struct pf_comm_shared *shared, int me)
{
    r->live_objects++;
    return comm_alloc(r, shared, me);
}

void pf_comm_take(struct pf_comm *comm, const struct pf_comm *parent, struct pf_instance *in, void *native)
{
    comm->errhandler = parent->errhandler;
    pf_errhandler_retain(comm->errhandler);
    if (native) {
        in->ops->comm_errors_return(in, native);
        comm->object.native[in->impl] = native;
        comm->object.home = in->impl;
    }
}

static bool is_predefined(const struct pf_comm *comm)
{
    return comm == comm->owner->world || comm == comm->owner->alone;
}

struct pf_comm *pf_comm_retain(struct pf_comm *comm)
{
    if (comm && !is_predefined(comm))
        comm->object.references++;
    return comm;
}

static void free_native(struct pf_instance *in, const struct pf_comm *comm, void *native)
{
    const struct pf_comm_shared *first = comm->shared->first;
    in->ops->comm_free(in, native);
    pf_comm_id_freed(in, first->id);
    if (first->other)
        pf_comm_id_freed(in, first->other->id);
}

void pf_comm_release(struct pf_comm *comm)
{
    struct pf_rank *r = comm->owner;
    if (is_predefined(comm) || --comm->object.references > 0)
        return;
    for (int i = 0; i < PF_IMPL_COUNT; i++)
        if (comm->object.native[i])
            free_native(r->instances[i], comm, comm->object.native[i]);
    if (comm->hidden)
        pf_comm_release(comm->hidden);
    if (comm->private_comm)
        pf_comm_release(comm->private_comm);
    pf_errhandler_release(comm->errhandler);
    if (comm->info)
        pf_info_release((MPI_Info)(uintptr_t)comm->info);
    pf_topology_release(comm->topology);
    pf_comm_shared_release(comm->shared);
    comm->object.kind = PF_KIND_DEAD;
    r->live_objects--;
    pf_object_discard(comm);
}

/* The shared part of a communicator of the same members; `ours` and `theirs` are where the sides keep it. */
static void companion_make(const struct pf_comm_shared *first, struct pf_comm_shared **ours,
                           struct pf_comm_shared **theirs)
{
    const struct pf_comm_shared *other = first->other;
    *ours = other ? pf_comm_pair_new(first->world_ranks, first->size, other->world_ranks, other->size)
                  : pf_comm_shared_new(first->world_ranks, first->size, false);
    (*ours)->references = 1; /* of `first`; members add theirs */
    if (other)
        *theirs = (*ours)->other;
}

static struct pf_comm *companion(struct pf_comm *comm, struct pf_comm_shared *shared)
{
    shared->first->references++;
    return pf_comm_new(comm->owner, shared, comm->me);
}

struct pf_comm *pf_comm_hidden(struct pf_comm *comm)
{
    struct pf_comm_shared *first = comm->shared->first;
    if (!first->hidden)
        companion_make(first, &first->hidden, first->other ? &first->other->hidden : NULL);
    if (!comm->hidden)
        comm->hidden = companion(comm, comm->shared->hidden);
    return comm->hidden;
}

struct pf_comm *pf_comm_private(struct pf_comm *comm)
{
    struct pf_comm_shared *first = comm->shared->first;
    if (!first->private_comm)
        companion_make(first, &first->private_comm, first->other ? &first->other->private_comm : NULL);
    if (!comm->private_comm)
        comm->private_comm = companion(comm, comm->shared->private_comm);
    return comm->private_comm;
}

static int make_shadow(struct pf_instance *in, const struct pf_comm *comm, void **native)
{
    const struct pf_comm_shared *shared = comm->shared, *first = shared->first;
    if (!shared->other)
        return in->ops->comm_shadow(in, shared->world_ranks, shared->size, comm->me, shared->id,
                                    shared->node_local, native);
    struct pf_intercomm_recipe recipe = {.ranks = {first->world_ranks, first->other->world_ranks},
                                         .size = {first->size, first->other->size},
                                         .side = shared != first,
                                         .me = comm->me,
                                         .id = first->id,
                                         .local_id = first->other->id};
    return in->ops->intercomm_shadow(in, &recipe, native);
}

static void *comm_shadow(struct pf_instance *in, struct pf_object *object)
{
    struct pf_comm *comm = (struct pf_comm *)object;
    void *native = NULL;
    int error = make_shadow(in, comm, &native);
    if (error)
        pf_die("rank %d: communicator %d%s%s cannot be made in %s (%s): please report this",
               comm->owner->self.rank, comm->shared->id, comm->name[0] ? ", " : "", comm->name,
               in->adapter->name, pf_error_text(error));
    in->ops->comm_errors_return(in, native);
    comm->object.native[in->impl] = native;
    return native;
}

const struct pf_object_ops pf_comm_ops = {.size = sizeof pf_comm_ops, .shadow = comm_shadow};

int pf_comm_bound_count;

struct pf_instance *pf_comm_choice(struct pf_rank *r, const struct pf_comm_shared *shared)
{
    int bound = shared->first->bound_model;
    int model = pf_comm_stand_in(shared, bound >= 0 ? bound : r->active->model);
    if (!r->models[model])
        pf_model_load(model);
    return r->models[model];
}

void pf_comm_bind(struct pf_comm_shared *shared, int model)
{
    shared = shared->first;
    if (model == shared->bound_model)
        return;
    pf_comm_bound_count += (model >= 0) - (shared->bound_model >= 0);
    shared->bound_model = model;
    shared->newest_model = PF_MODEL_NONE; /* the next collective takes the slow path and sees it */
}

static void push_stretch(struct pf_comm_shared *shared, uint64_t first, int model)
{
    PF_ARRAY_ROOM(shared->stretches, shared->stretch_capacity, shared->stretch_count + 1);
    shared->stretches[shared->stretch_count++] = (struct pf_comm_stretch){first, model};
    shared->newest_model = model;
}

struct pf_instance *pf_comm_agree(struct pf_rank *r, struct pf_comm *comm, uint64_t sequence)
{
    struct pf_comm_shared *shared = comm->shared->first;
    if (sequence == shared->decided) {
        struct pf_instance *in = pf_comm_choice(r, shared);
        shared->decided = sequence + 1;
        if (in->model != shared->newest_model)
            push_stretch(shared, sequence, in->model);
        return in;
    }
    while (comm->stretch + 1 < shared->stretch_count &&
           shared->stretches[comm->stretch + 1].first <= sequence)
        comm->stretch++;
    int model = shared->stretches[comm->stretch].model;
    if (model != r->active->model)
        r->account->slot->followed++;
    return r->models[model];
}

/* The first identifier is that of the MPI_COMM_WORLD of the implementations, which has all ranks. */
static struct pf_comm_shared *world_new(const struct pf_world *job)
{
    static bool taken;
    if (pf_job_state.world_count > 1 && !taken)
        taken = pf_comm_id_take() == 0;
    int *ranks = pf_malloc((size_t)job->size * sizeof *ranks);
    for (int i = 0; i < job->size; i++)
        ranks[i] = job->first + i;
    struct pf_comm_shared *world = pf_comm_shared_new(ranks, job->size, false);
    free(ranks);
    return world;
}

void pf_comm_init_rank(struct pf_rank *r)
{
    if (!r->job->shared)
        r->job->shared = world_new(r->job);
    struct pf_comm_shared *alone = pf_comm_shared_new(&r->self.rank, 1, true);
    pf_comm_id_give_back(alone->id); /* it needs no shadow, and every rank has one */
    alone->id = -1 - r->self.rank;
    r->world = comm_alloc(r, r->job->shared, r->self.rank - r->job->first);
    r->alone = comm_alloc(r, alone, 0);
    strcpy(r->world->name, "MPI_COMM_WORLD");
    strcpy(r->alone->name, "MPI_COMM_SELF");
}
