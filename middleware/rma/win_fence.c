/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fence is where a window changes its model. It ends all epochs of all members, so that nothing of the
 * window is pending when the last of them leaves it, and all members take part, so that they can agree.
 *
 * The first member that arrives decides, the others follow, as in a collective. The fence itself runs where
 * the window was: its implementation completes its operations, and its simulated time is what it always is.
 * Each member makes its shadow in the new implementation before that, locally, so that all shadows are there
 * when the first member goes on; and the new epoch is opened behind it, locally as well.
 */
#include "middleware/comm/routing.h"
#include "middleware/rma/win_epoch.h"

/* Where the window is after this fence. It stays where it is when the fence ends nothing
 * (MPI_MODE_NOPRECEDE): such a fence need not wait for anybody. It also stays when the caller has exposed it
 * to others. */
static struct pf_instance *agree(struct pf_rank *r, struct pf_win *win, int assertion)
{
    struct pf_win_shared *shared = win->shared;
    if (win->fences++ == shared->fences) {
        int bound = win->comm->shared->bound_model;
        bool stays = (assertion & MPI_MODE_NOPRECEDE) || win->exposed;
        shared->fences++;
        shared->in_model = stays ? win->in->model : bound >= 0 ? bound : r->active->model;
    } else if (shared->in_model != r->active->model) {
        r->account->slot->followed++;
    }
    return r->models[shared->in_model];
}

int pf_PMPI_Win_fence(int assertion, MPI_Win handle)
{
    struct pf_rank *r = PF_ENTER(Win_fence);
    struct pf_win *win = pf_win_of(handle);
    if (PF_UNLIKELY(!win))
        return pf_win_failed(r, handle, MPI_ERR_WIN);
    int error = pf_win_epoch_assert(assertion, MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE |
                                                   MPI_MODE_NOSUCCEED);
    if (!error)
        error = pf_win_epoch_may_begin(win, PF_WIN_FENCED, -1);
    if (PF_UNLIKELY(error))
        return pf_win_failed(r, handle, error);
    pf_call_schedule(r, false);
    struct pf_instance *next = agree(r, win, assertion), *in = win->in;
    bool moves = next->impl != in->impl; /* else it has its shadow, and only its messages go another way */
    if (moves)
        pf_win_shadow(r, win, next);
    pf_call_native_begin(r, in);
    int closing = moves ? assertion | MPI_MODE_NOSUCCEED : assertion;
    int code = in->fn->Win_fence(pf_native_assert(in, closing), win->object.native[in->impl]);
    if (code == MPI_SUCCESS) {
        win->in = next;
        pf_win_epoch_begin(win, assertion & MPI_MODE_NOSUCCEED ? PF_WIN_NOTHING : PF_WIN_FENCED, -1);
    }
    if (code == MPI_SUCCESS && moves && !(assertion & MPI_MODE_NOSUCCEED)) {
        pf_progress_guard(r, next->impl);
        next->ops->win_open(next, win->object.native[next->impl]);
    }
    return pf_win_leave(r, in, handle, code);
}
