/* SPDX-License-Identifier: BSD-3-Clause */
/* Passive target (MPI 3.1 section 11.5.3): locks of one target, and of all. See win_order.h for SMPI's. */
#include "middleware/comm/routing.h"
#include "middleware/rma/win_epoch.h"
#include "middleware/rma/win_order.h"

static bool ordered(const struct pf_win *win)
{
    return win->in->values->rma_unordered;
}

static bool is_member(const struct pf_win *win, int rank)
{
    return rank >= 0 && rank < win->shared->members;
}

int pf_PMPI_Win_lock(int type, int rank, int assertion, MPI_Win handle)
{
    struct pf_rank *r = PF_ENTER(Win_lock);
    struct pf_win *win = pf_win_of(handle);
    if (!win)
        return pf_win_failed(r, handle, MPI_ERR_WIN);
    if (rank ==
        MPI_PROC_NULL) /* Open MPI refuses it (MPI 3.1 section 11.3 allows it as a target everywhere) */
        return pf_call_return(r, MPI_SUCCESS);
    if (type != MPI_LOCK_EXCLUSIVE && type != MPI_LOCK_SHARED)
        return pf_win_failed(r, handle, MPI_ERR_LOCKTYPE);
    int error = is_member(win, rank) ? pf_win_epoch_assert(assertion, MPI_MODE_NOCHECK) : MPI_ERR_RANK;
    if (!error)
        error = pf_win_epoch_may_begin(win, PF_WIN_LOCKED, rank);
    if (error)
        return pf_win_failed(r, handle, error);
    struct pf_instance *in = pf_call_native_begin(r, win->in);
    if (ordered(win))
        pf_win_order_lock(win, type, rank);
    int held = win->flavor == MPI_WIN_FLAVOR_SHARED ? in->values->mode_held : 0;
    int code = in->fn->Win_lock(pf_native_lock(in, type), rank, pf_native_assert(in, assertion) | held,
                                win->object.native[in->impl]);
    if (code != MPI_SUCCESS && ordered(win)) {
        pf_win_order_unlock(win, rank);
        pf_win_order_unlocked(win, rank);
    }
    if (code == MPI_SUCCESS)
        pf_win_epoch_begin(win, PF_WIN_LOCKED, rank);
    return pf_win_leave(r, in, handle, code);
}

int pf_PMPI_Win_unlock(int rank, MPI_Win handle)
{
    struct pf_rank *r = PF_ENTER(Win_unlock);
    struct pf_win *win = pf_win_of(handle);
    if (!win)
        return pf_win_failed(r, handle, MPI_ERR_WIN);
    if (rank == MPI_PROC_NULL)
        return pf_call_return(r, MPI_SUCCESS);
    if (!is_member(win, rank))
        return pf_win_failed(r, handle, MPI_ERR_RANK);
    if (win->epoch != PF_WIN_LOCKED || !win->open[rank])
        return pf_win_failed(r, handle, MPI_ERR_RMA_SYNC);
    struct pf_instance *in = pf_call_native_begin(r, win->in);
    if (ordered(win))
        pf_win_order_unlock(win, rank);
    int code = in->fn->Win_unlock(rank, win->object.native[in->impl]);
    pf_win_order_await_gets(win, rank);
    if (ordered(win))
        pf_win_order_unlocked(win, rank);
    if (code == MPI_SUCCESS)
        pf_win_epoch_end(win, rank);
    return pf_win_leave(r, in, handle, code);
}

int pf_PMPI_Win_lock_all(int assertion, MPI_Win handle)
{
    struct pf_rank *r = PF_ENTER(Win_lock_all);
    struct pf_win *win = pf_win_of(handle);
    if (!win)
        return pf_win_failed(r, handle, MPI_ERR_WIN);
    int error = pf_win_epoch_assert(assertion, MPI_MODE_NOCHECK);
    if (!error)
        error = pf_win_epoch_may_begin(win, PF_WIN_LOCKED_ALL, -1);
    if (error)
        return pf_win_failed(r, handle, error);
    struct pf_instance *in = pf_call_native_begin(r, win->in);
    for (int i = 0; ordered(win) && i < win->shared->members; i++)
        pf_win_order_lock(win, MPI_LOCK_SHARED, i);
    int code = in->fn->Win_lock_all(pf_native_assert(in, assertion), win->object.native[in->impl]);
    if (code == MPI_SUCCESS)
        pf_win_epoch_begin(win, PF_WIN_LOCKED_ALL, -1);
    return pf_win_leave(r, in, handle, code);
}

int pf_win_unlock_all(struct pf_rank *r, struct pf_win *win)
{
    struct pf_instance *in = pf_call_native_begin(r, win->in);
    for (int i = 0; ordered(win) && i < win->shared->members; i++)
        pf_win_order_unlock(win, i);
    int code = in->fn->Win_unlock_all(win->object.native[in->impl]);
    pf_win_order_await_gets(win, -1);
    if (code == MPI_SUCCESS)
        pf_win_epoch_end(win, -1);
    return code;
}

int pf_PMPI_Win_unlock_all(MPI_Win handle)
{
    struct pf_rank *r = PF_ENTER(Win_unlock_all);
    struct pf_win *win = pf_win_of(handle);
    if (!win)
        return pf_win_failed(r, handle, MPI_ERR_WIN);
    if (win->epoch != PF_WIN_LOCKED_ALL)
        return pf_win_failed(r, handle, MPI_ERR_RMA_SYNC);
    return pf_win_leave(r, win->in, handle, pf_win_unlock_all(r, win));
}
