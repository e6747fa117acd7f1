/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_WIN_H
#define PF_MIDDLEWARE_WIN_H

#include "middleware/comm.h"

struct pf_attributes;

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
    void *memory; /* of MPI_Win_allocate, the hub's */
    void *base;
    MPI_Aint size;
    int disp_unit, flavor, model;
    char name[MPI_MAX_OBJECT_NAME];
};

/* The window behind a handle, NULL when it is none. */
static inline struct pf_win *pf_win_of(MPI_Win handle)
{
    return (struct pf_win *)pf_object_of(handle, PF_KIND_WIN);
}

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
