/* SPDX-License-Identifier: BSD-3-Clause */
/* Epochs of windows (MPI 3.1 section 11.5), and what one-sided calls reach. */
#include "middleware/check/internal.h"
#include "middleware/datatype/datatype.h"
#include "middleware/rma/win_epoch.h"

/* The call would block, or worse: it is not passed on. */
static void refuse(struct pf_check_call *call, const struct pf_check_place *opened, const char *what)
{
    pf_check_found(PF_CHECK_EPOCH, call->rank, "%s: %s%s%s%s", pf_check_place_text(call->fn, call->site),
                   what, opened ? " (opened by " : "",
                   opened ? pf_check_place_text(opened->fn, opened->site) : "", opened ? ")" : "");
    call->refused = MPI_ERR_RMA_SYNC;
}

static bool is_target(const struct pf_win *win, int target)
{
    return target >= 0 && target < win->shared->members;
}

static bool is_locked(const struct pf_win *win, int target)
{
    return win->epoch == PF_WIN_LOCKED && win->open[target];
}

/* An access epoch begins: no other one to the same target may be open. */
static const char *cannot_open(const struct pf_win *win, int fn, int target)
{
    if (win->epoch == PF_WIN_LOCKED_ALL)
        return "the window is locked at all targets already";
    if (win->accessed)
        return "an epoch of MPI_Win_start is open";
    if (fn == PF_FN_Win_lock)
        return is_locked(win, target)                 ? "this target is locked already"
               : win->epoch == PF_WIN_FENCED_AND_USED ? "the epoch of MPI_Win_fence has not ended"
                                                      : NULL;
    if (win->epoch == PF_WIN_LOCKED)
        return "a target is locked already";
    return win->epoch == PF_WIN_FENCED_AND_USED ? "the epoch of MPI_Win_fence has not ended" : NULL;
}

static const char *cannot_fence(const struct pf_win *win, int assertion)
{
    if (win->epoch >= PF_WIN_LOCKED_ALL || win->exposed)
        return "an epoch of another kind is open";
    return (assertion & MPI_MODE_NOPRECEDE) && win->epoch == PF_WIN_FENCED_AND_USED
               ? "MPI_MODE_NOPRECEDE, but the epoch has calls"
               : NULL;
}

void pf_check_epoch(struct pf_check_call *call, MPI_Win handle, int target, int assertion)
{
    struct pf_check_record *record = pf_check_find(call->rank, handle);
    const struct pf_win *win = pf_win_of(handle);
    const char *wrong = NULL;
    bool opens = false, completes = false;
    if (call->refused || !record || record->kind != PF_KIND_WIN || !win ||
        (target != -1 && !is_target(win, target)))
        return;
    switch (call->fn) {
    case PF_FN_Win_fence:
        wrong = cannot_fence(win, assertion);
        completes = true;
        break;
    case PF_FN_Win_lock:
    case PF_FN_Win_lock_all:
    case PF_FN_Win_start:
        wrong = cannot_open(win, call->fn, target);
        opens = true;
        break;
    case PF_FN_Win_post:
        wrong = win->exposed ? "the window is exposed already" : NULL;
        opens = true;
        break;
    case PF_FN_Win_unlock:
        completes = true;
        wrong = is_locked(win, target) ? NULL : "this target is not locked";
        break;
    case PF_FN_Win_unlock_all:
        completes = true;
        wrong = win->epoch == PF_WIN_LOCKED_ALL ? NULL : "MPI_Win_lock_all has not been called";
        break;
    case PF_FN_Win_complete:
        completes = true;
        wrong = win->accessed ? NULL : "MPI_Win_start has not been called";
        break;
    case PF_FN_Win_wait:
    case PF_FN_Win_test:
        wrong = win->exposed ? NULL : "MPI_Win_post has not been called";
        break;
    case PF_FN_Win_flush:
    case PF_FN_Win_flush_local:
        completes = true;
        wrong =
            win->epoch == PF_WIN_LOCKED_ALL || is_locked(win, target) ? NULL : "this target is not locked";
        break;
    case PF_FN_Win_flush_all:
    case PF_FN_Win_flush_local_all:
        completes = true;
        wrong = pf_win_epoch_flush(win, -1) ? "no target is locked" : NULL;
        break;
    case PF_FN_Win_free: /* it must be called, or else the other members wait */
        pf_check_unuse_origins(call->rank, record, -1);
        if (win->epoch >= PF_WIN_FENCED_AND_USED || win->exposed)
            pf_check_found(PF_CHECK_EPOCH, call->rank, "%s: the epoch opened by %s has not ended",
                           pf_check_place_text(call->fn, call->site),
                           pf_check_place_text(record->opened.fn, record->opened.site));
        return;
    default:
        break;
    }
    if (completes)
        pf_check_unuse_origins(call->rank, record, target);
    if (wrong)
        refuse(call, opens ? &record->opened : NULL, wrong);
    else if (opens)
        record->opened = (struct pf_check_place){call->fn, call->site};
}

