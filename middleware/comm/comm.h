/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/agree/switch.h"
#include "middleware/core/object.h"
#include "middleware/core/rank.h"

struct pf_attributes;
struct pf_info;
struct pf_topology;

/* A stretch of collectives, from number `first` on, that run in one model. */
struct pf_comm_stretch {
    uint64_t first;
    int model;
};

/*
 * What all members of a communicator share: it is one structure per communicator in the process, found by
 * each member when it creates its own handle. The members agree on ids and on the model of each collective
 * through it, without communication.
 */
struct pf_comm_shared {
    int id; /* of the middleware, unique among the living; negative for MPI_COMM_SELF */
    int size;
    int references;  /* members that hold it or have yet to join; the last to release frees it */
    int joined;      /* members that have made their handle */
    bool node_local; /* all members share a host: MPI_Comm_split_type made it */
    int *world_ranks;
    struct pf_comm_shared *other; /* of an intercommunicator: the other side's; else NULL */
    struct pf_comm_shared *first; /* where references, ids and decisions of both sides are; else itself */
    int bound_model;  /* where everything on it runs whatever model is in force; none: in that one */
    uint64_t decided; /* collectives whose model is known */
    int newest_model; /* of the last stretch */
    struct pf_comm_stretch *stretches;
    int stretch_count, stretch_capacity;
    struct pf_comm_meeting *meetings;    /* collectives in which members exchange values, see comm_create.c */
    struct pf_comm_shared *hidden;       /* see pf_comm_hidden; made on demand */
    struct pf_comm_shared *private_comm; /* see pf_comm_private */
    struct pf_ledger_mailbox *mailboxes; /* by destination, see ledger.h; made on demand */
    struct pf_check_scope *check;        /* its collectives, for the checking layer; NULL without it */
    struct pf_comm_birth *birth;         /* how members that have yet to join find it, see comm.c */
};

/* One member's communicator. */
struct pf_comm {
    struct pf_object object;
    struct pf_comm_shared *shared;
    struct pf_rank *owner;
    int me;               /* rank in this communicator */
    uint64_t collectives; /* entered by this member */
    int stretch;          /* where the search for the next decision starts */
    struct pf_attributes *attributes;
    MPI_Errhandler errhandler;
    struct pf_info *info;
    struct pf_comm *hidden;       /* NULL while the member has not needed it */
    struct pf_comm *private_comm; /* the same */
    struct pf_topology *topology; /* NULL without one; shared with its duplicates */
    char name[MPI_MAX_OBJECT_NAME];
};

/* The communicator behind a handle of the calling rank, NULL when the handle is no communicator. */
static inline struct pf_comm *pf_comm_of(struct pf_rank *r, MPI_Comm handle)
{
    if (handle == MPI_COMM_WORLD)
        return r->world;
    if (handle == MPI_COMM_SELF)
        return r->alone;
    return (struct pf_comm *)pf_object_of(handle, PF_KIND_COMM);
}

/* The handle of a communicator. */
static inline MPI_Comm pf_comm_handle(const struct pf_comm *comm)
{
    if (comm == comm->owner->world)
        return MPI_COMM_WORLD;
    if (comm == comm->owner->alone)
        return MPI_COMM_SELF;
    return (MPI_Comm)(uintptr_t)comm;
}

/* How many communicators do not simply go with the model in force: those bound to one model, and
 * intercommunicators. */
extern int pf_comm_bound_count;

/* SMPI has no intercommunicators: Open MPI stands in for it. */
static inline int pf_comm_stand_in(const struct pf_comm_shared *shared, int model)
{
    return shared->other && model == PF_MODEL_SMPI ? (int)pf_switch_stand_in() : model;
}

/* The instance in which the rank would run an operation on the communicator. */
struct pf_instance *pf_comm_choice(struct pf_rank *r, const struct pf_comm_shared *shared);

/* From now on everything on the communicator runs in one model; PF_MODEL_NONE sets it free again. */
void pf_comm_bind(struct pf_comm_shared *shared, int model);

/* Binds it to what its info says (key parfocal_model), if that says anything. */
void pf_comm_bind_by_info(struct pf_rank *r, struct pf_comm *comm);

/* Where an operation goes that is not a collective: to the model in force, unless the communicator is bound.
 */
static inline struct pf_instance *pf_comm_route(struct pf_rank *r, MPI_Comm handle)
{
    if (__builtin_expect(pf_comm_bound_count == 0, 1))
        return r->active;
    const struct pf_comm *comm = pf_comm_of(r, handle);
    return comm ? pf_comm_choice(r, comm->shared) : r->active;
}

