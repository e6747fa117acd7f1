/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/analytic/comm/comm.h"

/*
 * With `windows = nic` the NICs of other ranks read and write a window's memory: the target's processor takes
 * no part. An event moves the data at the date at which they arrive; events of one date run in the order of
 * the calls. Operations of one origin arrive at one target in the order of the calls. With `windows = pt2pt`
 * the processors exchange messages instead (pt2pt.h).
 *
 * A call that guarantees something about memory (a fence, a lock, a flush, a wait) ends with the clock at its
 * date, never with a debt, since the rank may read that memory at once.
 */

/* ---- layouts (layout.c): where the bytes of items are, without their datatype ---- */
struct an_block {
    ptrdiff_t offset;
    size_t bytes;
};

struct an_layout {
    char *at;
    size_t bytes;
    struct an_block *blocks; /* NULL: all bytes are contiguous */
    int count, class;
    MPI_Datatype basic;    /* the predefined type of its items; the largest where there are several */
    ptrdiff_t first, last; /* the bytes are in [first, last) relative to `at` */
};

void an_layout_make(struct an_layout *layout, char *at, int count, MPI_Datatype type);
void an_layout_drop(struct an_layout *layout);
/* Between a layout and `bytes` packed bytes, or as many as it has. Callable outside a rank's context. */
void an_layout_read(const struct an_layout *layout, char *packed, size_t bytes);
void an_layout_write(const struct an_layout *layout, const char *packed, size_t bytes);
void an_layout_combine(const struct an_layout *layout, const char *packed, size_t bytes, MPI_Op op,
                       MPI_Datatype basic);

/* Puts an item behind a queue that has `first` and `last`. */
#define AN_QUEUE_PUSH(queue, item)                                                                           \
    do {                                                                                                     \
        (item)->next = NULL;                                                                                 \
        if ((queue)->last)                                                                                   \
            (queue)->last->next = (item);                                                                    \
        else                                                                                                 \
            (queue)->first = (item);                                                                         \
        (queue)->last = (item);                                                                              \
    } while (0)

/* ---- windows and their members (member.c) ---- */

/* Operations in progress, to one target or to all: when they end. */
struct an_flow {
    int pending;         /* whose end is not known yet: they wait for an answer */
    double safe;         /* of the others: when the origin may reuse its buffers */
    double acknowledged; /* of the others: when the origin knows that they have arrived */
};

/* Accesses that wait until their target's lock has been granted, in the order of the calls. */
struct an_access;
struct an_access_queue {
    struct an_access *first, *last;
};
struct an_fragment_queue {
    struct an_fragment *first, *last;
};

/* What a fragment requests of its target behind its operations (pt2pt.h). */
enum an_demand { AN_NOTHING, AN_UNLOCK, AN_FLUSH, AN_COMPLETE };

enum an_lock { AN_UNLOCKED, AN_SHARED, AN_EXCLUSIVE, AN_UNCHECKED };

/* A member's state for one target. */
struct an_peer {
    struct an_flow flow;
    double last_arrival; /* of its operations at the target */
    double posted;       /* when the target's MPI_Win_post reached it */
    bool has_posted;     /* and no MPI_Win_start has used that yet */
    bool awaited;        /* MPI_Win_start waits for it */
    bool started;        /* an epoch of MPI_Win_start is open */
    enum an_lock lock;   /* held by MPI_Win_lock */
    bool lock_waits;     /* requested and not granted yet: another rank has it */
    bool unlock_waits;   /* and MPI_Win_unlock has been called: it counts as pending in `flow` */
    struct an_access_queue deferred;

    /* windows = pt2pt: the origin's side */
    struct an_fragment *filling;    /* the fragment that takes the next operations */
    struct an_fragment_queue ready; /* wait for the target's lock or its MPI_Win_post */
    bool asked, granted;            /* its lock */
    int expected;                   /* answers: of the lock, of flushes */
    /* the target's side, where the peer is an origin */
    int incoming;                     /* messages and operations from there that are not finished */
    enum an_demand owed;              /* answered when `incoming` is 0 */
    double last_delivery, held_until; /* of messages from there: as priced; later than that */
};

enum { AN_PEERS = 8 }; /* allocated together: most ranks access few targets */

struct an_rma;

/* One member's window: the native handle. */
struct an_window {
    struct an_rank *rank;
    struct an_comm *comm; /* of the window alone */
    struct an_rma *rma;
    char *base;
    int me, disp_unit;
    struct an_peer **peers; /* pieces of AN_PEERS, NULL while unused */
    struct an_flow all;
    const struct an_flow *awaited; /* the rank waits until nothing of it is pending */
    int *accessed;                 /* targets of the epoch of MPI_Win_start */
    int accessed_count;
    double completed_at; /* when the latest MPI_Win_complete reaches this member */
    int missing;         /* how many origins have not called it */
    bool waits;          /* the rank waits for them */
    bool dynamic;
    bool locked_all;
    bool unchecked_all; /* by MPI_MODE_NOCHECK, without a request for the lock */