void pf_check_access(struct pf_check_call *call, MPI_Win handle, int target, bool request)
{
    struct pf_check_record *record = pf_check_find(call->rank, handle);
    const struct pf_win *win = pf_win_of(handle);
    if (call->refused || !record || !win || !is_target(win, target))
        return;
    bool fenced = win->epoch == PF_WIN_FENCED || win->epoch == PF_WIN_FENCED_AND_USED;
    bool started = win->epoch == PF_WIN_STARTED && win->open && win->open[target];
    if (win->epoch == PF_WIN_LOCKED_ALL || is_locked(win, target))
        return;
    if (request)
        refuse(call, NULL, "this target is not locked, and the call makes a request");
    else if (!fenced && !started)
        refuse(call, NULL, "there is no epoch for this target");
    else if (win->epoch == PF_WIN_FENCED)
        record->opened = (struct pf_check_place){call->fn, call->site};
}

/* It can be made, and any access will crash. */
void pf_check_window(struct pf_check_call *call, const void *base, MPI_Aint size)
{
    if (!base && size > 0)
        pf_check_found(PF_CHECK_ARGUMENT, call->rank, "%s: the memory is NULL and the size %lld",
                       pf_check_place_text(call->fn, call->site), (long long)size);
}

void pf_check_transfer(struct pf_check_call *call, MPI_Count count, MPI_Datatype type, MPI_Count target_count,
                       MPI_Datatype target_type)
{
    if (call->refused || count < 0 || target_count < 0 || !pf_datatype_valid(type) ||
        !pf_datatype_valid(target_type))
        return;
    long long here = count * pf_datatype_size(type), there = target_count * pf_datatype_size(target_type);
    const char *difference =
        pf_check_signatures_differ(pf_check_signature_of(call->rank, count, type),
                                   pf_check_signature_of(call->rank, target_count, target_type));
    if (here != there)
        pf_check_found(PF_CHECK_SIGNATURE, call->rank, "%s: %lld bytes here and %lld at the target",
                       pf_check_place_text(call->fn, call->site), here, there);
    else if (difference)
        pf_check_found(PF_CHECK_SIGNATURE, call->rank, "%s: %s", pf_check_place_text(call->fn, call->site),
                       difference);
}

void pf_check_reach(struct pf_check_call *call, MPI_Win handle, int target, MPI_Aint disp, MPI_Count count,
                    MPI_Datatype type)
{
    const struct pf_win *win = pf_win_of(handle);
    MPI_Aint from, end;
    if (call->refused || !win || !is_target(win, target) || count <= 0 || !pf_datatype_valid(type) ||
        pf_win_epoch_is_inside(win, target, disp, (int)count, type, &from, &end))
        return;
    pf_check_found(PF_CHECK_WINDOW, call->rank, "%s: bytes %lld to %lld of the %lld of rank %d in the window",
                   pf_check_place_text(call->fn, call->site), (long long)from, (long long)end - 1,
                   (long long)win->shared->parts[target].size, target);
    call->refused = MPI_ERR_RMA_RANGE;
}
