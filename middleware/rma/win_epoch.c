/* SPDX-License-Identifier: BSD-3-Clause */
/* Which epochs a member of a window has open, and what it may do in them. */
#include "middleware/rma/win_epoch.h"

#include "base/memory.h"
#include "middleware/datatype/datatype.h"

static bool is_member(const struct pf_win *win, int target)
{
    return target >= 0 && target < win->shared->members;
}

static bool is_open(const struct pf_win *win, int target)
{
    return win->open && is_member(win, target) && win->open[target];
}

bool pf_win_epoch_is_inside(const struct pf_win *win, int target, MPI_Aint disp, int count,
                            MPI_Datatype datatype, MPI_Aint *first, MPI_Aint *end)
{
    struct pf_bounds bounds;
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC || count == 0)
        return true;
    pf_datatype_bounds(datatype, &bounds);
    if (bounds.size == 0)
        return true;
    const struct pf_win_part *part = &win->shared->parts[target];
    MPI_Aint others, offset;
    bool overflow = __builtin_mul_overflow(count - 1, bounds.ub - bounds.lb, &others);
    overflow |= __builtin_mul_overflow(disp, part->disp_unit, &offset);
    overflow |= __builtin_add_overflow(offset, bounds.true_lb + (others < 0 ? others : 0), first);
    overflow |= __builtin_add_overflow(offset, bounds.true_ub + (others > 0 ? others : 0), end);
    return !overflow && *first >= 0 && *end <= part->size;
}

int pf_win_epoch_access(struct pf_win *win, int target, MPI_Aint disp, int count, MPI_Datatype datatype)
{
    if (!is_member(win, target) || count < 0 || !pf_datatype_valid(datatype))
        return MPI_SUCCESS;
    if (disp < 0 && win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return MPI_ERR_DISP;
    if (win->epoch == PF_WIN_NOTHING || (win->epoch >= PF_WIN_STARTED && !is_open(win, target)))
        return MPI_ERR_RMA_SYNC;
    if (win->epoch == PF_WIN_FENCED)
        win->epoch = PF_WIN_FENCED_AND_USED;
    MPI_Aint first, end;
    return pf_win_epoch_is_inside(win, target, disp, count, datatype, &first, &end) ? MPI_SUCCESS
                                                                                    : MPI_ERR_RMA_RANGE;
}

void pf_win_epoch_items(int *count, MPI_Datatype *datatype, MPI_Datatype other, MPI_Op op)
{
    if (op == MPI_REPLACE || op == MPI_NO_OP || pf_is_predefined(*datatype) ||
        pf_datatype_size(*datatype) != 0)
        return;
    bool pairs = op == MPI_MINLOC || op == MPI_MAXLOC;
    *count = 0;
    *datatype = pf_is_predefined(other) ? other : pairs ? MPI_2INT : MPI_INT;
}

int pf_win_epoch_flush(const struct pf_win *win, int target)
{
    bool locked = win->epoch == PF_WIN_LOCKED && (target == -1 || is_open(win, target));
    return locked || win->epoch == PF_WIN_LOCKED_ALL ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
}

int pf_win_epoch_may_begin(const struct pf_win *win, enum pf_win_epoch kind, int target)
{
    bool another_lock = kind == PF_WIN_LOCKED && win->epoch == PF_WIN_LOCKED && !is_open(win, target);
    bool fence = kind == PF_WIN_FENCED && win->epoch == PF_WIN_FENCED_AND_USED;
    return win->epoch <= PF_WIN_FENCED || another_lock || fence ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
}

void pf_win_epoch_begin(struct pf_win *win, enum pf_win_epoch kind, int target)
{
    win->epoch = kind;
    if (!is_member(win, target))
        return;
    if (!win->open)
        win->open = pf_calloc((size_t)win->shared->members, sizeof *win->open);
    win->opened += !win->open[target];
    win->open[target] = true;
}

void pf_win_epoch_end(struct pf_win *win, int target)
{
    if (is_open(win, target)) {
        win->open[target] = false;
        win->opened--;
    }
    if (win->opened == 0)
        win->epoch = PF_WIN_NOTHING;
}
