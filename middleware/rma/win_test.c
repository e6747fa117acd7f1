/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of an exposure epoch (MPI 3.1 section 11.5.2). SMPI has no MPI_Win_test. There the members count
 * the calls of MPI_Win_complete for each target, and a test succeeds when all origins have called it: then
 * SMPI's MPI_Win_wait ends as soon as their messages have arrived, and the caller pays for that.
 */

#include "middleware/comm/group.h"
#include "middleware/comm/routing.h"
#include "middleware/rma/win_epoch.h"
#include "base/memory.h"

static int native_wait(struct pf_rank *r, struct pf_win *win, MPI_Win handle)
{
    struct pf_instance *in = pf_call_native_begin(r, win->in);
    int code = in->fn->Win_wait(win->object.native[in->impl]);
    win->exposed = code != MPI_SUCCESS;
    return pf_win_leave(r, in, handle, code);
}

static struct pf_group *keep(struct pf_group *group)
{
    group->object.references++;
    return group;
}

static int *counts(struct pf_win_shared *shared)
{
    if (!shared->completed)
        shared->completed = pf_calloc((size_t)shared->members, sizeof *shared->completed);
    return shared->completed;
}

/* The member's number in the window, -1 when it is not in it. */
static int member_of(const struct pf_win *win, int world_rank)
{
    const struct pf_comm_shared *comm = win->comm->shared;
    for (int i = 0; i < comm->size; i++)
        if (comm->world_ranks[i] == world_rank)
            return i;
    return -1;
}

int pf_PMPI_Win_post(MPI_Group group, int assertion, MPI_Win handle)
{
    struct pf_rank *r = PF_ENTER(Win_post);
    struct pf_win *win = pf_win_of(handle);
    struct pf_group *origins = pf_group_of(r, group);
    if (!win || !origins)
        return pf_win_failed(r, handle, win ? MPI_ERR_GROUP : MPI_ERR_WIN);
    int error = pf_win_epoch_assert(assertion, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);
    if (error || win->exposed)
        return pf_win_failed(r, handle, error ? error : MPI_ERR_RMA_SYNC);
    win->completes = counts(win->shared)[win->comm->me] + origins->size;
    struct pf_instance *in = pf_call_native_begin(r, win->in);
    int code =
        in->fn->Win_post(pf_native(in, group), pf_native_assert(in, assertion), win->object.native[in->impl]);
    win->exposed = code == MPI_SUCCESS;
    return pf_win_leave(r, in, handle, code);
}

int pf_PMPI_Win_start(MPI_Group group, int assertion, MPI_Win handle)
{
    struct pf_rank *r = PF_ENTER(Win_start);
    struct pf_win *win = pf_win_of(handle);
    struct pf_group *targets = pf_group_of(r, group);
    if (!win || !targets)
        return pf_win_failed(r, handle, win ? MPI_ERR_GROUP : MPI_ERR_WIN);
    int error = pf_win_epoch_assert(assertion, MPI_MODE_NOCHECK);
    if (!error)
        error = pf_win_epoch_may_begin(win, PF_WIN_STARTED, -1);
    if (error)
        return pf_win_failed(r, handle, error);
    struct pf_instance *in = pf_call_native_begin(r, win->in);
    int code = in->fn->Win_start(pf_native(in, group), pf_native_assert(in, assertion),
                                 win->object.native[in->impl]);
    if (code == MPI_SUCCESS) {
        win->accessed = keep(targets);
        pf_win_epoch_begin(win, PF_WIN_STARTED, -1);
        for (int i = 0; i < targets->size; i++)
            pf_win_epoch_begin(win, PF_WIN_STARTED, member_of(win, targets->world_ranks[i]));
    }
    return pf_win_leave(r, in, handle, code);
}

/* Counted before it is done: the targets' MPI_Win_wait may be what it waits for. */
int pf_PMPI_Win_complete(MPI_Win handle)
{
    struct pf_rank *r = PF_ENTER(Win_complete);
    struct pf_win *win = pf_win_of(handle);
    if (!win)
        return pf_win_failed(r, handle, MPI_ERR_WIN);
    if (!win->accessed)
        return pf_win_failed(r, handle, MPI_ERR_RMA_SYNC);
    for (int i = 0; i < win->accessed->size; i++) {
        int target = member_of(win, win->accessed->world_ranks[i]);
        if (target >= 0)
            counts(win->shared)[target]++;
    }
    struct pf_instance *in = pf_call_native_begin(r, win->in);
    int code = in->fn->Win_complete(win->object.native[in->impl]);
    for (int i = 0; i < win->accessed->size; i++)
        pf_win_epoch_end(win, member_of(win, win->accessed->world_ranks[i]));
    pf_win_epoch_end(win, -1);
    pf_group_release(win->accessed);
    win->accessed = NULL;
    return pf_win_leave(r, in, handle, code);
}

int pf_PMPI_Win_wait(MPI_Win handle)
{
    struct pf_rank *r = PF_ENTER(Win_wait);
    struct pf_win *win = pf_win_of(handle);
    if (!win || !win->exposed)
        return pf_win_failed(r, handle, win ? MPI_ERR_RMA_SYNC : MPI_ERR_WIN);
    return native_wait(r, win, handle);
}

/* Spinning costs simulated time. */
static int nothing_yet(struct pf_rank *r, struct pf_instance *in, int *flag)
{
    *flag = 0;
    pf_win_idle(r, in);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Win_test(MPI_Win handle, int *flag)
{
    struct pf_rank *r = PF_ENTER(Win_test);
    struct pf_win *win = pf_win_of(handle);
    if (!win || !flag)
        return pf_win_failed(r, handle, win ? MPI_ERR_ARG : MPI_ERR_WIN);
    if (!win->exposed)
        return pf_win_failed(r, handle, MPI_ERR_RMA_SYNC);
    struct pf_instance *in = win->in;
    if (!in->fn->Win_test) {
        if (counts(win->shared)[win->comm->me] < win->completes)
            return nothing_yet(r, in, flag);
        *flag = 1;
        return native_wait(r, win, handle);
    }
    pf_call_native_begin(r, in);
    int code = in->fn->Win_test(win->object.native[in->impl], flag);
    if (code == MPI_SUCCESS && !*flag) {
        pf_call_native_end(r, in);
        return nothing_yet(r, in, flag);
    }
    win->exposed = code != MPI_SUCCESS;
    return pf_win_leave(r, in, handle, code);
}
