/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_ANALYTIC_RMA_INTERNAL_H
#define PF_ADAPTERS_ANALYTIC_RMA_INTERNAL_H

#include "adapters/analytic/internal.h"
#include "adapters/analytic/rma/rma.h"

/*
 * Windows are memory that the NICs of other ranks read and write: the target's processor takes no part. Data
 * move by an event at the date at which they arrive, in the order of those dates, and at one date in that of
 * the calls. Operations of one origin arrive at one target in the order of the calls.
 *
 * A call that ends with a promise about memory (a fence, a lock, a flush, a wait) blocks until its date has
 * come: its rank is never ahead of the clock behind it (`debt`), since it may look at that memory at once.
 */

/* ---- layouts (layout.c): where bytes lie, known without their datatype ---- */
struct an_block {
    ptrdiff_t offset;
    size_t bytes;
};

struct an_layout {
    char *at;
    size_t bytes;
    struct an_block *blocks; /* NULL: all bytes follow each other */
    int count, class;
    MPI_Datatype basic;    /* the predefined type of its items; the largest where there are several */
    ptrdiff_t first, last; /* the bytes lie in [first, last), seen from `at` */
};

void an_layout_make(struct an_layout *layout, char *at, int count, MPI_Datatype type);
void an_layout_drop(struct an_layout *layout);
/* Between a layout and `bytes` packed bytes, or as many as it has. Callable outside a rank's context. */
void an_layout_read(const struct an_layout *layout, char *packed, size_t bytes);
void an_layout_write(const struct an_layout *layout, const char *packed, size_t bytes);
void an_layout_combine(const struct an_layout *layout, const char *packed, size_t bytes, MPI_Op op,
                       MPI_Datatype basic);

/* ---- windows and their members (member.c) ---- */

/* Operations under way, to one target or to all: when they have ended. */
struct an_flow {
    int pending;         /* whose end is not known yet: they bring something back */
    double safe;         /* from when on the origin's buffers are its own again, of the others */
    double acknowledged; /* when the origin knows that the others have arrived */
};

/* Accesses that wait until their target's lock has been granted, in the order of the calls. */
struct an_access;
struct an_access_queue {
    struct an_access *first, *last;
};

enum an_lock { AN_UNLOCKED, AN_SHARED, AN_EXCLUSIVE, AN_UNCHECKED };

/* What a member knows about one target. */
struct an_peer {
    struct an_flow flow;
    double last_arrival; /* of its operations there */
    double posted;       /* when the target's MPI_Win_post reached it */
    bool has_posted;     /* and MPI_Win_start has not used it yet */
    bool awaited;        /* MPI_Win_start waits for it */
    bool started;        /* an epoch of MPI_Win_start is open */
    enum an_lock lock;   /* held there by MPI_Win_lock, */
    bool lock_waits;     /* or not yet: somebody else has it */
    bool unlock_waits;   /* and MPI_Win_unlock has been called: it stands in the flow */
    struct an_access_queue deferred;
};

enum { AN_PEERS = 64 }; /* in one piece of memory: most ranks talk to few */

struct an_rma;

/* One member's window: the native handle. */
struct an_window {
    struct an_rank *rank;
    struct an_comm *comm; /* the window's own */
    struct an_rma *rma;
    int me;
    char *base;
    MPI_Aint size;
    int disp_unit;
    bool dynamic;
    struct an_peer **peers; /* pieces of AN_PEERS, NULL while unused */
    struct an_flow all;
    const struct an_flow *awaited; /* the rank waits until nothing of it is pending */
    bool fenced;                   /* an epoch between fences is open */
    bool locked_all;
    bool unchecked_all; /* by a lock that nobody knows of (MPI_MODE_NOCHECK) */
    int locks;          /* held by MPI_Win_lock */
    bool accesses;      /* an epoch of MPI_Win_start is open, */
    int *accessed;      /* with these targets */
    int accessed_count;
    bool exposed;        /* an epoch of MPI_Win_post is open */
    int missing;         /* MPI_Win_complete of so many origins */
    double completed_at; /* when the latest of the others has reached this member */
    bool waits;          /* for the missing ones */
    double farthest_to,
        farthest_from; /* how long a message without data travels, at most; -1: not asked yet */
};

struct an_lock_request;
struct an_lock_queue {
    struct an_lock_request *first, *last;
};

/* The lock of one member's memory. */
struct an_target_lock {
    int sharers;
    bool exclusive;
    uint64_t order; /* of the exclusive holder */
    struct an_lock_queue queue;
};

/* One window, for all its members. */
struct an_rma {
    const struct an_shared *made_on; /* the communicator, and which of its collectives made the window */
    uint64_t sequence;
    int size, joined;
    int references;          /* members that have not left, and locks on their way back */
    struct an_window *first; /* that joined */
    struct an_window **members;
    int *member_of; /* by world rank, -1 for others */
    struct an_target_lock *locks;
    int sharers_of_all;
    uint64_t arrived_locks;
    int exclusives;                     /* exclusive locks that are held or waited for */
    struct an_lock_queue waits_for_all; /* MPI_Win_lock_all */
    struct an_rma *next;                /* while members have yet to join */
};

static inline struct an_window *an_window_of(MPI_Win handle)
{
    return (struct an_window *)handle;
}

static inline int an_world_rank(const struct an_window *win, int member)
{
    return win->comm->shared->world_ranks[member];
}

/* A window without members, and one holder of it less. */
struct an_rma *an_rma_new(int size);
void an_rma_release(struct an_rma *rma);

/* The handle of the member `me`; the members are these ranks of the world. And its end. */
struct an_window *an_window_join(struct an_rma *rma, struct an_rank *rank, int me, const int *world_ranks);
void an_window_leave(struct an_window *win);

struct an_peer *an_window_peer(struct an_window *win, int target);

/* The rank's date moves to `date`, and the clock with it. */
void an_window_reach(struct an_window *win, double date);

/* How long a message without data travels between two members. */
static inline double an_window_control(const struct an_window *win, int from, int to)
{
    return pf_cost_control(an_job.cost, an_world_rank(win, from), an_world_rank(win, to));
}

/* ---- accesses (access.c) ---- */
void an_access_install(struct pf_own_fn *fn);

/* The rank waits until all of the flow has ended: at the origin alone (`safe`), or everywhere. */
void an_flow_await(struct an_window *win, struct an_flow *flow, bool safe);

/* One operation of the flow that was pending has ended. */
void an_flow_end(struct an_window *win, struct an_flow *flow);

/* The lock is there: what has waited for it starts. */
void an_access_start_deferred(struct an_window *win, struct an_peer *peer);

/* ---- epochs (epoch.c, lock.c) ---- */
void an_epoch_install(struct pf_own_fn *fn);
void an_lock_install(struct pf_own_fn *fn);

#endif