/* The slow path of pf_comm_collective: this member follows an earlier decision, or its decision starts a new
 * stretch. */
struct pf_instance *pf_comm_agree(struct pf_rank *r, struct pf_comm *comm, uint64_t sequence);

/* The first rank that enters a collective decides its model, the others follow: where this member's next
 * collective on `comm` runs. Counts it. */
static inline struct pf_instance *pf_comm_collective(struct pf_rank *r, struct pf_comm *comm)
{
    uint64_t sequence = comm->collectives++;
    struct pf_comm_shared *shared = comm->shared;
    if (__builtin_expect(sequence == shared->decided && r->active->model == shared->newest_model, 1)) {
        shared->decided = sequence + 1;
        return r->active;
    }
    return pf_comm_agree(r, comm, sequence);
}

/* Whether this member is the root of a collective. Between two groups, a rank is one of the other side. */
static inline bool pf_comm_has_root(const struct pf_comm *comm, int root)
{
    return comm->shared->other ? root == MPI_ROOT : comm->me == root;
}

/* The members that this one exchanges messages with: the other side, or all. */
static inline struct pf_comm_shared *pf_comm_peer_side(const struct pf_comm *comm)
{
    return comm->shared->other ? comm->shared->other : comm->shared;
}

static inline int pf_comm_peers(const struct pf_comm *comm)
{
    return pf_comm_peer_side(comm)->size;
}

/* WORLD and SELF of a rank. */
void pf_comm_init_rank(struct pf_rank *r);

/* The shared part of the communicator that the members of `parent` create in its collective number
 * `sequence`, identified by the first member; the first caller makes it, with the given members. Keeps a
 * reference. */
struct pf_comm_shared *pf_comm_shared_get(const struct pf_comm *parent, uint64_t sequence,
                                          const int *world_ranks, int size, bool node_local);

/* The shared part of a communicator that its members make without a common parent. They find each other by
 * the list of members; calls with the same list come in the same order at every member. */
struct pf_comm_shared *pf_comm_shared_meet(const int *world_ranks, int size, int me);

/* The shared part of a new communicator, for which the caller sees to it that all members find it. They all
 * hold a reference from the start. */
struct pf_comm_shared *pf_comm_shared_new(const int *world_ranks, int size, bool node_local);

/* The same for an intercommunicator: the part of the first side. */
struct pf_comm_shared *pf_comm_pair_new(const int *first_ranks, int first_size, const int *other_ranks,
                                        int other_size);

/* Drops one of those references. The last one frees it and gives its id back. */
void pf_comm_shared_release(struct pf_comm_shared *shared);

/* A member's handle on it. `native` may be NULL: the shadow is made at first use. */
struct pf_comm *pf_comm_new(struct pf_rank *r, struct pf_comm_shared *shared, int me);

/* A member's handle on the communicator that collective `sequence` of `parent` makes. Takes over the native
 * one that the implementation has made; NULL: its shadow is made at first use. */
struct pf_comm *pf_comm_adopt(struct pf_rank *r, struct pf_comm *parent, uint64_t sequence,
                              const int *world_ranks, int size, int me, bool node_local,
                              struct pf_instance *in, void *native);

/* A reference for something that outlives the call, such as a request. WORLD and SELF need none. NULL stays
 * NULL. */
struct pf_comm *pf_comm_retain(struct pf_comm *comm);

/* What every new communicator has from its parent, the error handler, and its native shadow, if it is there
 * already. */
void pf_comm_take(struct pf_comm *comm, const struct pf_comm *parent, struct pf_instance *in, void *native);

/* What a duplicate has from its original: attributes, info (that of the call when `own_info`), topology.
 * Returns the error class of a copy function. */
int pf_comm_inherit(struct pf_rank *r, struct pf_comm *comm, struct pf_comm *parent, MPI_Info info,
                    bool own_info);

/* A communicator of the same members for messages of the middleware's own, which cannot be mistaken for the
 * application's. Made locally at first use; it lives as long as `comm` does. */
struct pf_comm *pf_comm_hidden(struct pf_comm *comm);

/* Another one, for messages of the application whose tags the ledger gives (ledger.h). */
struct pf_comm *pf_comm_private(struct pf_comm *comm);

/* Drops a reference; the last one frees the natives, locally. */
void pf_comm_release(struct pf_comm *comm);

/* The native shadow, made locally at no simulated time. */
extern const struct pf_object_ops pf_comm_ops;

/* The error handler of a communicator; of what is none, that of MPI_COMM_WORLD, and *handle becomes that. */
MPI_Errhandler pf_comm_errhandler(struct pf_rank *r, MPI_Comm *handle);
