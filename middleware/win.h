/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_WIN_H
#define PF_MIDDLEWARE_WIN_H

#include "middleware/comm.h"

struct pf_attributes;
struct pf_info;

/* What a rank has in a shared window that the hub has allocated. */
struct pf_win_part {
    char *base;
    MPI_Aint size;
    int disp_unit;
};

/*
 * A window belongs to the implementation that was in force (by the agreement of its communicator) when it was
 * created, until it is freed: two implementations must never grant the same lock. Its operations go there,
 * whatever the rank switches to.
 */
struct pf_win {
    struct pf_object object;
    struct pf_instance *in;
    struct pf_comm *comm; /* with a reference */
    struct pf_attributes *attributes;
    MPI_Errhandler errhandler;
    struct pf_info *info;      /* NULL: none */
    void *memory;              /* of MPI_Win_allocate, the hub's; of a shared window: of its first rank */
    struct pf_win_part *parts; /* of a shared window, by rank; NULL when the implementation has made it */
    void *base;
    MPI_Aint size;
    int disp_unit, flavor, model;
    double last_call; /* see notice_spinning() */
    int calls_then;
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
int pf_win_created(struct pf_rank *r, MPI_Comm comm, struct pf_win *win, void *native, int code,
                   MPI_Win *handle);

/* The implementation's assertion bits and lock types (MPI 3.1 section 11.5). */
int pf_native_assert(const struct pf_instance *in, int assertion);
static inline int pf_native_lock(int type)
{
    return type == MPI_LOCK_EXCLUSIVE ? 1 : 2; /* the same in all implementations here */
}

/* An error of a call on a window: the handler of the window. Ends the call. */
int pf_win_failed(struct pf_rank *r, MPI_Win win, int error_class);

/* Ends a native call on a window and the call. */
int pf_win_leave(struct pf_rank *r, struct pf_instance *in, MPI_Win win, int code);

#endif
