/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/comm/comm.h"

struct pf_attributes;
struct pf_group;
struct pf_info;
struct pf_win_order;

/* What each member sends the others when the window is made. */
struct pf_win_part {
    char *base;
    MPI_Aint size;
    int disp_unit;
};

/* What all members of a window share: one structure per window in the process (win_shadow.c). */
struct pf_win_shared {
    const struct pf_comm_shared *comm; /* where the window was made, and in which of its collectives */
    uint64_t sequence;
    int members, joined, references;
    uint64_t fences; /* whose model is decided */
    int in_model;    /* of the last of them: where the window is afterwards */
    struct pf_win_part *parts;
    int *disp_units; /* a copy of those in parts, as adapters want them */
    void **bases;
    char *memory;                   /* of a window of shared memory: of all members, one after the other */
    struct pf_comm_shared *shadows; /* gives the shadows their id; NULL while there are none */
    void **boards[PF_IMPL_COUNT];   /* see adapter.h */
    int *completed;                 /* by target: calls of MPI_Win_complete, see win_test.c; NULL: none yet */
    struct pf_win_order *order;     /* see win_order.h; made on demand */
    struct pf_win_shared *next;     /* while members have yet to join */
};

/* A piece of memory attached to a dynamic window. */
struct pf_win_region {
    void *base;
    MPI_Aint size;
    struct pf_win_region *next;
};

/* The access epoch of a member; fences open those of all targets. From PF_WIN_STARTED on only some targets
 * are open. */
enum pf_win_epoch {
    PF_WIN_NOTHING,
    PF_WIN_FENCED, /* and no operation since: another epoch may begin */
    PF_WIN_FENCED_AND_USED,
    PF_WIN_LOCKED_ALL,
    PF_WIN_STARTED,
    PF_WIN_LOCKED
};

/*
 * A window has one model at a time: two must never grant the same lock. It is the one in force (by
 * the agreement of its communicator) when the window is made. At a fence that ends an epoch it may become
 * another one, in which the window then has a shadow (win_fence.c). Its operations go there, whatever the
 * rank switches to.
 */
struct pf_win {
    struct pf_object object;
    struct pf_instance *in;
    struct pf_win *prev, *next; /* the rank's windows */
    struct pf_comm *comm;       /* with a reference */
    struct pf_attributes *attributes;
    MPI_Errhandler errhandler;
    struct pf_info *info; /* NULL: none */
    void *memory;         /* of MPI_Win_allocate: the middleware's, so that it is one memory for all models */
    struct pf_win_shared *shared;
    uint64_t fences;               /* called by this member */
    struct pf_win_region *regions; /* of a dynamic window */
    struct pf_request *gets;       /* of MPI_Rget, see win_order.h */
    enum pf_win_epoch epoch;       /* see win_epoch.h */
    bool *open;                    /* by target: started or locked; NULL: none yet */
    int opened;                    /* how many are */
    bool exposed;                  /* by MPI_Win_post */
    struct pf_group *accessed;     /* of MPI_Win_start; NULL otherwise */
    int completes;                 /* how many there must have been for the epoch of MPI_Win_post to end */
    void *base;
    MPI_Aint size;
    int disp_unit, flavor, model;
    double last_call; /* see notice_spinning() */
    int calls_then;
    bool has_spun;
    char name[MPI_MAX_OBJECT_NAME];
};

/* The window behind a handle, NULL when it is none. */
static inline struct pf_win *pf_win_of(MPI_Win handle)
{
    return (struct pf_win *)pf_object_of(handle, PF_KIND_WIN);
}

/* The common begin of the calls that create windows, NULL without a valid communicator; then the native call;
 * then the end, which makes the handle, or nothing after an error. */
struct pf_win *pf_win_begin(struct pf_rank *r, MPI_Comm handle, MPI_Info info, int flavor);
int pf_win_created(struct pf_rank *r, MPI_Comm comm, struct pf_win *win, pf_native_win_t native, int code,
                   MPI_Win *handle);

/* The members' common part of the window that collective `sequence` of `comm` makes. Keeps a reference. */
struct pf_win_shared *pf_win_shared_join(const struct pf_comm *comm, uint64_t sequence);
void pf_win_shared_leave(struct pf_win_shared *shared);

/* What this member has is known now: the others see it. */
void pf_win_publish(struct pf_win *win);

/* Makes this member's shadow of a window in another implementation, if it has none. Local, at no simulated
 * time. */
void pf_win_shadow(struct pf_rank *r, struct pf_win *win, struct pf_instance *in);

/* The window has been freed where it was: now its shadows, locally. */
void pf_win_shadows_free(struct pf_rank *r, struct pf_win *win);

/* Ends the access epoch of MPI_Win_lock_all. The native call is left open. */
int pf_win_unlock_all(struct pf_rank *r, struct pf_win *win);

/* What the implementations have of a window ends, together with all members. The native call is left open. */
int pf_win_native_free(struct pf_rank *r, struct pf_win *win);

/* MPI_Finalize: ends the windows that the program has not freed. */
void pf_win_end_all(struct pf_rank *r);

/* The implementation's assertion bits and lock types (MPI 3.1 section 11.5). */
int pf_native_assert(const struct pf_instance *in, int assertion);
static inline int pf_native_lock(const struct pf_instance *in, int type)
{
    return type == MPI_LOCK_EXCLUSIVE ? in->values->lock_exclusive : in->values->lock_shared;
}

/* An error of a call on a window: the handler of the window. Ends the call. */
int pf_win_failed(struct pf_rank *r, MPI_Win win, int error_class);

/* Runs the error handler of the window, of MPI_COMM_WORLD when it is none. Returns the code. */
int pf_win_raise(struct pf_rank *r, MPI_Win win, int code);

/* A look at the window was in vain: spinning must cost simulated time. */
void pf_win_idle(struct pf_rank *r, struct pf_instance *in);

/* Ends a native call on a window and the call. */
int pf_win_leave(struct pf_rank *r, struct pf_instance *in, MPI_Win win, int code);