    /* windows = pt2pt */
    bool accumulating;                         /* an atomic operation is in progress; others wait */
    int lock_state;                            /* -1: held exclusively; else the number of sharers */
    struct an_fragment_queue lockers;          /* requests that wait for it */
    bool (*goal)(const struct an_window *win); /* the rank waits until this is true; NULL: it does not wait */
    const struct an_peer *goal_peer;
    int expected; /* answers, of all peers; MPI_Win_post of so many targets */
    int incoming; /* of all peers */
    struct an_access_queue accumulates;

    double farthest_to,
        farthest_from; /* the longest travel time of a message without data; -1: not computed yet */
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
    const struct an_shared *made_on; /* the communicator whose collective number `sequence` made the window */
    uint64_t sequence;
    int size, joined;
    int references;          /* members that have not left, and lock messages on their way */
    struct an_window *first; /* to join */
    struct an_window **members;
    int *member_of; /* by world rank, -1 for others */
    struct an_target_lock *locks;
    int sharers_of_all;
    uint64_t arrived_locks;
    int exclusives;                     /* exclusive locks that are held or waited for */
    struct an_lock_queue waits_for_all; /* MPI_Win_lock_all */
    struct an_rma *next;                /* while members are missing */
};

static inline struct an_window *an_window_of(MPI_Win handle)
{
    return (struct an_window *)handle;
}

static inline int an_world_rank(const struct an_window *win, int member)
{
    return win->comm->shared->world_ranks[member];
}

/* Makes a window without members; drops one reference. */
struct an_rma *an_rma_new(int size);
void an_rma_release(struct an_rma *rma);

/* Makes and frees the handle of member `me`; the members are these ranks of the world. */
struct an_window *an_window_join(struct an_rma *rma, struct an_rank *rank, int me, const int *world_ranks);
void an_window_leave(struct an_window *win);

struct an_peer *an_window_peer(struct an_window *win, int target);

static inline bool an_window_is_member(const struct an_window *win, int rank)
{
    return rank >= 0 && rank < win->rma->size;
}

/* Blocks the rank until `date`. */
void an_window_reach(struct an_window *win, double date);

/* How long a message without data travels between two members. */
static inline double an_window_control(const struct an_window *win, int from, int to)
{
    return pf_cost_control(an_job.cost, an_world_rank(win, from), an_world_rank(win, to));
}

/* The members of the window that are in the group, in the window's room for targets of accesses or, for
 * MPI_Win_post, behind that. -1: one of them is no member. */
int an_window_members(struct an_window *win, MPI_Group group, int *members);
int *an_window_room_for_members(struct an_window *win);

/* An assertion that no application makes: see mode_held in adapter.h. */
#define AN_MODE_HELD 0x1000

/* ---- accesses (action.c) ---- */
enum an_action { AN_PUT, AN_GET, AN_ACCUMULATE, AN_SWAP };

struct an_access {
    struct pf_event event;
    struct an_access *next; /* deferred; windows = pt2pt: in its fragment, or waiting for others */
    struct an_window *win;  /* the origin's */
    struct an_peer *peer;   /* the target, as the origin sees it */
    int target;
    enum an_action action;
    bool answers;           /* returns the target's items to the origin */
    struct an_layout there; /* in the target's memory */
    struct an_layout here;  /* where the answer goes */
    MPI_Op op;
    MPI_Datatype basic;
    size_t bytes;  /* of the items */
    char *payload; /* data to the target, then those of the answer */
    size_t sent;   /* bytes to the target */
    int payload_class;
    bool derived;               /* the target's items have a derived type */
    struct an_request *request; /* settled with the answer, or when the data have left */

    /* windows = pt2pt */
    bool is_long;             /* its data are a message of their own */
    struct pf_cost_sent data; /* that message */
    double posted;            /* the receive of the answer */
    struct pf_event over;     /* the target has finished it */
    int parts;                /* of it that are not finished: answer, data, the target's work */
};

struct an_access *an_access_new(void);
/* Applies the operation to the target's memory and stores the answer in the payload. */
void an_access_work(struct an_access *a);
/* Writes the answer to the origin's memory, and completes its request and its part of the flows. */
void an_access_answer(struct an_access *a);
void an_access_discard(struct an_access *a);
/* The rank waits until all of the flow has ended: at the origin alone (`safe`), or everywhere; or only for
 * the answers. */
void an_flow_await_answers(struct an_window *win, const struct an_flow *flow);
void an_flow_await(struct an_window *win, struct an_flow *flow, bool safe);

void an_flow_note(struct an_flow *flow, double safe, double acknowledged);

/* One operation of the flow that was pending has ended. */
void an_flow_end(struct an_window *win, struct an_flow *flow);
